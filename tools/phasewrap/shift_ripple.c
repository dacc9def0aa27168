/* Lines of the picture, the ripple of their phases, and the shifts that leave none: one subject. */
#include "shift_ripple.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/symmetric.h"
#include "fringe/phase_shift_weights.h"
#include "image/coarse_grid.h"
#include "phasewrap.px.h"

#define N SHIFT_RIPPLE_MOST
#define LINES 64		/* rows and columns that are looked at, about, of each */
#define GROUPS 16		/* of lines, for the jackknife */
#define ROUNDS 12
#define SETTLED 1e-6		/* rad */
#define LEAST_TURNS 1.0		/* of the phase along a piece */
#define LEAST_PLACES 8		/* of a piece, with second differences */
#define LEAST_ALL 200		/* of all pieces */
#define STEEP 1.5		/* rad of a second difference, from which on it is a step */
#define LEAST_PART 1e-3		/* of the ripple's squares, that the place leaves */
#define POWERS 3		/* of the place that second differences may have: 1, x, x^2 */
/* Noise that is stronger at some phases than at others feigns that much of its square, at most
 * about, for shifts 20 degrees from equal ones. */
#define UNEVEN_NOISE 0.03

/* What images of a good camera under a good lamp have, and no phase tells from wrong shifts. */
#define LIGHT 0.015		/* of the light: the deviation from image to image */
#define THIRD_HARMONIC 0.02	/* of the fringes' amplitude */

enum moment { ONE, PLACE, COSINE = POWERS, SINE, PHASE, MOMENTS };

/* Sums of products of cosine, sine and phase over second differences, without their mean [0], and
 * without more powers of the place. */
struct sums {
	double n, turns, product[POWERS][3][3];	/* turns: of their pieces, times n */
};

struct line {
	size_t first, n;	/* its pixels among those of all lines */
	size_t at;		/* the row, or the column */
	bool column;
	struct sums sums;
};

struct lines {
	const struct frame *in;
	const struct capture_fringe *fringe;
	float max_value, least_square;
	size_t images, count, pixels;
	struct line *line;
	float *sample;		/* the images' of each pixel; the first NaN: it does not count */
	float *phase, *cosine, *sine;	/* the last two of twice the phase; NaN: dark */
	double weight[2][N];	/* B cos and B sin of a pixel from its samples */
};

/* ---- the lines ---- */

static void
free_lines(struct lines *lines)
{
	free(lines->line);
	free(lines->sample);
	free(lines->phase);
	free(lines->cosine);
	free(lines->sine);
}

static void
add_lines(struct lines *lines, bool column)
{
	const struct frame_head *head = &lines->in->head;
	size_t n = column ? head->h : head->w, across = column ? head->w : head->h;
	size_t step = across / LINES ? across / LINES : 1;

	for (size_t at = step / 2; at < across; at += step) {
		lines->line[lines->count++] = (struct line){ .first = lines->pixels, .n = n,
			.at = at, .column = column };
		lines->pixels += n;
	}
}

static int
make_lines(struct lines *lines)
{
	size_t pixels;

	/* across / (across / LINES) is less than twice LINES */
	lines->line = calloc(2 * 2 * LINES, sizeof(*lines->line));
	if (!lines->line)
		return fail_memory();
	add_lines(lines, false);
	add_lines(lines, true);
	pixels = lines->pixels;
	lines->sample = reallocarray(NULL, pixels * lines->images, sizeof(*lines->sample));
	lines->phase = reallocarray(NULL, pixels, sizeof(*lines->phase));
	lines->cosine = reallocarray(NULL, pixels, sizeof(*lines->cosine));
	lines->sine = reallocarray(NULL, pixels, sizeof(*lines->sine));
	return lines->sample && lines->phase && lines->cosine && lines->sine ? 0 : fail_memory();
}

static void
read_line(void *arg, size_t k)
{
	const struct lines *lines = arg;
	const struct line *line = &lines->line[k];

	for (size_t i = 0; i < line->n; i++) {
		float *v = lines->sample + (line->first + i) * lines->images;
		bool counts = true;

		for (size_t m = 0; m < lines->images && counts; m++) {
			v[m] = frame_sample(lines->in, lines->fringe->plane[m],
			    line->column ? i : line->at, line->column ? line->at : i);
			counts = !phasewrap_missing(v[m]) && v[m] < lines->max_value;
		}
		if (!counts)
			v[0] = NAN;
	}
}

/* ---- the ripple ---- */

static void
find_phase(const struct lines *lines, const struct line *line)
{
	for (size_t p = line->first; p < line->first + line->n; p++) {
		const float *v = lines->sample + p * lines->images;
		double c = 0, s = 0, square;

		for (size_t m = 1; m < lines->images; m++) {
			c += lines->weight[0][m] * (double)(v[m] - v[0]);
			s += lines->weight[1][m] * (double)(v[m] - v[0]);
		}
		square = c * c + s * s;
		if (!(square / 2 >= (double)lines->least_square) || !(square > 0)) {
			lines->phase[p] = NAN;
			continue;
		}
		lines->phase[p] = (float)atan2(s, c);
		lines->cosine[p] = (float)((c * c - s * s) / square);
		lines->sine[p] = (float)(2 * c * s / square);
	}
}

static double
second_difference(const float *v, size_t lag)
{
	return (double)v[2 * lag] - 2 * (double)v[lag] + (double)v[0];
}

/* Takes moment k, and what is in proportion to it, out of those behind it. */
static void
eliminate(double m[MOMENTS][MOMENTS], size_t k)
{
	for (size_t a = k + 1; a < MOMENTS; a++)
		for (size_t b = k + 1; b < MOMENTS; b++)
			m[a][b] -= m[k][k] > 0 ? m[k][a] * m[k][b] / m[k][k] : 0;
}

/* Adds a piece of n pixels, all with a phase. */
static void
add_piece(const struct lines *lines, size_t first, size_t n, struct sums *sums)
{
	const float *phase = lines->phase + first;
	double turns = 0, m[MOMENTS][MOMENTS] = { { 0 } };
	size_t lag;

	for (size_t i = 1; i < n; i++)
		turns += remainder((double)(phase[i] - phase[i - 1]), 2 * M_PI) / (2 * M_PI);
	turns = fabs(turns);
	if (!(turns >= LEAST_TURNS))
		return;
	lag = (size_t)fmax(1, round((double)n / turns / 4));
	for (size_t i = 0; i + 2 * lag < n; i++) {
		double x = 2 * (double)(i + lag) / (double)n - 1;
		double row[MOMENTS] = { 1, x, x * x,
			second_difference(lines->cosine + first + i, lag),
			second_difference(lines->sine + first + i, lag),
			remainder(second_difference(phase + i, lag), 2 * M_PI) };

		for (size_t a = 0; a < MOMENTS && fabs(row[PHASE]) < STEEP; a++)
			for (size_t b = 0; b < MOMENTS; b++)
				m[a][b] += row[a] * row[b];
	}
	if (m[ONE][ONE] < LEAST_PLACES)
		return;
	sums->n += m[ONE][ONE];
	sums->turns += m[ONE][ONE] * turns;
	for (size_t k = 0; k < POWERS; k++) {
		eliminate(m, k);
		for (size_t a = 0; a < 3; a++)
			for (size_t b = 0; b < 3; b++)
				sums->product[k][a][b] += m[COSINE + a][COSINE + b];
	}
}

static void
sum_line(void *arg, size_t k)
{
	const struct lines *lines = arg;
	struct line *line = &lines->line[k];
	size_t end = line->first + line->n;

	find_phase(lines, line);
	line->sums = (struct sums){ 0 };
	for (size_t p = line->first; p < end;) {
		size_t first = p;

		while (p < end && !px_isnan(lines->phase[p]))
			p++;
		if (p > first)
			add_piece(lines, first, p - first, &line->sums);
		else
			p++;
	}
}

struct ripple {
	double v[2];		/* a and b */
	double turns;		/* of a piece's phase, as a mean */
	double left;		/* mean square of what they leave of the second differences */
};

/* a and b out of the lines but those of group `without` (or of all: GROUPS). */
static bool
solve(const struct lines *lines, size_t without, size_t powers, struct ripple *out)
{
	double m[3][3] = { { 0 } }, n = 0, determinant, *v = out->v;

	*out = (struct ripple){ 0 };
	for (size_t k = 0; k < lines->count; k++) {
		const struct sums *sums = &lines->line[k].sums;

		if (k * GROUPS / lines->count == without)
			continue;
		n += sums->n;
		out->turns += sums->turns;
		for (size_t a = 0; a < 3; a++)
			for (size_t b = 0; b < 3; b++)
				m[a][b] += sums->product[powers - 1][a][b];
	}
	determinant = m[0][0] * m[1][1] - m[0][1] * m[1][0];
	if (n < LEAST_ALL || !(m[0][0] > LEAST_PART * n) || !(m[1][1] > LEAST_PART * n) ||
	    !(determinant > LEAST_PART * m[0][0] * m[1][1]))
		return false;
	v[0] = (m[1][1] * m[0][2] - m[0][1] * m[1][2]) / determinant;
	v[1] = (m[0][0] * m[1][2] - m[1][0] * m[0][2]) / determinant;
	out->left = fmax(0, m[2][2] - v[0] * m[0][2] - v[1] * m[1][2]) / n;
	out->turns /= n;
	return isfinite(v[0]) && isfinite(v[1]);
}

/* ---- the shifts ---- */

/* The direction in which the shifts of four images may move, without turning all alike and without
 * leaving the constant combination. */
static void
find_direction(const double constant[N], const double *shift_rad, double direction[N])
{
	double square[N * N], value[N], vector[N * N];

	for (size_t a = 0; a < N; a++)
		for (size_t b = 0; b < N; b++)
			square[a * N + b] = 1.0 / N + constant[a] * constant[b] *
			    cos(shift_rad[a] - shift_rad[b]);
	symmetric_eigen(N, square, value, vector);
	memcpy(direction, vector + N * (N - 1), N * sizeof(*direction));
}

/* The inverse of J, the ripple of each shift's error: the least one, or that along the direction.
 */
static bool
invert(double J[2][N], const double *direction, size_t n, double error[N][2])
{
	double square[3] = { 0 }, along[2] = { 0 }, determinant;

	for (size_t i = 0; i < n; i++) {
		square[0] += J[0][i] * J[0][i];
		square[1] += J[0][i] * J[1][i];
		square[2] += J[1][i] * J[1][i];
		for (size_t a = 0; a < 2; a++)
			along[a] += direction ? J[a][i] * direction[i] : 0;
	}
	determinant = direction ? along[0] * along[0] + along[1] * along[1] :
	    square[0] * square[2] - square[1] * square[1];
	if (!(determinant > 0))
		return false;
	for (size_t i = 0; i < n; i++) {
		error[i][0] = direction ? direction[i] * along[0] / determinant :
		    (square[2] * J[0][i] - square[1] * J[1][i]) / determinant;
		error[i][1] = direction ? direction[i] * along[1] / determinant :
		    (square[0] * J[1][i] - square[1] * J[0][i]) / determinant;
	}
	for (size_t i = n; i-- > 0;)
		for (size_t a = 0; a < 2; a++)
			error[i][a] -= error[0][a];
	return true;
}

/* What turns a ripple into the shifts' errors, the first of which is 0. False: nothing does. */
static bool
linearise(const struct lines *lines, const double *shift_rad, const double *constant,
    double error[N][2])
{
	double J[2][N], direction[N];

	for (size_t i = 0; i < lines->images; i++) {
		double s = sin(shift_rad[i]), c = cos(shift_rad[i]);
		const double k[2] = { lines->weight[0][i], lines->weight[1][i] };

		/* of a shift that is too large by 1: of what makes (cos phi, sin phi) found out of
		 * the true ones, less the identity, half the sum of the off-diagonal elements, and
		 * half the difference of the others */
		J[0][i] = (k[0] * c + k[1] * s) / 2;
		J[1][i] = (k[1] * c - k[0] * s) / 2;
	}
	if (constant)
		find_direction(constant, shift_rad, direction);
	return invert(J, constant ? direction : NULL, lines->images, error);
}

static bool
find_weights(struct lines *lines, const double *shift_rad)
{
	double k[3][SHIFT_IMAGES_MOST];

	if (!shift_gram_pixels(shift_rad, lines->images, k))
		return false;
	memcpy(lines->weight, k[1], lines->images * sizeof(**k));
	memcpy(lines->weight[1], k[2], lines->images * sizeof(**k));
	return true;
}

/* The combination of four images that is the same in every pixel, or nearly so: of the samples
 * over the amplitude, so that an image that is a little brighter counts like a constant. */
static void
find_constant(const struct lines *lines, double constant[N])
{
	double gram[N * N] = { 0 }, mean[N] = { 0 }, value[N], vector[N * N], n = 0, trace = 0;

	for (size_t p = 0; p < lines->pixels; p++) {
		double d[N], c = 0, s = 0, amplitude;

		if (px_isnan(lines->phase[p]))
			continue;
		for (size_t a = 0; a < N; a++) {
			d[a] = (double)(lines->sample[p * N + a] - lines->sample[p * N]);
			c += lines->weight[0][a] * d[a];
			s += lines->weight[1][a] * d[a];
		}
		amplitude = hypot(c, s);
		for (size_t a = 0; a < N; a++) {
			d[a] /= amplitude;
			mean[a] += d[a];
		}
		for (size_t a = 0; a < N * N; a++)
			gram[a] += d[a / N] * d[a % N];
		n++;
	}
	for (size_t a = 0; a < N * N && n > 0; a++)
		gram[a] -= mean[a / N] * mean[a % N] / n;
	for (size_t a = 0; a < N; a++)
		trace += gram[a * (N + 1)];
	/* the sum of all is another such combination, which this takes out of the way */
	for (size_t a = 0; a < N * N; a++)
		gram[a] += trace;
	symmetric_eigen(N, gram, value, vector);
	memcpy(constant, vector + N * (N - 1), N * sizeof(*constant));
}

/* Takes the shifts of four images to the nearest ones of which the combination is constant. */
static void
keep_constant(const double constant[N], double *shift_rad)
{
	double first = shift_rad[0];

	for (int round = 0; round < 3; round++) {
		double left[2] = { 0 }, J[2][N], square[4] = { 0 };

		for (size_t i = 0; i < N; i++) {
			double c = constant[i] * cos(shift_rad[i]);
			double s = constant[i] * sin(shift_rad[i]);

			left[0] += c;
			left[1] += s;
			J[0][i] = -s;
			J[1][i] = c;
			square[0] += s * s;
			square[2] -= s * c;
			square[3] += c * c;
		}
		if (!symmetric_factor(2, square, 1e-9))
			return;
		symmetric_solve(2, square, left, 1);
		for (size_t i = 0; i < N; i++)
			shift_rad[i] -= J[0][i] * left[0] + J[1][i] * left[1];
	}
	for (size_t i = N; i-- > 0;)
		shift_rad[i] += first - shift_rad[0];
}

/* The largest change of a shift that a ripple makes. */
static double
worst(const struct lines *lines, double error[N][2], const double ripple[2], bool independent)
{
	double most = 0;

	for (size_t i = 0; i < lines->images; i++) {
		double a = error[i][0] * ripple[0], b = error[i][1] * ripple[1];

		most = fmax(most, independent ? hypot(a, b) : fabs(a + b));
	}
	return most;
}

/* The ripple's standard error by the jackknife, what a power of the place less changes, and what
 * noise feigns. */
static double
find_error(const struct lines *lines, double error[N][2], const struct ripple *ripple,
    size_t powers)
{
	struct ripple part[GROUPS], less = { 0 };
	double mean[2] = { 0 }, all[2] = { 0 };

	if (!solve(lines, GROUPS, powers - 1, &less))
		return INFINITY;
	for (size_t g = 0; g < GROUPS; g++) {
		if (!solve(lines, g, powers, &part[g]))
			return INFINITY;
		for (size_t a = 0; a < 2; a++)
			mean[a] += part[g].v[a] / GROUPS;
	}
	for (size_t a = 0; a < 2; a++) {
		for (size_t g = 0; g < GROUPS; g++)
			all[a] += (part[g].v[a] - mean[a]) * (part[g].v[a] - mean[a]);
		all[a] = sqrt(all[a] * (GROUPS - 1) / GROUPS +
		    (less.v[a] - ripple->v[a]) * (less.v[a] - ripple->v[a]) +
		    UNEVEN_NOISE * ripple->left * UNEVEN_NOISE * ripple->left);
	}
	return worst(lines, error, all, true);
}

/* What light that differs from image to image and a third harmonic change the worst shift by. */
static double
find_systematic(const struct lines *lines, const double *shift_rad, double error[N][2])
{
	double gain[N][2], harmonic[2] = { 0 }, most = 0;
	/* what leaves no ripple comes from the constant combination, by the difference of two */
	double open = lines->images == N ? 2 * LIGHT * LIGHT : 0;

	for (size_t i = 0; i < lines->images; i++) {
		double s = sin(shift_rad[i]), c = cos(shift_rad[i]);
		double s3 = sin(3 * shift_rad[i]), c3 = cos(3 * shift_rad[i]);
		const double k[2] = { lines->weight[0][i], lines->weight[1][i] };

		/* the ripple of a shift that is off by 1 (linearise), a quarter further on */
		gain[i][0] = (k[0] * s - k[1] * c) / 2;
		gain[i][1] = (k[0] * c + k[1] * s) / 2;
		/* what sin(phi - found) makes of cos 3(phi + shift), as far as it turns twice */
		harmonic[0] += (k[0] * s3 + k[1] * c3) / 2;
		harmonic[1] += (k[0] * c3 - k[1] * s3) / 2;
	}
	for (size_t j = 0; j < lines->images; j++) {
		double third = error[j][0] * harmonic[0] + error[j][1] * harmonic[1];
		double square = open + THIRD_HARMONIC * third * THIRD_HARMONIC * third;

		for (size_t i = 0; i < lines->images; i++) {
			double light = error[j][0] * gain[i][0] + error[j][1] * gain[i][1];

			square += LIGHT * light * LIGHT * light;
		}
		most = fmax(most, square);
	}
	return sqrt(most);
}

static void
refine(struct run *run, struct lines *lines, double *shift_rad, struct shift_ripple *out)
{
	double error[N][2], constant[N], next[N], moved = INFINITY;
	size_t n = lines->images, powers = POWERS;
	struct ripple ripple;

	memcpy(next, shift_rad, n * sizeof(*next));
	for (size_t round = 0; round < ROUNDS && moved > SETTLED; round++) {
		if (round > 0 && n == N)
			keep_constant(constant, next);
		if (!find_weights(lines, next))
			return;
		run_for(run, lines->count, sum_line, lines);
		if (round == 0 && n == N)
			find_constant(lines, constant);
		while (powers > 1 && !solve(lines, GROUPS, powers, &ripple))
			powers--;
		if (!linearise(lines, next, n == N ? constant : NULL, error))
			return;
		out->systematic_rad = find_systematic(lines, next, error);
		if (powers == 1)
			return;
		moved = worst(lines, error, ripple.v, false);
		for (size_t i = 0; i < n; i++)
			next[i] -= error[i][0] * ripple.v[0] + error[i][1] * ripple.v[1];
	}
	out->error_rad = hypot(find_error(lines, error, &ripple, powers), moved);
	if (n == N)
		keep_constant(constant, next);
	for (size_t i = 0; i < n; i++) {
		out->moved_rad = fmax(out->moved_rad,
		    fabs(remainder(next[i] - shift_rad[i], 2 * M_PI)));
		shift_rad[i] = next[i];
	}
	out->known = isfinite(out->moved_rad);
	out->turns = ripple.turns;
}

int
shift_ripple_refine(struct run *run, const struct frame *in, const struct capture_fringe *fringe,
    float max_value, float least_square, double *shift_rad, struct shift_ripple *out)
{
	struct lines lines = { .in = in, .fringe = fringe, .max_value = max_value,
		.least_square = least_square, .images = fringe->n };
	int status;

	*out = (struct shift_ripple){ 0 };
	status = make_lines(&lines);
	if (status == 0) {
		run_for(run, lines.count, read_line, &lines);
		refine(run, &lines, shift_rad, out);
	}
	free_lines(&lines);
	return status;
}
