#define _GNU_SOURCE
#include "video.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "encoder.h"
#include "ffmpeg.h"
#include "intact.h"
#include "io/scratch_file.h"
#include "levels.h"
#include "picture_ring.h"
#include "tags.h"
#include "tracks.h"

#define WORDS (ENCODER_WORDS + 64)
#define FPS 30		/* where nothing says it */
#define FPS_MOST 1e5
#define UNEVEN 0.01	/* of a frame's time: steps of time_s that differ by more are named */

/*
 * The first picture waits for the second frame, whose time says how many there are in a second, and
 * whose keys say which hold of the first alone.
 */
struct writing {
	struct frame_head head;		/* of the first frame */
	struct encoder encoder;
	struct ffmpeg *ffmpeg;
	struct picture_ring pictures;
	size_t w, h;			/* of a picture */
	bool waits, failed, warned;
	double first_s, step_s, last_s;	/* times; NaN: not known */
};

/* ---- keys ---- */

static int
fail_differs(const struct saver *saver, const char *key)
{
	return fail(saver->path, "frame %zu has another %s than the first: one video has one (for "
	    "depth, --depth-range of all)", saver->frames, key);
}

/* Later frames have what samples mean in common with the first; of other keys that change, the
 * video has the first frame's. */
static int
compare_keys(const struct saver *saver, struct writing *writing, const struct frame_head *head)
{
	const char *key = NULL;

	switch (tags_compare(&writing->head.meta, &head->meta, &key)) {
	case TAGS_MEANING_DIFFERS:
		return fail_differs(saver, key);
	case TAGS_DIFFER:
		if (!writing->warned && saver->frames > 1)
			warn(saver->path, "key %s changes at frame %zu: the video has that of its "
			    "first frame for all", key, saver->frames);
		else if (!writing->warned)
			warn(saver->path, "key %s differs from frame to frame: of such keys the "
			    "video has those of its first frame, and later ones have none", key);
		writing->warned = true;
		break;
	case TAGS_EQUAL:
		break;
	}
	return 0;
}

static int
compare_heads(const struct saver *saver, struct writing *writing, const struct frame_head *head)
{
	const struct frame_head *first = &writing->head;

	if (head->w != first->w || head->h != first->h)
		return fail(saver->path, "frame %zu is %zux%zu, the first %zux%zu: one video has "
		    "one size", saver->frames, head->w, head->h, first->w, first->h);
	if (head->c != first->c || head->type != first->type)
		return fail_differs(saver, "number of channels or sample type");
	return compare_keys(saver, writing, head);
}

/* ---- times ---- */

static int
take_time(struct saver *saver, struct writing *writing, const struct frame_head *head)
{
	double now;

	if (meta_number(&head->meta, "time_s", NAN, &now) < 0)
		return -1;
	if (saver->frames == 0)
		writing->first_s = now;
	else if (saver->frames == 1)
		writing->step_s = now - writing->first_s;
	else if (fabs(now - writing->last_s - writing->step_s) > UNEVEN * writing->step_s) {
		if (!isnan(writing->first_s))
			warn(saver->path, "time_s of frame %zu is %g s after the one before, of "
			    "the first ones %g: the video plays them at even times",
			    saver->frames, now - writing->last_s, writing->step_s);
		writing->first_s = NAN;		/* once */
	}
	writing->last_s = now;
	return 0;
}

static double
frames_per_second(const struct saver *saver, const struct writing *writing)
{
	const struct video_options *options = saver->options;
	double fps = 1 / writing->step_s;

	if (!isnan(options->fps))
		return options->fps;
	return fps > 0 && fps < FPS_MOST ? fps : FPS;
}

/* ---- pictures ---- */

static unsigned
largest(const struct frame *frame, size_t c)
{
	unsigned most = 0;

	for (size_t y = 0; y < frame->head.h; y++) {
		const void *row = frame_row(frame, c, y);

		for (size_t x = 0; x < frame->head.w; x++) {
			unsigned v = frame->head.type == SAMPLE_USHORT ?
			    ((const uint16_t *)row)[x] : ((const uint8_t *)row)[x];

			most = v > most ? v : most;
		}
	}
	return most;
}

/* A sample above the largest would be cut by the encoder. */
static int
fail_above(const struct saver *saver, const struct encoder *encoder, const struct frame *frame)
{
	const struct frame_head *head = &frame->head;

	for (size_t c = 0; c < head->c; c++) {
		unsigned own = tracks_bits(encoder, head, c);
		unsigned bits = own ? own : encoder->format->bits, most = largest(frame, c);

		if (!(most >> bits))
			continue;
		if (own)
			return fail(saver->path, "frame %zu has a %s of up to %u, and its track "
			    "holds up to %u", saver->frames, head->channel[c], most,
			    (1U << bits) - 1);
		return fail(saver->path, "frame %zu has samples up to %u, and max_value is %u",
		    saver->frames, most, (1U << bits) - 1);
	}
	return 0;
}

/* ffmpeg's name of the format that the suffix names. */
static const char *
container_of(const char *path)
{
	const char *dot = strrchr(path, '.');

	return !dot || !strcasecmp(dot, ".mkv") ? "matroska" : !strcasecmp(dot, ".mp4") ? "mp4" :
	    !strcasecmp(dot, ".mov") ? "mov" : "nut";
}

/* Starts ffmpeg for `fps`, with the keys as container tags. Without queues it reads its two inputs
 * on one thread, which costs less: pictures are not handed over, and their memory is used again. */
static int
start_with(struct saver *saver, struct writing *writing, double fps, FILE *keys)
{
	const struct video_options *options = saver->options;
	const struct encoder *encoder = &writing->encoder;
	const char *name = encoder->format->name, *words[WORDS];
	const char *container = container_of(saver->path);
	char size[48], rate[32];
	const char *const input[] = { "ffmpeg", "-nostdin", "-v", "error", "-y",
		"-thread_queue_size", "0", "-protocol_whitelist", "file,pipe", "-f", "rawvideo",
		"-pix_fmt", name, "-s", size, "-framerate", rate, "-color_range", "pc",
		"-i", "pipe:0",
		"-thread_queue_size", "0", "-protocol_whitelist", "file,pipe", "-f", "ffmetadata",
		"-i", FFMPEG_KEYS, "-map_metadata", "1", "-color_range", "pc" };
	const char *const output[] = { "-f", container, FFMPEG_FILE, NULL };
	size_t n = sizeof(input) / sizeof(*input);
	struct tracks tracks;

	snprintf(size, sizeof(size), "%zux%zu", writing->w, writing->h * (1 + encoder->tracks));
	snprintf(rate, sizeof(rate), "%.9g", fps);
	memcpy(words, input, sizeof(input));
	n += tracks_words(&tracks, encoder, writing->w, writing->h, words + n);
	if (!strcmp(container, "mp4") || !strcmp(container, "mov")) {
		words[n++] = "-movflags";
		words[n++] = "use_metadata_tags";
	}
	if (!strcmp(container, "mp4") && options->coding == VIDEO_HEVC) {
		words[n++] = "-tag:v:0";	/* players want hvc1 where ffmpeg writes hev1 */
		words[n++] = "hvc1";
	}
	memcpy(words + n, output, sizeof(output));
	return ffmpeg_start(saver->path, words, FFMPEG_READS, fileno(saver->file), fileno(keys),
	    &writing->ffmpeg);
}

static int
send(struct saver *saver, struct writing *writing)
{
	int status = picture_ring_send(&writing->pictures, writing->ffmpeg);

	if (status <= 0)
		return status;
	status = ffmpeg_end(writing->ffmpeg);
	writing->ffmpeg = NULL;
	return status < 0 ? status : fail(saver->path, "ffmpeg ended before the video");
}

/* second: NULL where there is none. */
static int
start(struct saver *saver, struct writing *writing, const struct meta *second)
{
	const struct pixel_format *format = writing->encoder.format;
	char levels[LEVELS_TEXT + 1] = "";
	FILE *keys = scratch_file_open();
	int status;

	if (!keys)
		return fail_errno(saver->path, "temporary file cannot be created in %s",
		    scratch_folder());
	if (format->kind != PIXEL_RGB)
		levels_describe(format, picture_ring_start(&writing->pictures), writing->w,
		    writing->head.w, writing->head.h, levels);
	status = tags_write(saver->path, &writing->head, second, writing->w, writing->h, levels,
	    keys);
	if (status == 0)
		status = start_with(saver, writing, frames_per_second(saver, writing), keys);
	fclose(keys);
	writing->waits = false;
	return status < 0 ? -1 : send(saver, writing);
}

/* Puts the frame into the memory of a picture. *above: bits of samples that it has no place for. */
static int
copy_frame(struct writing *writing, const struct frame *frame, unsigned *above)
{
	const struct encoder *encoder = &writing->encoder;
	unsigned char *picture = picture_ring_memory(&writing->pictures);
	struct frame shown = *frame;
	size_t n = encoder->tracks;

	if (!picture)
		return -1;
	shown.head.c -= n;
	*above = pixel_format_put(encoder->format, &shown, writing->w, writing->h * (1 + n),
	    picture) >> encoder->format->bits;
	for (size_t i = 1; i <= n; i++) {
		size_t c = frame->head.c - 1 - n + i;
		unsigned bits = tracks_bits(encoder, &frame->head, c);

		*above |= pixel_format_put_track(encoder->format, frame, c, bits, writing->w,
		    writing->h, i, 1 + n, picture) >> bits;
	}
	return 0;
}

static int
make_picture(const struct saver *saver, struct writing *writing, const struct frame *frame)
{
	const struct encoder *encoder = &writing->encoder;
	unsigned above;

	if (encoder->tracks == 0 &&
	    pixel_format_is_as(encoder->format, frame, writing->w, writing->h)) {
		if (picture_ring_take(&writing->pictures, frame) < 0)
			return -1;
		above = pixel_format_bits(frame) >> encoder->format->bits;
	} else if (copy_frame(writing, frame, &above) < 0) {
		return -1;
	}
	return above ? fail_above(saver, encoder, frame) : 0;
}

/* ---- the codec ---- */

static int
begin(struct saver *saver, const struct frame_head *head)
{
	struct writing *writing = calloc(1, sizeof(*writing));
	const struct encoder *encoder;
	const struct pixel_format *format;
	size_t rows, channels, bytes, flat;

	if (!writing)
		return fail_memory();
	saver->state = writing;
	writing->step_s = NAN;
	encoder = &writing->encoder;
	if (head_copy(&writing->head, head) < 0 ||
	    encoder_choose(saver->path, head, saver->options, &writing->encoder) < 0)
		return -1;
	format = encoder->format;
	channels = head->c - encoder->tracks;
	writing->w = head->w + (format->halved_x ? head->w % 2 : 0);
	writing->h = head->h + (format->halved_y ? head->h % 2 : 0);
	rows = writing->h * (1 + encoder->tracks);
	if (pixel_format_bytes(format, writing->w, rows, &bytes) < 0)
		return -1;
	flat = pixel_format_flat_bytes(format, channels, writing->w, rows);
	if (picture_ring_new(&writing->pictures, bytes - flat, flat) < 0)
		return -1;
	pixel_format_flatten(format, flat, writing->pictures.rest);
	return 0;
}

static int
put(struct saver *saver, const struct frame *frame)
{
	struct writing *writing = saver->state;

	if (take_time(saver, writing, &frame->head) < 0 ||
	    (saver->frames && compare_heads(saver, writing, &frame->head) < 0) ||
	    (writing->waits && start(saver, writing, &frame->head.meta) < 0) ||
	    make_picture(saver, writing, frame) < 0)
		return -1;
	if (saver->frames)
		return send(saver, writing);
	writing->waits = true;
	return 0;
}

int
video_save(struct saver *saver, const struct frame *frame)
{
	struct writing *writing;
	int status = saver->state ? 0 : begin(saver, &frame->head);

	if (status == 0)
		status = put(saver, frame);
	writing = saver->state;
	if (writing)
		writing->failed = writing->failed || status < 0;
	return status;
}

int
video_save_end(struct saver *saver)
{
	struct writing *writing = saver->state;
	int status = 0;

	if (!writing->failed && writing->waits)
		status = start(saver, writing, NULL);
	if (!writing->failed && status == 0 && writing->ffmpeg) {
		status = ffmpeg_end(writing->ffmpeg);
		writing->ffmpeg = NULL;
		if (status == 0)
			status = intact_seal(saver->path, saver->file);
	}
	ffmpeg_kill(writing->ffmpeg);
	head_free(&writing->head);
	picture_ring_free(&writing->pictures);
	free(writing);
	saver->state = NULL;
	return status;
}
