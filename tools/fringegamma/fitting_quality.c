/* How good a fit is: errors, what it leaves unexplained, how parts differ; and where it is none. */
#include "fitting.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "normal_equations.h"

#define COVERED 24		/* of them must have pixels */
#define NO_FRINGES 0.7		/* of the amplitude, left by sinusoids: of noise it is 1 and more */
#define SHIFT_MOST 0.2		/* rad: more is another step */
#define FEWEST 200		/* pixels of a part that count for the spread */

/* The larger of two variances: by the noise that the fit leaves, and by how much the parts' sums
 * differ, which is also of what is no noise (the sandwich estimate of clusters). */
static void
find_errors(struct fitting *f, const struct part *sum, const double *inverse, double noise)
{
	size_t p = f->unknowns, parts = 0;
	double scatter[FITTING_UNKNOWNS] = { 0 };

	for (size_t i = 0; i < PIXELS_PARTS; i++) {
		if (f->part[i].pixels == 0)
			continue;
		parts++;
		for (size_t a = 0; a < p; a++) {
			double shift = 0;

			for (size_t b = 0; b < p; b++)
				shift += inverse[a * p + b] * (f->part[i].right[b] -
				    sum->right[b] * (double)f->part[i].pixels /
				    (double)sum->pixels);
			scatter[a] += shift * shift;
		}
	}
	for (size_t a = 0; a < p; a++) {
		double by_parts = parts > 1 ?
		    scatter[a] * (double)parts / (double)(parts - 1) : 0;
		double error = sqrt(fmax(by_parts, noise * fmax(inverse[a * p + a], 0)));

		if (a >= 2 * f->n + f->fit->images)
			f->fit->shift_error = fmax(f->fit->shift_error, error);
		else if (a >= 2 * f->n)
			f->fit->gain_error = fmax(f->fit->gain_error, error);
		else
			*(a % 2 ? &f->fit->sine_error[f->k[a / 2]] :
			    &f->fit->cosine_error[f->k[a / 2]]) = error;
	}
}

/* The harmonics that a part alone would have differ by what its sums lack. */
static double
find_spread(const struct fitting *f, double noise, double *space)
{
	size_t p = f->unknowns, columns = 2 * f->n;
	double sum = 0, power = 0;

	for (size_t i = 0; i < PIXELS_PARTS; i++) {
		const struct part *part = &f->part[i];
		double square = 0;

		for (size_t a = 0; a < columns; a++)
			memcpy(space + a * columns, part->normal + a * p, columns * sizeof(*space));
		if (part->pixels < FEWEST || !normal_equations_invert(space, columns))
			continue;
		for (size_t a = 0; a < columns; a++) {
			double shift = 0;

			for (size_t b = 0; b < columns; b++)
				shift += space[a * columns + b] * part->right[b];
			square += shift * shift - noise * space[a * columns + a];
		}
		sum += part->power * square;
		power += part->power;
	}
	return sqrt(fmax(power > 0 ? sum / power : 0, 0));
}

static double
find_unexplained(const struct fitting *f, const struct part *sum, double noise)
{
	size_t images = f->fit->images;
	double squares = 0, bins = 0;

	for (size_t b = 0; b < FITTING_BINS; b++) {
		if (sum->bin_power[b] <= 0)
			continue;
		bins++;
		for (size_t n = 0; n < images; n++) {
			double mean = sum->bin[b][n] / sum->bin_power[b];

			squares += mean * mean -
			    noise * (double)(images - 3) / (double)images / sum->bin_power[b];
		}
	}
	return sqrt(fmax(squares, 0) / fmax(bins * (double)(images - 3), 1));
}

void
fitting_judge(struct fitting *f, const struct part *sum, const double *inverse, double *space)
{
	struct harmonic_fit *fit = f->fit;
	double freedom = (double)sum->pixels * (double)(fit->images - 3);
	double noise = sum->squares / freedom, square = sum->power / (double)sum->pixels;

	fit->amplitude = sqrt(square);
	fit->misfit = sqrt(noise / square);
	fit->sinusoid_misfit = sqrt(sum->sinusoid_squares / freedom / square);
	fit->unexplained = find_unexplained(f, sum, noise);
	find_errors(f, sum, inverse, noise);
	fit->spread = find_spread(f, noise, space);
}

int
fitting_check_fringes(const struct fitting *f, const struct part *sum)
{
	double freedom = (double)sum->pixels * (double)(f->fit->images - 3);
	double square = sum->power / (double)sum->pixels;
	double misfit = sqrt(sum->sinusoid_squares / freedom / square);
	size_t covered = 0;

	for (size_t b = 0; b < FITTING_BINS; b++)
		covered += sum->bin_power[b] > 0;
	if (!(misfit < NO_FRINGES))
		return fail(NULL, "these images have no fringes of %zu steps, or are exchanged: "
		    "sinusoids leave %.2f of the amplitude", f->fit->images, misfit);
	if (covered < COVERED)
		return fail(NULL, "the phases leave %zu of %d parts of the circle out: more "
		    "fringes are needed", FITTING_BINS - covered, FITTING_BINS);
	return 0;
}

int
fitting_check_shifts(const struct harmonic_fit *fit)
{
	size_t worst = 0;

	for (size_t n = 1; n < fit->images; n++)
		if (fabs(fit->shift[n]) > fabs(fit->shift[worst]))
			worst = n;
	if (fabs(fit->shift[worst]) <= SHIFT_MOST + 3 * fit->shift_error)
		return 0;
	return fail(NULL, "image %zu is %.0f degrees off its step: images are exchanged, one is "
	    "missing, or the shifts are others", worst + 1, fit->shift[worst] * 180 / M_PI);
}
