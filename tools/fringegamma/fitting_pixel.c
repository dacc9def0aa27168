/* A pixel's share of the fit: its own unknowns, and the normal equations of the common ones. */
#include "fitting.h"

#include <math.h>
#include <string.h>

#include "fringe/phase_shift_weights.h"

/* ---- one pixel ---- */

/* The model of a pixel at all images: its shape (cosine and harmonics), the shape's derivative by
 * phase, and if `waves` each harmonic's own cosine and sine. */
static void
shape_of(const struct fitting *f, double phase, double *shape, double *slope,
    double (*waves)[2 * FIT_HIGHEST])
{
	const struct harmonic_fit *fit = f->fit;
	double c0 = cos(phase), s0 = sin(phase);
	double c[FIT_IMAGES], s[FIT_IMAGES], kc[FIT_IMAGES], ks[FIT_IMAGES];
	long highest = fit->known > fit->highest ? fit->known : fit->highest;
	size_t images = fit->images, j = 0;

	_Pragma("omp simd")
	for (size_t n = 0; n < images; n++) {
		shape[n] = kc[n] = c[n] = c0 * f->turn[n][0] - s0 * f->turn[n][1];
		ks[n] = s[n] = s0 * f->turn[n][0] + c0 * f->turn[n][1];
		slope[n] = -s[n];
	}
	for (long k = 2; k <= highest; k++) {
		double cosine = fit->cosine[k], sine = fit->sine[k], order = (double)k;

		_Pragma("omp simd")
		for (size_t n = 0; n < images; n++) {
			double next = kc[n] * c[n] - ks[n] * s[n];

			ks[n] = ks[n] * c[n] + kc[n] * s[n];
			kc[n] = next;
			shape[n] += cosine * kc[n] + sine * ks[n];
			slope[n] += order * (sine * kc[n] - cosine * ks[n]);
		}
		if (!waves || !fit->seen[k])
			continue;
		for (size_t n = 0; n < images; n++) {
			waves[n][j] = kc[n];
			waves[n][j + 1] = ks[n];
		}
		j += 2;
	}
}

struct pixel
fitting_begin(const struct fitting *f, const double *v)
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

/* What the tangent leaves of columns, each divided by B: rest = wave - by inverse by' wave. */
static void
take_tangent(const struct tangent *t, size_t images, size_t columns,
    double (*restrict wave)[2 * FIT_HIGHEST], double (*restrict rest)[2 * FIT_HIGHEST])
{
	double sum[3][2 * FIT_HIGHEST] = { { 0 } };

	for (size_t n = 0; n < images; n++)
		for (int a = 0; a < 3; a++)
			_Pragma("omp simd")
			for (size_t j = 0; j < columns; j++)
				sum[a][j] += t->by[n][a] * wave[n][j];
	for (size_t n = 0; n < images; n++) {
		double hat[3];

		for (int a = 0; a < 3; a++)
			hat[a] = t->by[n][0] * t->inverse[0][a] + t->by[n][1] * t->inverse[1][a] +
			    t->by[n][2] * t->inverse[2][a];
		_Pragma("omp simd")
		for (size_t j = 0; j < columns; j++)
			rest[n][j] = wave[n][j] - hat[0] * sum[0][j] - hat[1] * sum[1][j] -
			    hat[2] * sum[2][j];
	}
}

/* Adds factor * v to a row of n numbers. */
static inline void
add_row(double *restrict row, double factor, const double *restrict v, size_t n)
{
	_Pragma("omp simd")
	for (size_t i = 0; i < n; i++)
		row[i] += factor * v[i];
}

/*
 * X'M X and X'M r of the unknowns of images, whose columns have one entry each: of gains the light,
 * of shifts its derivative. Rows of gains have all columns, those of shifts lack the gains.
 */
static void
add_images(const struct fitting *f, double factor[2][FIT_IMAGES], double amplitude,
    double (*rest)[2 * FIT_HIGHEST], const struct tangent *t, const double *left,
    struct part *part)
{
	size_t images = f->fit->images, columns = 2 * f->n, p = f->unknowns;
	double share[FIT_IMAGES], weighed[2][FIT_IMAGES];

	for (size_t n = 0; n < images; n++) {
		double hat[3];
		double *gain = part->normal + (columns + n) * p;
		double *shift = part->normal + (columns + images + n) * p;

		for (int a = 0; a < 3; a++)
			hat[a] = t->by[n][0] * t->inverse[0][a] + t->by[n][1] * t->inverse[1][a] +
			    t->by[n][2] * t->inverse[2][a];
		for (size_t m = 0; m < images; m++)
			share[m] = (n == m) - hat[0] * t->by[m][0] - hat[1] * t->by[m][1] -
			    hat[2] * t->by[m][2];
		for (int i = 0; i < 2; i++)
			for (size_t m = 0; m < images; m++)
				weighed[i][m] = share[m] * factor[i][m];
		add_row(gain, factor[0][n] * amplitude, rest[n], columns);
		add_row(gain + columns, factor[0][n], weighed[0], images);
		add_row(gain + columns + images, factor[0][n], weighed[1], images);
		add_row(shift, factor[1][n] * amplitude, rest[n], columns);
		add_row(shift + columns + images, factor[1][n], weighed[1], images);
		part->right[columns + n] += factor[0][n] * left[n];
		part->right[columns + images + n] += factor[1][n] * left[n];
	}
}

/* One pixel's share of the normal equations: columns X of the common unknowns less what of them the
 * tangent takes, M X; X'M X and X'M r. Some of what is symmetric is left to complete(). */
static void
add_equations(const struct fitting *f, const struct pixel *pixel, const double *shape,
    const double *slope, double (*waves)[2 * FIT_HIGHEST], const struct tangent *t,
    const double *left, struct part *part)
{
	size_t images = f->fit->images, columns = 2 * f->n, p = f->unknowns;
	double rest[FIT_IMAGES][2 * FIT_HIGHEST], factor[2][FIT_IMAGES];
	double power = pixel->amplitude * pixel->amplitude;

	take_tangent(t, images, columns, waves, rest);
	for (size_t n = 0; n < images; n++) {
		factor[0][n] = pixel->mean + pixel->amplitude * shape[n];
		factor[1][n] = pixel->amplitude * slope[n];
		for (size_t j = 0; j < columns; j++)
			add_row(part->normal + j * p, power * waves[n][j], rest[n], j + 1);
		add_row(part->right, pixel->amplitude * left[n], waves[n], columns);
	}
	add_images(f, factor, pixel->amplitude, rest, t, left, part);
}

/* The rest of the normal equations is there already, on the other side of the diagonal. */
static void
complete(const struct fitting *f, double *normal)
{
	size_t p = f->unknowns, columns = 2 * f->n, shifts = columns + f->fit->images;

	for (size_t a = 0; a < p; a++)
		for (size_t b = 0; b < a; b++)
			if (a >= shifts && b >= columns && b < shifts)
				normal[a * p + b] = normal[b * p + a];
			else
				normal[b * p + a] = normal[a * p + b];
}

static void
add_left(const struct fitting *f, const double *v, const struct pixel *pixel, const double *left,
    struct part *part)
{
	double turns = pixel->phase / (2 * M_PI);
	size_t bin = (size_t)((turns - floor(turns)) * FITTING_BINS) % FITTING_BINS;
	struct pixel plain = fitting_begin(f, v);

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

void
fitting_add_part(void *arg, size_t i)
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
	complete(f, part->normal);
}
