#include "palette.h"

#include <stdint.h>
#include <string.h>

#include "base/fail.h"

#define MOST 256   /* colours in a palette */
#define SLOTS 1024 /* a power of two, well above the number of colours */
#define PIXELS_LEAST 2048
#define EMPTY UINT32_MAX

/* Adds a colour, where it is not there yet. How many are there then. */
static size_t
add(uint32_t slot[SLOTS], size_t colours, uint32_t colour)
{
	size_t i = colour * 2654435761u % SLOTS;

	while (slot[i] != EMPTY && slot[i] != colour)
		i = (i + 1) % SLOTS;
	if (slot[i] == colour)
		return colours;
	slot[i] = colour;
	return colours + 1;
}

/* Up to MOST, or MOST + 1 where there are more, or the picture is too small to tell. */
static size_t
count_colours(const struct frame *frame, size_t row_step)
{
	uint32_t slot[SLOTS];
	size_t colours = 0, pixels = 0;

	if (frame->head.type != SAMPLE_UCHAR || frame->head.c < 3)
		return MOST + 1;
	memset(slot, 0xff, sizeof(slot));
	for (size_t y = 0; y < frame->head.h; y += row_step) {
		const uint8_t *r = frame_row(frame, 0, y), *g = frame_row(frame, 1, y);
		const uint8_t *b = frame_row(frame, 2, y);

		for (size_t x = 0; x < frame->head.w; x++) {
			uint32_t colour = (uint32_t)r[x] << 16 | (uint32_t)g[x] << 8 | b[x];

			colours = add(slot, colours, colour);
			if (colours > MOST)
				return colours;
		}
		pixels += frame->head.w;
	}
	return pixels < PIXELS_LEAST ? MOST + 1 : colours;
}

void
palette_warn(const struct frame *frame, size_t row_step, bool *warned)
{
	size_t colours = *warned ? MOST + 1 : count_colours(frame, row_step);

	if (colours > MOST)
		return;
	*warned = true;
	warn(NULL,
	    "the picture has only %zu colours, as a palette leaves: its depths are far off "
	    "(save it with 24 bits a pixel)",
	    colours);
}
