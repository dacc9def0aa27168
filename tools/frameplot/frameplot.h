/* What the files of frameplot share: options, maps, and the loops. */
#pragma once

#include <math.h>

#include "image/colormap.h"
#include "run/stage.h"

enum abscissa { ABSCISSA_PIXELS, ABSCISSA_POINTS };

struct parameters {
	double row, column;
	struct numbers from, to, range, nan;
	const char *channel, *title, *labels;
	struct opt_size size;
	int abscissa, colormap;
	bool difference, panels, map;
};

struct priv {
	struct plot_curve *curve;	/* of the first frame's channels, the second one's, ... */
	size_t curves, channels, frames;
	char (*name)[CHANNEL_NAME_SIZE];	/* of the channels */
	char x_label[64], *y_label;
	char *difference_label;		/* of the lower panel's upright axis */
	bool warned;			/* of a line without a value */
	struct frame *first;		/* --map --difference: the one to subtract */
};

/* ---- frameplot.c ---- */

/* The index of the channel that is shown where none is named. */
size_t channel_usual(const struct frame_head *);

/* ---- map.c: --map, one channel as an image with statistics ---- */

#define MIN_MAP_W 320		/* of the plot */
#define MIN_MAP_H 240

/* Takes a frame, which it owns, and draws it unless it is the first of a difference. -1 after
 * fail(). */
int map_take(struct run *run, struct frame *);
/* Fails where no frame was drawn. */
int map_end(struct run *run);

/* ---- frameplot_rows.c ---- */

/* A map with axes, colour bar, histogram and a line of statistics. */
struct map_plot {
	const char *title, *unit;		/* title NULL: none; unit empty: none */
	char label[2 * CHANNEL_NAME_SIZE + 24];	/* of the colours */
	char axis_label[2][32];
	const float *value;			/* columns x rows; NaN: none */
	size_t columns, rows;
	double spacing[2];			/* of columns and rows, in the axes' unit */
	bool counts;				/* the unit is pixels: no ticks between them */
	size_t w, h;				/* of the plot: points, pixels (PNG) */
	bool pixels;				/* PNG */
	enum colormap colormap;
	float nan[3];				/* the colour of NaN */
	double low, high;			/* values of the first and the last colour */
	size_t valid;				/* finite values */
	double mean, rms, median, p95;		/* of these; p95: of magnitudes */
};

struct frameplot_rows {
	/* Copies a channel, or its difference from that of another frame (NULL: none). */
	void (*take_values)(const struct frame *, size_t c, const struct frame *minus,
	    size_t minus_c, float *value);
	/* Counts the finite values, copies them, and computes their statistics. The three arrays
	 * have room for all pixels; the last two are space. */
	void (*find_statistics)(struct map_plot *, float *finite, double *sorted,
	    double *magnitude);
	/* Is any value from low to high? If not: the least and the largest. */
	bool (*any_between)(const float *v, size_t n, double low, double high, float *least,
	    float *most);
	/* The colour of a value, 0xrrggbb. */
	uint32_t (*colour)(const struct map_plot *, double v);
	/* Row y of the image, whose pixels are means of across x down values; 32 bits each. */
	void (*image_row)(const struct map_plot *, size_t across, size_t down, size_t y,
	    unsigned char *out);
	/* Adds each bin's share of the valid values, from low to high. */
	void (*count_bins)(const struct map_plot *, size_t bins, double *share);
};
LEVELS_OF(frameplot_rows)
