#include "line_fft.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "base/cpu_level.h"
#include "base/fail.h"

#define VECTOR (CPU_VECTOR_BYTES / sizeof(float))
#define NEAR_SAMPLES 128	/* of a block that stays in the first cache */

typedef float vector __attribute__((vector_size(CPU_VECTOR_BYTES), may_alias));

struct parts {
	vector re, im;
};

/* ---- setting up ---- */

size_t
line_fft_length(size_t n)
{
	size_t best = 0;

	if (n > INT_MAX)
		return 0;
	for (size_t a = 1; a <= INT_MAX; a *= 2)
		for (size_t b = a; b <= INT_MAX; b *= 3)
			for (size_t c = b; c <= INT_MAX; c *= 5)
				if (c >= n && (best == 0 || c < best))
					best = c;
	return best;
}

static void
factorise(struct line_fft *fft, size_t n)
{
	static const size_t primes[] = { 5, 3 };

	fft->factors = 0;
	for (size_t i = 0; i < 2; i++)
		for (; n % primes[i] == 0; n /= primes[i])
			fft->factor[fft->factors++] = primes[i];
	if (n > 1 && (size_t)__builtin_ctzll(n) % 2) {
		fft->factor[fft->factors++] = 2;
		n /= 2;
	}
	for (; n > 1; n /= 4)
		fft->factor[fft->factors++] = 4;
}

/* Each step sorts frequencies by what is left of them over its factor. */
static size_t
place_of(const struct line_fft *fft, size_t k)
{
	size_t at = 0, block = fft->n;

	for (size_t i = 0; i < fft->factors; i++) {
		block /= fft->factor[i];
		at += k % fft->factor[i] * block;
		k /= fft->factor[i];
	}
	return at;
}

int
line_fft_new(size_t n, struct line_fft *fft)
{
	*fft = (struct line_fft){ .n = n, .cos = malloc(n * sizeof(*fft->cos)),
		.sin = malloc(n * sizeof(*fft->sin)), .place = malloc(n * sizeof(*fft->place)) };
	if (!fft->cos || !fft->sin || !fft->place)
		return fail_memory();
	factorise(fft, n);
	for (size_t k = 0; k < n; k++) {
		double angle = -2 * M_PI * (double)k / (double)n;

		fft->cos[k] = (float)cos(angle);
		fft->sin[k] = (float)sin(angle);
		fft->place[k] = place_of(fft, k);
	}
	return 0;
}

void
line_fft_free(struct line_fft *fft)
{
	free(fft->cos);
	free(fft->sin);
	free(fft->place);
	*fft = (struct line_fft){ 0 };
}

/* ---- a step of a few samples ---- */

static inline struct parts
load(const float *v)
{
	return (struct parts){ *(const vector *)v, *(const vector *)(v + LINE_FFT_LANES) };
}

static inline void
store(float *v, struct parts a)
{
	*(vector *)v = a.re;
	*(vector *)(v + LINE_FFT_LANES) = a.im;
}

static inline struct parts
plus(struct parts a, struct parts b)
{
	return (struct parts){ a.re + b.re, a.im + b.im };
}

static inline struct parts
minus(struct parts a, struct parts b)
{
	return (struct parts){ a.re - b.re, a.im - b.im };
}

static inline struct parts
scaled(struct parts a, float by)
{
	return (struct parts){ a.re * by, a.im * by };
}

/* -i a */
static inline struct parts
turned(struct parts a)
{
	return (struct parts){ a.im, -a.re };
}

static inline void
transform2(struct parts *a)
{
	struct parts difference = minus(a[0], a[1]);

	a[0] = plus(a[0], a[1]);
	a[1] = difference;
}

static inline void
transform3(struct parts *a)
{
	struct parts sum = plus(a[1], a[2]), rest = minus(a[0], scaled(sum, 0.5f));
	struct parts across = turned(scaled(minus(a[1], a[2]), 0.866025403784438647f));

	a[0] = plus(a[0], sum);
	a[1] = plus(rest, across);
	a[2] = minus(rest, across);
}

static inline void
transform4(struct parts *a)
{
	struct parts even = plus(a[0], a[2]), odd = plus(a[1], a[3]);
	struct parts rest = minus(a[0], a[2]), across = turned(minus(a[1], a[3]));

	a[0] = plus(even, odd);
	a[1] = plus(rest, across);
	a[2] = minus(even, odd);
	a[3] = minus(rest, across);
}

static inline void
transform5(struct parts *a)
{
	const float c1 = 0.309016994374947424f, c2 = -0.809016994374947424f;
	const float s1 = 0.951056516295153572f, s2 = 0.587785252292473129f;
	struct parts sum1 = plus(a[1], a[4]), sum2 = plus(a[2], a[3]);
	struct parts less1 = minus(a[1], a[4]), less2 = minus(a[2], a[3]);
	struct parts rest1 = plus(a[0], plus(scaled(sum1, c1), scaled(sum2, c2)));
	struct parts rest2 = plus(a[0], plus(scaled(sum1, c2), scaled(sum2, c1)));
	struct parts across1 = turned(plus(scaled(less1, s1), scaled(less2, s2)));
	struct parts across2 = turned(minus(scaled(less1, s2), scaled(less2, s1)));

	a[0] = plus(a[0], plus(sum1, sum2));
	a[1] = plus(rest1, across1);
	a[4] = minus(rest1, across1);
	a[2] = plus(rest2, across2);
	a[3] = minus(rest2, across2);
}

/* ---- a step of a block ---- */

/* Blocks of n samples, each of which becomes `radix` blocks. */
static inline __attribute__((always_inline)) void
step_of(const struct line_fft *fft, float *v, size_t n, size_t radix)
{
	size_t part = n / radix, apart = part * LINE_FFT_SAMPLE, stride = fft->n / n;

	for (size_t i = 0; i < part; i++)
		for (size_t lane = 0; lane < LINE_FFT_LANES; lane += VECTOR) {
			float *at = v + i * LINE_FFT_SAMPLE + lane;
			struct parts a[5];

			for (size_t j = 0; j < radix; j++)
				a[j] = load(at + j * apart);
			if (radix == 2)
				transform2(a);
			else if (radix == 3)
				transform3(a);
			else if (radix == 4)
				transform4(a);
			else
				transform5(a);
			store(at, a[0]);
			for (size_t j = 1; j < radix; j++) {
				float c = fft->cos[i * j * stride], s = fft->sin[i * j * stride];

				store(at + j * apart, (struct parts){ a[j].re * c - a[j].im * s,
							a[j].re * s + a[j].im * c });
			}
		}
}

static void
step(const struct line_fft *fft, float *v, size_t n, size_t radix)
{
	if (radix == 2)
		step_of(fft, v, n, 2);
	else if (radix == 3)
		step_of(fft, v, n, 3);
	else if (radix == 4)
		step_of(fft, v, n, 4);
	else
		step_of(fft, v, n, 5);
}

/* All steps from step i on, of a block of n samples: small ones one after another, of large ones
 * each part by itself. */
static void
run_block(const struct line_fft *fft, size_t i, float *v, size_t n)
{
	if (i == fft->factors)
		return;
	if (n > NEAR_SAMPLES) {
		size_t part = n / fft->factor[i];

		step(fft, v, n, fft->factor[i]);
		for (size_t j = 0; j < fft->factor[i]; j++)
			run_block(fft, i + 1, v + j * part * LINE_FFT_SAMPLE, part);
		return;
	}
	for (size_t block = n; i < fft->factors; block /= fft->factor[i++])
		for (size_t at = 0; at < n; at += block)
			step(fft, v + at * LINE_FFT_SAMPLE, block, fft->factor[i]);
}

void
line_fft_run(const struct line_fft *fft, float *v)
{
	run_block(fft, 0, v, fft->n);
}
