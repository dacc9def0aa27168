/*
 * The loops over pixels of depthdec: levels of a video's planes to depths (holo/depthcode.px.h
 * has the formulas), and the counts that depthdec.c checks levels by.
 */
#include "depthdec.h"

#include "holo/depthcode.px.h"
#include "image/texture_rows.h"

#define TILE 1024		/* pixels of a row at a time */

static void
load(const struct frame *in, size_t c, size_t y, size_t x, size_t n, float *restrict out)
{
	const void *row = frame_row(in, c, y);
	const uint8_t *restrict bytes = (const uint8_t *)row + x;
	const uint16_t *restrict words = (const uint16_t *)row + x;

	if (in->head.type == SAMPLE_UCHAR) {
		CPU_SIMD
		for (size_t i = 0; i < n; i++)
			out[i] = (float)(int)bytes[i];
	} else if (in->head.type == SAMPLE_USHORT) {
		CPU_SIMD
		for (size_t i = 0; i < n; i++)
			out[i] = (float)(int)words[i];
	} else {
		memcpy(out, (const float *)row + x, n * sizeof(*out));
	}
}

/* Three loops of few steps, since one would wait for the division and then for each step. */
static void
decode_colour(const float *restrict sine, const float *restrict cosine, float *restrict rest,
    float *restrict z, size_t n, struct depthcode_code code)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		rest[x] = px_atan2_tangent(sine[x] - code.middle, cosine[x] - code.middle);
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		rest[x] = depthcode_rest_of(rest[x], sine[x] - code.middle,
		    cosine[x] - code.middle);
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		z[x] = depthcode_fine_at(z[x], rest[x], code.fringes);
}

static void
decode(const struct priv *priv, const struct frame *in, struct frame *out, size_t y, size_t x,
    size_t n)
{
	const struct depthcode_code code = priv->code;
	float luma[TILE], z[TILE], sine[TILE], cosine[TILE], rest[TILE];
	float *restrict depth = frame_floats(out, 0, y) + x;

	load(in, priv->planes.luma, y, x, n, luma);
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		z[i] = depthcode_coarse(luma[i], code.guard, code.swing);
	if (priv->planes.coarse != NO_CHANNEL) {
		load(in, priv->planes.coarse, y, x, n, sine);
		CPU_SIMD
		for (size_t i = 0; i < n; i++)
			z[i] = depthcode_unfold(
			    depthcode_clamp(px_divide(sine[i], code.most)), z[i], code.fringes);
	}
	if (priv->planes.sine != NO_CHANNEL) {
		load(in, priv->planes.sine, y, x, n, sine);
		load(in, priv->planes.cosine, y, x, n, cosine);
		decode_colour(sine, cosine, rest, z, n, code);
	}
	if (priv->planes.mask != NO_CHANNEL)
		load(in, priv->planes.mask, y, x, n, luma);
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		depth[i] = px_select(luma[i] >= code.least, code.zero + z[i] * code.extent, PX_NAN);
}

static void
depths(const struct run *run, const struct frame *in, struct frame *out, size_t y0, size_t y1,
    const struct row_scratch *)
{
	const struct priv *priv = run->priv;
	size_t w = in->head.w;

	for (size_t y = y0; y < y1; y++)
		for (size_t x = 0; x < w; x += TILE)
			decode(priv, in, out, y, x, w - x < TILE ? w - x : TILE);
	for (size_t y = y0; y < y1 && priv->texture.is; y++) {
		const struct texture *texture = &priv->texture;
		bool grey = texture->matrix == TEXTURE_GREY;

		for (size_t k = 0; k < (grey ? 1 : 3); k++)
			load(in, texture->channel + k, y, 0, w, frame_floats(out, 1 + k, y));
		for (size_t x = 0; x < w && grey; x++)
			frame_floats(out, 1, y)[x] *= texture->scale;
		if (!grey)
			texture_colours_of(frame_floats(out, 1, y), frame_floats(out, 2, y),
			    frame_floats(out, 3, y), w, texture->scale, texture->most,
			    texture->matrix == TEXTURE_BT709);
	}
}

/* ---- levels within the gap ---- */

/* A row's levels within the gap, and its depths: ints, as rows are short. */
#define COUNT_ROW(type) \
	static void \
	count_##type(const type *restrict level, size_t n, struct gap_counting *counting, \
	    size_t block) \
	{ \
		float from = counting->from, to = counting->to, least = counting->least; \
		int inside = 0, depths = 0; \
\
		_Pragma("omp simd reduction(+:inside,depths)") \
		for (size_t x = 0; x < n; x++) { \
			float v = (float)level[x]; \
\
			inside += (v >= from) & (v < to); \
			depths += v >= least; \
		} \
		counting->inside[block] += (size_t)inside; \
		counting->depths[block] += (size_t)depths; \
	}

COUNT_ROW(uint8_t)
COUNT_ROW(uint16_t)
COUNT_ROW(float)

static void
count_gap(void *arg, size_t block)
{
	struct gap_counting *counting = arg;
	size_t w = counting->frame->head.w, h = counting->frame->head.h;

	for (size_t y = h * block / GAP_BLOCKS; y < h * (block + 1) / GAP_BLOCKS; y++) {
		const void *row = frame_row(counting->frame, counting->luma, y);

		if (counting->frame->head.type == SAMPLE_UCHAR)
			count_uint8_t(row, w, counting, block);
		else if (counting->frame->head.type == SAMPLE_USHORT)
			count_uint16_t(row, w, counting, block);
		else
			count_float(row, w, counting, block);
	}
}

/* ---- a coarse grid's samples, for the checks of depthdec.c ---- */

static size_t
find_bad(const struct frame *frame, const struct planes *planes, size_t texture, size_t step,
    float most, bool seen[LEVELS], float *bad)
{
	size_t luma = planes->luma, mask = planes->mask;

	for (size_t y = 0; y < frame->head.h; y += step)
		for (size_t x = 0; x < frame->head.w; x += step) {
			*bad = frame_sample(frame, luma, y, x);
			if (*bad > most)
				return luma;
			if (*bad >= 0)
				seen[(unsigned)*bad] = true;
			if (mask != NO_CHANNEL) {
				*bad = frame_sample(frame, mask, y, x);
				if (*bad != 0 && *bad != 1)
					return mask;
			}
			if (texture != NO_CHANNEL) {
				*bad = frame_sample(frame, texture, y, x);
				if (*bad > DEPTHCODE_TEXTURE_MOST)
					return texture;
			}
		}
	return NO_CHANNEL;
}

static size_t
count_inside(const struct frame *frame, const struct planes *planes,
    const struct depthcode_code *code, double radius, size_t step, size_t *n)
{
	float middle = code->middle, least = code->least;
	size_t inside = 0, depths = 0;

	for (size_t y = 0; y < frame->head.h; y += step)
		for (size_t x = 0; x < frame->head.w; x += step) {
			double u = (double)(frame_sample(frame, planes->sine, y, x) - middle);
			double v = (double)(frame_sample(frame, planes->cosine, y, x) - middle);

			if (!(frame_sample(frame, planes->luma, y, x) >= least))
				continue;
			depths++;
			inside += u * u + v * v < radius * radius;
		}
	*n = depths;
	return inside;
}

#define APART 0.1f		/* fringes between coarse and fine depth */

static bool
is_apart(const struct depthcode_code *code, const struct frame *frame, const struct planes *planes,
    size_t y, size_t x)
{
	float level = frame_sample(frame, planes->luma, y, x), coarse, fine;

	if (planes->coarse != NO_CHANNEL) {
		coarse = depthcode_clamp(frame_sample(frame, planes->coarse, y, x) / code->most);
		fine = depthcode_unfold(coarse, depthcode_coarse(level, code->guard, code->swing),
		    code->fringes);
	} else {
		coarse = depthcode_coarse(level, code->guard, code->swing);
		fine = depthcode_fine(coarse,
		    frame_sample(frame, planes->sine, y, x) - code->middle,
		    frame_sample(frame, planes->cosine, y, x) - code->middle, code->fringes);
	}
	return fabsf(fine - coarse) * code->fringes > APART;
}

static size_t
count_apart(const struct frame *frame, const struct planes *planes,
    const struct depthcode_code *code, size_t step, size_t *n)
{
	size_t valid = planes->mask != NO_CHANNEL ? planes->mask : planes->luma;
	size_t apart = 0, depths = 0;

	for (size_t y = 0; y < frame->head.h; y += step)
		for (size_t x = 0; x < frame->head.w; x += step)
			if (frame_sample(frame, valid, y, x) >= code->least) {
				depths++;
				apart += is_apart(code, frame, planes, y, x);
			}
	*n = depths;
	return apart;
}

const struct depthdec_rows AT_LEVEL(depthdec_rows) = {
	.depths = depths,
	.count_gap = count_gap,
	.find_bad = find_bad,
	.count_inside = count_inside,
	.count_apart = count_apart,
};
