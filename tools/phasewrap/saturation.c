#define _GNU_SOURCE
#include "saturation.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "image/coarse_grid.h"

#define PIXELS 4096		/* of a plane of 16 bits, about, */
#define PIXELS_OF_BYTES 1024	/* and of 8 bits, whose values are few */
#define LEAST 8			/* pixels at the top that are no chance, */
#define SHARE 0.001		/* nor is this share of them */
/*
 * A plateau at any other value: so many pixels, and as many times those of the fullest one of the
 * values below, of which so many occur. Of sinusoidal fringes without noise and saturation the crest
 * has at most 1 / (sqrt 2 - 1) = 2.4 times the pixels of the next level. Where levels below do not
 * occur, as of square fringes or of few phases, nothing tells.
 */
#define PLATEAU_LEAST 30
#define PLATEAU_SHARE 0.003	/* of 8 bits; */
#define PLATEAU_SHARE_16 0.05	/* a projector of 8 bits has a flat crest on 3 % of a period */
#define PLATEAU_RATIO 4
#define PLATEAU_OCCUR 6

int
saturation_plan(struct saturation *saturation, const struct frame_head *head, bool known,
    size_t planes)
{
	saturation->type = head->type;
	saturation->step = coarse_grid_step(head->w, head->h,
	    head->type == SAMPLE_UCHAR ? PIXELS_OF_BYTES : PIXELS);
	saturation->rows = coarse_grid_count(head->h, saturation->step);
	saturation->pixels =
	    saturation->rows * coarse_grid_count(head->w, saturation->step) * planes;
	saturation->off |= known || head->type == SAMPLE_FLOAT;
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

/* Makes room for a larger value. */
static void
raise_top(struct saturation_top *top, uint32_t value)
{
	size_t by = value - top->value, size = SATURATION_BELOW + 1;

	by = by < size ? by : size;
	memmove(top->n + by, top->n, (size - by) * sizeof(*top->n));
	memset(top->n, 0, by * sizeof(*top->n));
	top->value = value;
}

static inline void
add(struct saturation_top *top, uint32_t value, uint32_t pixels)
{
	if (value > top->value)
		raise_top(top, value);
	if (top->value - value <= SATURATION_BELOW)
		top->n[top->value - value] += pixels;
}

static void
look(const struct saturation *saturation, const struct capture_fringe *fringe,
    const struct frame *frame, size_t y, struct saturation_top *top)
{
	/* rows begin at other columns: fringes of few pixels would be seen at few phases */
	size_t first = y / saturation->step * 5 % 8 * saturation->step / 8;

	for (size_t i = 0; i < fringe->n; i++) {
		const void *row = frame_row(frame, fringe->plane[i], y);

		if (saturation->type == SAMPLE_UCHAR)
			for (size_t x = first; x < frame->head.w; x += saturation->step)
				add(top, ((const uint8_t *)row)[x], 1);
		else
			for (size_t x = first; x < frame->head.w; x += saturation->step)
				add(top, ((const uint16_t *)row)[x], 1);
	}
}

/* Bands may share rows: both store the same. */
void
saturation_row(const struct saturation *saturation, const struct capture_set *captures,
    const struct frame *frame, size_t y)
{
	struct saturation_top top = { 0 }, *to;

	if (saturation->off || y % saturation->step)
		return;
	for (size_t k = 0; k < captures->fringes; k++)
		look(saturation, &captures->fringe[k], frame, y, &top);
	to = &saturation->top[y / saturation->step];
	__atomic_store_n(&to->value, top.value, __ATOMIC_RELAXED);
	for (size_t i = 0; i <= SATURATION_BELOW; i++)
		__atomic_store_n(&to->n[i], top.n[i], __ATOMIC_RELAXED);
}

/* Is it the most of 8 to 15 bits, of 16 that stand below or above? Then how many; else 0. */
static unsigned
full_bits(uint32_t value)
{
	for (unsigned bits = 8; bits < 16; bits++) {
		uint32_t most = (1u << bits) - 1;

		if (value == most || value == most << (16 - bits))
			return bits;
	}
	return 0;
}

/* Have so many pixels the largest value that the camera, or what stands behind it, ends there? */
static bool
is_plateau(const struct saturation *saturation, const struct saturation_top *top)
{
	double share = saturation->type == SAMPLE_UCHAR ? PLATEAU_SHARE : PLATEAU_SHARE_16;
	uint32_t fullest = 0, occur = 0;

	for (size_t i = 1; i <= SATURATION_BELOW; i++) {
		fullest = top->n[i] > fullest ? top->n[i] : fullest;
		occur += top->n[i] > 0;
	}
	return occur >= PLATEAU_OCCUR && top->n[0] >= PLATEAU_LEAST &&
	    (double)top->n[0] >= share * (double)saturation->pixels &&
	    (double)top->n[0] > PLATEAU_RATIO * (double)fullest;
}

void
saturation_warn(struct saturation *saturation, const struct image_names *names)
{
	struct saturation_top top = { 0 };
	char where[IMAGE_NAME_SIZE];
	const char *object = image_names_where(names, where);
	unsigned bits;

	if (saturation->off)
		return;
	for (size_t y = 0; y < saturation->rows; y++) {
		const struct saturation_top *row = &saturation->top[y];

		for (size_t i = 0; i <= SATURATION_BELOW && i <= row->value; i++)
			add(&top, row->value - (uint32_t)i, row->n[i]);
	}
	memset(saturation->top, 0, saturation->rows * sizeof(*saturation->top));
	bits = saturation->type == SAMPLE_USHORT ? full_bits(top.value) : 0;
	if (bits && top.n[0] >= LEAST &&
	    (double)top.n[0] >= SHARE * (double)saturation->pixels) {
		warn(object, "many pixels are %u, the most of %u bits, and none is above: "
		    "if the camera saturates there give --max-value %u", top.value, bits,
		    top.value);
		saturation->off = true;
	} else if (top.value < (saturation->type == SAMPLE_UCHAR ? UINT8_MAX : UINT16_MAX) &&
	    is_plateau(saturation, &top)) {
		warn(object, "%.1f %% of the fringe images' samples are exactly %u, and none is "
		    "above: if the camera saturates there give --max-value %u",
		    100.0 * top.n[0] / (double)saturation->pixels, top.value, top.value);
		saturation->off = true;
	}
}
