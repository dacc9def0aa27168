#include "splat_strip.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "base/px.h"

#define NEAR 1.5f	/* cells between points up to which a footprint is 2 x 2 cells */
#define FIXED 4096.0f

int
splat_scratch_fit(struct splat_scratch *scratch, size_t cells, size_t vectors)
{
	size_t n, bytes;

	if (scratch->sum && scratch->cells == cells && scratch->vectors == vectors)
		return 0;
	free(scratch->nearest);
	free(scratch->sum);
	scratch->nearest = NULL;
	scratch->sum = NULL;
	if (size_multiply(cells, vectors, &n) < 0 || size_multiply(n, sizeof(lanes), &bytes) < 0)
		return -1;
	scratch->nearest = malloc(cells * sizeof(float));
	scratch->sum = aligned_alloc(sizeof(lanes), bytes);
	if (!scratch->nearest || !scratch->sum)
		return fail_memory();
	scratch->cells = cells;
	scratch->vectors = vectors;
	return 0;
}

void
splat_scratch_free(struct splat_scratch *scratch)
{
	free(scratch->nearest);
	free(scratch->sum);
	free(scratch->record);
	free(scratch);
}

/* The strip at hand. A cell (column, row) of it is (row + 1) pitch + column + 1: a margin of one
 * cell on all sides takes what falls beside it. */
struct strip {
	const struct splat *splat;
	const struct splat_source *source;
	struct splat_scratch *scratch;
	struct frame *out;
	size_t y0, y1, pitch, record_bytes, attributes;
};

/* ---- the points that reach it ---- */

static bool
reaches(const struct strip *strip, const struct splat_span *span)
{
	return span->points && span->high + SPLAT_REACH > (float)strip->y0 &&
	    span->low - SPLAT_REACH < (float)strip->y1;
}

/* Room for all points of the segments that reach the strip. */
static int
make_room(const struct strip *strip)
{
	struct splat_scratch *scratch = strip->scratch;
	size_t n = 0, bytes;
	unsigned char *record;

	for (size_t k = 0; k < strip->splat->views; k++) {
		const struct splat_view *view = &strip->splat->view[k];

		for (size_t s = 0; s < view->segments * view->h; s++)
			n += reaches(strip, &view->span[s]) ? view->span[s].points : 0;
	}
	scratch->records = 0;
	if (size_multiply(n, strip->record_bytes, &bytes) < 0)
		return -1;
	if (bytes <= scratch->room)
		return 0;
	free(scratch->record);
	scratch->room = 0;
	scratch->record = record = aligned_alloc(sizeof(lanes), bytes);
	if (!record)
		return fail_memory();
	scratch->room = bytes;
	return 0;
}

/* A point's own cells: those nearer to it than half of the way to its neighbours. */
static void
claim(const struct strip *strip, float u, float v, float d, float gx, float gy, float su, float sv)
{
	const struct splat_grid *grid = &strip->splat->grid;
	float a = 0.5f * su, b = 0.5f * sv;
	long left = (long)ceilf(u - a), right = (long)floorf(u + a);
	long top = (long)ceilf(v - b), bottom = (long)floorf(v + b);

	left = left < 0 ? 0 : left;
	right = right >= (long)grid->w ? (long)grid->w - 1 : right;
	top = top < (long)strip->y0 ? (long)strip->y0 : top;
	bottom = bottom >= (long)strip->y1 ? (long)strip->y1 - 1 : bottom;
	for (long y = top; y <= bottom; y++)
		for (long x = left; x <= right; x++) {
			float *nearest = strip->scratch->nearest +
			    (size_t)(y - (long)strip->y0 + 1) * strip->pitch + (size_t)x + 1;
			float depth = d + gx * ((float)x - u) + gy * ((float)y - v);

			*nearest = depth < *nearest ? depth : *nearest;
		}
}

static void
keep_attributes(const struct splat_source *source, size_t x, size_t y, float *to)
{
	const double *R = source->pose.R;
	float *const attribute = to;
	size_t normal = source->normal;

	to[-1] = 1;		/* all are there; the lane before is LANE_ATTRIBUTE's */
	for (size_t k = 0; k < source->attributes; k++)
		attribute[k] = ((const float *)frame_floats(source->frame, source->attribute[k],
		    y))[x];
	if (normal != NO_CHANNEL) {
		double n[3] = { (double)attribute[normal], (double)attribute[normal + 1],
			(double)attribute[normal + 2] };
		bool known = !isnan(n[0] + n[1] + n[2]);

		for (size_t i = 0; i < 3; i++)
			attribute[normal + i] = known ? (float)(R[3 * i] * n[0] +
			    R[3 * i + 1] * n[1] + R[3 * i + 2] * n[2]) : 0;
	}
	for (size_t k = 0; k < source->attributes; k++)
		if (isnan(attribute[k]))
			to[-1] = 0;
	for (size_t k = 0; k < source->attributes && to[-1] == 0; k++)
		if (normal == NO_CHANNEL || k < normal || k > normal + 2)
			attribute[k] = 0;
}

static void
keep(const struct strip *strip, const struct splat_source *source,
    const struct splat_points *points, size_t i, size_t x, size_t y)
{
	struct splat_scratch *scratch = strip->scratch;
	struct splat_record *record = (struct splat_record *)(scratch->record +
	    scratch->records++ * strip->record_bytes);
	float su = points->su[i], sv = points->sv[i];

	record->u = points->u[i];
	record->v = points->v[i];
	record->d = points->d[i];
	record->gx = points->gx[i];
	record->gy = points->gy[i];
	record->weight = points->weight[i];
	record->noise = points->noise[i];
	record->reach = su <= NEAR && sv <= NEAR ? 0 :
	    (uint32_t)(su * FIXED) | (uint32_t)(sv * FIXED) << 16;
	if (strip->attributes) {
		float value[4 + SPLAT_ATTRIBUTES + 3] = { 0 };

		keep_attributes(source, x, y, value + 4);
		memcpy(record->attribute, value, scratch->vectors * sizeof(lanes));
	}
}

static void
gather_segment(const struct strip *strip, size_t k, size_t x0, size_t y, size_t n)
{
	const struct splat *splat = strip->splat;
	struct splat_points points;
	float above = (float)strip->y0, below = (float)strip->y1 - 1;
	float right = (float)splat->grid.w - 1;

	splat_view_points(&splat->view[k], &splat->grid, &strip->source[k], x0, y, n, &points);
	for (size_t i = 0; i < n; i++) {
		float u = points.u[i], v = points.v[i], su = points.su[i], sv = points.sv[i];
		float h = su <= NEAR && sv <= NEAR ? 1 : sv, a = su <= NEAR && sv <= NEAR ? 1 : su;

		if (!(v + h > above && v - h < below && u + a > 0 && u - a < right &&
			points.weight[i] > 0))
			continue;
		claim(strip, u, v, points.d[i], points.gx[i], points.gy[i], su, sv);
		keep(strip, &strip->source[k], &points, i, x0 + i, y);
	}
}

static void
gather(const struct strip *strip)
{
	for (size_t k = 0; k < strip->splat->views; k++) {
		const struct splat_view *view = &strip->splat->view[k];

		for (size_t s = 0; s < view->segments * view->h; s++) {
			size_t x0 = s % view->segments * SPLAT_SEGMENT;

			if (reaches(strip, &view->span[s]))
				gather_segment(strip, k, x0, s / view->segments,
				    view->w - x0 < SPLAT_SEGMENT ? view->w - x0 : SPLAT_SEGMENT);
		}
	}
}

/* ---- sums ---- */

/* Adds a point's share b to a cell that it lies (x, y) cells before. */
static inline __attribute__((always_inline)) void
add(const struct splat_record *record, float x, float y, float b, float nearest, float jump,
    lanes *sum, size_t vectors)
{
	float beyond = record->d + record->gx * x + record->gy * y - nearest;
	float weight = b * record->weight;

	if (!(px_abs(beyond) <= jump))
		return;
	if (vectors == 1) {
		sum[0] += weight * (lanes){ 1, beyond, b * record->noise, 0 };
		return;
	}
	sum[0] += weight * (lanes){ 1, beyond, b * record->noise, record->attribute[0][3] };
	for (size_t k = 1; k < vectors; k++)
		sum[k] += weight * record->attribute[k];
}

/* Over the 2 x 2 cells around it. */
static inline __attribute__((always_inline)) void
spread_near(const struct strip *strip, const struct splat_record *record, size_t vectors)
{
	const struct splat_scratch *scratch = strip->scratch;
	float column = floorf(record->u), row = floorf(record->v);
	float x = column - record->u, y = row - record->v;
	size_t cell = (size_t)((long)row - (long)strip->y0 + 1) * strip->pitch +
	    (size_t)((long)column + 1);
	const float *nearest = scratch->nearest + cell;
	lanes *sum = scratch->sum + cell * vectors;
	size_t pitch = strip->pitch;
	float jump = strip->splat->jump;

	add(record, x, y, (1 + x) * (1 + y), nearest[0], jump, sum, vectors);
	add(record, x + 1, y, -x * (1 + y), nearest[1], jump, sum + vectors, vectors);
	sum += pitch * vectors;
	add(record, x, y + 1, (1 + x) * -y, nearest[pitch], jump, sum, vectors);
	add(record, x + 1, y + 1, x * y, nearest[pitch + 1], jump, sum + vectors, vectors);
}

/* Over as many as lie between it and its neighbours. */
static void
spread_far(const struct strip *strip, const struct splat_record *record, size_t vectors)
{
	const struct splat_scratch *scratch = strip->scratch;
	float su = (float)(record->reach & 0xffff) / FIXED;
	float sv = (float)(record->reach >> 16) / FIXED;
	long right = (long)ceilf(record->u + su) - 1, bottom = (long)ceilf(record->v + sv) - 1;
	long left = (long)floorf(record->u - su) + 1, top = (long)floorf(record->v - sv) + 1;

	left = left < 0 ? 0 : left;
	top = top < (long)strip->y0 ? (long)strip->y0 : top;
	right = right >= (long)strip->splat->grid.w ? (long)strip->splat->grid.w - 1 : right;
	bottom = bottom >= (long)strip->y1 ? (long)strip->y1 - 1 : bottom;
	for (long r = top; r <= bottom; r++)
		for (long c = left; c <= right; c++) {
			size_t cell = (size_t)(r - (long)strip->y0 + 1) * strip->pitch +
			    (size_t)c + 1;
			float x = (float)c - record->u, y = (float)r - record->v;
			float b = (1 - px_abs(x) / su) * (1 - px_abs(y) / sv);

			add(record, x, y, px_max(b, 0.0f), scratch->nearest[cell],
			    strip->splat->jump, scratch->sum + cell * vectors, vectors);
		}
}

static inline __attribute__((always_inline)) void
spread_all(const struct strip *strip, size_t vectors)
{
	const unsigned char *record = strip->scratch->record;

	for (size_t i = 0; i < strip->scratch->records; i++, record += strip->record_bytes) {
		const struct splat_record *one = (const struct splat_record *)record;

		if (one->reach == 0)
			spread_near(strip, one, vectors);
		else
			spread_far(strip, one, vectors);
	}
}

static void
spread(const struct strip *strip)
{
	switch (strip->scratch->vectors) {
	case 1:
		spread_all(strip, 1);
		break;
	case 2:
		spread_all(strip, 2);
		break;
	case 3:
		spread_all(strip, 3);
		break;
	default:
		spread_all(strip, strip->scratch->vectors);
	}
}

/* ---- the result ---- */

/* Attributes of a cell: their means, and unit normals. */
static void
finish_attributes(const struct strip *strip, const lanes *sum, size_t x, size_t y)
{
	const struct splat_source *source = strip->source;
	float value[SPLAT_ATTRIBUTES + 3], first = sum[0][LANE_ATTRIBUTE];
	size_t c = strip->splat->keeps_sigma ? 4 : 3, normal = source->normal;
	float length = 0;

	memcpy(value, sum + 1, (strip->scratch->vectors - 1) * sizeof(lanes));
	for (size_t i = 0; i < 3 && normal != NO_CHANNEL; i++)
		length += value[normal + i] * value[normal + i];
	length = sqrtf(length);
	for (size_t k = 0; k < source->attributes; k++) {
		bool along = normal != NO_CHANNEL && k >= normal && k < normal + 3;
		float by = along ? length : first;

		frame_floats(strip->out, c + k, y)[x] = by > 0 ? value[k] / by : PX_NAN;
	}
}

static void
finish_row(const struct strip *strip, size_t y)
{
	const struct splat *splat = strip->splat;
	size_t vectors = strip->scratch->vectors, row = (y - strip->y0 + 1) * strip->pitch + 1;
	unsigned char *claimed = splat->claimed + y * splat->grid.w;
	float *px = frame_floats(strip->out, 0, y), *py = frame_floats(strip->out, 1, y);
	float *pz = frame_floats(strip->out, 2, y);

	for (size_t x = 0; x < splat->grid.w; x++) {
		const lanes *sum = strip->scratch->sum + (row + x) * vectors;
		float weight = sum[0][LANE_WEIGHT];

		claimed[x] = weight > 0;
		pz[x] = claimed[x] ? strip->scratch->nearest[row + x] +
		    sum[0][LANE_DEPTH] / weight : PX_NAN;
		splat_grid_point(&splat->grid, x, y, pz[x], &px[x], &py[x]);
		if (!claimed[x])
			px[x] = py[x] = PX_NAN;
		if (splat->keeps_sigma)
			frame_floats(strip->out, 3, y)[x] = claimed[x] ?
			    sqrtf(sum[0][LANE_NOISE]) / weight *
			    splat_grid_slant(&splat->grid, x, y) : PX_NAN;
		if (strip->attributes)
			finish_attributes(strip, sum, x, y);
	}
}

int
splat_strip_fill(const struct splat *splat, const struct splat_source *source,
    struct splat_scratch *scratch, struct frame *out, size_t y0, size_t y1)
{
	size_t attributes = source->attributes, pitch = splat->grid.w + 2;
	size_t vectors = 1 + (attributes + 3) / 4;
	const struct strip strip = { splat, source, scratch, out, y0, y1, pitch,
		sizeof(struct splat_record) + (attributes ? vectors * sizeof(lanes) : 0),
		attributes };

	if (splat_scratch_fit(scratch, pitch * (STRIP_ROWS + 2), vectors) < 0 ||
	    make_room(&strip) < 0)
		return -1;
	for (size_t i = 0; i < scratch->cells; i++)
		scratch->nearest[i] = INFINITY;
	memset(scratch->sum, 0, scratch->cells * vectors * sizeof(lanes));
	gather(&strip);
	spread(&strip);
	for (size_t y = y0; y < y1; y++)
		finish_row(&strip, y);
	return 0;
}
