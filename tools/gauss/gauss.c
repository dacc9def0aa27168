/*
 * Gaussian filter of wrapped phases, or of other channels: options, what is filtered, and the
 * passes of the device. gauss_rows.c has the loops of the processor, gauss.px.h the formulas.
 */
#include "gauss.h"

#include <math.h>
#include <stdio.h>

#include "run/passes.h"
#include "run/stage.h"
#include "gauss.px.h"

BODY_ROWS(gauss, filter)

/* ---- names and kernel ---- */

/* Does a list of channels with commas name this one? */
static bool
gauss_is_listed(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = list; at; at = strchr(at, ','), at += at ? 1 : 0)
		if (!strncmp(at, name, n) && (at[n] == ',' || at[n] == '\0'))
			return true;
	return false;
}

float
gauss_kernel_sum(const struct gauss *gauss, size_t radius)
{
	float sum = 0;

	for (size_t k = radius; k > 0; k--)
		sum += 2 * gauss->kernel[GAUSS_EDGE + k];
	return sum + 1;
}

/* ---- the device: for each channel or vector its parts, sums over columns, sums over rows ---- */

#define AT_ONCE 4			/* what is filtered at the same time */

_Static_assert(GAUSS_REACH == GAUSS_RADIUS_MOST + 1, "the same in the shaders");
_Static_assert(GAUSS_RADIUS_MOST <= 52, "the margin of gauss_rows.comp");
_Static_assert(GAUSS_PHASE == KIND_PHASE && GAUSS_VECTOR == KIND_VECTOR &&
    GAUSS_PLAIN == KIND_PLAIN, "the same in the shaders");

/* Words of bits for a column of the window. */
static uint
words_of(const struct gauss *gauss)
{
	return (uint)((2 * gauss->radius + 1 + 31) / 32);
}

/* Scratch planes for each thing that is filtered. */
static uint
scratch_of(const struct gauss *gauss)
{
	return GAUSS_HOLES + words_of(gauss);
}

static void
pack(const struct gauss *gauss, const struct gauss_job *job, struct gauss_block *block)
{
	size_t size = 2 * gauss->radius + 1;

	*block = (struct gauss_block){
		.kind = job->kind, .vectors = gauss->vectors || job->kind == KIND_PLAIN,
		.from = { (uint)job->in[0], (uint)job->in[1] },
		.to = { (uint)job->out[0], (uint)job->out[1] },
		.radius = (uint)gauss->radius, .words = words_of(gauss),
		.few = (uint)GAUSS_FEW(size), .sharing = gauss->sharing,
	};
	for (size_t k = 0; k <= gauss->radius; k++) {
		block->kernel[k] = gauss->kernel[GAUSS_EDGE + k];
		block->weight[k] = gauss_kernel_sum(gauss, k);
	}
}

/* The sigma of job j, whose parts have been made. */
static void
add_sigma(const struct gauss *gauss, size_t j, struct passes *passes, struct gauss_block *block)
{
	struct pass pass = { .shader = SHADER(gauss_sigma), .block = block,
		.bytes = sizeof(*block), PASS_PIXELS, .beside = true };

	for (size_t i = 0; i < gauss->sigmas; i++) {
		if (gauss->sigma[i].job != j)
			continue;
		block->sigma_from = (uint)gauss->sigma[i].in;
		block->sigma_to = (uint)gauss->sigma[i].out;
		passes_read(passes, block->sigma_from);
		passes_add(passes, &pass);
	}
}

/* The same step of several jobs from `first` on, which are filtered together. */
static void
add_step(const struct gauss *gauss, size_t first, size_t jobs, const struct shader *shader,
    size_t beyond, struct passes *passes)
{
	struct gauss_block block;
	struct pass pass = { .shader = shader, .block = &block, .bytes = sizeof(block),
		PASS_FOURS, .beyond = beyond };

	for (size_t k = 0; k < jobs; k++) {
		pack(gauss, &gauss->job[first + k], &block);
		block.scratch = (uint)k * scratch_of(gauss);
		passes_read(passes, block.from[0]);
		passes_read(passes, block.from[1]);
		pass.beside = k > 0;
		passes_add(passes, &pass);
		if (shader == SHADER(gauss_rows))
			add_sigma(gauss, first + k, passes, &block);
	}
}

/* struct body's `passes`. */
static int
gauss_passes(struct run *run, struct passes *passes)
{
	const struct gauss *gauss = run->priv;
	size_t at_once = gauss->jobs < AT_ONCE ? gauss->jobs : AT_ONCE;

	passes_scratch(passes, at_once * scratch_of(gauss));
	for (size_t j = 0; j < gauss->jobs; j += at_once) {
		size_t jobs = gauss->jobs - j < at_once ? gauss->jobs - j : at_once;

		add_step(gauss, j, jobs, SHADER(gauss_parts), gauss->radius, passes);
		add_step(gauss, j, jobs, SHADER(gauss_columns), 0, passes);
		add_step(gauss, j, jobs, SHADER(gauss_rows), 0, passes);
	}
	return 0;
}

/* The channel that is filtered and whose standard deviation sigma with this number is. */
static size_t
channel_of(const struct frame_head *in, const char *number, const char *list)
{
	static const char *const linear[] = { "absphase", "depth", "z" };
	char name[CHANNEL_NAME_SIZE];
	size_t c;

	snprintf(name, sizeof(name), "phase%.12s", number);
	c = head_channel(in, name);
	if (c == NO_CHANNEL) {
		snprintf(name, sizeof(name), "cos%.12s", number);
		c = head_channel(in, name);
	}
	if (c != NO_CHANNEL)
		return !list || gauss_is_listed(list, name) ? c : NO_CHANNEL;
	snprintf(name, sizeof(name), "absphase%.12s", number);
	if (list && gauss_is_listed(list, name))
		return head_channel(in, name);
	for (size_t i = 0; i < 3 && list && !*number; i++)
		if (gauss_is_listed(list, linear[i]) && head_channel(in, linear[i]) != NO_CHANNEL)
			return head_channel(in, linear[i]);
	return NO_CHANNEL;
}

/* Is input channel c the sigma of something that is filtered? Then it gets the output's next
 * channel. -1 after fail() where it is filtered itself, or already was. */
static int
gauss_sigma_plan(struct gauss *gauss, const struct frame_head *in, size_t c, const char *list,
    struct frame_head *out, bool *carried)
{
	const char *name = in->channel[c], *number = channel_number(name, "sigma");
	size_t of = number ? channel_of(in, number, list) : NO_CHANNEL;

	*carried = of != NO_CHANNEL;
	if (number && list && gauss_is_listed(list, name))
		return fail("--on", "%s goes with what it is the standard deviation of, and is not "
		    "filtered by itself", name);
	if (!*carried)
		return 0;
	memcpy(out->channel[out->c], name, CHANNEL_NAME_SIZE);
	gauss->sigma[gauss->sigmas++] = (struct gauss_sigma){ .of = of, .in = c, .out = out->c++ };
	return 0;
}

/*
 * After all channels: finds the job of each. Errors that neighbours share come as if from behind a
 * Gaussian window (key sigma_window_px), which this one of standard deviation sigma widens; the sum
 * of w_i w_j rho_ij over that of w_i^2, along one axis, is how many times larger sigma is.
 */
static int
gauss_sigma_join(struct gauss *gauss, double sigma, struct meta *out)
{
	const float *kernel = gauss->kernel + GAUSS_EDGE - gauss->radius;
	double window_px, correlation, squares = 0, products = 0;
	size_t n = 0, size = 2 * gauss->radius + 1;

	for (size_t i = 0; i < gauss->sigmas; i++)
		for (size_t j = 0; j < gauss->jobs; j++)
			if (gauss->job[j].in[0] == gauss->sigma[i].of) {
				gauss->sigma[n] = gauss->sigma[i];
				gauss->sigma[n++].job = j;
				break;
			}
	gauss->sigmas = n;
	if (meta_number(out, "sigma_window_px", 0, &window_px) < 0)
		return -1;
	correlation = window_px > 0 ? exp(-1 / (4 * window_px * window_px)) : 0;
	for (size_t i = 0; i < size; i++)
		for (size_t j = 0; j < size; j++) {
			double product = (double)kernel[i] * (double)kernel[j];

			squares += i == j ? product : 0;
			products += product * pow(correlation, pow((double)i - (double)j, 2));
		}
	gauss->sharing = (float)(products / squares);
	if (n)
		meta_set_number(out, "sigma_window_px", hypot(fmax(window_px, 0), sigma));
	return 0;
}

/* ---- options ---- */

struct parameters {
	long size;
	double sigma;
	int as;
	const char *on;
};

static const char *const kinds[] = { "phase", "vector", NULL };

static const struct opt options[] = {
	{ 'n', "size", "N", OPT_INTEGER, AT(size), "11", 1, GAUSS_SIZE_MOST, "px",
	  "width and height of the window, odd", NULL },
	{ 's', "sigma", "PX", OPT_NUMBER, AT(sigma), NULL, 1e-3, 1e3, "px",
	  "standard deviation; a sixth of the size if not given", NULL },
	{ 'a', "as", "WORD", OPT_WORD, AT(as), "phase", 0, 0, NULL,
	  "what comes out for a phase: the phase, or its cos and sin", kinds },
	{ 0, "on", "CHANNEL,...", OPT_TEXT, AT(on), NULL, 0, 0, NULL,
	  "filter these channels; all phases if not given", NULL },
	{ 0 },
};

static const struct body body = { .rows = gauss_filter, .passes = gauss_passes };

static int
init(struct run *run)
{
	const struct parameters *parameters = run->parameters;

	run->body = &body;
	if (parameters->size % 2 == 0)
		return fail_usage("--size", "must be odd, not %ld", parameters->size);
	return 0;
}

/* ---- planning ---- */

/* Every name in the list is a channel. */
static int
check_list(const struct run *run, const struct frame_head *in, const char *list)
{
	char name[CHANNEL_NAME_SIZE];
	size_t c;

	while (list) {
		size_t n = strcspn(list, ",");

		snprintf(
		    name, sizeof(name), "%.*s", (int)(n < sizeof(name) ? n : sizeof(name)), list);
		if (run_channel(run, in, name, &c) < 0)
			return -1;
		list = list[n] ? list + n + 1 : NULL;
	}
	return 0;
}

static void
name_output(struct frame_head *out, const char *base, const char *number, size_t *c)
{
	snprintf(out->channel[out->c], CHANNEL_NAME_SIZE, "%s%.12s", base, number);
	*c = out->c++;
}

static void
plan_vector(struct gauss *gauss, struct gauss_job *job, struct frame_head *out,
    const char *number)
{
	if (gauss->vectors) {
		name_output(out, "cos", number, &job->out[0]);
		name_output(out, "sin", number, &job->out[1]);
	} else {
		name_output(out, "phase", number, &job->out[0]);
	}
}

/* What becomes of input channel c. A cos takes its sin with it, wherever that is. */
static void
plan_channel(struct run *run, const struct frame_head *in, size_t c, const char *list,
    struct frame_head *out)
{
	struct gauss *gauss = run->priv;
	const char *name = in->channel[c], *number;
	char partner[CHANNEL_NAME_SIZE];
	struct gauss_job *job = &gauss->job[gauss->jobs];
	bool wanted = !list || gauss_is_listed(list, name);

	job->in[0] = job->in[1] = c;
	if ((number = channel_number(name, "phase")) && wanted) {
		job->kind = KIND_PHASE;
		plan_vector(gauss, job, out, number);
		gauss->jobs++;
		return;
	}
	if ((number = channel_number(name, "cos")) && wanted) {
		snprintf(partner, sizeof(partner), "sin%.12s", number);
		job->in[1] = head_channel(in, partner);
		job->kind = KIND_VECTOR;
		if (job->in[1] != NO_CHANNEL) {
			plan_vector(gauss, job, out, number);
			gauss->jobs++;
			return;
		}
		job->in[1] = c;
	}
	if ((number = channel_number(name, "sin"))) {
		snprintf(partner, sizeof(partner), "cos%.12s", number);
		if (head_channel(in, partner) != NO_CHANNEL &&
		    (!list || gauss_is_listed(list, partner)))
			return;
	}
	memcpy(out->channel[out->c], name, CHANNEL_NAME_SIZE);
	if (list && wanted) {
		job->kind = KIND_PLAIN;
		job->out[0] = out->c++;
		gauss->jobs++;
		return;
	}
	run_pass(run, out->c++, c);
}

static int
plan_channels(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	const struct parameters *parameters = run->parameters;
	struct gauss *gauss = run->priv;
	char names[300];
	bool carried;

	free_all(gauss->job, out->channel, gauss->sigma);
	gauss->jobs = gauss->sigmas = out->c = 0;
	gauss->sigma = must_alloc(in->c, sizeof(*gauss->sigma));
	gauss->job = must_alloc(in->c, sizeof(*gauss->job));
	out->channel = must_alloc(2 * in->c, sizeof(*out->channel));
	for (size_t c = 0; c < in->c; c++) {
		if (gauss_sigma_plan(gauss, in, c, parameters->on, out, &carried) < 0)
			return -1;
		if (!carried)
			plan_channel(run, in, c, parameters->on, out);
	}
	if (gauss->jobs)
		return 0;
	return fail(NULL, "input has no phase to filter, only: %s", head_channels_hint(in, names));
}

static int
plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	const struct parameters *parameters = run->parameters;
	struct gauss *gauss = run->priv;
	double sigma = isnan(parameters->sigma) ? (double)parameters->size / 6 : parameters->sigma;

	gauss->radius = (size_t)parameters->size / 2;
	gauss->vectors = parameters->as == KIND_VECTOR;
	run->halo = gauss->radius;
	for (size_t k = 0; k <= gauss->radius; k++) {
		float weight = (float)exp(-0.5 * (double)(k * k) / (sigma * sigma));

		gauss->kernel[GAUSS_EDGE - k] = gauss->kernel[GAUSS_EDGE + k] = weight;
	}
	if (check_list(run, in, parameters->on) < 0)
		return -1;
	if (plan_channels(run, in, out) < 0 || gauss_sigma_join(gauss, sigma, &out->meta) < 0)
		return -1;
	gauss->sigma_offset = (gauss_rows()->plan_tiles(gauss, in->w) + 63) / 64 * 64;
	run->scratch_bytes = gauss->sigma_offset + gauss_rows()->sigma_bytes(gauss, in->w);
	return 0;
}

static void
end(struct run *run)
{
	struct gauss *gauss = run->priv;

	free_all(gauss->job, gauss->sigma);
}

const struct stage stage_gauss = {
	.name = "gauss",
	.summary = "smooth wrapped phases, or other channels, with a Gaussian",
	.options = options,
	STAGE_MEMORY(gauss),
	.traits = STAGE_CONCURRENT,
	.example = { "gauss", "phases", "filtered" },
	.init = init,
	.plan = plan,
	.release = end,
};
