#include "alike_sets.h"

#include "base/cpu_level.h"
#include "phasewrap.px.h"

#include <string.h>

#if CPU_VECTOR_BYTES > 16
#include <immintrin.h>
#endif

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
	struct phasewrap_limits limits;
};

struct judged {
	float cosine, sine, modulation, texture;
	bool good;
};

/* As judge() of fringe_sums.c, but nothing is missing, infinite or negative, so that a mean is 0 or
 * at least 1. */
static inline __attribute__((always_inline)) struct judged
judge_whole(const struct phasewrap_limits *limits, bool limited, float images, float most,
    float mean, float c, float s)
{
	struct judged judged;
	PX_F amplitude = phasewrap_amplitude(s, c), amplitude_sum = amplitude * images;
	PX_F product = amplitude * mean, inverse = 1.0f / product;
	bool divisible = product > PHASEWRAP_LEAST_PRODUCT;
	PX_F unit = mean * inverse;

	judged.modulation = px_select(divisible, amplitude_sum * amplitude * inverse, 0.0f);
	judged.cosine = c * unit;
	judged.sine = s * unit;
	judged.texture = (mean + amplitude_sum) * (1.0f / images);
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
    const struct phasewrap_limits *limits, bool limited, size_t count, size_t x)
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
	return judge_whole(limits, limited, (float)(int)count, most, sum, c, s);
}

/* In two instructions; a compiler takes longer vectors of samples apart, with eleven for four. */
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
		    whole_pixel(image[0], a->weight[0], &a->limits, limited, count, i), q = p;
		bool good = p.good;
		PX_F modulation = p.modulation, texture = p.texture;

		if (sets == 2) {
			q = whole_pixel(image[1], a->weight[1], &a->limits, limited, count, i);
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

/* What is written TOGETHER in the next row, while this one is computed. */
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

/* Likewise where something may be beyond the limits; apart from where nothing is, so that all
 * numbers of that loop stay in registers. */
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
#define TYPED(type) \
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
TYPED(uint8_t)
TYPED(uint16_t)

/* The phases of what is good. */
static void
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

bool
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

/* The last n < TOGETHER pixels, from x on: all of TOGETHER are made, and n are kept. */
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

void
alike_sets_wrap(const struct phasewrap *wrap, const struct frame *in, struct frame *out, size_t y,
    size_t x, size_t n, struct tile *tile)
{
	const struct capture_set *captures = &wrap->captures;
	const struct phasewrap_limits *limits = &wrap->limits;
	size_t sets = captures->fringes, images = captures->fringe[0].n;
	size_t size = sample_size(in->head.type), rest = n % TOGETHER;
	struct alike alike = { .limits = *limits,
		.modulation = frame_floats(out, wrap->channels.modulation, y) + x,
		.texture = frame_floats(out, wrap->channels.texture, y) + x,
		.row = out->plane[wrap->channels.texture].stride / sizeof(float),
		.far = wrap->vector && out->plane[0].rows == 0 };
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
