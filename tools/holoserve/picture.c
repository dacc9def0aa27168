#include "picture.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "frame/key_option.h"
#include "holo/holoenc_rows.h"
#include "image/depth_range.h"
#include "image/texture_cut.h"
#include "smaller.h"

#define MARGIN 0.1	/* of the range, beyond the depths that made it grow */
#define LUMA_LEVELS 959	/* of depths, from one end of the range to the other */

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
	if (options->luma)
		return fail("--encode", "luma is the depth itself, and the input is a Holoimage: "
		    "take h264, or serve what it was made of");
	if (small.w < head->w)
		return fail("--size", "the input is a Holoimage of %zu x %zu, which cannot be made "
		    "smaller: give --size to a holoserve of depths", head->w, head->h);
	return 0;
}

/* ---- depth to Holoimage ---- */

/* The least and greatest finite sample of a channel; low > high where there is none. */
static void
find_range(const struct picture *picture, size_t channel, double *low, double *high)
{
	float least = FLT_MAX, most = -FLT_MAX;

	for (size_t y = 0; y < picture->h; y++) {
		const float *restrict row = frame_floats(picture->source, channel, y);

		_Pragma("omp simd reduction(min:least) reduction(max:most)")
		for (size_t x = 0; x < picture->w; x++) {
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

/* Between two depths of a range that the code of the pictures tells from each other. */
static double
depth_step(const struct picture_maker *maker, const struct holo *holo, double range)
{
	const struct holo_code code = holo_code(holo);

	return maker->options->luma ? range / LUMA_LEVELS : holo_depth_step(&code, range);
}

/* A range that was given: does it hold the depths? */
static void
judge_range(struct picture_maker *maker, const struct picture *picture)
{
	const struct holo *holo = &picture->holo;

	if (!maker->outside)
		maker->outside = depth_range_warn_outside(picture->source, picture->depth,
		    holo->low, holo->high);
	depth_use_add(&maker->use, picture->source, picture->depth, holo->low, holo->high);
	maker->step = depth_step(maker, holo, holo->high - holo->low);
}

static void
judge_texture(struct picture_maker *maker, const struct picture *picture)
{
	double low, high;

	if (!picture->textured || maker->bright)
		return;
	find_range(picture, picture->texture, &low, &high);
	maker->bright = texture_warn_black("texture", low, high, picture->white);
}

/* The depth range where none was given. */
static int
follow_range(struct picture_maker *maker, struct picture *picture)
{
	double low, high, margin;

	find_range(picture, picture->depth, &low, &high);
	if (low > high)
		return maker->low > maker->high ? 1 : 0;
	if (maker->low > maker->high || low < maker->low || high > maker->high) {
		if (!maker->stray && high > low)
			maker->stray = depth_use_warn_stray(picture->source, picture->depth, low,
			    high, depth_step(maker, &picture->holo, high - low));
		if (maker->low <= maker->high) {
			low = low < maker->low ? low : maker->low;
			high = high > maker->high ? high : maker->high;
		}
		margin = MARGIN * (high - low);
		maker->low = low - margin;
		maker->high = high > low ? high + margin : low + 1;
	}
	picture->holo.low = maker->low;
	picture->holo.high = maker->high;
	return 0;
}

static double
texture_white(const struct frame_head *head)
{
	double white;

	if (meta_number(&head->meta, "max_value", 255, &white) < 0) {
		fail_clear();
		white = 255;
	}
	return white > 0 ? white : 255;
}

static int
encode(const struct picture *picture, struct frame **out)
{
	const struct frame *source = picture->source;
	const struct holo_code code = holo_code(&picture->holo);
	const size_t *place = holo_place[picture->holo.layout];
	struct frame_head head;
	int status;

	if (head_init(&head, picture->w, picture->h, picture->textured ? 4 : 3, SAMPLE_UCHAR) < 0)
		return -1;
	status = frame_new(&head, out);
	head_free(&head);
	for (size_t y = 0; status == 0 && y < picture->h; y++) {
		struct holoenc_colours colours = { frame_row(*out, place[0], y),
			frame_row(*out, place[1], y), frame_row(*out, place[2], y) };

		holoenc_row(frame_floats(source, picture->depth, y), &colours, picture->w, &code,
		    picture->holo.rounding == HOLO_ANGLE);
		if (picture->textured)
			holoenc_texture_row(frame_floats(source, picture->texture, y),
			    frame_row(*out, 3, y), picture->w, (float)(255 / picture->white));
	}
	return status;
}

const struct frame *
picture_image(struct picture *picture)
{
	if (!picture->image && encode(picture, &picture->image) < 0)
		return NULL;
	return picture->image;
}

static int
set_keys(struct picture *picture)
{
	if (picture->textured && (meta_set(&picture->keys, "holo_texture", "texture") < 0 ||
	    meta_set_number(&picture->keys, "holo_texture_scale",
		1 / (double)(float)(255 / picture->white)) < 0))
		return -1;
	return holo_write(&picture->holo, &picture->keys);
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

/* Takes the depth and the texture of a frame of floats, made smaller if that is wanted. */
static int
take_source(const struct picture_maker *maker, const struct frame *frame, struct picture *picture)
{
	const size_t step = smaller_step(&maker->options->size, frame->head.w, frame->head.h);
	const size_t depth = depth_range_channel(&frame->head);
	const size_t texture = head_channel(&frame->head, "texture");
	int status;

	picture->textured = texture != NO_CHANNEL;
	picture->depth = step > 1 ? 0 : depth;
	picture->texture = picture->textured && step > 1 ? 1 : texture;
	picture->white = texture_white(&frame->head);
	status = step > 1 ? smaller_make(frame, depth, texture, step, &picture->source) :
	    frame_duplicate(frame, &picture->source);
	if (status < 0)
		return -1;
	picture->w = picture->source->head.w;
	picture->h = picture->source->head.h;
	return find_grid(frame, step, &picture->holo);
}

/* frame: of floats. */
static int
make_of_depth(struct picture_maker *maker, const struct frame *frame, struct picture *picture)
{
	const struct frame_head small_head = smaller_head(maker->options, &frame->head);
	int status = holo_choose(&picture->holo, &maker->options->holo, &small_head);

	if (status == 0)
		status = take_source(maker, frame, picture);
	if (status == 0 && !isnan(picture->holo.low))
		judge_range(maker, picture);
	else if (status == 0)
		status = follow_range(maker, picture);
	if (status == 0)
		judge_texture(maker, picture);
	if (status == 0)
		hole_value_judge(&maker->hole, picture->source, picture->depth, picture->holo.low,
		    picture->holo.high, picture->holo.z_axis == HOLO_TOWARDS);
	return status == 0 ? set_keys(picture) : status;
}

/* Does an option say how depths are encoded? */
static bool
is_given(const struct holo_options *options)
{
	return !isnan(options->pitch_px) || !isnan(options->theta_rad) || options->stair >= 0 ||
	    options->stair_height != OPT_NONE_INTEGER ||
	    options->stair_turns != OPT_NONE_INTEGER || options->layout >= 0 ||
	    options->z_axis >= 0 || options->rounding >= 0 || options->depth_range.n > 0;
}

/* A Holoimage goes on as it is. */
static int
take_holoimage(struct picture_maker *maker, const struct frame *frame, struct picture *picture)
{
	int layout;

	if (!maker->unused && is_given(&maker->options->holo))
		warn(NULL, "the input is a Holoimage, which goes on as it is: options that say how "
		    "depths are encoded have no effect");
	maker->unused = true;
	picture->w = frame->head.w;
	picture->h = frame->head.h;
	picture->textured = frame->head.c == 4;
	picture->texture = NO_CHANNEL;
	if (key_option_word(-1, &frame->head.meta, "holo_layout", holo_layouts, HOLO_RGB,
	    &layout) < 0)
		return -1;
	picture->holo.layout = (enum holo_layout)layout;
	meta_copy(&picture->keys, &frame->head.meta);
	return frame_duplicate(frame, &picture->image);
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
		status = take_holoimage(maker, frame, picture);
		if (status < 0)
			picture_free(picture);
		return status;
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
	frame_free(picture->source);
	meta_free(&picture->keys);
	*picture = (struct picture){ 0 };
}

void
picture_begin(struct picture_maker *maker, const struct picture_options *options)
{
	*maker = (struct picture_maker){ .options = options, .low = 1, .high = 0 };
}

void
picture_conclude(const struct picture_maker *maker)
{
	depth_use_conclude(&maker->use, maker->step);
}
