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

#endif
