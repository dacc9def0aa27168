#include "mesh/jump.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/large_memory.h"
#include "base/numbers.h"

#define SLOPE 8.0		/* 83 degrees */
#define NOISE 10.0		/* times the median step */
#define TAIL 5.0		/* times the 95th percentile of steps */
#define PIXELS 32768		/* looked at, at most: more make the jump no better */

int
jump_begin(struct jump_steps *steps, const struct mesh *mesh)
{
	size_t pixels = mesh->w * mesh->h, looked_at;

	*steps = (struct jump_steps){ .mesh = mesh, .stride = pixels / PIXELS + 1 };
	looked_at = (pixels + steps->stride - 1) / steps->stride;
	steps->room = 2 * ((looked_at + JUMP_PIECES - 1) / JUMP_PIECES);
	steps->dz = large_memory(JUMP_PIECES * steps->room, 2 * sizeof(*steps->dz));
	if (!steps->dz)
		return fail_memory();
	steps->lateral = steps->dz + JUMP_PIECES * steps->room;
	return 0;
}

/* Rows of the mesh's points; x and y are NULL where these are column and row. */
struct rows {
	const float *x, *y, *z;
};

static struct rows
rows_at(const struct mesh *mesh, size_t y)
{
	bool points = mesh->point[0] != NO_CHANNEL;

	return (struct rows){ points ? frame_floats(mesh->floats, mesh->point[0], y) : NULL,
		points ? frame_floats(mesh->floats, mesh->point[1], y) : NULL,
		frame_floats(mesh->floats, mesh->point[2], y) };
}

/* Where steps are put. */
struct list {
	float *dz, *lateral;
	size_t n;
	float least; /* steps of 0 give no scale, unless x and y give one */
};

static inline void
add_step(struct list *list, float dz, float lateral)
{
	list->dz[list->n] = dz;
	list->lateral[list->n] = lateral;
	list->n += (dz >= list->least) & (dz < INFINITY) & (lateral < INFINITY);
}

/* The steps to the right and down from up to `left` pixels of a row, from *x on, which ends at what
 * would be the next one. Returns how many pixels are left. */
static inline size_t
add_row(const struct jump_steps *steps, size_t y, size_t *x, size_t left, bool points,
    struct list *list)
{
	const struct mesh *mesh = steps->mesh;
	bool has_below = y + 1 < mesh->h;
	struct rows here = rows_at(mesh, y), below = rows_at(mesh, y + has_below);
	const float spacing[2] = { (float)mesh->spacing[0], (float)mesh->spacing[1] };

	for (; *x < mesh->w && left > 0; *x += steps->stride, left--) {
		size_t at = *x, next = at + 1;

		if (next < mesh->w)
			add_step(list, fabsf(here.z[next] - here.z[at]), !points ? spacing[0] :
			    hypotf(here.x[next] - here.x[at], here.y[next] - here.y[at]));
		if (has_below)
			add_step(list, fabsf(below.z[at] - here.z[at]), !points ? spacing[1] :
			    hypotf(below.x[at] - here.x[at], below.y[at] - here.y[at]));
	}
	return left;
}

void
jump_piece(void *arg, size_t piece)
{
	struct jump_steps *steps = arg;
	const struct mesh *mesh = steps->mesh;
	size_t left = steps->room / 2, first = piece * left * steps->stride, x = first % mesh->w;
	struct list list = { steps->dz + piece * steps->room,
		steps->lateral + piece * steps->room, 0, mesh->scaled ? 0 : FLT_TRUE_MIN };

	for (size_t y = first / mesh->w; y < mesh->h && left > 0; y++, x -= mesh->w)
		left = mesh->point[0] == NO_CHANNEL ? add_row(steps, y, &x, left, false, &list) :
		    add_row(steps, y, &x, left, true, &list);
	steps->n[piece] = list.n;
}

/* The steps of all pieces, one behind the other. */
static size_t
join(struct jump_steps *steps)
{
	size_t n = steps->n[0];

	for (size_t i = 1; i < JUMP_PIECES; i++) {
		size_t from = i * steps->room, bytes = steps->n[i] * sizeof(*steps->dz);

		memmove(steps->dz + n, steps->dz + from, bytes);
		memmove(steps->lateral + n, steps->lateral + from, bytes);
		n += steps->n[i];
	}
	return n;
}

static float
rank_of(const float *v, size_t n, size_t rank)
{
	float at;

	numbers_ranks(v, n, &rank, 1, &at);
	return at;
}

/*
 * A jump is steeper than any surface: a step in z that is SLOPE times the distance of neighbours in
 * the image plane, and far above the noise. Where that distance is unknown, a jump is far above
 * nearly all steps.
 */
static double
choose(const struct jump_steps *steps, size_t n)
{
	if (n == 0)
		return INFINITY;
	if (steps->mesh->scaled)
		return fmax(SLOPE * rank_of(steps->lateral, n, n / 2),
		    NOISE * rank_of(steps->dz, n, n / 2));
	return TAIL * rank_of(steps->dz, n, n - 1 - n / 20);
}

double
jump_end(struct jump_steps *steps)
{
	double jump = choose(steps, join(steps));

	free(steps->dz);
	return jump;
}
