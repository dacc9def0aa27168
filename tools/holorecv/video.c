#include "video.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "codec/video/ffmpeg.h"
#include "codec/video/pixel_format.h"

#define PATIENCE_MS 10000
#define WAIT_MS 300		/* for a picture that should come; then it is kept back */

/* A unit that says that a picture is complete (ITU-T H.264, 7.3.2.4): else the decoder would wait
 * for the next. */
static const unsigned char delimiter[] = { 0, 0, 0, 1, 9, 0xf0 };

bool
video_is_there(void)
{
	bool there = ffmpeg_check(NULL) == 0;

	fail_clear();
	return there;
}

/* ---- beginning and end ---- */

void
video_stop(struct video *video)
{
	ffmpeg_kill(video->ffmpeg);
	free(video->raw);
	free(video->keyframe);
	for (size_t i = 0; i < video->n; i++)
		live_free_keys(&video->sent[i].keys);
	*video = (struct video){ .server = video->server };
}

static int
start_ffmpeg(struct video *video, const char *format)
{
	char check[120];
	const char *const words[] = { "ffmpeg", "-nostdin", "-v", "error", "-xerror",
		"-err_detect", "+crccheck+bitstream+buffer+explode", "-protocol_whitelist", "pipe",
		"-format_whitelist", "h264", "-probesize", "32", "-fpsprobesize", "0",
		"-flags", "low_delay", "-threads", "1", "-f", "h264", "-i", "pipe:0", "-vf", check,
		"-autoscale", "0", "-fps_mode", "passthrough", "-pix_fmt", format,
		"-flush_packets", "1", "-f", "rawvideo", "pipe:1", NULL };

	/* pictures of another size would be taken for parts of one another */
	snprintf(check, sizeof(check),
	    "crop=w=if(eq(iw\\,%zu)*eq(ih\\,%zu)\\,iw\\,-1):h=ih:exact=1", video->w, video->h);
	if (ffmpeg_start(video->server, words, FFMPEG_FILTERS, -1, -1, &video->ffmpeg) < 0)
		return -1;
	ffmpeg_set_patience(video->ffmpeg, PATIENCE_MS);
	return 0;
}

static int
start(struct video *video, const struct live_keys *keys)
{
	const bool luma = keys->encoding == LIVE_LUMA;

	video_stop(video);
	video->kind = keys->encoding;
	live_coded_size(keys, &video->w, &video->h);
	/* samples are what was coded, from 0 to the largest */
	video->format = pixel_format_find(luma ? "yuv420p10le" : "yuvj420p");
	if (pixel_format_bytes(video->format, video->w, video->h, &video->bytes) < 0)
		return fail(video->server, "pictures of %zu x %zu are too large", video->w,
		    video->h);
	video->raw = malloc(video->bytes);
	if (!video->raw)
		return fail_memory();
	return start_ffmpeg(video, video->format->name);
}

static bool
fits(const struct video *video, const struct live_keys *keys)
{
	size_t w, h;

	live_coded_size(keys, &w, &h);
	return video->ffmpeg && video->kind == keys->encoding && video->w == w && video->h == h;
}

/* ---- pictures ---- */

static int
child_failed(struct video *video, const char *path)
{
	const char *message = ffmpeg_message(video->ffmpeg);

	if (strstr(message, "Parsed_crop"))
		return fail(path, "it is not of %zu x %zu pixels", video->w, video->h);
	return fail(path, "ffmpeg: %s", *message ? message : "has ended");
}

/* Writes n bytes, and reads of the next picture what comes meanwhile, and within wait_ms. */
static int
pass(struct video *video, const void *from, size_t n, int wait_ms, const char *path)
{
	size_t got;
	int status = ffmpeg_filter(video->ffmpeg, from, n, video->raw + video->got,
	    video->bytes - video->got, &got, wait_ms);

	video->got += got;
	if (status < 0)
		return -1;
	return status > 0 && video->got < video->bytes ? child_failed(video, path) : 0;
}

static int
keep_keyframe(struct video *video, const struct live_picture *picture)
{
	unsigned char *copy = realloc(video->keyframe, picture->n ? picture->n : 1);

	if (!copy)
		return fail_memory();
	memcpy(copy, picture->bytes, picture->n);
	video->keyframe = copy;
	video->keyframe_bytes = picture->n;
	return 0;
}

static int
send_bytes(struct video *video, const unsigned char *bytes, size_t n, const char *path)
{
	return pass(video, bytes, n, 0, path) < 0 ? -1 :
	    pass(video, delimiter, sizeof(delimiter), 0, path);
}

int
video_send(struct video *video, const struct live_keys *keys, const struct live_picture *picture,
    bool unwanted, const char *path)
{
	const bool keyframe = picture->head.flags & LIVE_KEYFRAME;
	struct video_sent *sent;

	if (live_check_kind(keys, &picture->head, path) < 0)
		return -1;
	if (!fits(video, keys)) {
		if (!keyframe)
			return fail(path, "it needs one that has not come");
		if (start(video, keys) < 0)
			return -1;
	}
	if (keyframe && keep_keyframe(video, picture) < 0)
		return -1;
	if (video->n >= VIDEO_BEHIND)
		return fail(path, "ffmpeg keeps %d pictures back", VIDEO_BEHIND);
	sent = &video->sent[video->n];
	if (live_copy_keys(keys, &sent->keys) < 0)
		return -1;
	sent->head = picture->head;
	sent->unwanted = unwanted;
	video->n++;
	return send_bytes(video, picture->bytes, picture->n, path);
}

static bool
some_wanted(const struct video *video)
{
	for (size_t i = 0; i < video->n; i++)
		if (!video->sent[i].unwanted)
			return true;
	return false;
}

/* The last keyframe once more, and after it until the next picture is there: its end of input would
 * make the decoder complain of the delimiter. */
static int
drive_out(struct video *video, const char *path)
{
	while (video->got < video->bytes) {
		if (video->n > VIDEO_BEHIND)
			return fail(path, "ffmpeg does not decode it");
		video->sent[video->n++] = (struct video_sent){ .unwanted = true };
		if (send_bytes(video, video->keyframe, video->keyframe_bytes, path) < 0 ||
		    pass(video, NULL, 0, WAIT_MS, path) < 0)
			return -1;
	}
	return 0;
}

/* The oldest of those that were sent, as it came back. */
static int
take_oldest(struct video *video, const char *path, struct live_head *head, struct frame **out)
{
	struct video_sent sent = video->sent[0];
	int status = 1;

	video->got = 0;
	memmove(video->sent, video->sent + 1, --video->n * sizeof(sent));
	*head = sent.head;
	if (*ffmpeg_message(video->ffmpeg))
		status = child_failed(video, path);
	else if (!sent.unwanted && live_take_planes(&sent.keys, &sent.head, video->format,
	    video->raw, path, out) < 0)
		status = -1;
	live_free_keys(&sent.keys);
	return status;
}

int
video_take(struct video *video, bool ended, const char *path, struct live_head *head,
    struct frame **out)
{
	*out = NULL;
	if (!some_wanted(video) && ended)
		return 0;
	if (video->got < video->bytes && video->n > video->behind &&
	    pass(video, NULL, 0, WAIT_MS, path) < 0)
		return -1;
	if (ended && drive_out(video, path) < 0)
		return -1;
	if (video->n > 0 && video->got == video->bytes)
		return take_oldest(video, path, head, out);
	if (video->n > video->behind)
		video->behind++;
	return 0;
}
