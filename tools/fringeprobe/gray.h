/* Gray codes and flat images among the images that are no fringes. */
#ifndef GRAY_H
#define GRAY_H

#include "sets.h"

#define GRAY_MOST 24

enum gray_order { GRAY_MSB_FIRST, GRAY_LSB_FIRST, GRAY_MIXED };
enum gray_cell { GRAY_CELL_UNKNOWN, GRAY_CELL_COLUMN, GRAY_CELL_PERIOD, GRAY_CELL_HALF };

enum gray_missing {
	GRAY_COMPLETE,
	GRAY_PLANE_MISSING,		/* before plane[gap] */
	GRAY_MISSING_OR_INVERTED,	/* or that one is inverted */
	GRAY_COARSE_MISSING,		/* anywhere before plane[gap] */
	GRAY_FINEST_MISSING
};

struct gray_code {
	int axis;
	size_t n;
	size_t plane[GRAY_MOST];	/* the most significant first */
	bool inverses, pairs;		/* pairs: each plane is followed by its inverse */
	size_t inverse[GRAY_MOST];
	enum gray_order order;		/* of the files */
	bool inverted[GRAY_MOST];	/* planes that are bright where they should be dark */
	size_t swapped;			/* planes that have changed places with their inverses */
	enum gray_missing missing;	/* then plane[] and the rest are no code */
	size_t gap;
	double agreement;		/* share of the value's changes that are steps of one */
	bool falls;			/* the value falls where the fringes' phase grows */
	size_t blurred;			/* of the finest planes, in which no stripes are seen */
	bool either;			/* a white and a black image may as well be planes of it */
	enum gray_cell cell;
	double cells, cells_error;	/* in a period of the first fringe set; NaN: no fringes */
	double edge_rad;		/* phase where periods begin, by the first set's shifts */
	double edge_coherence;
};

struct gray {
	size_t codes;
	struct gray_code code[2];
	size_t parts;			/* codes of which a plane is missing: their other planes */
	struct gray_code part[2];
	size_t white, black;		/* images; SIZE_MAX: none */
};

/* Sets the kinds of sets->kind. -1 after fail(). */
int gray_find(struct sets *, struct gray *);

#endif
