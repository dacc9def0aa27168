#include "wrap_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/px.h"

#define ROWS 97			/* that are looked at */
#define TURN_MOST 6.3f		/* values of one turn, with rounding */
#define JUMP 5.0f		/* from end to end of it, with noise */
#define GAP 4			/* columns: rectify leaves out pixels between the two */
#define JUMPS_LEAST 2		/* a phase of one fringe may begin anywhere and jump once */

/* *jumps: how often the row falls back by a turn, less how often it rises by one, as noise there
 * does both; 0 where it holds more than a turn. False: nothing is valid. */
static bool
row_jumps(const float *v, size_t w, long *jumps)
{
	float least = INFINITY, most = -INFINITY;
	size_t last = w;

	*jumps = 0;
	for (size_t x = 0; x < w; x++) {
		if (px_isnan(v[x]))
			continue;
		least = px_min(least, v[x]);
		most = px_max(most, v[x]);
		if (last < w && x - last <= GAP)
			*jumps += (v[x] < v[last] - JUMP) - (v[x] > v[last] + JUMP);
		last = x;
	}
	if (!(most - least <= TURN_MOST))
		*jumps = 0;
	return last < w;
}

static int
check_channel(const char *path, const struct frame *in, size_t c, size_t w)
{
	size_t step = in->head.h / ROWS + 1, rows = 0, wrapped = 0, sum = 0;
	const char *name = in->head.channel[c], *own = strchr(name, '.');
	long jumps;

	for (size_t y = 0; y < in->head.h; y += step) {
		if (!row_jumps(frame_row(in, c, y), w, &jumps))
			continue;
		rows++;
		wrapped += labs(jumps) >= JUMPS_LEAST;
		sum += labs(jumps) >= JUMPS_LEAST ? (size_t)labs(jumps) : 0;
	}
	if (2 * wrapped <= rows)
		return 0;
	return fail(path, "%s stays within one turn and jumps by one %.0f times along a row: it is "
	    "a wrapped phase (unwrap2f makes it absolute)", own ? own + 1 : name,
	    (double)sum / (double)wrapped);
}

int
wrap_check(const char *path, const struct frame *in, const struct matching *matching)
{
	for (size_t k = 0; k < matching->maps; k++) {
		const struct value_map *left = &matching->left[k], *right = &matching->right[k];

		for (size_t i = 0; i < left->phases; i++)
			if (check_channel(NULL, in, left->channel[i], matching->w) < 0)
				return -1;
		for (size_t i = 0; i < right->phases; i++)
			if (check_channel(path, in, right->channel[i], matching->right_w) < 0)
				return -1;
	}
	return 0;
}
