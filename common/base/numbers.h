/* Lists of numbers as text, and products of sizes with overflow checks. */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

struct numbers {
	size_t n;
	double *v;
};

/*
 * Reads numbers separated by any of the bytes in `separators` (" " or ","), in the C locale; with
 * "," each may be a quotient of two: 1920/41.
 * 0, or -1 if the text is anything else: nothing is recorded with fail(), and *out is empty.
 */
int numbers_parse(const char *text, const char *separators, struct numbers *out);
void numbers_free(struct numbers *);

/* One whole number or finite/NaN double; 0, or -1 when the text is not exactly that. */
int number_parse(const char *text, double *out);
/* The same, or a quotient of two. */
int ratio_parse(const char *text, double *out);
int integer_parse(const char *text, long *out);

/* The shortest of %.15g %.16g %.17g that reads back as the same double. text holds >= 32 bytes. */
const char *number_format(double v, char text[32]);

/* Equal, or both NaN? */
bool numbers_same(double a, double b);

/* For qsort: floats, or doubles, in rising order; none of them NaN. */
int numbers_compare(const void *a, const void *b);
int numbers_compare_doubles(const void *a, const void *b);

/* The rank[i]-th smallest (from 0) of n floats, none of them NaN, for each of `ranks` ranks, by
 * counting: in linear time. Of many values only those near the result are counted. */
void numbers_ranks(const float *v, size_t n, const size_t *rank, size_t ranks, float *out);

/* The one of that rank, and of rank n / 2; 0 where there are none. */
static inline float
numbers_rank(const float *v, size_t n, size_t rank)
{
	float out = 0;

	if (n)
		numbers_ranks(v, n, &rank, 1, &out);
	return out;
}

static inline float
numbers_median(const float *v, size_t n)
{
	return numbers_rank(v, n, n / 2);
}

static inline size_t
size_at_least(size_t n, size_t least)
{
	return n < least ? least : n;
}

static inline size_t
size_at_most(size_t n, size_t most)
{
	return n > most ? most : n;
}

/* a * b in *out; -1 after fail() when it does not fit. */
int size_multiply(size_t a, size_t b, size_t *out);
int size_add(size_t a, size_t b, size_t *out);
