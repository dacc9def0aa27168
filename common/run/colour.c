/* Converts colour images to the planes that a stage reads. */
#include "run/colour.h"

#include <string.h>

static bool
is_colour(const struct frame_head *head)
{
	return (head->c == 3 || head->c == 4) && head_channel(head, "r") == 0 &&
	    head_channel(head, "g") == 1 && head_channel(head, "b") == 2;
}

static bool
planes_equal(const struct frame *frame, size_t a, size_t b)
{
	size_t bytes = frame->head.w * sample_size(frame->head.type);

	for (size_t y = 0; y < frame->head.h; y++)
		if (memcmp(frame_row(frame, a, y), frame_row(frame, b, y), bytes))
			return false;
	return true;
}

static bool
takes_rgb(const struct stage *stage)
{
	for (const struct opt *opt = stage->options; opt->name; opt++)
		if (!strcmp(opt->name, "rgb"))
			return true;
	return false;
}

int
colour_reduce(const struct run *run, struct frame **frame)
{
	size_t channel[3] = { 0, 1, 2 }, n = 1;
	struct frame *reduced;

	const struct frame_head *head = &(*frame)->head;
	bool grey_alpha = head->c == 2 && !strcmp(head->channel[1], "a");

	if (run->colour == COLOUR_PLANES && !is_colour(head))
		return fail("--rgb", "image is not in colour: channel %.40s where r g b should be",
		    head->channel[0]);
	if (run->colour == COLOUR_KEEP || (!grey_alpha && !is_colour(head)))
		return 0;
	if (grey_alpha)
		n = 1;		/* opacity is no capture */
	else if (run->colour == COLOUR_PLANES)
		n = 3;
	else if (run->colour != COLOUR_GREY)
		channel[0] = (size_t)run->colour - COLOUR_RED;
	else if (!planes_equal(*frame, 0, 1) || !planes_equal(*frame, 0, 2))
		return fail(NULL, "image is in colour: name one with --channel, %s",
		    takes_rgb(run->stage) ? "or say --rgb if its three planes are three captures" :
		    "red where a red laser or light made it");
	if (frame_select(*frame, channel, n, &reduced) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		strcpy(reduced->head.channel[i], "image");
	frame_free(*frame);
	*frame = reduced;
	return 0;
}
