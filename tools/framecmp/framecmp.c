/*
 * Compares frames with tolerances, sample by sample: options, the two inputs, limits, sizes and
 * metadata. to_mesh.c compares points with a mesh (--to), framecmp_rows.c has the loops.
 */
#include "framecmp.h"

#include <stdarg.h>

#include "base/text.h"
#include "image/arrange.h"
#include "image/depth_range.h"
#include "image/statistics.h"
#include "io/safe_file.h"
#include "io/source.h"
#include "io/target.h"

struct parameters {
	struct compare_limits limits;
	const char *channels;
	long margin;
	bool turns, meta, table;
	struct to_mesh_options to;
};

static const char *const compare_nans[] = { "agree", "ignore", NULL };

static const struct opt options[] = {
	{ 0, "max", "T", OPT_NUMBER, AT(limits.max), NULL, 0, INFINITY, NULL,
	  "allow |a - b| up to T" },
	{ 0, "rms", "T", OPT_NUMBER, AT(limits.rms), NULL, 0, INFINITY, NULL,
	  "allow a root mean square of a - b up to T" },
	{ 0, "relative", "T", OPT_NUMBER, AT(limits.relative), NULL, 0, INFINITY, NULL,
	  "allow |a - b| up to T times the larger of |a| and |b|" },
	{ 0, "ulp", "N", OPT_NUMBER, AT(limits.ulp), NULL, 0, INFINITY, NULL,
	  "allow N steps to the next representable number" },
	{ 0, "quantile", "Q,T,...", OPT_NUMBERS, AT(limits.quantile), NULL, 0, INFINITY, NULL,
	  "a share Q of all |a - b| must be T or less" },
	FLAG_ROW('t', "turns", turns, "phases: differences of whole turns (2 pi) count as none"),
	{ 'c', "channels", "LIST", OPT_TEXT, AT(channels), NULL, 0, 0, NULL,
	  "only these channels; a:b compares a of A with b of B" },
	{ 0, "nan", "WORD", OPT_WORD, AT(limits.nan), "agree", 0, 0, NULL,
	  "NaN in one alone is a difference, or is left out", compare_nans },
	{ 0, "margin", "N", OPT_INTEGER, AT(margin), "0", 0, 1e9, "px", "leave a border out" },
	FLAG_ROW(0, "meta", meta, "metadata must agree too, cmd.N excepted"),
	FLAG_ROW(0, "table", table, "print a table of all differences; with --to a histogram"),
	{ 0, "to", "MESH", OPT_FILE, AT(to.mesh), NULL, 0, 0, NULL,
	  "signed distances of A's points from a mesh: PLY, OBJ or STL" },
	FLAG_ROW(0, "icp", to.icp, "with --to: move the points onto the mesh first"),
	{ 0, "within", "MM", OPT_NUMBER, AT(to.within), NULL, 1e-9, 1e9, "mm",
	  "with --to: points farther off do not count" },
	{ 0, "coverage", "SHARE", OPT_NUMBER, AT(to.coverage), NULL, 1e-6, 1, NULL,
	  "with --to: of the mesh that faces the camera, SHARE must have points nearby" },
	{ 0, "deviation", "FILE", OPT_TEXT, AT(to.deviation), NULL, 0, 0, NULL,
	  "with --to: write A's frames with a channel deviation there" },
	{ 0 },
};

/* ---- the two inputs, frame by frame ---- */

enum { SAME, DIFFERENT };	/* exit status */

struct pair {
	struct source *a, *b;
	struct frame *frame_a, *frame_b;	/* the ones being compared */
	FILE *out;
	struct safe_file *temporary;
	size_t frames, lost;
	bool warned;		/* of a limit that few pixels keep */
	bool units_warned, turns_warned;
};

#define PAIR_LOST 2	/* of pair_next() */

int
pair_differ(struct run *run, const char *format, ...)
{
	struct pair *priv = run->priv;
	va_list args;
	char *text;

	run->status = DIFFERENT;
	if (run->quiet)
		return 0;
	va_start(args, format);
	text = must_vformat(format, args);
	va_end(args);
	escape_put_text(priv->out, text);
	fputc('\n', priv->out);
	free(text);
	return 0;
}

/* source_next(). PAIR_LOST after a failure, with --keep-going, where other files follow. */
static int
take(struct run *run, struct source *source, struct frame **frame)
{
	struct fail_record failure;
	int got = source_next(source, frame);

	if (got >= 0)
		return got;
	fail_take(&failure);
	got = run_keeps_going(run) && source_skip(source) ? PAIR_LOST : -1;
	fail_put(&failure);
	return got;
}

/* Reads the next frame of both. 1; 0 at the end; PAIR_LOST after fail(), with --keep-going: one of
 * them cannot be read, and others follow; -1 after fail(). */
static int
pair_next(struct run *run)
{
	struct pair *priv = run->priv;
	int a, b;

	frame_free(priv->frame_a);
	frame_free(priv->frame_b);
	priv->frame_a = priv->frame_b = NULL;
	a = take(run, priv->a, &priv->frame_a);
	b = a < 0 ? -1 : take(run, priv->b, &priv->frame_b);
	if (a < 0 || b < 0)
		return -1;
	if (a && b && (a == PAIR_LOST || b == PAIR_LOST))
		return PAIR_LOST;
	fail_clear();
	if (a != b)
		pair_differ(run, "%s ends after %zu frame%s, %s goes on", a ? "B" : "A",
		    priv->frames, priv->frames == 1 ? "" : "s", a ? "A" : "B");
	return a && b;
}

/* ---- two channels ---- */

/* Channel ca of a, cb of b: same size and type, larger than twice the margin. The caller frees
 * of->size. -1 after fail(). */
static int
compare_channels(const struct frame *a, size_t ca, const struct frame *b, size_t cb,
    const struct parameters *parameters, struct comparison *of)
{
	size_t w = a->head.w, h = a->head.h, margin = (size_t)parameters->margin, points = 1;

	memset(of, 0, sizeof(*of));
	if (head_is_table(&a->head) && head_points(&a->head, &points) < 0)
		return -1;
	of->size = must_resize(NULL, w * h, sizeof(*of->size));
	if (points == 0)	/* the one column is no point */
		w = 0;
	for (size_t y = margin; y < h - margin; y++)
		framecmp_rows()->add_row(of, a->head.type, frame_row(a, ca, y),
		    frame_row(b, cb, y), margin, w - margin, parameters->turns);
	if (of->n == 0)
		of->max = of->mean = of->rms = NAN;
	of->mean /= (double)of->n;
	of->rms = sqrt(of->rms / (double)of->n);
	return 0;
}

/* ---- limits ---- */

enum compare_nan { COMPARE_NAN_AGREE, COMPARE_NAN_IGNORE };	/* compare_nans[] */

bool
compare_limited(const struct compare_limits *limits)
{
	return !isnan(limits->max) || !isnan(limits->rms) || !isnan(limits->relative) ||
	    !isnan(limits->ulp) || limits->quantile.n;
}

/* One limit: appends what was seen and allowed, and returns whether it is kept. */
static bool
check_limit(FILE *line, const char *what, double seen, double allowed)
{
	bool kept = isnan(seen) || seen <= allowed;

	if (isnan(allowed))
		return true;
	fprintf(line, ", %s %.6g %s %.6g", what, seen, kept ? "<=" : ">", allowed);
	return kept;
}

static bool
check_limits(struct comparison *of, const struct compare_limits *limits, FILE *line)
{
	const struct numbers *q = &limits->quantile;
	bool same = true;
	char what[48];

	same &= check_limit(line, "max", of->max, limits->max);
	same &= check_limit(line, "rms", of->rms, limits->rms);
	same &= check_limit(line, "relative", of->relative, limits->relative);
	same &= check_limit(line, "ulp", of->ulp, limits->ulp);
	for (size_t i = 0; i + 1 < q->n; i += 2) {
		snprintf(what, sizeof(what), "quantile %g", q->v[i]);
		same &= check_limit(line, what, statistics_quantile(of->size, of->n, q->v[i]),
		    q->v[i + 1]);
	}
	return same;
}

static bool
check_bits(const struct comparison *of, const struct compare_limits *limits, FILE *line)
{
	size_t nan = of->only_a + of->only_b;	/* told behind this, by compare_judge() */

	fprintf(line, ", %zu of %zu samples differ, max %.6g", of->bits - nan, of->n, of->max);
	return of->bits == (limits->nan == COMPARE_NAN_IGNORE ? nan : 0);
}

bool
compare_judge(struct comparison *of, const struct compare_limits *limits, FILE *line)
{
	bool same = compare_limited(limits) ? check_limits(of, limits, line) :
	    check_bits(of, limits, line);

	if (of->only_a + of->only_b == 0)
		return same;
	fprintf(line, ", NaN %zu only in A, %zu only in B", of->only_a, of->only_b);
	return same && limits->nan == COMPARE_NAN_IGNORE && of->n > 0;
}

static void
compare_table_row(FILE *out, size_t frame, const char *channel, struct comparison *of)
{
	static const double shares[] = { 0.5, 0.9, 0.99, 0.999 };

	char name[CHANNEL_NAME_SIZE];

	snprintf(name, sizeof(name), "%s", channel);
	escape_controls(name);
	fprintf(out, "%5zu %-15s %9zu %10.4g %10.4g %10.4g", frame, name, of->n, of->max, of->rms,
	    of->mean);
	for (size_t i = 0; i < 4; i++)
		fprintf(out, " %10.4g", statistics_quantile(of->size, of->n, shares[i]));
	fprintf(out, " %8zu %8zu\n", of->only_a, of->only_b);
}

/* ---- sizes ---- */

/* "an image of 5 x 7", "a table of 5 points". -1 after fail(). */
static int
describe(const struct frame_head *head, char text[64])
{
	size_t points;

	if (!head_is_table(head))
		return snprintf(text, 64, "an image of %zu x %zu", head->w, head->h);
	if (head_points(head, &points) < 0)
		return -1;
	return snprintf(text, 64, "a table of %zu point%s", points, points == 1 ? "" : "s");
}

/* Whether two frames differ in size, in the number of points, or in being a table: 1, and why, in
 * text; 0; -1 after fail(). */
static int
compare_sizes(const struct frame_head *a, const struct frame_head *b, char *text, size_t size)
{
	char of_a[64], of_b[64];

	if (!head_is_table(a) && !head_is_table(b)) {
		snprintf(text, size, "A is %zu x %zu, B is %zu x %zu", a->w, a->h, b->w, b->h);
		return a->w != b->w || a->h != b->h;
	}
	if (describe(a, of_a) < 0 || describe(b, of_b) < 0)
		return -1;
	snprintf(text, size, "A is %s, B is %s", of_a, of_b);
	return strcmp(of_a, of_b) != 0;
}

/* ---- metadata ---- */

static bool
one_sided(const struct meta *a, const struct meta *b, bool swapped, char *text, size_t size)
{
	for (size_t i = 0; i < a->n; i++) {
		const char *key = a->entry[i].key, *value = a->entry[i].value, *other;

		if (!strncmp(key, "cmd.", 4))
			continue;
		other = meta_get(b, key);
		if (other && !strcmp(value, other))
			continue;
		if (!other)
			other = "(none)";
		snprintf(text, size, "key %s is %.80s, %.80s", key, swapped ? other : value,
		    swapped ? value : other);
		return true;
	}
	return false;
}

/* Whether two heads' metadata differ (cmd.N and order excepted), and why, in text. */
static bool
compare_metadata(const struct frame_head *a, const struct frame_head *b, char *text, size_t size)
{
	if (one_sided(&a->meta, &b->meta, false, text, size) ||
	    one_sided(&b->meta, &a->meta, true, text, size))
		return true;
	if (numbers_same(a->spacing[0], b->spacing[0]) &&
	    numbers_same(a->spacing[1], b->spacing[1]) && !strcmp(a->unit, b->unit))
		return false;
	snprintf(text, size, "spacings are %g %g %s, %g %g %s", a->spacing[0], a->spacing[1],
	    a->unit, b->spacing[0], b->spacing[1], b->unit);
	return true;
}

/* ---- frames ---- */

/* Limits mean little where the pixels that are numbers in both frames are fewer than these shares:
 * of the valid pixels of the frame that has fewer of them, and of the other frame. A measured
 * object lies nearly as a whole within the true one, except the rim of a line or of a marker. A
 * line of one pixel per row is more than a ten thousandth of the frame. */
#define MIN_SHARE_OF_FEWER 0.05
#define MIN_SHARE_OF_MORE 1e-4

/* Warns where a limit is kept only because few pixels are compared. True: it did. */
static bool
warn_few(size_t frame, const char *name, const struct comparison *of)
{
	double n = (double)of->n, a = n + (double)of->only_b, b = n + (double)of->only_a;

	if (of->n == 0)
		warn(NULL, "frame %zu: no pixel of %s is a number in both, so that no limit says "
		    "anything", frame, name);
	else if (n < MIN_SHARE_OF_FEWER * fmin(a, b) || n < MIN_SHARE_OF_MORE * fmax(a, b))
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
	const char *name = priv->frame_a->head.channel[ca];
	struct comparison of;
	struct text line;
	char *text;
	bool same;

	if (parameters->turns && quantity_is_length(name) && !priv->turns_warned) {
		warn("--turns", "is for phases, and channel %s is a length: whole 6.28 of it count "
		    "as nothing", name);
		priv->turns_warned = true;
	}
	if (compare_channels(priv->frame_a, ca, priv->frame_b, cb, parameters, &of) < 0)
		return -1;
	text_open(&line);
	fprintf(line.file, "frame %zu ", priv->frames);
	escape_put_text(line.file, name);
	same = compare_judge(&of, &parameters->limits, line.file);
	if (same && compare_limited(&parameters->limits) && !priv->warned &&
	    !head_is_table(&priv->frame_a->head))
		priv->warned = warn_few(priv->frames, name, &of);
	text = text_close(&line, NULL);
	if (!same)
		pair_differ(run, "%s", text);
	else if (run->verbose)
		fprintf(priv->out, "%s\n", text);
	if (parameters->table)
		compare_table_row(priv->out, priv->frames, name, &of);
	free(text);
	free(of.size);
	return 0;
}

/* A word of --channels, "a" or "a:b". */
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
	char *copy = must_strdup(list), *rest = copy, *word;
	int status = 0;

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

/* Warns of different units, once in a run. */
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
		fprintf(priv->out, "%5s %-15s %9s %10s %10s %10s %10s %10s %10s %10s %8s %8s\n",
		    "frame", "channel", "n", "max", "rms", "mean", "50 %", "90 %", "99 %", "99.9 %",
		    "NaN in A", "NaN in B");
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

/* ---- options at the start ---- */

static int
check_to(const struct run *run, const struct parameters *p)
{
	const char *other = p->turns ? "--turns" : p->channels ? "--channels" : p->margin ?
	    "--margin" : p->meta ? "--meta" : !isnan(p->limits.ulp) ? "--ulp" :
	    !isnan(p->limits.relative) ? "--relative" : NULL;

	if (other)
		return fail_usage(other, "does not go with --to");
	if (run->operands != 1)
		return fail_usage(NULL, "with --to wants one file A, not %zu; - is standard input",
		    run->operands);
	if (p->to.deviation && !strcmp(p->to.deviation, "-"))
		return fail_usage("--deviation", "standard output has the text: name a file");
	if (safe_file_same(p->to.deviation, run->output))
		return fail_usage("--deviation", "is the file of --output");
	return p->to.deviation ? target_check(p->to.deviation, run->force) : 0;
}

static int
check_below_half_turn(const char *option, double limit)
{
	return limit < M_PI ? 0 : fail_usage(option, "of %g allows everything: with --turns no "
	    "difference is larger than pi", limit);
}

/* Refuses limits that no two numbers can exceed, and warns of those that no two of one sign can. */
static int
check_can_fail(const struct parameters *p)
{
	const struct compare_limits *limits = &p->limits;

	if (limits->relative >= 2)
		return fail_usage("--relative", "of %g allows everything: no two numbers differ "
		    "by more than twice the larger one", limits->relative);
	if (limits->relative >= 1)
		warn("--relative", "%g allows any two numbers of the same sign: it is a share of "
		    "the larger one, not per cent", limits->relative);
	if (!p->turns)
		return 0;
	for (size_t i = 1; i < limits->quantile.n; i += 2)
		if (check_below_half_turn("--quantile", limits->quantile.v[i]) < 0)
			return -1;
	if (check_below_half_turn("--max", isnan(limits->max) ? 0 : limits->max) < 0)
		return -1;
	return check_below_half_turn("--rms", isnan(limits->rms) ? 0 : limits->rms);
}

static int
check_options(const struct run *run, const struct parameters *parameters)
{
	const struct compare_limits *limits = &parameters->limits;
	const struct numbers *q = &limits->quantile;
	const struct to_mesh_options *to = &parameters->to;
	const char *needs_to = to->icp ? "--icp" : to->deviation ? "--deviation" :
	    !isnan(to->within) ? "--within" : !isnan(to->coverage) ? "--coverage" : NULL;

	for (size_t i = 0; i < q->n; i += 2)
		if (q->n % 2 || q->v[i] > 1.0 || q->v[i] == 0.0)
			return fail_usage("--quantile", "wants a share above 0, up to 1, and a "
			    "threshold: Q,T");
	if (to->mesh)
		return check_to(run, parameters);
	if (needs_to)
		return fail_usage(needs_to, "wants --to");
	if (run->operands != 2)
		return fail_usage(NULL, "wants two files A and B, not %zu; - is standard input",
		    run->operands);
	if (parameters->turns && (!isnan(limits->ulp) || !isnan(limits->relative)))
		return fail_usage("--turns", "does not go with --ulp or --relative");
	if (parameters->turns && !compare_limited(limits))
		return fail_usage("--turns", "wants --max, --rms or --quantile");
	return check_can_fail(parameters);
}

static const struct body body = { .start = start };

static int
init(struct run *run)
{
	run->body = &body;
	return check_options(run, run->parameters);
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

const struct stage stage_framecmp = {
	.name = "framecmp",
	.summary = "compare frames with tolerances; exit status 0 same, 1 different, 2 trouble",
	.operands = "A B | --to MESH A",
	.options = options,
	.usual = "max rms quantile turns channels margin to",
	STAGE_MEMORY(pair),
	.traits = STAGE_SOURCE | STAGE_SINK | STAGE_OPERANDS | STAGE_ANY_TYPE |
	    STAGE_TABLES | STAGE_ANSWERS,
	.init = init,
	.release = end,
};
