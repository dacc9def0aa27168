/* Compares frames with tolerances. */
#define _GNU_SOURCE
#include "arrange.h"
#include "compare.h"
#include "stage.h"
#include "statistics.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAME, DIFFERENT };
enum nan { NAN_AGREE, NAN_IGNORE };

struct parameters {
	double max, rms, relative, ulp;
	struct numbers quantile;
	const char *channels;
	long margin;
	int nan;
	bool turns, meta, table;
};

struct priv {
	struct source *a, *b;
	struct frame *frame_a, *frame_b;	/* the ones being compared */
	FILE *out;
	char *temporary;
	size_t frames;
	bool any_threshold;
};

#define AT(field) offsetof(struct parameters, field)

static const char *const nans[] = { "agree", "ignore", NULL };

static const struct opt options[] = {
	{ 0, "max", "T", OPT_NUMBER, AT(max), NULL, 0, INFINITY, NULL,
	  "allow |a - b| up to T", NULL },
	{ 0, "rms", "T", OPT_NUMBER, AT(rms), NULL, 0, INFINITY, NULL,
	  "allow a root mean square of a - b up to T", NULL },
	{ 0, "relative", "T", OPT_NUMBER, AT(relative), NULL, 0, INFINITY, NULL,
	  "allow |a - b| up to T times the larger of |a| and |b|", NULL },
	{ 0, "ulp", "N", OPT_NUMBER, AT(ulp), NULL, 0, INFINITY, NULL,
	  "allow N steps to the next representable number", NULL },
	{ 0, "quantile", "Q,T", OPT_NUMBERS, AT(quantile), NULL, 0, INFINITY, NULL,
	  "a share Q of all |a - b| must be T or less", NULL },
	{ 't', "turns", NULL, OPT_FLAG, AT(turns), NULL, 0, 0, NULL,
	  "phases: differences of whole turns (2 pi) count as none", NULL },
	{ 'c', "channels", "LIST", OPT_TEXT, AT(channels), NULL, 0, 0, NULL,
	  "only these channels; a:b compares a of A with b of B", NULL },
	{ 0, "nan", "WORD", OPT_WORD, AT(nan), "agree", 0, 0, NULL,
	  "NaN in one alone is a difference, or is left out", nans },
	{ 0, "margin", "N", OPT_INTEGER, AT(margin), "0", 0, 1e9, "px",
	  "leave a border out", NULL },
	{ 0, "meta", NULL, OPT_FLAG, AT(meta), NULL, 0, 0, NULL,
	  "metadata must agree too, cmd.N excepted", NULL },
	{ 0, "table", NULL, OPT_FLAG, AT(table), NULL, 0, 0, NULL,
	  "print a table of all differences", NULL },
	{ 0 },
};

/* ---- telling ---- */

/* Tells, unless -q, why A and B are not the same. */
static int __attribute__((format(printf, 2, 3)))
differ(struct run *run, const char *format, ...)
{
	struct priv *priv = run->priv;
	va_list args;

	run->status = DIFFERENT;
	if (run->quiet)
		return 0;
	va_start(args, format);
	vfprintf(priv->out, format, args);
	va_end(args);
	fputc('\n', priv->out);
	return 0;
}

/* One threshold, NaN if not given: appends what was seen and allowed, and tells whether it is kept. */
static bool
check(FILE *line, const char *what, double seen, double allowed)
{
	bool kept = isnan(allowed) || isnan(seen) || seen <= allowed;

	if (!isnan(allowed))
		fprintf(line, ", %s %.6g %s %.6g", what, seen, kept ? "<=" : ">", allowed);
	return kept;
}

static bool
check_thresholds(const struct run *run, FILE *line, struct comparison *of)
{
	const struct parameters *parameters = run->parameters;
	const struct numbers *q = &parameters->quantile;
	bool same = true;
	char what[48];

	same &= check(line, "max", of->max, parameters->max);
	same &= check(line, "rms", of->rms, parameters->rms);
	same &= check(line, "relative", of->relative, parameters->relative);
	same &= check(line, "ulp", of->ulp, parameters->ulp);
	for (size_t i = 0; i + 1 < q->n; i += 2) {
		snprintf(what, sizeof(what), "quantile %g", q->v[i]);
		same &= check(line, what, statistics_quantile(of->size, of->n, q->v[i]), q->v[i + 1]);
	}
	return same;
}

/* The line about one channel: what was compared, seen, allowed. */
static bool
judge(const struct run *run, FILE *line, struct comparison *of)
{
	const struct parameters *parameters = run->parameters;
	const struct priv *priv = run->priv;
	bool same = check_thresholds(run, line, of);

	if (!priv->any_threshold) {
		size_t bits = of->bits - (parameters->nan == NAN_IGNORE ? of->only_a + of->only_b : 0);

		fprintf(line, ", %zu samples differ, max %.6g", bits, of->max);
		same = bits == 0;
	}
	if (of->only_a + of->only_b)
		fprintf(line, ", NaN %zu only in A, %zu only in B", of->only_a, of->only_b);
	if (parameters->nan == NAN_AGREE && of->only_a + of->only_b)
		same = false;
	return same;
}

static void
print_table_row(struct priv *priv, const char *name, struct comparison *of)
{
	static const double shares[] = { 0.5, 0.9, 0.99, 0.999 };

	fprintf(priv->out, "%5zu %-15s %9zu %10.4g %10.4g %10.4g", priv->frames, name, of->n, of->max,
	    of->rms, of->mean);
	for (size_t i = 0; i < 4; i++)
		fprintf(priv->out, " %10.4g", statistics_quantile(of->size, of->n, shares[i]));
	fprintf(priv->out, " %8zu %8zu\n", of->only_a, of->only_b);
}

/* ---- comparing ---- */

static int
compare_pair(struct run *run, size_t ca, size_t cb)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	struct compare_how how = { (size_t)parameters->margin, parameters->turns };
	const char *name = priv->frame_a->head.channel[ca];
	struct comparison of;
	char *text = NULL;
	size_t size;
	FILE *line = open_memstream(&text, &size);
	bool same;

	if (!line)
		return fail_memory();
	if (compare_channels(priv->frame_a, ca, priv->frame_b, cb, &how, &of) < 0) {
		fclose(line);
		free(text);
		return -1;
	}
	fprintf(line, "frame %zu %s", priv->frames, name);
	same = judge(run, line, &of);
	fclose(line);
	if (!same)
		differ(run, "%s", text);
	else if (run->verbose)
		fprintf(priv->out, "%s\n", text);
	if (parameters->table)
		print_table_row(priv, name, &of);
	free(text);
	comparison_free(&of);
	return 0;
}

/* "a" or "a:b" of --channels. */
static int
compare_named(struct run *run, char *word)
{
	const struct priv *priv = run->priv;
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
	const struct priv *priv = run->priv;
	const struct frame_head *a = &priv->frame_a->head, *b = &priv->frame_b->head;

	if (a->c != b->c)
		return differ(run, "frame %zu: A has %zu channels, B has %zu", priv->frames, a->c, b->c);
	for (size_t c = 0; c < a->c; c++)
		if (strcmp(a->channel[c], b->channel[c]))
			return differ(run, "frame %zu: channel %zu is named %s in A, %s in B",
			    priv->frames, c, a->channel[c], b->channel[c]);
	for (size_t c = 0; c < a->c; c++)
		if (compare_pair(run, c, c) < 0)
			return -1;
	return 0;
}

static int
compare_frames(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	const struct priv *priv = run->priv;
	const struct frame_head *a = &priv->frame_a->head, *b = &priv->frame_b->head;
	size_t border = 2 * (size_t)parameters->margin;
	char text[512];

	if (parameters->meta && compare_metadata(a, b, text, sizeof(text)))
		differ(run, "frame %zu: %s", priv->frames, text);
	if (a->w != b->w || a->h != b->h)
		return differ(run, "frame %zu: A is %zu x %zu, B is %zu x %zu", priv->frames, a->w, a->h,
		    b->w, b->h);
	if (a->type != b->type)
		return differ(run, "frame %zu: A has samples of type %s, B %s", priv->frames,
		    sample_name(a->type), sample_name(b->type));
	if (border >= a->w || border >= a->h)
		return fail("--margin", "%ld leaves nothing of %zu x %zu", parameters->margin, a->w, a->h);
	return parameters->channels ? compare_chosen(run, parameters->channels) : compare_all(run);
}

/* The next frame of both. 1; 0 when there is none left; -1 after fail(). */
static int
next(struct run *run)
{
	struct priv *priv = run->priv;
	int a, b;

	frame_free(priv->frame_a);
	frame_free(priv->frame_b);
	priv->frame_a = priv->frame_b = NULL;
	a = source_next(priv->a, &priv->frame_a);
	b = a < 0 ? -1 : source_next(priv->b, &priv->frame_b);
	if (a < 0 || b < 0)
		return -1;
	if (a != b)
		differ(run, "%s ends after %zu frames, %s goes on", a ? "B" : "A", priv->frames,
		    a ? "A" : "B");
	return a && b;
}

static int
compare(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	int more;

	priv->out = target_file_open(run->output, &priv->temporary);
	if (!priv->out)
		return -1;
	priv->a = source_open(run->operand[0]);
	priv->b = priv->a ? source_open(run->operand[1]) : NULL;
	if (!priv->b)
		return -1;
	if (parameters->table)
		fprintf(priv->out, "%5s %-15s %9s %10s %10s %10s %10s %10s %10s %10s %8s %8s\n", "frame",
		    "channel", "n", "max", "rms", "mean", "50 %", "90 %", "99 %", "99.9 %", "NaN in A",
		    "NaN in B");
	while ((more = next(run)) == 1) {
		if (compare_frames(run) < 0)
			return -1;
		priv->frames++;
	}
	return more;
}

/* Whatever goes wrong has exit status 2: 1 means that A and B differ. */
static int
flow(struct run *run, struct frame *in)
{
	struct priv *priv = run->priv;
	int status = compare(run);
	char text[1024];

	(void)in;
	if (priv->out && target_file_close(priv->out, run->output, priv->temporary, status == 0) < 0)
		status = -1;
	if (status == 0)
		return 0;
	snprintf(text, sizeof(text), "%s", fail_message());
	fail_clear();
	return fail_with(EXIT_USAGE, NULL, "%s", text);
}

static const struct body body = { .flow = flow };

static int
init(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	const struct numbers *q = &parameters->quantile;
	struct priv *priv = run->priv;

	run->body = &body;
	if (run->operands != 2)
		return fail_usage(NULL, "wants two files A and B, not %zu; - is standard input",
		    run->operands);
	for (size_t i = 0; i < q->n; i += 2)
		if (q->n % 2 || q->v[i] > 1.0)
			return fail_usage("--quantile", "wants a share from 0 to 1 and a threshold: Q,T");
	if (parameters->turns && (!isnan(parameters->ulp) || !isnan(parameters->relative)))
		return fail_usage("--turns", "does not go with --ulp or --relative");
	priv->any_threshold = !isnan(parameters->max) || !isnan(parameters->rms) ||
	    !isnan(parameters->relative) || !isnan(parameters->ulp) || q->n;
	if (parameters->turns && !priv->any_threshold)
		return fail_usage("--turns", "wants --max, --rms or --quantile");
	return 0;
}

static void
end(struct run *run)
{
	struct priv *priv = run->priv;

	frame_free(priv->frame_a);
	frame_free(priv->frame_b);
	source_close(priv->a);
	source_close(priv->b);
}

STAGE(framecmp) = {
	.name = "framecmp",
	.summary = "compare frames with tolerances; exit status 0 same, 1 different, 2 trouble",
	.operands = "A B",
	.options = options,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct priv),
	.traits = STAGE_SOURCE | STAGE_SINK | STAGE_OPERANDS | STAGE_ANY_TYPE,
	.agree = AGREE_EXACT,
	.init = init,
	.end = end,
};
