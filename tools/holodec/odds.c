#include "odds.h"

#include "base/cpu_level.h"
#include "mixing.h"

#define AROUND 5	/* pixels to each side */
#define SAME 0.6f	/* turns: of one surface */
#define TOGETHER 0.3f	/* turns: of neighbours that agree */
#define OFF_MOST 2.5f	/* orders */
#define TURN 4096		/* steps of a turn */
#define FAR (1 << 29)		/* from any surface, in these steps */
#define DARK 0.0f	/* certainty of what may be background */

/* Measured at qualities 75 to 95, colour 444 to 420, both layouts, composite and cosine stairs:
 * 1/(1 + exp(-odds)) are right. Margins and rounds: grow.c. */
#define ODDS 0.329f
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
#define OUTSIDE 13		/* of 24 pixels: the pixel sticks out into the background */

/* These odds are high where stairs are read well, as at high qualities, and low where they are not;
 * by how much, layouts and colour of full and half the resolution tell. Fitted on eight views of
 * two scans, a plate and a relief at qualities of 50 to 95, each of which counts the same: what is
 * added, and more of it for each order that stairs are misread by; by what the odds are multiplied,
 * likewise. */
#define MISREAD_LEAST 0.02f
#define MISREAD_MOST 0.3f
static const struct {
	float zero, zero_misread, times, times_misread;
} by_colour[2][2] = {		/* yuv, halved */
	{ { -0.952f, 4.80f, 0.98f, 1.295f }, { -0.585f, 5.859f, 1.074f, -0.458f } },
	{ { -1.206f, 38.572f, 1.115f, -0.439f }, { 0.345f, -18.404f, 0.76f, 3.585f } },
};

/* In the layout rgb they are too low where JPEG has rounded luma coarsely, too high where finely:
 * what is added for each level, and to the factor; fitted on 33 objects, qualities of 50 to 95. */
#define ZERO_COARSER 0.165f
#define TIMES_COARSER (-0.06f)

/* What the offsets and the orders around a pixel say. */
struct around {
	float mean, near;
	int agreeing, background;
};

static bool
is_doubtful(const struct growing *growing, size_t at)
{
	return growing->state[at] != TRUSTED && growing->state[at] != BACKGROUND;
}

/* Turns and offsets as whole numbers, whose sums are the same in every order; FAR where a pixel is
 * not doubtful. */
static void
put_numbers(struct growing *growing)
{
	struct regions *regions = growing->regions;
	int32_t *restrict turns = regions->lead;
	size_t n = regions->w * regions->h;

	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		turns[i] = FAR;
	for (size_t i = 0; i < growing->n; i++) {
		int32_t at = growing->pixel[i].at;

		turns[at] = (int32_t)px_round(growing->turns[at] * TURN);
	}
}

struct sums {
	int32_t offset, n;
};

/* Adds what n pixels of a row say that are on the surface at `here`. */
static inline __attribute__((always_inline)) struct sums
add_row(struct sums sums, const int32_t *restrict turns, const int32_t *restrict offset,
    int32_t here, int n)
{
	const int32_t same = (int32_t)(SAME * TURN);
	int32_t sum = sums.offset, count = sums.n;

#pragma omp simd reduction(+ : sum, count)
	for (int i = 0; i < n; i++) {
		bool is = (turns[i] - here < same) & (here - turns[i] < same);

		sum += is ? offset[i] : 0;
		count += is;
	}
	return (struct sums){ sum, count };
}

/* Of the doubtful pixels of the same surface. */
static float
mean_offset(const struct growing *growing, const struct pixel *pixel)
{
	const struct regions *regions = growing->regions;
	int w = (int)regions->w, h = (int)regions->h;
	int x0 = pixel->x < AROUND ? 0 : pixel->x - AROUND;
	int x1 = pixel->x + AROUND < w ? pixel->x + AROUND : w - 1;
	int y0 = pixel->y < AROUND ? 0 : pixel->y - AROUND;
	int32_t here = regions->lead[pixel->at];
	struct sums sums = { 0 };

	for (int y = y0; y <= pixel->y + AROUND && y < h; y++) {
		const int32_t *turns = regions->lead + y * w + x0;
		const int32_t *offset = regions->turn + y * w + x0;

		if (x1 - x0 == 2 * AROUND)
			sums = add_row(sums, turns, offset, here, 2 * AROUND + 1);
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
			if (is_doubtful(growing, (size_t)to)) {
				sum += offset[to];
				n++;
			}
			around.agreeing += to != pixel->at &&
			    px_abs(turns[to] - turns[pixel->at]) < TOGETHER;
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
		return DARK;
	around = look_around(growing, pixel);
	if (around.background >= OUTSIDE)
		return DARK;
	odds = ODDS + PER_MEAN * around.mean + PER_SQUARE * around.mean * around.mean +
	    PER_NEAR * around.near + PER_AGREEING * (float)around.agreeing;
	if (around.background > BACKGROUND_MOST)
		around.background = BACKGROUND_MOST;
	odds += PER_BACKGROUND * (float)around.background;
	if (pixel->round && pixel->round <= STRICT)
		odds += EARLY + PER_ROUND * (float)pixel->round;
	else if (pixel->round)
		odds += PER_MARGIN * px_min(pixel->margin, MARGIN_MOST);
	odds += px_max(odds - TWICE, 0);
	odds = growing->odds.zero + growing->odds.times * odds;
	return 1 / (1 + px_exp(-odds));
}

static void
set_odds(struct growing *growing)
{
	bool yuv = !growing->reading->rgb;
	bool halved = yuv ? growing->surface != NULL : growing->halved[0];
	float misread = px_min(px_max(growing->misread, MISREAD_LEAST), MISREAD_MOST);

	growing->odds.zero =
	    by_colour[yuv][halved].zero + by_colour[yuv][halved].zero_misread * misread;
	growing->odds.times =
	    by_colour[yuv][halved].times + by_colour[yuv][halved].times_misread * misread;
	if (yuv)
		return;
	growing->odds.zero += ZERO_COARSER * growing->coarser;
	growing->odds.times += TIMES_COARSER * growing->coarser;
}

static void
offset_block(void *arg, size_t block)
{
	const struct growing *growing = arg;
	int32_t *offset = growing->regions->turn;

	for (size_t i = block * PIXELS; i < growing->n && i < (block + 1) * PIXELS; i++) {
		const struct pixel *pixel = &growing->pixel[i];
		float off = mixing_offset(growing, pixel);

		offset[pixel->at] =
		    (int32_t)px_round(px_min(px_max(off, -OFF_MOST), OFF_MOST) * VOTE_STEPS);
	}
}

static void
certain_block(void *arg, size_t block)
{
	const struct growing *growing = arg;

	for (size_t i = block * PIXELS; i < growing->n && i < (block + 1) * PIXELS; i++)
		growing->pixel[i].certainty = certainty(growing, &growing->pixel[i]);
}

void
odds_find(struct run *run, struct growing *growing)
{
	struct regions *regions = growing->regions;
	size_t blocks = (growing->n + PIXELS - 1) / PIXELS;

	set_odds(growing);
	put_numbers(growing);
	run_for(run, blocks, offset_block, growing);
	run_for(run, blocks, certain_block, growing);
	CPU_SIMD
	for (size_t i = 0; i < regions->w * regions->h; i++)
		regions->certainty[i] = px_select(growing->state[i] == BACKGROUND, PX_NAN, 1.0f);
	for (size_t i = 0; i < growing->n; i++)
		regions->certainty[growing->pixel[i].at] = growing->pixel[i].certainty;
}
