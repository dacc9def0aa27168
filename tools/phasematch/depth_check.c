#include "depth_check.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "phasematch.px.h"

#define ROWS 61			/* that are looked at */
#define ALIKE_PX 1.0f		/* of neighbours: a surface, not matches of noise */
#define ENOUGH 200		/* points */
#define BEHIND 0.1		/* of them: right pairs have 0 */

struct depth_count {
	size_t points, behind;
};

static void
count_row(const struct rig *rig, const float *disparity, size_t w, struct depth_count *count)
{
	for (size_t x = 1; x + 1 < w; x++) {
		if (!(fabsf(disparity[x] - disparity[x - 1]) < ALIKE_PX) ||
		    !(fabsf(disparity[x] - disparity[x + 1]) < ALIKE_PX))
			continue;
		count->points++;
		count->behind += !(phasematch_depth(disparity[x], rig->centres,
		    rig->focal_baseline) > 0);
	}
}

int
depth_check(const char *path, const struct phasematch *priv, const struct frame *in,
    struct match_memory *memory)
{
	size_t step = in->head.h / ROWS + 1, w = priv->matching.w;
	float *disparity = priv->rig.known ? calloc(w, sizeof(*disparity)) : NULL;
	struct depth_count count = { 0 };
	struct match_counts counts;

	if (!priv->rig.known)
		return 0;
	if (!disparity)
		return fail_memory();
	for (size_t y = step / 2; y < in->head.h; y += step) {
		match_row(&priv->matching, memory, in, y, disparity, NULL, &counts);
		count_row(&priv->rig, disparity, w, &count);
	}
	free(disparity);
	if (count.points >= ENOUGH && (double)count.behind > BEHIND * (double)count.points)
		warn(path, "%.0f %% of the points lie behind the cameras: are left and right "
		    "exchanged, is the sign of T right, are the phases of both of one measurement, "
		    "and do crops say where they lie?", 100.0 * (double)count.behind /
		    (double)count.points);
	return 0;
}
