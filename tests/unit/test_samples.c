/* Interleaved samples into planes and back: each sample is where the order of the format has it. */
#include "frames.h"

#include <stdlib.h>

#include "frame/samples.h"

#define CHANNELS_MOST 6

static const enum sample types[] = { SAMPLE_UCHAR, SAMPLE_USHORT, SAMPLE_FLOAT };

/* The samples of row y, one pixel after another, from at[0] on. */
static void
interleave(const struct frame *frame, size_t y, unsigned char *at)
{
	const size_t size = sample_size(frame->head.type);

	for (size_t x = 0; x < frame->head.w; x++)
		for (size_t c = 0; c < frame->head.c; c++, at += size)
			memcpy(at, (char *)frame_row(frame, c, y) + x * size, size);
}

/* With the interleaved row `off` bytes behind an address that suits every type. */
static void
check(size_t w, size_t h, size_t c, enum sample type, size_t off)
{
	const size_t bytes = w * c * sample_size(type);
	struct frame *frame = frame_made(w, h, c, type, 5), *back = frame_made(w, h, c, type, 6);
	unsigned char *rows = malloc(off + bytes), *row = rows + off;
	unsigned char *joins = malloc(off + bytes + 1), *joined = joins + off;

	for (size_t y = 0; y < h; y++) {
		interleave(frame, y, row);
		joined[bytes] = 0xa5;
		samples_join(frame, y, joined);
		assert_memory_equal(joined, row, bytes);
		assert_int_equal(joined[bytes], 0xa5);
		samples_split(row, back, y);
		for (size_t k = 0; k < c; k++)
			assert_memory_equal(frame_row(back, k, y), frame_row(frame, k, y),
			    w * sample_size(type));
	}
	free(rows);
	free(joins);
	frame_free(frame);
	frame_free(back);
}

/* The bytes of each sample, if it has several, change places, at even and odd addresses. */
static void
swapped(void **state)
{
	unsigned char bytes[4 * 67 + 2];

	(void)state;
	for (size_t size = 1; size <= 4; size *= 2)
		for (size_t off = 0; off < 2; off++) {
			for (size_t i = 0; i < sizeof(bytes); i++)
				bytes[i] = (unsigned char)i;
			samples_swap(bytes + off, 67, size);
			for (size_t i = 0; i < sizeof(bytes); i++) {
				bool beside = i < off || i >= off + size * 67;
				size_t from = beside ? i : off + ((i - off) ^ (size - 1));

				assert_int_equal(bytes[i], (unsigned char)from);
			}
		}
}

static void
rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < FRAME_SIZES; i++)
		for (size_t c = 1; c <= CHANNELS_MOST; c++)
			for (size_t t = 0; t < 3; t++)
				for (size_t off = 0; off < 2; off++)
					check(frame_sizes[i][0], frame_sizes[i][1], c, types[t],
					    off);
}

/* The loops for each kind of machine, as far as this one can run them, put samples in order. */
static void
other_machines(void **state)
{
	const struct interleave *choice;
	size_t tried = 0;

	(void)state;
	for (size_t i = 0; (choice = interleave_choice(i)); i++)
		for (size_t n = 1; n < 200; n += n < 70 ? 1 : 43)
			for (size_t k = 0; k < 3 * (INTERLEAVE_MOST - 1); k++, tried++) {
				const size_t count = 2 + k / 3, size = sample_size(types[k % 3]);
				struct frame *from = frame_made(n, 1, count, types[k % 3], 9);
				struct frame *back = frame_made(n, 1, count, types[k % 3], 10);
				unsigned char *row = malloc(n * count * size + 1);
				unsigned char *joined = malloc(n * count * size + 1);
				const void *plane[INTERLEAVE_MOST];
				void *to[INTERLEAVE_MOST];

				for (size_t c = 0; c < count; c++) {
					plane[c] = frame_row(from, c, 0);
					to[c] = frame_row(back, c, 0);
				}
				interleave(from, 0, row + 1);
				choice->join(size, joined + 1, count, plane, n);
				assert_memory_equal(joined + 1, row + 1, n * count * size);
				choice->split(size, row + 1, count, to, n);
				for (size_t c = 0; c < count; c++)
					assert_memory_equal(to[c], plane[c], n * size);
				free(row);
				free(joined);
				frame_free(from);
				frame_free(back);
			}
	assert_true(tried >= 70 * 9);
}

/* Channels 2 ... of seven, columns 3 to 61: the others keep what they had. */
static void
part_of_a_row(void **state)
{
	const size_t w = 65, first = 2, x = 3, n = 59;

	(void)state;
	for (size_t count = 1; count <= 5; count++)
		for (size_t t = 0; t < 3; t++) {
			const size_t size = sample_size(types[t]);
			struct frame *from = frame_made(n, 1, count, types[t], 7);
			struct frame *frame = frame_made(w, 1, 7, types[t], 8);
			struct frame *before = frame_made(w, 1, 7, types[t], 8);
			unsigned char *row = malloc(n * count * size);

			interleave(from, 0, row);
			samples_split_part(row, count, frame, first, x, 0, n);
			for (size_t c = 0; c < 7; c++) {
				const bool put = c >= first && c < first + count;
				const char *now = frame_row(frame, c, 0);
				const char *was = frame_row(before, c, 0);

				assert_memory_equal(now, was, x * size);
				assert_memory_equal(now + x * size, put ?
				    (char *)frame_row(from, c - first, 0) : was + x * size,
				    n * size);
				assert_memory_equal(now + (x + n) * size, was + (x + n) * size,
				    (w - x - n) * size);
			}
			free(row);
			frame_free(from);
			frame_free(frame);
			frame_free(before);
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows),
		cmocka_unit_test(other_machines),
		cmocka_unit_test(swapped),
		cmocka_unit_test(part_of_a_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
