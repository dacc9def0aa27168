#define _GNU_SOURCE
#include "probe.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "base/text.h"
#include "frame/keyline.h"
#include "ffmpeg.h"

#define ANSWER_MOST (16 << 20)		/* bytes: as many as a header of NRRD */

/* Tags that containers and encoders set themselves. */
static const char *const foreign[] = { "encoder", "duration", "major_brand", "minor_version",
	"compatible_brands", "creation_time", "handler_name", "vendor_id", "language", "bps",
	"number_of_frames", "number_of_bytes", NULL };

const char *
video_container(const unsigned char *start, size_t n)
{
	static const char nut[] = "nut/multimedia container";

	return n >= 4 && !memcmp(start, "\x1a\x45\xdf\xa3", 4) ? "matroska" :
	    n >= 12 && !memcmp(start + 4, "ftyp", 4) ? "mov" :
	    n >= sizeof(nut) && !memcmp(start, nut, sizeof(nut)) ? "nut" : NULL;
}

/* All that ffprobe prints, ended by a zero. */
static int
ask(const char *path, int file, const char *container, char **answer)
{
	const char *const words[] = { "ffprobe", "-v", "error", "-select_streams", "v",
		"-show_entries", "stream=codec_name,profile,width,height,pix_fmt,color_range,"
		"color_transfer,field_order,r_frame_rate,avg_frame_rate:stream_tags:"
		"format=nb_streams:format_tags", "-of", "ini", FFMPEG_INPUT(container), NULL };
	struct ffmpeg *ffprobe;
	size_t room = 4096, n = 0, more = 1;
	char *bytes = NULL;

	*answer = NULL;
	if (ffmpeg_start(path, words, FFMPEG_WRITES, file, -1, &ffprobe) < 0)
		return -1;
	while (more && room < ANSWER_MOST) {
		char *larger = realloc(bytes, room *= 2);

		if (!larger)
			fail_memory();
		if (!larger || ffmpeg_read(ffprobe, larger + n, room - n - 1, &more) < 0) {
			free(larger ? larger : bytes);
			ffmpeg_kill(ffprobe);
			return -1;
		}
		bytes = larger;
		n += more;
	}
	if (more)
		fail(path, "the video's tags take more than %d bytes", ANSWER_MOST);
	if (more)
		ffmpeg_kill(ffprobe);
	else if (ffmpeg_end(ffprobe) == 0)
		*answer = bytes;
	if (!*answer) {
		free(bytes);
		return -1;
	}
	bytes[n] = '\0';
	return 0;
}

/* Undoes the escapes of a word in place: up to a byte `end` that stands without one, or the text's
 * end. Returns what is behind it; NULL: nothing. */
static char *
unescape(char *text, char end)
{
	char *to = text, *from = text;

	for (; *from && *from != end; from++) {
		if (*from == '\\' && from[1])
			*to++ = strchr("nrtbf", *++from) ? ' ' : *from;
		else
			*to++ = *from;
	}
	end = *from;
	*to = '\0';
	return end ? from + 1 : NULL;
}

static bool
is_foreign(const char *key)
{
	for (const char *const *name = foreign; *name; name++)
		if (!strcmp(key, *name))
			return true;
	return !strncmp(key, "_statistics", 11);
}

static int
take_pictures(const char *path, const char *key, const char *value, struct video *video)
{
	long v;

	if (!strcmp(key, "width") && integer_parse(value, &v) == 0 && v > 0)
		video->w = (size_t)v;
	else if (!strcmp(key, "height") && integer_parse(value, &v) == 0 && v > 0)
		video->h = (size_t)v;
	else if (!strcmp(key, "color_range"))
		video->limited = !strcmp(value, "tv");
	else if (!strcmp(key, "field_order") && strcmp(value, "progressive") &&
	    strcmp(value, "unknown"))
		return fail(path, "is an interlaced video: rows of a picture are of two times");
	else if (!strcmp(key, "color_transfer") && (!strcmp(value, "smpte2084") ||
	    !strcmp(value, "arib-std-b67")))
		return fail(path, "is an HDR video (%s): its samples are no linear measure", value);
	else if (!strcmp(key, "pix_fmt")) {
		video->format = pixel_format_find(value);
		if (!video->format)
			return fail(path, "has pictures of ffmpeg's format %s, which is not read",
			    value);
	}
	return 0;
}

/* Of a track behind the first, which may be a mask or a texture. The lines come in this order. */
static void
take_track(const char *key, const char *value, size_t i, struct video *video)
{
	bool whole;
	long v;

	if (i >= VIDEO_TRACKS)
		return;
	whole = integer_parse(value, &v) == 0 && v > 0;
	if (!strcmp(key, "codec_name"))
		video->track[i].exact = !strcmp(value, "ffv1");
	else if (!strcmp(key, "profile"))	/* H.264 that loses nothing has this one */
		video->track[i].exact |= !strcmp(value, "High 4:4:4 Predictive");
	else if (!strcmp(key, "width"))
		video->track[i].fits = whole && (size_t)v == video->w;
	else if (!strcmp(key, "height"))
		video->track[i].fits &= whole && (size_t)v == video->h;
}

/* The number of a section's stream; -1: it is of none. */
static int
stream_of(const char *section)
{
	static const char start[] = "[streams.stream.";

	return strncmp(section, start, sizeof(start) - 1) ? -1 : atoi(section + sizeof(start) - 1);
}

/* r_frame_rate comes before avg_frame_rate. */
static void
take_rate(const char *key, const char *value, struct video *video)
{
	double rate;

	if (ratio_parse(value, &rate) < 0 || !(rate > 0))
		rate = 0;
	if (!strcmp(key, "r_frame_rate"))
		video->fps = rate;
	else if (!strcmp(key, "avg_frame_rate") && !(rate > 0.999 * video->fps &&
	    rate < 1.001 * video->fps))
		video->fps = 0;
}

/* A line key=value of a section: stream or format, or the tags of either. */
static int
take_line(const char *path, char *line, const char *section, FILE *lines, struct video *video)
{
	char *key = line, *value = unescape(line, '=');

	if (!value)
		return 0;
	(void)unescape(value, '\0');
	if (stream_of(section) >= 1 && !strstr(section, ".tags"))
		take_track(key, value, (size_t)stream_of(section) - 1, video);
	if (stream_of(section) > 0)
		return 0;
	if (!strstr(section, ".tags")) {
		if (strstr(key, "frame_rate"))
			take_rate(key, value, video);
		return stream_of(section) == 0 ? take_pictures(path, key, value, video) : 0;
	}
	for (char *p = key; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	if (*key && !is_foreign(key))
		keyline_put(lines, key, value);
	return 0;
}

static int
take_answer(const char *path, char *answer, struct video *video)
{
	struct text text;
	FILE *lines = text_open(&text);
	int status = lines ? 0 : -1;
	char *rest = answer, *line;
	const char *section = "";

	while (status == 0 && (line = strsep(&rest, "\n")))
		if (*line == '[')
			section = line;
		else
			status = take_line(path, line, section, lines, video);
	if (status < 0) {
		text_drop(&text);
		return -1;
	}
	video->lines = text_close(&text, NULL);
	if (!video->lines)
		return -1;
	return video->w && video->h && video->format ? 0 : fail(path, "holds no pictures");
}

int
video_probe(const char *path, int file, struct video *video)
{
	unsigned char start[32];
	ssize_t n = pread(file, start, sizeof(start), 0);
	char *answer;
	int status;

	*video = (struct video){ .container = n > 0 ? video_container(start, (size_t)n) : NULL };
	if (!video->container)
		return fail(path, "was replaced while it was read: it is no video now");
	if (ask(path, file, video->container, &answer) < 0)
		return -1;
	status = take_answer(path, answer, video);
	free(answer);
	if (status < 0)
		video_free(video);
	return status;
}

void
video_free(struct video *video)
{
	free(video->lines);
	video->lines = NULL;
}
