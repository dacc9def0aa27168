/*
 * gauss on the processor. A tile of columns goes down the band with the rows of one window: columns
 * are summed first, then rows; gauss_holes.c corrects the sums where pixels are missing.
 */
#include "gauss_rows.h"

#include "gauss_holes.h"
#include "gauss_sigma.h"
#include "gauss_window.h"

#include <string.h>

#include "gauss.px.h"
#include "run/stage.h"

#if CPU_VECTOR_BYTES == 64
#include <immintrin.h>
#endif

/*
 * What the windows of all tiles may take of a thread's memory, so that each is kept from call to
 * call. Measured for windows of up to 28 MiB: phases are up to 5 % faster for a size of 11, 2 to
 * 15 % for 31 and more, most for wide images, which are made a few rows a call; vectors and
 * channels, of which only rows with holes are copied, are as fast within 3 %. Beyond, one window
 * serves all tiles and is filled anew in each call, so that the memory does not grow with the width
 * of an image.
 */
#define KEPT_MOST ((size_t)32 << 20)
#define ROWS_AHEAD 2		/* that are prefetched; 4 and 8 are no faster */

/* ---- sums where nothing is missing: columns, then rows ---- */

/* Neighbours lie in the same column of row[-radius] .. row[radius] (part p, columns from .. end - 1
 * counted from x0). One index for all of them: pointers to the first column would have to be
 * computed for each row, 6 % of the time for a window of 11. */
INLINED void
sum_columns(size_t radius, struct gauss_row *const *row, size_t p, ptrdiff_t from, ptrdiff_t end,
    const float *kernel, float *restrict sum)
{
	const float *tap[2 * GAUSS_RADIUS_MOST + 1];

	for (size_t k = 0; k <= 2 * radius; k++)
		tap[k] = row[k - radius]->tap[p];
	for (ptrdiff_t i = from; i < end; i += (ptrdiff_t)WIDTH) {
		vector total = VECTOR_IN(tap[radius] + i);

		#pragma GCC unroll 5
		for (size_t k = 1; k <= radius; k++)
			total += kernel[k] *
			    (VECTOR_IN(tap[radius - k] + i) + VECTOR_IN(tap[radius + k] + i));
		VECTOR(sum + i) = total;
	}
}

/*
 * a + b; if `by_product`, as a 1 + b, rounded once, which is the same number: two of four pipes of
 * a processor add, the other two multiply, and a window has twice as many additions as products.
 */
#if CPU_VECTOR_BYTES == 64
#define ADD_BY_PRODUCT(by_product, a, b, one) ((by_product) ? \
    (vector)_mm512_fmadd_ps((__m512)(a), one, (__m512)(b)) : (vector)((a) + (b)))
#define ONES __m512 one = _mm512_set1_ps(1)
#else
#define ADD_BY_PRODUCT(by_product, a, b, one) ((a) + (b))
#define ONES
#endif

/* The largest gauss_size() of each column so far. */
INLINED whole
larger_sizes(whole most, vector v)
{
	whole size = (whole)v & 0x7fffffff;
#if CPU_VECTOR_BYTES == 64
	return (whole)_mm512_max_epi32((__m512i)most, (__m512i)size);
#else
	whole larger = size > most;

	return (size & larger) | (most & ~larger);
#endif
}

INLINED int
largest_of(whole sizes)
{
#if CPU_VECTOR_BYTES == 64
	return _mm512_reduce_max_epi32((__m512i)sizes);
#else
	int most = 0;

	for (size_t i = 0; i < WIDTH; i++)
		most = sizes[i] > most ? sizes[i] : most;
	return most;
#endif
}

/* The same of GAUSS_TOGETHER rows, from all the rows that these need. The largest gauss_size() in
 * the last GAUSS_TOGETHER of these. */
INLINED int
sum_columns_together(size_t radius, const float *const *tap, ptrdiff_t from, ptrdiff_t end,
    const float *kernel, float *restrict sum)
{
	whole most = { 0 };
	ONES;

	for (ptrdiff_t i = from; i < end; i += (ptrdiff_t)WIDTH) {
		vector row[2 * COMMON_RADIUS + GAUSS_TOGETHER];

		#pragma GCC unroll 14
		for (size_t k = 0; k < 2 * radius + GAUSS_TOGETHER; k++)
			row[k] = VECTOR_IN(tap[k] + i);
		#pragma GCC unroll 4
		for (size_t y = 0; y < GAUSS_TOGETHER; y++) {
			vector total = row[y + radius];

			most = larger_sizes(most, row[2 * radius + y]);
			#pragma GCC unroll 5
			for (size_t k = 1; k <= radius; k++)
				total += kernel[k] * ADD_BY_PRODUCT(k <= 2,
				    row[y + radius - k], row[y + radius + k], one);
			VECTOR(sum + y * 2 * GAUSS_ACROSS + i) = total;
		}
	}
	return largest_of(most);
}

/* Loads across cache lines cost more than a shift of two registers, so the nearest neighbours come
 * from these where there is such an instruction. */
#if CPU_VECTOR_BYTES == 64
#define SHIFT(v, w, n) (vector)_mm512_alignr_epi32((__m512i)(w), (__m512i)(v), n)
#define NEAR 3
#else
#define SHIFT(v, w, n) (v)
#define NEAR 0
#endif
#define ADD_NEAR(k) do { \
	if ((k) <= NEAR && (k) <= radius) \
		total += kernel[k] * (SHIFT(before, middle, (WIDTH - (k)) % WIDTH) + \
		    SHIFT(middle, after, k)); \
} while (false)

/* Sums, or their means: a division here hides behind the loads. */
INLINED void
sum_row(size_t radius, const float *column, size_t n, const float *kernel, bool mean, float weight,
    float *restrict out)
{
	vector before = VECTOR_IN(column - WIDTH), middle = VECTOR_IN(column);

	for (size_t i = 0; i < n; i += WIDTH) {
		vector after = VECTOR_IN(column + i + WIDTH), total = middle;

		ADD_NEAR(1);
		ADD_NEAR(2);
		ADD_NEAR(3);
		#pragma GCC unroll 5
		for (size_t k = NEAR + 1; k <= radius; k++)
			total += kernel[k] *
			    (VECTOR_IN(column + i - k) + VECTOR_IN(column + i + k));
		if (mean)
			total /= weight;
		VECTOR(out + i) = total;
		before = middle;
		middle = after;
	}
}

/* GAUSS_LANES columns near the left or right border: a shorter kernel. */
INLINED void
sum_border(size_t radius, const float *column, const int32_t *reaches, const float *kernel,
    float *restrict sum)
{
	for (size_t i = 0; i < GAUSS_LANES; i += WIDTH) {
		vector total = VECTOR_IN(column + i);

		#pragma GCC unroll 5
		for (size_t k = 1; k <= radius; k++) {
			vector pair = VECTOR_IN(column + i - k) + VECTOR_IN(column + i + k);

			pair = (vector)((whole)pair & (WHOLE_IN(reaches + i) >= (int32_t)k));
			total += kernel[k] * pair;
		}
		VECTOR(sum + i) = total;
	}
}

/* Sums over the columns of row y's window. What lies outside the image is not used. */
static void
sum_all_columns(struct gauss_window *window, size_t p, size_t y)
{
	size_t n, x = gauss_window_columns(window, &n);
	ptrdiff_t from = (ptrdiff_t)x - (ptrdiff_t)window->x0;

	BY_RADIUS(sum_columns, gauss_window_reach(y, window->in->head.h, window->gauss->radius),
	    window->row + window->gauss->radius, p, from, from + (ptrdiff_t)n,
	    window->gauss->kernel + GAUSS_EDGE, window->column[0][p] + GAUSS_EDGE);
}

/* Likewise of GAUSS_TOGETHER rows from the window's own on. The largest gauss_size() in the lowest
 * rows of these windows: if it is too large, the sums are wrong. */
static int
sum_columns_ahead(struct gauss_window *window, size_t p)
{
	const float *tap[2 * COMMON_RADIUS + GAUSS_TOGETHER];
	size_t n, x = gauss_window_columns(window, &n), radius = window->gauss->radius;
	ptrdiff_t from = (ptrdiff_t)x - (ptrdiff_t)window->x0;

	for (size_t k = 0; k < 2 * radius + GAUSS_TOGETHER; k++)
		tap[k] = window->row[k]->tap[p];
	return BY_COMMON_RADIUS(sum_columns_together, radius, tap, from, from + (ptrdiff_t)n,
	    window->gauss->kernel + GAUSS_EDGE, window->column[0][p] + GAUSS_EDGE);
}

static size_t
parts_of(const struct gauss_window *window)
{
	return window->job->kind == KIND_PLAIN ? 1 : 2;
}

/*
 * The sums over columns for row y and those below it of GAUSS_TOGETHER rows, none of which is at a
 * border or at y1, before the lowest rows of their windows are loaded: these are read once, for the
 * sums and to see that nothing is missing in them. False if something is, or was a while ago: the
 * rows are made one by one.
 */
static bool
sum_ahead(struct gauss_window *window, size_t y, size_t y1)
{
	size_t radius = window->gauss->radius;
	bool tapped;
	int most = 0;

	if (GAUSS_TOGETHER == 1 || !IS_COMMON(radius) || window->whole_rows <= window->size ||
	    y < radius || y + GAUSS_TOGETHER + radius > window->in->head.h ||
	    y + GAUSS_TOGETHER > y1)
		return false;
	tapped = gauss_window_tap_ahead(window, y);
	if (!tapped && !gauss_window_load_ahead(window, y))
		return false;
	for (size_t p = 0; p < parts_of(window); p++) {
		int largest = sum_columns_ahead(window, p);

		most = largest > most ? largest : most;
	}
	if (tapped && most >= GAUSS_TOO_LARGE)
		return false;
	gauss_window_keep_ahead(window);
	return true;
}

static void
weigh_window(struct gauss_window *window, size_t y)
{
	size_t far = gauss_window_reach(y, window->in->head.h, window->gauss->radius);
	float rows_weight = gauss_kernel_sum(window->gauss, far);

	for (size_t i = 0; i < window->n; i++)
		window->weight[i] = rows_weight * window->columns_weight[i];
}

/* Sums of GAUSS_LANES columns near the border, of a shorter kernel; and the means of these, unless
 * `mean` is NULL. */
static void
sum_border_lanes(
    struct gauss_window *window, size_t p, size_t i, float rows_weight, float *restrict mean)
{
	size_t end = i + GAUSS_LANES < window->n ? i + GAUSS_LANES : window->n;

	BY_RADIUS(sum_border, window->gauss->radius, window->columns[p] + GAUSS_EDGE + i,
	    window->reach + i, window->gauss->kernel + GAUSS_EDGE, window->sum[p] + i);
	for (size_t k = i; mean && k < end; k++)
		mean[k] = gauss_mean(
		    window->sum[p][k], rows_weight * window->columns_weight[k], 1);
}

static void
sum_borders(struct gauss_window *window, size_t p, float rows_weight, float *restrict mean)
{
	size_t radius = window->gauss->radius, x0 = window->x0, w = window->in->head.w, i = 0;

	for (; x0 + i < radius && i < window->n; i += GAUSS_LANES)
		sum_border_lanes(window, p, i, rows_weight, mean);
	if (x0 + i + GAUSS_LANES + radius <= w)		/* GAUSS_LANES that have a whole window */
		i = ((w - radius - GAUSS_LANES - x0) / GAUSS_LANES + 1) * GAUSS_LANES;
	for (; i < window->n; i += GAUSS_LANES)
		sum_border_lanes(window, p, i, rows_weight, mean);
}

static void
sum_window(struct gauss_window *window, size_t p)
{
	BY_RADIUS(sum_row, window->gauss->radius, window->columns[p] + GAUSS_EDGE, window->n,
	    window->gauss->kernel + GAUSS_EDGE, false, 0, window->sum[p]);
	sum_borders(window, p, 1, NULL);
}

/* The same and the means, where nothing is missing. Columns of the image's last, unfinished
 * GAUSS_LANES are near its border. */
static void
mean_window(struct gauss_window *window, size_t p, size_t y, float *restrict mean)
{
	size_t radius = window->gauss->radius;
	size_t far = gauss_window_reach(y, window->in->head.h, radius);
	float rows_weight = gauss_kernel_sum(window->gauss, far);
	float weight = rows_weight * gauss_kernel_sum(window->gauss, radius);

	BY_RADIUS(sum_row, radius, window->columns[p] + GAUSS_EDGE,
	    window->n / GAUSS_LANES * GAUSS_LANES, window->gauss->kernel + GAUSS_EDGE, true,
	    weight, mean);
	sum_borders(window, p, rows_weight, mean);
}

/* ---- out ---- */

/* `valid`: of the pixels in the middle, or NULL where nothing is missing. */
static void
put_phase(const struct gauss_window *restrict window, const float *restrict valid,
    float *restrict phase)
{
	const float *restrict cosine = window->sum[0], *restrict sine = window->sum[1];
	ALIGNED float tangent[GAUSS_TILE];

	#pragma omp simd aligned(sine, cosine: 64)
	for (size_t i = 0; i < window->n; i++)
		tangent[i] = px_atan2_tangent(sine[i], cosine[i]);
	if (!valid) {
		#pragma omp simd aligned(phase, sine, cosine: 64)
		for (size_t i = 0; i < window->n; i++)
			phase[i] = gauss_phase_by(tangent[i], sine[i], cosine[i], 1);
		return;
	}
	#pragma omp simd aligned(phase, sine, cosine, valid: 64)
	for (size_t i = 0; i < window->n; i++)
		phase[i] = gauss_phase_by(tangent[i], sine[i], cosine[i], valid[i]);
}

static void
put_mean(const struct gauss_window *restrict window, size_t p, const float *restrict valid,
    float *restrict mean)
{
	#pragma omp simd aligned(mean, valid: 64)
	for (size_t i = 0; i < window->n; i++)
		mean[i] = gauss_mean(window->sum[p][i], window->weight[i], valid[i]);
}

/* Asks for columns x .. x + n - 1 of a row, which are read soon, unless the plane is a window of a
 * band, which is in the cache. */
INLINED void
prefetch_row(const struct frame *frame, size_t c, size_t y, size_t x, size_t n)
{
	const float *row;

	if (y >= frame->head.h || frame->plane[c].rows > 0)
		return;
	row = frame_floats(frame, c, y) + x;
	for (size_t i = 0; i < n; i += 64 / sizeof(*row))
		__builtin_prefetch(row + i);
}

/*
 * What comes after row y: of the input below all that is read for it, and of the output. A tile
 * takes 1 KiB of a row, too little for the processor's own prefetching, so that a frame that no
 * cache holds is waited for: vectors of 2048x2048 pixels take 1.3 times as long without this, of
 * 800x600 as long as with it.
 */
static void
prefetch_rows(const struct gauss_window *window, size_t parts, size_t outputs,
    const struct frame *out, size_t y)
{
	size_t n, x = gauss_window_columns(window, &n);

	for (size_t p = 0; p < parts; p++)
		prefetch_row(window->in, window->job->in[p],
		    y + window->gauss->radius + GAUSS_BELOW + ROWS_AHEAD, x, n);
	for (size_t p = 0; p < outputs; p++)
		frame_write_soon(out, window->job->out[p], y + ROWS_AHEAD, window->x0, window->n);
}

/* Row y, from its sums over columns, which stand in column[at]. */
static void
filter_columns(struct gauss_window *window, struct frame *out, size_t y, size_t at)
{
	bool whole = window->whole_rows >= window->size;
	bool means = window->job->kind == KIND_PLAIN || window->gauss->vectors;
	const float *valid = window->row[window->gauss->radius]->valid + GAUSS_EDGE;
	size_t parts = parts_of(window), outputs = means ? parts : 1;
	float *to[2];

	prefetch_rows(window, window->job->kind == KIND_VECTOR ? 2 : 1, outputs, out, y);
	for (size_t p = 0; p < outputs; p++)
		to[p] = frame_floats(out, window->job->out[p], y) + window->x0;
	window->columns = (const float (*)[GAUSS_ACROSS])window->column[at];
	for (size_t p = 0; p < parts; p++) {
		if (whole && means)
			mean_window(window, p, y, to[p]);
		else
			sum_window(window, p);
	}
	if (!whole) {
		weigh_window(window, y);
		gauss_holes_mend(window, y);
	}
	if (!means)
		put_phase(window, whole ? NULL : valid, to[0]);
	else if (!whole)
		for (size_t p = 0; p < parts; p++)
			put_mean(window, p, valid, to[p]);
}

static void
filter_row(struct gauss_window *window, struct frame *out, size_t y)
{
	gauss_window_take(window, (ptrdiff_t)(y + window->gauss->radius));
	if (window->whole_rows < window->size)
		gauss_window_fill(window);
	/* all columns first: loads over two stores wait for these */
	for (size_t p = 0; p < parts_of(window); p++)
		sum_all_columns(window, p, y);
	filter_columns(window, out, y, 0);
}

static void
shorten(struct gauss_window *window, size_t x)
{
	size_t far = gauss_window_reach(x, window->in->head.w, window->gauss->radius);

	window->reach[x - window->x0] = (int32_t)far;
	window->columns_weight[x - window->x0] = gauss_kernel_sum(window->gauss, far);
}

/* How far the kernel reaches in the tile's columns, and its sum. */
static void
measure_columns(struct gauss_window *window)
{
	size_t radius = window->gauss->radius, w = window->in->head.w;
	size_t x0 = window->x0, n = window->n;
	float whole = gauss_kernel_sum(window->gauss, radius);

	for (size_t i = 0; i < GAUSS_TILE; i++) {
		window->reach[i] = (int32_t)radius;
		window->columns_weight[i] = whole;
	}
	for (size_t x = x0; x < x0 + n && x < radius; x++)
		shorten(window, x);
	for (size_t x = x0 + n; x > x0 && x + radius > w; x--)
		shorten(window, x - 1);
}

/* The window before it comes to row y0. */
static void
begin(struct gauss_window *window, size_t y0)
{
	ptrdiff_t radius = (ptrdiff_t)window->gauss->radius;

	window->size = 2 * window->gauss->radius + 1;
	window->margin = (window->gauss->radius + GAUSS_LANES - 1) / GAUSS_LANES * GAUSS_LANES;
	window->whole_rows = window->size;
	window->holed = false;
	memset(window->column, 0, sizeof(window->column));
	gauss_window_empty(window);
	measure_columns(window);
	for (ptrdiff_t y = (ptrdiff_t)y0 - radius; y < (ptrdiff_t)y0 + radius; y++) {
		gauss_window_shift(window, 1);
		gauss_window_take(window, y);
	}
}

static size_t
window_bytes(const struct gauss *gauss)
{
	return sizeof(struct gauss_window) +
	    (2 * gauss->radius + 1 + GAUSS_BELOW) * sizeof(struct gauss_row);
}

size_t
gauss_plan_tiles(struct gauss *gauss, size_t w)
{
	size_t tiles = (w + GAUSS_TILE - 1) / GAUSS_TILE, bytes = window_bytes(gauss);

	gauss->tile = (w + tiles * GAUSS_LANES - 1) / (tiles * GAUSS_LANES) * GAUSS_LANES;
	gauss->tiles = (w + gauss->tile - 1) / gauss->tile;
	gauss->keeps = gauss->jobs <= KEPT_MOST / bytes / gauss->tiles;
	return gauss->keeps ? gauss->jobs * gauss->tiles * bytes : bytes;
}

/* Rows y0 <= y < y1 of a tile; if it continues, those behind the rows of the last call. */
static void
filter_tile(struct gauss_window *window, struct frame *out, size_t y0, size_t y1, bool continues)
{
	if (continues)
		gauss_window_resume(window);
	else
		begin(window, y0);
	for (size_t y = y0; y < y1; y++) {
		gauss_window_shift(window, 1);
		if (!sum_ahead(window, y, y1)) {
			filter_row(window, out, y);
			continue;
		}
		for (size_t at = 0; at < GAUSS_TOGETHER; at++)
			filter_columns(window, out, y + at, at);
		gauss_window_shift(window, GAUSS_BELOW);
		y += GAUSS_BELOW;
	}
}

void
gauss_rows(const struct run *run, const struct frame *in, struct frame *out, size_t y0, size_t y1,
    const struct row_scratch *scratch)
{
	const struct gauss *gauss = run->priv;
	size_t w = in->head.w, tile = gauss->tile;

	for (size_t i = 0; i < gauss->jobs * gauss->tiles; i++) {
		struct gauss_window *window = (struct gauss_window *)((char *)scratch->memory +
		    (gauss->keeps ? i : 0) * window_bytes(gauss));

		window->in = in;
		window->gauss = gauss;
		window->job = &gauss->job[i / gauss->tiles];
		window->copies = gauss_window_must_copy(in, window->job, gauss->radius);
		window->x0 = i % gauss->tiles * tile;
		window->n = w - window->x0 < tile ? w - window->x0 : tile;
		filter_tile(window, out, y0, y1, gauss->keeps && scratch->continues);
	}
	if (gauss->sigmas)
		gauss_sigma_rows(gauss, in, out, y0, y1,
		    (char *)scratch->memory + gauss->sigma_offset, scratch->continues);
	for (size_t i = 0; i < gauss->passes; i++)
		for (size_t y = y0; y < y1; y++)
			frame_pass(in, gauss->pass[i][0], out, gauss->pass[i][1], y);
}
