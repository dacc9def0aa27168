/* rectify on the device: a pass for each channel, and the map as a table. */
#include "rectify.h"

#include <string.h>

#include "rectify.block.h"
#include "run/passes.h"
#include "run/stage.h"

int
rectify_passes(struct run *run, struct passes *passes)
{
	const struct rectify *rectify = run->priv;
	const struct source_map *map = &rectify->map;
	const struct frame_head *in = passes_input(passes);

	if (passes_constant(passes, map->column,
	    2 * map->stride * map->geometry.h * sizeof(*map->column)) < 0)
		return -1;
	for (size_t c = 0; c < rectify->channels; c++) {
		const struct rectify_channel *channel = &rectify->channel[c];
		const struct rectify_block block = { (uint)c, (uint)in->type, channel->kind,
			rectify->cubic, (uint)map->stride, (uint)map->geometry.h,
			channel->max_step, channel->saturated };
		const struct pass pass = { .shader = SHADER(rectify), .block = &block,
			.bytes = sizeof(block), PASS_PIXELS };

		passes_read(passes, c);
		if (passes_add(passes, &pass) < 0)
			return -1;
	}
	return 0;
}

/* The frame with rows below it, which no place of the map lies in. */
static int
with_rows(const struct frame *in, size_t h, struct frame **out)
{
	struct frame_head head;
	int status;

	if (head_copy(&head, &in->head) < 0)
		return -1;
	head.h = h;
	status = frame_new(&head, out);
	head_free(&head);
	for (size_t c = 0; status == 0 && c < in->head.c; c++)
		for (size_t y = 0; y < h; y++) {
			if (y < in->head.h)
				frame_pass(in, c, *out, c, y);
			else
				memset(frame_row(*out, c, y), 0, (*out)->plane[c].stride);
		}
	return status;
}

int
rectify_frame_on_device(struct run *run, const struct rectify *rectify, struct frame *in,
    struct frame **out)
{
	size_t rows = rectify->out.h;
	struct frame_head head;
	struct frame *taller = NULL;
	int status;

	*out = NULL;
	if (!run_wants_device(run))
		return 0;
	if (head_copy(&head, &rectify->out) < 0)
		return -1;
	/* passes keep the height: the taller of both, and what is too much is cut off */
	head.h = rows > in->head.h ? rows : in->head.h;
	run->halo = head.h;
	status = head.h > in->head.h ? with_rows(in, head.h, &taller) : 0;
	if (status == 0)
		status = run_passes(run, taller ? taller : in, &head, out);
	if (*out)
		(*out)->head.h = rows;
	frame_free(taller);
	head_free(&head);
	return status;
}
