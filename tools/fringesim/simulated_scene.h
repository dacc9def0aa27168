/*
 * What a simulated capture shows: scene, paint and rig out of options, and what each pixel sees.
 */
#ifndef SIMULATED_SCENE_H
#define SIMULATED_SCENE_H

#include "pair.h"
#include "rig.h"
#include "laser_light.h"
#include "run/stage.h"

/* Options; numbers are NaN, lists empty, sizes 0 x 0 and words -1 where they were not given. */
struct simulated_scene_options {
	struct opt_size size, projector;
	struct numbers ref_plane, origin;
	int scene;			/* enum scene_kind */
	bool shadow;
	const char *depth, *calib, *camera, *albedo, *view, *board;
	int paint;			/* enum scene_paint, or -1 */
	int board_kind;			/* enum board_kind */
	struct numbers board_pose;
	double height, radius, field, pixel, c, distance;
	double blur;			/* the camera's, px */
	struct laser_options laser;
};

enum visibility { VISIBILITY_NONE, VISIBILITY_DARK, VISIBILITY_LIT };

struct simulated_scene {
	struct scene scene;
	struct calib calib;
	struct pair pair;
	struct board_scene board;
	struct rig rig;
	struct laser_light light;	/* where a laser takes the projector's place */
	double pixel_blur;		/* sigma in px of a pixel with the camera's blur */
	double blur;			/* sigma in px of what the samples still lack */
	enum paint { PAINT_NONE, PAINT_CHECKER, PAINT_NOISE, PAINT_FILE, PAINT_COLOURS } paint;
	enum scene_paint colours;	/* PAINT_COLOURS */
	size_t colour;			/* of the light: red 0, green 1, blue 2; else all */
	struct frame *albedo;		/* one channel */
	double white;			/* its sample that is 1 */
	uint32_t seed;			/* of painted noise */
	bool both;			/* both of column[] are wanted; set before it is opened */
	bool projector_given;		/* its size was given, not assumed */
	/* What the samples see, row by row, columns x rows (rig.h: one for each pixel unless
	 * the camera blurs); column[k] is NULL along an axis without fringes, but for `both`. */
	size_t columns, rows;
	double *column[2];		/* projector column and row */
	double *painted[2];		/* of a board: mm from its middle */
	double *share;			/* of the light that the surface sends back */
	unsigned char *visibility;
};

/* period_px: the one that c and the reference plane count in. -1 after fail(); studio_close() in
 * either case. */
int simulated_scene_open(struct simulated_scene *, const struct simulated_scene_options *,
    double period_px, uint32_t seed, const bool axis[2]);
void simulated_scene_close(struct simulated_scene *);
/* Fills column, share and visibility for a pose on all of the run's threads; truth (or NULL)
 * too. */
void simulated_scene_look(struct simulated_scene *, struct run *, const struct rig_pose *,
    struct frame *truth);
/* The share of light that the surface at a place of the picture sends back; not of boards. */
double simulated_scene_share(const struct simulated_scene *, const struct rig_point *, double x,
    double y);
bool simulated_scene_is_coloured(const struct simulated_scene *);
/* A frame for the truth: channels absphase depth x y z mask, disparity of a pair, and r g b of a
 * coloured scene. -1 after fail(). */
int simulated_scene_new_truth(const struct simulated_scene *, struct frame **out);
/* The table of a board's points: channels u v i j projector_u projector_v, of those within the
 * picture; NaN where the projector's light does not fall. -1 after fail(). */
int simulated_scene_corners(const struct simulated_scene *, struct frame **out);
/* Keys and spacing that describe the rig. */
int simulated_scene_describe(const struct simulated_scene *, struct frame_head *);

#endif
