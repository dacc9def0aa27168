#include "levels.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PLACES 8	/* along each axis */
#define APART 4.0	/* 255ths: places where two ranges differ by no more do not tell */
#define NEAR 2.5	/* 255ths: what coding loses in most places */
#define LEAST 6		/* places that tell */
#define CHANGED 8.0	/* 255ths: what places differ by in the mean where a picture was changed */
#define FAR 32.0	/* 255ths: more than that in a quarter of the places is another picture */

/* A place's level in 255ths of the largest. */
static double
level_at(const struct pixel_format *format, const unsigned char *picture, size_t columns, size_t w,
    size_t h, size_t place)
{
	size_t x = (2 * (place % PLACES) + 1) * w / (2 * PLACES);
	size_t y = (2 * (place / PLACES) + 1) * h / (2 * PLACES);

	return pixel_format_luma(format, picture, columns, x, y) * 255.0 /
	    ((1U << format->bits) - 1);
}

void
levels_describe(const struct pixel_format *format, const unsigned char *picture, size_t columns,
    size_t w, size_t h, char text[LEVELS_TEXT + 1])
{
	for (size_t i = 0; i < PLACES * PLACES; i++)
		snprintf(text + 2 * i, 3, "%02x",
		    (unsigned)lround(level_at(format, picture, columns, w, h, i)));
}

static double
to_same(double level)
{
	return level;
}

static double
to_limited(double level)
{
	return 16 + level * 219 / 255;
}

static double
to_full(double level)
{
	return fmin(fmax((level - 16) * 255 / 219, 0), 255);
}

/* Did levels go this way rather than another? Of the places where the two differ three quarters
 * must say so. */
static bool
went(const double *was, const double *is, double (*way)(double), double (*other)(double))
{
	size_t n = 0, near = 0;

	for (size_t i = 0; i < PLACES * PLACES; i++) {
		double off = fabs(is[i] - way(was[i]));

		if (fabs(way(was[i]) - other(was[i])) <= APART)
			continue;
		n++;
		near += off <= NEAR && off < fabs(is[i] - other(was[i]));
	}
	return n >= LEAST && 4 * near >= 3 * n;
}

/* What another program made of a picture: any of these, added. */
enum { MIRRORED_X = 1, MIRRORED_Y = 2, TRANSPOSED = 4, NEGATED = 8, CHANGES = 16 };

/* The mean difference from what was written, changed so. */
static double
mean_off(const double *was, const double *is, int change)
{
	double sum = 0;

	for (size_t i = 0; i < PLACES * PLACES; i++) {
		size_t x = change & MIRRORED_X ? PLACES - 1 - i % PLACES : i % PLACES;
		size_t y = change & MIRRORED_Y ? PLACES - 1 - i / PLACES : i / PLACES;
		double level = was[change & TRANSPOSED ? x * PLACES + y : y * PLACES + x];

		sum += fabs(is[i] - (change & NEGATED ? 255 - level : level));
	}
	return sum / (PLACES * PLACES);
}

/* The change after which levels differ by less than a quarter of what they differ by without one.
 * Loss, which makes pictures flatter, brings them no nearer to a changed one. 0: there is none. */
static int
find_change(const double *was, const double *is)
{
	double least = mean_off(was, is, 0) / 4;
	int found = 0;

	if (4 * least <= CHANGED)
		return 0;
	for (int change = 1; change < CHANGES; change++) {
		double off = mean_off(was, is, change);

		if (off < least) {
			least = off;
			found = change;
		}
	}
	return found;
}

static bool
is_other(const double *was, const double *is)
{
	size_t n = 0;

	for (size_t i = 0; i < PLACES * PLACES; i++)
		n += fabs(is[i] - was[i]) > FAR;
	return 4 * n > PLACES * PLACES;
}

enum levels_found
levels_compare(const struct pixel_format *format, const unsigned char *picture, size_t columns,
    size_t w, size_t h, const char *text)
{
	double was[PLACES * PLACES], is[PLACES * PLACES];
	int change;

	if (strlen(text) != LEVELS_TEXT || strspn(text, "0123456789abcdef") != LEVELS_TEXT)
		return LEVELS_UNKNOWN;
	for (size_t i = 0; i < PLACES * PLACES; i++) {
		unsigned level = 0;

		(void)sscanf(text + 2 * i, "%2x", &level);
		was[i] = level;
		is[i] = level_at(format, picture, columns, w, h, i);
	}
	change = find_change(was, is);
	if (change)
		return change & NEGATED ? LEVELS_NEGATED : LEVELS_TURNED;
	return went(was, is, to_same, to_limited) ? LEVELS_SAME :
	    went(was, is, to_limited, to_same) ? LEVELS_LIMITED :
	    went(was, is, to_full, to_same) ? LEVELS_STRETCHED :
	    is_other(was, is) ? LEVELS_OTHER : LEVELS_UNKNOWN;
}
