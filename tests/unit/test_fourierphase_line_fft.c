/* Fourier transforms of lines side by side, against the sums that define them, in double. */
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#undef fail	/* cmocka's macro would hide ours */

#include "../../tools/fourierphase/fourierphase.h"

#define LANES FFT_LANES
#define SAMPLE FFT_SAMPLE

/* Noise in [-1, 1): the same in every run, another in each lane. */
static float *
filled(size_t n, uint32_t seed)
{
	float *v = aligned_alloc(64, n * SAMPLE * sizeof(*v));

	assert_non_null(v);
	for (size_t i = 0; i < n * SAMPLE; i++) {
		seed = seed * 1664525u + 1013904223u;
		v[i] = (float)(seed >> 8) / (float)(1 << 23) - 1;
	}
	return v;
}

/* Frequency k of a lane of n samples. */
static void
sum(const float *v, size_t n, size_t lane, size_t k, double to[2])
{
	to[0] = to[1] = 0;
	for (size_t i = 0; i < n; i++) {
		double angle = -2 * M_PI * (double)(i * k % n) / (double)n;
		double c = cos(angle), s = sin(angle);
		double re = (double)v[i * SAMPLE + lane], im = (double)v[i * SAMPLE + LANES + lane];

		to[0] += re * c - im * s;
		to[1] += re * s + im * c;
	}
}

static void
expect_below(const char *what, size_t n, double error, double most)
{
	if (!(error <= most))
		fprintf(stderr, "%s of %zu samples: error %g\n", what, n, error);
	assert_true(error <= most);
}

static void
swap_parts(const struct line_fft *fft, const float *from, float *to)
{
	for (size_t k = 0; k < fft->n; k++)
		for (size_t lane = 0; lane < SAMPLE; lane++)
			to[k * SAMPLE + lane] =
			    from[fft->place[k] * SAMPLE + (lane + LANES) % SAMPLE];
}

/* Each lane of each kind of length: factors 2, 3, 4 and 5 alone, one after another, and of blocks
 * beyond the first cache. */
static void
lines(void **state)
{
	static const size_t length[] = { 1, 2, 3, 4, 5, 6, 8, 9, 10, 15, 16, 25, 32, 60, 128, 360,
		512, 625, 729, 1000, 1280, 1536 };

	(void)state;
	for (size_t i = 0; i < sizeof(length) / sizeof(*length); i++) {
		size_t n = length[i], step = n < 100 ? 1 : 7;
		float *from = filled(n, (uint32_t)n), *v = filled(n, (uint32_t)n);
		float *back = filled(n, 1);
		struct line_fft fft;
		double error = 0, all = 0, most = 0;

		line_fft_new(n, &fft);
		fourierphase_rows()->line_fft(&fft, v);
		for (size_t lane = 0; lane < LANES; lane += step)
			for (size_t k = 0; k < n; k++) {
				const float *got = v + fft.place[k] * SAMPLE + lane;
				double want[2];

				sum(from, n, lane, k, want);
				error += pow((double)got[0] - want[0], 2) +
				    pow((double)got[LANES] - want[1], 2);
				all += want[0] * want[0] + want[1] * want[1];
			}
		expect_below("transform", n, sqrt(error / all), 2e-7);
		swap_parts(&fft, v, back);
		fourierphase_rows()->line_fft(&fft, back);
		swap_parts(&fft, back, v);
		for (size_t k = 0; k < n * SAMPLE; k++)
			most = fmax(most, fabs((double)(v[k] / (float)n - from[k])));
		expect_below("there and back", n, most, 1e-6);
		line_fft_free(&fft);
		free(from);
		free(v);
		free(back);
	}
}

/* Long lines, whose sums would take too long: waves of known transforms. */
static void
long_lines(void **state)
{
	size_t n = 100000, wave = 31415;
	float *v = aligned_alloc(64, n * SAMPLE * sizeof(*v));
	struct line_fft fft;
	double error = 0;

	(void)state;
	assert_non_null(v);
	line_fft_new(n, &fft);
	for (size_t i = 0; i < n; i++)
		for (size_t lane = 0; lane < LANES; lane++) {
			double angle = 2 * M_PI * (double)(i * (wave + lane) % n) / (double)n;

			v[i * SAMPLE + lane] = (float)cos(angle);
			v[i * SAMPLE + LANES + lane] = (float)sin(angle);
		}
	fourierphase_rows()->line_fft(&fft, v);
	for (size_t k = 0; k < n; k++)
		for (size_t lane = 0; lane < LANES; lane++) {
			const float *got = v + fft.place[k] * SAMPLE + lane;

			error += pow((double)got[0] - (k == wave + lane ? (double)n : 0), 2) +
			    pow((double)got[LANES], 2);
		}
	expect_below("waves", n, sqrt(error / LANES) / (double)n, 2e-7);
	line_fft_free(&fft);
	free(v);
}

static void
lengths(void **state)
{
	(void)state;
	assert_int_equal(line_fft_length(0), 1);
	assert_int_equal(line_fft_length(1), 1);
	assert_int_equal(line_fft_length(7), 8);
	assert_int_equal(line_fft_length(11), 12);
	assert_int_equal(line_fft_length(2048), 2048);
	assert_int_equal(line_fft_length(2049), 2160);
	assert_int_equal(line_fft_length(INT_MAX), 0);
	assert_int_equal(line_fft_length((size_t)INT_MAX + 1), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines),
		cmocka_unit_test(long_lines),
		cmocka_unit_test(lengths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
