/*
 * The loops of a turned view on the processor: from the frame's planes to the picture, without a
 * list of vertices or triangles.
 *
 * The picture is cut into strips of sample rows that stay in a core's second cache. For each strip,
 * LANES cells of the grid (2 x 2 neighbours, two triangles) are placed in the picture at once, and
 * the samples in their bounding boxes are tested one after another, each step for all cells. What
 * hits goes through a list into the strip, where the nearest stays; then the strip is lit. Colours
 * come last, when the range of the values is known. A point of a table is a cell by itself: a
 * square in the plane of its normal, of which the disc is kept.
 *
 * All levels, any number of threads and any order of cells give the same bytes: a sample's place,
 * weights and attributes are the same operations in the same order for each cell, without fused
 * products, and of hits at the same depth the one whose normal and value are smaller stays.
 */
#include "shade.h"

#include <float.h>

/* ---- vectors of the level: LANES floats, integers, or conditions ---- */

#if defined(__AVX512BW__)
#include <immintrin.h>
#define LANES 16
typedef __m512 vf;
typedef __m512i vi;
typedef __mmask16 vm;
#define LOAD(p) _mm512_loadu_ps(p)
#define STORE(p, v) _mm512_storeu_ps(p, v)
#define SET(x) _mm512_set1_ps(x)
#define MIN(a, b) _mm512_min_ps(a, b)
#define MAX(a, b) _mm512_max_ps(a, b)
#define SQRT(a) _mm512_sqrt_ps(a)
#define ABS(a) _mm512_abs_ps(a)
#define CEIL(a) _mm512_roundscale_ps(a, 2)
#define FLOOR(a) _mm512_roundscale_ps(a, 1)
#define LE(a, b) _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ)
#define LT(a, b) _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ)
#define EQUAL_INT(a, b) _mm512_cmpeq_epi32_mask(a, b)
#define SELECT(m, a, b) _mm512_mask_blend_ps(m, b, a)
#define BITS(m) ((unsigned)(m))
#define NOT(m) ((vm)~(m))
#define AND(a, b) ((vm)((a) & (b)))
#define OR(a, b) ((vm)((a) | (b)))
#define SELECT_MASK(m, a, b) ((vm)(((m) & (a)) | (~(m) & (b))))
#define TO_INT(v) _mm512_cvttps_epi32(v)
#define TO_FLOAT(v) _mm512_cvtepi32_ps(v)
#define STORE_INT(p, v) _mm512_storeu_si512(p, v)
#define LOAD_INT(p) _mm512_loadu_si512(p)
#define SET_INT(x) _mm512_set1_epi32(x)
#define AS_INT(v) _mm512_castps_si512(v)
#define AS_FLOAT(v) _mm512_castsi512_ps(v)
#define SHUFFLE_LOW(a, b) _mm512_unpacklo_ps(a, b)
#define SHUFFLE_HIGH(a, b) _mm512_unpackhi_ps(a, b)
#define PAIRS_LOW(a, b) \
	_mm512_castpd_ps(_mm512_unpacklo_pd(_mm512_castps_pd(a), _mm512_castps_pd(b)))
#define PAIRS_HIGH(a, b) \
	_mm512_castpd_ps(_mm512_unpackhi_pd(_mm512_castps_pd(a), _mm512_castps_pd(b)))
#define RECORD_OFFSETS { 0, 16, 32, 48, 4, 20, 36, 52, 8, 24, 40, 56, 12, 28, 44, 60 }
#define in_order(v) _mm512_permutexvar_ps( \
	_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), v)
/* Lanes of two vectors: those of a have the numbers 0 to 15, those of b 16 to 31. */
#define LANES_OF(a, b, ...) _mm512_permutex2var_ps(a, _mm512_setr_epi32(__VA_ARGS__), b)
#define even_samples(a, b) \
	LANES_OF(a, b, 0, 8, 1, 9, 2, 10, 3, 11, 16, 24, 17, 25, 18, 26, 19, 27)
#define odd_samples(a, b) \
	LANES_OF(a, b, 4, 12, 5, 13, 6, 14, 7, 15, 20, 28, 21, 29, 22, 30, 23, 31)
#define even_lanes(a, b) LANES_OF(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30)
#define odd_lanes(a, b) LANES_OF(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31)
#define look_up(table, k) _mm512_permutexvar_ps(k, _mm512_load_ps(table))
#define store_bytes(p, v) _mm_storeu_si128((__m128i *)(p), _mm512_cvtusepi32_epi8(v))

static inline vm
same_sign(vf a, vf b, vf c)
{
	return _mm512_movepi32_mask(
	    _mm512_ternarylogic_epi32(AS_INT(a), AS_INT(b), AS_INT(c), 0x81));
}

static inline vi
squeeze(vi v, unsigned bits)
{
	return _mm512_maskz_compress_epi32((__mmask16)bits, v);
}


#elif defined(__AVX2__)
#include <immintrin.h>
#define LANES 8
typedef __m256 vf;
typedef __m256i vi;
typedef __m256 vm;
#define LOAD(p) _mm256_loadu_ps(p)
#define STORE(p, v) _mm256_storeu_ps(p, v)
#define SET(x) _mm256_set1_ps(x)
#define MIN(a, b) _mm256_min_ps(a, b)
#define MAX(a, b) _mm256_max_ps(a, b)
#define SQRT(a) _mm256_sqrt_ps(a)
#define ABS(a) _mm256_andnot_ps(SET(-0.0f), a)
#define CEIL(a) _mm256_ceil_ps(a)
#define FLOOR(a) _mm256_floor_ps(a)
#define LE(a, b) _mm256_cmp_ps(a, b, _CMP_LE_OQ)
#define LT(a, b) _mm256_cmp_ps(a, b, _CMP_LT_OQ)
#define EQUAL_INT(a, b) AS_FLOAT(_mm256_cmpeq_epi32(a, b))
#define SELECT(m, a, b) _mm256_blendv_ps(b, a, m)
#define BITS(m) ((unsigned)_mm256_movemask_ps(m))
#define NOT(m) _mm256_xor_ps(m, AS_FLOAT(SET_INT(-1)))
#define AND(a, b) _mm256_and_ps(a, b)
#define OR(a, b) _mm256_or_ps(a, b)
#define SELECT_MASK(m, a, b) _mm256_blendv_ps(b, a, m)
#define TO_INT(v) _mm256_cvttps_epi32(v)
#define TO_FLOAT(v) _mm256_cvtepi32_ps(v)
#define STORE_INT(p, v) _mm256_storeu_si256((__m256i *)(p), v)
#define LOAD_INT(p) _mm256_loadu_si256((const __m256i *)(p))
#define SET_INT(x) _mm256_set1_epi32(x)
#define AS_INT(v) _mm256_castps_si256(v)
#define AS_FLOAT(v) _mm256_castsi256_ps(v)
#define SHUFFLE_LOW(a, b) _mm256_unpacklo_ps(a, b)
#define SHUFFLE_HIGH(a, b) _mm256_unpackhi_ps(a, b)
#define PAIRS_LOW(a, b) \
	_mm256_castpd_ps(_mm256_unpacklo_pd(_mm256_castps_pd(a), _mm256_castps_pd(b)))
#define PAIRS_HIGH(a, b) \
	_mm256_castpd_ps(_mm256_unpackhi_pd(_mm256_castps_pd(a), _mm256_castps_pd(b)))
#define RECORD_OFFSETS { 0, 8, 16, 24, 4, 12, 20, 28 }
#define in_order(v) _mm256_permutevar8x32_ps(v, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7))
#define even_samples(a, b) _mm256_permute2f128_ps(a, b, 0x20)
#define odd_samples(a, b) _mm256_permute2f128_ps(a, b, 0x31)
#define FROM_BOTH(a, b, which) _mm256_castpd_ps(_mm256_permute4x64_pd( \
	_mm256_castps_pd(_mm256_shuffle_ps(a, b, which)), 0xd8))
#define even_lanes(a, b) FROM_BOTH(a, b, 0x88)
#define odd_lanes(a, b) FROM_BOTH(a, b, 0xdd)

static inline vm
same_sign(vf a, vf b, vf c)
{
	return NOT(OR(_mm256_xor_ps(a, b), _mm256_xor_ps(b, c)));
}

/* Lane numbers are bytes of one word, of which those of the bits are taken. */
static inline vi
squeeze(vi v, unsigned bits)
{
	uint64_t wide = _pdep_u64(bits, 0x0101010101010101u) * 0xff;
	uint64_t order = _pext_u64(0x0706050403020100u, wide);

	return _mm256_permutevar8x32_epi32(v,
	    _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)order)));
}

static inline vf
look_up(const float *table, vi k)
{
	vf low = _mm256_permutevar8x32_ps(_mm256_load_ps(table), k);
	vf high = _mm256_permutevar8x32_ps(_mm256_load_ps(table + 8), k);

	return _mm256_blendv_ps(low, high, AS_FLOAT(_mm256_slli_epi32(k, 28)));
}

static inline void
store_bytes(uint8_t *p, vi v)
{
	__m128i w = _mm_packus_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));

	_mm_storel_epi64((__m128i *)p, _mm_packus_epi16(w, w));
}

#else		/* the compiler's own vectors, and some instructions of SSE 4.1 */
#ifdef __SSE4_1__
#include <immintrin.h>
#endif
#define LANES 4
typedef float vf __attribute__((vector_size(16)));
typedef int32_t vi __attribute__((vector_size(16)));
typedef vi vm;

static inline vf
LOAD(const float *p)
{
	vf v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline vi
LOAD_INT(const void *p)
{
	vi v;

	memcpy(&v, p, sizeof(v));
	return v;
}

#define STORE(p, v) do { vf stored = (v); memcpy(p, &stored, sizeof(stored)); } while (0)
#define STORE_INT(p, v) do { vi stored = (v); memcpy(p, &stored, sizeof(stored)); } while (0)
#define SET(x) ((vf){ x, x, x, x })
#define SET_INT(x) ((vi){ x, x, x, x })
#define AS_INT(v) ((vi)(v))
#define AS_FLOAT(v) ((vf)(v))
#define LE(a, b) ((vm)((a) <= (b)))
#define LT(a, b) ((vm)((a) < (b)))
#define EQUAL_INT(a, b) ((vm)((a) == (b)))
#define NOT(m) (~(m))
#define AND(a, b) ((a) & (b))
#define OR(a, b) ((a) | (b))
#define SELECT_MASK(m, a, b) (((m) & (a)) | (~(m) & (b)))
#define ABS(a) AS_FLOAT(AS_INT(a) & SET_INT(0x7fffffff))
#define TO_INT(v) __builtin_convertvector(v, vi)
#define TO_FLOAT(v) __builtin_convertvector(v, vf)
#define SHUFFLE_LOW(a, b) __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define SHUFFLE_HIGH(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)
#define PAIRS_LOW(a, b) __builtin_shufflevector(a, b, 0, 1, 4, 5)
#define PAIRS_HIGH(a, b) __builtin_shufflevector(a, b, 2, 3, 6, 7)
#define RECORD_OFFSETS { 0, 4, 8, 12 }
#define in_order(v) (v)
#define even_lanes(a, b) __builtin_shufflevector(a, b, 0, 2, 4, 6)
#define odd_lanes(a, b) __builtin_shufflevector(a, b, 1, 3, 5, 7)
#define even_samples(a, b) even_lanes(a, b)
#define odd_samples(a, b) odd_lanes(a, b)

#ifdef __SSE4_1__
#define SELECT(m, a, b) ((vf)_mm_blendv_ps(b, a, AS_FLOAT(m)))
#define BITS(m) ((unsigned)_mm_movemask_ps(AS_FLOAT(m)))
#define MIN(a, b) ((vf)_mm_min_ps(a, b))
#define MAX(a, b) ((vf)_mm_max_ps(a, b))
#define FLOOR(a) ((vf)_mm_floor_ps(a))
#define CEIL(a) ((vf)_mm_ceil_ps(a))
#define SQRT(a) ((vf)_mm_sqrt_ps(a))
#else
static inline vf
SELECT(vm m, vf a, vf b)
{
	return AS_FLOAT(SELECT_MASK(m, AS_INT(a), AS_INT(b)));
}

static inline unsigned
BITS(vm m)
{
	return (unsigned)((m[0] & 1) | (m[1] & 2) | (m[2] & 4) | (m[3] & 8));
}

/* As instructions do it: b where one of them is NaN. */
static inline vf
MIN(vf a, vf b)
{
	return SELECT(LT(a, b), a, b);
}

static inline vf
MAX(vf a, vf b)
{
	return SELECT(LT(b, a), a, b);
}

static inline vf
FLOOR(vf v)
{
	vf whole = TO_FLOAT(TO_INT(v));

	return whole - SELECT(LT(v, whole), SET(1.0f), SET(0.0f));
}

static inline vf
CEIL(vf v)
{
	vf whole = TO_FLOAT(TO_INT(v));

	return whole + SELECT(LT(whole, v), SET(1.0f), SET(0.0f));
}

static inline vf
SQRT(vf v)
{
	return (vf){ sqrtf(v[0]), sqrtf(v[1]), sqrtf(v[2]), sqrtf(v[3]) };
}
#endif

static inline vm
same_sign(vf a, vf b, vf c)
{
	return ~((AS_INT(a) ^ AS_INT(b)) | (AS_INT(b) ^ AS_INT(c))) >> 31;
}

static inline vi
squeeze(vi v, unsigned bits)
{
	int32_t all[4] = { v[0], v[1], v[2], v[3] }, some[4] = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < 4; i++) {
		some[n & 3] = all[i];
		n += bits >> i & 1;
	}
	return LOAD_INT(some);
}

static inline vf
look_up(const float *table, vi k)
{
	return (vf){ table[k[0]], table[k[1]], table[k[2]], table[k[3]] };
}

static inline void
store_bytes(uint8_t *p, vi v)
{
	for (int i = 0; i < LANES; i++)
		p[i] = (uint8_t)v[i];
}
#endif

typedef int32_t int_vector __attribute__((vector_size(4 * LANES)));
typedef uint32_t word_vector __attribute__((vector_size(4 * LANES)));
#define SHIFT_LEFT(v, n) ((vi)((int_vector)(v) << (n)))
#define SHIFT_RIGHT(v, n) ((vi)((word_vector)(v) >> (n)))
#define ADD_INT(a, b) ((vi)((int_vector)(a) + (int_vector)(b)))
#define MULTIPLY_INT(a, b) ((vi)((int_vector)(a) * (int_vector)(b)))
#define ZERO SET(0.0f)
#define ONE SET(1.0f)

#define INLINED static inline __attribute__((always_inline))
#define SELDOM(x) __builtin_expect(!!(x), 0)

static const float counting[16] __attribute__((aligned(64))) =
    { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };

static inline float
least_of(vf v)
{
	float all[LANES], least = INFINITY;

	STORE(all, v);
	for (int i = 0; i < LANES; i++)
		least = all[i] < least ? all[i] : least;
	return least;
}

static inline float
most_of(vf v)
{
	return -least_of(ZERO - v);
}

/* ---- the survey: how far the turned surface reaches ---- */

static const float *
row_of(const struct surface_plane *plane, size_t y)
{
	return plane->at + y * plane->stride;
}

/* The shares of a row in the turned coordinates X and Y. */
static void
row_share(const struct turned *turned, size_t y, float share[2])
{
	for (int k = 0; k < 2; k++)
		share[k] = (float)(turned->rotation[3 * k + 1] * turned->spacing[1] * (double)y);
}

/* Turned X (k = 0) or Y of LANES points from column x of row y on. */
INLINED vf
turned_along(const struct turned *turned, int k, size_t x, size_t y, float row)
{
	const double *r = &turned->rotation[3 * k];
	const float *origin = turned->origin;
	vf z = (LOAD(row_of(&turned->z, y) + x) - SET(origin[2])) * SET(turned->sign);

	if (turned->x.at)
		return SET((float)r[0]) * (LOAD(row_of(&turned->x, y) + x) - SET(origin[0])) +
		    SET((float)r[1]) * (LOAD(row_of(&turned->y, y) + x) - SET(origin[1])) +
		    SET((float)r[2]) * z;
	return LOAD(turned->column[k] + x) + SET(row) + SET((float)r[2]) * z;
}

/* The first column of vector v of a row's `n` cells or points; the last vector may overlap its
 * neighbour. */
static inline size_t
vector_start(size_t v, size_t n)
{
	size_t x = v * LANES;

	return x + LANES <= n ? x : n - LANES;
}

/* The reach of a block of rows of cells, and of each vector of its cells. */
static void
survey_block(void *arg, size_t block)
{
	struct turned *turned = arg;
	size_t cells = turned->w - 1, y0 = block * BLOCK_ROWS;
	size_t y1 = y0 + BLOCK_ROWS < turned->h - 1 ? y0 + BLOCK_ROWS : turned->h - 1;
	float *least = turned->reach[0] + block * turned->vectors;
	float *most = turned->reach[1] + block * turned->vectors;
	struct block_reach reach = { { INFINITY, INFINITY }, { -INFINITY, -INFINITY } };
	vf left = SET(INFINITY), right = SET(-INFINITY), big = SET(FLT_MAX);

	for (size_t v = 0; v < turned->vectors; v++) {
		size_t x = vector_start(v, cells);
		vf low = SET(INFINITY), high = SET(-INFINITY);

		for (size_t y = y0; y <= y1; y++) {
			float row[2];

			row_share(turned, y, row);
			for (size_t k = 0; k < 2; k++) {
				vf X = turned_along(turned, 0, x + k, y, row[0]);
				vf Y = turned_along(turned, 1, x + k, y, row[1]);
				vm there = AND(LE(ABS(X), big), LE(ABS(Y), big));

				left = SELECT(there, MIN(X, left), left);
				right = SELECT(there, MAX(X, right), right);
				low = SELECT(there, MIN(Y, low), low);
				high = SELECT(there, MAX(Y, high), high);
			}
		}
		least[v] = least_of(low);
		most[v] = most_of(high);
		reach.least[1] = fminf(reach.least[1], least[v]);
		reach.most[1] = fmaxf(reach.most[1], most[v]);
	}
	reach.least[0] = least_of(left);
	reach.most[0] = most_of(right);
	turned->block[block] = reach;
}

/* Turned X (k = 0) or Y of the points of row y, without gaps, in room for LANES more; returns how
 * many. */
static size_t
list_row(const struct turned *turned, int k, size_t y, float *to)
{
	float row[2];
	size_t n = 0;

	row_share(turned, y, row);
	for (size_t v = 0; v * LANES < turned->w; v++) {
		size_t x = vector_start(v, turned->w);
		vf at = turned_along(turned, k, x, y, row[k]);
		unsigned bits = BITS(LE(ABS(at), SET(FLT_MAX)));

		bits &= ~0u << (v * LANES - x);	/* those of the overlap are listed already */
		STORE_INT(to + n, squeeze(AS_INT(at), bits));
		n += (size_t)__builtin_popcount(bits);
	}
	return n;
}

/* ---- cells, samples, hits ---- */

/*
 * LANES cells. Corners of the grid are a b above c d; by the diagonal these are called u p v q: a
 * falling one has u = a, p = b, v = d, q = c, a rising one u = c, p = a, v = b, q = d. So the first
 * triangle is u p v and the second one v q u, both in the same sense. x of the corners is mirrored
 * (mirror: the sign bit) where a cell is seen from behind, so that edges of inner samples have
 * positive signs, which 0 has, too: a sample on the common edge of two cells is in one of them, or
 * in both.
 */
struct cells {
	vf ux, uy, px, py, vx, vy, qx, qy, mirror;
	vm falling, first, second;	/* which triangles there are */
};

/* Where the corners' attributes stand: those of a, and of c below it; b and d are `right` floats
 * further. */
struct corners {
	const float *above[TURNED_ATTRIBUTES], *below[TURNED_ATTRIBUTES];
	size_t right;
	bool holes;		/* some are missing or NaN: those without weight do not count */
};

/* Samples inside a box, both ends included. */
struct boxes {
	vf left, right, top, bottom;
};

#define QUEUE 32		/* vectors of records that wait to be put into the strip */

/* Hits that wait, in the order in which they came. */
struct queue {
	size_t n, used;			/* hits; floats of `record` */
	int32_t from[QUEUE * LANES + LANES];	/* of each hit: where its record begins */
	int32_t value_at[QUEUE * LANES + LANES];
	int32_t at[QUEUE * LANES + LANES];	/* sample of the strip */
	float record[QUEUE * TURNED_RECORD * LANES] __attribute__((aligned(64)));
	float value[QUEUE * LANES] __attribute__((aligned(64)));
};

/* What a thread draws into. */
struct target {
	const struct turned *turned;
	float *record, *value;		/* the strip's */
	float top;			/* its first row of samples */
	struct queue queue;
};

/* -1, 0 or 1 as a comes before b, is equal or comes after it; NaN is last. */
static int
compare(float a, float b)
{
	if (isnan(a) || isnan(b))
		return !!isnan(a) - !!isnan(b);
	return (a > b) - (a < b);
}

/* Of two records with the same key, which stay in any order of the cells: is a, with a value, the
 * one that stays? */
static bool
is_before(const float *a, const float *b, float a_value, float b_value)
{
	int order = 0;

	for (int k = 1; k < TURNED_RECORD && !order; k++)
		order = compare(a[k], b[k]);
	return (order ? order : compare(a_value, b_value)) < 0;
}

static __attribute__((noinline)) void
empty_queue(struct target *to)
{
	const struct queue *queue = &to->queue;
	bool coloured = to->turned->coloured;

	for (size_t i = 0; i < queue->n; i++) {
		const float *from = queue->record + queue->from[i];
		float *at = to->record + (size_t)TURNED_RECORD * (size_t)queue->at[i];
		const float *value = coloured ? &queue->value[queue->value_at[i]] : from;
		float *value_of = coloured ? &to->value[queue->at[i]] : at;

		if (from[0] < at[0] ||
		    SELDOM(from[0] == at[0] && is_before(from, at, *value, *value_of))) {
			memcpy(at, from, TURNED_RECORD * sizeof(*at));
			if (coloured)
				*value_of = *value;
		}
	}
	to->queue.n = to->queue.used = 0;
}

INLINED vf
mirrored(vf x, vf mirror)
{
	return AS_FLOAT(AS_INT(x) ^ AS_INT(mirror));
}

INLINED vf
cross(vf ax, vf ay, vf bx, vf by)
{
	return ax * by - ay * bx;
}

/* The product of a weight and a corner's attribute; with holes 0 where there is no weight. */
INLINED vf
weighted(vf weight, const float *attribute, bool holes)
{
	vf product = weight * LOAD(attribute);

	if (holes)
		product = SELECT(LE(ABS(weight), ZERO), ZERO, product);
	return product;
}

/* An attribute at the samples, whose weights of the corners a b c d add up to 1. */
INLINED vf
interpolate(const struct corners *corners, int k, const vf weight[4])
{
	const float *above = corners->above[k], *below = corners->below[k];
	bool holes = corners->holes;

	return (weighted(weight[0], above, holes) +
	    weighted(weight[1], above + corners->right, holes)) +
	    (weighted(weight[2], below, holes) +
	    weighted(weight[3], below + corners->right, holes));
}

/* Queues the hits of LANES cells: their weights are `of_u`, `of_v`, and `of_third` of the corner p
 * of a first triangle or q of a second one. A triangle without an area gives NaN, which is not
 * nearer than anything. */
INLINED void
put_hits(const struct cells *cells, const struct corners *corners, struct target *to, vf x, vf y,
    vm hit, vm first, vf of_u, vf of_v, vf of_third)
{
	static const int32_t offsets[LANES] = RECORD_OFFSETS;
	const struct turned *turned = to->turned;
	struct queue *queue = &to->queue;
	vf all = ONE / (of_u + of_v + of_third);
	vf u = of_u * all, v = of_v * all, third = of_third * all;
	vf p = SELECT(first, third, ZERO), q = SELECT(first, ZERO, third);
	const vf weight[4] = { SELECT(cells->falling, u, p), SELECT(cells->falling, p, v),
		SELECT(cells->falling, q, u), SELECT(cells->falling, v, q) };
	vf key = interpolate(corners, TURNED_KEY, weight) * SET(turned->facing);
	vf nx = interpolate(corners, TURNED_NX, weight);
	vf ny = interpolate(corners, TURNED_NY, weight);
	vf nz = interpolate(corners, TURNED_NZ, weight);
	vf even = SHUFFLE_LOW(key, nx), odd = SHUFFLE_HIGH(key, nx);
	vf even_end = SHUFFLE_LOW(ny, nz), odd_end = SHUFFLE_HIGH(ny, nz);
	float *record = queue->record + queue->used;
	unsigned bits = BITS(hit);
	vi sample = ADD_INT(MULTIPLY_INT(TO_INT(y - SET(to->top)),
	    SET_INT((int32_t)turned->strip_width)), TO_INT(x));

	if (turned->radius > 0) {
		vf across = (weight[1] + weight[3]) - (weight[0] + weight[2]);
		vf down = (weight[2] + weight[3]) - (weight[0] + weight[1]);

		bits &= BITS(LE(across * across + down * down, ONE));
	}
	STORE(record, PAIRS_LOW(even, even_end));
	STORE(record + LANES, PAIRS_HIGH(even, even_end));
	STORE(record + 2 * LANES, PAIRS_LOW(odd, odd_end));
	STORE(record + 3 * LANES, PAIRS_HIGH(odd, odd_end));
	STORE_INT(queue->at + queue->n, squeeze(sample, bits));
	STORE_INT(queue->from + queue->n,
	    squeeze(ADD_INT(SET_INT((int32_t)queue->used), LOAD_INT(offsets)), bits));
	if (turned->coloured) {
		size_t at = queue->used / TURNED_RECORD;

		STORE(queue->value + at, interpolate(corners, TURNED_VALUE, weight));
		STORE_INT(queue->value_at + queue->n,
		    squeeze(TO_INT(LOAD(counting) + SET((float)at)), bits));
	}
	queue->n += (size_t)__builtin_popcount(bits);
	queue->used += TURNED_RECORD * LANES;
	if (SELDOM(queue->used == QUEUE * TURNED_RECORD * LANES))
		empty_queue(to);
}

/*
 * One sample of each cell: is it in a triangle, and where? Five edges of corners seen from the
 * sample; those of the diagonal serve both triangles. An edge that two cells have is the same
 * products in both, and their difference the exact negative: a sample is never outside of both.
 */
INLINED void
test_samples(const struct cells *cells, const struct corners *corners, struct target *to, vf x,
    vf y, vm active)
{
	vf across = mirrored(x, cells->mirror);
	vf ux = cells->ux - across, uy = cells->uy - y, px = cells->px - across;
	vf py = cells->py - y, vx = cells->vx - across, vy = cells->vy - y;
	vf qx = cells->qx - across, qy = cells->qy - y;
	vf up = cross(ux, uy, px, py), pv = cross(px, py, vx, vy), vu = cross(vx, vy, ux, uy);
	vf vq = cross(vx, vy, qx, qy), qu = cross(qx, qy, ux, uy), uv = cross(ux, uy, vx, vy);
	vm first = AND(cells->first, same_sign(up, pv, vu));
	vm second = AND(cells->second, same_sign(vq, qu, uv));

	put_hits(cells, corners, to, x, y, AND(active, OR(first, second)), first,
	    SELECT(first, pv, vq), SELECT(first, up, qu), SELECT(first, vu, uv));
	active = AND(active, AND(first, second));
	if (SELDOM(BITS(active)))	/* a fold over the diagonal */
		put_hits(cells, corners, to, x, y, active, NOT(first), vq, qu, uv);
}

INLINED void
test_boxes(const struct cells *cells, const struct corners *corners, struct target *to,
    const struct boxes *box, vm active)
{
	for (vf y = box->top;; y += ONE) {
		vm row = AND(active, LE(y, box->bottom));

		if (!BITS(row))
			break;
		for (vf x = box->left;; x += ONE) {
			vm here = AND(row, LE(x, box->right));

			if (!BITS(here))
				break;
			test_samples(cells, corners, to, x, y, here);
		}
	}
}

/* test_boxes() where corners are missing. */
static __attribute__((noinline)) void
test_boxes_with_holes(const struct cells *cells, const struct corners *corners, struct target *to,
    const struct boxes *box, vm active)
{
	struct corners holed = *corners;

	holed.holes = true;
	test_boxes(cells, &holed, to, box, active);
}

static inline float
lane_of(vf v, unsigned i)
{
	float all[LANES];

	STORE(all, v);
	return all[i];
}

/* Cell i alone, which has many samples: LANES of a row at once. */
static __attribute__((noinline)) void
test_wide_cell(const struct cells *all, const struct corners *corners, struct target *to,
    const struct boxes *box, unsigned i)
{
	float attribute[TURNED_ATTRIBUTES][4][LANES] __attribute__((aligned(64)));
	float right = lane_of(box->right, i), bottom = lane_of(box->bottom, i);
	vm every = LE(ZERO, ZERO), none = NOT(every);
#define OF_ALL(field) SET(lane_of(all->field, i))
#define IF_IN(field) (BITS(all->field) >> i & 1 ? every : none)
	struct cells cell = { OF_ALL(ux), OF_ALL(uy), OF_ALL(px), OF_ALL(py), OF_ALL(vx),
		OF_ALL(vy), OF_ALL(qx), OF_ALL(qy), OF_ALL(mirror), IF_IN(falling), IF_IN(first),
		IF_IN(second) };
	struct corners mine = { .right = LANES, .holes = true };

	for (int k = 0; k < (to->turned->coloured ? TURNED_ATTRIBUTES : TURNED_VALUE); k++) {
		mine.above[k] = attribute[k][0];
		mine.below[k] = attribute[k][2];
		for (size_t j = 0; j < 2; j++) {
			STORE(attribute[k][j], SET(corners->above[k][i + j * corners->right]));
			STORE(attribute[k][2 + j], SET(corners->below[k][i + j * corners->right]));
		}
	}
	for (float y = lane_of(box->top, i); y <= bottom; y++)
		for (float x = lane_of(box->left, i); x <= right; x += LANES) {
			vf columns = LOAD(counting) + SET(x);

			test_samples(&cell, &mine, to, columns, SET(y), LE(columns, SET(right)));
		}
}

/* Picture x (k = 0) or y of LANES points from column x of row y on, whose z is known. */
INLINED vf
place(const struct turned *turned, int k, size_t x, size_t y, float row, vf z)
{
	const float *factor = turned->factor[k], *origin = turned->origin;
	vf share;

	if (turned->x.at)
		share = SET(factor[0]) * (LOAD(row_of(&turned->x, y) + x) - SET(origin[0])) +
		    SET(factor[1]) * (LOAD(row_of(&turned->y, y) + x) - SET(origin[1]));
	else
		share = LOAD(turned->placed_column[k] + x);
	return (share + SET(row)) + SET(factor[2]) * (z - SET(origin[2]));
}

/* Which triangles LANES cells have, by the rules of mesh.h: a step from or to a missing point is
 * NaN, or infinite, and passes no comparison. */
INLINED void
find_triangles(struct cells *cells, vf a, vf b, vf c, vf d, vf jump)
{
	vf falls = ABS(a - d), rises = ABS(b - c);
	vm above = LE(ABS(a - b), jump), below = LE(ABS(c - d), jump);
	vm left = LE(ABS(a - c), jump), right = LE(ABS(b - d), jump), split;

	cells->falling = OR(LT(falls, rises), NOT(LE(rises, rises)));
	split = LE(SELECT(cells->falling, falls, rises), jump);
	cells->first = AND(AND(split, above), SELECT_MASK(cells->falling, right, left));
	cells->second = AND(AND(split, below), SELECT_MASK(cells->falling, left, right));
}

/* Places the corners of LANES cells from column x of row y on, whose z are z[0] .. z[3] and whose
 * diagonal is known. row: the shares in picture x and y of this row of points and of the next. */
INLINED void
place_cells(const struct turned *turned, size_t x, size_t y, const vf z[4], const float row[2][2],
    struct cells *cells)
{
	vf *const u[2] = { &cells->ux, &cells->uy }, *const p[2] = { &cells->px, &cells->py };
	vf *const v[2] = { &cells->vx, &cells->vy }, *const q[2] = { &cells->qx, &cells->qy };

	for (int k = 0; k < 2; k++) {
		vf a = place(turned, k, x, y, row[0][k], z[0]);
		vf b = place(turned, k, x + 1, y, row[0][k], z[1]);
		vf c = place(turned, k, x, y + 1, row[1][k], z[2]);
		vf d = place(turned, k, x + 1, y + 1, row[1][k], z[3]);

		*u[k] = SELECT(cells->falling, a, c);
		*p[k] = SELECT(cells->falling, b, a);
		*v[k] = SELECT(cells->falling, d, b);
		*q[k] = SELECT(cells->falling, c, d);
	}
}

/* The samples from `first` to `last` between four places. False where these are too far out. */
INLINED vm
find_ends(vf a, vf b, vf c, vf d, float first, float last, vf *low, vf *high)
{
	vf least = MIN(MIN(a, b), MIN(c, d)), most = MAX(MAX(a, b), MAX(c, d));

	*low = CEIL(MIN(MAX(least, SET(first)), SET(last + 1)));
	*high = FLOOR(MIN(MAX(most, SET(first - 1)), SET(last)));
	return AND(AND(LE(SET(-FARTHEST_PX), least), LE(most, SET(FARTHEST_PX))), LE(*low, *high));
}

/* The boxes of the triangles that there are, in rows of samples from `top` to below `end`; which
 * cells have samples in them. */
INLINED vm
find_boxes(const struct turned *turned, const struct cells *cells, float top, float end,
    struct boxes *box)
{
	vf px = SELECT(cells->first, cells->px, cells->ux);
	vf py = SELECT(cells->first, cells->py, cells->uy);
	vf qx = SELECT(cells->second, cells->qx, cells->ux);
	vf qy = SELECT(cells->second, cells->qy, cells->uy);
	vm columns = find_ends(cells->ux, cells->vx, px, qx, 0, (float)turned->columns - 1,
	    &box->left, &box->right);

	return AND(columns, find_ends(cells->uy, cells->vy, py, qy, top, end - 1, &box->top,
	    &box->bottom));
}

/* Mirrors cells that are seen from behind, by the area of one of their triangles. */
INLINED void
mirror_cells(struct cells *cells)
{
	vf ax = SELECT(cells->first, cells->px, cells->vx) - cells->ux;
	vf ay = SELECT(cells->first, cells->py, cells->vy) - cells->uy;
	vf bx = SELECT(cells->first, cells->vx, cells->qx) - cells->ux;
	vf by = SELECT(cells->first, cells->vy, cells->qy) - cells->uy;

	cells->mirror = SELECT(LT(cross(ax, ay, bx, by), ZERO), SET(-0.0f), ZERO);
	cells->ux = mirrored(cells->ux, cells->mirror);
	cells->px = mirrored(cells->px, cells->mirror);
	cells->vx = mirrored(cells->vx, cells->mirror);
	cells->qx = mirrored(cells->qx, cells->mirror);
}

#define WIDE_COLUMNS 3		/* a cell of more samples along x or y is drawn by itself */
#define WIDE_ROWS 4

/* Tests the samples of LANES cells; `holed` ones have corners without a number. */
INLINED void
test_all(const struct cells *cells, const struct corners *corners, struct target *to,
    const struct boxes *box, vm active, vm holed)
{
	vm wide = AND(active, OR(LE(SET(WIDE_COLUMNS), box->right - box->left),
	    LE(SET(WIDE_ROWS), box->bottom - box->top)));

	if (SELDOM(BITS(wide)) && __builtin_popcount(BITS(wide)) < LANES / 2) {
		for (unsigned bits = BITS(wide); bits; bits &= bits - 1)
			test_wide_cell(cells, corners, to, box, (unsigned)__builtin_ctz(bits));
		active = AND(active, NOT(wide));
	}
	if (SELDOM(BITS(active) & BITS(holed)))
		test_boxes_with_holes(cells, corners, to, box, active);
	else
		test_boxes(cells, corners, to, box, active);
}

/* Draws LANES cells from column x of row y on into the rows of samples from `top` to below `end`.
 * row: as of place_cells(). */
INLINED void
draw_cells(struct target *to, size_t x, size_t y, float top, float end, const float row[2][2])
{
	const struct turned *turned = to->turned;
	const float *above = row_of(&turned->z, y) + x, *below = row_of(&turned->z, y + 1) + x;
	const vf z[4] = { LOAD(above), LOAD(above + 1), LOAD(below), LOAD(below + 1) };
	int attributes = turned->coloured ? TURNED_ATTRIBUTES : TURNED_VALUE;
	vf sum = (z[0] + z[1]) + (z[2] + z[3]);
	struct corners corners;		/* set by fields: clearing it costs a fifth of all time */
	struct cells cells;
	struct boxes box;
	vm active;

	find_triangles(&cells, z[0], z[1], z[2], z[3], SET(turned->jump));
	active = OR(cells.first, cells.second);
	if (!BITS(active))
		return;
	place_cells(turned, x, y, z, row, &cells);
	active = AND(active, find_boxes(turned, &cells, top, end, &box));
	if (!BITS(active))
		return;
	mirror_cells(&cells);
	corners.right = 1;
	corners.holes = false;
	for (int k = 0; k < attributes; k++) {
		corners.above[k] = row_of(&turned->attribute[k], y) + x;
		corners.below[k] = row_of(&turned->attribute[k], y + 1) + x;
		sum += (LOAD(corners.above[k]) + LOAD(corners.above[k] + 1)) +
		    (LOAD(corners.below[k]) + LOAD(corners.below[k] + 1));
	}
	/* a corner that is missing or has no number leaves no finite sum */
	test_all(&cells, &corners, to, &box, active, NOT(LE(ABS(sum), SET(FLT_MAX))));
}

/* The same of LANES points of a table. */
static __attribute__((noinline)) void
draw_discs(struct target *to, size_t x, size_t y, float top, float end, const float row[2])
{
	const struct turned *turned = to->turned;
	float attribute[TURNED_ATTRIBUTES][4][LANES] __attribute__((aligned(64)));
	vf z = LOAD(row_of(&turned->z, y) + x), radius = SET(turned->radius), n[3], u[3], v[3];
	vf corner[2][4], sign, a, b;
	vm every = LE(ZERO, ZERO), active;
	struct corners corners = { .right = LANES };
	struct cells cells;
	struct boxes box;

	for (int k = 0; k < 3; k++)
		n[k] = LOAD(row_of(&turned->attribute[TURNED_NX + k], y) + x);
	/* two directions across the normal: Duff et al. 2017, Building an orthonormal basis */
	sign = SELECT(LT(n[2], ZERO), SET(-1.0f), ONE);
	a = SET(-1.0f) / (sign + n[2]);
	b = n[0] * n[1] * a;
	u[0] = radius * (ONE + sign * n[0] * n[0] * a);
	u[1] = radius * (sign * b);
	u[2] = radius * (ZERO - sign * n[0]);
	v[0] = radius * b;
	v[1] = radius * (sign + n[1] * n[1] * a);
	v[2] = radius * (ZERO - n[1]);
	for (int k = 0; k < 2; k++) {
		const float *factor = turned->factor[k];
		vf at = place(turned, k, x, y, row[k], z), across = ZERO, down = ZERO;

		for (int i = 0; i < 3; i++) {
			across += SET(factor[i]) * u[i];
			down += SET(factor[i]) * v[i];
		}
		corner[k][0] = at - across - down;
		corner[k][1] = at + across - down;
		corner[k][2] = at - across + down;
		corner[k][3] = at + across + down;
	}
	cells = (struct cells){ corner[0][0], corner[1][0], corner[0][1], corner[1][1],
		corner[0][3], corner[1][3], corner[0][2], corner[1][2], ZERO, every, every, every };
	active = AND(LE(ABS(z), SET(FLT_MAX)), find_boxes(turned, &cells, top, end, &box));
	if (!BITS(active))
		return;
	mirror_cells(&cells);
	for (int k = 0; k < (turned->coloured ? TURNED_ATTRIBUTES : TURNED_VALUE); k++) {
		vf at = LOAD(row_of(&turned->attribute[k], y) + x);
		vf across = k ? ZERO : u[turned->key_axis], down = k ? ZERO : v[turned->key_axis];

		corners.above[k] = attribute[k][0];
		corners.below[k] = attribute[k][2];
		STORE(attribute[k][0], at - across - down);
		STORE(attribute[k][1], at + across - down);
		STORE(attribute[k][2], at - across + down);
		STORE(attribute[k][3], at + across + down);
	}
	test_all(&cells, &corners, to, &box, active, NOT(every));
}

/* Draws what lies in the rows of samples y0 to y1 - 1. */
static void
draw_strip(struct target *to, size_t y0, size_t y1)
{
	const struct turned *turned = to->turned;
	size_t cells = turned->w - 1, last = turned->h - 1;
	/* in turned coordinates, half a row and what is rounded wider */
	double centre = ((double)turned->rows - 1) / 2, scale = turned->scale;
	double least_y = ((double)y0 - 0.5 - centre) / scale + turned->middle[1];
	double most_y = ((double)y1 + 0.5 - centre) / scale + turned->middle[1];
	float low = (float)(least_y - turned->rounding - (double)turned->radius);
	float high = (float)(most_y + turned->rounding + (double)turned->radius);

	to->top = (float)y0;
	for (size_t block = 0; block < turned->blocks; block++) {
		const float *least = turned->reach[0] + block * turned->vectors;
		const float *most = turned->reach[1] + block * turned->vectors;
		size_t first = block * BLOCK_ROWS;
		size_t end = first + BLOCK_ROWS < last ? first + BLOCK_ROWS : last;
		float row[BLOCK_ROWS + 1][2];

		if (!(turned->block[block].most[1] >= low && turned->block[block].least[1] < high))
			continue;
		for (size_t y = first; y <= end; y++)
			for (int k = 0; k < 2; k++)
				row[y - first][k] = turned->factor[k][3] +
				    (turned->x.at ? 0 : turned->factor[k][1] * (float)y);
		for (size_t v = 0; v < turned->vectors; v += LANES) {
			unsigned bits = BITS(AND(LE(SET(low), LOAD(most + v)),
			    LT(LOAD(least + v), SET(high))));

			if (v + LANES > turned->vectors)
				bits &= (1u << (turned->vectors - v)) - 1;
			for (; bits; bits &= bits - 1) {
				size_t x = vector_start(v + (size_t)__builtin_ctz(bits), cells);

				for (size_t y = first; y < end; y++)
					if (turned->radius > 0)
						draw_discs(to, x, y, (float)y0, (float)y1,
						    row[y - first]);
					else
						draw_cells(to, x, y, (float)y0, (float)y1,
						    (const float (*)[2])row + (y - first));
			}
		}
	}
	empty_queue(to);
}

/* ---- light ---- */

/* LANES records, transposed: lanes of `in_order()`. */
struct records {
	vf key, nx, ny, nz;
};

INLINED struct records
load_records(const float *from)
{
	vf a = LOAD(from), b = LOAD(from + LANES), c = LOAD(from + 2 * LANES);
	vf d = LOAD(from + 3 * LANES);
	vf ab = SHUFFLE_LOW(a, b), cd = SHUFFLE_LOW(c, d);
	vf ab_end = SHUFFLE_HIGH(a, b), cd_end = SHUFFLE_HIGH(c, d);

	return (struct records){ PAIRS_LOW(ab, cd), PAIRS_HIGH(ab, cd), PAIRS_LOW(ab_end, cd_end),
		PAIRS_HIGH(ab_end, cd_end) };
}

INLINED void
clear_records(float *at)
{
	for (size_t i = 0; i < TURNED_RECORD; i++)
		STORE(at + i * LANES, SET(INFINITY));
}

INLINED vf
power(vf x, float exponent)
{
	vf product = ONE;
	float all[LANES];

	if (exponent == floorf(exponent)) {
		for (unsigned n = (unsigned)exponent; n; n >>= 1) {
			if (n & 1)
				product *= x;
			x *= x;
		}
		return product;
	}
	STORE(all, MAX(x, SET(1e-6f)));
	CPU_SIMD
	for (int i = 0; i < LANES; i++)
		all[i] = px_exp(exponent * px_log(all[i]));
	return LOAD(all);
}

/*
 * Phong's terms as in shade.px.h, of normals of any length in the frame's own coordinates: not they
 * are turned but the lamp and the direction of view. The shares of the colour and of white in 16
 * bits each, TURNED_LIGHT for 1; TURNED_EMPTY where nothing is, or what is there has no normal.
 */
INLINED vi
light_of(const struct turned *turned, vf nx, vf ny, vf nz, vf square, vm there)
{
	const struct shade_light *light = &turned->priv->light;
	const float *lamp = turned->lamp, *view = turned->away;
	vf inverse, of_lamp, of_view, cosine, facing, part, shine;

	there = AND(there, AND(LT(ZERO, square), LE(square, SET(FLT_MAX))));
	inverse = ONE / SQRT(SELECT(there, square, ONE));
	of_lamp = (nx * SET(lamp[0]) + ny * SET(lamp[1]) + nz * SET(lamp[2])) * inverse;
	of_view = (nx * SET(view[0]) + ny * SET(view[1]) + nz * SET(view[2])) * inverse;
	cosine = SELECT(LT(ZERO, of_view), ZERO - of_lamp, of_lamp);
	facing = ZERO - ABS(of_view);
	part = SET(light->ambient) + SET(light->diffuse) *
	    (SET(SHADE_LAMP) * MAX(cosine, ZERO) + SET(SHADE_FILL) * (ZERO - facing));
	shine = SET(light->specular) *
	    power(MAX(SET(light->z) - SET(2.0f) * cosine * facing, ZERO), light->shininess);
	shine = SELECT(LT(ZERO, cosine), shine, ZERO);
	part = part * SET(TURNED_LIGHT) + SET(0.5f);
	shine = MIN(shine, ONE) * SET(TURNED_LIGHT) + SET(0.5f);
	return AS_INT(SELECT(there, AS_FLOAT(TO_INT(part) | SHIFT_LEFT(TO_INT(shine), 16)),
	    AS_FLOAT(SET_INT((int32_t)TURNED_EMPTY))));
}

INLINED vf
square_of(const struct records *s)
{
	return s->nx * s->nx + s->ny * s->ny + s->nz * s->nz;
}

/* Lights LANES samples, each by itself. */
INLINED void
light_records(const struct turned *turned, const struct records *s, const float *own_value,
    float *value, uint32_t *light)
{
	vm there = LT(s->key, SET(INFINITY));

	STORE_INT(light, AS_INT(in_order(AS_FLOAT(
	    light_of(turned, s->nx, s->ny, s->nz, square_of(s), there)))));
	if (turned->coloured)
		memcpy(value, own_value, LANES * sizeof(*value));
	else
		STORE(value, in_order(s->key) * SET(turned->facing));
}

/* Lights the samples y0 to y1 - 1 of a strip and clears it. */
static void
light_samples(const struct turned *turned, float *record, const float *own_value, size_t y0,
    size_t y1)
{
	for (size_t y = y0; y < y1; y++)
		for (size_t x = 0; x < turned->columns; x += LANES) {
			size_t to = y * turned->stride + x;
			size_t at = (y - y0) * turned->strip_width + x;
			struct records s = load_records(record + TURNED_RECORD * at);

			if (!BITS(LT(s.key, SET(INFINITY)))) {
				STORE_INT(turned->light + to, SET_INT((int32_t)TURNED_EMPTY));
				continue;
			}
			light_records(turned, &s, own_value + at, turned->value + to,
			    turned->light + to);
			clear_records(record + TURNED_RECORD * at);
		}
}

/* Pixels whose four samples differ, until there are MIXED_PIXELS of them. */
struct mixed_samples {
	size_t n;
	uint32_t pixel[MIXED_PIXELS];
	float record[4][MIXED_PIXELS * TURNED_RECORD] __attribute__((aligned(64)));
	float value[4][MIXED_PIXELS] __attribute__((aligned(64)));
};

/* Lights the samples and puts them into a chunk of the picture's list. */
static void
light_mixed(struct turned *turned, struct mixed_samples *mixed)
{
	size_t chunk = __atomic_fetch_add(&turned->mixed_chunks, 1, __ATOMIC_RELAXED);
	struct mixed_pixels *to = &turned->mixed[chunk];

	__atomic_fetch_add(&turned->mixed_pixels, mixed->n, __ATOMIC_RELAXED);
	for (size_t i = 0; i < MIXED_PIXELS; i++)
		to->pixel[i] = i < mixed->n ? mixed->pixel[i] : UINT32_MAX;
	for (size_t k = 0; k < 4; k++)
		for (size_t i = 0; i < MIXED_PIXELS; i += LANES) {
			struct records s = load_records(mixed->record[k] + TURNED_RECORD * i);

			light_records(turned, &s, mixed->value[k] + i, to->value[k] + i,
			    to->light[k] + i);
		}
	mixed->n = 0;
}

/* Pixel `pixel` of a strip, whose first samples are number `above` and `below`. */
static void
add_mixed(struct turned *turned, struct mixed_samples *mixed, uint32_t pixel, const float *record,
    const float *value, size_t above, size_t below)
{
	const size_t sample[4] = { above, above + 1, below, below + 1 };

	for (size_t k = 0; k < 4; k++) {
		memcpy(mixed->record[k] + TURNED_RECORD * mixed->n,
		    record + TURNED_RECORD * sample[k], TURNED_RECORD * sizeof(*record));
		if (turned->coloured)
			mixed->value[k][mixed->n] = value[sample[k]];
	}
	mixed->pixel[mixed->n++] = pixel;
	if (mixed->n == MIXED_PIXELS)
		light_mixed(turned, mixed);
}

/* The sums of 2 x 2 samples, whose even and odd columns are spread over two vectors of each row. */
INLINED vf
add_four(vf above_start, vf above_end, vf below_start, vf below_end)
{
	vf start = above_start + below_start, end = above_end + below_end;

	return even_samples(start, end) + odd_samples(start, end);
}

/* Lights the pixels of 2 x 2 samples of rows y0 to y1 - 1 once where all four lie in the surface,
 * their normals agree and their values nearly so; and clears the strip. */
static void
light_pixels(struct turned *turned, float *record, const float *own_value, size_t y0, size_t y1,
    struct mixed_samples *mixed)
{
	size_t w = turned->columns / 2;
	vf none = SET(INFINITY), tolerance = SET(turned->tolerance);

	for (size_t y = y0; y < y1; y += 2) {
		float *value = turned->value + y / 2 * turned->stride;
		uint32_t *light = turned->light + y / 2 * turned->stride;

		for (size_t x = 0; x < w; x += LANES) {
			size_t above = (y - y0) * turned->strip_width + 2 * x;
			size_t below = above + turned->strip_width;
			float *from[4] = { record + TURNED_RECORD * above,
				record + TURNED_RECORD * (above + LANES),
				record + TURNED_RECORD * below,
				record + TURNED_RECORD * (below + LANES) };
			struct records a = load_records(from[0]), b = load_records(from[1]);
			struct records c = load_records(from[2]), d = load_records(from[3]);
			vf low_start = MIN(a.key, c.key), low_end = MIN(b.key, d.key);
			vf high_start = MAX(a.key, c.key), high_end = MAX(b.key, d.key);
			vf low, high, nearest, farthest, sum, nx, ny, nz, squares, square;
			unsigned differ;
			vm some, once;

			if (!BITS(LT(MIN(low_start, low_end), none))) {
				STORE_INT(light + x, SET_INT((int32_t)TURNED_EMPTY));
				continue;
			}
			nearest = MIN(even_samples(low_start, low_end),
			    odd_samples(low_start, low_end));
			farthest = MAX(even_samples(high_start, high_end),
			    odd_samples(high_start, high_end));
			if (turned->coloured) {
				vf of[4] = { LOAD(own_value + above),
					LOAD(own_value + above + LANES), LOAD(own_value + below),
					LOAD(own_value + below + LANES) };
				vf least_start = MIN(of[0], of[2]), least_end = MIN(of[1], of[3]);
				vf most_start = MAX(of[0], of[2]), most_end = MAX(of[1], of[3]);

				low = MIN(even_lanes(least_start, least_end),
				    odd_lanes(least_start, least_end));
				high = MAX(even_lanes(most_start, most_end),
				    odd_lanes(most_start, most_end));
				sum = (even_lanes(of[0], of[1]) + odd_lanes(of[0], of[1])) +
				    (even_lanes(of[2], of[3]) + odd_lanes(of[2], of[3]));
			} else {
				low = nearest;
				high = farthest;
				sum = add_four(a.key, b.key, c.key, d.key) * SET(turned->facing);
			}
			nx = add_four(a.nx, b.nx, c.nx, d.nx);
			ny = add_four(a.ny, b.ny, c.ny, d.ny);
			nz = add_four(a.nz, b.nz, c.nz, d.nz);
			squares = add_four(square_of(&a), square_of(&b), square_of(&c),
			    square_of(&d));
			square = nx * nx + ny * ny + nz * nz;
			some = LT(nearest, none);
			once = AND(AND(LT(farthest, none), LE(ABS(sum) + squares, SET(FLT_MAX))),
			    AND(LE(high - low, tolerance),
			    LE(squares * SET(4 * SAME_DIRECTION), square)));
			differ = BITS(some) & ~BITS(once);
			if (SELDOM(x + LANES > w))
				differ &= (1u << (w - x)) - 1;
			STORE_INT(light + x,
			    light_of(turned, nx, ny, nz, square, AND(some, once)));
			STORE(value + x, sum * SET(0.25f));
			for (; differ; differ &= differ - 1) {
				size_t i = (size_t)__builtin_ctz(differ);
				size_t first = above + 2 * i;

				add_mixed(turned, mixed,
				    (uint32_t)(y / 2 * w + x + i), record, own_value, first,
				    below + 2 * i);
			}
			for (int k = 0; k < 4; k++)
				clear_records(from[k]);
		}
	}
}

/* Draws and lights strips, one after another, in memory of thread number `thread` that stays in its
 * cache. */
static void
draw_strips(void *arg, size_t thread)
{
	struct turned *turned = arg;
	struct target to = { .turned = turned, .record = turned->strip[thread],
		.value = turned->strip[thread] +
		TURNED_RECORD * turned->strip_rows * turned->strip_width };
	struct mixed_samples mixed;
	size_t samples = turned->strip_rows * turned->strip_width, strip;

	mixed.n = 0;
	for (size_t i = 0; i < samples; i += LANES)
		clear_records(to.record + TURNED_RECORD * i);
	while ((strip = __atomic_fetch_add(&turned->next_strip, 1, __ATOMIC_RELAXED)) <
	    turned->strips) {
		size_t y0 = strip * turned->strip_rows, y1 = y0 + turned->strip_rows;

		y1 = y1 < turned->rows ? y1 : turned->rows;
		draw_strip(&to, y0, y1);
		if (turned->samples == 2)
			light_pixels(turned, to.record, to.value, y0, y1, &mixed);
		else
			light_samples(turned, to.record, to.value, y0, y1);
	}
	if (mixed.n)
		light_mixed(turned, &mixed);
}

/* ---- colours ---- */

/* The values of a row of lit pixels or samples, without gaps, in room for stride; returns how
 * many. */
static size_t
list_values(const struct turned *turned, size_t y, float *to)
{
	const float *value = turned->value + y * turned->stride;
	const uint32_t *light = turned->light + y * turned->stride;
	size_t w = turned->samples == 2 ? turned->columns / 2 : turned->columns, n = 0;

	for (size_t x = 0; x < w; x += LANES) {
		vf v = LOAD(value + x);
		vm empty = EQUAL_INT(LOAD_INT(light + x), SET_INT((int32_t)TURNED_EMPTY));
		unsigned bits = BITS(LE(ABS(v), SET(FLT_MAX))) & ~BITS(empty);

		if (SELDOM(x + LANES > w))
			bits &= (1u << (w - x)) - 1;
		STORE_INT(to + n, squeeze(AS_INT(v), bits));
		n += (size_t)__builtin_popcount(bits);
	}
	return n;
}

/* Levels r g b of LANES pixels or samples. */
INLINED void
find_levels(const struct turned *turned, const float *value, const uint32_t *light, vf level[3])
{
	const struct priv *priv = turned->priv;
	const float nan[3] = { priv->nan.x, priv->nan.y, priv->nan.z };
	const float back[3] = { priv->background.x, priv->background.y, priv->background.z };
	vi packed = LOAD_INT(light);
	vm empty = EQUAL_INT(packed, SET_INT((int32_t)TURNED_EMPTY)), missing;
	vf part, shine, v, place, before, share;
	vi anchor;

	if (BITS(empty) == (1u << LANES) - 1) {
		for (int k = 0; k < 3; k++)
			level[k] = SET(back[k]);
		return;
	}
	part = TO_FLOAT(packed & SET_INT(0xffff)) * SET(1 / TURNED_LIGHT);
	shine = TO_FLOAT(SHIFT_RIGHT(packed, 16)) * SET(1 / TURNED_LIGHT);
	if (!turned->by_value) {
		vf plaster = SET(255.0f) * MIN(SET(PLASTER) * part + shine, ONE);

		for (int k = 0; k < 3; k++)
			level[k] = SELECT(empty, SET(back[k]), plaster);
		return;
	}
	v = LOAD(value);
	missing = NOT(LE(v, v));
	place = MIN(MAX((v - SET(priv->low)) / SET(priv->high - priv->low), ZERO), ONE) *
	    SET(turned->last_anchor);
	before = MIN(FLOOR(place), SET(turned->last_anchor - 1));
	share = place - before;
	anchor = TO_INT(before);
	for (int k = 0; k < 3; k++) {
		vf colour = look_up(turned->anchor[k], anchor) +
		    share * look_up(turned->anchor[3 + k], anchor);

		colour = SELECT(missing, SET(nan[k]), colour);
		level[k] = SELECT(empty, SET(back[k]),
		    SET(255.0f) * MIN(colour * part + shine, ONE));
	}
}

INLINED void
put_bytes(unsigned char *to, vf level, size_t n)
{
	vi bytes = TO_INT(level + SET(0.5f));
	unsigned char some[LANES];

	if (n >= LANES) {
		store_bytes(to, bytes);
		return;
	}
	store_bytes(some, bytes);
	memcpy(to, some, n);
}

/* A row of pixels of one sample each, or of one light each. */
static void
paint_row(const struct turned *turned, size_t y)
{
	size_t w = turned->out->head.w;
	unsigned char *to[3];
	vf level[3];

	for (size_t k = 0; k < 3; k++)
		to[k] = frame_row(turned->out, k, y);
	for (size_t x = 0; x < w; x += LANES) {
		find_levels(turned, turned->value + y * turned->stride + x,
		    turned->light + y * turned->stride + x, level);
		for (int k = 0; k < 3; k++)
			put_bytes(to[k] + x, level[k], w - x);
	}
}

#define MEAN_PIXELS 64

/* A row of pixels, each the mean of n x n samples. */
static void
paint_means(const struct turned *turned, size_t y)
{
	size_t w = turned->out->head.w, n = turned->samples, pixels;
	vf level[3];

	for (size_t x = 0; x < w; x += pixels) {
		float sum[3][MEAN_PIXELS] = { 0 }, sample[3][TURNED_SAMPLES_MOST * MEAN_PIXELS];

		pixels = w - x < MEAN_PIXELS ? w - x : MEAN_PIXELS;
		for (size_t j = 0; j < n; j++) {
			size_t first = (y * n + j) * turned->stride + x * n;

			for (size_t i = 0; i < pixels * n; i += LANES) {
				find_levels(turned, turned->value + first + i,
				    turned->light + first + i, level);
				for (int k = 0; k < 3; k++)
					STORE(sample[k] + i, level[k]);
			}
			for (int k = 0; k < 3; k++)
				for (size_t i = 0; i < pixels * n; i++)
					sum[k][i / n] += sample[k][i];
		}
		for (size_t k = 0; k < 3; k++) {
			unsigned char *to = frame_row(turned->out, k, y);

			for (size_t i = 0; i < pixels; i++)
				to[x + i] = (unsigned char)(sum[k][i] / (float)(n * n) + 0.5f);
		}
	}
}

static void
paint_band(void *arg, size_t band)
{
	const struct turned *turned = arg;
	size_t h = turned->out->head.h, y1 = (band + 1) * PAINT_ROWS;

	for (size_t y = band * PAINT_ROWS; y < (y1 < h ? y1 : h); y++)
		if (turned->samples <= 2)
			paint_row(turned, y);
		else
			paint_means(turned, y);
}

/* Pixels whose four samples have colours of their own. */
static void
paint_mixed(void *arg, size_t chunk)
{
	const struct turned *turned = arg;
	const struct mixed_pixels *mixed = &turned->mixed[chunk];
	size_t w = turned->out->head.w;
	vf level[3];

	for (size_t i = 0; i < MIXED_PIXELS; i += LANES) {
		vf sum[3] = { ZERO, ZERO, ZERO };
		unsigned char mean[3][LANES];

		for (int k = 0; k < 4; k++) {
			find_levels(turned, mixed->value[k] + i, mixed->light[k] + i, level);
			for (int j = 0; j < 3; j++)
				sum[j] += level[j];
		}
		for (int j = 0; j < 3; j++)
			put_bytes(mean[j], sum[j] * SET(0.25f), LANES);
		for (size_t k = 0; k < LANES; k++) {
			size_t pixel = mixed->pixel[i + k];

			for (size_t j = 0; j < 3 && pixel != UINT32_MAX; j++)
				((unsigned char *)frame_row(turned->out, j, pixel / w))[pixel % w] =
				    mean[j][k];
		}
	}
}

const struct turned_rows AT_LEVEL(turned_rows) = {
	.lanes = LANES,
	.survey_block = survey_block,
	.list_row = list_row,
	.draw_strips = draw_strips,
	.list_values = list_values,
	.paint_band = paint_band,
	.paint_mixed = paint_mixed,
};
