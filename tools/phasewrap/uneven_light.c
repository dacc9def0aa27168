#include "uneven_light.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu_level.h"
#include "base/fail.h"
#include "base/px.h"

int
uneven_light_plan(const struct numbers *light, const struct frame_head *in, struct phasewrap *wrap,
    size_t *scratch_bytes)
{
	size_t steps = 0, next = 0;

	*scratch_bytes = 0;
	if (light->n == 0)
		return 0;
	for (size_t k = 0; k < wrap->captures.fringes; k++) {
		if (wrap->captures.fringe[k].two_plus_one)
			return fail("--light", "is for steps, and these are 2+1 images");
		steps += wrap->captures.fringe[k].n;
	}
	if (wrap->captures.fringes == 0)
		return fail("--light", "there are no fringe images");
	wrap->per_light = reallocarray(NULL, in->c, sizeof(*wrap->per_light));
	if (!wrap->per_light)
		return fail_memory();
	for (size_t c = 0; c < in->c; c++)
		wrap->per_light[c] = 0;
	for (size_t k = 0; k < wrap->captures.fringes; k++) {
		const struct capture_fringe *fringe = &wrap->captures.fringe[k];

		if (light->n != steps && light->n != fringe->n)
			return fail("--light", "%zu values for %zu images%s", light->n, fringe->n,
			    wrap->captures.fringes > 1 ? " of each period" : "");
		if (light->n != steps)
			next = 0;
		for (size_t i = 0; i < fringe->n; i++)
			wrap->per_light[fringe->plane[i]] = (float)(1 / light->v[next++]);
	}
	*scratch_bytes = in->c * (sizeof(struct plane) + frame_stride(in->w, SAMPLE_FLOAT)) + 64 +
	    in->w * sizeof(uint);
	return 0;
}

/* bad: pixels that are saturated, of fringe images. */
#define EVEN(type) \
static void \
even_##type(const type *restrict from, float most, float per_light, float *restrict to, \
    uint *restrict bad, size_t n) \
{ \
	float factor = per_light > 0 ? per_light : 1; \
\
	CPU_SIMD \
	for (size_t x = 0; x < n; x++) { \
		PX_F v = (float)from[x]; \
\
		to[x] = v * factor; \
		bad[x] |= per_light > 0 && v >= most; \
	} \
}
EVEN(uint8_t)
EVEN(uint16_t)
EVEN(float)

static void
mask(const struct phasewrap *wrap, const uint *restrict bad, struct frame *out, size_t y)
{
	for (size_t c = 0; c < out->head.c; c++) {
		float *restrict v = frame_floats(out, c, y);

		if (c >= wrap->channels.phases && c < wrap->channels.sigma)
			continue;
		CPU_SIMD
		for (size_t x = 0; x < out->head.w; x++)
			v[x] = px_select(bad[x] != 0, PX_NAN, v[x]);
	}
}

void
uneven_light_row(const struct phasewrap *wrap, const struct frame *in, struct frame *out, size_t y,
    void *scratch)
{
	struct phasewrap even = *wrap;
	struct frame floats = { .head = in->head, .plane = scratch };
	size_t stride = frame_stride(in->head.w, SAMPLE_FLOAT), w = in->head.w;
	uintptr_t rows = ((uintptr_t)(floats.plane + in->head.c) + 63) / 64 * 64;
	uint *bad = (uint *)(rows + in->head.c * stride);
	float most = wrap->limits.max_value;

	floats.head.type = SAMPLE_FLOAT;
	even.limits.max_value = INFINITY;	/* of even light it would be another one */
	memset(bad, 0, w * sizeof(*bad));
	for (size_t c = 0; c < in->head.c; c++) {
		const void *from = frame_row(in, c, y);
		float *to = (float *)(rows + c * stride), per_light = wrap->per_light[c];

		floats.plane[c] = (struct plane){ .host = to, .y_first = y, .rows = 1,
			.stride = stride, .type = SAMPLE_FLOAT };
		if (in->head.type == SAMPLE_UCHAR)
			even_uint8_t(from, most, per_light, to, bad, w);
		else if (in->head.type == SAMPLE_USHORT)
			even_uint16_t(from, most, per_light, to, bad, w);
		else
			even_float(from, most, per_light, to, bad, w);
	}
	phasewrap_row(&even, &floats, out, y);
	mask(wrap, bad, out, y);
}
