/* Which images belong together: fringe sets, and what is left of the images for Gray code and flat
 * images. */
#ifndef SETS_H
#define SETS_H

#include "steps.h"

#define SETS_MOST 32

enum image_kind {
	KIND_UNKNOWN, KIND_FRINGE, KIND_TWIN, KIND_GRAY, KIND_INVERSE, KIND_WHITE, KIND_BLACK
};

struct fringe_set {
	int axis;
	struct steps steps;		/* without twins, in the order of the shifts */
	struct steps_order order;
	size_t flat;			/* 1 to 3: which image is flat, of a 2+1 set; 0: steps */
	double period_px, fringes;	/* on the camera; mean number in a line */
	float *phase;			/* lines x length, unwrapped along runs, grows; NaN: none */
	float *mean;			/* A of these pixels */
};

struct sets {
	size_t images;
	struct image *const *image;	/* of one size */
	struct field field[2];
	struct carrier *carrier[2];	/* of each image */
	enum image_kind *kind;
	size_t *set;			/* KIND_FRINGE, KIND_TWIN: of which set; else SIZE_MAX */
	size_t *other;			/* KIND_TWIN: which image it shows again; KIND_INVERSE: of
					 * which plane */
	size_t n;
	struct fringe_set fringe[SETS_MOST];
};

/* Of n images of one size, which must outlive *out. -1 after fail(). sets_free() also then. */
int sets_find(struct image *const *image, size_t n, struct sets *out);
void sets_free(struct sets *);
/* The axis along which an image's fringes or planes vary. */
int sets_axis(const struct sets *, size_t image);

#endif
