#include "patch_fft.h"

#include <math.h>
#include <stdlib.h>

#include "base/cpu_level.h"
#include "base/fail.h"
#include "base/transpose.h"

#define BLOCK 16		/* of a transposition */

int
patch_fft_new(size_t n, struct patch_fft *fft)
{
	fft->n = n;
	fft->cos = malloc(n * sizeof(*fft->cos));
	fft->sin = malloc(n * sizeof(*fft->sin));
	fft->frequency = calloc(n, sizeof(*fft->frequency));
	if (!fft->cos || !fft->sin || !fft->frequency)
		return fail_memory();
	for (size_t k = 0; k < n; k++) {
		double angle = -2 * M_PI * (double)k / (double)n;

		fft->cos[k] = (float)cos(angle);
		fft->sin[k] = (float)sin(angle);
		for (size_t bit = 1; bit < n; bit *= 2)
			fft->frequency[k] |= k & bit ? n / 2 / bit : 0;
	}
	return 0;
}

void
patch_fft_free(struct patch_fft *fft)
{
	free(fft->cos);
	free(fft->sin);
	free(fft->frequency);
	*fft = (struct patch_fft){ 0 };
}

/* exp(-2 pi i j/len) for j = i, 2 i, 3 i. */
struct twiddles {
	float c1, s1, c2, s2, c3, s3;
};

static struct twiddles
twiddles(const struct patch_fft *fft, size_t i, size_t len)
{
	size_t k = i * (fft->n / len), m = fft->n - 1;

	return (struct twiddles){ fft->cos[k], fft->sin[k], fft->cos[2 * k & m],
		fft->sin[2 * k & m], fft->cos[3 * k & m], fft->sin[3 * k & m] };
}

static void
split_rows(float *restrict ar, float *restrict ai, float *restrict br, float *restrict bi,
    float *restrict cr, float *restrict ci, float *restrict dr, float *restrict di,
    struct twiddles w, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		float t0r = ar[x] + cr[x], t0i = ai[x] + ci[x];
		float t1r = ar[x] - cr[x], t1i = ai[x] - ci[x];
		float t2r = br[x] + dr[x], t2i = bi[x] + di[x];
		float t3r = bi[x] - di[x], t3i = dr[x] - br[x];		/* -i (b - d) */
		float y1r = t1r + t3r, y1i = t1i + t3i;
		float y2r = t0r - t2r, y2i = t0i - t2i;
		float y3r = t1r - t3r, y3i = t1i - t3i;

		ar[x] = t0r + t2r;
		ai[x] = t0i + t2i;
		br[x] = y2r * w.c2 - y2i * w.s2;
		bi[x] = y2r * w.s2 + y2i * w.c2;
		cr[x] = y1r * w.c1 - y1i * w.s1;
		ci[x] = y1r * w.s1 + y1i * w.c1;
		dr[x] = y3r * w.c3 - y3i * w.s3;
		di[x] = y3r * w.s3 + y3i * w.c3;
	}
}

/* What split_rows has done, undone, times 4. */
static void
join_rows(float *restrict ar, float *restrict ai, float *restrict br, float *restrict bi,
    float *restrict cr, float *restrict ci, float *restrict dr, float *restrict di,
    struct twiddles w, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		float y2r = br[x] * w.c2 + bi[x] * w.s2, y2i = bi[x] * w.c2 - br[x] * w.s2;
		float y1r = cr[x] * w.c1 + ci[x] * w.s1, y1i = ci[x] * w.c1 - cr[x] * w.s1;
		float y3r = dr[x] * w.c3 + di[x] * w.s3, y3i = di[x] * w.c3 - dr[x] * w.s3;
		float t0r = ar[x] + y2r, t0i = ai[x] + y2i, t2r = ar[x] - y2r, t2i = ai[x] - y2i;
		float t1r = y1r + y3r, t1i = y1i + y3i;
		float t3r = y3i - y1i, t3i = y1r - y3r;			/* i (y1 - y3) */

		ar[x] = t0r + t1r;
		ai[x] = t0i + t1i;
		cr[x] = t0r - t1r;
		ci[x] = t0i - t1i;
		br[x] = t2r + t3r;
		bi[x] = t2i + t3i;
		dr[x] = t2r - t3r;
		di[x] = t2i - t3i;
	}
}

static void
sum_rows(float *restrict a, float *restrict b, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		float sum = a[x] + b[x];

		b[x] = a[x] - b[x];
		a[x] = sum;
	}
}

static void
pairs(const struct patch_fft *fft, struct patch v)
{
	size_t n = fft->n;

	for (size_t y = 0; y < n; y += 2) {
		sum_rows(v.re + y * n, v.re + (y + 1) * n, n);
		sum_rows(v.im + y * n, v.im + (y + 1) * n, n);
	}
}

static void
fours(const struct patch_fft *fft, struct patch v, size_t len,
    void (*butterfly)(float *restrict, float *restrict, float *restrict, float *restrict,
    float *restrict, float *restrict, float *restrict, float *restrict, struct twiddles, size_t))
{
	size_t n = fft->n, q = len / 4 * n;

	for (size_t i = 0; i < len / 4; i++) {
		struct twiddles w = twiddles(fft, i, len);

		for (size_t block = 0; block < n; block += len) {
			float *re = v.re + (block + i) * n, *im = v.im + (block + i) * n;

			butterfly(re, im, re + q, im + q, re + 2 * q, im + 2 * q, re + 3 * q,
			    im + 3 * q, w, n);
		}
	}
}

/* All columns. */
static void
columns_forward(const struct patch_fft *fft, struct patch v)
{
	size_t len = fft->n;

	for (; len >= 4; len /= 4)
		fours(fft, v, len, split_rows);
	if (len == 2)
		pairs(fft, v);
}

static void
columns_inverse(const struct patch_fft *fft, struct patch v)
{
	size_t len = fft->n;

	while (len > 4)
		len /= 4;
	if (len == 2)
		pairs(fft, v);
	for (len = len == 2 ? 8 : 4; len <= fft->n; len *= 4)
		fours(fft, v, len, join_rows);
}

/* Four rows of four samples become columns. */
static inline void
transpose_block(const float *restrict from, float *restrict to, size_t n)
{
	transpose_four v[4];

	for (size_t k = 0; k < 4; k++)
		v[k] = transpose_load(from + k * n);
	transpose_lines(v);
	for (size_t k = 0; k < 4; k++)
		transpose_store(to + k * n, v[k]);
}

static void
transpose(const float *restrict from, float *restrict to, size_t n)
{
	size_t step = n < BLOCK ? n : BLOCK;

	for (size_t y0 = 0; y0 < n; y0 += step)
		for (size_t x0 = 0; x0 < n; x0 += step)
			for (size_t y = y0; y < y0 + step; y += 4)
				for (size_t x = x0; x < x0 + step; x += 4)
					transpose_block(from + y * n + x, to + x * n + y, n);
}

static void
transpose_both(const struct patch_fft *fft, struct patch from, struct patch to)
{
	transpose(from.re, to.re, fft->n);
	transpose(from.im, to.im, fft->n);
}

void
patch_fft_forward(const struct patch_fft *fft, struct patch from, struct patch to)
{
	columns_forward(fft, from);
	transpose_both(fft, from, to);
	columns_forward(fft, to);
}

void
patch_fft_inverse(const struct patch_fft *fft, struct patch from, struct patch to)
{
	columns_inverse(fft, from);
	transpose_both(fft, from, to);
	columns_inverse(fft, to);
}
