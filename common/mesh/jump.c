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
#define CHECK_PIXELS 2048	/* looked at to check a jump that is given */
#define CUT_STEPS_LEAST 100	/* fewer steps say too little */
/* Of the steps that are not 0, and of all. Of surfaces in one piece or several a jump cuts some
 * hundredths, of flat ones whose only steps are their jumps all that are not 0, but few. */
#define CUT_MOST 0.9
#define CUT_MOST_OF_ALL 0.3
#define PIXELS 32768		/* looked at, at most: more make the jump no better */

/* To look at `most` pixels at most. */
static int
begin(struct jump_steps *steps, const struct mesh *mesh, size_t most)
{
	size_t pixels = mesh->w * mesh->h, looked_at;

	*steps = (struct jump_steps){ .mesh = mesh, .stride = pixels / most + 1 };
	looked_at = (pixels + steps->stride - 1) / steps->stride;
	steps->room = 2 * ((looked_at + JUMP_PIECES - 1) / JUMP_PIECES);
	steps->dz = large_memory(JUMP_PIECES * steps->room, 2 * sizeof(*steps->dz));
	if (!steps->dz)
		return fail_memory();
	steps->lateral = steps->dz + JUMP_PIECES * steps->room;
	return 0;
}

int
jump_begin(struct jump_steps *steps, const struct mesh *mesh)
{
	return begin(steps, mesh, PIXELS);
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

/* The n steps of a frame; the caller frees steps->dz. -1 after fail(). */
static int
find_steps(const struct mesh *mesh, struct jump_steps *steps, size_t *n)
{
	if (begin(steps, mesh, CHECK_PIXELS) < 0)
		return -1;
	for (size_t i = 0; i < JUMP_PIECES; i++)
		jump_piece(steps, i);
	*n = join(steps);
	return 0;
}

int
jump_check(const struct frame *frame, double jump, bool *checked)
{
	struct jump_steps steps;
	struct mesh mesh;
	size_t n, cut = 0, flat = 0;
	int status;

	if (*checked || !(jump > 0) || isinf(jump) || head_is_table(&frame->head))
		return 0;
	if (mesh_channels(&mesh, NULL, &frame->head) < 0) {
		fail_clear();
		return 0;
	}
	mesh.scaled = true;	/* lists steps of 0, too */
	if (frame_to_float(frame, &mesh.floats) < 0)
		return -1;
	status = find_steps(&mesh, &steps, &n);
	frame_free(mesh.floats);
	if (status < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		cut += (double)steps.dz[i] > jump;
		flat += steps.dz[i] == 0;
	}
	*checked = n >= CUT_STEPS_LEAST;
	if (*checked && (double)cut > CUT_MOST * (double)(n - flat) &&
	    (double)cut > CUT_MOST_OF_ALL * (double)n)
		warn("--jump", "%g cuts %.0f %% of the slopes: where they are not 0, steps from "
		    "pixel to pixel are %.3g by the median", jump,
		    100 * (double)cut / (double)(n - flat),
		    (double)rank_of(steps.dz, n, flat + (n - flat) / 2));
	free(steps.dz);
	return 0;
}
