#include "picture.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "holo/holoenc_rows.h"
#include "image/depth_range.h"
#include "smaller.h"

#define MARGIN 0.1	/* of the range, beyond the depths that made it grow */

/* ---- what a frame is ---- */

static bool
is_holoimage(const struct frame_head *head)
{
	return head->type == SAMPLE_UCHAR && (head->c == 3 || head->c == 4) &&
	    meta_get(&head->meta, "holo_pitch_px") && !meta_get(&head->meta, "holo_pack");
}

bool
picture_shows(const struct frame_head *head)
{
	return !head_is_table(head) &&
	    (is_holoimage(head) || depth_range_channel(head) != NO_CHANNEL);
}

/* The head as it is after it was made smaller: holo_choose() asks for the size. */
static struct frame_head
smaller_head(const struct picture_options *options, const struct frame_head *head)
{
	struct frame_head small = *head;
	size_t step = smaller_step(&options->size, head->w, head->h);

	small.w = head->w / step;
	small.h = head->h / step;
	for (int i = 0; i < 2; i++)
		small.spacing[i] *= (double)step;
	return small;
}

int
picture_check(const struct picture_options *options, const struct frame_head *head)
{
	struct frame_head small = smaller_head(options, head);
	struct holo_options holo = options->holo;
	struct holo ignored;

	if (!is_holoimage(head))
		return holo_choose(&ignored, &holo, &small);
	if (small.w < head->w)
		return fail("--size", "the input is a Holoimage of %zu x %zu, which cannot be made "
		    "smaller: give --size to a holoserve of depths", head->w, head->h);
	return 0;
}

/* ---- depth to Holoimage ---- */

struct source {
	const struct frame *frame;
	size_t depth, texture;	/* channels; NO_CHANNEL */
};

/* The least and greatest finite depth; low > high where there is none. */
static void
find_range(const struct source *source, double *low, double *high)
{
	float least = FLT_MAX, most = -FLT_MAX;

	for (size_t y = 0; y < source->frame->head.h; y++) {
		const float *restrict row = frame_floats(source->frame, source->depth, y);

		_Pragma("omp simd reduction(min:least) reduction(max:most)")
		for (size_t x = 0; x < source->frame->head.w; x++) {
			bool finite = px_abs(row[x]) <= FLT_MAX;
			float a = px_select(finite, row[x], FLT_MAX);
			float b = px_select(finite, row[x], -FLT_MAX);

			least = a < least ? a : least;
			most = b > most ? b : most;
		}
	}
	*low = (double)least;
	*high = (double)most;
}

/* The depth range where none was given. */
static int
follow_range(struct picture_maker *maker, const struct source *source, struct holo *holo)
{
	double low, high, margin;

	find_range(source, &low, &high);
	if (low > high)
		return maker->low > maker->high ? 1 : 0;
	if (maker->low > maker->high || low < maker->low || high > maker->high) {
		if (maker->low <= maker->high) {
			low = low < maker->low ? low : maker->low;
			high = high > maker->high ? high : maker->high;
		}
		margin = MARGIN * (high - low);
		maker->low = low - margin;
		maker->high = high > low ? high + margin : low + 1;
	}
	holo->low = maker->low;
	holo->high = maker->high;
	return 0;
}

static float
texture_scale(const struct frame_head *head)
{
	double white;

	if (meta_number(&head->meta, "max_value", 255, &white) < 0) {
		fail_clear();
		white = 255;
	}
	return (float)(255 / (white > 0 ? white : 255));
}

static int
encode(const struct source *source, const struct holo *holo, struct picture *picture)
{
	const struct frame *frame = source->frame;
	const struct holo_code code = holo_code(holo);
	const size_t *place = holo_place[holo->layout];
	const bool textured = source->texture != NO_CHANNEL;
	struct frame_head head;
	struct frame *image;

	if (head_init(&head, frame->head.w, frame->head.h, textured ? 4 : 3, SAMPLE_UCHAR) < 0)
		return -1;
	if (frame_new(&head, &picture->image) < 0) {
		head_free(&head);
		return -1;
	}
	head_free(&head);
	image = picture->image;
	for (size_t y = 0; y < frame->head.h; y++) {
		struct holoenc_colours colours = { frame_row(image, place[0], y),
			frame_row(image, place[1], y), frame_row(image, place[2], y) };

		holoenc_row(frame_floats(frame, source->depth, y), &colours, frame->head.w, &code,
		    holo->rounding == HOLO_ANGLE);
		if (textured)
			holoenc_texture_row(frame_floats(frame, source->texture, y),
			    frame_row(image, 3, y), frame->head.w, texture_scale(&frame->head));
	}
	if (textured && (meta_set(&picture->keys, "holo_texture", "texture") < 0 ||
	    meta_set_number(&picture->keys, "holo_texture_scale",
		1 / (double)texture_scale(&frame->head)) < 0))
		return -1;
	return holo_write(holo, &picture->keys);
}

/* Points on a grid: where the grid lies, in columns and rows of the smaller image. */
static int
find_grid(const struct frame *frame, size_t step, struct holo *holo)
{
	size_t x = head_channel(&frame->head, "x"), y = head_channel(&frame->head, "y");

	if (x == NO_CHANNEL || y == NO_CHANNEL || head_channel(&frame->head, "z") == NO_CHANNEL)
		return 0;
	if (holo_grid(frame, x, y, holo->spacing, holo->corner) < 0)
		return -1;
	for (int i = 0; i < 2; i++) {
		holo->corner[i] += holo->spacing[i] * ((double)step - 1) / 2;
		holo->spacing[i] *= (double)step;
	}
	return 0;
}

/* frame: of floats. */
static int
make_of_depth(struct picture_maker *maker, const struct frame *frame, struct picture *picture)
{
	const struct frame_head small_head = smaller_head(maker->options, &frame->head);
	const size_t step = smaller_step(&maker->options->size, frame->head.w, frame->head.h);
	struct source source = { frame, depth_range_channel(&frame->head),
		head_channel(&frame->head, "texture") };
	struct frame *small = NULL;
	struct holo holo;
	int status = holo_choose(&holo, &maker->options->holo, &small_head);

	if (status == 0)
		status = find_grid(frame, step, &holo);
	if (status == 0 && step > 1) {
		status = smaller_make(frame, source.depth, source.texture, step, &small);
		source = (struct source){ small, 0, source.texture == NO_CHANNEL ? NO_CHANNEL : 1 };
	}
	if (status == 0 && isnan(holo.low))
		status = follow_range(maker, &source, &holo);
	if (status == 0)
		status = encode(&source, &holo, picture);
	frame_free(small);
	return status;
}

int
picture_make(struct picture_maker *maker, const struct frame *frame, struct picture *picture)
{
	const char *unit = meta_get(&frame->head.meta, "length_unit");
	struct frame *floats;
	int status;

	*picture = (struct picture){ 0 };
	snprintf(picture->unit, sizeof(picture->unit), "%s", unit ? unit : frame->head.unit);
	if (is_holoimage(&frame->head)) {
		meta_copy(&picture->keys, &frame->head.meta);
		return frame_duplicate(frame, &picture->image);
	}
	if (frame_to_float(frame, &floats) < 0)
		return -1;
	status = make_of_depth(maker, floats, picture);
	frame_free(floats);
	if (status != 0)
		picture_free(picture);
	return status;
}

void
picture_free(struct picture *picture)
{
	frame_free(picture->image);
	meta_free(&picture->keys);
	*picture = (struct picture){ 0 };
}

void
picture_begin(struct picture_maker *maker, const struct picture_options *options)
{
	*maker = (struct picture_maker){ options, 1, 0 };
}

/* ---- compression ---- */

/* What the codecs are asked for. */
struct compression {
	long quality;
	bool fast;
};

static const struct opt compression_options[] = {
	{ 0, "quality", "Q", OPT_INTEGER, offsetof(struct compression, quality), NULL, 1, 100, NULL,
	    "", NULL },
	{ 0, "fast", NULL, OPT_FLAG, offsetof(struct compression, fast), NULL, 0, 0, NULL, "",
	    NULL },
	{ 0 },
};

/* Where a texture below begins, so that it shares no block of JPEG with the depth. */
static size_t
texture_row(const struct picture *picture)
{
	return (picture->image->head.h + LIVE_BLOCK - 1) / LIVE_BLOCK * LIVE_BLOCK;
}

/* The texture below the depth, grey, in one image of r g b; the rows between them are the depth's
 * last. */
static int
put_below(const struct frame *image, size_t begin, struct frame **out)
{
	const size_t w = image->head.w, h = image->head.h;
	struct frame_head head;
	int status;

	if (head_init(&head, w, begin + h, 3, SAMPLE_UCHAR) < 0)
		return -1;
	status = frame_new(&head, out);
	head_free(&head);
	for (size_t c = 0; status == 0 && c < 3; c++) {
		for (size_t y = 0; y < begin; y++)
			memcpy(frame_row(*out, c, y), frame_row(image, c, y < h ? y : h - 1), w);
		for (size_t y = 0; y < h; y++)
			memcpy(frame_row(*out, c, begin + y), frame_row(image, 3, y), w);
	}
	return status;
}

/* The image as the codec takes it: without keys, which are said once. */
static int
arrange(const struct picture *picture, enum live_kind kind, struct frame **out)
{
	if (kind == LIVE_JPEG && picture->image->head.c == 4)
		return put_below(picture->image, texture_row(picture), out);
	if (frame_duplicate(picture->image, out) < 0)
		return -1;
	meta_free(&(*out)->head.meta);
	(*out)->head.meta = (struct meta){ 0 };
	return 0;
}

static int
save(const struct picture_maker *maker, const struct frame *image, enum live_kind kind, FILE *file)
{
	const char *path = kind == LIVE_JPEG ? "picture.jpg" : "picture.png";
	const struct codec *codec = codec_by_suffix(path);
	const struct compression compression = { maker->options->quality, true };
	const struct save_options wanted = { compression_options, &compression };
	struct saver saver = { .file = file, .path = path };
	void *options;
	int status;

	if (codec_options_new(codec, &wanted, &options) < 0)
		return -1;
	saver.options = options;
	status = codec->save(&saver, image);
	codec_options_free(codec, options);
	return status;
}

char *
picture_compress(const struct picture_maker *maker, const struct picture *picture,
    enum live_kind kind, size_t lead, size_t *n)
{
	struct frame *image;
	struct text text = { 0 };
	char *bytes;
	int status;

	if (arrange(picture, kind, &image) < 0)
		return NULL;
	status = text_open(&text) ? 0 : -1;
	for (size_t i = 0; status == 0 && i < lead; i++)
		putc(0, text.file);
	if (status == 0)
		status = save(maker, image, kind, text.file);
	frame_free(image);
	if (status < 0) {
		text_drop(&text);
		return NULL;
	}
	bytes = text_close(&text, n);
	*n -= bytes ? lead : 0;
	return bytes;
}

/* ---- keys ---- */

static const char *
texture_place(const struct picture *picture, enum live_kind kind)
{
	if (picture->image->head.c < 4)
		return "none";
	return kind == LIVE_PNG ? "alpha" : "below";
}

char *
picture_keys(const struct picture *picture, enum live_kind kind)
{
	const struct frame_head *head = &picture->image->head;
	const char *range = meta_get(&picture->keys, "holo_depth_range");
	struct text text = { 0 };

	if (!text_open(&text))
		return NULL;
	fprintf(text.file, "encoding: %s\nwidth: %zu\nheight: %zu\ntexture: %s\n",
	    live_kind_names[kind], head->w, head->h, texture_place(picture, kind));
	if (head->c == 4 && kind == LIVE_JPEG)
		fprintf(text.file, "texture_row: %zu\n", texture_row(picture));
	if (*picture->unit)
		fprintf(text.file, "length_unit: %s\n", picture->unit);
	if (range && !strcmp(picture->unit, "mm"))
		fprintf(text.file, "depth_range_mm: %s\n", range);
	for (size_t i = 0; i < picture->keys.n; i++) {
		const struct meta_entry *entry = &picture->keys.entry[i];

		/* the check changes with every frame */
		if ((!strncmp(entry->key, "holo_", 5) && strcmp(entry->key, "holo_check")) ||
		    !strcmp(entry->key, "z_axis"))
			fprintf(text.file, "%s: %s\n", entry->key, entry->value);
	}
	return text_close(&text, NULL);
}
