/*
 * Fringe and Gray code patterns for the projector: their levels, and the look-up tables that
 * compensate its response.
 */
#include "fringe/patterns.h"

#include <math.h>

#include "base/cpu_level.h"
#include "base/opt.h"
#include "base/process.h"
#include "base/px.h"
#include "base/text.h"
#include "fringe/fringes.px.h"
#include "holo/dither.h"

#define BLOCK 64		/* rows that a thread takes at a time */

/* The whole level nearest to a share of full scale. The conversion truncates: floor, here. */
static inline uint
whole(float level, float full)
{
	return (uint)px_int(px_min(px_max(level, 0.0f), 1.0f) * full + 0.5f);
}

/*
 * n levels as samples: uchar and ushort take the whole number nearest to level * full, halves
 * upward, held to 0 .. full; float samples are the levels themselves.
 */
static void
levels_encode(const float *restrict level, size_t n, enum sample type, float full, void *out)
{
	unsigned char *restrict bytes = out;
	uint16_t *restrict words = out;

	if (type == SAMPLE_FLOAT) {
		memcpy(out, level, n * sizeof(*level));
	} else if (type == SAMPLE_UCHAR) {
		CPU_SIMD
		for (size_t x = 0; x < n; x++)
			bytes[x] = (unsigned char)whole(level[x], full);
	} else {
		CPU_SIMD
		for (size_t x = 0; x < n; x++)
			words[x] = (uint16_t)whole(level[x], full);
	}
}

/* Fills a row of n samples with its first one. */
static void
spread_first(void *row, size_t n, enum sample type)
{
	size_t size = sample_size(type);

	for (size_t have = 1; have < n; have *= 2)
		memcpy((char *)row + have * size, row, (have < n - have ? have : n - have) * size);
}

struct job {
	struct frame *frame;
	size_t channel;
	bool down;		/* the levels run from the top, not from the left */
	float full;
	const float *level;
	float *plane;		/* the levels of all pixels instead; or NULL */
};

/* Dithers the whole plane: rows depend on the rows above them. */
static int
dither_plane(struct job *job, enum dither how)
{
	size_t w = job->frame->head.w, h = job->frame->head.h, pixels;

	if (size_multiply(w, h, &pixels) < 0)
		return -1;
	job->plane = must_resize(NULL, pixels, sizeof(*job->plane));
	for (size_t i = 0; i < pixels; i++)
		job->plane[i] = job->level[job->down ? i / w : i % w];
	for (size_t y = 0; y < h; y++) {
		float *row = job->plane + y * w;

		if (how == DITHER_BAYER)
			for (size_t x = 0; x < w; x++)
				row[x] = row[x] >= dither_bayer((uint)x, (uint)y, 3) ? 1.0f : 0.0f;
		else
			dither_diffuse_row(row, y + 1 < h ? row + w : NULL, w,
			    how == DITHER_FS_SERPENTINE && y % 2 ? -1 : 1);
	}
	return 0;
}

static void
fill_block(void *arg, size_t block)
{
	const struct job *job = arg;
	const struct frame_head *head = &job->frame->head;

	for (size_t y = block * BLOCK; y < head->h && y < (block + 1) * BLOCK; y++) {
		const float *level = job->plane ? job->plane + y * head->w :
		    job->down ? job->level + y : job->level;
		bool spread = job->down && !job->plane;
		void *row = frame_row(job->frame, job->channel, y);

		levels_encode(level, spread ? 1 : head->w, head->type, job->full, row);
		if (spread)
			spread_first(row, head->w, head->type);
	}
}

static float
full_scale(const struct frame_head *head)
{
	const char *bits = meta_get(&head->meta, "bits");

	if (head->type == SAMPLE_FLOAT || (bits && !strcmp(bits, "1")))
		return 1.0f;
	return head->type == SAMPLE_USHORT ? 65535.0f : 255.0f;
}

int
levels_fill(struct run *run, struct frame *frame, size_t c, const float *level, bool down,
    enum dither how)
{
	struct job job = { frame, c, down, full_scale(&frame->head), level, NULL };

	if (how != DITHER_NONE && dither_plane(&job, how) < 0)
		return -1;
	run_for(run, (frame->head.h + BLOCK - 1) / BLOCK, fill_block, &job);
	free(job.plane);
	return 0;
}

#define MAX_LUT_ROWS 1000000

static int
append_row(const char *path, struct lut *lut, double input, double output)
{
	if (lut->n == MAX_LUT_ROWS)
		return fail(path, "table has more than %d rows", MAX_LUT_ROWS);
	if (lut->n ? input <= lut->input[lut->n - 1] : input != 0.0)
		return fail(path, "inputs must ascend from 0, row %zu has %g", lut->n + 1, input);
	lut->input = must_resize(lut->input, lut->n + 1, sizeof(*lut->input));
	lut->output = must_resize(lut->output, lut->n + 1, sizeof(*lut->output));
	lut->input[lut->n] = input;
	lut->output[lut->n++] = output;
	return 0;
}

/* *words: the numbers in each row, 0 before the first one. */
static int
take_line(const char *path, size_t number, char *line, struct lut *lut, size_t *words)
{
	struct numbers row;
	int status = 0;

	line += strspn(line, " \t\r\n");
	if (!*line || *line == '#')
		return 0;
	for (char *p = line; *p; p++)
		if (strchr("\t\r\n", *p))
			*p = ' ';
	if (numbers_parse(line, " ", &row) < 0)
		return fail(path, "line %zu is not one or two numbers: %.60s", number, line);
	if (*words == 0)
		*words = row.n;
	if (row.n > 2 || row.n != *words)
		status = fail(path, "line %zu has %zu numbers, not %zu", number, row.n,
		    *words > 2 ? (size_t)2 : *words);
	for (size_t i = 0; i < row.n && status == 0; i++)
		if (!isfinite(row.v[i]))
			status = fail(path, "line %zu is not finite: %.60s", number, line);
	if (status == 0)
		status = append_row(path, lut, row.n == 2 ? row.v[0] : (double)lut->n,
		    row.v[row.n - 1]);
	numbers_free(&row);
	return status;
}

static int
normalise(const char *path, struct lut *lut)
{
	double full;

	if (lut->n < 2)
		return fail(path, "table has %zu rows, at least 2 are needed", lut->n);
	full = lut->input[lut->n - 1];
	for (size_t i = 0; i < lut->n; i++) {
		if (lut->output[i] < 0.0 || lut->output[i] > full)
			return fail(path, "row %zu has output %g, not one from 0 to the "
			    "last input, %g", i + 1, lut->output[i], full);
		lut->input[i] /= full;
		lut->output[i] /= full;
	}
	return 0;
}

int
lut_read(FILE *file, const char *path, struct lut *out)
{
	char *line = NULL;
	size_t size = 0, number = 0, words = 0;
	int status = 0;

	*out = (struct lut){ 0 };
	while (status == 0 && getline(&line, &size, file) >= 0)
		status = take_line(path, ++number, line, out, &words);
	if (status == 0 && ferror(file))
		status = fail_errno(path, "cannot be read");
	if (status == 0)
		status = normalise(path, out);
	free(line);
	if (status < 0)
		lut_free(out);
	return status;
}

int
lut_load(const char *path, struct lut *out)
{
	bool standard = !strcmp(path, "-");
	FILE *file = standard ? stdin : fopen(path, "rb");
	int status;

	*out = (struct lut){ 0 };
	if (!file)
		return fail_errno(path, "table cannot be opened");
	status = lut_read(file, path, out);
	if (!standard)
		fclose(file);
	return status;
}

void
lut_free(struct lut *lut)
{
	free(lut->input);
	free(lut->output);
	*lut = (struct lut){ 0 };
}

/* Linear between the rows; share is held to 0 .. 1. */
static double
lut_value(const struct lut *lut, double share)
{
	size_t low = 0, high = lut->n - 1;
	double t;

	if (!(share > 0.0))
		return lut->output[0];
	if (share >= 1.0)
		return lut->output[high];
	while (high - low > 1) {
		size_t middle = (low + high) / 2;

		if (lut->input[middle] <= share)
			low = middle;
		else
			high = middle;
	}
	t = (share - lut->input[low]) / (lut->input[high] - lut->input[low]);
	return lut->output[low] + t * (lut->output[high] - lut->output[low]);
}

void
lut_compensate(const struct lut *lut, double gamma, float *level, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (lut->n)
			level[i] = (float)lut_value(lut, level[i]);
		else if (gamma != 1.0)
			level[i] = (float)pow(fmax(level[i], 0.0), 1.0 / gamma);
	}
}

int
compensation_set_file(struct meta *meta, const char *key, const char *path)
{
	const char *slash = strrchr(path, '/');
	struct text text;
	char *word;
	int status;

	escape_put_word(text_open(&text), slash && slash[1] ? slash + 1 : path);
	word = text_close(&text, NULL);
	status = meta_set(meta, key, word);
	free(word);
	return status;
}

int
compensation_describe(struct meta *meta, const char *lut_path, double gamma)
{
	if (lut_path)
		return compensation_set_file(meta, "compensation", lut_path);
	if (gamma != 1)
		return meta_setf(meta, "compensation", "gamma %.15g", gamma);
	meta_remove(meta, "compensation");
	return 0;
}

#define TWO_PI 6.28318530717958647692

int
projector_response_complete(struct projector_response *response, double full)
{
	response->full = full;
	if (isnan(response->mean))
		response->mean = full * 127 / 255;
	if (isnan(response->amplitude))
		response->amplitude = full * 100 / 255;
	if (response->amplitude > response->mean)
		return fail_usage("--amplitude", "must not exceed the mean %g, is %g",
		    response->mean, response->amplitude);
	return 0;
}

/* The level that the projector sends for a level of the pattern. */
static double
projector_output(const struct projector_response *response, double level)
{
	if (response->lut)
		level = response->full * lut_value(response->lut, level / response->full);
	return response->gamma == 1 ? level :
	    response->full * pow(fmax(level, 0) / response->full, response->gamma);
}

/* The factor of a Gaussian blur on harmonic m. */
static double
attenuation(const struct projector_response *response, double period_px, size_t m)
{
	double cycles = (double)m * response->defocus_px / period_px;

	return exp(-0.5 * TWO_PI * TWO_PI * cycles * cycles);
}

/*
 * Finds the Fourier series of the response to a cosine, blurred, by a sum over 4096 samples of one
 * turn (exact except for aliasing). It ends where further terms are below the rounding of double.
 */
static void
find_harmonics(struct projected_pattern *projected)
{
	const struct projector_response *response = projected->response;
	enum { SAMPLES = 4096 };

	for (size_t m = 0; m < PROJECTOR_HARMONICS; m++) {
		double factor = attenuation(response, projected->pattern->period_px, m), sum = 0;

		if (factor < 1e-17)
			break;
		for (size_t i = 0; i < SAMPLES; i++) {
			double level = response->mean +
			    response->amplitude * cos(TWO_PI * (double)i / SAMPLES);

			sum += projector_output(response, level) *
			    cos(TWO_PI * (double)(m * i % SAMPLES) / SAMPLES);
		}
		projected->harmonic[m] = factor * sum * (m ? 2 : 1) / SAMPLES;
		projected->harmonics = m + 1;
	}
}

void
projected_pattern_init(struct projected_pattern *projected,
    const struct projector_response *response, const struct pattern *pattern)
{
	*projected = (struct projected_pattern){ .response = response, .pattern = pattern };
	projected->dark = projector_output(response, response->mean - response->amplitude);
	projected->bright = projector_output(response, response->mean + response->amplitude);
	projected->shift_rad = pattern->role == ROLE_SIN ? -0.25 * TWO_PI :
	    pattern->role == ROLE_COS ? 0 : pattern->shift_rad;
	if (response->gamma == 1 && !response->lut) {
		projected->harmonics = 2;
		projected->harmonic[0] = response->mean;
		projected->harmonic[1] = response->amplitude *
		    attenuation(response, pattern->period_px, 1);
	} else if (response->defocus_px > 0 && !isnan(projected->shift_rad) &&
	    pattern->wave == WAVE_SINE) {
		find_harmonics(projected);
	}
}

static double
sinusoid(const struct projected_pattern *projected, double column)
{
	const struct projector_response *response = projected->response;
	double c = cos(TWO_PI * column / projected->pattern->period_px + projected->shift_rad);
	double b1 = 0, b2 = 0;

	if (projected->harmonics == 2)
		return projected->harmonic[0] + projected->harmonic[1] * c;
	if (projected->harmonics == 0)
		return projector_output(response, response->mean + response->amplitude * c);
	for (size_t m = projected->harmonics - 1; m > 0; m--) {	/* Clenshaw */
		double b = projected->harmonic[m] + 2 * c * b1 - b2;

		b2 = b1;
		b1 = b;
	}
	return projected->harmonic[0] + c * b1 - b2;
}

/* 1 where the projector column is bright, else 0. Gray planes end at the projector's edge, where
 * columns before the first one are as the first; fringes go on. */
static double
bit(const struct projected_pattern *projected, double column)
{
	const struct pattern *pattern = projected->pattern;
	size_t cell;
	bool set;

	if (pattern->wave == WAVE_SQUARE)
		return fringes_square(patterns_turn(column, pattern->period_px,
		    pattern->shift_rad), 0.5f, 0.5f);
	cell = patterns_cell((size_t)fmax(column, 0), pattern->cell_px);
	set = (cell ^ (cell >> 1)) >> pattern->bit & 1;
	return set != (pattern->role == ROLE_GRAY_INVERSE);
}

/* The share of the light at a column that bright columns contribute. */
static double
bright_share(const struct projected_pattern *projected, double column)
{
	double sigma = projected->response->defocus_px, reach = 9 * sigma;
	double j = floor(column - reach + 0.5), end = floor(column + reach + 0.5);
	double share = bit(projected, j);

	for (; j < end; j++) {
		double step = bit(projected, j + 1) - bit(projected, j);

		if (step != 0)
			share += step * 0.5 * erfc((j + 0.5 - column) / (sigma * sqrt(2)));
	}
	return share;
}

/* The share of the light at a column that a bright stripe contributes. */
static double
stripe_share(const struct projected_pattern *projected, double column)
{
	double sigma = projected->response->defocus_px * sqrt(2);
	double half = projected->pattern->marker_width_px / 2;
	double from = column - projected->pattern->marker_px;

	return sigma > 0 ? 0.5 * (erf((from + half) / sigma) - erf((from - half) / sigma)) :
	    from >= -half && from < half;
}

double
projected_pattern_level(const struct projected_pattern *projected, double share)
{
	return projected->dark + (projected->bright - projected->dark) * share;
}

double
projected_pattern_at(const struct projected_pattern *projected, double column)
{
	enum manifest_role role = projected->pattern->role;

	if (role == ROLE_PHASE && projected->pattern->wave == WAVE_SQUARE)
		role = ROLE_GRAY;
	switch (role) {
	case ROLE_GRAY:
	case ROLE_GRAY_INVERSE:
		return projected_pattern_level(projected, bright_share(projected, column));
	case ROLE_MARKER:
		return projected_pattern_level(projected, stripe_share(projected, column));
	case ROLE_FLAT:
		return projector_output(projected->response, projected->response->mean);
	case ROLE_WHITE:
		return projected->bright;
	case ROLE_BLACK:
		return projected->dark;
	default:
		return sinusoid(projected, column);
	}
}

/* ---- the plan of a measurement: its images and their heads ---- */

#define PATTERNS_GRAY_MOST 16		/* Gray planes of one axis */

#define PERIOD_STANDARD_PX 60.0
#define NEARLY 1e-9		/* of a cell: bound of what a division loses */

static const char axis_letter[] = "xy";

static int
check_shifts(const struct numbers *shift)
{
	size_t different = 0;

	for (size_t i = 0; i < shift->n; i++) {
		bool is_new = true;

		for (size_t k = 0; k < i; k++)
			is_new &= fabs(remainder(shift->v[i] - shift->v[k], 2.0 * M_PI)) > 1e-6;
		different += is_new;
	}
	if (different < 3)
		return fail_usage("--shift", "has %zu different shifts, a phase needs 3 at least",
		    different);
	return 0;
}

int
patterns_shifts(struct pattern_spec *spec, const struct numbers *own, long steps)
{
	size_t n = own->n ? own->n : steps == OPT_NONE_INTEGER ? 3 : (size_t)steps;
	struct numbers *out = &spec->shift_rad;

	if (own->n && steps != OPT_NONE_INTEGER && (size_t)steps != own->n)
		return fail_usage("--shift", "has %zu shifts for %ld steps", own->n, steps);
	if (own->n && check_shifts(own) < 0)
		return -1;
	out->v = must_alloc(n, sizeof(*out->v));
	out->n = n;
	for (size_t i = 0; i < n; i++)
		out->v[i] = own->n ? own->v[i] : n == 3 ? ((double)i - 1.0) * (2.0 * M_PI / 3.0) :
		    2.0 * M_PI * (double)i / (double)n;
	return 0;
}

static size_t
length_along(const struct pattern_spec *spec, size_t axis)
{
	return axis ? spec->h : spec->w;
}

static int
set_periods(struct pattern_spec *spec, size_t axis, const struct numbers *from, bool counts)
{
	struct numbers *out = &spec->period_px[axis];
	size_t length = length_along(spec, axis);

	out->v = must_alloc(from->n, sizeof(*out->v));
	out->n = from->n;
	for (size_t i = 0; i < from->n; i++) {
		double v = from->v[i];

		if (counts && v != floor(v))
			return fail_usage("--count", "must be whole numbers, not %g", v);
		if (v > (double)length)
			return fail_usage(counts ? "--count" : "--period", counts ?
			    "%g periods do not fit into the %zu px of axis %c" :
			    "%g px are more than the %zu px of axis %c", v, length,
			    axis_letter[axis]);
		out->v[i] = counts ? (double)length / v : v;
	}
	return 0;
}

int
patterns_periods(struct pattern_spec *spec, const struct numbers *period_px,
    const struct numbers *count)
{
	double standard = PERIOD_STANDARD_PX;
	const struct numbers one = { 1, &standard };
	const struct numbers *from = count->n ? count : period_px->n ? period_px : &one;

	if (count->n && period_px->n)
		return fail_usage("--count", "stands instead of --period, not beside it");
	for (size_t axis = 0; axis < 2; axis++)
		if (spec->along[axis] && set_periods(spec, axis, from, count->n > 0) < 0)
			return -1;
	return 0;
}

void
patterns_spec_free(struct pattern_spec *spec)
{
	numbers_free(&spec->period_px[0]);
	numbers_free(&spec->period_px[1]);
	numbers_free(&spec->shift_rad);
}

float
patterns_turn(double u, double period_px, double shift_rad)
{
	double t = u / period_px + shift_rad / (2.0 * M_PI);
	float turn = (float)(t - floor(t));

	return turn >= 1.0f ? 0.0f : turn;
}

size_t
patterns_cell(size_t u, double cell_px)
{
	return (size_t)floor((double)u / cell_px + NEARLY);
}

int
patterns_marker(struct pattern_spec *spec, double at_px)
{
	spec->marker = true;
	for (size_t axis = 0; axis < 2; axis++) {
		double length = (double)length_along(spec, axis), shortest = INFINITY, width, first;
		double at = isnan(at_px) ? (length - 1) / 2 : at_px;

		if (!spec->along[axis])
			continue;
		for (size_t k = 0; k < spec->period_px[axis].n; k++)
			shortest = fmin(shortest, spec->period_px[axis].v[k]);
		width = fmax(floor(shortest / 2), 1);
		first = floor(at - (width - 1) / 2 + 0.5);
		if (first < 0 || first + width > length)
			return fail_usage("--marker-at", "a stripe of %g px about %g is not within "
			    "the %g px of axis %c", width, at, length, axis_letter[axis]);
		spec->marker_px[axis] = first + (width - 1) / 2;
		spec->marker_width_px[axis] = width;
	}
	return 0;
}

static const struct pattern no_pattern = {
	.period_px = NAN, .step = MANIFEST_NO_STEP, .shift_rad = NAN, .bit = MANIFEST_NO_BIT,
	.cell_px = NAN, .marker_px = NAN, .marker_width_px = NAN
};

/* Appends an image, whose name is made of a format and what follows. */
static void __attribute__((format(printf, 3, 4)))
append(struct patterns *patterns, struct pattern pattern, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(pattern.name, sizeof(pattern.name), format, args);
	va_end(args);
	patterns->pattern = must_resize(patterns->pattern, patterns->n + 1, sizeof(pattern));
	patterns->pattern[patterns->n++] = pattern;
}

void
patterns_free(struct patterns *patterns)
{
	free(patterns->pattern);
	*patterns = (struct patterns){ 0 };
}

/* "", "_x", "1" or "_x1": the part of a name that distinguishes axes and periods. */
static const char *
tag(const struct pattern_spec *spec, size_t axis, size_t k, size_t periods, char text[32])
{
	size_t used = 0;

	text[0] = '\0';
	if (spec->along[0] && spec->along[1])
		used = (size_t)snprintf(text, 32, "_%c", axis_letter[axis]);
	if (periods > 1)
		snprintf(text + used, 32 - used, "%zu", k + 1);
	return text;
}

/* The fringe images of one period. */
static void
plan_fringes(const struct pattern_spec *spec, struct pattern pattern, const char *tag,
    struct patterns *out)
{
	static const enum manifest_role sin_cos_flat[] = { ROLE_SIN, ROLE_COS, ROLE_FLAT };

	switch (spec->family) {
	case FAMILY_SHIFTS:
		pattern.role = ROLE_PHASE;
		pattern.wave = spec->wave;
		for (size_t n = 0; n < spec->shift_rad.n; n++) {
			pattern.step = (long)n;
			pattern.shift_rad = spec->shift_rad.v[n];
			append(out, pattern, "phase%s_%02zu", tag, n);
		}
		break;
	case FAMILY_SIN_COS_FLAT:
		for (size_t n = 0; n < 3; n++) {
			pattern.role = sin_cos_flat[n];
			append(out, pattern, "phase%s_%zu_%s", tag, n,
			    manifest_roles[pattern.role]);
		}
		break;
	case FAMILY_GRAY:
		break;
	}
}

static int
check_planes(const struct pattern_spec *spec, size_t axis, size_t cells, size_t planes)
{
	static const char *const things[] = { "columns", "periods", "half periods" };
	const char *thing = spec->gray_cell == CELL_COLUMN && axis ? "rows" :
	    things[spec->gray_cell];

	if (planes == 0)
		return fail_usage("--gray", "one cell of axis %c needs no Gray code",
		    axis_letter[axis]);
	if (planes > PATTERNS_GRAY_MOST)
		return fail_usage("--gray", "%zu %s of axis %c need %zu planes, at most %d can be",
		    cells, thing, axis_letter[axis], planes, PATTERNS_GRAY_MOST);
	return 0;
}

/* Cells of half a period count half periods of the first period, and so on. */
static int
plan_gray(const struct pattern_spec *spec, size_t axis, struct patterns *out)
{
	struct pattern pattern = no_pattern;
	size_t cells, planes = 0;
	char text[32];

	pattern.axis = axis_letter[axis];
	pattern.cell_px = 1.0;
	if (spec->gray_cell != CELL_COLUMN) {
		pattern.period_px = spec->period_px[axis].v[0];
		pattern.cell_px = pattern.period_px / (spec->gray_cell == CELL_HALF ? 2.0 : 1.0);
	}
	cells = patterns_cell(length_along(spec, axis) - 1, pattern.cell_px) + 1;
	while (planes < 60 && ((size_t)1 << planes) < cells)	/* that distinguish all cells */
		planes++;
	if (check_planes(spec, axis, cells, planes) < 0)
		return -1;
	for (int inverse = 0; inverse <= spec->inverse; inverse++)
		for (size_t i = 0; i < planes; i++) {
			pattern.role = inverse ? ROLE_GRAY_INVERSE : ROLE_GRAY;
			pattern.bit = (long)(planes - 1 - i);
			append(out, pattern, "plane%s%s_%02zu", tag(spec, axis, 0, 1, text),
			    inverse ? "_inverse" : "", i);
		}
	return 0;
}

/* Columns are bright or dark as a whole: a shift by a part of one does not move all edges alike. */
static void
warn_of_broken_shifts(const struct pattern_spec *spec)
{
	const struct numbers *shift = &spec->shift_rad;

	for (size_t axis = 0; axis < 2; axis++)
		for (size_t i = 0; i < shift->n * spec->period_px[axis].n; i++) {
			double period_px = spec->period_px[axis].v[i / shift->n];
			double turns = (shift->v[i % shift->n] - shift->v[0]) / (2.0 * M_PI);
			double px = fabs(turns) * period_px;

			if (fabs(px - round(px)) < 1e-6)
				continue;
			warn("--period", "square waves of %g px would move by %g px: columns are "
			    "whole, so that the phase has an error that no blur takes away (take a "
			    "multiple of %zu)", period_px, px, shift->n);
			return;
		}
}

const char *const pattern_leads[] = { "black", "white", "both", NULL };

/* Frames in front of the set, which must be the only ones of their kind. */
static int
plan_lead(const struct pattern_spec *spec, struct patterns *out)
{
	struct pattern pattern = no_pattern;

	if (spec->lead >= 0 && (spec->flats || spec->marker))
		return fail_usage("--lead", "must be the only dark or light image: leave out %s",
		    spec->flats ? "--flats" : "--marker");
	if (spec->lead >= 0 && spec->lead != LEAD_BOTH && spec->gray_cell != CELL_NONE)
		return fail_usage("--lead", "%s may look like a Gray plane: give both",
		    pattern_leads[spec->lead]);
	pattern.role = ROLE_BLACK;
	if (spec->lead == LEAD_BLACK || spec->lead == LEAD_BOTH)
		append(out, pattern, "lead_0_black");
	pattern.role = ROLE_WHITE;
	if (spec->lead == LEAD_WHITE || spec->lead == LEAD_BOTH)
		append(out, pattern, "lead_1_white");
	return 0;
}

int
patterns_plan(const struct pattern_spec *spec, struct patterns *out)
{
	struct pattern pattern = no_pattern;
	char text[32];

	*out = (struct patterns){ 0 };
	if (spec->family == FAMILY_SHIFTS && spec->wave == WAVE_SQUARE)
		warn_of_broken_shifts(spec);
	if (plan_lead(spec, out) < 0)
		return -1;
	for (size_t axis = 0; axis < 2; axis++) {
		const struct numbers *period = &spec->period_px[axis];

		pattern.axis = axis_letter[axis];
		for (size_t k = 0; k < period->n && spec->along[axis]; k++) {
			pattern.period_px = period->v[k];
			plan_fringes(spec, pattern, tag(spec, axis, k, period->n, text), out);
		}
	}
	for (size_t axis = 0; axis < 2; axis++)
		if (spec->along[axis] && spec->gray_cell != CELL_NONE &&
		    plan_gray(spec, axis, out) < 0) {
			patterns_free(out);
			return -1;
		}
	pattern = no_pattern;
	pattern.role = ROLE_MARKER;
	for (size_t axis = 0; axis < 2 && spec->marker; axis++) {
		pattern.axis = axis_letter[axis];
		pattern.marker_px = spec->marker_px[axis];
		pattern.marker_width_px = spec->marker_width_px[axis];
		if (spec->along[axis])
			append(out, pattern, "stripe%s", tag(spec, axis, 0, 1, text));
	}
	pattern = no_pattern;
	if (spec->flats) {
		pattern.role = ROLE_WHITE;
		append(out, pattern, "uniform_0_white");
		pattern.role = ROLE_BLACK;
		append(out, pattern, "uniform_1_black");
	}
	return 0;
}

static void
describe_set(const struct pattern_spec *spec, const struct patterns *patterns, struct meta *meta)
{
	size_t steps = spec->family == FAMILY_SHIFTS ? spec->shift_rad.n :
	    spec->family == FAMILY_SIN_COS_FLAT ? 3 : 0;

	if (steps)
		meta_setf(meta, "steps", "%zu", steps);
	if (spec->gray_cell != CELL_NONE)
		meta_set(meta, "gray_cell", manifest_cells[spec->gray_cell]);
	meta_setf(meta, "set_images", "%zu", patterns->n);
	meta_setf(meta, "projector_px", "%zu %zu", spec->w, spec->h);
}

static void
describe(const struct pattern_spec *spec, const struct patterns *patterns, size_t i,
    struct meta *meta)
{
	const struct pattern *pattern = &patterns->pattern[i];
	const struct manifest_row row = { .role = pattern->role, .axis = pattern->axis,
		.period_px = pattern->period_px, .step = pattern->step,
		.shift_rad = pattern->shift_rad, .bit = pattern->bit };

	manifest_row_to_meta(&row, meta);
	meta_set(meta, "name", pattern->name);
	if (spec->marker) {
		manifest_set_number(meta, "marker_px", pattern->marker_px);
		manifest_set_number(meta, "marker_width_px", pattern->marker_width_px);
	}
	describe_set(spec, patterns, meta);
}

void
patterns_head(const struct pattern_spec *spec, const struct patterns *patterns, size_t i,
    struct frame_head *head)
{
	enum sample type = spec->bits == BITS_FLOAT ? SAMPLE_FLOAT :
	    spec->bits == BITS_16 ? SAMPLE_USHORT : SAMPLE_UCHAR;

	head_init(head, spec->w, spec->h, 1, type);
	if (spec->bits == BITS_1)
		meta_set(&head->meta, "bits", "1");
	describe(spec, patterns, i, &head->meta);
}
