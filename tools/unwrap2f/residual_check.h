/*
 * Do the residuals of a frame look as if its fringe orders were found, or like chance? Wrong or
 * swapped periods and a forgotten phase origin give orders without an error; only what was rounded
 * away shows it. Pixels on a coarse grid are counted into a histogram for every row, so that the
 * warning does not depend on threads or bands, and rows that are made twice count once.
 */
#ifndef RESIDUAL_CHECK_H
#define RESIDUAL_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RESIDUAL_CHECK_BINS 40	/* over [-0.5, 0.5] turns */

struct residual_check {
	size_t step;		/* every step-th pixel of every step-th row is looked at */
	size_t every;		/* that, and from the second frame on more: which rows these are */
	size_t rows;
	uint32_t (*count)[RESIDUAL_CHECK_BINS];	/* of every such row */
	float scale;		/* of residuals, for the bins */
	bool positive;		/* they are a root mean square, not an error with a sign */
	double cell;		/* of a Gray code, in turns; 0: none. The caller sets it. */
	/* Two phases of so many steps (0: not known), by number, and by how many turns one turn of
	 * each shifts the residual. The caller sets them. */
	size_t steps, number[2];
	double weight[2];
	double assumed_px;	/* a field that nothing states; 0: stated. The caller sets it. */
	bool off, warned;	/* no warning: of no use here, or given already */
};

/*
 * For frames of w x h pixels. chance: the median of residuals that are a root mean square (at least
 * 0), in turns, where the phases are random; 0 for rounding errors in [-0.5, 0.5], whose median
 * size then is a quarter. -1 after fail().
 */
int residual_check_plan(struct residual_check *, size_t w, size_t h, float chance);
void residual_check_free(struct residual_check *);
/* Is row y looked at? */
bool residual_check_wanted(const struct residual_check *, size_t y);
/* Adds n pixels of row y, from column x on, those that are not bad (NULL: none is), nor NaN, to its
 * counts, where the row is looked at. */
void residual_check_add(const struct residual_check *, size_t x, size_t y, const float *residual,
    const uint32_t *bad, size_t n, uint32_t count[RESIDUAL_CHECK_BINS]);
/* Row y is complete. */
void residual_check_keep(const struct residual_check *, size_t y,
    const uint32_t count[RESIDUAL_CHECK_BINS]);
/* All rows are: warns, once in a run, if the orders look like chance or shifted; `object` leads the
 * message. Begins the next frame. */
void residual_check_warn(struct residual_check *, const char *object);

#endif
