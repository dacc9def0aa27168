/*
 * The loops of phasewrap over the pixels of a row: phases from the sums of a fit, and all that is
 * written with them. A row is computed in tiles of TILE_PIXELS, so that what is known of them so
 * far stays in cache. Which way a tile goes depends on the measurement: alike_sets_wrap() for the
 * usual one or two sets of three or four integer images, fringe_sums_wrap() for any number of
 * images and any shifts, double_three_wrap() for --kind double, exposure_fit_row() where pixels
 * leave out saturated images. phasewrap.px.h has the formulas.
 */
#include "phasewrap.h"

#include "base/px.h"
#include "fringe/phase_noise.px.h"
#include "exposure_fit.px.h"
#include "phasewrap.px.h"

#if CPU_VECTOR_BYTES > 16
#include <immintrin.h>
#endif

/* ---- tiles ---- */

#define TILE_PIXELS 832	/* whole 64 bytes of a type */
/* floats from array to array: they must not begin at the same place of 4 KiB pages */
#define TILE_SPAN (TILE_PIXELS + 16)
#define TILE_IMAGES 4	/* of a fringe set that are summed together */
#define TILE_SETS 2	/* fringe sets that are summed together */

/* Pixels of a row that are computed together, and what is known of them so far. */
struct tile {
	/* of one fringe set: I_0, N A, the other sums; the largest sample of its images */
	float first[TILE_SPAN], mean[TILE_SPAN], c[TILE_SPAN], s[TILE_SPAN], most[TILE_SPAN];
	float modulation[TILE_SPAN], texture[TILE_SPAN], threshold[2][TILE_SPAN];
	float plane[TILE_SPAN], inverse[TILE_SPAN];
	/* of a Gray code: the light of its first plane, what the others' differ from it, summed and
	 * squared, and the variance by these */
	float base[TILE_SPAN], total[TILE_SPAN], square[TILE_SPAN], variance[TILE_SPAN];
	uint missing[TILE_SPAN], bad[TILE_SPAN], value[TILE_SPAN];
	/* of the fringe sets that are summed together */
	float image[TILE_SETS][TILE_IMAGES][TILE_SPAN], pair[TILE_SETS][2][TILE_SPAN];
} __attribute__((aligned(64)));

/* Nothing is missing or bad. */
static void
tile_start(struct tile *restrict tile, size_t n)
{
	memset(tile->missing, 0, n * sizeof(*tile->missing));
	memset(tile->bad, 0, n * sizeof(*tile->bad));
	memset(tile->texture, 0, n * sizeof(*tile->texture));
	for (size_t x = 0; x < n; x++)
		tile->modulation[x] = 3e38f;
}

#define LOAD(type) \
static void \
load_##type(const type *restrict image, float *restrict v, struct tile *restrict tile, size_t n) \
{ \
	CPU_SIMD \
	for (size_t x = 0; x < n; x++) { \
		v[x] = (float)image[x]; \
		if (sizeof(type) == sizeof(float)) \
			tile->missing[x] |= phasewrap_missing(v[x]); \
	} \
}
LOAD(uint8_t)
LOAD(uint16_t)
LOAD(float)

/* n samples of plane c from column x of row y on, as floats; those that are missing are noted. */
static void
tile_load(struct tile *tile, const struct frame *in, size_t c, size_t y, size_t x, size_t n,
    float *v)
{
	void *row = frame_row(in, c, y);

	if (in->head.type == SAMPLE_UCHAR)
		load_uint8_t((uint8_t *)row + x, v, tile, n);
	else if (in->head.type == SAMPLE_USHORT)
		load_uint16_t((uint16_t *)row + x, v, tile, n);
	else
		load_float((float *)row + x, v, tile, n);
}

/* The phase of the fringe set whose cosine and sine are c and s. */
static void
tile_write_phase(const struct tile *restrict tile, float *restrict phase, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		phase[x] = phasewrap_phase(tile->s[x], tile->c[x]);
}

/* The channels of set k: the phase, or with `vector` cosine and sine. */
static void
tile_write_set(const struct tile *tile, bool vector, struct frame *out, size_t k, size_t y,
    size_t x, size_t n)
{
	if (!vector) {
		tile_write_phase(tile, frame_floats(out, k, y) + x, n);
		return;
	}
	memcpy(frame_floats(out, 2 * k, y) + x, tile->c, n * sizeof(float));
	memcpy(frame_floats(out, 2 * k + 1, y) + x, tile->s, n * sizeof(float));
}

/* The modulation and the texture of all fringe sets. */
static void
tile_write_quality(const struct tile *restrict tile, float sets,
    float *restrict modulation, float *restrict texture, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		bool missing = tile->missing[x] != 0;

		modulation[x] = px_select(missing, PX_NAN, tile->modulation[x]);
		texture[x] = px_select(missing, PX_NAN, tile->texture[x] / sets);
	}
}

/* Missing pixels are bad too; is there a bad one? */
static bool
tile_any_bad(struct tile *restrict tile, size_t n)
{
	uint any = 0;

	_Pragma("omp simd reduction(|:any)")
	for (size_t x = 0; x < n; x++) {
		tile->bad[x] |= tile->missing[x];
		any |= tile->bad[x];
	}
	return any != 0;
}

/* Writes NaN where a pixel is bad into the phases, sigmas, markers and indices of n pixels from
 * column x of row y on. */
static void
mask_bad(const struct phasewrap *wrap, const uint *restrict bad, struct frame *out, size_t y,
    size_t x, size_t n)
{
	for (size_t c = 0; c < out->head.c; c++) {
		float *restrict v = frame_floats(out, c, y) + x;

		if ((c >= wrap->channels.phases && c < wrap->channels.sigma) ||
		    c >= wrap->channels.edge)
			continue;
		CPU_SIMD
		for (size_t i = 0; i < n; i++)
			v[i] = px_select(bad[i] != 0, PX_NAN, v[i]);
	}
}

/* ---- fringe sets of any number of images and any shifts, one set after the other ---- */

/* The images of one fringe set that are summed in one go. */
struct images {
	const void *restrict row[TILE_IMAGES];
	struct phase_shift_weights weight[TILE_IMAGES];
};

/* How the sums of a fringe set are judged, and where its phase vectors go; cosine NULL: the sums
 * stay in the tile (first, mean of N (A - I_0), c, s), and nothing is judged. */
struct verdict {
	struct measurement_limits limits;
	float images;			/* of the set */
	uint crest;			/* of phasewrap_texture() */
	float *cosine, *sine;		/* of the tile's first pixel */
};

static const struct verdict sums_only = { .cosine = NULL };

/* Judges a pixel whose sums are complete, and adds to texture and modulation of all sets. */
static inline __attribute__((always_inline)) void
judge_pixel(struct verdict verdict, struct tile *restrict tile, size_t x, float first, float most,
    float sum, float c, float s)
{
	const struct measurement_limits *limits = &verdict.limits;
	float images = verdict.images;
	PX_F mean = phasewrap_mean(first, sum, images);
	PX_F amplitude = phasewrap_amplitude(s, c), amplitude_sum = amplitude * images;
	PX_F divisor = px_max(mean, PHASEWRAP_LEAST_MEAN);
	PX_F product = amplitude * divisor, inverse = 1.0f / product;
	PX_F modulation = phasewrap_modulation(mean, amplitude, amplitude_sum, product, inverse);
	PX_F unit = divisor * inverse;
	bool good = phasewrap_good(amplitude, mean, product, modulation, limits->least_amplitude,
	    limits->least_mean * images, limits->least_modulation) & (most < limits->max_value);

	verdict.cosine[x] = c * unit;
	verdict.sine[x] = s * unit;
	tile->mean[x] = mean;
	tile->bad[x] |= !good;
	tile->texture[x] += phasewrap_texture(mean, amplitude_sum, verdict.crest) *
	    (1.0f / images);
	tile->modulation[x] = px_min(tile->modulation[x], modulation);
}

#define SUM(type, count, begin, end) \
	case count + (begin ? 0 : TILE_IMAGES) + (end ? 0 : 2 * TILE_IMAGES): \
		sum_##type(images, count, begin, end, verdict, tile, n); \
		break;

/*
 * What differs by the type of the samples; those of 32 bits are floats, which may be missing. sum_
 * adds `count` images to the sums, which begin with the first one (taken off all others) if
 * `begin`, and judges them if `end`. All three are constants where it is called, so that the loop
 * over the images is unrolled.
 */
#define TYPED(type) \
static inline __attribute__((always_inline)) void \
sum_##type(const struct images *restrict images, size_t count, bool begin, bool end, \
    struct verdict verdict, struct tile *restrict tile, size_t n) \
{ \
	const type *restrict first = images->row[0]; \
 \
	CPU_SIMD \
	for (size_t x = 0; x < n; x++) { \
		PX_F zero = begin ? (float)first[x] : tile->first[x]; \
		PX_F most = begin ? zero : tile->most[x], mean = begin ? 0 : tile->mean[x]; \
		PX_F c = begin ? 0 : tile->c[x], s = begin ? 0 : tile->s[x]; \
		bool missing = sizeof(type) == sizeof(float) && phasewrap_missing(zero); \
 \
		_Pragma("GCC unroll 8") \
		for (size_t i = begin; i < count; i++) { \
			PX_F v = (float)((const type *restrict)images->row[i])[x]; \
			PX_F d = v - zero; \
 \
			most = px_max(most, v); \
			mean = phasewrap_add(mean, d, images->weight[i].mean); \
			c = phasewrap_add(c, d, images->weight[i].c); \
			s = phasewrap_add(s, d, images->weight[i].s); \
			missing |= sizeof(type) == sizeof(float) && phasewrap_missing(v); \
		} \
		if (sizeof(type) == sizeof(float)) \
			tile->missing[x] |= missing; \
		if (end) { \
			judge_pixel(verdict, tile, x, zero, most, mean, c, s); \
		} else { \
			tile->first[x] = zero; \
			tile->most[x] = most; \
			tile->mean[x] = mean; \
			tile->c[x] = c; \
			tile->s[x] = s; \
		} \
	} \
} \
 \
static void \
sums_##type(const struct images *images, size_t count, bool begin, bool end, \
    struct verdict verdict, struct tile *tile, size_t n) \
{ \
	switch (count + (begin ? 0 : TILE_IMAGES) + (end ? 0 : 2 * TILE_IMAGES)) { \
	SUM(type, 3, true, true) \
	SUM(type, 4, true, true) \
	SUM(type, 4, true, false) \
	SUM(type, 1, false, true) \
	SUM(type, 2, false, true) \
	SUM(type, 3, false, true) \
	SUM(type, 4, false, true) \
	SUM(type, 3, true, false) \
	SUM(type, 1, false, false) \
	SUM(type, 2, false, false) \
	SUM(type, 3, false, false) \
	SUM(type, 4, false, false) \
	} \
}
TYPED(uint8_t)
TYPED(uint16_t)
TYPED(float)

static void
take_threshold(const float *restrict mean, float images, float *restrict threshold, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		threshold[x] = mean[x] / images;
}

/* Sums and judges a fringe set over n pixels from column x of row y on. */
static void
sum_fringe(const struct frame *in, const struct capture_fringe *fringe,
    const struct phase_shift_fit *fit, size_t y, size_t x, size_t n, struct verdict verdict,
    struct tile *tile)
{
	for (size_t first = 0; first < fringe->n; first += TILE_IMAGES) {
		size_t left = fringe->n - first, count = left < TILE_IMAGES ? left : TILE_IMAGES;
		bool end = left <= TILE_IMAGES && verdict.cosine;
		struct images images;

		for (size_t i = 0; i < count; i++) {
			images.row[i] = (char *)frame_row(in, fringe->plane[first + i], y) +
			    x * sample_size(in->head.type);
			images.weight[i] = fit->weights[first + i];
		}
		if (in->head.type == SAMPLE_UCHAR)
			sums_uint8_t(&images, count, first == 0, end, verdict, tile, n);
		else if (in->head.type == SAMPLE_USHORT)
			sums_uint16_t(&images, count, first == 0, end, verdict, tile, n);
		else
			sums_float(&images, count, first == 0, end, verdict, tile, n);
	}
}

/* The phases (or cosines and sines) of n pixels from column x of row y on; the tile gathers
 * modulation, texture, thresholds of Gray planes, and which pixels are bad. */
static void
fringe_sums_wrap(const struct phasewrap *wrap, const struct frame *in, struct frame *out, size_t y,
    size_t x, size_t n, struct tile *tile)
{
	const struct capture_set *captures = &wrap->captures;

	for (size_t k = 0; k < captures->fringes; k++) {
		struct verdict verdict = { wrap->limits, (float)captures->fringe[k].n,
			wrap->crest, tile->c, tile->s };

		if (wrap->vector) {
			verdict.cosine = frame_floats(out, 2 * k, y) + x;
			verdict.sine = frame_floats(out, 2 * k + 1, y) + x;
		}
		sum_fringe(in, &captures->fringe[k], &wrap->fit[k], y, x, n, verdict, tile);
		if (!wrap->vector)
			tile_write_phase(tile, frame_floats(out, k, y) + x, n);
		for (size_t i = 0; i < captures->codes; i++)
			if (wrap->reference[i] == k)
				take_threshold(tile->mean, verdict.images, tile->threshold[i], n);
	}
}

/* Modulation and texture from white and black images, where there are no fringes. */
static void
fringe_sums_judge_flats(struct measurement_limits limits, struct tile *restrict tile,
    const float *restrict white, const float *restrict black, size_t n)
{
	struct verdict verdict = { limits, 1, 0, tile->c, tile->s };

	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		judge_pixel(verdict, tile, x, (white[x] + black[x]) * 0.5f, 0, 0,
		    px_max(white[x] - black[x], 0.0f) * 0.5f, 0);
}

/*
 * ---- the usual measurement ----
 *
 * One or two sets of three or four integer images that all weigh the same in the mean: faster than
 * fringe_sums_wrap(), with the same result.
 */

/* Pixels whose samples are floats in registers alone: as many as these hold, or 16. */
#define TOGETHER (CPU_VECTOR_BYTES == 32 ? 8 : 16)

/* Fringe sets of as many images each, all weighing the same in the mean. */
struct alike {
	const void *image[TILE_SETS][TILE_IMAGES];
	struct phase_shift_weights weight[TILE_SETS][TILE_IMAGES];
	float *restrict cosine[TILE_SETS], *restrict sine[TILE_SETS];
	float *restrict modulation, *restrict texture;
	size_t row;		/* floats from a row of these planes to the next; 0: not planes */
	bool far;		/* cosine and sine are whole planes, too: too large for a cache */
	uint crest;		/* of phasewrap_texture() */
	struct measurement_limits limits;
};

struct judged {
	float cosine, sine, modulation, texture;
	bool good;
};

/* As judge_pixel(), but nothing is missing, infinite or negative, so that a mean is 0 or at least
 * 1. */
static inline __attribute__((always_inline)) struct judged
judge_whole(const struct measurement_limits *limits, bool limited, uint crest, float images,
    float most, float mean, float c, float s)
{
	struct judged judged;
	PX_F amplitude = phasewrap_amplitude(s, c), amplitude_sum = amplitude * images;
	PX_F product = amplitude * mean, inverse = 1.0f / product;
	bool divisible = product > PHASEWRAP_LEAST_PRODUCT;
	PX_F unit = mean * inverse;

	judged.modulation = px_select(divisible, amplitude_sum * amplitude * inverse, 0.0f);
	judged.cosine = c * unit;
	judged.sine = s * unit;
	judged.texture = phasewrap_texture(mean, amplitude_sum, crest) * (1.0f / images);
	judged.good = divisible;
	if (limited)
		judged.good &= (amplitude >= limits->least_amplitude) &
		    (mean >= limits->least_mean * images) &
		    (judged.modulation >= limits->least_modulation) &
		    (most < limits->max_value);
	return judged;
}

/* Sums of whole numbers are exact, so that N A is just that. */
static inline __attribute__((always_inline)) struct judged
whole_pixel(const float (*image)[TOGETHER], const struct phase_shift_weights *weight,
    const struct measurement_limits *limits, bool limited, uint crest, size_t count, size_t x)
{
	PX_F zero = image[0][x], most = zero, sum = zero, c = 0, s = 0;

	_Pragma("GCC unroll 8")
	for (size_t i = 1; i < count; i++) {
		PX_F v = image[i][x], d = v - zero;

		most = px_max(most, v);
		sum = sum + v;
		c = phasewrap_add(c, d, weight[i].c);
		s = phasewrap_add(s, d, weight[i].s);
	}
	return judge_whole(limits, limited, crest, (float)(int)count, most, sum, c, s);
}

/* Samples to floats in two instructions; from a plain loop the compiler makes eleven for four
 * vectors. */
#if CPU_VECTOR_BYTES == 64
static inline void
widen_uint8_t(const uint8_t *image, float *v)
{
	__m128i some = _mm_loadu_si128((const void *)image);

	_mm512_store_ps(v, _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(some)));
}

static inline void
widen_uint16_t(const uint16_t *image, float *v)
{
	__m256i some = _mm256_loadu_si256((const void *)image);

	_mm512_store_ps(v, _mm512_cvtepi32_ps(_mm512_cvtepu16_epi32(some)));
}
#elif CPU_VECTOR_BYTES == 32
static inline void
widen_uint8_t(const uint8_t *image, float *v)
{
	__m128i some = _mm_loadl_epi64((const void *)image);

	_mm256_store_ps(v, _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(some)));
}

static inline void
widen_uint16_t(const uint16_t *image, float *v)
{
	__m128i some = _mm_loadu_si128((const void *)image);

	_mm256_store_ps(v, _mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(some)));
}
#else
#define WIDEN(type) \
static inline void \
widen_##type(const type *restrict image, float *restrict v) \
{ \
	CPU_SIMD \
	for (size_t i = 0; i < TOGETHER; i++) \
		v[i] = (float)image[i]; \
}
WIDEN(uint8_t)
WIDEN(uint16_t)
#endif

/* TOGETHER pixels from x on. `limited`: something may be beyond the limits. */
static inline __attribute__((always_inline)) void
take_together(const struct alike *restrict a, size_t sets, size_t count, bool limited, size_t size,
    size_t x)
{
	float image[TILE_SETS][TILE_IMAGES][TOGETHER] __attribute__((aligned(64)));

	_Pragma("GCC unroll 2")
	for (size_t k = 0; k < sets; k++)
		_Pragma("GCC unroll 4")
		for (size_t i = 0; i < count; i++)
			if (size == 1)
				widen_uint8_t((const uint8_t *)a->image[k][i] + x, image[k][i]);
			else
				widen_uint16_t((const uint16_t *)a->image[k][i] + x, image[k][i]);
	CPU_SIMD
	for (size_t i = 0; i < TOGETHER; i++) {
		struct judged p =
		    whole_pixel(image[0], a->weight[0], &a->limits, limited, a->crest, count, i),
		    q = p;
		bool good = p.good;
		PX_F modulation = p.modulation, texture = p.texture;

		if (sets == 2) {
			q = whole_pixel(image[1], a->weight[1], &a->limits, limited, a->crest,
			    count, i);
			good = good & q.good;
			modulation = px_smaller(modulation, q.modulation);
			texture = (texture + q.texture) * 0.5f;
			a->cosine[1][x + i] = px_select(good, q.cosine, PX_NAN);
			a->sine[1][x + i] = px_select(good, q.sine, PX_NAN);
		}
		a->cosine[0][x + i] = px_select(good, p.cosine, PX_NAN);
		a->sine[0][x + i] = px_select(good, p.sine, PX_NAN);
		a->modulation[x + i] = modulation;
		a->texture[x + i] = texture;
	}
}

/* Prefetches what the next row writes at the same columns. */
static inline __attribute__((always_inline)) void
write_soon(const struct alike *restrict a, size_t sets, size_t x)
{
	CPU_WRITE_SOON(a->modulation + a->row + x);
	CPU_WRITE_SOON(a->texture + a->row + x);
	for (size_t k = 0; a->far && k < sets; k++) {
		CPU_WRITE_SOON(a->cosine[k] + a->row + x);
		CPU_WRITE_SOON(a->sine[k] + a->row + x);
	}
}

/* Pixels x0 <= x < x1, as far as they are whole TOGETHER. */
static inline __attribute__((always_inline)) void
take_alike(const struct alike *all, size_t sets, size_t count, bool limited, size_t size,
    size_t x0, size_t x1)
{
	struct alike a = *all;

	for (size_t x = x0; x + TOGETHER <= x1; x += TOGETHER) {
		write_soon(&a, sets, x);
		take_together(&a, sets, count, limited, size, x);
	}
}

#define TAKE_LIMITED(sets, images) (size == 1 ? take_alike(a, sets, images, true, 1, x0, x1) : \
    take_alike(a, sets, images, true, 2, x0, x1))

/* The same where something may be beyond the limits. A function of its own: in the loop without
 * limits all numbers must stay in registers. */
static __attribute__((noinline)) void
take_limited(
    const struct alike *a, size_t sets, size_t images, size_t size, size_t x0, size_t x1)
{
	if (sets == 1)
		images == 3 ? TAKE_LIMITED(1, 3) : TAKE_LIMITED(1, 4);
	else
		images == 3 ? TAKE_LIMITED(2, 3) : TAKE_LIMITED(2, 4);
}

/* Samples of a type in 64 bytes: rows have whole ones of these. */
#define LINE(type) (64 / sizeof(type))

/*
 * n pixels, as far as they are whole TOGETHER. Each LINE is looked at first: does one of its
 * samples reach the limit? Those in the rest of a row's last LINE count too, which does no harm.
 * True if they do in the last LINE.
 */
#define TAKE_TYPED(type) \
static inline __attribute__((always_inline)) type \
most_##type(const struct alike *restrict a, size_t sets, size_t count, size_t x) \
{ \
	type most = 0; \
 \
	_Pragma("omp simd reduction(max:most)") \
	for (size_t i = 0; i < LINE(type); i++) \
		_Pragma("GCC unroll 2") \
		for (size_t k = 0; k < sets; k++) \
			_Pragma("GCC unroll 4") \
			for (size_t j = 0; j < count; j++) { \
				type v = ((const type *)a->image[k][j])[x + i]; \
 \
				most = v > most ? v : most; \
			} \
	return most; \
} \
 \
static inline __attribute__((always_inline)) bool \
take_##type(const struct alike *all, size_t sets, size_t count, size_t n) \
{ \
	struct alike a = *all; \
	bool beyond = false; \
 \
	for (size_t x = 0; x < n; x += LINE(type)) { \
		size_t end = n - x < LINE(type) ? n : x + LINE(type); \
 \
		beyond = (float)most_##type(&a, sets, count, x) >= a.limits.max_value; \
		if (beyond) { \
			take_limited(all, sets, count, sizeof(type), x, end); \
			continue; \
		} \
		for (size_t i = x; i + TOGETHER <= end; i += TOGETHER) { \
			write_soon(&a, sets, i); \
			take_together(&a, sets, count, false, sizeof(type), i); \
		} \
	} \
	return beyond; \
}
TAKE_TYPED(uint8_t)
TAKE_TYPED(uint16_t)

/* The phases of good pixels; the others' cosines are NaN. A function of its own, for its
 * registers. */
static __attribute__((noinline)) void
write_good(const float *restrict sine, const float *restrict cosine, float *restrict phase,
    size_t n)
{
	_Alignas(64) float tangent[TILE_PIXELS];

	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		tangent[x] = px_atan2_tangent(sine[x], cosine[x]);
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		phase[x] = px_select(px_isnan(cosine[x]), PX_NAN,
		    px_atan2_angle(tangent[x], sine[x], cosine[x]));
}

/* Is this a usual measurement? */
static bool
alike_sets_are(const struct phasewrap *wrap, enum sample type)
{
	const struct capture_set *captures = &wrap->captures;

	if (type == SAMPLE_FLOAT || captures->codes || captures->fringes < 1 ||
	    captures->fringes > TILE_SETS)
		return false;
	for (size_t k = 0; k < captures->fringes; k++) {
		size_t n = captures->fringe[k].n;

		if (n < 3 || n > 4 || n != captures->fringe[0].n)
			return false;
		for (size_t i = 0; i < n; i++)
			if (wrap->fit[k].weights[i].mean != 1)
				return false;
	}
	return true;
}

/* Prefetches the samples behind these n: a tile is too short for the processor's own prefetcher. */
static void
prefetch(const char *samples, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += 64)
		__builtin_prefetch(samples + bytes + i);
}

#define TAKE(sets, images) \
    (size == 1 ? take_uint8_t(a, sets, images, n) : take_uint16_t(a, sets, images, n))

static bool
take(const struct alike *a, size_t sets, size_t images, bool limited, size_t size, size_t n)
{
	if (limited) {
		take_limited(a, sets, images, size, 0, n);
		return true;
	}
	if (sets == 1)
		return images == 3 ? TAKE(1, 3) : TAKE(1, 4);
	return images == 3 ? TAKE(2, 3) : TAKE(2, 4);
}

/* The last n < TOGETHER pixels, from x on: TOGETHER are computed, and n are kept. */
static void
take_rest(const struct alike *all, size_t sets, size_t images, bool limited, size_t size, size_t x,
    size_t n)
{
	struct alike some = *all;
	float made[2 + 2 * TILE_SETS][TOGETHER] __attribute__((aligned(64)));
	char sample[TILE_SETS][TILE_IMAGES][64] = { 0 };

	some.row = 0;
	some.modulation = made[0];
	some.texture = made[1];
	for (size_t k = 0; k < sets; k++) {
		for (size_t i = 0; i < images; i++)
			some.image[k][i] = memcpy(sample[k][i],
			    (const char *)all->image[k][i] + x * size, n * size);
		some.cosine[k] = made[2 + 2 * k];
		some.sine[k] = made[3 + 2 * k];
	}
	take(&some, sets, images, limited, size, TOGETHER);
	memcpy(all->modulation + x, some.modulation, n * sizeof(float));
	memcpy(all->texture + x, some.texture, n * sizeof(float));
	for (size_t k = 0; k < sets; k++) {
		memcpy(all->cosine[k] + x, some.cosine[k], n * sizeof(float));
		memcpy(all->sine[k] + x, some.sine[k], n * sizeof(float));
	}
}

/* All output channels of n pixels from column x of row y on. */
static void
alike_sets_wrap(const struct phasewrap *wrap, const struct frame *in, struct frame *out, size_t y,
    size_t x, size_t n, struct tile *tile)
{
	const struct capture_set *captures = &wrap->captures;
	const struct measurement_limits *limits = &wrap->limits;
	size_t sets = captures->fringes, images = captures->fringe[0].n;
	size_t size = sample_size(in->head.type), rest = n % TOGETHER;
	struct alike alike = { .limits = *limits,
		.modulation = frame_floats(out, wrap->channels.modulation, y) + x,
		.texture = frame_floats(out, wrap->channels.texture, y) + x,
		.row = out->plane[wrap->channels.texture].stride / sizeof(float),
		.far = wrap->vector && out->plane[0].rows == 0, .crest = wrap->crest };
	bool limited = limits->least_amplitude > 0 || limits->least_modulation > 0 ||
	    limits->least_mean > 0;

	for (size_t k = 0; k < sets; k++) {
		for (size_t i = 0; i < images; i++) {
			const char *samples =
			    (char *)frame_row(in, captures->fringe[k].plane[i], y) + x * size;

			prefetch(samples, n * size);
			alike.image[k][i] = samples;
			alike.weight[k][i] = wrap->fit[k].weights[i];
		}
		alike.cosine[k] =
		    wrap->vector ? frame_floats(out, 2 * k, y) + x : tile->pair[k][0];
		alike.sine[k] =
		    wrap->vector ? frame_floats(out, 2 * k + 1, y) + x : tile->pair[k][1];
	}
	limited = take(&alike, sets, images, limited, size, n);
	if (rest)
		take_rest(&alike, sets, images, limited, size, n - rest, rest);
	for (size_t k = 0; k < sets && !wrap->vector; k++)
		write_good(alike.sine[k], alike.cosine[k], frame_floats(out, k, y) + x, n);
}

/* ---- the residual of the fit, and standard deviations: they need the sums again ---- */

static void
add_square(const struct tile *restrict tile, struct phase_shift_model model, float per_image,
    float *restrict squares, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		PX_F d = tile->plane[x] - tile->first[x], rise = tile->mean[x] * per_image;
		PX_F left = phasewrap_left(d, rise, tile->c[x], tile->s[x], model.cosine,
		    model.sine);

		squares[x] = phasewrap_add(squares[x], left, left);
	}
}

static void
keep_largest(const struct tile *restrict tile, const float *restrict squares, float per_freedom,
    float *restrict misfit, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		misfit[x] = px_max(misfit[x], phasewrap_misfit(squares[x],
		    phasewrap_amplitude(tile->s[x], tile->c[x]), per_freedom));
}

/* The largest misfit of all fringe sets that have one, what the fit leaves of their images over the
 * amplitude, into channel fit_residual where it is written; pixels beyond the limit become bad. The
 * images are read twice, for the sums of the fit and for what it leaves. Overwrites the tile's
 * sums. */
static void
fit_residual_wrap(const struct phasewrap *wrap, const struct frame *in, struct frame *out, size_t y,
    size_t x, size_t n, struct tile *tile)
{
	float *restrict misfit = tile->image[0][0], *squares = tile->image[0][1];

	memset(misfit, 0, n * sizeof(*misfit));
	for (size_t k = 0; k < wrap->captures.fringes; k++) {
		const struct capture_fringe *fringe = &wrap->captures.fringe[k];

		if (fringe->n <= 3)
			continue;
		sum_fringe(in, fringe, &wrap->fit[k], y, x, n, sums_only, tile);
		memset(squares, 0, n * sizeof(*squares));
		for (size_t i = 0; i < fringe->n; i++) {
			tile_load(tile, in, fringe->plane[i], y, x, n, tile->plane);
			add_square(tile, wrap->fit[k].model[i], 1.0f / (float)fringe->n, squares,
			    n);
		}
		keep_largest(tile, squares, 1.0f / (float)(fringe->n - 3), misfit, n);
	}
	CPU_SIMD
	for (size_t p = 0; p < n; p++)
		tile->bad[p] |= !(misfit[p] <= wrap->most_misfit);
	if (wrap->writes_fit) {
		float *restrict to = frame_floats(out, wrap->channels.fit_residual, y) + x;

		CPU_SIMD
		for (size_t p = 0; p < n; p++)
			to[p] = px_select((tile->missing[p] != 0) |
			    (misfit[p] == PHASEWRAP_MOST_MISFIT), PX_NAN, misfit[p]);
	}
}

static void
write_sigma(const struct tile *restrict tile, struct phase_noise_terms terms,
    struct phase_noise_model noise, float images, float *restrict sigma, size_t n)
{
	float share = 1.0f / images;

	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		PX_F mean = phasewrap_mean(tile->first[x], tile->mean[x], images) * share;

		sigma[x] = phase_noise_sigma(terms, mean, tile->c[x], tile->s[x], noise.variance,
		    noise.gain, noise.least);
	}
}

/* The same of a phase that is then corrected for harmonics: the light has them too, and the
 * correction stretches the phase. */
static void
write_corrected(const struct tile *restrict tile, struct phase_noise_terms terms,
    struct phase_noise_model noise, float images, const float *restrict correction,
    const float *restrict levels, float *restrict sigma, size_t n)
{
	float share = 1.0f / images;

	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		PX_F mean = phasewrap_mean(tile->first[x], tile->mean[x], images) * share;
		PX_F place = phasewrap_place(phasewrap_phase(tile->s[x], tile->c[x]));
		int32_t at = px_int(px_floor(place));
		PX_F added = levels[at / (int32_t)(PHASEWRAP_CELLS / PHASEWRAP_LEVELS)] *
		    phasewrap_amplitude(tile->s[x], tile->c[x]);
		PX_F own = phase_noise_sigma(terms, mean + added, tile->c[x], tile->s[x],
		    noise.variance, noise.gain, noise.least);
		PX_F stretched = own * phasewrap_stretch(correction[at], correction[at + 1]);

		sigma[x] = px_select(px_isnan(own), PX_NAN, px_min(stretched, PHASE_NOISE_MOST));
	}
}

/* A correction that changes over the picture stretches the phase here by another factor than in the
 * middle; (x, y) from there. */
static void
stretch_by_place(const struct tile *restrict tile, const float *restrict correction,
    const float *restrict slopes, float y, float x_first, float *restrict sigma, size_t n)
{
	const float *along_y = slopes + PHASEWRAP_CELLS + 1;

	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		PX_F place = phasewrap_place(phasewrap_phase(tile->s[x], tile->c[x]));
		int32_t at = px_int(px_floor(place));
		PX_F along = (float)x + x_first;
		PX_F rise_x = along * (slopes[at + 1] - slopes[at]);
		PX_F rise_y = y * (along_y[at + 1] - along_y[at]);
		PX_F middle = phasewrap_stretch(correction[at], correction[at + 1]);
		PX_F here = phasewrap_stretch(correction[at], correction[at + 1] + rise_x + rise_y);
		PX_F stretched = sigma[x] * here / middle;

		sigma[x] = px_select(px_isnan(sigma[x]), PX_NAN,
		    px_min(stretched, PHASE_NOISE_MOST));
	}
}

/* The standard deviation of the mean of the phases of the two halves, whose errors are
 * independent. */
static void
wrap_halves(const struct phasewrap *wrap, size_t k, const struct frame *in, size_t y, size_t x,
    size_t n, struct tile *tile, float *restrict sigma)
{
	float first[TILE_SPAN];

	for (size_t h = 0; h < 2; h++) {
		const struct double_three *own = &wrap->halves[k];

		sum_fringe(in, &own->half[h], &own->fit[h], y, x, n, sums_only, tile);
		write_sigma(tile, wrap->terms[2 * k + h], wrap->noise, 3.0f, h ? sigma : first, n);
	}
	CPU_SIMD
	for (size_t p = 0; p < n; p++)
		sigma[p] = phase_noise_of_mean(first[p], sigma[p]);
}

/* The standard deviations of the phases of n pixels from column x of row y on, into the sigma
 * channels. Overwrites the tile's sums. */
static void
phase_sigma_wrap(const struct phasewrap *wrap, const struct frame *in, struct frame *out, size_t y,
    size_t x, size_t n, struct tile *tile)
{
	const struct capture_set *captures = &wrap->captures;

	for (size_t k = 0; k < captures->fringes; k++) {
		float *sigma = frame_floats(out, wrap->channels.sigma + k, y) + x;

		if (wrap->halves) {
			wrap_halves(wrap, k, in, y, x, n, tile, sigma);
			continue;
		}
		sum_fringe(in, &captures->fringe[k], &wrap->fit[k], y, x, n, sums_only, tile);
		if (wrap->correction)
			write_corrected(tile, wrap->terms[k], wrap->noise,
			    (float)captures->fringe[k].n,
			    wrap->correction + k * (PHASEWRAP_CELLS + 1), wrap->correction +
			    captures->fringes * (PHASEWRAP_CELLS + 1) + k * PHASEWRAP_LEVELS,
			    sigma, n);
		else
			write_sigma(tile, wrap->terms[k], wrap->noise,
			    (float)captures->fringe[k].n, sigma, n);
		if (wrap->correction_slopes)
			stretch_by_place(tile, wrap->correction + k * (PHASEWRAP_CELLS + 1),
			    wrap->correction_slopes + k * 2 * (PHASEWRAP_CELLS + 1),
			    (float)y - (float)(in->head.h - 1) / 2,
			    (float)x - (float)(in->head.w - 1) / 2, sigma, n);
	}
}

/*
 * ---- double three-step ----
 *
 * Huang, Hu and Chiang 2002, "Double three-step phase-shifting algorithm": two sets of three images
 * 60 degrees apart each give a phase. The second harmonic's error is opposite in the two, so that
 * it cancels to first order in their mean.
 */

/* The mean of two phases, the short way round: where the sum of their unit vectors points. */
static void
join_halves(const float (*restrict c)[TILE_SPAN], const float (*restrict s)[TILE_SPAN],
    struct tile *restrict tile, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		PX_F cosine = c[0][x] + c[1][x], sine = s[0][x] + s[1][x];
		PX_F length = phasewrap_amplitude(sine, cosine);

		tile->bad[x] |= !(length > DOUBLE_OPPOSITE);
		tile->c[x] = cosine / length;
		tile->s[x] = sine / length;
	}
}

/* As fringe_sums_wrap(), but texture counts twice. */
static void
double_three_wrap(const struct phasewrap *wrap, const struct frame *in, struct frame *out,
    size_t y, size_t x, size_t n, struct tile *tile)
{
	float c[2][TILE_SPAN], s[2][TILE_SPAN];

	for (size_t k = 0; k < wrap->captures.fringes; k++) {
		const struct double_three *own = &wrap->halves[k];

		for (size_t h = 0; h < 2; h++) {
			sum_fringe(in, &own->half[h], &own->fit[h], y, x, n,
			    (struct verdict){ wrap->limits, 3, wrap->crest, c[h], s[h] }, tile);
			for (size_t i = 0; i < wrap->captures.codes; i++)
				for (size_t p = 0; wrap->reference[i] == k && p < n; p++)
					tile->threshold[i][p] =
					    (h ? tile->threshold[i][p] : 0) + tile->mean[p] / 6;
		}
		join_halves(c, s, tile, n);
		tile_write_set(tile, wrap->vector, out, k, y, x, n);
	}
}

/* ---- Gray code: thresholds between dark and bright, and the index ---- */

static void
add_bit(const float *restrict plane, const float *restrict threshold, uint *restrict value,
    size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		value[x] = phasewrap_binary(value[x], phasewrap_bit(plane[x], threshold[x]));
}

static void
write_index(const uint *restrict value, float *restrict index, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		index[x] = px_float(value[x]);
}

/* Adds the samples of a plane, times `share`. */
static void
add_plane(const float *restrict v, float share, float *restrict sum, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		sum[x] += share * v[x];
}

/* Thresholds of n pixels from column x of row y on, from white and black or from one image between
 * them; without fringes, white and black also decide whether a pixel is bad. */
static void
gray_code_read_flats(const struct phasewrap *wrap, const struct frame *in, size_t y, size_t x,
    size_t n, struct tile *tile)
{
	for (size_t e = 0; e < wrap->exposures.n; e++) {
		const struct capture_set *set =
		    exposures_get(&wrap->exposures, &wrap->captures, e);

		tile_load(tile, in, set->flat[0], y, x, n, tile->plane);
		tile_load(tile, in, set->flat[set->flats - 1], y, x, n, tile->inverse);
		if (e == 0)
			memset(tile->threshold[0], 0, n * sizeof(*tile->threshold[0]));
		add_plane(tile->plane, 0.5f, tile->threshold[0], n);
		add_plane(tile->inverse, 0.5f, tile->threshold[0], n);
	}
	memcpy(tile->threshold[1], tile->threshold[0], n * sizeof(*tile->threshold[1]));
	if (wrap->captures.fringes == 0 && wrap->captures.flats == 2)
		fringe_sums_judge_flats(wrap->limits, tile, tile->plane, tile->inverse, n);
}

/* Adds a plane and its inverse to the light of a code: their sum, the largest difference, and the
 * sums of phasewrap_code_variance(). */
static void
add_light(const float *restrict plane, const float *restrict inverse, bool begin,
    struct tile *restrict tile, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		PX_F both = plane[x] + inverse[x], d = plane[x] - inverse[x];
		PX_F base = px_select(begin, both, tile->base[x]), more = both - base;

		tile->base[x] = base;
		tile->first[x] = tile->first[x] + both;
		tile->most[x] = px_max(tile->most[x], phasewrap_contrast(d));
		tile->total[x] = tile->total[x] + more;
		tile->square[x] = tile->square[x] + more * more;
	}
}

/* The variance of the differences of so many planes and their inverses. */
static void
find_code_variance(float planes, float least, struct tile *restrict tile, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		tile->variance[x] = phasewrap_code_variance(tile->total[x], tile->square[x],
		    planes, least);
}

static void
reject_faint(struct tile *restrict tile, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		tile->bad[x] |= phasewrap_is_faint(tile->most[x], tile->variance[x]);
}

/* Judges pixels by the light of a code of so many planes, as by white and black. */
static void
judge_light(struct measurement_limits limits, struct tile *restrict tile, size_t planes, size_t n)
{
	struct verdict verdict = { limits, 1, 0, tile->c, tile->s };
	float per_image = 0.5f / (float)planes;

	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		PX_F mean = tile->first[x] * per_image;

		judge_pixel(verdict, tile, x, mean, 0, 0, tile->most[x] * 0.5f, 0);
	}
}

/*
 * The value of code i, and of a code alone its light. The samples of several exposures are added: a
 * plane that is saturated in one, together with its inverse, adds the same to both.
 */
static void
read_code(const struct phasewrap *wrap, size_t i, const struct frame *in, size_t y, size_t x,
    size_t n, struct tile *tile)
{
	const struct exposures *exposures = &wrap->exposures;
	const struct capture_code *own = &wrap->captures.code[i];
	float *plane = tile->image[0][0], *inverse = tile->image[0][1];

	memset(tile->value, 0, sizeof(tile->value));
	memset(tile->first, 0, sizeof(tile->first));
	memset(tile->most, 0, sizeof(tile->most));
	memset(tile->total, 0, sizeof(tile->total));
	memset(tile->square, 0, sizeof(tile->square));
	for (size_t bit = 0; bit < own->n; bit++) {
		for (size_t e = 0; e < exposures->n; e++) {
			const struct capture_code *code =
			    &exposures_get(exposures, &wrap->captures, e)->code[i];

			tile_load(tile, in, code->plane[bit], y, x, n, e ? tile->plane : plane);
			if (e)
				add_plane(tile->plane, 1, plane, n);
			if (!code->inverse)
				continue;
			tile_load(tile, in, code->inverse[bit], y, x, n,
			    e ? tile->inverse : inverse);
			if (e)
				add_plane(tile->inverse, 1, inverse, n);
		}
		add_bit(plane, own->inverse ? inverse : tile->threshold[i], tile->value, n);
		if (wrap->code_alone)
			add_light(plane, inverse, bit == 0, tile, n);
	}
	if (wrap->code_alone)
		find_code_variance((float)own->n, wrap->least_code_variance, tile, n);
}

/* The indices of all codes. Thresholds of codes without inverse planes are those of the fringe
 * images, unless there are flats. */
static void
gray_code_wrap(const struct phasewrap *wrap, const struct frame *in, struct frame *out, size_t y,
    size_t x, size_t n, struct tile *tile)
{
	if (wrap->captures.flats && wrap->captures.codes)
		gray_code_read_flats(wrap, in, y, x, n, tile);
	for (size_t i = 0; i < wrap->captures.codes; i++) {
		read_code(wrap, i, in, y, x, n, tile);
		if (wrap->code_alone)
			reject_faint(tile, n);
		if (wrap->judges_codes)
			judge_light(wrap->limits, tile, wrap->captures.code[i].n, n);
		write_index(tile->value, frame_floats(out, wrap->channels.index + i, y) + x, n);
	}
}

/*
 * ---- --edges: where planes cross their inverses between two pixels ----
 *
 * Of neighbours whose cells differ by one or two, one or two planes differ, and each crosses its
 * inverse once between them. `edge` is the mean place of these crossings, in px from the first
 * pixel; there the code is the mean of the cells' borders between them.
 */

#define CODE_PLANES_MOST 24	/* as capture_set.c takes them */
#define CROSSINGS_MOST (2 * TILE_PIXELS)

/* The rows of a code's planes and inverses at four pixels along its axis, from one before on. */
struct code_rows {
	size_t planes, w;
	bool along_y;
	const void *plane[CODE_PLANES_MOST][4], *inverse[CODE_PLANES_MOST][4];
	enum sample type;
};

/* Of the pixels of a tile and the next ones along the axis the values of a code, and the variance
 * of its planes less their inverses; where planes cross in between. */
struct crossings {
	uint value[2][TILE_SPAN];
	float variance[2][TILE_SPAN];
	size_t n, pixel[CROSSINGS_MOST];
	/* of the crossing plane, at four pixels; the mean of both variances; 1 over the pixel's
	 * crossings */
	float plane[4][CROSSINGS_MOST], inverse[4][CROSSINGS_MOST];
	float noise[CROSSINGS_MOST], per[CROSSINGS_MOST];
	float share[CROSSINGS_MOST], error[CROSSINGS_MOST];	/* each's part of the mean */
};

static size_t
clamped(size_t at, int offset, size_t n)
{
	long k = (long)at + offset;

	return k < 0 ? 0 : (size_t)k >= n ? n - 1 : (size_t)k;
}

static struct code_rows
code_rows_at(const struct capture_code *code, const struct frame *in, size_t y)
{
	struct code_rows rows = { .planes = code->n, .type = in->head.type, .w = in->head.w,
		.along_y = code->axis == 'y' };

	for (size_t bit = 0; bit < code->n; bit++)
		for (int j = 0; j < 4; j++) {
			size_t row = rows.along_y ? clamped(y, j - 1, in->head.h) : y;

			rows.plane[bit][j] = frame_row(in, code->plane[bit], row);
			rows.inverse[bit][j] = frame_row(in, code->inverse[bit], row);
		}
	return rows;
}

/* Lists the crossings after n pixels from column x on. */
static void
list_crossings(const struct code_rows *rows, size_t x, size_t n, struct crossings *list)
{
	list->n = 0;
	for (size_t p = 0; p < n; p++) {
		uint v = list->value[0][p], w = list->value[1][p], apart = v < w ? w - v : v - w;
		uint differ = v ^ v >> 1 ^ w ^ w >> 1;
		PX_F noise = (list->variance[0][p] + list->variance[1][p]) * 0.5f;

		if (apart - 1 > 1 || (uint)__builtin_popcount(differ) != apart)
			continue;
		for (size_t bit = 0; bit < rows->planes; bit++) {
			if (!(differ >> (rows->planes - 1 - bit) & 1))
				continue;
			for (int j = 0; j < 4; j++) {
				size_t at = rows->along_y ? x + p : clamped(x + p, j - 1, rows->w);

				list->plane[j][list->n] = frame_sample_in(rows->type,
				    rows->plane[bit][j], at);
				list->inverse[j][list->n] = frame_sample_in(rows->type,
				    rows->inverse[bit][j], at);
			}
			list->noise[list->n] = noise;
			list->per[list->n] = 1.0f / (float)apart;
			list->pixel[list->n++] = p;
		}
	}
}

static void
place_crossings(struct crossings *restrict list)
{
	CPU_SIMD
	for (size_t i = 0; i < list->n; i++) {
		float amplitude = 0, d[4], both[4];

		for (size_t j = 0; j < 4; j++) {
			PX_F difference = list->plane[j][i] - list->inverse[j][i];

			both[j] = list->plane[j][i] + list->inverse[j][i];
			d[j] = phasewrap_light_share(difference, both[j]);
			amplitude = px_max(amplitude, phasewrap_contrast(d[j]));
		}
		PX_F where = phasewrap_crossing(d[1], d[2], amplitude), per = list->per[i];
		PX_F error = phasewrap_crossing_error(d[1], d[2], amplitude, where, list->noise[i],
		    both[1], both[2]);

		list->share[i] = where * per;
		list->error[i] = error * (per * per);
	}
}

/* edge and edge_sigma hold the sums of their pixels' crossings. */
static void
finish_edges(float *restrict edge, float *restrict sigma, size_t n)
{
	CPU_SIMD
	for (size_t p = 0; p < n; p++) {
		float root = px_sqrt(sigma[p]);

		edge[p] = px_select(px_isnan(root), PX_NAN, edge[p]);
		sigma[p] = px_select(px_isnan(edge[p]), PX_NAN, root);
	}
}

/* The edges of code i after n pixels from column x of row y on. */
static void
edges_tile(const struct phasewrap *wrap, size_t i, const struct code_rows *rows,
    const struct frame *in, struct frame *out, size_t y, size_t x, size_t n)
{
	size_t c = wrap->channels.edge + i;
	float *edge = frame_floats(out, c, y) + x;
	float *sigma = frame_floats(out, c + wrap->captures.codes, y) + x;
	size_t pairs = rows->along_y ? y + 1 < in->head.h ? n : 0 :
	    x + n < in->head.w ? n : n - 1;
	struct crossings list;
	struct tile tile;

	for (size_t side = 0; side < 2 && pairs; side++) {
		if (side == 0 || rows->along_y)
			read_code(wrap, i, in, y + side, x, rows->along_y ? n : pairs + 1, &tile);
		memcpy(list.value[side], tile.value + (rows->along_y ? 0 : side),
		    pairs * sizeof(*tile.value));
		memcpy(list.variance[side], tile.variance + (rows->along_y ? 0 : side),
		    pairs * sizeof(*tile.variance));
	}
	list_crossings(rows, x, pairs, &list);
	place_crossings(&list);
	for (size_t p = 0; p < n; p++)
		edge[p] = sigma[p] = PX_NAN;
	for (size_t k = 0; k < list.n; k++) {
		size_t p = list.pixel[k];
		bool again = k > 0 && list.pixel[k - 1] == p;

		edge[p] = (again ? edge[p] : 0) + list.share[k];
		sigma[p] = (again ? sigma[p] : 0) + list.error[k];
	}
	finish_edges(edge, sigma, n);
}

/* The edges of row y of all codes. */
static void
edges_row(const struct phasewrap *wrap, const struct frame *in, struct frame *out, size_t y)
{
	for (size_t i = 0; i < wrap->captures.codes; i++) {
		struct code_rows rows = code_rows_at(&wrap->captures.code[i], in, y);

		for (size_t x = 0, w = in->head.w; x < w; x += TILE_PIXELS)
			edges_tile(wrap, i, &rows, in, out, y, x,
			    w - x < TILE_PIXELS ? w - x : TILE_PIXELS);
	}
}

/*
 * ---- several exposures, and saturated pixels ----
 *
 * The phase of pixels whose images do not all count: of several exposures those that are not
 * saturated, each with the weight of its light; or, with --saturated solve, the steps of an
 * exposure that are not saturated.
 *
 * Image n of exposure e is t_e (A + B cos(phi + d_n)), where t_e is the exposure's gain (1 for the
 * longest); all images have the same noise. Each exposure has a mean of its own, so that the
 * camera's black level does not matter; the rest is linear in c = B cos phi and s = B sin phi:
 *
 * 	F = sum_e t_e^2 sum_n (x_n - x)(x_n - x)'
 * 	F (c s)' = sum_e t_e sum_n (x_n - x) I_en
 *
 * with x_n = (cosine_n, sine_n) of the model of fringe/phase_steps.h and x its mean; the sums are
 * over the images that count. An exposure counts where none of its images is saturated; with
 * --saturated solve also where three or more are not.
 *
 * With noise of variance V_en in image n of exposure e, and u = (-sin phi, cos phi), the variance
 * of the phase is sum_e t_e^2 sum_n (u' F^-1 (x_n - x))^2 V_en / B^2, B in grey levels of the
 * longest exposure. Where V is the same for all images it is V u' F^-1 u / B^2; with one exposure
 * and no saturation that is the usual 2/N V / B^2.
 */

/* The sums of one exposure over the images that count. */
struct sums {
	float first[TILE_SPAN];		/* its first image, taken off all samples */
	float n[TILE_SPAN], c[TILE_SPAN], s[TILE_SPAN];
	float cc[TILE_SPAN], cs[TILE_SPAN], ss[TILE_SPAN];
	float d[TILE_SPAN], dc[TILE_SPAN], ds[TILE_SPAN];
};

/* The normal equations of a fringe set, of all exposures. */
struct normal {
	float cc[TILE_SPAN], cs[TILE_SPAN], ss[TILE_SPAN], rc[TILE_SPAN], rs[TILE_SPAN];
	/* for A = (value - c cosine - s sine) / light */
	float light[TILE_SPAN], value[TILE_SPAN], cosine[TILE_SPAN], sine[TILE_SPAN];
	float most[TILE_SPAN];		/* the largest gain that counts; 0: none does */
	float number[TILE_SPAN];	/* of that exposure, from 1 on */
};

/* Means of an exposure over the images that count, for the residual; n is 0 where it does not count
 * itself. */
struct means {
	float n[TILE_SPAN], first[TILE_SPAN], d[TILE_SPAN], c[TILE_SPAN], s[TILE_SPAN];
};

struct work {
	struct tile tile;
	struct sums sums;
	struct normal normal;
	struct means means[EXPOSURES_MOST];
	float misfit[TILE_SPAN], squares[TILE_SPAN], freedom[TILE_SPAN], number[TILE_SPAN];
	float clipped_c[TILE_SPAN], clipped_s[TILE_SPAN], clipped_a[TILE_SPAN];
};

static void
start_exposure(struct sums *restrict sums, const float *restrict v, size_t n)
{
	memset(sums, 0, sizeof(*sums));
	for (size_t x = 0; x < n; x++)
		sums->first[x] = v[x];
}

static void
add_unsaturated(struct sums *restrict sums, const float *restrict v, struct phase_shift_model model,
    float max_value, size_t n)
{
	float cosine = model.cosine, sine = model.sine;

	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		bool counts = v[x] < max_value;
		PX_F one = px_select(counts, 1.0f, 0.0f);
		PX_F d = px_select(counts, v[x] - sums->first[x], 0.0f);
		PX_F c = one * cosine, s = one * sine;

		sums->n[x] = sums->n[x] + one;
		sums->c[x] = sums->c[x] + c;
		sums->s[x] = sums->s[x] + s;
		sums->cc[x] = sums->cc[x] + c * cosine;
		sums->cs[x] = sums->cs[x] + c * sine;
		sums->ss[x] = sums->ss[x] + s * sine;
		sums->d[x] = sums->d[x] + d;
		sums->dc[x] = sums->dc[x] + d * cosine;
		sums->ds[x] = sums->ds[x] + d * sine;
	}
}

/* The same with nothing left out, for the modulation and texture of pixels without a phase. */
static void
add_clipped(struct work *restrict work, const float *restrict v, struct phase_shift_weights weight,
    size_t n)
{
	const float *restrict first = work->sums.first;

	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		PX_F d = v[x] - first[x];

		work->clipped_a[x] = phasewrap_add(work->clipped_a[x], d, weight.mean);
		work->clipped_c[x] = phasewrap_add(work->clipped_c[x], d, weight.c);
		work->clipped_s[x] = phasewrap_add(work->clipped_s[x], d, weight.s);
	}
}

/* Adds a complete exposure to the normal equations. least: images that it must have. */
static void
add_exposure(struct normal *restrict normal, const struct sums *restrict sums,
    struct means *restrict means, float gain, float number, float least, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		bool counts = sums->n[x] >= least;
		PX_F light = px_select(counts, gain, 0.0f), square = light * gain;
		PX_F per_image = px_divide(1.0f, px_max(sums->n[x], 1.0f));
		PX_F c = sums->c[x] * per_image, s = sums->s[x] * per_image;

		normal->cc[x] += square * exposure_about_means(sums->cc[x], sums->c[x], c);
		normal->cs[x] += square * exposure_about_means(sums->cs[x], sums->c[x], s);
		normal->ss[x] += square * exposure_about_means(sums->ss[x], sums->s[x], s);
		normal->rc[x] += light * exposure_about_means(sums->dc[x], sums->d[x], c);
		normal->rs[x] += light * exposure_about_means(sums->ds[x], sums->d[x], s);
		normal->light[x] += square * sums->n[x];
		normal->value[x] += light * (sums->d[x] + sums->n[x] * sums->first[x]);
		normal->cosine[x] += square * sums->c[x];
		normal->sine[x] += square * sums->s[x];
		normal->number[x] = px_select(light > normal->most[x], number, normal->number[x]);
		normal->most[x] = px_max(normal->most[x], light);
		means->n[x] = px_select(counts, sums->n[x], 0.0f);
		means->first[x] = sums->first[x];
		means->d[x] = sums->d[x] * per_image;
		means->c[x] = c;
		means->s[x] = s;
	}
}

static void
sum_exposure(const struct phasewrap *wrap, size_t k, size_t e, const struct frame *in, size_t y,
    size_t x, size_t n, struct work *work)
{
	const struct exposures *exposures = &wrap->exposures;
	const struct capture_fringe *fringe = exposure_fringe(wrap, e, k);
	const struct phase_shift_fit *fit = &wrap->fit[k];
	struct tile *tile = &work->tile;
	float least = exposures->solves ? 3 : (float)fringe->n;

	for (size_t i = 0; i < fringe->n; i++) {
		tile_load(tile, in, fringe->plane[i], y, x, n, tile->plane);
		if (i == 0)
			start_exposure(&work->sums, tile->plane, n);
		add_unsaturated(&work->sums, tile->plane, fit->model[i], wrap->limits.max_value, n);
		if (e == exposures->shortest)
			add_clipped(work, tile->plane, fit->weights[i], n);
		for (size_t code = 0; code < wrap->captures.codes; code++)
			if (wrap->reference[code] == k)
				for (size_t p = 0; p < n; p++)
					tile->threshold[code][p] +=
					    tile->plane[p] * (1.0f / (float)fringe->n);
	}
	if (e == exposures->shortest)
		for (size_t p = 0; p < n; p++)
			tile->first[p] = work->sums.first[p];
	add_exposure(&work->normal, &work->sums, &work->means[e], exposures->gain[e],
	    (float)(e + 1), least, n);
}

/* Solves the normal equations: the unit vectors of the phases go to c and s of the tile, B to
 * `mean`; bad pixels are noted. */
static void
solve_exposures(const struct measurement_limits *restrict limits, uint crest, float images,
    float shortest, struct work *restrict work, size_t n)
{
	struct normal *restrict normal = &work->normal;
	struct tile *restrict tile = &work->tile;
	float most = EXPOSURE_VARIANCE_MOST / images, per_light = 1 / shortest;
	float per_image = 1 / images;

	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		PX_F cc = normal->cc[x], cs = normal->cs[x], ss = normal->ss[x];
		PX_F rc = normal->rc[x], rs = normal->rs[x];
		PX_F determinant = exposure_determinant(cc, cs, ss);
		PX_F inverse = px_divide(1.0f, determinant), gain = normal->most[x];
		PX_F c = exposure_unknown(rc, rs, ss, cs, inverse);
		PX_F s = exposure_unknown(rs, rc, cc, cs, inverse);
		PX_F variance = exposure_variance(cc, cs, ss, c, s) * gain * gain;
		bool solved = exposure_solved(determinant, cc, ss, variance, most);
		PX_F a = exposure_mean(normal->value[x], c, normal->cosine[x], s, normal->sine[x],
		    normal->light[x]);
		PX_F clipped = (tile->first[x] + work->clipped_a[x] * per_image) * per_light;
		PX_F cosine = px_select(solved, c, work->clipped_c[x] * per_light);
		PX_F sine = px_select(solved, s, work->clipped_s[x] * per_light);
		PX_F mean = px_select(solved, a, clipped);
		PX_F amplitude = phasewrap_amplitude(sine, cosine);
		PX_F product = amplitude * px_max(mean, PHASEWRAP_LEAST_MEAN);
		PX_F modulation = phasewrap_modulation(mean, amplitude, amplitude, product,
		    px_divide(1.0f, product)), unit = px_divide(1.0f, amplitude);
		bool good = solved & phasewrap_good(amplitude, mean, product, modulation,
		    limits->least_amplitude, limits->least_mean, limits->least_modulation);

		tile->c[x] = cosine * unit;
		tile->s[x] = sine * unit;
		tile->mean[x] = amplitude;
		tile->bad[x] |= !good;
		tile->texture[x] += phasewrap_texture(mean, amplitude, crest);
		tile->modulation[x] = px_min(tile->modulation[x], modulation);
		work->number[x] = px_min(work->number[x], px_select(solved, normal->number[x],
		    PX_NAN));
	}
}

/* Adds the square of what the fit leaves of one image. */
static void
add_exposed_square(struct work *restrict work, const struct means *restrict means,
    struct phase_shift_model model, float gain, float max_value, size_t n)
{
	const struct tile *restrict tile = &work->tile;

	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		PX_F c = tile->c[x] * tile->mean[x] * gain, s = tile->s[x] * tile->mean[x] * gain;
		PX_F left = exposure_left(tile->plane[x], means->first[x], means->d[x], c,
		    model.cosine - means->c[x], s, model.sine - means->s[x]);
		bool counts = (tile->plane[x] < max_value) & (means->n[x] > 0.0f);

		work->squares[x] += px_select(counts, left * left, 0.0f);
	}
}

static void
add_exposed_misfit(struct work *restrict work, size_t exposures, size_t n)
{
	const struct tile *restrict tile = &work->tile;

	for (size_t x = 0; x < n; x++)
		work->freedom[x] = -2;
	for (size_t e = 0; e < exposures; e++)
		for (size_t x = 0; x < n; x++)
			work->freedom[x] += px_max(work->means[e].n[x] - 1.0f, 0.0f);
	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		bool free = work->freedom[x] > 0.5f;
		PX_F misfit = phasewrap_misfit(work->squares[x], tile->mean[x],
		    px_divide(1.0f, px_max(work->freedom[x], 1.0f)));

		work->misfit[x] = px_max(work->misfit[x],
		    px_select(free, misfit, EXPOSURE_NO_MISFIT));
	}
}

static void
find_misfit(const struct phasewrap *wrap, size_t k, const struct frame *in, size_t y, size_t x,
    size_t n, struct work *work)
{
	const struct exposures *exposures = &wrap->exposures;

	memset(work->squares, 0, sizeof(work->squares));
	for (size_t e = 0; e < exposures->n; e++) {
		const struct capture_fringe *fringe = exposure_fringe(wrap, e, k);

		for (size_t i = 0; i < fringe->n; i++) {
			tile_load(&work->tile, in, fringe->plane[i], y, x, n, work->tile.plane);
			add_exposed_square(work, &work->means[e], wrap->fit[k].model[i],
			    exposures->gain[e], wrap->limits.max_value, n);
		}
	}
	add_exposed_misfit(work, exposures->n, n);
}

/* The direction in which the phase turns, into clipped_c and clipped_s, which are free by now. */
static void
find_direction(struct work *restrict work, size_t n)
{
	const struct normal *restrict normal = &work->normal;
	const struct tile *restrict tile = &work->tile;

	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		PX_F cc = normal->cc[x], cs = normal->cs[x], ss = normal->ss[x];
		PX_F determinant = exposure_determinant(cc, cs, ss);
		PX_F along = 0.0f - tile->s[x], across = tile->c[x];

		work->clipped_c[x] = exposure_direction(ss, cs, along, across, determinant);
		work->clipped_s[x] = exposure_direction(cc, cs, across, along, determinant);
	}
}

/* Adds what the noise of one image contributes to the variance of the phase. */
static void
add_noise(struct work *restrict work, const struct means *restrict means,
    struct phase_shift_model model, float light, float max_value, struct phase_noise_model noise,
    size_t n)
{
	const struct tile *restrict tile = &work->tile;

	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		PX_F c = tile->c[x] * tile->mean[x] * light, s = tile->s[x] * tile->mean[x] * light;
		PX_F added = exposure_noise(work->clipped_c[x], work->clipped_s[x], light,
		    model.cosine - means->c[x], model.sine - means->s[x],
		    means->first[x] + means->d[x], c, s, noise.variance, noise.gain, noise.least);
		bool counts = (tile->plane[x] < max_value) & (means->n[x] > 0.0f);

		work->squares[x] += px_select(counts, added, 0.0f);
	}
}

static void
write_exposed_sigma(const struct work *restrict work, float *restrict sigma, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		sigma[x] = exposure_sigma(work->squares[x], work->tile.mean[x]);
}

static void
find_sigma(const struct phasewrap *wrap, size_t k, const struct frame *in, struct frame *out,
    size_t y, size_t x, size_t n, struct work *work)
{
	const struct exposures *exposures = &wrap->exposures;

	memset(work->squares, 0, sizeof(work->squares));
	find_direction(work, n);
	for (size_t e = 0; e < exposures->n; e++) {
		const struct capture_fringe *fringe = exposure_fringe(wrap, e, k);

		for (size_t i = 0; i < fringe->n; i++) {
			tile_load(&work->tile, in, fringe->plane[i], y, x, n, work->tile.plane);
			add_noise(work, &work->means[e], wrap->fit[k].model[i], exposures->gain[e],
			    wrap->limits.max_value, wrap->noise, n);
		}
	}
	write_exposed_sigma(work, frame_floats(out, wrap->channels.sigma + k, y) + x, n);
}

/* Fringe set k of a tile. */
static void
wrap_set(const struct phasewrap *wrap, size_t k, const struct frame *in, struct frame *out,
    size_t y, size_t x, size_t n, struct work *work)
{
	const struct exposures *exposures = &wrap->exposures;
	const struct tile *tile = &work->tile;

	memset(&work->normal, 0, sizeof(work->normal));
	memset(work->clipped_a, 0, sizeof(work->clipped_a));
	memset(work->clipped_c, 0, sizeof(work->clipped_c));
	memset(work->clipped_s, 0, sizeof(work->clipped_s));
	for (size_t e = 0; e < exposures->n; e++)
		sum_exposure(wrap, k, e, in, y, x, n, work);
	solve_exposures(&wrap->limits, wrap->crest, (float)wrap->captures.fringe[k].n,
	    exposures->gain[exposures->shortest], work, n);
	if (wrap->fits)
		find_misfit(wrap, k, in, y, x, n, work);
	if (wrap->sigmas)
		find_sigma(wrap, k, in, out, y, x, n, work);
	tile_write_set(tile, wrap->vector, out, k, y, x, n);
}

/* The fit residual, where a set has more samples than unknowns; the exposure. */
static void
write_qualities(const struct phasewrap *wrap, struct frame *out, size_t y, size_t x, size_t n,
    struct work *work)
{
	const struct phasewrap_channels *at = &wrap->channels;
	struct tile *tile = &work->tile;

	tile_write_quality(tile, (float)wrap->captures.fringes,
	    frame_floats(out, at->modulation, y) + x, frame_floats(out, at->texture, y) + x, n);
	if (wrap->writes_fit) {
		float *residual = frame_floats(out, at->fit_residual, y) + x;

		for (size_t p = 0; p < n; p++)
			residual[p] = px_select(tile->missing[p] != 0 || work->misfit[p] < 0 ||
			    work->misfit[p] == PHASEWRAP_MOST_MISFIT, PX_NAN, work->misfit[p]);
	}
	if (wrap->exposures.map) {
		float *number = frame_floats(out, at->exposure, y) + x;

		for (size_t p = 0; p < n; p++)
			number[p] = px_select(tile->bad[p] != 0, PX_NAN, work->number[p]);
	}
}

static void
fit_tile(const struct phasewrap *wrap, const struct frame *in, struct frame *out, size_t y,
    size_t x, size_t n, struct work *work)
{
	const struct capture_set *captures = &wrap->captures;
	struct tile *tile = &work->tile;

	tile_start(tile, n);
	memset(tile->threshold, 0, sizeof(tile->threshold));
	for (size_t p = 0; p < n; p++) {
		work->number[p] = EXPOSURES_MOST;
		work->misfit[p] = EXPOSURE_NO_MISFIT;
	}
	for (size_t k = 0; k < captures->fringes; k++)
		wrap_set(wrap, k, in, out, y, x, n, work);
	for (size_t p = 0; p < n && wrap->fits; p++)
		tile->bad[p] |= !(work->misfit[p] <= wrap->most_misfit);
	gray_code_wrap(wrap, in, out, y, x, n, tile);
	tile_any_bad(tile, n);
	write_qualities(wrap, out, y, x, n, work);
	mask_bad(wrap, tile->bad, out, y, x, n);
}

/* Row y of all output channels. Not inlined: its sums would stand on
 * the stack of every row, too. */
__attribute__((noinline)) static void
exposure_fit_row(const struct phasewrap *wrap, const struct frame *in, struct frame *out, size_t y)
{
	struct work work;

	for (size_t x = 0, w = in->head.w; x < w; x += TILE_PIXELS)
		fit_tile(wrap, in, out, y, x, w - x < TILE_PIXELS ? w - x : TILE_PIXELS, &work);
}

/* ---- a row ---- */

/* All output channels of n pixels from column x of row y on, but for the markers. */
static void
wrap_tile(const struct phasewrap *wrap, const struct frame *in, struct frame *out, size_t y,
    size_t x, size_t n, struct tile *tile)
{
	const struct capture_set *captures = &wrap->captures;
	const struct phasewrap_channels *at = &wrap->channels;

	if (!wrap->fits && !wrap->halves && !wrap->sigmas && alike_sets_are(wrap, in->head.type)) {
		alike_sets_wrap(wrap, in, out, y, x, n, tile);
		return;
	}
	tile_start(tile, n);
	if (wrap->halves)
		double_three_wrap(wrap, in, out, y, x, n, tile);
	else
		fringe_sums_wrap(wrap, in, out, y, x, n, tile);
	if (wrap->fits)
		fit_residual_wrap(wrap, in, out, y, x, n, tile);
	if (wrap->sigmas)
		phase_sigma_wrap(wrap, in, out, y, x, n, tile);
	gray_code_wrap(wrap, in, out, y, x, n, tile);
	if (wrap->writes_fit && captures->codes)	/* a Gray plane may be missing, too */
		for (size_t p = 0; p < n; p++) {
			float *residual = frame_floats(out, at->fit_residual, y) + x;

			residual[p] = px_select(tile->missing[p] != 0, PX_NAN, residual[p]);
		}
	if (captures->fringes)
		tile_write_quality(tile, (float)(captures->fringes * (wrap->halves ? 2 : 1)),
		    frame_floats(out, at->modulation, y) + x,
		    frame_floats(out, at->texture, y) + x, n);
	if (tile_any_bad(tile, n))
		mask_bad(wrap, tile->bad, out, y, x, n);
}

/* The phase with its table's correction; NaN stays NaN. */
static inline float
correct(const float *table, float phase)
{
	PX_F place = phasewrap_place(phase), cell = px_floor(place);
	int32_t at = px_int(cell);

	return phasewrap_corrected(phase, place, cell, table[at], table[at + 1]);
}

static void
correct_phase(const float *restrict table, float *restrict phase, size_t w)
{
	CPU_SIMD
	for (size_t x = 0; x < w; x++)
		phase[x] = correct(table, phase[x]);
}

static void
correct_vector(const float *restrict table, float *restrict c, float *restrict s, size_t w)
{
	CPU_SIMD
	for (size_t x = 0; x < w; x++)
		s[x] = px_select(px_isnan(c[x]), PX_NAN, phasewrap_phase(s[x], c[x]));
	correct_phase(table, s, w);
	CPU_SIMD
	for (size_t x = 0; x < w; x++)
		c[x] = px_cos(s[x]);
	CPU_SIMD
	for (size_t x = 0; x < w; x++)
		s[x] = px_sin(s[x]);
}

/* A correction that changes over the picture; (x, y) from its middle. */
static void
correct_place(const float *restrict table, const float *restrict slopes, float y, float x_first,
    float *restrict phase, size_t w)
{
	const float *along_y = slopes + PHASEWRAP_CELLS + 1;

	CPU_SIMD
	for (size_t x = 0; x < w; x++) {
		PX_F place = phasewrap_place(phase[x]), cell = px_floor(place);
		int32_t at = px_int(cell);
		PX_F along = (float)x + x_first;
		PX_F added = along * phasewrap_between(place, cell, slopes[at], slopes[at + 1]) +
		    y * phasewrap_between(place, cell, along_y[at], along_y[at + 1]);

		phase[x] = phasewrap_corrected(phase[x], place, cell, table[at] + added,
		    table[at + 1] + added);
	}
}

/* Corrects the phases of a row for harmonics, while it is in cache. */
static void
correct_row(const struct phasewrap *wrap, struct frame *out, size_t y)
{
	for (size_t k = 0; k < wrap->captures.fringes; k++) {
		const float *table = wrap->correction + k * (PHASEWRAP_CELLS + 1);

		if (wrap->correction_slopes)
			correct_place(table, wrap->correction_slopes + k * 2 *
			    (PHASEWRAP_CELLS + 1), (float)y - (float)(out->head.h - 1) / 2,
			    -(float)(out->head.w - 1) / 2, frame_floats(out, k, y),
			    out->head.w);
		else if (wrap->vector)
			correct_vector(table, frame_floats(out, 2 * k, y),
			    frame_floats(out, 2 * k + 1, y), out->head.w);
		else
			correct_phase(table, frame_floats(out, k, y), out->head.w);
	}
}

/* Row y of the output. */
static void
phasewrap_row(const struct phasewrap *wrap, const struct frame *in, struct frame *out, size_t y)
{
	struct tile tile;

	if (exposure_fit_used(wrap))
		exposure_fit_row(wrap, in, out, y);
	for (size_t x = 0, w = exposure_fit_used(wrap) ? 0 : in->head.w; x < w; x += TILE_PIXELS)
		wrap_tile(wrap, in, out, y, x, w - x < TILE_PIXELS ? w - x : TILE_PIXELS, &tile);
	if (wrap->correction)
		correct_row(wrap, out, y);
}

/*
 * ---- --light: light that is known to differ from image to image ----
 *
 * A lamp that flickers, or exposures that differ. Image n is L_n (A + B cos(phi + d_n)): divided by
 * L_n it is as if the light were even. So the rows of the images become floats of even light first.
 */

/* bad: set where a fringe image is saturated. */
#define EVEN(type) \
static void \
even_##type(const type *restrict from, float most, float per_light, float *restrict to, \
    uint *restrict bad, size_t n) \
{ \
	float factor = per_light > 0 ? per_light : 1; \
\
	CPU_SIMD \
	for (size_t x = 0; x < n; x++) { \
		PX_F v = (float)from[x]; \
\
		to[x] = v * factor; \
		bad[x] |= per_light > 0 && v >= most; \
	} \
}
EVEN(uint8_t)
EVEN(uint16_t)
EVEN(float)

/* phasewrap_row() of images whose light was made even. */
static void
uneven_light_row(const struct phasewrap *wrap, const struct frame *in, struct frame *out, size_t y,
    void *scratch)
{
	struct phasewrap even = *wrap;
	struct frame floats = { .head = in->head, .plane = scratch };
	size_t stride = frame_stride(in->head.w, SAMPLE_FLOAT), w = in->head.w;
	uintptr_t rows = ((uintptr_t)(floats.plane + in->head.c) + 63) / 64 * 64;
	uint *bad = (uint *)(rows + in->head.c * stride);
	float most = wrap->limits.max_value;

	floats.head.type = SAMPLE_FLOAT;
	even.limits.max_value = INFINITY;	/* of even light it would be another one */
	memset(bad, 0, w * sizeof(*bad));
	for (size_t c = 0; c < in->head.c; c++) {
		const void *from = frame_row(in, c, y);
		float *to = (float *)(rows + c * stride), per_light = wrap->per_light[c];

		floats.plane[c] = (struct plane){ .host = to, .y_first = y, .rows = 1,
			.stride = stride, .type = SAMPLE_FLOAT };
		if (in->head.type == SAMPLE_UCHAR)
			even_uint8_t(from, most, per_light, to, bad, w);
		else if (in->head.type == SAMPLE_USHORT)
			even_uint16_t(from, most, per_light, to, bad, w);
		else
			even_float(from, most, per_light, to, bad, w);
	}
	phasewrap_row(&even, &floats, out, y);
	mask_bad(wrap, bad, out, y, 0, w);
}

/*
 * ---- -v: how many pixels each test removes ----
 *
 * Every pixel of a run's first measurement is counted; those without a phase are tested again, by
 * the same formulas. Counts are kept by row, so that they do not depend on threads or bands. With a
 * device the runner computes the first measurement on the processor as well.
 */

/* The tests that a pixel fails. */
struct failed {
	bool by[REMOVED_KINDS];
};

static void
judge_limits(const struct measurement_limits *limits, float images, float sum, float amplitude,
    struct failed *failed)
{
	PX_F divisor = px_max(sum, PHASEWRAP_LEAST_MEAN), product = amplitude * divisor;
	PX_F modulation = phasewrap_modulation(sum, amplitude, amplitude * images, product,
	    px_divide(1.0f, product));

	failed->by[REMOVED_DARKNESS] |= !(sum >= limits->least_mean * images);
	failed->by[REMOVED_MODULATION] |= !(modulation >= limits->least_modulation);
	failed->by[REMOVED_AMPLITUDE] |= !(amplitude >= limits->least_amplitude) ||
	    !(product > PHASEWRAP_LEAST_PRODUCT) || !(product < 3e38f);
}

static void
test_set(const struct phasewrap *wrap, size_t k, const struct frame *in, size_t y, size_t x,
    struct failed *failed)
{
	const struct capture_fringe *fringe = &wrap->captures.fringe[k];
	const struct phase_shift_fit *fit = &wrap->fit[k];
	float n = (float)fringe->n, first = frame_sample(in, fringe->plane[0], y, x), most = first;
	float rise = 0, c = 0, s = 0, squares = 0, amplitude, misfit;

	failed->by[REMOVED_MISSING] |= phasewrap_missing(first);
	for (size_t i = 1; i < fringe->n; i++) {
		float v = frame_sample(in, fringe->plane[i], y, x);

		failed->by[REMOVED_MISSING] |= phasewrap_missing(v);
		most = px_max(most, v);
		rise = phasewrap_add(rise, v - first, fit->weights[i].mean);
		c = phasewrap_add(c, v - first, fit->weights[i].c);
		s = phasewrap_add(s, v - first, fit->weights[i].s);
	}
	amplitude = phasewrap_amplitude(s, c);
	failed->by[REMOVED_SATURATION] |= !(most < wrap->limits.max_value);
	judge_limits(&wrap->limits, n, phasewrap_mean(first, rise, n), amplitude, failed);
	if (!wrap->fits || fringe->n < 4)
		return;
	rise = rise * (1.0f / n);
	for (size_t i = 0; i < fringe->n; i++) {
		float left, v = frame_sample(in, fringe->plane[i], y, x);

		left = phasewrap_left(v - first, rise, c, s, fit->model[i].cosine,
		    fit->model[i].sine);
		squares = phasewrap_add(squares, left, left);
	}
	misfit = phasewrap_misfit(squares, amplitude, 1.0f / (float)(fringe->n - 3));
	failed->by[REMOVED_RESIDUAL] |= !(misfit <= wrap->most_misfit);
}

/* Tests the Gray planes for missing samples, and without fringes white and black, or the light of
 * the planes and their inverses. */
static void
test_others(const struct phasewrap *wrap, const struct frame *in, size_t y, size_t x,
    struct failed *failed)
{
	const struct capture_set *captures = &wrap->captures;

	for (size_t i = 0; i < captures->codes; i++) {
		const struct capture_code *code = &captures->code[i];
		float light = 0, most = 0;

		for (size_t b = 0; b < code->n; b++) {
			float other = code->inverse ? frame_sample(in, code->inverse[b], y, x) : 0;
			float plane = frame_sample(in, code->plane[b], y, x);

			failed->by[REMOVED_MISSING] |= phasewrap_missing(other) ||
			    phasewrap_missing(plane);
			light += plane + other;
			most = px_max(most, phasewrap_contrast(plane - other));
		}
		if (wrap->judges_codes)
			judge_limits(&wrap->limits, 1, light * (0.5f / (float)code->n),
			    most * 0.5f, failed);
	}
	if (captures->flats && captures->codes) {
		float white = frame_sample(in, captures->flat[0], y, x);
		float black = frame_sample(in, captures->flat[captures->flats - 1], y, x);

		failed->by[REMOVED_MISSING] |= phasewrap_missing(white) || phasewrap_missing(black);
		if (captures->fringes == 0 && captures->flats == 2)
			judge_limits(&wrap->limits, 1, (white + black) * 0.5f,
			    px_max(white - black, 0.0f) * 0.5f, failed);
	}
}

static void
count_pixel(const struct phasewrap *wrap, const struct frame *in, size_t y, size_t x,
    struct removed_count *count)
{
	struct failed failed = { 0 };
	size_t kind = 0;

	for (size_t k = 0; k < wrap->captures.fringes; k++)
		test_set(wrap, k, in, y, x, &failed);
	test_others(wrap, in, y, x, &failed);
	while (kind < REMOVED_AMPLITUDE && !failed.by[kind])
		kind++;
	if (kind == REMOVED_AMPLITUDE && !failed.by[kind] && failed.by[REMOVED_RESIDUAL])
		kind = REMOVED_RESIDUAL;
	count->by[kind]++;
}

/* Counts row y after phasewrap_row(). Bands may share rows: both store the same. */
static void
removed_row(const struct removed *removed, const struct phasewrap *wrap, const struct frame *in,
    const struct frame *out, size_t y)
{
	size_t phase = wrap->captures.fringes ? 0 : wrap->channels.index;
	struct removed_count count = { 0 };
	const float *made = frame_floats(out, phase, y);
	uint32_t *from = (uint32_t *)&count, *to = (uint32_t *)&removed->row[y];

	for (size_t x = 0; x < in->head.w; x++)
		if (px_isnan(made[x]))
			count_pixel(wrap, in, y, x, &count);
		else
			count.good++;
	for (size_t i = 0; i < sizeof(count) / sizeof(*from); i++)
		__atomic_store_n(&to[i], from[i], __ATOMIC_RELAXED);
}

/* struct body's `rows`. */
static void
phasewrap_wrap(const struct run *run, const struct frame *in, struct frame *out, size_t y0,
    size_t y1, const struct row_scratch *scratch)
{
	const struct priv *priv = run->priv;

	for (size_t y = y0; y < y1; y++) {
		if (priv->wrap.per_light)
			uneven_light_row(&priv->wrap, in, out, y, scratch->memory);
		else
			phasewrap_row(&priv->wrap, in, out, y);
		if (priv->wrap.edges)
			edges_row(&priv->wrap, in, out, y);
		measurement_copy_markers(&priv->wrap.captures, in, priv->wrap.channels.marker, out,
		    y);
		if (!priv->removed.off)
			removed_row(&priv->removed, &priv->wrap, in, out, y);
	}
}

/* ---- the flat one of 2+1 images: flatness_turn() in phase_plan.c ---- */

/* NaN takes no part. */
static double
difference(double a, double b)
{
	return isnan(a) || isnan(b) ? 0 : fabs(a - b);
}

#define ROUGHNESS(name, type) \
static double \
name(const type *image, const type *below, size_t w) \
{ \
	double sum = 0; \
 \
	for (size_t x = 0; x + 1 < w; x++) \
		sum += difference(image[x + 1], image[x]); \
	for (size_t x = 0; below && x < w; x++) \
		sum += difference(below[x], image[x]); \
	return sum; \
}
ROUGHNESS(roughness_uchar, uint8_t)
ROUGHNESS(roughness_ushort, uint16_t)
ROUGHNESS(roughness_float, float)

static void
roughness_of_row(void *arg, size_t y)
{
	const struct rough_rows *rough = arg;
	const struct frame *in = rough->in;
	const void *image = frame_row(in, rough->plane, y);
	const void *below = y + 1 < in->head.h ? frame_row(in, rough->plane, y + 1) : NULL;

	switch (in->head.type) {
	case SAMPLE_UCHAR:
		rough->row[y] = roughness_uchar(image, below, in->head.w);
		break;
	case SAMPLE_USHORT:
		rough->row[y] = roughness_ushort(image, below, in->head.w);
		break;
	case SAMPLE_FLOAT:
		rough->row[y] = roughness_float(image, below, in->head.w);
		break;
	}
}

const struct phasewrap_rows AT_LEVEL(phasewrap_rows) = {
	.wrap = phasewrap_wrap,
	.roughness = roughness_of_row,
};
