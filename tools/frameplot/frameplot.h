/* The options of frameplot, and what it keeps of the frames. */
#ifndef FRAMEPLOT_H
#define FRAMEPLOT_H

#include "plot.h"
#include "run/stage.h"

enum abscissa { ABSCISSA_PIXELS, ABSCISSA_POINTS };

struct parameters {
	double row, column;
	struct numbers from, to, range, nan;
	const char *channel, *title, *labels;
	struct opt_size size;
	int abscissa, colormap;
	bool difference, map;
};

struct priv {
	struct plot_curve *curve;	/* of the first frame's channels, the second one's, ... */
	size_t curves, channels, frames;
	char (*name)[CHANNEL_NAME_SIZE];	/* of the channels */
	char x_label[64], *y_label;
	bool warned;			/* of a line without a value */
	struct frame *first;		/* --map --difference: the one to subtract */
};

#endif
