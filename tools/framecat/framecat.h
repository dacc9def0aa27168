/* What the files of framecat share: samples and colours, tables, and the loops. */
#pragma once

#include <math.h>

#include "image/annotate.h"
#include "image/colormap.h"
#include "run/stage.h"

struct source;

/* ---- samples.c: functions replace *frame; after a failure, -1, it is as it was ---- */

enum range_kind { RANGE_NONE, RANGE_GIVEN, RANGE_AUTO };

struct sample_range {	/* RANGE_AUTO: the smallest to the largest finite sample of a channel */
	enum range_kind kind;
	double low, high;
};

struct encoding {		/* how values become samples */
	enum sample type;
	struct sample_range range;	/* values of the whole range of an integer type */
	double fill;			/* what NaN becomes; NaN: 0 in integers, NaN in floats */
};

struct painting {		/* how values become colours */
	enum colormap map;
	struct sample_range range;
	float nan[3];			/* the colour of NaN, r g b in [0, 1] */
	bool labels;			/* every whole number has a colour of its own; no map */
};

/* --colormap, and what --bar, --scale-bar and --axes put around the picture. */
struct paint {
	struct painting painting;
	struct annotation annotation;
};

struct paint_options {
	int map;			/* of colormap.h, or after those labels; -1: nothing */
	bool bar, scale_bar, axes;
	struct numbers nan;
};

/* "auto" or "LOW,HIGH". -1 after fail_usage(option, ...). */
int range_parse(const char *option, const char *text, struct sample_range *);
/* Float samples, with NaN where they equal `invalid` (NaN: nowhere). */
int convert_to_float(struct run *, struct frame **frame, double invalid);
/* The values by sample_scale, sample_offset and invalid, as float; drops the keys. */
int convert_unscale(struct run *, struct frame **frame);
/*
 * Float samples to another type: rounded to the nearest (halves upward), clamped. With a range, it
 * records sample_scale and sample_offset; with a fill, it records the key invalid, and no valid
 * sample becomes the fill.
 */
int convert_encode(struct run *, struct frame **frame, const struct encoding *);
/* Warns of the first channel of a float frame of which many samples on a coarse grid are outside
 * the range of the integers, or that is nothing but fractions. True: it did. */
bool clamped_warn(const struct frame *, const struct encoding *);
/* Warns, without --fill, of the first channel of a float frame in which NaN and many values become
 * the same sample, 0; not of light, where black is black. True: it did. */
bool holes_warn(const struct frame *, const struct encoding *);
/* From the options and the range of --scale. -1 after fail_usage(). */
int paint_init(struct paint *, const struct paint_options *, const struct sample_range *);
/* Measures how long a pixel of the picture is, of `bin` pixels of this frame, which has all its
 * channels still. -1 after fail(). */
int paint_measure(struct paint *, const struct frame *, size_t bin);
/* Replaces a frame of one float channel by its picture. */
int paint_frame(struct run *, struct paint *, struct frame **frame);

/* ---- tables.c: the same is true of *frame ---- */

/* Frames of --like, whose size and keys tables take. */
struct like {
	const char *path;
	struct source *source;
	struct frame_head head;		/* of the frame for this table; channel NULL: none yet */
	size_t frames;			/* that were read */
	bool single;			/* one frame is for all tables */
};

/*
 * The pixels of an image whose first channel is not NaN, row by row: all channels as float, then
 * `column` and `row`, the pixel's place from 0. A table stays as it is.
 */
int points_tabulate(struct run *, struct frame **frame);
/* The rows of a table that --where takes. NULL: is that well written? -1 after fail_usage(). */
int table_where(struct frame **frame, const char *where);
/* Reads the frame for the next table, once per input: one for all, or as many as the input has. */
int like_next(struct like *);
/* At the end of the input: fails where the file has more frames. */
int like_end(struct like *);
/*
 * The table as an image of the frame's size, with each point at its `column` and `row`, and NaN
 * elsewhere. Keys that the table lacks come from the frame, except cmd.N and those that describe
 * its samples.
 */
int like_restore(const struct like *, struct frame **frame);

/* ---- framecat_rows.c ---- */

/* A frame's samples to another type, or to colours. */
struct conversion {
	void (*row)(const struct conversion *, size_t y);	/* one of framecat_rows */
	const struct frame *in;
	struct frame *out;
	struct line {			/* of one channel: value = sample * scale + offset */
		double scale, offset;
	} *line;			/* one per channel; NULL: samples are values */
	double invalid;			/* this sample becomes NaN; NaN: none */
	double largest;			/* sample of the output type */
	double fill, around;	/* what NaN becomes; what a valid sample becomes that equals fill */
	enum colormap map;
	const float *nan;		/* its colour, r g b in [0, 1] */
};

/* n x n pixels to one. */
struct binning {
	const struct frame *in;
	struct frame *out;
	size_t n, rows;			/* rows of the output that a thread takes together */
};

struct framecat_rows {
	/* Row y of a conversion: to float; to integers; to float, with NaN filled; to colours. */
	void (*decode)(const struct conversion *, size_t y);
	void (*encode)(const struct conversion *, size_t y);
	void (*fill)(const struct conversion *, size_t y);
	void (*colour)(const struct conversion *, size_t y);
	void (*labels)(const struct conversion *, size_t y);
	/* Row y of the output; integers are rounded, NaN takes no part. */
	void (*bin)(const struct binning *, size_t y);
};
LEVELS_OF(framecat_rows)
