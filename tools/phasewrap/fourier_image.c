#include "fourier_image.h"

#include <math.h>
#include <stdlib.h>

#include "fourier_sigma.h"
#include "options.h"

#define LEAST_FRINGES 2	/* in the image: of fewer nothing is known but their neighbours */
#define WIDTH 0.75	/* of the carrier, where nothing is given */

/* ---- options ---- */

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

/* ---- the carrier ---- */

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

int
fourier_image_axis(const struct run *run, const struct phasewrap *wrap, const struct frame_head *in,
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

/* ---- a fringe image ---- */

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
 * off have their frequency still; with holes in place of the crests they may have twice that. */
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

int
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

void
fourier_image_free(struct fourier_image *image)
{
	fourier_filter_free(&image->result);
	free(image->variance);
}
