/*
 * unwrap2f on the processor, in tiles of a row. The fringe orders come from a sequence of beats or
 * a Gray code, or from the search for those that fit all phases best (methods section 5). Other
 * phases and standard deviations follow. The loops of --coarse spatial and --fit-line over whole
 * frames are here, too. unwrap2f.px.h has the formulas.
 */
#include "unwrap2f.h"

#include "base/px.h"
#include "run/stage.h"
#include "unwrap/patches_loops.h"
#include "unwrap2f.px.h"

/* ---- --coarse spatial and --fit-line: rows of whole frames ---- */

static void
spatial_sum(void *arg, size_t y)
{
	const struct spatial_job *job = arg;
	const struct unwrap_step *step = job->step;
	float *sum = frame_floats(job->found, 0, y);

	for (size_t i = 0; i < step->n; i++) {
		const float *phase = frame_floats(job->in, step->channel[i], y);
		float weight = step->weight[i];

		for (size_t x = 0; x < job->in->head.w; x++)
			sum[x] = (i ? sum[x] : 0) + weight * phase[x];
	}
}

static void
spatial_place(void *arg, size_t y)
{
	const struct spatial_job *job = arg;
	const struct components *components = job->components;
	float *phase = frame_floats(job->found, 0, y), *label = frame_floats(job->found, 1, y);

	for (size_t x = 0; x < job->in->head.w; x++) {
		int32_t turns, number = components_result(components, x, y, &turns);

		phase[x] = number ? (float)((double)phase[x] + 2 * M_PI * turns) : PX_NAN;
		label[x] = number ? (float)number : PX_NAN;
	}
}

/* Row y of the channel label: NaN where the result is. */
static void
label_row(const struct spatial *spatial, const float *absphase, size_t y, size_t w, float *label)
{
	const float *found = frame_floats(spatial->found, 1, y);

	for (size_t x = 0; x < w; x++)
		label[x] = px_isnan(absphase[x]) ? PX_NAN : found[x];
}

static void
beat_load(const struct fringe_line *line, const struct frame *frame, struct beat_field *field)
{
	const struct temporal *temporal = &line->temporal;
	bool along_y = temporal->axis == 'y',
	     swap = temporal->period_px[0] > temporal->period_px[1];
	size_t w = frame->head.w, h = frame->head.h;

	for (size_t y = 0; y < h; y++) {
		const float *shorter = frame_floats(frame, temporal->channel[swap], y);
		const float *longer = frame_floats(frame, temporal->channel[!swap], y);

		for (size_t x = 0; x < w; x++) {
			size_t at = along_y ? x * h + y : y * w + x;

			if (px_isnan(shorter[x]) || px_isnan(longer[x]))
				continue;
			field->re[at] = px_cos(shorter[x] - longer[x]);
			field->im[at] = px_sin(shorter[x] - longer[x]);
		}
	}
}

static size_t
beat_turn(const struct beat_field *field, size_t lag, double expected, double *turn,
    double *coherence)
{
	double re = 0, im = 0, c = cos(expected), s = sin(expected);
	size_t n = 0;

	for (size_t y = 0; y < field->h; y++) {
		const float *a = field->re + y * field->w, *b = field->im + y * field->w;

		for (size_t x = 0; x + lag < field->w; x++) {
			double r = a[x + lag] * a[x] + b[x + lag] * b[x];
			double i = b[x + lag] * a[x] - a[x + lag] * b[x];

			re += r;
			im += i;
			n += r != 0 || i != 0;
		}
	}
	*turn = atan2(im * c - re * s, re * c + im * s);
	*coherence = n ? hypot(re, im) / (double)n : 0;
	return n;
}

static double
beat_middle(const struct beat_field *field, double slope)
{
	double re = 0, im = 0, middle = (double)(field->w - 1) / 2;

	for (size_t x = 0; x < field->w; x++) {
		double c = cos(slope * ((double)x - middle)), s = sin(slope * ((double)x - middle));

		for (size_t y = 0; y < field->h; y++) {
			double r = field->re[y * field->w + x], i = field->im[y * field->w + x];

			re += r * c + i * s;
			im += i * c - r * s;
		}
	}
	return atan2(im, re);
}

/* ---- tiles ---- */

#define UNWRAP_TILE 256		/* pixels of a row that are unwrapped together */

/* Which orders may be better than the one found: none, one of a near line, any. */
enum doubt { SURE_ORDER, NEAR_ORDER, ANY_ORDER };

/* Pixels whose orders are tried. */
struct tried_pixels {
	float phase[UNWRAP_PHASES_MOST][UNWRAP_TILE];	/* the search's own, in turns */
	float from[UNWRAP_TILE];		/* orders are counted from here */
	float cost[UNWRAP_TILE], order[UNWRAP_TILE];	/* the best so far */
	uint32_t at[UNWRAP_TILE];		/* the pixel of the tile */
	size_t n;
} __attribute__((aligned(64)));

struct unwrap_tile {
	float signal[UNWRAP_TILE];
	float absolute[UNWRAP_TILE], residual[UNWRAP_TILE];	/* of the base */
	uint32_t bad[UNWRAP_TILE];			/* a phase that is needed is missing */
	uint32_t lacks[UNWRAP_TILE];			/* any phase of the search is missing */
	uint32_t wild[UNWRAP_TILE];			/* any phase is larger than a turn */
	uint32_t orders[UNWRAP_TILE];			/* cells of the table */
	uint32_t doubt[UNWRAP_TILE];			/* which orders may be better */
	bool doubts;					/* are there any? */
	bool by_table, sure;		/* all are at the first order of their cell */
	bool partly;			/* some pixels lack a phase, but not all of them */
	struct tried_pixels all, doubtful;
	float result[UNWRAP_TILE];			/* absphase */
	float own[UNWRAP_PHASES_MOST][UNWRAP_TILE];	/* absphase of every phase */
	float sum[UNWRAP_TILE], weight[UNWRAP_TILE];
} __attribute__((aligned(64)));

/* The phases of a search, from a pixel on. */
struct phase_rows {
	const float *phase[UNWRAP_PHASES_MOST];
};

/* ---- from signal to signal of a sequence ---- */

static void
weigh_phase(const float *restrict phase, float weight, bool begin,
    struct unwrap_tile *restrict tile, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		tile->signal[i] = (begin ? 0 : tile->signal[i]) + weight * phase[i];
		tile->bad[i] |= px_isnan(phase[i]);
	}
}

static void
weigh_two(const float *restrict a, const float *restrict b, float weight_a, float weight_b,
    struct unwrap_tile *restrict tile, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		tile->signal[i] = weight_a * a[i] + weight_b * b[i];
		tile->bad[i] |= (uint)px_isnan(a[i]) | (uint)px_isnan(b[i]);
	}
}

/* A single phase stays as it is, to the bit. Sums are not wrapped: the orders count their turns. */
static void
load_signal(const struct frame *in, const struct unwrap_step *step, size_t y, size_t x, size_t n,
    struct unwrap_tile *tile)
{
	const float *first = frame_floats(in, step->channel[0], y) + x;

	if (step->n == 2) {
		weigh_two(first, frame_floats(in, step->channel[1], y) + x, step->weight[0],
		    step->weight[1], tile, n);
		return;
	}
	weigh_phase(first, step->weight[0], true, tile, n);
	for (size_t i = 1; i < step->n; i++)
		weigh_phase(
		    frame_floats(in, step->channel[i], y) + x, step->weight[i], false, tile, n);
}

/* The phase in the turn above a line. */
static void
start_above(struct unwrap_tile *restrict tile, size_t n, float lo, float slope)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F phi = tile->signal[i];

		tile->absolute[i] = unwrap2f_absolute(phi,
		    unwrap2f_turns_above(phi, lo + slope * (float)(int)i));
		tile->residual[i] = 0;
	}
}

/* The order is the whole number nearest to the Gray code's. */
static void
start_predicted(struct unwrap_tile *restrict tile, size_t n, const float *restrict index,
    float step, float offset)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F phi = tile->signal[i];
		PX_F estimate = unwrap2f_order_estimate(index[i] * step + offset, 1, phi);
		PX_F k = px_round(estimate);

		tile->absolute[i] = unwrap2f_absolute(phi, k);
		tile->residual[i] = estimate - k;
		tile->bad[i] |= px_isnan(index[i]);
	}
}

/* The Gray code counts periods, which begin where the phase is -offset. */
static void
start_counted(struct unwrap_tile *restrict tile, size_t n, const float *restrict index,
    float offset)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F phi = tile->signal[i];
		PX_F k = unwrap2f_counted(index[i], phi, offset);

		tile->absolute[i] = unwrap2f_absolute(phi, k);
		tile->residual[i] = index[i] + 0.5f - (phi + offset) * UNWRAP2F_TURN - k;
		tile->bad[i] |= px_isnan(index[i]);
	}
}

static void
start_known(struct unwrap_tile *restrict tile, size_t n, const float *restrict coarse)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		tile->absolute[i] = coarse[i];
		tile->residual[i] = 0;
		tile->bad[i] |= px_isnan(coarse[i]);
	}
}

/* The first step. Line positions count from the left border, so they do not depend on tiles. */
static void
start_sequence(const struct unwrap_steps *steps, const struct frame *in, size_t y, size_t x,
    size_t n, struct unwrap_tile *tile)
{
	const float *index = frame_floats(in, steps->index, y) + x, *slope = steps->line_slope;

	load_signal(in, &steps->step[0], y, x, n, tile);
	switch (steps->start) {
	case START_FIELD:
		start_above(tile, n, steps->step[0].lo, 0);
		break;
	case START_LINE:
		start_above(tile, n, steps->line_offset + slope[0] * (float)x + slope[1] * (float)y,
		    slope[0]);
		break;
	case START_SPATIAL:
		start_known(tile, n, frame_floats(steps->coarse, 0, y) + x);
		break;
	case START_PREDICTED:
		start_predicted(tile, n, index, steps->gray_step, steps->gray_offset);
		break;
	case START_COUNTED:
		start_counted(tile, n, index, steps->gray_offset);
		break;
	}
}

/* The next finer signal, ordered by the absolute phase of the last one. */
static void
next_step(struct unwrap_tile *restrict tile, size_t n, const struct unwrap_step *restrict step)
{
	float ratio = step->ratio, lo = step->lo, hi = step->hi, span = step->span;

	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F phi = tile->signal[i];
		PX_F estimate = unwrap2f_order_estimate(tile->absolute[i], ratio, phi);
		PX_F k;

		estimate = unwrap2f_seam(estimate, phi, lo, hi, span);
		k = px_round(estimate);
		tile->absolute[i] = unwrap2f_absolute(phi, k);
		tile->residual[i] = unwrap2f_worse(tile->residual[i], estimate - k);
	}
}

static void
unwrap_by_sequence(const struct unwrap_steps *steps, const struct frame *in, size_t y, size_t x,
    size_t n, struct unwrap_tile *tile)
{
	start_sequence(steps, in, y, x, n, tile);
	for (size_t r = 1; r < steps->n; r++) {
		load_signal(in, &steps->step[r], y, x, n, tile);
		next_step(tile, n, &steps->step[r]);
	}
}

/* ---- the search by the table of three wrapped phases ---- */

#define SIDE ORDER_TABLE_SIDE
/* The search's residuals have no upper end, but half way to the next order they are a guess. */
#define LEFT_MOST 0.5f
#define PHASE_TURNS 1.0f	/* limit of the other phases, which may wrap anywhere */
#define WHOLE 12582912.0f	/* 1.5 2^23: adding it rounds to a whole number */

/* What the pixels of a tile have, besides enum order_table_has. */
#define FOUND_WILD 16U		/* a phase that is not wrapped */
#define FOUND_PARTLY 32U	/* a pixel that lacks some phases */
#define FOUND_END 64U		/* a pixel near an end of the field */

/* The search's constants, for the cost of a position. */
struct line {
	float ratio1, ratio2, norm, first;
	float sure, lo, hi;		/* of search->inner_sure */
	float field_lo, field_hi, slack;
};

static struct line
line_of(const struct order_search *search)
{
	return (struct line){ search->ratio[1], search->ratio[2], search->norm,
		(float)search->first, search->inner_sure, search->inner_lo, search->inner_hi,
		search->lo, search->hi, search->slack };
}

static inline __attribute__((always_inline)) uint32_t
cell_of(struct line line, float turns0, float turns1, float turns2)
{
	float row = (line.ratio1 * turns0 - turns1) * SIDE + WHOLE;
	float column = (line.ratio2 * turns0 - turns2) * SIDE + WHOLE;

	return (px_bits(row) & (SIDE - 1)) * SIDE + (px_bits(column) & (SIDE - 1));
}

static inline __attribute__((always_inline)) bool
is_wild(float turns0, float turns1, float turns2)
{
	return (px_abs(turns0) > ORDER_TABLE_BASE) | (px_abs(turns1) > PHASE_TURNS) |
	    (px_abs(turns2) > PHASE_TURNS);
}

/* Are some phases missing, but not all? */
static inline __attribute__((always_inline)) bool
is_partly(float turns0, float turns1, float turns2)
{
	bool a = px_isnan(turns0), b = px_isnan(turns1), c = px_isnan(turns2);

	return (a | b | c) & !(a & b & c);
}

/* The same bits as from the search without a table; NaN where a phase is missing. */
static inline __attribute__((always_inline)) float
cost_of(struct line line, float v, float turns1, float turns2)
{
	PX_F e1 = unwrap2f_mismatch(v, line.ratio1, turns1);
	PX_F e2 = unwrap2f_mismatch(v, line.ratio2, turns2);
	PX_F square = e1 * e1 + e2 * e2;
	PX_F shift = line.ratio1 * e1 + line.ratio2 * e2;

	return unwrap2f_cost(square, shift, line.norm);
}

static inline __attribute__((always_inline)) float
cost_in_field(struct line line, float v, float turns1, float turns2)
{
	PX_F cost = cost_of(line, v, turns1, turns2);

	return cost + unwrap2f_outside(v, line.field_lo, line.field_hi, line.slack);
}

/*
 * The absolute phase and residual of pixels of which all surely have the first order of their cell.
 * Residuals larger than `most` make both NaN. False: some pixels may have another order, and the
 * results are of no use.
 */
static bool
order_table_direct(const struct order_search *search, const struct phase_rows *from, size_t n,
    float most, float *restrict absolute, float *restrict residual)
{
	const float *restrict phase0 = from->phase[0], *restrict phase1 = from->phase[1];
	const float *restrict phase2 = from->phase[2];
	const uint32_t *restrict cell = search->table->cell[0];
	const struct line line = line_of(search);
	float per_distance = 1 / search->distance;
	uint32_t found = 0;

	_Pragma("omp simd reduction(|:found)")
	for (size_t i = 0; i < n; i++) {
		float turns0 = phase0[i] * UNWRAP2F_TURN, turns1 = phase1[i] * UNWRAP2F_TURN;
		float turns2 = phase2[i] * UNWRAP2F_TURN;
		uint32_t orders = cell[cell_of(line, turns0, turns1, turns2)];
		float order = line.first + (float)(int)(orders & 127);
		PX_F v = turns0 + order;
		PX_F cost = cost_of(line, v, turns1, turns2);
		PX_F left = px_sqrt(cost) * per_distance;
		bool far = (v < line.lo) | (v > line.hi) | is_wild(turns0, turns1, turns2);
		uint32_t more = px_select(cost <= line.sure, 0U, orders >> 28);
		bool good;

		left = px_select(left > LEFT_MOST, LEFT_MOST, left);
		good = left <= most;
		absolute[i] = px_select(good, unwrap2f_absolute(phase0[i], order), PX_NAN);
		residual[i] = px_select(good, left, PX_NAN);
		found |= px_select(cost >= 0.0f, more, 0U) | px_select(far, FOUND_END, 0U) |
		    px_select(is_partly(turns0, turns1, turns2), FOUND_PARTLY, 0U);
	}
	return (search->complete ? found & ~FOUND_PARTLY : found) == 0;
}

/* Gives every pixel the first order of its cell; returns enum order_table_has and FOUND_... */
static uint32_t
find_first(const struct order_search *search, const float *restrict phase0,
    const float *restrict phase1, const float *restrict phase2, size_t n,
    struct unwrap_tile *restrict tile)
{
	const uint32_t *restrict cell = search->table->cell[0];
	const struct line line = line_of(search);
	struct tried_pixels *restrict all = &tile->all;
	uint32_t found = 0;

	_Pragma("omp simd reduction(|:found)")
	for (size_t i = 0; i < n; i++) {
		float turns0 = phase0[i] * UNWRAP2F_TURN, turns1 = phase1[i] * UNWRAP2F_TURN;
		float turns2 = phase2[i] * UNWRAP2F_TURN;
		bool lacks = px_isnan(turns0) | px_isnan(turns1) | px_isnan(turns2);
		uint32_t orders = cell[cell_of(line, turns0, turns1, turns2)];
		float order = line.first + (float)(int)(orders & 127);
		PX_F v = turns0 + order;
		PX_F cost = cost_in_field(line, v, turns1, turns2);
		bool sure = (cost <= line.sure) & (v >= line.lo) & (v <= line.hi);

		all->phase[0][i] = turns0;
		all->phase[1][i] = turns1;
		all->phase[2][i] = turns2;
		all->order[i] = order;
		all->cost[i] = cost;
		tile->lacks[i] = (uint32_t)lacks;
		tile->orders[i] = px_select(sure | lacks, orders & 0xfffffffU, orders);
		found |= px_select(sure | lacks, 0U, orders >> 28) |
		    px_select(is_wild(turns0, turns1, turns2), FOUND_WILD, 0U) |
		    px_select(is_partly(turns0, turns1, turns2), FOUND_PARTLY, 0U);
	}
	return found;
}

/* Tries the order at bit `shift` of each cell. Of two that fit equally the lower wins. */
static void
try_next(const struct order_search *search, uint32_t shift, size_t n,
    struct unwrap_tile *restrict tile)
{
	const struct line line = line_of(search);
	struct tried_pixels *restrict all = &tile->all;

	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		float order = line.first + (float)(int)(tile->orders[i] >> shift & 127);
		float best = all->cost[i], had = all->order[i];
		PX_F v = all->phase[0][i] + order;
		PX_F cost = cost_in_field(line, v, all->phase[1][i], all->phase[2][i]);
		bool better = (cost < best) | ((cost == best) & (order < had));

		all->cost[i] = px_select(better, cost, best);
		all->order[i] = px_select(better, order, had);
	}
}

/* Finds all orders by the table, except in cells that have too many, which tile->doubt marks. False
 * where a phase is not wrapped: the table does not hold for these pixels. */
static bool
order_table_tile(const struct order_search *search, const struct phase_rows *from, size_t n,
    struct unwrap_tile *tile)
{
	uint32_t found =
	    find_first(search, from->phase[0], from->phase[1], from->phase[2], n, tile);

	if (found & FOUND_WILD)
		return false;
	if (found & (HAS_SECOND | HAS_TOO_MANY))
		try_next(search, 7, n, tile);
	if (found & (HAS_THIRD | HAS_TOO_MANY))
		try_next(search, 14, n, tile);
	if (found & (HAS_FOURTH | HAS_TOO_MANY))
		try_next(search, 21, n, tile);
	tile->all.n = n;
	tile->sure = found == 0;
	tile->partly = (found & FOUND_PARTLY) != 0;
	tile->doubts = (found & HAS_TOO_MANY) != 0;
	for (size_t i = 0; tile->doubts && i < n; i++)
		tile->doubt[i] = tile->orders[i] >> 31 ? ANY_ORDER : SURE_ORDER;
	return true;
}

/* ---- the search without it: all pixels of a tile at their first order, then doubtful ones ---- */

#define NOT_TRIED 2e30f		/* larger than the cost of any position outside the field */
#define WILD_TURNS 1.0f		/* larger phases are not wrapped: all orders are tried */

/* Takes the order `from` + k where it fits the other phases better than the best so far; of two
 * that fit equally the lower wins, in any sequence of trials. For a constant number of phases the
 * compiler unrolls the inner loop. */
static inline __attribute__((always_inline)) void
try_order_of(const struct order_search *search, size_t phases, float k,
    struct tried_pixels *restrict pixels)
{
	float lo = search->lo, hi = search->hi, slack = search->slack, norm = search->norm;
	float ratio[UNWRAP_PHASES_MOST];

	memcpy(ratio, search->ratio, sizeof(ratio));
	CPU_SIMD
	for (size_t i = 0; i < pixels->n; i++) {
		float order = pixels->from[i] + k, best = pixels->cost[i];
		PX_F v = pixels->phase[0][i] + order, square = 0, shift = 0, cost;
		bool better;

		for (size_t p = 1; p < phases; p++) {
			PX_F e = unwrap2f_mismatch(v, ratio[p], pixels->phase[p][i]);

			square = square + e * e;
			shift = shift + ratio[p] * e;
		}
		cost = unwrap2f_cost(square, shift, norm);
		cost = cost + unwrap2f_outside(v, lo, hi, slack);
		better = (cost < best) | ((cost == best) & (order < pixels->order[i]));
		pixels->cost[i] = px_select(better, cost, best);
		pixels->order[i] = px_select(better, order, pixels->order[i]);
	}
}

static void
try_order(const struct order_search *search, float k, struct tried_pixels *pixels)
{
	if (search->phases == 2)
		try_order_of(search, 2, k, pixels);
	else if (search->phases == 3)
		try_order_of(search, 3, k, pixels);
	else if (search->phases == 4)
		try_order_of(search, 4, k, pixels);
	else
		try_order_of(search, search->phases, k, pixels);
}

static void
try_all(const struct order_search *search, struct tried_pixels *pixels)
{
	for (size_t i = 0; i < pixels->n; i++) {
		pixels->from[i] = pixels->order[i] = 0;
		pixels->cost[i] = NOT_TRIED;
	}
	for (long k = search->first; k <= search->last; k++)
		try_order(search, (float)k, pixels);
}

/* Tries the lines up to twice a pixel's distance from its line: those further away are not nearer
 * to the pixel. */
static void
try_near(const struct order_search *search, struct tried_pixels *pixels)
{
	size_t gaps = 0;
	float most = 0;

	for (size_t i = 0; i < pixels->n; i++)
		most = pixels->cost[i] > most ? pixels->cost[i] : most;
	most = 2.001f * sqrtf(most) + 1e-4f;
	while (gaps < search->gaps && search->gap[gaps].distance <= most)
		gaps++;
	if (gaps > search->gaps / 2) {
		try_all(search, pixels);
		return;
	}
	for (size_t i = 0; i < gaps; i++) {
		try_order(search, search->gap[i].orders, pixels);
		try_order(search, -search->gap[i].orders, pixels);
	}
}

/* All phases in turns; the base first. */
static void
load_turns(const struct order_search *search, const struct frame *in, size_t y, size_t x,
    size_t n, struct unwrap_tile *restrict tile)
{
	memset(tile->lacks, 0, sizeof(tile->lacks));
	memset(tile->wild, 0, sizeof(tile->wild));
	for (size_t p = 0; p < search->phases; p++) {
		const float *restrict phase = frame_floats(in, search->channel[p], y) + x;

		CPU_SIMD
		for (size_t i = 0; i < n; i++) {
			float turns = phase[i] * UNWRAP2F_TURN;

			tile->all.phase[p][i] = turns;
			tile->lacks[i] |= px_isnan(phase[i]);
			tile->wild[i] |= (uint32_t)!(px_abs(turns) <= WILD_TURNS);
		}
	}
	tile->all.n = n;
}

/* The cost of the orders that a sequence found. */
static void
begin_ordered(const struct order_search *search, struct unwrap_tile *restrict tile, size_t n)
{
	struct tried_pixels *restrict all = &tile->all;

	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		all->from[i] = px_round(tile->absolute[i] * UNWRAP2F_TURN - all->phase[0][i]);
		all->order[i] = all->from[i];
		all->cost[i] = NOT_TRIED;
	}
	try_order(search, 0, all);
}

static void
begin_unordered(struct tried_pixels *restrict all, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		all->order[i] = 0;
		all->cost[i] = NOT_TRIED;
	}
}

/* Marks the pixels that another order may fit better; returns their number. NaN counts as far. */
static size_t
find_doubts(const struct order_search *search, struct unwrap_tile *restrict tile, size_t n)
{
	const struct tried_pixels *restrict all = &tile->all;
	float lo = search->lo, hi = search->hi, sure = search->sure, near = search->near;
	float inner_lo = search->inner_lo, inner_hi = search->inner_hi, inner = search->inner_sure;
	uint32_t doubts = 0;

	_Pragma("omp simd reduction(+:doubts)")
	for (size_t i = 0; i < n; i++) {
		PX_F v = all->phase[0][i] + all->order[i];
		float cost = all->cost[i];
		bool is_sure = unwrap2f_is_sure(cost, v, sure, lo, hi) |
		    unwrap2f_is_sure(cost, v, inner, inner_lo, inner_hi);
		bool doubt = (tile->lacks[i] == 0) & !is_sure;

		tile->doubt[i] = px_select(doubt,
		    px_select((cost < near) & (tile->wild[i] == 0), (uint32_t)NEAR_ORDER,
		    (uint32_t)ANY_ORDER),
		    (uint32_t)SURE_ORDER);
		doubts += (uint32_t)doubt;
	}
	return doubts;
}

static void
gather_doubtful(const struct order_search *search, struct unwrap_tile *tile, enum doubt doubt)
{
	const struct tried_pixels *all = &tile->all;
	struct tried_pixels *doubtful = &tile->doubtful;
	size_t n = 0;

	for (size_t i = 0; i < all->n; i++) {
		doubtful->at[n] = (uint32_t)i;
		n += tile->doubt[i] == (uint32_t)doubt;
	}
	doubtful->n = n;
	for (size_t i = 0; i < n; i++) {
		doubtful->from[i] = doubtful->order[i] = all->order[doubtful->at[i]];
		doubtful->cost[i] = all->cost[doubtful->at[i]];
	}
	for (size_t p = 0; p < search->phases; p++)
		for (size_t i = 0; i < n; i++)
			doubtful->phase[p][i] = all->phase[p][doubtful->at[i]];
}

static void
put_back(const struct tried_pixels *doubtful, struct tried_pixels *all)
{
	for (size_t i = 0; i < doubtful->n; i++) {
		all->cost[doubtful->at[i]] = doubtful->cost[i];
		all->order[doubtful->at[i]] = doubtful->order[i];
	}
}

/* The absolute phase and residual of the base from the orders that fit best. */
static void
finish(const struct order_search *search, const float *restrict phase, size_t n, bool keep,
    struct unwrap_tile *restrict tile)
{
	float per_distance = 1 / search->distance, lo = search->lo, hi = search->hi;
	float slack = search->slack;

	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		bool lacks = tile->lacks[i] != 0, keeps = lacks & keep;
		float order = tile->all.order[i];
		PX_F v = tile->all.phase[0][i] + order;
		PX_F left = unwrap2f_left(tile->all.cost[i], unwrap2f_outside(v, lo, hi, slack),
		    per_distance);
		PX_F absolute = unwrap2f_absolute(phase[i], order);

		tile->absolute[i] = px_select(keeps, tile->absolute[i], absolute);
		tile->residual[i] = px_select(keeps, px_abs(tile->residual[i]), left);
		tile->bad[i] |= (uint32_t)(lacks & !keep);
	}
}

static struct phase_rows
order_search_rows(const struct order_search *search, const struct frame *in, size_t y, size_t x)
{
	struct phase_rows rows;

	for (size_t p = 0; p < search->phases; p++)
		rows.phase[p] = frame_floats(in, search->channel[p], y) + x;
	return rows;
}

/* Begins the search for the best orders of n pixels from (x, y) on. True where order_search_end()
 * needs the absolute phase and residual of a sequence, if there is one. */
static bool
order_search_begin(const struct order_search *search, const struct frame *in, size_t y, size_t x,
    size_t n, struct unwrap_tile *tile)
{
	struct phase_rows rows = order_search_rows(search, in, y, x);

	tile->by_table = search->table && order_table_tile(search, &rows, n, tile);
	if (tile->by_table)
		return tile->partly && !search->complete;
	load_turns(search, in, y, x, n, tile);
	return true;
}

/* Ends it. `ordered`: tile->absolute and residual are those of a sequence. Pixels that lack a phase
 * keep them, or are bad where there are none or the search is `complete`. */
static void
order_search_end(const struct order_search *search, const struct frame *in, size_t y, size_t x,
    size_t n, bool ordered, struct unwrap_tile *tile)
{
	if (!tile->by_table) {
		if (ordered)
			begin_ordered(search, tile, n);
		else
			begin_unordered(&tile->all, n);
		tile->doubts = find_doubts(search, tile, n) > 0;
	}
	if (tile->doubts && !tile->by_table) {
		gather_doubtful(search, tile, NEAR_ORDER);
		if (tile->doubtful.n)
			try_near(search, &tile->doubtful);
		put_back(&tile->doubtful, &tile->all);
	}
	if (tile->doubts) {
		gather_doubtful(search, tile, ANY_ORDER);
		if (tile->doubtful.n)
			try_all(search, &tile->doubtful);
		put_back(&tile->doubtful, &tile->all);
	}
	finish(search, frame_floats(in, search->channel[0], y) + x, n,
	    ordered && !search->complete, tile);
}

static float
chance_cost(const struct order_search *search, uint i)
{
	float least = 1e30f;

	for (long k = search->first; k <= search->last; k++) {
		float square = 0, shift = 0, cost;

		for (size_t p = 1; p < search->phases; p++) {
			float e = search->ratio[p] * (float)k -
			    px_uniform(px_hash(i * UNWRAP_PHASES_MOST + (uint)p));

			e -= px_round(e);
			square += e * e;
			shift += search->ratio[p] * e;
		}
		cost = square - shift * shift * search->norm;
		least = cost < least ? cost : least;
	}
	return px_max(least, 0);
}

/* ---- every phase with its own order, and their mean ---- */

/* Computes tile->own and tile->result from the base's absolute phase. */
static void
phase_orders_tile(const struct phase_orders *orders, const struct frame *in, size_t y, size_t x,
    size_t n, struct unwrap_tile *restrict tile)
{
	float turn = orders->ratio[orders->target];
	const float *restrict target = tile->own[orders->target];

	memset(tile->sum, 0, sizeof(tile->sum));
	memset(tile->weight, 0, sizeof(tile->weight));
	for (size_t p = 0; p < orders->phases; p++) {
		const float *restrict phase = frame_floats(in, orders->channel[p], y) + x;
		float ratio = orders->ratio[p], scale = orders->scale[p];
		float weight = orders->weight[p];
		float *restrict own = tile->own[p];

		CPU_SIMD
		for (size_t i = 0; i < n; i++)
			own[i] = unwrap2f_ordered(tile->absolute[i], ratio, phase[i]);
		if (!orders->fuse)
			continue;
		CPU_SIMD
		for (size_t i = 0; i < n; i++) {
			PX_F more = phase_mean_more(own[i], scale, tile->absolute[i]);
			bool there = !px_isnan(own[i]);

			tile->sum[i] += px_select(there, weight * more, 0.0f);
			tile->weight[i] += px_select(there, weight, 0.0f);
		}
	}
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F mean = phase_mean_of(tile->absolute[i], tile->sum[i], tile->weight[i], turn);

		tile->result[i] = px_select(orders->fuse, mean, target[i]);
	}
}

/* ---- standard deviations; the same arithmetic as in unwrap2f_sigma.comp ---- */

struct deviations {
	float base[UNWRAP_TILE];			/* the base's absolute phase */
	float off[UNWRAP_PHASES_MOST][UNWRAP_TILE];	/* of a phase from the base's line, turns */
	float certain[UNWRAP_PHASES_MOST][UNWRAP_TILE];	/* 1/sigma^2, 0 where it is missing */
	float norm[UNWRAP_TILE];
	float own_cost[UNWRAP_TILE], cost[UNWRAP_TILE];	/* chi squared of two orders */
	float rest[UNWRAP_TILE];			/* odds of all rivals */
	float sum[UNWRAP_TILE], weight[UNWRAP_TILE], variance[UNWRAP_TILE];
} __attribute__((aligned(64)));

static void
take_phase(struct deviations *restrict d, size_t p, const float *restrict phase,
    const float *restrict sigma, float ratio, size_t n)
{
	float *restrict off = d->off[p], *restrict certain = d->certain[p];

	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F v = d->base[i] * UNWRAP2F_TURN, turns = phase[i] * UNWRAP2F_TURN;
		PX_F known = unwrap2f_certain(phase[i], sigma[i]);
		bool there = known > 0.0f;

		off[i] = unwrap2f_mismatch(px_select(there, v, 0.0f), ratio,
		    px_select(there, turns, 0.0f));
		certain[i] = known;
		d->norm[i] = d->norm[i] + known * (ratio * ratio);
	}
}

/* Adds a phase's share to the mean, in radians of the base. */
static void
add_to_mean(struct deviations *restrict d, const float *restrict phase,
    const float *restrict certain, float ratio, float scale, float weight, bool by_sigma, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		bool there = certain[i] > 0.0f;
		PX_F own = unwrap2f_ordered(d->base[i], ratio, px_select(there, phase[i], 0.0f));
		PX_F more = phase_mean_more(own, scale, d->base[i]);
		PX_F share = by_sigma ? certain[i] * (ratio * ratio) : weight;
		PX_F part = share * more, spread = unwrap2f_spread(share, scale, certain[i]);

		d->sum[i] = d->sum[i] + px_select(there, part, 0.0f);
		d->weight[i] = d->weight[i] + px_select(there, share, 0.0f);
		d->variance[i] = d->variance[i] + px_select(there, spread, 0.0f);
	}
}

static void
write_mean(const struct deviations *restrict d, float ratio, bool by_sigma,
    float *restrict absolute, float *restrict sigma, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		bool there = px_both(d->weight[i] > 0.0f, !px_isnan(absolute[i]));
		PX_F weight = px_select(there, d->weight[i], 1.0f);
		PX_F mean = phase_mean_of(d->base[i], d->sum[i], weight, ratio);
		PX_F deviation = px_divide(px_sqrt(d->variance[i]), weight) * ratio;

		absolute[i] = px_select(px_both(there, by_sigma), mean, absolute[i]);
		sigma[i] = px_select(there, deviation, PX_NAN);
	}
}

/* Chi squared of the orders that are so many turns further than the found ones. */
static void
compute_costs(struct deviations *restrict d, const struct phase_orders *orders, size_t phases,
    float further, float *restrict cost, size_t n)
{
	float square[UNWRAP_TILE] = { 0 }, shift[UNWRAP_TILE] = { 0 };

	for (size_t p = 0; p < phases; p++) {
		const float *restrict off = d->off[p], *restrict certain = d->certain[p];
		float ratio = orders->ratio[p];

		CPU_SIMD
		for (size_t i = 0; i < n; i++) {
			PX_F e = unwrap2f_rival(off[i], ratio, further);
			PX_F weighed = e * certain[i];

			square[i] = square[i] + weighed * e;
			shift[i] = shift[i] + weighed * ratio;
		}
	}
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		cost[i] = unwrap2f_chi(square[i], shift[i], d->norm[i]);
}

/* The probability that the order is wrong: the odds of all rivals, and where all phases repeat
 * within the field, of the same line a seam further. */
static void
write_p(const struct unwrap_sigma *sigma, const struct phase_orders *orders,
    struct deviations *restrict d, const float *restrict absolute, float *restrict to, size_t n)
{
	const struct unwrap_sigma s = *sigma;
	const float *restrict certain = d->certain[0];

	compute_costs(d, orders, s.phases, 0, d->own_cost, n);
	for (size_t k = 0; k < s.rivals; k++) {
		float further = s.rival[k];

		compute_costs(d, orders, s.phases, further, d->cost, n);
		CPU_SIMD
		for (size_t i = 0; i < n; i++) {
			PX_F v = d->base[i] * UNWRAP2F_TURN;

			d->rest[i] = d->rest[i] + unwrap2f_odds(d->cost[i], d->own_cost[i],
			    v + further, s.lo, s.hi);
		}
	}
	if (s.seam > 0) {
		CPU_SIMD
		for (size_t i = 0; i < n; i++) {
			PX_F v = d->base[i] * UNWRAP2F_TURN;

			d->rest[i] = d->rest[i] + unwrap2f_again(v, s.seam, certain[i], s.first,
			    s.last);
		}
	}
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		to[i] = px_select(px_isnan(absolute[i]) | px_isnan(d->base[i]), PX_NAN,
		    unwrap2f_p(d->rest[i]));
}

static void
unwrap_sigma_tile(const struct unwrap_sigma *sigma, const struct phase_orders *orders,
    const struct frame *in, struct frame *out, size_t y, size_t x, size_t n,
    struct deviations *restrict d)
{
	float *restrict absolute = frame_floats(out, 0, y) + x;
	float *restrict to = frame_floats(out, sigma->sigma, y) + x;
	const float *restrict base = frame_floats(in, orders->channel[0], y) + x;
	const float *restrict own = frame_floats(in, sigma->channel[orders->target], y) + x;
	float per_turn = orders->scale[orders->target];
	bool by_sigma = sigma->mean == MEAN_SIGMAS;

	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		d->base[i] = unwrap2f_base(absolute[i], per_turn, base[i]);
		d->norm[i] = d->sum[i] = d->weight[i] = d->variance[i] = d->rest[i] = 0;
	}
	for (size_t p = 0; p < sigma->phases; p++)
		take_phase(d, p, frame_floats(in, orders->channel[p], y) + x,
		    frame_floats(in, sigma->channel[p], y) + x, orders->ratio[p], n);
	if (sigma->mean == MEAN_NONE) {
		CPU_SIMD
		for (size_t i = 0; i < n; i++)
			to[i] = px_select(px_isnan(absolute[i]), PX_NAN, own[i]);
	} else {
		for (size_t p = 0; p < sigma->phases; p++)
			add_to_mean(d, frame_floats(in, orders->channel[p], y) + x, d->certain[p],
			    orders->ratio[p], orders->scale[p], orders->weight[p], by_sigma, n);
		write_mean(d, orders->ratio[orders->target], by_sigma, absolute, to, n);
	}
	if (sigma->p_order != NO_CHANNEL)
		write_p(sigma, orders, d, absolute, frame_floats(out, sigma->p_order, y) + x, n);
}

/* Row y of the output's sigma and p_order. absphase is complete; with MEAN_SIGMAS it becomes the
 * mean weighted by the sigmas. */
static void
unwrap_sigma_row(const struct unwrap_sigma *sigma, const struct phase_orders *orders,
    const struct frame *in, struct frame *out, size_t y)
{
	struct deviations d;

	for (size_t x = 0, w = in->head.w; x < w; x += UNWRAP_TILE)
		unwrap_sigma_tile(sigma, orders, in, out, y, x,
		    w - x < UNWRAP_TILE ? w - x : UNWRAP_TILE, &d);
}

/*
 * ---- rows ----
 *
 * Why a pixel is NaN. absphase and residual, together:
 * - a phase of the sequence is missing, or the Gray code's index, or with --coarse spatial the
 *   pixel has no component (start_sequence(), next_step());
 * - of best orders any phase is missing, with --method best, or where there is no sequence to fall
 *   back on (order_search_end());
 * - the best order lies more than a quarter turn outside the field (unwrap2f_left());
 * - the residual is larger than --max-residual (limit_tile(), order_table_direct(),
 *   unwrap_by_beat()).
 * absphase alone, and its like of --all: that phase is missing (phase_orders_tile()).
 * sigma: absphase is NaN, or the phase has no sigma (write_mean(), unwrap_sigma_tile()); p_order:
 * absphase is NaN, or the phase of the shortest period is missing (write_p()); label: absphase is
 * NaN (label_row()).
 */

static void
limit_tile(struct unwrap_tile *restrict tile, size_t n, bool search, float most)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		float residual = tile->residual[i];

		residual = px_select(search & (residual > LEFT_MOST), LEFT_MOST, residual);
		tile->residual[i] = residual;
		tile->bad[i] |= (uint)!(px_abs(residual) <= most);
	}
}

static void
store(const uint *restrict bad, size_t n, const float *restrict from, float *restrict to)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		to[i] = px_select((bad[i] != 0) | px_isnan(from[i]), PX_NAN, from[i]);
}

static void
store_tile(const struct unwrap2f *unwrap, const struct unwrap_tile *tile, struct frame *out,
    size_t y, size_t x, size_t n)
{
	const struct phase_orders *orders = &unwrap->orders;

	store(tile->bad, n, orders->wanted ? tile->result : tile->absolute,
	    frame_floats(out, 0, y) + x);
	store(tile->bad, n, tile->residual, frame_floats(out, 1, y) + x);
	for (size_t p = 0; orders->all && p < orders->phases; p++)
		store(tile->bad, n, tile->own[p], frame_floats(out, orders->own[p], y) + x);
}

/* The usual sequence: from the beat of two phases to one of the phases. */
static bool
is_by_beat(const struct unwrap_steps *steps)
{
	return steps->start == START_FIELD && steps->n == 2 && steps->step[0].n == 2 &&
	    steps->step[1].n == 1 && steps->step[1].weight[0] == 1;
}

/* The positions, in turns, between which unwrap2f_seam() changes nothing: the order that it
 * compares lies more than an eighth outside the field, and four times that counts more than a rest
 * of half a turn. */
static void
between_seams(const struct unwrap_step *step, float *lo, float *hi)
{
	*lo = px_max(step->lo, step->hi - step->span + 1.15f);
	*hi = px_min(step->hi, step->lo + step->span - 1.15f);
}

/* The whole sequence and its result in one loop. A missing phase is NaN down to `rest`, which then
 * is not within the limit. True where all pixels lie between the seams; without `seam` the others
 * may be wrong. */
static inline __attribute__((always_inline)) bool
unwrap_by_beat(const struct unwrap_steps *steps, const float *restrict a, const float *restrict b,
    const float *restrict phase, size_t n, bool seam, float most, float *restrict absolute,
    float *restrict residual)
{
	const struct unwrap_step *beat = &steps->step[0], *step = &steps->step[1];
	float weight_a = beat->weight[0], weight_b = beat->weight[1], first = beat->lo;
	float ratio = step->ratio, lo = step->lo, hi = step->hi, span = step->span;
	float inner_lo, inner_hi;
	uint outside = 0;

	between_seams(step, &inner_lo, &inner_hi);
	_Pragma("omp simd reduction(|:outside)")
	for (size_t i = 0; i < n; i++) {
		PX_F phi = weight_a * a[i] + weight_b * b[i];
		PX_F coarse = unwrap2f_absolute(phi, unwrap2f_turns_above(phi, first));
		PX_F estimate = unwrap2f_order_estimate(coarse, ratio, phase[i]);
		PX_F turns = phase[i] * UNWRAP2F_TURN, k = px_round(estimate);
		PX_F rest = estimate - k, v = k + turns;
		bool good;

		outside |= (uint)((v < inner_lo) | (v > inner_hi));
		if (seam) {	/* unwrap2f_seam, whose order and rest are known already */
			PX_F other = estimate + unwrap2f_other_end(v, lo, hi, span);
			PX_F other_k = px_round(other);
			PX_F other_rest = other - other_k;
			bool better = unwrap2f_against(other_rest, other_k + turns, lo, hi) <
			    unwrap2f_against(rest, v, lo, hi);

			k = px_select(better, other_k, k);
			rest = px_select(better, other_rest, rest);
		}
		good = px_abs(rest) <= most;
		absolute[i] = px_select(good, unwrap2f_absolute(phase[i], k), PX_NAN);
		residual[i] = px_select(good, rest, PX_NAN);
	}
	return outside == 0;
}

struct beat_rows {
	const float *a, *b, *phase;
	float *absolute, *residual;
};

/* n pixels from x on. True if all of them lie between the seams. */
static inline __attribute__((always_inline)) bool
unwrap_piece(const struct unwrap2f *unwrap, const struct beat_rows *rows, size_t x, size_t n,
    bool seam)
{
	return unwrap_by_beat(&unwrap->steps, rows->a + x, rows->b + x, rows->phase + x, n, seam,
	    unwrap->max_residual, rows->absolute + x, rows->residual + x);
}

/* Row y of the usual sequence: at once, or in tiles that lie between the seams or not. *inside: the
 * last row lay between the seams, so that this one is likely to; on return, whether it does. */
static void
beat_row(const struct unwrap2f *unwrap, const struct frame *in, struct frame *out, size_t y,
    bool *inside)
{
	const struct unwrap_steps *steps = &unwrap->steps;
	const struct unwrap_step *beat = &steps->step[0];
	struct beat_rows rows = { frame_floats(in, beat->channel[0], y),
		frame_floats(in, beat->channel[1], y),
		frame_floats(in, steps->step[1].channel[0], y), frame_floats(out, 0, y),
		frame_floats(out, 1, y) };
	bool tile_inside = true;

	if (*inside && unwrap_piece(unwrap, &rows, 0, in->head.w, false))
		return;
	*inside = true;
	for (size_t x = 0, w = in->head.w; x < w; x += UNWRAP_TILE) {
		size_t n = w - x < UNWRAP_TILE ? w - x : UNWRAP_TILE;

		if (tile_inside)
			tile_inside = unwrap_piece(unwrap, &rows, x, n, false);
		if (!tile_inside)
			tile_inside = unwrap_piece(unwrap, &rows, x, n, true);
		*inside &= tile_inside;
	}
}

/* Stores a tile that needs no more than the table; false: it needs more. */
static bool
store_direct(const struct unwrap2f *unwrap, const struct frame *in, struct frame *out, size_t y,
    size_t x, size_t n)
{
	struct phase_rows rows;

	if (unwrap->method != METHOD_BEST || !unwrap->search.table || unwrap->orders.wanted)
		return false;
	rows = order_search_rows(&unwrap->search, in, y, x);
	return order_table_direct(&unwrap->search, &rows, n, unwrap->max_residual,
	    frame_floats(out, 0, y) + x, frame_floats(out, 1, y) + x);
}

static void
tiled_row(const struct unwrap2f *unwrap, const struct frame *in, struct frame *out, size_t y)
{
	bool search = unwrap->method == METHOD_BEST, direct = true, ordered;
	struct unwrap_tile tile;

	for (size_t x = 0, w = in->head.w; x < w; x += UNWRAP_TILE) {
		size_t n = w - x < UNWRAP_TILE ? w - x : UNWRAP_TILE;

		if (direct && store_direct(unwrap, in, out, y, x, n))
			continue;
		memset(tile.bad, 0, sizeof(tile.bad));
		ordered = unwrap->steps.n > 0;
		if (search)
			ordered &= order_search_begin(&unwrap->search, in, y, x, n, &tile);
		if (ordered)
			unwrap_by_sequence(&unwrap->steps, in, y, x, n, &tile);
		if (search)
			order_search_end(&unwrap->search, in, y, x, n, ordered, &tile);
		limit_tile(&tile, n, search, unwrap->max_residual);
		if (unwrap->orders.wanted)
			phase_orders_tile(&unwrap->orders, in, y, x, n, &tile);
		store_tile(unwrap, &tile, out, y, x, n);
		direct = search && tile.by_table && tile.sure;	/* so the next may be */
	}
}

/* ---- a Gray code without a phase: the middle of the cell, or between the edges next to it ---- */

/* A line of pixels along the code's axis, and which pixel of it is at hand. */
struct cell_line {
	const struct frame *in;
	bool along_y;
	size_t x, y;
};

static inline float
line_sample(const struct cell_line *line, size_t c, long k)
{
	return line->along_y ? frame_floats(line->in, c, (size_t)k)[line->x] :
	    frame_floats(line->in, c, line->y)[k];
}

/* The next edge whose value is not `other`, from k = from on. A step of the surface, over which no
 * plane crosses its inverse once, and a missing pixel end the search. */
static struct unwrap2f_edge_at
find_edge(const struct gray_cells *cells, const struct cell_line *line, long from, long step,
    float other)
{
	const struct frame_head *head = &line->in->head;
	long here = (long)(line->along_y ? line->y : line->x);
	long n = (long)(line->along_y ? head->h : head->w);

	for (long k = from; k >= 0 && k + 1 < n && labs(k - here) < UNWRAP2F_REACH; k += step) {
		float v = line_sample(line, cells->index, k);
		float w = line_sample(line, cells->index, k + 1);
		float edge = line_sample(line, cells->edge, k), value = unwrap2f_edge(v, w);
		PX_F at = (float)(k - here) + edge;

		if (px_isnan(v) || px_isnan(w) || (px_isnan(edge) && v != w))
			break;
		if (!px_isnan(edge) && value != other)
			return (struct unwrap2f_edge_at){ true, (int)k, at, value,
				line_sample(line, cells->edge_sigma, k), v, w };
	}
	return (struct unwrap2f_edge_at){ .value = PX_NAN };
}

static struct unwrap2f_place
between_edges(const struct gray_cells *cells, const struct cell_line *line)
{
	long here = (long)(line->along_y ? line->y : line->x);
	struct unwrap2f_edge_at a = find_edge(cells, line, here - 1, -1, PX_NAN);
	struct unwrap2f_edge_at b = find_edge(cells, line, here, 1, a.value);
	struct unwrap2f_edge_at before = { .found = false }, behind = before;

	if (a.found)
		before = find_edge(cells, line, a.k - 1, -1, a.value);
	if (b.found)
		behind = find_edge(cells, line, b.k + 1, 1, b.value);
	return unwrap2f_place_between(before, a, b, behind);
}

static void
cells_row(const struct gray_cells *cells, const struct frame *in, struct frame *out, size_t y)
{
	const float *index = frame_floats(in, cells->index, y);
	float *to = frame_floats(out, 0, y), *sigma_to = frame_floats(out, 1, y);

	for (size_t x = 0; x < in->head.w; x++) {
		struct cell_line line = { in, cells->along_y, x, y };
		float in_cell = 0.5f, sigma = UNWRAP2F_CELL_SIGMA, absolute;

		if (cells->edge != NO_CHANNEL && !px_isnan(index[x])) {
			struct unwrap2f_place place = between_edges(cells, &line);

			if (place.found && unwrap2f_meets(place.code - index[x])) {
				in_cell = place.code - index[x];
				sigma = place.sigma;
			}
		}
		absolute = unwrap2f_in_cell(index[x], in_cell, cells->offset, cells->most);
		to[x] = px_select(px_isnan(absolute), PX_NAN, absolute);
		sigma_to[x] = px_select(px_isnan(absolute), PX_NAN, sigma);
	}
}

static void
unwrap2f_compute(const struct run *run, const struct frame *in, struct frame *out, size_t y0,
    size_t y1, const struct row_scratch *)
{
	const struct unwrap2f *unwrap = run->priv;
	bool by_beat = unwrap->method != METHOD_BEST && !unwrap->orders.wanted &&
	    is_by_beat(&unwrap->steps), inside = true;

	for (size_t y = y0; y < y1; y++) {
		if (unwrap->cells.on)
			cells_row(&unwrap->cells, in, out, y);
		else if (by_beat)
			beat_row(unwrap, in, out, y, &inside);
		else
			tiled_row(unwrap, in, out, y);
		if (unwrap->sigma.phases)
			unwrap_sigma_row(&unwrap->sigma, &unwrap->orders, in, out, y);
		if (unwrap->spatial.on)
			label_row(&unwrap->spatial, frame_floats(out, 0, y), y, in->head.w,
			    frame_floats(out, unwrap->made - 1, y));
	}
}

const struct unwrap2f_rows AT_LEVEL(unwrap2f_rows) = {
	.compute = unwrap2f_compute,
	.spatial_sum = spatial_sum,
	.spatial_place = spatial_place,
	.cut_patches = patches_cut_row,
	.beat_load = beat_load,
	.beat_turn = beat_turn,
	.beat_middle = beat_middle,
	.chance_cost = chance_cost,
};
