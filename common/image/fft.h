/*
 * Discrete Fourier transforms of lines, and of the rows and columns of a plane, of complex floats,
 * by kissfft. A line may have any length of 1 to INT_MAX; those of fft_fast_length() take 5 to
 * 15 ns a sample, others up to as long again for each unit of their largest prime factor, and
 * kissfft then allocates memory without reporting that it got none: pad an image to a fast length.
 * The results do not depend on the number of threads.
 *
 *     forward:  X_k = sum_n x_n exp(-2 pi i k n / N)
 *     inverse:  x_n = 1/N sum_k X_k exp(+2 pi i k n / N)
 *
 * Frequency k of 0 .. N - 1 is k / N turns a sample, which is (k - N) / N where k > N / 2. The rms
 * error is at most 1e-6 of the result's rms for fast lengths up to 10^5 (tests/unit/test_fft.c).
 */
#ifndef FFT_H
#define FFT_H

#include <stddef.h>

struct run;

enum fft_direction { FFT_FORWARD, FFT_INVERSE };

struct fft_complex {
	float re, im;
};

/* h rows of w samples, one after another. */
struct fft_plane {
	size_t w, h;
	struct fft_complex *v;
};

struct fft;	/* the tables of one length, read only: for any number of threads */

/* The least 2^a 3^b 5^c that is n or more; 0 where it is beyond INT_MAX. */
size_t fft_fast_length(size_t n);
/* Tables of a length, 1 to INT_MAX; fft_free() them. -1 after fail(). */
int fft_new(size_t length, struct fft **);
void fft_free(struct fft *);
size_t fft_length(const struct fft *);
/* One line; the two must not overlap. */
void fft_line(const struct fft *, enum fft_direction, const struct fft_complex *restrict from,
    struct fft_complex *restrict to);
/* Every row of a plane in place, whose width is the length; on all threads of run, or on the
 * caller's alone where that is NULL. -1 after fail(). */
int fft_rows(struct run *, const struct fft *, enum fft_direction, const struct fft_plane *);
/* Columns first .. first + n - 1 in place, the plane's height being the length. Where a filter
 * keeps these frequencies of the rows alone, the other columns need none. -1 after fail(). */
int fft_columns(struct run *, const struct fft *, enum fft_direction, const struct fft_plane *,
    size_t first, size_t n);

#endif
