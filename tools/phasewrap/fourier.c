#include "fourier.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "phasewrap.px.h"

#define LEAST_FRINGES 2	/* in the image: of fewer nothing is known but their neighbours */
#define BLOCK 16	/* rows and columns that are turned over at once */

/* ---- options ---- */

static int
check_own(const struct parameters *parameters)
{
	const struct fourier_options *fourier = &parameters->fourier;
	static const char only[] = "is for --kind fourier";

	if (fourier->carrier.n)
		return fail_usage("--carrier", only);
	if (fourier->transform >= 0)
		return fail_usage("--transform", only);
	if (fourier->window >= 0)
		return fail_usage("--window", only);
	if (!isnan(fourier->width))
		return fail_usage("--window-width", only);
	if (fourier->removal >= 0)
		return fail_usage("--flat-removal", only);
	return fourier->mirrored ? fail_usage("--mirrored", only) : 0;
}

static int
check_foreign(const struct parameters *parameters)
{
	const struct capture_options *captures = &parameters->captures;
	static const char never[] = "is for phases of three or more steps, not for --kind fourier";

	if (captures->gray.n)
		return fail_usage("--gray", "there is no Gray code in --kind fourier");
	if (captures->gray_cell >= 0)
		return fail_usage("--gray-cell", "there is no Gray code in --kind fourier");
	if (captures->rgb)
		return fail_usage("--rgb", never);
	if (captures->flat >= 0)
		return fail_usage("--flat", "is for --kind 2+1; --flats says how many flat images "
					    "there are");
	if (parameters->limits.fit_residual)
		return fail_usage("--fit-residual", never);
	return isnan(parameters->limits.max_fit_residual) ? 0
							  : fail_usage("--max-fit-residual", never);
}

static int
check_carrier(const struct parameters *parameters)
{
	const struct numbers *carrier = &parameters->fourier.carrier;
	double size = 0;

	if (carrier->n > 2)
		return fail_usage("--carrier", "wants a period along x, or one along x and one "
					       "along y, not %zu numbers",
		    carrier->n);
	if (carrier->n && parameters->captures.period_px.n > 1)
		return fail_usage("--carrier", "is that of one pattern, and there are %zu periods",
		    parameters->captures.period_px.n);
	if (carrier->n && parameters->fourier.mirrored)
		return fail_usage("--mirrored", "a negative --carrier says it");
	for (size_t i = 0; i < carrier->n; i++)
		size = hypot(size, carrier->v[i] != 0 ? 1 / carrier->v[i] : 0);
	if (carrier->n && !(size > 0))
		return fail_usage("--carrier", "fringes of 0 px are none");
	for (size_t i = 0; i < carrier->n; i++)
		if (carrier->v[i] != 0 && fabs(carrier->v[i]) <= 2)
			return fail_usage("--carrier", "fringes of %g camera pixels cannot be seen: "
						       "more than 2 are needed",
			    carrier->v[i]);
	return 0;
}

int
fourier_check(const struct parameters *parameters)
{
	if (parameters->captures.kind != CAPTURES_FOURIER)
		return check_own(parameters);
	if (check_foreign(parameters) < 0)
		return -1;
	if (parameters->fourier.removal >= 0 && parameters->captures.flats <= 0 &&
	    !parameters->manifest)
		return fail_usage("--flat-removal", "there is no flat image: give --flats");
	return check_carrier(parameters);
}

/* ---- planning ---- */

int
fourier_plan(struct run *run, const struct phasewrap *wrap, double sign, double origin_rad,
    const struct frame_head *in, struct frame_head *out, struct fourier *fourier)
{
	const struct parameters *parameters = run->parameters;
	size_t n = wrap->captures.fringes;
	double zero[2 * (n ? n : 1)];

	fourier->report.verbose = run->verbose;
	if (wrap->captures.flats == 0 && parameters->captures.flats > 0)
		return fail("--flats", "none of the images is a flat one");
	if (capture_set_describe(&wrap->captures, wrap->vector ? "cos sin" : "phase",
		"modulation texture", out) < 0)
		return -1;
	free(fourier->turn_rad);
	fourier->turn_rad = calloc(n, sizeof(*fourier->turn_rad));
	if (!fourier->turn_rad)
		return fail_memory();
	for (size_t k = 0; k < n; k++)
		fourier->turn_rad[k] = sign * wrap->captures.fringe[k].shift_rad[0] + origin_rad;
	memset(zero, 0, sizeof(zero));
	if (meta_set_numbers(&out->meta, "carrier_px", zero, 2 * n) < 0)
		return -1;
	(void)in;
	head_free(&fourier->out);
	return head_copy(&fourier->out, out);
}

void
fourier_free(struct fourier *fourier)
{
	head_free(&fourier->out);
	free(fourier->turn_rad);
}

/* ---- the carrier ---- */

static struct fourier_source
source_of(const struct run *run, const struct phasewrap *wrap, const struct frame *in, size_t k)
{
	const struct parameters *parameters = run->parameters;
	const struct capture_set *captures = &wrap->captures;
	struct fourier_source source = { .in = in, .fringe = captures->fringe[k].plane[0],
		.flats = captures->flats, .max_value = wrap->limits.max_value,
		.removal = parameters->fourier.removal == REMOVAL_DIFFERENCE ? REMOVAL_DIFFERENCE
									     : REMOVAL_QUOTIENT };

	for (size_t i = 0; i < captures->flats; i++)
		source.flat[i] = captures->flat[i];
	return source;
}

/* Along which camera axis are the fringes looked for? -1: along either. */
static int
wanted_axis(const struct run *run, const struct phasewrap *wrap, const struct frame_head *in,
    size_t k)
{
	const struct parameters *parameters = run->parameters;

	if (parameters->captures.axis || meta_get(&in->meta, "axis"))
		return wrap->captures.fringe[k].axis == 'y';
	return -1;
}

/* The flat images of the first measurement: are there fringes in one? */
static int
check_flats(struct run *run, const struct phasewrap *wrap, const struct frame *in,
    struct fourier_carrier carrier)
{
	for (size_t i = 0; i < wrap->captures.flats; i++) {
		struct fourier_source source = { .in = in, .fringe = wrap->captures.flat[i],
			.max_value = wrap->limits.max_value };
		struct fourier_signal signal;
		struct fourier_peaks peaks = { 0 };
		int status = fourier_signal_make(run, &source, &signal);

		if (status == 0)
			status = fourier_carrier_find(run, &signal, &peaks);
		free(signal.v);
		if (status < 0)
			return -1;
		for (int y = 0; y < 2; y++) {
			const struct fourier_peak *peak = &peaks.best[y];

			if (peak->contrast > 0 &&
			    hypot(peak->carrier.x - carrier.x, peak->carrier.y - carrier.y) <
				0.3 * hypot(carrier.x, carrier.y))
				return fail(NULL, "image %zu, taken for a flat one, has the "
						  "fringes: --order flat,phase where it comes "
						  "first",
				    wrap->captures.flat[i] + 1);
		}
	}
	return 0;
}

static int
fail_without(struct run *run, const struct phasewrap *wrap, const struct fourier_peaks *peaks,
    int axis, const struct fourier_report *report)
{
	char where[32];
	const struct fourier_peak *other = axis >= 0 ? &peaks->best[!axis] : NULL;

	(void)run;
	if (other && other->contrast > 0)
		return fail(fourier_report_where(report, where),
		    "no fringes vary along %c, but some of %.4g px along %c: --axis %c", "xy"[axis],
		    1 / (axis ? other->carrier.x : other->carrier.y), "yx"[axis], "yx"[axis]);
	return fail(fourier_report_where(report, where),
	    "no fringes stand out in its spectrum%s: --carrier takes those of a given period",
	    report->measurement == 1 && wrap->captures.flats == 0
		? " (is it a flat image: --flats 1?)"
		: "");
}

/* Sets the carrier of fringe image k, its phase rising along it. */
static int
find_carrier(struct run *run, const struct phasewrap *wrap, struct fourier *fourier,
    const struct fourier_signal *signal, const struct frame *in, size_t k,
    struct fourier_carrier *out)
{
	const struct parameters *parameters = run->parameters;
	const struct numbers *given = &parameters->fourier.carrier;
	double width = isnan(parameters->fourier.width) ? 0.75 : parameters->fourier.width;
	struct fourier_carrier found = { 0, 0 };
	struct fourier_peaks peaks;
	int axis = wanted_axis(run, wrap, &in->head, k), along = axis;

	if (fourier_carrier_find(run, signal, &peaks) < 0)
		return -1;
	if (given->n == 1 && axis == 1) {
		found.y = 1 / given->v[0];
	} else if (given->n) {
		found.x = given->v[0] != 0 ? 1 / given->v[0] : 0;
		found.y = given->n > 1 && given->v[1] != 0 ? 1 / given->v[1] : 0;
	} else {
		if (axis < 0)
			along = fourier_carrier_better(&peaks.best[1], &peaks.best[0]);
		if (peaks.best[along].contrast <= 0)
			return fail_without(run, wrap, &peaks, axis, &fourier->report);
		found = peaks.best[along].carrier;
		fourier_report_peaks(&fourier->report, &peaks, along);
		if (parameters->fourier.mirrored)
			found = (struct fourier_carrier){ -found.x, -found.y };
	}
	if (given->n)
		fourier_report_given(
		    &fourier->report, &peaks, found, width * hypot(found.x, found.y));
	*out = found;
	if (wrap->captures.flats > 0 && !fourier->report.flats_checked) {
		struct fourier_carrier rising = found;

		if (fabs(found.x) >= fabs(found.y) ? found.x < 0 : found.y < 0)
			rising = (struct fourier_carrier){ -found.x, -found.y };
		fourier->report.flats_checked = true;
		return check_flats(run, wrap, in, rising);
	}
	return 0;
}

/* ---- a fringe image ---- */

/* What one fringe image has become. */
struct made {
	struct fourier_source source;
	struct fourier_result result;
	struct fourier_carrier carrier;
	bool transposed, falling; /* lines are columns; the phase falls along them */
	float cosine, sine;	/* of what is taken off the phase */
};

struct turning {
	const float *from;
	float *to;
	size_t w, h;	/* of from */
};

static void
turn_block(void *arg, size_t item)
{
	const struct turning *turning = arg;
	size_t w = turning->w, h = turning->h;

	for (size_t x = item * BLOCK; x < w && x < (item + 1) * BLOCK; x++)
		for (size_t y = 0; y < h; y++)
			turning->to[x * h + y] = turning->from[y * w + x];
}

/* Rows become columns. */
static int
turn_over(struct run *run, struct fourier_signal *signal)
{
	struct turning turning = { signal->v, malloc(signal->w * signal->h * sizeof(float)),
		signal->w, signal->h };

	if (!turning.to)
		return fail_memory();
	run_for(run, (signal->w + BLOCK - 1) / BLOCK, turn_block, &turning);
	free(signal->v);
	*signal = (struct fourier_signal){ signal->h, signal->w, turning.to, signal->holes };
	return 0;
}

static int
check_size(const struct fourier_signal *signal, struct fourier_carrier carrier)
{
	double fringes = hypot(
	    carrier.x * (double)signal->w, carrier.y * (double)signal->h);

	return fringes >= LEAST_FRINGES
	    ? 0
	    : fail(NULL, "an image of %zux%zu has %.2g fringes of %.4g px, at least %d are needed",
		  signal->w, signal->h, fringes, 1 / hypot(carrier.x, carrier.y), LEAST_FRINGES);
}

static int
filter(struct run *run, const struct phasewrap *wrap, struct fourier *fourier,
    struct fourier_signal *signal, size_t k, struct made *made)
{
	const struct parameters *parameters = run->parameters;
	struct fourier_carrier f = made->carrier;
	struct fourier_filter how = {
		.shape = parameters->fourier.window < 0 ? WINDOW_TUKEY
							: (enum fourier_shape)parameters->fourier.window,
		.transform = parameters->fourier.transform == TRANSFORM_LINES ? TRANSFORM_LINES
									      : TRANSFORM_2D };
	double width = isnan(parameters->fourier.width) ? 0.75 : parameters->fourier.width;

	if (check_size(signal, f) < 0)
		return -1;
	made->transposed = fabs(f.y) > fabs(f.x);
	if (made->transposed) {
		if (turn_over(run, signal) < 0)
			return -1;
		f = (struct fourier_carrier){ f.y, f.x };
	}
	made->falling = f.x < 0;
	if (made->falling)
		f = (struct fourier_carrier){ -f.x, -f.y };
	how.carrier = f;
	how.half_width = width * (how.transform == TRANSFORM_LINES ? f.x : hypot(f.x, f.y));
	if (fourier_filter_run(
		run, &how, signal, made->source.flats == 0, &made->result) < 0)
		return -1;
	fourier_report_filter(
	    &fourier->report, &wrap->captures.fringe[k], made->carrier, &how, &made->result);
	if (k == 0 && wrap->captures.flats == 0)
		fourier_report_steps(&fourier->report, &made->result, made->transposed);
	return 0;
}

static int
make(struct run *run, const struct phasewrap *wrap, struct fourier *fourier,
    const struct frame *in, size_t k, struct made *made)
{
	struct fourier_signal signal = { 0 };
	int status = -1;

	made->source = source_of(run, wrap, in, k);
	made->cosine = (float)cos(fourier->turn_rad[k]);
	made->sine = (float)sin(fourier->turn_rad[k]);
	if (fourier_signal_find_least(run, &made->source) == 0 &&
	    fourier_signal_make(run, &made->source, &signal) == 0 &&
	    find_carrier(run, wrap, fourier, &signal, in, k, &made->carrier) == 0)
		status = filter(run, wrap, fourier, &signal, k, made);
	free(signal.v);
	return status;
}

/* ---- pixels ---- */

struct output {
	const struct phasewrap *wrap;
	const struct made *made;
	struct frame *frame;
	float *amplitude;	/* of all fringe images the smallest, or NaN */
	uint64_t (*lost)[LOST_KINDS];	/* of each row */
	bool failed;
};

/* What is known of a row so far. */
struct row {
	float *modulation, *texture, *amplitude;
	unsigned char *lost;
};

static unsigned char
judge(const struct phasewrap_limits *limits, bool saturated, float mean, float modulation,
    float amplitude)
{
	if (saturated)
		return LOST_SATURATION;
	if (!(mean >= limits->least_mean))
		return LOST_DARKNESS;
	if (!(modulation >= limits->least_modulation))
		return LOST_MODULATION;
	return amplitude >= limits->least_amplitude && amplitude > 0 ? LOST_NONE : LOST_AMPLITUDE;
}

/* Fringe image k of row y. */
static void
write_image(const struct output *output, size_t k, size_t y, const struct fourier_pixels *pixels,
    const struct row *row)
{
	const struct made *made = &output->made[k];
	const struct fft_plane *z = &made->result.z;
	size_t w = output->frame->head.w;
	float *first = frame_floats(output->frame, output->wrap->vector ? 2 * k : k, y);
	float *second = output->wrap->vector ? frame_floats(output->frame, 2 * k + 1, y) : NULL;
	float sign = made->falling ? -1 : 1;

	for (size_t x = 0; x < w; x++) {
		size_t at = made->transposed ? x * z->w + y : y * z->w + x;
		struct fft_complex v = z->v[at];
		float unit = pixels->unit[x];
		float size = px_sqrt(v.re * v.re + v.im * v.im), amplitude = 2 * size * unit;
		float c = v.re, s = sign * v.im, mean, level, modulation;
		unsigned char lost;

		if (made->source.flats) {
			mean = level = pixels->mean[x];
		} else {
			mean = made->result.mean[at];
			level = pixels->image[x] - 2 * v.re;
		}
		modulation = mean > 0 ? amplitude / mean : 0;
		lost = pixels->missing[x]
		    ? LOST_MISSING
		    : judge(&output->wrap->limits, pixels->saturated[x], mean, modulation,
			  amplitude);
		row->lost[x] = lost < row->lost[x] ? lost : row->lost[x];
		row->amplitude[x] = px_min(row->amplitude[x], amplitude);
		row->modulation[x] = px_min(row->modulation[x], modulation);
		row->texture[x] += level + amplitude;
		if (second) {
			first[x] = (c * made->cosine + s * made->sine) / size;
			second[x] = (s * made->cosine - c * made->sine) / size;
		} else {
			first[x] = px_atan2(s * made->cosine - c * made->sine,
			    c * made->cosine + s * made->sine);
		}
	}
}

static void
write_row(const struct output *output, size_t y, const struct fourier_pixels *pixels,
    unsigned char *lost)
{
	size_t w = output->frame->head.w, fringes = output->wrap->captures.fringes;
	size_t phases = fringes * (output->wrap->vector ? 2 : 1);
	struct row row = { frame_floats(output->frame, phases, y),
		frame_floats(output->frame, phases + 1, y), output->amplitude + y * w, lost };

	for (size_t x = 0; x < w; x++) {
		row.modulation[x] = row.amplitude[x] = 3e38f;
		row.texture[x] = 0;
		lost[x] = LOST_NONE;
	}
	for (size_t k = 0; k < fringes; k++) {
		fourier_pixels_read(&output->made[k].source, y, pixels);
		write_image(output, k, y, pixels, &row);
	}
	for (size_t x = 0; x < w; x++) {
		output->lost[y][lost[x]]++;
		row.texture[x] = lost[x] == LOST_MISSING ? PX_NAN : row.texture[x] / (float)fringes;
		row.modulation[x] = lost[x] == LOST_MISSING ? PX_NAN : row.modulation[x];
		if (lost[x] != LOST_NONE) {
			row.amplitude[x] = PX_NAN;
			for (size_t c = 0; c < phases; c++)
				frame_floats(output->frame, c, y)[x] = PX_NAN;
		}
	}
}

static void
write_rows(void *arg, size_t item)
{
	struct output *output = arg;
	size_t w = output->frame->head.w, h = output->frame->head.h;
	unsigned char *lost = malloc(w);
	struct fourier_pixels pixels;

	if (fourier_pixels_new(w, &pixels) < 0 || !lost) {
		fail_memory();
		__atomic_store_n(&output->failed, true, __ATOMIC_RELAXED);
	} else {
		for (size_t y = item * BLOCK; y < h && y < (item + 1) * BLOCK; y++)
			write_row(output, y, &pixels, lost);
	}
	free(lost);
	fourier_pixels_free(&pixels);
}

static int
write_frame(struct run *run, const struct phasewrap *wrap, struct fourier *fourier,
    const struct made *made, struct frame *out)
{
	const struct phasewrap_limits *limits = &wrap->limits;
	size_t w = out->head.w, h = out->head.h;
	struct output output = { wrap, made, out, malloc(w * h * sizeof(float)),
		calloc(h, sizeof(*output.lost)), false };
	uint64_t lost[LOST_KINDS] = { 0 };
	bool limited = limits->least_amplitude > 0 || limits->least_modulation > 0 ||
	    isfinite(limits->least_mean);
	int status = output.amplitude && output.lost ? 0 : fail_memory();

	if (status == 0)
		run_for(run, (h + BLOCK - 1) / BLOCK, write_rows, &output);
	if (output.failed)
		status = -1;
	for (size_t y = 0; status == 0 && y < h; y++)
		for (size_t i = 0; i < LOST_KINDS; i++)
			lost[i] += output.lost[y][i];
	if (status == 0)
		status = fourier_report_pixels(
		    &fourier->report, lost, output.amplitude, w * h, limited);
	free(output.amplitude);
	free(output.lost);
	return status;
}

/* ---- a measurement ---- */

/* What was found becomes metadata. */
static int
set_keys(const struct run *run, const struct phasewrap *wrap, const struct made *made,
    const struct frame_head *in, struct frame_head *out)
{
	size_t n = wrap->captures.fringes;
	double period[2 * n];
	char axis[2 * n + 1];

	for (size_t k = 0; k < n; k++) {
		struct fourier_carrier f = made[k].carrier;
		int wanted = wanted_axis(run, wrap, in, k);

		period[2 * k] = f.x == 0 ? 0 : 1 / f.x;
		period[2 * k + 1] = f.y == 0 ? 0 : 1 / f.y;
		axis[2 * k] = "xy"[wanted < 0 ? made[k].transposed : wanted];
		axis[2 * k + 1] = k + 1 < n ? ' ' : '\0';
	}
	return meta_set_numbers(&out->meta, "carrier_px", period, 2 * n) < 0
	    ? -1
	    : meta_set(&out->meta, "axis", axis);
}

int
fourier_frame(
    struct run *run, const struct phasewrap *wrap, struct fourier *fourier, struct frame *in)
{
	size_t n = wrap->captures.fringes;
	struct made *made = calloc(n, sizeof(*made));
	struct frame *out = NULL;
	int status = made ? 0 : fail_memory();

	for (size_t k = 0; k < n && status == 0; k++)
		status = make(run, wrap, fourier, in, k, &made[k]);
	if (status == 0)
		status = set_keys(run, wrap, made, &in->head, &fourier->out);
	if (status == 0)
		status = frame_new(&fourier->out, &out);
	if (status == 0)
		status = write_frame(run, wrap, fourier, made, out);
	for (size_t k = 0; made && k < n; k++) {
		free(made[k].result.z.v);
		free(made[k].result.mean);
	}
	free(made);
	frame_free(in);
	fourier->report.measurement++;
	if (status == 0)
		return run_emit(run, out);
	frame_free(out);
	return -1;
}
