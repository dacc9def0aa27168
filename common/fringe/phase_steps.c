/*
 * Phase steps: the weights of an N-step sum for given shifts, fits of unknown shifts to images, and
 * the keys that name periods.
 */
#include "fringe/phase_steps.h"

#include <math.h>
#include <stdio.h>

#include "base/linear.h"
#include "base/process.h"

static const char *const keys[] = { "c_mm_per_rad", "ref_plane_rad" };

int
period_keys_convert(struct meta *meta, double from_px, double to_px)
{
	/* mm per rad and its powers grow with the period; a plane's phase in rad gets smaller */
	double longer = to_px / from_px;

	for (size_t i = 0; i < 2 && from_px != to_px; i++) {
		double factor = i ? 1 / longer : longer;
		struct numbers number;

		if (meta_numbers(meta, keys[i], &number) < 0)
			return -1;
		for (size_t k = 0; k < number.n; k++) {
			number.v[k] *= factor;
			factor *= i ? 1 : longer;
		}
		if (number.n)
			meta_set_numbers(meta, keys[i], number.v, number.n);
		numbers_free(&number);
	}
	return 0;
}

void
period_keys_remove(struct meta *meta)
{
	for (size_t i = 0; i < 2; i++)
		meta_remove(meta, keys[i]);
}

/* Row i of the design matrix for the unknowns A, B cos phi, B sin phi. */
static void
design_row(const struct capture_fringe *fringe, double sign, double origin_rad, size_t i,
    double row[3])
{
	double shift = sign * fringe->shift_rad[i] + origin_rad;
	bool flat = fringe->two_plus_one && i == 2;

	row[0] = 1;
	row[1] = flat ? 0 : cos(shift);
	row[2] = flat ? 0 : -sin(shift);
}

double
phase_shift_invert(double m[3][3], double inverse[3][3])
{
	double determinant = 0;

	for (int i = 0; i < 3; i++)
		for (int k = 0; k < 3; k++) {
			int a = (i + 1) % 3, b = (i + 2) % 3, c = (k + 1) % 3, d = (k + 2) % 3;

			inverse[k][i] = m[a][c] * m[b][d] - m[a][d] * m[b][c];
		}
	for (int i = 0; i < 3; i++)
		determinant += m[0][i] * inverse[i][0];
	for (int i = 0; i < 3 && determinant != 0; i++)
		for (int k = 0; k < 3; k++)
			inverse[i][k] /= determinant;
	return determinant;
}

/* Rounding in the angles leaves 1e-16 where the weight is 0, and where it is 1. */
static float
tidy(double v)
{
	double whole = round(v);

	return (float)(fabs(v - whole) < 1e-12 ? whole + 0.0 : v);
}

/* Would the numbers, taken for radians instead of degrees, be spread over half a turn and more? */
static bool
are_radians(const struct capture_fringe *fringe)
{
	double least = INFINITY, most = -INFINITY;

	for (size_t i = 0; i < fringe->n && !fringe->two_plus_one; i++) {
		least = fmin(least, fringe->shift_rad[i]);
		most = fmax(most, fringe->shift_rad[i]);
	}
	return (most - least) * 180 / M_PI > M_PI && (most - least) * 180 / M_PI < 2 * M_PI;
}

int
phase_shift_weights_solve(const struct capture_fringe *fringe, double sign, double origin_rad,
    struct phase_shift_fit *out)
{
	double normal[3][3] = { { 0 } }, inverse[3][3], row[3];
	double n = (double)fringe->n, determinant;
	char name[CAPTURE_SET_NAME_SIZE];

	out->n = fringe->n;
	out->weights = must_alloc(fringe->n, sizeof(*out->weights));
	out->model = must_alloc(fringe->n, sizeof(*out->model));
	for (size_t i = 0; i < fringe->n; i++) {
		design_row(fringe, sign, origin_rad, i, row);
		for (int a = 0; a < 3; a++)
			for (int b = 0; b < 3; b++)
				normal[a][b] += row[a] * row[b];
	}
	determinant = phase_shift_invert(normal, inverse);
	if (!(determinant > 1e-6 * n * n * n))
		return fail(NULL, "the shifts of %s do not determine a phase%s",
		    capture_set_name(fringe, name), are_radians(fringe) ?
		    ": they look like radians, --shift takes degrees" : "");
	for (size_t i = 0; i < fringe->n; i++) {
		double weight[3] = { 0 };

		design_row(fringe, sign, origin_rad, i, row);
		for (int a = 0; a < 3; a++)
			for (int b = 0; b < 3; b++)
				weight[a] += inverse[a][b] * row[b];
		out->weights[i] = (struct phase_shift_weights){ tidy(n * weight[0]),
			tidy(weight[1]), tidy(weight[2]) };
		out->model[i] = (struct phase_shift_model){ tidy(row[1]), tidy(row[2]) };
	}
	return 0;
}

void
phase_shift_weights_free(struct phase_shift_fit *fit)
{
	free(fit->weights);
	free(fit->model);
	fit->weights = NULL;
	fit->model = NULL;
	fit->n = 0;
}

/* The largest eigenvalue by power iteration, and its eigenvector v of length 1, orthogonal to
 * `others` vectors of length 1. */
static double
largest_eigenvalue(const double *gram, size_t n, double other[][STEP_FIT_MOST], size_t others,
    int rounds, double *v)
{
	double next[STEP_FIT_MOST], value = 0;

	for (size_t i = 0; i < n; i++)
		v[i] = 1.0 + (double)(i * i % 7);
	for (int round = 0; round < rounds; round++) {
		double length;

		if (round > 0)
			memcpy(v, next, n * sizeof(*v));
		for (size_t a = 0; a < others; a++) {
			double along = vector_dot(v, other[a], n);

			for (size_t i = 0; i < n; i++)
				v[i] -= along * other[a][i];
		}
		length = sqrt(vector_dot(v, v, n));
		for (size_t i = 0; i < n; i++)
			v[i] /= length > 0 ? length : 1;
		for (size_t i = 0; i < n; i++)
			next[i] = vector_dot(gram + i * n, v, n);
		value = vector_dot(v, next, n);
	}
	return value;
}

void
step_plane_center(const double *gram, size_t n, double *own)
{
	double row[STEP_FIT_MOST], all = 0;

	for (size_t i = 0; i < n; i++) {
		row[i] = 0;
		for (size_t j = 0; j < n; j++)
			row[i] += gram[i * n + j] / (double)n;
		all += row[i] / (double)n;
	}
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++)
			own[i * n + j] = gram[i * n + j] - row[i] - row[j] + all;
}

#define PLANE_ROUNDS 60

struct step_plane
step_plane_find(const double *gram, size_t n)
{
	struct step_plane plane = { .n = n };
	double first[1][STEP_FIT_MOST];

	for (size_t k = 0; k < 2; k++) {
		double value = largest_eigenvalue(gram, n, first, k, PLANE_ROUNDS, plane.axis[k]);

		memcpy(first[0], plane.axis[k], n * sizeof(**first));
		for (size_t i = 0; i < n; i++)
			plane.axis[k][i] /= value > 0 ? sqrt(value) : 1;
	}
	return plane;
}

double
step_plane_turns(const struct step_plane *plane, const float *v)
{
	double c = 0, s = 0, turns;

	for (size_t i = 0; i < plane->n; i++) {
		c += plane->axis[0][i] * (double)v[i];
		s += plane->axis[1][i] * (double)v[i];
	}
	turns = atan2(s, c) / (2 * M_PI);
	turns -= floor(turns);
	return turns < 1 ? turns : 0;
}

/* ---- which shifts fit a Gram matrix of images ---- */

/*
 * Limits, by the images of seven rigs and simulations of 4 to 18 steps (the mean square that a fit
 * leaves over that of the other fit): right sets reach 0.6 for exchanged images, 0.9 for a missing
 * one, 2.0 for one left out; wrong sets begin at 2.0, 1.15 and 2.1. A right set of square fringes
 * leaves 0.30 of the amplitude.
 */
#define EXCHANGED_RATIO 1.4
#define MISSING_RATIO 1.12
#define MISSING_RATIO_FOUR 1.5	/* four leave one number, which square fringes fill */
#define OTHER_RATIO 2.0
#define DRIFT_RATIO 2.0
#define DRIFT_RATIO_FOUR 6.0	/* four leave one number, which a drift alone may fill */
#define DRIFT_LEAD 1.5		/* over faults that have nothing to choose */
#define DRIFT_LIKELY 0.8	/* of what the best fault explains */
#define DRIFT_ALIKE 10.0	/* half a step off, neighbouring images look alike */
#define DRIFT_APART 0.05	/* of mean square 1: the least difference that a drift leaves */
#define DRIFT_UNFIT 0.25	/* of the amplitude: what it may leave over */
#define OUTLIER_RATIO 2.5
#define OUTLIER_LEAD 1.8	/* over the second best to leave out */
#define MIN_UNFIT 0.4	/* of the amplitude; of four images square fringes leave 0.48, */
#define MIN_UNFIT_FOUR 0.6		/* wrong ones 0.7 to 1.05 */
/* A misfit that is noise has as much of every shape: the largest eigenvalue of the residuals is the
 * mean of all. */
#define MIN_UNEVENNESS 1.5
#define UNEVEN_ROUNDS 40	/* of the power iteration */
#define MAX_ALIKE_SHARE 0.25	/* of the mean square difference of the nearest shifts */
#define SAME_SHIFT_DIFFERENCE 1e-3		/* in that difference */
#define MIN_FITTED_SHARE 0.3	/* of that difference must lie in the phases that there are */
#define ROUNDING_MISFIT 0.005	/* of the amplitude: rounding to grey levels */

struct fit {
	const double *gram;
	size_t n;
	double q[3][STEP_FIT_MOST];	/* orthonormal: the constant, the shifts' cosine and sine */
	double gq[3][STEP_FIT_MOST];	/* gram q */
	double left;		/* sum of squares that the fit leaves */
};

float
step_fit_lit_square(const float *square, size_t pixels)
{
	double least = 0;		/* at first as all that counts */

	for (int round = 0; round < 2; round++) {
		double sum = 0, n = 0;

		for (size_t p = 0; p < pixels; p++)
			if (square[p] > least) {
				sum += (double)square[p];
				n++;
			}
		least = n > 0 ? (round ? 0.25 : 0.5) * sum / n : 0;
	}
	return (float)least;
}

/* Gram-Schmidt, twice, which keeps the vectors orthogonal. False: the shifts determine no phase. */
static bool
make_basis(struct fit *fit, const double *shift_rad)
{
	for (size_t i = 0; i < fit->n; i++) {
		fit->q[0][i] = 1;
		fit->q[1][i] = cos(shift_rad[i]);
		fit->q[2][i] = sin(shift_rad[i]);
	}
	for (int a = 0; a < 3; a++) {
		double length;

		for (int b = 0; b < 2 * a; b++) {
			double along = vector_dot(fit->q[a], fit->q[b % a], fit->n);

			for (size_t i = 0; i < fit->n; i++)
				fit->q[a][i] -= along * fit->q[b % a][i];
		}
		length = sqrt(vector_dot(fit->q[a], fit->q[a], fit->n));
		if (!(length > 1e-6))
			return false;
		for (size_t i = 0; i < fit->n; i++)
			fit->q[a][i] /= length;
	}
	return true;
}

static double
trace(const double *gram, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += gram[i * n + i];
	return sum;
}

static bool
solve(struct fit *fit, const double *gram, const double *shift_rad, size_t n)
{
	fit->gram = gram;
	fit->n = n;
	if (!make_basis(fit, shift_rad))
		return false;
	fit->left = trace(gram, n);
	for (int a = 0; a < 3; a++) {
		for (size_t i = 0; i < n; i++)
			fit->gq[a][i] = vector_dot(gram + i * n, fit->q[a], n);
		fit->left -= vector_dot(fit->q[a], fit->gq[a], n);
	}
	return true;
}

/* Squares per degree of freedom; rounding may leave less than nothing. */
static double
mean_square(double left, double freedom)
{
	return left > 0 ? left / freedom : 0;
}

/* How much smaller the mean square is than the set's own. */
static double
ratio(const struct fit *fit, double mean)
{
	double own = mean_square(fit->left, (double)fit->n - 3);
	double least = ROUNDING_MISFIT * ROUNDING_MISFIT / 2;

	least *= trace(fit->gram, fit->n) / (double)fit->n;
	return own / (mean > least ? mean : least);
}

static double
ratio_of_shifts(const struct fit *fit, const double *shift_rad)
{
	struct fit other;

	if (!solve(&other, fit->gram, shift_rad, fit->n))
		return 0;
	return ratio(fit, mean_square(other.left, (double)fit->n - 3));
}

/* What is left where images i and j have each other's shift: two entries of q change places. */
static double
left_exchanged(const struct fit *fit, size_t i, size_t j)
{
	const double *g = fit->gram;
	size_t n = fit->n;
	double apart = g[i * n + i] + g[j * n + j] - 2 * g[i * n + j], left = fit->left;

	for (int a = 1; a < 3; a++) {
		double d = fit->q[a][j] - fit->q[a][i];

		left -= 2 * d * (fit->gq[a][i] - fit->gq[a][j]) + d * d * apart;
	}
	return left;
}

/* What is left without image i. */
static double
left_without(const struct fit *fit, size_t i)
{
	double residual = fit->gram[i * fit->n + i], freedom = 1;

	for (int a = 0; a < 3; a++) {
		residual -= 2 * fit->q[a][i] * fit->gq[a][i];
		freedom -= fit->q[a][i] * fit->q[a][i];
		for (int b = 0; b < 3; b++)
			residual += fit->q[a][i] * fit->q[b][i] *
			    vector_dot(fit->q[a], fit->gq[b], fit->n);
	}
	return freedom > 1e-9 ? fit->left - residual / freedom : fit->left;
}

/* A fault that explains more than `least`, and than those before. */
static void
offer(struct step_verdict *verdict, double *best, double found, double least,
    enum step_fault fault, size_t a)
{
	if (!(found > *best) || !(found > least))
		return;
	*best = found;
	verdict->fault = fault;
	verdict->a = a;
	verdict->b = 0;
}

/* How different two images should be, of mean square 1: 0 for the same shift. */
static double
expected_difference(const double *shift_rad, size_t i, size_t j, double drift_rad)
{
	double step = shift_rad[j] - shift_rad[i] + ((double)j - (double)i) * drift_rad;
	double half = sin(step / 2);

	return 4 * half * half;
}

/* Of the two shifts that are nearest, but not the same. */
static double
least_difference(const double *shift_rad, size_t n)
{
	double least = 4;

	for (size_t j = 1; j < n; j++)
		for (size_t i = 0; i < j; i++) {
			double expected = expected_difference(shift_rad, i, j, 0);

			if (expected > SAME_SHIFT_DIFFERENCE && expected < least)
				least = expected;
		}
	return least;
}

/* How different two images are by the fit: little, too, where all pixels have nearly one phase. */
static double
fitted_difference(const struct fit *fit, size_t i, size_t j)
{
	double sum = 0;

	for (int a = 0; a < 3; a++)
		for (int b = 0; b < 3; b++)
			sum += (fit->q[a][i] - fit->q[a][j]) * (fit->q[b][i] - fit->q[b][j]) *
			    vector_dot(fit->q[a], fit->gq[b], fit->n);
	return sum;
}

/* Two images that are less different than those of the nearest shifts should be, and than the other
 * images have it. */
static bool
find_alike(const struct fit *fit, const double *shift_rad, struct step_verdict *verdict)
{
	const double *g = fit->gram;
	size_t n = fit->n;
	double usual = least_difference(shift_rad, n) * trace(g, n) / (double)n;
	double least = MAX_ALIKE_SHARE * usual;

	for (size_t j = 1; j < n; j++)
		for (size_t i = 0; i < j; i++) {
			double apart = g[i * n + i] + g[j * n + j] - 2 * g[i * n + j];
			double fitted = fitted_difference(fit, i, j);

			if (apart >= least ||
			    expected_difference(shift_rad, i, j, 0) <= SAME_SHIFT_DIFFERENCE ||
			    apart >= MAX_ALIKE_SHARE * fitted || fitted < MIN_FITTED_SHARE * usual)
				continue;
			least = apart;
			verdict->fault = STEPS_ALIKE;
			verdict->a = i;
			verdict->b = j;
		}
	return verdict->fault == STEPS_ALIKE;
}

static void
find_exchanged(const struct fit *fit, struct step_verdict *verdict, double *best)
{
	struct step_verdict second = { 0 };
	double next = 0;

	for (size_t j = 1; j < fit->n; j++)
		for (size_t i = 0; i < j; i++) {
			double found = ratio(fit, mean_square(left_exchanged(fit, i, j),
			    (double)fit->n - 3));

			if (found <= EXCHANGED_RATIO)
				continue;
			if (found > *best) {
				next = *best;
				second.a = verdict->a;
				second.b = verdict->b;
				offer(verdict, best, found, EXCHANGED_RATIO, STEPS_EXCHANGED, i);
				verdict->b = j;
			} else if (found > next) {
				next = found;
				second.a = i;
				second.b = j;
			}
		}
	if (next > 0.5 * *best) {
		verdict->c = second.a;
		verdict->d = second.b;
	}
}

struct numbered {
	char text[8];
	size_t i;
};

static int
compare_text(const void *a, const void *b)
{
	return strcmp(((const struct numbered *)a)->text, ((const struct numbered *)b)->text);
}

/* Numbers from `from` on, sorted as text. */
static void
find_sorted(const struct fit *fit, const double *shift_rad, size_t from,
    struct step_verdict *verdict, double *best)
{
	struct numbered name[STEP_FIT_MOST];
	double shift[STEP_FIT_MOST], found;

	for (size_t i = 0; i < fit->n; i++) {
		snprintf(name[i].text, sizeof(name[i].text), "%zu", (i + from) % 1000);
		name[i].i = i;
	}
	qsort(name, fit->n, sizeof(*name), compare_text);
	for (size_t i = 0; i < fit->n; i++)
		shift[i] = shift_rad[name[i].i];
	found = ratio_of_shifts(fit, shift);
	offer(verdict, best, found, EXCHANGED_RATIO, STEPS_SORTED, 0);
}

/* Are the shifts steps of 360 / m degrees? */
static bool
are_equal_steps(const double *shift_rad, size_t n, size_t m)
{
	for (size_t i = 1; i < n; i++)
		if (fabs(remainder(shift_rad[i] - shift_rad[0] - 2 * M_PI * (double)i / (double)m,
		    2 * M_PI)) > 1e-6)
			return false;
	return true;
}

/* Equal steps of one more image, which is not there. */
static void
find_missing(const struct fit *fit, struct step_verdict *verdict, double *best)
{
	for (size_t gap = 1; gap <= fit->n; gap++) {
		double shift[STEP_FIT_MOST], found;

		for (size_t i = 0; i < fit->n; i++)
			shift[i] = 2 * M_PI * (double)(i + (i >= gap)) / ((double)fit->n + 1);
		found = ratio_of_shifts(fit, shift);
		offer(verdict, best, found, fit->n == 4 ? MISSING_RATIO_FOUR : MISSING_RATIO,
		    STEPS_MISSING, gap);
	}
}

static double
ratio_of_steps(const struct fit *fit, const double *shift_rad, size_t m)
{
	double shift[STEP_FIT_MOST];

	for (size_t i = 0; i < fit->n; i++)
		shift[i] = 2 * M_PI * (double)i / (double)m;
	return are_equal_steps(shift_rad, fit->n, m) ? 0 : ratio_of_shifts(fit, shift);
}

/* More of a turn, or less of it, than the images are taken for. A part of a set of which each part
 * has as many images is the likelier one of those that fit about as well. */
static void
find_other(const struct fit *fit, const double *shift_rad, struct step_verdict *verdict,
    double *best)
{
	size_t likely = 0;
	double found = OTHER_RATIO, least;

	for (size_t m = 3; m <= 4 * fit->n; m++) {
		double other = ratio_of_steps(fit, shift_rad, m);

		if (other > found) {
			found = other;
			likely = m;
		}
	}
	least = 0.6 * found;
	for (size_t m = fit->n; likely && m <= 4 * fit->n; m += fit->n) {
		double other = ratio_of_steps(fit, shift_rad, m);

		if (other > least) {
			least = other;
			likely = m;
		}
	}
	if (likely)
		offer(verdict, best, found, OTHER_RATIO, STEPS_OTHER, likely);
}

static double
ratio_of_drift(const struct fit *fit, const double *shift_rad, double drift_rad)
{
	double shift[STEP_FIT_MOST];

	for (size_t i = 0; i < fit->n; i++)
		shift[i] = shift_rad[i] + (double)i * drift_rad;
	return ratio_of_shifts(fit, shift);
}

/* The surface moved evenly, by less than half a step in the time of one: a search by ever smaller
 * steps about the best of a coarse one. */
static void
find_drift(const struct fit *fit, const double *shift_rad, struct step_verdict *verdict,
    double *best)
{
	double most = M_PI / (double)fit->n, step = most / 16, drift = 0, found = 0, least;
	bool alike = verdict->fault == STEPS_ALIKE, brings_alike;

	for (double d = -most; d <= most; d += step) {
		double other = ratio_of_drift(fit, shift_rad, d);

		if (other > found) {
			found = other;
			drift = d;
		}
	}
	for (; step > 1e-4; step /= 2)
		for (int side = -1; side <= 1; side += 2) {
			double other = ratio_of_drift(fit, shift_rad, drift + side * step / 2);

			if (other > found) {
				found = other;
				drift += side * step / 2;
			}
		}
	brings_alike = alike && expected_difference(shift_rad, verdict->a, verdict->b, drift) <
	    DRIFT_APART;
	least = alike ? DRIFT_ALIKE : fit->n == 4 ? DRIFT_RATIO_FOUR : DRIFT_RATIO;
	if (brings_alike && fit->n == 4)	/* fills the one number that four leave */
		return;
	if (found <= least || found <= DRIFT_LIKELY * *best || fabs(drift) > 0.95 * most ||
	    verdict->misfit > DRIFT_UNFIT * sqrt(found))
		return;
	verdict->drift_rad = drift;
	if (!brings_alike)
		offer(verdict, best, found, DRIFT_LEAD * *best, STEPS_DRIFT, 0);
}

static void
find_outlier(const struct fit *fit, struct step_verdict *verdict, double *best)
{
	double most = 0, second = 0;
	size_t which = 0;

	for (size_t i = 0; i < fit->n; i++) {
		double found = ratio(fit, mean_square(left_without(fit, i), (double)fit->n - 4));

		if (found > most) {
			second = most;
			most = found;
			which = i;
		} else if (found > second) {
			second = found;
		}
	}
	offer(verdict, best, most, fmax(OUTLIER_RATIO, OUTLIER_LEAD * second), STEPS_OUTLIER,
	    which);
}

struct step_verdict
step_fit_judge(const double *gram, const double *shift_rad, size_t n)
{
	struct step_verdict verdict = { .fault = STEPS_FIT };
	struct fit fit;
	double square = trace(gram, n) / (double)n, best = 0;
	double unfit = n == 4 ? MIN_UNFIT_FOUR : MIN_UNFIT;
	double v[STEP_FIT_MOST];

	if (!(square > 0) || !solve(&fit, gram, shift_rad, n))
		return verdict;
	/* The mean square of a cosine is half its amplitude's. */
	verdict.misfit = sqrt(mean_square(fit.left, (double)n - 3) / (2 * square));
	if (verdict.misfit < ROUNDING_MISFIT) {
		find_alike(&fit, shift_rad, &verdict);
		return verdict;
	}
	if (find_alike(&fit, shift_rad, &verdict)) {
		find_drift(&fit, shift_rad, &verdict, &best);
		if (verdict.fault == STEPS_DRIFT)
			verdict.better = verdict.misfit / sqrt(best);
		return verdict;
	}
	if (n >= 5)
		find_exchanged(&fit, &verdict, &best);
	if (n > 9) {
		find_sorted(&fit, shift_rad, 0, &verdict, &best);
		find_sorted(&fit, shift_rad, 1, &verdict, &best);
	}
	if (are_equal_steps(shift_rad, n, n))
		find_missing(&fit, &verdict, &best);
	find_other(&fit, shift_rad, &verdict, &best);
	if (n >= 5)
		find_outlier(&fit, &verdict, &best);
	find_drift(&fit, shift_rad, &verdict, &best);
	if (verdict.fault != STEPS_FIT)
		verdict.better = verdict.misfit / sqrt(best);
	if (verdict.better > unfit)	/* no better word than that nothing fits */
		verdict.fault = STEPS_FIT;
	if (verdict.fault == STEPS_FIT && verdict.misfit > unfit &&
	    (n == 4 || largest_eigenvalue(gram, n, fit.q, 3, UNEVEN_ROUNDS, v) >
	    MIN_UNEVENNESS * mean_square(fit.left, (double)n - 3)))
		verdict.fault = STEPS_UNFIT;
	return verdict;
}
