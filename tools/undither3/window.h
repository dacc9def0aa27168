/* The average around each pixel of a row, along the carrier that it has there. */
#ifndef UNDITHER3_WINDOW_H
#define UNDITHER3_WINDOW_H

#include "undither3.h"

/* Of n pixels. */
struct sums {
	float cosine[SPAN], sine[SPAN], fringe[SPAN], order[SPAN], weight[SPAN];
} __attribute__((aligned(64)));

/* The sums of n pixels of row y from x on. */
void window_sum(const struct planes *planes, const struct kernels *kernels, size_t y, size_t x,
    size_t n, struct sums *sums);
/* The turns of n pixels, the first of them at index `at` of the planes. moved: how far to the
 * right and down dithering has moved the picture. */
void window_turns(const struct planes *planes, const struct sums *restrict sums, size_t at,
    size_t n, const float moved[2], float order_most);

#endif
