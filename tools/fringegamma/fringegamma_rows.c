/*
 * The loops of fringegamma: choosing pixels; each pixel's share of the fit of harmonics; inverses;
 * averages over pixels.
 */
#include "fringegamma.h"

/* ---- the choice of pixels ---- */

static void
find_swing(const struct choice *choice, size_t x, size_t y)
{
	size_t at = y * choice->in->head.w + x;
	double least = INFINITY, most = -INFINITY, sum = 0;

	for (size_t i = 0; i < choice->images; i++) {
		double v = (double)frame_sample(choice->in, choice->plane[i], y, x);

		least = fmin(least, v);
		most = fmax(most, v);
		sum += v;
	}
	choice->mean[at] = (float)(sum / (double)choice->images);
	choice->swing[at] = isfinite(sum) && fabs(sum) < 1e30 ? (float)(most - least) : NAN;
}

static void
fringegamma_find_swings(const struct choice *choice)
{
	for (size_t y = 0; y < choice->in->head.h; y++)
		for (size_t x = 0; x < choice->in->head.w; x++)
			find_swing(choice, x, y);
}

static double
fringegamma_quantile(const float *v, size_t n, double share, float *space)
{
	size_t valid = 0;

	for (size_t i = 0; i < n; i++)
		if (!isnan(v[i]))
			space[valid++] = v[i];
	return numbers_rank(space, valid, (size_t)(share * (double)(valid ? valid - 1 : 0)));
}

static void
fringegamma_drop_saturated(const struct choice *choice, double least, struct pixels *out)
{
	size_t w = choice->in->head.w;

	for (size_t at = 0; at < out->total; at++) {
		bool any = false;

		if (!(choice->swing[at] >= least))
			continue;
		out->lit++;
		for (size_t i = 0; i < choice->images; i++)
			if ((double)frame_sample(choice->in, choice->plane[i], at / w, at % w) >=
			    choice->most) {
				choice->saturated[i]++;
				any = true;
			}
		out->saturated += any;
		if (any)
			choice->swing[at] = NAN;
	}
}

static size_t
part_of(const struct choice *choice, size_t at, double middle)
{
	size_t w = choice->in->head.w, h = choice->in->head.h;
	size_t column = at % w * PIXELS_SIDE / w, row = at / w * PIXELS_SIDE / h;

	return 2 * (row * PIXELS_SIDE + column) + (choice->mean[at] > middle);
}

static double
fringegamma_count_parts(const struct choice *choice, double least, size_t stride,
    struct pixels *out, float *space)
{
	size_t count[PIXELS_PARTS] = { 0 }, seen = 0;
	double middle;

	for (size_t at = 0; at < out->total; at++)
		if (!(choice->swing[at] >= least))
			choice->mean[at] = NAN;
	middle = fringegamma_quantile(choice->mean, out->total, 0.5, space);
	for (size_t at = 0; at < out->total; at++)
		if (choice->swing[at] >= least && seen++ % stride == 0)
			count[part_of(choice, at, middle)]++;
	for (size_t i = 0; i < PIXELS_PARTS; i++)
		out->first[i + 1] = out->first[i] + count[i];
	out->n = out->first[PIXELS_PARTS];
	return middle;
}

static void
fringegamma_copy_pixels(const struct choice *choice, double least, double middle, size_t stride,
    struct pixels *out)
{
	size_t next[PIXELS_PARTS], w = choice->in->head.w, seen = 0;

	memcpy(next, out->first, sizeof(next));
	for (size_t at = 0; at < out->total; at++) {
		double *v;

		if (!(choice->swing[at] >= least) || seen++ % stride)
			continue;
		v = out->v + out->images * next[part_of(choice, at, middle)]++;
		for (size_t i = 0; i < out->images; i++)
			v[i] = (double)frame_sample(choice->in, choice->plane[i], at / w, at % w);
		out->place[part_of(choice, at, middle)][0] += (double)(at % w);
		out->place[part_of(choice, at, middle)][1] += (double)(at / w);
	}
	for (size_t i = 0; i < PIXELS_PARTS; i++) {
		double n = (double)(out->first[i + 1] - out->first[i]);

		out->place[i][0] = out->place[i][0] / n - (double)(w - 1) / 2;
		out->place[i][1] = out->place[i][1] / n - (double)(choice->in->head.h - 1) / 2;
	}
}

/* ---- the fit of harmonics: a pixel's own unknowns ---- */

/* The model of a pixel in all images: its shape (cosine and harmonics), the shape's derivative by
 * phase, and, unless NULL, each harmonic's own cosine and sine. */
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

static struct pixel
sinusoid_of(const struct fitting *f, const double *v)
{
	double sum[3] = { 0 };

	for (size_t n = 0; n < f->fit->images; n++)
		for (int a = 0; a < 3; a++)
			sum[a] += f->weight[a][n] * v[n];
	return (struct pixel){ sum[0], hypot(sum[1], sum[2]), atan2(sum[2], sum[1]) };
}

/* The derivatives of a pixel's images by mean, amplitude and phase, their inverse normal matrix,
 * and the rest of the images. */
struct tangent {
	double by[FIT_IMAGES][3], inverse[3][3], left[FIT_IMAGES];
};

/* False where the derivatives determine nothing. */
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

/* The coefficients of the vector along the tangent. */
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

/* A Gauss-Newton step of the pixel's own unknowns, limited so that it cannot leap. */
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

/* ---- the fit of harmonics: sums over a part of the picture ---- */

/* by inverse of image n, which by' times is its share of the projection on the tangent. */
static inline void
hat_of(const struct tangent *t, size_t n, double hat[3])
{
	for (int a = 0; a < 3; a++)
		hat[a] = t->by[n][0] * t->inverse[0][a] + t->by[n][1] * t->inverse[1][a] +
		    t->by[n][2] * t->inverse[2][a];
}

/* Removes the tangent from columns, each divided by B: rest = wave - by inverse by' wave. */
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

		hat_of(t, n, hat);
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
 * Adds X'M X and X'M r of the unknowns of images, whose columns have one entry each: the light for
 * gains, its derivative for shifts. Rows of gains have all columns, those of shifts lack the gains.
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

		hat_of(t, n, hat);
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

/* Adds one pixel's share of the normal equations, X'M X and X'M r: M removes the tangent from the
 * columns X of the common unknowns. mirror_equations() completes what is symmetric. */
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

/* Copies what is symmetric to the other side of the diagonal. */
static void
mirror_equations(const struct fitting *f, double *normal)
{
	size_t p = f->unknowns, columns = 2 * f->n, shifts = columns + f->fit->images;

	for (size_t a = 0; a < p; a++)
		for (size_t b = 0; b < a; b++)
			if (a >= shifts && b >= columns && b < shifts)
				normal[a * p + b] = normal[b * p + a];
			else
				normal[b * p + a] = normal[a * p + b];
}

/* Adds what the fit, and what sinusoids, leave of a pixel. */
static void
add_left(const struct fitting *f, const double *v, const struct pixel *pixel, const double *left,
    struct part *part)
{
	double turns = pixel->phase / (2 * M_PI);
	size_t bin = (size_t)((turns - floor(turns)) * FITTING_BINS) % FITTING_BINS;
	struct pixel plain = sinusoid_of(f, v);

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
fringegamma_begin_pixels(const struct fitting *f)
{
	for (size_t i = 0; i < f->pixels->n; i++)
		f->pixel[i] = sinusoid_of(f, f->pixels->v + i * f->fit->images);
}

static void
fringegamma_add_part(void *arg, size_t i)
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
	mirror_equations(f, part->normal);
}

static void
fringegamma_sum_parts(const struct fitting *f, struct part *sum)
{
	size_t p = f->unknowns, images = f->fit->images;

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
}

/* ---- inverses of symmetric matrices ---- */

#define MIN_PIVOT 1e-9		/* of the diagonal element */

/* One pivot of Gauss and Jordan, in place. */
static void
eliminate(double *m, size_t n, size_t k)
{
	double pivot = 1 / m[k * n + k];

	m[k * n + k] = 1;
	for (size_t j = 0; j < n; j++)
		m[k * n + j] *= pivot;
	for (size_t i = 0; i < n; i++) {
		double factor = m[i * n + k];

		if (i == k)
			continue;
		m[i * n + k] = 0;
		for (size_t j = 0; j < n; j++)
			m[i * n + j] -= factor * m[k * n + j];
	}
}

static bool
fringegamma_invert(double *m, size_t n)
{
	double whole[256];

	if (n > sizeof(whole) / sizeof(*whole))
		return false;
	for (size_t i = 0; i < n; i++)
		whole[i] = m[i * n + i];
	for (size_t k = 0; k < n; k++) {
		if (!(m[k * n + k] > MIN_PIVOT * whole[k]))
			return false;
		eliminate(m, n, k);
	}
	return true;
}

/* ---- averages over pixels ---- */

static double
fringegamma_light_of(const struct pixels *pixels, size_t i, double *error)
{
	double sum = 0, squares = 0, all = 0;

	for (size_t at = 0; at < pixels->n; at++)
		sum += pixels->v[at * pixels->images + i];
	for (size_t at = 0; at < pixels->n; at++)
		for (size_t n = 0; n < pixels->images; n++)
			all += pixels->v[at * pixels->images + n];
	for (size_t at = 0; at < pixels->n; at++) {
		const double *v = pixels->v + at * pixels->images;
		double mean = 0, d;

		for (size_t n = 0; n < pixels->images; n++)
			mean += v[n];
		/* a brighter pixel is brighter in every image */
		d = v[i] - (all > 0 ? mean * sum / (all / (double)pixels->images) /
		    (double)pixels->images : 0);
		squares += d * d;
	}
	*error = sqrt(squares) / (double)pixels->n;
	return sum / (double)pixels->n;
}

#define PHASES 360		/* of a turn, for predictions */
#define EVEN_HIGHEST 10		/* harmonic that they take into account */

static void
add(struct averages *averages, double phase, double logarithm)
{
	averages->n++;
	averages->logarithm += logarithm;
	for (int m = 1; m <= 5; m++) {
		double c = cos(m * phase), s = sin(m * phase);

		averages->density[m][0] += c;
		averages->density[m][1] += s;
		averages->amplitude[m][0] += logarithm * c;
		averages->amplitude[m][1] += logarithm * s;
	}
}

static void
finish(struct averages *averages)
{
	averages->logarithm /= averages->n;
	for (int m = 1; m <= 5; m++)
		for (int i = 0; i < 2; i++) {
			averages->density[m][i] /= averages->n;
			averages->amplitude[m][i] = averages->amplitude[m][i] / averages->n -
			    averages->logarithm * averages->density[m][i];
		}
}

static struct averages
fringegamma_predict_averages(struct response_levels levels, double gamma)
{
	struct averages averages = { 0 };
	double harmonic[RESPONSE_HIGHEST + 1];

	response_predict(levels, gamma, 0, EVEN_HIGHEST, harmonic);
	for (int i = 0; i < PHASES; i++) {
		double phase = 2 * M_PI * (i + 0.5) / PHASES, re = cos(phase), im = sin(phase);

		for (long k = 2; k <= EVEN_HIGHEST; k++) {
			double c = cos((double)k * phase), s = sin((double)k * phase);

			if (k % 3 == 0)
				continue;
			re += harmonic[k] * c;
			im += k % 3 == 1 ? harmonic[k] * s : -harmonic[k] * s;
		}
		add(&averages, atan2(im, re), 0.5 * log(re * re + im * im));
	}
	finish(&averages);
	return averages;
}

static struct averages
fringegamma_average(const struct pixels *pixels, const double shift_rad[3])
{
	struct averages averages = { 0 };

	for (size_t i = 0; i < pixels->n; i++) {
		const double *v = pixels->v + 3 * i;
		double c = 0, s = 0;

		for (size_t n = 0; n < 3; n++) {
			c += 2.0 / 3 * v[n] * cos(shift_rad[n]);
			s -= 2.0 / 3 * v[n] * sin(shift_rad[n]);
		}
		/* of images with shifts d, d + 120, d + 240 degrees the phase phi + d has the
		 * harmonics of cos(phi + d) */
		add(&averages, atan2(s, c) + shift_rad[0], log(fmax(hypot(c, s), 1e-30)));
	}
	finish(&averages);
	return averages;
}

static double
phase_at(const struct frame *in, const size_t plane[3], const double shift_rad[3], size_t x,
    size_t y)
{
	double c = 0, s = 0;

	for (size_t n = 0; n < 3; n++) {
		double v = (double)frame_sample(in, plane[n], y, x);

		c += v * cos(shift_rad[n]);
		s -= v * sin(shift_rad[n]);
	}
	return atan2(s, c);
}

static double
fringegamma_coherence(const struct frame *in, const size_t plane[3], const double shift_rad[3])
{
	double sum[2][2] = { { 0 } }, n = 0;

	for (size_t y = 0; y + 1 < in->head.h; y += 3)
		for (size_t x = 0; x + 1 < in->head.w; x++) {
			double here = phase_at(in, plane, shift_rad, x, y);
			double right = phase_at(in, plane, shift_rad, x + 1, y) - here;
			double below = phase_at(in, plane, shift_rad, x, y + 1) - here;

			if (!isfinite(right + below))
				continue;
			sum[0][0] += cos(right);
			sum[0][1] += sin(right);
			sum[1][0] += cos(below);
			sum[1][1] += sin(below);
			n++;
		}
	return fmax(hypot(sum[0][0], sum[0][1]), hypot(sum[1][0], sum[1][1])) / fmax(n, 1);
}

const struct fringegamma_rows AT_LEVEL(fringegamma_rows) = {
	.find_swings = fringegamma_find_swings,
	.quantile = fringegamma_quantile,
	.drop_saturated = fringegamma_drop_saturated,
	.count_parts = fringegamma_count_parts,
	.copy_pixels = fringegamma_copy_pixels,
	.light_of = fringegamma_light_of,
	.predict_averages = fringegamma_predict_averages,
	.average = fringegamma_average,
	.coherence = fringegamma_coherence,
	.invert = fringegamma_invert,
	.begin_pixels = fringegamma_begin_pixels,
	.add_part = fringegamma_add_part,
	.sum_parts = fringegamma_sum_parts,
};
