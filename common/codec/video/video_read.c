/* Reading a video: the head of its frames by tags and tracks, and frames of raw pictures. */
#define _GNU_SOURCE
#include "codec/video/video.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/process.h"

/* A track behind the first. */
struct track {
	const char *name;		/* of the channel: mask (0 and 1) or texture */
	struct ffmpeg *ffmpeg;
	unsigned char *picture;		/* w x h of the pictures */
};

struct reading {
	struct video video;
	struct frame_head head;
	struct ffmpeg *ffmpeg;
	unsigned char *picture;
	size_t bytes;
	struct track track[VIDEO_TRACKS];	/* of the last channels, in this order */
	size_t tracks;
	double first_s;			/* time_s of the first frame; NaN: frames have none */
	char *first_keys;		/* names of keys that later frames do not have; or NULL */
	char levels[LEVELS_TEXT + 1];	/* the first frame's as written; empty: not known */
};

/* ---- the head ---- */

static const char *
names_of(const struct pixel_format *format)
{
	return format->kind == PIXEL_GREY ? "luma" :
	    format->kind == PIXEL_YUV ? "luma chroma_u chroma_v" :
	    pixel_format_channels(format) == 4 ? "r g b a" : "r g b";
}

/* The value of a key line; NULL where there is none. Points into lines. */
static const char *
line_value(const char *lines, const char *key)
{
	size_t n = strlen(key);

	for (const char *line = lines; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, key, n) && !strncmp(line + n, ":=", 2))
			return line + n + 2;
	}
	return NULL;
}

/* The name of a channel that has a track of its own; NULL: it has none. */
static const char *
track_name(const char *word, size_t length)
{
	static const char *const names[] = { "mask", "texture" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strlen(names[i]) == length && !strncmp(word, names[i], length))
			return names[i];
	return NULL;
}

/* The channels of the first track: a video of one plane whose format has colour planes says so by
 * its one name. Notes which ones, the last by their names, are in tracks behind it. */
static size_t
count_channels(struct reading *reading)
{
	const struct video *video = &reading->video;
	const char *names = line_value(video->lines, "channels");
	size_t n = 0, length = 0;

	for (const char *word = names; word && *word && *word != '\n'; word += length) {
		const char *name;

		word += strspn(word, " ");
		length = strcspn(word, " \n");
		name = n > 0 ? track_name(word, length) : NULL;
		if (length && !name)
			reading->tracks = 0;
		else if (length && reading->tracks < VIDEO_TRACKS)
			reading->track[reading->tracks++].name = name;
		n += length > 0;
	}
	return n && video->format->kind == PIXEL_YUV && n - reading->tracks == 1 ? 1 :
	    pixel_format_channels(video->format);
}

static int
check_tracks(const char *path, const struct reading *reading)
{
	static const char *const ordinal[VIDEO_TRACKS] = { "second", "third" };

	for (size_t i = 0; i < reading->tracks; i++) {
		const char *name = reading->track[i].name;

		if (!reading->video.track[i].fits)
			return fail(path, "the channel %s is missing: the video has no %s track of "
			    "the same size any more", name, ordinal[i]);
		if (!strcmp(name, "mask") && !reading->video.track[i].exact)
			return fail(path, "the %s track, the mask, was coded again, maybe with "
			    "loss", ordinal[i]);
	}
	return 0;
}

/* Frames are the picture's upper left part where the writer padded it. */
static int
crop(const char *path, struct reading *reading)
{
	struct frame_head *head = &reading->head;
	struct numbers size;

	if (meta_numbers(&head->meta, VIDEO_SIZE_KEY, &size) < 0)
		return -1;
	if (size.n) {
		bool fits = size.n == 2 && size.v[0] >= 1 && size.v[1] >= 1 &&
		    size.v[0] <= (double)head->w && size.v[1] <= (double)head->h &&
		    size.v[0] + 2 > (double)head->w && size.v[1] + 2 > (double)head->h;

		if (fits) {
			head->w = (size_t)size.v[0];
			head->h = (size_t)size.v[1];
		}
		numbers_free(&size);
		if (!fits)
			return fail(path, "key " VIDEO_SIZE_KEY " is %s, and pictures are %zux%zu: "
			    "the video was scaled or cropped", meta_get(&head->meta,
			    VIDEO_SIZE_KEY), head->w, head->h);
	}
	meta_remove(&head->meta, VIDEO_SIZE_KEY);
	return 0;
}

static int
take_first_keys(struct reading *reading)
{
	const char *list = meta_get(&reading->head.meta, TAGS_FIRST_KEY);

	if (!list)
		return 0;
	reading->first_keys = must_strdup(list);
	meta_remove(&reading->head.meta, TAGS_FIRST_KEY);
	return 0;
}

static int
make_head(const char *path, struct reading *reading)
{
	const struct video *video = &reading->video;
	unsigned bits = video->format->bits;
	struct frame_head *head = &reading->head;
	size_t channels = count_channels(reading), n = reading->tracks;
	char names[64];

	snprintf(names, sizeof(names), "%s%s%s%s%s", channels == 1 ? "luma" :
	    names_of(video->format), n > 0 ? " " : "", n > 0 ? reading->track[0].name : "",
	    n > 1 ? " " : "", n > 1 ? reading->track[1].name : "");
	if (check_tracks(path, reading) < 0 ||
	    head_init(head, video->w, video->h, channels + n, bits > 8 ? SAMPLE_USHORT :
	    SAMPLE_UCHAR) < 0 || head_set_channels(head, names) < 0 ||
	    head_from_text(head, video->lines, strlen(video->lines)) < 0 || crop(path, reading) < 0)
		return -1;
	meta_remove(&head->meta, "max_value");
	if (bits > 8 && bits < 16 &&
	    meta_setf(&head->meta, "max_value", "%u", (1U << bits) - 1) < 0)
		return -1;
	snprintf(reading->levels, sizeof(reading->levels), "%s",
	    meta_get(&head->meta, LEVELS_KEY) ? meta_get(&head->meta, LEVELS_KEY) : "");
	meta_remove(&head->meta, LEVELS_KEY);
	meta_remove(&head->meta, VIDEO_RANGE_KEY);
	return take_first_keys(reading) < 0 ? -1 :
	    meta_number(&head->meta, "time_s", NAN, &reading->first_s);
}

/* Of which range levels are: by the first picture where it tells, else by what the file says. */
static int
find_range(const char *path, struct reading *reading)
{
	const struct video *video = &reading->video;
	struct frame_head *head = &reading->head;
	enum levels_found found;

	if (video->format->kind == PIXEL_RGB)
		return 0;
	found = levels_compare(video->format, reading->picture, video->w, head->w, head->h,
	    reading->levels);
	switch (found) {
	case LEVELS_SAME:
		if (video->limited)
			warn(path, "says that its levels are of limited range, but they are those "
			    "that were written, of full range");
		return 0;
	case LEVELS_STRETCHED:
		warn(path, "another program took the video's levels for those of limited range "
		    "(16 to 235 in 8 bits), and stretched them: they come as they are");
		return meta_set(&head->meta, VIDEO_RANGE_KEY, "stretched");
	case LEVELS_NEGATED:
		warn(path, "another program negated the video's levels: they come as they are");
		return meta_set(&head->meta, VIDEO_RANGE_KEY, "negated");
	case LEVELS_TURNED:
		warn(path, "another program mirrored or turned the video's pictures: they come as "
		    "they are");
		return 0;
	case LEVELS_OTHER:
		warn(path, "the first picture is not the one that was written: the video was cut, "
		    "or another program changed its pictures");
		return 0;
	case LEVELS_UNKNOWN:
		if (!video->limited)
			return 0;
		break;
	case LEVELS_LIMITED:
		break;
	}
	warn(path, "the video's levels are of limited range (16 to 235 in 8 bits)%s: they come as "
	    "they are", video->limited ? "" : ", though it says full range");
	return meta_set(&head->meta, VIDEO_RANGE_KEY, "limited");
}

/* ---- tracks ---- */

/* A child that writes the pictures of one track as raw samples; luma: of that plane alone. */
static int
start_track(struct loader *loader, const struct reading *reading, const char *track, bool luma,
    const char *format, struct ffmpeg **ffmpeg)
{
	const struct video *video = &reading->video;
	char check[160];
	const char *const words[] = { "ffmpeg", "-nostdin", "-v", "error", "-xerror",
		"-err_detect", "+crccheck+bitstream+buffer+explode", "-noautorotate",
		FFMPEG_INPUT(video->container), "-map", track, "-vf", check, "-autoscale", "0",
		"-fps_mode", "passthrough", "-pix_fmt", format, "-f", "rawvideo",
		"pipe:1", NULL };

	/* pictures of another size would be taken for parts of one another */
	snprintf(check, sizeof(check),
	    "crop=w=if(eq(iw\\,%zu)*eq(ih\\,%zu)\\,iw\\,-1):h=ih:exact=1%s", video->w, video->h,
	    luma ? ",extractplanes=y" : "");
	return ffmpeg_start(loader->path, words, FFMPEG_WRITES, fileno(loader->file), -1, ffmpeg);
}

/* Is the second track, without a tag that says so, a mask by its first picture? It is coded
 * without loss and holds 0 and 1, of which 1 must be there. 1, 0, or -1 after fail(). */
static int
looks_like_mask(struct loader *loader, const struct reading *reading)
{
	const struct video *video = &reading->video;
	size_t bytes = video->w * video->h, got;
	unsigned char *picture, most = 0;
	struct ffmpeg *ffmpeg;
	int status;

	if (!video->track[0].exact)
		return 0;
	if (start_track(loader, reading, "0:v:1", true, "gray", &ffmpeg) < 0)
		return -1;
	picture = malloc(bytes);
	status = picture ? ffmpeg_read(ffmpeg, picture, bytes, &got) : fail_memory();
	for (size_t i = 0; status == 0 && i < got; i++)
		most = picture[i] > most ? picture[i] : most;
	free(picture);
	ffmpeg_kill(ffmpeg);
	return status < 0 ? -1 : most == 1;
}

/* A copy into MP4 keeps the tracks and loses the tags, which name them. */
static int
find_untagged(struct loader *loader, struct reading *reading)
{
	int mask;

	if (line_value(reading->video.lines, "channels") || !reading->video.track[0].fits ||
	    pixel_format_channels(reading->video.format) == 4)
		return 0;
	mask = looks_like_mask(loader, reading);
	if (mask < 0)
		return -1;
	warn(loader->path, mask ? "has no tags that name its tracks: the second one, of 0 and 1, "
	    "is taken for the channel mask" : "has another track of the same size, and no tags "
	    "that name it: the first is read alone (ffmpeg -map 0:v:1 takes the second one out)");
	if (mask)
		reading->track[reading->tracks++].name = "mask";
	return 0;
}

static int
start(struct loader *loader, struct reading *reading)
{
	const struct video *video = &reading->video;

	if (pixel_format_bytes(video->format, video->w, video->h, &reading->bytes) < 0)
		return -1;
	reading->picture = malloc(reading->bytes);
	if (!reading->picture)
		return fail_memory();
	if (start_track(loader, reading, "0:v:0", false, video->format->name, &reading->ffmpeg) < 0)
		return -1;
	for (size_t i = 0; i < reading->tracks; i++) {
		struct track *track = &reading->track[i];

		track->picture = malloc(video->w * video->h);
		if (!track->picture)
			return fail_memory();
		if (start_track(loader, reading, i ? "0:v:2" : "0:v:1", true, "gray",
		    &track->ffmpeg) < 0)
			return -1;
	}
	return 0;
}

static int
begin(struct loader *loader)
{
	struct reading *reading = must_alloc(1, sizeof(*reading));

	loader->state = reading;
	if (ffmpeg_check(loader->path) < 0 || intact_check(loader->path, loader->file) < 0 ||
	    video_probe(loader->path, fileno(loader->file), &reading->video) < 0 ||
	    find_untagged(loader, reading) < 0 || make_head(loader->path, reading) < 0)
		return -1;
	return start(loader, reading);
}

static int
end(struct ffmpeg **running)
{
	struct ffmpeg *ffmpeg = *running;

	*running = NULL;
	return ffmpeg_end(ffmpeg);
}

/* The next picture of a track: 1, 0 at the end, -1 after fail(). A message of ffmpeg's means that
 * what follows is made up. */
static int
next_of_track(struct loader *loader, const struct reading *reading, struct ffmpeg **ffmpeg,
    unsigned char *picture, size_t bytes)
{
	size_t got;

	if (!*ffmpeg)
		return 0;
	if (ffmpeg_read(*ffmpeg, picture, bytes, &got) < 0)
		return -1;
	if (got == bytes && !*ffmpeg_message(*ffmpeg))
		return 1;
	if (strstr(ffmpeg_message(*ffmpeg), "Parsed_crop"))
		return fail(loader->path, "pictures are not %zux%zu all through", reading->video.w,
		    reading->video.h);
	if (got == bytes)
		return fail(loader->path, "ffmpeg: %s", ffmpeg_message(*ffmpeg));
	if (end(ffmpeg) < 0)
		return -1;
	return got ? fail(loader->path, "ends in the middle of a picture") : 0;
}

/* The next picture of all tracks, likewise. */
static int
next_picture(struct loader *loader, struct reading *reading)
{
	int status = next_of_track(loader, reading, &reading->ffmpeg, reading->picture,
	    reading->bytes);

	for (size_t i = 0; i < reading->tracks && status >= 0; i++) {
		struct track *track = &reading->track[i];
		int other = next_of_track(loader, reading, &track->ffmpeg, track->picture,
		    reading->video.w * reading->video.h);

		if (other >= 0 && other != status)
			return fail(loader->path, "its %s track, the %s, has %s frames than the "
			    "first", i ? "third" : "second", track->name,
			    other ? "more" : "fewer");
		status = other;
	}
	return status;
}

static int
get_track(const char *path, const struct reading *reading, size_t i, struct frame *frame)
{
	const struct track *track = &reading->track[i];
	size_t w = reading->video.w, c = frame->head.c - reading->tracks + i;
	unsigned most = 0;

	for (size_t y = 0; y < frame->head.h; y++) {
		const unsigned char *from = track->picture + y * w;
		void *to = frame_row(frame, c, y);

		for (size_t x = 0; x < frame->head.w; x++) {
			most = from[x] > most ? from[x] : most;
			if (frame->head.type == SAMPLE_UCHAR)
				((uint8_t *)to)[x] = from[x];
			else
				((uint16_t *)to)[x] = from[x];
		}
	}
	return most > 1 && !strcmp(track->name, "mask") ? fail(path, "the second track, the mask, "
	    "has a sample of %u, and must be 0 or 1", most) : 0;
}

/* Makes the picture at hand a frame. */
static int
get_frame(const char *path, const struct reading *reading, struct frame *frame)
{
	struct frame shown = *frame;
	int status = 0;

	shown.head.c -= reading->tracks;
	pixel_format_get(reading->video.format, reading->picture, reading->video.w,
	    reading->video.h, &shown);
	for (size_t i = 0; i < reading->tracks && status == 0; i++)
		status = get_track(path, reading, i, frame);
	return status;
}

static int
set_time(const struct reading *reading, size_t n, struct meta *meta)
{
	if (isnan(reading->first_s) || !(reading->video.fps > 0))
		return 0;
	return meta_set_number(meta, "time_s", reading->first_s +
	    (double)n / reading->video.fps);
}

int
video_load(struct loader *loader, struct frame **out)
{
	struct reading *reading;
	int status;

	if (!loader->state && begin(loader) < 0)
		return -1;
	reading = loader->state;
	status = next_picture(loader, reading);
	if (status <= 0)
		return status < 0 || loader->frames ? status :
		    fail(loader->path, "is a video without frames");
	if (!loader->frames && find_range(loader->path, reading) < 0)
		return -1;
	if (frame_new(&reading->head, out) < 0)
		return -1;
	if (get_frame(loader->path, reading, *out) == 0 &&
	    set_time(reading, loader->frames, &(*out)->head.meta) == 0 &&
	    (loader->frames || tags_forget_first(&reading->head.meta, reading->first_keys) == 0))
		return 1;
	frame_free(*out);
	*out = NULL;
	return -1;
}

void
video_load_end(struct loader *loader)
{
	struct reading *reading = loader->state;

	ffmpeg_kill(reading->ffmpeg);
	video_free(&reading->video);
	head_free(&reading->head);
	free(reading->picture);
	for (size_t i = 0; i < VIDEO_TRACKS; i++) {
		ffmpeg_kill(reading->track[i].ffmpeg);
		free(reading->track[i].picture);
	}
	free(reading->first_keys);
	free(reading);
	loader->state = NULL;
}
