#include "dithered.h"

#include <math.h>
#include <stdlib.h>

#include "base/cpu_level.h"
#include "fringe/fringes.px.h"

#define REACH 5.5		/* in sigma; what lies beyond is less than 4e-8 of the light */
#define WINDOW (2 * (int)(REACH * DITHERED_SIGMA) + 4)

int
dithered_make(struct run *run, struct dithered *dithered, const struct pattern_spec *spec,
    const struct patterns *patterns, size_t i, const struct rig *rig, enum dither how)
{
	const struct pattern *pattern = &patterns->pattern[i];
	struct pattern_spec of_two_levels = *spec;
	bool down = pattern->axis == 'y';
	struct frame_head head;
	float *level;
	size_t n;
	int status;

	of_two_levels.bits = BITS_1;
	of_two_levels.w = rig->calib || rig->used[0] ? (size_t)rig->projector_px[0] : rig->w;
	of_two_levels.h = rig->calib || rig->used[1] ? (size_t)rig->projector_px[1] : rig->h;
	n = down ? of_two_levels.h : of_two_levels.w;
	if (patterns_head(&of_two_levels, patterns, i, &head) < 0)
		return -1;
	level = reallocarray(NULL, n, sizeof(*level));
	status = !level ? fail_memory() : frame_new(&head, &dithered->image);
	head_free(&head);
	for (size_t u = 0; status == 0 && u < n; u++)
		level[u] = fringes_sine(patterns_turn((double)u, pattern->period_px,
		    pattern->shift_rad), 0.5f, 0.5f);
	if (status == 0)
		status = levels_fill(run, dithered->image, 0, level, down, how);
	free(level);
	return status;
}

/* The shares of pixels `first` on in the light at `at`; returns how many there are. */
static int
weigh(double at, double sigma, double *first, double weight[WINDOW])
{
	double end = floor(at + REACH * sigma + 0.5), before = 0;
	int n;

	*first = floor(at - REACH * sigma + 0.5);
	n = (int)(end - *first) + 1;
	for (int i = 0; i < n; i++) {
		double upto = i == n - 1 ? 1 :
		    0.5 * erfc((at - (*first + i + 0.5)) / (sigma * sqrt(2)));

		weight[i] = upto - before;
		before = upto;
	}
	return n;
}

static void
add_row(const unsigned char *restrict pixel, double weight, double *restrict sum, int n)
{
	CPU_SIMD
	for (int x = 0; x < n; x++)
		sum[x] += weight * (double)pixel[x];
}

static size_t
within(double v, size_t n)
{
	return (size_t)fmin(fmax(v, 0), (double)n - 1);
}

double
dithered_share(const struct dithered *dithered, double column, double row)
{
	const struct frame *image = dithered->image;
	double wx[WINDOW], wy[WINDOW], sum[WINDOW], x0, y0, share = 0;
	size_t w = image->head.w, h = image->head.h;
	unsigned char edge[WINDOW];
	int nx = weigh(column, dithered->sigma_px, &x0, wx);
	int ny = weigh(row, dithered->sigma_px, &y0, wy);
	bool inside = x0 >= 0 && x0 + nx <= (double)w;

	for (int x = 0; x < nx; x++)
		sum[x] = 0;
	for (int y = 0; y < ny; y++) {
		const unsigned char *pixel = frame_row(image, 0, within(y0 + y, h));

		for (int x = 0; x < nx && !inside; x++)
			edge[x] = pixel[within(x0 + x, w)];
		add_row(inside ? pixel + (size_t)x0 : edge, wy[y], sum, nx);
	}
	for (int x = 0; x < nx; x++)
		share += wx[x] * sum[x];
	return share;
}
