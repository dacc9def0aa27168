/*
 * Windowed Fourier filtering of wrapped phases (Kemao 2004, 2007): in Gaussian windows that
 * overlap, it removes frequencies that do not exceed the noise. The windows, the passes of the
 * device, a phase through both and back, options, frames and plan. wff_rows.c has the loops.
 */
#include "wff.h"

#include <float.h>
#include <stdio.h>

#include "fringe/capture_set.h"
#include "run/passes.h"

/* ---- the windows ---- */

#define WINDOWS_SIZE_MOST 512	/* pixels of a patch */
#define WINDOWS_STEP_LEAST 0.01228	/* rad/px, for that size: a little more than 2 pi / 512 */
#define REACH 3.2		/* in sigma: the window has 0.006 of its height there */
#define HOP 1.0			/* in sigma from window to window; 0.25 is at most 4 % better */
#define SEGMENT 128		/* pixels of a row of windows that one thread takes, at least */
#define LN2 0.69314718055994530942

struct windows_options {
	double sigma_px;	/* of the window */
	double step;		/* between frequencies, rad/px at most; NaN: 1/sigma */
	double threshold;	/* in standard deviations of the noise */
	double noise_rad;	/* of the phase; NaN: found in each window */
	struct numbers band;	/* x0 x1 y0 y1, rad/px; none: all */
};

/* The tables of a transform of size n, 4 or more and a power of two. */
static void
patch_fft_new(size_t n, struct patch_fft *fft)
{
	fft->n = n;
	fft->cos = must_alloc(n, sizeof(*fft->cos));
	fft->sin = must_alloc(n, sizeof(*fft->sin));
	fft->frequency = must_alloc(n, sizeof(*fft->frequency));
	for (size_t k = 0; k < n; k++) {
		double angle = -2 * M_PI * (double)k / (double)n;

		fft->cos[k] = (float)cos(angle);
		fft->sin[k] = (float)sin(angle);
		for (size_t bit = 1; bit < n; bit *= 2)
			fft->frequency[k] |= k & bit ? n / 2 / bit : 0;
	}
}

/* The size of a patch for so many pixels. */
static size_t
size_for(double pixels)
{
	size_t n = 8;

	while (n < WINDOWS_SIZE_MOST && (double)n < pixels)
		n *= 2;
	return n;
}

static void
fill_band(const struct numbers *band, const struct patch_fft *fft, float *keep)
{
	for (size_t i = 0; i < 2 * fft->n; i++) {
		double k = (double)fft->frequency[i % fft->n], n = (double)fft->n;
		double rad = 2 * M_PI * (k < n / 2 ? k : k - n) / n;
		const double *edge = band->v + 2 * (i / fft->n), half = M_PI / n;

		keep[i] = !band->n || (rad >= edge[0] - half && rad <= edge[1] + half);
	}
}

/* The caller frees the windows. */
static void
windows_new(const struct windows_options *options, struct windows *windows)
{
	double sigma = options->sigma_px, step = isnan(options->step) ? 1 / sigma : options->step;
	size_t n = size_for(fmax(2 * M_PI / step, 5.6 * sigma));
	size_t reach = (size_t)ceil(REACH * sigma);

	patch_fft_new(n, &windows->fft);
	windows->reach = reach < n / 2 - 1 ? reach : n / 2 - 1;
	windows->hop = (size_t)fmax(1, floor(sigma * HOP));
	windows->weight = must_alloc(2 * windows->reach + 1, sizeof(*windows->weight));
	windows->keep = must_alloc(2 * n, sizeof(*windows->keep));
	for (size_t i = 0; i <= 2 * windows->reach; i++) {
		double x = (double)i - (double)windows->reach;

		windows->weight[i] = (float)exp(-0.5 * x * x / (sigma * sigma));
	}
	fill_band(&options->band, &windows->fft, windows->keep);
	/* |c|^2 of noise has an exponential distribution, whose mean is the median / ln 2 */
	if (isnan(options->noise_rad))
		windows->share = (float)(options->threshold * options->threshold / LN2);
	else	/* exp(i noise) scatters by 1 - exp(-noise^2) about its mean */
		windows->power = (float)(options->threshold * options->threshold *
		    -expm1(-options->noise_rad * options->noise_rad));
}

static void
windows_free(struct windows *windows)
{
	free_all(windows->fft.cos, windows->fft.sin, windows->fft.frequency, windows->weight,
	    windows->keep);
	*windows = (struct windows){ 0 };
}

/* The length of the sums if all windows pass all of the phase. */
static double
windows_sum(const struct windows *windows)
{
	double line = 0, n = (double)windows->fft.n, hop = (double)windows->hop;

	for (size_t i = 0; i <= 2 * windows->reach; i++)
		line += (double)(windows->weight[i] * windows->weight[i]);
	return n * n * line * line / (hop * hop);
}

/* Windows of an image, in rows that segments of some windows each make up. */
struct windows_grid {
	size_t across, down;
	size_t apart;		/* windows to the next one that shares no pixel */
	size_t length;		/* windows of a segment */
};

static struct windows_grid
windows_grid(const struct windows *windows, size_t w, size_t h)
{
	size_t hop = windows->hop, width = 2 * windows->reach + 1;
	size_t apart = (width + hop - 1) / hop + 1;

	return (struct windows_grid){ (w + hop - 1) / hop, (h + hop - 1) / hop, apart,
		SEGMENT / hop > apart ? SEGMENT / hop : apart };
}

/* Segments of rows of windows that have no pixels in common. */
struct windows_job {
	const struct windows *windows;
	const struct windows_map *map;
	struct windows_grid grid;
	size_t row;			/* the first one; the others are `apart` from it */
	size_t segment, segments;	/* the first segment, and the number of them in a row */
};

static void
new_workspace(size_t n, struct workspace *work)
{
	size_t plane = n * n, samples = n > WFF_SAMPLES ? n : WFF_SAMPLES;

	*work = (struct workspace){ 0 };
	work->a.re = must_aligned(4 * plane + 2 * samples, sizeof(float));
	work->a.im = work->a.re + plane;
	work->b.re = work->a.im + plane;
	work->b.im = work->b.re + plane;
	work->power = work->b.im + plane;
}

static void
filter_segment(void *arg, size_t i)
{
	struct windows_job *job = arg;
	const struct windows *windows = job->windows;
	const struct windows_map *map = job->map;
	const struct windows_grid *grid = &job->grid;
	size_t hop = windows->hop, row = job->row + i / job->segments * grid->apart;
	size_t first = (job->segment + 2 * (i % job->segments)) * grid->length;
	size_t y = row * hop + (hop - 1) / 2;
	struct workspace work;

	new_workspace(windows->fft.n, &work);
	for (size_t k = first; k < grid->across && k < first + grid->length; k++) {
		size_t x = k * hop + (hop - 1) / 2;

		wff_rows()->filter_window(windows, map, x < map->w ? x : map->w - 1,
		    y < map->h ? y : map->h - 1, &work);
	}
	free(work.a.re);
}

/* Adds the filtered vectors to the sums, in the same order on any number of threads. */
static void
windows_filter(struct run *run, const struct windows *windows, const struct windows_map *map)
{
	const struct windows_grid grid = windows_grid(windows, map->w, map->h);
	size_t segments = (grid.across + grid.length - 1) / grid.length;
	struct windows_job job = { windows, map, .grid = grid };

	for (size_t row = 0; row < grid.apart && row < grid.down; row++)
		for (size_t segment = 0; segment < 2 && segment < segments; segment++) {
			job.row = row;
			job.segment = segment;
			job.segments = (segments - segment + 1) / 2;
			run_for(run, (grid.down - row + grid.apart - 1) / grid.apart *
			    job.segments, filter_segment, &job);
		}
}

/*
 * ---- the same on the device ----
 *
 * Of the rows of windows that have no pixels in common some at a time: their transforms, what of
 * these passes, the way back, and each pixel's sums. The whole image is one tile.
 */

#define DEVICE_FLOATS ((size_t)1 << 24)	/* of windows at a time; one row of them in any case */

/* The transforms' tables, as wff.block.h lays them out. */
static int
list_table(const struct windows *windows, struct passes *passes)
{
	size_t n = windows->fft.n, weights = 2 * windows->reach + 1;
	float *table = must_alloc(4 * n + weights, sizeof(*table));
	int status;

	memcpy(table + WFF_COS, windows->fft.cos, n * sizeof(*table));
	memcpy(table + WFF_SIN(n), windows->fft.sin, n * sizeof(*table));
	memcpy(table + WFF_KEEP(n), windows->keep, 2 * n * sizeof(*table));
	memcpy(table + WFF_WEIGHT(n), windows->weight, weights * sizeof(*table));
	status = passes_constant(passes, table, (4 * n + weights) * sizeof(*table));
	free(table);
	return status;
}

/* Workgroups for each column of windows, so many down if the image has as many rows; each goes on
 * to the next item that nobody has. */
static void
list_windows(struct passes *passes, const struct shader *shader, const struct wff_block *block,
    size_t down)
{
	size_t h = passes_input(passes)->h;
	const struct pass pass = { shader, block, sizeof(*block),
		.tile = { block->hop, (uint32_t)(h > down ? h / down : 1) },
		.local = { WFF_GROUP, 1 }, .beyond = h };

	passes_add(passes, &pass);
}

static void
list_rows(struct passes *passes, struct wff_block *block)
{
	const struct pass add = { SHADER(wff_add), block, sizeof(*block), PASS_PIXELS };

	for (uint step = 0; step < 4; step++) {	/* columns, rows, back along rows and columns */
		block->inverse = step / 2;
		block->along_rows = step == 1 || step == 2;
		if (step == 2)
			list_windows(passes, SHADER(wff_least), block, block->rows);
		list_windows(passes, SHADER(wff_lines), block, block->items);
	}
	passes_add(passes, &add);
}

static int
windows_passes(const struct windows *windows, struct passes *passes)
{
	size_t w = passes_input(passes)->w, h = passes_input(passes)->h, n = windows->fft.n;
	size_t plane = frame_stride(w, SAMPLE_FLOAT) / sizeof(float) * h;
	const struct windows_grid grid = windows_grid(windows, w, h);
	size_t floats = grid.across * WFF_WINDOW(n);
	size_t lines = WFF_SHARED / n < n ? WFF_SHARED / n : n;
	size_t most = floats < DEVICE_FLOATS ? DEVICE_FLOATS / floats : 1;
	size_t rows = (grid.down + grid.apart - 1) / grid.apart;
	struct wff_block block = { .n = (uint)n, .reach = (uint)windows->reach,
		.hop = (uint)windows->hop, .weights = (uint)(2 * windows->reach + 1),
		.across = (uint)grid.across, .apart = (uint)grid.apart,
		.segment = (uint)grid.length, .lines = (uint)lines, .begins = 1,
		.share = windows->share, .power = windows->power };

	if (floats > UINT32_MAX)
		return passes_refuse(passes, "a row of its windows takes more than 16 GiB");
	most = most < rows ? most : rows;
	passes_read(passes, 0);
	passes_read(passes, 1);
	passes_scratch(passes, (most * floats + plane - 1) / plane);
	if (list_table(windows, passes) < 0)
		return -1;
	for (size_t first = 0; first < grid.apart && first < grid.down; first++)
		for (size_t row = first; row < grid.down; row += most * grid.apart) {
			size_t left = (grid.down - row + grid.apart - 1) / grid.apart;

			block.row = (uint)row;
			block.rows = (uint)(left < most ? left : most);
			block.items = block.rows * (uint)(n / lines);
			list_rows(passes, &block);
			block.begins = 0;
		}
	return 0;
}

/* ---- a phase, through the filter and back ---- */

#define LOST_MOST 10.0		/* percent of the pixels that become invalid without a warning */
/* Of a filtered vector. A clean phase gives 1, noise of 1 rad 0.6, one frequency of pure noise 0.03
 * in the middle of its window. */
#define LENGTH_LEAST 0.003

/* Fails if the samples cannot be a wrapped phase, and warns if they probably are not. */
static int
check_range(const struct map_job *job)
{
	const struct phase_map *phase = job->phase;
	const char *name = phase->in->head.channel[phase->from.channel];
	double low = INFINITY, high = -INFINITY;

	for (size_t y = 0; y < job->map.h; y++) {
		low = fmin(low, (double)job->row[y].low * job->turn);
		high = fmax(high, (double)job->row[y].high * job->turn);
	}
	if (high - low > 1.02 * job->turn)
		return fail(NULL, "%s goes from %g to %g, but a wrapped phase over one turn at "
		    "most, which is %g (--turn)", name, low, high, job->turn);
	if (phase->from.sine != NO_CHANNEL)
		return 0;
	if (!isnan(phase->turn) && high - low < 0.1 * job->turn)
		warn(NULL, "%s goes from %g to %g, a small part of --turn %g: is that what a whole "
		    "turn is in its samples?", name, low, high, job->turn);
	if (isnan(phase->turn) && low >= 0 && high <= 1 && high - low > 0.95)
		warn(NULL, "%s goes from %g to %g rad: if those are turns, give --turn 1", name,
		    low, high);
	return 0;
}

static void
report(const struct run *run, const struct map_job *job)
{
	const char *name = job->phase->out->head.channel[job->phase->to];
	size_t valid = 0, lost = 0;
	double share;

	for (size_t y = 0; y < job->map.h; y++) {
		valid += job->row[y].valid;
		lost += job->row[y].lost;
	}
	share = valid ? 100 * (double)lost / (double)valid : 0;
	if (share > LOST_MOST)
		warn(NULL, "%s: %.1f %% of the valid pixels show no frequency above the noise and "
		    "become invalid: see --threshold and --band", name, share);
	else if (run->verbose)
		note(NULL, "%s: %zu of %zu valid pixels show no frequency above the noise and "
		    "become invalid", name, lost, valid);
}

/* Filters a phase. Pixels where no frequency exceeds the noise become NaN, with a warning if there
 * are many. -1 after fail(): the samples are no wrapped phase. */
static int
phase_map_filter(struct run *run, const struct windows *windows, const struct phase_map *phase)
{
	size_t w = phase->in->head.w, h = phase->in->head.h;
	struct map_job job = { .phase = phase, .map = { .w = w, .h = h },
		.turn = isnan(phase->turn) ? 2 * M_PI : phase->turn,
		.least = LENGTH_LEAST * windows_sum(windows),
		.row = must_alloc(h, sizeof(*job.row)) };
	struct frame *vectors = NULL, *sums = NULL;
	bool on_device;
	int status = frame_new_named(w, h, 2, SAMPLE_FLOAT, NULL, &vectors);

	if (status == 0) {
		job.map.stride = vectors->plane[0].stride / sizeof(float);
		job.map.re = frame_floats(vectors, 0, 0);
		job.map.im = frame_floats(vectors, 1, 0);
		run_for(run, h, wff_rows()->read_row, &job);
		status = check_range(&job);
	}
	run->halo = h;			/* windows reach from row to row across the whole image */
	if (status == 0)
		status = run_passes(run, vectors, &vectors->head, &sums);
	on_device = sums;
	if (status == 0 && !on_device)
		status = frame_new(&vectors->head, &sums);
	if (status == 0) {
		job.map.sum_re = frame_floats(sums, 0, 0);
		job.map.sum_im = frame_floats(sums, 1, 0);
		if (!on_device) {
			memset(job.map.sum_re, 0, h * sums->plane[0].stride);
			memset(job.map.sum_im, 0, h * sums->plane[1].stride);
			windows_filter(run, windows, &job.map);
		}
		run_for(run, h, wff_rows()->write_row, &job);
		report(run, &job);
	}
	frame_free(vectors);
	frame_free(sums);
	free(job.row);
	return status;
}

/* ---- options ---- */

struct parameters {
	struct windows_options windows;
	const char *channel;
	double turn;
};

struct priv {
	struct windows windows;
	struct phase_channels *phase;
	size_t phases;
};

static const struct opt options[] = {
	{ 0, "sigma", "PX", OPT_NUMBER, AT(windows.sigma_px), "10", 1, 64, "px",
	  "standard deviation of the Gaussian window" },
	{ 0, "threshold", "N", OPT_NUMBER, AT(windows.threshold), "3.5", 0, 1e6, NULL,
	  "frequencies pass that exceed so many standard deviations of the noise" },
	{ 0, "noise", "RAD", OPT_NUMBER, AT(windows.noise_rad), NULL, 0, 1e6, "rad",
	  "of the phase; found in each window if not given" },
	{ 0, "band", "X0,X1,Y0,Y1", OPT_NUMBERS, AT(windows.band), NULL, -M_PI, M_PI, "rad/px",
	  "frequencies along x and y that may pass; all if not given" },
	{ 0, "step", "RAD", OPT_NUMBER, AT(windows.step), NULL, WINDOWS_STEP_LEAST, M_PI,
	  "rad/px", "between frequencies, at most; 1/sigma if not given" },
	{ 0, "channel", "NAME", OPT_TEXT, AT(channel), NULL, 0, 0, NULL,
	  "the wrapped phase; all phases if not given" },
	{ 0, "turn", "V", OPT_NUMBER, AT(turn), NULL, FLT_MIN, FLT_MAX, NULL,
	  "what a whole turn is in its samples; 2 pi if not given" },
	{ 0 },
};

/* ---- frames ---- */

static int
take_frame(struct run *run, struct frame *in)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	struct frame *out = NULL;
	int status = frame_new(run_output(run), &out);

	for (size_t k = 0; k < priv->phases && status == 0; k++)
		status = phase_map_filter(run, &priv->windows, &(struct phase_map){ in, out,
		    priv->phase[k], k, parameters->turn });
	if (status == 0)
		run_pass_rows(run, in, out, 0, in->head.h);
	frame_free(in);
	return run_emit_if(run, status, out);
}

static int
passes(struct run *run, struct passes *passes)
{
	return windows_passes(&((struct priv *)run->priv)->windows, passes);
}

static const struct body body = { .frame = take_frame, .passes = passes };

static int
init(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	const struct numbers *band = &parameters->windows.band;

	run->body = &body;
	for (size_t i = 0; i < band->n; i += 2)
		if (band->v[i] > band->v[i + 1])
			return fail_usage("--band", "%g to %g is no range: the lower end comes "
			    "first", band->v[i], band->v[i + 1]);
	return 0;
}

/* ---- planning ---- */

static void
append(char **list, size_t *room, const char *base, const char *number)
{
	int n = snprintf(*list, *room, "%s%s ", base, number);

	*list += n;
	*room -= (size_t)n;
}

/* Finds the phases. Lists their names in the output, and the channels that these replace: standard
 * deviations of the input are not those of the filtered phase. */
static int
find_phases(struct run *run, const struct frame_head *in, char *before, char *replaced, size_t room)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	size_t room_before = room, wanted = NO_CHANNEL;
	char partner[2 * CHANNEL_NAME_SIZE], hint[300];

	if (parameters->channel && run_channel(run, in, parameters->channel, &wanted) < 0)
		return -1;
	if (parameters->channel && channel_is_no_phase(parameters->channel))
		return fail("--channel", "%s is no wrapped phase", parameters->channel);
	if (parameters->channel && !channel_number(parameters->channel, "phase") &&
	    head_channel(in, "phase") != NO_CHANNEL)
		return fail("--channel", "%s would become phase, and the input has one",
		    parameters->channel);
	priv->phases = 0;
	for (size_t c = 0; c < in->c; c++) {
		const char *phase = channel_number(in->channel[c], "phase");
		const char *cosine = channel_number(in->channel[c], "cos"), *number;
		size_t sine = NO_CHANNEL;

		if (cosine) {
			snprintf(partner, sizeof(partner), "sin%s", cosine);
			sine = head_channel(in, partner);
		}
		if (parameters->channel ? c != wanted : !phase && sine == NO_CHANNEL)
			continue;
		priv->phase[priv->phases++] = (struct phase_channels){ c, sine };
		number = phase ? phase : sine != NO_CHANNEL ? cosine : "";
		append(&before, &room_before, "phase", number);
		append(&replaced, &room, in->channel[c], "");
		append(&replaced, &room, "sigma", number);
		if (sine != NO_CHANNEL)
			append(&replaced, &room, in->channel[sine], "");
	}
	if (priv->phases)
		return 0;
	return fail(NULL, "input has no phase to filter (--channel names one), only: %s",
	    head_channels_hint(in, hint));
}

static int
plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	size_t room = 3 * in->c * (CHANNEL_NAME_SIZE + 1) + 8;
	char *before = must_alloc(2, room), *replaced = before + room;
	int status;

	free(priv->phase);
	priv->phase = must_alloc(in->c, sizeof(*priv->phase));
	status = find_phases(run, in, before, replaced, room);
	if (status == 0)
		status = run_pass_others(run, out, before, replaced, "");
	free(before);
	if (status < 0)
		return -1;
	windows_free(&priv->windows);
	windows_new(&parameters->windows, &priv->windows);
	return 0;
}

static void
release(struct run *run)
{
	struct priv *priv = run->priv;

	windows_free(&priv->windows);
	free(priv->phase);
}

const struct stage stage_wff = {
	.name = "wff",
	.summary = "windowed Fourier filter of wrapped phases",
	.hint = "--threshold, --band",
	.options = options,
	STAGE_MEMORY(priv),
	.traits = STAGE_UNITS,
	.example = { "wff", "phases", "smooth" },
	.init = init,
	.plan = plan,
	.release = release,
};
