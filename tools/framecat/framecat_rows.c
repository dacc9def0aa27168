/*
 * The loops of framecat: samples to values and values to samples, colours, means of n x n pixels.
 */
#include "framecat.h"

#include "base/px.h"
#include "image/colormap.px.h"

/* ---- samples to values ---- */

#define DEFINE_DECODE(name, c_type) \
static void \
name(const c_type *restrict from, size_t w, double scale, double offset, double invalid, \
    float *restrict to) \
{ \
	CPU_SIMD \
	for (size_t x = 0; x < w; x++) { \
		double v = from[x]; \
		float value = (float)(v * scale + offset); \
\
		to[x] = v == invalid ? PX_NAN : value; \
	} \
}

DEFINE_DECODE(decode_uchar, uint8_t)
DEFINE_DECODE(decode_ushort, uint16_t)
DEFINE_DECODE(decode_float, float)

/* Samples without a scale: the same, but without arithmetic in double. */
#define DEFINE_WIDEN(name, c_type) \
static void \
name(const c_type *restrict from, size_t w, float *restrict to) \
{ \
	CPU_SIMD \
	for (size_t x = 0; x < w; x++) \
		to[x] = (float)from[x]; \
}

DEFINE_WIDEN(widen_uchar, uint8_t)
DEFINE_WIDEN(widen_ushort, uint16_t)

static void
widen_row(const struct conversion *conversion, size_t y)
{
	const struct frame *in = conversion->in;

	for (size_t c = 0; c < in->head.c; c++)
		if (in->head.type == SAMPLE_UCHAR)
			widen_uchar(frame_row(in, c, y), in->head.w,
			    frame_floats(conversion->out, c, y));
		else
			widen_ushort(frame_row(in, c, y), in->head.w,
			    frame_floats(conversion->out, c, y));
}

static void
framecat_decode(const struct conversion *conversion, size_t y)
{
	const struct frame *in = conversion->in;

	if (!conversion->line && isnan(conversion->invalid) && in->head.type != SAMPLE_FLOAT) {
		widen_row(conversion, y);
		return;
	}
	for (size_t c = 0; c < in->head.c; c++) {
		struct line line = conversion->line ? conversion->line[c] : (struct line){ 1, 0 };
		const void *from = frame_row(in, c, y);
		float *to = frame_floats(conversion->out, c, y);

		if (in->head.type == SAMPLE_UCHAR)
			decode_uchar(from, in->head.w, line.scale, line.offset,
			    conversion->invalid, to);
		else if (in->head.type == SAMPLE_USHORT)
			decode_ushort(from, in->head.w, line.scale, line.offset,
			    conversion->invalid, to);
		else
			decode_float(from, in->head.w, line.scale, line.offset,
			    conversion->invalid, to);
	}
}

/* ---- values to samples ---- */

#define ENCODE_PIECE 256	/* samples that a buffer holds */

/* Rounded to the nearest, halves upward; clamped. */
static void
round_samples(const float *restrict from, size_t n, struct line line, double largest,
    int32_t *restrict to)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		double v = ((double)from[x] - line.offset) / line.scale;
		double sample = __builtin_floor(v + 0.5);

		sample = sample > 0.0 ? sample : 0.0;		/* so is NaN */
		sample = sample < largest ? sample : largest;
		to[x] = (int32_t)sample;
	}
}

/*
 * The same without a division, which takes most of the time: in units of 2^-bits, which may be off
 * by one. False where that may have changed how a sample is rounded. largest < 2^(31 - bits).
 */
static bool
round_quickly(const float *restrict from, size_t n, struct line line, double largest, int bits,
    int32_t *restrict to)
{
	uint32_t whole = 1u << bits, half = whole / 2, least = whole;
	double unit = (double)whole / line.scale, most = (largest + 0.25) * (double)whole;

	_Pragma("omp simd reduction(min:least)")
	for (size_t x = 0; x < n; x++) {
		double v = ((double)from[x] - line.offset) * unit;
		uint32_t raised, beyond;

		v = v > 0.0 ? v : 0.0;
		v = v < most ? v : most;
		raised = (uint32_t)(int32_t)v + half;
		beyond = (raised + 1) & (whole - 1);
		least = beyond < least ? beyond : least;
		to[x] = (int32_t)(raised >> bits);
	}
	return least > 1 && isnormal(unit);
}

/* NaN becomes the fill; a valid sample that equals the fill becomes `around`. */
#define DEFINE_FILL(name, c_type) \
static void \
name(const float *restrict from, const int32_t *restrict sample, size_t n, int32_t fill, \
    int32_t around, c_type *restrict to) \
{ \
	CPU_SIMD \
	for (size_t x = 0; x < n; x++) { \
		int32_t v = sample[x] == fill ? around : sample[x]; \
\
		to[x] = (c_type)(px_isnan(from[x]) ? fill : v); \
	} \
}

DEFINE_FILL(fill_uchar, uint8_t)
DEFINE_FILL(fill_ushort, uint16_t)

static void
encode_piece(const struct conversion *conversion, struct line line, const float *from, size_t n,
    void *to)
{
	int32_t sample[ENCODE_PIECE] __attribute__((aligned(64)));
	int32_t fill = (int32_t)conversion->fill, around = (int32_t)conversion->around;
	int bits = conversion->out->head.type == SAMPLE_UCHAR ? 23 : 15;

	/* without a line, the unit is a power of 2 and the quick way exact */
	if (!round_quickly(from, n, line, conversion->largest, bits, sample) && conversion->line)
		round_samples(from, n, line, conversion->largest, sample);
	if (conversion->out->head.type == SAMPLE_UCHAR)
		fill_uchar(from, sample, n, fill, around, to);
	else
		fill_ushort(from, sample, n, fill, around, to);
}

static void
framecat_encode(const struct conversion *conversion, size_t y)
{
	const struct frame *out = conversion->out;

	for (size_t c = 0; c < out->head.c; c++) {
		struct line line = conversion->line ? conversion->line[c] : (struct line){ 1, 0 };
		const float *from = frame_floats(conversion->in, c, y);
		char *to = frame_row(out, c, y);

		for (size_t x = 0, w = out->head.w; x < w; x += ENCODE_PIECE)
			encode_piece(conversion, line, from + x,
			    w - x < ENCODE_PIECE ? w - x : ENCODE_PIECE,
			    to + x * sample_size(out->head.type));
	}
}

static void
framecat_fill(const struct conversion *conversion, size_t y)
{
	float fill = (float)conversion->fill;

	for (size_t c = 0; c < conversion->out->head.c; c++) {
		const float *restrict from = frame_floats(conversion->in, c, y);
		float *restrict to = frame_floats(conversion->out, c, y);

		CPU_SIMD
		for (size_t x = 0; x < conversion->out->head.w; x++)
			to[x] = px_isnan(from[x]) ? fill : from[x];
	}
}

/* ---- colours ---- */

#define COLOUR_PIECE 256	/* pixels that a buffer holds */

/* The anchor of the map before each pixel's value, and the value's distance from it. A pixel
 * without a value gets the last anchor. Returns the largest |t|. */
static inline __attribute__((always_inline)) float
place_colours_by(const struct conversion *conversion, const float *restrict from, size_t n,
    float last, bool round, bool divide, int32_t *restrict anchor, float *restrict share)
{
	double offset = conversion->line->offset, scale = conversion->line->scale;
	double one = 1.0 / scale;
	float most = 0.0f;

	_Pragma("omp simd reduction(max:most)")
	for (size_t x = 0; x < n; x++) {
		double v = (double)from[x] - offset, t = divide ? v / scale : v * one;
		float value = (float)(round ? t - __builtin_floor(t) : t), size = px_abs((float)t);
		float place = colormap_place(value, last), before = colormap_anchor(place, last);

		share[x] = place - before;
		anchor[x] = px_isnan(value) ? (int32_t)last : (int32_t)before;
		most = size > most ? size : most;
	}
	return most;
}

/*
 * Without a division, which takes most of the time: as a float, t differs by its last bit in one of
 * 2^28 pixels. The fraction of a t that is not large is as exact.
 */
static void
place_colours(const struct conversion *conversion, const float *from, size_t n, float last,
    int32_t *anchor, float *share)
{
	bool round = conversion->map == COLORMAP_PHASE;
	bool normal = isnormal(1.0 / conversion->line->scale);

	if (normal && !round)
		place_colours_by(conversion, from, n, last, false, false, anchor, share);
	else if (!normal || !(place_colours_by(conversion, from, n, last, true, false, anchor,
	    share) < 1024.0f))
		place_colours_by(conversion, from, n, last, round, true, anchor, share);
}

#if defined(__clang__)		/* clang cannot shuffle by variable indices */
#elif CPU_VECTOR_BYTES == 64
#define COLOUR_LOOK_UP(table, at) __builtin_shuffle((table)[0], at)
#elif CPU_VECTOR_BYTES == 32
#define COLOUR_LOOK_UP(table, at) __builtin_shuffle((table)[0], (table)[1], at)
#endif

static void
mix_colours(const float *before, const float *after, const int32_t *restrict anchor,
    const float *restrict share, size_t n, uint8_t *restrict to)
{
#ifdef COLOUR_LOOK_UP
	/* compilers read tables element by element; registers hold such short ones */
	typedef float floats __attribute__((vector_size(CPU_VECTOR_BYTES), may_alias));
	typedef int32_t integers __attribute__((vector_size(CPU_VECTOR_BYTES), may_alias));
	floats first[4 * COLOUR_PIECE / CPU_VECTOR_BYTES];
	floats second[4 * COLOUR_PIECE / CPU_VECTOR_BYTES];
	const float *from = (const float *)first, *next = (const float *)second;

	for (size_t i = 0; i < 4 * COLOUR_PIECE / CPU_VECTOR_BYTES; i++) {
		integers at = ((const integers *)anchor)[i];

		first[i] = COLOUR_LOOK_UP((const floats *)before, at);
		second[i] = COLOUR_LOOK_UP((const floats *)after, at);
	}
#define COLOUR_OF(looked_up, table, x) looked_up[x]
#else
#define COLOUR_OF(looked_up, table, x) table[anchor[x]]
#endif
	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		float v = colormap_between(COLOUR_OF(from, before, x), COLOUR_OF(next, after, x),
		    share[x]);

		to[x] = (uint8_t)(int32_t)(v * 255.0f + 0.5f);
	}
}

#define ALIGNED __attribute__((aligned(64)))

static void
framecat_colour(const struct conversion *conversion, size_t y)
{
	const float (*table)[3];
	size_t w = conversion->out->head.w, last = colormap_anchors(conversion->map, &table) - 1;
	const float *from = frame_floats(conversion->in, 0, y);
	float ALIGNED ends[2][3][COLORMAP_ANCHORS_MOST] = { 0 };
	float ALIGNED share[COLOUR_PIECE];
	int32_t ALIGNED anchor[COLOUR_PIECE] = { 0 };

	for (size_t k = 0; k < 3; k++) {
		for (size_t a = 0; a < last; a++) {
			ends[0][k][a] = table[a][k];
			ends[1][k][a] = table[a + 1][k];
		}
		ends[0][k][last] = ends[1][k][last] = conversion->nan[k];	/* no value */
	}
	for (size_t x = 0; x < w; x += COLOUR_PIECE) {
		size_t n = w - x < COLOUR_PIECE ? w - x : COLOUR_PIECE;

		place_colours(conversion, from + x, n, (float)last, anchor, share);
		for (size_t k = 0; k < 3; k++)
			mix_colours(ends[0][k], ends[1][k], anchor, share, n,
			    (uint8_t *)frame_row(conversion->out, k, y) + x);
	}
}

/*
 * Neighbours in number are 222 degrees of hue apart (the golden section of a turn), and have one of
 * three saturations and values, so that some forty differ to the eye.
 */
static void
label_colour(uint32_t label, float rgb[3])
{
	static const float saturation[] = { 0.75f, 0.50f, 0.85f };
	static const float value[] = { 0.90f, 0.75f, 0.55f };
	float hue = fmodf((float)(label % 100000) * 0.618034f, 1.0f) * 6.0f;
	float v = value[label % 3], s = saturation[label % 3];

	for (size_t k = 0; k < 3; k++) {
		float at = fmodf((float)(5 - 2 * k) + hue, 6.0f);

		rgb[k] = v - v * s * fmaxf(0.0f, fminf(fminf(at, 4.0f - at), 1.0f));
	}
}

static void
framecat_labels(const struct conversion *conversion, size_t y)
{
	const float *from = frame_floats(conversion->in, 0, y);
	uint8_t *to[3];

	for (size_t k = 0; k < 3; k++)
		to[k] = frame_row(conversion->out, k, y);
	for (size_t x = 0; x < conversion->out->head.w; x++) {
		bool named = from[x] >= 1.0f && from[x] < 4e9f;
		float rgb[3];

		if (named)
			label_colour((uint32_t)from[x], rgb);
		for (size_t k = 0; k < 3; k++)
			to[k][x] = (uint8_t)((named ? rgb[k] : conversion->nan[k]) * 255.0f + 0.5f);
	}
}

/* ---- means of n x n pixels ---- */

#define BIN_CELLS 256		/* cells of n x n pixels that are computed together, */
#define BIN_COLUMNS 2048	/* or fewer, which have no more columns than this */

struct cells {
	uint32_t column[BIN_COLUMNS];	/* sums of integers: those of 1024 rows fit into 32 bits */
	double sum[BIN_CELLS];		/* floats in the order of memory; exact for integers */
	int32_t count[BIN_CELLS];	/* of samples that are numbers */
};

/* Adds one row's samples, n per cell. For a constant small n the compiler loads whole vectors of
 * samples, else single ones. */
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
/* Rounding never puts a whole quotient below itself, nor another one up to a whole number. */ \
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
framecat_bin(const struct binning *bin, size_t y)
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

const struct framecat_rows AT_LEVEL(framecat_rows) = {
	.decode = framecat_decode,
	.encode = framecat_encode,
	.fill = framecat_fill,
	.colour = framecat_colour,
	.labels = framecat_labels,
	.bin = framecat_bin,
};
