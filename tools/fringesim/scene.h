/*
 * Scenes for simulated captures: the top of a solid, as height in mm over a reference plane.
 *
 * Scene coordinates: x to the right and y down from the centre of the field, z up from the
 * reference plane towards the camera. All in double: simulated phases are checked to an ulp.
 */
#ifndef SCENE_H
#define SCENE_H

#include <stdbool.h>
#include <stddef.h>

#include "frame/frame.h"

enum scene_kind {
	SCENE_PLANE,	/* z = rise */
	SCENE_TILT,	/* from 0 in the upper left corner to `rise` in the lower right one */
	SCENE_STEPS,	/* SCENE_TERRACES terraces from 0 at the left to `rise` at the right */
	SCENE_SPHERE,	/* a cap `rise` high of a sphere of `radius`, on the plane z = 0 */
	SCENE_RELIEF,	/* a face; C2; see scene_relief() */
	SCENE_FILE,	/* heights of a depth image over the field; no surface where they are NaN */
	SCENE_BOARD,	/* a calibration board of any pose (board_scene.h); a rig alone knows it */
	SCENE_CYLINDER	/* waves `rise` high around one of `radius` along y, before a rig */
};

#define SCENE_TERRACES 5

struct scene {
	enum scene_kind kind;
	double width, length;		/* the field in mm, along x and y */
	double rise, radius;		/* mm */
	struct frame *file;		/* SCENE_FILE: one channel of float */
	double spacing;			/* of its columns and rows, mm */
	double low, high;		/* no point of the surface is lower, or higher */
	double slope;			/* SCENE_RELIEF, SCENE_CYLINDER: its steepest, mm/mm */
};

/*
 * Completes a scene of which kind, width, length, rise and radius are set; NaN for rise or radius
 * is the standard one: radius 0.3 width; rise 0 (plane), 0.2 width (tilt, steps), radius (sphere),
 * 0.4 width (relief), 0.02 width (cylinder). 0, or -1 after fail(). scene_free() in either case.
 */
int scene_init(struct scene *);
/* SCENE_FILE from the channel `depth`, or the only one, of an image. -1 after fail(). */
int scene_load(struct scene *, const char *path);
void scene_free(struct scene *);

/* Height of the surface over (x, y); NaN where there is none. */
double scene_height(const struct scene *, double x, double y);
/*
 * The first t0 < t < t1 at which from + t along lies in or under the surface; false if there is
 * none.
 * The ray need not be normalised. Within 1e-12 of the field's width of the true point.
 */
bool scene_hit(const struct scene *, const double from[3], const double along[3], double t0,
    double t1, double *t);

/* Painted on the scene: squares of a 20th of the field's width, 1 and 0.4. */
double scene_checker(const struct scene *, double x, double y);
/* The same in colour, as shares of red, green and blue light: two colours on those squares, or
 * waves of a fifth, a seventh and an eleventh of the width, 0.1 to 0.9. */
enum scene_paint { SCENE_PAINT_CHECKER, SCENE_PAINT_WAVES };
double scene_paint(const struct scene *, enum scene_paint, double x, double y, size_t colour);
/* Random texture, 0.3 to 1, bilinear between random numbers on a grid of a 64th of the width. */
double scene_texture(const struct scene *, unsigned seed, double x, double y);

#endif
