#include "bin.h"

#include <string.h>

#include "base/cpu_level.h"
#include "base/px.h"
#include "image/arrange.h"

#define BIN_CELLS 256		/* that are worked on together, */
#define BIN_COLUMNS 2048	/* or as many as lie on these */

struct binning {
	const struct frame *in;
	struct frame *out;
	size_t n, rows;		/* rows that a thread takes together */
};

struct cells {
	uint32_t column[BIN_COLUMNS];	/* of integers: 1024 rows' sum is no more than 32 bits */
	double sum[BIN_CELLS];		/* of floats in the order of memory; of integers exact */
	int32_t count[BIN_CELLS];	/* of samples that are numbers */
};

/* One row's samples, n per cell. A small n that is known lets whole vectors of samples be loaded;
 * else they come one by one. */
#define DEFINE_ADD(name, c_type) \
static inline __attribute__((always_inline)) void \
name##_by(const c_type *restrict from, size_t stride, size_t n, size_t w, \
    struct cells *restrict cells) \
{ \
	CPU_SIMD \
	for (size_t x = 0; x < w; x++) { \
		double sum = cells->sum[x]; \
		int32_t count = cells->count[x]; \
\
		_Pragma("GCC unroll 4") \
		for (size_t i = 0; i < n; i++) { \
			c_type v = from[x * stride + i]; \
\
			sum += v == v ? v : 0; \
			count += v == v; \
		} \
		cells->sum[x] = sum; \
		cells->count[x] = count; \
	} \
} \
\
static void \
name(const c_type *from, size_t n, size_t w, struct cells *cells) \
{ \
	if (n == 2) \
		name##_by(from, 2, 2, w, cells); \
	else if (n == 3) \
		name##_by(from, 3, 3, w, cells); \
	else if (n == 4) \
		name##_by(from, 4, 4, w, cells); \
	else \
		for (size_t i = 0; i < n; i++) \
			name##_by(from + i, n, 1, w, cells); \
}

DEFINE_ADD(add_float, float)
DEFINE_ADD(add_column, uint32_t)

#define DEFINE_INTEGERS(type, c_type) \
static void \
columns_##type(const c_type *restrict from, size_t w, uint32_t *restrict column) \
{ \
	CPU_SIMD \
	for (size_t x = 0; x < w; x++) \
		column[x] += from[x]; \
} \
\
/* The quotient, were it a whole number, is not below it by rounding; no other one gets there. */ \
static void \
means_##type(const double *restrict sum, double samples, size_t w, c_type *restrict to) \
{ \
	double half = 0.5 * samples, one = (1.0 + 0x1p-50) / samples; \
\
	CPU_SIMD \
	for (size_t x = 0; x < w; x++) \
		to[x] = (c_type)(int32_t)((sum[x] + half) * one); \
} \
\
static void \
bin_##type(const struct binning *bin, size_t c, size_t x, size_t y, size_t w, struct cells *cells) \
{ \
	size_t n = bin->n; \
\
	for (size_t k = 0; k < n; k++) \
		columns_##type((c_type *)frame_row(bin->in, c, y * n + k) + x * n, w * n, \
		    cells->column); \
	add_column(cells->column, n, w, cells); \
	means_##type(cells->sum, (double)(n * n), w, (c_type *)frame_row(bin->out, c, y) + x); \
}

DEFINE_INTEGERS(uchar, uint8_t)
DEFINE_INTEGERS(ushort, uint16_t)

static void
means_float(const struct cells *restrict cells, size_t w, float *restrict to)
{
	CPU_SIMD
	for (size_t x = 0; x < w; x++) {
		float mean = (float)(cells->sum[x] / (double)cells->count[x]);

		to[x] = cells->count[x] ? mean : PX_NAN;
	}
}

static void
bin_float(const struct binning *bin, size_t c, size_t x, size_t y, size_t w, struct cells *cells)
{
	size_t n = bin->n;

	for (size_t k = 0; k < n; k++)
		add_float(frame_floats(bin->in, c, y * n + k) + x * n, n, w, cells);
	means_float(cells, w, frame_floats(bin->out, c, y) + x);
}

static void
bin_row(const struct binning *bin, size_t y)
{
	static void (*const of[])(const struct binning *, size_t c, size_t x, size_t y, size_t w,
	    struct cells *) = { bin_uchar, bin_ushort, bin_float };
	size_t w = bin->out->head.w, tile = BIN_COLUMNS / bin->n;
	struct cells cells __attribute__((aligned(64)));

	tile = tile < BIN_CELLS ? tile : BIN_CELLS;
	for (size_t c = 0; c < bin->out->head.c; c++)
		for (size_t x = 0; x < w; x += tile) {
			size_t piece = w - x < tile ? w - x : tile;

			memset(cells.column, 0, piece * bin->n * sizeof(*cells.column));
			memset(cells.sum, 0, piece * sizeof(*cells.sum));
			memset(cells.count, 0, piece * sizeof(*cells.count));
			of[bin->in->head.type](bin, c, x, y, piece, &cells);
		}
}

/* ---- frames ---- */

#define BAND 32		/* rows of input that a thread takes together, about */

static void
bin_band(void *arg, size_t item)
{
	const struct binning *bin = arg;
	size_t h = bin->out->head.h, end = (item + 1) * bin->rows;

	for (size_t y = item * bin->rows; y < h && y < end; y++)
		bin_row(bin, y);
}

/* "phase" or "phase12" for the word "phase". */
static bool
is_numbered(const char *name, const char *word)
{
	size_t n = strlen(word);

	return !strncmp(name, word, n) && name[n + strspn(name + n, "0123456789")] == '\0';
}

/* Means across the wraps of a phase, and across the steps of an index, are neither. */
static int
check_means(const struct frame_head *head)
{
	if (head->type != SAMPLE_FLOAT && !meta_get(&head->meta, "sample_scale"))
		return 0;
	for (size_t c = 0; c < head->c; c++) {
		const char *name = head->channel[c];

		if (is_numbered(name, "phase"))
			return fail("--bin", "channel %s is a wrapped phase, whose mean is wrong "
			    "where it wraps: bin the images, or cos and sin (phasewrap --as "
			    "vector), or leave it out (--channels)", name);
		if (is_numbered(name, "index"))
			return fail("--bin", "channel %s is the index of a Gray code, which has no "
			    "mean: bin the images, or leave it out (--channels)", name);
		if (is_numbered(name, "sigma") || !strcmp(name, "sigma_disparity") ||
		    !strcmp(name, "p_order"))
			return fail("--bin", "channel %s is of single pixels, and the mean's error "
			    "depends on how neighbours share theirs: leave it out (--channels)",
			    name);
		if (!strcmp(name, "label"))
			return fail("--bin", "channel label is a number of a region, which has no "
			    "mean: leave it out (--channels)");
	}
	return 0;
}

int
bin_frame(struct run *run, struct frame **frame, size_t n)
{
	struct binning bin = { .in = *frame, .n = n, .rows = n < BAND ? BAND / n : 1 };
	struct frame_head head;
	int status;

	if ((*frame)->head.w < n || (*frame)->head.h < n)
		return fail("--bin", "no cell of %zu x %zu fits into %zu x %zu", n, n,
		    (*frame)->head.w, (*frame)->head.h);
	if (check_means(&(*frame)->head) < 0 || head_copy(&head, &(*frame)->head) < 0)
		return -1;
	head.w /= n;
	head.h /= n;
	head.spacing[0] *= (double)n;
	head.spacing[1] *= (double)n;
	status = arrange_keep_place(&head.meta, 0, 0, n);
	if (status == 0)
		status = frame_new(&head, &bin.out);
	head_free(&head);
	if (status < 0)
		return -1;
	run_for(run, (bin.out->head.h + bin.rows - 1) / bin.rows, bin_band, &bin);
	frame_free(*frame);
	*frame = bin.out;
	return 0;
}
