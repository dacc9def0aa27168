#include "luma.h"

#include <string.h>

#include "depthcode/depthcode.h"
#include "video.h"

#define GUARD 64	/* levels: what is lost of a hole's 0 stays below half of it */

static struct depthcode
code_of(const struct picture *picture)
{
	return (struct depthcode){ .w = picture->w, .h = picture->h, .layout = DEPTHCODE_LUMA,
		.mask = DEPTHCODE_GAP, .bits = VIDEO_BITS, .guard = GUARD,
		.low = picture->holo.low, .high = picture->holo.high };
}

static void
depth_row(const float *restrict depth, uint16_t *restrict luma, size_t n,
    struct depthcode_code code)
{
	_Pragma("omp simd")
	for (size_t x = 0; x < n; x++) {
		PX_F z = depthcode_normalise(depth[x], code.zero, code.per_depth);
		PX_F level = depthcode_round(depthcode_luma(depthcode_clamp(z), code.guard,
		    code.swing));

		luma[x] = (uint16_t)(int)px_select(depthcode_inside(z), level, 0.0f);
	}
}

static void
texture_row(const float *restrict value, uint16_t *restrict luma, size_t n, float scale, float most)
{
	_Pragma("omp simd")
	for (size_t x = 0; x < n; x++) {
		PX_F level = px_floor(value[x] * scale + 0.5f);

		luma[x] = (uint16_t)(int)px_select(level >= 0.0f, px_min(level, most), 0.0f);
	}
}

int
luma_make(const struct picture *picture, size_t begin, struct frame **out)
{
	const struct frame *source = picture->source;
	const struct depthcode depthcode = code_of(picture);
	const struct depthcode_code code = depthcode_code(&depthcode);
	const bool textured = picture->texture != NO_CHANNEL;
	const size_t w = picture->w, h = picture->h;
	struct frame_head head;
	int status;

	if (head_init(&head, w, textured ? begin + h : h, 1, SAMPLE_USHORT) < 0)
		return -1;
	status = frame_new(&head, out);
	head_free(&head);
	if (status < 0)
		return -1;
	for (size_t y = 0; y < h; y++)
		depth_row(frame_floats(source, picture->depth, y), frame_row(*out, 0, y), w, code);
	for (size_t y = h; y < begin && textured; y++)
		memcpy(frame_row(*out, 0, y), frame_row(*out, 0, h - 1), w * sizeof(uint16_t));
	for (size_t y = 0; y < h && textured; y++)
		texture_row(frame_floats(source, picture->texture, y),
		    frame_row(*out, 0, begin + y), w, (float)(code.most / picture->white),
		    code.most);
	return 0;
}

int
luma_keys(const struct picture *picture, struct meta *keys)
{
	const struct depthcode code = code_of(picture);
	const struct holo *holo = &picture->holo;

	if (depthcode_write(&code, keys) < 0 ||
	    meta_set_numbers(keys, "holo_spacing", holo->spacing, 2) < 0 ||
	    meta_set_numbers(keys, "holo_corner", holo->corner, 2) < 0 ||
	    meta_set(keys, "z_axis", holo_z_axes[holo->z_axis]) < 0)
		return -1;
	if (picture->texture == NO_CHANNEL)
		return 0;
	return meta_set(keys, "depthcode_texture", "texture") < 0 ? -1 :
	    meta_set_number(keys, "depthcode_texture_scale",
		picture->white / (double)depthcode_most(&code));
}
