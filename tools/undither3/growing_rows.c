/*
 * Surfaces grown into what is not trusted: a pixel beside trusted ones is asked whether its bits
 * are those of their surface, carried on to it by a straight line. Where all neighbours whose
 * surface it can be agree, it is taken, and asks others in the next round; rounds become less and
 * less strict. Where jumps are marked, the majority decides in the end where neighbours disagree. A
 * pixel that was taken late, or has untaken ones beside it, is less certain.
 */
#include "undither3.h"

#include <limits.h>

#include "undither3.px.h"

/* ---- pixels that are not trusted, and which are background ---- */

#define GROW_PIXELS 256	/* that a thread takes at a time */
#define BACKGROUND_OFF 0.06f	/* turns; a pixel without bits that is farther off its surface */
#define CONTRADICTED_OFF 0.15f	/* turns; bits that are farther off are those of a hole */

/* The place of a pixel in the tile of thresholds. */
static size_t
tile_place(size_t x, size_t y)
{
	return y % DITHER_TILE * DITHER_TILE + x % DITHER_TILE;
}

/* Do a pixel's own bits contradict its turns? */
static bool
contradicts_own(const struct job *job, size_t at, size_t place, float turns, float tolerance)
{
	struct bits_pixel own = { job->bit[0][at], job->bit[1][at], job->bit[2][at], place };

	return px_isnan(bits_fit(&job->priv->bits, &own, turns, tolerance));
}

/* Has a pixel no bits, although a surface of these turns would have some there? */
static bool
growing_is_background(const struct job *job, size_t at, size_t place, float turns)
{
	return job->bit[0][at] + job->bit[1][at] + job->bit[2][at] == 0 &&
	    contradicts_own(job, at, place, turns, BACKGROUND_OFF);
}

/* Has a pixel no bits, and one of its neighbours none although a surface would have some there? */
static bool
beside_background(const struct job *job, size_t at, size_t x, size_t y)
{
	if (job->bit[0][at] + job->bit[1][at] + job->bit[2][at] > 0)
		return false;
	for (int way = 0; way < BITS_WAYS; way++) {
		size_t to = at + (size_t)job->planes.way[way];
		size_t u = x + DITHER_TILE + (size_t)bits_way[way][0];
		size_t v = y + DITHER_TILE + (size_t)bits_way[way][1];

		if (job->bit[0][to] + job->bit[1][to] == 0 &&
		    !bits_may_lack(&job->priv->bits, tile_place(u, v)))
			return true;
	}
	return false;
}

/* No longer trusts pixels without bits that the average has taken over from the surface around,
 * nor, where jumps are marked, pixels whose bits contradict it. Counts pixels. */
static void
growing_begin(struct growing *growing)
{
	const struct job *job = growing->job;
	struct planes *planes = &growing->job->planes;

	for (size_t y = 0; y < planes->h; y++)
		for (size_t x = 0; x < planes->w; x++) {
			size_t at = planes_at(planes, x, y), place = tile_place(x, y);
			float turns = planes->turns[at];

			growing->trusted += planes->trusted[at] > 0;
			if (planes->trusted[at] > 0 &&
			    (growing_is_background(job, at, place, turns) ||
				(job->priv->keys.marked &&
				    contradicts_own(job, at, place, turns, CONTRADICTED_OFF))))
				planes->trusted[at] = 0;
			growing->surface += planes->inside[at] > 0;
			growing->n += planes->inside[at] > 0 && !(planes->trusted[at] > 0);
		}
}

/* ---- rounds ---- */

#define TOGETHER 0.3f	/* turns; neighbours that are farther apart do not agree */
#define POLLS 3
#define POLL_LEAST 4	/* neighbours that carry the same turns */
#define POLL_AHEAD 2	/* more of them than of those that carry others */

/* How strict rounds of a rule are: how many neighbours must carry their surface to a pixel, and how
 * far its turns may then be off the pixel's bits. */
#define RULES 3
struct rule {
	int least;
	float tolerance;
};

static const struct rule rules[RULES] = { { 3, 0.03f }, { 3, 0.06f }, { 2, 0.06f } };

/* Rounds of each. Where jumps are marked, the last rule has more: surfaces end at marks. */
static const int plain_rounds[RULES] = { 3, 3, 3 };
static const int marked_rounds[RULES] = { 3, 3, 9 };
static const int rounds_again[RULES] = { 9, 9, 9 };	/* from islands on */

/* Turns that trusted neighbours carry to a pixel and that give its bits; returns their number. */
static inline __attribute__((always_inline)) int
find_fits(const struct growing *growing, const struct waiting *pixel, float tolerance,
    float fit[BITS_WAYS])
{
	const struct job *job = growing->job;
	const struct planes *planes = &job->planes;
	const float *turns = planes->turns + pixel->at, *trusted = planes->trusted + pixel->at;
	struct bits_pixel bits = { job->bit[0][pixel->at], job->bit[1][pixel->at],
		job->bit[2][pixel->at], pixel->place };
	int n = 0;

	for (int way = 0; way < BITS_WAYS; way++) {
		ptrdiff_t step = planes->way[way];

		if (!(trusted[step] > 0))
			continue;
		fit[n] = bits_fit(&job->priv->bits, &bits,
		    bits_carry(turns[step], trusted[2 * step] > 0 ? turns[2 * step] : PX_NAN),
		    tolerance);
		n += !px_isnan(fit[n]);
	}
	return n;
}

/* The turns of pixels by their neighbours; not taken where these do not agree or are too few. */
static void
ask_block(void *arg, size_t block)
{
	const struct growing *growing = arg;
	const struct rule *rule = &rules[growing->rule];

	for (size_t i = block * GROW_PIXELS; i < growing->n && i < (block + 1) * GROW_PIXELS; i++) {
		struct waiting *pixel = &growing->waiting[i];
		float fit[BITS_WAYS], low = 1e6f, high = -1e6f, sum = 0;
		int n;

		if (pixel->round || pixel->hole)
			continue;
		n = find_fits(growing, pixel, rule->tolerance, fit);
		for (int k = 0; k < n; k++) {
			low = px_min(low, fit[k]);
			high = px_max(high, fit[k]);
			sum += fit[k];
		}
		pixel->taken = n >= rule->least && high - low < TOGETHER;
		pixel->turns = pixel->taken ? sum / (float)n : PX_NAN;
	}
}

/* Takes the pixels that the neighbours agree on; how many. */
static size_t
take_pixels(struct growing *growing, int round)
{
	struct planes *planes = &growing->job->planes;
	size_t n = 0;

	for (size_t i = 0; i < growing->n; i++) {
		struct waiting *pixel = &growing->waiting[i];

		if (!pixel->taken)
			continue;
		planes->turns[pixel->at] = pixel->turns;
		planes->trusted[pixel->at] = 1;
		pixel->round = round;
		pixel->taken = false;
		n++;
	}
	return n;
}

/* Rounds of each rule, the first of them number `round`; returns the number after the last. */
static int
grow_rounds(struct run *run, struct growing *growing, const int rounds[], int round)
{
	size_t blocks = (growing->n + GROW_PIXELS - 1) / GROW_PIXELS;

	for (size_t i = 0; i < RULES; i++) {
		growing->rule = i;
		for (int k = 0; k < rounds[i]; k++) {
			run_for(run, blocks, ask_block, growing);
			if (take_pixels(growing, round + k) == 0)
				break;
		}
		round += rounds[i];
	}
	return round;
}

/* The mean of the largest group of n turns that lie together; *most: its size. */
static float
find_majority(const float fit[BITS_WAYS], int n, int *most)
{
	float mean = PX_NAN;

	*most = 0;
	for (int i = 0; i < n; i++) {
		float sum = 0;
		int alike = 0;

		for (int k = 0; k < n; k++) {
			bool together = px_abs(fit[k] - fit[i]) < TOGETHER;

			sum += together ? fit[k] : 0;
			alike += together;
		}
		mean = alike > *most ? sum / (float)alike : mean;
		*most = alike > *most ? alike : *most;
	}
	return mean;
}

/* Sets pixel->next to the turns that it gets; NaN: none. Where all agree it stays as it is. */
static void
poll_block(void *arg, size_t block)
{
	const struct growing *growing = arg;

	for (size_t i = block * GROW_PIXELS; i < growing->n && i < (block + 1) * GROW_PIXELS; i++) {
		struct waiting *pixel = &growing->waiting[i];
		float fit[BITS_WAYS], mean;
		int most, n;

		if (pixel->hole)
			continue;
		n = find_fits(growing, pixel, rules[RULES - 1].tolerance, fit);
		mean = find_majority(fit, n, &most);
		pixel->next = pixel->round ? growing->job->planes.turns[pixel->at] : PX_NAN;
		if (most == n)
			continue;
		if (most < POLL_LEAST || most < n - most + POLL_AHEAD)
			pixel->next = PX_NAN;
		else if (!(px_abs(mean - pixel->next) < TOGETHER))
			pixel->next = mean;
	}
}

/* A pixel that was taken from beyond a jump, before its own surface came to it, has more neighbours
 * of that one in the end. What is taken here counts as of this round. */
static void
poll_all(struct run *run, struct growing *growing, int round)
{
	struct planes *planes = &growing->job->planes;
	size_t blocks = (growing->n + GROW_PIXELS - 1) / GROW_PIXELS;

	for (int k = 0; k < POLLS; k++) {
		run_for(run, blocks, poll_block, growing);
		for (size_t i = 0; i < growing->n; i++) {
			struct waiting *pixel = &growing->waiting[i];
			bool taken = !px_isnan(pixel->next);

			if (pixel->hole)
				continue;
			planes->trusted[pixel->at] = taken ? 1 : 0;
			if (taken)
				planes->turns[pixel->at] = pixel->turns = pixel->next;
			pixel->round = !taken ? 0 : pixel->round ? pixel->round : round;
		}
	}
}

/*
 * ---- islands ----
 *
 * Surfaces that are too narrow for averages, and that no surface beside them grows into. Each
 * pixel's bits of R and G leave an arc of the turn; a plane over 3 x 3 untaken pixels must lie in
 * the arcs of all of them, or of all but one, whose bits a mark has turned over. Planes that carry
 * on each other are a surface, and the bits of the stair of all of its pixels give its order.
 */

#define ARC_STEPS 64		/* of a turn */
#define SLOPES 4		/* that are tried on each side, along each axis */
#define SLOPE_STEPS 3		/* steps per pixel, from one slope to the next */
#define SLACK 0.01f		/* turns; surfaces are no planes */
#define NARROW 13		/* steps that hold all planes that give the bits */
#define PLANE_TOGETHER 0.08f	/* turns; a plane carried on to the next one of its surface */
#define PATCH_LEAST 6		/* pixels of 3 x 3 */
#define ISLAND_LEAST 10		/* pixels of a surface */
#define STAIR_AHEAD 2		/* bits of the stair more that contradict any other order */
#define CONTRADICTED_SHARE 0.03f	/* of the stair's bits, that may contradict the order */
#define NOBODY (-1)

/* The steps of a turn that give a pixel's bits; none where they contradict each other. */
static uint64_t
find_arc(const struct job *job, const struct waiting *pixel)
{
	const struct bits_code *code = &job->priv->bits;
	uint64_t arc = 0;

	for (int i = 0; i < ARC_STEPS; i++) {
		float turns = ((float)i + 0.5f) / ARC_STEPS;
		struct bits_bounds bounds = bits_bound(turns, job->bit[0][pixel->at],
		    job->bit[1][pixel->at], code->arc[0][pixel->place],
		    code->arc[1][pixel->place]);

		if (bounds.low <= bounds.high && undither3_broken(turns, bounds) <= SLACK)
			arc |= (uint64_t)1 << i;
	}
	return arc;
}

/* Steps, moved on the circle. */
static uint64_t
turn_steps(uint64_t steps, int by)
{
	unsigned left = (unsigned)by % ARC_STEPS;

	return left ? steps << left | steps >> (ARC_STEPS - left) : steps;
}

struct patch {
	uint64_t arc[BITS_WAYS + 1];
	int x[BITS_WAYS + 1], y[BITS_WAYS + 1];
	size_t n;
};

/* Where a plane of these slopes may be at the middle pixel: in the arcs of all pixels, and of all
 * but one. */
static void
find_steps(const struct patch *patch, int right, int down, uint64_t steps[2])
{
	steps[0] = steps[1] = UINT64_MAX;
	for (size_t i = 0; i < patch->n; i++) {
		int more = SLOPE_STEPS * (right * patch->x[i] + down * patch->y[i]);
		uint64_t there = turn_steps(patch->arc[i], -more);

		steps[1] = (steps[1] & there) | steps[0];
		steps[0] &= there;
	}
}

/* The first step of the shortest arc that holds all of these, and its length. */
static int
shortest_arc(uint64_t steps, int *length)
{
	int first = 0, gap = 0, most = 0;

	for (int i = 0; i < 2 * ARC_STEPS; i++) {
		gap = steps >> (i % ARC_STEPS) & 1 ? 0 : gap + 1;
		if (gap > most) {
			most = gap;
			first = (i + 1) % ARC_STEPS;
		}
	}
	*length = ARC_STEPS - most;
	return first;
}

/* The mean of all planes that fit a patch, if these are near to each other. */
static void
find_plane(const struct growing *growing, size_t at, struct island_pixel *found)
{
	uint64_t steps[2 * SLOPES + 1][2 * SLOPES + 1][2], all[2] = { 0, 0 };
	float sum = 0, right = 0, down = 0, n = 0;
	struct patch patch = { .n = 0 };
	int but, first, length;

	for (int way = 0; way <= BITS_WAYS; way++) {
		bool own = way == BITS_WAYS;
		int k = growing->index[own ? at : at + (size_t)growing->job->planes.way[way]];

		if (k == NOBODY)
			continue;
		patch.arc[patch.n] = growing->island_pixel[k].arc;
		patch.x[patch.n] = own ? 0 : bits_way[way][0];
		patch.y[patch.n++] = own ? 0 : bits_way[way][1];
	}
	if (patch.n < PATCH_LEAST)
		return;
	for (int i = 0; i <= 2 * SLOPES; i++)
		for (int k = 0; k <= 2 * SLOPES; k++) {
			find_steps(&patch, i - SLOPES, k - SLOPES, steps[i][k]);
			all[0] |= steps[i][k][0];
			all[1] |= steps[i][k][1];
		}
	but = all[0] ? 0 : 1;
	first = shortest_arc(all[but], &length);
	if (all[but] == 0 || length > NARROW)
		return;
	for (int i = 0; i <= 2 * SLOPES; i++)
		for (int k = 0; k <= 2 * SLOPES; k++) {
			uint64_t these = turn_steps(steps[i][k][but], -first);

			for (int step = 0; these && step < length; step++) {
				float there = these >> step & 1 ? 1 : 0;

				sum += there * ((float)step + 0.5f);
				right += there * (float)(SLOPE_STEPS * (i - SLOPES));
				down += there * (float)(SLOPE_STEPS * (k - SLOPES));
				n += there;
			}
		}
	found->rest = ((float)first + sum / n) / ARC_STEPS;
	found->right = right / n / ARC_STEPS;
	found->down = down / n / ARC_STEPS;
}

/* Puts the pixels of a surface into the queue, from one of them on; how many. */
static size_t
find_surface(struct growing *growing, size_t start)
{
	struct island_pixel *pixel = growing->island_pixel;
	size_t n = 1;

	growing->queue[0] = start;
	pixel[start].asked = true;
	pixel[start].turns = pixel[start].rest;
	for (size_t i = 0; i < n; i++) {
		const struct island_pixel *here = &pixel[growing->queue[i]];
		size_t at = growing->waiting[growing->queue[i]].at;

		for (int way = 0; way < BITS_WAYS; way++) {
			int k = growing->index[at + (size_t)growing->job->planes.way[way]];
			float carried = here->turns + here->right * (float)bits_way[way][0] +
			    here->down * (float)bits_way[way][1];
			float off;

			if (k == NOBODY || pixel[k].asked || px_isnan(pixel[k].rest))
				continue;
			off = undither3_off(carried, pixel[k].rest);
			if (px_abs(off) > PLANE_TOGETHER)
				continue;
			pixel[k].asked = true;
			pixel[k].turns = carried + off;
			growing->queue[n++] = (size_t)k;
		}
	}
	return n;
}

/* The turns that are to be added to the surface of n pixels in the queue; NaN where the stair's
 * bits leave a doubt: those that contradict are counted for each order that it may have. */
static float
find_order(const struct growing *growing, size_t n)
{
	const struct job *job = growing->job;
	const struct bits_code *code = &job->priv->bits;
	float low = 1e6f, high = -1e6f, best = PX_NAN;
	size_t least = SIZE_MAX, next = SIZE_MAX;

	for (size_t i = 0; i < n; i++) {
		low = px_min(low, growing->island_pixel[growing->queue[i]].turns);
		high = px_max(high, growing->island_pixel[growing->queue[i]].turns);
	}
	for (float more = -px_floor(low); more + high < code->order_most + 1; more++) {
		size_t against = 0;

		for (size_t i = 0; i < n; i++) {
			const struct waiting *pixel = &growing->waiting[growing->queue[i]];
			float turns = growing->island_pixel[growing->queue[i]].turns + more;
			float above = bits_above(turns, code->threshold[pixel->place],
			    code->stair[(int)((turns - px_floor(turns)) * HOLO_PROFILE)],
			    code->height);

			against += undither3_contradicts(job->bit[2][pixel->at], above, 0);
		}
		next = against < least ? least : against < next ? against : next;
		best = against < least ? more : best;
		least = against < least ? against : least;
	}
	if (next - least < STAIR_AHEAD || (float)least > 1 + CONTRADICTED_SHARE * (float)n)
		return PX_NAN;
	return best;
}

static int
take_surfaces(struct growing *growing, int round)
{
	struct planes *planes = &growing->job->planes;
	int taken = 0;

	for (size_t start = 0; start < growing->n; start++) {
		size_t n = 0;
		float more = PX_NAN;

		if (!growing->island_pixel[start].asked &&
		    !px_isnan(growing->island_pixel[start].rest))
			n = find_surface(growing, start);
		if (n >= ISLAND_LEAST)
			more = find_order(growing, n);
		for (size_t i = 0; i < n && !px_isnan(more); i++) {
			struct waiting *pixel = &growing->waiting[growing->queue[i]];

			pixel->turns = growing->island_pixel[growing->queue[i]].turns + more;
			if (growing_is_background(
				growing->job, pixel->at, pixel->place, pixel->turns))
				continue;
			pixel->round = round;
			planes->turns[pixel->at] = pixel->turns;
			planes->trusted[pixel->at] = 1;
			taken++;
		}
	}
	return taken;
}

/* Trusts those of the waiting pixels whose surface is found, as taken in this round. How many. */
static int
islands_find(struct growing *growing, int round)
{
	if (growing->n == 0 || growing->n > INT_MAX)
		return 0;
	for (size_t i = 0; i < growing->job->planes.pixels; i++)
		growing->index[i] = NOBODY;
	for (size_t i = 0; i < growing->n; i++) {
		const struct waiting *pixel = &growing->waiting[i];

		growing->island_pixel[i].rest = PX_NAN;
		if (pixel->round || pixel->hole)
			continue;
		growing->index[pixel->at] = (int)i;
		growing->island_pixel[i].arc = find_arc(growing->job, pixel);
	}
	for (size_t i = 0; i < growing->n; i++)
		if (growing->index[growing->waiting[i].at] != NOBODY)
			find_plane(growing, growing->waiting[i].at, &growing->island_pixel[i]);
	return take_surfaces(growing, round);
}

/*
 * ---- grown pixels settle ----
 *
 * As refine_turns() does with the whole picture, turns move to what bends least within the bounds
 * that the bits set; what they have grown from stays.
 */

#define SETTLE_STEPS 40

struct settling {
	const struct growing *growing;
	float *surface;		/* turns; UNDITHER3_FAR where nothing is trusted */
	float momentum;
};

/* How a line of pixels bends around one of them. */
static float
bent(const float *at, ptrdiff_t step)
{
	float before = undither3_bend_of(at[-2 * step], at[-step], at[0]);
	float here = undither3_bend_of(at[-step], at[0], at[step]);
	float after = undither3_bend_of(at[0], at[step], at[2 * step]);

	return before + after - 2 * here;
}

static void
step_block(void *arg, size_t block)
{
	const struct settling *settling = arg;
	const struct growing *growing = settling->growing;
	ptrdiff_t stride = (ptrdiff_t)growing->job->planes.stride;

	for (size_t i = block * GROW_PIXELS; i < growing->n && i < (block + 1) * GROW_PIXELS; i++) {
		struct waiting *pixel = &growing->waiting[i];
		const float *at = settling->surface + pixel->at;
		float next;

		if (!pixel->round)
			continue;
		next = undither3_step(
		    *at, bent(at, 1) + bent(at, stride), pixel->low, pixel->high);
		pixel->next = next + settling->momentum * (next - pixel->turns);
		pixel->turns = next;
	}
}

/* Moves the planes' turns of the pixels that were taken. */
static void
settle(struct run *run, struct growing *growing)
{
	const struct job *job = growing->job;
	const struct bits_code *code = &job->priv->bits;
	struct planes *planes = &growing->job->planes;
	struct settling settling = { growing, job->smooth[1], 0 };
	size_t blocks = (growing->n + GROW_PIXELS - 1) / GROW_PIXELS;

	for (size_t i = 0; i < planes->pixels; i++)
		settling.surface[i] = planes->trusted[i] > 0 ? planes->turns[i] : UNDITHER3_FAR;
	for (size_t i = 0; i < growing->n; i++) {
		struct waiting *pixel = &growing->waiting[i];
		struct bits_bounds bounds = bits_bound(pixel->turns, job->bit[0][pixel->at],
		    job->bit[1][pixel->at], code->arc[0][pixel->place],
		    code->arc[1][pixel->place]);

		pixel->low = bounds.low;
		pixel->high = bounds.high;
	}
	for (int step = 0; step < SETTLE_STEPS; step++) {
		settling.momentum = (float)step / (float)(step + 3);
		run_for(run, blocks, step_block, &settling);
		for (size_t i = 0; i < growing->n; i++)
			if (growing->waiting[i].round)
				settling.surface[growing->waiting[i].at] = growing->waiting[i].next;
	}
	for (size_t i = 0; i < growing->n; i++)
		if (growing->waiting[i].round)
			planes->turns[growing->waiting[i].at] =
			    px_max(growing->waiting[i].turns, 0.0f);
}

/* Grows what is trusted; where marks stop what grows too far, islands in what remains, too. */
static void
growing_grow(struct run *run, struct growing *growing)
{
	const struct job *job = growing->job;
	const struct planes *planes = &job->planes;
	struct waiting *pixel = growing->waiting;
	bool marked = job->priv->keys.marked;

	for (size_t y = 0; y < planes->h; y++)
		for (size_t x = 0; x < planes->w; x++) {
			size_t at = planes_at(planes, x, y);

			if (planes->inside[at] > 0 && !(planes->trusted[at] > 0))
				*pixel++ = (struct waiting){ .at = at, .place = tile_place(x, y),
					.hole = beside_background(job, at, x, y) };
		}
	growing->n = (size_t)(pixel - growing->waiting);
	growing->island = grow_rounds(run, growing, marked ? marked_rounds : plain_rounds, 1);
	if (marked) {
		poll_all(run, growing, growing->island - 1);
		if (islands_find(growing, growing->island) > 0)
			grow_rounds(run, growing, rounds_again, growing->island + 1);
	}
	settle(run, growing);
}

/* ---- certainty ---- */

#define ALIKE_LEAST 3	/* neighbours of eight: a pixel with fewer is where two surfaces mix */
#define UNCERTAIN 0.5f	/* half of the untaken pixels are right (measured) */

/* Measured on six views of two scans; where jumps are marked on 35 pictures, islands and what grows
 * from them on 49. Of pixels taken in round r, with n untaken ones among eight neighbours and a of
 * their surface, a share of 1/(1 + exp(-(first + per_round r + per_untaken n + per_alike a))) has a
 * wrong order. at_jump counts with a neighbour of another surface, and is larger than measured: of
 * 34 wrong pixels in 35 pictures 17 had one, and three or four of their own. */
struct certainty_fit {
	float first, per_round, per_untaken, per_alike, at_jump;
};

static const struct certainty_fit plain_fit = { -5.43f, 0.47f, 0.42f, 0, 0 };
static const struct certainty_fit marked_fit = { 0, 0.148f, 0, -2.17f, 4 };
static const struct certainty_fit island_fit = { -1.35f, 0, 0, -0.62f, 0 };

/* Untaken neighbours of a pixel; those of its surface; those of another one. */
struct neighbours {
	int untaken, alike, other;
};

static struct neighbours
count_neighbours(const struct planes *planes, size_t at)
{
	struct neighbours n = { 0, 0, 0 };

	for (int way = 0; way < BITS_WAYS; way++) {
		size_t to = at + (size_t)planes->way[way];
		bool trusted = planes->trusted[to] > 0;
		bool near = px_abs(planes->turns[to] - planes->turns[at]) < 0.5f;

		n.untaken += planes->inside[to] > 0 && !trusted;
		n.alike += trusted && near;
		n.other += trusted && !near;
	}
	return n;
}

static void
find_certainty(const struct growing *growing, bool bits)
{
	struct planes *planes = &growing->job->planes;
	bool marked = growing->job->priv->keys.marked;

	for (size_t y = 0; y < planes->h; y++)
		for (size_t x = 0; x < planes->w; x++) {
			size_t at = planes_at(planes, x, y);
			bool sure = planes->trusted[at] > 0;

			if (sure && bits)
				sure = count_neighbours(planes, at).alike >= ALIKE_LEAST;
			planes->certainty[at] = planes->inside[at] == 0 ? PX_NAN
			    : sure				        ? 1
								        : UNCERTAIN;
		}
	for (size_t i = 0; i < growing->n; i++) {
		const struct waiting *pixel = &growing->waiting[i];
		const struct certainty_fit *fit = pixel->round >= growing->island ? &island_fit
		    : marked ? &marked_fit : &plain_fit;
		struct neighbours n;
		float off;

		if (!pixel->round || planes->certainty[pixel->at] < 1)
			continue;
		n = count_neighbours(planes, pixel->at);
		off = fit->first + fit->per_round * (float)pixel->round +
		    fit->per_untaken * (float)n.untaken + fit->per_alike * (float)n.alike +
		    (n.other > 0 ? fit->at_jump : 0);
		planes->certainty[pixel->at] = px_max(1 / (1 + px_exp(off)), UNCERTAIN);
	}
}

const struct growing_rows AT_LEVEL(growing_rows) = {
	.begin = growing_begin,
	.grow = growing_grow,
	.find_certainty = find_certainty,
};
