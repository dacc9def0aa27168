/*
 * Fourier transforms of square patches of a power of two, real and imaginary parts apart. Each step
 * works on whole rows, so that compilers vectorise it; frequencies come out in bit-reversed order,
 * which spares the sorting, since a filter looks at them one by one.
 */
#ifndef WFF_PATCH_FFT_H
#define WFF_PATCH_FFT_H

#include <stddef.h>

struct patch_fft {
	size_t n;		/* rows and columns */
	float *cos, *sin;	/* of -2 pi k/n */
	size_t *frequency;	/* of each place of the result: k of 0 .. n - 1 */
};

/* n rows of n samples, one after another, aligned to 64. */
struct patch {
	float *re, *im;
};

/* n: 4 or more, a power of two. -1 after fail(). */
int patch_fft_new(size_t n, struct patch_fft *);
void patch_fft_free(struct patch_fft *);
/*
 * sum over x, y of v exp(-2 pi i (k x + l y)/n), into `to`, whose row r and column c hold k and l =
 * frequency[r], frequency[c]; destroys `from`.
 */
void patch_fft_forward(const struct patch_fft *, struct patch from, struct patch to);
/* The reverse, times n^2: from frequencies to `to`; destroys `from`. */
void patch_fft_inverse(const struct patch_fft *, struct patch from, struct patch to);

#endif
