/* Harmonics of projected fringes: one fit over the pixels of all parts of the picture, whose normal
 * equations are kept apart. */
#include "fitting.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "fringe/phase_shift_weights.h"
#include "normal_equations.h"
#include "run/run.h"

#define ROUNDS 30
#define CONVERGED 1e-8
#define SEEN 0.02		/* of a harmonic's square that steps must leave visible */
#define PULL 1e-2		/* of gains and shifts to 0, over their own weight */

/* ---- what steps see ---- */

/* Does an N-step set see harmonic k: is anything left of cos(k d) and sin(k d) when their constant,
 * cos d and sin d are taken out? */
static bool
harmonic_fit_sees(const double *shift_rad, size_t images, long k)
{
	double normal[3][3] = { { 0 } }, inverse[3][3], along[2][3] = { { 0 } }, square = 0;

	for (size_t n = 0; n < images; n++) {
		double basis[3] = { 1, cos(shift_rad[n]), sin(shift_rad[n]) };
		double wave[2] = { cos((double)k * shift_rad[n]), sin((double)k * shift_rad[n]) };

		for (int a = 0; a < 3; a++) {
			for (int b = 0; b < 3; b++)
				normal[a][b] += basis[a] * basis[b];
			along[0][a] += wave[0] * basis[a];
			along[1][a] += wave[1] * basis[a];
		}
		square += 1;
	}
	if (!(fabs(phase_shift_invert(normal, inverse)) > 1e-9))
		return false;
	for (int i = 0; i < 2; i++)
		for (int a = 0; a < 3; a++)
			for (int b = 0; b < 3; b++)
				square -= along[i][a] * inverse[a][b] * along[i][b];
	return square > SEEN * (double)images;
}

long
harmonic_fit_reach(const double *shift_rad, size_t images)
{
	long k = 1;

	while (k < FIT_HIGHEST && harmonic_fit_sees(shift_rad, images, k + 1))
		k++;
	return k;
}

/* ---- the common unknowns ---- */

/* Gains and shifts are pulled to 0, and strongly so their mean, which nothing determines. */
static void
hold(const struct fitting *f, struct part *sum, size_t first, const double *value)
{
	size_t p = f->unknowns, images = f->fit->images;
	double weight = 0, total = 0;

	for (size_t n = 0; n < images; n++) {
		weight += sum->normal[(first + n) * (p + 1)] / (double)images;
		total += value[n];
	}
	for (size_t n = first; n < first + images; n++) {
		sum->right[n] -= weight * (total + PULL * value[n - first]);
		sum->normal[n * p + n] += PULL * weight;
		for (size_t m = first; m < first + images; m++)
			sum->normal[n * p + m] += weight;
	}
}

/* The sum of all parts, in their order. */
static void
add_parts(const struct fitting *f, struct part *sum)
{
	size_t p = f->unknowns, columns = 2 * f->n, images = f->fit->images;

	memset(sum, 0, sizeof(*sum));
	for (size_t i = 0; i < PIXELS_PARTS; i++) {
		const struct part *part = &f->part[i];

		for (size_t j = 0; j < p * p; j++)
			sum->normal[j] += part->normal[j];
		for (size_t j = 0; j < p; j++)
			sum->right[j] += part->right[j];
		sum->squares += part->squares;
		sum->sinusoid_squares += part->sinusoid_squares;
		sum->power += part->power;
		sum->pixels += part->pixels;
		for (size_t b = 0; b < FITTING_BINS; b++) {
			sum->bin_power[b] += part->bin_power[b];
			for (size_t n = 0; n < images; n++)
				sum->bin[b][n] += part->bin[b][n];
		}
	}
	for (int i = 0; i < 2; i++)
		hold(f, sum, columns + (size_t)i * images, i ? f->fit->shift : f->fit->gain);
}

static void
turn(struct fitting *f)
{
	for (size_t n = 0; n < f->fit->images; n++) {
		f->turn[n][0] = cos(f->fit->shift_rad[n] + f->fit->shift[n]);
		f->turn[n][1] = sin(f->fit->shift_rad[n] + f->fit->shift[n]);
	}
}

/* A step; its largest component. *inverse: of the normal equations. Negative after fail(). */
static double
step(struct fitting *f, const struct part *sum, double *inverse)
{
	size_t p = f->unknowns;
	double largest = 0;

	memcpy(inverse, sum->normal, p * p * sizeof(*inverse));
	if (!normal_equations_invert(inverse, p)) {
		fail(NULL, "the fit of harmonics to these %zu steps does not settle: images are "
		    "exchanged, one is missing, or the fringes are too few", f->fit->images);
		return -1;
	}
	for (size_t a = 0; a < p; a++) {
		double change = 0, *at;

		for (size_t b = 0; b < p; b++)
			change += inverse[a * p + b] * sum->right[b];
		if (a >= 2 * f->n + f->fit->images)
			at = &f->fit->shift[a - 2 * f->n - f->fit->images];
		else if (a >= 2 * f->n)
			at = &f->fit->gain[a - 2 * f->n];
		else
			at = a % 2 ? &f->fit->sine[f->k[a / 2]] : &f->fit->cosine[f->k[a / 2]];
		*at += change;
		if (a >= 2 * f->n)
			*at = fmax(-0.5, fmin(*at, 1));
		largest = fmax(largest, fabs(change));
	}
	turn(f);
	return largest;
}

/* ---- the fit ---- */

static int
prepare(struct fitting *f)
{
	struct harmonic_fit *fit = f->fit;
	double normal[3][3] = { { 0 } }, inverse[3][3];

	for (size_t n = 0; n < fit->images; n++) {
		double row[3] = { 1, cos(fit->shift_rad[n]), -sin(fit->shift_rad[n]) };

		for (int a = 0; a < 3; a++)
			for (int b = 0; b < 3; b++)
				normal[a][b] += row[a] * row[b];
	}
	turn(f);
	if (!(fabs(phase_shift_invert(normal, inverse)) > 1e-6))
		return fail(NULL, "the shifts do not determine a phase");
	for (size_t n = 0; n < fit->images; n++) {
		double row[3] = { 1, f->turn[n][0], -f->turn[n][1] };

		for (int a = 0; a < 3; a++)
			f->weight[n][a] = inverse[a][0] * row[0] + inverse[a][1] * row[1] +
			    inverse[a][2] * row[2];
	}
	for (long k = 2; k <= fit->highest; k++) {
		fit->seen[k] = harmonic_fit_sees(fit->shift_rad, fit->images, k);
		if (fit->seen[k])
			f->k[f->n++] = k;
	}
	f->unknowns = 2 * f->n + 2 * fit->images;
	for (size_t i = 0; i < f->pixels->n; i++)
		f->pixel[i] = fitting_begin(f, f->pixels->v + i * fit->images);
	return 0;
}

static int
iterate(struct run *run, struct fitting *f, struct part *sum, double *space)
{
	double *inverse = space + FITTING_UNKNOWNS * FITTING_UNKNOWNS, largest = 1;

	for (int round = 0; round < ROUNDS && largest > CONVERGED; round++) {
		run_for(run, PIXELS_PARTS, fitting_add_part, f);
		add_parts(f, sum);
		if (sum->pixels == 0)
			return fail(NULL, "these images have no fringes");
		if (round == 0 && fitting_check_fringes(f, sum) < 0)
			return -1;
		largest = step(f, sum, inverse);
		if (largest < 0)
			return -1;
	}
	run_for(run, PIXELS_PARTS, fitting_add_part, f);
	add_parts(f, sum);
	fitting_judge(f, sum, inverse, space);
	if (f->fit->slopes && fitting_slopes(f) < 0)
		return -1;
	return fitting_check_shifts(f->fit);
}

int
harmonic_fit(struct run *run, const struct pixels *pixels, struct harmonic_fit *fit)
{
	struct fitting f = { .fit = fit, .pixels = pixels };
	struct part *sum = malloc(sizeof(*sum));
	double *space = malloc(2 * FITTING_UNKNOWNS * FITTING_UNKNOWNS * sizeof(*space));
	int status;

	f.pixel = reallocarray(NULL, pixels->n, sizeof(*f.pixel));
	f.part = calloc(PIXELS_PARTS, sizeof(*f.part));
	if (!f.pixel || !f.part || !sum || !space)
		status = fail_memory();
	else
		status = prepare(&f);
	if (status == 0)
		status = iterate(run, &f, sum, space);
	free(f.pixel);
	free(f.part);
	free(sum);
	free(space);
	return status;
}
