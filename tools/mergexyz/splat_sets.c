#include "splat_sets.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"

int
splat_sets_open(struct splat_sets *sets, size_t views, double late_s)
{
	sets->views = views;
	sets->late_s = late_s;
	sets->queue = calloc(views, sizeof(*sets->queue));
	for (size_t k = 0; sets->queue && k < views; k++)
		sets->queue[k].last_s = -INFINITY;
	return sets->queue ? 0 : fail_memory();
}

static struct frame *
pop(struct splat_queue *queue)
{
	struct frame *frame = queue->frame[queue->first];

	queue->first = (queue->first + 1) % SPLAT_SETS_WAIT;
	queue->n--;
	return frame;
}

void
splat_sets_close(struct splat_sets *sets)
{
	for (size_t k = 0; sets->queue && k < sets->views; k++)
		while (sets->queue[k].n)
			frame_free(pop(&sets->queue[k]));
	free(sets->queue);
	sets->queue = NULL;
}

/* The mean of a measurement's times; NaN: it has none. */
static int
read_time(const struct frame_head *head, size_t view, double *time_s)
{
	if (meta_mean(&head->meta, "time_s", time_s) < 0)
		return -1;
	return isinf(*time_s) ? fail(NULL, "view %zu: key time_s must be a time in seconds",
	    view + 1) : 0;
}

int
splat_sets_add(struct splat_sets *sets, size_t view, struct frame *frame, const struct pose *pose)
{
	struct splat_queue *queue = &sets->queue[view];
	size_t last = (queue->first + queue->n) % SPLAT_SETS_WAIT;
	double before = queue->last_s;

	if (queue->n == SPLAT_SETS_WAIT) {
		frame_free(frame);
		return fail(NULL, "view %zu runs more than %d sets ahead of another one, by their "
		    "time_s", view + 1, SPLAT_SETS_WAIT);
	}
	if (read_time(&frame->head, view, &queue->time_s[last]) < 0) {
		frame_free(frame);
		return -1;
	}
	queue->frame[last] = frame;
	queue->pose[last] = *pose;
	queue->n++;
	if (isnan(queue->time_s[last]))
		sets->untimed = true;
	else
		sets->timed = true;
	queue->last_s = queue->time_s[last];
	if (queue->last_s < before)
		return fail(NULL, "view %zu: key time_s falls, from %.9g s to %.9g s", view + 1,
		    before, queue->time_s[last]);
	return 0;
}

/* The least of the times that wait, and the greatest; false where a stream has nothing that waits.
 */
static bool
find_times(const struct splat_sets *sets, double *least, double *most)
{
	*least = INFINITY;
	*most = -INFINITY;
	for (size_t k = 0; k < sets->views; k++) {
		const struct splat_queue *queue = &sets->queue[k];

		if (queue->n == 0)
			return false;
		*least = fmin(*least, queue->time_s[queue->first]);
		*most = fmax(*most, queue->time_s[queue->first]);
	}
	return true;
}

/* Drops the frames of the least time, which some stream lacks. */
static void
drop(struct splat_sets *sets, double least)
{
	for (size_t k = 0; k < sets->views; k++) {
		struct splat_queue *queue = &sets->queue[k];

		if (queue->n && queue->time_s[queue->first] <= least + sets->late_s)
			frame_free(pop(queue));
	}
	sets->dropped++;
}

bool
splat_sets_take(struct splat_sets *sets, struct frame **set, struct pose *pose)
{
	double least, most;

	while (find_times(sets, &least, &most)) {
		if (!sets->untimed && most - least > sets->late_s) {
			drop(sets, least);
			continue;
		}
		for (size_t k = 0; k < sets->views; k++) {
			pose[k] = sets->queue[k].pose[sets->queue[k].first];
			set[k] = pop(&sets->queue[k]);
		}
		sets->sets++;
		return true;
	}
	return false;
}

void
splat_sets_end(struct splat_sets *sets)
{
	for (;;) {
		double least = INFINITY;

		for (size_t k = 0; k < sets->views; k++)
			if (sets->queue[k].n)
				least = fmin(least, sets->queue[k].time_s[sets->queue[k].first]);
		if (!(least < INFINITY))
			return;
		drop(sets, least);
	}
}
