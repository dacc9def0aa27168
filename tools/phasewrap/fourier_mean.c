#include "fourier_mean.h"

#include <math.h>

#include "base/cpu_level.h"

#define SUMS (CPU_VECTOR_BYTES / sizeof(double))

typedef double sums __attribute__((vector_size(CPU_VECTOR_BYTES)));
typedef float samples __attribute__((vector_size(CPU_VECTOR_BYTES / 2), aligned(4), may_alias));

/* A place on the lines that moves on by a sample at a time: so far from sample `at` to the next. */
struct place {
	size_t at, next, n;
	double part;
};

static struct place
place_at(double place, size_t n)
{
	long at = (long)floor(place) % (long)n;

	at += at < 0 ? (long)n : 0;
	return (struct place){ (size_t)at, ((size_t)at + 1) % n, n, place - floor(place) };
}

static inline sums
sample(const float *from, size_t at)
{
	return __builtin_convertvector(*(const samples *)(from + at * FOURIER_MEAN_LINES), sums);
}

/* What lies between the place and a sample further, to which it moves. */
static inline sums
move_on(const float *from, struct place *place)
{
	sums passed = sample(from, place->at) * (1 - place->part) +
	    sample(from, place->next) * place->part;

	place->at = place->next;
	place->next = place->next + 1 < place->n ? place->next + 1 : 0;
	return passed;
}

/* A vector of lines. */
static void
mean_of(const float *restrict from, size_t n, double period, float *restrict to)
{
	double begin = 0.5 - period / 2, stop = 0.5 + period / 2;
	struct place first = place_at(begin, n), end = place_at(stop, n);
	size_t whole = (size_t)(floor(stop) - floor(begin));
	sums sum = sample(from, end.at) * end.part - sample(from, first.at) * first.part;

	for (size_t i = 0; i < whole; i++)
		sum += sample(from, (first.at + i) % n);
	for (size_t x = 0; x < n; x++) {
		*(samples *)(to + x * FOURIER_MEAN_LINES) =
		    __builtin_convertvector(sum / period, samples);
		sum += move_on(from, &end);
		sum -= move_on(from, &first);
	}
}

void
fourier_mean_lines(const float *restrict from, size_t n, double period, float *restrict to)
{
	for (size_t line = 0; line < FOURIER_MEAN_LINES; line += SUMS)
		mean_of(from + line, n, period, to + line);
}
