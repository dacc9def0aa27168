#include "likeness.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/numbers.h"

#define APART 4			/* pixels between the two ends of an edge */
#define EDGE 0.05		/* of the level */
#define NOISES 6.0
#define FLAT 3			/* times less change on both sides: light is no edge */
#define STEPS 3.0		/* times the usual distance: an edge of depth is no print */
#define EDGES_LEAST 1000
#define SAMPLES 65536
#define LIKE 0.7		/* correlation; the right camera has 0.9 and more */

struct likeness {
	const struct visible_points *points;
	const struct frame *colours;
	size_t channel, w, h;
	double noise;
	double tt, tc[3], cc[3];	/* sums of products, of the channel and of r g b */
	size_t n;
};

static double
level(const struct likeness *likeness, size_t x, size_t y)
{
	return (double)frame_floats(likeness->points->frame, likeness->channel, y)[x];
}

/* The standard deviation of the noise, by second differences; infinite where there are none. */
static double
find_noise(const struct likeness *likeness)
{
	size_t pixels = likeness->w * likeness->h, stride = pixels / SAMPLES + 1, n = 0;
	float *v = malloc(SAMPLES * sizeof(*v)), median = INFINITY;

	for (size_t i = 0; i < pixels && v && n < SAMPLES; i += stride) {
		size_t x = i % likeness->w, y = i / likeness->w;

		if (x == 0 || x + 1 == likeness->w)
			continue;
		v[n] = (float)fabs(level(likeness, x - 1, y) - 2 * level(likeness, x, y) +
		    level(likeness, x + 1, y));
		n += !isnan(v[n]);
	}
	if (n)
		numbers_ranks(v, n, &(size_t){ n / 2 }, 1, &median);
	free(v);
	return (double)median / 0.6745 / sqrt(6);
}

/* The edge from a pixel to the one APART from it along a row or a column. */
static void
add(struct likeness *likeness, size_t x, size_t y, size_t right, size_t down)
{
	double a = level(likeness, x, y), b = level(likeness, x + right, y + down);
	double step = fabs(b - a), X[3], Y[3], d[3];

	if (!(step > EDGE * (fabs(a) + fabs(b)) / 2) || !(step > NOISES * likeness->noise) ||
	    !(FLAT * fabs(a - level(likeness, x - right, y - down)) < step) ||
	    !(FLAT * fabs(b - level(likeness, x + 2 * right, y + 2 * down)) < step) ||
	    !visible_points_at(likeness->points, x, y, X) ||
	    !visible_points_at(likeness->points, x + right, y + down, Y) ||
	    !(visible_points_distance(X, Y) <= STEPS * APART * likeness->points->spacing))
		return;
	for (size_t k = 0; k < 3; k++)
		d[k] = (double)frame_floats(likeness->colours, k, y + down)[x + right] -
		    (double)frame_floats(likeness->colours, k, y)[x];
	if (isnan(d[0]))
		return;
	likeness->n++;
	likeness->tt += (b - a) * (b - a);
	for (size_t k = 0; k < 3; k++) {
		likeness->tc[k] += (b - a) * d[k];
		likeness->cc[k] += d[k] * d[k];
	}
}

static double
find(const struct visible_points *points, const struct frame *colours)
{
	static const char *const names[] = { "texture", "gray", "image" };
	const struct frame_head *head = &points->frame->head;
	struct likeness likeness = { .points = points, .colours = colours, .w = head->w,
		.h = head->h, .channel = NO_CHANNEL };
	double best = -1;

	for (size_t i = 0; i < 3 && likeness.channel == NO_CHANNEL; i++)
		likeness.channel = head_channel(head, names[i]);
	if (likeness.channel == NO_CHANNEL)
		return NAN;
	likeness.noise = find_noise(&likeness);
	for (size_t y = 0; y < head->h; y++)
		for (size_t x = 0; x < head->w; x++) {
			if (x >= APART && x + 2 * APART < head->w)
				add(&likeness, x, y, APART, 0);
			if (y >= APART && y + 2 * APART < head->h)
				add(&likeness, x, y, 0, APART);
		}
	if (likeness.n < EDGES_LEAST)
		return NAN;
	for (size_t k = 0; k < 3; k++)
		best = fmax(best, likeness.cc[k] > 0 ?
		    likeness.tc[k] / sqrt(likeness.tt * likeness.cc[k]) : 0);
	return best;
}

void
likeness_check(const struct run *run, const struct visible_points *points,
    const struct frame *colours)
{
	double likeness = find(points, colours);

	if (run->verbose && !isnan(likeness))
		note(NULL, "edges on the surface have a correlation of %.2f with those of the "
		    "points' own picture", likeness);
	if (likeness < LIKE)
		warn("--image", "shows other edges on the surface than the points' own picture "
		    "(correlation %.2f): was it this camera that took it?", likeness);
}
