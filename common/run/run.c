/* What stages call of the runner (run.h). Others are in plan.c (run_pass) and second_input.c
 * (run_second_input). */
#include "run/run.h"

#include <math.h>

#include "base/process.h"
#include "run/bands.h"
#include "run/losses.h"
#include "run/sampler.h"
#include "run/second_input.h"
#include "run/segment.h"

int
run_emit(struct run *run, struct frame *frame)
{
	double start;
	int status;

	meta_append_command(&frame->head.meta, run->link->command);
	if (run->body->frame) {
		all_invalid_emit(&run->link->all_invalid, frame);
		all_invalid_warn(&run->link->all_invalid, &frame->head, run->stage->hint,
		    run->position == 0);
		checks_flow_emit(run->link, frame);
	}
	start = progress_seconds();
	status = run->chain->push(run->chain, run->position + 1, frame);
	run->link->after_s += progress_seconds() - start;
	return status;
}

int
run_emit_if(struct run *run, int status, struct frame *frame)
{
	if (status == 0)
		return run_emit(run, frame);
	frame_free(frame);
	return -1;
}

size_t
run_take_word(struct run *run, const char *const *words, size_t n)
{
	size_t i = 0;

	while (i < n && !(run->operands && !strcmp(run->operand[0], words[i])))
		i++;
	if (i < n) {
		run->operand++;
		run->operands--;
	}
	return i;
}

bool
run_keeps_going(const struct run *run)
{
	return run->chain->losses.on;
}

bool
run_reads_stream(const struct run *run)
{
	return run->chain->losses.stream;
}

size_t
run_inputs(const struct run *run)
{
	return run->link->inputs;
}

void
run_begin_input(struct run *run)
{
	run->link->inputs++;
}

int
run_lose_input(struct run *run)
{
	return losses_of_input(run->chain, run->position);
}

struct for_job {
	void (*fn)(void *arg, size_t i);
	void *arg;
};

static void
for_item(void *arg, size_t item, int)
{
	const struct for_job *job = arg;

	job->fn(job->arg, item);
}

void
run_for(struct run *run, size_t n, void (*fn)(void *arg, size_t i), void *arg)
{
	struct for_job job = { fn, arg };

	thread_pool_for(run ? run->chain->pool : NULL, n, for_item, &job);
}

int
run_save_options(struct run *run, const struct opt *table, const void *values)
{
	return save_options_set(&run->chain->save, (struct save_options){ table, values });
}

struct frame_head *
run_output(const struct run *run)
{
	return &run->link->out;
}

int
run_number(const struct run *, double option, const struct frame_head *head, const char *key,
    double otherwise, double *out)
{
	if (!isnan(option)) {
		*out = option;
		return 0;
	}
	return meta_number(&head->meta, key, otherwise, out);
}

int
run_numbers(const struct run *, const struct numbers *option, const struct frame_head *head,
    const char *key, struct numbers *out)
{
	if (option->n == 0)
		return meta_numbers(&head->meta, key, out);
	out->v = must_resize(NULL, option->n, sizeof(*out->v));
	memcpy(out->v, option->v, option->n * sizeof(*out->v));
	out->n = option->n;
	return 0;
}

int
run_channel(const struct run *run, const struct frame_head *head, const char *name, size_t *c)
{
	struct frame_head own = *head;
	char names[300];

	*c = head_channel(head, name);
	if (*c != NO_CHANNEL)
		return 0;
	own.c -= second_inputs_channels(run->link);	/* which stand last, by names of ours */
	return fail(run->chain->n > 1 ? run->stage->name : NULL,
	    "input has no channel %s, only: %s", name, head_channels_hint(&own, names));
}

size_t
run_state_in(const struct run *run, size_t i)
{
	return run->link->in.c + i;
}

size_t
run_state_out(const struct run *run, size_t i)
{
	return run->link->out.c + i;
}

void
run_forget_state(struct run *run)
{
	state_free(run->link);
}
