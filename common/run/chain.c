/* Pushes frames through a chain: stages in their order, from the operands to the output. */
#include "run/chain.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/process.h"
#include "io/background_io.h"
#include "io/shared_frames.h"
#include "run/bands.h"
#include "run/cost_model.h"
#include "run/device.h"
#include "run/frame_jobs.h"
#include "run/gather.h"
#include "run/losses.h"
#include "run/sampler.h"
#include "run/second_input.h"

static int push(struct chain *, size_t at, struct frame *);

/* No failure of the output can be survived. */
static int
put(struct chain *chain, struct frame *frame)
{
	struct target *target;
	size_t gap = chain->losses.gap;
	int status = -1;

	chain->losses.gap = 0;
	chain->frames++;
	progress_tick(chain->frames);
	if (chain_drops(chain)) {
		frame_free(frame);
		return 0;
	}
	if (!chain->writer) {
		target = target_open(chain->output, chain->force, &chain->save);
		chain->writer = target ? write_behind_open(target, !chain->output, chain->pool) :
		    NULL;
	}
	if (chain->writer)
		status = write_behind_put(chain->writer, frame, gap);
	else
		frame_free(frame);
	chain->losses.stopped |= status < 0;
	return status;
}

/* Completes all frames under way. */
static int
complete_all(struct chain *chain)
{
	for (size_t i = 0; i < chain->n; i++)
		if (frame_jobs_drain(chain, &chain->link[i], 0, push) < 0)
			return -1;
	return 0;
}

/* Second inputs begin anew: frames under way still need what these read in step. */
static int
push_kept(struct chain *chain)
{
	struct frame *again;

	for (size_t i = 0; i < chain->n; i++)
		if ((second_inputs_in_step(&chain->link[i]) && complete_all(chain) < 0) ||
		    second_inputs_restart(&chain->link[i]) < 0)
			return -1;
	for (size_t i = 0; i < chain->keeps; i++)
		if (frame_duplicate(chain->kept[i], &again) < 0 || push(chain, 0, again) < 0)
			return -1;
	return 0;
}

bool
chain_drops(const struct chain *chain)
{
	return chain->output && !strcmp(chain->output, "null:");
}

/* Makes room for the segment's output. Channels of the input that all maps hand on are the output's
 * without a copy. */
static int
open_output(struct segment *segment)
{
	if (frame_new(&segment->link[segment->n - 1].out, &segment->out) < 0)
		return -1;
	if (segment->link->masked && frame_mask_expect(segment->link, segment->out) < 0)
		return -1;
	for (size_t c = 0; c < segment->out->head.c; c++) {
		size_t k = segment->n - 1, channel = c;

		if (!segment_produced_by(segment, &k, &channel))
			frame_share(segment->out, c, segment->in, channel);
	}
	return 0;
}

/* Begins with the segment's frame beside others that are under way. 1: the caller shall do it, and
 * they are complete. */
static int
begin_beside(struct segment *segment)
{
	bool wanted = frame_jobs_wanted(segment);

	/* frames before this one may have gone through fewer maps together */
	for (size_t k = 1; k < segment->n; k++)
		if (frame_jobs_drain(segment->chain, &segment->link[k], 0, push) < 0)
			return -1;
	if (wanted && frame_jobs_make_room(segment, push) < 0)
		return -1;
	if (wanted && open_output(segment) == 0) {
		if (frame_jobs_submit(segment) == 0)
			return 0;
		frame_free(segment->out);
		segment->out = NULL;
	}
	fail_clear();		/* with fewer frames there may be memory enough */
	return frame_jobs_drain(segment->chain, segment->link, 0, push) < 0 ? -1 : 1;
}

/* Stages that find mistakes in `after`, by what rows has counted, and not by checks, do so on the
 * processor alone: it takes the first frame of a run through the segment too, and the runner throws
 * away what it makes. */
static int
scan_once(const struct segment *segment)
{
	struct segment scan = *segment;
	bool needed = false;
	int status;

	scan.scan = SCAN_AFTER;
	scan.n = segment_maps(segment);
	for (size_t k = 0; k < scan.n; k++)
		needed |= segment->link[k].run.body->after && !segment->link[k].scanned;
	if (!needed || (segment->chain->quiet && !segment->chain->strict))
		return 0;
	status = open_output(&scan);
	if (status == 0)
		status = bands_run(&scan);
	frame_free(scan.out);	/* the state planes are written again */
	return status;
}

/* -d auto does not fail where the processor would not: these stages stay with it from now on. */
static int
return_to_processor(struct segment *segment)
{
	struct chain *chain = segment->chain;

	for (size_t k = 0; k < segment->n; k++)
		if (segment->link[k].place == PLACE_DEVICE)
			return -1;
	device_gives_way(chain);
	if (device_drain(chain, segment->link, segment->link->run.position, push) < 0)
		return -1;
	for (size_t k = 0; k < segment->n; k++) {
		segment->link[k].place = PLACE_PROCESSOR;
		segment->link[k].on_device = segment->link[k].able = false;
	}
	frame_free(segment->out);
	segment->out = NULL;
	segment->n = segment_maps(segment);
	return segment->n ? open_output(segment) : 0;
}

/* 0: the segment's frame is on its way on the device. 1: the processor shall do it. */
static int
submit(struct segment *segment)
{
	int status;

	if (!segment->link->on_device)
		return 1;
	if (scan_once(segment) < 0)
		return -1;
	segment_halos(segment);
	status = device_start(segment->chain->device, segment, push);
	if (status == 1 && return_to_processor(segment) < 0)
		status = -1;
	segment->chain->losses.stopped |= status < 0;
	return status;
}

/* The segment's maps are done with the input at hand. */
static void
advance(struct segment *segment)
{
	for (size_t k = 0; k < segment->n; k++)
		second_inputs_advance(&segment->link[k]);
}

static int
run_flow(struct chain *chain, size_t at, struct frame *in)
{
	struct link *link = &chain->link[at];
	bool sink = link->run.stage->traits & STAGE_SINK || link->run.sink;
	struct timing *timing;
	const char *before;
	double start;
	int status;

	all_invalid_take(&link->all_invalid, in);
	if (second_inputs_add(link, &in) < 0) {
		frame_free(in);
		return -1;
	}
	link->seen = true;
	before = warn_stage(link->title);
	checks_flow_take(link, in);
	link->flow_on_device = false;
	link->after_s = 0;
	start = progress_seconds();
	status = link->run.body->frame(&link->run, in);
	warn_stage(before);
	timing = &link->timing[link->flow_on_device];
	timing->seconds += progress_seconds() - start - link->after_s;
	timing->samples += link_samples(link);
	timing->frames++;
	if (status < 0) {
		chain->losses.stopped |= sink;	/* it writes by itself */
		return -1;
	}
	second_inputs_advance(link);
	return 0;
}

/* Plans and runs the links from `at` on, as many as go together; hands the result to what follows.
 */
static int
run_segment(struct chain *chain, size_t at, struct frame *in)
{
	struct segment segment = { .chain = chain, .link = &chain->link[at], .in = in };
	int status = plan_segment(&segment);

	if (status == SURVEY_SKIPS) {
		frame_free(in);
		second_inputs_advance(segment.link);
		return 0;
	}
	if (status == 0 && !segment.link->run.body->rows && !segment.link->on_device)
		return run_flow(chain, at, in);
	if (status == 0)
		status = begin_beside(&segment);
	if (status == 0) {
		advance(&segment);
		return 0;
	}
	if (status == 1)
		status = open_output(&segment);
	if (status == 0)
		status = state_begin(&segment);
	if (status == 0)
		status = submit(&segment);
	if (status == 0) {
		state_finish(&segment, true);
		advance(&segment);
		return 0;
	}
	if (status == 1 && segment.n == 0)
		return run_flow(chain, at, in);
	if (status == 1) {
		status = bands_run(&segment);
		bands_add_times(&segment);
		state_finish(&segment, status == 0);
	}
	frame_free(in);
	if (status < 0) {
		frame_free(segment.out);
		return -1;
	}
	advance(&segment);
	return push(chain, at + segment.n, segment.out);
}

/* One whole input for the stage: converted if need be, then through a map or a flow. */
static int
feed(struct chain *chain, size_t at, struct frame *in)
{
	struct link *link = &chain->link[at];
	struct frame *converted;
	int status;

	if (!link_takes(link, in->head.type)) {
		status = frame_to_float(in, &converted);
		frame_free(in);
		if (status < 0)
			return -1;
		in = converted;
	}
	if (chain->opens)
		placement_open_device(chain);
	if (plan_link(link, &in->head) < 0 ||	/* which may choose a map or a flow */
	    frame_mask_input(link, &in) < 0) {
		frame_free(in);
		return -1;
	}
	return link->run.body->rows || link->run.body->made ? run_segment(chain, at, in) :
	    run_flow(chain, at, in);
}

/* A frame comes to a stage that gathers: does it begin another measurement than what waits? Then
 * that one is lost. */
static int
arrive(struct chain *chain, size_t at, const struct frame_head *head)
{
	struct link *link = &chain->link[at];
	const char *before;
	bool begins = false;
	int status;

	if (!link->run.body->arrives)
		return 0;
	before = warn_stage(link->title);
	status = link->run.body->arrives(&link->run, head, at ? NULL : chain->losses.path,
	    gather_planes(link), link->want, &begins);
	warn_stage(before);
	if (status < 0)
		return -1;
	return begins ? losses_drop_measurement(chain, at) : 0;
}

static int
gather(struct chain *chain, size_t at, struct frame *in)
{
	struct link *link = &chain->link[at];

	if (arrive(chain, at, &in->head) < 0) {
		frame_free(in);
		return -1;
	}
	if (at == 0 && link->waitings == 0)
		chain->losses.first = chain->losses.path;
	return gather_put(link, in) < 0 ? losses_survive_image(chain, at) :
	    losses_feed_gathered(chain, at);
}

/* The first images that a stage holds back are left out, or go on. */
static int
release_held(struct chain *chain, size_t at, size_t images, size_t measurements)
{
	struct link *link = &chain->link[at];
	int status = measurements ? losses_leave_out(chain, at, measurements) : 0;
	const char *path = chain->losses.path;

	for (size_t i = 0; i < images && status == 0; i++) {
		struct held_image held = link->held[0];

		memmove(link->held, link->held + 1, --link->holds * sizeof(held));
		if (measurements) {
			frame_free(held.frame);
			continue;
		}
		chain->losses.path = held.path;
		status = gather(chain, at, held.frame);
	}
	chain->losses.path = path;
	return status;
}

static int
hold(struct chain *chain, size_t at, struct frame *in)
{
	struct link *link = &chain->link[at];
	bool ended = !in;

	if (!link->run.body->holds)
		return in ? gather(chain, at, in) : 0;
	if (in && link->holds == link->held_room) {
		link->held_room = 2 * link->holds + 16;
		link->held = must_resize(link->held, link->held_room, sizeof(*link->held));
	}
	if (in)
		link->held[link->holds++] = (struct held_image){ in, chain->losses.path };
	for (;;) {
		const char *before = warn_stage(link->title);
		size_t images = 0, measurements = 0;
		int status = link->run.body->holds(&link->run, in, ended, &images, &measurements);

		warn_stage(before);
		link->judges |= images != SIZE_MAX;
		images = images < link->holds ? images : link->holds;
		if (status < 0 || images == 0)
			return status;
		if (release_held(chain, at, images, measurements) < 0)
			return -1;
		in = NULL;
	}
}

static int
hand_over(struct chain *chain, size_t at, struct frame *frame)
{
	if (at == 1 && chain->valid && frame_mask_result(chain, frame) < 0) {
		frame_free(frame);
		return -1;
	}
	if (at == chain->n)
		return put(chain, frame);
	if (colour_reduce(&chain->link[at].run, &frame) < 0) {
		frame_free(frame);
		return losses_survive_image(chain, at);
	}
	if (chain->link[at].run.body->gather)
		return hold(chain, at, frame);
	return feed(chain, at, frame) < 0 ? losses_survive(chain, at) : 0;
}

static int
push(struct chain *chain, size_t at, struct frame *frame)
{
	if (hand_over(chain, at, frame) == 0)
		return 0;
	losses_deliver(chain, at);
	return -1;
}

/* What read_ahead_next() has returned. */
static int
take(struct chain *chain, struct read_ahead *reader, int got, struct frame *frame)
{
	losses_enter_file(chain, read_ahead_path(reader));
	if (got == READ_AHEAD_LOST)
		return losses_of_file(chain, read_ahead_lost(reader));
	if (got == READ_AHEAD_SEAM)
		return losses_end_measurement(chain, "folder");
	if (!chain->repeat)
		return push(chain, 0, frame);
	chain->kept = must_resize(chain->kept, chain->keeps + 1, sizeof(*chain->kept));
	chain->kept[chain->keeps++] = frame;
	return 0;
}

/* All frames that the reader gives. Before it waits for one that comes slowly, those under way are
 * complete. */
static int
take_all(struct chain *chain, struct read_ahead *reader)
{
	struct frame *frame;
	int got;

	while ((got = read_ahead_next(reader, &frame)) > 0) {
		chain->waits = read_ahead_has_more(reader);
		if (take(chain, reader, got, frame) < 0)
			return -1;
		chain->delivered = false;
		if (!chain->waits && complete_all(chain) < 0)
			return -1;
	}
	return got < 0 ? -1 : complete_all(chain);
}

/* Takes what was kept so many times. */
static int
repeat(struct chain *chain)
{
	chain->start = progress_seconds();
	chain->waits = true;
	for (size_t i = 0; i < chain->repeat; i++)
		if (push_kept(chain) < 0)
			return -1;
	return complete_all(chain);
}

static int
read_all(struct chain *chain)
{
	struct read_ahead *reader;
	int status;

	chain->how.keep_going = chain->losses.on && !chain->repeat;
	reader = read_ahead_open(chain->operand, chain->operands, &chain->how, chain->pool);
	if (!reader)
		return -1;
	frame_jobs_begin(chain);
	status = take_all(chain, reader);
	if (status == 0 && chain->repeat)
		status = repeat(chain);
	if (status == 0 && (hold(chain, 0, NULL) < 0 || complete_all(chain) < 0))
		status = -1;
	if (status < 0)
		losses_deliver(chain, 0);
	chain->losses.path = chain->losses.first = NULL;
	frame_jobs_end(chain);
	read_ahead_close(reader);
	return status;
}

/* Does the first stage take its operands by itself, or none? */
static bool
starts_itself(const struct chain *chain)
{
	return chain->link[0].run.stage->traits & (STAGE_SOURCE | STAGE_OPERANDS);
}

/* Nothing more comes: remainders are errors, flows complete what they hold. */
static int
finish(struct chain *chain)
{
	for (size_t i = 0; i < chain->n; i++) {
		struct link *link = &chain->link[i];
		const char *before;
		int status;

		if (hold(chain, i, NULL) < 0 || complete_all(chain) < 0 ||
		    device_drain(chain, link, 0, push) < 0 ||
		    losses_break_measurement(chain, i, NULL, "input") < 0 ||
		    second_inputs_end(link) < 0)
			return -1;
		if (!link->run.body->end || (i == 0 && starts_itself(chain)))
			continue;
		before = warn_stage(link->title);
		status = link->run.body->end(&link->run);
		warn_stage(before);
		if (status < 0)
			return -1;
	}
	return 0;
}

/* What has no passes at all is known before the first frame. */
static void
report_without_passes(struct chain *chain)
{
	for (size_t i = 0; i < chain->n && chain->device; i++) {
		struct link *link = &chain->link[i];
		const struct body *body = link->run.body;

		if (link->place == PLACE_DEVICE && !body->passes)
			passes_refused(link,
			    body->no_passes ? body->no_passes : "it has no variant for the device");
	}
}

static void
release(struct chain *chain)
{
	for (size_t i = 0; i < chain->n; i++) {
		struct link *link = &chain->link[i];

		for (size_t k = 0; k < link->waitings; k++)
			frame_free(link->waiting[k]);
		for (size_t k = 0; k < link->holds; k++)
			frame_free(link->held[k].frame);
		free_all(link->held, link->waiting, link->part);
		frame_stacking_free(&link->stacking);
		second_inputs_close(link);
		flow_gpu_end(chain, link);
		if (chain->device)
			device_abandon(chain->device, link);
		frame_jobs_free(link);
		plan_free(link);
		state_free(link);
		free(link->source_channel);
	}
	band_memory_free(chain->memory, (size_t)chain->threads);
	row_shares_free(&chain->shares);
	band_free_producers(&chain->producers);
	for (size_t i = 0; i < chain->keeps; i++)
		frame_free(chain->kept[i]);
	free(chain->kept);
	for (size_t i = 0; i < chain->result_masks; i++)
		frame_free(chain->result_mask[i].mask);
	free(chain->result_mask);
	frame_release_stores();
	if (!chain->device)
		shared_frames_end();
}

/* A run of which no frame had a valid pixel has failed, though its frames are written. The line
 * that says so was printed, unless quiet. */
static int
check_results(struct chain *chain)
{
	for (size_t i = 0; i < chain->n; i++) {
		const struct all_invalid *seen = &chain->link[i].all_invalid;

		if ((!seen->concluded || seen->results) &&
		    (!chain->link[i].mask_judged || chain->link[i].mask_kept))
			continue;
		if (chain->quiet)
			return fail(NULL, "no frame has a valid pixel");
		chain->link[chain->n - 1].run.status = EXIT_FAILED;
	}
	return 0;
}

/* While the pool's threads sleep, for behind its end libgomp's would spin: what is left to write is
 * written, what is left to say is said, all is freed. */
static int
conclude(struct chain *chain, int status)
{
	progress_end();
	if (chain->writer && write_behind_close(chain->writer, status == 0) < 0)
		status = -1;
	if (status == 0)
		times_report(chain);
	chain->losses.ended = status == 0;
	if (status == 0)
		status = losses_conclude(chain);
	if (status == 0)
		status = check_results(chain);
	free(chain->losses.number);
	chain->losses.number = NULL;
	release(chain);
	return status;
}

static int
drive(void *arg, struct thread_pool *pool)
{
	struct chain *chain = arg;
	struct run *first = &chain->link[0].run;
	int status;

	chain->pool = pool;
	report_without_passes(chain);
	status = starts_itself(chain) ? first->body->start(first) : read_all(chain);
	if (status >= 0)
		status = finish(chain);
	return conclude(chain, status);
}

/* A whole number from 1 in the environment, unless *n is set already. -1 after fail_usage(). */
static int
environment_number(const char *name, size_t *n)
{
	const char *text = getenv(name);
	char *end;
	long v;

	if (!text || !*text || *n)
		return 0;
	errno = 0;
	v = strtol(text, &end, 10);
	if (*end || end == text || errno || v < 1)
		return fail_usage(name, "must be a whole number from 1, not '%.40s'", text);
	*n = (size_t)v;
	return 0;
}

/* Do the images come as a camera takes them, by a pipe or socket or into a followed folder? */
static bool
reads_stream(const struct chain *chain)
{
	const char *path = chain->operands ? chain->operand[0] : "-";
	struct stat st;

	if (chain->how.follow)
		return true;
	if (chain->operands > 1 || starts_itself(chain) ||
	    (strcmp(path, "-") ? stat(path, &st) : fstat(STDIN_FILENO, &st)) < 0)
		return false;
	return S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode);
}

int
chain_run(struct chain *chain)
{
	if (environment_number("FRINGEPIPE_BAND", &chain->band) < 0 ||
	    environment_number("FRINGEPIPE_REPEAT", &chain->repeat) < 0)
		return -1;
	chain->start = progress_seconds();
	chain->push = push;
	chain->feed = feed;
	chain->hold = hold;
	chain->losses.stream = reads_stream(chain);
	chain->losses.on &= chain->repeat == 0;
	row_shares_init(&chain->shares);
	chain->memory = band_memory_new((size_t)chain->threads);
	if (!chain->device && !chain->output)
		shared_frames_begin(STDOUT_FILENO);
	progress_start(!chain->quiet && isatty(STDERR_FILENO));
	return thread_pool_run(chain->threads, drive, chain);
}
