/* A map with axes, colour bar, histogram and a line of statistics. */
#ifndef MAP_PLOT_H
#define MAP_PLOT_H

#include <stdbool.h>
#include <stddef.h>

#include "frame/head.h"
#include "image/colormap.h"

struct map_plot {
	const char *title, *unit;		/* title NULL: none; unit empty: none */
	char label[2 * CHANNEL_NAME_SIZE + 24];	/* of the colours */
	char axis_label[2][32];
	const float *value;			/* columns x rows; NaN: none */
	size_t columns, rows;
	double spacing[2];			/* of columns and rows, in the axes' unit */
	bool counts;				/* that is pixels: no ticks between them */
	size_t w, h;				/* of the plot: points, pixels (PNG) */
	enum colormap colormap;
	float nan[3];				/* the colour of NaN */
	double low, high;			/* values of the first and the last colour */
	/* of the finite values; meaningless where there are none */
	size_t valid;
	double mean, rms, median, p95;		/* p95: of magnitudes */
};

#define MAP_PLOT_LEAST_W 320
#define MAP_PLOT_LEAST_H 240

/* Writes the plot; the suffix of path selects the format (drawing.h). 0, or -1 after fail(). */
int map_plot_save(const struct map_plot *, const char *path);

#endif
