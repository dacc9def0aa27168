/*
 * What viewers get of a frame: its depth and texture, made smaller if --size asks for it, and these
 * as a Holoimage (holoimage(5)) or as the luma of a video (depthcode(5)). holoserve_rows.c has the
 * loops.
 */
#include "holoserve.h"

#include <math.h>

#include "frame/key_lines.h"

/* ---- a frame made smaller by a box filter ---- */

/* The number of columns and rows that become one, so that w x h fits into the size; 1 if it does,
 * or if there is no size. */
static size_t
smaller_step(const struct opt_size *size, size_t w, size_t h)
{
	size_t across, down, step;

	if (size->w == 0 || size->h == 0)
		return 1;
	across = (w + size->w - 1) / size->w;
	down = (h + size->h - 1) / size->h;
	step = across > down ? across : down;
	/* a long, thin image keeps a pixel */
	if (step > w || step > h)
		step = w < h ? w : h;
	return step ? step : 1;
}

/* Channels depth and texture of a frame of floats, as channels 0, 1 ...: means
 * over step x step pixels. Omits columns and rows that fill no box. Keeps the metadata. -1 after
 * fail(). */
static int
smaller_make(const struct frame *frame, size_t depth, const struct texture_source *texture,
    size_t step, struct frame **out)
{
	const size_t from[4] = { depth, texture->channel[0], texture->channel[1],
		texture->channel[2] };
	struct frame_head head;

	head_copy(&head, &frame->head);
	head.w /= step;
	head.h /= step;
	head_set_channels(&head, texture->n == 0 ? "depth" :
	    texture->n == 1 ? "depth texture" : "depth r g b");
	if (frame_new_if(0, &head, out) < 0)
		return -1;
	for (size_t c = 0; c < (*out)->head.c; c++)
		for (size_t y = 0; y < head.h; y++)
			holoserve_rows()->shrink_row(frame, from[c], y, step,
			    frame_floats(*out, c, y), head.w);
	return 0;
}

/* ---- depth as the luma of a video: the layout luma of depthcode(5) ---- */

#define VIDEO_BITS 10	/* of luma */
#define GUARD 64	/* levels between a hole's 0 and depths: compression loses less than half */

static struct depthcode
code_of(const struct picture *picture)
{
	return (struct depthcode){ .w = picture->w, .h = picture->h, .layout = DEPTHCODE_LUMA,
		.mask = DEPTHCODE_GAP, .bits = VIDEO_BITS, .guard = GUARD,
		.low = picture->holo.low, .high = picture->holo.high };
}

int
luma_make(const struct picture *picture, size_t begin, struct frame **out)
{
	const struct depthcode depthcode = code_of(picture);
	const bool textured = picture->texture.n > 0;

	if (frame_new_named(picture->w, textured ? begin + picture->h : picture->h,
	    picture->texture.n == 3 ? 3 : 1,
	    SAMPLE_USHORT, NULL, out) < 0)
		return -1;
	holoserve_rows()->luma_rows(picture, depthcode_code(&depthcode), begin, *out);
	return 0;
}

void
luma_keys(const struct picture *picture, struct meta *keys)
{
	const struct depthcode code = code_of(picture);
	const struct holo *holo = &picture->holo;

	depthcode_write(&code, keys);
	meta_set_numbers(keys, "holo_spacing", holo->spacing, 2);
	meta_set_numbers(keys, "holo_corner", holo->corner, 2);
	meta_set(keys, "z_axis", holo_z_axes[holo->z_axis]);
	if (picture->texture.n == 0)
		return;
	if (picture->texture.n == 3)
		meta_set(keys, "depthcode_texture_matrix", texture_matrices[TEXTURE_BT709]);
	meta_set(keys, "depthcode_texture", picture->texture.n == 3 ? "r g b" : "texture");
	meta_set_number(keys, "depthcode_texture_scale",
	    picture->white / (double)depthcode_most(&code));
}

/* ---- what a frame shows ---- */

static bool
is_holoimage(const struct frame_head *head)
{
	return head->type == SAMPLE_UCHAR && (head->c == 3 || head->c == 4) &&
	    meta_get(&head->meta, "holo_pitch_px") && !meta_get(&head->meta, "holo_pack");
}

/* A camera's picture. Without the key `camera` a file of more than 8 bits may be a depth map. */
static bool
is_flat(const struct frame_head *head)
{
	return head->c == 1 && head_channel(head, "image") == 0 &&
	    (head->type == SAMPLE_UCHAR || meta_get(&head->meta, "camera"));
}

bool
picture_shows(const struct frame_head *head)
{
	return !head_is_table(head) && (is_holoimage(head) || is_flat(head) ||
	    depth_range_channel(head) != NO_CHANNEL);
}

/* The head of the smaller frame, whose size holo_choose() needs. */
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

#define MARGIN 0.1	/* of the range, beyond the depths that made it grow */
#define LUMA_LEVELS 959	/* of depths, from one end of the range to the other */

/* The least difference of depths that the code of the pictures shows. */
static double
depth_step(const struct picture_maker *maker, const struct holo *holo, double range)
{
	const struct holo_code code = holo_code(holo);

	return maker->options->luma ? range / LUMA_LEVELS : holo_depth_step(&code, range);
}

/* Without a given range: that of all depths so far. Returns 1 if there are none. */
static int
follow_range(struct picture_maker *maker, struct picture *picture)
{
	double low, high, margin;

	holoserve_rows()->find_range(picture, picture->depth, &low, &high);
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

const struct frame *
picture_image(struct picture *picture)
{
	if (!picture->image) {
		if (frame_new_named(picture->w, picture->h, 3 + picture->texture.n,
		    SAMPLE_UCHAR, NULL, &picture->image) < 0)
			return NULL;
		holoserve_rows()->holoimage_rows(picture, picture->image);
	}
	return picture->image;
}

/* For points on a grid: its place and spacing, in columns and rows of the smaller image. */
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

/* The channel texture of a frame, else its colours. */
static void
picture_texture(const struct frame_head *head, struct texture_source *out)
{
	*out = (struct texture_source){ 1, { head_channel(head, "texture") } };
	if (out->channel[0] == NO_CHANNEL)
		out->n = head_three(head, "", "rgb", out->channel) ? 3 : 0;
}

/* Takes the depth and the texture of a frame of floats, made smaller if necessary. */
static int
take_source(const struct picture_maker *maker, const struct frame *frame, struct picture *picture)
{
	const size_t step = smaller_step(&maker->options->size, frame->head.w, frame->head.h);
	const size_t depth = depth_range_channel(&frame->head);
	struct texture_source texture;
	int status;

	picture_texture(&frame->head, &texture);
	picture->textured = texture.n > 0;
	picture->depth = step > 1 ? 0 : depth;
	picture->texture = texture;
	for (size_t c = 0; c < 3 && step > 1; c++)
		picture->texture.channel[c] = 1 + c;
	picture->white = 255;
	if (texture.n && texture_white(&frame->head, texture.channel[0], &picture->white) < 0)
		return -1;
	status = step > 1 ? smaller_make(frame, depth, &texture, step, &picture->source) :
	    frame_duplicate(frame, &picture->source);
	if (status < 0)
		return -1;
	picture->w = picture->source->head.w;
	picture->h = picture->source->head.h;
	return find_grid(frame, step, &picture->holo);
}

/* The picture of a frame of floats. 1 if it has no depth at all; -1 after fail(). */
static int
make_of_depth(struct picture_maker *maker, const struct frame *frame, struct picture *picture)
{
	const struct frame_head small_head = smaller_head(maker->options, &frame->head);
	struct holo *holo = &picture->holo;
	int status;
	double low, high;

	if (holo_choose(holo, &maker->options->holo, &small_head) < 0 ||
	    take_source(maker, frame, picture) < 0)
		return -1;
	if (isnan(holo->low)) {
		status = follow_range(maker, picture);
		if (status != 0)
			return status;
	} else {	/* a range that was given is checked against the depths */
		if (!maker->outside)
			maker->outside = depth_range_warn_outside(picture->source, picture->depth,
			    holo->low, holo->high);
		depth_use_add(&maker->use, picture->source, picture->depth, holo->low, holo->high);
		maker->step = depth_step(maker, holo, holo->high - holo->low);
	}
	if (picture->textured && !maker->bright) {
		holoserve_rows()->find_range(picture, picture->texture.channel[0], &low, &high);
		maker->bright = texture_warn_black("texture", low, high, picture->white);
	}
	hole_value_judge(&maker->hole, picture->source, picture->depth, holo->low, holo->high,
	    holo->z_axis == HOLO_TOWARDS);
	if (picture->textured) {
		meta_set(&picture->keys, "holo_texture",
		    picture->texture.n == 1 ? "texture" : "r g b");
		meta_set_number(&picture->keys, "holo_texture_scale",
		    1 / (double)(float)(255 / picture->white));
	}
	holo_write(holo, &picture->keys);
	return 0;
}

/* Does an option choose how depths are encoded? */
static bool
is_given(const struct holo_options *options)
{
	return !isnan(options->pitch_px) || !isnan(options->theta_rad) || options->stair >= 0 ||
	    options->stair_height != OPT_NONE_INTEGER ||
	    options->stair_turns != OPT_NONE_INTEGER || options->layout >= 0 ||
	    options->z_axis >= 0 || options->rounding >= 0 || options->depth_range.n > 0;
}

/* The picture of a Holoimage is that image. */
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
	if (key_option_word(-1, &frame->head.meta, "holo_layout", holo_layouts, HOLO_RGB,
	    &layout) < 0)
		return -1;
	picture->holo.layout = (enum holo_layout)layout;
	meta_copy(&picture->keys, &frame->head.meta);
	return frame_duplicate(frame, &picture->image);
}

/* A plane of depth 0 with the camera's picture as its texture: floats. */
static int
flat_make(const struct frame *in, struct frame **out)
{
	static const double full[] = { 255, 65535, 1 };
	double white;

	if (meta_number(&in->head.meta, "max_value", full[in->head.type], &white) < 0 ||
	    frame_new_named(in->head.w, in->head.h, 2, SAMPLE_FLOAT, "depth texture", out) < 0)
		return -1;
	meta_set_number(&(*out)->head.meta, "max_value", white);
	for (size_t y = 0; y < in->head.h; y++)
		for (size_t x = 0; x < in->head.w; x++) {
			frame_floats(*out, 0, y)[x] = 0;
			frame_floats(*out, 1, y)[x] = frame_sample(in, 0, y, x);
		}
	return 0;
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
	} else {
		picture->flat = is_flat(&frame->head);
		status = picture->flat ? flat_make(frame, &floats) :
		    frame_to_float(frame, &floats);
		if (status == 0) {
			status = make_of_depth(maker, floats, picture);
			frame_free(floats);
		}
	}
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
