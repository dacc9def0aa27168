/* Says what captured images are, and which command decodes them. */
#include "run/stage.h"

#include <unistd.h>

#include "io/safe_file.h"
#include "probe.h"

struct parameters {
	bool json;
	const char *manifest;
};

struct priv {
	struct probe probe;
	FILE *out;
	struct safe_file *temporary;
};

#define AT(field) offsetof(struct parameters, field)

static const struct opt options[] = {
	{ 0, "json", NULL, OPT_FLAG, AT(json), NULL, 0, 0, NULL, "print JSON", NULL },
	{ 'm', "manifest", "FILE", OPT_FILE, AT(manifest), NULL, 0, 0, NULL,
	  "a table that says what the images are", NULL },
	{ 0 },
};

static int
close_output(struct run *run, bool keep)
{
	struct priv *priv = run->priv;
	FILE *out = priv->out;

	priv->out = NULL;
	return out ? safe_file_close(out, run->output, priv->temporary, keep) : 0;
}

/* On a terminal the report itself is seen. */
static void
warn_problems(const struct run *run, const struct probe *probe)
{
	if (!run->output && isatty(STDOUT_FILENO))
		return;
	for (size_t i = 0; i < probe->images.skips; i++)
		if (probe->images.skip[i].unreadable)
			warn(probe->images.skip[i].path, "is left out: %s",
			    probe->images.skip[i].reason);
	for (size_t i = 0; i < probe->problems; i++)
		warn(NULL, "%s", probe->problem[i]);
}

static int
start(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;

	if (probe_find(run, parameters->manifest, &priv->probe) < 0)
		return -1;
	priv->out = safe_file_open(run->output, &priv->temporary);
	if (!priv->out)
		return -1;
	(parameters->json ? report_json : report_text)(&priv->probe, priv->out);
	warn_problems(run, &priv->probe);
	return close_output(run, true);
}

static const struct body body = { .start = start };

static int
init(struct run *run)
{
	run->body = &body;
	return 0;
}

/* After a failure: a file that is not complete does not appear. */
static void
end(struct run *run)
{
	struct priv *priv = run->priv;

	close_output(run, false);
	probe_free(&priv->probe);
}

STAGE(fringeprobe) = {
	.name = "fringeprobe",
	.summary = "say what captured images are, and which command decodes them",
	.operands = "[FILE ...]",
	.options = options,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct priv),
	.traits = STAGE_SOURCE | STAGE_SINK | STAGE_OPERANDS | STAGE_ANY_TYPE | STAGE_ALONE,
	.agree = AGREE_EXACT,
	.init = init,
	.release = end,
};
