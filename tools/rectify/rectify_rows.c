/* rectify on the processor: each channel becomes a plane of floats, or its sine and cosine, that is
 * gathered from. */
#include "rectify.h"

#include <math.h>

#include "run/stage.h"

/* A channel of a frame on its way. */
struct work {
	const struct source_map *map;
	const struct rectify_channel *channel;
	bool cubic;
	const struct frame *in;
	struct frame *out;
	size_t c;
	struct frame *plane;		/* float copies: the channel, or its sine and cosine */
	const float *from[2];		/* what is gathered from */
	const float *phase;		/* wrapped, where steps are limited */
	int stride;			/* floats from row to row of those, and of phase */
	int last;			/* number of the last sample of those */
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

	if (work->channel->kind == RECTIFY_WRAPPED)
		sincos_row(from, to, frame_floats(work->plane, 1, y), work->in->head.w);
	else
		for (size_t x = 0; x < work->in->head.w; x++)
			to[x] = frame_sample_in(work->in->head.type, from, x);
}

/* ---- gathering ---- */

#define INLINE static inline __attribute__((always_inline))

/* Where the samples of a place are: column and row of the first, and what leads to the others. */
struct corner {
	int at, right, down;
	float fx, fy;
	bool seen;
};

INLINE struct corner
corner_of(uint column, uint row, int stride)
{
	bool seen = column != RECTIFY_NOWHERE;
	uint x = px_select(seen, column, 0u);

	return (struct corner){ (int)rectify_whole(row) * stride + (int)rectify_whole(x),
		(int)rectify_step(x), px_select(rectify_step(row) != 0u, stride, 0),
		rectify_rest(x), rectify_rest(row), seen };
}

/* Two neighbours in a row of samples, the left one in the low half. */
typedef uint64_t pair __attribute__((aligned(4), may_alias));

struct two {
	float a, b;
};

/* Sample `at`, and the one to the right of it if `right`, else itself. last: the number of the
 * plane's last sample, which is read in a pair with the one before it. Two loads of pairs take two
 * thirds of the time of four loads. */
INLINE struct two
two_at(const float *restrict from, int at, bool right, int last)
{
	bool ends = (at == last) & (last > 0);
	uint64_t both = *(const pair *)(from + px_select(ends, last - 1, at));
	uint low = (uint)both, high = (uint)(both >> 32), first = px_select(ends, high, low);

	return (struct two){ px_from_bits(first), px_from_bits(px_select(right, high, first)) };
}

/* Values of the 2x2 samples at a corner. */
struct four {
	float a, b, c, d;
	bool valid;
};

INLINE struct four
four_at(const float *restrict from, struct corner k, int last)
{
	struct two above = two_at(from, k.at, k.right, last);
	struct two below = two_at(from, k.at + k.down, k.right, last);
	struct four four = { above.a, above.b, below.a, below.b, false };

	four.valid = px_both(px_both(px_both(!px_isnan(four.a), !px_isnan(four.b)),
	    px_both(!px_isnan(four.c), !px_isnan(four.d))), k.seen);
	return four;
}

static void
linear_row(const float *restrict from, int stride, int last, const uint *restrict column,
    const uint *restrict row, struct rectify_channel channel, float *restrict out, int w)
{
	const float max_step = channel.max_step, saturated = channel.saturated;

	CPU_SIMD
	for (int x = 0; x < w; x++) {
		struct corner k = corner_of(column[x], row[x], stride);
		struct four v = four_at(from, k, last);
		float least = px_min(px_min(v.a, v.b), px_min(v.c, v.d));
		float greatest = px_max(px_max(v.a, v.b), px_max(v.c, v.d));
		float value = rectify_limit(rectify_linear(v.a, v.b, v.c, v.d, k.fx, k.fy), least,
		    greatest, max_step, saturated);

		out[x] = px_select(v.valid, value, PX_NAN);
	}
}

static void
sigma_row(const float *restrict from, int stride, int last, const uint *restrict column,
    const uint *restrict row, float *restrict out, int w)
{
	CPU_SIMD
	for (int x = 0; x < w; x++) {
		struct corner k = corner_of(column[x], row[x], stride);
		struct four v = four_at(from, k, last);

		out[x] = px_select(v.valid, rectify_sigma(v.a, v.b, v.c, v.d, k.fx, k.fy), PX_NAN);
	}
}

static void
nearest_row(const float *restrict from, int stride, const uint *restrict column,
    const uint *restrict row, float *restrict out, int w)
{
	CPU_SIMD
	for (int x = 0; x < w; x++) {
		bool seen = column[x] != RECTIFY_NOWHERE;
		uint at = px_select(seen, column[x], 0u);

		out[x] = px_select(seen, from[(int)rectify_nearest(row[x]) * stride +
		    (int)rectify_nearest(at)], PX_NAN);
	}
}

/* Wrapped phases. limited: the samples' own phases are compared. */
INLINE void
wrapped_pixels(const float *restrict sine, const float *restrict cosine,
    const float *restrict phase, int stride, int last, const uint *restrict column,
    const uint *restrict row, float max_step, float *restrict out, int w, bool limited)
{
	CPU_SIMD
	for (int x = 0; x < w; x++) {
		struct corner k = corner_of(column[x], row[x], stride);
		struct four s = four_at(sine, k, last), c = four_at(cosine, k, last);
		float value = rectify_direction(rectify_linear(s.a, s.b, s.c, s.d, k.fx, k.fy),
		    rectify_linear(c.a, c.b, c.c, c.d, k.fx, k.fy));

		if (limited) {
			struct four p = four_at(phase, k, last);
			float b = rectify_turn(p.b, p.a), d = rectify_turn(p.d, p.a);
			float e = rectify_turn(p.c, p.a);

			value = rectify_limit(value, px_min(px_min(0.0f, b), px_min(e, d)),
			    px_max(px_max(0.0f, b), px_max(e, d)), max_step, INFINITY);
		}
		out[x] = px_select(s.valid, value, PX_NAN);
	}
}

static void
wrapped_row(const struct work *work, const uint *column, const uint *row, float *out, int w)
{
	if (work->channel->max_step < INFINITY)
		wrapped_pixels(work->from[0], work->from[1], work->phase, work->stride, work->last,
		    column, row, work->channel->max_step, out, w, true);
	else
		wrapped_pixels(work->from[0], work->from[1], work->from[0], work->stride,
		    work->last, column, row, 0, out, w, false);
}

/* ---- cubic ---- */

struct sixteen {
	float value, least, greatest;
	bool valid;
};

/* What the values of 4x4 samples become before they are summed. */
enum of_samples { VALUES, SQUARES, TURNS };	/* TURNS: differences from the first's phase */

INLINE struct sixteen
sixteen_at(const float *restrict from, struct corner k, enum of_samples what)
{
	const float wx[4] = { rectify_weight_before(k.fx), rectify_weight_at(k.fx),
		rectify_weight_next(k.fx), rectify_weight_beyond(k.fx) };
	const float wy[4] = { rectify_weight_before(k.fy), rectify_weight_at(k.fy),
		rectify_weight_next(k.fy), rectify_weight_beyond(k.fy) };
	struct sixteen out = { 0, INFINITY, -INFINITY, k.seen };

	for (int j = 0; j < 4; j++) {
		const float *row = from + k.at + (j - 1) * k.down;
		float sum = 0;

		for (int i = 0; i < 4; i++) {
			float v = row[(i - 1) * k.right];

			out.valid = px_both(out.valid, !px_isnan(v));
			if (what == TURNS)
				v = rectify_turn(v, from[k.at]);
			out.least = px_min(out.least, v);
			out.greatest = px_max(out.greatest, v);
			sum += what == SQUARES ? wx[i] * wx[i] * (v * v) : wx[i] * v;
		}
		out.value += what == SQUARES ? wy[j] * wy[j] * sum : wy[j] * sum;
	}
	return out;
}

static void
cubic_row(const float *restrict from, int stride, const uint *restrict column,
    const uint *restrict row, struct rectify_channel channel, float *restrict out, int w)
{
	const float max_step = channel.max_step, saturated = channel.saturated;

	CPU_SIMD
	for (int x = 0; x < w; x++) {
		struct corner k = corner_of(column[x], row[x], stride);
		struct sixteen v = sixteen_at(from, k, VALUES);

		out[x] = px_select(v.valid, rectify_limit(v.value, v.least, v.greatest, max_step,
		    saturated), PX_NAN);
	}
}

static void
cubic_sigma_row(const float *restrict from, int stride, const uint *restrict column,
    const uint *restrict row, float *restrict out, int w)
{
	CPU_SIMD
	for (int x = 0; x < w; x++) {
		struct corner k = corner_of(column[x], row[x], stride);
		struct sixteen v = sixteen_at(from, k, SQUARES);

		out[x] = px_select(v.valid, px_sqrt(v.value), PX_NAN);
	}
}

static void
cubic_wrapped_row(const struct work *work, const uint *restrict column, const uint *restrict row,
    float *restrict out, int w)
{
	const float *restrict sine = work->from[0], *restrict cosine = work->from[1];
	const float *restrict phase = work->phase;
	const float max_step = work->channel->max_step;

	CPU_SIMD
	for (int x = 0; x < w; x++) {
		struct corner k = corner_of(column[x], row[x], work->stride);
		struct sixteen s = sixteen_at(sine, k, VALUES), c = sixteen_at(cosine, k, VALUES);
		struct sixteen t = sixteen_at(phase, k, TURNS);
		float value = rectify_limit(rectify_direction(s.value, c.value), t.least,
		    t.greatest, max_step, INFINITY);

		out[x] = px_select(px_both(s.valid, t.valid), value, PX_NAN);
	}
}

/* ---- frames ---- */

static void
gather_row(void *arg, size_t y)
{
	const struct work *work = arg;
	const uint *column = work->map->column + y * work->map->stride;
	const uint *row = work->map->row + y * work->map->stride;
	const struct rectify_channel channel = *work->channel;
	float *out = frame_floats(work->out, work->c, y);
	int w = (int)work->out->head.w, stride = work->stride;

	if (channel.kind == RECTIFY_NEAREST)
		nearest_row(work->from[0], stride, column, row, out, w);
	else if (channel.kind == RECTIFY_SIGMA)
		work->cubic ? cubic_sigma_row(work->from[0], stride, column, row, out, w) :
		    sigma_row(work->from[0], stride, work->last, column, row, out, w);
	else if (channel.kind == RECTIFY_WRAPPED)
		(work->cubic ? cubic_wrapped_row : wrapped_row)(work, column, row, out, w);
	else
		work->cubic ? cubic_row(work->from[0], stride, column, row, channel, out, w) :
		    linear_row(work->from[0], stride, work->last, column, row, channel, out, w);
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
		struct work work = { .map = &rectify->map, .channel = channel,
			.cubic = rectify->cubic, .in = in, .out = out, .c = c, .plane = planes };

		if (own)
			run_for(run, in->head.h, prepare_row, &work);
		work.phase = frame_floats(in, c, 0);
		work.from[0] = own ? frame_floats(planes, 0, 0) : work.phase;
		work.from[1] = wrapped ? frame_floats(planes, 1, 0) : NULL;
		work.stride = (int)((own ? planes : in)->plane[own ? 0 : c].stride / sizeof(float));
		work.last = (int)(in->head.h - 1) * work.stride + (int)in->head.w - 1;
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
