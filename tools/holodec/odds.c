#include "odds.h"

#include "base/cpu_level.h"
#include "mixing.h"

#define AROUND 5	/* pixels to each side */
#define SAME 0.6f	/* turns: of one surface */
#define TOGETHER 0.3f	/* turns: of neighbours that agree */
#define OFF_MOST 2.5f	/* orders */
#define DARK 0.0f	/* certainty of what may be background */

/* Measured at qualities 75 to 95, colour 444 to 420, both layouts, composite and cosine stairs:
 * 1/(1 + exp(-odds)) are right. Margins and rounds: grow.c. */
#define ODDS 1.09f
#define EARLY 4.00f		/* neighbours agreed */
#define PER_ROUND (-0.352f)	/* of these */
#define PER_MARGIN 0.352f	/* of the others */
#define MARGIN_MOST 10.0f
#define PER_MEAN (-7.91f)	/* orders */
#define PER_SQUARE 2.84f
#define PER_NEAR (-2.44f)	/* the same of 3 x 3 pixels, of any surface */
#define PER_AGREEING 0.475f	/* of eight neighbours */
#define PER_BACKGROUND 0.186f	/* pixels within REACH */
#define BACKGROUND_MOST 10
#define OUTSIDE 13		/* of 24 pixels: the pixel sticks out into the background */

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

/* Of the doubtful pixels of the same surface. */
static float
mean_offset(const struct growing *growing, const struct pixel *pixel)
{
	const float *turns = growing->turns, *offset = growing->regions->certainty;
	int w = (int)growing->regions->w, h = (int)growing->regions->h, n = 0;
	int x0 = pixel->x < AROUND ? 0 : pixel->x - AROUND;
	int x1 = pixel->x + AROUND < w ? pixel->x + AROUND : w - 1;
	float here = turns[pixel->at], sum = 0;

	for (int y = pixel->y < AROUND ? 0 : pixel->y - AROUND;
	     y <= pixel->y + AROUND && y < h; y++)
		for (int at = y * w + x0; at <= y * w + x1; at++) {
			/* turns of the background are NaN */
			if (growing->state[at] == TRUSTED ||
			    !(px_abs(turns[at] - here) < SAME))
				continue;
			sum += offset[at];
			n++;
		}
	return sum / (float)n;		/* the pixel itself is one of them */
}

static struct around
look_around(const struct growing *growing, const struct pixel *pixel)
{
	const float *turns = growing->turns, *offset = growing->regions->certainty;
	struct around around = { .mean = px_abs(mean_offset(growing, pixel)) };
	float sum = 0;
	int n = 0;

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
	around.near = px_abs(sum / (float)n);
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
	return 1 / (1 + px_exp(-odds));
}

static void
offset_block(void *arg, size_t block)
{
	const struct growing *growing = arg;
	float *offset = growing->regions->certainty;

	for (size_t i = block * PIXELS; i < growing->n && i < (block + 1) * PIXELS; i++) {
		const struct pixel *pixel = &growing->pixel[i];
		float off = mixing_offset(growing, pixel);

		offset[pixel->at] = px_min(px_max(off, -OFF_MOST), OFF_MOST);
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

	mixing_find(growing);
	run_for(run, blocks, offset_block, growing);
	run_for(run, blocks, certain_block, growing);
	CPU_SIMD
	for (size_t i = 0; i < regions->w * regions->h; i++)
		regions->certainty[i] = px_select(growing->state[i] == BACKGROUND, PX_NAN, 1.0f);
	for (size_t i = 0; i < growing->n; i++)
		regions->certainty[growing->pixel[i].at] = growing->pixel[i].certainty;
}
