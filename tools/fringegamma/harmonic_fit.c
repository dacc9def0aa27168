/* Harmonics of projected fringes: one fit over the pixels of all parts of the picture, whose normal
 * equations are kept apart. */
#include "harmonic_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "fringe/phase_shift_weights.h"
#include "normal_equations.h"
#include "run/run.h"

#define UNKNOWNS (2 * FIT_HIGHEST + 2 * FIT_IMAGES)
#define BINS 32			/* of the circle, for what remains unexplained */
#define COVERED 24		/* of them must have pixels */
#define ROUNDS 30
#define CONVERGED 1e-9
#define SEEN 0.02		/* of a harmonic's square that steps must leave visible */
#define NO_FRINGES 0.7		/* of the amplitude, left by sinusoids: of noise it is 1 and more */
#define PULL 1e-2		/* of gains and shifts to 0, over their own weight */
#define SHIFT_MOST 0.2		/* rad: more is another step */
#define FEWEST 200		/* pixels of a part that count for the spread */

struct pixel {
	double mean, amplitude, phase;
};

/* What a part of the picture gives. */
struct part {
	double normal[UNKNOWNS * UNKNOWNS], right[UNKNOWNS];
	double squares, sinusoid_squares;	/* that this fit and sinusoids leave */
	double power;				/* sum of B^2 */
	double bin[BINS][FIT_IMAGES], bin_power[BINS];	/* sums of B times what is left; of B^2 */
	size_t pixels;
};

struct fitting {
	struct harmonic_fit *fit;
	const struct pixels *pixels;
	struct pixel *pixel;
	struct part *part;
	long k[FIT_HIGHEST + 1];	/* harmonics that are seen */
	size_t n, unknowns;		/* their number; cosines and sines, gains, shifts */
	double turn[FIT_IMAGES][2];	/* cosine and sine of the shifts, errors included */
	double weight[FIT_IMAGES][3];	/* that turn images into A, B cos phi, B sin phi */
};

/* ---- what steps see ---- */

/* What is left of cos(k d) and sin(k d) when their constant, cos d and sin d are taken out. */
bool
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

/* ---- one pixel ---- */

/* The model of a pixel at all images: its shape (cosine and harmonics), the shape's derivative by
 * phase, and if `waves` each harmonic's own cosine and sine. */
static void
shape_of(const struct fitting *f, double phase, double *shape, double *slope,
    double (*waves)[2 * FIT_HIGHEST])
{
	const struct harmonic_fit *fit = f->fit;
	double c0 = cos(phase), s0 = sin(phase);
	long highest = fit->known > fit->highest ? fit->known : fit->highest;

	for (size_t n = 0; n < fit->images; n++) {
		double c = c0 * f->turn[n][0] - s0 * f->turn[n][1];
		double s = s0 * f->turn[n][0] + c0 * f->turn[n][1];
		double kc = c, ks = s;
		size_t j = 0;

		shape[n] = c;
		slope[n] = -s;
		for (long k = 2; k <= highest; k++) {
			double next = kc * c - ks * s;

			ks = ks * c + kc * s;
			kc = next;
			if (!fit->seen[k] && fit->cosine[k] == 0)
				continue;
			shape[n] += fit->cosine[k] * kc + fit->sine[k] * ks;
			slope[n] += (double)k * (fit->sine[k] * kc - fit->cosine[k] * ks);
			if (waves && fit->seen[k]) {
				waves[n][j++] = kc;
				waves[n][j++] = ks;
			}
		}
	}
}

/* The pixel's own unknowns by sinusoids, where harmonics do not matter yet. */
static struct pixel
begin_pixel(const struct fitting *f, const double *v)
{
	double sum[3] = { 0 };

	for (size_t n = 0; n < f->fit->images; n++)
		for (int a = 0; a < 3; a++)
			sum[a] += f->weight[n][a] * v[n];
	return (struct pixel){ sum[0], hypot(sum[1], sum[2]), atan2(sum[2], sum[1]) };
}

/* The derivatives of a pixel's images by mean, amplitude and phase: their inverse normal matrix,
 * and what is left of the images. False where they determine nothing. */
struct tangent {
	double by[FIT_IMAGES][3], inverse[3][3], left[FIT_IMAGES];
};

static bool
make_tangent(const struct fitting *f, const double *v, const struct pixel *pixel,
    const double *shape, const double *slope, struct tangent *t)
{
	double normal[3][3] = { { 0 } }, scale = fmax(pixel->amplitude, 1e-30);

	for (size_t n = 0; n < f->fit->images; n++) {
		double by[3] = { 1, shape[n], slope[n] };

		for (int a = 0; a < 3; a++) {
			t->by[n][a] = by[a];
			for (int b = 0; b < 3; b++)
				normal[a][b] += by[a] * by[b];
		}
		t->left[n] = v[n] / (1 + f->fit->gain[n]) - pixel->mean - scale * shape[n];
	}
	return fabs(phase_shift_invert(normal, t->inverse)) > 1e-9;
}

/* The coefficients of what of the vector lies along the tangent. */
static void
along_tangent(const struct tangent *t, const double *v, size_t images, double out[3])
{
	double sum[3] = { 0 };

	for (size_t n = 0; n < images; n++)
		for (int a = 0; a < 3; a++)
			sum[a] += t->by[n][a] * v[n];
	for (int a = 0; a < 3; a++)
		out[a] = t->inverse[a][0] * sum[0] + t->inverse[a][1] * sum[1] +
		    t->inverse[a][2] * sum[2];
}

/* A Gauss-Newton step of the pixel's own unknowns, held to where it cannot leap. */
static bool
improve_pixel(const struct fitting *f, const double *v, struct pixel *pixel)
{
	double shape[FIT_IMAGES], slope[FIT_IMAGES], step[3];
	struct tangent t;

	shape_of(f, pixel->phase, shape, slope, NULL);
	if (!make_tangent(f, v, pixel, shape, slope, &t))
		return false;
	along_tangent(&t, t.left, f->fit->images, step);
	pixel->mean += step[0];
	pixel->phase += fmax(-0.5, fmin(0.5, step[2] / fmax(pixel->amplitude, 1e-30)));
	pixel->amplitude = fmax(pixel->amplitude + step[1], 0.1 * pixel->amplitude);
	return true;
}

/* ---- sums over a part ---- */

/* X'M X and X'M r of the unknowns of images, whose columns have one entry each; of gains it is the
 * light, of shifts its derivative. */
static void
add_images(const struct fitting *f, double factor[2][FIT_IMAGES],
    double (*rest)[2 * FIT_HIGHEST], const struct tangent *t, const double *left,
    struct part *part)
{
	size_t images = f->fit->images, columns = 2 * f->n, p = f->unknowns;

	for (size_t n = 0; n < images; n++) {
		double hat[3];

		for (int a = 0; a < 3; a++)
			hat[a] = t->by[n][0] * t->inverse[0][a] + t->by[n][1] * t->inverse[1][a] +
			    t->by[n][2] * t->inverse[2][a];
		for (int i = 0; i < 2; i++) {
			size_t row = columns + (size_t)i * images + n;

			part->right[row] += factor[i][n] * left[n];
			for (size_t j = 0; j < columns; j++)
				part->normal[j * p + row] += factor[i][n] * rest[n][j];
			for (size_t m = 0; m < images; m++) {
				double share = factor[i][n] * ((n == m) - hat[0] * t->by[m][0] -
				    hat[1] * t->by[m][1] - hat[2] * t->by[m][2]);

				for (int k = i; k < 2; k++)
					part->normal[row * p + columns + (size_t)k * images + m] +=
					    share * factor[k][m];
			}
		}
	}
}

/* One pixel's share of the normal equations: columns X of the common unknowns less what of them the
 * tangent takes, M X; X'M X and X'M r. */
static void
add_equations(const struct fitting *f, const struct pixel *pixel, const double *shape,
    const double *slope, double (*waves)[2 * FIT_HIGHEST], const struct tangent *t,
    const double *left, struct part *part)
{
	size_t images = f->fit->images, columns = 2 * f->n, p = f->unknowns;
	double column[FIT_IMAGES], rest[FIT_IMAGES][2 * FIT_HIGHEST], c[3];
	double factor[2][FIT_IMAGES];

	for (size_t j = 0; j < columns; j++) {
		for (size_t n = 0; n < images; n++)
			column[n] = pixel->amplitude * waves[n][j];
		along_tangent(t, column, images, c);
		for (size_t n = 0; n < images; n++)
			rest[n][j] = column[n] - c[0] * t->by[n][0] - c[1] * t->by[n][1] -
			    c[2] * t->by[n][2];
	}
	for (size_t n = 0; n < images; n++) {
		factor[0][n] = pixel->mean + pixel->amplitude * shape[n];
		factor[1][n] = pixel->amplitude * slope[n];
		for (size_t j = 0; j < columns; j++) {
			double wave = pixel->amplitude * waves[n][j];

			for (size_t i = 0; i <= j; i++)
				part->normal[i * p + j] += wave * rest[n][i];
			part->right[j] += wave * left[n];
		}
	}
	add_images(f, factor, rest, t, left, part);
}

static void
add_left(const struct fitting *f, const double *v, const struct pixel *pixel, const double *left,
    struct part *part)
{
	double turns = pixel->phase / (2 * M_PI);
	size_t bin = (size_t)((turns - floor(turns)) * BINS) % BINS;
	struct pixel plain = begin_pixel(f, v);

	part->pixels++;
	part->power += pixel->amplitude * pixel->amplitude;
	part->bin_power[bin] += pixel->amplitude * pixel->amplitude;
	for (size_t n = 0; n < f->fit->images; n++) {
		double wave = cos(plain.phase + f->fit->shift_rad[n]);
		double over = v[n] - plain.mean - plain.amplitude * wave;

		part->squares += left[n] * left[n];
		part->sinusoid_squares += over * over;
		part->bin[bin][n] += pixel->amplitude * left[n];
	}
}

static void
add_part(void *arg, size_t i)
{
	const struct fitting *f = arg;
	struct part *part = &f->part[i];
	size_t images = f->fit->images;

	memset(part, 0, sizeof(*part));
	for (size_t at = f->pixels->first[i]; at < f->pixels->first[i + 1]; at++) {
		const double *v = f->pixels->v + at * images;
		struct pixel *pixel = &f->pixel[at];
		double shape[FIT_IMAGES], slope[FIT_IMAGES], left[FIT_IMAGES], c[3];
		double waves[FIT_IMAGES][2 * FIT_HIGHEST];
		struct tangent t;

		if (!improve_pixel(f, v, pixel) || !improve_pixel(f, v, pixel))
			continue;
		shape_of(f, pixel->phase, shape, slope, waves);
		if (!make_tangent(f, v, pixel, shape, slope, &t))
			continue;
		along_tangent(&t, t.left, images, c);
		for (size_t n = 0; n < images; n++)
			left[n] = t.left[n] - c[0] * t.by[n][0] - c[1] * t.by[n][1] -
			    c[2] * t.by[n][2];
		add_equations(f, pixel, shape, slope, waves, &t, left, part);
		add_left(f, v, pixel, left, part);
	}
	for (size_t a = 0; a < f->unknowns; a++)
		for (size_t b = 0; b < a; b++)
			part->normal[a * f->unknowns + b] = part->normal[b * f->unknowns + a];
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
		for (size_t b = 0; b < BINS; b++) {
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

/* ---- how good it is ---- */

/* The larger of two variances: by the noise that the fit leaves, and by how much the parts' sums
 * differ, which is also of what is no noise (the sandwich estimate of clusters). */
static void
find_errors(struct fitting *f, const struct part *sum, const double *inverse, double noise)
{
	size_t p = f->unknowns, parts = 0;
	double scatter[UNKNOWNS] = { 0 };

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

	for (size_t b = 0; b < BINS; b++) {
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

static void
judge(struct fitting *f, const struct part *sum, const double *inverse, double *space)
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

/* By sinusoids alone, before anything is fitted. */
static int
check_fringes(const struct fitting *f, const struct part *sum)
{
	double freedom = (double)sum->pixels * (double)(f->fit->images - 3);
	double square = sum->power / (double)sum->pixels;
	double misfit = sqrt(sum->sinusoid_squares / freedom / square);
	size_t covered = 0;

	for (size_t b = 0; b < BINS; b++)
		covered += sum->bin_power[b] > 0;
	if (!(misfit < NO_FRINGES))
		return fail(NULL, "these images have no fringes of %zu steps, or are exchanged: "
		    "sinusoids leave %.2f of the amplitude", f->fit->images, misfit);
	if (covered < COVERED)
		return fail(NULL, "the phases leave %zu of %d parts of the circle out: more "
		    "fringes are needed", BINS - covered, BINS);
	return 0;
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
		f->pixel[i] = begin_pixel(f, f->pixels->v + i * fit->images);
	return 0;
}

static int
check_shifts(const struct harmonic_fit *fit)
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

static int
iterate(struct run *run, struct fitting *f, struct part *sum, double *space)
{
	double *inverse = space + UNKNOWNS * UNKNOWNS, largest = 1;

	for (int round = 0; round < ROUNDS && largest > CONVERGED; round++) {
		run_for(run, PIXELS_PARTS, add_part, f);
		add_parts(f, sum);
		if (sum->pixels == 0)
			return fail(NULL, "these images have no fringes");
		if (round == 0 && check_fringes(f, sum) < 0)
			return -1;
		largest = step(f, sum, inverse);
		if (largest < 0)
			return -1;
	}
	run_for(run, PIXELS_PARTS, add_part, f);
	add_parts(f, sum);
	judge(f, sum, inverse, space);
	return check_shifts(f->fit);
}

int
harmonic_fit(struct run *run, const struct pixels *pixels, struct harmonic_fit *fit)
{
	struct fitting f = { .fit = fit, .pixels = pixels };
	struct part *sum = malloc(sizeof(*sum));
	double *space = malloc(2 * UNKNOWNS * UNKNOWNS * sizeof(*space));
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
