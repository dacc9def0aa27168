/*
 * At a jump of the surface the average around a pixel sees both sides. A pixel that cannot be
 * trusted is compared with the trusted ones nearest to it in eight directions, each carried on to
 * it by its own slope: it stays where the ones that have its phase agree on its order, else it is
 * dropped.
 */
#ifndef UNDITHER3_MEND_H
#define UNDITHER3_MEND_H

#include "undither3.h"

#define MEND_REACH 8		/* px; how far a trusted neighbour may be */
#define MEND_LEAST 4		/* neighbours that must agree */

/* Trusts pixels that are not trusted, with the order that their neighbours give them. */
void mend_all(struct run *run, struct job *job);

#endif
