/* Frames and measurements that are lost under --keep-going, and what is lost with them. */
#include "run/losses.h"

#include <stdio.h>

#include "base/process.h"
#include "run/device.h"
#include "run/frame_jobs.h"
#include "run/gather.h"
#include "run/second_input.h"

/* May the run go on behind what has failed? Not behind the output, the device or the command line.
 */
static bool
survivable(const struct chain *chain)
{
	return chain->losses.on && !chain->losses.stopped && fail_code() == EXIT_FAILED;
}

/* Takes the recorded message; files: it is about the files at hand, and may not name them. */
static void
take_reason(struct chain *chain, bool files, struct fail_record *record)
{
	const struct losses *losses = &chain->losses;
	struct fail_record bare;
	char object[400];

	fail_take(record);
	if (!files || !losses->path)
		return;
	if (losses->first && strcmp(losses->first, losses->path))
		snprintf(object, sizeof(object), "%.190s ... %.190s", losses->first, losses->path);
	else
		snprintf(object, sizeof(object), "%.390s", losses->path);
	if (!strncmp(record->message, losses->path, strlen(losses->path)))
		return;		/* it names the file already */
	bare = *record;
	fail(object, "%s", bare.message);
	fail_take(record);
}

/* Does a measurement consist of several frames somewhere? */
static bool
gathers(const struct chain *chain)
{
	for (size_t i = 0; i < chain->n; i++)
		if (chain->link[i].run.body->gather)
			return true;
	return false;
}

const char *
losses_word(const struct chain *chain)
{
	return gathers(chain) ? "measurement" : "frame";
}

/* One line on standard error: result `number` of the chain is lost. */
static void
report(struct chain *chain, size_t number, const struct fail_record *reason, size_t more)
{
	struct losses *losses = &chain->losses;

	losses->left_out += losses->leaves_out;
	if (losses->leaves_out && !chain->verbose)
		return;
	if (!losses->leaves_out) {
		losses->number = must_resize(losses->number, losses->n + 1, sizeof(number));
		losses->number[losses->n++] = number;
	}
	fprintf(stderr, "%s: %s %zu is %s: %s", fail_program(), losses_word(chain), number,
	    losses->leaves_out ? "left out" : "lost", reason->message);
	if (more)
		fprintf(stderr, " (and %zu more)", more);
	fputc('\n', stderr);
}

/* ---- what is lost goes through the chain in the place of its result ---- */

static int lose_image(struct chain *, size_t at, size_t images, const struct fail_record *);

/* Frames that are under way behind this stage come before what is lost at it. */
static int
drain_behind(struct chain *chain, size_t at)
{
	for (size_t i = at; i < chain->n; i++)
		if (frame_jobs_drain(chain, &chain->link[i], 0, chain->push) < 0 ||
		    device_drain(chain, &chain->link[i], 0, chain->push) < 0)
			return -1;
	return 0;
}

void
losses_deliver(struct chain *chain, size_t at)
{
	struct fail_record failure;

	if (chain->delivered)
		return;
	chain->delivered = true;
	fail_take(&failure);
	/* a frame that fails itself comes before `failure` */
	for (size_t i = at; i < chain->n; i++)
		if (frame_jobs_drain(chain, &chain->link[i], 0, chain->push) < 0)
			fail_take(&failure);
	fail_put(&failure);
}

/* Are the files at hand those of the input of this stage? */
static bool
files_known(const struct chain *chain, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (!chain->link[i].run.body->rows || chain->device)
			return false;
	return true;
}

/* So many results of a stage are lost with its last input. */
static int
lose_results(struct chain *chain, size_t at, size_t results, const struct fail_record *reason,
    size_t more)
{
	struct link *link = &chain->link[at];
	bool last = at + 1 == chain->n;

	if (last || results == 0)
		report(chain, link->inputs - 1, reason, more);
	if (last)
		chain->losses.gap += results;
	for (size_t i = 0; i < results && !last; i++)
		if (lose_image(chain, at + 1, 1, reason) < 0)
			return -1;
	return 0;
}

/* A whole input of a stage is lost, for the reason given. */
static int
lose_input(struct chain *chain, size_t at, const struct fail_record *reason, size_t more)
{
	struct link *link = &chain->link[at];
	const struct body *body = link->run.body;
	size_t results = 1;
	bool seen = link->seen;

	if (drain_behind(chain, at) < 0 || second_inputs_skip(link) < 0)
		return -1;
	if (!body->lost || body->lost(&link->run, seen, &results) == 0)
		return lose_results(chain, at, results, reason, more);
	chain->losses.stopped = true;
	return -1;
}

int
losses_of_input(struct chain *chain, size_t at)
{
	struct fail_record reason;

	if (!survivable(chain))
		return -1;
	fail_take(&reason);
	return drain_behind(chain, at) < 0 ? -1 : lose_results(chain, at, 1, &reason, 0);
}

int
losses_survive(struct chain *chain, size_t at)
{
	struct fail_record reason;

	if (!survivable(chain))
		return -1;
	take_reason(chain, files_known(chain, at), &reason);
	return lose_input(chain, at, &reason, 0);
}

/* gather_next() has failed. */
static int
survive_gathering(struct chain *chain, size_t at, bool whole)
{
	struct link *link = &chain->link[at];
	struct fail_record reason;

	if (whole)
		return losses_survive(chain, at);
	if (!survivable(chain) || link->want == 0)
		return -1;	/* how many images are a measurement is not known */
	take_reason(chain, files_known(chain, at), &reason);
	gather_lose(link, 0, &reason);
	return 0;
}

int
losses_feed_gathered(struct chain *chain, size_t at)
{
	struct link *link = &chain->link[at];
	struct frame *in;
	bool whole;
	int got;

	while ((got = gather_next(link, &in, &whole)) != 0) {
		if (got == 1)
			got = chain->feed(chain, at, in) < 0 ? losses_survive(chain, at) : 0;
		else if (got == GATHER_LOST)
			got = lose_input(chain, at, &link->loss.reason, link->loss.more);
		else
			got = survive_gathering(chain, at, whole);
		if (got < 0)
			return -1;
	}
	return 0;
}

/* Frames before a stage are lost. */
static int
lose_image(struct chain *chain, size_t at, size_t images, const struct fail_record *reason)
{
	if (drain_behind(chain, at) < 0)
		return -1;
	if (chain->link[at].run.body->gather) {
		struct fail_record own = *reason;

		if (chain->hold(chain, at, NULL) < 0)
			return -1;
		reason = &own;
		gather_lose(&chain->link[at], images, reason);
		return losses_feed_gathered(chain, at);
	}
	for (size_t i = 0; i < images; i++)
		if (lose_input(chain, at, reason, 0) < 0)
			return -1;
	return 0;
}

int
losses_break_measurement(struct chain *chain, size_t at, const char *object, const char *what)
{
	struct link *link = &chain->link[at];
	size_t planes = link->planes;

	if (!gather_break(link))
		return 0;
	if (!link->loss.reason.message[0]) {
		fail(object, "a measurement is %zu images, the %s ends after %zu of one",
		    link->want, what, planes);
		if (chain->losses.stream && link->judges && link->inputs > chain->losses.left_out)
			return losses_leave_out(chain, at, 1);
		if (!survivable(chain))
			return -1;
		fail_take(&link->loss.reason);
		link->loss.more = 0;
	}
	return lose_input(chain, at, &link->loss.reason, link->loss.more);
}

int
losses_leave_out(struct chain *chain, size_t at, size_t measurements)
{
	struct losses *losses = &chain->losses;
	struct fail_record reason;
	int status = 0;

	if (losses->stopped || (!losses->stream && !survivable(chain)))
		return -1;
	fail_take(&reason);
	losses->leaves_out = losses->stream;
	for (size_t i = 0; i < measurements && status == 0; i++)
		status = lose_input(chain, at, &reason, 0);
	losses->leaves_out = false;
	return status;
}

int
losses_drop_measurement(struct chain *chain, size_t at)
{
	struct link *link = &chain->link[at];
	struct fail_record first = link->loss.reason;
	bool lost = link->loss.on;

	if (!gather_break(link)) {
		fail_clear();
		return 0;
	}
	if (!lost)
		return losses_leave_out(chain, at, 1);
	fail_clear();
	return lose_input(chain, at, &first, link->loss.more);
}

int
losses_end_measurement(struct chain *chain, const char *what)
{
	for (size_t at = 0; at < chain->n; at++) {
		if (drain_behind(chain, at) < 0)
			return -1;
		if (chain->link[at].run.body->gather && chain->hold(chain, at, NULL) < 0)
			return -1;
		if (chain->link[at].run.body->gather)
			return losses_break_measurement(chain, at, chain->losses.path, what);
	}
	return 0;
}

int
losses_survive_image(struct chain *chain, size_t at)
{
	struct fail_record reason;

	if (!survivable(chain))
		return -1;
	if (at == 0)
		chain->losses.first = chain->losses.path;	/* it is this one alone */
	take_reason(chain, files_known(chain, at), &reason);
	return lose_image(chain, at, 1, &reason);
}

/* *seam: the next file begins with a new measurement. -1: it is not known which measurement the
 * next file belongs to. */
static int
find_next(struct chain *chain, const struct read_ahead_loss *loss, bool *seam)
{
	struct losses *losses = &chain->losses;
	struct fail_record bare;

	losses->cut |= loss->cut;
	*seam = loss->guessed && gathers(chain) && losses->counts && !losses->spans;
	if (!loss->guessed || !gathers(chain) || *seam)
		return 0;
	fail_take(&bare);
	return fail(NULL, "%s; it is not known how many images are lost with it, and so not which "
	    "measurement the next file belongs to", bare.message);
}

void
losses_enter_file(struct chain *chain, const char *path)
{
	struct losses *losses = &chain->losses;

	if (losses->path == path)
		return;
	for (size_t i = 0; i < chain->n && losses->path; i++)
		losses->spans |= chain->link[i].waitings > 0 || chain->link[i].loss.on ||
		    (i > 0 && chain->device);
	losses->counts |= losses->path != NULL;
	losses->path = path;
}

int
losses_of_file(struct chain *chain, const struct read_ahead_loss *loss)
{
	struct fail_record reason;
	bool seam;

	if (!survivable(chain) || find_next(chain, loss, &seam) < 0)
		return -1;
	take_reason(chain, false, &reason);
	if (lose_image(chain, 0, seam ? 1 : loss->images, &reason) < 0)
		return -1;
	return seam ? losses_end_measurement(chain, "file") : 0;
}

/* ---- the end ---- */

/* "2 5-7": the numbers. */
static void
print_numbers(const struct losses *losses)
{
	for (size_t i = 0, end; i < losses->n; i = end) {
		for (end = i + 1; end < losses->n &&
		    losses->number[end] == losses->number[end - 1] + 1; end++)
			;
		fprintf(stderr, " %zu", losses->number[i]);
		if (end - i > 1)
			fprintf(stderr, "-%zu", losses->number[end - 1]);
	}
}

int
losses_conclude(const struct chain *chain)
{
	const struct losses *losses = &chain->losses;
	size_t of = chain->link[chain->n - 1].inputs;
	bool judged = false;

	for (size_t i = 0; i < chain->n; i++)
		judged |= chain->link[i].judges;
	if (losses->left_out && losses->n == 0 && losses->left_out >= of)
		return fail(NULL, "all %zu %s%s left out: images were lost%s", losses->left_out,
		    losses_word(chain), losses->left_out == 1 ? "" : "s", judged ?
		    ", or is the number of --steps another one?" : "");
	if (losses->left_out)
		warn(NULL, "%zu of %zu %s%s left out: images were lost", losses->left_out,
		    of > losses->left_out ? of : losses->left_out, losses_word(chain),
		    of == 1 ? "" : "s");
	if (losses->n == 0)
		return 0;
	if (chain->verbose) {
		fprintf(stderr, "%s: lost:", fail_program());
		print_numbers(losses);
		fputc('\n', stderr);
	}
	if (of < losses->n)
		of = losses->n;
	return fail(NULL, "%zu of %zu %s%s %s lost", losses->n, of, losses_word(chain),
	    of == 1 ? "" : "s", losses->n == 1 ? "was" : "were");
}
