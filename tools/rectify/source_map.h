/* Where in the input each pixel of a rectified frame comes from. */
#ifndef SOURCE_MAP_H
#define SOURCE_MAP_H

#include "optics/stereo.h"
#include "rectify.px.h"

/* What it depends on. */
struct source_geometry {
	const struct stereo *stereo;
	enum stereo_side side;
	size_t w, h;			/* of the result */
	size_t in_w, in_h;
	double origin_px[2], bin;	/* of the input on its full frame */
	bool cubic;
};

struct source_map {
	struct source_geometry geometry;
	/* Planes of columns and of rows, see rectify.px.h: RECTIFY_NOWHERE (and row 0) where not
	 * all samples of a weight lie in the input. */
	uint *column, *row;
	size_t stride;			/* pixels from row to row, of 64 bytes together */
};

/* Sets the map; costs nothing where the geometry is the same as before. -1 after fail(). */
int source_map_plan(struct run *, struct source_map *, const struct source_geometry *);
void source_map_free(struct source_map *);

/* Of the input, on a grid: what share the result does not hold, and the size that would hold all
 * of it that lies right of and below its first pixel. */
double source_map_lost(const struct source_geometry *, size_t size[2]);

#endif
