/* What the shaders of phase2depth read, in C and in GLSL. */
#ifndef PHASE2DEPTH_BLOCK_H
#define PHASE2DEPTH_BLOCK_H

#define PHASE2DEPTH_POWERS 8

/* Depth above a reference plane. */
struct phase2depth_plane_block {
	uint phase, ref, degree;
	uint wrapped;	/* 1: the phases are */
	uint mapped[PHASE2DEPTH_POWERS], map[PHASE2DEPTH_POWERS];	/* 1: c is a plane */
	float c[PHASE2DEPTH_POWERS];
	float least, most;
	uint has_sigma, sigma;			/* 1: the input has this channel */
	uint has_ref_sigma, ref_sigma;		/* 1: so has the reference */
};

#ifndef PHASE2DEPTH_NO_DOUBLES
/* The same above an ideal plane a + b x + c y. */
struct phase2depth_ideal_block {
	double a, b, c;
	PX_STRUCT phase2depth_plane_block depth;
};

/* Where a camera's ray meets the projector's column: struct triangulation. */
struct phase2depth_rays_block {
	double a_code, a_w, b_code[3], b_w[3], R[9], T[3];
	double px_per_rad, code0_px;
	double x0, x_per_column, x_per_row, y0, y_per_row;
	double lens_unit;	/* of the camera's table */
	double calib_middle_mm, calib_per_mm;	/* struct calib_sigma */
	PX_STRUCT phase2depth_exact_lens exact_terms;
	float least, most;
	uint phase, distorted, plain;
	uint lens, lens_stride, lens_rows;	/* lens: 1 if there is a table; numbers; rows */
	uint has_sigma, sigma;			/* 1: the input has this channel */
	uint has_calib, calib_table, calib_columns, calib_step_px;	/* the table's constant */
	float calib_offset_mm2;
	PX_STRUCT phase2depth_lens terms;
};
#endif

#endif
