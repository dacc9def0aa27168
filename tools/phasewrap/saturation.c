#define _GNU_SOURCE
#include "saturation.h"

#include <stdlib.h>

#include "base/fail.h"
#include "image/coarse_grid.h"

#define PIXELS 4096		/* of a plane, about */
#define LEAST 8			/* pixels at the top that are no chance, */
#define SHARE 0.001		/* nor is this share of them */

int
saturation_plan(struct saturation *saturation, const struct frame_head *head, bool known,
    size_t planes)
{
	saturation->step = coarse_grid_step(head->w, head->h, PIXELS);
	saturation->rows = coarse_grid_count(head->h, saturation->step);
	saturation->pixels =
	    saturation->rows * coarse_grid_count(head->w, saturation->step) * planes;
	saturation->off |= known || head->type != SAMPLE_USHORT;
	free(saturation->top);
	saturation->top = calloc(saturation->rows + 1, sizeof(*saturation->top));
	return saturation->top ? 0 : fail_memory();
}

void
saturation_free(struct saturation *saturation)
{
	free(saturation->top);
	saturation->top = NULL;
}

/* Of two counts of largest values the one that holds for both. */
static uint64_t
join(uint64_t a, uint64_t b)
{
	if (a >> 32 == b >> 32)
		return a + (b & UINT32_MAX);
	return a > b ? a : b;
}

static uint64_t
look(const struct saturation *saturation, const struct capture_fringe *fringe,
    const struct frame *frame, size_t y, uint64_t top)
{
	for (size_t i = 0; i < fringe->n; i++) {
		const uint16_t *row = frame_row(frame, fringe->plane[i], y);

		for (size_t x = 0; x < frame->head.w; x += saturation->step)
			top = join(top, (uint64_t)row[x] << 32 | 1);
	}
	return top;
}

/* Bands may share rows: both store the same. */
void
saturation_row(const struct saturation *saturation, const struct capture_set *captures,
    const struct frame *frame, size_t y)
{
	uint64_t top = 0;

	if (saturation->off || y % saturation->step)
		return;
	for (size_t k = 0; k < captures->fringes; k++)
		top = look(saturation, &captures->fringe[k], frame, y, top);
	__atomic_store_n(&saturation->top[y / saturation->step], top, __ATOMIC_RELAXED);
}

void
saturation_warn(struct saturation *saturation)
{
	uint64_t top = 0, value, n;

	if (saturation->off)
		return;
	for (size_t y = 0; y < saturation->rows; y++) {
		top = join(top, saturation->top[y]);
		saturation->top[y] = 0;
	}
	value = top >> 32;
	n = top & UINT32_MAX;
	if (n < LEAST || (double)n < SHARE * (double)saturation->pixels)
		return;
	for (unsigned bits = 8; bits < 16; bits++) {
		uint64_t most = (1u << bits) - 1;

		if (value != most && value != most << (16 - bits))
			continue;
		warn(NULL, "many pixels are %u, the most of %u bits, and none is above: "
		    "if the camera saturates there give --max-value %u", (unsigned)value,
		    bits, (unsigned)value);
		saturation->off = true;
		return;
	}
}
