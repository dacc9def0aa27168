/*
 * Frames of arbitrary size, type, samples, channel names and keys: every format that takes one
 * gives it back, with the same samples where the format loses none, and the same keys where it
 * keeps them.
 */
#define _GNU_SOURCE
#include "fuzz.h"
#include "fuzz_frames.h"
#include "frame/frame.h"

extern const struct codec codec_png, codec_tiff, codec_jpeg, codec_pnm, codec_pfm, codec_npy,
    codec_nrrd, codec_csv, codec_vnl, codec_ply, codec_pcd, codec_xyz;

static const struct {
	const struct codec *codec;
	int same;
} formats[] = {
	{ &codec_png, SAME_SAMPLES | SAME_KEYS }, { &codec_tiff, SAME_SAMPLES | SAME_KEYS },
	{ &codec_jpeg, SAME_KEYS }, { &codec_pnm, SAME_SAMPLES | SAME_KEYS },
	{ &codec_pfm, SAME_HEAD }, { &codec_npy, SAME_HEAD },
	{ &codec_nrrd, SAME_SAMPLES | SAME_KEYS }, { &codec_csv, SAME_SAMPLES },
	{ &codec_vnl, SAME_SAMPLES }, { &codec_ply, SAME_SAMPLES },
	{ &codec_pcd, SAME_SAMPLES }, { &codec_xyz, SAME_SAMPLES },
};

#define FORMATS (sizeof(formats) / sizeof(*formats))

/* Makes of any bytes a key as tools have them; others are written with _ in places. */
static void
make_key(char *key)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz_0123456789.";

	for (; *key; key++)
		*key = letters[(unsigned char)*key % (sizeof(letters) - 1)];
}

static void
take_keys(struct bytes *bytes, struct frame_head *head)
{
	size_t n = take_below(bytes, 6);

	for (size_t i = 0; i < n; i++) {
		char *key = take_text(bytes, '\n'), *value = take_text(bytes, '\n');

		make_key(key);
		if (meta_set(&head->meta, key, value) < 0)
			fail_clear();
		free(key);
		free(value);
	}
}

static struct frame *
take_frame(struct bytes *bytes)
{
	struct frame_head head;
	struct frame *frame;
	bool table = take_below(bytes, 4) == 0;
	size_t w = 1 + take_below(bytes, 40), h = table ? 1 : 1 + take_below(bytes, 20);
	char *names;

	check(head_init(&head, w, h, 1 + take_below(bytes, 6), table ? SAMPLE_FLOAT :
	    (enum sample)take_below(bytes, 3)) == 0, "head");
	names = take_text(bytes, '\n');
	if (*names && head_set_channels(&head, names) < 0)
		fail_clear();
	free(names);
	take_keys(bytes, &head);
	if (table)
		head_set_points(&head, w);
	check(frame_new(&head, &frame) == 0, "frame");
	head_free(&head);
	for (size_t c = 0; c < frame->head.c; c++)
		for (size_t y = 0; y < h; y++)
			take(bytes, frame_row(frame, c, y), w * sample_size(frame->head.type));
	return frame;
}

int
LLVMFuzzerTestOneInput(const unsigned char *data, size_t n)
{
	struct bytes bytes = { data, n };
	size_t format = take_below(&bytes, FORMATS);
	struct frame *frame = take_frame(&bytes);

	/* of an image PLY keeps the points that are valid */
	if (formats[format].codec != &codec_ply || head_is_table(&frame->head))
		check_round_trip(formats[format].codec, frame, formats[format].same);
	frame_free(frame);
	return 0;
}
