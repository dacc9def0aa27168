/* Pixels of a line image as floats: the image less its background. */
#ifndef LINE_PIXELS_H
#define LINE_PIXELS_H

#include <string.h>

#include "base/cpu_level.h"
#include "feature/line.h"

#define LINE_CONVERT(type, operation)								\
	do {											\
		const type *restrict p = (const type *)from;					\
												\
		CPU_SIMD									\
		for (size_t i = 0; i < n; i++)							\
			to[i] operation (float)p[i];						\
	} while (0)

/* n samples of row y from column x on, less the background, with the sign of bright lines. */
static inline void
line_span(const struct line_image *image, size_t y, size_t x, size_t n, float *restrict to)
{
	const struct line_plane *plane = &image->image;
	const unsigned char *from = (const unsigned char *)plane->v + y * plane->stride +
	    x * sample_size(plane->type);

	if (plane->type == SAMPLE_UCHAR)
		LINE_CONVERT(uint8_t, =);
	else if (plane->type == SAMPLE_USHORT)
		LINE_CONVERT(uint16_t, =);
	else
		memcpy(to, from, n * sizeof(float));
	plane = &image->background;
	if (plane->v) {
		from = (const unsigned char *)plane->v + y * plane->stride +
		    x * sample_size(plane->type);
		if (plane->type == SAMPLE_UCHAR)
			LINE_CONVERT(uint8_t, -=);
		else if (plane->type == SAMPLE_USHORT)
			LINE_CONVERT(uint16_t, -=);
		else
			LINE_CONVERT(float, -=);
	}
	if (image->dark) {
		CPU_SIMD
		for (size_t i = 0; i < n; i++)
			to[i] = -to[i];
	}
}

/* The same where row and columns may lie outside, where the image goes on with its last pixel. */
static inline void
line_span_beyond(const struct line_image *image, ptrdiff_t y, ptrdiff_t x, size_t n,
    float *restrict to)
{
	ptrdiff_t w = (ptrdiff_t)image->w, h = (ptrdiff_t)image->h;
	size_t before = x < 0 ? (size_t)-x : 0, inside;

	y = y < 0 ? 0 : y < h ? y : h - 1;
	before = before < n ? before : n;
	inside = x + (ptrdiff_t)n > w ? (size_t)(w - (x < 0 ? 0 : x)) : n - before;
	if (x >= w)
		inside = 0;
	inside = inside < n - before ? inside : n - before;
	if (inside)
		line_span(image, (size_t)y, (size_t)(x < 0 ? 0 : x), inside, to + before);
	if (before) {
		line_span(image, (size_t)y, 0, 1, to);
		for (size_t i = 1; i < before; i++)
			to[i] = to[0];
	}
	if (before + inside < n) {
		line_span(image, (size_t)y, image->w - 1, 1, to + before + inside);
		for (size_t i = before + inside + 1; i < n; i++)
			to[i] = to[before + inside];
	}
}

#endif
