/*
 * Centres of laser lines to a fraction of a pixel by Steger's method (IEEE PAMI 20(2), 1998): ridge
 * points from the Hessian, corrected for lines with unequal sides, linked to curves, with their
 * standard deviation from the image's noise.
 */
#include "feature/line.h"

#include <math.h>
#include <stdatomic.h>

#include "base/numbers.h"
#include "base/process.h"
#include "base/px.h"
#include "feature/line_loops.h"

/* What is tabulated: ratios from RATIO_LEAST to 1, half widths from WIDTH_LEAST to WIDTH_MOST. */
#define RATIO_LEAST 0.2
#define WIDTH_LEAST 1.05
#define WIDTH_MOST 2.65
#define STEPS_A 40
#define STEPS_W 60
#define W_LEAST 0.1
#define W_MOST 2.6
/*
 * A step under the line needs, at the same ratio of gradients, 2.2 times the shift of eq 10 where
 * sigma is the line's own; nothing in the ratio tells one from the other, and what could, the
 * places of the inflection points, is noisier than what it mends. This lies between both.
 */
#define BETWEEN 1.3

/* Line of standard deviation w, whose side x > 0 is a high: a + (1 - a) exp(-x^2/(2 w^2)). */
struct profile {
	double w, a, s;		/* s^2 = w^2 + 1 */
};

static double
normal_density(double x)
{
	return exp(-x * x / 2) / sqrt(2 * M_PI);
}

/* The line without its side, smoothed, at x. */
static double
bright_part(const struct profile *p, double x)
{
	return p->w / p->s * exp(-x * x / (2 * p->s * p->s)) *
	    (1 - p->a * erfc(-x * p->w / p->s * M_SQRT1_2) / 2);
}

/* First and second derivative of the smoothed profile, times s^2. */
static double
first(const struct profile *p, double x)
{
	return p->a * normal_density(x) - x * bright_part(p, x);
}

static double
second(const struct profile *p, double x)
{
	double v = 1 / (p->s * p->s);

	return bright_part(p, x) * (x * x * v - 1) - p->a * x * normal_density(x) * v;
}

/* Where f changes sign between from and to. */
static double
zero(double (*f)(const struct profile *, double), const struct profile *p, double from, double to)
{
	double at_from = f(p, from);

	for (int i = 0; i < 40; i++) {
		double middle = (from + to) / 2;

		if ((f(p, middle) < 0) == (at_from < 0))
			from = middle;
		else
			to = middle;
	}
	return (from + to) / 2;
}

/* What such a line shows. */
struct appearance {
	double ratio, half_width, shift;
};

static struct appearance
appearance_of(double w, double a)
{
	struct profile p = { w, a, sqrt(1 + w * w) };
	double point = zero(first, &p, 0, 2 * p.s);
	double left = zero(second, &p, 0, -3 * p.s), right = zero(second, &p, point, 3 * p.s);

	return (struct appearance){ -first(&p, right) / first(&p, left), (right - left) / 2,
		point };
}

/* a of the row of one w at that ratio, between neighbours. */
static struct appearance
at_ratio(const struct appearance row[STEPS_A], double ratio)
{
	int i = 1;
	double t;

	while (i < STEPS_A - 1 && row[i].ratio > ratio)
		i++;
	t = (row[i - 1].ratio - ratio) / (row[i - 1].ratio - row[i].ratio);
	t = fmin(fmax(t, 0), 1);
	return (struct appearance){ ratio,
		row[i - 1].half_width + t * (row[i].half_width - row[i - 1].half_width),
		row[i - 1].shift + t * (row[i].shift - row[i - 1].shift) };
}

static void
line_asymmetry_init(struct line_asymmetry *table)
{
	struct appearance all[STEPS_W][STEPS_A];

	for (int i = 0; i < STEPS_W; i++) {
		double w = W_LEAST + (W_MOST - W_LEAST) * i / (STEPS_W - 1);

		for (int j = 0; j < STEPS_A; j++)
			all[i][j] = appearance_of(w, 0.9 * j / (STEPS_A - 1));
	}
	for (int r = 0; r < LINE_ASYMMETRY_RATIOS; r++) {
		double ratio = RATIO_LEAST + (1 - RATIO_LEAST) * r / (LINE_ASYMMETRY_RATIOS - 1);
		struct appearance row[STEPS_W];

		for (int i = 0; i < STEPS_W; i++)
			row[i] = at_ratio(all[i], ratio);
		for (int c = 0, i = 1; c < LINE_ASYMMETRY_WIDTHS; c++) {
			double width = WIDTH_LEAST +
			    (WIDTH_MOST - WIDTH_LEAST) * c / (LINE_ASYMMETRY_WIDTHS - 1), t;

			while (i < STEPS_W - 1 && row[i].half_width < width)
				i++;
			t = (width - row[i - 1].half_width) /
			    (row[i].half_width - row[i - 1].half_width);
			t = fmin(fmax(t, 0), 1);
			table->shift[r][c] = (float)(BETWEEN *
			    (row[i - 1].shift + t * (row[i].shift - row[i - 1].shift)));
		}
	}
}

/* Place x of a table of n columns from `least` to `most`, as a column and a share of the next. */
static int
place(double x, double least, double most, int n, float *share)
{
	double at = (x - least) / (most - least) * (n - 1);
	int i;

	at = fmin(fmax(at, 0), n - 1);
	i = at < n - 2 ? (int)at : n - 2;
	*share = (float)(at - i);
	return i;
}

/* How far, towards the side of the weaker gradient, the point was moved. half_width: half the
 * distance of the inflection points; the magnitudes of the gradients there. */
static float
line_asymmetry_shift(const struct line_asymmetry *table, float half_width, float left, float right)
{
	float least = fminf(left, right), most = fmaxf(left, right), r, c;
	int i, j;

	if (!(least > 0))
		return 0;
	i = place((double)(least / most), RATIO_LEAST, 1, LINE_ASYMMETRY_RATIOS, &r);
	j = place((double)half_width, WIDTH_LEAST, WIDTH_MOST, LINE_ASYMMETRY_WIDTHS, &c);
	return (1 - r) * ((1 - c) * table->shift[i][j] + c * table->shift[i][j + 1]) +
	    r * ((1 - c) * table->shift[i + 1][j] + c * table->shift[i + 1][j + 1]);
}

/* Back towards the side of the stronger gradient. */
void
line_asymmetry_correct(const struct line_filter *f, struct line_candidate *c, float half_width,
    float left, float right)
{
	float sigma = (float)f->kernels.sigma, shift;

	if (!f->asymmetry || !(c->width >= 0))
		return;
	shift = sigma * line_asymmetry_shift(f->asymmetry, half_width / sigma, left, right);
	if (left < right)
		shift = -shift;
	c->du -= shift * c->nu;
	c->dv -= shift * c->nv;
}

#define SAME_PX 0.1f	/* points of neighbouring pixels nearer than this are one point */

struct linking {
	struct line_map *map;
	const struct line_candidate *v;
	size_t n;
};

static void
make_room(struct line_map *map, size_t w, size_t h, size_t n)
{
	if (map->w != w || map->h != h) {
		free(map->at);
		map->at = must_alloc(w * h, sizeof(*map->at));
		map->w = w;
		map->h = h;
	}
	if (n > map->room) {
		size_t room = n + n / 2;

		free_all(map->order, map->chain, map->used);
		map->order = must_alloc(room, sizeof(*map->order));
		map->chain = must_alloc(2 * room, sizeof(*map->chain));
		map->used = must_alloc(1, room);
		map->room = room;
	}
}

/* The candidate of a pixel; SIZE_MAX: none. */
static size_t
candidate_at(const struct linking *k, ptrdiff_t x, ptrdiff_t y)
{
	uint32_t i;

	if (x < 0 || y < 0 || x >= (ptrdiff_t)k->map->w || y >= (ptrdiff_t)k->map->h)
		return SIZE_MAX;
	i = k->map->at[(size_t)y * k->map->w + (size_t)x];
	return i ? i - 1 : SIZE_MAX;
}

static float
point_u(const struct line_candidate *c)
{
	return (float)c->x + c->du;
}

static float
point_v(const struct line_candidate *c)
{
	return (float)c->y + c->dv;
}

static float
distance(const struct line_candidate *a, const struct line_candidate *b)
{
	float du = (float)((int32_t)b->x - (int32_t)a->x) + (b->du - a->du);
	float dv = (float)((int32_t)b->y - (int32_t)a->y) + (b->dv - a->dv);

	return sqrtf(du * du + dv * dv);
}

static float
from_centre(const struct line_candidate *c)
{
	return fmaxf(fabsf(c->du), fabsf(c->dv));
}

/* A point between two pixels may have come from both: the one whose centre is nearer keeps it. */
static void
drop_doubles(struct linking *k)
{
	static const int next[4][2] = { { 1, 0 }, { -1, 1 }, { 0, 1 }, { 1, 1 } };

	for (size_t i = 0; i < k->n; i++) {
		const struct line_candidate *c = &k->v[i];

		for (int d = 0; d < 4; d++) {
			size_t j = candidate_at(k, (ptrdiff_t)c->x + next[d][0],
			    (ptrdiff_t)c->y + next[d][1]);

			if (j != SIZE_MAX && distance(c, &k->v[j]) < SAME_PX)
				k->map->used[from_centre(&k->v[j]) < from_centre(c) ? i : j] = 1;
		}
	}
}

/* ---- from point to point ---- */

/* Eight directions, from the right on clockwise as seen, and the one nearest to (u, v). */
static const int around[8][2] = { { 1, 0 }, { 1, 1 }, { 0, 1 }, { -1, 1 }, { -1, 0 }, { -1, -1 },
	{ 0, -1 }, { 1, -1 } };

static int
octant(float u, float v)
{
	const float tangent = 0.41421356f;	/* of 22.5 degrees */
	float au = fabsf(u), av = fabsf(v);

	if (av <= tangent * au)
		return u > 0 ? 0 : 4;
	if (au <= tangent * av)
		return v > 0 ? 2 : 6;
	return v > 0 ? (u > 0 ? 1 : 3) : u > 0 ? 7 : 5;
}

/* The best neighbour in direction (u, v); SIZE_MAX: none that is free. */
static size_t
follow(const struct linking *k, size_t from, float u, float v)
{
	const struct line_candidate *c = &k->v[from];
	int direction = octant(u, v);
	size_t best = SIZE_MAX;
	float least = HUGE_VALF;

	for (int i = -1; i <= 1; i++) {
		const int *step = around[(direction + i) & 7];
		size_t j = candidate_at(k, (ptrdiff_t)c->x + step[0], (ptrdiff_t)c->y + step[1]);
		float cost, dot;

		if (j == SIZE_MAX || k->map->used[j])
			continue;
		dot = fminf(fabsf(c->nu * k->v[j].nu + c->nv * k->v[j].nv), 1);
		cost = distance(c, &k->v[j]) + acosf(dot);
		if (cost < least) {
			least = cost;
			best = j;
		}
	}
	return best;
}

/* From a candidate on in direction (u, v) to the end; returns the number of points. */
static size_t
walk(const struct linking *k, size_t from, float u, float v, uint32_t *chain)
{
	size_t n = 0;

	for (size_t next; (next = follow(k, from, u, v)) != SIZE_MAX; from = next) {
		const struct line_candidate *c = &k->v[next];
		float nu = -c->nv, nv = c->nu;
		float sign = nu * u + nv * v < 0 ? -1 : 1;

		u = sign * nu;
		v = sign * nv;
		k->map->used[next] = 1;
		chain[n++] = (uint32_t)next;
	}
	return n;
}

/* ---- lines ---- */

static void
add_point(struct line_map *map, size_t at, const struct line_candidate *c, float tangent_u,
    float tangent_v, uint32_t line)
{
	struct line_point *p;
	float sign;

	if (at >= map->point_room) {
		size_t room = map->point_room ? 2 * map->point_room : 1024;

		map->point = must_resize(map->point, room, sizeof(*map->point));
		map->way = must_resize(map->way, room, sizeof(*map->way));
		map->point_room = room;
	}
	/* to the left of who walks: down the image that is +u */
	sign = c->nu * tangent_v - c->nv * tangent_u < 0 ? -1 : 1;
	p = &map->point[at];
	*p = (struct line_point){ point_u(c), point_v(c), sign * c->nu, sign * c->nv, c->response,
		c->width, line };
}

/* Both halves of a line: chain[0 .. back - 1] leads away from the seed, the rest to the other side.
 * The line is written down the image, or to the right if it is wider than high. */
static void
add_line(struct linking *k, size_t seed, size_t back, size_t ahead, size_t min_length,
    struct line_points *to)
{
	const uint32_t *chain = k->map->chain;
	size_t n = back + 1 + ahead, first = to->n;
	const struct line_candidate *from = &k->v[back ? chain[back - 1] : seed];
	const struct line_candidate *end = &k->v[ahead ? chain[back + ahead - 1] : seed];
	float du = point_u(end) - point_u(from), dv = point_v(end) - point_v(from);
	bool turn = fabsf(du) > fabsf(dv) ? du < 0 : dv < 0;

	if (n < min_length)
		return;
	to->lines++;
	for (size_t i = 0; i < n; i++) {
		size_t at = turn ? n - 1 - i : i;
		/* neighbours along the line give its direction */
		size_t index[3] = { at ? at - 1 : at, at, at + 1 < n ? at + 1 : at };
		const struct line_candidate *c[3];
		float u, v;

		for (int j = 0; j < 3; j++) {
			size_t place = index[j];

			c[j] = &k->v[place < back ? chain[back - 1 - place] :
			    place == back ? seed : chain[place - 1]];
		}
		u = point_u(c[2]) - point_u(c[0]);
		v = point_v(c[2]) - point_v(c[0]);
		add_point(k->map, to->n, c[1], turn ? -u : u, turn ? -v : v,
		    (uint32_t)to->lines);
		to->n++;
	}
	/* a line of one point has no direction: its normal points to the right, or up */
	if (n == 1) {
		struct line_point *p = &k->map->point[first];

		if (p->nu < 0 || (p->nu == 0 && p->nv > 0)) {
			p->nu = -p->nu;
			p->nv = -p->nv;
		}
	}
}

/*
 * ---- lines that bend ----
 *
 * Smoothing moves an arc towards its centre. For a line of Gaussian profile of standard deviation w
 * along a circle of radius R and a Gaussian of standard deviation s, the smoothed image at radius r
 * is, with the angle integrated out,
 *	integral exp(-(q - R)^2/(2 w^2) - (r - q)^2/(2 s^2)) sqrt(q/r) (1 + s^2/(8 q r) + ...) dq
 * where root and series are the Bessel function I0(q r/s^2) of large arguments. With S = s^2 + w^2
 * both Gaussians together are one of q, of mean (w^2 r + s^2 R)/S and variance s^2 w^2/S, times
 * exp(-(r - R)^2/(2 S)). Where the logarithm's slope over r is 0,
 *	R = r + s^2/(2 r) + s^4 (s^2 + 5 w^2)/(8 S r^3) + ...
 * In s^2 are 1/12 px^2 for the area of the camera's pixels, and as much for the kernels', which are
 * integrated over pixels.
 *
 * 1/r is how fast the normal turns along the points that were found. It is taken over 4 sigma,
 * about as far as the smoothing reaches, to either side: the smaller of both, and none where they
 * turn different ways, so that the straight parts beside a bend stay where they are, and noise
 * moves straight lines little. A side counts from half that length on.
 */
#define BEND_SIGMAS 4
#define BEND_MOST 0.25		/* sigma, the largest shift; below r = 2 sigma the series ends */
#define BEND_LEAST 0.002	/* px: smaller shifts fade out; pixels alone turn normals too */

/* By how much a line of that standard deviation and curvature (1/px) has moved, px. */
static double
bend_shift(double sigma, double w, double curvature)
{
	double s2 = sigma * sigma + 1.0 / 6, w2 = isnan(w) ? s2 : w * w, k = curvature;
	double most = BEND_MOST * sigma;
	double shift = k * s2 / 2 * (1 + k * k * s2 * (s2 + 5 * w2) / (4 * (s2 + w2)));

	shift *= shift * shift / (shift * shift + BEND_LEAST * BEND_LEAST);
	return fmin(fmax(shift, -most), most);
}

/*
 * By how much line_asymmetry_correct() has moved an arc outwards, whose sides are not alike in the
 * picture where both are in the line. Of q = sigma/R the ratio of gradients has no first order; the
 * factors are measured, within 0.008 px, on Gaussian lines of w from 0.7 to 1.4 sigma, sigma 1 to
 * 4, from r 15 on; R is that of the points as they were found.
 */
static double
bend_asymmetry(double sigma, double w, double curvature)
{
	double q = sigma * curvature, t = isnan(w) ? 1 : w / sigma;

	return sigma * q * q * q * (1 + t * t) / 2 * (1 + 2.2 * q * q + 79 * q * q * q * q);
}

/* Moves the n points of a line outwards. way: room for n. */
static void
straighten(const struct line_options *options, struct line_point *p, struct line_way *way, size_t n)
{
	double sigma = options->sigma, reach = BEND_SIGMAS * sigma;

	way[0] = (struct line_way){ 0 };
	for (size_t i = 1; i < n; i++) {
		const struct line_point *a = &p[i - 1], *b = &p[i];

		way[i].along = way[i - 1].along + hypot(b->u - a->u, b->v - a->v);
		way[i].turned = way[i - 1].turned + atan2(a->nu * b->nv - a->nv * b->nu,
		    a->nu * b->nu + a->nv * b->nv);
	}
	for (size_t i = 0, from = 0, to = 0; i < n; i++) {
		double before, after, ahead, back, curvature, shift;

		while (way[i].along - way[from].along > reach)
			from++;
		while (to + 1 < n && way[to].along - way[i].along < reach)
			to++;
		before = way[i].along - way[from].along;
		after = way[to].along - way[i].along;
		back = (way[i].turned - way[from].turned) / before;
		ahead = (way[to].turned - way[i].turned) / after;
		if (before < reach / 2)
			back = ahead;
		if (after < reach / 2)
			ahead = back;
		if (fmax(before, after) < reach / 2 || back * ahead <= 0)
			continue;
		curvature = fabs(back) < fabs(ahead) ? back : ahead;
		/* a normal that turns from u to v points away from the centre */
		shift = bend_shift(sigma, (double)p[i].width / 2, curvature);
		if (options->asymmetric)
			shift -= bend_asymmetry(sigma, (double)p[i].width / 2, curvature);
		p[i].u += (float)(shift * (double)p[i].nu);
		p[i].v += (float)(shift * (double)p[i].nv);
	}
}

#define DIGITS 256

/* The strongest first; of equal ones the first: by the bits of their responses, which are positive,
 * a byte at a time. spare: room for n. */
static void
sort_by_response(uint32_t *v, const struct line_candidate *c, size_t n, uint32_t *spare)
{
	for (unsigned shift = 0; shift < 32; shift += 8) {
		size_t start[DIGITS] = { 0 }, at = 0;

		for (size_t i = 0; i < n; i++)
			start[~px_bits(c[v[i]].response) >> shift & (DIGITS - 1)]++;
		for (size_t i = 0; i < DIGITS; i++) {
			size_t count = start[i];

			start[i] = at;
			at += count;
		}
		for (size_t i = 0; i < n; i++) {
			uint32_t key = ~px_bits(c[v[i]].response) >> shift & (DIGITS - 1);

			spare[start[key]++] = v[i];
		}
		memcpy(v, spare, n * sizeof(*v));
	}
}

/* ---- how noisy an image is, and what that means for thresholds ---- */

#define PAIRS_MOST 1000000
#define NEGATIVE_PART 0.484	/* of a Gaussian's second derivative, times sigma^2 */

static double
sample_of(const struct line_plane *plane, size_t y, size_t x)
{
	const unsigned char *row = (const unsigned char *)plane->v + y * plane->stride;

	return (double)frame_sample_in(plane->type, row, x);
}

static double
value_at(const struct line_image *image, size_t y, size_t x)
{
	double v = sample_of(&image->image, y, x);

	return image->background.v ? v - sample_of(&image->background, y, x) : v;
}

/* The median of absolute differences; whole numbers stand for an interval of 1. */
static double
median_of(const float *v, size_t n, bool whole)
{
	const float median = numbers_median(v, n);
	size_t below = 0, equal = 0;
	double from, width;

	if (!whole)
		return (double)median;
	for (size_t i = 0; i < n; i++) {
		below += v[i] < median;
		equal += v[i] == median;
	}
	from = median > 0 ? (double)median - 0.5 : 0;
	width = median > 0 ? 1 : 0.5;
	return from + width * ((double)n / 2 - (double)below) / (double)equal;
}

/* Is a sample at an end of its type's range, where noise is cut off? */
static bool
clipped(const struct line_plane *plane, size_t y, size_t x)
{
	double v = sample_of(plane, y, x);

	return v <= 0 || v >= (plane->type == SAMPLE_UCHAR ? 255 : 65535);
}

/* Magnitudes of neighbours' differences in every step-th row; unclipped: but for pairs of which
 * both are clipped. */
static size_t
differences(const struct line_image *image, size_t step, bool unclipped, float *v)
{
	size_t n = 0;

	for (size_t y = 0; y < image->h; y += step) {
		for (size_t x = 0; x + 1 < image->w; x++) {
			double d = fabs(value_at(image, y, x + 1) - value_at(image, y, x));

			if (isfinite(d) && !(unclipped && clipped(&image->image, y, x) &&
			    clipped(&image->image, y, x + 1)))
				v[n++] = (float)d;
		}
	}
	return n;
}

double
line_noise(const struct line_image *image)
{
	bool whole = image->image.type != SAMPLE_FLOAT &&
	    (!image->background.v || image->background.type != SAMPLE_FLOAT);
	size_t columns = image->w - 1, n, step;
	double sigma = 0;
	float *v;

	if (!columns)
		return 0;
	step = image->h / (PAIRS_MOST / columns + 1) + 1;
	v = must_alloc((image->h / step + 1) * columns, sizeof(*v));
	n = differences(image, step, whole, v);
	/* a line on black leaves few pairs but its own slopes */
	if (n < columns * ((image->h - 1) / step + 1) / 2)
		n = differences(image, step, false, v);
	if (n)
		sigma = 1.482602218505602 * M_SQRT1_2 * median_of(v, n, whole);
	free(v);
	return sigma;
}

double
line_threshold(double sigma_noise, double sigma)
{
	return 9 * NEGATIVE_PART * sigma_noise / (sigma * sigma);
}

/* Half the sum of magnitudes of the kernel across a line of that direction: grey levels within a
 * range of 1 give no more, since its weights sum to 0. */
static double
bound_of(const struct derivative_kernels *k, double angle)
{
	double c = cos(angle), s = sin(angle), sum = 0;
	ptrdiff_t r = (ptrdiff_t)k->radius;

	for (ptrdiff_t j = -r; j <= r; j++) {
		size_t aj = (size_t)labs(j);
		double g = (double)k->weight[0][aj], g2 = (double)k->weight[2][aj];
		double g1 = j < 0 ? -(double)k->weight[1][aj] : (double)k->weight[1][aj];

		for (ptrdiff_t i = -r; i <= r; i++) {
			size_t ai = (size_t)labs(i);
			double h1 = i < 0 ? -(double)k->weight[1][ai] : (double)k->weight[1][ai];

			sum += fabs(c * c * (double)k->weight[2][ai] * g + 2 * c * s * h1 * g1 +
			    s * s * (double)k->weight[0][ai] * g2);
		}
	}
	return sum / 2;
}

/* The largest second derivative, its sign turned, that grey levels within a range of 1 can give. */
static double
line_response_bound(const struct derivative_kernels *k)
{
	double most = 0;

	/* a wide kernel is as good as the integral, in all directions */
	if (k->radius > 40)
		return 0.4865 / (k->sigma * k->sigma);
	for (int i = 0; i <= 32; i++)
		most = fmax(most, bound_of(k, M_PI / 64 * i));
	return most;
}

/* ---- points that come in pairs: the edges of one line that is wide for its sigma ---- */

#define POINTS_LEAST 10
#define NEAR_SHARE 0.1f		/* of the distance: pairs as wide as this are at one distance */
#define FAR_SIGMAS 12
#define PARALLEL 0.9f		/* cosine of two normals: the lines are of one strip */

/* The image at the pixel nearest to (u, v). */
static float
value_near(const struct line_image *image, float u, float v)
{
	float to;
	ptrdiff_t x = (ptrdiff_t)lrintf(u), w = (ptrdiff_t)image->w;

	line_span_beyond(image, lrintf(v), x < 0 ? 0 : x < w ? x : w - 1, 1, &to);
	return to;
}

static const struct line_point *
point_at(const struct line_map *map, const struct line_points *points, float u, float v)
{
	long x = lrintf(u), y = lrintf(v);
	uint32_t i;

	if (x < 0 || y < 0 || (size_t)x >= map->w || (size_t)y >= map->h)
		return NULL;
	i = map->at[(size_t)y * map->w + (size_t)x];
	return i ? &points->v[i - 1] : NULL;
}

/* How far along its normal a point has a partner on another line; 0: none. */
static float
partner(const struct line_map *map, const struct line_points *points, const struct line_point *p,
    float sigma)
{
	for (float s = sigma; s < FAR_SIGMAS * sigma; s += 0.5f) {
		const struct line_point *q = point_at(map, points, p->u + s * p->nu,
		    p->v + s * p->nv);

		if (q && q->line != p->line && fabsf(p->nu * q->nu + p->nv * q->nv) > PARALLEL)
			return (q->u - p->u) * p->nu + (q->v - p->v) * p->nv;
	}
	return 0;
}

/* Is it as bright between a point and its partner as at both, or brighter? */
static bool
no_gap(const struct line_image *image, const struct line_point *p, float s)
{
	float here = value_near(image, p->u, p->v);
	float there = value_near(image, p->u + s * p->nu, p->v + s * p->nv);
	float between = value_near(image, p->u + s / 2 * p->nu, p->v + s / 2 * p->nv);
	float outside = value_near(image, p->u - s * p->nu, p->v - s * p->nv);

	return between > (here + there) / 2 - 0.3f * fabsf((here + there) / 2 - outside);
}

static void
set_map(struct line_map *map, const struct line_points *points, bool set)
{
	for (size_t i = 0; i < points->n; i++) {
		long x = lrintf(points->v[i].u), y = lrintf(points->v[i].v);

		if (x >= 0 && y >= 0 && (size_t)x < map->w && (size_t)y < map->h)
			map->at[(size_t)y * map->w + (size_t)x] = set ? (uint32_t)i + 1 : 0;
	}
}

bool
line_points_paired(struct line_finder *finder, const struct line_image *image,
    const struct line_points *points, double *distance)
{
	struct line_map *map = &finder->map;
	float *v, median;
	size_t n = 0, near = 0;

	if (points->n < POINTS_LEAST || points->lines < 2)
		return false;
	v = must_resize(NULL, points->n, sizeof(*v));
	set_map(map, points, true);
	for (size_t i = 0; i < points->n; i++) {
		float s = partner(map, points, &points->v[i], (float)finder->filter.kernels.sigma);

		if (s > 0 && no_gap(image, &points->v[i], s))
			v[n++] = s;
	}
	set_map(map, points, false);
	median = numbers_median(v, n);
	for (size_t i = 0; i < n; i++)
		near += fabsf(v[i] - median) <= NEAR_SHARE * median;
	free(v);
	*distance = (double)median;
	/* each pair counts once: the normals of both point the same way */
	return 10 * near >= 3 * points->n;
}

/* The loops for all machines. */
const struct line_level line_level_any = LINE_LEVEL_FUNCTIONS;

#define TILE_W 32
#define TILE_H 16
#define WORK_ALIGNMENT 64

/* One pass over the image: threads take the next row of tiles until none is left. */
struct line_pass {
	struct line_finder *finder;
	const struct line_image *image;
	atomic_size_t next;
	float *strongest;		/* of each row of tiles; NULL: candidates are wanted */
};

/* ---- a finder ---- */

static size_t
round_up(size_t n, size_t step)
{
	return (n + step - 1) / step * step;
}

static void
make_weights(struct line_filter *f)
{
	size_t radius = f->kernels.radius + 1, n = 2 * radius + 1;
	double *w = must_alloc(3 * n, sizeof(*w));

	f->taps = n;
	f->room = round_up(n, LINE_LANES);
	f->weight = must_alloc((LINE_STEPS + 1) * 3 * f->room, sizeof(*f->weight));
	for (size_t q = 0; q <= LINE_STEPS; q++) {
		derivative_weights(f->kernels.sigma, radius,
		    (double)q / LINE_STEPS - 0.5, (double *const[3]){ w, w + n, w + 2 * n });
		for (size_t order = 0; order < 3; order++) {
			for (size_t i = 0; i < n; i++)
				f->weight[(q * 3 + order) * f->room + i] = (float)w[order * n + i];
		}
	}
	free(w);
}

static int
make_filter(struct line_filter *f, const struct line_options *options)
{
	f->options = *options;
	if (derivative_kernels_init(&f->kernels, options->sigma, 0) < 0)
		return -1;
	make_weights(f);
	/* the neighbours of a tile cover the kernel's window */
	f->tile_h = f->kernels.radius > TILE_H ? f->kernels.radius : TILE_H;
	f->tile_w = f->kernels.radius > TILE_W ? round_up(f->kernels.radius, LINE_LANES) : TILE_W;
	f->reach = (size_t)ceil(3 * options->sigma);
	f->near_reach = (size_t)ceil(1.5 * options->sigma);
	/* The plain offset of a line as narrow as the kernel allows, where the true one is 0.5, and
	 * some room for noise. */
	f->limit = options->plain ? 0.5f :
	    (float)(0.5 / (1 - 0.25 / (options->sigma * options->sigma)) + 0.04);
	return 0;
}

int
line_finder_new(const struct line_options *options, const struct line_level *level,
    struct line_finder **to)
{
	struct line_finder *finder = must_alloc(1, sizeof(*finder));

	*to = NULL;
	finder->level = level;
	if (make_filter(&finder->filter, options) < 0) {
		line_finder_free(finder);
		return -1;
	}
	if (options->asymmetric) {
		line_asymmetry_init(&finder->asymmetry);
		finder->filter.asymmetry = &finder->asymmetry;
	}
	line_finder_set_thresholds(finder, options->low, options->high);
	*to = finder;
	return 0;
}

static void
free_image(struct line_finder *finder)
{
	for (size_t i = 0; finder->found && i < finder->tiles_y; i++)
		free(finder->found[i].v);
	free_all(finder->found, finder->least, finder->largest, finder->active, finder->work);
	finder->found = NULL;
	finder->least = finder->largest = finder->work = NULL;
	finder->active = NULL;
	finder->w = finder->h = 0;
}

void
line_finder_free(struct line_finder *finder)
{
	if (!finder)
		return;
	free_image(finder);
	free_all(finder->all.v, finder->filter.weight, finder->map.at, finder->map.order,
	    finder->map.chain, finder->map.used, finder->map.point, finder->map.way, finder);
}

void
line_finder_set_thresholds(struct line_finder *finder, double low, double high)
{
	struct line_filter *f = &finder->filter;

	f->options.low = low;
	f->options.high = high;
	f->low = (float)low;
	/* 2 % less, for directions between those that the bound was taken of, and for rounding */
	f->skip_range = (float)(low / line_response_bound(&f->kernels) * 0.98);
}

/* ---- an image ---- */

/* Of one axis of n pixels: those from *from on, without `border` px at both ends. */
static void
cut_region(size_t n, double border, size_t *from, size_t *count)
{
	/* pixels reach half a pixel beyond the middles of the outer ones */
	size_t least = (size_t)ceil(fmax(border - 0.5, 0)), end = *from + *count;

	end = end + least < n ? end : n > least ? n - least : 0;
	*from = *from > least ? *from : least;
	*count = end > *from ? end - *from : 0;
}

void
line_finder_set_region(struct line_finder *finder, size_t w, size_t h)
{
	struct line_filter *f = &finder->filter;
	double border = f->options.border ? 0 : LINE_BORDER_SIGMAS * f->options.sigma;
	const size_t whole[4] = { 0, 0, w, h };

	memcpy(f->region, f->options.roi[2] ? f->options.roi : whole, sizeof(f->region));
	cut_region(w, border, &f->region[0], &f->region[2]);
	cut_region(h, border, &f->region[1], &f->region[3]);
}

static void
make_image(struct line_finder *finder, struct run *run, const struct line_image *image)
{
	const struct line_filter *f = &finder->filter;
	size_t tiles;

	line_finder_set_region(finder, image->w, image->h);
	if (finder->w == image->w && finder->h == image->h && finder->threads >= run->threads)
		return;
	free_image(finder);
	finder->tiles_x = (image->w + f->tile_w - 1) / f->tile_w;
	finder->tiles_y = (image->h + f->tile_h - 1) / f->tile_h;
	tiles = finder->tiles_x * finder->tiles_y;
	finder->threads = run->threads;
	finder->work_size = round_up(finder->level->work(f, image->w), WORK_ALIGNMENT);
	finder->found = must_alloc(finder->tiles_y, sizeof(*finder->found));
	finder->least = must_alloc(tiles, sizeof(*finder->least));
	finder->largest = must_alloc(tiles, sizeof(*finder->largest));
	finder->active = must_alloc(tiles, sizeof(*finder->active));
	finder->work = must_aligned((size_t)finder->threads * finder->work_size,
	    sizeof(*finder->work));
	finder->w = image->w;
	finder->h = image->h;
}

static void
ranges(void *arg, size_t thread)
{
	struct line_pass *pass = arg;
	struct line_finder *finder = pass->finder;
	float *work = finder->work + thread * finder->work_size;
	size_t i;

	while ((i = atomic_fetch_add(&pass->next, 1)) < finder->tiles_y) {
		finder->level->ranges(&finder->filter, pass->image, i, work,
		    finder->least + i * finder->tiles_x, finder->largest + i * finder->tiles_x);
	}
}

/* Does the tile's own range with that of its eight neighbours allow a point? A float image may hold
 * infinities, whose ranges allow it; a range of nothing but NaN does not. */
static bool
may_hold_point(const struct line_finder *finder, size_t tx, size_t ty)
{
	float least = HUGE_VALF, largest = -HUGE_VALF;

	for (size_t y = ty ? ty - 1 : 0; y <= ty + 1 && y < finder->tiles_y; y++) {
		for (size_t x = tx ? tx - 1 : 0; x <= tx + 1 && x < finder->tiles_x; x++) {
			float lo = finder->least[y * finder->tiles_x + x];
			float hi = finder->largest[y * finder->tiles_x + x];

			least = lo < least ? lo : least;
			largest = hi > largest ? hi : largest;
		}
	}
	return largest - least >= finder->filter.skip_range;
}

/* May a pixel of the tile hold a point? */
static bool
in_region(const struct line_filter *f, size_t tx, size_t ty)
{
	const size_t *region = f->region;
	size_t x = tx * f->tile_w, y = ty * f->tile_h;

	return x < region[0] + region[2] && x + f->tile_w > region[0] &&
	    y < region[1] + region[3] && y + f->tile_h > region[1];
}

static void
choose_tiles(struct line_finder *finder, bool all)
{
	for (size_t y = 0; y < finder->tiles_y; y++) {
		for (size_t x = 0; x < finder->tiles_x; x++) {
			finder->active[y * finder->tiles_x + x] =
			    in_region(&finder->filter, x, y) &&
			    (all || may_hold_point(finder, x, y));
		}
	}
}

static void
search(void *arg, size_t thread)
{
	struct line_pass *pass = arg;
	struct line_finder *finder = pass->finder;
	float *work = finder->work + thread * finder->work_size;
	size_t i;

	while ((i = atomic_fetch_add(&pass->next, 1)) < finder->tiles_y) {
		struct line_candidates *found = &finder->found[i];

		found->n = 0;
		finder->level->search(&finder->filter, pass->image, i,
		    finder->active + i * finder->tiles_x, work,
		    pass->strongest ? &pass->strongest[i] : NULL, found);
	}
}

static void
all_rows(struct line_pass *pass, struct run *run, void (*fn)(void *, size_t))
{
	size_t threads = (size_t)run->threads;

	atomic_store(&pass->next, 0);
	run_for(run, threads < pass->finder->tiles_y ? threads : pass->finder->tiles_y, fn, pass);
}

void
line_candidates_room(struct line_candidates *all, size_t n)
{
	if (n <= all->room)
		return;
	all->room = n + n / 2;
	all->v = must_resize(all->v, all->room, sizeof(*all->v));
}

static void
gather(struct line_finder *finder)
{
	struct line_candidates *all = &finder->all;
	size_t n = 0;

	for (size_t i = 0; i < finder->tiles_y; i++)
		n += finder->found[i].n;
	line_candidates_room(all, n);
	all->n = 0;
	for (size_t i = 0; i < finder->tiles_y; i++) {
		if (finder->found[i].n)
			memcpy(all->v + all->n, finder->found[i].v,
			    finder->found[i].n * sizeof(*all->v));
		all->n += finder->found[i].n;
	}
}

/*
 * Steger 1998, section 3.3: from the strongest candidate on that is in no line, to both sides, to
 * that of three neighbours in the line's direction with the least sum of distance in px and change
 * of direction in rad. Of two neighbours that are the same point one is dropped. A line needs a
 * candidate of response `high` and min_length points.
 */
void
line_find_listed(struct line_finder *finder, const struct line_image *image,
    struct line_points *to)
{
	const struct line_options *options = &finder->filter.options;
	struct line_map *map = &finder->map;
	struct linking k = { map, finder->all.v, finder->all.n };
	size_t w = image->w, seeds = 0;

	*to = (struct line_points){ .found = k.n };
	make_room(map, w, image->h, k.n);
	if (k.n)
		memset(map->used, 0, k.n);
	for (size_t i = 0; i < k.n; i++)
		map->at[k.v[i].y * w + k.v[i].x] = (uint32_t)i + 1;
	drop_doubles(&k);
	for (size_t i = 0; i < k.n; i++)
		if (!map->used[i] && (double)k.v[i].response > options->high)
			map->order[seeds++] = (uint32_t)i;
	if (seeds)
		sort_by_response(map->order, k.v, seeds, map->chain);
	for (size_t i = 0; i < seeds; i++) {
		size_t seed = map->order[i], back, ahead;
		const struct line_candidate *c = &k.v[seed];

		if (map->used[seed])
			continue;
		map->used[seed] = 1;
		back = walk(&k, seed, -c->nv, c->nu, map->chain);
		ahead = walk(&k, seed, c->nv, -c->nu, map->chain + back);
		add_line(&k, seed, back, ahead, options->min_length, to);
	}
	for (size_t i = 0; i < k.n; i++)
		map->at[k.v[i].y * w + k.v[i].x] = 0;
	to->v = map->point;
	for (size_t i = 0, n; i < to->n && !options->plain; i += n) {
		for (n = 1; i + n < to->n && to->v[i + n].line == to->v[i].line;)
			n++;
		straighten(options, to->v + i, map->way, n);
	}
}

void
line_find(struct line_finder *finder, struct run *run, const struct line_image *image,
    struct line_points *to)
{
	struct line_pass pass = { .finder = finder, .image = image };
	bool all = finder->filter.options.all_tiles;

	make_image(finder, run, image);
	if (!all)
		all_rows(&pass, run, ranges);
	choose_tiles(finder, all);
	all_rows(&pass, run, search);
	gather(finder);
	line_find_listed(finder, image, to);
}

double
line_strongest(struct line_finder *finder, struct run *run, const struct line_image *image)
{
	struct line_pass pass = { .finder = finder, .image = image };
	double response = 0;

	make_image(finder, run, image);
	pass.strongest = must_alloc(finder->tiles_y, sizeof(*pass.strongest));
	choose_tiles(finder, true);
	all_rows(&pass, run, search);
	for (size_t i = 0; i < finder->tiles_y; i++)	/* an fmax crashes GCC 12 for aarch64 */
		response = pass.strongest[i] > response ? pass.strongest[i] : response;
	free(pass.strongest);
	return response;
}
