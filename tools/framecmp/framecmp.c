/* Compares frames with tolerances. */
#define _GNU_SOURCE
#include "base/escape.h"
#include "base/text.h"
#include "image/arrange.h"
#include "image/quantity.h"
#include "compare.h"
#include "options.h"
#include "pair.h"
#include "to_mesh.h"
#include "io/safe_file.h"
#include "run/stage.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- comparing ---- */

/* Pixels that are numbers in both are fewer than such a share of those that are numbers in the
 * frame that has fewer of them, or in the other one. What was measured of an object lies nearly as
 * a whole within the truth about it, at most the rim of a line or of a marker outside; a line of
 * one pixel in each row is more than a ten thousandth of the frame. */
#define FEW_OF_LESS 0.05
#define FEW_OF_MORE 1e-4

/* Does a limit that is kept say anything? Returns whether it warned. */
static bool
warn_few(size_t frame, const char *name, const struct comparison *of)
{
	double n = (double)of->n, a = n + (double)of->only_b, b = n + (double)of->only_a;

	if (of->n == 0)
		warn(NULL, "frame %zu: no pixel of %s is a number in both, so that no limit says "
		    "anything", frame, name);
	else if (n < FEW_OF_LESS * fmin(a, b) || n < FEW_OF_MORE * fmax(a, b))
		warn(NULL, "frame %zu: only %zu pixels of %s are numbers in both, of %.0f in A "
		    "and %.0f in B: the limits say little", frame, of->n, name, a, b);
	else
		return false;
	return true;
}

static int
compare_pair(struct run *run, size_t ca, size_t cb)
{
	const struct parameters *parameters = run->parameters;
	struct pair *priv = run->priv;
	struct compare_how how = { (size_t)parameters->margin, parameters->turns };
	const char *name = priv->frame_a->head.channel[ca];
	struct comparison of;
	struct text line;
	char *text;
	bool same;

	if (how.turns && quantity_is_length(name) && !priv->turns_warned) {
		warn("--turns", "is for phases, and channel %s is a length: whole 6.28 of it count "
		    "as nothing", name);
		priv->turns_warned = true;
	}
	if (compare_channels(priv->frame_a, ca, priv->frame_b, cb, &how, &of) < 0)
		return -1;
	if (!text_open(&line)) {
		comparison_free(&of);
		return -1;
	}
	fprintf(line.file, "frame %zu ", priv->frames);
	escape_put_text(line.file, name);
	same = compare_judge(&of, &parameters->limits, line.file);
	if (same && compare_limited(&parameters->limits) && !priv->warned &&
	    !head_is_table(&priv->frame_a->head))
		priv->warned = warn_few(priv->frames, name, &of);
	text = text_close(&line, NULL);
	if (!text) {
		comparison_free(&of);
		return -1;
	}
	if (!same)
		pair_differ(run, "%s", text);
	else if (run->verbose)
		fprintf(priv->out, "%s\n", text);
	if (parameters->table)
		compare_table_row(priv->out, priv->frames, name, &of);
	free(text);
	comparison_free(&of);
	return 0;
}

/* "a" or "a:b" of --channels. */
static int
compare_named(struct run *run, char *word)
{
	const struct pair *priv = run->priv;
	char *colon = strchr(word, ':');
	size_t ca, cb;

	if (colon)
		*colon = '\0';
	if (arrange_find(&priv->frame_a->head, word, &ca) < 0 ||
	    arrange_find(&priv->frame_b->head, colon ? colon + 1 : word, &cb) < 0)
		return -1;
	return compare_pair(run, ca, cb);
}

static int
compare_chosen(struct run *run, const char *list)
{
	char *copy = strdup(list), *rest = copy, *word;
	int status = 0;

	if (!copy)
		return fail_memory();
	while (status == 0 && (word = strsep(&rest, ",")))
		status = compare_named(run, word);
	free(copy);
	return status;
}

static int
compare_all(struct run *run)
{
	const struct pair *priv = run->priv;
	const struct frame_head *a = &priv->frame_a->head, *b = &priv->frame_b->head;

	if (a->c != b->c)
		return pair_differ(run, "frame %zu: A has %zu channels, B has %zu", priv->frames,
		    a->c, b->c);
	for (size_t c = 0; c < a->c; c++)
		if (strcmp(a->channel[c], b->channel[c]))
			return pair_differ(run, "frame %zu: channel %zu is named %s in A, %s in B",
			    priv->frames, c, a->channel[c], b->channel[c]);
	for (size_t c = 0; c < a->c; c++)
		if (compare_pair(run, c, c) < 0)
			return -1;
	return 0;
}

/* Numbers of different units, once in a run. */
static void
warn_units(struct pair *pair, const struct frame_head *a, const struct frame_head *b)
{
	const char *unit = meta_get(&a->meta, "length_unit"), *other;

	other = meta_get(&b->meta, "length_unit");
	if (!unit || !other || !strcmp(unit, other) || pair->units_warned)
		return;
	pair->units_warned = true;
	warn("length_unit", "A has %.40s, B %.40s: numbers are compared as they are", unit, other);
}

static int
compare_frames(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	struct pair *priv = run->priv;
	const struct frame_head *a = &priv->frame_a->head, *b = &priv->frame_b->head;
	size_t border = 2 * (size_t)parameters->margin;
	char text[512];
	int differs;

	if (parameters->meta && compare_metadata(a, b, text, sizeof(text)))
		pair_differ(run, "frame %zu: %s", priv->frames, text);
	differs = compare_sizes(a, b, text, sizeof(text));
	if (differs)
		return differs < 0 ? -1 : pair_differ(run, "frame %zu: %s", priv->frames, text);
	if (a->type != b->type)
		return pair_differ(run, "frame %zu: A has samples of type %s, B %s", priv->frames,
		    sample_name(a->type), sample_name(b->type));
	warn_units(priv, a, b);
	if (border >= a->w || border >= a->h)
		return fail("--margin", "%ld leaves nothing of %zu x %zu", parameters->margin, a->w,
		    a->h);
	return parameters->channels ? compare_chosen(run, parameters->channels) : compare_all(run);
}

static int
compare(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	struct pair *priv = run->priv;
	int more;

	priv->out = safe_file_open(run->output, &priv->temporary);
	if (!priv->out)
		return -1;
	if (parameters->to.mesh)
		return to_mesh_compare(run, &parameters->to, &parameters->limits,
		    parameters->table, priv->out);
	priv->a = source_open(run->operand[0]);
	priv->b = priv->a ? source_open(run->operand[1]) : NULL;
	if (!priv->b)
		return -1;
	if (parameters->table)
		compare_table_head(priv->out);
	while ((more = pair_next(run)) > 0) {
		run_begin_input(run);
		if (more == PAIR_LOST || compare_frames(run) < 0) {
			if (run_lose_input(run) < 0)
				return -1;
			priv->lost++;
		}
		priv->frames++;
	}
	return more;
}

static int
start(struct run *run)
{
	struct pair *priv = run->priv;
	int status = compare(run);

	if (priv->out &&
	    safe_file_close(priv->out, run->output, priv->temporary, status == 0) < 0)
		status = -1;
	if (status == 0 && priv->lost)
		status = fail(NULL, "%zu of %zu frames %s lost", priv->lost, priv->frames,
		    priv->lost == 1 ? "was" : "were");
	return status;
}

static const struct body body = { .start = start };

static int
init(struct run *run)
{
	run->body = &body;
	return options_check(run, run->parameters);
}

static void
end(struct run *run)
{
	struct pair *priv = run->priv;

	frame_free(priv->frame_a);
	frame_free(priv->frame_b);
	source_close(priv->a);
	source_close(priv->b);
}

STAGE(framecmp) = {
	.name = "framecmp",
	.summary = "compare frames with tolerances; exit status 0 same, 1 different, 2 trouble",
	.operands = "A B | --to MESH A",
	.options = framecmp_options,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct pair),
	.traits = STAGE_SOURCE | STAGE_SINK | STAGE_OPERANDS | STAGE_ANY_TYPE |
	    STAGE_TABLES | STAGE_ANSWERS,
	.agree = AGREE_EXACT,
	.init = init,
	.release = end,
};
