/*
 * Harmonics of the fringes over their fundamental, and what they do to the phase that N steps find
 * (Zhang and Huang 2007; Pan, Kemao, Huang and Asundi 2009): reads their table, checks that it is
 * the images' own, and computes a correction of the phase from it.
 *
 * The file, as fringegamma writes it: lines `# key:=value`, of which `compensation` counts, a line
 * `axis period_px harmonic cosine sine`, and a row for each harmonic k of I = A + B (cos p + sum
 * (cosine cos(k p) + sine sin(k p))); axis and period_px may be `-`. Blank lines and other lines
 * that start with # are skipped.
 *
 * Of harmonics that change over the picture the columns `cosine_x sine_x cosine_y sine_y` follow:
 * by how much these two rise in a pixel along x and along y. Their cosine and sine are those of the
 * middle of the picture, whose size a line `# size_px:=w h` gives.
 */
#include "phasewrap.h"

#include <complex.h>
#include <stdio.h>

#include "phasewrap.px.h"

#define TWO_PI 6.28318530717958647692
#define ROWS_MOST 10000
#define HIGHEST 1000	/* harmonic */
#define FAR_RATIO 1.1	/* periods whose quotient is larger are blurred differently */
#define COLUMNS "axis period_px harmonic cosine sine"
#define SLOPES "cosine_x sine_x cosine_y sine_y"
#define WORDS 9

/* ---- the file ---- */

/* Are two rows of the same fringes? */
static bool
same_fringes(const struct harmonic *a, const struct harmonic *b)
{
	return a->axis == b->axis && numbers_same(a->period_px, b->period_px);
}

static int
append(const char *path, struct harmonics *all, const struct harmonic *row)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->row[i].k == row->k && same_fringes(&all->row[i], row))
			return fail(path, "has harmonic %ld of the same fringes twice", row->k);
	if (all->n == ROWS_MOST)
		return fail(path, "table has more than %d rows", ROWS_MOST);
	all->row = must_resize(all->row, all->n + 1, sizeof(*all->row));
	all->row[all->n++] = *row;
	return 0;
}

#define WORD_SIZE 40

/* The words of a line; WORDS + 1 where there are more. */
static size_t
split(const char *line, char word[WORDS][WORD_SIZE])
{
	size_t n = 0;
	int end;

	for (; n < WORDS && sscanf(line, "%39s%n", word[n], &end) == 1; n++)
		line += end;
	return line[strspn(line, " \t")] ? WORDS + 1 : n;
}

static int
take_row(const char *path, size_t number, const char *line, struct harmonics *all)
{
	char word[WORDS][WORD_SIZE];
	struct harmonic row = { 0 };

	if (split(line, word) != (all->varying ? WORDS : 5))
		return fail(path, "line %zu has not the %s columns " COLUMNS "%s", number,
		    all->varying ? "nine" : "five", all->varying ? " " SLOPES : "");
	if (!strchr("xy-", *word[0]) || word[0][1])
		return fail(path, "line %zu: axis must be x, y or -, not %s", number, word[0]);
	row.axis = *word[0] == '-' ? 0 : *word[0];
	if (!strcmp(word[1], "-"))
		row.period_px = NAN;
	else if (number_parse(word[1], &row.period_px) < 0 || !isfinite(row.period_px) ||
	    row.period_px <= 0)
		return fail(path, "line %zu: period_px must be positive or -, not %s", number,
		    word[1]);
	if (integer_parse(word[2], &row.k) < 0 || row.k < 2 || row.k > HIGHEST)
		return fail(path, "line %zu: harmonic must be 2 to %d, not %s", number, HIGHEST,
		    word[2]);
	if (number_parse(word[3], &row.cosine) < 0 || number_parse(word[4], &row.sine) < 0 ||
	    !(fabs(row.cosine) <= 1) || !(fabs(row.sine) <= 1))
		return fail(path, "line %zu: cosine and sine must be shares of the fundamental "
		    "from -1 to 1, not %s %s", number, word[3], word[4]);
	for (size_t i = 0; i < 4 && all->varying; i++)
		if (number_parse(word[5 + i], &row.slope[i / 2][i % 2]) < 0 ||
		    !(fabs(row.slope[i / 2][i % 2]) <= 1))
			return fail(path, "line %zu: slopes must be from -1 to 1 a pixel, not %s",
			    number, word[5 + i]);
	return append(path, all, &row);
}

/* Does a line have these words? */
static bool
is_title(const char *line, const char *words)
{
	char word[WORDS][WORD_SIZE], wanted[WORDS][WORD_SIZE];
	size_t n = split(words, wanted);

	if (n > WORDS || split(line, word) != n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (strcmp(word[i], wanted[i]) != 0)
			return false;
	return true;
}

static int
take_line(const char *path, size_t number, char *line, struct harmonics *all, bool *begun)
{
	static const char key[] = "compensation:=";
	double w, h;
	size_t n;

	line += strspn(line, " \t\r\n");
	for (n = strlen(line); n > 0 && strchr(" \t\r\n", line[n - 1]); n--)
		line[n - 1] = 0;
	if (*line == '#') {
		line += 1 + strspn(line + 1, " \t");
		if (sscanf(line, "size_px:=%lf %lf", &w, &h) == 2) {
			all->size_px[0] = w;
			all->size_px[1] = h;
		}
		if (!strncmp(line, key, sizeof(key) - 1))
			snprintf(all->compensation, sizeof(all->compensation), "%s",
			    line + sizeof(key) - 1);
		return 0;
	}
	if (!*line)
		return 0;
	if (*begun)
		return take_row(path, number, line, all);
	*begun = true;
	all->varying = is_title(line, COLUMNS " " SLOPES);
	if (all->varying || is_title(line, COLUMNS))
		return 0;
	return fail(path, "is no table of harmonics: line %zu is not '" COLUMNS "' but: %.40s",
	    number, line);
}

int
harmonics_load(const char *path, struct harmonics *out)
{
	bool standard = !strcmp(path, "-"), begun = false;
	FILE *file = standard ? stdin : fopen(path, "rb");
	char *line = NULL;
	size_t size = 0, number = 0;
	int status = 0;

	*out = (struct harmonics){ .path = path };
	if (!file)
		return fail_errno(path, "harmonics cannot be opened");
	while (status == 0 && getline(&line, &size, file) >= 0)
		status = take_line(path, ++number, line, out, &begun);
	if (status == 0 && ferror(file))
		status = fail_errno(path, "cannot be read");
	if (status == 0 && out->n == 0)
		status = fail(path, "has no harmonics");
	if (status == 0 && out->varying && !(out->size_px[0] > 0 && out->size_px[1] > 0))
		status = fail(path, "has slopes, and no line '# size_px:=WIDTH HEIGHT' says over "
		    "what picture");
	free(line);
	if (!standard)
		fclose(file);
	return status;
}

/* ---- are they those of the images? ---- */

int
harmonics_check(const struct harmonics *all, const struct frame_head *head)
{
	const struct meta *meta = &head->meta;
	const char *corrected = meta_get(meta, "phase_correction");
	const char *compensation = meta_get(meta, "compensation");

	if (corrected)
		return fail("--harmonics", "the phase is corrected already, by %s", corrected);
	/* Images that say what they are, but of no compensation, were projected without. */
	if (!compensation && meta_get(meta, "role"))
		compensation = "";
	if (compensation && strcmp(compensation, all->compensation))
		return fail("--harmonics", "the images were projected %s%s, those that %s was "
		    "measured from %s%s", *compensation ? "through " : "without compensation",
		    compensation, all->path, *all->compensation ? "through " : "without",
		    all->compensation);
	if (all->varying && !(all->size_px[0] == (double)head->w &&
	    all->size_px[1] == (double)head->h))
		return fail("--harmonics", "those of %s change over the picture, of %g x %g "
		    "pixels, and these images have %zu x %zu", all->path, all->size_px[0],
		    all->size_px[1], head->w, head->h);
	return 0;
}

/* How far a row is from the fringes: another axis counts more than any period. */
static double
distance(const struct harmonic *row, const struct capture_fringe *fringe)
{
	double far = row->axis && row->axis != fringe->axis ? 1e3 : 0;

	if (!isnan(row->period_px) && !isnan(fringe->period_px))
		far += fabs(log(row->period_px / fringe->period_px));
	return far;
}

/* A row of the nearest fringes; NULL after fail(). */
static const struct harmonic *
choose(const struct harmonics *all, const struct capture_fringe *fringe)
{
	const struct harmonic *nearest = all->row;
	char name[CAPTURE_SET_NAME_SIZE];
	bool several = false;

	for (size_t i = 1; i < all->n; i++) {
		several |= !numbers_same(all->row[i].period_px, nearest->period_px);
		if (distance(&all->row[i], fringe) < distance(nearest, fringe))
			nearest = &all->row[i];
	}
	if (several && isnan(fringe->period_px)) {
		fail(all->path, "has harmonics of several periods, and that of the images is not "
		    "known: give --period");
		return NULL;
	}
	if (nearest->axis && nearest->axis != fringe->axis) {
		fail(all->path, "has no harmonics of fringes along %c, as %s are", fringe->axis,
		    capture_set_name(fringe, name));
		return NULL;
	}
	return nearest;
}

/* ---- the correction ---- */

/* Harmonic k = 1 ... highest of phase phi gives the steps' sums rising[k] e^(ik phi) + falling[k]
 * e^(-ik phi). */
struct aliases {
	long highest;
	double complex rising[HIGHEST + 1], falling[HIGHEST + 1];
};

/* sum w_n cos(k (phi + d_n)) = P e^(ik phi) + Q e^(-ik phi), P = sum w_n e^(ik d_n)/2, Q = sum w_n
 * e^(-ik d_n)/2, where w_n = c_n + i s_n; a sine has -i P and i Q. */
static void
add_harmonic(struct aliases *aliases, const struct phasewrap *wrap, size_t set,
    const struct harmonic *row)
{
	const struct phase_shift_fit *fit = &wrap->fit[set];
	double complex p = 0, q = 0;

	for (size_t i = 0; i < fit->n; i++) {
		double d = (double)row->k * (wrap->sign *
		    wrap->captures.fringe[set].shift_rad[i] + wrap->origin_rad);
		double complex weight = (double)fit->weights[i].c +
		    I * (double)fit->weights[i].s, half = cos(d) / 2 + I * (sin(d) / 2);

		p += weight * half;
		q += weight * conj(half);
	}
	aliases->rising[row->k] = p * (row->cosine - I * row->sine);
	aliases->falling[row->k] = q * (row->cosine + I * row->sine);
	if (row->k > aliases->highest)
		aliases->highest = row->k;
}

/* The measured phase less the true one, phi: the angle of e^(-i phi) times the sums. *slope: its
 * derivative. */
static double
error_at(const struct aliases *aliases, double phi, double *slope)
{
	double complex turn = cos(phi) + I * sin(phi), power = 1;
	double re = 0, im = 0, re_slope = 0, im_slope = 0;

	for (long k = 1; k <= aliases->highest; k++) {		/* power = e^(i (k - 1) phi) */
		double complex up = aliases->rising[k] * power, next = power * turn;
		double complex down = aliases->falling[k] * conj(next * turn);
		double above = (double)(k - 1), below = (double)(-k - 1);

		re += creal(up) + creal(down);
		im += cimag(up) + cimag(down);
		re_slope -= above * cimag(up) + below * cimag(down);
		im_slope += above * creal(up) + below * creal(down);
		power = next;
	}
	*slope = (re * im_slope - im * re_slope) / (re * re + im * im);
	return atan2(im, re);
}

/* Does the measured phase rise with the true one? Else one of it is several of the other. */
static bool
rises(const struct aliases *aliases)
{
	for (size_t i = 0; i < PHASEWRAP_CELLS; i++) {
		double slope, error = error_at(aliases, TWO_PI * (double)i / PHASEWRAP_CELLS,
		    &slope);

		if (!(slope > -0.99) || !(fabs(error) < TWO_PI / 4))
			return false;
	}
	return true;
}

/* The true phase of a measured one, by Newton's method between bounds. */
static double
true_phase(const struct aliases *aliases, double measured, double guess)
{
	double low = measured - TWO_PI / 4, high = measured + TWO_PI / 4;

	for (int i = 0; i < 60; i++) {
		double slope, over = guess + error_at(aliases, guess, &slope) - measured;

		if (fabs(over) < 1e-13)
			break;
		*(over < 0 ? &low : &high) = guess;
		guess -= over / (1 + slope);
		if (!(guess > low && guess < high))
			guess = (low + high) / 2;
	}
	return guess;
}

/* The mean of what the fit leaves of fringes of phase phi with these harmonics, weighted as noise
 * is, over the amplitude that it finds. image: room for all. */
static double
level_at(const struct harmonics *all, const struct harmonic *like, const struct phasewrap *wrap,
    size_t set, double phi, double *image)
{
	const struct phase_shift_fit *fit = &wrap->fit[set];
	double mean = 0, c = 0, s = 0, size, left = 0, squares = 0;

	for (size_t n = 0; n < fit->n; n++) {
		const struct phase_shift_weights *weights = &fit->weights[n];
		double p = phi + wrap->sign * wrap->captures.fringe[set].shift_rad[n] +
		    wrap->origin_rad;

		image[n] = cos(p);
		for (size_t i = 0; i < all->n; i++)
			if (same_fringes(&all->row[i], like))
				image[n] += all->row[i].cosine * cos((double)all->row[i].k * p) +
				    all->row[i].sine * sin((double)all->row[i].k * p);
		mean += weights->mean * (image[n] - image[0]) / (double)fit->n;
		c += weights->c * (image[n] - image[0]);
		s += weights->s * (image[n] - image[0]);
	}
	size = hypot(c, s);
	for (size_t n = 0; n < fit->n; n++) {
		double weight = (c * fit->weights[n].s - s * fit->weights[n].c) / size;

		squares += weight * weight;
		left += weight * weight * (image[n] - image[0] - mean -
		    c * fit->model[n].cosine - s * fit->model[n].sine);
	}
	return left / squares / size;
}

/*
 * What is to be added to the phase of a fringe set, at PHASEWRAP_CELLS + 1 phases from -pi to pi
 * (phasewrap.px.h), by the harmonics like one of the rows, at (x, y) from the middle of the picture
 * in pixels. -1 after fail().
 */
static int
correct_at(const struct harmonics *all, const struct harmonic *like, const struct phasewrap *wrap,
    size_t set, double x, double y, double *correction)
{
	const struct harmonic fundamental = { .k = 1, .cosine = 1 };
	struct aliases *aliases = must_alloc(1, sizeof(*aliases));
	char name[CAPTURE_SET_NAME_SIZE];
	double guess = -TWO_PI / 2;
	int status = 0;

	add_harmonic(aliases, wrap, set, &fundamental);
	for (size_t i = 0; i < all->n; i++) {
		struct harmonic own = all->row[i];

		own.cosine += x * own.slope[0][0] + y * own.slope[1][0];
		own.sine += x * own.slope[0][1] + y * own.slope[1][1];
		if (same_fringes(&own, like))
			add_harmonic(aliases, wrap, set, &own);
	}
	if (!rises(aliases))
		status = fail(all->path, "has harmonics so large that %zu steps of %s give no "
		    "single phase", wrap->fit[set].n,
		    capture_set_name(&wrap->captures.fringe[set], name));
	for (size_t i = 0; i <= PHASEWRAP_CELLS && status == 0; i++) {
		double measured = TWO_PI * ((double)i / PHASEWRAP_CELLS - 0.5);

		guess = true_phase(aliases, measured, guess);
		correction[i] = guess - measured;
	}
	free(aliases);
	return status;
}

/*
 * Sets the corrections of a fringe set by the harmonics of the same axis and the nearest period.
 * levels, unless NULL: in the middle of PHASEWRAP_LEVELS cells, what is to be added to the mean
 * level of the images, over the amplitude that the fit finds, so that its shot noise is that of
 * fringes with harmonics: the mean of what the fit leaves, each image with the square of its weight
 * in the phase. slopes, unless NULL: by how much the correction rises in a pixel along x, then
 * along y. -1 after fail().
 */
static int
correct_set(const struct harmonics *all, const struct phasewrap *wrap, size_t set,
    float *correction, float *levels, float *slopes)
{
	const struct capture_fringe *fringe = &wrap->captures.fringe[set];
	const struct harmonic *like = choose(all, fringe);
	char name[CAPTURE_SET_NAME_SIZE];
	double *low, *high, *image;
	int status;

	if (!like)
		return -1;
	if (fabs(log(like->period_px / fringe->period_px)) > log(FAR_RATIO))
		warn(all->path, "the harmonics of a period of %g px are taken for %s, which blur "
		    "changes differently", like->period_px, capture_set_name(fringe, name));
	if (fringe->two_plus_one)
		return fail("--harmonics", "serves phase-shifted images; the flat one of 2+1 is "
		    "none");
	low = must_alloc(PHASEWRAP_CELLS + 1, sizeof(*low));
	high = must_alloc(PHASEWRAP_CELLS + 1, sizeof(*high));
	image = must_alloc(fringe->n, sizeof(*image));
	status = correct_at(all, like, wrap, set, 0, 0, low);
	for (size_t i = 0; i <= PHASEWRAP_CELLS && status == 0; i++)
		correction[i] = (float)low[i];
	for (size_t i = 0; i < PHASEWRAP_LEVELS && status == 0 && levels; i++) {
		size_t cell = (2 * i + 1) * (PHASEWRAP_CELLS / PHASEWRAP_LEVELS / 2);
		double measured = TWO_PI * ((double)cell / PHASEWRAP_CELLS - 0.5);

		levels[i] = (float)level_at(all, like, wrap, set,
		    measured + (double)correction[cell], image);
	}
	for (size_t axis = 0; axis < 2 && status == 0 && slopes; axis++) {
		double reach = all->size_px[axis] / 4, x = axis ? 0 : reach, y = axis ? reach : 0;

		status = correct_at(all, like, wrap, set, -x, -y, low) < 0 ? -1 :
		    correct_at(all, like, wrap, set, x, y, high);
		for (size_t i = 0; i <= PHASEWRAP_CELLS && status == 0; i++)
			*slopes++ = (float)((high[i] - low[i]) / (2 * reach));
	}
	free_all(low, high, image);
	return status;
}

int
harmonics_correct(const struct harmonics *harmonics, struct phasewrap *wrap, bool sigmas)
{
	size_t numbers = PHASEWRAP_CELLS + 1, sets = wrap->captures.fringes;

	if (harmonics->n == 0)
		return 0;
	if (sets == 0)
		return fail("--harmonics", "there are no fringes to correct");
	if (harmonics->varying && wrap->vector)
		return fail("--harmonics", "those of %s change over the picture, which --as "
		    "vector does not do", harmonics->path);
	wrap->correction_slopes = harmonics->varying ?
	    must_alloc(sets * 2 * numbers, sizeof(*wrap->correction_slopes)) : NULL;
	wrap->correction = must_alloc(sets * (numbers + PHASEWRAP_LEVELS),
	    sizeof(*wrap->correction));
	for (size_t k = 0; k < sets; k++)
		if (correct_set(harmonics, wrap, k, wrap->correction + k * numbers, sigmas ?
		    wrap->correction + sets * numbers + k * PHASEWRAP_LEVELS : NULL,
		    harmonics->varying ? wrap->correction_slopes + k * 2 * numbers : NULL) < 0)
			return -1;
	return 0;
}
