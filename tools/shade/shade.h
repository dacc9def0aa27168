/*
 * What shade keeps of its options and of a frame, the surface and the picture of a turned view, and
 * the loops of shade_rows.c.
 */
#pragma once

#include <math.h>

#include "image/annotate.h"
#include "image/colormap.h"
#include "mesh/mesh.h"
#include "run/stage.h"
#include "shade.px.h"

enum colour_by { BY_NONE, BY_DEPTH, BY_TEXTURE, BY_RGB };
enum lighting { LIGHTING_FULL, LIGHTING_SOFT, LIGHTING_NONE };

struct parameters {
	struct numbers view, light, range, nan;
	struct opt_size size;
	int by, map, lighting;
	long samples, background;
	double ambient, diffuse, specular, shininess, jump;
	bool bar, scale_bar, axes;
};

#define SHADE_CELLS 1024		/* of --range, a multiple of 64 */

/* What one_colour_look() counts, of a sample of the pixels. */
struct colour_counts {
	size_t points;			/* of the surface */
	size_t inside;			/* between the ends of --range */
	size_t below, above;		/* far beyond them */
	uint64_t cells[SHADE_CELLS / 64];	/* a bit for each cell that contains a value */
	uint32_t set, unset;		/* bits that are 1, or 0, in any value */
	float depth, beyond;		/* how far values are inside the range, from its nearer
					 * end, and outside it, at most */
};

/* Memory that is cut into pieces. */
struct arena {
	unsigned char *memory;
	size_t bytes, used;
};

struct priv {
	struct shade_light light;
	struct shade_vector background;	/* levels of 255 */
	struct shade_vector nan;	/* the colour of no value, in [0, 1] */
	bool lone;			/* points without a triangle have their colour, too */
	bool annotates;
	struct annotation annotation;
	enum colormap map;
	float anchor[COLORMAP_ANCHORS_MOST][3];
	size_t anchors;
	bool falls;			/* these run from the last colour to the first */
	float low, high;		/* values of the first and the last anchor */
	/* of pictures from the camera */
	struct mesh mesh;		/* its channels */
	size_t value;			/* input channel to colour by; NO_CHANNEL */
	size_t rgb[3];			/* of red, green and blue; the first NO_CHANNEL: none */
	float jump;
	bool jump_checked, told_empty, checks_white, told_black;
	struct colour_counts counts;
	struct arena arena;		/* of turned views */
};

#define PLASTER 0.9f			/* the colour of a surface without colours */

/* Sets the range of the colours from n values (colormap_range()). */
void colours_find_range(struct priv *, const float *value, size_t n);
/* Warns of the first frame whose own colours are up to 1, where white is 255. */
void colours_check_white(struct run *run, const struct frame *in);
/* The largest step in z within the surface, from its slopes and noise. -1 after fail(). */
int surface_jump(struct run *run, const struct mesh *channels, const struct frame *in,
    double *jump);
/* A new picture r g b with the metadata of its input. -1 after fail(). */
int annotated_new(const struct frame_head *in, size_t w, size_t h, struct frame **);
/* Emits a picture, which it owns, with the annotations of the options. -1 after fail(). */
int annotated_emit(struct run *run, struct frame *);
/* The body of --view. */
int turned_survey(struct run *run, const struct frame *in);
int turned_frame(struct run *run, struct frame *in);
int turned_passes(struct run *run, struct passes *passes);
int turned_made(struct run *run, struct frame *made);
/* The size of its pictures. */
void turned_size(const struct run *run, const struct frame_head *in, size_t *w, size_t *h);

/* The values of the points of a frame; each row has a place of its own. */
struct values {
	const struct priv *priv;
	const struct frame *in;
	float *value;
	size_t *n;			/* of each row */
};

/* ---- the turned view ---- */

#define BLOCK_ROWS 4		/* rows of cells whose reach is found together */
#define PAINT_ROWS 8		/* rows of pixels that a thread paints at a time */
#define TURNED_LANES_MOST 16	/* points, samples or pixels that a level computes at once */
#define TURNED_SAMPLES_MOST 4	/* a side of a pixel */
#define SAME_DIRECTION (1 - 2e-4f)	/* of |sum of n|^2 to 4 sum of |n|^2, at least */
#define FARTHEST_PX 1e9f	/* cells with a corner farther out are not drawn */

/* What is interpolated: the key, which is smaller where the surface is nearer; the normal; and the
 * value to colour by, unless it is the key. A strip has records of the first four. */
enum turned_attribute { TURNED_KEY, TURNED_NX, TURNED_NY, TURNED_NZ, TURNED_VALUE,
	TURNED_ATTRIBUTES, TURNED_RECORD = TURNED_VALUE };

/* A plane of floats; at: NULL where there is none. */
struct surface_plane {
	const float *at;
	size_t stride;			/* floats from row to row */
};

struct block_reach {
	float least[2], most[2];	/* of turned X and Y */
};

#define MIXED_PIXELS 16
#define TURNED_LIGHT 32767.0f	/* the share of 1 in 16 bits */
#define TURNED_EMPTY UINT32_MAX	/* light where nothing was drawn */

/* Pixels with samples that differ; number UINT32_MAX: none. */
struct mixed_pixels {
	uint32_t pixel[MIXED_PIXELS];
	float value[4][MIXED_PIXELS];
	uint32_t light[4][MIXED_PIXELS];
};

/* A surface on its way into the picture. Turned coordinates: X right, Y down, Z away, in the
 * frame's unit; the frame's own z times `sign` is away from the camera. */
struct turned {
	const struct priv *priv;
	size_t w, h;			/* points: TURNED_LANES_MOST + 1 columns at least */
	struct surface_plane x, y, z;	/* x and y: none, if they are columns and rows */
	struct surface_plane attribute[TURNED_ATTRIBUTES];
	double spacing[2], rotation[9];
	float origin[3];		/* a point; what is turned is own x, y and z less this */
	float sign, jump;
	float facing;			/* +-1: times the attribute it is the key */
	int key_axis;			/* which of x, y and z the key is */
	float radius;			/* of a table, whose points are discs; 0: of no table */
	bool by_value, coloured;	/* coloured: by another value than the key */
	float lamp[3], away[3];		/* directions in the normals' own coordinates */

	/* the survey */
	size_t vectors, blocks;		/* of the cells of a row; of rows of cells */
	float *reach[2];		/* least and most Y of each vector of a block */
	struct block_reach *block;
	float *column[2];		/* the shares of a column in X and Y */

	/* where it lies in the picture, in samples */
	size_t samples, columns, rows;	/* a side of a pixel; in all */
	double middle[2], scale;
	double rounding;		/* of turned Y, at most */
	float factor[2][4];		/* of own x, y and z in picture x and y, and 1 */
	float *placed_column[2];

	/* strips of the picture */
	size_t strip_width, strip_rows, strips, next_strip;
	float **strip;			/* of each thread: records and values */

	/* of each pixel, or, but for 2 x 2 samples, of each sample */
	size_t stride;
	float *value;
	uint32_t *light;
	float tolerance;		/* of the values of a pixel that is lit once */
	struct mixed_pixels *mixed;
	size_t mixed_chunks, mixed_pixels;
	float *values;			/* coordinates, then values: for percentiles */
	size_t *listed;			/* of each row: how many */

	/* colours: anchors r g b, and the steps to the next ones */
	float anchor[6][COLORMAP_ANCHORS_MOST] __attribute__((aligned(64)));
	float last_anchor;
	struct frame *out;
};

/* (void *, size_t) are for run_for(), of a struct turned. */
struct turned_rows {
	size_t lanes;			/* cells of a vector */
	void (*survey_block)(void *, size_t block);
	size_t (*list_row)(const struct turned *, int k, size_t y, float *to);
	void (*draw_strips)(void *, size_t thread);
	size_t (*list_values)(const struct turned *, size_t y, float *to);
	void (*paint_band)(void *, size_t band);
	void (*paint_mixed)(void *, size_t chunk);
};
LEVELS_OF(turned_rows)

/* ---- the loops; (void *, size_t) are for run_for() ---- */

struct shade_rows {
	/* struct body's `rows`, for pictures from the camera. */
	body_rows *pixels_rows;
	/* Counts a sample of the pixels of rows y0 to y1 - 1, if there is a --range. Several
	 * threads may call it. */
	void (*one_colour_look)(const struct run *, const struct frame *in, size_t y0, size_t y1);
	/* Row y of struct values. */
	void (*find_row)(void *values, size_t y);

	/* The normals of all points of rows y0 to y1 - 1, times their triangles' area, as planes
	 * nx ny nz, z away from the camera. */
	void (*find_normals)(const struct run *, const struct frame *in, size_t y0, size_t y1,
	    struct frame *normals);
};
LEVELS_OF(shade_rows)
