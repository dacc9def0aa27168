/* Prints what frames are, and what is in them: in full for readers, or one line for scripts. */
#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "image/statistics.h"
#include "io/safe_file.h"
#include "run/stage.h"

struct parameters {
	bool brief, stats;
	const char *key;
};

struct priv {
	size_t frames;			/* that came, or are lost */
	FILE *out;			/* standard output, or the file of -o */
	struct safe_file *temporary;
};

static const struct opt options[] = {
	FLAG_ROW('s', "short", brief, "one line per frame"),
	FLAG_ROW(0, "stats", stats, "only the lines about channels"),
	{ 'k', "key", "NAME", OPT_TEXT, AT(key), NULL, 0, 0, NULL,
	  "only the value of a key, one line per frame; also width height channels type", NULL },
	{ 0 },
};

/* take_frame() has escaped the names. */
static void
print_channels(const struct frame_head *head, FILE *out)
{
	for (size_t c = 0; c < head->c; c++)
		fprintf(out, "%s%s", c ? " " : "", head->channel[c]);
}

/* --key: the value alone. */
static int
print_key(const struct frame_head *head, const char *key, size_t number, FILE *out)
{
	const char *value = meta_get(&head->meta, key);

	if (value)
		escape_put_text(out, value);
	else if (!strcmp(key, "width"))
		fprintf(out, "%zu", head->w);
	else if (!strcmp(key, "height"))
		fprintf(out, "%zu", head->h);
	else if (!strcmp(key, "type"))
		fputs(sample_name(head->type), out);
	else if (!strcmp(key, "channels"))
		print_channels(head, out);
	else
		return fail(key, "there is no such key in frame %zu", number);
	fputc('\n', out);
	return 0;
}

/* --short: "0 640x480x3 uchar r g b", or "0 500x4 float x y z sigma" for a table. */
static int
print_short(const struct frame_head *head, size_t number, FILE *out)
{
	size_t points;

	if (!head_is_table(head))
		fprintf(out, "%zu %zux%zux%zu %s ", number, head->w, head->h, head->c,
		    sample_name(head->type));
	else if (head_points(head, &points) == 0)
		fprintf(out, "%zu %zux%zu %s ", number, points, head->c, sample_name(head->type));
	else
		return -1;
	print_channels(head, out);
	fputc('\n', out);
	return 0;
}

/* Size, type, spacing and all keys. */
static int
print_head(const struct frame_head *head, size_t number, FILE *out)
{
	size_t points;

	if (!head_is_table(head))
		fprintf(out, "frame %zu: %zu x %zu", number, head->w, head->h);
	else if (head_points(head, &points) == 0)
		fprintf(out, "frame %zu: table of %zu point%s", number, points,
		    points == 1 ? "" : "s");
	else
		return -1;
	fprintf(out, ", %zu channel%s, %s\n", head->c, head->c == 1 ? "" : "s",
	    sample_name(head->type));
	if (!isnan(head->spacing[0]) || !isnan(head->spacing[1]))
		fprintf(out, "  spacing %.9g %.9g%s%s\n", head->spacing[0], head->spacing[1],
		    *head->unit ? " " : "", head->unit);
	for (size_t i = 0; i < head->meta.n; i++) {
		fputs("  ", out);
		escape_put_text(out, head->meta.entry[i].key);
		fputs(":=", out);
		escape_put_text(out, head->meta.entry[i].value);
		fputc('\n', out);
	}
	return 0;
}

/* Statistics of every channel. The one column of a table without points is no sample. */
static int
survey(struct run *run, const struct frame *frame, struct statistics *all)
{
	size_t points = 1;

	if (head_is_table(&frame->head) && head_points(&frame->head, &points) < 0)
		return -1;
	if (points)
		statistics_of(run, frame, all);
	return 0;
}

/* One line per channel. */
static int
print_statistics(struct run *run, const struct frame *frame, FILE *out)
{
	const struct frame_head *head = &frame->head;
	struct statistics *all = must_alloc(head->c, sizeof(*all));
	int status = survey(run, frame, all);

	if (status == 0)
		fprintf(out, "  %-15s %14s %14s %14s %14s %9s %9s\n", "channel", "min", "max",
		    "mean", "sd", "NaN", "inf");
	for (size_t c = 0; c < head->c && status == 0; c++) {
		const struct statistics *of = &all[c];
		double nothing = of->n ? 0.0 : (double)NAN;

		fprintf(out, "  %-15s %14.9g %14.9g %14.9g %14.9g %9zu %9zu\n", head->channel[c],
		    of->n ? of->min : nothing, of->n ? of->max : nothing, of->mean + nothing,
		    of->n ? sqrt(of->squares / (double)of->n) : NAN, of->nan, of->infinite);
	}
	free(all);
	return status;
}

static int
print_frame(struct run *run, const struct frame *frame)
{
	const struct parameters *parameters = run->parameters;
	const struct priv *priv = run->priv;

	if (parameters->key)
		return print_key(&frame->head, parameters->key, priv->frames, priv->out);
	if (parameters->brief)
		return print_short(&frame->head, priv->frames, priv->out);
	if (!parameters->stats && print_head(&frame->head, priv->frames, priv->out) < 0)
		return -1;
	return print_statistics(run, frame, priv->out);
}

/* keep: the file appears; else it does not. */
static int
close_output(struct run *run, bool keep)
{
	struct priv *priv = run->priv;
	FILE *out = priv->out;

	priv->out = NULL;
	return out ? safe_file_close(out, run->output, priv->temporary, keep) : 0;
}

static int
take_frame(struct run *run, struct frame *in)
{
	struct priv *priv = run->priv;
	int status;

	if (!priv->out)
		priv->out = safe_file_open(run->output, &priv->temporary);
	escape_controls(in->head.unit);
	for (size_t c = 0; c < in->head.c; c++)
		escape_controls(in->head.channel[c]);
	status = priv->out ? print_frame(run, in) : -1;
	priv->frames++;
	frame_free(in);
	return status;
}

static int
finish(struct run *run)
{
	return close_output(run, true);
}

/* struct body's `lost`: lost frames are counted, too. */
static int
lose_frame(struct run *run, bool seen, size_t *)
{
	struct priv *priv = run->priv;

	priv->frames += !seen;
	return 0;
}

static const struct body body = { .frame = take_frame, .lost = lose_frame, .end = finish };

static int
init(struct run *run)
{
	const struct parameters *parameters = run->parameters;

	run->body = &body;
	if (parameters->brief + parameters->stats + (parameters->key != NULL) > 1)
		return fail_usage(NULL, "--short, --stats and --key do not go together");
	return 0;
}

/* After a failure, a file that is not complete must not appear. */
static void
end(struct run *run)
{
	close_output(run, false);
}

const struct stage stage_frameinfo = {
	.name = "frameinfo",
	.summary = "say what frames are and what is in them",
	.options = options,
	STAGE_MEMORY(priv),
	.traits = STAGE_SINK | STAGE_ANY_TYPE | STAGE_TABLES,
	.init = init,
	.release = end,
};
