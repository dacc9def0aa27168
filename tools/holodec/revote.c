#include "revote.h"

#include <math.h>

#include "base/px.h"
#include "mixing.h"

#define MOST 4096	/* pixels of a small region */
#define ASKED_LEAST 12	/* of its pixels must tell */
#define OFF_LEAST 0.6	/* orders, that it must be off */

/* Has the pixel background within REACH, which darkens its stair? */
static bool
is_near_background(const struct growing *growing, const struct pixel *pixel)
{
	for (int dy = -REACH; dy <= REACH; dy++)
		for (int dx = -REACH; dx <= REACH; dx++) {
			ptrdiff_t at = growing_beside(growing, pixel, dx, dy);

			if (at >= 0 && px_isnan(growing->turns[at]))
				return true;
		}
	return false;
}

/* The root of a run's region, where that is small, else NULL. */
static struct run_of_pixels *
small_root(struct regions *regions, size_t run)
{
	struct run_of_pixels *root = &regions->run[regions->branch[run].parent];

	return root->members >= ASKED_LEAST && root->members < MOST ? root : NULL;
}

/* Does the pixel have its region's order? */
static bool
has_voted(const struct regions *regions, size_t at)
{
	return regions->order[at] == (float)regions->lead[at];
}

static void
ask_run(struct growing *growing, size_t k, size_t y)
{
	struct regions *regions = growing->regions;
	struct run_of_pixels *root = small_root(regions, k);

	for (int32_t x = regions->run[k].first; root && x < regions->run[k].end; x++) {
		struct pixel pixel = { .x = x, .y = (int32_t)y,
			.at = (int32_t)(y * regions->w) + x };

		if (!has_voted(regions, (size_t)pixel.at) ||
		    is_near_background(growing, &pixel))
			continue;
		pixel.read = mixing_read(growing, &pixel);
		root->sum += (int64_t)px_round(mixing_offset(growing, &pixel) * VOTE_STEPS);
		root->order++;
	}
}

/* By how many orders a region moves, of the sums at its root. */
static int32_t
find_shift(const struct run_of_pixels *root)
{
	double off = (double)root->sum / VOTE_STEPS / (root->order ? root->order : 1);

	return root->order < ASKED_LEAST || fabs(off) < OFF_LEAST ? 0 : (int32_t)lround(off);
}

static void
move_run(struct growing *growing, size_t k, size_t y)
{
	struct regions *regions = growing->regions;
	const struct run_of_pixels *root = small_root(regions, k);
	int32_t shift = root ? find_shift(root) : 0;
	float most = growing->reading->code.order_most;

	for (int32_t x = regions->run[k].first; shift && x < regions->run[k].end; x++) {
		size_t at = y * regions->w + (size_t)x;
		float order = regions->order[at] + (float)shift;

		if (!has_voted(regions, at) || order < 0 || order > most)
			continue;
		regions->order[at] = order;
		growing->turns[at] = order + regions->rest[at];
	}
}

void
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
