#include "place.h"

#include <string.h>

#include "base/cpu_level.h"
#include "base/fail.h"
#include "place.px.h"

int
place_take_pair(const struct numbers *option, const char *name, double pair[2])
{
	if (option->n == 0)
		return 0;
	if (option->n != 2)
		return fail_usage(name, "must be two numbers, not %zu", option->n);
	memcpy(pair, option->v, sizeof(double[2]));
	return 0;
}

int
place_plan(struct place *out, const struct holo *holo, const struct meta *meta)
{
	double(*place)[4] = out->row;
	struct numbers center, rotation;

	if (meta_numbers(meta, "center_mm", &center) < 0)
		return -1;
	if (meta_numbers(meta, "view_rotation", &rotation) < 0) {
		numbers_free(&center);
		return -1;
	}
	out->in_mesh = center.n == 3 && rotation.n == 9;
	memset(place, 0, sizeof(out->row));
	for (int k = 0; k < 2; k++) {
		place[k][k] = holo->spacing[k];
		place[k][3] = holo->corner[k];
	}
	place[2][2] = 1;
	for (int k = 0; out->in_mesh && k < 3; k++) {
		const double *r = rotation.v + k;

		place[k][0] = holo->spacing[0] * r[0];
		place[k][1] = holo->spacing[1] * r[3];
		place[k][2] = r[6];
		place[k][3] = center.v[k] - place[k][0] * (double)(holo->w - 1) / 2 -
		    place[k][1] * (double)(holo->h - 1) / 2;
	}
	numbers_free(&center);
	numbers_free(&rotation);
	return 0;
}

void
place_points(const struct place *to, size_t row, float *restrict x, float *restrict y,
    float *restrict z, size_t w)
{
	const double(*place)[4] = to->row;
	const double y0 = (double)row;
	const double ax = place[0][0], bx = place[0][2], cx = place[0][1] * y0 + place[0][3];
	const double ay = place[1][0], by = place[1][2], cy = place[1][1] * y0 + place[1][3];
	const double az = place[2][0], bz = place[2][2], cz = place[2][1] * y0 + place[2][3];

	CPU_SIMD
	for (size_t i = 0; i < w; i++) {
		double column = (double)(int)i;
		PX_F depth = z[i];

		x[i] = holodec_coordinate(ax, column, bx, depth, cx);
		y[i] = holodec_coordinate(ay, column, by, depth, cy);
		z[i] = holodec_coordinate(az, column, bz, depth, cz);
	}
}
