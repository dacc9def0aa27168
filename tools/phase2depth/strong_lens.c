#include "strong_lens.h"

#include <string.h>

#include "phase2depth.px.h"

void
strong_lens_undo(const struct triangulation *t, const float *phase, double x0, double y0,
    const float *x, const float *y, float *shift, int n)
{
	struct phase2depth_lens lens;
	float per_x = (float)t->x_per_column;

	memcpy(&lens, t->lens_terms, sizeof(lens));
	for (int i = 0; i < n; i++)
		shift[i] = phase2depth_undo_strong_lens(lens,
		    t->px_per_rad * (double)phase[i] + t->code0_px,
		    (float)x0 + per_x * (float)i + x[i], (float)y0 + y[i], t->plain);
}
