/* Gaussian filter of wrapped phases, or of other channels. */
#define _GNU_SOURCE
#include "gauss_passes.h"
#include "gauss_rows.h"
#include "gauss_sigma.h"
#include "run/stage.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct parameters {
	long size;
	double sigma;
	int as;
	const char *on;
};

static const char *const kinds[] = { "phase", "vector", NULL };

#define AT(field) offsetof(struct parameters, field)

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

static const struct body body = { .rows = gauss_rows, .passes = gauss_passes };

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

/* NULL: not a name of that base; else the number behind it, which may be empty. */
static const char *
number_behind(const char *name, const char *base)
{
	size_t n = strlen(base);

	if (strncmp(name, base, n) || name[n + strspn(name + n, "0123456789")])
		return NULL;
	return name + n;
}

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
plan_channel(struct gauss *gauss, const struct frame_head *in, size_t c, const char *list,
    struct frame_head *out)
{
	const char *name = in->channel[c], *number;
	char partner[CHANNEL_NAME_SIZE];
	struct gauss_job *job = &gauss->job[gauss->jobs];
	bool wanted = !list || gauss_is_listed(list, name);

	job->in[0] = job->in[1] = c;
	if ((number = number_behind(name, "phase")) && wanted) {
		job->kind = KIND_PHASE;
		plan_vector(gauss, job, out, number);
		gauss->jobs++;
		return;
	}
	if ((number = number_behind(name, "cos")) && wanted) {
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
	if ((number = number_behind(name, "sin"))) {
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
	gauss->pass[gauss->passes][0] = c;
	gauss->pass[gauss->passes++][1] = out->c++;
}

static int
plan_channels(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	const struct parameters *parameters = run->parameters;
	struct gauss *gauss = run->priv;
	char names[300];
	bool carried;

	free(gauss->job);
	free(gauss->pass);
	free(out->channel);
	free(gauss->sigma);
	gauss->jobs = gauss->passes = gauss->sigmas = out->c = 0;
	gauss->sigma = calloc(in->c, sizeof(*gauss->sigma));
	gauss->job = calloc(in->c, sizeof(*gauss->job));
	gauss->pass = calloc(in->c, sizeof(*gauss->pass));
	out->channel = calloc(2 * in->c, sizeof(*out->channel));
	if (!gauss->job || !gauss->pass || !gauss->sigma || !out->channel)
		return fail_memory();
	for (size_t c = 0; c < in->c; c++) {
		if (gauss_sigma_plan(gauss, in, c, parameters->on, out, &carried) < 0)
			return -1;
		if (!carried)
			plan_channel(gauss, in, c, parameters->on, out);
	}
	for (size_t i = 0; i < gauss->passes; i++)
		if (run_pass(run, gauss->pass[i][1], gauss->pass[i][0]) < 0)
			return -1;
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
	if (plan_channels(run, in, out) < 0)
		return -1;
	if (gauss_sigma_join(gauss, sigma, &out->meta) < 0)
		return -1;
	gauss->sigma_offset = (gauss_plan_tiles(gauss, in->w) + 63) / 64 * 64;
	run->scratch_bytes = gauss->sigma_offset + gauss_sigma_bytes(gauss, in->w);
	return 0;
}

static void
end(struct run *run)
{
	struct gauss *gauss = run->priv;

	free(gauss->job);
	free(gauss->pass);
	free(gauss->sigma);
}

STAGE(gauss) = {
	.name = "gauss",
	.summary = "smooth wrapped phases, or other channels, with a Gaussian",
	.operands = "[FILE ...]",
	.options = options,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct gauss),
	.traits = STAGE_CONCURRENT,
	.agree = AGREE_EXACT,
	.example = { "gauss", "phases", "filtered" },
	.init = init,
	.plan = plan,
	.release = end,
};
