/* The colours of a surface: of plaster, or by a value. */
#ifndef SHADE_COLOURS_H
#define SHADE_COLOURS_H

#include "shade.h"

/* The colours of n pixels: by their values, or of plaster where value is NULL. */
void colours_fill(const struct priv *, const float *value, float *r, float *g, float *b, size_t n);
/* The range of the colours, by n values (colormap_range()). */
void colours_find_range(struct priv *, const float *value, size_t n);

#endif
