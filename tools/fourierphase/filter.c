/*
 * The filter of Fourier-transform profilometry (methods §3): a fringe image, less its flat image or
 * over it (thesis eq. 3.6), becomes the analytic signal round its carrier by transform, window and
 * transform back (thesis eq. 3.3); and the variance that the camera's noise has there. The loops
 * over pixels are in fourierphase_rows.c.
 */
#include "fourierphase.h"

#include <limits.h>

#include "run/run.h"

struct pixel_store *
fourier_scratch(size_t floats, float **v)
{
	void *made = NULL;
	struct pixel_store *store = pixel_store_scratch(floats * sizeof(**v), &made);

	if (!store)
		out_of_memory();
	*v = made;
	return store;
}

/* ---- transforms of lines: lengths and tables ---- */

size_t
line_fft_length(size_t n)
{
	size_t best = 0;

	if (n > INT_MAX)
		return 0;
	for (size_t a = 1; a <= INT_MAX; a *= 2)
		for (size_t b = a; b <= INT_MAX; b *= 3)
			for (size_t c = b; c <= INT_MAX; c *= 5)
				if (c >= n && (best == 0 || c < best))
					best = c;
	return best;
}

/* Where the result has frequency k: each step sorts the frequencies by their remainder modulo its
 * factor. */
static size_t
place_of(const struct line_fft *fft, size_t k)
{
	size_t at = 0, block = fft->n;

	for (size_t i = 0; i < fft->factors; i++) {
		block /= fft->factor[i];
		at += k % fft->factor[i] * block;
		k /= fft->factor[i];
	}
	return at;
}

void
line_fft_new(size_t n, struct line_fft *fft)
{
	static const size_t primes[] = { 5, 3 };
	size_t rest = n;

	*fft = (struct line_fft){ .n = n, .cos = must_alloc(n, sizeof(*fft->cos)),
		.sin = must_alloc(n, sizeof(*fft->sin)),
		.place = must_alloc(n, sizeof(*fft->place)) };
	for (size_t i = 0; i < sizeof(primes) / sizeof(*primes); i++)
		for (; rest % primes[i] == 0; rest /= primes[i])
			fft->factor[fft->factors++] = primes[i];
	if (rest > 1 && __builtin_ctzll(rest) % 2) {
		fft->factor[fft->factors++] = 2;
		rest /= 2;
	}
	for (; rest > 1; rest /= 4)
		fft->factor[fft->factors++] = 4;
	for (size_t k = 0; k < n; k++) {
		double angle = -2 * M_PI * (double)k / (double)n;

		fft->cos[k] = (float)cos(angle);
		fft->sin[k] = (float)sin(angle);
		fft->place[k] = place_of(fft, k);
	}
}

void
line_fft_free(struct line_fft *fft)
{
	free_all(fft->cos, fft->sin, fft->place);
	*fft = (struct line_fft){ 0 };
}

/* ---- the signal ---- */

#define LEAST_UNIT 0.1	/* of the mean one */

/* Reads the source, and makes the signal unless that is NULL. *sum: of the units of *count
 * pixels. */
static void
read_source(struct run *run, const struct fourier_source *source, struct fourier_signal *signal,
    double *sum, size_t *count)
{
	size_t h = source->in->head.h;
	struct signal_job job = { source, signal, must_alloc(h, sizeof(double)),
		must_alloc(h, sizeof(size_t)) };

	*sum = 0;
	*count = 0;
	run_for(run, fourier_items(h, FOURIER_ROWS), fourierphase_rows()->signal, &job);
	for (size_t y = 0; y < h; y++) {
		*sum += job.sum[y];
		*count += job.count[y];
	}
	free(job.sum);
	free(job.count);
}

int
fourier_signal_find_least(struct run *run, struct fourier_source *source)
{
	double sum;
	size_t n;

	source->least_unit = 0;
	if (source->flats == 0 || source->removal == REMOVAL_DIFFERENCE)
		return 0;
	read_source(run, source, NULL, &sum, &n);
	if (n > 0 && !(sum > 0))
		return fail(NULL, source->flats == 2
			? "white is nowhere brighter than black: are the flat images in this order?"
			: "the flat image is black");
	source->least_unit = n > 0 ? (float)(LEAST_UNIT * sum / (double)n) : 1;
	return 0;
}

void
fourier_signal_make(
    struct run *run, const struct fourier_source *source, struct fourier_signal *signal)
{
	double sum;
	size_t n;

	*signal = (struct fourier_signal){ .w = source->in->head.w, .h = source->in->head.h,
		.along = 1, .apart = source->in->head.w };
	signal->store = fourier_scratch(signal->w * signal->h, &signal->v);
	read_source(run, source, signal, &sum, &n);
	signal->holes = signal->w * signal->h - n;
}

void
fourier_signal_turn(struct fourier_signal *signal)
{
	size_t w = signal->w, along = signal->along;

	signal->w = signal->h;
	signal->h = w;
	signal->along = signal->apart;
	signal->apart = along;
}

/* ---- the filter ---- */

#define EXTENDED_PERIODS 3	/* of the half-width: the fringes are extended beyond the image */
#define FITTED_PERIODS 5	/* of the carrier: the extension is predicted from them */

/*
 * 1 at a distance u = 0 from the carrier, over the half-width, and 0 from u = 1 on: hann is
 * (1 + cos pi u) / 2; gauss exp(-4.5 u^2), three standard deviations, cut there; tukey is 1 up to
 * u = 1/2 and then a half-wave of a cosine.
 */
static float
fourier_window(enum fourier_shape shape, double u)
{
	if (!(u < 1))
		return 0;
	switch (shape) {
	case WINDOW_HANN:
		return (float)(0.5 + 0.5 * cos(M_PI * u));
	case WINDOW_GAUSS:
		return (float)exp(-4.5 * u * u);
	case WINDOW_TUKEY:
		break;
	}
	return u <= 0.5 ? 1 : (float)(0.5 + 0.5 * cos(M_PI * (2 * u - 1)));
}

/* Plans cyclic lines of n samples, for frequencies of this half-width about a carrier. */
static int
plan_line(size_t n, double half_width, double carrier, struct fourier_extend *extend)
{
	double reach = ceil(EXTENDED_PERIODS / half_width), fit = ceil(FITTED_PERIODS / carrier);

	extend->n = n;
	extend->reach = reach < 4 * (double)n ? (size_t)reach : 4 * n;
	extend->reach += extend->reach < 2;
	extend->fit = fit < (double)n ? (size_t)fit : n;
	extend->total = line_fft_length(n + 2 * extend->reach);
	return extend->total ? 0 : fail(NULL, "an image of %zu pixels is too long", n);
}

/* Sets the window; what lies beyond its half-width is 0. */
static void
make_window(struct filter_job *filter)
{
	const struct fourier_filter *how = filter->how;
	size_t down = filter->down.n ? filter->down.n : 1;
	double squares = 0, carrier = filter->down.n ? how->carrier.y : 0;

	memset(filter->window, 0, down * filter->stride * sizeof(*filter->window));
	for (size_t y = 0; y < down; y++) {
		double l = (double)(2 * y < down ? (long)y : (long)y - (long)down) / (double)down;

		for (size_t i = 0; fabs(l - carrier) < how->half_width && i < filter->n; i++) {
			double k = (double)(filter->first + (long)i) / (double)filter->across.n;
			double u = hypot(k - how->carrier.x, l - carrier);
			float v = fourier_window(how->shape, u / how->half_width);

			filter->window[y * filter->stride + i] = v;
			squares += (double)(v * v);
		}
	}
	filter->result->noise_bandwidth = squares / ((double)filter->across.n * (double)down);
}

static int
plan(struct filter_job *filter)
{
	const struct fourier_filter *how = filter->how;
	const struct fourier_signal *signal = filter->signal;
	double n, last;
	size_t down = 1, plane;

	filter->row.channels = 1;
	filter->row.lanes = FILTER_ROWS;
	filter->column.channels = 2;
	filter->column.lanes = FFT_LANES;
	if (plan_line(signal->w, how->half_width, how->carrier.x, &filter->row) < 0)
		return -1;
	line_fft_new(filter->row.total, &filter->across);
	n = (double)filter->row.total;
	/* the mirrored side lobe lies beyond the Nyquist frequency */
	last = fmin(floor((how->carrier.x + how->half_width) * n), floor((n - 1) / 2));
	filter->first = (long)ceil((how->carrier.x - how->half_width) * n);
	if ((long)last < filter->first)
		return fail("--window-width", "the window holds no frequency of an image so small");
	filter->n = (size_t)((long)last - filter->first + 1);
	filter->stride = fourier_aligned(filter->n);
	if (how->transform == TRANSFORM_2D) {
		if (plan_line(signal->h, how->half_width, fmax(fabs(how->carrier.y),
		    how->half_width), &filter->column) < 0)
			return -1;
		line_fft_new(filter->column.total, &filter->down);
		down = filter->column.total;
	}
	plane = signal->h * filter->stride;
	filter->store = fourier_scratch(2 * plane + down * filter->stride, &filter->re);
	filter->known = must_alloc(signal->h, 1);
	filter->im = filter->re + plane;
	filter->window = filter->im + plane;
	make_window(filter);
	return 0;
}

int
fourier_filter_run(struct run *run, const struct fourier_filter *how,
    const struct fourier_signal *signal, bool mean, struct fourier_result *result)
{
	struct filter_job filter = { .how = how, .signal = signal, .result = result };
	size_t plane = fourier_aligned(signal->w * signal->h), h = signal->h;
	int status;

	*result = (struct fourier_result){ .w = signal->along == 1 ? signal->w : h,
		.h = signal->along == 1 ? h : signal->w };
	result->store = fourier_scratch((mean ? 3 : 2) * plane, &result->re);
	result->im = result->re + plane;
	result->mean = mean ? result->im + plane : NULL;
	status = plan(&filter);
	if (status == 0)
		run_for(run, fourier_items(h, FILTER_ROWS), fourierphase_rows()->filter_forward,
		    &filter);
	if (status == 0 && filter.down.n)
		run_for(run, filter.stride / FFT_LANES, fourierphase_rows()->filter_columns,
		    &filter);
	if (status == 0)
		run_for(run, fourier_items(h, FFT_LANES), fourierphase_rows()->filter_back,
		    &filter);
	line_fft_free(&filter.across);
	line_fft_free(&filter.down);
	pixel_store_drop(filter.store);
	free(filter.known);
	return status;
}

/*
 * ---- the noise of the analytic signal round a carrier ----
 *
 * Independent noise of variance v(x) in the signal's samples is noise of variance
 * sum |h(x - x')|^2 v(x') in the analytic signal, where h is the response of the window in the
 * spectrum. |h|^2 is approximated by a Gaussian of the same integral (the noise bandwidth) and the
 * same second moment, which is exact where the variance is even.
 */

#define STEPS 1000	/* of integrals over the window */
#define SIGMAS 3	/* standard deviations of |h|^2 that are summed */

double
fourier_sigma_reach(const struct fourier_filter *how)
{
	bool plane = how->transform == TRANSFORM_2D;
	double power = 0, slopes = 0;

	for (int i = 0; i + 1 < STEPS; i++) {
		double u = (i + 0.5) / STEPS, around = plane ? u : 1;
		double here = (double)fourier_window(how->shape, (double)i / STEPS);
		double next = (double)fourier_window(how->shape, (i + 1.0) / STEPS);
		double mean = (here + next) / 2, slope = (next - here) * STEPS;

		power += around * mean * mean;
		slopes += around * slope * slope;
	}
	return sqrt(slopes / power / (plane ? 2 : 1)) / (2 * M_PI * how->half_width);
}

void
fourier_sigma_make(struct run *run, const struct fourier_source *source,
    struct phase_noise_model noise, const struct fourier_filter *how, double noise_bandwidth,
    bool down, float **variance)
{
	double reach = fourier_sigma_reach(how);
	size_t w = source->in->head.w, h = source->in->head.h, longest = w > h ? w : h;
	struct sigma_job job = { .source = source, .noise = noise, .w = w, .h = h };
	float *planes = must_alloc(w * h, 4 * sizeof(*planes));

	job.radius = (size_t)fmin(ceil(SIGMAS * reach), (double)longest);
	job.kernel = must_alloc(job.radius + 1, sizeof(*job.kernel));
	*variance = must_alloc(w * h, sizeof(**variance));
	for (size_t k = 0; k <= job.radius; k++)
		job.kernel[k] = (float)exp(-0.5 * (double)(k * k) / (reach * reach));
	job.v = planes;
	job.n = planes + w * h;
	job.to_v = planes + 2 * w * h;
	job.to_n = planes + 3 * w * h;
	run_for(run, fourier_items(h, FOURIER_ROWS), fourierphase_rows()->sigma_read, &job);
	for (int way = 0; way < 2; way++) {	/* across, then down */
		float *v = job.v, *n = job.n;

		if (how->transform != TRANSFORM_2D && down != way)
			continue;
		job.down = way;
		run_for(run, fourier_items(h, FOURIER_ROWS), fourierphase_rows()->sigma_smooth,
		    &job);
		job.v = job.to_v;
		job.n = job.to_n;
		job.to_v = v;
		job.to_n = n;
	}
	fourierphase_rows()->sigma_variance(&job, (float)(noise_bandwidth / 2), *variance);
	free(planes);
	free(job.kernel);
}
