/* Writes videos: chooses the encoder and its options, makes tags of a frame's keys, and feeds it
 * from a thread. Ends with the codec's entry. */
#include "codec/video/video.h"

#include <math.h>

#include "base/process.h"
#include "base/text.h"
#include "frame/key_lines.h"
#include "holo/holo.h"
#include "io/safe_file.h"

/* ---- which encoder of ffmpeg's codes a frame, and with which words ---- */

#define ENCODER_WORDS 40

struct encoder {
	const struct pixel_format *format;
	const char *words[ENCODER_WORDS];	/* -c:v ... */
	size_t n;
	char number[32], parameters[96];	/* what some of them are */
	/* the last channels, of this number, have tracks of their own: first the mask; the three of
	 * a texture in colour have one track */
	size_t tracks;
	bool mask, texture, colour;
	bool shown;			/* r g b that is coded as YUV 4:2:0 of limited range */
	const char *texture_crf;		/* NULL: the texture's track loses nothing */
	const char *preset;
	char crf[32];
};

enum tags_relation { TAGS_EQUAL, TAGS_DIFFER, TAGS_MEANING_DIFFERS };

/* ---- comparing keys ---- */

static bool
is_of_a_picture(const char *key)
{
	return !strcmp(key, "name") || !strcmp(key, "time_s") || !strcmp(key, "holo_check");
}

static bool
is_command(const char *key)
{
	return !strncmp(key, "cmd.", 4);
}

/* Keys that say what samples mean. depth_range says what a scene's depths are, not by which range
 * they were coded. */
static bool
is_meaning(const char *key)
{
	static const char *const start[] = { "holo_", "depth", "sample_", "z_axis", "max_value",
		"length_unit", "invalid", NULL };

	for (const char *const *word = start; *word && strcmp(key, "depth_range"); word++)
		if (!strncmp(key, *word, strlen(*word)))
			return true;
	return false;
}

static bool
differs(const struct meta *other, const struct meta_entry *entry)
{
	const char *value = meta_get(other, entry->key);

	return !value || strcmp(value, entry->value) != 0;
}

/* Looks for keys of a in b. */
static enum tags_relation
compare_to(const struct meta *a, const struct meta *b, const char **key)
{
	enum tags_relation relation = TAGS_EQUAL;

	for (size_t i = 0; i < a->n; i++) {
		const struct meta_entry *entry = &a->entry[i];

		if (is_of_a_picture(entry->key) || is_command(entry->key) || !differs(b, entry))
			continue;
		if (relation == TAGS_EQUAL)
			*key = entry->key;
		relation = TAGS_DIFFER;
		if (is_meaning(entry->key)) {
			*key = entry->key;
			return TAGS_MEANING_DIFFERS;
		}
	}
	return relation;
}

/* What a later frame's keys have in common with the first's; *key: one that differs. Times, names,
 * check sums of a picture and commands may. TAGS_MEANING_DIFFERS: samples mean something else. */
static enum tags_relation
tags_compare(const struct meta *first, const struct meta *later, const char **key)
{
	enum tags_relation relation = compare_to(later, first, key);
	const char *other = NULL;

	if (relation == TAGS_MEANING_DIFFERS)
		return relation;
	if (compare_to(first, later, &other) > relation) {
		*key = other;
		return compare_to(first, later, &other);
	}
	return relation;
}

/* ---- writing tags ---- */

/* What ffmpeg's metadata text would read otherwise stands behind a backslash. */
static void
put_escaped(FILE *to, const char *text)
{
	for (; *text; text++) {
		if (strchr("=;#\\\n", *text))
			putc('\\', to);
		putc(*text, to);
	}
}

static void
put_tag(FILE *to, const char *key, const char *value)
{
	put_escaped(to, key);
	putc('=', to);
	put_escaped(to, value);
	putc('\n', to);
}

/* The lines that other formats hold as text: channels, spacing, unit and keys. */
static void
put_lines(const struct frame_head *head, FILE *to)
{
	char *text = head_to_text(head), *rest = text, *line;

	while ((line = strsep(&rest, "\n"))) {
		char *key, *value;

		if (keyline_split(line, &key, &value))
			put_tag(to, key, value);
	}
	free(text);
}

static void
put_first_keys(const struct meta *first, const struct meta *second, FILE *to)
{
	struct text names;
	FILE *file = text_open(&names);
	char *list;

	for (size_t i = 0; i < first->n; i++)
		if (strcmp(first->entry[i].key, "time_s") != 0 &&
		    (is_of_a_picture(first->entry[i].key) ||
		    (!is_command(first->entry[i].key) && differs(second, &first->entry[i]))))
			fprintf(file, "%s ", first->entry[i].key);
	list = text_close(&names, NULL);
	if (*list) {
		list[strlen(list) - 1] = '\0';
		put_tag(to, TAGS_FIRST_KEY, list);
	}
	free(list);
}

/*
 * Writes the head's keys as ffmpeg's metadata text, from which it makes tags; the keys in which the
 * second frame (NULL: there is none) differs are named as those of the first alone. w, h: of
 * the pictures, larger than the frames where those were padded. levels: the value of LEVELS_KEY,
 * empty: none. -1 after fail(path, ...).
 */
static int
tags_write(const char *path, const struct frame_head *head, const struct meta *second, size_t w,
    size_t h, const char *levels, FILE *to)
{
	fputs(";FFMETADATA1\n", to);
	put_lines(head, to);
	if (second)
		put_first_keys(&head->meta, second, to);
	if (w != head->w || h != head->h)
		fprintf(to, VIDEO_SIZE_KEY "=%zu %zu\n", head->w, head->h);
	if (*levels)
		put_tag(to, LEVELS_KEY, levels);
	return fflush(to) == 0 ? 0 : fail_errno(path, "temporary file cannot be written");
}

/*
 * The tracks of a video that has more than one: a mask and a texture come below the pictures, in
 * rows of their own, so that one pipe keeps all tracks in step; ffmpeg cuts them apart. A mask is
 * coded as 0 and 1, which takes half the bytes of 0 and 255.
 */

/* What stands behind the words of ffmpeg's, where it must stay. */
struct tracks {
	char filter[960], option[ENCODER_WORDS + 16][24];
	size_t n;
};

/* The bits of a channel in a track of its own; 0: it has none. */
static unsigned
tracks_bits(const struct encoder *encoder, const struct frame_head *head, size_t c)
{
	return c + encoder->tracks < head->c ? 0 :
	    encoder->mask && c + encoder->tracks == head->c ? 1 : 8;
}

/* A word with a track's number behind it. */
static const char *
of_track(struct tracks *tracks, const char *word, size_t track)
{
	char *option = tracks->option[tracks->n++];

	snprintf(option, sizeof(*tracks->option), "%s:v:%zu", word, track);
	return option;
}

static void
make_filter(const struct encoder *encoder, size_t w, size_t h, struct tracks *tracks)
{
	static const char cut[] = "[%c]crop=%zu:%zu:0:%zu,extractplanes=y,"
	    "scale=sws_dither=none,format=gray%s[%s];";
	size_t room = sizeof(tracks->filter);
	char *to = tracks->filter;
	static const char *const outputs[] = { "", "[b]", "[b][c]", "[b][c][d]", "[b][c][d][e]" };
	int n = snprintf(to, room, "[0:v]split=%zu[a]%s;", 1 + encoder->tracks,
	    outputs[encoder->tracks]);

	if (encoder->mask)
		n += snprintf(to + n, room - (size_t)n, cut, 'b', w, h, h,
		    ",lut=c0=gt(val\\,127)", "mask");
	for (size_t i = encoder->mask; i < encoder->tracks; i++) {
		char name[8] = "texture";

		if (encoder->colour)
			snprintf(name, sizeof(name), "t%c", (char)('b' + i));
		n += snprintf(to + n, room - (size_t)n, cut, (char)('b' + i), w, h, (1 + i) * h,
		    "", name);
	}
	if (encoder->colour)
		n += snprintf(to + n, room - (size_t)n, "%smergeplanes=0x001020:yuv444p,"
		    "setparams=range=full,scale=in_range=full:out_range=full:"
		    "flags=bicubic+accurate_rnd,format=%s[texture];",
		    encoder->mask ? "[tc][td][te]" : "[tb][tc][td]",
		    encoder->texture_crf ? "yuv420p" : "yuv444p");
	snprintf(to + n, room - (size_t)n, "[a]crop=%zu:%zu:0:0[v]", w, h);
}

/* The words of track i, the mask or the texture. */
static size_t
add_track(const struct encoder *encoder, size_t i, bool mask, struct tracks *tracks,
    const char **words)
{
	const char *const all[] = { "-map", mask ? "[mask]" : "[texture]",
		of_track(tracks, "-pix_fmt", i), mask || !encoder->colour ? "gray" :
		encoder->texture_crf ? "yuv420p" : "yuv444p", of_track(tracks, "-c", i), "libx264",
		of_track(tracks, "-disposition", i), "0", of_track(tracks, "-metadata:s", i),
		mask ? "title=mask" : "title=texture" };
	size_t n = sizeof(all) / sizeof(*all);

	memcpy(words, all, sizeof(all));
	if (!mask && encoder->preset) {
		words[n++] = of_track(tracks, "-preset", i);
		words[n++] = encoder->preset;
	}
	words[n++] = of_track(tracks, mask || !encoder->texture_crf ? "-qp" : "-crf", i);
	words[n++] = mask || !encoder->texture_crf ? "0" : encoder->texture_crf;
	return n;
}

/* The words for what pictures of w x h, and what is below them, become: how many. */
static size_t
tracks_words(struct tracks *tracks, const struct encoder *encoder, size_t w, size_t h,
    const char **words)
{
	const char *const one[] = { "-map", "0:v", "-pix_fmt",
		encoder->shown ? "yuv420p" : encoder->format->name };
	const char *const several[] = { "-filter_complex", tracks->filter, "-map", "[v]",
		"-pix_fmt:v:0", encoder->format->name, "-disposition:v:0", "default" };
	size_t n = sizeof(several) / sizeof(*several);

	if (!encoder->tracks) {
		memcpy(words, one, sizeof(one));
		n = sizeof(one) / sizeof(*one);
		memcpy(words + n, encoder->words, encoder->n * sizeof(*words));
		return n + encoder->n;
	}
	tracks->n = 0;
	make_filter(encoder, w, h, tracks);
	memcpy(words, several, sizeof(several));
	/* the options are the first track's alone */
	for (size_t i = 0; i < encoder->n; i++)
		words[n++] = *encoder->words[i] != '-' ? encoder->words[i] :
		    !strcmp(encoder->words[i], "-c:v") ? of_track(tracks, "-c", 0) :
		    of_track(tracks, encoder->words[i], 0);
	for (size_t i = 1; i <= (size_t)encoder->mask + encoder->texture; i++)
		n += add_track(encoder, i, encoder->mask && i == 1, tracks, words + n);
	return n;
}

#define CRF_COLOUR 18	/* no difference to be seen */
#define CRF_SINGLE 0	/* and depth codes, of more than 8 bits: numbers, not a picture */
#define CRF_TEXTURE 18

enum video_coding { VIDEO_H264, VIDEO_HEVC, VIDEO_AV1, VIDEO_FFV1, VIDEO_MJPEG, VIDEO_PNG,
	VIDEO_QTRLE };

struct video_options {
	int coding;		/* enum video_coding */
	double crf;		/* NaN: a default for what is coded */
	bool lossless;
	int chroma;		/* 0, 1, 2: 4:4:4, 4:2:2, 4:2:0; -1: not given */
	const char *preset;	/* of the encoder; NULL: its own */
	double fps;		/* NaN: from time_s, else 30 */
	double texture_crf;	/* of a texture's own track; NaN: a default */
};

static const char *const video_codings[] = { "h264", "hevc", "av1", "ffv1", "mjpeg", "png", "qtrle",
	NULL };
static const char *const video_chromas[] = { "444", "422", "420", NULL };

/* What is asked for: of which kind, of how many bits, with which colour planes. */
struct wanted {
	enum pixel_kind kind;
	size_t channels;		/* without those of tracks of their own */
	unsigned bits;
	const char *chroma;
	bool mask, texture, colour;	/* colour: the texture's three planes are one track */
	bool shown;			/* a picture to look at, which may go to 4:2:0 */
	bool depth;			/* luma is depth, whatever its colour planes are */
};

/* ---- formats ---- */

/* Each coding's ffmpeg formats: grey, of three planes (444, 422, 420 in the place of %s), r g b
 * and r g b a, of 8, 10, 12 and 16 bits. NULL: it has none. */
static const struct {
	const char *grey[4], *yuv[3], *rgb[4], *rgba[4];
} coded[] = {
	[VIDEO_H264] = { { "yuv420p", "yuv420p10le" }, { "yuv%sp", "yuv%sp10le" }, { "rgb24" } },
	[VIDEO_HEVC] = { { "yuv420p", "yuv420p10le", "yuv420p12le" },
		{ "yuv%sp", "yuv%sp10le", "yuv%sp12le" }, { "gbrp", "gbrp10le", "gbrp12le" } },
	[VIDEO_AV1] = { { "yuv420p", "yuv420p10le", "yuv420p12le" },
		{ "yuv%sp", "yuv%sp10le", "yuv%sp12le" }, { "gbrp", "gbrp10le", "gbrp12le" } },
	[VIDEO_FFV1] = { { "gray", "gray10le", "gray12le", "gray16le" },
		{ "yuv%sp", "yuv%sp10le", "yuv%sp12le" }, { "bgr0", "gbrp10le", "gbrp12le" },
		{ "bgra" } },
	[VIDEO_MJPEG] = { { "yuvj420p" }, { "yuvj%sp" } },
	[VIDEO_PNG] = { { "gray", NULL, NULL, "gray16be" }, { NULL },
		{ "rgb24", NULL, NULL, "rgb48be" }, { "rgba", NULL, NULL, "rgba64be" } },
	[VIDEO_QTRLE] = { { NULL }, { NULL }, { "rgb24" }, { "argb" } },
};

static int
find_bits(const char *path, const struct frame_head *head, unsigned *bits)
{
	double most;

	if (head->type == SAMPLE_FLOAT)
		return fail(path, "a video holds 8 to 16 bits a sample, not float (use framecat "
		    "--scale, holoenc, or a NRRD file)");
	if (meta_number(&head->meta, "max_value", head->type == SAMPLE_UCHAR ? 255 : 65535,
	    &most) < 0)
		return -1;
	*bits = head->type == SAMPLE_UCHAR ? 8 : most == 1023 ? 10 : most == 4095 ? 12 : 16;
	return 0;
}

/* Is it a picture to look at: did shade draw it, or has it no key of numbers that samples code? */
static bool
is_picture(const struct meta *meta)
{
	static const char *const codes[] = { "holo_", "depthcode_", "role", "phase", "period_px",
		"pack" };
	bool coded = false;

	for (const struct meta_entry *entry = meta->entry; entry < meta->entry + meta->n; entry++) {
		size_t name = strcspn(entry->value, " ");

		if (!strncmp(entry->key, "cmd.", 4) && name == 5 &&
		    !strncmp(entry->value, "shade", name))
			return true;
		for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
			coded = coded || !strncmp(entry->key, codes[i], strlen(codes[i]));
	}
	return !coded;
}

static int
find_wanted(const char *path, const struct frame_head *head, const struct video_options *options,
    struct wanted *wanted)
{
	static const char *const planes[] = { "luma", "chroma_u", "chroma_v" };
	static const char *const colours[] = { "r", "g", "b", "a" };
	bool colour = head->c > 3 && !strcmp(head->channel[head->c - 3], "texture") &&
	    !strcmp(head->channel[head->c - 2], "texture_u") &&
	    !strcmp(head->channel[head->c - 1], "texture_v");
	bool texture = colour || (head->c > 1 && !strcmp(head->channel[head->c - 1], "texture"));
	size_t behind = colour ? 3 : texture;
	bool mask = head->c > 1 + behind && !strcmp(head->channel[head->c - behind - 1], "mask");
	size_t n = head->c - behind - mask;
	bool yuv = n == 3, rgb = !mask && !texture && (n == 3 || n == 4);

	for (size_t c = 0; c < n; c++) {
		yuv = yuv && !strcmp(head->channel[c], planes[c]);
		rgb = rgb && !strcmp(head->channel[c], colours[c]);
	}
	wanted->channels = n;
	wanted->mask = mask;
	wanted->texture = texture;
	wanted->colour = colour;
	wanted->depth = meta_get(&head->meta, "depthcode_layout");
	wanted->kind = n == 1 ? PIXEL_GREY : yuv ? PIXEL_YUV : PIXEL_RGB;
	wanted->chroma = video_chromas[options->chroma < 0 ? 0 : options->chroma];
	/* every player has H.264 of this kind, and few have another one */
	wanted->shown = rgb && n == 3 && head->type == SAMPLE_UCHAR &&
	    options->coding == VIDEO_H264 && !options->lossless &&
	    (options->chroma < 0 || options->chroma == 2) && is_picture(&head->meta);
	if (n != 1 && !yuv && !rgb)
		return fail(path, "a video's frames have one channel, or luma chroma_u chroma_v, "
		    "or r g b, not %zu channels %s ...", head->c, head->channel[0]);
	if ((mask || texture) && (options->coding == VIDEO_MJPEG ||
	    options->coding == VIDEO_PNG || options->coding == VIDEO_QTRLE))
		return fail(path, "a %s goes beside h264, hevc, av1 and ffv1, not %s",
		    mask ? "mask" : "texture", video_codings[options->coding]);
	return find_bits(path, head, &wanted->bits);
}

/* Which files hold which coding, as ffmpeg writes and reads them. */
static int
check_container(const char *path, int coding)
{
	const char *dot = strrchr(path, '.'), *name = dot ? dot + 1 : "";
	bool mov = !strcasecmp(name, "mov");

	if (coding == VIDEO_QTRLE && !mov)
		return fail_usage(path, "qtrle is held by .mov files alone");
	if (coding == VIDEO_FFV1 && !strcasecmp(name, "mp4"))
		return fail_usage(path, "MP4 holds no ffv1: .mkv does");
	if (coding == VIDEO_AV1 && mov)
		return fail_usage(path, "QuickTime holds no av1: .mkv and .mp4 do");
	return 0;
}

static int
find_format(const char *path, const struct wanted *wanted, int coding, struct encoder *encoder)
{
	/* the index of these bits in lists of 8, 10, 12 and 16 */
	size_t i = wanted->bits == 16 ? 3 : (wanted->bits - 8) / 2;
	const char *name = wanted->kind == PIXEL_GREY ? coded[coding].grey[i] :
	    wanted->kind == PIXEL_YUV ? (i < 3 ? coded[coding].yuv[i] : NULL) :
	    wanted->channels == 4 ? coded[coding].rgba[i] : coded[coding].rgb[i];
	const char *place = name ? strstr(name, "%s") : NULL;
	char full[24];

	if (!name)
		return fail(path, "%s holds no frames of %zu channels of %u bits%s; ffv1 holds "
		    "most", video_codings[coding], wanted->channels, wanted->bits, i == 3 ?
		    " (framecat --set max_value=4095, or 1023, where they need fewer)" : "");
	if (place)
		snprintf(full, sizeof(full), "%.*s%s%s", (int)(place - name), name,
		    wanted->chroma, place + 2);
	if (strcmp(wanted->chroma, video_chromas[0]) && !place && !wanted->shown &&
	    !strstr(name, wanted->chroma))
		return fail_usage("--chroma", "%s has no effect on a video of %s by %s: luma "
		    "chroma_u chroma_v have planes of colour", wanted->chroma,
		    wanted->kind == PIXEL_RGB ? "r g b" : "one channel", video_codings[coding]);
	encoder->format = pixel_format_find(place ? full : name);
	return encoder->format ? 0 : fail(path, "has no format %s", place ? full : name);
}

/* ---- words ---- */

static void
add(struct encoder *encoder, const char *word, const char *value)
{
	encoder->words[encoder->n++] = word;
	if (value)
		encoder->words[encoder->n++] = value;
}

/* The least and largest --crf; equal: it has none. */
static void
crf_range(int coding, unsigned bits, double *least, double *most)
{
	*least = coding == VIDEO_MJPEG ? 1 : 0;
	if (coding == VIDEO_H264 && bits > 8)
		*least = -6.0 * (bits - 8);
	*most = coding == VIDEO_H264 || coding == VIDEO_HEVC ? 51 : coding == VIDEO_AV1 ? 63 :
	    coding == VIDEO_MJPEG ? 31 : 0;
}

static int
find_crf(const struct wanted *wanted, const struct video_options *options, double *crf)
{
	double least, most;

	crf_range(options->coding, wanted->bits, &least, &most);
	*crf = !isnan(options->crf) ? options->crf : options->coding == VIDEO_MJPEG ? 2 :
	    (wanted->kind == PIXEL_GREY || wanted->depth) && wanted->bits > 8 ? CRF_SINGLE :
	    CRF_COLOUR;
	if (!isnan(options->crf) && options->lossless)
		return fail_usage("--crf", "and --lossless exclude each other");
	if (!isnan(options->crf) && least == most)
		return fail_usage("--crf", "%s loses nothing, and has none",
		    video_codings[options->coding]);
	if (!isnan(options->crf) && !(*crf >= least && *crf <= most))
		return fail_usage("--crf", "%s of %u bits takes %g to %g, not %g",
		    video_codings[options->coding], wanted->bits, least, most, *crf);
	if (options->lossless && options->coding == VIDEO_MJPEG)
		return fail_usage("--lossless", "mjpeg cannot: ffv1 and others can");
	if (options->preset && least == most)
		return fail_usage("--preset", "%s has none", video_codings[options->coding]);
	return 0;
}

/* Each coding's encoder, and what it is told of any video. */
static const char *const encoders[][9] = {
	[VIDEO_H264] = { "-c:v", "libx264" },
	[VIDEO_HEVC] = { "-c:v", "libx265" },
	[VIDEO_AV1] = { "-c:v", "libaom-av1", "-row-mt", "1" },
	[VIDEO_FFV1] = { "-c:v", "ffv1", "-level", "3", "-g", "1", "-slicecrc", "1" },
	[VIDEO_MJPEG] = { "-c:v", "mjpeg" },
	[VIDEO_PNG] = { "-c:v", "png" },
	[VIDEO_QTRLE] = { "-c:v", "qtrle" },
};

static void
add_words(struct encoder *encoder, const struct wanted *wanted, const struct video_options *options,
    double crf)
{
	const bool h264 = options->coding == VIDEO_H264, hevc = options->coding == VIDEO_HEVC;
	const bool av1 = options->coding == VIDEO_AV1, lossless = options->lossless;

	for (const char *const *word = encoders[options->coding]; *word; word++)
		add(encoder, *word, NULL);
	if (h264 && wanted->kind == PIXEL_RGB && !wanted->shown)
		encoder->words[1] = "libx264rgb";
	snprintf(encoder->number, sizeof(encoder->number), "%g", crf);
	/* the option -crf takes no negative number; x264 itself does */
	snprintf(encoder->parameters, sizeof(encoder->parameters), "%scrf=%g",
	    hevc ? "log-level=none:" : "", crf);
	if ((h264 || hevc) && options->preset)
		add(encoder, "-preset", options->preset);
	if (h264)
		add(encoder, lossless ? "-qp" : "-x264-params", lossless ? "0" :
		    encoder->parameters);
	/* x265 3.5 loses single samples of what it predicts from other frames */
	if (hevc)
		add(encoder, "-x265-params", lossless ? "log-level=none:lossless=1:keyint=1" :
		    encoder->parameters);
	if ((h264 || hevc) && wanted->kind == PIXEL_GREY && !lossless)
		add(encoder, "-tune", "psnr");
	if (av1) {
		add(encoder, "-cpu-used", options->preset ? options->preset : "6");
		add(encoder, "-crf", lossless ? "0" : encoder->number);
	}
	if (av1 && lossless)
		add(encoder, "-aom-params", "lossless=1");
	if (options->coding == VIDEO_MJPEG)
		add(encoder, "-q:v", encoder->number);
}

/* The tracks of the last channels, which are coded as h264 whatever the first one is coded as. */
static int
choose_tracks(struct encoder *encoder, const struct wanted *wanted,
    const struct video_options *options)
{
	bool given = !isnan(options->texture_crf), h264 = options->coding == VIDEO_H264;

	encoder->mask = wanted->mask;
	encoder->texture = wanted->texture;
	encoder->colour = wanted->colour;
	encoder->tracks = (size_t)wanted->mask + wanted->texture + (wanted->colour ? 2 : 0);
	encoder->preset = h264 || options->coding == VIDEO_HEVC ? options->preset : NULL;
	if (given && !wanted->texture)
		return fail_usage("--texture-crf", "is of a channel texture beside luma (depthenc "
		    "--texture-place track)");
	if (given && options->lossless)
		return fail_usage("--texture-crf", "and --lossless exclude each other");
	if (!wanted->texture || options->lossless ||
	    (options->coding == VIDEO_FFV1 && !given))
		return 0;
	snprintf(encoder->crf, sizeof(encoder->crf), "%g",
	    given ? options->texture_crf : CRF_TEXTURE);
	encoder->texture_crf = encoder->crf;
	return 0;
}

/* Chooses by the first frame's head. -1 after fail(path, ...) where no encoder holds such frames or
 * takes such options. */
static int
encoder_choose(const char *path, const struct frame_head *head, const struct video_options *options,
    struct encoder *encoder)
{
	struct wanted wanted = { 0 };
	double crf;

	*encoder = (struct encoder){ 0 };
	if (check_container(path, options->coding) < 0 ||
	    find_wanted(path, head, options, &wanted) < 0 ||
	    find_format(path, &wanted, options->coding, encoder) < 0 ||
	    find_crf(&wanted, options, &crf) < 0 ||
	    choose_tracks(encoder, &wanted, options) < 0)
		return -1;
	if (meta_get(&head->meta, "pack") && !strcmp(meta_get(&head->meta, "pack"), "planes24") &&
	    !options->lossless && (options->coding <= VIDEO_AV1 || options->coding == VIDEO_MJPEG))
		return fail(path, "patterns of --pack planes24 are single bits, which a loss "
		    "changes: give --lossless, or BMP or PNG files");
	encoder->shown = wanted.shown;
	add_words(encoder, &wanted, options, crf);
	return 0;
}

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
	unsigned char *picture;		/* the one at hand, and below it the tracks' */
	size_t bytes;
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

	for (size_t y = 0; y < frame->head.h; y++)
		for (size_t x = 0; x < frame->head.w; x++) {
			unsigned v = (unsigned)frame_sample(frame, c, y, x);

			most = v > most ? v : most;
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
		"-i", FFMPEG_KEYS, "-map_metadata", "1" };
	/* where means of 2x2 samples of colour lie; H.264 and players assume the left otherwise */
	const char *const numbers[] = { "-color_range", "pc", "-chroma_sample_location",
		"center" };
	const char *const shown[] = { "-vf", "scale=out_color_matrix=bt709:out_range=tv:"
		"flags=bicubic+accurate_rnd+full_chroma_inp", "-color_range", "tv", "-colorspace",
		"bt709", "-color_primaries", "bt709", "-color_trc", "bt709",
		"-chroma_sample_location", "center" };
	const char *const output[] = { "-f", container, FFMPEG_FILE, NULL };
	size_t n = sizeof(input) / sizeof(*input);
	struct tracks tracks;

	snprintf(size, sizeof(size), "%zux%zu", writing->w, writing->h * (1 + encoder->tracks));
	snprintf(rate, sizeof(rate), "%.9g", fps);
	memcpy(words, input, sizeof(input));
	memcpy(words + n, encoder->shown ? shown : numbers,
	    encoder->shown ? sizeof(shown) : sizeof(numbers));
	n += (encoder->shown ? sizeof(shown) : sizeof(numbers)) / sizeof(*words);
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
	int status = ffmpeg_write(writing->ffmpeg, writing->picture, writing->bytes);

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
		levels_describe(format, writing->picture, writing->w, writing->head.w,
		    writing->head.h, levels);
	status = tags_write(saver->path, &writing->head, second, writing->w, writing->h, levels,
	    keys);
	if (status == 0)
		status = start_with(saver, writing, frames_per_second(saver, writing), keys);
	fclose(keys);
	writing->waits = false;
	return status < 0 ? -1 : send(saver, writing);
}

/* Would colour of half the resolution blur the fringes of a Holoimage in YUV beyond use? */
static int
check_fringes(const struct saver *saver, const struct writing *writing, const struct frame *frame)
{
	const struct pixel_format *format = writing->encoder.format;
	unsigned char *picture;
	struct frame *back;
	size_t bytes;
	int status;

	if (!format->halved_x || !meta_get(&frame->head.meta, "holo_pitch_px") ||
	    frame->head.c != 3 || frame->head.type != SAMPLE_UCHAR)
		return 0;
	if (pixel_format_bytes(format, writing->w, writing->h, &bytes) < 0 ||
	    frame_new(&frame->head, &back) < 0)
		return -1;
	picture = must_alloc(bytes, 1);
	pixel_format_put(format, frame, writing->w, writing->h, picture);
	pixel_format_get(format, picture, writing->w, writing->h, back, 0, 3);
	free(picture);
	status = holo_check_fringes(saver->path, back);
	frame_free(back);
	return status;
}

static int
make_picture(const struct saver *saver, struct writing *writing, const struct frame *frame)
{
	const struct encoder *encoder = &writing->encoder;
	struct frame shown = *frame;
	size_t n = encoder->tracks;
	unsigned above;		/* bits of samples that there is no place for */

	shown.head.c -= n;
	above = pixel_format_put(encoder->format, &shown, writing->w, writing->h * (1 + n),
	    writing->picture) >> encoder->format->bits;
	for (size_t i = 1; i <= n; i++) {
		size_t c = frame->head.c - 1 - n + i;
		unsigned bits = tracks_bits(encoder, &frame->head, c);

		above |= pixel_format_put_track(encoder->format, frame, c, bits, writing->w,
		    writing->h, i, 1 + n, writing->picture) >> bits;
	}
	return above ? fail_above(saver, encoder, frame) : 0;
}

/* ---- the codec ---- */

static int
begin(struct saver *saver, const struct frame_head *head)
{
	struct writing *writing = must_alloc(1, sizeof(*writing));
	const struct encoder *encoder;
	const struct pixel_format *format;
	size_t rows, channels, flat;

	saver->state = writing;
	writing->step_s = NAN;
	encoder = &writing->encoder;
	head_copy(&writing->head, head);
	if (encoder_choose(saver->path, head, saver->options, &writing->encoder) < 0)
		return -1;
	format = encoder->format;
	channels = head->c - encoder->tracks;
	writing->w = head->w + (format->halved_x || encoder->shown ? head->w % 2 : 0);
	writing->h = head->h + (format->halved_y || encoder->shown ? head->h % 2 : 0);
	rows = writing->h * (1 + encoder->tracks);
	if (pixel_format_bytes(format, writing->w, rows, &writing->bytes) < 0)
		return -1;
	flat = pixel_format_flat_bytes(format, channels, writing->w, rows);
	writing->picture = must_alloc(writing->bytes, 1);
	pixel_format_flatten(format, flat, writing->picture + writing->bytes - flat);
	return 0;
}

static int
put(struct saver *saver, const struct frame *frame)
{
	struct writing *writing = saver->state;

	if (take_time(saver, writing, &frame->head) < 0 ||
	    (saver->frames && compare_heads(saver, writing, &frame->head) < 0) ||
	    (!saver->frames && check_fringes(saver, writing, frame) < 0) ||
	    (writing->waits && start(saver, writing, &frame->head.meta) < 0) ||
	    make_picture(saver, writing, frame) < 0)
		return -1;
	if (saver->frames)
		return send(saver, writing);
	writing->waits = true;
	return 0;
}

static int
video_save(struct saver *saver, const struct frame *frame)
{
	int status = saver->state ? 0 : begin(saver, &frame->head);

	if (status == 0)
		status = put(saver, frame);
	((struct writing *)saver->state)->failed |= status < 0;
	return status;
}

static int
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
	free(writing->picture);
	free(writing);
	saver->state = NULL;
	return status;
}

#define AT(field) offsetof(struct video_options, field)

static bool
video_sniff(const unsigned char *start, size_t n)
{
	return video_container(start, n);
}

/* MP4 and QuickTime may have at their end what is needed first. */
static bool
video_streams(const unsigned char *start, size_t n)
{
	return strcmp(video_container(start, n), "mov") != 0;
}

static const struct opt video_options[] = {
	{ 0, "video", "WORD", OPT_WORD, AT(coding), "h264", .words = video_codings },
	{ 0, "crf", "N", OPT_NUMBER, AT(crf), NULL, -24, 63 },
	FLAG_ROW(0, "lossless", lossless, NULL),
	{ 0, "chroma", "WORD", OPT_WORD, AT(chroma), .words = video_chromas },
	{ 0, "preset", "WORD", OPT_TEXT, AT(preset) },
	{ 0, "fps", "N", OPT_NUMBER, AT(fps), NULL, 1e-3, 1e5 },
	{ 0, "texture-crf", "N", OPT_NUMBER, AT(texture_crf), NULL, 0, 51 },
	{ 0 }
};

const struct codec codec_video = {
	.name = "video",
	.suffixes = "mkv mp4 mov nut y4m",
	.seeks = true,
	.streams = video_streams,
	.many = true,
	.sniff = video_sniff,
	.raw_check = raw_stream_check,
	.load = video_load,
	.load_end = video_load_end,
	.options = video_options,
	.option_size = sizeof(struct video_options),
	.save = video_save,
	.save_end = video_save_end,
	.check_save = ffmpeg_check
};
