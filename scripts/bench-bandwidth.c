/*
 * Memory bandwidth in the manner of McCalpin's STREAM, the floor beside which scripts/bench puts its
 * figures: bench-bandwidth THREADS MIB prints "COPY TRIAD" in 1e9 bytes/s, read and written, the best
 * of several runs over arrays of MIB each.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#define RUNS 5

enum kernel { COPY, TRIAD };

static void
copy(float *restrict a, const float *restrict b, size_t n)
{
#pragma omp parallel for simd schedule(static)
	for (size_t i = 0; i < n; i++)
		a[i] = b[i];
}

static void
triad(float *restrict a, const float *restrict b, const float *restrict c, float scale, size_t n)
{
#pragma omp parallel for simd schedule(static)
	for (size_t i = 0; i < n; i++)
		a[i] = b[i] + scale * c[i];
}

/* Each thread touches its own share first, so that it lies near it. */
static void
fill(float *restrict a, float value, size_t n)
{
#pragma omp parallel for simd schedule(static)
	for (size_t i = 0; i < n; i++)
		a[i] = value;
}

/* Best of the runs, in 1e9 bytes/s. Small arrays are gone over until the clock can tell. */
static double
bandwidth(enum kernel kernel, float *a, float *b, float *c, size_t n)
{
	size_t bytes = n * sizeof(*a) * (kernel == COPY ? 2 : 3), times = 1 + (size_t)4e8 / bytes;
	const char *given = getenv("BANDWIDTH_RUNS");	/* fewer by scripts/bench --quick */
	double best = 0;

	for (int run = 0; run < (given ? atoi(given) : RUNS); run++) {
		double start = omp_get_wtime(), spent;

		for (size_t i = 0; i < times; i++) {
			if (kernel == COPY)
				copy(a, b, n);
			else
				triad(a, b, c, 0.5f, n);
		}
		spent = omp_get_wtime() - start;
		if ((double)(bytes * times) > best * spent)
			best = (double)(bytes * times) / spent;
	}
	return best * 1e-9;
}

int
main(int argc, char **argv)
{
	size_t n = argc == 3 ? strtoul(argv[2], NULL, 10) * (1 << 20) / sizeof(float) : 0;
	int threads = argc == 3 ? atoi(argv[1]) : 0;
	float *a, *b, *c;

	if (n == 0 || threads < 1) {
		fprintf(stderr, "usage: bench-bandwidth THREADS MIB\n");
		return 2;
	}
	omp_set_num_threads(threads);
	a = aligned_alloc(64, n * sizeof(*a));
	b = aligned_alloc(64, n * sizeof(*b));
	c = aligned_alloc(64, n * sizeof(*c));
	if (!a || !b || !c) {
		fprintf(stderr, "bench-bandwidth: out of memory\n");
		return 1;
	}
	fill(a, 0, n);
	fill(b, 1, n);
	fill(c, 2, n);
	printf("%.3f %.3f\n", bandwidth(COPY, a, b, c, n), bandwidth(TRIAD, a, b, c, n));
	free(a);
	free(b);
	free(c);
	return 0;
}
