#include "check.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "image/coarse_grid.h"

#define PIXELS 16384		/* of the coarse grid, about */
#define LEVELS 4096
#define RADIUS_LEAST 0.25	/* of sine and cosine, of their amplitude */
#define FLAT (1.0f / 16)	/* of the levels: what loss leaves of flat colour is less */
#define DISTINCT 24		/* as many levels by chance have not all the form of 8 bits */

int
check_head(const struct depthcode *code, const struct frame_head *head)
{
	const char *range = meta_get(&head->meta, "video_range");
	double most;
	long bits;

	if (range)
		return fail(NULL, "the video's levels %s: another program coded it again, and they "
		    "are no depths any more", !strcmp(range, "stretched") ? "were stretched" :
		    !strcmp(range, "negated") ? "were negated" : "are of limited range");
	if (head->type == SAMPLE_FLOAT)
		return 0;
	if (meta_number(&head->meta, "max_value", head->type == SAMPLE_UCHAR ? 255 : 65535,
	    &most) < 0)
		return -1;
	bits = most == 255 ? 8 : most == 1023 ? 10 : most == 4095 ? 12 : 16;
	if (bits == code->bits || (bits == 16 && !meta_get(&head->meta, "max_value")))
		return 0;
	return fail(NULL, "has %ld bits a sample, and was encoded with %ld: another program coded "
	    "it again (if it did nothing but shift them, --bits %ld --guard %ld)", bits, code->bits,
	    bits, lround(ldexp((double)code->guard, (int)(bits - code->bits))));
}

/* Ways by which a program makes more bits of 8: level = offset + t span / 255, t = 0 to 255. */
static const struct widening {
	double offset, span;		/* of 256 levels */
} widenings[] = { { 0, 255 }, { 0, 255.75 }, { 0, 255.9375 }, { 16, 219 } };

#define WIDENINGS (sizeof(widenings) / sizeof(*widenings))
#define ROUNDED 0.75

static bool
is_widened(const struct widening *widening, unsigned level, long bits)
{
	double unit = ldexp(1, (int)(bits - 8)), step = widening->span / 255;
	double t = ((double)level / unit - widening->offset) / step;

	return fabs(t - round(t)) * step * unit <= ROUNDED;
}

static int
check_distinct(const struct depthcode *code, const bool seen[LEVELS])
{
	size_t distinct = 0, fit[WIDENINGS] = { 0 }, most = 0;

	for (unsigned level = 1; level < LEVELS; level++)
		for (size_t i = 0; seen[level] && i < WIDENINGS; i++) {
			distinct += i == 0;
			fit[i] += is_widened(&widenings[i], level, code->bits);
			most = fit[i] > most ? fit[i] : most;
		}
	if (code->bits > 8 && distinct >= DISTINCT && most == distinct)
		return fail(NULL, "the levels are those of 8 bits, and were encoded with %ld: "
		    "another program has cut them", code->bits);
	return 0;
}

int
check_levels(const struct depthcode *code, const struct frame *frame, size_t luma, size_t mask,
    size_t texture)
{
	size_t step = coarse_grid_step(frame->head.w, frame->head.h, PIXELS);
	float most = (float)depthcode_most(code);
	bool seen[LEVELS] = { false };

	for (size_t y = 0; y < frame->head.h; y += step)
		for (size_t x = 0; x < frame->head.w; x += step) {
			float level = frame_sample(frame, luma, y, x);
			float in_mask = mask == NO_CHANNEL ? 0 : frame_sample(frame, mask, y, x);

			if (level > most)
				return fail(NULL, "a sample is %g, and %ld bits have levels up to "
				    "%g: were they scaled?", (double)level, code->bits,
				    (double)most);
			if (in_mask != 0 && in_mask != 1)
				return fail(NULL, "the mask is %g somewhere, and must be 0 or 1: "
				    "was its track coded again, with loss?", (double)in_mask);
			if (texture != NO_CHANNEL &&
			    frame_sample(frame, texture, y, x) > DEPTHCODE_TEXTURE_MOST)
				return fail(NULL, "a sample of the texture is %g, and its levels "
				    "go up to %d: were they scaled?", (double)frame_sample(frame,
				    texture, y, x), DEPTHCODE_TEXTURE_MOST);
			if (level >= 0)
				seen[(unsigned)level] = true;
		}
	return frame->head.type == SAMPLE_FLOAT ? 0 : check_distinct(code, seen);
}

int
check_circle(const struct depthcode *code, const struct frame *frame, size_t luma, size_t sine,
    size_t cosine)
{
	size_t step = coarse_grid_step(frame->head.w, frame->head.h, PIXELS), n = 0, inside = 0;
	struct depthcode_code of = depthcode_code(code);
	double least = RADIUS_LEAST * (double)of.amplitude;

	if (sine == NO_CHANNEL)
		return 0;
	for (size_t y = 0; y < frame->head.h; y += step)
		for (size_t x = 0; x < frame->head.w; x += step) {
			double u = (double)(frame_sample(frame, sine, y, x) - of.middle);
			double v = (double)(frame_sample(frame, cosine, y, x) - of.middle);

			if (!(frame_sample(frame, luma, y, x) >= of.least))
				continue;
			n++;
			inside += u * u + v * v < least * least;
		}
	return 2 * inside <= n ? 0 : fail("--layout", "mwd has sine and cosine in its colour "
	    "planes, and %zu of %zu samples have neither: is it another layout?", inside, n);
}

void
check_flat(const struct depthcode *code, const struct frame *frame)
{
	static const char *const names[] = { "chroma_u", "chroma_v" };
	size_t step = coarse_grid_step(frame->head.w, frame->head.h, PIXELS);
	float most = (float)depthcode_most(code);

	for (size_t i = 0; i < 2 && code->layout == DEPTHCODE_LUMA; i++) {
		size_t channel = head_channel(&frame->head, names[i]);
		float low = most, high = 0;

		for (size_t y = 0; y < frame->head.h && channel != NO_CHANNEL; y += step)
			for (size_t x = 0; x < frame->head.w; x += step) {
				low = fminf(low, frame_sample(frame, channel, y, x));
				high = fmaxf(high, frame_sample(frame, channel, y, x));
			}
		if (high - low <= most * FLAT)
			continue;
		warn("--layout", "luma takes the depth from the brightness alone, but the colour "
		    "has levels from %g to %g: is it mwd or fold?", (double)low, (double)high);
		return;
	}
}
