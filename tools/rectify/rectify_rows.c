/*
 * The loops of rectify on the processor: the map from rectified pixels to places in the input, the
 * float planes that samples are read from, and the values at those places, from the 2x2 or 4x4
 * samples around each. rectify.px.h has the formulas.
 */
#include "rectify.h"

#include "optics/camera_model.h"

/* ---- the map ---- */

#define FIXED 65536.0		/* fixed-point units of a pixel */

/* The constants of a row: the ray of column 0 and the step from column to column, the lens, and the
 * camera in fixed-point units. */
struct row_view {
	double ray[3], step[3];
	double d[14];
	double most_r2;			/* up to which the lens model holds */
	double u0, u_x, u_y, v0, v_y;	/* place = u0 + u_x x + u_y y, v0 + v_y y */
	/* the last sample; the range of places whose samples all exist */
	double last_u, last_v, least, most_u, most_v;
};

static void
set_row(const struct source_geometry *geometry, double most_r2, size_t y, struct row_view *row)
{
	const struct stereo *stereo = geometry->stereo;
	const struct pinhole *camera = &stereo->camera[geometry->side];
	const double *K = camera->K, bin = geometry->bin;
	double v = ((double)y + 0.5) * bin - 0.5, next[3];
	double before = geometry->cubic ? 1 : 0, behind = geometry->cubic ? 2 : 1;

	stereo_ray(stereo, geometry->side, (bin - 1) / 2, v, row->ray);
	stereo_ray(stereo, geometry->side, (bin - 1) / 2 + bin, v, next);
	for (size_t i = 0; i < 3; i++)
		row->step[i] = next[i] - row->ray[i];
	memcpy(row->d, camera->distortion, sizeof(row->d));
	row->most_r2 = most_r2;
	row->u0 = ((K[2] - geometry->origin_px[0] + 0.5) / bin - 0.5) * FIXED + 0.5;
	row->u_x = K[0] / bin * FIXED;
	row->u_y = K[1] / bin * FIXED;
	row->v0 = ((K[5] - geometry->origin_px[1] + 0.5) / bin - 0.5) * FIXED + 0.5;
	row->v_y = K[4] / bin * FIXED;
	row->last_u = ((double)geometry->in_w - 1) * FIXED;
	row->last_v = ((double)geometry->in_h - 1) * FIXED;
	row->least = before * FIXED;
	row->most_u = ((double)geometry->in_w - behind) * FIXED;
	row->most_v = ((double)geometry->in_h - behind) * FIXED;
}

/* Are all samples of non-zero weight inside the input? A place on a sample needs that one only. */
static inline __attribute__((always_inline)) bool
is_inside(double place, double last, double least, double most)
{
	bool between = px_both(place >= least, place <= most);
	bool whole = place == floor(place / FIXED) * FIXED;

	return px_both(px_both(place >= 0, place <= last), between | whole);
}

static void
map_row(const struct row_view *restrict view, uint *restrict column, uint *restrict row, int w)
{
	CPU_SIMD
	for (int x = 0; x < w; x++) {
		double z = view->ray[2] + view->step[2] * x, over = 1 / z, u, v, p, q;
		double a = (view->ray[0] + view->step[0] * x) * over;
		double b = (view->ray[1] + view->step[1] * x) * over;
		bool seen = px_both(z > 0, a * a + b * b < view->most_r2);

		lens_distort(view->d, a, b, &p, &q);
		u = floor(view->u0 + view->u_x * p + view->u_y * q);
		v = floor(view->v0 + view->v_y * q);
		seen = px_both(seen, is_inside(u, view->last_u, view->least, view->most_u));
		seen = px_both(seen, is_inside(v, view->last_v, view->least, view->most_v));
		column[x] = px_select(seen, (uint)(int32_t)(seen ? u : 0), RECTIFY_NOWHERE);
		row[x] = (uint)(int32_t)(seen ? v : 0);
	}
}

static void
map_source_row(void *arg, size_t y)
{
	const struct map_job *job = arg;
	struct source_map *map = job->map;
	struct row_view view;

	set_row(&map->geometry, job->most_r2, y, &view);
	map_row(&view, map->column + y * map->stride, map->row + y * map->stride,
	    (int)map->geometry.w);
}

/*
 * ---- the samples around each place ----
 *
 * They are copied pixel by pixel into arrays first, which vectorised loops then read: their
 * addresses are irregular, and a loop that also computed would load them one by one.
 */

#define AROUND_TILE 128		/* places at a time */

/* For each place: the index of its first sample, the distances to the next column and row (0 where
 * those have no weight), and its fraction of the way to them. Places that are nowhere have fx NaN
 * and 0 otherwise. */
struct around {
	int at[AROUND_TILE], right[AROUND_TILE], down[AROUND_TILE];
	float fx[AROUND_TILE], fy[AROUND_TILE];
	const uint *column, *row;	/* the places */
	struct sample_planes planes;
};

/* The samples of each place, row by row. The nearest one replaces a sample of weight 0. */
union around_samples {
	struct around_fours {			/* 2x2 */
		float a[AROUND_TILE], b[AROUND_TILE], c[AROUND_TILE], d[AROUND_TILE];
	} four;
	float quad[4][AROUND_TILE][4];		/* 4x4 */
};

#if CPU_VECTOR_BYTES == 64
#include <immintrin.h>
#endif

static void
around_find(struct around *restrict around, struct sample_planes planes,
    const uint *restrict column, const uint *restrict row, int n)
{
	around->column = column;
	around->row = row;
	around->planes = planes;
	CPU_SIMD
	for (int i = 0; i < n; i++) {
		uint x = px_select(column[i] != RECTIFY_NOWHERE, column[i], 0u);

		around->at[i] = (int)rectify_whole(row[i]) * planes.stride + (int)rectify_whole(x);
		around->right[i] = (int)rectify_step(x);
		around->down[i] = px_select(rectify_step(row[i]) != 0u, planes.stride, 0);
	}
	CPU_SIMD
	for (int i = 0; i < n; i++) {
		around->fx[i] = px_select(column[i] != RECTIFY_NOWHERE, rectify_rest(column[i]),
		    PX_NAN);
		around->fy[i] = rectify_rest(row[i]);
	}
}

static void
take_each(const struct around *around, const float *restrict from, struct around_fours *restrict to,
    int first, int end)
{
	for (int i = first; i < end; i++) {
		const float *above = from + around->at[i], *below = above + around->down[i];
		int right = around->right[i];

		to->a[i] = above[0];
		to->b[i] = above[right];
		to->c[i] = below[0];
		to->d[i] = below[right];
	}
}

#if CPU_VECTOR_BYTES == 64
#define GATHER_LANES 16

/* The samples of the places from `first` on, if they are all in three rows of 32: permuting vectors
 * takes a fraction of the time of single loads. Returns false if they are not. */
static inline bool
take_lanes(const struct around *around, const float *restrict from,
    struct around_fours *restrict to, int first)
{
	const struct sample_planes planes = around->planes;
	const uint *column = around->column + first, *row = around->row + first;
	uint left = rectify_whole(column[0]), top = rectify_whole(row[0]);
	uint end = rectify_whole(row[GATHER_LANES - 1]);
	__m512i x = _mm512_loadu_si512(column), y = _mm512_loadu_si512(row), next;
	const __m512i rest = _mm512_set1_epi32(0xffff), one = _mm512_set1_epi32(1);
	__mmask16 right = _mm512_test_epi32_mask(x, rest);
	__mmask16 down = _mm512_test_epi32_mask(y, rest), second;
	const float *at;
	__m512 a[3], b[3];

	top = end < top ? end : top;
	if (left + 2 * GATHER_LANES > (uint)planes.w || top + 3 > (uint)planes.h)
		return false;
	x = _mm512_sub_epi32(_mm512_srli_epi32(x, 16), _mm512_set1_epi32((int)left));
	y = _mm512_sub_epi32(_mm512_srli_epi32(y, 16), _mm512_set1_epi32((int)top));
	if (_mm512_cmpgt_epu32_mask(x, _mm512_set1_epi32(2 * GATHER_LANES - 2)) |
	    _mm512_cmpgt_epu32_mask(y, one))
		return false;
	next = _mm512_mask_add_epi32(x, right, x, one);
	second = _mm512_test_epi32_mask(y, y);
	at = from + top * (size_t)planes.stride + left;
	for (int i = 0; i < 3; i++) {
		__m512 near = _mm512_loadu_ps(at), far = _mm512_loadu_ps(at + GATHER_LANES);

		a[i] = _mm512_permutex2var_ps(near, x, far);
		b[i] = _mm512_permutex2var_ps(near, next, far);
		at += planes.stride;
	}
	/* the row that the places two rows below need first */
	__builtin_prefetch(at + planes.stride + GATHER_LANES);
	a[0] = _mm512_mask_blend_ps(second, a[0], a[1]);	/* the upper row's */
	b[0] = _mm512_mask_blend_ps(second, b[0], b[1]);
	a[1] = _mm512_mask_blend_ps(second, a[1], a[2]);	/* the lower row's */
	b[1] = _mm512_mask_blend_ps(second, b[1], b[2]);
	_mm512_storeu_ps(to->a + first, a[0]);
	_mm512_storeu_ps(to->b + first, b[0]);
	_mm512_storeu_ps(to->c + first, _mm512_mask_blend_ps(down, a[0], a[1]));
	_mm512_storeu_ps(to->d + first, _mm512_mask_blend_ps(down, b[0], b[1]));
	return true;
}
#else
#define GATHER_LANES AROUND_TILE

static inline bool
take_lanes(const struct around *around, const float *from, struct around_fours *to, int first)
{
	(void)around, (void)from, (void)to, (void)first;
	return false;
}
#endif

static void
around_take_fours(const struct around *around, const float *from, struct around_fours *to, int n)
{
	for (int i = 0; i < n; i += GATHER_LANES)
		if (i + GATHER_LANES > n || !take_lanes(around, from, to, i))
			take_each(around, from, to, i, i + GATHER_LANES < n ? i + GATHER_LANES : n);
}

/* The 4x4 samples of each place. */
static void
around_take_quads(const struct around *around, const float *restrict from,
    float quad[restrict 4][AROUND_TILE][4], int n)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j < 4; j++) {
			const float *row = from + around->at[i] + (j - 1) * around->down[i];
			float *to = quad[j][i];

			if (around->right[i])
				memcpy(to, row - 1, 4 * sizeof(*to));
			else
				to[0] = to[1] = to[2] = to[3] = *row;
		}
}

#define INLINE static inline __attribute__((always_inline))

/* Of one kind of interpolation: `cubic` is a constant where these are called. */
INLINE void
around_take(const struct around *around, const float *from, union around_samples *to, int n,
    bool cubic)
{
	if (cubic)
		around_take_quads(around, from, to->quad, n);
	else
		around_take_fours(around, from, &to->four, n);
}

/* ---- the value at a place, and the range of its samples ---- */

struct value {
	float value, least, greatest;
	bool valid;
};

/* What is computed from each sample before the sum. */
enum of_samples { VALUES, SQUARES, TURNS };	/* TURNS: differences from the first's phase */

/* Linear, between 2x2 samples. */
INLINE struct value
four_value(const struct around_fours *samples, int x, const struct around *around,
    enum of_samples what)
{
	float a = samples->a[x], b = samples->b[x], c = samples->c[x], d = samples->d[x];
	float fx = around->fx[x], fy = around->fy[x];
	bool valid = px_both(px_both(px_both(!px_isnan(a), !px_isnan(b)), px_both(!px_isnan(c),
	    !px_isnan(d))), !px_isnan(fx));

	if (what == TURNS) {
		b = rectify_turn(b, a);
		c = rectify_turn(c, a);
		d = rectify_turn(d, a);
		a = 0;
	}
	return (struct value){ what == SQUARES ? rectify_sigma(a, b, c, d, fx, fy) :
	    rectify_linear(a, b, c, d, fx, fy), px_min(px_min(a, b), px_min(c, d)),
	    px_max(px_max(a, b), px_max(c, d)), valid };
}

INLINE void
add_sample(struct value *out, float *sum, float v, float first, float weight, enum of_samples what)
{
	out->valid = px_both(out->valid, !px_isnan(v));
	if (what == TURNS)
		v = rectify_turn(v, first);
	out->least = px_min(out->least, v);
	out->greatest = px_max(out->greatest, v);
	*sum += what == SQUARES ? weight * weight * (v * v) : weight * v;
}

INLINE void
add_four(struct value *out, const float four[4], const float wx[4], float wy, float first,
    enum of_samples what)
{
	float sum = 0;

	add_sample(out, &sum, four[0], first, wx[0], what);
	add_sample(out, &sum, four[1], first, wx[1], what);
	add_sample(out, &sum, four[2], first, wx[2], what);
	add_sample(out, &sum, four[3], first, wx[3], what);
	out->value += what == SQUARES ? wy * wy * sum : wy * sum;
}

/* Cubic, between 4x4 samples. */
INLINE struct value
quad_value(const float quad[4][AROUND_TILE][4], int x, const struct around *around,
    enum of_samples what)
{
	float fx = around->fx[x], fy = around->fy[x];
	const float wx[4] = { rectify_weight_before(fx), rectify_weight_at(fx),
		rectify_weight_next(fx), rectify_weight_beyond(fx) };
	struct value out = { 0, INFINITY, -INFINITY, !px_isnan(around->fx[x]) };
	float first = quad[1][x][1];

	add_four(&out, quad[0][x], wx, rectify_weight_before(fy), first, what);
	add_four(&out, quad[1][x], wx, rectify_weight_at(fy), first, what);
	add_four(&out, quad[2][x], wx, rectify_weight_next(fy), first, what);
	add_four(&out, quad[3][x], wx, rectify_weight_beyond(fy), first, what);
	out.value = what == SQUARES ? px_sqrt(out.value) : out.value;
	return out;
}

INLINE struct value
value_of(const union around_samples *samples, int x, const struct around *around, bool cubic,
    enum of_samples what)
{
	return cubic ? quad_value(samples->quad, x, around, what) :
	    four_value(&samples->four, x, around, what);
}

/* ---- the values of a tile of places ---- */

INLINE void
plain_tile(const union around_samples *restrict samples, const struct around *restrict around,
    struct rectify_channel channel, float *restrict out, int n, bool cubic)
{
	const float max_step = channel.max_step, saturated = channel.saturated;

	CPU_SIMD
	for (int x = 0; x < n; x++) {
		struct value v = value_of(samples, x, around, cubic, VALUES);

		out[x] = px_select(v.valid, rectify_limit(v.value, v.least, v.greatest, max_step,
		    saturated), PX_NAN);
	}
}

/* Standard deviations (SQUARES), or a direction's sines or cosines; NaN where a sample is
 * missing. */
INLINE void
sum_tile(const union around_samples *restrict samples, const struct around *restrict around,
    float *restrict out, int n, bool cubic, enum of_samples what)
{
	CPU_SIMD
	for (int x = 0; x < n; x++) {
		struct value v = value_of(samples, x, around, cubic, what);

		out[x] = px_select(v.valid, v.value, PX_NAN);
	}
}

/* The angles of interpolated directions; NaN where the sine is NaN or the directions cancel. */
static void
gather_directions(const float *restrict sine, const float *restrict cosine, float *restrict out,
    int n)
{
	CPU_SIMD
	for (int x = 0; x < n; x++)
		out[x] = px_select(px_isnan(sine[x]), PX_NAN,
		    rectify_direction(sine[x], cosine[x]));
}

/* Sets NaN where the phases of the samples differ by more than a step, or one is missing. */
INLINE void
limit_tile(const union around_samples *restrict phases, const struct around *restrict around,
    float max_step, float *restrict out, int n, bool cubic)
{
	CPU_SIMD
	for (int x = 0; x < n; x++) {
		struct value t = value_of(phases, x, around, cubic, TURNS);
		float value = rectify_limit(out[x], t.least, t.greatest, max_step, INFINITY);

		out[x] = px_select(t.valid, value, PX_NAN);
	}
}

/* The values at n places, AROUND_TILE at most. */
INLINE void
gather(const struct gathering *gathering, const uint *column, const uint *row, float *out, int n,
    bool cubic)
{
	const struct rectify_channel *channel = &gathering->channel;
	struct around around;
	union around_samples samples;
	float sine[AROUND_TILE], cosine[AROUND_TILE];

	around_find(&around, gathering->planes, column, row, n);
	around_take(&around, gathering->from[0], &samples, n, cubic);
	if (channel->kind == RECTIFY_SIGMA) {
		sum_tile(&samples, &around, out, n, cubic, SQUARES);
	} else if (channel->kind != RECTIFY_WRAPPED) {
		plain_tile(&samples, &around, *channel, out, n, cubic);
	} else {
		sum_tile(&samples, &around, sine, n, cubic, VALUES);
		around_take(&around, gathering->from[1], &samples, n, cubic);
		sum_tile(&samples, &around, cosine, n, cubic, VALUES);
		gather_directions(sine, cosine, out, n);
	}
	if (channel->kind == RECTIFY_WRAPPED && channel->max_step < INFINITY) {
		around_take(&around, gathering->phase, &samples, n, cubic);
		limit_tile(&samples, &around, channel->max_step, out, n, cubic);
	}
}

static void
gather_linear(const struct gathering *gathering, const uint *column, const uint *row, float *out,
    int n)
{
	gather(gathering, column, row, out, n, false);
}

static void
gather_cubic(const struct gathering *gathering, const uint *column, const uint *row, float *out,
    int n)
{
	gather(gathering, column, row, out, n, true);
}

/* ---- the float planes: a channel, or its sine and cosine ---- */

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
	const struct channel_job *job = arg;
	const void *from = frame_row(job->in, job->c, y);
	float *to = frame_floats(job->plane, 0, y);

	if (job->gathering.channel.kind == RECTIFY_WRAPPED)
		sincos_row(from, to, frame_floats(job->plane, 1, y), job->in->head.w);
	else
		for (size_t x = 0; x < job->in->head.w; x++)
			to[x] = frame_sample_in(job->in->head.type, from, x);
}

/* ---- rows of the output ---- */

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

static void
gather_row(void *arg, size_t y)
{
	const struct channel_job *job = arg;
	const uint *column = job->map->column + y * job->map->stride;
	const uint *row = job->map->row + y * job->map->stride;
	float *out = frame_floats(job->out, job->c, y);
	int w = (int)job->out->head.w;

	if (job->gathering.channel.kind == RECTIFY_NEAREST) {
		nearest_row(job->gathering.from[0], job->gathering.planes.stride, column, row,
		    out, w);
		return;
	}
	for (int x = 0; x < w; x += AROUND_TILE)
		(job->cubic ? gather_cubic : gather_linear)(&job->gathering, column + x, row + x,
		    out + x, w - x < AROUND_TILE ? w - x : AROUND_TILE);
}

const struct rectify_rows AT_LEVEL(rectify_rows) = {
	.map_source_row = map_source_row,
	.prepare_row = prepare_row,
	.gather_row = gather_row,
};
