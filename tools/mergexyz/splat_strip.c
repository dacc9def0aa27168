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

struct strip {
	const struct splat *splat;
	const struct splat_source *source;
	struct splat_scratch *scratch;
	struct frame *out;
	struct splat_rows rows;
	size_t attributes;
};

/* ---- the points that reach it ---- */

static bool
reaches(const struct strip *strip, const struct splat_span *span)
{
	return span->high + span->reach > (float)strip->rows.y0 &&
	    span->low - span->reach < (float)strip->rows.y1;
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
	long w = (long)strip->splat->grid.w, y0 = (long)strip->rows.y0, y1 = (long)strip->rows.y1;

	window.left = window.left < 0 ? 0 : window.left;
	window.right = window.right >= w ? w - 1 : window.right;
	window.top = window.top < y0 ? y0 : window.top;
	window.bottom = window.bottom >= y1 ? y1 - 1 : window.bottom;
	return window;
}

static size_t
cell_of(const struct strip *strip, long x, long y)
{
	return (size_t)(y - (long)strip->rows.y0 + 1) * strip->rows.pitch + (size_t)(x + 1);
}

/* A point's own cells: those nearer to it than half of the way to its neighbours, about. */
static void
claim_far(const struct strip *strip, const struct splat_far *far)
{
	struct window window = window_around(strip, far->u, far->v, 0.5f * far->su + SPLAT_OVERLAP,
	    0.5f * far->sv + SPLAT_OVERLAP);

	for (long y = window.top; y <= window.bottom; y++)
		for (long x = window.left; x <= window.right; x++) {
			float *nearest = strip->scratch->nearest + cell_of(strip, x, y);
			float depth = far->d + far->gx * ((float)x - far->u) +
			    far->gy * ((float)y - far->v);

			*nearest = depth < *nearest ? depth : *nearest;
		}
}

static inline __attribute__((always_inline)) lanes
magnitude(lanes v)
{
	return (lanes)((masks)v & INT32_MAX);
}

/* Two cells of a row and the two below them; pairs move as one. */
typedef double pairs __attribute__((vector_size(16)));

static inline __attribute__((always_inline)) lanes
load_four(const float *upper, const float *lower)
{
	double pair[2];

	memcpy(&pair[0], upper, 2 * sizeof(float));
	memcpy(&pair[1], lower, 2 * sizeof(float));
	return (lanes)(pairs){ pair[0], pair[1] };
}

static inline __attribute__((always_inline)) void
store_four(float *upper, float *lower, lanes four)
{
	pairs both = (pairs)four;
	double pair[2] = { both[0], both[1] };

	memcpy(upper, &pair[0], 2 * sizeof(float));
	memcpy(lower, &pair[1], 2 * sizeof(float));
}

static void
claim_near(const struct strip *strip, const struct splat_block *block, const lanes *claim)
{
	const size_t near = block->near, pitch = strip->rows.pitch;
	float *const first = strip->scratch->nearest;

	for (size_t k = 0; k < near; k++) {
		size_t i = block->kept[k];
		float *upper = first + block->cell[i], *lower = upper + pitch;
		lanes nearest = load_four(upper, lower);
		masks own = claim[i] < nearest;

		store_four(upper, lower,
		    (lanes)((own & (masks)claim[i]) | (~own & (masks)nearest)));
	}
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
	struct splat_points points;
	lanes claim[SPLAT_SEGMENT];

	if (!block)
		return -1;
	splat_view_points(&splat->view[k], &splat->grid, source, x0, y, n, &points);
	splat_footprints(&points, n, source, &strip->rows, block, claim);
	claim_near(strip, block, claim);
	for (size_t i = block->near; i < block->n; i++)
		claim_far(strip, &block->far[i - block->near]);
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

/* What the near points of a block need of a strip, in registers. */
struct cells {
	const float *nearest;
	float (*sum)[2];
	lanes *more;
	size_t pitch;
	float jump;
};

/* Over the 2 x 2 cells around it. */
static inline __attribute__((always_inline)) void
spread_near(struct cells cells, const struct splat_block *block, size_t i, const lanes *more,
    size_t vectors)
{
	size_t cell = (size_t)block->cell[i];
	const float *upper = cells.nearest + cell;
	float (*sum)[2] = cells.sum + cell;
	lanes *one = cells.more + cell * vectors, *below = one + cells.pitch * vectors;
	lanes beyond = block->depth[i] - load_four(upper, upper + cells.pitch);
	masks same = magnitude(beyond) <= cells.jump;
	lanes weight = (lanes)(same & (masks)block->weight[i]), noise = { 0 };

	beyond = weight * (lanes)(same & (masks)beyond);
	add_two(sum, __builtin_shufflevector(weight, beyond, 0, 4, 1, 5));
	add_two(sum + cells.pitch, __builtin_shufflevector(weight, beyond, 2, 6, 3, 7));
	if (vectors == 0)
		return;
	if (block->noisy)
		noise = block->noise[i];
	add_more(one, weight[0], noise[0], more, vectors);
	add_more(one + vectors, weight[1], noise[1], more, vectors);
	add_more(below, weight[2], noise[2], more, vectors);
	add_more(below + vectors, weight[3], noise[3], more, vectors);
}

/* Over as many as lie between it and its neighbours. */
static void
spread_far(const struct strip *strip, const struct splat_far *far, const lanes *more,
    size_t vectors)
{
	float u = far->u, v = far->v, su = far->su, sv = far->sv;
	struct window window = window_around(strip, u, v, su, sv);

	for (long r = window.top; r <= window.bottom; r++)
		for (long c = window.left; c <= window.right; c++) {
			size_t cell = cell_of(strip, c, r);
			float x = (float)c - u, y = (float)r - v;
			float share = px_max((1 - px_abs(x) / su) * (1 - px_abs(y) / sv), 0.0f);
			float weight = share * far->weight;
			float beyond = far->d + far->gx * x + far->gy * y -
			    strip->scratch->nearest[cell];

			if (!(px_abs(beyond) <= strip->splat->jump))
				continue;
			strip->scratch->sum[cell][0] += weight;
			strip->scratch->sum[cell][1] += weight * beyond;
			if (vectors)
				add_more(strip->scratch->more + cell * vectors, weight,
				    (far->smoothed ? 1 : share) * far->noise, more, vectors);
		}
}

static inline __attribute__((always_inline)) void
spread_block(const struct strip *strip, const struct splat_block *block, size_t vectors)
{
	const struct splat_scratch *scratch = strip->scratch;
	const struct cells cells = { scratch->nearest, scratch->sum, scratch->more,
		strip->rows.pitch, strip->splat->jump };
	const size_t near = block->near;
	lanes more[SPLAT_ATTRIBUTES / 4 + 1];

	for (size_t k = 0; k < near; k++) {
		if (vectors)
			read_attributes(strip, block, block->kept[k], more, vectors);
		spread_near(cells, block, block->kept[k], more, vectors);
	}
	for (size_t k = block->near; k < block->n; k++) {
		if (vectors)
			read_attributes(strip, block, block->kept[k], more, vectors);
		spread_far(strip, &block->far[k - block->near], more, vectors);
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
	size_t row = (y - strip->rows.y0 + 1) * strip->rows.pitch + 1, w = splat->grid.w;
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
	size_t attributes = source->attributes, w = splat->grid.w, pitch = w + 2;
	size_t vectors = attributes || splat->keeps_sigma ? (attributes + LANES_FIRST + 3) / 4 : 0;
	const struct strip strip = { splat, source, scratch, out, { w, y0, y1, pitch },
		attributes };

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
