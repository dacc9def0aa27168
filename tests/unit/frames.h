/* What the unit tests share: cmocka, and frames with known content. */
#ifndef FRAMES_H
#define FRAMES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#undef fail	/* cmocka's macro; ours is a function */

#include "base/fail.h"
#include "frame/frame.h"

static const size_t frame_sizes[][2] = { { 1, 1 }, { 5, 7 }, { 127, 1 }, { 128, 64 }, { 129, 65 } };
#define FRAME_SIZES (sizeof(frame_sizes) / sizeof(*frame_sizes))

/* Scrambles position and seed; the bits of a sample, so that floats hold NaNs, -0 and the rest. */
static inline uint32_t
frame_bits(size_t c, size_t y, size_t x, uint32_t seed)
{
	uint32_t h = seed + (uint32_t)(c * 7919 + y * 104729 + x * 1299709);

	h = (h ^ (h >> 16)) * 0x7feb352du;
	h = (h ^ (h >> 15)) * 0x846ca68bu;
	h ^= h >> 16;
	if (h % 16 == 0)
		return h % 32 ? 0x80000000u : 0x7fc01234u;	/* -0, and a NaN with a payload */
	return h;
}

/* Its samples are not set. */
static inline struct frame *
frame_of_size(size_t w, size_t h, size_t c, enum sample type)
{
	struct frame_head head;
	struct frame *frame;

	assert_int_equal(head_init(&head, w, h, c, type), 0);
	assert_int_equal(frame_new(&head, &frame), 0);
	head_free(&head);
	return frame;
}

static inline struct frame *
frame_made(size_t w, size_t h, size_t c, enum sample type, uint32_t seed)
{
	struct frame *frame = frame_of_size(w, h, c, type);

	for (size_t k = 0; k < c; k++)
		for (size_t y = 0; y < h; y++)
			for (size_t x = 0; x < w; x++) {
				uint32_t bits = frame_bits(k, y, x, seed);

				memcpy((char *)frame_row(frame, k, y) + x * sample_size(type),
				    &bits, sample_size(type));
			}
	return frame;
}

static inline void
assert_heads_equal(const struct frame_head *a, const struct frame_head *b)
{
	assert_int_equal(a->w, b->w);
	assert_int_equal(a->h, b->h);
	assert_int_equal(a->c, b->c);
	assert_int_equal(a->type, b->type);
	for (int i = 0; i < 2; i++)
		assert_true(a->spacing[i] == b->spacing[i] ||
		    (a->spacing[i] != a->spacing[i] && b->spacing[i] != b->spacing[i]));
	assert_string_equal(a->unit, b->unit);
	for (size_t c = 0; c < a->c; c++)
		assert_string_equal(a->channel[c], b->channel[c]);
	assert_true(meta_equal(&a->meta, &b->meta));
}

static inline void
assert_same_pixels(const struct frame *a, const struct frame *b)
{
	assert_int_equal(a->head.w, b->head.w);
	assert_int_equal(a->head.h, b->head.h);
	assert_int_equal(a->head.c, b->head.c);
	assert_int_equal(a->head.type, b->head.type);
	for (size_t c = 0; c < a->head.c; c++)
		for (size_t y = 0; y < a->head.h; y++)
			assert_memory_equal(frame_row(a, c, y), frame_row(b, c, y),
			    a->head.w * sample_size(a->head.type));
}

static inline void
assert_frames_equal(const struct frame *a, const struct frame *b)
{
	assert_heads_equal(&a->head, &b->head);
	assert_same_pixels(a, b);
}

/* The message that was recorded, exactly; and forgets it. */
static inline void
assert_failed(const char *message)
{
	char recorded[1024];

	snprintf(recorded, sizeof(recorded), "%s", fail_message() ? fail_message() : "no message");
	fail_clear();
	assert_string_equal(recorded, message);
}

#endif
