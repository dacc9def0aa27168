/* The automatic jump of a mesh (mesh.h), found in pieces, which several threads may do at once. */
#ifndef JUMP_H
#define JUMP_H

#include "mesh/mesh.h"

#define JUMP_PIECES 16

struct jump_steps {
	const struct mesh *mesh;	/* its channels and its frame of floats */
	size_t stride;			/* every so many pixels are looked at, in order of rows */
	size_t room;			/* steps of a piece */
	size_t n[JUMP_PIECES];
	float *dz, *lateral;		/* of each piece: in z, and in the image plane */
};

/* 0, or -1 after fail(). */
int jump_begin(struct jump_steps *, const struct mesh *);
/* Piece i of JUMP_PIECES; arg: struct jump_steps. */
void jump_piece(void *arg, size_t i);
/* After all pieces: the jump, infinite where there are no steps. Frees the steps. */
double jump_end(struct jump_steps *);

/*
 * Warns of a jump given that cuts nearly all steps between neighbours of a frame's surface, so that
 * no triangle is left; looks at the first frame with enough steps, and then sets *checked. 0
 * also where nothing is given (0, infinite), or where the frame is no surface, which the caller
 * finds by itself; -1 after fail().
 */
int jump_check(const struct frame *, double jump, bool *checked);

#endif
