/* Surfaces grow by their pixels' bits; neighbours vote; how certain each pixel is. */
#include "grow.h"

#include <stdlib.h>

#include "islands.h"
#include "settle.h"

#define TOGETHER 0.3f	/* turns; neighbours that are farther apart do not agree */
#define CONTRADICTED 0.15f	/* turns; bits that are farther off are those of a hole */
#define POLLS 3
#define POLL_LEAST 4	/* neighbours that carry the same, */
#define POLL_AHEAD 2	/* so many more than those that carry something else */
#define TRUSTED_LEAST 0.35	/* of a surface of SURFACE_LEAST pixels and more */
#define SURFACE_LEAST 1000
#define ROUNDS_AGAIN 9		/* of each rule, from islands on */
#define UNCERTAIN 0.5f	/* as measured: of pixels that are taken by nobody half are right */

/* How strict rounds are: how many neighbours must carry their surface to a pixel, and how far its
 * turns may then be off the pixel's bits. */
#define RULES 3
static const struct rule {
	int least;
	float tolerance;
} rules[RULES] = { { 3, 0.03f }, { 3, 0.06f }, { 2, 0.06f } };

/* Rounds of each. Where jumps are marked, the last rule has more: surfaces end at marks. */
static const int plain_rounds[RULES] = { 3, 3, 3 }, marked_rounds[RULES] = { 3, 3, 9 };

/* Measured on six views of two scans, on 35 pictures where jumps are marked, islands and what grows
 * from them on 49: of pixels taken in round r, with n untaken ones among eight neighbours
 * and a of their surface, a share of 1/(1 + exp(-(first + per_round r + per_untaken n +
 * per_alike a))) has a wrong order. at_jump, with a neighbour of another surface, is more than is
 * measured: of 34 wrong pixels in 35 pictures 17 were such, with three or four of their own. */
static const struct certainty_fit {
	float first, per_round, per_untaken, per_alike, at_jump;
} plain_fit = { -5.43f, 0.47f, 0.42f, 0, 0 }, marked_fit = { 0, 0.148f, 0, -2.17f, 4 },
  island_fit = { -1.35f, 0, 0, -0.62f, 0 };

/* The turns of a pixel by its neighbours; NaN where they do not agree or are too few. */
static float
ask(const struct growing *growing, const struct rule *rule, const struct waiting *pixel)
{
	const struct job *job = growing->job;
	const struct planes *planes = &job->planes;
	const float *turns = planes->turns + pixel->at, *trusted = planes->trusted + pixel->at;
	struct bits_pixel bits = { job->bit[0][pixel->at], job->bit[1][pixel->at],
		job->bit[2][pixel->at], pixel->place };
	float low = 1e6f, high = -1e6f, sum = 0;
	int n = 0;

	for (int way = 0; way < BITS_WAYS; way++) {
		ptrdiff_t step = bits_way[way][1] * (ptrdiff_t)planes->stride + bits_way[way][0];
		float fit;

		if (!(trusted[step] > 0))
			continue;
		fit = bits_fit(&job->priv->bits, &bits,
		    bits_carry(turns[step], trusted[2 * step] > 0 ? turns[2 * step] : PX_NAN),
		    rule->tolerance);
		if (px_isnan(fit))
			continue;
		low = px_min(low, fit);
		high = px_max(high, fit);
		sum += fit;
		n++;
	}
	return n >= rule->least && high - low < TOGETHER ? sum / (float)n : PX_NAN;
}

static void
ask_block(void *arg, size_t block)
{
	const struct growing *growing = arg;

	for (size_t i = block * GROW_PIXELS; i < growing->n && i < (block + 1) * GROW_PIXELS; i++) {
		struct waiting *pixel = &growing->waiting[i];

		if (pixel->round || pixel->hole)
			continue;
		pixel->turns = ask(growing, &rules[growing->rule], pixel);
		pixel->taken = !px_isnan(pixel->turns);
	}
}

/* What was asked of the last round's pixels becomes this one's; how many. */
static size_t
take(struct growing *growing, int round)
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

/* Of each rule so many rounds, the first of them being `round`; the round behind them. */
static int
grow_rounds(struct run *run, struct growing *growing, const int rounds[], int round)
{
	size_t blocks = (growing->n + GROW_PIXELS - 1) / GROW_PIXELS;

	for (size_t i = 0; i < RULES; i++) {
		growing->rule = i;
		for (int k = 0; k < rounds[i]; k++) {
			run_for(run, blocks, ask_block, growing);
			if (take(growing, round + k) == 0)
				break;
		}
		round += rounds[i];
	}
	return round;
}

/* ---- where neighbours disagree ---- */

/* Turns that neighbours carry to a pixel and that give its bits; how many. */
static int
find_fits(const struct growing *growing, const struct waiting *pixel, float fit[BITS_WAYS])
{
	const struct job *job = growing->job;
	const struct planes *planes = &job->planes;
	const float *turns = planes->turns + pixel->at, *trusted = planes->trusted + pixel->at;
	struct bits_pixel bits = { job->bit[0][pixel->at], job->bit[1][pixel->at],
		job->bit[2][pixel->at], pixel->place };
	int n = 0;

	for (int way = 0; way < BITS_WAYS; way++) {
		ptrdiff_t step = bits_way[way][1] * (ptrdiff_t)planes->stride + bits_way[way][0];

		if (!(trusted[step] > 0))
			continue;
		fit[n] = bits_fit(&job->priv->bits, &bits,
		    bits_carry(turns[step], trusted[2 * step] > 0 ? turns[2 * step] : PX_NAN),
		    rules[RULES - 1].tolerance);
		n += !px_isnan(fit[n]);
	}
	return n;
}

/* The mean of the largest part of n turns that lie together; how many these are. */
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

/* pixel->next: what it becomes; NaN: nothing. Where all agree it stays what it is. */
static void
poll(const struct growing *growing, struct waiting *pixel)
{
	float fit[BITS_WAYS], here = growing->job->planes.turns[pixel->at], mean;
	int most, n = find_fits(growing, pixel, fit);

	mean = find_majority(fit, n, &most);
	pixel->next = pixel->round ? here : PX_NAN;
	if (most == n)
		return;
	if (most < POLL_LEAST || most < n - most + POLL_AHEAD)
		pixel->next = PX_NAN;
	else if (!(px_abs(mean - pixel->next) < TOGETHER))
		pixel->next = mean;
}

static void
poll_block(void *arg, size_t block)
{
	const struct growing *growing = arg;

	for (size_t i = block * GROW_PIXELS; i < growing->n && i < (block + 1) * GROW_PIXELS; i++)
		if (!growing->waiting[i].hole)
			poll(growing, &growing->waiting[i]);
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

/* From what is trusted; where marks stop what grows too far, from islands in what remains, too. */
static int
grow_all(struct run *run, struct growing *growing)
{
	static const int again[RULES] = { ROUNDS_AGAIN, ROUNDS_AGAIN, ROUNDS_AGAIN };
	bool marked = growing->job->priv->keys.marked;
	int found = 0;

	growing->island = grow_rounds(run, growing, marked ? marked_rounds : plain_rounds, 1);
	if (marked)
		poll_all(run, growing, growing->island - 1);
	if (marked)
		found = islands_find(growing, growing->island);
	if (found > 0)
		grow_rounds(run, growing, again, growing->island + 1);
	return found < 0 ? -1 : 0;
}

/* ---- certainty ---- */

/* Neighbours of a pixel that nobody has taken; those of its surface; those of another one. */
struct neighbours {
	int untaken, alike, other;
};

static struct neighbours
count_neighbours(const struct planes *planes, size_t at)
{
	struct neighbours n = { 0, 0, 0 };

	for (int way = 0; way < BITS_WAYS; way++) {
		size_t to = at +
		    (size_t)(bits_way[way][1] * (ptrdiff_t)planes->stride + bits_way[way][0]);
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
	const struct certainty_fit *fit;

	for (size_t y = 0; y < planes->h; y++)
		for (size_t x = 0; x < planes->w; x++) {
			size_t at = (y + MARGIN) * planes->stride + x + MARGIN;
			bool sure = planes->trusted[at] > 0;

			if (sure && bits)
				sure = count_neighbours(planes, at).alike >= GROW_ALIKE;
			planes->certainty[at] = planes->inside[at] == 0 ? PX_NAN
			    : sure				        ? 1
								        : UNCERTAIN;
		}
	for (size_t i = 0; i < growing->n; i++) {
		const struct waiting *pixel = &growing->waiting[i];
		struct neighbours n;
		float off;

		if (!pixel->round || planes->certainty[pixel->at] < 1)
			continue;
		fit = pixel->round >= growing->island ? &island_fit
		    : marked			      ? &marked_fit
						      : &plain_fit;
		n = count_neighbours(planes, pixel->at);
		off = fit->first + fit->per_round * (float)pixel->round +
		    fit->per_untaken * (float)n.untaken + fit->per_alike * (float)n.alike +
		    (n.other > 0 ? fit->at_jump : 0);
		planes->certainty[pixel->at] = px_max(1 / (1 + px_exp(off)), UNCERTAIN);
	}
}

/* ---- the picture ---- */

/* Has a pixel no bits, and one of its neighbours none although a surface would have some there? */
static bool
beside_background(const struct job *job, size_t at, size_t x, size_t y)
{
	ptrdiff_t stride = (ptrdiff_t)job->planes.stride;

	if (job->bit[0][at] + job->bit[1][at] + job->bit[2][at] > 0)
		return false;
	for (int way = 0; way < BITS_WAYS; way++) {
		size_t to = at + (size_t)(bits_way[way][1] * stride + bits_way[way][0]);
		size_t u = x + DITHER_TILE + (size_t)bits_way[way][0];
		size_t v = y + DITHER_TILE + (size_t)bits_way[way][1];

		if (job->bit[0][to] + job->bit[1][to] == 0 &&
		    !bits_may_lack(&job->priv->bits,
			v % DITHER_TILE * DITHER_TILE + u % DITHER_TILE))
			return true;
	}
	return false;
}

/* Do a pixel's own bits contradict its turns? */
static bool
contradicts_own(const struct job *job, size_t at, size_t place, float turns)
{
	struct bits_pixel own = { job->bit[0][at], job->bit[1][at], job->bit[2][at], place };

	return px_isnan(bits_fit(&job->priv->bits, &own, turns, CONTRADICTED));
}

/* Pixels without bits that the average has taken over from the surface around; where jumps are
 * marked, bits that contradict it mark a hole, too. How many pixels were trusted. */
static size_t
drop_background(struct planes *planes, const struct job *job)
{
	size_t trusted = 0;

	for (size_t y = 0; y < planes->h; y++)
		for (size_t x = 0; x < planes->w; x++) {
			size_t at = (y + MARGIN) * planes->stride + x + MARGIN;
			size_t place = y % DITHER_TILE * DITHER_TILE + x % DITHER_TILE;
			bool contradicted;

			if (!(planes->trusted[at] > 0))
				continue;
			contradicted = contradicts_own(job, at, place, planes->turns[at]);
			trusted++;
			if (growing_is_background(job, at, place, planes->turns[at]) ||
			    (contradicted && job->priv->keys.marked))
				planes->trusted[at] = 0;
		}
	return trusted;
}

static int
list_waiting(struct growing *growing)
{
	struct planes *planes = &growing->job->planes;
	size_t most = 0;

	growing->trusted = drop_background(planes, growing->job);
	for (size_t i = 0; i < (planes->h + 2 * MARGIN) * planes->stride; i++)
		most += planes->inside[i] > 0 && !(planes->trusted[i] > 0);
	growing->waiting = calloc(most ? most : 1, sizeof(*growing->waiting));
	if (!growing->waiting)
		return fail_memory();
	for (size_t y = 0; y < planes->h; y++)
		for (size_t x = 0; x < planes->w; x++) {
			size_t at = (y + MARGIN) * planes->stride + x + MARGIN;

			if (planes->inside[at] > 0 && !(planes->trusted[at] > 0))
				growing->waiting[growing->n++] = (struct waiting){ .at = at,
					.place = y % DITHER_TILE * DITHER_TILE + x % DITHER_TILE,
					.hole = beside_background(growing->job, at, x, y) };
		}
	return 0;
}

/*
 * A surface of a picture that was moved, turned over, inverted or scaled is trusted at a quarter of
 * its pixels at most, that of an untouched one at three quarters and more. Once in a run.
 */
static void
check_thresholds(struct priv *priv, const struct growing *growing)
{
	const struct planes *planes = &growing->job->planes;
	size_t surface = 0;

	for (size_t i = 0; i < (planes->h + 2 * MARGIN) * planes->stride; i++)
		surface += planes->inside[i] > 0;
	if (priv->warned || surface < SURFACE_LEAST ||
	    (double)growing->trusted >= TRUSTED_LEAST * (double)surface)
		return;
	priv->warned = true;
	warn(NULL,
	    "the bits agree with the thresholds of %s at %.0f %% of the surface only: was the "
	    "picture moved, cropped, turned over, inverted or scaled, or dithered otherwise?",
	    dither_methods[priv->keys.method], 100 * (double)growing->trusted / (double)surface);
}

int
grow(struct run *run, struct job *job, bool bits)
{
	struct growing growing = { .job = job };
	int status = 0;

	if (bits && list_waiting(&growing) < 0)
		return -1;
	if (bits) {
		check_thresholds(run->priv, &growing);
		status = grow_all(run, &growing);
	}
	if (bits && status == 0)
		settle(run, &growing);
	find_certainty(&growing, bits);
	free(growing.waiting);
	return status;
}
