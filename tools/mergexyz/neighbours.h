/* The nearest of many points, by cubes; of mergexyz --noise alone. */
#ifndef MERGEXYZ_NEIGHBOURS_H
#define MERGEXYZ_NEIGHBOURS_H

#include <stdbool.h>

#include "cell_rows.h"

#define NEIGHBOURS_MOST 100

struct neighbours {
	const float *xyz[3];
	size_t n, k;
	struct cell_rows rows;
	float *distance;		/* mean to the k nearest, or less where uncertain */
	bool *uncertain;		/* it is at least that */
};

/* What a sorted point finds in its own cube and the 26 about it. */
struct neighbours_sample {
	size_t points;			/* in the 27 cubes, with itself */
	bool short_of;			/* k are there, but a nearer one may lie beyond */
};

/* Sorts the points into cubes of a size that suits them; about: their middle. -1 after fail(). */
int neighbours_sort(struct run *, struct neighbours *);
/* distance and uncertain of all points, by the cubes next to theirs. */
void neighbours_search(struct run *, struct neighbours *);
/* Makes those certain whose distance is not beyond the cut. */
void neighbours_search_farther(struct run *, struct neighbours *, double cut);
void neighbours_sample(const struct neighbours *, size_t sorted, struct neighbours_sample *);

#endif
