#include "feature/line_asymmetry.h"

#include <math.h>

#include "feature/line_level.h"

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

void
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
