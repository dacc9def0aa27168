/*
 * Fourier-transform profilometry (methods §3): a phase from a single fringe image, or from one with
 * a flat image or with white and black. Options, planning, warnings, and a measurement's way from
 * images to phases; carrier.c finds the carrier, filter.c computes the analytic signal round it,
 * fourierphase_rows.c has the loops over pixels.
 */
#include "fourierphase.h"

#include <inttypes.h>
#include <stdio.h>

#include "image/statistics.h"
#include "run/stage.h"

/* ---- options ---- */

static const char *const transforms[] = { "2d", "lines", NULL };
static const char *const windows[] = { "tukey", "hann", "gauss", NULL };
static const char *const removals[] = { "quotient", "difference", NULL };
static const char *const forms[] = { "phase", "vector", NULL };

static const struct opt options[] = {
	MEASUREMENT_PERIOD_OPTIONS(struct parameters, measurement),
	{ 's', "shift", "DEG,...", OPT_ANGLES, AT(measurement.captures.shift_rad), NULL, -3600,
	  3600, "degrees", "phase of each image, that of its step; if not given 0" },
	MEASUREMENT_ORIGIN_OPTIONS(struct parameters, measurement),
	{ 0, "order", "WORD,...", OPT_TEXT, AT(measurement.captures.order), NULL, 0, 0, NULL,
	  "how images come that do not say what they are: phase,flat or flat,phase" },
	{ 'F', "flats", "N", OPT_INTEGER, AT(measurement.captures.flats), NULL, 0, 2, NULL,
	  "trailing flat images: 2 are white and black, 1 lies between" },
	{ 'm', "manifest", "FILE", OPT_FILE, AT(measurement.manifest), NULL, 0, 0, NULL,
	  "list that says what the images are, in their order" },
	{ 0, "carrier", "PX[,PX]", OPT_NUMBERS, AT(carrier), NULL, -1e6, 1e6, "camera px",
	  "fringe period along x, or along x and y, 0 for none; found if not given" },
	FLAG_ROW(0, "mirrored", mirrored,
	    "the phase falls along the axis, where the carrier is found"),
	{ 0, "transform", "WORD", OPT_WORD, AT(transform), "2d", 0, 0, NULL,
	  "of the image, or of each line across the fringes alone", transforms },
	{ 0, "window", "WORD", OPT_WORD, AT(window), "tukey", 0, 0, NULL,
	  "shape of what is kept of the spectrum round the carrier", windows },
	{ 0, "window-width", "RATIO", OPT_NUMBER, AT(width), "0.75", 0.05, 1, NULL,
	  "its half-width over the carrier's frequency" },
	{ 0, "flat-removal", "WORD", OPT_WORD, AT(removal), NULL, 0, 0, NULL,
	  "what a flat image does to the fringes [quotient]", removals },
	MEASUREMENT_LIMIT_OPTIONS(struct parameters, measurement),
	{ 0, "as", "WORD", OPT_WORD, AT(as), "phase", 0, 0, NULL,
	  "phase, or vector: its cosine and sine", forms },
	{ 0, "dropped", "WORD", OPT_WORD, AT(measurement.dropped), "auto", 0, 0, NULL,
	  "how to detect missing images", measurement_dropped },
	NOISE_OPTIONS(struct parameters, noise),
	{ 'k', "kind", "WORD", OPT_STAGE, 0, "fourier", .help = "fourierphase" },  /* phasewrap's */
	{ 0 },
};

static int
check_carrier(const struct parameters *parameters)
{
	const struct numbers *carrier = &parameters->carrier;
	size_t periods = parameters->measurement.captures.period_px.n;
	bool varies = false;

	if (carrier->n && periods > 1)
		return fail_usage("--carrier", "is that of one pattern, and there are %zu periods",
		    periods);
	if (carrier->n && parameters->mirrored)
		return fail_usage("--mirrored", "a negative --carrier says it");
	for (size_t i = 0; i < carrier->n; i++)
		varies |= carrier->v[i] != 0;
	if (carrier->n && !varies)
		return fail_usage("--carrier", "fringes of 0 px are none");
	for (size_t i = 0; i < carrier->n; i++)
		if (carrier->v[i] != 0 && fabs(carrier->v[i]) <= 2)
			return fail_usage("--carrier",
			    "fringes of %g camera pixels cannot be seen: more than 2 are needed",
			    carrier->v[i]);
	return 0;
}

/* ---- what a run warns of, and what -v prints ---- */

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
where(const struct fourierphase *fourier)
{
	return fourier->number ? fourier->name : NULL;
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
warn_other_peaks(struct fourierphase *fourier, const struct fourier_peaks *peaks, bool along_y)
{
	const struct fourier_peak *own = &peaks->best[along_y], *second = NULL;
	char a[PEAK_SIZE], b[PEAK_SIZE];

	if (fourier->warned_two)
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
	warn(where(fourier), "there are fringes of %s and others of %s: the first are taken, "
	    "--carrier or --axis chooses", describe(own->carrier, a),
	    describe(second->carrier, b));
	fourier->warned_two = true;
}

/* Warns where a carrier that was given is not among the peaks. */
static void
warn_given(struct fourierphase *fourier, const struct fourier_peaks *peaks,
    struct fourier_carrier given, double half_width)
{
	const struct fourier_peak *best = &peaks->best[peaks->best[1].power > peaks->best[0].power];
	char own[PEAK_SIZE], found[PEAK_SIZE];
	double nearest = INFINITY;

	for (int i = 0; i < 4; i++) {
		const struct fourier_peak *peak = i < 2 ? &peaks->best[i] : &peaks->other[i - 2];

		if (peak->contrast > 0)
			nearest = fmin(nearest, fourier_carrier_distance(peak->carrier, given));
	}
	if (fourier->warned_weak || peaks->few || nearest < half_width / 2 ||
	    fmax(fabs(given.x), fabs(given.y)) > FOURIER_CARRIER_MOST)
		return;
	if (best->contrast > 0)
		warn(where(fourier), "the fringes are about %s, not %s as --carrier says",
		    describe(best->carrier, found), describe(given, own));
	else
		warn(where(fourier), "no fringes of about %s stand out in the spectrum",
		    describe(given, own));
	fourier->warned_weak = true;
}

/* Warns where an image without description shows the same fringes as the previous one, shifted:
 * they are the steps of one measurement. */
static void
warn_steps(struct fourierphase *fourier, const struct fourier_result *result)
{
	double re = 0, im = 0, own = 0, last = 0, moved_rad;
	size_t w = result->w, h = result->h;

	for (size_t i = 0; i < FOURIER_GRID * FOURIER_GRID; i++) {
		size_t x = (i % FOURIER_GRID * 2 + 1) * w / (2 * FOURIER_GRID);
		size_t y = (i / FOURIER_GRID * 2 + 1) * h / (2 * FOURIER_GRID);
		struct fourier_sample a = { result->re[y * w + x], result->im[y * w + x] };
		struct fourier_sample b = fourier->before[i];

		re += (double)(a.re * b.re + a.im * b.im);
		im += (double)(a.im * b.re - a.re * b.im);
		own += (double)(a.re * a.re + a.im * a.im);
		last += (double)(b.re * b.re + b.im * b.im);
		fourier->before[i] = a;
	}
	moved_rad = fabs(atan2(im, re));
	if (fourier->number == 0 || fourier->warned_steps || !(own * last > 0) ||
	    hypot(re, im) < SAME_CORRELATION * sqrt(own * last) || moved_rad < SHIFTED_RAD)
		return;
	warn(NULL, "measurements %zu and %zu show the same fringes, moved by %.0f degrees: each "
	    "has a phase of its own; of the steps of one, phasewrap makes one",
	    fourier->number - 1, fourier->number, moved_rad * 180 / M_PI);
	fourier->warned_steps = true;
}

/* Warns where the camera of plane c seems to have fewer than 16 bits, and saturates below 65535. */
static void
warn_bits(struct fourierphase *fourier, const struct frame *frame, size_t c)
{
	size_t n = 0, most = 0, pixels = 0;

	if (fourier->most_known || frame->head.type != SAMPLE_USHORT)
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
	warn(where(fourier), "many pixels are %zu, the most of %d bits, and none is above: "
	    "if the camera saturates there give --max-value %zu", most,
	    (int)lround(log2((double)most + 1)), most);
	fourier->most_known = true;
}

/* The amplitude of the fringes is taken from the brightest quarter of the pixels; those that have
 * less than a tenth of it are without fringes. */
static void
warn_unlit(struct fourierphase *fourier, double *amplitude, size_t n)
{
	size_t kept = 0, below = 0;
	double lit;

	for (size_t i = 0; i < n; i++)
		if (!isnan(amplitude[i]))
			amplitude[kept++] = amplitude[i];
	lit = kept ? statistics_quantile(amplitude, kept, LIT_QUANTILE) : 0;
	for (size_t i = 0; i < kept; i++)
		below += amplitude[i] < UNLIT_AMPLITUDE * lit;
	if (kept < 100 || (double)below <= UNLIT_SHARE * (double)kept)
		return;
	warn(where(fourier), "%.0f %% of the pixels have less than a tenth of the fringes' "
	    "amplitude, so that their phase is noise: --min-amplitude %.2g makes them invalid",
	    100 * (double)below / (double)kept, 0.15 * lit);
	fourier->warned_unlit = true;
}

/* lost: pixels of a measurement by the test that they fail. amplitude: of n pixels, spread over
 * all, in grey levels, NaN where there is no phase; it is reordered. */
static void
report_pixels(struct fourierphase *fourier, const uint64_t lost[LOST_KINDS], double *amplitude,
    size_t n, bool verbose)
{
	const struct measurement_limits *limits = &fourier->limits;
	bool limited = limits->least_amplitude > 0 || limits->least_modulation > 0 ||
	    isfinite(limits->least_mean);
	uint64_t pixels = 0;
	double share;

	for (size_t i = 0; i < LOST_KINDS; i++)
		pixels += lost[i];
	if (verbose && fourier->number == 0)
		note(NULL, "of %" PRIu64 " pixels %" PRIu64 " are invalid: saturation %" PRIu64
		    ", darkness %" PRIu64 ", modulation %" PRIu64 ", amplitude %" PRIu64
		    ", missing %" PRIu64, pixels, pixels - lost[LOST_NONE], lost[LOST_SATURATION],
		    lost[LOST_DARKNESS], lost[LOST_MODULATION], lost[LOST_AMPLITUDE],
		    lost[LOST_MISSING]);
	if (lost[LOST_NONE] == 0)	/* the runner warns of that */
		return;
	share = (double)lost[LOST_SATURATION] / (double)(pixels - lost[LOST_MISSING]);
	if (!fourier->warned_saturated && share > SATURATED_SHARE) {
		warn(where(fourier), "%.0f %% of the pixels are saturated (--max-value), and "
		    "the phase is less certain next to them: less light or a shorter exposure "
		    "keeps them", 100 * share);
		fourier->warned_saturated = true;
	}
	if (!limited && !fourier->warned_unlit)
		warn_unlit(fourier, amplitude, n);
}

/* ---- a fringe image: its carrier, and the analytic signal round it ---- */

#define FRINGES_LEAST 2	/* in the image */

/* The camera axis along which the fringes of image k vary: 0 x, 1 y, -1 not known. */
static int
axis_of(const struct run *run, const struct frame_head *in, size_t k)
{
	const struct parameters *parameters = run->parameters;
	const struct fourierphase *fourier = run->priv;

	return parameters->measurement.captures.axis || meta_get(&in->meta, "axis") ?
	    fourier->captures.fringe[k].axis == 'y' : -1;
}

/* Refuses a flat image that shows the fringes. */
static int
check_flats(struct run *run, const struct frame *in, struct fourier_carrier carrier)
{
	const struct capture_set *captures = &((struct fourierphase *)run->priv)->captures;
	double size = hypot(carrier.x, carrier.y);

	for (size_t i = 0; i < captures->flats; i++) {
		struct fourier_source source = { .in = in, .fringe = captures->flat[i],
			.max_value = INFINITY };
		struct fourier_signal signal;
		struct fourier_peaks peaks = { 0 };

		fourier_signal_make(run, &source, &signal);
		fourier_carrier_find(run, &signal, &peaks);
		pixel_store_drop(signal.store);
		for (int y = 0; y < 2; y++)
			if (peaks.best[y].contrast > 0 &&
			    fourier_carrier_distance(peaks.best[y].carrier, carrier) < 0.3 * size)
				return fail(NULL, "image %zu, taken for a flat one, has the "
				    "fringes: --order flat,phase where it comes first",
				    captures->flat[i] + 1);
	}
	return 0;
}

/* No fringes were found. */
static int
fail_without(const struct fourierphase *fourier, const struct fourier_peaks *peaks, int axis)
{
	const struct fourier_peak *other = axis >= 0 ? &peaks->best[!axis] : NULL;
	const char *object = where(fourier);

	if (other && other->contrast > 0)
		return fail(object, "no fringes vary along %c, but some of %.4g px along %c: "
		    "--axis %c, or --carrier for a camera that is turned", "xy"[axis],
		    1 / (axis ? other->carrier.x : other->carrier.y), "yx"[axis], "yx"[axis]);
	if (peaks->few)
		return fail(object, "so small an image does not tell its fringes' period: give "
		    "--carrier");
	return fail(object, "no fringes stand out in its spectrum%s: --carrier takes those of a "
	    "given period", fourier->number == 1 && fourier->captures.flats == 0 ?
	    " (is it a flat image: --flats 1?)" : "");
}

/* Sets the carrier of fringe image k, its phase rising along it. */
static int
find_carrier(struct run *run, const struct fourier_signal *signal, const struct frame *in,
    size_t k, struct fourier_carrier *out)
{
	const struct parameters *parameters = run->parameters;
	struct fourierphase *fourier = run->priv;
	const struct numbers *given = &parameters->carrier;
	struct fourier_carrier found = { 0, 0 };
	struct fourier_peaks peaks;
	int axis = axis_of(run, &in->head, k), along = axis;

	fourier_carrier_find(run, signal, &peaks);
	if (given->n) {
		double period[2] = { given->v[0], given->n > 1 ? given->v[1] : 0 };

		if (given->n == 1 && axis == 1) {
			period[1] = period[0];
			period[0] = 0;
		}
		found.x = period[0] != 0 ? 1 / period[0] : 0;
		found.y = period[1] != 0 ? 1 / period[1] : 0;
		warn_given(fourier, &peaks, found, parameters->width * hypot(found.x, found.y));
	} else {
		if (axis < 0)
			along = fourier_carrier_better(&peaks.best[1], &peaks.best[0]);
		if (peaks.best[along].contrast <= 0)
			return fail_without(fourier, &peaks, axis);
		found = peaks.best[along].carrier;
		warn_other_peaks(fourier, &peaks, along);
		if (parameters->mirrored)
			found = (struct fourier_carrier){ -found.x, -found.y };
	}
	*out = found;
	if (fourier->captures.flats == 0 || fourier->flats_checked)
		return 0;
	fourier->flats_checked = true;
	return check_flats(run, in, found);
}

/* The analytic signal of fringe image k. */
static int
filter(struct run *run, struct fourier_signal *signal, size_t k, struct fourier_image *image)
{
	static const char *const shape[] = { "tukey", "hann", "gauss" };
	const struct parameters *parameters = run->parameters;
	struct fourierphase *fourier = run->priv;
	struct fourier_carrier f = image->carrier;
	struct fourier_filter how = { .shape = (enum fourier_shape)parameters->window,
		.transform = (enum fourier_transform)parameters->transform };
	double fringes = hypot(f.x * (double)signal->w, f.y * (double)signal->h);
	double size = hypot(f.x, f.y);
	char text[PEAK_SIZE];

	if (!(fringes >= FRINGES_LEAST))
		return fail(NULL, "an image of %zux%zu has %.2g fringes of %.4g px, at least %d "
		    "are needed", signal->w, signal->h, fringes, 1 / size, FRINGES_LEAST);
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
	how.half_width = parameters->width * (how.transform == TRANSFORM_LINES ? f.x : size);
	if (fourier_filter_run(run, &how, signal, image->source.flats == 0, &image->result) < 0)
		return -1;
	image->window_px = M_SQRT2 * fourier_sigma_reach(&how);
	if (parameters->noise.sigma)
		fourier_sigma_make(run, &image->source, fourier->noise, &how,
		    image->result.noise_bandwidth, image->transposed, &image->variance);
	if (run->verbose)
		note(where(fourier), "fringes of %s, --carrier %.5g,%.5g; window %s of "
		    "%.4g to %.4g turns/px, %s; noise of 1 grey level is %.3g rad over the "
		    "amplitude%s", describe(image->carrier, text),
		    image->carrier.x == 0 ? 0 : 1 / image->carrier.x,
		    image->carrier.y == 0 ? 0 : 1 / image->carrier.y, shape[how.shape],
		    size - how.half_width, size + how.half_width,
		    how.transform == TRANSFORM_2D ? "2-D" : "lines",
		    sqrt(2 * image->result.noise_bandwidth),
		    fourier->captures.fringe[k].left_out ? "; later steps are left out" : "");
	if (k == 0 && fourier->captures.flats == 0)
		warn_steps(fourier, &image->result);
	return 0;
}

/* Fringe image k of a measurement. The caller frees it, also after a failure. -1 after fail(). */
static int
make_image(struct run *run, const struct frame *in, size_t k, struct fourier_image *image)
{
	const struct parameters *parameters = run->parameters;
	const struct fourierphase *fourier = run->priv;
	const struct capture_set *captures = &fourier->captures;
	struct fourier_signal signal = { 0 }, unsaturated = { 0 };
	struct fourier_source source = { .in = in, .fringe = captures->fringe[k].plane[0],
		.flats = captures->flats, .flat = { captures->flat[0], captures->flat[1] },
		.max_value = fourier->limits.max_value,
		.removal = parameters->removal < 0 ? REMOVAL_QUOTIENT :
		    (enum fourier_removal)parameters->removal };
	int status = fourier_signal_find_least(run, &source);

	image->source = source;
	image->cosine = (float)cos(fourier->turn_rad[k]);
	image->sine = (float)sin(fourier->turn_rad[k]);
	if (status == 0)
		fourier_signal_make(run, &source, &signal);
	/* Fringes whose crests are cut off still have their frequency; with holes in place of the
	 * crests they may have twice that. */
	source.max_value = INFINITY;
	if (status == 0 && signal.holes)
		fourier_signal_make(run, &source, &unsaturated);
	if (status == 0)
		status = find_carrier(run, signal.holes ? &unsaturated : &signal, in, k,
		    &image->carrier);
	pixel_store_drop(unsaturated.store);
	if (status == 0)
		status = filter(run, &signal, k, image);
	pixel_store_drop(signal.store);
	return status;
}

/* ---- a measurement ---- */

#define AMPLITUDES 20000	/* pixels whose amplitudes are looked at, or some more */

/* Fills the frame, and reports how many pixels are invalid. */
static void
write_output(struct run *run, const struct frame *in, const struct fourier_image *image,
    struct frame *out)
{
	struct fourierphase *fourier = run->priv;
	size_t w = out->head.w, h = out->head.h, step = 1 + w * h / AMPLITUDES;
	size_t samples = (w * h + step - 1) / step;
	struct output_job output = { .fourier = fourier, .image = image, .in = in, .frame = out,
		.amplitude = must_alloc(samples, sizeof(double)), .step = step,
		.lost = must_alloc(h, sizeof(*output.lost)) };
	uint64_t lost[LOST_KINDS] = { 0 };

	run_for(run, fourier_items(h, FOURIER_ROWS), fourierphase_rows()->output, &output);
	for (size_t y = 0; y < h; y++)
		for (size_t i = 0; i < LOST_KINDS; i++)
			lost[i] += output.lost[y][i];
	report_pixels(fourier, lost, output.amplitude, samples, run->verbose);
	free(output.amplitude);
	free(output.lost);
}

/* What was found becomes metadata. */
static void
set_keys(const struct run *run, const struct fourier_image *image, const struct frame_head *in)
{
	const struct fourierphase *fourier = run->priv;
	struct meta *meta = &run_output(run)->meta;
	size_t n = fourier->captures.fringes;
	double period[2 * n];
	char axis[2 * n + 1];

	for (size_t k = 0; k < n; k++) {
		struct fourier_carrier f = image[k].carrier;
		int wanted = axis_of(run, in, k);

		period[2 * k] = f.x == 0 ? 0 : 1 / f.x;
		period[2 * k + 1] = f.y == 0 ? 0 : 1 / f.y;
		axis[2 * k] = "xy"[wanted < 0 ? image[k].transposed : wanted];
		axis[2 * k + 1] = k + 1 < n ? ' ' : '\0';
	}
	if (image[0].variance)
		meta_set_number(meta, "sigma_window_px", image[0].window_px);
	meta_set_numbers(meta, "carrier_px", period, 2 * n);
	meta_set(meta, "axis", axis);
}

static int
take_frame(struct run *run, struct frame *in)
{
	struct fourierphase *fourier = run->priv;
	size_t n = fourier->captures.fringes;
	struct fourier_image *image = must_alloc(n, sizeof(*image));
	struct frame *out = NULL;
	int status = 0;

	for (size_t k = 0; k < n; k++)
		warn_bits(fourier, in, fourier->captures.fringe[k].plane[0]);
	for (size_t k = 0; k < n && status == 0; k++)
		status = make_image(run, in, k, &image[k]);
	if (status == 0)
		set_keys(run, image, &in->head);
	if (status == 0)
		status = frame_new(run_output(run), &out);
	if (status == 0)
		write_output(run, in, image, out);
	for (size_t k = 0; k < n; k++) {
		pixel_store_drop(image[k].result.store);
		free(image[k].variance);
	}
	free(image);
	frame_free(in);
	snprintf(fourier->name, sizeof(fourier->name), "measurement %zu", ++fourier->number);
	return run_emit_if(run, status, out);
}

static int
gather(struct run *run, const struct frame_head *head, size_t *planes)
{
	const struct fourierphase *fourier = run->priv;

	return capture_set_count(&fourier->measurement.captures,
	    measurement_manifest(&fourier->measurement), head, planes);
}

static int
arrives(struct run *run, const struct frame_head *head, const char *path, size_t have,
    size_t wanted, bool *begins)
{
	return measurement_arrives(run, &((struct fourierphase *)run->priv)->measurement, head,
	    path, have, wanted, begins);
}

/* ---- planning ---- */

static int
plan_noise(const struct parameters *parameters, const struct frame_head *in,
    struct fourierphase *fourier)
{
	double quantisation;

	if (!parameters->noise.sigma)
		return 0;
	if (noise_unknown(&parameters->noise))
		return fail("--sigma", "one image does not tell its noise: give --read-noise "
		    "LEVELS and --gain LEVELS/e (camnoise finds them)");
	if (noise_quantisation(parameters->noise.quantum, in, true, &quantisation) < 0)
		return -1;
	return noise_given(&parameters->noise, quantisation, (double)fourier->limits.max_value,
	    &fourier->noise);
}

/* Names the channels of a frame and sets their places. */
static int
plan_channels(const struct parameters *parameters, struct fourierphase *fourier,
    struct frame_head *out)
{
	const struct capture_set *captures = &fourier->captures;
	bool vector = parameters->as == AS_VECTOR, sigma = parameters->noise.sigma;
	char *qualities = must_strdup("modulation texture");
	int status;

	fourier->vector = vector;
	fourier->modulation = captures->fringes * (vector ? 2 : 1);
	fourier->texture = fourier->modulation + 1;
	fourier->sigma = fourier->modulation + 2;
	fourier->marker = fourier->sigma + (sigma ? captures->fringes : 0);
	for (size_t k = 0; sigma && k < captures->fringes; k++) {
		char *more = captures->fringes > 1 ? must_format("%s sigma%zu", qualities, k + 1) :
		    must_format("%s sigma", qualities);

		free(qualities);
		qualities = more;
	}
	status = capture_set_describe(captures, vector ? "cos sin" : "phase", qualities, out);
	free(qualities);
	return status;
}

static int
plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	const struct parameters *parameters = run->parameters;
	const struct measurement_options *options = &parameters->measurement;
	struct fourierphase *fourier = run->priv;
	struct measurement *measurement = &fourier->measurement;
	struct capture_set *captures = &fourier->captures;
	double *zero;

	capture_set_free(captures);
	if (measurement_begin(run, measurement, in) < 0 ||
	    capture_set_sort(&measurement->captures, measurement_manifest(measurement), in,
		captures) < 0 || measurement_solve(measurement, in, captures) < 0 ||
	    measurement_limit(run, options, in, &fourier->limits) < 0 ||
	    plan_noise(parameters, in, fourier) < 0)
		return -1;
	if (captures->flats == 0 && options->captures.flats > 0)
		return fail("--flats", "none of the images is a flat one");
	if (plan_channels(parameters, fourier, out) < 0)
		return -1;
	measurement_describe(measurement, &out->meta);
	fourier->turn_rad = must_resize(fourier->turn_rad, captures->fringes,
	    sizeof(*fourier->turn_rad));
	for (size_t k = 0; k < captures->fringes; k++)
		fourier->turn_rad[k] = measurement->sign * captures->fringe[k].shift_rad[0] +
		    measurement->origin_rad;
	zero = must_alloc(2 * captures->fringes, sizeof(*zero));
	meta_set_numbers(&out->meta, "carrier_px", zero, 2 * captures->fringes);
	free(zero);
	fourier->most_known = !isnan(options->max_value) || meta_get(&in->meta, "max_value");
	return 0;
}

static int
init(struct run *run)
{
	static const struct body body = { .gather = gather, .arrives = arrives,
		.frame = take_frame,
		.no_passes = "lines are extended by doubles between transforms" };
	struct parameters *parameters = run->parameters;
	struct measurement_options *options = &parameters->measurement;
	struct fourierphase *fourier = run->priv;

	run->body = &body;
	options->captures.kind = CAPTURES_FOURIER;
	options->captures.steps = OPT_NONE_INTEGER;
	options->captures.gray_cell = options->captures.flat = -1;
	if (noise_check(&parameters->noise) < 0 ||
	    measurement_init(run, options, true, &fourier->measurement) < 0 ||
	    capture_set_check(&fourier->measurement.captures) < 0)
		return -1;
	if (parameters->removal >= 0 && options->captures.flats <= 0 && !options->manifest)
		return fail_usage("--flat-removal", "there is no flat image: give --flats");
	return check_carrier(parameters) < 0 ? -1 :
	    measurement_read_manifest(run, &fourier->measurement);
}

static void
release(struct run *run)
{
	struct fourierphase *fourier = run->priv;

	capture_set_free(&fourier->captures);
	free(fourier->turn_rad);
	measurement_free(&fourier->measurement);
}

const struct stage stage_fourierphase = {
	.name = "fourierphase",
	.summary = "wrapped phase out of a single fringe image",
	.hint = "--min-amplitude, --min-modulation, --dark, --max-value, and whether the images "
	    "show fringes",
	.options = options,
	.usual = "period flats manifest carrier mirrored min-amplitude min-modulation dark "
	    "max-value sigma read-noise gain black-level quantum",
	STAGE_MEMORY(fourierphase),
	.traits = STAGE_ANY_TYPE | STAGE_CONCURRENT,
	.init = init,
	.plan = plan,
	.release = release,
};
