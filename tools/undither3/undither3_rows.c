/*
 * The loops over pixels of undither3: bits, the papers' Gaussian, and the steps of the fit (methods
 * section 13): a first smoothing finds the carrier of the fringes, averages along it give turns,
 * known thresholds refine them, pixels at jumps are mended, and bits of the stair check orders.
 */
#include "undither3.h"

#include "undither3.px.h"

#define SPAN 256 /* pixels of a row that are worked on together */
#define BLOCK 8 /* rows that a thread takes at a time */

/* ---- the bits of a picture ---- */

static bool
find_bad(const struct priv *priv, const struct frame *in, size_t *bad_x, size_t *bad_y)
{
	unsigned allowed =
	    priv->keys.texture_bits == 1 && priv->keys.pack == DITHER_MSB ? 0xf0 : 0xe0;

	for (size_t y = 0; y < in->head.h; y++) {
		const unsigned char *row = frame_row(in, 0, y);

		for (size_t x = 0; x < in->head.w; x++) {
			bool bad = priv->keys.pack == DITHER_PLANAR
			    ? row[x] > 1 && row[x] != 255 : (row[x] & ~allowed) != 0;

			if (bad) {
				*bad_x = x;
				*bad_y = y;
				return true;
			}
		}
	}
	return false;
}

/* The bits of plane c, 0 or 1, of n pixels of row y from x on. */
static void
unpack_row(const struct priv *priv, const struct frame *in, size_t c, size_t y, size_t x, size_t n,
    float *restrict out)
{
	const unsigned char *restrict row = frame_row(in, 0, y);
	int value = (int)DITHER_BIT(c);

	row += x;
	if (priv->keys.pack == DITHER_PLANAR) {
		row += c * priv->w;
		value = 0xff;
	} else if (priv->keys.pack == DITHER_RGB && c == 3) {
		row = (unsigned char *)frame_row(in, 1, y) + x;
		value = 0x80;
	}
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		out[i] = row[i] & value ? 1.0f : 0.0f;
}

/* ---- the papers' Gaussian of 7 x 7 over a plane of bits: levels ---- */

#define ROWS_AROUND (2 * SMOOTH_REACH + 1)

/* The Gaussian of n samples along one axis, whose neighbours are `step` apart; there are at least
 * SMOOTH_REACH more on both sides. */
static void
smooth_line(const float *restrict in, float *restrict out, size_t step, size_t n,
    const float *restrict kernel)
{
	const float *a = in - 3 * step, *b = in - 2 * step, *c = in - step;
	const float *d = in + step, *e = in + 2 * step, *f = in + 3 * step;
	float far = kernel[0], middle = kernel[1], near = kernel[2], centre = kernel[3];

	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		out[i] = undither3_smooth(in[i], a[i], b[i], c[i], d[i], e[i], f[i], far, middle,
		    near, centre);
}

/* Rows y0 .. y1 - 1 of a plane of bits into channel c: sums along the rows around each one, of n
 * columns at a time, then down the columns. Outside of the image is 0. */
static void
smooth_rows(const struct priv *priv, const struct frame *in, size_t plane, struct frame *out,
    size_t c, size_t y0, size_t y1)
{
	float along[ROWS_AROUND][SPAN];	/* row y at [(y + SMOOTH_REACH) % ROWS_AROUND] */
	float far = priv->smooth[0], middle = priv->smooth[1], near = priv->smooth[2];
	float centre = priv->smooth[3];

	for (size_t x = 0; x < priv->w; x += SPAN) {
		size_t n = priv->w - x < SPAN ? priv->w - x : SPAN, after = priv->w - x - n;
		size_t left = x < SMOOTH_REACH ? x : SMOOTH_REACH;
		size_t right = after < SMOOTH_REACH ? after : SMOOTH_REACH;

		for (size_t next = y0; next < y1 + 2 * SMOOTH_REACH; next++) {
			float *sums = along[next % ROWS_AROUND];
			float bit[SPAN + 2 * SMOOTH_REACH] = { 0 };
			const float *restrict row[ROWS_AROUND];
			float *restrict level;

			if (next < SMOOTH_REACH || next - SMOOTH_REACH >= priv->h) {
				memset(sums, 0, sizeof(along[0]));
			} else {
				unpack_row(priv, in, plane, next - SMOOTH_REACH, x - left,
				    left + n + right, bit + SMOOTH_REACH - left);
				smooth_line(bit + SMOOTH_REACH, sums, 1, n, priv->smooth);
			}
			if (next < y0 + 2 * SMOOTH_REACH)
				continue;
			for (size_t k = 0; k < ROWS_AROUND; k++)
				row[k] = along[(next + 1 + k) % ROWS_AROUND];
			level = frame_floats(out, c, next - 2 * SMOOTH_REACH) + x;
			CPU_SIMD
			for (size_t i = 0; i < n; i++)
				level[i] = 255.0f * undither3_smooth(row[3][i], row[0][i],
				    row[1][i], row[2][i], row[4][i], row[5][i], row[6][i], far,
				    middle, near, centre);
		}
	}
}

static void
smooth_texture(const struct priv *priv, const struct frame *in, struct frame *out, size_t y0,
    size_t y1)
{
	if (priv->keys.texture_bits == 1)
		smooth_rows(priv, in, 3, out, 3, y0, y1);
	for (size_t y = y0; priv->keys.texture_bits == 8 && y < y1; y++) {
		const unsigned char *row = frame_row(in, 1, y);

		for (size_t x = 0; x < priv->w; x++)
			frame_floats(out, 3, y)[x] = (float)row[x];
	}
}

static void
gauss(const struct run *run, const struct frame *in, struct frame *out, size_t y0, size_t y1,
    const struct row_scratch *)
{
	const struct priv *priv = run->priv;

	for (size_t c = 0; c < 3; c++)
		smooth_rows(priv, in, c, out, holo_place[priv->holo.layout][c], y0, y1);
	smooth_texture(priv, in, out, y0, y1);
}

/* ---- the background, and a first smoothing of bits ---- */

/* The largest (or smallest) of the samples within CLOSE along a row or column. */
static void
spread(const struct planes *planes, const float *in, float *out, size_t step, bool smallest)
{
	size_t first = CLOSE * (planes->stride + 1);
	size_t last = planes->pixels - first;

	for (size_t i = first; i < last; i++) {
		float most = in[i];

		for (size_t k = 1; k <= CLOSE; k++) {
			float a = in[i - k * step], b = in[i + k * step];

			most = smallest ? px_min(most, px_min(a, b)) : px_max(most, px_max(a, b));
		}
		out[i] = most;
	}
}

/* Pixels with a dot, and the gaps between: a morphological closing by a square. */
static void
find_inside(struct job *job)
{
	struct planes *planes = &job->planes;

	for (size_t i = 0; i < planes->pixels; i++)
		planes->inside[i] = px_max(job->bit[0][i], px_max(job->bit[1][i], job->bit[2][i]));
	spread(planes, planes->inside, job->smooth[0], 1, false);
	spread(planes, job->smooth[0], planes->inside, planes->stride, false);
	spread(planes, planes->inside, job->smooth[0], 1, true);
	spread(planes, job->smooth[0], planes->inside, planes->stride, true);
	/* a closing reaches beyond the image where a surface does */
	for (size_t y = 0; y < planes->h + 2 * MARGIN; y++)
		for (size_t x = 0; x < planes->stride; x++)
			if (y < MARGIN || y >= planes->h + MARGIN || x < MARGIN ||
			    x >= planes->w + MARGIN)
				planes->inside[y * planes->stride + x] = 0;
}

static void
smooth_plane(const struct job *job, const float *in, float *scratch, float *out)
{
	const struct planes *planes = &job->planes;
	size_t first = SMOOTH_REACH * (planes->stride + 1);
	size_t n = planes->pixels - 2 * first;

	smooth_line(in + first, scratch + first, 1, n, job->priv->smooth);
	smooth_line(scratch + first, out + first, planes->stride, n, job->priv->smooth);
}

/* The turn between the phasors one pixel before and after, averaged over its neighbours. */
static void
find_frequency(struct job *job, size_t step, float *out)
{
	struct planes *planes = &job->planes;
	const float *sine = job->smooth[0], *cosine = job->smooth[1];
	float *c = planes->right == out ? planes->down : planes->rest, *s = planes->order;

	for (size_t i = step; i < planes->pixels - step; i++) {
		c[i] = undither3_turn_cosine(
		    sine[i - step], cosine[i - step], sine[i + step], cosine[i + step]);
		s[i] = undither3_turn_sine(
		    sine[i - step], cosine[i - step], sine[i + step], cosine[i + step]);
	}
	smooth_plane(job, c, job->smooth[2], c);
	smooth_plane(job, s, job->smooth[2], s);
	for (size_t i = 0; i < planes->pixels; i++)
		out[i] = undither3_frequency(s[i], c[i]);
}

/* From job->bit to sine, cosine, inside, rest, order, right and down; the smoothed sine and
 * cosine are left in job->smooth. */
static void
first_smoothing(struct job *job)
{
	struct planes *planes = &job->planes;
	float per_height = 1 / job->priv->code.height;

	find_inside(job);
	for (size_t i = 0; i < planes->pixels; i++) {
		planes->sine[i] = (job->bit[0][i] - 0.5f) * planes->inside[i];
		planes->cosine[i] = (job->bit[1][i] - 0.5f) * planes->inside[i];
	}
	smooth_plane(job, planes->sine, job->smooth[2], job->smooth[0]);
	smooth_plane(job, planes->cosine, job->smooth[2], job->smooth[1]);
	find_frequency(job, 1, planes->right);
	find_frequency(job, planes->stride, planes->down);
	for (size_t i = 0; i < planes->pixels; i++) {
		float rest = holo_rest(job->smooth[0][i], job->smooth[1][i]);
		float stair = job->priv->bits.stair[(int)(rest * HOLO_PROFILE)];

		planes->rest[i] = rest;	/* of each pixel by itself, from one bit of the stair */
		planes->order[i] = undither3_order(job->bit[2][i], stair, per_height);
	}
}

/* ---- the average around each pixel of a row, along the carrier that it has there ---- */

/* Sums of n pixels. */
struct sums {
	float cosine[SPAN], sine[SPAN], fringe[SPAN], order[SPAN], weight[SPAN];
} __attribute__((aligned(64)));

#define GROUP 4			/* neighbours of a row in turn; rows have an odd number */

/* Phasors of the carrier of each pixel, k pixels away. */
struct carrier {
	float cosine[2 * DITHER_REACH_MOST + 1][SPAN], sine[2 * DITHER_REACH_MOST + 1][SPAN];
};

static void
carrier_fill(const float *restrict frequency, struct carrier *restrict carrier, size_t reach,
    size_t n)
{
	for (size_t k = 0; k <= 2 * reach; k++) {
		float away = (float)(int)k - (float)(int)reach;
		float *restrict c = carrier->cosine[k], *restrict s = carrier->sine[k];

		CPU_SIMD
		for (size_t i = 0; i < n; i++) {
			PX_F turn = undither3_carrier(away, frequency[i]);

			c[i] = px_cos(turn);
			s[i] = px_sin(turn);
		}
	}
}

/* A row of neighbours of n pixels: planes, weights and the carrier's phasors along the row start at
 * the first of them. */
struct neighbours {
	const float *sine, *cosine, *inside, *rest, *order;
	const float *fringe, *stair;	/* weights */
	const float *cosine_x, *sine_x, *cosine_y, *sine_y;
	float dx, dy;			/* how far the first of them is */
};

/* Several neighbours in turn, so that sums stay in registers meanwhile. */
static inline __attribute__((always_inline)) void
add_neighbours(const struct neighbours *there, const int count, const float *restrict rest,
    const float *restrict right, const float *restrict down, struct sums *restrict sums, size_t n)
{
	const float *restrict cx = there->cosine_x, *restrict sx = there->sine_x;
	const float *restrict cy = there->cosine_y, *restrict sy = there->sine_y;
	const float *restrict sine = there->sine, *restrict cosine = there->cosine;
	const float *restrict inside = there->inside, *restrict rests = there->rest;
	const float *restrict orders = there->order;
	float dx = there->dx, dy = there->dy, fringe[GROUP], stair[GROUP];

	memcpy(fringe, there->fringe, (size_t)count * sizeof(*fringe));
	memcpy(stair, there->stair, (size_t)count * sizeof(*stair));
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		struct undither3_sums sum = { sums->cosine[i], sums->sine[i], sums->fringe[i],
			sums->order[i], sums->weight[i] };

#pragma GCC unroll 8
		for (int k = 0; k < count; k++) {
			size_t at = i + (size_t)k, phasor = i + (size_t)k * SPAN;
			struct undither3_neighbour that = { sine[at], cosine[at], inside[at],
				rests[at], orders[at] };

			sum = undither3_add(sum, that, rest[i], right[i], down[i], cx[phasor],
			    sx[phasor], cy[i], sy[i], dx + (float)k, dy, fringe[k], stair[k]);
		}
		sums->cosine[i] = sum.cosine;
		sums->sine[i] = sum.sine;
		sums->fringe[i] = sum.fringe;
		sums->order[i] = sum.order;
		sums->weight[i] = sum.weight;
	}
}

/* The sums of n pixels of row y from x on. */
static void
window_sum(const struct planes *planes, const struct kernels *kernels, size_t y, size_t x, size_t n,
    struct sums *sums)
{
	size_t at = planes_at(planes, x, y), reach = kernels->reach;
	const float *rest = planes->rest + at, *right = planes->right + at;
	const float *down = planes->down + at;
	struct carrier along, across;

	memset(sums, 0, sizeof(*sums));
	carrier_fill(right, &along, reach, n);
	carrier_fill(down, &across, reach, n);
	for (size_t ky = 0; ky <= 2 * reach; ky++)
		for (size_t kx = 0; kx <= 2 * reach; kx += GROUP) {
			size_t to = at + ky * planes->stride + kx - reach * (planes->stride + 1);
			size_t count = 2 * reach + 1 - kx, weight = ky * kernels->width + kx;
			struct neighbours there = { planes->sine + to, planes->cosine + to,
				planes->inside + to, planes->rest + to, planes->order + to,
				kernels->fringe + weight, kernels->stair + weight,
				along.cosine[kx], along.sine[kx], across.cosine[ky],
				across.sine[ky], (float)(int)kx - (float)(int)reach,
				(float)(int)ky - (float)(int)reach };

			if (count >= GROUP)
				add_neighbours(&there, GROUP, rest, right, down, sums, n);
			else if (count == 3)
				add_neighbours(&there, 3, rest, right, down, sums, n);
			else
				add_neighbours(&there, 1, rest, right, down, sums, n);
		}
}

/*
 * ---- refining ----
 *
 * Ordered dithering compares each level with a threshold that is known: a bit leaves the phase on
 * one side of it. The averages do not use that. From them on, turns are moved to what bends least
 * while all bits are as they are (inverse halftoning onto the set of all pictures that would give
 * these bits, after Hein and Zakhor 1995; here of phases, not of levels).
 *
 * Descent with momentum (Nesterov 1983). A step reads the plane that the last one left, so that
 * the result does not depend on which thread takes which rows.
 */

/* Planes like those of `struct planes`; UNDITHER3_FAR outside of the surface. */
struct refining {
	const struct job *job;
	float *low, *high;		/* turns that give the pixel's bits */
	float *last;			/* turns after a step */
	float *from, *to;		/* turns that a step starts from, and the next */
	float momentum;
	bool anew;			/* look for the bounds */
};

#define REFINE_ROWS 32		/* that a thread takes at a time */

/* How the turns bend in n pixels of a line. */
static void
bend_row(const float *restrict before, const float *restrict here, const float *restrict after,
    float *restrict bend, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		bend[i] = undither3_bend_of(before[i], here[i], after[i]);
}

/* Turns between which the bits of n pixels are as they are. x: a multiple of DITHER_TILE. */
static void
refine_bound_row(const struct refining *refining, size_t y, size_t x, size_t n)
{
	const struct job *job = refining->job;
	size_t tile = y % DITHER_TILE * DITHER_TILE;
	size_t first = planes_at(&job->planes, x, y);
	const float *restrict from = refining->from + first;
	const float *restrict red = job->bit[0] + first, *restrict green = job->bit[1] + first;
	float *restrict low = refining->low + first, *restrict high = refining->high + first;

	for (size_t k = 0; k < n; k += DITHER_TILE) {
		const float *restrict sine = job->priv->bits.arc[0] + tile;
		const float *restrict cosine = job->priv->bits.arc[1] + tile;
		size_t most = n - k < DITHER_TILE ? n - k : DITHER_TILE;

		CPU_SIMD
		for (size_t i = 0; i < most; i++) {
			struct bits_bounds bounds = bits_bound(
			    from[k + i], red[k + i], green[k + i], sine[i], cosine[i]);

			low[k + i] = bounds.low;
			high[k + i] = bounds.high;
		}
	}
}

/* A step of n pixels; bends have one more on each side along the row. */
static void
step_row(const struct refining *refining, size_t first, const float *restrict along,
    const float *restrict above, const float *restrict here, const float *restrict below, size_t n)
{
	const float *restrict from = refining->from + first, *restrict low = refining->low + first;
	const float *restrict high = refining->high + first;
	const float *restrict inside = refining->job->planes.inside + first;
	float *restrict last = refining->last + first, *restrict to = refining->to + first;
	float momentum = refining->momentum;

	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F bent = undither3_bent(
		    along[i], along[i + 1], along[i + 2], above[i], here[i], below[i]);
		PX_F next = undither3_step(from[i], bent, low[i], high[i]);

		next = px_select(inside[i] > 0.0f, next, UNDITHER3_FAR);
		to[i] = next + momentum * (next - last[i]);
		last[i] = next;
	}
}

/* Is one of n pixels inside of the surface? */
static bool
refine_any_inside(const float *restrict inside, size_t n)
{
	float most = 0;

	for (size_t i = 0; i < n; i++)
		most = px_max(most, inside[i]);
	return most > 0;
}

static void
refine_block(void *arg, size_t block)
{
	const struct refining *refining = arg;
	const struct planes *planes = &refining->job->planes;
	size_t stride = planes->stride, y0 = block * REFINE_ROWS;
	size_t y1 = y0 + REFINE_ROWS < planes->h ? y0 + REFINE_ROWS : planes->h;

	for (size_t x = 0; x < planes->w; x += SPAN) {
		size_t n = planes->w - x < SPAN ? planes->w - x : SPAN;
		float along[SPAN + 2], down[3][SPAN];

		for (size_t y = y0; y < y1 + 2; y++) {
			size_t first = (y + MARGIN - 1) * stride + x + MARGIN;
			const float *at = refining->from + first;

			bend_row(at - stride, at, at + stride, down[y % 3], n);
			if (y < y0 + 2)
				continue;
			first -= stride;
			at -= stride;
			if (!refine_any_inside(planes->inside + first, n))
				continue;
			bend_row(at - 2, at - 1, at, along, n + 2);
			if (refining->anew)
				refine_bound_row(refining, y - 2, x, n);
			step_row(refining, first, along, down[(y - 2) % 3], down[(y - 1) % 3],
			    down[y % 3], n);
		}
	}
}

/* Turns of the whole picture; overwrites the planes of the first smoothing, and scratch. */
static void
refine_turns(struct run *run, struct job *job)
{
	struct planes *planes = &job->planes;
	float *restrict turns = planes->turns, *restrict trusted = planes->trusted;
	const float *restrict inside = planes->inside, *restrict last = job->smooth[1];
	struct refining refining = { job, planes->sine, planes->cosine, job->smooth[1],
		planes->rest, planes->order, 0, false };

	for (size_t i = 0; i < planes->pixels; i++)
		refining.last[i] = refining.from[i] = refining.to[i] =
		    inside[i] > 0 ? turns[i] : UNDITHER3_FAR;
	for (int step = 0; step < REFINE_STEPS; step++) {
		float *from = refining.from;

		refining.momentum = (float)step / (float)(step + 3);
		refining.anew = step % REFINE_BOUNDS == 0;
		run_for(run, (planes->h + REFINE_ROWS - 1) / REFINE_ROWS, refine_block, &refining);
		refining.from = refining.to;
		refining.to = from;
	}
	/* turns that moved far were at a place where two surfaces mix */
	CPU_SIMD
	for (size_t i = 0; i < planes->pixels; i++) {
		bool moved = undither3_moved(last[i], turns[i]);

		trusted[i] = px_select(moved, 0.0f, trusted[i]);
		turns[i] = px_select(inside[i] > 0.0f && !moved, px_max(last[i], 0.0f), turns[i]);
	}
}

/*
 * ---- mending ----
 *
 * At a jump of the surface the average around a pixel sees both sides. A pixel that cannot be
 * trusted is compared with the trusted ones nearest to it in eight directions, each carried on to
 * it by its own slope: it stays where the ones that have its phase agree on its order, else it is
 * dropped.
 */

/* The turns of the nearest trusted pixel in a direction, carried on to here; NaN if there is none,
 * or if it has another phase. */
static float
carry(const struct planes *planes, size_t at, int dx, int dy)
{
	for (int k = 1; k <= MEND_REACH; k++) {
		size_t to = at + (size_t)(k * (dy * (ptrdiff_t)planes->stride + dx));

		if (planes->trusted[to] > 0)
			return undither3_carry(planes->turns[to], planes->right[to],
			    planes->down[to], (float)k, (float)dx, (float)dy,
			    planes->turns[at]);
	}
	return PX_NAN;
}

/* The turns of a pixel that is not trusted; NaN: dropped. */
static float
mend(const struct planes *planes, size_t at)
{
	float turns = PX_NAN;
	int agreeing = 0;

	for (int way = 0; way < 9; way++) {
		float carried = way == 4 ? PX_NAN : carry(planes, at, way % 3 - 1, way / 3 - 1);

		if (px_isnan(carried))
			continue;
		if (px_abs(turns - carried) > 0.5f)
			return PX_NAN;
		turns = carried;
		agreeing++;
	}
	return px_select(agreeing < MEND_LEAST || turns < 0.0f, PX_NAN, turns);
}

/* The mended turns of a block of rows into job->smooth[0]; NaN: dropped. */
static void
mend_block(void *arg, size_t block)
{
	const struct job *job = arg;
	const struct planes *planes = &job->planes;

	for (size_t y = block * BLOCK; y < planes->h && y < (block + 1) * BLOCK; y++)
		for (size_t x = 0; x < planes->w; x++) {
			size_t at = planes_at(planes, x, y);
			bool stays = planes->trusted[at] > 0 || planes->inside[at] == 0;

			job->smooth[0][y * planes->stride + x] =
			    stays ? planes->turns[at] : mend(planes, at);
		}
}

/* Trusts pixels that are not trusted, with the order that their neighbours give them. */
static void
mend_all(struct run *run, struct job *job)
{
	struct planes *planes = &job->planes;

	run_for(run, (planes->h + BLOCK - 1) / BLOCK, mend_block, job);
	for (size_t y = 0; y < planes->h; y++)
		for (size_t x = 0; x < planes->w; x++) {
			size_t at = planes_at(planes, x, y);
			float turns = job->smooth[0][y * planes->stride + x];

			if (planes->inside[at] == 0)
				continue;
			planes->trusted[at] = px_isnan(turns) ? 0 : 1;
			if (!px_isnan(turns))
				planes->turns[at] = turns;
		}
}

/*
 * ---- orders ----
 *
 * Orders by bits instead of averages, where thresholds are known: by a bit of the stair its
 * pixel's order is at least, or is less than, some number. Pixels of one surface have one order but
 * for the whole turns between them, so that the right one contradicts no bit around, and a wrong
 * one as many as a step of the stair has thresholds.
 */

#define ORDERS_AREA ((2 * ORDERS_REACH + 1) * (2 * ORDERS_REACH + 1))

/* The votes of the pixels around n pixels. */
struct votes {
	float against[UNDITHER3_TRIED][SPAN];
	float same[SPAN];	/* pixels of the same surface */
	float broken[SPAN];	/* turns by which the nearest ones are off their bits */
};

struct orders {
	struct job *job;
	float *turns;		/* UNDITHER3_FAR without a surface */
	float *above;		/* by how much the order is above what the stair's bit asks */
	float *broken;
};

/* What a pixel's own bits ask of it, and the slopes of its surface. */
static void
ask_row(const struct orders *orders, const struct refining *refining, size_t y)
{
	struct planes *planes = &orders->job->planes;
	const struct bits_code *bits = &orders->job->priv->bits;
	size_t first = planes_at(planes, 0, y), stride = planes->stride;
	const float *threshold = bits->threshold + y % DITHER_TILE * DITHER_TILE;

	refine_bound_row(refining, y, 0, planes->w);
	for (size_t x = 0; x < planes->w; x++) {
		size_t i = first + x;
		const float *at = orders->turns + i;
		float rest = *at - px_floor(*at);

		if (planes->inside[i] == 0)
			continue;
		orders->above[i] = bits_above(*at, threshold[x % DITHER_TILE],
		    bits->stair[(int)(rest * HOLO_PROFILE)], bits->height);
		orders->broken[i] = undither3_broken(
		    *at, (struct bits_bounds){ refining->low[i], refining->high[i] });
		planes->right[i] = undither3_slope(at[-1], *at, at[1]);
		planes->down[i] = undither3_slope(*(at - stride), *at, at[stride]);
	}
}

/* The neighbour (dx, dy) of n pixels votes. */
static void
vote(const struct orders *orders, size_t at, ptrdiff_t dx, ptrdiff_t dy, struct votes *votes,
    size_t n)
{
	const struct planes *planes = &orders->job->planes;
	size_t there = at + (size_t)(dy * (ptrdiff_t)planes->stride + dx);
	const float *restrict here = orders->turns + at, *restrict turns = orders->turns + there;
	const float *restrict right = planes->right + at, *restrict down = planes->down + at;
	const float *restrict above = orders->above + there;
	const float *restrict broken = orders->broken + there;
	const float *restrict bit = orders->job->bit[2] + there;
	float x = (float)dx, y = (float)dy, near = dx * dx <= 1 && dy * dy <= 1 ? 1 : 0;

	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F more = undither3_more(turns[i], here[i], right[i], down[i], x, y);
		PX_F counts = undither3_same(turns[i], more);
		PX_F over = above[i] - px_round(more);

		votes->same[i] += counts;
		votes->broken[i] += near * counts * broken[i];
		for (int k = 0; k < UNDITHER3_TRIED; k++)
			votes->against[k][i] += px_select(
			    undither3_contradicts(bit[i], over, k), counts, 0.0f);
	}
}

static void
vote_block(void *arg, size_t block)
{
	const struct orders *orders = arg;
	struct planes *planes = &orders->job->planes;
	const struct holo_code *code = &orders->job->priv->code;
	struct votes votes;

	for (size_t y = block * BLOCK; y < planes->h && y < (block + 1) * BLOCK; y++)
		for (size_t x = 0; x < planes->w; x += SPAN) {
			size_t n = planes->w - x < SPAN ? planes->w - x : SPAN;
			size_t at = planes_at(planes, x, y);

			if (!refine_any_inside(planes->inside + at, n))
				continue;
			memset(&votes, 0, sizeof(votes));
			for (ptrdiff_t dy = -ORDERS_REACH; dy <= ORDERS_REACH; dy++)
				for (ptrdiff_t dx = -ORDERS_REACH; dx <= ORDERS_REACH; dx++)
					vote(orders, at, dx, dy, &votes, n);
			for (size_t i = 0; i < n; i++) {
				float against[UNDITHER3_TRIED], turns = planes->turns[at + i];
				bool sure;

				for (int k = 0; k < UNDITHER3_TRIED; k++)
					against[k] = votes.against[k][i];
				turns += undither3_decide(against, votes.same[i], votes.broken[i],
				    planes->trusted[at + i], ORDERS_AREA, code->height / 255.0f);
				sure = turns >= 0 && turns < code->order_most + 1;
				planes->trusted[at + i] = sure ? 1 : 0;
				if (sure)
					planes->turns[at + i] = turns;
			}
		}
}

/* After mend_all(): decides which pixels are trusted, and with which order. */
static void
orders_check(struct run *run, struct job *job)
{
	struct planes *planes = &job->planes;
	struct orders orders = { job, planes->rest, planes->order, job->smooth[1] };
	struct refining refining = { .job = job, .low = planes->sine, .high = planes->cosine,
		.from = planes->rest };

	for (size_t i = 0; i < planes->pixels; i++)
		orders.turns[i] = planes->inside[i] > 0 ? planes->turns[i] : UNDITHER3_FAR;
	for (size_t y = 0; y < planes->h; y++)
		ask_row(&orders, &refining, y);
	run_for(run, (planes->h + BLOCK - 1) / BLOCK, vote_block, &orders);
}

/* ---- the picture: turns of all pixels, what is kept of them, and their levels ---- */

/* Turns of a block of rows, by the averages around each pixel; where dithering has moved the
 * picture they are moved back. */
static void
fit_block(void *arg, size_t block)
{
	const struct job *job = arg;
	const struct planes *planes = &job->planes;
	const struct priv *priv = job->priv;
	const float right_px = priv->moved[0], down_px = priv->moved[1];
	const float most = priv->code.order_most;
	struct sums sums;

	for (size_t y = block * BLOCK; y < priv->h && y < (block + 1) * BLOCK; y++)
		for (size_t x = 0; x < priv->w; x += SPAN) {
			size_t n = priv->w - x < SPAN ? priv->w - x : SPAN;
			size_t at = planes_at(planes, x, y);
			const float *restrict first = planes->rest + at;
			const float *restrict right = planes->right + at;
			const float *restrict down = planes->down + at;
			const float *restrict inside = planes->inside + at;
			float *restrict turns = planes->turns + at;
			float *restrict trusted = planes->trusted + at;

			window_sum(planes, &priv->kernels, y, x, n, &sums);
			CPU_SIMD
			for (size_t i = 0; i < n; i++) {
				struct undither3_sums sum = { sums.cosine[i], sums.sine[i],
					sums.fringe[i], sums.order[i], sums.weight[i] };
				struct undither3_found found = undither3_find(sum, first[i],
				    right[i], down[i], inside[i], right_px, down_px, most);

				turns[i] = found.turns;
				trusted[i] = found.trusted;
			}
		}
}

/* What is certain enough of a block of rows, and how certain it is, where that is asked. */
static void
level_block(void *arg, size_t block)
{
	const struct job *job = arg;
	const struct priv *priv = job->priv;
	const struct holo_code code = priv->code;
	const size_t *place = holo_place[priv->holo.layout];
	float least = priv->least;

	for (size_t y = block * BLOCK; y < priv->h && y < (block + 1) * BLOCK; y++) {
		size_t first = planes_at(&job->planes, 0, y);
		const float *restrict certainty = job->planes.certainty + first;
		const float *restrict turns = job->planes.turns + first;
		float *restrict sine = frame_floats(job->out, place[0], y);
		float *restrict cosine = frame_floats(job->out, place[1], y);
		float *restrict stair = frame_floats(job->out, place[2], y);

		CPU_SIMD
		for (size_t x = 0; x < priv->w; x++) {
			float certain = px_select(certainty[x] >= least, turns[x], PX_NAN);
			struct undither3_levels levels = undither3_encode(certain,
			    code.order_most, code.height, code.base, code.swing, code.waves);

			sine[x] = levels.sine;
			cosine[x] = levels.cosine;
			stair[x] = levels.stair;
		}
		if (priv->keep)
			memcpy(frame_floats(job->out, job->out->head.c - 1, y), certainty,
			    priv->w * sizeof(*certainty));
	}
}

static void
unpack(const struct job *job, const struct frame *in)
{
	const struct priv *priv = job->priv;

	for (size_t c = 0; c < 3; c++)
		for (size_t y = 0; y < priv->h; y++)
			unpack_row(priv, in, c, y, 0, priv->w,
			    job->bit[c] + planes_at(&job->planes, 0, y));
}

static void
pack(const struct priv *priv, const struct frame *in, struct frame *out)
{
	float bit[SPAN];

	for (size_t y = 0; y < priv->h; y++)
		for (size_t c = 0; c < 3; c++)
			for (size_t x = 0; x < priv->w; x += SPAN) {
				size_t n = priv->w - x < SPAN ? priv->w - x : SPAN;
				unsigned char *row =
				    (unsigned char *)frame_row(out, 0, y + MARGIN) + MARGIN + x;

				unpack_row(priv, in, c, y, x, n, bit);
				for (size_t i = 0; i < n; i++)
					row[i] |= (unsigned char)((bit[i] > 0) << c);
			}
}

static void
find_turns(struct run *run, struct job *job)
{
	first_smoothing(job);
	run_for(run, (job->priv->h + BLOCK - 1) / BLOCK, fit_block, job);
	if (job->priv->ordered)
		refine_turns(run, job);
	mend_all(run, job);
	if (job->priv->checked)
		orders_check(run, job);
}

static void
take_turns(struct job *job, const struct frame *found)
{
	struct planes *planes = &job->planes;

	for (size_t y = 0; y < planes->h + 2 * MARGIN; y++) {
		float *turns = planes->turns + y * planes->stride;
		size_t bytes = planes->stride * sizeof(*turns);

		memcpy(turns, frame_row(found, 0, y), bytes);
		memcpy(planes->trusted + y * planes->stride, frame_row(found, 1, y), bytes);
		for (size_t x = 0; x < planes->stride; x++)
			planes->inside[y * planes->stride + x] = px_isnan(turns[x]) ? 0 : 1;
	}
}

static void
find_levels(struct run *run, struct job *job)
{
	run_for(run, (job->priv->h + BLOCK - 1) / BLOCK, level_block, job);
}

const struct undither3_rows AT_LEVEL(undither3_rows) = {
	.gauss = gauss,
	.texture = smooth_texture,
	.find_bad = find_bad,
	.unpack = unpack,
	.pack = pack,
	.find_turns = find_turns,
	.take_turns = take_turns,
	.levels = find_levels,
};
