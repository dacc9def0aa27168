/*
 * Plans a chain for a head: calls the plan of every stage, and divides the stages into segments,
 * each on the processor or on the device.
 */
#include "base/process.h"
#include "base/text.h"
#include "run/chain.h"

#include "run/bands.h"
#include "run/cost_model.h"
#include "run/device.h"
#include "run/frame_jobs.h"
#include "run/sampler.h"
#include "run/second_input.h"
#include "run/segment.h"

void
plan_free(struct link *link)
{
	if (!link->planned)
		return;
	head_free(&link->in);
	head_free(&link->out);
	link->planned = false;
}

void
run_pass(struct run *run, size_t out_c, size_t in_c)
{
	struct link *link = run->link;

	if (out_c >= link->source_channels)
		link->source_channel = must_resize(link->source_channel, out_c + 1,
		    sizeof(*link->source_channel));
	while (link->source_channels <= out_c)
		link->source_channel[link->source_channels++] = NO_CHANNEL;
	link->source_channel[out_c] = in_c;
}

int
run_pass_others(struct run *run, struct frame_head *out, const char *before, const char *replaced,
    const char *behind)
{
	size_t n = meta_words(before);
	char *names = must_alloc(strlen(before) + strlen(behind) + 2 +
	    out->c * (CHANNEL_NAME_SIZE + 1), 1), *end = stpcpy(names, before);
	int status;

	for (size_t c = 0; c < out->c; c++)
		if (!words_have(replaced, out->channel[c])) {
			run_pass(run, n++, c);
			end = stpcpy(stpcpy(end, end == names ? "" : " "), out->channel[c]);
		}
	stpcpy(stpcpy(end, end == names ? "" : " "), behind);
	status = head_set_channels(out, names);
	free(names);
	return status;
}

void
run_pass_rows(const struct run *run, const struct frame *in, struct frame *out, size_t y0,
    size_t y1)
{
	const struct link *link = run->link;

	for (size_t y = y0; y < y1; y++)
		for (size_t c = 0; c < link->source_channels; c++)
			if (link->source_channel[c] != NO_CHANNEL)
				frame_pass(in, link->source_channel[c], out, c, y);
}

/* Completes all frames under way that go through any link from `first` to `last`: they may need
 * what the links were planned with. Frames that end before `first` come behind the one at hand. */
static int
drain_span(struct chain *chain, size_t first, size_t last)
{
	for (size_t i = 0; i <= last; i++)
		if (frame_jobs_drain(chain, &chain->link[i], first, chain->push) < 0 ||
		    device_drain(chain, &chain->link[i], first, chain->push) < 0)
			return -1;
	return 0;
}

static int
drain_before(struct link *link)
{
	return drain_span(link->run.chain, link->run.position, link->run.position);
}

/* Is the last plan good for this head, with the second inputs of now? */
static bool
is_planned_for(const struct link *link, const struct frame_head *head)
{
	struct frame_head own = link->in;

	if (!link->planned || link->in.c != head->c + second_inputs_channels(link))
		return false;
	own.c = head->c;
	return (head_equal(&own, head) || head_same_table(&own, head)) &&
	    second_inputs_planned(link);
}

/* A stage that takes images gets no table. */
static int
check_table(const struct link *link, const struct frame_head *head)
{
	size_t points;

	if (!head_is_table(head))
		return 0;
	if (head_points(head, &points) < 0)
		return -1;
	if (link->run.stage->traits & STAGE_TABLES)
		return 0;
	return fail(link->run.chain->n > 1 ? link->run.stage->name : NULL,
	    "input is a table of %zu points, not an image", points);
}

/* In a chain a stage's message begins with its name, as its warnings do. */
static void
name_stage(const struct link *link)
{
	if (*link->title && !fail_is_about(link->title) && !fail_is_memory())
		fail_prefix(link->title);
}

/* The plan stays, but the table has another number of rows. */
static int
take_points(struct link *link, const struct frame_head *head)
{
	size_t points;

	if (!head_is_table(head))
		return 0;
	if (second_inputs_check_size(link, head) < 0 || head_points(head, &points) < 0)
		return -1;
	head_set_points(&link->in, points);
	if (head_is_table(&link->out))
		head_set_points(&link->out, points);
	return 0;
}

int
plan_link(struct link *link, const struct frame_head *head)
{
	const struct stage *stage = link->run.stage;
	struct frame_head in;
	const char *before, *scale;
	int status;

	if (second_inputs_read(link) < 0)
		return -1;
	if (check_table(link, head) < 0)
		return -1;
	/* as whole numbers they would be taken for millimetres or radians */
	scale = meta_get(&head->meta, "sample_scale");
	if (stage->traits & STAGE_UNITS && scale)
		return fail(link->run.chain->n > 1 ? stage->name : NULL, "samples are scaled (key "
		    "sample_scale, %.60s): framecat --unscale undoes that", scale);
	if (is_planned_for(link, head))
		return take_points(link, head);
	/* the last frames of the old heads leave the stage before the new ones are planned */
	if (drain_before(link) < 0 || second_inputs_widen_head(link, head, &in) < 0)
		return -1;
	status = link->planned && link->run.body->flush ?
	    link->run.body->flush(&link->run, &in) : 0;
	if (status >= 0)
		plan_free(link);
	if (status < 0) {
		head_free(&in);
		return -1;
	}
	head_copy(&link->out, head);
	link->in = in;
	link->planned = link->planned_anew = true;
	link->source_channels = link->made = 0;
	link->run.state = link->run.scratch_bytes = 0;
	link->out.type = SAMPLE_FLOAT;
	checks_begin_plan(link);
	before = warn_stage(link->title);
	status = stage->plan ? stage->plan(&link->run, &link->in, &link->out) : 0;
	if (status < 0)
		name_stage(link);
	warn_stage(before);
	if (status == 0 && link->run.body->rows)
		meta_append_command(&link->out.meta, link->command);
	if (status == 0 && link->run.body->rows && link->out.h != link->in.h)
		status = fail(NULL, "internal error: a map changed the height");
	if (status == 0 && link->run.body->rows && head_is_table(&link->in) &&
	    (!head_is_table(&link->out) || link->out.w != link->in.w || link->run.halo))
		status = fail(NULL, "internal error: a map changed a table's rows");
	if (status < 0)
		plan_free(link);
	else
		checks_end_plan(link);
	return status;
}

/* Can this link follow the planned ones of a segment? A flow can on the device, unless the
 * processor could not compute the frame again for it. */
static bool
joins(const struct segment *segment, enum sample type)
{
	const struct link *link = &segment->link[segment->n];
	const struct body *body = link->run.body;

	if (body->gather || body->survey || !link_takes(link, type))
		return false;
	return body->rows || (body->made && segment->chain->device && !state_used(segment));
}

/* The survey sees the frame with the second inputs behind its own planes, which are borrowed. */
static int
survey(struct link *link, const struct frame *in)
{
	struct frame view = { .head = link->in };
	const char *before;
	int status;

	if (!link->run.body->survey)
		return 0;
	/* checks of the frames in flight, and the processor where the device is lost, read what a
	 * survey changes */
	if ((link->checks || link->on_device) && drain_before(link) < 0)
		return -1;
	view.plane = must_alloc(link->in.c, sizeof(*view.plane));
	memcpy(view.plane, in->plane, in->head.c * sizeof(*view.plane));
	second_inputs_lend(link, view.plane + in->head.c);
	before = warn_stage(link->title);
	status = link->run.body->survey(&link->run, &view);
	if (status < 0)
		name_stage(link);
	warn_stage(before);
	free(view.plane);
	return status;
}

/* Could the device do this? After plan, and after each survey. *anew: that was asked again. */
static int
plan_passes(struct chain *chain, struct link *link, bool *anew)
{
	bool again = link->planned_anew || link->run.body->survey;

	link->planned_anew = false;
	if (!chain->device || link->place == PLACE_PROCESSOR || !again)
		return 0;
	*anew = true;
	if (drain_before(link) < 0)
		return -1;
	if (gpu_lost(chain->device) && link->place == PLACE_AUTO) {
		link->able = false;
		return 0;
	}
	return passes_plan(chain->device, link, &link->able);
}

/* Plans the maps from the segment's first on, as many as can go together on one side. SURVEY_SKIPS:
 * the frame gives no output. */
static int
plan_maps(struct segment *segment, bool *anew)
{
	struct chain *chain = segment->chain;
	const struct frame_head *head = &segment->in->head;
	size_t at = segment->link->run.position;
	int status;

	segment->n = 0;
	do {
		struct link *link = &segment->link[segment->n];

		if (plan_link(link, head) < 0)
			return -1;
		if (segment->n > 0 && link->run.body->survey)
			break;		/* as its plan has found */
		/* the survey before the next plan: it may set values of the metadata */
		status = segment->n == 0 ? survey(link, segment->in) : 0;
		if (status != 0)
			return status;
		if (plan_passes(chain, link, anew) < 0)
			return -1;
		head = &link->out;
		segment->n++;
	} while (!segment->link->masks_result && segment->n < SEGMENT_MOST &&
	    at + segment->n < chain->n && segment_maps(segment) == segment->n &&
	    joins(segment, head->type));
	return 0;
}

/* Decides which of the planned maps the device shall do; *moved: some change sides. */
static int
apply_placement(struct segment *segment, bool *moved)
{
	struct chain *chain = segment->chain;
	size_t first = segment->link->run.position;
	bool on_device[SEGMENT_MOST];

	*moved = false;
	placement_choose(segment, on_device);
	for (size_t k = 0; k < segment->n; k++)
		*moved |= on_device[k] != segment->link[k].on_device;
	if (*moved && drain_span(chain, first, first + segment->n - 1) < 0)
		return -1;
	for (size_t k = 0; k < segment->n; k++)
		segment->link[k].on_device = on_device[k];
	return 0;
}

/* The segment: planned maps that go together on one side, or a flow alone. Frames that were
 * completed meanwhile may have been planned otherwise, so that maps are planned again once they
 * have changed sides. */
int
plan_segment(struct segment *segment)
{
	bool anew = false, moved;
	size_t n = 1;
	int status;

	status = plan_maps(segment, &anew);
	if (status != 0)
		return status;
	while (anew) {
		anew = false;
		if (apply_placement(segment, &moved) < 0)
			return -1;
		status = moved ? plan_maps(segment, &anew) : 0;
		if (status != 0)
			return status;
	}
	while (n < segment->n && segment->link[n].on_device == segment->link->on_device &&
	    (segment->link[n].on_device || segment->link[n].run.body->rows))
		n++;
	segment->n = n;
	segment->h = segment->in->head.h;
	return 0;
}
