/*
 * Harmonics of projected fringes from N phase steps, by least squares over all pixels at once:
 *
 *	I_n = (1 + g_n) (A + B (cos p_n + sum over k (c_k cos k p_n + s_k sin k p_n)))
 *	p_n = phi + d_n + e_n
 *
 * with A, B and phi of each pixel, c_k and s_k of all, and the gain g_n and the shift error e_n of
 * each image, because of a lamp that flickers, a set-up that shakes, or an exposure that catches a
 * part of the next pattern. (A weak pull to 0 shares between them what both explain.) Each pixel's
 * own three unknowns are eliminated (variable projection, Golub and Pereyra 1973), so that a pass
 * over the pixels leaves normal equations of the common ones. Those of each part of the picture are
 * kept apart, so that differences between parts show how good the fit is.
 *
 * Equal steps show harmonic k unless k is 0, 1 or -1 modulo N: it then looks like the mean or the
 * fundamental. Where k and N - k are both present, they differ in how they turn with phi.
 */
#include "fringegamma.h"

#include "fringe/phase_steps.h"
#include "run/run.h"

/* ---- the pixels that take part ---- */

#define MAX_PIXELS 65536	/* evenly among those that qualify */
#define MIN_PIXELS 64
#define MAX_SATURATED 0.5	/* of the lit pixels */

static int
check_pixels(const struct choice *choice, const struct pixels *pixels)
{
	size_t worst = 0;

	if (pixels->lit < MIN_PIXELS)
		return fail(NULL, "%zu of %zu pixels change from image to image, at least %d are "
		    "needed", pixels->lit, pixels->total, MIN_PIXELS);
	for (size_t i = 1; i < choice->images; i++)
		if (choice->saturated[i] > choice->saturated[worst])
			worst = i;
	if ((double)pixels->saturated > MAX_SATURATED * (double)pixels->lit)
		return fail(NULL, "%.0f %% of the pixels that change are saturated at %g, image "
		    "%zu in %.0f %%: expose less", 100.0 * (double)pixels->saturated /
		    (double)pixels->lit, choice->most, worst + 1,
		    100.0 * (double)choice->saturated[worst] / (double)pixels->lit);
	if (pixels->lit - pixels->saturated < MIN_PIXELS)
		return fail(NULL, "%zu of %zu pixels change and are not saturated, at least %d are "
		    "needed", pixels->lit - pixels->saturated, pixels->total, MIN_PIXELS);
	return 0;
}

int
pixels_take(const struct frame *in, const size_t *plane, size_t images, double most,
    double least_swing, struct pixels *out)
{
	const struct fringegamma_rows *rows = fringegamma_rows();
	struct choice choice = { in, plane, images, most };
	float *space;
	size_t stride;
	double least = least_swing, middle;
	int status;

	*out = (struct pixels){ .images = images };
	if (size_multiply(in->head.w, in->head.h, &out->total) < 0)
		return -1;
	choice.swing = must_alloc(out->total, sizeof(float));
	choice.mean = must_alloc(out->total, sizeof(float));
	choice.saturated = must_alloc(images, sizeof(size_t));
	space = must_alloc(out->total, sizeof(float));
	rows->find_swings(&choice);
	if (isnan(least_swing))
		least = 0.25 * rows->quantile(choice.swing, out->total, 0.9, space);
	least = fmax(least, 1e-30);
	rows->drop_saturated(&choice, least, out);
	status = check_pixels(&choice, out);
	if (status == 0) {
		stride = (out->lit - out->saturated + MAX_PIXELS - 1) / MAX_PIXELS;
		middle = rows->count_parts(&choice, least, stride, out, space);
		out->v = must_alloc(out->n, images * sizeof(*out->v));
		rows->copy_pixels(&choice, least, middle, stride, out);
	}
	free_all(choice.swing, choice.mean, choice.saturated, space);
	return status;
}

void
pixels_free(struct pixels *pixels)
{
	free(pixels->v);
	*pixels = (struct pixels){ 0 };
}

/* ---- how good the fit is ---- */

#define MIN_COVERED 24		/* bins of the circle that have pixels */
#define MAX_MISFIT 0.7		/* of the amplitude, left by sinusoids; noise leaves 1 and more */
#define MAX_SHIFT_ERROR 0.2	/* rad: more is another step */
#define MIN_PART_PIXELS 200	/* of parts that count for the spread */

/* Takes the larger of two variances: by the noise that the fit leaves, and by the differences of
 * the parts' sums, which other errors cause, too (the sandwich estimate of clusters). */
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

/* How far the harmonics of each part alone would differ from the common ones. */
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
		if (part->pixels < MIN_PART_PIXELS || !fringegamma_rows()->invert(space, columns))
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

/* Fills in how good the fit is; inverse: of the normal equations; space: for FITTING_UNKNOWNS^2
 * numbers. */
static void
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

/* Are there fringes? Judges by sinusoids alone, before the first step. -1 after fail(). */
static int
fitting_check_fringes(const struct fitting *f, const struct part *sum)
{
	double freedom = (double)sum->pixels * (double)(f->fit->images - 3);
	double square = sum->power / (double)sum->pixels;
	double misfit = sqrt(sum->sinusoid_squares / freedom / square);
	size_t covered = 0;

	for (size_t b = 0; b < FITTING_BINS; b++)
		covered += sum->bin_power[b] > 0;
	if (!(misfit < MAX_MISFIT))
		return fail(NULL, "these images have no fringes of %zu steps, or are exchanged: "
		    "sinusoids leave %.2f of the amplitude", f->fit->images, misfit);
	if (covered < MIN_COVERED)
		return fail(NULL, "the phases leave %zu of %d parts of the circle out: more "
		    "fringes are needed", FITTING_BINS - covered, FITTING_BINS);
	return 0;
}

/* Are images off their steps? -1 after fail(). */
static int
fitting_check_shifts(const struct harmonic_fit *fit)
{
	size_t worst = 0;

	for (size_t n = 1; n < fit->images; n++)
		if (fabs(fit->shift[n]) > fabs(fit->shift[worst]))
			worst = n;
	if (fabs(fit->shift[worst]) <= MAX_SHIFT_ERROR + 3 * fit->shift_error)
		return 0;
	return fail(NULL, "image %zu is %.0f degrees off its step: images are exchanged, one is "
	    "missing, or the shifts are others", worst + 1, fit->shift[worst] * 180 / M_PI);
}

/*
 * ---- slopes: harmonics that change over the picture ----
 * A blur may differ from place to place. Each cosine and sine is then a plane over x and y. Part i
 * alone would have harmonics that differ from the common ones by d_i, with its own normal equations
 * N_i d_i = r_i. For d_i = m + p x_i + q y_i, least squares require
 * sum_i N_i z_i z_i' (m p q)' = sum_i r_i z_i, z_i = (1, x_i, y_i).
 */

/* The common unknown a: cosines and sines of the harmonics in turn, gains, shifts. */
static double *
unknown_of(struct fitting *f, size_t a)
{
	size_t gains = 2 * f->n, shifts = gains + f->fit->images;

	return a >= shifts ? &f->fit->shift[a - shifts] : a >= gains ? &f->fit->gain[a - gains] :
	    a % 2 ? &f->fit->sine[f->k[a / 2]] : &f->fit->cosine[f->k[a / 2]];
}

static void
add_slopes(const struct fitting *f, size_t i, double scale, double *normal, double *right)
{
	const struct part *part = &f->part[i];
	size_t columns = 2 * f->n, p = f->unknowns, all = 3 * columns;
	double z[3] = { 1, f->pixels->place[i][0] / scale, f->pixels->place[i][1] / scale };

	for (size_t a = 0; a < all; a++) {
		right[a] += z[a / columns] * part->right[a % columns];
		for (size_t b = 0; b < all; b++)
			normal[a * all + b] += z[a / columns] * z[b / columns] *
			    part->normal[a % columns * p + b % columns];
	}
}

/* Finds the slopes. -1 after fail(). */
static int
fitting_slopes(struct fitting *f)
{
	size_t columns = 2 * f->n, all = 3 * columns;
	double *normal = must_alloc(all * all, sizeof(*normal));
	double *right = must_alloc(2 * all, sizeof(*right)), *found = right + all, scale = 1;
	bool solved;

	for (size_t i = 0; i < PIXELS_PARTS; i++)
		if (f->part[i].pixels)
			scale = fmax(scale, hypot(f->pixels->place[i][0], f->pixels->place[i][1]));
	for (size_t i = 0; i < PIXELS_PARTS; i++)
		if (f->part[i].pixels)
			add_slopes(f, i, scale, normal, right);
	solved = fringegamma_rows()->invert(normal, all);
	for (size_t a = 0; a < all && solved; a++)
		for (size_t b = 0; b < all; b++)
			found[a] += normal[a * all + b] * right[b];
	for (size_t a = 0; a < columns && solved; a++) {
		double (*slope)[FIT_HIGHEST + 1] = a % 2 ? f->fit->sine_slope :
		    f->fit->cosine_slope;

		*unknown_of(f, a) += found[a];
		for (size_t i = 0; i < 2; i++)
			slope[i][f->k[a / 2]] = found[(i + 1) * columns + a] / scale;
	}
	free(normal);
	free(right);
	return solved ? 0 : fail("--vary", "the lit parts of the picture are too few, or on one "
	    "line: they show no change over the picture");
}

/* ---- which harmonics the steps show ---- */

#define MAX_ROUNDS 30
#define MAX_LAST_STEP 1e-8	/* of any unknown */
#define MIN_SEEN 0.02		/* of a harmonic's square, for the steps to show it */
#define PULL 1e-2		/* of gains and shifts to 0, over their own weight */

/* Do the steps show harmonic k, when the constant, cos d and sin d are removed from it? */
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
	return square > MIN_SEEN * (double)images;
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

/* Pulls gains and shifts to 0, and strongly so their mean, which nothing determines. */
static void
pull_to_zero(const struct fitting *f, struct part *sum, size_t first, const double *value)
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

/* The sum of all parts. */
static void
add_parts(const struct fitting *f, struct part *sum)
{
	fringegamma_rows()->sum_parts(f, sum);
	pull_to_zero(f, sum, 2 * f->n, f->fit->gain);
	pull_to_zero(f, sum, 2 * f->n + f->fit->images, f->fit->shift);
}

static void
turn(struct fitting *f)
{
	for (size_t n = 0; n < f->fit->images; n++) {
		f->turn[n][0] = cos(f->fit->shift_rad[n] + f->fit->shift[n]);
		f->turn[n][1] = sin(f->fit->shift_rad[n] + f->fit->shift[n]);
	}
}

/* Takes a step; returns its largest component, negative after fail(). *inverse: of the normal
 * equations. */
static double
step(struct fitting *f, const struct part *sum, double *inverse)
{
	size_t p = f->unknowns;
	double largest = 0;

	memcpy(inverse, sum->normal, p * p * sizeof(*inverse));
	if (!fringegamma_rows()->invert(inverse, p)) {
		fail(NULL, "the fit of harmonics to these %zu steps does not settle: images are "
		    "exchanged, one is missing, or the fringes are too few", f->fit->images);
		return -1;
	}
	for (size_t a = 0; a < p; a++) {
		double change = 0, *at = unknown_of(f, a);

		for (size_t b = 0; b < p; b++)
			change += inverse[a * p + b] * sum->right[b];
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
	fringegamma_rows()->begin_pixels(f);
	return 0;
}

static int
iterate(struct run *run, struct fitting *f, struct part *sum, double *space)
{
	double *inverse = space + FITTING_UNKNOWNS * FITTING_UNKNOWNS, largest = 1;

	for (int round = 0; round < MAX_ROUNDS && largest > MAX_LAST_STEP; round++) {
		run_for(run, PIXELS_PARTS, fringegamma_rows()->add_part, f);
		add_parts(f, sum);
		if (sum->pixels == 0)
			return fail(NULL, "these images have no fringes");
		if (round == 0 && fitting_check_fringes(f, sum) < 0)
			return -1;
		largest = step(f, sum, inverse);
		if (largest < 0)
			return -1;
	}
	run_for(run, PIXELS_PARTS, fringegamma_rows()->add_part, f);
	add_parts(f, sum);
	fitting_judge(f, sum, inverse, space);
	if (f->fit->slopes && fitting_slopes(f) < 0)
		return -1;
	return fitting_check_shifts(f->fit);
}

int
fit_harmonics(struct run *run, const struct pixels *pixels, struct harmonic_fit *fit)
{
	struct fitting f = { .fit = fit, .pixels = pixels };
	struct part *sum = must_alloc(1, sizeof(*sum));
	double *space = must_alloc(2 * FITTING_UNKNOWNS, FITTING_UNKNOWNS * sizeof(*space));
	int status;

	f.pixel = must_alloc(pixels->n, sizeof(*f.pixel));
	f.part = must_alloc(PIXELS_PARTS, sizeof(*f.part));
	status = prepare(&f);
	if (status == 0)
		status = iterate(run, &f, sum, space);
	free_all(f.pixel, f.part, sum, space);
	return status;
}
