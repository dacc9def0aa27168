#include "pixels.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/numbers.h"

#define FEWEST 64		/* pixels that an analysis is made of */
#define SATURATED_MOST 0.5	/* of the lit pixels */

/* What is looked at while pixels are chosen. */
struct choice {
	const struct frame *in;
	const size_t *plane;
	size_t images;
	double most;
	float *swing, *mean;		/* of every pixel; swing NaN: a sample is missing */
	size_t *saturated;		/* lit pixels that each image saturates */
};

static void
look(const struct choice *choice, size_t x, size_t y)
{
	size_t at = y * choice->in->head.w + x;
	double least = INFINITY, most = -INFINITY, sum = 0;

	for (size_t i = 0; i < choice->images; i++) {
		double v = (double)frame_sample(choice->in, choice->plane[i], y, x);

		least = fmin(least, v);
		most = fmax(most, v);
		sum += v;
	}
	choice->mean[at] = (float)(sum / (double)choice->images);
	choice->swing[at] = isfinite(sum) && fabs(sum) < 1e30 ? (float)(most - least) : NAN;
}

/* The value that `share` of those that are not NaN do not reach; 0 where there are none. */
static double
quantile(const float *v, size_t n, double share, float *space)
{
	size_t valid = 0, rank;
	float found = 0;

	for (size_t i = 0; i < n; i++)
		if (!isnan(v[i]))
			space[valid++] = v[i];
	rank = (size_t)(share * (double)(valid ? valid - 1 : 0));
	if (valid)
		numbers_ranks(space, valid, &rank, 1, &found);
	return found;
}

/* Pixels that are saturated lose their swing, and are counted. */
static void
drop_saturated(const struct choice *choice, double least, struct pixels *out)
{
	size_t w = choice->in->head.w;

	for (size_t at = 0; at < out->total; at++) {
		bool any = false;

		if (!(choice->swing[at] >= least))
			continue;
		out->lit++;
		for (size_t i = 0; i < choice->images; i++)
			if ((double)frame_sample(choice->in, choice->plane[i], at / w, at % w) >=
			    choice->most) {
				choice->saturated[i]++;
				any = true;
			}
		out->saturated += any;
		if (any)
			choice->swing[at] = NAN;
	}
}

static int
check(const struct choice *choice, const struct pixels *pixels)
{
	size_t worst = 0;

	if (pixels->lit < FEWEST)
		return fail(NULL, "%zu of %zu pixels change from image to image, at least %d are "
		    "needed", pixels->lit, pixels->total, FEWEST);
	for (size_t i = 1; i < choice->images; i++)
		if (choice->saturated[i] > choice->saturated[worst])
			worst = i;
	if ((double)pixels->saturated > SATURATED_MOST * (double)pixels->lit)
		return fail(NULL, "%.0f %% of the pixels that change are saturated at %g, image "
		    "%zu in %.0f %%: expose less", 100.0 * (double)pixels->saturated /
		    (double)pixels->lit, choice->most, worst + 1,
		    100.0 * (double)choice->saturated[worst] / (double)pixels->lit);
	if (pixels->lit - pixels->saturated < FEWEST)
		return fail(NULL, "%zu of %zu pixels change and are not saturated, at least %d are "
		    "needed", pixels->lit - pixels->saturated, pixels->total, FEWEST);
	return 0;
}

static size_t
part_of(const struct choice *choice, size_t at, double middle)
{
	size_t w = choice->in->head.w, h = choice->in->head.h;
	size_t column = at % w * PIXELS_SIDE / w, row = at / w * PIXELS_SIDE / h;

	return 2 * (row * PIXELS_SIDE + column) + (choice->mean[at] > middle);
}

/* Copies every `stride`th pixel that qualifies to the place of its part. */
static void
copy(const struct choice *choice, double least, double middle, size_t stride, struct pixels *out)
{
	size_t next[PIXELS_PARTS], w = choice->in->head.w, seen = 0;

	memcpy(next, out->first, sizeof(next));
	for (size_t at = 0; at < out->total; at++) {
		double *v;

		if (!(choice->swing[at] >= least) || seen++ % stride)
			continue;
		v = out->v + out->images * next[part_of(choice, at, middle)]++;
		for (size_t i = 0; i < out->images; i++)
			v[i] = (double)frame_sample(choice->in, choice->plane[i], at / w, at % w);
		out->place[part_of(choice, at, middle)][0] += (double)(at % w);
		out->place[part_of(choice, at, middle)][1] += (double)(at / w);
	}
	for (size_t i = 0; i < PIXELS_PARTS; i++) {
		double n = (double)(out->first[i + 1] - out->first[i]);

		out->place[i][0] = out->place[i][0] / n - (double)(w - 1) / 2;
		out->place[i][1] = out->place[i][1] / n - (double)(choice->in->head.h - 1) / 2;
	}
}

static int
gather(const struct choice *choice, double least, struct pixels *out, float *space)
{
	size_t count[PIXELS_PARTS] = { 0 }, seen = 0;
	size_t stride = (out->lit - out->saturated + PIXELS_MOST - 1) / PIXELS_MOST, size;
	double middle;

	for (size_t at = 0; at < out->total; at++)
		if (!(choice->swing[at] >= least))
			choice->mean[at] = NAN;
	middle = quantile(choice->mean, out->total, 0.5, space);
	for (size_t at = 0; at < out->total; at++)
		if (choice->swing[at] >= least && seen++ % stride == 0)
			count[part_of(choice, at, middle)]++;
	for (size_t i = 0; i < PIXELS_PARTS; i++)
		out->first[i + 1] = out->first[i] + count[i];
	out->n = out->first[PIXELS_PARTS];
	if (size_multiply(out->n, out->images * sizeof(*out->v), &size) < 0)
		return -1;
	out->v = malloc(size);
	if (!out->v)
		return fail_memory();
	copy(choice, least, middle, stride, out);
	return 0;
}

int
pixels_take(const struct frame *in, const size_t *plane, size_t images, double most,
    double least_swing, struct pixels *out)
{
	struct choice choice = { in, plane, images, most };
	float *space;
	double least;
	int status = -1;

	*out = (struct pixels){ .images = images };
	if (size_multiply(in->head.w, in->head.h, &out->total) < 0)
		return -1;
	choice.swing = reallocarray(NULL, out->total, sizeof(float));
	choice.mean = reallocarray(NULL, out->total, sizeof(float));
	choice.saturated = calloc(images, sizeof(size_t));
	space = reallocarray(NULL, out->total, sizeof(float));
	if (choice.swing && choice.mean && choice.saturated && space) {
		for (size_t y = 0; y < in->head.h; y++)
			for (size_t x = 0; x < in->head.w; x++)
				look(&choice, x, y);
		least = isnan(least_swing) ?
		    0.25 * quantile(choice.swing, out->total, 0.9, space) : least_swing;
		least = fmax(least, 1e-30);
		drop_saturated(&choice, least, out);
		status = check(&choice, out);
		if (status == 0)
			status = gather(&choice, least, out, space);
	} else {
		fail_memory();
	}
	free(choice.swing);
	free(choice.mean);
	free(choice.saturated);
	free(space);
	return status;
}

void
pixels_free(struct pixels *pixels)
{
	free(pixels->v);
	*pixels = (struct pixels){ 0 };
}
