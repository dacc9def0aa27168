/* Sums over the points of cubes, cloud by cloud, so that nobody has to keep the points. */
#ifndef MERGEXYZ_CUBE_SUMS_H
#define MERGEXYZ_CUBE_SUMS_H

#include "frame/frame.h"
#include "run/run.h"

/* Cubes are numbered in the order in which the points first use them. */
struct cube_sums {
	double size;
	struct frame_head head;		/* of the first cloud, less what later ones lack */
	struct cube_channel {
		double *sum;		/* of each cube */
		uint32_t *valid;	/* how many values it is of */
	} *channel;			/* head.c of them */
	size_t cells, room;		/* cubes; how many the arrays hold */
	size_t points, clouds;
	int32_t (*place)[3];		/* of each cube, less base */
	int64_t base[3];
	uint32_t *slot;			/* a hash of places: numbers of cubes, or none */
	size_t slots;			/* a power of two */
	double low[3], high[3];		/* of all points */
};

/*
 * Adds a table of points, all of them valid; the result is that of thin_cloud() of all tables one
 * behind the other, bit by bit, with the channels that all of them have. -1 after fail().
 */
int cube_sums_add(struct cube_sums *, struct run *, const struct frame *cloud);
/* The table of all cubes; the sums are gone then. -1 after fail(). */
int cube_sums_cloud(struct cube_sums *, struct run *, struct frame **cloud);
void cube_sums_free(struct cube_sums *);

#endif
