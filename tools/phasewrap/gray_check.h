/*
 * Are the Gray planes and their inverses what they are taken for? A plane and its inverse are
 * opposite wherever there is light; two planes of a code are not. Pixels on a coarse grid of the
 * first measurement of a run are looked at, row by row, so that the warning does not depend on
 * threads or bands.
 */
#ifndef GRAY_CHECK_H
#define GRAY_CHECK_H

#include "fringe/capture_set.h"
#include "image/coarse_grid.h"
#include "checks/image_names.h"

struct gray_check_pixel {
	uint64_t bits[2];		/* of each code: plane i, or inverse i - n, is bright */
	float contrast[2];
};

struct gray_check {
	struct coarse_grid grid;
	struct gray_check_pixel *pixel;
	bool described;			/* a manifest, or keys, say what each image is */
	bool off;
};

/* -1 after fail(). */
int gray_check_plan(struct gray_check *, const struct capture_set *, const struct frame_head *);
void gray_check_free(struct gray_check *);
/* Looks at row y of all Gray planes. */
void gray_check_row(const struct gray_check *, const struct capture_set *, const struct frame *,
    size_t y);
/* All rows are made: warns of planes that are not opposite to their inverses, of planes that are
 * the inverses of others, and of two that are the same. */
void gray_check_warn(struct gray_check *, const struct capture_set *, const struct image_names *);

#endif
