#define _GNU_SOURCE
#include "base/numbers.h"

#include <errno.h>
#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

int
number_parse(const char *text, double *out)
{
	char *end;

	if (!*text || strchr(" \t\r\n", *text))
		return -1;
	*out = strtod(text, &end);
	return *end ? -1 : 0;
}

int
integer_parse(const char *text, long *out)
{
	char *end;

	if (!*text || strchr(" \t\r\n", *text))
		return -1;
	errno = 0;
	*out = strtol(text, &end, 10);
	return *end || errno ? -1 : 0;
}

int
numbers_parse(const char *text, const char *separators, struct numbers *out)
{
	size_t room = 0;

	out->n = 0;
	out->v = NULL;
	for (;;) {
		char *end;
		double v = strtod(text, &end);

		if (end == text)
			break;
		if (out->n == room) {
			double *more = reallocarray(out->v, room ? 2 * room : 8, sizeof(*more));

			if (!more) {
				fail_memory();
				break;
			}
			out->v = more;
			room = room ? 2 * room : 8;
		}
		out->v[out->n++] = v;
		if (!*end)
			return 0;
		if (!strchr(separators, *end))
			break;
		while (*end && strchr(separators, *end) && *separators == ' ')
			end++;
		text = end + (*separators != ' ');
		if (!*text && *separators == ' ')
			return 0;
	}
	numbers_free(out);
	return -1;
}

void
numbers_free(struct numbers *list)
{
	free(list->v);
	list->v = NULL;
	list->n = 0;
}

const char *
number_format(double v, char text[32])
{
	char shortest[32];

	for (int digits = 15; digits <= 17; digits++) {
		snprintf(shortest, sizeof(shortest), "%.*g", digits, v);
		if (strtod(shortest, NULL) == v)
			break;
	}
	return strcpy(text, shortest);
}

int
numbers_compare(const void *a, const void *b)
{
	float p = *(const float *)a, q = *(const float *)b;

	return (p > q) - (p < q);
}

/* Bits that rise as the float does. */
static uint32_t
rising(float v)
{
	uint32_t bits;

	v += 0.0f;		/* no -0 */
	memcpy(&bits, &v, sizeof(bits));
	return bits >> 31 ? ~bits : bits | 0x80000000u;
}

static float
risen(uint32_t bits)
{
	float v;

	bits = bits >> 31 ? bits & 0x7fffffffu : ~bits;
	memcpy(&v, &bits, sizeof(v));
	return v;
}

#define DIGIT_BITS 11		/* of 32 in three rounds */

/* Of the values whose bits from `above` on are those of `known`: how many there are of each digit
 * of DIGIT_BITS below; less where no more than `above` bits are left. */
static void
count_digits(const float *v, size_t n, unsigned above, uint32_t known, size_t *count)
{
	unsigned shift = above > DIGIT_BITS ? above - DIGIT_BITS : 0;

	memset(count, 0, sizeof(*count) << DIGIT_BITS);
	for (size_t i = 0; i < n; i++) {
		uint32_t bits = rising(v[i]);

		if (above == 32 || bits >> above == known)
			count[(bits >> shift) & ((1u << (above - shift)) - 1)]++;
	}
}

void
numbers_ranks(const float *v, size_t n, const size_t *rank, size_t ranks, float *out)
{
	size_t first[1 << DIGIT_BITS], later[1 << DIGIT_BITS];

	count_digits(v, n, 32, 0, first);
	for (size_t i = 0; i < ranks; i++) {
		const size_t *count = first;
		size_t left = rank[i];
		uint32_t known = 0, digit;

		for (unsigned above = 32; above > 0;) {
			unsigned bits = above < DIGIT_BITS ? above : DIGIT_BITS;

			if (above < 32) {
				count_digits(v, n, above, known, later);
				count = later;
			}
			for (digit = 0; left >= count[digit]; digit++)
				left -= count[digit];
			known = known << bits | digit;
			above -= bits;
		}
		out[i] = risen(known);
	}
}

int
size_multiply(size_t a, size_t b, size_t *out)
{
	if (__builtin_mul_overflow(a, b, out))
		return fail(NULL, "size overflows: %zu times %zu", a, b);
	return 0;
}

int
size_add(size_t a, size_t b, size_t *out)
{
	if (__builtin_add_overflow(a, b, out))
		return fail(NULL, "size overflows: %zu plus %zu", a, b);
	return 0;
}
