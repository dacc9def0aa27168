#include "islands.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>

#include "undither3.px.h"

#define STEPS 64		/* of a turn */
#define SLOPES 4		/* that are tried on each side, along each axis */
#define SLOPE 3			/* steps per pixel, from one to the next */
#define SLACK 0.01f		/* turns; surfaces are no planes */
#define NARROW 13		/* steps; planes that give the bits lie within so many */
#define TOGETHER 0.08f		/* turns; a plane carried on to the next one of its surface */
#define PATCH_LEAST 6		/* pixels of 3 x 3 */
#define LEAST 10		/* pixels of a surface */
#define AHEAD 2			/* bits of the stair more that contradict any other order */
#define CONTRADICTED 0.03f	/* share of the stair's bits that may contradict the order */
#define NOBODY (-1)

struct island_pixel {
	uint64_t arc;		/* steps of a turn that give its bits of R and G */
	float rest;		/* of the plane at the pixel; NaN: none */
	float right, down;	/* its slopes */
	float turns;		/* counted from the surface's first pixel */
	bool asked;
};

struct finding {
	const struct growing *growing;
	struct island_pixel *pixel;	/* as growing->waiting */
	int *index;			/* in it, of each pixel of the planes; NOBODY */
	size_t *queue;			/* the pixels of a surface */
};

static size_t
neighbour(const struct finding *finding, size_t at, int way)
{
	ptrdiff_t stride = (ptrdiff_t)finding->growing->job->planes.stride;

	return at + (size_t)(bits_way[way][1] * stride + bits_way[way][0]);
}

/* ---- a plane over 3 x 3 pixels ---- */

/* The steps of a turn that give a pixel's bits; none where they contradict each other. */
static uint64_t
find_arc(const struct job *job, const struct waiting *pixel)
{
	const struct bits_code *code = &job->priv->bits;
	uint64_t arc = 0;

	for (int i = 0; i < STEPS; i++) {
		float turns = ((float)i + 0.5f) / STEPS;
		struct bits_bounds bounds = bits_bound(turns, job->bit[0][pixel->at],
		    job->bit[1][pixel->at], code->arc[0][pixel->place],
		    code->arc[1][pixel->place]);

		if (bounds.low <= bounds.high && undither3_broken(turns, bounds) <= SLACK)
			arc |= (uint64_t)1 << i;
	}
	return arc;
}

/* Steps that much farther on the circle. */
static uint64_t
turn_steps(uint64_t steps, int by)
{
	unsigned left = (unsigned)by % STEPS;

	return left ? steps << left | steps >> (STEPS - left) : steps;
}

struct patch {
	uint64_t arc[BITS_WAYS + 1];
	int x[BITS_WAYS + 1], y[BITS_WAYS + 1];
	size_t n;
};

static void
fill_patch(const struct finding *finding, size_t at, struct patch *patch)
{
	patch->n = 0;
	for (int way = 0; way <= BITS_WAYS; way++) {
		bool own = way == BITS_WAYS;
		int k = finding->index[own ? at : neighbour(finding, at, way)];

		if (k == NOBODY)
			continue;
		patch->arc[patch->n] = finding->pixel[k].arc;
		patch->x[patch->n] = own ? 0 : bits_way[way][0];
		patch->y[patch->n++] = own ? 0 : bits_way[way][1];
	}
}

/* Where a plane of these slopes may be at the middle: in the arcs of all pixels, of all but one. */
static void
find_steps(const struct patch *patch, int right, int down, uint64_t steps[2])
{
	steps[0] = steps[1] = UINT64_MAX;
	for (size_t i = 0; i < patch->n; i++) {
		int more = SLOPE * (right * patch->x[i] + down * patch->y[i]);
		uint64_t there = turn_steps(patch->arc[i], -more);

		steps[1] = (steps[1] & there) | steps[0];
		steps[0] &= there;
	}
}

/* The first step of the shortest arc that holds all of these, and its length. */
static int
shortest_arc(uint64_t steps, int *length)
{
	int first = 0, gap = 0, most = 0;

	for (int i = 0; i < 2 * STEPS; i++) {
		gap = steps >> (i % STEPS) & 1 ? 0 : gap + 1;
		if (gap > most) {
			most = gap;
			first = (i + 1) % STEPS;
		}
	}
	*length = STEPS - most;
	return first;
}

/* The mean of all planes that a patch may be, if these are near to each other. */
static void
find_plane(const struct finding *finding, size_t at, struct island_pixel *found)
{
	uint64_t steps[2 * SLOPES + 1][2 * SLOPES + 1][2], all[2] = { 0, 0 };
	float sum = 0, right = 0, down = 0, n = 0;
	struct patch patch;
	int but, first, length;

	fill_patch(finding, at, &patch);
	if (patch.n < PATCH_LEAST)
		return;
	for (int i = 0; i <= 2 * SLOPES; i++)
		for (int k = 0; k <= 2 * SLOPES; k++) {
			find_steps(&patch, i - SLOPES, k - SLOPES, steps[i][k]);
			all[0] |= steps[i][k][0];
			all[1] |= steps[i][k][1];
		}
	but = all[0] ? 0 : 1;
	first = shortest_arc(all[but], &length);
	if (all[but] == 0 || length > NARROW)
		return;
	for (int i = 0; i <= 2 * SLOPES; i++)
		for (int k = 0; k <= 2 * SLOPES; k++) {
			uint64_t these = turn_steps(steps[i][k][but], -first);

			for (int step = 0; these && step < length; step++) {
				float there = these >> step & 1 ? 1 : 0;

				sum += there * ((float)step + 0.5f);
				right += there * (float)(SLOPE * (i - SLOPES));
				down += there * (float)(SLOPE * (k - SLOPES));
				n += there;
			}
		}
	found->rest = ((float)first + sum / n) / STEPS;
	found->right = right / n / STEPS;
	found->down = down / n / STEPS;
}

/* ---- surfaces ---- */

/* Puts a surface into the queue, from one of its pixels on; how many it has. */
static size_t
find_surface(struct finding *finding, size_t start)
{
	struct island_pixel *pixel = finding->pixel;
	size_t n = 1;

	finding->queue[0] = start;
	pixel[start].asked = true;
	pixel[start].turns = pixel[start].rest;
	for (size_t i = 0; i < n; i++) {
		const struct island_pixel *here = &pixel[finding->queue[i]];
		size_t at = finding->growing->waiting[finding->queue[i]].at;

		for (int way = 0; way < BITS_WAYS; way++) {
			int k = finding->index[neighbour(finding, at, way)];
			float carried = here->turns + here->right * (float)bits_way[way][0] +
			    here->down * (float)bits_way[way][1];
			float off;

			if (k == NOBODY || pixel[k].asked || px_isnan(pixel[k].rest))
				continue;
			off = undither3_off(carried, pixel[k].rest);
			if (px_abs(off) > TOGETHER)
				continue;
			pixel[k].asked = true;
			pixel[k].turns = carried + off;
			finding->queue[n++] = (size_t)k;
		}
	}
	return n;
}

/* How many bits of the stair contradict a surface that is so many turns higher. */
static size_t
count_against(const struct finding *finding, size_t n, float more)
{
	const struct job *job = finding->growing->job;
	const struct bits_code *code = &job->priv->bits;
	size_t against = 0;

	for (size_t i = 0; i < n; i++) {
		const struct waiting *pixel = &finding->growing->waiting[finding->queue[i]];
		float turns = finding->pixel[finding->queue[i]].turns + more;
		float above = bits_above(turns, code->threshold[pixel->place],
		    code->stair[(int)((turns - px_floor(turns)) * HOLO_PROFILE)],
		    code->height);

		against += undither3_contradicts(job->bit[2][pixel->at], above, 0);
	}
	return against;
}

/* The turns that are to be added to a surface; NaN where the stair's bits leave a doubt. */
static float
find_order(const struct finding *finding, size_t n)
{
	float end = finding->growing->job->priv->code.order_most + 1;
	float low = 1e6f, high = -1e6f, best = PX_NAN;
	size_t least = SIZE_MAX, next = SIZE_MAX;

	for (size_t i = 0; i < n; i++) {
		low = px_min(low, finding->pixel[finding->queue[i]].turns);
		high = px_max(high, finding->pixel[finding->queue[i]].turns);
	}
	for (float more = -px_floor(low); more + high < end; more++) {
		size_t against = count_against(finding, n, more);

		next = against < least ? least : against < next ? against : next;
		best = against < least ? more : best;
		least = against < least ? against : least;
	}
	if (next - least < AHEAD || (float)least > 1 + CONTRADICTED * (float)n)
		return PX_NAN;
	return best;
}

static int
take_surfaces(struct finding *finding, struct growing *growing, int round)
{
	struct planes *planes = &growing->job->planes;
	int taken = 0;

	for (size_t start = 0; start < growing->n; start++) {
		size_t n = 0;
		float more = PX_NAN;

		if (!finding->pixel[start].asked && !px_isnan(finding->pixel[start].rest))
			n = find_surface(finding, start);
		if (n >= LEAST)
			more = find_order(finding, n);
		for (size_t i = 0; i < n && !px_isnan(more); i++) {
			struct waiting *pixel = &growing->waiting[finding->queue[i]];

			pixel->turns = finding->pixel[finding->queue[i]].turns + more;
			if (growing_is_background(
				growing->job, pixel->at, pixel->place, pixel->turns))
				continue;
			pixel->round = round;
			planes->turns[pixel->at] = pixel->turns;
			planes->trusted[pixel->at] = 1;
			taken++;
		}
	}
	return taken;
}

static void
find_planes(struct finding *finding, size_t pixels)
{
	const struct growing *growing = finding->growing;

	for (size_t i = 0; i < pixels; i++)
		finding->index[i] = NOBODY;
	for (size_t i = 0; i < growing->n; i++) {
		const struct waiting *pixel = &growing->waiting[i];

		finding->pixel[i].rest = PX_NAN;
		if (pixel->round || pixel->hole)
			continue;
		finding->index[pixel->at] = (int)i;
		finding->pixel[i].arc = find_arc(growing->job, pixel);
	}
	for (size_t i = 0; i < growing->n; i++)
		if (finding->index[growing->waiting[i].at] != NOBODY)
			find_plane(finding, growing->waiting[i].at, &finding->pixel[i]);
}

int
islands_find(struct growing *growing, int round)
{
	const struct planes *planes = &growing->job->planes;
	size_t pixels = (planes->h + 2 * MARGIN) * planes->stride, n = growing->n;
	struct finding finding = { growing, NULL, NULL, NULL };
	int taken = -1;

	if (n == 0 || n > INT_MAX)
		return 0;
	finding.pixel = calloc(n, sizeof(*finding.pixel));
	finding.index = malloc(pixels * sizeof(*finding.index));
	finding.queue = malloc(n * sizeof(*finding.queue));
	if (finding.pixel && finding.index && finding.queue) {
		find_planes(&finding, pixels);
		taken = take_surfaces(&finding, growing, round);
	}
	free(finding.pixel);
	free(finding.index);
	free(finding.queue);
	return taken < 0 ? fail_memory() : taken;
}
