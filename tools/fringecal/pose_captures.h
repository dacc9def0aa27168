/* All in one: captures of a board under fringes, in folders POSE/CAMERA/, to the points of cameras
 * and projector. */
#ifndef POSE_CAPTURES_H
#define POSE_CAPTURES_H

#include <stdbool.h>

#include "calib_problem.h"
#include "feature/board_find.h"
#include "phase_views.h"

/* What to do with the captures. */
struct pose_captures {
	char *const *folder;	/* of each pose */
	size_t folders;
	struct board board;
	struct board_options find;
	const char *manifest;	/* for phasewrap -m; NULL: none */
	const char *wrap, *unwrap; /* more words for phasewrap and unwrap2f; NULL: none */
	bool cameras_named;	/* by folders of the first pose, or the command line */
	bool verbose, quiet;
	bool no_sigma;		/* phasewrap finds no noise in such captures */
	/* what comes of it: of each pose, the last part of its folder's name */
	char **pose_name;
};

/*
 * The names of the cameras: the folders of the first pose, in natural order; where it has none, its
 * images are those of a single one, and *n is 0. The caller frees the list and its names. -1 after
 * fail().
 */
int pose_captures_cameras(const char *pose, char ***name, size_t *n);
/*
 * Adds the views of all cameras and of the projector, the last device; sets their sizes where they
 * are 0 and the captures say them. A board that is not found is a warning. -1 after fail().
 */
int pose_captures_read(struct pose_captures *, struct calib_problem *, struct phase_views *);
void pose_captures_free(struct pose_captures *);

#endif
