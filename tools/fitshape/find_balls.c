#include "find_balls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/px.h"
#include "start.h"

#define SEARCHED 4000		/* points */
#define SEEDS 1500		/* points whose neighbours are drawn from */
#define DRAWS 8			/* fours of each */
#define NEAR 0.01		/* of the radius: a point of the sphere */
#define SIZE 0.05		/* how far a radius may be off */
#define SHELL 0.1		/* of the radius: points farther off are not the ball's */
#define SCATTERS 10		/* nor those farther off than so many standard deviations */
#define LEAST 30		/* points of a ball, of those searched */

struct search {
	const struct cloud *cloud;
	const unsigned char *taken;
	size_t n;
	size_t index[SEARCHED];
	size_t near[SEARCHED], nears;
};

static double
distance(const double a[3], const double b[3])
{
	double d[3] = { a[0] - b[0], a[1] - b[1], a[2] - b[2] };

	return sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

static size_t
drawn(size_t draw, unsigned which, size_t n)
{
	uint hash = px_hash(px_hash((uint)draw * 4 + which) ^ 0xba11ba7u);

	return (size_t)(((uint64_t)hash * n) >> 32);
}

static size_t
count_near(const struct search *search, const struct shape *ball)
{
	size_t n = 0;

	for (size_t i = 0; i < search->n; i++)
		n += fabs(distance(search->cloud->x[search->index[i]], ball->centre) -
		    ball->radius) < NEAR * ball->radius;
	return n;
}

static void
choose(struct search *search)
{
	const struct cloud *cloud = search->cloud;
	size_t left = 0, seen = 0;

	for (size_t i = 0; i < cloud->n; i++)
		left += !search->taken[i];
	search->n = 0;
	for (size_t i = 0; i < cloud->n && search->n < SEARCHED; i++)
		if (!search->taken[i] &&
		    (double)seen++ * SEARCHED >= (double)search->n * (double)left)
			search->index[search->n++] = i;
}

static size_t
best_ball(struct search *search, double radius, struct shape *best)
{
	struct shape ball = { .kind = SHAPE_SPHERE };
	size_t most = 0, now;

	for (size_t s = 0; s < SEEDS && search->n > 4; s++) {
		const double *seed =
		    search->cloud->x[search->index[drawn(s, 0, search->n)]];

		search->nears = 0;
		for (size_t i = 0; i < search->n; i++)
			if (distance(search->cloud->x[search->index[i]], seed) < 1.2 * radius)
				search->near[search->nears++] = search->index[i];
		for (size_t k = 0; k < DRAWS && search->nears > 4; k++) {
			const double *p[4] = { seed };

			for (unsigned i = 1; i < 4; i++)
				p[i] = search->cloud->x[search->near[drawn(s * DRAWS + k, i,
				    search->nears)]];
			if (!start_sphere_through(p, &ball) ||
			    fabs(ball.radius / radius - 1) > SIZE)
				continue;
			now = count_near(search, &ball);
			if (now > most) {
				most = now;
				*best = ball;
			}
		}
	}
	return most;
}

/* Least squares of the points near to it, nearer and nearer; *shell: how far off its points are. */
static int
refine(const struct search *search, double *weight, struct shape *ball, double *shell)
{
	const struct cloud *cloud = search->cloud;
	struct shape_points points = { NULL, (const double (*)[3])cloud->x, weight, cloud->n };
	static const double nears[] = { 0.05, 0.03, 0.03 };
	float *size = calloc(cloud->n + 1, sizeof(*size));
	size_t n = 0;

	if (!size)
		return fail_memory();
	for (size_t round = 0; round < 3; round++) {
		for (size_t i = 0; i < cloud->n; i++)
			weight[i] = !search->taken[i] &&
			    fabs(shape_distance(ball, cloud->x[i])) < nears[round] * ball->radius;
		if (shape_fit(&points, ball) < 0) {
			free(size);
			return -1;
		}
	}
	for (size_t i = 0; i < cloud->n; i++)
		if (weight[i] > 0)
			size[n++] = (float)fabs(shape_distance(ball, cloud->x[i]));
	*shell = fmin(SHELL * ball->radius, n ? SCATTERS * 1.4826 * start_median(size, n) +
	    1e-6 * ball->radius : 0);
	free(size);
	return 0;
}

static int
take_ball(struct search *search, unsigned char *taken, double diameter, const char *unit,
    unsigned char *drop, struct cloud *out)
{
	struct shape ball = { .kind = SHAPE_SPHERE };
	double *weight, shell = 0;
	size_t most;
	int status;

	choose(search);
	most = best_ball(search, diameter / 2, &ball);
	if (most < LEAST)
		return fail(NULL, "no ball of --diameter %g %s among the points: give --roi",
		    diameter, unit);
	weight = calloc(search->cloud->n + 1, sizeof(*weight));
	if (!weight)
		return fail_memory();
	status = refine(search, weight, &ball, &shell);
	free(weight);
	if (status < 0)
		return -1;
	for (size_t i = 0; i < search->cloud->n; i++) {
		double d = shape_distance(&ball, search->cloud->x[i]);

		drop[i] = taken[i] || fabs(d) > shell;
	}
	status = cloud_without(search->cloud, drop, out);
	for (size_t i = 0; i < search->cloud->n; i++)
		taken[i] |= shape_distance(&ball, search->cloud->x[i]) < SHELL * ball.radius;
	return status;
}

static bool
lies_left(const struct cloud *a, const struct cloud *b)
{
	for (int k = 0; k < 3; k++) {
		double ma = 0, mb = 0;

		for (size_t i = 0; i < a->n; i++)
			ma += a->x[i][k] / (double)a->n;
		for (size_t i = 0; i < b->n; i++)
			mb += b->x[i][k] / (double)b->n;
		if (ma != mb)
			return ma < mb;
	}
	return true;
}

int
find_balls(const struct cloud *cloud, const double diameter[2], const char *unit, struct cloud *a,
    struct cloud *b)
{
	unsigned char *taken = calloc(2 * cloud->n + 2, sizeof(*taken));
	struct search *search = calloc(1, sizeof(*search));
	int status = taken && search ? 0 : fail_memory();

	if (status == 0) {
		search->cloud = cloud;
		search->taken = taken;
		status = take_ball(search, taken, diameter[0], unit, taken + cloud->n + 1, a);
	}
	if (status == 0)
		status = take_ball(search, taken, diameter[1], unit, taken + cloud->n + 1, b);
	if (status == 0 && diameter[0] == diameter[1] && !lies_left(a, b)) {
		struct cloud other = *a;

		*a = *b;
		*b = other;
	}
	free(search);
	free(taken);
	return status;
}
