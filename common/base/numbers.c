/* Parses and prints lists of numbers in the C locale, and multiplies sizes with overflow checks. */
#include "base/numbers.h"

#include <errno.h>
#include <locale.h>
#include <stdint.h>
#include <stdio.h>

#include "base/process.h"

/*
 * A number of up to 15 digits, with or without a sign and a point, as most are: integers up to 2^53
 * and powers of ten up to 10^22 are doubles, and their quotient is rounded once, as strtod() does.
 * False: it is another one.
 */
static bool
parse_short(const char *text, double *out)
{
	static const double powers[] = { 1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
		1e12, 1e13, 1e14, 1e15 };
	const char *p = text + (*text == '-'), *point = NULL;
	int digits = 0;
	double v = 0;

	for (; digits <= 15 && ((*p >= '0' && *p <= '9') || (*p == '.' && !point)); p++)
		if (*p == '.') {
			point = p;
		} else {
			v = 10 * v + (*p - '0');
			digits++;
		}
	if (*p || digits < 1 || digits > 15)
		return false;
	if (point)
		v /= powers[p - point - 1];
	*out = *text == '-' ? -v : v;
	return true;
}

int
number_parse(const char *text, double *out)
{
	char *end;

	if (parse_short(text, out))
		return 0;
	if (!*text || strchr(" \t\r\n", *text))
		return -1;
	*out = strtod(text, &end);
	return *end ? -1 : 0;
}

int
ratio_parse(const char *text, double *out)
{
	struct numbers list;
	int status;

	if (strchr(" \t\r\n", *text))
		return -1;
	status = numbers_parse(text, ",", &list);
	if (status == 0 && list.n == 1)
		*out = list.v[0];
	else
		status = -1;
	numbers_free(&list);
	return status;
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
		if (*end == '/' && *separators == ',') {
			char *divisor = end + 1;

			v /= strtod(divisor, &end);
			if (end == divisor)
				break;
		}
		if (out->n == room) {
			room = room ? 2 * room : 8;
			out->v = must_resize(out->v, room, sizeof(*out->v));
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

bool
numbers_same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

int
numbers_compare_doubles(const void *a, const void *b)
{
	double p = *(const double *)a, q = *(const double *)b;

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

/* Those of n values whose first digit is this, which are `count`; NULL without memory for them. */
static float *
gather_digit(const float *v, size_t n, uint32_t digit, size_t count)
{
	float *few = malloc((count + 1) * sizeof(*few));
	size_t m = 0;

	for (size_t i = 0; few && i < n; i++) {
		few[m] = v[i];
		m += rising(v[i]) >> (32 - DIGIT_BITS) == digit;
	}
	return few;
}

/* Which digit the value of a rank has; the rank becomes that among the values with this digit. */
static uint32_t
find_digit(const size_t *count, size_t *rank)
{
	uint32_t digit;

	for (digit = 0; *rank >= count[digit]; digit++)
		*rank -= count[digit];
	return digit;
}

/* Of any number of values, by counting their digits. */
static void
count_ranks(const float *v, size_t n, const size_t *rank, size_t ranks, float *out)
{
	size_t first[1 << DIGIT_BITS], later[1 << DIGIT_BITS];

	count_digits(v, n, 32, 0, first);
	for (size_t i = 0; i < ranks; i++) {
		size_t left = rank[i];
		uint32_t known = find_digit(first, &left);
		size_t some = first[known];
		float *few = gather_digit(v, n, known, some);

		for (unsigned above = 32 - DIGIT_BITS; above > 0;) {
			unsigned bits = above < DIGIT_BITS ? above : DIGIT_BITS;

			count_digits(few ? few : v, few ? some : n, above, known, later);
			known = known << bits | find_digit(later, &left);
			above -= bits;
		}
		free(few);
		out[i] = risen(known);
	}
}

#define SAMPLE 1024		/* taken where there are MANY values */
#define MANY (16 * SAMPLE)
#define SPREAD (SAMPLE / 16)	/* ranks of the sample: four standard deviations of the median's */

/* The values, by a sample of them, between which the one of this rank is likely to lie. */
static void
likely_bounds(const float *sample, size_t rank, size_t n, float bound[2])
{
	size_t at = (size_t)((double)rank / (double)n * SAMPLE);
	const size_t in_sample[2] = { at < SPREAD ? 0 : at - SPREAD,
		at + SPREAD < SAMPLE ? at + SPREAD : SAMPLE - 1 };

	count_ranks(sample, SAMPLE, in_sample, 2, bound);
	if (at < SPREAD)
		bound[0] = -INFINITY;
	if (at + SPREAD >= SAMPLE)
		bound[1] = INFINITY;
}

#define FEW(n) ((n) / 4) /* there is room for so many between the bounds: twice what is likely */

/* Of many values: counted are only those within the bounds, unless these do not hold. */
static void
find_rank(const float *restrict v, size_t n, size_t rank, const float bound[2],
    float *restrict few, float *out)
{
	float low = bound[0], high = bound[1];
	size_t below = 0, within = 0, i = 0;

	for (size_t k = 0; k < n; k++)
		below += v[k] < low;
	for (; i < n && within < FEW(n); i++) {
		float at = v[i];

		few[within] = at;
		within += (at >= low) & (at <= high);
	}
	if (i == n && rank >= below && rank - below < within)
		count_ranks(few, within, &(size_t){ rank - below }, 1, out);
	else
		count_ranks(v, n, &rank, 1, out);
}

void
numbers_ranks(const float *v, size_t n, const size_t *rank, size_t ranks, float *out)
{
	float sample[SAMPLE], bound[2], *few = n < MANY ? NULL : malloc(FEW(n) * sizeof(*few));

	if (!few) {
		count_ranks(v, n, rank, ranks, out);
		return;
	}
	/* at an odd distance: not one column of an image */
	for (size_t i = 0; i < SAMPLE; i++)
		sample[i] = v[i * ((n / SAMPLE - 1) | 1)];
	for (size_t i = 0; i < ranks; i++) {
		likely_bounds(sample, rank[i], n, bound);
		find_rank(v, n, rank[i], bound, few, &out[i]);
	}
	free(few);
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
