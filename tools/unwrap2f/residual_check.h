/*
 * Do the residuals of a frame look as if its fringe orders were found, or like chance? Wrong or
 * swapped periods and a forgotten phase origin give orders without an error; only what was rounded
 * away shows it. Pixels on a coarse grid are counted into a histogram for every row, so that what
 * is said does not depend on threads or bands, and rows that are made twice count once.
 */
#ifndef RESIDUAL_CHECK_H
#define RESIDUAL_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RESIDUALS_BINS 20	/* over [-0.5, 0.5] turns */

struct residuals {
	size_t step;		/* every step-th pixel of every step-th row is looked at */
	size_t rows;
	uint32_t (*count)[RESIDUALS_BINS];	/* of every such row */
	float scale;		/* of residuals, for the bins */
	bool positive;		/* they are a root mean square, not an error with a sign */
	bool off;		/* these say nothing, or what they say was said */
};

/*
 * For frames of w x h pixels. chance: the median of residuals that are a root mean square (at least
 * 0), in turns, where the phases are random; 0 for rounding errors in [-0.5, 0.5], whose median
 * size then is a quarter. -1 after fail().
 */
int residuals_plan(struct residuals *, size_t w, size_t h, float chance);
void residuals_free(struct residuals *);
/* Is row y looked at? */
bool residuals_wanted(const struct residuals *, size_t y);
/* Adds the n pixels from column x on, those that are not bad (NULL: none is), nor NaN, to a row's
 * counts. */
void residuals_add(const struct residuals *, size_t x, const float *residual, const uint32_t *bad,
    size_t n, uint32_t count[RESIDUALS_BINS]);
/* Row y is complete. */
void residuals_keep(const struct residuals *, size_t y, const uint32_t count[RESIDUALS_BINS]);
/* All rows are: warns, once in a run, if the orders look like chance or shifted; `object` leads the
 * message. Begins the next frame. */
void residuals_tell(struct residuals *, const char *object);

#endif
