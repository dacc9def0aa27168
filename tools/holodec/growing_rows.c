/*
 * Pixels beside jumps and at the boundary, where a lossy format mixes two surfaces, or a surface
 * and the background: regions that are smooth are grown into them. A pixel whose phase is that of
 * the surface beside it, carried on by a straight line, takes its order from there, without asking
 * the stairs again; where neighbours do not agree, these and the pixel's own stair decide by odds.
 * Then how certain each order is, and which pixels look like filled holes or run-out background.
 */
#include "holodec.h"

#include <limits.h>

#include "base/numbers.h"
#include "holodec.px.h"

/* ---- pixels, and the levels that a surface gives them ---- */

#define STRICT_ROUNDS 4	/* rounds in which three neighbours must agree; then odds decide */
#define CERTAINTY_LEAST 0.43f	/* what is less certain is dropped in any picture */
#define JOB_PIXELS 256	/* that a thread takes at a time */
#define REACH 2	/* pixels around a pixel that must be smooth, none of them background */

/* Of a pixel: trusted from the beginning, or since a round of growing, TRUSTED + round. */
enum { WAITING, TRUSTED, BACKGROUND = 255 };

/* The index of the pixel so far off; -1 outside of the picture. */
static inline ptrdiff_t
growing_beside(const struct growing *growing, const struct pixel *pixel, int dx, int dy)
{
	ptrdiff_t x = pixel->x + dx, y = pixel->y + dy;
	ptrdiff_t w = (ptrdiff_t)growing->regions->w, h = (ptrdiff_t)growing->regions->h;

	return x < 0 || y < 0 || x >= w || y >= h ? -1 : y * w + x;
}

static inline bool
growing_is_trusted(const struct growing *growing, ptrdiff_t at)
{
	return at >= 0 && growing->state[at] >= TRUSTED && growing->state[at] != BACKGROUND;
}

/* The levels that a pixel has if its neighbours' surface runs on through it. */
struct levels {
	float sine, cosine, stair;
	float luma;	/* what JPEG codes at full resolution; of the layout yuv the stair */
};

/* The median of n turns, which are sorted; NaN of none. */
static float
expected_median(float *turns, size_t n)
{
	if (!n)
		return PX_NAN;
	qsort(turns, n, sizeof(*turns), numbers_compare);
	return 0.5f * (turns[(n - 1) / 2] + turns[n / 2]);
}

static struct levels
expected_levels(const struct reading *reading, float turns)
{
	float order = px_floor(turns), rest = turns - order;
	struct levels levels = {
		.sine = holo_sine_level(rest),
		.cosine = holo_cosine_level(rest),
		.stair = reading->stair[(int)(rest * HOLO_PROFILE)] + reading->code.height * order,
	};

	levels.luma = reading->rgb ? holodec_luma(levels.sine, levels.cosine, levels.stair)
				   : levels.stair;
	return levels;
}

/* ---- pixels so dark that they may be background, which a lossy format mixes in ---- */

/* R + G of a surface are 74.7 and more, its luma (R, G and B being coded so) 29 and more: what is
 * darker is mixed with background. Luma has the full resolution; where it is that of the stairs
 * alone, R + G must do, and beside background be no less than that of the darkest phase. */
#define DARK_BOTH 64.0f
#define DARK_BOTH_BESIDE 76.0f
#define DARK_LUMA 34.0f
#define DARKEST_LUMA 27.0f
/* Beside background: where R + G is low, too; and the share of the brightest neighbour's luma,
 * which is as far as JPEG carries it. */
#define LOW_BOTH 70.0f
#define LOW_LUMA 43.0f
#define CARRIED_SHARE 0.34f

/* A sample of the pixel, as a level. */
static float
dark_sample(const struct frame *frame, size_t channel, const struct pixel *pixel)
{
	const void *row = frame_row(frame, channel, (size_t)pixel->y);

	if (frame->head.type == SAMPLE_UCHAR)
		return (float)((const unsigned char *)row)[pixel->x];
	return holodec_level(((const float *)row)[pixel->x]);
}

/* The same of growing->in; c: 0 sine, 1 cosine, 2 stair. */
static float
dark_level(const struct growing *growing, size_t c, const struct pixel *pixel)
{
	return dark_sample(growing->in, growing->reading->channel[c], pixel);
}

/* What JPEG codes at full resolution: luma, in the layout yuv the stair. */
static float
dark_luma(const struct growing *growing, const struct pixel *pixel)
{
	float stair = dark_level(growing, 2, pixel);

	return growing->reading->rgb ? holodec_luma(dark_level(growing, 0, pixel),
					   dark_level(growing, 1, pixel), stair)
				     : stair;
}

/* Is one of the eight neighbours in this state? */
static bool
has_neighbour(const struct growing *growing, const struct pixel *pixel, int state)
{
	for (int way = 0; way < BITS_WAYS; way++) {
		ptrdiff_t at = growing_beside(growing, pixel, bits_way[way][0], bits_way[way][1]);

		if (at >= 0 && growing->state[at] == state)
			return true;
	}
	return false;
}

/* Is the pixel so dark that it may be background? Asks growing->state for background beside it. */
static bool
may_be_background(const struct growing *growing, const struct pixel *pixel)
{
	float both = dark_level(growing, 0, pixel) + dark_level(growing, 1, pixel), luma;
	float brightest = 0;	/* luma of the neighbours */

	if (growing->surface && growing->surface[pixel->at] == HALVED_DOUBTFUL)
		return true;
	if (!growing->reading->rgb)
		return both < DARK_BOTH ||
		    (both < DARK_BOTH_BESIDE && has_neighbour(growing, pixel, BACKGROUND));
	luma = dark_luma(growing, pixel);
	if (luma < DARKEST_LUMA || (luma < DARK_LUMA && both < DARK_BOTH))
		return true;
	if (luma >= CARRIED_SHARE * 255 || !has_neighbour(growing, pixel, BACKGROUND))
		return false;
	if (luma < DARK_LUMA || (both < LOW_BOTH && luma < LOW_LUMA))
		return true;
	for (int way = 0; way < BITS_WAYS; way++) {
		struct pixel near = { .x = pixel->x + bits_way[way][0],
			.y = pixel->y + bits_way[way][1] };

		if (growing_beside(growing, &near, 0, 0) >= 0)
			brightest = px_max(brightest, dark_luma(growing, &near));
	}
	return luma < CARRIED_SHARE * brightest;
}

/* Sets the marks of n pixels of row y that are darker than any surface. A background of one row or
 * column at the border has no black sample of its own in colour of half the resolution, so that it
 * looks as smooth as the surface. */
static void
note_dark(const struct growing *growing, size_t y, size_t x, size_t n,
    unsigned char *restrict mark)
{
	const struct reading *reading = growing->reading;
	const bool rgb = reading->rgb;
	float level[3][TILE];

	for (size_t c = 0; c < 3; c++)
		holodec_rows()->load_samples(growing->in, reading->channel[c], y, x, n, level[c]);
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		mark[x + i] |= rgb
		    ? holodec_luma(level[0][i], level[1][i], level[2][i]) < DARKEST_LUMA
		    : level[0][i] + level[1][i] < DARK_BOTH;
}

/*
 * ---- how coarsely JPEG has rounded luma ----
 *
 * JPEG cuts pictures into blocks of 8 x 8 pixels and rounds each
 * frequency of a block to multiples of a step. The step of the lowest frequency along rows, which
 * fringes have much of, can be read off the picture.
 */

#define BLOCK_SIDE 8		/* pixels of JPEG's blocks */
#define BLOCKS_APART (2 * BLOCK_SIDE)	/* every second row of blocks is looked at */
#define STEP_LEAST 3		/* levels: the rounding of samples hides finer steps */
#define STEP_MOST 40
#define STEP_75 6		/* that of quality 75 */
#define COARSER_MOST 6
#define ZERO_LEVELS 1.5f		/* levels: what is rounded to 0 is less */
#define SEEN_LEAST 20		/* frequencies above ZERO_LEVELS */
#define OFF_STEP_MOST 0.125f	/* steps that these are off multiples on average; 0.25 by chance */

/* cos((2 k + 1) pi / 16) / sqrt(32): the orthonormal transform of columns' sums. */
static const float frequency_weight[BLOCK_SIDE] = { 0.173379981f, 0.146984450f, 0.098211870f,
	0.034487422f, -0.034487422f, -0.098211870f, -0.146984450f, -0.173379981f };

struct luma_sums {
	float luma[TILE];	/* of columns */
	unsigned char cut[TILE];	/* a sample is at the end of its range */
};

static void
add_luma_row(const struct growing *growing, size_t y, size_t x, size_t n,
    struct luma_sums *restrict sums)
{
	const struct reading *reading = growing->reading;
	const float rgb[3] = { 0.299f, 0.587f, 0.114f };
	float level[TILE];

	for (int c = reading->rgb ? 0 : 2; c < 3; c++) {
		float share = reading->rgb ? rgb[c] : 1;

		holodec_rows()->load_samples(growing->stored, reading->channel[c], y, x, n,
		    level);
		CPU_SIMD
		for (size_t i = 0; i < n; i++) {
			sums->luma[i] += share * level[i];
			sums->cut[i] |= (level[i] <= 0) | (level[i] >= UCHAR_MAX);
		}
	}
}

/* The frequency of a block; 0 where samples are cut off, so that it is not what JPEG rounded. */
static float
frequency(const struct luma_sums *sums, size_t first)
{
	float sum = 0;

	for (size_t k = 0; k < BLOCK_SIDE; k++) {
		if (sums->cut[first + k])
			return 0;
		sum += frequency_weight[k] * sums->luma[first + k];
	}
	return px_abs(sum);
}

/* The frequencies of a row of blocks, the jth that is looked at. */
static void
transform_row(void *arg, size_t j)
{
	const struct growing *growing = arg;
	size_t w = growing->regions->w;
	float *out = growing->regions->certainty + j * (w / BLOCK_SIDE);

	for (size_t x = 0; x + BLOCK_SIDE <= w; x += TILE) {
		size_t n = w - x < TILE ? w - x : TILE;
		struct luma_sums sums = { 0 };

		for (size_t y = j * BLOCKS_APART; y < j * BLOCKS_APART + BLOCK_SIDE; y++)
			add_luma_row(growing, y, x, n, &sums);
		for (size_t i = 0; i + BLOCK_SIDE <= n; i += BLOCK_SIDE)
			*out++ = frequency(&sums, i);
	}
}

/*
 * Finds growing->coarser: by how many levels of an orthonormal transform that step is greater than
 * quality 75's, at most 6. At libjpeg's qualities of 50, 60, 75 and 85 the step is 11, 9, 6 and 3,
 * from 88 on it is too fine to be seen. 0 where no step is seen, as in what other formats have
 * coded or what was moved: of a step those frequencies that are not 0 are multiples. Overwrites
 * regions->certainty.
 */
static void
quantised_find(struct run *run, struct growing *growing)
{
	struct regions *regions = growing->regions;
	size_t rows = (regions->h + BLOCK_SIDE) / BLOCKS_APART;
	size_t n = rows * (regions->w / BLOCK_SIDE);
	const float *restrict value = regions->certainty;

	if (growing->stored->head.type != SAMPLE_UCHAR)
		return;
	run_for(run, rows, transform_row, growing);
	for (int step = STEP_MOST; step >= STEP_LEAST; step--) {
		float per_step = 1 / (float)step;
		int seen = 0, off = 0;

#pragma omp simd reduction(+ : seen, off)
		for (size_t i = 0; i < n; i++) {
			PX_F steps = value[i] * per_step, away = px_abs(steps - px_round(steps));
			bool is = value[i] > ZERO_LEVELS;

			seen += is;
			off += is ? (int)(away * VOTE_STEPS) : 0;
		}
		if (seen < SEEN_LEAST || (float)off >= OFF_STEP_MOST * VOTE_STEPS * (float)seen)
			continue;
		step -= STEP_75;
		growing->coarser = (float)(step < COARSER_MOST ? step : COARSER_MOST);
		return;
	}
}

/*
 * ---- what JPEG makes of the stairs beside a jump ----
 *
 * Luma has the full resolution, but the colour planes may have half of it (4:2:2, 4:2:0), so that
 * the level of blue that a pixel reads is a mean over blocks of pixels, some of them of another
 * surface. From the turns of all these follows the level that a right decoding would read.
 */

/* Blue's difference of colour, of R, G and B, and how much of it is in B (JFIF). */
#define BLUE_R (-0.168736f)
#define BLUE_G (-0.331264f)
#define BLUE_B 0.5f
#define B_OF_BLUE 1.772f

#define COLOUR_STEP 16		/* one row or column of 16 is looked at */
#define COLOUR_ROUNDING 4.0f	/* levels */
#define HALVED_ROUGH 0.6f	/* third differences above COLOUR_ROUNDING: from odd over even */

struct blue_sample {
	float blue;
	bool cut;	/* a channel is at the end of its range */
};

static struct blue_sample
sample_at(const struct growing *growing, size_t x, size_t y)
{
	const size_t *channel = growing->reading->channel;
	unsigned char v[3];
	bool cut = false;

	for (int c = 0; c < 3; c++) {
		v[c] = ((const unsigned char *)frame_row(growing->in, channel[c], y))[x];
		cut |= v[c] == 0 || v[c] == 255;
	}
	return (struct blue_sample){ BLUE_R * v[0] + BLUE_G * v[1] + BLUE_B * v[2], cut };
}

/* Samples doubled by weights of 3/4 and 1/4 have a third difference of rounding only, from an odd
 * pixel to the third one after it. */
static bool
is_doubled(const struct growing *growing, bool down)
{
	size_t w = growing->regions->w, h = growing->regions->h, rough[2] = { 0 };

	for (size_t line = 0; line < (down ? w : h); line += COLOUR_STEP) {
		float v[4] = { 0 };
		int whole = 0;		/* samples that are not cut, in a row */

		for (size_t i = 0; i < (down ? h : w); i++) {
			struct blue_sample sample = down ? sample_at(growing, line, i)
							 : sample_at(growing, i, line);

			for (int k = 0; k < 3; k++)
				v[k] = v[k + 1];
			v[3] = sample.blue;
			whole = sample.cut ? 0 : whole + 1;
			rough[~i % 2] += whole >= 4 &&
			    px_abs(v[3] - v[0] - 3 * (v[2] - v[1])) > COLOUR_ROUNDING;
		}
	}
	return (float)rough[1] < HALVED_ROUGH * (float)rough[0];
}

/* Blue's difference of colour that follows from the pixel's turns; 0 in the background. */
static float
blue_of(const struct growing *growing, size_t at)
{
	float turns = growing->turns[at], rest = growing->regions->rest[at];

	return px_isnan(turns) ? 0
			       : growing->blue[(int)(rest * HOLO_PROFILE)] +
		BLUE_B * growing->reading->code.height * px_round(turns - rest);
}

struct taps {
	size_t at[4];
	float weight[4];
	int n;
};

/* The pixels of a row or column of n that pixel i's colour is of: 3/4 of its own block of two and
 * 1/4 of the nearer other one. */
static struct taps
find_taps(size_t i, size_t n, bool halved)
{
	struct taps taps = { .at = { i }, .weight = { 1 }, .n = 1 };
	size_t own = i & ~(size_t)1, other = i & 1 ? own + 2 : own - 2;

	if (!halved)
		return taps;
	if (other >= n)		/* or before the first */
		other = own;
	for (int k = 0; k < 4; k++) {
		size_t at = (k < 2 ? own : other) + (size_t)(k & 1);

		taps.at[k] = at < n ? at : n - 1;
		taps.weight[k] = k < 2 ? 0.375f : 0.125f;
	}
	taps.n = 4;
	return taps;
}

/* The turns that a pixel's own stair reads, which have no whole order. */
static float
mixing_read(const struct growing *growing, const struct pixel *pixel)
{
	const struct reading *reading = growing->reading;
	float rest = growing->regions->rest[pixel->at];

	return rest + holodec_order(dark_level(growing, 2, pixel),
	    reading->stair[(int)(rest * HOLO_PROFILE)], 1 / reading->code.height);
}

/* By how many orders the pixel's stair is read above what its turns and those around would make of
 * it; growing->turns must hold them. */
static float
mixing_offset(const struct growing *growing, const struct pixel *pixel)
{
	size_t w = growing->regions->w, h = growing->regions->h;
	float off = pixel->read - growing->turns[pixel->at], mixed = 0;
	struct taps across, along;

	if (!growing->halved[0] && !growing->halved[1])
		return off;
	across = find_taps((size_t)pixel->x, w, growing->halved[0]);
	along = find_taps((size_t)pixel->y, h, growing->halved[1]);
	for (int j = 0; j < along.n; j++)
		for (int i = 0; i < across.n; i++)
			mixed += along.weight[j] * across.weight[i] *
			    blue_of(growing, along.at[j] * w + across.at[i]);
	mixed -= blue_of(growing, (size_t)pixel->at);
	return off - B_OF_BLUE * mixed / growing->reading->code.height;
}

/* ---- small regions beside jumps vote again, now that the orders around are known ---- */

#define SMALL_REGION 4096	/* pixels */
#define ASKED_LEAST 12	/* pixels that must tell */
#define SHIFT_LEAST 0.6	/* orders that the region must be off */

/* The root of a run's region, where that is small, else NULL. */
static struct run_of_pixels *
small_root(struct regions *regions, size_t run)
{
	struct run_of_pixels *root = &regions->run[regions->branch[run].parent];

	return root->members >= ASKED_LEAST && root->members < SMALL_REGION ? root : NULL;
}

/* Does the pixel have its region's order? */
static bool
has_voted(const struct regions *regions, size_t at)
{
	return regions->order[at] == (float)regions->lead[at];
}

/* Adds to the root of a small region how far the stairs of a run's pixels are off; pixels with
 * background within REACH, which darkens their stair, and those of another order tell nothing. */
static void
ask_run(struct growing *growing, size_t k, size_t y)
{
	struct regions *regions = growing->regions;
	struct run_of_pixels *root = small_root(regions, k);

	for (int32_t x = regions->run[k].first; root && x < regions->run[k].end; x++) {
		struct pixel pixel = { .x = x, .y = (int32_t)y,
			.at = (int32_t)(y * regions->w) + x };
		bool near_background = false;

		if (!has_voted(regions, (size_t)pixel.at))
			continue;
		for (int dy = -REACH; dy <= REACH && !near_background; dy++)
			for (int dx = -REACH; dx <= REACH && !near_background; dx++) {
				ptrdiff_t at = growing_beside(growing, &pixel, dx, dy);

				near_background = at >= 0 && px_isnan(growing->turns[at]);
			}
		if (near_background)
			continue;
		pixel.read = mixing_read(growing, &pixel);
		root->sum += (int64_t)px_round(mixing_offset(growing, &pixel) * VOTE_STEPS);
		root->order++;
	}
}

static void
move_run(struct growing *growing, size_t k, size_t y)
{
	struct regions *regions = growing->regions;
	const struct run_of_pixels *root = small_root(regions, k);
	float most = growing->reading->code.order_most, shift = 0;

	if (root && root->order >= ASKED_LEAST) {
		double off = (double)root->sum / VOTE_STEPS / root->order;

		shift = fabs(off) < SHIFT_LEAST ? 0 : (float)lround(off);
	}
	for (int32_t x = regions->run[k].first; shift != 0 && x < regions->run[k].end; x++) {
		size_t at = y * regions->w + (size_t)x;
		float order = regions->order[at] + shift;

		if (!has_voted(regions, at) || order < 0 || order > most)
			continue;
		regions->order[at] = order;
		growing->turns[at] = order + regions->rest[at];
	}
}

/*
 * Moves regions->order and growing->turns of small regions by whole orders. In a picture whose
 * colour has half the resolution, the stairs of a small region are mixed with those beyond its
 * jumps, and so are the medians that it voted by.
 */
static void
revote(struct growing *growing)
{
	struct regions *regions = growing->regions;

	for (size_t i = 0; i < regions->blocks; i++)
		for (size_t k = regions->block[i].runs.first; k < regions->block[i].runs.end; k++) {
			struct run_of_pixels *root = small_root(regions, k);

			if (root)
				root->sum = root->order = 0;
		}
	for (size_t y = 0; y < regions->h; y++)
		for (size_t k = regions->row[y].first; k < regions->row[y].end; k++)
			ask_run(growing, k, y);
	for (size_t y = 0; y < regions->h; y++)
		for (size_t k = regions->row[y].first; k < regions->row[y].end; k++)
			move_run(growing, k, y);
}

/* ---- where a picture is smooth: no jump and no background near by ---- */

#define SMOOTH_STEP 0.2f	/* turns from pixel to pixel; more is no smooth surface */

/* Of each pixel: is it, or one of its neighbours, not smooth? */
static unsigned char *
rough_of(const struct regions *regions)
{
	return regions->state + regions->w * regions->h;
}

static void
turns_block(void *arg, size_t i)
{
	const struct regions *regions = arg;
	size_t first = regions->block[i].y0 * regions->w, end = regions->block[i].y1 * regions->w;
	const float *restrict order = regions->order, *restrict rest = regions->rest;
	float *restrict turns = regions->turns;

	CPU_SIMD
	for (size_t k = first; k < end; k++)
		turns[k] = order[k] + rest[k];
}

/* 1 where a pixel is background or jumps against one of a row of others. */
static void
note_jumps(const float *restrict here, const float *restrict there, unsigned char *restrict rough,
    size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		rough[x] |= !(px_abs(there[x] - here[x]) <= SMOOTH_STEP);
}

static void
jumps_block(void *arg, size_t i)
{
	const struct growing *growing = arg;
	const struct regions *regions = growing->regions;
	const struct region_block *block = &regions->block[i];
	size_t w = regions->w, h = regions->h;

	for (size_t y = block->y0; y < block->y1; y++) {
		const float *here = regions->turns + y * w;
		unsigned char *rough = rough_of(regions) + y * w;

		memset(rough, 0, w);
		note_jumps(here, here, rough, w);	/* the background itself */
		for (size_t x = 0; growing->surface && x < w; x++)
			rough[x] |= growing->surface[y * w + x] == HALVED_DOUBTFUL;
		/* all of the rows within REACH of the picture's border, and the ends of others */
		for (size_t x = 0; x < w; x += TILE)
			if (y < REACH || y + REACH >= h || w <= 2 * REACH)
				note_dark(growing, y, x, w - x < TILE ? w - x : TILE, rough);
		if (w > 2 * REACH) {
			note_dark(growing, y, 0, REACH, rough);
			note_dark(growing, y, w - REACH, REACH, rough);
		}
		for (size_t v = y ? y - 1 : 0; v <= y + 1 && v < h; v++) {
			const float *row = regions->turns + v * w;

			note_jumps(here, row, rough, w);
			note_jumps(here + 1, row, rough + 1, w - 1);
			note_jumps(here, row + 1, rough, w - 1);
		}
	}
}

/* Pixels are trusted where all around them is smooth. */
static void
trust_block(void *arg, size_t i)
{
	const struct regions *regions = arg;
	size_t w = regions->w, h = regions->h;

	for (size_t y = regions->block[i].y0; y < regions->block[i].y1; y++) {
		size_t v0 = y < REACH ? 0 : y - REACH, v1 = y + REACH < h ? y + REACH : h - 1;
		const float *restrict turns = regions->turns + y * w;
		unsigned char *restrict state = regions->state + y * w;
		unsigned char *restrict down = regions->class + y / BLOCK_ROWS * w;

		memset(down, 0, w);
		memset(state, 0, w);
		for (size_t v = v0; v <= v1; v++) {
			const unsigned char *restrict rough = rough_of(regions) + v * w;

			CPU_SIMD
			for (size_t x = 0; x < w; x++)
				down[x] |= rough[x];
		}
		for (size_t k = 0; k <= REACH && k < w; k++) {
			CPU_SIMD
			for (size_t x = k; x < w; x++) {
				state[x] |= down[x - k];
				state[x - k] |= down[x];
			}
		}
		CPU_SIMD
		for (size_t x = 0; x < w; x++)
			state[x] = px_isnan(turns[x]) ? BACKGROUND : state[x] ? WAITING : TRUSTED;
	}
}

/* Computes regions->turns, NaN in the background, and regions->state from rests and orders; how
 * many pixels wait. */
static size_t
growing_begin(struct run *run, struct growing *growing)
{
	struct regions *regions = growing->regions;
	const unsigned char *restrict state = growing->state;
	bool coloured = growing->reading->rgb && growing->in->head.type == SAMPLE_UCHAR;
	int waiting;

	quantised_find(run, growing);
	run_for(run, regions->blocks, turns_block, regions);
	for (int i = 0; i <= HOLO_PROFILE; i++) {
		float rest = (float)i / HOLO_PROFILE;

		growing->blue[i] = BLUE_R * holo_sine_level(rest) +
		    BLUE_G * holo_cosine_level(rest) + BLUE_B * growing->reading->stair[i];
	}
	growing->halved[0] = coloured && is_doubled(growing, false);
	growing->halved[1] = coloured && is_doubled(growing, true);
	revote(growing);
	run_for(run, regions->blocks, jumps_block, growing);
	run_for(run, regions->blocks, trust_block, regions);
	waiting = 0;
#pragma omp simd reduction(+ : waiting)
	for (size_t i = 0; i < regions->w * regions->h; i++)
		waiting += state[i] == WAITING;
	return (size_t)waiting;
}

/*
 * ---- odds ----
 *
 * Pixels whose neighbours do not agree, or are too few: the order that these and the pixel's own
 * stair make most likely.
 */

#define STEEPEST 0.6f	/* turns from pixel to pixel; more is a jump */
/* Turns that a surface carried on by a straight line is off: of a flat one, and for each turn of
 * its slope. UNKNOWN_SLOPE is the slope of a neighbour with nothing trusted beyond it. */
#define FLAT_OFF 0.05f
#define PER_SLOPE 0.6f
#define UNKNOWN_SLOPE 0.35f
#define FAR_ODDS 3.9f	/* log of odds: nothing speaks more against an order */
#define CANDIDATES 5	/* orders around the one that the neighbours have on average */
#define NOISE_MORE 1.4f	/* factor: stairs of the remaining pixels are off by more */
#define NOISE_LEAST 0.15f
#define OFFSET_BINS 128	/* of offsets, for their median */
#define BINS_PER_ORDER 32
#define NORMAL 1.4826f	/* standard deviation over the median of what is off */

/* How far stairs of pixels that neighbours have agreed on are off: growing->noise, in orders. */
static void
weigh_noise(struct growing *growing)
{
	size_t n[OFFSET_BINS] = { 0 }, all = 0, sum = 0, bin = 0;

	for (size_t i = 0; i < growing->n; i++) {
		const struct pixel *pixel = &growing->pixel[i];
		float off = px_abs(pixel->read - pixel->turns) * BINS_PER_ORDER;

		if (!pixel->round)
			continue;
		n[off < OFFSET_BINS - 1 ? (int)off : OFFSET_BINS - 1]++;
		all++;
	}
	while (bin < OFFSET_BINS - 1 && 2 * (sum += n[bin]) < all)
		bin++;
	growing->noise = px_max(NORMAL * ((float)bin + 0.5f) / BINS_PER_ORDER, NOISE_LEAST);
}

struct carried {
	float turns, per_slack;
};

/* The turns of trusted neighbours, each carried on to the pixel; returns their number. */
static int
carry(const struct growing *growing, const struct pixel *pixel, struct carried carried[BITS_WAYS])
{
	const float *turns = growing->turns;
	int n = 0;

	for (int way = 0; way < BITS_WAYS; way++) {
		int dx = bits_way[way][0], dy = bits_way[way][1];
		ptrdiff_t near = growing_beside(growing, pixel, dx, dy), far;
		float step, slope = UNKNOWN_SLOPE;

		if (!growing_is_trusted(growing, near))
			continue;
		carried[n].turns = turns[near];
		far = growing_beside(growing, pixel, 2 * dx, 2 * dy);
		if (growing_is_trusted(growing, far)) {
			step = turns[near] - turns[far];
			slope = px_min(px_abs(step), STEEPEST);
			carried[n].turns += slope < STEEPEST ? step : 0;
		}
		carried[n++].per_slack = 1 / (FLAT_OFF + PER_SLOPE * slope);
	}
	return n;
}

/* The most likely turns of a pixel that has trusted neighbours, and their margin, by the log of
 * their odds. Neighbours are off together, so that n of them count for less. */
static void
weigh(const struct growing *growing, struct pixel *pixel)
{
	float rest = growing->regions->rest[pixel->at], middle = 0, best = -1e6f, next = -1e6f;
	struct carried carried[BITS_WAYS];
	int n = carry(growing, pixel, carried);

	if (n == 0)
		return;
	for (int i = 0; i < n; i++)
		middle += carried[i].turns;
	middle = rest + px_round(middle / (float)n - rest) - CANDIDATES / 2;
	for (int k = 0; k < CANDIDATES; k++) {
		float turns = middle + (float)k, against = 0, odds;
		float off = (pixel->read - turns) / (NOISE_MORE * growing->noise);

		for (int i = 0; i < n; i++)
			against += px_min(
			    px_abs(turns - carried[i].turns) * carried[i].per_slack, FAR_ODDS);
		odds = -against / px_sqrt((float)n) - px_min(0.5f * off * off, FAR_ODDS);
		if (odds > best)
			pixel->turns = turns;
		next = px_max(next, px_min(odds, best));
		best = px_max(best, odds);
	}
	pixel->margin = best - next;
}

/* ---- rounds of growing ---- */

#define GROW_ROUNDS 12
#define PHASE_OFF 0.1f	/* turns that a pixel's phase may be off its neighbour's surface */
#define ASK_TOGETHER 0.3f	/* turns; neighbours that are farther apart do not agree */
#define CLEAR_OFF 0.25f	/* orders that clear stairs are off at most */
#define CLEAR_STEP 8	/* one column of 8 is looked at */

/* Margins of the pixels that odds decide, by rounds; the surest first. */
#define MARGINS 4
static const float margins[MARGINS] = { 6, 4, 3, 2.1f };

/* Fills growing->pixel, but with pixels whose own stairs tell their order, if nearly all of the
 * trusted ones' do, in some columns. Finds growing->misread, whose sum is the same in every order
 * of rows. */
static void
list_waiting(struct growing *growing)
{
	size_t w = growing->regions->w, all = w * growing->regions->h, trusted = 0, unclear = 0;
	const unsigned char *next = growing->state, *end = growing->state + all;
	uint64_t sum = 0;

	for (size_t y = 0; y < growing->regions->h; y++)
		for (size_t x = 0; x < w; x += CLEAR_STEP) {
			struct pixel pixel = { .at = (int32_t)(y * w + x),
				.x = (int32_t)x, .y = (int32_t)y };
			float off;

			if (growing->state[pixel.at] != TRUSTED)
				continue;
			off = px_abs(mixing_read(growing, &pixel) - growing->turns[pixel.at]);
			trusted++;
			unclear += !(off <= CLEAR_OFF);
			sum += (uint64_t)px_round(px_min(off, 1) * VOTE_STEPS);
		}
	growing->misread = trusted ? (float)sum / (float)(VOTE_STEPS * trusted) : 0;
	while ((next = memchr(next, WAITING, (size_t)(end - next))) != NULL) {
		struct pixel *pixel = &growing->pixel[growing->n];
		size_t i = (size_t)(next++ - growing->state);

		*pixel = (struct pixel){ .at = (int32_t)i, .x = (int32_t)(i % w),
			.y = (int32_t)(i / w) };
		pixel->dark = may_be_background(growing, pixel);
		pixel->read = mixing_read(growing, pixel);
		if (100 * unclear <= trusted && !pixel->dark &&
		    px_abs(pixel->read - growing->turns[i]) <= CLEAR_OFF)
			growing->state[i] = TRUSTED;
		else
			growing->n++;
	}
}

/* The turns of a pixel by its neighbours; NaN where they do not agree or are too few. */
static float
turns_by_neighbours(const struct growing *growing, const struct pixel *pixel)
{
	float rest = growing->regions->rest[pixel->at], low = 1e6f, high = -1e6f, sum = 0;
	int n = 0;

	for (int way = 0; way < BITS_WAYS; way++) {
		int dx = bits_way[way][0], dy = bits_way[way][1];
		ptrdiff_t near = growing_beside(growing, pixel, dx, dy), far;
		float carried, off;

		if (!growing_is_trusted(growing, near))
			continue;
		far = growing_beside(growing, pixel, 2 * dx, 2 * dy);
		carried = bits_carry(growing->turns[near],
		    growing_is_trusted(growing, far) ? growing->turns[far] : PX_NAN);
		off = rest - carried;
		off -= px_round(off);
		if (px_abs(off) > PHASE_OFF)
			continue;
		low = px_min(low, carried + off);
		high = px_max(high, carried + off);
		sum += carried + off;
		n++;
	}
	return n >= 3 && high - low < ASK_TOGETHER ? sum / (float)n : PX_NAN;
}

/* Each pixel by itself: whether it is taken in this round. */
static void
ask_block(void *arg, size_t block)
{
	const struct growing *growing = arg;
	const int round = growing->round, late = round - STRICT_ROUNDS - 1;
	const float margin = margins[late < 0 ? 0 : late < MARGINS ? late : MARGINS - 1];

	for (size_t i = block * JOB_PIXELS; i < growing->n && i < (block + 1) * JOB_PIXELS; i++) {
		struct pixel *pixel = &growing->pixel[i];
		bool news;	/* a neighbour was taken in the last round */

		if (pixel->round || pixel->dark)
			continue;
		news = late == 0 || has_neighbour(growing, pixel, TRUSTED + round - 1);
		if (news && late < 0) {
			pixel->turns = turns_by_neighbours(growing, pixel);
			pixel->taken = !px_isnan(pixel->turns);
		} else if (news) {
			weigh(growing, pixel);
		}
		if (late >= 0)
			pixel->taken = pixel->margin > margin;
	}
}

/*
 * ---- how certain the order of each pixel is ----
 *
 * A wrong order is one of a patch, since pixels follow their neighbours. What tells is the mean
 * offset of the stairs around, as they are read, from those that all orders together would make
 * (mixing_offset()).
 */

#define MEAN_REACH 5	/* pixels to each side */
#define SAME_SURFACE 0.6f	/* turns: of one surface */
#define AGREEING 0.3f	/* turns: of neighbours that agree */
#define OFFSET_MOST 2.5f	/* orders */
#define TURN 4096	/* steps of a turn */
#define FAR_TURNS (1 << 29)	/* from any surface, in these steps */
#define CERTAINTY_DARK 0.0f	/* certainty of what may be background */

/* Measured at qualities 75 to 95, colour 444 to 420, both layouts, composite and cosine stairs:
 * 1/(1 + exp(-odds)) are right. Margins and rounds are those of growing. */
#define FIRST_ODDS 0.329f
#define EARLY 2.84f		/* neighbours agreed */
#define PER_ROUND (-0.239f)	/* of these */
#define PER_MARGIN 0.222f	/* of the others */
#define MARGIN_MOST 10.0f
#define PER_MEAN (-5.64f)	/* orders */
#define PER_SQUARE 2.12f
#define PER_NEAR (-1.24f)	/* the same of 3 x 3 pixels, of any surface */
#define PER_AGREEING 0.307f	/* of eight neighbours */
#define PER_BACKGROUND 0.107f	/* pixels within REACH */
#define BACKGROUND_MOST 10
#define TWICE 0.84f		/* odds above count twice */
#define OUTSIDE_LEAST 13	/* of 24 pixels: the pixel sticks out into the background */

/* These odds are high where stairs are read well, as at high qualities, and low where they are not;
 * by how much depends on the layout and on the resolution of colour. Fitted on eight views of two
 * scans, a plate and a relief at qualities of 50 to 95, each of which counts the same: a summand,
 * and more of it for each order that stairs are misread by; and a factor, likewise. */
#define MISREAD_LEAST 0.02f
#define MISREAD_MOST 0.3f
static const struct {
	float zero, zero_misread, times, times_misread;
} by_colour[2][2] = {		/* yuv, halved */
	{ { -0.952f, 4.80f, 0.98f, 1.295f }, { -0.585f, 5.859f, 1.074f, -0.458f } },
	{ { -1.206f, 38.572f, 1.115f, -0.439f }, { 0.345f, -18.404f, 0.76f, 3.585f } },
};

/* In the layout rgb they are too low where JPEG has rounded luma coarsely, too high where finely:
 * what each level adds to the summand and to the factor, fitted on 33 objects, qualities of 50 to
 * 95. */
#define ZERO_COARSER 0.165f
#define TIMES_COARSER (-0.06f)

/* The offsets and the orders around a pixel. */
struct around {
	float mean, near;
	int agreeing, background;
};

struct sums {
	int32_t offset, n;
};

/* Adds the offsets of those of n pixels of a row that are on the surface at `here`. */
static inline __attribute__((always_inline)) struct sums
add_row(struct sums sums, const int32_t *restrict turns, const int32_t *restrict offset,
    int32_t here, int n)
{
	const int32_t same = (int32_t)(SAME_SURFACE * TURN);
	int32_t sum = sums.offset, count = sums.n;

#pragma omp simd reduction(+ : sum, count)
	for (int i = 0; i < n; i++) {
		bool is = (turns[i] - here < same) & (here - turns[i] < same);

		sum += is ? offset[i] : 0;
		count += is;
	}
	return (struct sums){ sum, count };
}

/* The mean of the doubtful pixels around that are of the same surface. */
static float
mean_offset(const struct growing *growing, const struct pixel *pixel)
{
	const struct regions *regions = growing->regions;
	int w = (int)regions->w, h = (int)regions->h;
	int x0 = pixel->x < MEAN_REACH ? 0 : pixel->x - MEAN_REACH;
	int x1 = pixel->x + MEAN_REACH < w ? pixel->x + MEAN_REACH : w - 1;
	int y0 = pixel->y < MEAN_REACH ? 0 : pixel->y - MEAN_REACH;
	int32_t here = regions->lead[pixel->at];
	struct sums sums = { 0 };

	for (int y = y0; y <= pixel->y + MEAN_REACH && y < h; y++) {
		const int32_t *turns = regions->lead + y * w + x0;
		const int32_t *offset = regions->turn + y * w + x0;

		if (x1 - x0 == 2 * MEAN_REACH)
			sums = add_row(sums, turns, offset, here, 2 * MEAN_REACH + 1);
		else
			sums = add_row(sums, turns, offset, here, x1 - x0 + 1);
	}
	/* the pixel itself is one of them */
	return (float)sums.offset / (float)(sums.n * VOTE_STEPS);
}

static struct around
look_around(const struct growing *growing, const struct pixel *pixel)
{
	const float *turns = growing->turns;
	const int32_t *offset = growing->regions->turn;
	struct around around = { .mean = px_abs(mean_offset(growing, pixel)) };
	int32_t sum = 0, n = 0;

	for (int dy = -REACH; dy <= REACH; dy++)
		for (int dx = -REACH; dx <= REACH; dx++) {
			ptrdiff_t to = growing_beside(growing, pixel, dx, dy);

			if (to < 0)
				continue;
			around.background += growing->state[to] == BACKGROUND;
			if (dx * dx > 1 || dy * dy > 1)
				continue;
			if (growing->state[to] != TRUSTED && growing->state[to] != BACKGROUND) {
				sum += offset[to];
				n++;
			}
			around.agreeing += to != pixel->at &&
			    px_abs(turns[to] - turns[pixel->at]) < AGREEING;
		}
	around.near = px_abs((float)sum / (float)(n * VOTE_STEPS));
	return around;
}

static float
certainty(const struct growing *growing, const struct pixel *pixel)
{
	struct around around;
	float odds;

	if (pixel->dark)
		return CERTAINTY_DARK;
	around = look_around(growing, pixel);
	if (around.background >= OUTSIDE_LEAST)
		return CERTAINTY_DARK;
	odds = FIRST_ODDS + PER_MEAN * around.mean + PER_SQUARE * around.mean * around.mean +
	    PER_NEAR * around.near + PER_AGREEING * (float)around.agreeing;
	if (around.background > BACKGROUND_MOST)
		around.background = BACKGROUND_MOST;
	odds += PER_BACKGROUND * (float)around.background;
	if (pixel->round && pixel->round <= STRICT_ROUNDS)
		odds += EARLY + PER_ROUND * (float)pixel->round;
	else if (pixel->round)
		odds += PER_MARGIN * px_min(pixel->margin, MARGIN_MOST);
	odds += px_max(odds - TWICE, 0);
	odds = growing->odds.zero + growing->odds.times * odds;
	return 1 / (1 + px_exp(-odds));
}

static void
offset_block(void *arg, size_t block)
{
	const struct growing *growing = arg;
	int32_t *offset = growing->regions->turn;

	for (size_t i = block * JOB_PIXELS; i < growing->n && i < (block + 1) * JOB_PIXELS; i++) {
		const struct pixel *pixel = &growing->pixel[i];
		float off = mixing_offset(growing, pixel);

		offset[pixel->at] =
		    (int32_t)px_round(px_min(px_max(off, -OFFSET_MOST), OFFSET_MOST) * VOTE_STEPS);
	}
}

static void
certain_block(void *arg, size_t block)
{
	const struct growing *growing = arg;

	for (size_t i = block * JOB_PIXELS; i < growing->n && i < (block + 1) * JOB_PIXELS; i++)
		growing->pixel[i].certainty = certainty(growing, &growing->pixel[i]);
}

/* After growing: fills regions->certainty, 1 where nothing was doubtful, NaN in the background.
 * Turns become whole numbers, whose sums are the same in every order; FAR_TURNS where a pixel is
 * not doubtful. */
static void
certainty_find(struct run *run, struct growing *growing)
{
	struct regions *regions = growing->regions;
	size_t blocks = (growing->n + JOB_PIXELS - 1) / JOB_PIXELS, n = regions->w * regions->h;
	bool yuv = !growing->reading->rgb;
	bool halved = yuv ? growing->surface != NULL : growing->halved[0];
	float misread = px_min(px_max(growing->misread, MISREAD_LEAST), MISREAD_MOST);
	float coarser = yuv ? 0 : growing->coarser;
	int32_t *restrict turns = regions->lead;

	growing->odds.zero = by_colour[yuv][halved].zero +
	    by_colour[yuv][halved].zero_misread * misread;
	growing->odds.times = by_colour[yuv][halved].times +
	    by_colour[yuv][halved].times_misread * misread;
	growing->odds.zero += ZERO_COARSER * coarser;
	growing->odds.times += TIMES_COARSER * coarser;
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		turns[i] = FAR_TURNS;
	for (size_t i = 0; i < growing->n; i++) {
		int32_t at = growing->pixel[i].at;

		turns[at] = (int32_t)px_round(growing->turns[at] * TURN);
	}
	run_for(run, blocks, offset_block, growing);
	run_for(run, blocks, certain_block, growing);
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		regions->certainty[i] = px_select(growing->state[i] == BACKGROUND, PX_NAN, 1.0f);
	for (size_t i = 0; i < growing->n; i++)
		regions->certainty[growing->pixel[i].at] = growing->pixel[i].certainty;
}

/* ---- holes of one to four pixels in a surface, which a lossy format fills in part ---- */

/* Luma shows them: a pixel may be a hole where it is darker, by this factor, than RING_MOST and
 * more of the 16 pixels two away. Beside a boundary, or on a dark fringe, fewer are brighter.
 * Chosen on two scans with holes and two frames of a depth camera. */
#define REACH_RING 2
#define RING_MOST 13
#define DARKER 0.8f
#define DARKER_STAIR 0.7f	/* of stairs, the luma of the layout yuv */
#define DARKER_BY 2.0f	/* levels: on the lowest stairs a factor is less than what noise makes */
#define DARKER_THAN_FRINGE 0.8f	/* than the luma of the neighbours' fringes and stairs, in rgb */
#define RING_WIDE (TILE + 2 * REACH_RING)
#define RING_ROWS (2 * REACH_RING + 1)

/* Index i of n, mirrored at the ends; REACH_RING is added to it. */
static size_t
mirrored(size_t i, size_t n)
{
	size_t at = i < REACH_RING ? REACH_RING - i : i - REACH_RING;

	return at < n ? at : 2 * (n - 1) - at;
}

static void
read_luma(const struct growing *growing, size_t y, size_t x, size_t n, float *restrict luma)
{
	const struct reading *reading = growing->reading;
	float red[TILE], green[TILE];

	holodec_rows()->load_samples(growing->in, reading->channel[2], y, x, n, luma);
	if (!reading->rgb)
		return;
	holodec_rows()->load_samples(growing->in, reading->channel[0], y, x, n, red);
	holodec_rows()->load_samples(growing->in, reading->channel[1], y, x, n, green);
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		luma[i] = holodec_luma(red[i], green[i], luma[i]);
}

/* Pixels x .. x + n - 1 of row y, as luma, and REACH_RING more on each side; mirrored beyond the
 * picture's border. */
static void
load_luma(const struct growing *growing, size_t y, size_t x, size_t n, float *restrict luma)
{
	size_t w = growing->regions->w;

	read_luma(growing, y, x, n, luma + REACH_RING);
	for (size_t i = 0; i < REACH_RING; i++) {
		read_luma(growing, y, mirrored(x + i, w), 1, luma + i);
		read_luma(growing, y, mirrored(x + n + REACH_RING + i, w), 1,
		    luma + REACH_RING + n + i);
	}
}

/* Adds how many pixels of a row of the ring are brighter than `level`: all five, or the ends. */
static inline __attribute__((always_inline)) void
count_brighter(const float *restrict level, const float *restrict row, bool all,
    unsigned char *restrict brighter, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		int count = (level[i] < row[i]) + (level[i] < row[i + 4]);

		if (all)
			count += (level[i] < row[i + 1]) + (level[i] < row[i + 2]) +
			    (level[i] < row[i + 3]);
		brighter[i] = (unsigned char)(brighter[i] + count);
	}
}

/* Of n pixels of the middle row, the first of which has index REACH_RING: how many of those around
 * are brighter. */
static void
count_ring(const float *const row[RING_ROWS], float darker, unsigned char *restrict brighter,
    size_t n)
{
	const float *restrict luma = row[REACH_RING] + REACH_RING;
	float level[TILE];

	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		level[i] = px_max(luma[i] / darker, luma[i] + DARKER_BY);
		brighter[i] = 0;
	}
	for (size_t k = 0; k < RING_ROWS; k++)
		count_brighter(level, row[k], k == 0 || k == RING_ROWS - 1, brighter, n);
}

/* The luma that a pixel of the neighbours' surface has: of the median of their turns; NaN where
 * all are background. */
static float
expected_luma(const struct growing *growing, const struct pixel *pixel)
{
	float turns[BITS_WAYS], median;
	size_t n = 0;

	for (int way = 0; way < BITS_WAYS; way++) {
		ptrdiff_t at = growing_beside(growing, pixel, bits_way[way][0], bits_way[way][1]);

		if (at >= 0 && growing->state[at] != BACKGROUND)
			turns[n++] = growing->turns[at];
	}
	median = expected_median(turns, n);
	return px_isnan(median) ? PX_NAN : expected_levels(growing->reading, median).luma;
}

/* After certainty_find(): sets regions->certainty of pixels that look like a filled hole to 0:
 * those whose ring is brighter and which, in rgb, are darker than their neighbours' surface. */
static void
hole_block(void *arg, size_t block)
{
	struct growing *growing = arg;
	struct regions *regions = growing->regions;
	const size_t w = regions->w, y0 = regions->block[block].y0, y1 = regions->block[block].y1;
	const bool rgb = growing->reading->rgb;
	unsigned char brighter[TILE];
	float luma[RING_ROWS][RING_WIDE];
	const float *row[RING_ROWS];

	if (w <= REACH_RING || regions->h <= REACH_RING)
		return;
	for (size_t x = 0; x < w; x += TILE) {
		size_t n = w - x < TILE ? w - x : TILE, next = y0;

		/* row y + k - REACH_RING, mirrored, lies at [(y + k) % ROWS] */
		for (size_t y = y0; y < y1; y++) {
			for (; next < y + RING_ROWS; next++)
				load_luma(growing, mirrored(next, regions->h), x, n,
				    luma[next % RING_ROWS]);
			for (size_t k = 0; k < RING_ROWS; k++)
				row[k] = luma[(y + k) % RING_ROWS];
			count_ring(row, rgb ? DARKER : DARKER_STAIR, brighter, n);
			for (size_t i = 0; i < n; i++) {
				struct pixel pixel = { .x = (int32_t)(x + i), .y = (int32_t)y };
				size_t at = y * w + x + i;

				if (brighter[i] < RING_MOST || growing->state[at] == BACKGROUND)
					continue;
				if (!rgb || row[REACH_RING][REACH_RING + i] <
				    DARKER_THAN_FRINGE * expected_luma(growing, &pixel))
					regions->certainty[at] = 0;
			}
		}
	}
}

/*
 * ---- pixels beside the background that are fainter than a surface there would be ----
 *
 * A lossy format lets them run out of the surface. The neighbours' surface, carried on to the
 * pixel, tells how bright it would be.
 */

/* Measured on eight views of two scans, a plate and a relief, and verified on eight other views,
 * four objects and frames of a depth camera. Luma of the background beside a surface reaches 44 at
 * JPEG quality 75; below that a pixel must have nearly the luma that the surface would have there,
 * above it more than half: nearer to the surface's than to black. */
#define LUMA_MOST 45.0f
#define LUMA_SHARE 0.9f
#define NEARER_SURFACE 0.5f
/* In the layout yuv luma is the stair alone; where it is less than LUMA_SHARE_STAIR of the
 * surface's, and on the lowest stair, which luma does not tell from black, the fringes must have
 * such a share of the surface's, too. */
#define LUMA_SHARE_STAIR 0.77f
#define LOWEST 4.0f		/* levels */
#define FRINGE_SHARE 0.65f
#define FRINGE_SHARE_LOWEST NEARER_SURFACE
/* Coarser steps of luma than quality 75's reach farther into the background. For each level of such
 * a step: up to how much more luma, and for how much more of the surface's, a pixel is asked. */
#define LUMA_PER_STEP 7.5f
#define SHARE_PER_STEP 0.03f
#define FRINGE_PER_STEP 0.06f
#define DEEP 2			/* pixels: the nearest ones have some of the background's black */

/* Kinds of pixels: not certain, of the surface, or background as it was read. */
enum { KIND_UNSURE, KIND_SURFACE, KIND_BACKGROUND };

/* The kind of each pixel. */
static unsigned char *
kind_of(const struct growing *growing)
{
	return growing->state + growing->regions->w * growing->regions->h;
}

static void
kind_block(void *arg, size_t i)
{
	const struct growing *growing = arg;
	const struct regions *regions = growing->regions;
	size_t first = regions->block[i].y0 * regions->w, end = regions->block[i].y1 * regions->w;
	const float *restrict certainty = regions->certainty;
	unsigned char *restrict kind = kind_of(growing);

	CPU_SIMD
	for (size_t k = first; k < end; k++)
		kind[k] = certainty[k] >= CERTAINTY_LEAST ? KIND_SURFACE
		    : certainty[k] >= 0			  ? KIND_UNSURE
							  : KIND_BACKGROUND;
}

static bool
is_surface(const struct growing *growing, ptrdiff_t at)
{
	return at >= 0 && kind_of(growing)[at] == KIND_SURFACE;
}

/* The turns of the surface here, by those of its pixels that are so many away, each carried on by a
 * straight line; *n of the *inside that lie in the picture are surface. */
static float
carried_turns(
    const struct growing *growing, const struct pixel *pixel, int away, int *n, int *inside)
{
	const float *turns = growing->turns;
	float carried[BITS_WAYS];

	*n = *inside = 0;
	for (int way = 0; way < BITS_WAYS; way++) {
		int dx = away * bits_way[way][0], dy = away * bits_way[way][1];
		ptrdiff_t near = growing_beside(growing, pixel, dx, dy), far;

		*inside += near >= 0;
		if (!is_surface(growing, near))
			continue;
		far = growing_beside(growing, pixel, 2 * dx, 2 * dy);
		carried[(*n)++] = bits_carry(
		    turns[near], is_surface(growing, far) ? turns[far] : PX_NAN);
	}
	return expected_median(carried, (size_t)*n);
}

/* The share of the surface's fringes that a pixel has, least squares of both samples. */
static float
fringe_share(const struct growing *growing, const struct pixel *pixel, const struct levels *surface)
{
	const size_t *channel = growing->reading->channel;
	float sine = dark_sample(growing->stored, channel[0], pixel);
	float cosine = dark_sample(growing->stored, channel[1], pixel);

	return (sine * surface->sine + cosine * surface->cosine) /
	    (surface->sine * surface->sine + surface->cosine * surface->cosine);
}

/* Has a pixel of the boundary less light than a surface there would have? In a coarse picture
 * neighbours farther inside tell that surface's levels: in the layout rgb where they give no darker
 * ones, in yuv always. */
static bool
is_too_dark(const struct growing *growing, const struct pixel *pixel)
{
	const bool rgb = growing->reading->rgb;
	const float coarser = px_max(growing->coarser, 0);
	struct levels surface;
	int n, inside;
	float turns = carried_turns(growing, pixel, 1, &n, &inside), luma, most;

	if (4 * n <= inside)
		return true;
	surface = expected_levels(growing->reading, turns);
	turns = coarser > 0 ? carried_turns(growing, pixel, DEEP, &n, &inside) : PX_NAN;
	if (!px_isnan(turns)) {
		struct levels deep = expected_levels(growing->reading, turns);

		surface = rgb && deep.luma < surface.luma ? surface : deep;
	}
	luma = dark_luma(growing, pixel);
	most = LUMA_MOST + LUMA_PER_STEP * coarser;
	if (rgb)
		return luma < surface.luma *
		    (luma < most ? LUMA_SHARE + SHARE_PER_STEP * coarser : NEARER_SURFACE);
	if (surface.luma < LOWEST)
		return fringe_share(growing, pixel, &surface) < FRINGE_SHARE_LOWEST;
	return luma < most && luma < LUMA_SHARE_STAIR * surface.luma &&
	    fringe_share(growing, pixel, &surface) < FRINGE_SHARE + FRINGE_PER_STEP * coarser;
}

static inline unsigned char
is_boundary(const unsigned char *above, const unsigned char *row, const unsigned char *below,
    size_t left, size_t x, size_t right)
{
	unsigned char beside = above[left] | above[x] | above[right] | row[left] | row[right] |
	    below[left] | below[x] | below[right];

	return (row[x] == KIND_SURFACE) & ((beside & KIND_BACKGROUND) != 0);
}

/* Marks those of n pixels of a row of kinds that are surface and have background beside them.
 * Beyond the ends of a row, and above and below the picture, a pixel counts as its own
 * neighbour. */
static void
mark_boundary(const unsigned char *restrict above, const unsigned char *restrict row,
    const unsigned char *restrict below, unsigned char *restrict mark, size_t n)
{
	CPU_SIMD
	for (size_t x = 1; x < n - 1; x++)
		mark[x] = is_boundary(above, row, below, x - 1, x, x + 1);
	mark[0] = is_boundary(above, row, below, 0, 0, n > 1);
	mark[n - 1] = is_boundary(above, row, below, n > 1 ? n - 2 : 0, n - 1, n - 1);
}

/* After hole_block(): sets regions->certainty of such pixels to 0. */
static void
boundary_block(void *arg, size_t i)
{
	const struct growing *growing = arg;
	struct regions *regions = growing->regions;
	size_t w = regions->w, h = regions->h;

	for (size_t y = regions->block[i].y0; y < regions->block[i].y1; y++) {
		unsigned char *mark = regions->block[i].class, *next = mark;
		const unsigned char *row = kind_of(growing) + y * w;

		mark_boundary(
		    y ? row - w : row, row, y + 1 < h ? row + w : row, mark, w);
		while ((next = memchr(next, 1, w - (size_t)(next - mark))) != NULL) {
			struct pixel pixel = { .x = (int32_t)(next++ - mark), .y = (int32_t)y };

			pixel.at = (int32_t)(y * w) + pixel.x;
			if (is_too_dark(growing, &pixel))
				regions->certainty[pixel.at] = 0;
		}
	}
}

/* ---- the picture ---- */

#define CERTAINTY_MOST 0.93f	/* that is asked for */
#define DROPPED_MOST 0.015f	/* of the surface */
#define CERTAINTY_BINS 1001

static void
growing_grow(struct run *run, struct growing *growing, float *least)
{
	struct regions *regions = growing->regions;
	const float *certainty = regions->certainty;
	size_t bins[CERTAINTY_BINS] = { 0 }, points = 0, dropped = 0, taken = 1, bin;

	list_waiting(growing);
	for (growing->round = 1; growing->round <= GROW_ROUNDS &&
	     (taken || growing->round <= STRICT_ROUNDS + MARGINS); growing->round++) {
		if (growing->round == STRICT_ROUNDS + 1)
			weigh_noise(growing);
		run_for(run, (growing->n + JOB_PIXELS - 1) / JOB_PIXELS, ask_block, growing);
		taken = 0;
		for (size_t i = 0; i < growing->n; i++) {
			struct pixel *pixel = &growing->pixel[i];

			if (!pixel->taken)
				continue;
			growing->turns[pixel->at] = pixel->turns;
			growing->state[pixel->at] = (unsigned char)(TRUSTED + growing->round);
			pixel->round = (unsigned char)growing->round;
			pixel->taken = false;
			taken++;
		}
	}
	certainty_find(run, growing);
	/* the certainty to ask for: CERTAINTY_MOST, or less, so that at most DROPPED_MOST is
	 * dropped */
	for (size_t i = 0; i < regions->w * regions->h; i++) {
		if (px_isnan(certainty[i]))
			continue;
		points++;
		bins[(int)(certainty[i] * (CERTAINTY_BINS - 1))]++;
	}
	for (bin = 0; bin < CERTAINTY_BINS; bin++) {
		dropped += bins[bin];
		if ((float)dropped > DROPPED_MOST * (float)points)
			break;
	}
	*least = px_min(px_max((float)bin / (CERTAINTY_BINS - 1), CERTAINTY_LEAST), CERTAINTY_MOST);
	run_for(run, regions->blocks, hole_block, growing);
	run_for(run, regions->blocks, kind_block, growing);
	run_for(run, regions->blocks, boundary_block, growing);
	for (size_t i = 0; i < growing->n; i++) {
		int32_t at = growing->pixel[i].at;

		regions->order[at] = px_round(growing->turns[at] - regions->rest[at]);
	}
}

static void
growing_drop(struct regions *regions, float least)
{
	float *restrict rest = regions->rest;
	const float *restrict certainty = regions->certainty;
	size_t n = regions->w * regions->h;

	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		rest[i] = px_select(certainty[i] >= least, rest[i], PX_NAN);
}

const struct growing_rows AT_LEVEL(growing_rows) = {
	.begin = growing_begin,
	.grow = growing_grow,
	.drop = growing_drop,
};
