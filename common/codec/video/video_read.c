/* Reading a video: the head of its frames by tags and tracks, and frames of raw pictures. */
#define _GNU_SOURCE
#include "codec/video/video.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/process.h"

/* A track behind the first. */
struct track {
	const char *name;		/* of the channel: mask (0 and 1) or texture */
	size_t planes;			/* 3: a texture in colour, with texture_u and texture_v */
	struct ffmpeg *ffmpeg;
	unsigned char *picture;		/* w x h of the pictures, of each plane */
};

struct reading {
	struct video video;
	struct frame_head head;
	struct ffmpeg *ffmpeg;
	struct raw_stream *raw;		/* that pictures come from; NULL: from the children */
	/* what is looked at while a child is fed: path, the head of a NUT, the sum of Matroska */
	const char *path;
	struct raw_stream *nut;
	struct intact intact;
	double start_s, stamp_s;	/* time stamps of the first picture of raw, and the last */
	/* what a child that writes raw has told so far: format and size of the last picture, ... */
	char shape[64];
	size_t heard;			/* streams, */
	bool exact[VIDEO_TRACKS];	/* which are tracks that lose nothing, */
	bool changes, interlaced, hdr, limited;
	bool unsound;			/* what it was fed is cut or damaged */
	unsigned char *picture;
	size_t bytes;
	struct track track[VIDEO_TRACKS];	/* of the last channels, in this order */
	size_t tracks, behind;			/* behind: the channels of all of them */
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

/* Pictures that were written as r g b, and coded as YUV, become r g b again. */
static void
take_colours(struct video *video)
{
	const char *names = line_value(video->lines, "channels");
	unsigned bits = video->format->bits;

	if (video->format->kind == PIXEL_YUV && names && !strncmp(names, "r g b", 5) &&
	    (!names[5] || names[5] == '\n'))
		video->format = pixel_format_find(bits > 10 ? "gbrp12le" : bits > 8 ? "gbrp10le" :
		    "rgb24");
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
		if (n > 0 && length == 9 && !strncmp(word, "texture_", 8) && reading->tracks &&
		    !strcmp(reading->track[reading->tracks - 1].name, "texture"))
			reading->track[reading->tracks - 1].planes++;
		else if (length && !name)
			reading->tracks = 0;
		else if (length && reading->tracks < VIDEO_TRACKS)
			reading->track[reading->tracks++] = (struct track){ .name = name,
				.planes = 1 };
		n += length > 0;
	}
	for (size_t i = 0; i < reading->tracks; i++) {
		/* one plane or three */
		reading->track[i].planes = reading->track[i].planes == 3 ? 3 : 1;
		reading->behind += reading->track[i].planes;
	}
	return n && video->format->kind == PIXEL_YUV && n - reading->behind == 1 ? 1 :
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
	size_t channels = count_channels(reading), n = reading->behind, used;
	char names[80];

	used = (size_t)snprintf(names, sizeof(names), "%s", channels == 1 ? "luma" :
	    names_of(video->format));
	for (size_t i = 0; i < reading->tracks; i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, " %s%s",
		    reading->track[i].name, reading->track[i].planes == 3 ?
		    " texture_u texture_v" : "");
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
		"-fps_mode", "passthrough", "-sws_flags", "bicubic+accurate_rnd+full_chroma_int",
		"-pix_fmt", format, "-f", "rawvideo",
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
	mask = reading->raw ? 0 : looks_like_mask(loader, reading);
	if (mask < 0)
		return -1;
	warn(loader->path, mask ? "has no tags that name its tracks: the second one, of 0 and 1, "
	    "is taken for the channel mask" : "has another track of the same size, and no tags "
	    "that name it: the first is read alone (ffmpeg -map 0:v:1 takes the second one out)");
	if (mask)
		reading->track[reading->tracks++] = (struct track){ .name = "mask", .planes = 1 };
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
	if (!reading->raw && start_track(loader, reading, "0:v:0", false, video->format->name,
	    &reading->ffmpeg) < 0)
		return -1;
	for (size_t i = 0; i < reading->tracks; i++) {
		struct track *track = &reading->track[i];

		track->picture = malloc(video->w * video->h * track->planes);
		if (!track->picture)
			return fail_memory();
		if (!reading->raw && start_track(loader, reading, i ? "0:v:2" : "0:v:1",
		    track->planes == 1, track->planes == 1 ? "gray" : "yuvj444p",
		    &track->ffmpeg) < 0)
			return -1;
	}
	return 0;
}

static int
end(struct ffmpeg **running)
{
	struct ffmpeg *ffmpeg = *running;

	*running = NULL;
	return ffmpeg_end(ffmpeg);
}

/* What ffmpeg tells of the streams of its input, and of each picture of the first. */
static void
hear(void *arg, const char *line)
{
	struct reading *reading = arg;
	const char *format = strstr(line, " fmt:"), *size = strstr(line, " s:"), *word;
	char shape[sizeof(reading->shape)];

	if (strstr(line, "Output #"))
		reading->heard = SIZE_MAX / 2;
	if (strstr(line, ": Video: ") && reading->heard++ - 1 < VIDEO_TRACKS)
		reading->exact[reading->heard - 2] = strstr(line, ": Video: ffv1") ||
		    strstr(line, "High 4:4:4 Predictive");
	word = strstr(line, "color_range:");
	if (word) {
		reading->limited |= !strncmp(word + 12, "tv", 2);
		reading->hdr |= strstr(line, "smpte2084") || strstr(line, "arib-std-b67");
	}
	if (!strstr(line, "showinfo") || !format || !size)
		return;
	snprintf(shape, sizeof(shape), "%.*s %.*s", (int)strcspn(format + 5, " "), format + 5,
	    (int)strcspn(size + 1, " "), size + 1);
	reading->changes |= *reading->shape && strcmp(shape, reading->shape) != 0;
	memcpy(reading->shape, shape, sizeof(shape));
	word = strstr(line, " i:");
	reading->interlaced |= word && (word[3] == 'T' || word[3] == 'B');
}

/* What makes the child's pictures others than they seem. */
static int
check_heard(const char *path, const struct reading *reading)
{
	if (reading->changes)
		return fail(path, "pictures are not %zux%zu of one format all through",
		    reading->video.w, reading->video.h);
	if (reading->interlaced)
		return fail(path, "is an interlaced video: rows of a picture are of two times");
	return reading->hdr ? fail(path, "is an HDR video: its samples are no linear measure") : 0;
}

/* Is what goes to the child whole? It may make something of a file that is cut or damaged. */
static int
look(void *arg, const unsigned char *bytes, size_t n)
{
	struct reading *reading = arg;

	int status = reading->nut ? raw_stream_look(reading->nut, bytes, n) :
	    intact_look(reading->path, &reading->intact, bytes, n);

	reading->unsound |= status < 0;
	return status;
}

/* A child that decodes what comes through a pipe, or a NUT file, all tracks of it, and writes it as
 * raw NUT. It is told nothing of haste: ffmpeg's options against delay lose pictures. */
static int
start_child(struct loader *loader, struct reading *reading, const char *container)
{
	const struct pipe_start *pipe = loader->pipe;
	size_t logged = 0;
	const unsigned char *log = reading->nut && pipe ? raw_stream_log(reading->nut, &logged) :
	    NULL;
	const int fd = pipe ? pipe->fd : fileno(loader->file);
	const char *const words[] = { "ffmpeg", "-v", "level+info", "-hide_banner", "-nostats",
		"-xerror", "-err_detect", "+crccheck+bitstream+buffer+explode", "-noautorotate",
		"-thread_type", "slice", "-f", container, "-format_whitelist", container,
		"-protocol_whitelist", "file,pipe", "-i", "pipe:0", "-map", "0:v:0", "-map",
		"0:v:1?", "-map", "0:v:2?", "-filter:v:0", "showinfo=checksum=0", "-autoscale", "0",
		"-fps_mode", "passthrough", "-c:v", "rawvideo", "-flush_packets", "1", "-f", "nut",
		"pipe:1", NULL };
	const size_t left = pipe && logged < pipe->n ? pipe->n - logged : 0;	/* pushed back */
	unsigned char *start = must_alloc(logged + left, 1);
	int status = !pipe && lseek(fd, 0, SEEK_SET) < 0 ?
	    fail_errno(loader->path, "cannot be read") :
	    ffmpeg_start(loader->path, words, FFMPEG_FILTERS, -1, -1, &reading->ffmpeg);

	if (logged)
		memcpy(start, log, logged);
	if (status == 0 && fread(start + logged, 1, left, loader->file) < left)
		status = fail_errno(loader->path, "cannot be read");
	if (status == 0)
		status = ffmpeg_feed(reading->ffmpeg, fd, start, logged + left, look, hear,
		    reading);
	free(start);
	return status;
}

/* Raw pictures, and those of a pipe: 1. 0: a file of compressed ones, at its start; -1 after
 * fail(). */
static int
begin_stream(struct loader *loader, struct reading *reading)
{
	struct raw_source from = { .path = loader->path, .file = loader->file,
		.words = loader->raw };
	unsigned char start[32];
	int status = 0;

	if (!loader->raw && loader->pipe) {
		from.container = video_container(loader->pipe->byte, loader->pipe->n);
	} else if (!loader->raw) {
		from.container = video_container(start,
		    fread(start, 1, sizeof(start), loader->file));
		rewind(loader->file);
	}
	if (from.words || (from.container && strcmp(from.container, "matroska") != 0 &&
	    strcmp(from.container, "mov") != 0))
		status = raw_stream_open(&from, &reading->video, &reading->raw);
	if (status != 0)
		return status;
	video_free(&reading->video);
	reading->nut = reading->raw;
	reading->raw = NULL;
	if (!loader->pipe && !reading->nut)
		return 0;
	if (start_child(loader, reading, from.container) < 0)
		return -1;
	from = (struct raw_source){ .path = loader->path, .ffmpeg = reading->ffmpeg,
		.container = "nut" };
	status = raw_stream_open(&from, &reading->video, &reading->raw);
	if (status < 0 || *ffmpeg_message(reading->ffmpeg)) {
		struct fail_record failure;

		if (reading->unsound)
			return -1;
		fail_take(&failure);	/* why the child gives nothing says more */
		if (end(&reading->ffmpeg) == 0)
			fail_put(&failure);
		return -1;
	}
	if (status == 0)
		return fail(loader->path, "has pictures of ffmpeg's format %.*s, which is not read",
		    (int)strcspn(reading->shape, " "), reading->shape);
	for (size_t i = 0; i < VIDEO_TRACKS; i++)
		reading->video.track[i].exact = reading->exact[i];
	return status;
}

/* Colours that only ffmpeg's filters make r g b again, or samples of a track of its own. */
static int
check_colours(const char *path, const struct reading *reading)
{
	const char *names = line_value(reading->video.lines, "channels");
	bool colours = reading->video.format->kind == PIXEL_YUV && names &&
		!strncmp(names, "r g b", 5);

	for (size_t i = 0; i < reading->tracks; i++)
		colours |= reading->track[i].planes != 1;
	if (colours)
		return fail(path, "has colours that are coded as YUV: an MP4 or Matroska file of "
		    "them is read, but no pipe and no NUT file");
	return 0;
}

static int
begin(struct loader *loader)
{
	struct reading *reading = must_alloc(1, sizeof(*reading));
	int status;

	loader->state = reading;
	reading->start_s = NAN;
	reading->path = loader->path;
	status = begin_stream(loader, reading);
	if (status < 0)
		return -1;
	if (status == 0 && (ffmpeg_check(loader->path) < 0 ||
	    intact_check(loader->path, loader->file) < 0 ||
	    video_probe(loader->path, fileno(loader->file), &reading->video) < 0))
		return -1;
	if (status == 0)
		take_colours(&reading->video);
	if (find_untagged(loader, reading) < 0 || make_head(loader->path, reading) < 0 ||
	    (reading->raw && check_colours(loader->path, reading) < 0))
		return -1;
	return start(loader, reading);
}

/* The next picture of a track of raw ones, likewise. */
static int
next_of_raw(struct loader *loader, struct reading *reading, size_t track, unsigned char *picture)
{
	double stamp_s;
	int status = raw_stream_next(reading->raw, track, 1 + reading->tracks, picture, &stamp_s);

	if (track == 0 && status == 1)
		reading->stamp_s = stamp_s;
	if (!reading->ffmpeg)
		return status;
	if (*ffmpeg_message(reading->ffmpeg) || (status == 0 && track == 0))
		return end(&reading->ffmpeg) < 0 ? -1 : check_heard(loader->path, reading) < 0 ?
		    -1 : status;
	if (check_heard(loader->path, reading) < 0)
		return -1;
	reading->video.limited |= reading->limited;
	return status;
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
	int status = reading->raw ? next_of_raw(loader, reading, 0, reading->picture) :
	    next_of_track(loader, reading, &reading->ffmpeg, reading->picture, reading->bytes);

	for (size_t i = 0; i < reading->tracks && status >= 0; i++) {
		struct track *track = &reading->track[i];
		int other = reading->raw ? status == 0 ? 0 :
		    next_of_raw(loader, reading, 1 + i, track->picture) :
		    next_of_track(loader, reading, &track->ffmpeg, track->picture,
			reading->video.w * reading->video.h * track->planes);

		if (other >= 0 && other != status)
			return fail(loader->path, "its %s track, the %s, has %s frames than the "
			    "first", i ? "third" : "second", track->name,
			    other ? "more" : "fewer");
		status = other;
	}
	return status;
}

static int
get_track(const char *path, const struct track *track, const struct video *video, size_t first,
    struct frame *frame)
{
	size_t w = video->w, h = frame->head.h;
	unsigned most = 0;

	for (size_t row = 0; row < h * track->planes; row++) {
		size_t k = row / h, y = row % h;
		const unsigned char *from = track->picture + (k * video->h + y) * w;
		void *to = frame_row(frame, first + k, y);

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
	size_t c;

	shown.head.c -= reading->behind;
	c = shown.head.c;
	pixel_format_get(reading->video.format, reading->picture, reading->video.w,
	    reading->video.h, &shown);
	for (size_t i = 0; i < reading->tracks && status == 0; i++) {
		status = get_track(path, &reading->track[i], &reading->video, c, frame);
		c += reading->track[i].planes;
	}
	return status;
}

static int
set_time(struct reading *reading, size_t n, struct meta *meta)
{
	if (reading->raw && !isnan(reading->stamp_s)) {
		if (n == 0)
			reading->start_s = isnan(reading->first_s) ? 0 : reading->stamp_s -
			    reading->first_s;
		return meta_set_number(meta, "time_s", reading->stamp_s - reading->start_s);
	}
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
	raw_stream_close(reading->raw);
	raw_stream_close(reading->nut);
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
