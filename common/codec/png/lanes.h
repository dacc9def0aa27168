/*
 * Sixteen bytes at a time for PNG's filters: SSE2 on x86-64, NEON on ARM, plain vectors of the
 * compiler elsewhere. All arithmetic is of bytes, modulo 256 unless it saturates.
 */
#pragma once

#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

#define LANES 16

typedef uint8_t lanes __attribute__((vector_size(LANES)));

static inline lanes
lanes_load(const unsigned char *from)
{
	lanes v;

	memcpy(&v, from, sizeof(v));
	return v;
}

static inline void
lanes_store(unsigned char *to, lanes v)
{
	memcpy(to, &v, sizeof(v));
}

/* max(a - b, 0), min(a + b, 255), min(a, b) */
static inline lanes
lanes_excess(lanes a, lanes b)
{
#if defined(__SSE2__)
	return (lanes)_mm_subs_epu8((__m128i)a, (__m128i)b);
#elif defined(__ARM_NEON)
	return (lanes)vqsubq_u8((uint8x16_t)a, (uint8x16_t)b);
#else
	return (a - b) & (lanes)(a > b);
#endif
}

static inline lanes
lanes_add_most(lanes a, lanes b)
{
#if defined(__SSE2__)
	return (lanes)_mm_adds_epu8((__m128i)a, (__m128i)b);
#elif defined(__ARM_NEON)
	return (lanes)vqaddq_u8((uint8x16_t)a, (uint8x16_t)b);
#else
	lanes sum = a + b;

	return sum | (lanes)(sum < a);
#endif
}

static inline lanes
lanes_least(lanes a, lanes b)
{
#if defined(__SSE2__)
	return (lanes)_mm_min_epu8((__m128i)a, (__m128i)b);
#elif defined(__ARM_NEON)
	return (lanes)vminq_u8((uint8x16_t)a, (uint8x16_t)b);
#else
	lanes less = (lanes)(a < b);

	return (a & less) | (b & ~less);
#endif
}

/* floor((a + b) / 2) */
static inline lanes
lanes_mean(lanes a, lanes b)
{
	return (a & b) + ((a ^ b) >> 1);
}

/*
 * Paeth's predictor (PNG specification, 9.4): of left a, above b and above left c the one nearest
 * to a + b - c, a before b before c. The distances are |b - c|, |a - c| and |a + b - 2c|; the last
 * one saturates only where the other two add up to it, so that it is the least in no case.
 */
static inline lanes
lanes_paeth(lanes a, lanes b, lanes c)
{
	lanes b_over = lanes_excess(b, c), b_under = lanes_excess(c, b);
	lanes a_over = lanes_excess(a, c), a_under = lanes_excess(c, a);
	lanes over = lanes_add_most(a_over, b_over), under = lanes_add_most(a_under, b_under);
	lanes to_a = b_over | b_under, to_b = a_over | a_under;
	lanes to_c = lanes_excess(over, under) | lanes_excess(under, over);
	lanes least = lanes_least(lanes_least(to_a, to_b), to_c);
	lanes is_a = (lanes)(to_a == least), is_b = (lanes)(to_b == least);
	lanes other = (b & is_b) | (c & ~is_b);

	return (a & is_a) | (other & ~is_a);
}

/* Two sums, of which the whole is what counts. */
typedef uint64_t lane_sums __attribute__((vector_size(16)));

/* Adds min(v, 256 - v), the magnitudes of differences as signed bytes. */
static inline lane_sums
lanes_add_magnitudes(lane_sums sums, lanes v)
{
	lanes magnitude = lanes_least(v, -v);
#if defined(__SSE2__)
	return sums + (lane_sums)_mm_sad_epu8((__m128i)magnitude, _mm_setzero_si128());
#elif defined(__ARM_NEON)
	return (lane_sums)vpadalq_u32((uint64x2_t)sums,
	    vpaddlq_u16(vpaddlq_u8((uint8x16_t)magnitude)));
#else
	for (int i = 0; i < LANES; i++)
		sums[0] += magnitude[i];
	return sums;
#endif
}
