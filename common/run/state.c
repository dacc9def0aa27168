#include "run/state.h"

#include <math.h>

static bool
fits(const struct link *link, const struct frame *state)
{
	return state->head.c == link->run.state && state->head.w == link->out.w &&
	    state->head.h == link->out.h;
}

static int
new_planes(const struct link *link, struct frame **state)
{
	struct frame_head head;
	int status = head_init(&head, link->out.w, link->out.h, link->run.state, SAMPLE_FLOAT);

	if (status == 0)
		status = frame_new(&head, state);
	head_free(&head);
	return status;
}

/* Nothing is remembered before the first frame. */
static int
new_unknown(struct link *link)
{
	struct frame *state;

	if (new_planes(link, &state) < 0)
		return -1;
	for (size_t c = 0; c < state->head.c; c++)
		for (size_t y = 0; y < state->head.h; y++) {
			float *row = frame_floats(state, c, y);

			for (size_t x = 0; x < state->head.w; x++)
				row[x] = NAN;
		}
	link->state[0] = state;
	return 0;
}

int
state_begin(struct segment *segment)
{
	for (size_t k = 0; k < segment->n; k++) {
		struct link *link = &segment->link[k];

		if (link->state[0] && !fits(link, link->state[0]))
			state_free(link);
		if (link->run.state == 0)
			continue;
		if (!link->state[0] && new_unknown(link) < 0)
			return -1;
		if (!link->state[1] && new_planes(link, &link->state[1]) < 0)
			return -1;
	}
	return 0;
}

/* The two frames change places, so that no frame takes memory; the next one is written whole. */
void
state_finish(struct segment *segment, bool keep)
{
	for (size_t k = 0; k < segment->n && keep; k++) {
		struct link *link = &segment->link[k];
		struct frame *last = link->state[0];

		if (!link->state[1])
			continue;
		link->state[0] = link->state[1];
		link->state[1] = last;
	}
}

bool
state_used(const struct segment *segment)
{
	for (size_t k = 0; k < segment->n; k++)
		if (segment->link[k].run.state)
			return true;
	return false;
}

void
state_free(struct link *link)
{
	for (int i = 0; i < 2; i++) {
		frame_free(link->state[i]);
		link->state[i] = NULL;
	}
}
