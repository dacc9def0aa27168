/*
 * What shade keeps of its options and of a frame, the surface and the picture of a turned view, and
 * the loops of shade_rows.c.
 */
#ifndef SHADE_H
#define SHADE_H

#include <stdint.h>

#include "base/cpu_level.h"
#include "image/annotate.h"
#include "image/colormap.h"
#include "mesh/mesh.h"
#include "mesh/raster.h"
#include "run/stage.h"
#include "shade.px.h"

enum colour_by { BY_NONE, BY_DEPTH, BY_TEXTURE };
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

struct priv {
	struct shade_light light;
	struct shade_vector background;	/* levels of 255 */
	struct shade_vector nan;	/* the colour of no value, in [0, 1] */
	bool lone;			/* points without a triangle have their colour, too */
	bool annotates;
	struct annotation annotation;
	enum colormap map;
	float low, high;		/* values of the first and the last colour */
	/* of pictures from the camera */
	struct mesh mesh;		/* its channels */
	size_t value;			/* input channel to colour by; NO_CHANNEL */
	float jump;
	bool jump_checked;
	struct colour_counts counts;
};

#define PLASTER 0.9f			/* the colour of a surface without colours */

/* Sets the range of the colours from n values (colormap_range()). */
void colours_find_range(struct priv *, const float *value, size_t n);
/* A new picture r g b with the metadata of its input. -1 after fail(). */
int annotated_new(const struct frame_head *in, size_t w, size_t h, struct frame **);
/* Emits a picture, which it owns, with the annotations of the options. -1 after fail(). */
int annotated_emit(struct run *run, struct frame *);
/* struct body's `frame`, for --view. */
int turned_frame(struct run *run, struct frame *in);

/* The values of the points of a frame; each row has a place of its own. */
struct values {
	const struct priv *priv;
	const struct frame *in;
	float *value;
	size_t *n;			/* of each row */
};

/* ---- the turned view ---- */

/* Attributes of a sample: its normal in view coordinates, and a value to colour by. */
enum surface_plane { SURFACE_NX, SURFACE_NY, SURFACE_NZ, SURFACE_VALUE, SURFACE_PLANES };

#define PIECE 32		/* cells of a row that are tested together against a strip */
#define MESH_ROWS 16		/* of a thread's piece of the mesh */
#define VERTICES 8192		/* of a thread's piece of them */

/* A measured surface in view coordinates: x right, y down, z away. */
struct surface {
	struct mesh mesh;
	struct raster_vertex *vertex;	/* by vertex number; x y z in pixels of the picture */
	float (*own)[3];		/* x y z in the frame's own coordinates, z away; later
					 * turned */
	uint32_t *first;		/* for each row of pixels: the number of vertices above */
	float (*reach)[2];		/* for each piece of a row of pixels: the lowest and
					 * highest row of the picture */
	size_t pieces;			/* of a row */
	double rotation[9];
	double middle[2], scale;	/* of the turned coordinates; pixels of a unit */
	size_t w, h;			/* of the picture */
};

struct picture {
	const struct parameters *parameters;
	const struct priv *priv;
	const struct surface *surface;
	struct raster *raster;		/* one of all samples, or for each thread one of a strip */
	struct frame *out;
	size_t w, h, samples;		/* w, h: in samples; samples a side of a pixel */
	size_t rows, strips;		/* rows of samples of a strip; number of strips */
	size_t next;			/* the strip that the next free thread takes */
};

/* ---- the loops; (void *, size_t) are for run_for() ---- */

struct shade_rows {
	/* struct body's `rows`, for pictures from the camera. */
	void (*pixels_rows)(const struct run *run, const struct frame *in, struct frame *out,
	    size_t y0, size_t y1, const struct row_scratch *);
	/* Counts a sample of the pixels of rows y0 to y1 - 1, if there is a --range. Several
	 * threads may call it. */
	void (*one_colour_look)(const struct run *, const struct frame *in, size_t y0, size_t y1);
	/* Row y of struct values. */
	void (*find_row)(void *values, size_t y);

	/* The vertices of a struct surface, and if the frame has them their normals. */
	void (*fill_vertices)(struct surface *, const struct frame *, size_t value);
	/* The normal of each vertex of MESH_ROWS rows from its triangles. */
	void (*normals_band)(void *surface, size_t band);
	/* Turns a piece of the vertices; then scales it to the picture. */
	void (*turn_piece)(void *surface, size_t piece);
	void (*place_piece)(void *surface, size_t piece);
	/* The reach of row y of pixels. */
	void (*find_reach)(void *surface, size_t y);

	/* Strips of a struct picture: all that a thread can get, or one of the whole raster. */
	void (*draw_and_paint)(void *picture, size_t thread);
	void (*draw_only)(void *picture, size_t strip);
	void (*paint_only)(void *picture, size_t strip);
};
LEVELS_OF(shade_rows)

#endif
