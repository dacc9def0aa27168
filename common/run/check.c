/*
 * Results without a valid pixel; and checks: how they are chosen, let judge, and printed (check.h).
 * sampler.c copies the rows that they look at.
 */
#include "run/check.h"

#include <math.h>
#include <stdio.h>

#include "base/process.h"
#include "base/px.h"
#include "base/text.h"
#include "base/thread_pool.h"
#include "run/losses.h"
#include "run/sampler.h"

void
all_invalid_begin(struct all_invalid *seen, bool handed_on)
{
	seen->in = seen->others = false;
	seen->out = handed_on;
}

static bool
any_valid(const struct frame *frame, size_t c, size_t channels, size_t y0, size_t y1)
{
	size_t points;

	if (frame->head.type != SAMPLE_FLOAT)
		return true;
	/* a table without rows is one of none, not of invalid ones */
	if (head_is_table(&frame->head) && head_points(&frame->head, &points) == 0 && points == 0)
		return true;
	for (; c < channels; c++)
		for (size_t y = y0; y < y1; y++) {
			const float *row = frame_row(frame, c, y);

			for (size_t x = 0; x < frame->head.w; x++)
				if (!px_isnan(row[x]))
					return true;
		}
	return false;
}

/* At channels from c on, before `channels`. */
static void
look(bool *seen, const struct frame *frame, size_t c, size_t channels, size_t y0, size_t y1)
{
	if (!__atomic_load_n(seen, __ATOMIC_RELAXED) && any_valid(frame, c, channels, y0, y1))
		__atomic_store_n(seen, true, __ATOMIC_RELAXED);
}

/* A surface without a point is none, however bright its pixels are. */
static const char *const surface_names[] = { "x", "depth", "z", "height", NULL };
static const char *const brightness_names[] = { "texture", "modulation", "r", "g", "b", NULL };

static void
look_at_input(struct all_invalid *seen, const struct frame *in, size_t own, size_t y0, size_t y1)
{
	if (in->head.type != SAMPLE_FLOAT)	/* only the stage knows which of these are valid */
		__atomic_store_n(&seen->whole, true, __ATOMIC_RELAXED);
	look(&seen->in, in, 0, 1, y0, y1);
	for (size_t c = 1; c < own && !__atomic_load_n(&seen->others, __ATOMIC_RELAXED); c++)
		if (word_find(surface_names, in->head.channel[0]) < 0 ||
		    word_find(brightness_names, in->head.channel[c]) < 0)
			look(&seen->others, in, c, c + 1, y0, y1);
}

void
all_invalid_scan(struct all_invalid *seen, const struct frame *in, size_t own,
    const struct frame *out, size_t y0, size_t y1)
{
	look_at_input(seen, in, own, y0, y1);
	look(&seen->out, out, 0, 1, y0, y1);
}

void
all_invalid_take(struct all_invalid *seen, const struct frame *in)
{
	seen->frames++;
	seen->in = seen->others = false;
	look_at_input(seen, in, in->head.c, 0, in->head.h);
	seen->inputs |= seen->in || seen->others;
}

void
all_invalid_emit(struct all_invalid *seen, const struct frame *out)
{
	seen->out = false;
	look(&seen->out, out, 0, 1, 0, out->head.h);
}

void
all_invalid_warn(struct all_invalid *seen, const struct frame_head *out, const char *hint,
    bool first)
{
	bool source = seen->frames == 0;	/* it has no input */
	bool empty = !seen->in && !seen->others && first && !source;
	char frame[40] = "";
	size_t points;

	seen->concluded = true;
	seen->inputs |= seen->in || seen->others;
	/* of an input whose first channel is empty a result has nothing there either; a picture of
	 * nothing is none */
	seen->results |= (seen->out && (seen->inputs || source)) || (!seen->in && seen->others);
	/* a table without rows has nothing that could be valid */
	if (head_is_table(out) && head_points(out, &points) == 0 && !points) {
		seen->results |= seen->inputs || source;
		return;
	}
	if (empty ? seen->warned_empty : seen->warned || seen->out || !seen->in)
		return;
	*(empty ? &seen->warned_empty : &seen->warned) = true;
	if (seen->frames > 1)
		snprintf(frame, sizeof(frame), " in frame %zu", seen->frames - 1);
	if (empty)
		warn(NULL, "no pixel of the input is valid%s", frame);
	else if (seen->whole && !hint)
		warn(NULL, "no pixel of %s is valid%s", out->channel[0], frame);
	else
		warn(NULL, "no pixel of %s is valid%s, though the input has some%s%s",
		    out->channel[0], frame, hint ? ": see " : "", hint ? hint : "");
}

/* ---- checks ---- */

#define CHECK_LINES_MOST 3	/* lines of a frame, without -v */

bool
check_fire(struct check_line *line, const char *object, const char *format, ...)
{
	va_list args;

	snprintf(line->object, sizeof(line->object), "%s", object ? object : "");
	va_start(args, format);
	vsnprintf(line->text, sizeof(line->text), format, args);
	va_end(args);
	return true;
}

/* ---- which checks ---- */

struct check_facts *
run_check_facts(struct run *run)
{
	return &run->link->checks->facts;
}

void
checks_open(struct link *link)
{
	const struct check *const *check = link->run.stage->checks;
	const struct chain *chain = link->run.chain;
	struct link_checks *checks;

	if (!check)
		return;
	checks = link->checks = must_alloc(1, sizeof(*checks));
	checks->check = check;
	while (check[checks->n])
		checks->n++;
	checks->state = must_alloc(checks->n, sizeof(*checks->state));
	for (size_t i = 0; i < checks->n; i++) {
		/* nobody hears of them */
		checks->state[i].off = chain->quiet && !chain->strict;
		for (size_t k = 0; k < chain->no_check.n; k++)
			checks->state[i].off |= !strcmp(check[i]->name, chain->no_check.v[k]);
	}
	checks_begin_plan(link);
}

void
checks_free(struct link *link)
{
	if (!link->checks)
		return;
	check_sample_free(&link->checks->sample);
	free_all(link->checks->state, link->checks->wants, link->checks);
	link->checks = NULL;
}

void
checks_begin_plan(struct link *link)
{
	if (link->checks)
		link->checks->facts = (struct check_facts){
			.max_value = NAN, .min_mean = NAN, .min_amplitude = NAN,
			.min_modulation = NAN };
}

void
checks_end_plan(struct link *link)
{
	struct link_checks *checks = link->checks;
	struct check_heads heads = { .in = &link->in, .out = &link->out };

	if (!checks)
		return;
	free(checks->wants);
	checks->wants = must_alloc(link->in.c + link->out.c, sizeof(*checks->wants));
	heads.own = check_own_channels(link);
	for (size_t i = 0; i < checks->n; i++) {
		const struct check *check = checks->check[i];

		checks->state[i].applies = !check->applies ||
		    check->applies(&checks->facts, &heads);
		checks->state[i].first = true;
	}
}

bool
check_is_active(const struct link_checks *checks, size_t i)
{
	const struct check_state *state = &checks->state[i];

	return state->applies && !state->off && !state->fired &&
	    (state->first || !(checks->check[i]->looks & CHECK_FIRST));
}

/* ---- judging ---- */

/* Is there a check that explains check k and has fired, in this frame or before? */
static bool
is_explained(const struct link_checks *checks, const bool *fires, size_t k)
{
	for (size_t i = 0; i < checks->n; i++) {
		const char *const *name = checks->check[i]->explains;

		for (; name && *name && i != k && (checks->state[i].fired || fires[i]); name++)
			if (!strcmp(*name, checks->check[k]->name))
				return true;
	}
	return false;
}

/* The next one to be printed, by rank and then in the order of the list; n: none. */
static size_t
choose_line(const struct link_checks *checks, const bool *fires)
{
	size_t best = checks->n;

	for (size_t i = 0; i < checks->n; i++)
		if (fires[i] && (best == checks->n ||
		    checks->check[i]->rank < checks->check[best]->rank))
			best = i;
	return best;
}

/* A frame's checks; on several threads, each judged by one of them. */
struct judging {
	const struct link_checks *checks;
	const struct check_sample *sample;
	struct check_line *line;
	bool *fires;
	size_t *due;		/* the checks that judge now */
};

static void
judge_one(void *arg, size_t k, int)
{
	const struct judging *judging = arg;
	size_t i = judging->due[k];
	const struct link_checks *checks = judging->checks;

	judging->fires[i] = checks->check[i]->judge(&checks->facts, judging->sample,
	    &judging->line[i]);
}

void
checks_judge(struct link *link, const struct check_sample *sample, enum check_time time)
{
	struct link_checks *checks = link->checks;
	bool verbose = link->run.verbose, fires[checks->n + 1];
	struct check_line line[checks->n + 1];
	size_t due[checks->n + 1], n = 0, printed = 0, i;
	char where[40], name[80] = "";

	check_sample_mask(sample);
	memset(fires, 0, sizeof(fires));
	for (i = 0; i < checks->n; i++) {
		struct check_state *state = &checks->state[i];
		enum check_time when = checks->check[i]->looks & (CHECK_OUTPUT | CHECK_RESULTS) ?
		    CHECK_EMITTED : CHECK_TAKEN;

		if (!check_is_active(checks, i) || !(time & when))
			continue;
		line[i].notes = verbose && !state->judged;
		line[i].undecided = false;
		line[i].kept = &state->kept;
		due[n++] = i;
	}
	struct judging judging = { checks, sample, line, fires, due };

	if (verbose || n == 1)		/* notes are printed in the order of the list */
		for (i = 0; i < n; i++)
			judge_one(&judging, i, 0);
	else
		thread_pool_for(link->run.chain->pool, n, judge_one, &judging);
	for (size_t k = 0; k < n; k++) {
		struct check_state *state = &checks->state[due[k]];

		state->judged = true;
		state->first = fires[due[k]] || line[due[k]].undecided;	/* till it is printed */
	}
	for (i = 0; i < checks->n; i++)
		if (!verbose && fires[i] && is_explained(checks, fires, i)) {
			checks->state[i].fired = true;	/* and so it explains others still */
			fires[i] = false;
		}
	while ((verbose || printed < CHECK_LINES_MOST) &&
	    (i = choose_line(checks, fires)) < checks->n) {
		/* "measurement 6" of a stage that gathers, or whose input comes from one */
		snprintf(where, sizeof(where), "%s %zu", losses_word(link->run.chain),
		    sample->number);
		if (verbose)
			snprintf(name, sizeof(name), " (--no-check %s)", checks->check[i]->name);
		if (sample->number == 0)
			warn(*line[i].object ? line[i].object : NULL, "%s%s", line[i].text, name);
		else
			warn(where, "%s%s%s%s", line[i].object, *line[i].object ? ": " : "",
			    line[i].text, name);
		checks->state[i].fired = true;
		fires[i] = false;
		printed++;
	}
}
