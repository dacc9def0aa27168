#include "fourier.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fourier_image.h"
#include "fourier_output.h"
#include "markers.h"
#include "options.h"

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

/* ---- planning ---- */

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
		markers_copy_row(wrap, in, out, y);
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
