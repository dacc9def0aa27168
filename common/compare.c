#define _GNU_SOURCE
#include "compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TURN (2.0 * M_PI)

/* Neighbouring floats have neighbouring numbers; -0 and 0 have the same. */
static int64_t
order_of(float v)
{
	int32_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return bits < 0 ? (int64_t)INT32_MIN - bits : bits;
}

static double
ulp_between(double a, double b, enum sample type)
{
	if (type != SAMPLE_FLOAT)
		return fabs(a - b);
	return fabs((double)(order_of((float)a) - order_of((float)b)));
}

static double
sample_at(enum sample type, const void *row, size_t x)
{
	return type == SAMPLE_UCHAR ? ((const uint8_t *)row)[x] :
	    type == SAMPLE_USHORT ? ((const uint16_t *)row)[x] : ((const float *)row)[x];
}

/* a - b; 0 for equal infinities. */
static double
difference(double a, double b, bool turns)
{
	double d = a == b ? 0.0 : a - b;

	return turns && isfinite(d) ? d - TURN * round(d / TURN) : d;
}

static void
raise_to(double *most, double v)
{
	if (v > *most)
		*most = v;
}

static void
add_sample(struct comparison *of, double a, double b, enum sample type, bool turns)
{
	double d, size, larger;

	if (isnan(a) || isnan(b)) {
		of->only_a += !isnan(b);
		of->only_b += !isnan(a);
		of->bits += isnan(a) != isnan(b);
		return;
	}
	d = difference(a, b, turns);
	size = fabs(d);
	larger = fmax(fabs(a), fabs(b));
	of->size[of->n++] = size;
	of->bits += a != b || signbit(a) != signbit(b);
	of->mean += d;
	of->rms += d * d;
	raise_to(&of->max, size);
	if (size > 0.0)
		raise_to(&of->relative, isinf(larger) ? INFINITY : size / larger);
	raise_to(&of->ulp, ulp_between(a, b, type));
}

int
compare_channels(const struct frame *a, size_t ca, const struct frame *b, size_t cb,
    const struct compare_how *how, struct comparison *of)
{
	size_t w = a->head.w, h = a->head.h, margin = how->margin;

	memset(of, 0, sizeof(*of));
	of->size = reallocarray(NULL, w * h, sizeof(*of->size));
	if (!of->size)
		return fail_memory();
	for (size_t y = margin; y < h - margin; y++) {
		const void *row_a = frame_row(a, ca, y), *row_b = frame_row(b, cb, y);

		for (size_t x = margin; x < w - margin; x++)
			add_sample(of, sample_at(a->head.type, row_a, x),
			    sample_at(b->head.type, row_b, x), a->head.type, how->turns);
	}
	if (of->n == 0)
		of->max = of->mean = of->rms = NAN;
	of->mean /= (double)of->n;
	of->rms = sqrt(of->rms / (double)of->n);
	return 0;
}

void
comparison_free(struct comparison *of)
{
	free(of->size);
	of->size = NULL;
}

static bool
one_sided(const struct meta *a, const struct meta *b, bool swapped, char *text, size_t size)
{
	for (size_t i = 0; i < a->n; i++) {
		const char *key = a->entry[i].key, *value = a->entry[i].value, *other;

		if (!strncmp(key, "cmd.", 4))
			continue;
		other = meta_get(b, key);
		if (other && !strcmp(value, other))
			continue;
		if (!other)
			other = "(none)";
		snprintf(text, size, "key %s is %.80s, %.80s", key, swapped ? other : value,
		    swapped ? value : other);
		return true;
	}
	return false;
}

static bool
spacings_differ(const struct frame_head *a, const struct frame_head *b)
{
	for (size_t i = 0; i < 2; i++)
		if (a->spacing[i] != b->spacing[i] && !(isnan(a->spacing[i]) && isnan(b->spacing[i])))
			return true;
	return strcmp(a->unit, b->unit) != 0;
}

bool
compare_metadata(const struct frame_head *a, const struct frame_head *b, char *text, size_t size)
{
	if (one_sided(&a->meta, &b->meta, false, text, size) ||
	    one_sided(&b->meta, &a->meta, true, text, size))
		return true;
	if (!spacings_differ(a, b))
		return false;
	snprintf(text, size, "spacings are %g %g %s, %g %g %s", a->spacing[0], a->spacing[1], a->unit,
	    b->spacing[0], b->spacing[1], b->unit);
	return true;
}
