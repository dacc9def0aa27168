/*
 * What one thread does at most, the other floor beside which scripts/bench puts its figures:
 * bench-operations prints "ADD-MULTIPLY DIVIDE ROOT" of floats in 1e9/s, in vectors as wide as the
 * machine has, the best of several runs over numbers that stay in registers. The first are as many
 * additions as products, which are not fused: the tools' results would not be the same everywhere.
 */
#include <math.h>
#include <omp.h>
#include <stdio.h>

#define RUNS 9
#define TIMES 400000L

/* CHAINS of operations that wait for each other: as many as the registers hold, as fewer leave units
 * idle (12 of AVX-512 found three operations a cycle where a Zen 5 does four). */
#if defined(__AVX512F__)
#define BYTES 64
#define CHAINS 24
#elif defined(__AVX2__)
#define BYTES 32
#define CHAINS 12
#else
#define BYTES 16
#define CHAINS 12
#endif

typedef float vector __attribute__((vector_size(BYTES)));
#define LANES (BYTES / sizeof(float))

static volatile float start = 1.25f, step = 1.0000001f;

static vector
broadcast(float v)
{
	return (vector){ 0 } + v;
}

/* Chains of sums and chains of products, half of each. */
static float
add_multiply(long times)
{
	vector v[CHAINS], by = broadcast(step);
	float sum = 0;

	for (int k = 0; k < CHAINS; k++)
		v[k] = broadcast(start + (float)k);
	for (long i = 0; i < times; i++) {
#pragma GCC unroll 24
		for (int k = 0; k < CHAINS; k++)
			v[k] = k % 2 ? v[k] + by : v[k] * by;
	}
	for (int k = 0; k < CHAINS; k++)
		sum += v[k][0];
	return sum;
}

static float
divide(long times)
{
	vector v[CHAINS], by = broadcast(step);
	float sum = 0;

	for (int k = 0; k < CHAINS; k++)
		v[k] = broadcast(start + (float)k);
	for (long i = 0; i < times; i++) {
#pragma GCC unroll 24
		for (int k = 0; k < CHAINS; k++)
			v[k] = v[k] / by;
	}
	for (int k = 0; k < CHAINS; k++)
		sum += v[k][0];
	return sum;
}

static float
root(long times)
{
	vector v[CHAINS];
	float sum = 0;

	for (int k = 0; k < CHAINS; k++)
		v[k] = broadcast(start + (float)k);
	for (long i = 0; i < times; i++) {
#pragma GCC unroll 24
		for (int k = 0; k < CHAINS; k++)
			for (size_t lane = 0; lane < LANES; lane++)
				v[k][lane] = sqrtf(v[k][lane]);
	}
	for (int k = 0; k < CHAINS; k++)
		sum += v[k][0];
	return sum;
}

/* Best of the runs, in 1e9/s. */
static double
rate(float (*work)(long), long times)
{
	volatile float kept;
	double best = 0;

	for (int run = 0; run < RUNS; run++) {
		double begun = omp_get_wtime(), spent;

		kept = work(times);
		spent = omp_get_wtime() - begun;
		if ((double)times * CHAINS * (double)LANES > best * spent)
			best = (double)times * CHAINS * (double)LANES / spent;
	}
	(void)kept;
	return best * 1e-9;
}

int
main(void)
{
	printf("%.3f %.3f %.3f\n", rate(add_multiply, TIMES), rate(divide, TIMES / 8),
	    rate(root, TIMES / 8));
	return 0;
}
