/* Colours for a number in [0, 1]: anchors at equal distances, linear between them. */
#pragma once

#include "base/numbers.h"

enum colormap {
	COLORMAP_GRAY,
	COLORMAP_VIRIDIS,
	COLORMAP_TURBO,
	COLORMAP_PHASE,			/* cyclic: 0 and 1 are the same colour */
	COLORMAP_DEVIATION		/* diverging: 0.5 is white, for zero */
};

#define COLORMAP_ANCHORS_MOST 16

/* The names in this order, ended by NULL, for an option of type OPT_WORD. */
extern const char *const colormap_names[];

/* t is clamped to [0, 1]; rgb in [0, 1]. */
void colormap_rgb(enum colormap, float t, float rgb[3]);

/* The anchors themselves, and how many there are. */
size_t colormap_anchors(enum colormap, const float (**anchor)[3]);

/*
 * The values of the first and the last colour, range[0] < range[1], where no range is given: the
 * 1st and the 99th percentile of n finite values; of COLORMAP_DEVIATION the larger of both
 * magnitudes, on both sides of zero. Without values 0 to 1, or -1 to 1.
 */
void colormap_range(enum colormap, const float *value, size_t n, float range[2]);

/* Warns where a range that an option gives puts the white of COLORMAP_DEVIATION elsewhere than at
 * zero. */
void colormap_check_white(enum colormap, const char *option, double low, double high);

/*
 * The colour of what has no value, rgb in [0, 1]: the three levels of 255 that an option gives,
 * else one that the map does not have: black, and blue in gray. -1 after fail_usage(option, ...).
 */
int colormap_nan(enum colormap, const char *option, const struct numbers *given, float rgb[3]);
