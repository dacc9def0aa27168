/* A projector's views: the absolute phases of fringes along x and y at the corners that a camera
 * has of each pose. */
#ifndef PHASE_VIEWS_H
#define PHASE_VIEWS_H

#include "calib_problem.h"
#include "frame/frame.h"
#include "projector_points.h"

/* What is known of all of them; zeros at first. */
struct phase_views {
	size_t corners, count[PROJECTOR_POINT_FAULTS];	/* in all, of each fault */
	size_t worst, most_lost;	/* the pose where most corners have no point */
	struct projector_ripple ripple[2];		/* of fringes along x, y */
};

/* Where a frame lies on the camera's full frame: full = first + bin pixel. */
struct phase_crop {
	double first[2], bin[2];
	bool given;		/* by the keys origin_px or bin */
};
int phase_crop_find(const struct frame_head *, const char *path, struct phase_crop *);

/* The key projector_px: sets the size of a projector of none, else it must be the same. -1 after
 * fail(). */
int phase_projector_size(const struct frame_head *, const char *path,
    struct calib_device *projector);

/*
 * Adds the projector's view of a pose through a camera, whose own view must be there (else nothing
 * is added), from the frames of both phases; path names them in messages. A corner's sigma and the
 * slope of the phase there are in the sigma of the projector's point: it lies where the corner was
 * found. -1 after fail().
 */
int phase_views_add(struct phase_views *, struct calib_problem *, size_t projector, size_t camera,
    size_t pose, const struct frame *const phase[2], const char *const path[2]);
/* The same of all poses, from two streams with one frame for each of so many. -1 after fail(). */
int phase_views_read(struct phase_views *, struct calib_problem *, size_t projector, size_t camera,
    size_t poses, const char *const path[2]);
/* What is left in the fits of fringes along x (0) or y (1). Is it more than noise, since the
 * fringes are no sinusoids? */
bool phase_views_residual(const struct phase_views *, size_t axis, char text[200]);
/* Warns of corners without a point, and of fringes that are not sinusoidal. pose_name: of each
 * pose; NULL: they are counted from 1. -1 after fail(), where no point is left. */
int phase_views_finish(const struct phase_views *, const char *const *pose_name);

#endif
