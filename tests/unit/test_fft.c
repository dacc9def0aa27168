/* Fourier transforms against the sums that define them, in double. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <limits.h>
#include <stdlib.h>
#include <cmocka.h>
#undef fail	/* cmocka's macro would hide ours */

#include "base/fail.h"
#include "image/fft.h"

/* Noise in [-1, 1): the same in every run. */
static float
noise(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (float)(*seed >> 8) / (float)(1 << 23) - 1;
}

static struct fft_complex *
filled(size_t n, uint32_t seed)
{
	struct fft_complex *v = malloc(n * sizeof(*v));

	assert_non_null(v);
	for (size_t i = 0; i < n; i++) {
		v[i].re = noise(&seed);
		v[i].im = noise(&seed);
	}
	return v;
}

/* Frequency k of n samples that are `step` apart. */
static void
sum(const struct fft_complex *v, size_t n, size_t step, int sign, size_t k, double to[2])
{
	to[0] = to[1] = 0;
	for (size_t i = 0; i < n; i++) {
		double angle = sign * 2 * M_PI * (double)(i * k % n) / (double)n;
		double c = cos(angle), s = sin(angle);

		to[0] += v[i * step].re * c - v[i * step].im * s;
		to[1] += v[i * step].re * s + v[i * step].im * c;
	}
}

/* The rms of the error over the rms of the result; scale: of the sums. */
static double
error_of_line(const struct fft_complex *from, const struct fft_complex *to, size_t n, size_t step,
    int sign, double scale)
{
	double error = 0, all = 0, want[2];

	for (size_t k = 0; k < n; k++) {
		sum(from, n, step, sign, k, want);
		want[0] *= scale;
		want[1] *= scale;
		error += (to[k * step].re - want[0]) * (to[k * step].re - want[0]) +
		    (to[k * step].im - want[1]) * (to[k * step].im - want[1]);
		all += want[0] * want[0] + want[1] * want[1];
	}
	return sqrt(error / all);
}

static void
expect_below(const char *what, size_t n, double error, double most)
{
	if (!(error <= most))
		fprintf(stderr, "%s of %zu samples: error %g\n", what, n, error);
	assert_true(error <= most);
}

static void
lines(void **state)
{
	static const size_t length[] = { 1, 2, 3, 5, 7, 8, 9, 35, 60, 97, 121, 128, 129, 625, 1000,
		1009, 1536 };

	(void)state;
	for (size_t i = 0; i < sizeof(length) / sizeof(*length); i++) {
		size_t n = length[i];
		struct fft_complex *from = filled(n, (uint32_t)n), *to = filled(n, 1),
				   *back = filled(n, 2);
		struct fft *fft;
		double error = 0;

		assert_int_equal(fft_new(n, &fft), 0);
		assert_int_equal(fft_length(fft), n);
		fft_line(fft, FFT_FORWARD, from, to);
		expect_below("forward", n, error_of_line(from, to, n, 1, -1, 1), 6.8e-7);
		fft_line(fft, FFT_INVERSE, to, back);
		for (size_t k = 0; k < n; k++)
			error = fmax(error,
			    hypot(back[k].re - from[k].re, back[k].im - from[k].im));
		expect_below("there and back", n, error, 2.2e-6);
		fft_line(fft, FFT_INVERSE, from, to);
		expect_below("inverse", n, error_of_line(from, to, n, 1, 1, 1 / (double)n), 6.8e-7);
		fft_free(fft);
		free(from);
		free(to);
		free(back);
	}
}

/* A long line, whose sums would take too long: an impulse and a wave of known transforms. */
static void
long_line(void **state)
{
	size_t n = 100000, wave = 31415;
	struct fft_complex *from = calloc(n, sizeof(*from)), *to = calloc(n, sizeof(*to));
	struct fft *fft;
	double error = 0;

	(void)state;
	assert_non_null(from);
	assert_non_null(to);
	assert_int_equal(fft_new(n, &fft), 0);
	for (size_t i = 0; i < n; i++) {
		from[i].re = (float)cos(2 * M_PI * (double)(i * wave % n) / (double)n);
		from[i].im = (float)sin(2 * M_PI * (double)(i * wave % n) / (double)n);
	}
	fft_line(fft, FFT_FORWARD, from, to);
	for (size_t k = 0; k < n; k++)
		error += pow(to[k].re - (k == wave ? (double)n : 0), 2) + pow(to[k].im, 2);
	expect_below("a wave", n, sqrt(error) / (double)n, 1.9e-7);
	fft_free(fft);
	free(from);
	free(to);
}

/* Both ways across a plane, and columns of a range alone. */
static void
planes(void **state)
{
	static const size_t sizes[][2] = { { 1, 1 }, { 5, 7 }, { 127, 1 }, { 1, 20 }, { 60, 33 } };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		size_t w = sizes[i][0], h = sizes[i][1], first = w / 3, n = w - first;
		struct fft_complex *from = filled(w * h, 3), *rows = filled(w * h, 3),
				   *v = filled(w * h, 3);
		struct fft_plane of_rows = { w, h, rows }, plane = { w, h, v };
		struct fft *across, *down;

		assert_int_equal(fft_new(w, &across), 0);
		assert_int_equal(fft_new(h, &down), 0);
		assert_int_equal(fft_rows(NULL, across, FFT_FORWARD, &of_rows), 0);
		assert_int_equal(fft_rows(NULL, across, FFT_FORWARD, &plane), 0);
		for (size_t y = 0; y < h; y++)
			expect_below("a row", w,
			    error_of_line(from + y * w, rows + y * w, w, 1, -1, 1), 2.5e-7);
		assert_int_equal(fft_columns(NULL, down, FFT_FORWARD, &plane, first, n), 0);
		for (size_t x = 0; x < w; x++)
			if (x >= first)
				expect_below("a column", h,
				    error_of_line(rows + x, v + x, h, w, -1, 1), 1.4e-7);
			else
				for (size_t y = 0; y < h; y++)
					assert_memory_equal(&v[y * w + x], &rows[y * w + x],
					    sizeof(*v));
		assert_int_equal(fft_columns(NULL, down, FFT_INVERSE, &plane, first, n), 0);
		assert_int_equal(fft_rows(NULL, across, FFT_INVERSE, &plane), 0);
		for (size_t k = 0; k < w * h; k++)
			expect_below("there and back", w * h,
			    hypot(v[k].re - from[k].re, v[k].im - from[k].im), 8.4e-7);
		fft_free(across);
		fft_free(down);
		free(from);
		free(rows);
		free(v);
	}
}

static void
lengths(void **state)
{
	struct fft *fft;

	(void)state;
	assert_int_equal(fft_fast_length(0), 1);
	assert_int_equal(fft_fast_length(1), 1);
	assert_int_equal(fft_fast_length(7), 8);
	assert_int_equal(fft_fast_length(11), 12);
	assert_int_equal(fft_fast_length(2048), 2048);
	assert_int_equal(fft_fast_length(2049), 2160);
	assert_int_equal(fft_fast_length(INT_MAX), 0);
	assert_int_equal(fft_fast_length((size_t)INT_MAX + 1), 0);
	assert_int_equal(fft_new(0, &fft), -1);
	assert_null(fft);
	assert_int_equal(fft_new((size_t)INT_MAX + 1, &fft), -1);
	assert_null(fft);
	fft_free(NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines),
		cmocka_unit_test(long_line),
		cmocka_unit_test(planes),
		cmocka_unit_test(lengths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
