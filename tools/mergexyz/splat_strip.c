/*
 * Filling a strip of the grid: the points that reach it, the cells that are their own, what they
 * add to the cells around, and the cells' means.
 */
#include "splat_strip.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu_level.h"
#include "base/fail.h"
#include "base/numbers.h"
#include "base/px.h"

/* Cells by which the own cells of neighbours overlap on each side, since noise moves points and the
 * camera's rows lie askew. With half of SPLAT_NEAR it is less than a cell. */
#define OVERLAP 0.2f

/* Memory for strips of this width and these lanes. */
static int
fit(struct splat_scratch *scratch, size_t cells, size_t vectors)
{
	size_t n, bytes;

	if (scratch->sum && scratch->cells == cells && scratch->vectors == vectors)
		return 0;
	free(scratch->nearest);
	free(scratch->sum);
	free(scratch->more);
	scratch->sum = NULL;
	if (size_multiply(cells, vectors + 1, &n) < 0 ||
	    size_multiply(n, sizeof(lanes), &bytes) < 0)
		return -1;
	scratch->nearest = malloc(cells * sizeof(*scratch->nearest));
	scratch->sum = malloc(cells * sizeof(*scratch->sum));
	scratch->more = aligned_alloc(sizeof(lanes), bytes);
	if (!scratch->nearest || !scratch->sum || !scratch->more) {
		free(scratch->sum);
		scratch->sum = NULL;
		return fail_memory();
	}
	scratch->cells = cells;
	scratch->vectors = vectors;
	return 0;
}

void
splat_scratch_free(struct splat_scratch *scratch)
{
	for (size_t i = 0; i < scratch->room; i++)
		free(scratch->block[i]);
	free(scratch->block);
	free(scratch->nearest);
	free(scratch->sum);
	free(scratch->more);
	free(scratch);
}

/* A block of the scratch's own; NULL after fail(). */
static struct splat_block *
next_block(struct splat_scratch *scratch)
{
	if (scratch->blocks == scratch->room) {
		size_t room = 2 * scratch->room + 64;
		struct splat_block **more = reallocarray(scratch->block, room, sizeof(*more));

		if (!more) {
			fail_memory();
			return NULL;
		}
		memset(more + scratch->room, 0, (room - scratch->room) * sizeof(*more));
		scratch->block = more;
		scratch->room = room;
	}
	if (!scratch->block[scratch->blocks]) {
		scratch->block[scratch->blocks] = aligned_alloc(64,
		    (sizeof(struct splat_block) + 63) / 64 * 64);
		if (!scratch->block[scratch->blocks]) {
			fail_memory();
			return NULL;
		}
	}
	return scratch->block[scratch->blocks++];
}

/* The strip at hand. A cell (column, row) of it is (row + 1) pitch + column + 1: a margin of one
 * cell on all sides takes what falls beside it. */
struct strip {
	const struct splat *splat;
	const struct splat_source *source;
	struct splat_scratch *scratch;
	struct frame *out;
	size_t y0, y1, pitch, attributes;
};

/* ---- the points that reach it ---- */

static bool
reaches(const struct strip *strip, const struct splat_span *span)
{
	return span->high + span->reach > (float)strip->y0 &&
	    span->low - span->reach < (float)strip->y1;
}

/* Which points have cells of the strip in their footprints, and which cell lies before each. */
static void
find_cells(const struct strip *strip, struct splat_block *block, size_t n)
{
	const struct splat_points *points = &block->points;
	const float above = (float)strip->y0, below = (float)strip->y1 - 1;
	const float right = (float)strip->splat->grid.w - 1;
	const int32_t pitch = (int32_t)strip->pitch, y0 = (int32_t)strip->y0;
	uint8_t keep[SPLAT_SEGMENT], far[SPLAT_SEGMENT];

	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F u = points->u[i], v = points->v[i], su = points->su[i], sv = points->sv[i];
		bool near = (su <= SPLAT_NEAR) & (sv <= SPLAT_NEAR);
		PX_F a = near ? 1.0f : su, b = near ? 1.0f : sv;
		bool in = (v + b > above) & (v - b < below) & (u + a > 0.0f) & (u - a < right) &
		    (points->weight[i] > 0.0f);
		/* what is not kept must stay within whole numbers */
		PX_F column = in ? px_floor(u) : 0.0f, row = in ? px_floor(v) : 0.0f;

		keep[i] = in & near;
		far[i] = in & !near;
		block->cell[i] = ((int32_t)row - y0 + 1) * pitch + (int32_t)column + 1;
	}
	block->near = 0;
	for (size_t i = 0; i < n; i++) {
		block->kept[block->near] = (uint8_t)i;
		block->near += keep[i];
	}
	block->n = block->near;
	for (size_t i = 0; i < n; i++)
		if (far[i])
			block->kept[block->n++] = (uint8_t)i;
}

/* Cells from first to last of a row, and as many rows, that a point claims or fills. */
struct window {
	long left, right, top, bottom;
};

static struct window
window_around(const struct strip *strip, float u, float v, float a, float b)
{
	struct window window = { (long)ceilf(u - a), (long)floorf(u + a), (long)ceilf(v - b),
		(long)floorf(v + b) };
	long w = (long)strip->splat->grid.w, y0 = (long)strip->y0, y1 = (long)strip->y1;

	window.left = window.left < 0 ? 0 : window.left;
	window.right = window.right >= w ? w - 1 : window.right;
	window.top = window.top < y0 ? y0 : window.top;
	window.bottom = window.bottom >= y1 ? y1 - 1 : window.bottom;
	return window;
}

static size_t
cell_of(const struct strip *strip, long x, long y)
{
	return (size_t)(y - (long)strip->y0 + 1) * strip->pitch + (size_t)(x + 1);
}

/* A point's own cells: those nearer to it than half of the way to its neighbours, about. */
static void
claim_far(const struct strip *strip, const struct splat_points *points, size_t i)
{
	float u = points->u[i], v = points->v[i];
	struct window window = window_around(strip, u, v, 0.5f * points->su[i] + OVERLAP,
	    0.5f * points->sv[i] + OVERLAP);

	for (long y = window.top; y <= window.bottom; y++)
		for (long x = window.left; x <= window.right; x++) {
			float *nearest = strip->scratch->nearest + cell_of(strip, x, y);
			float depth = points->d[i] + points->gx[i] * ((float)x - u) +
			    points->gy[i] * ((float)y - v);

			*nearest = depth < *nearest ? depth : *nearest;
		}
}

/* The 2 x 2 cells around a point: how far they lie beyond it, and its depth there. */
struct four {
	lanes x, y, depth;
};

static inline __attribute__((always_inline)) struct four
four_around(const struct splat_points *points, size_t i)
{
	float x = px_floor(points->u[i]) - points->u[i], y = px_floor(points->v[i]) - points->v[i];
	struct four four = { { x, x + 1, x, x + 1 }, { y, y, y + 1, y + 1 }, { 0 } };

	four.depth = points->d[i] + points->gx[i] * four.x + points->gy[i] * four.y;
	return four;
}

static inline __attribute__((always_inline)) lanes
magnitude(lanes v)
{
	return (lanes)((masks)v & INT32_MAX);
}

static inline __attribute__((always_inline)) lanes
choose(masks mask, lanes a, lanes b)
{
	return (lanes)((mask & (masks)a) | (~mask & (masks)b));
}

static inline __attribute__((always_inline)) void
claim_near(const struct strip *strip, const struct splat_block *block, size_t i)
{
	const struct splat_points *points = &block->points;
	struct four four = four_around(points, i);
	float a = 0.5f * points->su[i] + OVERLAP, b = 0.5f * points->sv[i] + OVERLAP;
	float *upper = strip->scratch->nearest + block->cell[i], *lower = upper + strip->pitch;
	lanes nearest = { upper[0], upper[1], lower[0], lower[1] };

	nearest = choose((magnitude(four.x) <= a) & (magnitude(four.y) <= b) &
	    (four.depth < nearest), four.depth, nearest);
	upper[0] = nearest[0];
	upper[1] = nearest[1];
	lower[0] = nearest[2];
	lower[1] = nearest[3];
}

static void
turn_normals(const struct splat_source *source, struct splat_block *block, size_t n)
{
	const double *R = source->pose.R;
	const float *const *from = block->attribute + source->normal;

	for (size_t i = 0; i < n; i++) {
		double v[3] = { (double)from[0][i], (double)from[1][i], (double)from[2][i] };
		bool known = !isnan(v[0] + v[1] + v[2]);

		/* a mean takes no notice of none; a sum of none has no direction */
		for (size_t k = 0; k < 3; k++)
			block->normal[k][i] = known ? (float)(R[3 * k] * v[0] +
			    R[3 * k + 1] * v[1] + R[3 * k + 2] * v[2]) : 0;
	}
	for (size_t k = 0; k < 3; k++)
		block->attribute[source->normal + k] = block->normal[k];
}

static int
gather_segment(const struct strip *strip, size_t k, size_t x0, size_t y, size_t n)
{
	const struct splat *splat = strip->splat;
	const struct splat_source *source = &strip->source[k];
	struct splat_block *block = next_block(strip->scratch);

	if (!block)
		return -1;
	splat_view_points(&splat->view[k], &splat->grid, source, x0, y, n, &block->points);
	find_cells(strip, block, n);
	block->smoothed = source->smoothed;
	for (size_t i = 0; i < block->near; i++)
		claim_near(strip, block, block->kept[i]);
	for (size_t i = block->near; i < block->n; i++)
		claim_far(strip, &block->points, block->kept[i]);
	for (size_t c = 0; c < source->attributes; c++)
		block->attribute[c] =
		    (const float *)frame_floats(source->frame, source->attribute[c], y) + x0;
	if (source->normal != NO_CHANNEL)
		turn_normals(source, block, n);
	return 0;
}

static int
gather(const struct strip *strip)
{
	strip->scratch->blocks = 0;
	for (size_t k = 0; k < strip->splat->views; k++) {
		const struct splat_view *view = &strip->splat->view[k];

		for (size_t s = 0; s < view->segments * view->h; s++) {
			size_t x0 = s % view->segments * SPLAT_SEGMENT;

			if (reaches(strip, &view->span[s]) &&
			    gather_segment(strip, k, x0, s / view->segments,
			    view->w - x0 < SPLAT_SEGMENT ? view->w - x0 : SPLAT_SEGMENT) < 0)
				return -1;
		}
	}
	return 0;
}

/* ---- sums ---- */

static inline __attribute__((always_inline)) float
attribute_of(const struct strip *strip, const struct splat_block *block, size_t c, size_t i)
{
	return c < strip->attributes ? block->attribute[c][i] : 0;
}

/* What a point has beside weight, depth and noise: its attributes, by lanes. All are 0 but normals
 * where one is missing. */
static inline __attribute__((always_inline)) void
read_attributes(const struct strip *strip, const struct splat_block *block, size_t i, lanes *more,
    size_t vectors)
{
	masks good = { -1, -1, -1, -1 };
	float all;

	more[0] = (lanes){ 0, 0, attribute_of(strip, block, 0, i),
		attribute_of(strip, block, 1, i) };
	good &= more[0] == more[0];
	for (size_t k = 1; k < vectors; k++) {
		size_t c = 4 * k - LANES_FIRST;

		more[k] = (lanes){ attribute_of(strip, block, c, i),
			attribute_of(strip, block, c + 1, i), attribute_of(strip, block, c + 2, i),
			attribute_of(strip, block, c + 3, i) };
		good &= more[k] == more[k];
	}
	all = good[0] & good[1] & good[2] & good[3] ? 1 : 0;
	for (size_t c = 0; c < strip->attributes && all == 0; c++) {
		size_t normal = strip->source->normal;

		if (normal == NO_CHANNEL || c < normal || c > normal + 2)
			more[(c + LANES_FIRST) / 4][(c + LANES_FIRST) % 4] = 0;
	}
	more[0][LANE_ATTRIBUTE] = all;
}

static inline __attribute__((always_inline)) void
add_more(lanes *sum, float weight, float noise, const lanes *more, size_t vectors)
{
	sum[0] += weight * (more[0] + (lanes){ noise, 0, 0, 0 });
	for (size_t k = 1; k < vectors; k++)
		sum[k] += weight * more[k];
}

/* Weight and depth of two cells side by side. */
static inline __attribute__((always_inline)) void
add_two(float (*sum)[2], lanes two)
{
	lanes old;

	memcpy(&old, sum, sizeof(old));
	old += two;
	memcpy(sum, &old, sizeof(old));
}

/* Over the 2 x 2 cells around it. */
static inline __attribute__((always_inline)) void
spread_near(const struct strip *strip, const struct splat_block *block, size_t i,
    const lanes *more, size_t vectors)
{
	const struct splat_points *points = &block->points;
	struct four four = four_around(points, i);
	size_t cell = (size_t)block->cell[i], pitch = strip->pitch;
	const float *upper = strip->scratch->nearest + cell, *lower = upper + pitch;
	float (*sum)[2] = strip->scratch->sum + cell;
	lanes *one = strip->scratch->more + cell * vectors, *below = one + pitch * vectors;
	lanes nearest = { upper[0], upper[1], lower[0], lower[1] };
	lanes beyond = four.depth - nearest, zero = { 0 };
	lanes share = (1 - magnitude(four.x)) * (1 - magnitude(four.y));
	masks same = magnitude(beyond) <= strip->splat->jump;
	lanes weight = choose(same, share * points->weight[i], zero);

	beyond = weight * choose(same, beyond, zero);
	add_two(sum, __builtin_shufflevector(weight, beyond, 0, 4, 1, 5));
	add_two(sum + pitch, __builtin_shufflevector(weight, beyond, 2, 6, 3, 7));
	if (vectors == 0)
		return;
	/* errors of their own add up by their squares, those that neighbours share as they are */
	share = block->smoothed ? zero + points->noise[i] : share * points->noise[i];
	add_more(one, weight[0], share[0], more, vectors);
	add_more(one + vectors, weight[1], share[1], more, vectors);
	add_more(below, weight[2], share[2], more, vectors);
	add_more(below + vectors, weight[3], share[3], more, vectors);
}

/* Over as many as lie between it and its neighbours. */
static void
spread_far(const struct strip *strip, const struct splat_block *block, size_t i,
    const lanes *more, size_t vectors)
{
	const struct splat_points *points = &block->points;
	float u = points->u[i], v = points->v[i], su = points->su[i], sv = points->sv[i];
	struct window window = window_around(strip, u, v, su, sv);

	for (long r = window.top; r <= window.bottom; r++)
		for (long c = window.left; c <= window.right; c++) {
			size_t cell = cell_of(strip, c, r);
			float x = (float)c - u, y = (float)r - v;
			float share = px_max((1 - px_abs(x) / su) * (1 - px_abs(y) / sv), 0.0f);
			float weight = share * points->weight[i];
			float beyond = points->d[i] + points->gx[i] * x + points->gy[i] * y -
			    strip->scratch->nearest[cell];

			if (!(px_abs(beyond) <= strip->splat->jump))
				continue;
			strip->scratch->sum[cell][0] += weight;
			strip->scratch->sum[cell][1] += weight * beyond;
			if (vectors)
				add_more(strip->scratch->more + cell * vectors, weight,
				    (block->smoothed ? 1 : share) * points->noise[i], more,
				    vectors);
		}
}

static inline __attribute__((always_inline)) void
spread_block(const struct strip *strip, const struct splat_block *block, size_t vectors)
{
	for (size_t k = 0; k < block->n; k++) {
		size_t i = block->kept[k];
		lanes more[SPLAT_ATTRIBUTES / 4 + 1];

		if (vectors)
			read_attributes(strip, block, i, more, vectors);
		if (k < block->near)
			spread_near(strip, block, i, more, vectors);
		else
			spread_far(strip, block, i, more, vectors);
	}
}

static void
spread(const struct strip *strip)
{
	for (size_t b = 0; b < strip->scratch->blocks; b++) {
		const struct splat_block *block = strip->scratch->block[b];

		switch (strip->scratch->vectors) {
		case 0:
			spread_block(strip, block, 0);
			break;
		case 1:
			spread_block(strip, block, 1);
			break;
		case 2:
			spread_block(strip, block, 2);
			break;
		default:
			spread_block(strip, block, strip->scratch->vectors);
		}
	}
}

/* ---- the result ---- */

/* Attributes of a cell: their means, and unit normals. */
static void
finish_attributes(const struct strip *strip, const lanes *more, size_t x, size_t y)
{
	const struct splat_source *source = strip->source;
	const float *value = (const float *)more + LANES_FIRST;
	size_t c = strip->splat->keeps_sigma ? 4 : 3, normal = source->normal;
	float length = 0;

	for (size_t i = 0; i < 3 && normal != NO_CHANNEL; i++)
		length += value[normal + i] * value[normal + i];
	length = sqrtf(length);
	for (size_t k = 0; k < source->attributes; k++) {
		bool along = normal != NO_CHANNEL && k >= normal && k < normal + 3;
		float by = along ? length : more[0][LANE_ATTRIBUTE];

		frame_floats(strip->out, c + k, y)[x] = by > 0 ? value[k] / by : PX_NAN;
	}
}

static void
finish_depth(const float (*restrict sum)[2], const float *restrict nearest, size_t w,
    float *restrict z, unsigned char *restrict claimed)
{
	CPU_SIMD
	for (size_t x = 0; x < w; x++) {
		bool there = sum[x][0] > 0;

		claimed[x] = there;
		z[x] = there ? nearest[x] + sum[x][1] / sum[x][0] : PX_NAN;
	}
}

static void
finish_row(const struct strip *strip, size_t y)
{
	const struct splat *splat = strip->splat;
	const struct splat_scratch *scratch = strip->scratch;
	size_t row = (y - strip->y0 + 1) * strip->pitch + 1, w = splat->grid.w;
	size_t vectors = scratch->vectors;
	unsigned char *claimed = splat->claimed + y * w;
	float *z = frame_floats(strip->out, 2, y);

	finish_depth((const float (*)[2])scratch->sum + row, scratch->nearest + row, w, z, claimed);
	splat_grid_points(&splat->grid, y, z, frame_floats(strip->out, 0, y),
	    frame_floats(strip->out, 1, y));
	for (size_t x = 0; x < w && vectors; x++) {
		const lanes *more = scratch->more + (row + x) * vectors;

		if (splat->keeps_sigma)
			frame_floats(strip->out, 3, y)[x] = claimed[x] ?
			    sqrtf(more[0][LANE_NOISE]) / scratch->sum[row + x][0] *
			    splat_grid_slant(&splat->grid, x, y) : PX_NAN;
		finish_attributes(strip, more, x, y);
	}
}

int
splat_strip_fill(const struct splat *splat, const struct splat_source *source,
    struct splat_scratch *scratch, struct frame *out, size_t y0, size_t y1)
{
	size_t attributes = source->attributes, pitch = splat->grid.w + 2;
	size_t vectors = attributes || splat->keeps_sigma ? (attributes + LANES_FIRST + 3) / 4 : 0;
	const struct strip strip = { splat, source, scratch, out, y0, y1, pitch, attributes };

	if (fit(scratch, pitch * (STRIP_ROWS + 2), vectors) < 0)
		return -1;
	for (size_t i = 0; i < scratch->cells; i++)
		scratch->nearest[i] = INFINITY;
	memset(scratch->sum, 0, scratch->cells * sizeof(*scratch->sum));
	memset(scratch->more, 0, scratch->cells * vectors * sizeof(lanes));
	if (gather(&strip) < 0)
		return -1;
	spread(&strip);
	for (size_t y = y0; y < y1; y++)
		finish_row(&strip, y);
	return 0;
}
