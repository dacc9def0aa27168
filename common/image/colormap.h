/* Colours for a number in [0, 1]: anchors at equal distances, linear between them. */
#ifndef COLORMAP_H
#define COLORMAP_H

#include <stddef.h>

enum colormap { COLORMAP_GRAY, COLORMAP_VIRIDIS, COLORMAP_TURBO, COLORMAP_PHASE };

/* The names in this order, ended by NULL, for an option of type OPT_WORD. */
#define COLORMAP_ANCHORS_MOST 16

extern const char *const colormap_names[];

/* t is clamped to [0, 1]; rgb in [0, 1]. COLORMAP_PHASE is cyclic: 0 and 1 are the same colour. */
void colormap_rgb(enum colormap, float t, float rgb[3]);

/* The anchors themselves, and how many there are. */
size_t colormap_anchors(enum colormap, const float (**anchor)[3]);

#endif
