#include "rectified.h"

#include <math.h>

#define NEAR_PX 0.5

/* Does the rectified camera see a point of these axes at the pixel that it stands at? */
static bool
is_at(const struct stereo_view *view, const double X[3], size_t x, size_t y)
{
	return X[2] > 0 && fabs(view->f_px * X[0] / X[2] + view->cx_px - (double)x) < NEAR_PX &&
	    fabs(view->f_px * X[1] / X[2] + view->cy_px - (double)y) < NEAR_PX;
}

bool
rectified_points(const struct visible_points *points, const struct stereo_view *view)
{
	const struct frame_head *head = &points->frame->head;
	size_t pixels = head->w * head->h, as_they_are = 0, turned = 0;

	for (size_t i = 0; i < pixels && view->side == STEREO_LEFT; i++) {
		double X[3], to[3];
		size_t x = i % head->w, y = i / head->w;

		if (!visible_points_at(points, x, y, X))
			continue;
		for (size_t k = 0; k < 3; k++)
			to[k] = view->R[3 * k] * X[0] + view->R[3 * k + 1] * X[1] +
			    view->R[3 * k + 2] * X[2];
		as_they_are += is_at(view, X, x, y);
		turned += is_at(view, to, x, y);
	}
	return as_they_are > turned;
}

void
rectified_turn(const struct stereo_view *view, struct pinhole *camera)
{
	static const double none[3];

	pinhole_between(view->R, none, camera->R, camera->T, camera->R, camera->T);
	pinhole_complete(camera);
}
