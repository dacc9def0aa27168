/*
 * Fourier-transform profilometry, --kind fourier (methods §3): a phase from a single fringe image,
 * or from one with a flat image or with white and black. Options, planning, warnings, and a
 * measurement's way from images to phases; fourier_spectrum.c finds the carrier, fourier_filter.c
 * computes the analytic signal round it.
 */
#include "fourier.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "image/statistics.h"
#include "run/run.h"
#include "phasewrap.h"

/* ---- options and planning ---- */

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
	if (parameters->harmonics)
		return fail_usage("--harmonics", never);
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
			return fail_usage("--carrier",
			    "fringes of %g camera pixels cannot be seen: more than 2 are needed",
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

int
fourier_plan(struct run *run, struct phasewrap *wrap, double sign, double origin_rad,
    const struct frame_head *in, struct frame_head *out, struct fourier *fourier)
{
	const struct parameters *parameters = run->parameters;
	size_t n = wrap->captures.fringes;
	double zero[2 * (n ? n : 1)];

	fourier->report.verbose = run->verbose;
	if (wrap->captures.flats == 0 && parameters->captures.flats > 0)
		return fail("--flats", "none of the images is a flat one");
	if (phasewrap_describe(wrap, out) < 0)
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
	fourier->report.most_known =
	    !isnan(parameters->limits.max_value) || meta_get(&in->meta, "max_value");
	head_free(&fourier->out);
	return head_copy(&fourier->out, out);
}

void
fourier_free(struct fourier *fourier)
{
	head_free(&fourier->out);
	free(fourier->turn_rad);
}

/* ---- what a run warns of, and what -v prints ---- */

#define WHERE_SIZE 40	/* "measurement 2" */
#define PEAK_SIZE 64	/* a description of a peak */
#define LIT_QUANTILE 0.875	/* of the amplitudes: the middle of the upper quarter */
#define UNLIT_AMPLITUDE 0.1	/* of the fringes' amplitude: a pixel with less has no fringes */
#define UNLIT_SHARE 0.05	/* of the pixels */
#define BITS_STEP 4	/* rows that are looked at are so far apart */
#define BITS_SHARE 0.005	/* of the pixels have the largest value, if it is saturation */
#define SATURATED_SHARE 0.1	/* of the pixels */
#define SAME_CORRELATION 0.98	/* of two images that show the same fringes */
#define SHIFTED_RAD 0.35

/* "measurement 2", or NULL for the first one. */
static const char *
fourier_report_where(const struct fourier_report *report, char text[WHERE_SIZE])
{
	if (report->measurement == 0)
		return NULL;
	snprintf(text, WHERE_SIZE, "measurement %zu", report->measurement);
	return text;
}

/* "16 px along x": of fringes, along the axis that they vary along. */
static const char *
describe(struct fourier_carrier carrier, char *text)
{
	double x = fabs(carrier.x), y = fabs(carrier.y);

	snprintf(text, PEAK_SIZE, "%.4g px along %c", x + y > 0 ? 1 / fmax(x, y) : 0,
	    y > x ? 'y' : 'x');
	return text;
}

/* Warns where peaks other than the one chosen may be the fringes. */
static void
fourier_report_peaks(
    struct fourier_report *report, const struct fourier_peaks *peaks, bool along_y)
{
	const struct fourier_peak *own = &peaks->best[along_y], *second = NULL;
	char where[WHERE_SIZE], a[PEAK_SIZE], b[PEAK_SIZE];

	if (report->warned_two)
		return;
	/* fringes across those chosen, or of another frequency */
	if (peaks->best[!along_y].contrast > 0 && peaks->best[!along_y].power > own->power / 10)
		second = &peaks->best[!along_y];
	for (int i = 0; i < 2; i++)
		if (peaks->other[i].contrast > 0 &&
		    (!second || peaks->other[i].power > second->power))
			second = &peaks->other[i];
	if (!second)
		return;
	warn(fourier_report_where(report, where),
	    "there are fringes of %s and others of %s: the first are taken, --carrier or --axis "
	    "chooses",
	    describe(own->carrier, a), describe(second->carrier, b));
	report->warned_two = true;
}

/* Warns where a carrier that was given is not among the peaks. */
static void
fourier_report_given(struct fourier_report *report, const struct fourier_peaks *peaks,
    struct fourier_carrier given, double half_width)
{
	double nearest = INFINITY;
	char where[WHERE_SIZE], text[PEAK_SIZE], found[PEAK_SIZE];
	const struct fourier_peak *best = &peaks->best[peaks->best[1].power > peaks->best[0].power];

	for (int i = 0; i < 4; i++) {
		const struct fourier_peak *peak = i < 2 ? &peaks->best[i] : &peaks->other[i - 2];

		if (peak->contrast > 0)
			nearest = fmin(nearest,
			    fmin(hypot(peak->carrier.x - given.x, peak->carrier.y - given.y),
				hypot(peak->carrier.x + given.x, peak->carrier.y + given.y)));
	}
	if (report->warned_weak || peaks->few || nearest < half_width / 2 ||
	    fmax(fabs(given.x), fabs(given.y)) > FOURIER_CARRIER_MOST)
		return;
	if (best->contrast > 0)
		warn(fourier_report_where(report, where),
		    "the fringes are about %s, not %s as --carrier says",
		    describe(best->carrier, found), describe(given, text));
	else
		warn(fourier_report_where(report, where),
		    "no fringes of about %s stand out in the spectrum", describe(given, text));
	report->warned_weak = true;
}

/* Warns where an image without description shows the same fringes as the previous one, shifted:
 * they are the steps of one measurement. */
static void
fourier_report_steps(struct fourier_report *report, const struct fourier_result *result)
{
	double re = 0, im = 0, own = 0, last = 0;
	size_t w = result->w, h = result->h;

	for (size_t i = 0; i < FOURIER_GRID * FOURIER_GRID; i++) {
		size_t x = (i % FOURIER_GRID * 2 + 1) * w / (2 * FOURIER_GRID);
		size_t y = (i / FOURIER_GRID * 2 + 1) * h / (2 * FOURIER_GRID);
		struct fourier_sample a = { result->re[y * w + x], result->im[y * w + x] };
		struct fourier_sample b = report->before[i];

		re += (double)(a.re * b.re + a.im * b.im);
		im += (double)(a.im * b.re - a.re * b.im);
		own += (double)(a.re * a.re + a.im * a.im);
		last += (double)(b.re * b.re + b.im * b.im);
		report->before[i] = a;
	}
	if (report->measurement == 0 || report->warned_steps ||
	    hypot(re, im) < SAME_CORRELATION * sqrt(own * last) || !(own * last > 0) ||
	    fabs(atan2(im, re)) < SHIFTED_RAD)
		return;
	warn(NULL,
	    "measurements %zu and %zu show the same fringes, moved by %.0f degrees: each has a "
	    "phase of its own; of the steps of one, --kind step makes one",
	    report->measurement - 1, report->measurement,
	    fabs(atan2(im, re)) * 180 / M_PI);
	report->warned_steps = true;
}

static void
fourier_report_filter(const struct fourier_report *report, const struct capture_fringe *fringe,
    struct fourier_carrier carrier, const struct fourier_filter *filter,
    const struct fourier_result *result)
{
	static const char *const shape[] = { "tukey", "hann", "gauss" };
	char text[PEAK_SIZE], where[WHERE_SIZE];

	if (!report->verbose)
		return;
	note(fourier_report_where(report, where),
	    "fringes of %s, --carrier %.5g,%.5g; window %s of %.4g to %.4g turns/px, %s; noise of "
	    "1 grey level is %.3g rad over the amplitude%s",
	    describe(carrier, text), carrier.x == 0 ? 0 : 1 / carrier.x,
	    carrier.y == 0 ? 0 : 1 / carrier.y, shape[filter->shape],
	    hypot(carrier.x, carrier.y) - filter->half_width,
	    hypot(carrier.x, carrier.y) + filter->half_width,
	    filter->transform == TRANSFORM_2D ? "2-D" : "lines",
	    sqrt(2 * result->noise_bandwidth),
	    fringe->left_out ? "; later steps are left out" : "");
}

/* Warns where the camera of plane c seems to have fewer than 16 bits, and saturates below 65535. */
static void
fourier_report_bits(struct fourier_report *report, const struct frame *frame, size_t c)
{
	size_t n = 0, most = 0, pixels = 0;
	char where[WHERE_SIZE];

	if (report->most_known || frame->head.type != SAMPLE_USHORT)
		return;
	for (size_t y = 0; y < frame->head.h; y += BITS_STEP)
		for (size_t x = 0; x < frame->head.w; x++, pixels++) {
			size_t v = ((const uint16_t *)frame_row(frame, c, y))[x];

			n = v > most ? 1 : n + (v == most);
			most = v > most ? v : most;
		}
	if (most < 255 || most == UINT16_MAX || (most & (most + 1)) ||
	    (double)n < BITS_SHARE * (double)pixels)
		return;
	warn(fourier_report_where(report, where),
	    "many pixels are %zu, the most of %d bits, and none is above: if the camera saturates "
	    "there give --max-value %zu",
	    most, (int)lround(log2((double)most + 1)), most);
	report->most_known = true;
}

/* The amplitude of the fringes is taken from the brightest quarter of the pixels; those that have
 * less than a tenth of it are without fringes. */
static void
warn_unlit(struct fourier_report *report, double *amplitude, size_t n)
{
	size_t kept = 0, below = 0;
	char where[WHERE_SIZE];
	double lit;

	for (size_t i = 0; i < n; i++)
		if (!isnan(amplitude[i]))
			amplitude[kept++] = amplitude[i];
	lit = kept ? statistics_quantile(amplitude, kept, LIT_QUANTILE) : 0;
	for (size_t i = 0; i < kept; i++)
		below += amplitude[i] < UNLIT_AMPLITUDE * lit;
	if (kept < 100 || (double)below <= UNLIT_SHARE * (double)kept)
		return;
	warn(fourier_report_where(report, where),
	    "%.0f %% of the pixels have less than a tenth of the fringes' amplitude, so "
	    "that their phase is noise: --min-amplitude %.2g makes them invalid",
	    100 * (double)below / (double)kept, 0.15 * lit);
	report->warned_unlit = true;
}

/* lost: pixels of a measurement by the test that they fail. amplitude: of n pixels, spread over
 * all, in grey levels, NaN where there is no phase; it is reordered. */
static void
fourier_report_pixels(struct fourier_report *report, const uint64_t lost[LOST_KINDS],
    double *amplitude, size_t n, bool limited)
{
	uint64_t pixels = 0;
	char where[WHERE_SIZE];

	for (size_t i = 0; i < LOST_KINDS; i++)
		pixels += lost[i];
	if (report->verbose && report->measurement == 0)
		note(NULL,
		    "of %" PRIu64 " pixels %" PRIu64 " are invalid: saturation %" PRIu64
		    ", darkness %" PRIu64 ", modulation %" PRIu64 ", amplitude %" PRIu64
		    ", missing %" PRIu64,
		    pixels, pixels - lost[LOST_NONE], lost[LOST_SATURATION], lost[LOST_DARKNESS],
		    lost[LOST_MODULATION], lost[LOST_AMPLITUDE], lost[LOST_MISSING]);
	if (lost[LOST_NONE] == 0)	/* the runner warns of that */
		return;
	if (!report->warned_saturated &&
	    (double)lost[LOST_SATURATION] >
		SATURATED_SHARE * (double)(pixels - lost[LOST_MISSING])) {
		warn(fourier_report_where(report, where),
		    "%.0f %% of the pixels are saturated (--max-value), and the phase is less "
		    "certain next to them: less light or a shorter exposure keeps them",
		    100 * (double)lost[LOST_SATURATION] / (double)(pixels - lost[LOST_MISSING]));
		report->warned_saturated = true;
	}
	if (!limited && !report->warned_unlit)
		warn_unlit(report, amplitude, n);
}

/* ---- a fringe image: its carrier, and the analytic signal round it ---- */

#define LEAST_FRINGES 2	/* in the image */
#define WIDTH 0.75	/* of the carrier, if no option gives it */

static unsigned
choice(int given, unsigned usual)
{
	return given < 0 ? usual : (unsigned)given;
}

static double
half_width(const struct fourier_options *options)
{
	return isnan(options->width) ? WIDTH : options->width;
}

static struct fourier_source
source_of(const struct run *run, const struct phasewrap *wrap, const struct frame *in, size_t k)
{
	const struct parameters *parameters = run->parameters;
	const struct capture_set *captures = &wrap->captures;
	struct fourier_source source = { .in = in, .fringe = captures->fringe[k].plane[0],
		.flats = captures->flats, .max_value = wrap->limits.max_value,
		.removal = choice(parameters->fourier.removal, REMOVAL_QUOTIENT) };

	for (size_t i = 0; i < captures->flats; i++)
		source.flat[i] = captures->flat[i];
	return source;
}

/* The camera axis along which the fringes of image k vary: 0 x, 1 y, -1 not known. */
static int
fourier_image_axis(const struct run *run, const struct phasewrap *wrap, const struct frame_head *in,
    size_t k)
{
	const struct parameters *parameters = run->parameters;

	if (parameters->captures.axis || meta_get(&in->meta, "axis"))
		return wrap->captures.fringe[k].axis == 'y';
	return -1;
}

/* Refuses a flat image that shows the fringes. */
static int
check_flats(struct run *run, const struct phasewrap *wrap, const struct frame *in,
    struct fourier_carrier carrier)
{
	for (size_t i = 0; i < wrap->captures.flats; i++) {
		struct fourier_source source = { .in = in, .fringe = wrap->captures.flat[i],
			.max_value = INFINITY };
		struct fourier_signal signal;
		struct fourier_peaks peaks = { 0 };
		int status = fourier_signal_make(run, &source, &signal);

		if (status == 0)
			status = fourier_carrier_find(run, &signal, &peaks);
		fourier_signal_free(&signal);
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

/* No fringes were found. */
static int
fail_without(const struct phasewrap *wrap, const struct fourier_peaks *peaks, int axis,
    const struct fourier_report *report)
{
	char where[WHERE_SIZE];
	const struct fourier_peak *other = axis >= 0 ? &peaks->best[!axis] : NULL;

	if (other && other->contrast > 0)
		return fail(fourier_report_where(report, where),
		    "no fringes vary along %c, but some of %.4g px along %c: --axis %c, or "
		    "--carrier for a camera that is turned",
		    "xy"[axis], 1 / (axis ? other->carrier.x : other->carrier.y), "yx"[axis],
		    "yx"[axis]);
	if (peaks->few)
		return fail(fourier_report_where(report, where),
		    "so small an image does not tell its fringes' period: give --carrier");
	return fail(fourier_report_where(report, where),
	    "no fringes stand out in its spectrum%s: --carrier takes those of a given period",
	    report->measurement == 1 && wrap->captures.flats == 0
		? " (is it a flat image: --flats 1?)"
		: "");
}

/* Sets the carrier of fringe image k, its phase rising along it. */
static int
find_carrier(struct run *run, const struct phasewrap *wrap, struct fourier_report *report,
    const struct fourier_signal *signal, const struct frame *in, size_t k,
    struct fourier_carrier *out)
{
	const struct parameters *parameters = run->parameters;
	const struct numbers *given = &parameters->fourier.carrier;
	double width = half_width(&parameters->fourier);
	struct fourier_carrier found = { 0, 0 };
	struct fourier_peaks peaks;
	int axis = fourier_image_axis(run, wrap, &in->head, k), along = axis;

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
			return fail_without(wrap, &peaks, axis, report);
		found = peaks.best[along].carrier;
		fourier_report_peaks(report, &peaks, along);
		if (parameters->fourier.mirrored)
			found = (struct fourier_carrier){ -found.x, -found.y };
	}
	if (given->n)
		fourier_report_given(
		    report, &peaks, found, width * hypot(found.x, found.y));
	*out = found;
	if (wrap->captures.flats > 0 && !report->flats_checked) {
		struct fourier_carrier rising = found;

		if (fabs(found.x) >= fabs(found.y) ? found.x < 0 : found.y < 0)
			rising = (struct fourier_carrier){ -found.x, -found.y };
		report->flats_checked = true;
		return check_flats(run, wrap, in, rising);
	}
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
filter(struct run *run, const struct phasewrap *wrap, struct fourier_report *report,
    struct fourier_signal *signal, size_t k, struct fourier_image *image)
{
	const struct parameters *parameters = run->parameters;
	struct fourier_carrier f = image->carrier;
	struct fourier_filter how = {
		.shape = choice(parameters->fourier.window, WINDOW_TUKEY),
		.transform = choice(parameters->fourier.transform, TRANSFORM_2D) };
	double width = half_width(&parameters->fourier);

	if (check_size(signal, f) < 0)
		return -1;
	image->transposed = fabs(f.y) > fabs(f.x);
	if (image->transposed) {
		fourier_signal_turn(signal);
		f = (struct fourier_carrier){ f.y, f.x };
	}
	image->falling = f.x < 0;
	if (image->falling)
		f = (struct fourier_carrier){ -f.x, -f.y };
	/* a line by itself has no others that a 2-D window could see */
	if (signal->h == 1)
		how.transform = TRANSFORM_LINES;
	how.carrier = f;
	how.half_width = width * (how.transform == TRANSFORM_LINES ? f.x : hypot(f.x, f.y));
	if (fourier_filter_run(
		run, &how, signal, image->source.flats == 0, &image->result) < 0)
		return -1;
	image->window_px = M_SQRT2 * fourier_sigma_reach(&how);
	if (wrap->sigmas && fourier_sigma_make(run, &image->source, wrap->noise, &how,
		image->result.noise_bandwidth, image->transposed, &image->variance) < 0)
		return -1;
	fourier_report_filter(
	    report, &wrap->captures.fringe[k], image->carrier, &how, &image->result);
	if (k == 0 && wrap->captures.flats == 0)
		fourier_report_steps(report, &image->result);
	return 0;
}

/* As find_carrier(), of the signal with saturated samples as they are: fringes whose crests are cut
 * off still have their frequency; with holes in place of the crests they may have twice that. */
static int
find_carrier_unsaturated(struct run *run, const struct phasewrap *wrap,
    struct fourier_report *report, const struct fourier_signal *signal, const struct frame *in,
    size_t k, struct fourier_image *image)
{
	struct fourier_source source = image->source;
	struct fourier_signal whole;
	int status;

	if (signal->holes == 0)
		return find_carrier(run, wrap, report, signal, in, k, &image->carrier);
	source.max_value = INFINITY;
	status = fourier_signal_make(run, &source, &whole);
	if (status == 0)
		status = find_carrier(run, wrap, report, &whole, in, k, &image->carrier);
	fourier_signal_free(&whole);
	return status;
}

/* Image k of a measurement, whose phase is turn_rad too large. fourier_image_free() it, also after
 * a failure. -1 after fail(). */
static int
fourier_image_make(struct run *run, const struct phasewrap *wrap, struct fourier_report *report,
    const struct frame *in, size_t k, double turn_rad, struct fourier_image *image)
{
	struct fourier_signal signal = { 0 };
	int status = -1;

	image->source = source_of(run, wrap, in, k);
	image->cosine = (float)cos(turn_rad);
	image->sine = (float)sin(turn_rad);
	if (fourier_signal_find_least(run, &image->source) == 0 &&
	    fourier_signal_make(run, &image->source, &signal) == 0 &&
	    find_carrier_unsaturated(run, wrap, report, &signal, in, k, image) == 0)
		status = filter(run, wrap, report, &signal, k, image);
	fourier_signal_free(&signal);
	return status;
}

static void
fourier_image_free(struct fourier_image *image)
{
	fourier_filter_free(&image->result);
	free(image->variance);
}

#define AMPLITUDES 20000	/* pixels whose amplitudes are looked at, or some more */

/* image: of each fringe image. Fills the frame; reports how many pixels are invalid. -1 after
 * fail(). */
static int
fourier_output_write(struct run *run, const struct phasewrap *wrap,
    const struct fourier_image *image, struct fourier_report *report, struct frame *out)
{
	const struct phasewrap_limits *limits = &wrap->limits;
	size_t w = out->head.w, h = out->head.h, step = 1 + w * h / AMPLITUDES;
	size_t samples = (w * h + step - 1) / step;
	struct output_job output = { wrap, image, out, malloc(samples * sizeof(double)), step,
		calloc(h, sizeof(*output.lost)), false };
	uint64_t lost[LOST_KINDS] = { 0 };
	bool limited = limits->least_amplitude > 0 || limits->least_modulation > 0 ||
	    isfinite(limits->least_mean);
	int status = output.amplitude && output.lost ? 0 : fail_memory();

	if (status == 0)
		run_for(run, fourier_items(h, FOURIER_ROWS), fourier_rows()->output, &output);
	if (output.failed)
		status = -1;
	for (size_t y = 0; status == 0 && y < h; y++)
		for (size_t i = 0; i < LOST_KINDS; i++)
			lost[i] += output.lost[y][i];
	if (status == 0)
		fourier_report_pixels(report, lost, output.amplitude, samples, limited);
	free(output.amplitude);
	free(output.lost);
	return status;
}

/* ---- a measurement ---- */

/* What was found becomes metadata. */
static int
set_keys(const struct run *run, const struct phasewrap *wrap, const struct fourier_image *image,
    const struct frame_head *in, struct frame_head *out)
{
	size_t n = wrap->captures.fringes;
	double period[2 * n];
	char axis[2 * n + 1];

	for (size_t k = 0; k < n; k++) {
		struct fourier_carrier f = image[k].carrier;
		int wanted = fourier_image_axis(run, wrap, in, k);

		period[2 * k] = f.x == 0 ? 0 : 1 / f.x;
		period[2 * k + 1] = f.y == 0 ? 0 : 1 / f.y;
		axis[2 * k] = "xy"[wanted < 0 ? image[k].transposed : wanted];
		axis[2 * k + 1] = k + 1 < n ? ' ' : '\0';
	}
	if (wrap->sigmas && meta_set_number(&out->meta, "sigma_window_px", image[0].window_px) < 0)
		return -1;
	return meta_set_numbers(&out->meta, "carrier_px", period, 2 * n) < 0
	    ? -1
	    : meta_set(&out->meta, "axis", axis);
}

int
fourier_frame(
    struct run *run, const struct phasewrap *wrap, struct fourier *fourier, struct frame *in)
{
	size_t n = wrap->captures.fringes;
	struct fourier_image *image = calloc(n, sizeof(*image));
	struct frame *out = NULL;
	int status = image ? 0 : fail_memory();

	for (size_t k = 0; k < n; k++)
		fourier_report_bits(&fourier->report, in, wrap->captures.fringe[k].plane[0]);
	for (size_t k = 0; k < n && status == 0; k++)
		status = fourier_image_make(run, wrap, &fourier->report, in, k,
		    fourier->turn_rad[k], &image[k]);
	if (status == 0)
		status = set_keys(run, wrap, image, &in->head, &fourier->out);
	if (status == 0)
		status = frame_new(&fourier->out, &out);
	if (status == 0)
		status = fourier_output_write(run, wrap, image, &fourier->report, out);
	for (size_t y = 0; status == 0 && y < in->head.h; y++)
		phasewrap_rows()->copy_markers(wrap, in, out, y);
	for (size_t k = 0; image && k < n; k++)
		fourier_image_free(&image[k]);
	free(image);
	frame_free(in);
	fourier->report.measurement++;
	if (status == 0)
		return run_emit(run, out);
	frame_free(out);
	return -1;
}
