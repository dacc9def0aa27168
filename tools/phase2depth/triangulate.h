/*
 * A camera's pixels meet a projector's columns (or rows): what the formula in
 * tools/phase2depth/phase2depth.px.h needs, in the camera's own frame (methods §8).
 */
#ifndef TRIANGULATE_H
#define TRIANGULATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "optics/calib.h"
#include "run/stage.h"

/*
 * A point at distance s along the camera's axis is s d, d = (x, y, 1), and appears at the
 * projector's homogeneous a + s b. Row `code` of that is the coordinate that the phase gives (the
 * column, or the row for fringes along y), `other` the other one.
 */
struct triangulation {
	/* pixels of the projector: code = (A0 + s B0.d)/(A2 + s B2.d) */
	double a_code, a_w, b_code[3], b_w[3];
	/*
	 * The projector's lens: OpenCV's k1 .. k6 p1 p2 s1 .. s4 with the coded coordinate in the
	 * place of x; then undistorted pixel = focal code + skew other + center in normalised
	 * coordinates; then the line l0 code + l1 other + l2 = 0 that a ray is there, as a 3x3
	 * matrix times (x, y, 1) of the camera; then how the lens bends along rays, and the square
	 * of the radius at which it folds back. In floats, up to the center.
	 */
	double exact_terms[12 + 3 + 9 + 2];
	float lens_terms[12 + 3];
	bool distorted, plain;			/* plain: without k4 k5 k6, s1 .. s4 and skew */
	float bend_along[2];	/* of fringes along x, along y; 0: not known */
	double R[9], T[3];			/* camera to world: X = R (s d) + T */
	double px_per_rad, code0_px;	/* code = px_per_rad phase + code0_px */
	/* The camera: normalised x and y of frame pixel (column, row), before the lens is undone.
	 */
	double x0, x_per_column, x_per_row, y0, y_per_row;
	size_t w, h;
	double origin_px[2], bin[2];
	double projector_px[2];	/* its size by option or key; 0: neither */
	bool along_y;
	bool warned;		/* of a --period that is not the frame's own */
	bool placed;		/* an option or a key says where the frame lies */
	bool binned;		/* an option or a key says how large its pixels are */
	/*
	 * What undoing the lens adds to x (plane 0) and y (plane 1), in units of lens_unit, a power
	 * of two; NULL: nothing. PHASE2DEPTH_NO_RAY where that is impossible. Rows of lens_stride
	 * numbers. Whole numbers of 32 bits keep 2^-31 of the largest shift, floats 2^-25 of each.
	 */
	int32_t *lens;
	double lens_unit;
	size_t lens_stride;
};

/* Options, each of which wins over the key of its name. */
struct triangulation_options {
	struct numbers origin, projector;	/* origin_px; projector_px, for centered */
	struct numbers bin;
	double period_px;
	int axis;				/* 0: x, 1: y, -1: key, else x */
	bool centered;				/* the phase is 0 in the projector's middle */
};

/* Lists of the right length? -1 after fail(). */
int triangulation_check(const struct triangulation_options *);
/*
 * Sets all for frames of this head, and the keys origin_px (if it was an option) and length_unit of
 * out. The camera's table is kept as long as size and place stay. The first call takes a zeroed
 * struct. -1 after fail().
 */
int triangulation_plan(struct run *, struct triangulation *, const struct calib *,
    const struct triangulation_options *, const struct frame_head *in, struct frame_head *out);
void triangulation_free(struct triangulation *);

#endif
