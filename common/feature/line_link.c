#include "feature/line_link.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/px.h"

#define SAME_PX 0.1f	/* points of neighbouring pixels nearer than this are one point */

struct linking {
	struct line_map *map;
	const struct line_candidate *v;
	size_t n;
};

void
line_map_free(struct line_map *map)
{
	free(map->at);
	free(map->order);
	free(map->chain);
	free(map->used);
	free(map->point);
	*map = (struct line_map){ 0 };
}

static int
make_room(struct line_map *map, size_t w, size_t h, size_t n)
{
	if (map->w != w || map->h != h) {
		free(map->at);
		map->at = calloc(w * h, sizeof(*map->at));
		map->w = map->at ? w : 0;
		map->h = map->at ? h : 0;
		if (!map->at)
			return fail_memory();
	}
	if (n > map->room) {
		size_t room = n + n / 2;

		free(map->order);
		free(map->chain);
		free(map->used);
		map->room = 0;
		map->order = malloc(room * sizeof(*map->order));
		map->chain = malloc(2 * room * sizeof(*map->chain));
		map->used = malloc(room);
		if (!map->order || !map->chain || !map->used)
			return fail_memory();
		map->room = room;
	}
	return 0;
}

/* The candidate of a pixel; SIZE_MAX: none. */
static size_t
candidate_at(const struct linking *k, ptrdiff_t x, ptrdiff_t y)
{
	uint32_t i;

	if (x < 0 || y < 0 || x >= (ptrdiff_t)k->map->w || y >= (ptrdiff_t)k->map->h)
		return SIZE_MAX;
	i = k->map->at[(size_t)y * k->map->w + (size_t)x];
	return i ? i - 1 : SIZE_MAX;
}

static float
point_u(const struct line_candidate *c)
{
	return (float)c->x + c->du;
}

static float
point_v(const struct line_candidate *c)
{
	return (float)c->y + c->dv;
}

static float
distance(const struct line_candidate *a, const struct line_candidate *b)
{
	float du = (float)((int32_t)b->x - (int32_t)a->x) + (b->du - a->du);
	float dv = (float)((int32_t)b->y - (int32_t)a->y) + (b->dv - a->dv);

	return sqrtf(du * du + dv * dv);
}

static float
from_centre(const struct line_candidate *c)
{
	return fmaxf(fabsf(c->du), fabsf(c->dv));
}

/* A point between two pixels may have come from both: the one whose centre is nearer keeps it. */
static void
drop_doubles(struct linking *k)
{
	static const int next[4][2] = { { 1, 0 }, { -1, 1 }, { 0, 1 }, { 1, 1 } };

	for (size_t i = 0; i < k->n; i++) {
		const struct line_candidate *c = &k->v[i];

		for (int d = 0; d < 4; d++) {
			size_t j = candidate_at(k, (ptrdiff_t)c->x + next[d][0],
			    (ptrdiff_t)c->y + next[d][1]);

			if (j != SIZE_MAX && distance(c, &k->v[j]) < SAME_PX)
				k->map->used[from_centre(&k->v[j]) < from_centre(c) ? i : j] = 1;
		}
	}
}

/* ---- from point to point ---- */

/* Eight directions, from the right on clockwise as seen, and the one nearest to (u, v). */
static const int around[8][2] = { { 1, 0 }, { 1, 1 }, { 0, 1 }, { -1, 1 }, { -1, 0 }, { -1, -1 },
	{ 0, -1 }, { 1, -1 } };

static int
octant(float u, float v)
{
	const float tangent = 0.41421356f;	/* of 22.5 degrees */
	float au = fabsf(u), av = fabsf(v);

	if (av <= tangent * au)
		return u > 0 ? 0 : 4;
	if (au <= tangent * av)
		return v > 0 ? 2 : 6;
	return v > 0 ? (u > 0 ? 1 : 3) : u > 0 ? 7 : 5;
}

/* The best neighbour in direction (u, v); SIZE_MAX: none that is free. */
static size_t
follow(const struct linking *k, size_t from, float u, float v)
{
	const struct line_candidate *c = &k->v[from];
	int direction = octant(u, v);
	size_t best = SIZE_MAX;
	float least = HUGE_VALF;

	for (int i = -1; i <= 1; i++) {
		const int *step = around[(direction + i) & 7];
		size_t j = candidate_at(k, (ptrdiff_t)c->x + step[0], (ptrdiff_t)c->y + step[1]);
		float cost, dot;

		if (j == SIZE_MAX || k->map->used[j])
			continue;
		dot = fminf(fabsf(c->nu * k->v[j].nu + c->nv * k->v[j].nv), 1);
		cost = distance(c, &k->v[j]) + acosf(dot);
		if (cost < least) {
			least = cost;
			best = j;
		}
	}
	return best;
}

/* From a candidate on in direction (u, v) to the end; returns the number of points. */
static size_t
walk(const struct linking *k, size_t from, float u, float v, uint32_t *chain)
{
	size_t n = 0;

	for (size_t next; (next = follow(k, from, u, v)) != SIZE_MAX; from = next) {
		const struct line_candidate *c = &k->v[next];
		float nu = -c->nv, nv = c->nu;
		float sign = nu * u + nv * v < 0 ? -1 : 1;

		u = sign * nu;
		v = sign * nv;
		k->map->used[next] = 1;
		chain[n++] = (uint32_t)next;
	}
	return n;
}

/* ---- lines ---- */

static int
add_point(struct line_map *map, size_t at, const struct line_candidate *c, float tangent_u,
    float tangent_v, uint32_t line)
{
	struct line_point *p;
	float sign;

	if (at >= map->point_room) {
		size_t room = map->point_room ? 2 * map->point_room : 1024;
		struct line_point *v = realloc(map->point, room * sizeof(*v));

		if (!v)
			return fail_memory();
		map->point = v;
		map->point_room = room;
	}
	/* to the left of who walks: down the image that is +u */
	sign = c->nu * tangent_v - c->nv * tangent_u < 0 ? -1 : 1;
	p = &map->point[at];
	*p = (struct line_point){ point_u(c), point_v(c), sign * c->nu, sign * c->nv, c->response,
		c->width, line };
	return 0;
}

/* Both halves of a line: chain[0 .. back - 1] leads away from the seed, the rest to the other side.
 * The line is written down the image, or to the right if it is wider than high. */
static int
add_line(struct linking *k, size_t seed, size_t back, size_t ahead, size_t min_length,
    struct line_points *to)
{
	const uint32_t *chain = k->map->chain;
	size_t n = back + 1 + ahead, first = to->n;
	const struct line_candidate *from = &k->v[back ? chain[back - 1] : seed];
	const struct line_candidate *end = &k->v[ahead ? chain[back + ahead - 1] : seed];
	float du = point_u(end) - point_u(from), dv = point_v(end) - point_v(from);
	bool turn = fabsf(du) > fabsf(dv) ? du < 0 : dv < 0;

	if (n < min_length)
		return 0;
	to->lines++;
	for (size_t i = 0; i < n; i++) {
		size_t at = turn ? n - 1 - i : i;
		/* neighbours along the line give its direction */
		size_t index[3] = { at ? at - 1 : at, at, at + 1 < n ? at + 1 : at };
		const struct line_candidate *c[3];
		float u, v;

		for (int j = 0; j < 3; j++) {
			size_t place = index[j];

			c[j] = &k->v[place < back ? chain[back - 1 - place] :
			    place == back ? seed : chain[place - 1]];
		}
		u = point_u(c[2]) - point_u(c[0]);
		v = point_v(c[2]) - point_v(c[0]);
		if (add_point(k->map, to->n, c[1], turn ? -u : u, turn ? -v : v,
		    (uint32_t)to->lines) < 0)
			return -1;
		to->n++;
	}
	/* a line of one point has no direction: its normal points to the right, or up */
	if (n == 1) {
		struct line_point *p = &k->map->point[first];

		if (p->nu < 0 || (p->nu == 0 && p->nv > 0)) {
			p->nu = -p->nu;
			p->nv = -p->nv;
		}
	}
	return 0;
}

#define DIGITS 256

/* The strongest first; of equal ones the first: by the bits of their responses, which are positive,
 * a byte at a time. spare: room for n. */
static void
sort_by_response(uint32_t *v, const struct line_candidate *c, size_t n, uint32_t *spare)
{
	for (unsigned shift = 0; shift < 32; shift += 8) {
		size_t start[DIGITS] = { 0 }, at = 0;

		for (size_t i = 0; i < n; i++)
			start[~px_bits(c[v[i]].response) >> shift & (DIGITS - 1)]++;
		for (size_t i = 0; i < DIGITS; i++) {
			size_t count = start[i];

			start[i] = at;
			at += count;
		}
		for (size_t i = 0; i < n; i++) {
			uint32_t key = ~px_bits(c[v[i]].response) >> shift & (DIGITS - 1);

			spare[start[key]++] = v[i];
		}
		memcpy(v, spare, n * sizeof(*v));
	}
}

static int
link_all(struct linking *k, double high, size_t min_length, struct line_points *to)
{
	struct line_map *map = k->map;
	size_t seeds = 0;

	for (size_t i = 0; i < k->n; i++) {
		if (!map->used[i] && (double)k->v[i].response > high)
			map->order[seeds++] = (uint32_t)i;
	}
	if (seeds)
		sort_by_response(map->order, k->v, seeds, map->chain);
	for (size_t i = 0; i < seeds; i++) {
		size_t seed = map->order[i], back, ahead;
		const struct line_candidate *c = &k->v[seed];

		if (map->used[seed])
			continue;
		map->used[seed] = 1;
		back = walk(k, seed, -c->nv, c->nu, map->chain);
		ahead = walk(k, seed, c->nv, -c->nu, map->chain + back);
		if (add_line(k, seed, back, ahead, min_length, to) < 0)
			return -1;
	}
	return 0;
}

int
line_link(struct line_map *map, size_t w, size_t h, const struct line_candidates *candidates,
    double high, size_t min_length, struct line_points *to)
{
	struct linking k = { map, candidates->v, candidates->n };
	int status;

	*to = (struct line_points){ .found = candidates->n };
	if (make_room(map, w, h, k.n) < 0)
		return -1;
	if (k.n)
		memset(map->used, 0, k.n);
	for (size_t i = 0; i < k.n; i++)
		map->at[k.v[i].y * w + k.v[i].x] = (uint32_t)i + 1;
	drop_doubles(&k);
	status = link_all(&k, high, min_length, to);
	for (size_t i = 0; i < k.n; i++)
		map->at[k.v[i].y * w + k.v[i].x] = 0;
	to->v = map->point;
	return status;
}
