#define _GNU_SOURCE
#include "compare.h"

#include "base/escape.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image/statistics.h"

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
	size_t w = a->head.w, h = a->head.h, margin = how->margin, points = 1;

	memset(of, 0, sizeof(*of));
	if (head_is_table(&a->head) && head_points(&a->head, &points) < 0)
		return -1;
	of->size = reallocarray(NULL, w * h, sizeof(*of->size));
	if (!of->size)
		return fail_memory();
	if (points == 0)	/* nothing but the column that stands for no row */
		w = 0;
	for (size_t y = margin; y < h - margin; y++) {
		const void *row_a = frame_row(a, ca, y), *row_b = frame_row(b, cb, y);

		for (size_t x = margin; x < w - margin; x++)
			add_sample(of, frame_sample_in(a->head.type, row_a, x),
			    frame_sample_in(b->head.type, row_b, x), a->head.type, how->turns);
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

/* ---- limits ---- */

const char *const compare_nans[] = { "agree", "ignore", NULL };

bool
compare_limited(const struct compare_limits *limits)
{
	return !isnan(limits->max) || !isnan(limits->rms) || !isnan(limits->relative) ||
	    !isnan(limits->ulp) || limits->quantile.n;
}

/* One limit: appends what was seen and allowed, and returns whether it is kept. */
static bool
check(FILE *line, const char *what, double seen, double allowed)
{
	bool kept = isnan(seen) || seen <= allowed;

	if (isnan(allowed))
		return true;
	fprintf(line, ", %s %.6g %s %.6g", what, seen, kept ? "<=" : ">", allowed);
	return kept;
}

static bool
check_limits(struct comparison *of, const struct compare_limits *limits, FILE *line)
{
	const struct numbers *q = &limits->quantile;
	bool same = true;
	char what[48];

	same &= check(line, "max", of->max, limits->max);
	same &= check(line, "rms", of->rms, limits->rms);
	same &= check(line, "relative", of->relative, limits->relative);
	same &= check(line, "ulp", of->ulp, limits->ulp);
	for (size_t i = 0; i + 1 < q->n; i += 2) {
		snprintf(what, sizeof(what), "quantile %g", q->v[i]);
		same &= check(line, what, statistics_quantile(of->size, of->n, q->v[i]),
		    q->v[i + 1]);
	}
	return same;
}

static bool
check_bits(const struct comparison *of, const struct compare_limits *limits, FILE *line)
{
	size_t bits = of->bits;

	if (limits->nan == COMPARE_NAN_IGNORE)
		bits -= of->only_a + of->only_b;
	fprintf(line, ", %zu of %zu samples differ, max %.6g", bits, of->n, of->max);
	return bits == 0;
}

bool
compare_judge(struct comparison *of, const struct compare_limits *limits, FILE *line)
{
	bool same = compare_limited(limits) ? check_limits(of, limits, line) :
	    check_bits(of, limits, line);

	if (of->only_a + of->only_b == 0)
		return same;
	fprintf(line, ", NaN %zu only in A, %zu only in B", of->only_a, of->only_b);
	return same && limits->nan == COMPARE_NAN_IGNORE && of->n > 0;
}

void
compare_table_head(FILE *out)
{
	fprintf(out, "%5s %-15s %9s %10s %10s %10s %10s %10s %10s %10s %8s %8s\n", "frame",
	    "channel", "n", "max", "rms", "mean", "50 %", "90 %", "99 %", "99.9 %", "NaN in A",
	    "NaN in B");
}

void
compare_table_row(FILE *out, size_t frame, const char *channel, struct comparison *of)
{
	static const double shares[] = { 0.5, 0.9, 0.99, 0.999 };

	char name[CHANNEL_NAME_SIZE];

	snprintf(name, sizeof(name), "%s", channel);
	escape_controls(name);
	fprintf(out, "%5zu %-15s %9zu %10.4g %10.4g %10.4g", frame, name, of->n, of->max, of->rms,
	    of->mean);
	for (size_t i = 0; i < 4; i++)
		fprintf(out, " %10.4g", statistics_quantile(of->size, of->n, shares[i]));
	fprintf(out, " %8zu %8zu\n", of->only_a, of->only_b);
}

/* ---- sizes ---- */

/* "an image of 5 x 7", "a table of 5 points". -1 after fail(). */
static int
describe(const struct frame_head *head, char text[64])
{
	size_t points;

	if (!head_is_table(head))
		return snprintf(text, 64, "an image of %zu x %zu", head->w, head->h);
	if (head_points(head, &points) < 0)
		return -1;
	return snprintf(text, 64, "a table of %zu point%s", points, points == 1 ? "" : "s");
}

int
compare_sizes(const struct frame_head *a, const struct frame_head *b, char *text, size_t size)
{
	char of_a[64], of_b[64];

	if (!head_is_table(a) && !head_is_table(b)) {
		snprintf(text, size, "A is %zu x %zu, B is %zu x %zu", a->w, a->h, b->w, b->h);
		return a->w != b->w || a->h != b->h;
	}
	if (describe(a, of_a) < 0 || describe(b, of_b) < 0)
		return -1;
	snprintf(text, size, "A is %s, B is %s", of_a, of_b);
	return strcmp(of_a, of_b) != 0;
}

/* ---- metadata ---- */

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
		if (a->spacing[i] != b->spacing[i] &&
		    !(isnan(a->spacing[i]) && isnan(b->spacing[i])))
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
	snprintf(text, size, "spacings are %g %g %s, %g %g %s", a->spacing[0], a->spacing[1],
	    a->unit, b->spacing[0], b->spacing[1], b->unit);
	return true;
}
