/*
 * Is a picture still as it was encoded? Without the key holo_check no place tells, but fringes do:
 * they lie on a circle of known centre and radius, and their phase rises along the rows.
 */
#ifndef HOLODEC_ALTERED_H
#define HOLODEC_ALTERED_H

#include "tile.h"

/* Warnings that were given; each is given once. */
struct altered {
	bool levels, turned;
};

/*
 * Warns of levels that were changed, if `levels` is asked for, which pictures of floats and blurred
 * ones do not answer; and, without holo_check, of a picture that was mirrored or turned.
 */
void altered_warn(const struct reading *, const struct frame *in, bool levels, struct altered *);

#endif
