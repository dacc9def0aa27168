/* Pictures that are lent to a child: it reads each as it was when it was sent, however slowly. */
#define _GNU_SOURCE
#include "frames.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codec/video/ffmpeg.h"
#include "codec/video/pixel_format.h"

#define MEBIBYTE ((size_t)1024 * 1024)

static char result[] = "/tmp/test_picture_ring.XXXXXX";

static int
make_file(void **state)
{
	int descriptor = mkstemp(result);

	(void)state;
	return descriptor < 0 || close(descriptor) < 0 ? -1 : 0;
}

static int
remove_file(void **state)
{
	(void)state;
	return unlink(result);
}

/* Byte i of picture k. */
static unsigned char
byte_of(size_t k, size_t i)
{
	return (unsigned char)((k * 2654435761U + i * 40503U + (i >> 12)) >> 7);
}

static void
fill(unsigned char *picture, size_t bytes, size_t k)
{
	for (size_t i = 0; i < bytes; i++)
		picture[i] = byte_of(k, i);
}

/* Makes picture k one of the ring's memory, or a frame of one row whose memory is used again for
 * the next as soon as nobody has it. */
static void
make_picture(struct picture_ring *ring, size_t bytes, size_t k, bool of_frame)
{
	struct frame_head head = { 0 };
	struct frame *frame;

	if (!of_frame) {
		fill(picture_ring_memory(ring), bytes, k);
		return;
	}
	assert_int_equal(head_init(&head, bytes, 1, 1, SAMPLE_UCHAR), 0);
	assert_int_equal(frame_new(&head, &frame), 0);
	fill(frame_row(frame, 0, 0), bytes, k);
	assert_int_equal(picture_ring_take(ring, frame), 0);
	frame_free(frame);
	head_free(&head);
}

/* Sends n pictures to dd, which reads so many bytes at a time and writes the file. */
static void
send_pictures(size_t bytes, size_t rest, size_t n, const char *at_a_time, bool of_frames)
{
	char to[64];
	const char *const words[] = { "ffmpeg", at_a_time, to, "status=none", NULL };
	struct picture_ring ring;
	struct ffmpeg *dd;

	snprintf(to, sizeof(to), "of=%s", result);
	assert_int_equal(setenv("FRINGEPIPE_FFMPEG", "dd", 1), 0);
	assert_int_equal(ffmpeg_start("pictures", words, FFMPEG_READS, -1, -1, &dd), 0);
	assert_int_equal(picture_ring_new(&ring, bytes, rest), 0);
	for (size_t i = 0; i < rest; i++)
		ring.rest[i] = (unsigned char)(i * 7);
	for (size_t k = 0; k < n; k++) {
		make_picture(&ring, bytes, k, of_frames);
		assert_int_equal(picture_ring_send(&ring, dd), 0);
	}
	assert_int_equal(ffmpeg_end(dd), 0);
	picture_ring_free(&ring);
}

static void
check_file(size_t bytes, size_t rest, size_t n)
{
	FILE *file = fopen(result, "rb");
	size_t wrong = 0;

	assert_non_null(file);
	for (size_t k = 0; k < n; k++) {
		for (size_t i = 0; i < bytes; i++)
			wrong += getc(file) != byte_of(k, i);
		for (size_t i = 0; i < rest; i++)
			wrong += getc(file) != (unsigned char)(i * 7);
	}
	assert_int_equal(wrong, 0);
	assert_int_equal(getc(file), EOF);
	fclose(file);
}

static void
sizes_around_the_pipe(void **state)
{
	static const struct {
		size_t bytes, rest, n;
		const char *at_a_time;
	} cases[] = {
		{ 6, 0, 9, "bs=4" }, { 4095, 1, 600, "bs=512" }, { 4097, 0, 600, "bs=512" },
		{ 98304, 0, 40, "bs=100000" }, { 98305, 49153, 20, "bs=1000" },
		{ 524288, 262144, 8, "bs=1024" }, { 524288, 262144, 12, "bs=786432" },
		{ MEBIBYTE, 0, 4, "bs=2000" }, { MEBIBYTE - 1, 0, 4, "bs=2000" },
		{ MEBIBYTE + 1, 3, 4, "bs=65536" }, { 3 * MEBIBYTE, MEBIBYTE, 2, "bs=3000" },
	};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(*cases); i++) {
		send_pictures(cases[i / 2].bytes, cases[i / 2].rest, cases[i / 2].n,
		    cases[i / 2].at_a_time, i % 2);
		check_file(cases[i / 2].bytes, cases[i / 2].rest, cases[i / 2].n);
	}
}

/* Small pictures take no page of many each. */
static void
memory_is_bounded(void **state)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	(void)state;
	for (size_t bytes = 1; bytes < 9 * MEBIBYTE; bytes += 1 + bytes / 5) {
		struct picture_ring ring;
		size_t largest = bytes > page ? bytes : page;

		assert_int_equal(picture_ring_new(&ring, bytes, 0), 0);
		assert_true(ring.n * ring.stride <= 2 * (MEBIBYTE + largest));
		picture_ring_free(&ring);
	}
}

/* The page of the kernel's clocks, which is mapped as a driver maps the memory of a GPU: the kernel
 * copies it, but lends no reference to it. NULL: there is none. */
static void *
driver_memory(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[400];
	void *page = NULL;

	while (maps && !page && fgets(line, sizeof(line), maps))
		if (strstr(line, "[vvar]"))
			page = (void *)strtoull(line, NULL, 16);
	if (maps)
		fclose(maps);
	return page;
}

static void
memory_of_a_driver(void **state)
{
	const char *const words[] = { "ffmpeg", "bs=512", "status=none", "of=/dev/null", NULL };
	const void *page = driver_memory();
	struct ffmpeg *dd;

	(void)state;
	if (!page)
		skip();
	assert_int_equal(setenv("FRINGEPIPE_FFMPEG", "dd", 1), 0);
	assert_int_equal(ffmpeg_start("pictures", words, FFMPEG_READS, -1, -1, &dd), 0);
	for (int k = 0; k < 600; k++)
		assert_int_equal(ffmpeg_lend(dd, page, 4096), 0);
	assert_int_equal(ffmpeg_end(dd), 0);
}

/* A child that ends early is no SIGPIPE. */
static void
an_early_end(void **state)
{
	const char *const words[] = { "ffmpeg", "bs=1000", "count=3", "of=/dev/null",
		"status=none", NULL };
	struct picture_ring ring;
	struct ffmpeg *dd;
	int status = 0;

	(void)state;
	assert_int_equal(setenv("FRINGEPIPE_FFMPEG", "dd", 1), 0);
	assert_int_equal(ffmpeg_start("pictures", words, FFMPEG_READS, -1, -1, &dd), 0);
	assert_int_equal(picture_ring_new(&ring, 300000, 0), 0);
	for (int k = 0; k < 20 && status == 0; k++) {
		assert_non_null(picture_ring_memory(&ring));
		status = picture_ring_send(&ring, dd);
	}
	assert_int_equal(status, 1);
	assert_int_equal(ffmpeg_end(dd), 0);
	picture_ring_free(&ring);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_around_the_pipe),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(memory_of_a_driver),
		cmocka_unit_test(an_early_end),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
