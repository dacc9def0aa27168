/* BigTIFF: pages whose places take 64 bits, and which refer to one another. */
#include "frames.h"

#define CLASSIC_LIMIT 0u	/* every file is too large for 32 bits */
#include "codec/tiff/tiff.c"

#define FRAMES 4

extern const struct codec codec_tiff;

/* One plane with gaps between its rows and one without, colours, and a page for each channel. */
static void
pages_of_big_files(void **state)
{
	struct frame *frames[FRAMES] = { frame_made(129, 65, 1, SAMPLE_FLOAT, 1),
		frame_made(64, 5, 1, SAMPLE_USHORT, 2), frame_made(400, 900, 3, SAMPLE_UCHAR, 3),
		frame_made(5, 7, 6, SAMPLE_FLOAT, 4) };
	FILE *file = tmpfile();
	struct saver saver = { .file = file, .path = "a.tif" };
	struct loader loader = { .file = file, .path = "a.tif" };
	unsigned char start[8];

	(void)state;
	assert_non_null(file);
	for (; saver.frames < FRAMES; saver.frames++)
		assert_int_equal(tiff_save(&saver, frames[saver.frames]), 0);
	assert_int_equal(tiff_save_end(&saver), 0);
	rewind(file);
	assert_int_equal(fread(start, 1, sizeof(start), file), sizeof(start));
	assert_memory_equal(start, "II+\0\10\0\0\0", sizeof(start));
	rewind(file);
	for (; loader.frames < FRAMES; loader.frames++) {
		struct frame *back;

		assert_int_equal(codec_tiff.load(&loader, &back), 1);
		assert_frames_equal(frames[loader.frames], back);
		frame_free(back);
		frame_free(frames[loader.frames]);
	}
	codec_tiff.load_end(&loader);
	fclose(file);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_of_big_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
