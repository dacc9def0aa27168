/* Line plots with axes and units. */
#ifndef PLOT_H
#define PLOT_H

#include <stdbool.h>
#include <stddef.h>

struct plot_curve {
	char *label;
	double *x, *y;		/* NaN: a gap */
	size_t n;
};

struct plot {
	const char *title, *x_label, *y_label;	/* NULL: none */
	double x_low, x_high, y_low, y_high;	/* ranges; both NaN: from the curves */
	size_t w, h;				/* points (SVG, PDF), pixels (PNG) */
	const struct plot_curve *curve;
	size_t curves;
};

/* Writes the plot; the suffix of path selects the format (drawing.h). 0, or -1 after fail(). */
int plot_save(const struct plot *, const char *path);

#endif
