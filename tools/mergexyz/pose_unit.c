#include "pose_unit.h"

#include <math.h>

#include "base/fail.h"

#define TURN_LEAST (M_PI / 36)
#define CONE 0.9		/* mean of the unit vectors to points that a camera in 0 sees */
#define SHIFT_SHARE 0.005	/* of the shift that a turn about the points makes */
#define SHIFT_MOST 100.0	/* times the points' distance: two views of one thing are 2 apart */

/* The mean distance of the points from 0; NaN where they lie all around it or there are none. */
static double
distance(const struct frame *frame)
{
	double sum[3] = { 0 }, all = 0, n = 0, cone;

	for (size_t y = 0; y < frame->head.h; y++) {
		const float *v[3];

		for (size_t k = 0; k < 3; k++)
			v[k] = frame_floats(frame,
			    head_channel(&frame->head, (char[2]){ "xyz"[k] }), y);
		for (size_t x = 0; x < frame->head.w; x++) {
			double length = sqrt((double)v[0][x] * v[0][x] +
			    (double)v[1][x] * v[1][x] + (double)v[2][x] * v[2][x]);

			if (!(length > 0))
				continue;
			for (size_t k = 0; k < 3; k++)
				sum[k] += v[k][x] / length;
			all += length;
			n++;
		}
	}
	cone = sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]) / n;
	return cone > CONE ? all / n : NAN;
}

bool
pose_unit_warn(const struct piece *first, const struct piece *piece, bool *warned)
{
	struct pose pose;
	double turn[3], angle, shift;

	pose_invert(&first->pose, &pose);
	pose_compose(&pose, &piece->pose, &pose);
	pose_turn(&pose, turn);
	angle = sqrt(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2]);
	shift = sqrt(pose.T[0] * pose.T[0] + pose.T[1] * pose.T[1] + pose.T[2] * pose.T[2]);
	if (shift > SHIFT_MOST * distance(piece->frame)) {
		warn("--pose", "frame %zu of view %zu and frame %zu of view %zu are %.4g apart, "
		    "and points lie some %.3g away: is T in the unit of the points?",
		    first->number, first->view, piece->number, piece->view, shift,
		    distance(piece->frame));
		*warned = true;
		return true;
	}
	if (angle < TURN_LEAST || !(shift > 0))
		return false;
	*warned = shift < SHIFT_SHARE * 2 * sin(angle / 2) * distance(piece->frame);
	if (*warned)
		warn("--pose", "from frame %zu of view %zu to frame %zu of view %zu a turn of %.3g "
		    "degrees shifts by %.3g only, and points lie some %.3g away: is T in the unit "
		    "of the points?", first->number, first->view, piece->number, piece->view,
		    angle * 180 / M_PI, shift, distance(piece->frame));
	return true;
}
