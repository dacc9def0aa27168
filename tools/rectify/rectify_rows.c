/* rectify on the processor: each channel becomes a plane of floats, or its sine and cosine, that is
 * gathered from. */
#include "rectify.h"

#include <math.h>

#include "gather.h"
#include "run/stage.h"

/* A channel of a frame on its way. */
struct work {
	const struct source_map *map;
	bool cubic;
	const struct frame *in;
	struct frame *out;
	size_t c;
	struct frame *plane;		/* float copies: the channel, or its sine and cosine */
	struct gathering gathering;
};

/* ---- making planes of floats ---- */

static void
sincos_row(const float *restrict phase, float *restrict s, float *restrict c, size_t w)
{
	CPU_SIMD
	for (size_t x = 0; x < w; x++) {
		s[x] = px_sin(phase[x]);
		c[x] = px_cos(phase[x]);
	}
}

static void
prepare_row(void *arg, size_t y)
{
	const struct work *work = arg;
	const void *from = frame_row(work->in, work->c, y);
	float *to = frame_floats(work->plane, 0, y);

	if (work->gathering.channel.kind == RECTIFY_WRAPPED)
		sincos_row(from, to, frame_floats(work->plane, 1, y), work->in->head.w);
	else
		for (size_t x = 0; x < work->in->head.w; x++)
			to[x] = frame_sample_in(work->in->head.type, from, x);
}

/* ---- gathering ---- */

static void
nearest_row(const float *restrict from, int stride, const uint *restrict column,
    const uint *restrict row, float *restrict out, int w)
{
	for (int x = 0; x < w; x++) {
		bool seen = column[x] != RECTIFY_NOWHERE;
		uint at = px_select(seen, column[x], 0u);

		out[x] = px_select(seen, from[(int)rectify_nearest(row[x]) * stride +
		    (int)rectify_nearest(at)], PX_NAN);
	}
}

/* ---- frames ---- */

static void
gather_row(void *arg, size_t y)
{
	const struct work *work = arg;
	const uint *column = work->map->column + y * work->map->stride;
	const uint *row = work->map->row + y * work->map->stride;
	float *out = frame_floats(work->out, work->c, y);
	int w = (int)work->out->head.w;

	if (work->gathering.channel.kind == RECTIFY_NEAREST) {
		nearest_row(work->gathering.from[0], work->gathering.planes.stride, column, row,
		    out, w);
		return;
	}
	for (int x = 0; x < w; x += AROUND_TILE)
		(work->cubic ? gather_quads : gather_pairs)(&work->gathering, column + x, row + x,
		    out + x, w - x < AROUND_TILE ? w - x : AROUND_TILE);
}

static int
new_plane(const struct frame *in, size_t n, struct frame **out)
{
	struct frame_head head;
	int status = -1;

	if (head_init(&head, in->head.w, in->head.h, n, SAMPLE_FLOAT) == 0)
		status = frame_new(&head, out);
	head_free(&head);
	return status;
}

/* Is one of the channels a wrapped phase? */
static bool
has_wrapped(const struct rectify *rectify)
{
	for (size_t c = 0; c < rectify->channels; c++)
		if (rectify->channel[c].kind == RECTIFY_WRAPPED)
			return true;
	return false;
}

/* Wrapped phases are floats. */
static int
rectify_floats(struct run *run, const struct rectify *rectify, const struct frame *in,
    struct frame *out)
{
	struct frame *planes = NULL;
	bool two = has_wrapped(rectify), one = in->head.type != SAMPLE_FLOAT;

	if ((one || two) && new_plane(in, two ? 2 : 1, &planes) < 0)
		return -1;
	for (size_t c = 0; c < rectify->channels; c++) {
		const struct rectify_channel *channel = &rectify->channel[c];
		bool wrapped = channel->kind == RECTIFY_WRAPPED, own = wrapped || one;
		struct work work = { .map = &rectify->map, .cubic = rectify->cubic, .in = in,
			.out = out, .c = c, .plane = planes };
		struct gathering *gathering = &work.gathering;

		gathering->channel = *channel;
		if (own)
			run_for(run, in->head.h, prepare_row, &work);
		gathering->phase = frame_floats(in, c, 0);
		gathering->from[0] = own ? frame_floats(planes, 0, 0) : gathering->phase;
		gathering->from[1] = wrapped ? frame_floats(planes, 1, 0) : NULL;
		gathering->planes = (struct around_planes){
			(int)((own ? planes : in)->plane[own ? 0 : c].stride / sizeof(float)),
			(int)in->head.w, (int)in->head.h };
		run_for(run, out->head.h, gather_row, &work);
	}
	frame_free(planes);
	return 0;
}

int
rectify_frame(struct run *run, const struct rectify *rectify, const struct frame *in,
    struct frame *out)
{
	struct frame *floats;
	int status;

	if (in->head.type == SAMPLE_FLOAT || !has_wrapped(rectify))
		return rectify_floats(run, rectify, in, out);
	if (frame_to_float(in, &floats) < 0)
		return -1;
	status = rectify_floats(run, rectify, floats, out);
	frame_free(floats);
	return status;
}
