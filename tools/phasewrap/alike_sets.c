#include "alike_sets.h"

#include "base/cpu_level.h"
#include "phasewrap.px.h"

#if CPU_VECTOR_BYTES == 64
#include <immintrin.h>
#endif

/* Fringe sets of as many images each, all weighing the same in the mean. */
struct alike {
	const float (*image[TILE_SETS])[TILE_SPAN];
	struct phase_shift_weights weight[TILE_SETS][TILE_IMAGES];
	float *restrict cosine[TILE_SETS], *restrict sine[TILE_SETS];
	float *restrict modulation, *restrict texture;
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
whole_pixel(const float (*image)[TILE_SPAN], const struct phase_shift_weights *weight,
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

/* `limited`: something may be beyond the limits. */
static inline __attribute__((always_inline)) void
take_alike(const struct alike *all, size_t sets, size_t count, bool limited, size_t n)
{
	struct alike a = *all;

	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		struct judged p =
		    whole_pixel(a.image[0], a.weight[0], &a.limits, limited, count, x), q = p;
		bool good = p.good;
		PX_F modulation = p.modulation, texture = p.texture;

		if (sets == 2) {
			q = whole_pixel(a.image[1], a.weight[1], &a.limits, limited, count, x);
			good = good & q.good;
			modulation = px_smaller(modulation, q.modulation);
			texture = (texture + q.texture) * 0.5f;
			a.cosine[1][x] = px_select(good, q.cosine, PX_NAN);
			a.sine[1][x] = px_select(good, q.sine, PX_NAN);
		}
		a.cosine[0][x] = px_select(good, p.cosine, PX_NAN);
		a.sine[0][x] = px_select(good, p.sine, PX_NAN);
		a.modulation[x] = modulation;
		a.texture[x] = texture;
	}
}

/* 16 samples, in two instructions; a compiler takes vectors of 64 apart, with eleven for four. */
#if CPU_VECTOR_BYTES == 64
#define WIDENED true
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
#else
#define WIDENED false
#define widen_uint8_t(image, v) (void)0
#define widen_uint16_t(image, v) (void)0
#endif

/*
 * What differs by the type of the samples. reached_: does a sample of one of the images reach the
 * limit? Samples in the rest of a row's last 64 bytes count too, which does no harm.
 */
#define TYPED(type) \
static void \
load_##type(const type *restrict image, float *restrict v, size_t n) \
{ \
	size_t x = 0; \
 \
	for (; WIDENED && x + 16 <= n; x += 16) \
		widen_##type(image + x, v + x); \
	CPU_SIMD \
	for (size_t i = x; i < n; i++) \
		v[i] = (float)image[i]; \
} \
 \
static bool \
reached_##type(const void *const *image, size_t images, size_t n, float limit) \
{ \
	typedef type some __attribute__((vector_size(CPU_VECTOR_BYTES), may_alias)); \
	typedef uint64_t bits __attribute__((vector_size(CPU_VECTOR_BYTES))); \
	float most = (float)(type)-1; \
	type top = (type)ceilf(px_min(limit, most)); \
	bits any = { 0 }; \
	uint64_t one = 0; \
 \
	if (limit > most) \
		return false; \
	for (size_t i = 0; i < images; i++) \
		for (size_t x = 0; x < n * sizeof(type); x += CPU_VECTOR_BYTES) \
			any |= (bits)(*(const some *)((const char *)image[i] + x) >= top); \
	for (size_t i = 0; i < CPU_VECTOR_BYTES / 8; i++) \
		one |= any[i]; \
	return one != 0; \
}
TYPED(uint8_t)
TYPED(uint16_t)

/* The phases of what is good. */
static void
write_good(const float *restrict sine, const float *restrict cosine, float *restrict phase,
    size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		phase[x] = px_select(
		    px_isnan(cosine[x]), PX_NAN, phasewrap_phase(sine[x], cosine[x]));
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

#define TAKE(sets, images) do { \
	if (limited) \
		take_alike(&alike, sets, images, true, n); \
	else \
		take_alike(&alike, sets, images, false, n); \
} while (false)

void
alike_sets_wrap(const struct phasewrap *wrap, const struct frame *in, struct frame *out, size_t y,
    size_t x, size_t n, struct tile *tile)
{
	const struct capture_set *captures = &wrap->captures;
	const struct phasewrap_limits *limits = &wrap->limits;
	size_t sets = captures->fringes, images = captures->fringe[0].n;
	size_t size = sample_size(in->head.type);
	struct alike alike = { .limits = *limits,
		.modulation = frame_floats(out, wrap->channels.modulation, y) + x,
		.texture = frame_floats(out, wrap->channels.texture, y) + x };
	const void *raw[TILE_SETS * TILE_IMAGES];
	size_t raws = 0;
	bool limited = limits->least_amplitude > 0 || limits->least_modulation > 0 ||
	    limits->least_mean > 0;

	for (size_t k = 0; k < sets; k++) {
		for (size_t i = 0; i < images; i++) {
			const char *samples =
			    (char *)frame_row(in, captures->fringe[k].plane[i], y) + x * size;

			prefetch(samples, n * size);
			if (size == 1)
				load_uint8_t((const uint8_t *)samples, tile->image[k][i], n);
			else
				load_uint16_t((const uint16_t *)samples, tile->image[k][i], n);
			raw[raws++] = samples;
			alike.weight[k][i] = wrap->fit[k].weights[i];
		}
		alike.image[k] = (const float (*)[TILE_SPAN])tile->image[k];
		alike.cosine[k] =
		    wrap->vector ? frame_floats(out, 2 * k, y) + x : tile->pair[k][0];
		alike.sine[k] =
		    wrap->vector ? frame_floats(out, 2 * k + 1, y) + x : tile->pair[k][1];
	}
	limited |= in->head.type == SAMPLE_UCHAR ?
	    reached_uint8_t(raw, raws, n, limits->max_value) :
	    reached_uint16_t(raw, raws, n, limits->max_value);
	if (sets == 1 && images == 3)
		TAKE(1, 3);
	else if (sets == 1)
		TAKE(1, 4);
	else if (images == 3)
		TAKE(2, 3);
	else
		TAKE(2, 4);
	for (size_t k = 0; k < sets && !wrap->vector; k++)
		write_good(alike.sine[k], alike.cosine[k], frame_floats(out, k, y) + x, n);
}
