/* Planes, spheres, cylinders and distances through measured points. */
#include "run/stage.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/px.h"
#include "base/text.h"
#include "image/pixel_option.h"
#include "measure.h"
#include "options.h"
#include "report.h"

struct priv {
	enum mode mode;
	struct text text;	/* of --json */
	size_t frames;
	bool warned;		/* of --pixel beside the frame's own */
};

/* ---- the frame with its deviations ---- */

static void
put_deviations(const struct measurement *found, struct frame *out)
{
	size_t c = out->head.c - 1, w = out->head.w;

	for (size_t k = 0; k < found->parts; k++) {
		const struct part *part = &found->part[k];

		for (size_t i = 0; i < part->cloud.n; i++)
			frame_floats(out, c, part->cloud.pixel[i] / w)[part->cloud.pixel[i] % w] =
			    (float)part->fit.distance[i];
	}
}

static int
make_output(const struct frame *in, const struct measurement *found, struct frame **out)
{
	if (frame_add_channel(in, "deviation", out) < 0 ||
	    meta_set(&(*out)->head.meta, "fit_shape", fitshape_modes[found->mode]) < 0)
		return -1;
	put_deviations(found, *out);
	return 0;
}

/* ---- frames ---- */

static int
print(struct run *run, const struct measurement *found)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;

	if (!parameters->json) {
		report_text(stdout, found, priv->frames);
		return ferror(stdout) ? fail_errno("standard output", "cannot write") : 0;
	}
	if (!priv->text.file && !text_open(&priv->text))
		return -1;
	fputs(priv->frames ? ",\n" : "{\"results\": [\n", priv->text.file);
	report_json(priv->text.file, found, priv->frames);
	return 0;
}

static int
take_frame(struct run *run, struct frame *in)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	struct measurement found = { 0 };
	struct frame *out = NULL;
	char name[32];
	int status;

	if (!priv->warned)
		priv->warned = pixel_option_differs(&parameters->pixel, &in->head);
	status = measure(run, parameters, priv->mode, in, &found);
	if (status < 0 && priv->frames) {
		snprintf(name, sizeof(name), "frame %zu", priv->frames);
		fail_prefix(name);
	}
	if (status == 0 && run->output)
		status = make_output(in, &found, &out);
	if (status == 0)
		status = print(run, &found);
	priv->frames++;
	measurement_free(&found);
	frame_free(in);
	if (status == 0 && out)
		return run_emit(run, out);
	frame_free(out);
	return status;
}

/* Prints what --json has so far, as a whole object. */
static int
print_json(struct priv *priv)
{
	char *text;

	fputs("\n]}\n", priv->text.file);
	text = text_close(&priv->text, NULL);
	if (!text)
		return -1;
	fputs(text, stdout);
	free(text);
	return 0;
}

static int
end(struct run *run)
{
	struct priv *priv = run->priv;

	if (priv->text.file && print_json(priv) < 0)
		return -1;
	return fflush(stdout) != 0 || ferror(stdout) ?
	    fail_errno("standard output", "cannot write") : 0;
}

/* ---- beginning and end ---- */

static const struct body body = { .frame = take_frame, .end = end,
	.no_passes = "a fit takes all points of a frame together" };

static int
find_mode(struct run *run)
{
	struct priv *priv = run->priv;

	for (size_t i = 0; i < MODES; i++)
		if (run->operands && !strcmp(run->operand[0], fitshape_modes[i])) {
			priv->mode = (enum mode)i;
			run->operand++;
			run->operands--;
			return 0;
		}
	return fail_usage(run->operands ? run->operand[0] : NULL, "fitshape wants plane, sphere, "
	    "cylinder, spheres or length as its first word");
}

static int
init(struct run *run)
{
	struct priv *priv = run->priv;

	run->body = &body;
	run->sink = !run->output;
	if (find_mode(run) < 0 || options_check(run->parameters, priv->mode) < 0)
		return -1;
	if (run->output && !strcmp(run->output, "-"))
		return fail_usage("--output", "standard output has the report: name a file for "
		    "the frame");
	return 0;
}

static void
release(struct run *run)
{
	struct priv *priv = run->priv;

	/* a later frame has failed: those before it are measured, as text would have them */
	if (priv->text.file)
		print_json(priv);
	text_drop(&priv->text);
}

STAGE(fitshape) = {
	.name = "fitshape",
	.summary = "planes, spheres, cylinders and distances through measured points",
	.operands = "plane|sphere|cylinder|spheres|length [FILE ...]",
	.options = fitshape_options,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct priv),
	.traits = STAGE_TABLES | STAGE_UNITS | STAGE_WORD | STAGE_TEXT,
	.agree = AGREE_EXACT,
	.init = init,
	.release = release,
};
