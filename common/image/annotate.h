/* Colour bars, ticks and text on images. */
#pragma once

#include "base/numbers.h"
#include "frame/frame.h"
#include "frame/head.h"
#include "image/colormap.h"

/* ---- round numbers along an axis ---- */

/* The distance of ticks, 1, 2 or 5 times a power of ten: about n of them between low and high,
 * low < high. */
double ticks_step(double low, double high, double n);
/* Can a range be marked: are its numbers finite, and far enough from each other for their size? */
bool ticks_range_fits(double low, double high);

/* The multiples of a step in a range. */
struct ticks {
	double first, step;
	size_t n;
};

/* From low to high, low < high; those that lie beside it by rounding errors only are in it. None
 * where the step is no positive number. */
struct ticks ticks_between(double low, double high, double step);
/* The value of tick i < n. */
double ticks_value(const struct ticks *, size_t i);
/* The number of a tick, with the decimals that the step needs. */
void ticks_text(double v, double step, char text[32]);

/*
 * A colour bar, a scale bar and axes around a picture r g b of type uchar: the picture grows, and
 * none of its pixels is covered or changed. How much depends on its size and on the annotation's
 * fixed part only, so that the frames of a stream, whose ranges differ, grow alike.
 */

struct annotation {
	bool bar, scale_bar, axes;
	/* the bar */
	enum colormap map;
	char title[2 * CHANNEL_NAME_SIZE + 4];	/* what the colours show, with its unit */
	float nan[3];				/* the colour of no value, r g b in [0, 1] */
	/* the axes: the distance of columns and rows; NaN: they count pixels */
	double spacing[2];
	char spacing_unit[16];			/* empty: not known */
	/* the scale bar */
	char length_unit[CHANNEL_NAME_SIZE];	/* empty: not known */
	/* what may differ from frame to frame */
	double low, high;			/* values of the first and the last colour */
	double pixel_length;			/* of a pixel of the picture; NaN: not known */
};

/* "NAME (UNIT)", or the name alone where the unit is NULL, as the bar's title. */
void annotation_set_title(struct annotation *, const char *name, const char *unit);
/* Takes the spacings of a head for the axes. */
void annotation_set_spacing(struct annotation *, const struct frame_head *);
/*
 * Replaces *picture by one that has the annotations around it. The key picture_px tells where the
 * picture lies in it: x y w h; origin_px and bin, which are the picture's alone, go. After a
 * failure, -1, *picture is as it was.
 */
int annotate(struct frame **picture, const struct annotation *);

/* ---- letters of plots, by cairo: drawing.c, where that is built ---- */

/* The letters of a text with digits of this height, in pixels, as shares of 255 that ink covers:
 * rows of *w pixels from `margin` above a digit to `margin` below it. In smaller letters where the
 * text would be wider than `most`. NULL where cairo or a font is missing. The caller frees them. */
unsigned char *drawing_letters(const char *text, size_t height, size_t margin, size_t most,
    size_t *w);

/* ---- the option --pixel beside the distance of pixels that a frame states itself ---- */

/* Warns where an option of one or two numbers is another distance than the frame's spacings by more
 * than a hundredth; the option counts. False where it gave no warning. */
bool pixel_option_differs(const struct numbers *option, const struct frame_head *);

/* ---- how long a pixel is, for scale bars ---- */

/*
 * The frame's spacing of columns; where it has none and float channels x y, the median distance in
 * x and y of neighbours in a row, NaN where no two of them have points. *unit: of it, or NULL
 * where that is not known; it lives as long as the frame. -1 after fail("--scale-bar", ...).
 */
int pixel_length_of(const struct frame *, double *length, const char **unit);
