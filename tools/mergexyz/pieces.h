/* The frames of all views, and the cloud of their points. */
#ifndef MERGEXYZ_PIECES_H
#define MERGEXYZ_PIECES_H

#include "frame/frame.h"
#include "points/pose.h"
#include "run/run.h"

struct piece {
	struct frame *frame;		/* float */
	size_t view, number;		/* both from 1 */
	struct pose pose;		/* from the view to the world */
	bool moved;			/* the pose is not the identity */
};

struct pieces {
	struct piece *v;
	size_t n, room;
};

/* Takes ownership of the frame, also where it fails: without x y z, or with another length_unit or
 * z_axis than the first piece. */
int pieces_add(struct pieces *, struct frame *, size_t view, size_t number, const struct pose *);
/*
 * A table of all points that have x y z, in order, in world coordinates; normals turned with them.
 * It has the channels that all pieces have, in the first one's order, and the first one's metadata
 * but for what is true of one frame alone. The pieces' frames are gone then. -1 after fail().
 */
int pieces_cloud(struct run *, struct pieces *, struct frame **cloud);
/* Keeps of a piece only the table of its points, in the world. -1 after fail(). */
int pieces_compact(struct run *, struct piece *);
void pieces_free(struct pieces *);

#endif
