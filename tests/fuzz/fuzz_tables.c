/*
 * Tables from arbitrary bytes, read as CSV, vnlog, a PLY or PCD cloud and columns of points: no
 * crash, no undefined behaviour, nothing leaked, no memory beyond what the bytes can hold; and what
 * was read is written in each syntax and read back as the same.
 */
#define _GNU_SOURCE
#include "fuzz.h"
#include "fuzz_frames.h"
#include "io/codec.h"

extern const struct codec codec_csv, codec_vnl, codec_ply, codec_pcd, codec_xyz;

static const struct codec *const formats[] = { &codec_csv, &codec_vnl, &codec_ply,
	&codec_pcd, &codec_xyz };

#define FORMATS (sizeof(formats) / sizeof(*formats))

int
LLVMFuzzerTestOneInput(const unsigned char *data, size_t n)
{
	struct frame *frame;
	FILE *file;

	if (n < 2)
		return 0;
	file = fmemopen((void *)(data + 1), n - 1, "rb");
	check(file != NULL, "fmemopen");
	frame = load_one(formats[*data % FORMATS], file);
	fclose(file);
	if (!frame)
		return 0;
	check(frame->head.w * frame->head.h <= n && frame->head.c <= 3 * n,
	    "more than the bytes can hold");
	for (size_t i = 0; i < FORMATS; i++)	/* an image of PCD is none in PLY, but a mesh */
		if (head_is_table(&frame->head) || formats[i] == &codec_pcd)
			check_round_trip(formats[i], frame, SAME_SAMPLES);
	frame_free(frame);
	return 0;
}
