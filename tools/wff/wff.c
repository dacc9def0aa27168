/* Windowed Fourier filtering of wrapped phases. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "phase_map.h"
#include "run/passthrough.h"
#include "fringe/channel_kinds.h"
#include "run/stage.h"

struct parameters {
	struct windows_options windows;
	const char *channel;
	double turn;
};

struct priv {
	struct windows windows;
	struct passthrough passthrough;
	struct frame_head out;
	struct phase_channels *phase;
	size_t phases;
};

#define AT(field) offsetof(struct parameters, field)

static const struct opt options[] = {
	{ 0, "sigma", "PX", OPT_NUMBER, AT(windows.sigma_px), "10", 1, 64, "px",
	  "standard deviation of the Gaussian window", NULL },
	{ 0, "threshold", "N", OPT_NUMBER, AT(windows.threshold), "3.5", 0, 1e6, NULL,
	  "frequencies pass that exceed so many standard deviations of the noise", NULL },
	{ 0, "noise", "RAD", OPT_NUMBER, AT(windows.noise_rad), NULL, 0, 1e6, "rad",
	  "of the phase; found in each window if not given", NULL },
	{ 0, "band", "X0,X1,Y0,Y1", OPT_NUMBERS, AT(windows.band), NULL, -M_PI, M_PI, "rad/px",
	  "frequencies along x and y that may pass; all if not given", NULL },
	{ 0, "step", "RAD", OPT_NUMBER, AT(windows.step), NULL, WINDOWS_STEP_LEAST, M_PI,
	  "rad/px", "between frequencies, at most; 1/sigma if not given", NULL },
	{ 0, "channel", "NAME", OPT_TEXT, AT(channel), NULL, 0, 0, NULL,
	  "the wrapped phase; all phases if not given", NULL },
	{ 0, "turn", "V", OPT_NUMBER, AT(turn), NULL, FLT_MIN, FLT_MAX, NULL,
	  "what a whole turn is in its samples; 2 pi if not given", NULL },
	{ 0 },
};

/* ---- frames ---- */

static int
take_frame(struct run *run, struct frame *in)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	struct frame *out = NULL;
	int status = frame_new(&priv->out, &out);

	for (size_t k = 0; k < priv->phases && status == 0; k++)
		status = phase_map_filter(run, &priv->windows, &(struct phase_map){ in, out,
		    priv->phase[k], k, parameters->turn });
	for (size_t y = 0; y < in->head.h && status == 0; y++)
		passthrough_row(&priv->passthrough, in, out, y);
	frame_free(in);
	if (status == 0)
		return run_emit(run, out);
	frame_free(out);
	return -1;
}

static const struct body body = { .frame = take_frame,
	.no_passes = "windows that overlap are summed across the whole image" };

static int
init(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	const struct numbers *band = &parameters->windows.band;

	run->body = &body;
	if (band->n && band->n != 4)
		return fail_usage("--band", "must be four numbers, not %zu", band->n);
	for (size_t i = 0; i < band->n; i += 2)
		if (band->v[i] > band->v[i + 1])
			return fail_usage("--band", "%g to %g is no range: the lower end comes "
			    "first", band->v[i], band->v[i + 1]);
	return 0;
}

/* ---- planning ---- */

/* The channel's number behind `base`, which may be empty; NULL: it has another name. */
static const char *
number_behind(const char *name, const char *base)
{
	size_t n = strlen(base);

	return strncmp(name, base, n) || name[n + strspn(name + n, "0123456789")] ? NULL : name + n;
}

static void
append(char **list, size_t *room, const char *base, const char *number)
{
	int n = snprintf(*list, *room, "%s%s ", base, number);

	*list += n;
	*room -= (size_t)n;
}

/* Finds the phases; lists what they are called in the output, and what that replaces: a standard
 * deviation is not that of the filtered phase. */
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
	if (parameters->channel && !number_behind(parameters->channel, "phase") &&
	    head_channel(in, "phase") != NO_CHANNEL)
		return fail("--channel", "%s would become phase, and the input has one",
		    parameters->channel);
	priv->phases = 0;
	for (size_t c = 0; c < in->c; c++) {
		const char *phase = number_behind(in->channel[c], "phase");
		const char *cosine = number_behind(in->channel[c], "cos"), *number;
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
	char *before = calloc(2, room), *replaced = before ? before + room : NULL;
	int status = -1;

	free(priv->phase);
	priv->phase = calloc(in->c, sizeof(*priv->phase));
	if (!before || !priv->phase)
		fail_memory();
	else
		status = find_phases(run, in, before, replaced, room);
	if (status == 0)
		status = passthrough_plan(run, &priv->passthrough, out, before, replaced, "");
	free(before);
	if (status < 0)
		return -1;
	windows_free(&priv->windows);
	if (windows_new(&parameters->windows, &priv->windows) < 0)
		return -1;
	head_free(&priv->out);
	return head_copy(&priv->out, out);
}

static void
release(struct run *run)
{
	struct priv *priv = run->priv;

	windows_free(&priv->windows);
	passthrough_free(&priv->passthrough);
	head_free(&priv->out);
	free(priv->phase);
}

STAGE(wff) = {
	.name = "wff",
	.summary = "windowed Fourier filter of wrapped phases",
	.operands = "[FILE ...]",
	.hint = "--threshold, --band",
	.options = options,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct priv),
	.traits = STAGE_UNITS,
	.init = init,
	.plan = plan,
	.release = release,
};
