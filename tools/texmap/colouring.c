#include "colouring.h"

#include <math.h>

#include "base/vector3.h"

#define SUPERSAMPLES_MOST 16	/* along each axis */
#define PART 4096		/* points of a row that a thread takes at a time */
#define NOISES 8.0		/* surfaces nearer to each other, in standard deviations, are one */

enum fate { COLOURED, BEHIND, OUTSIDE, LONE, GRAZED, HIDDEN, BLANK };

struct point {
	double X[3], along[2][3];	/* of the world: the point, and its tangents */
	double seen[3];			/* in the camera's frame */
	double normal[3];		/* there, towards the side that was measured; any length */
	double uv[2];
	bool tangents;
};

/* The normal in the camera's frame: the channels', else of the tangents, which see rows run down
 * and columns to the right from the side that was measured. */
static bool
find_normal(const struct colouring *colouring, size_t x, size_t y, struct point *point)
{
	const struct visible_points *points = &colouring->visible->points;
	const double *R = colouring->visible->view.camera->R, *a = point->along[0];
	const double *b = point->along[1];
	double normal[3];

	point->tangents = visible_points_tangents(points, x, y, point->along[0], point->along[1]);
	if (colouring->normal[0] != NO_CHANNEL) {
		for (size_t k = 0; k < 3; k++)
			normal[k] = frame_floats(points->frame, colouring->normal[k], y)[x];
	} else if (point->tangents) {
		for (size_t k = 0; k < 3; k++) {
			size_t i = (k + 1) % 3, j = (k + 2) % 3;

			normal[k] = a[j] * b[i] - a[i] * b[j];
		}
	} else {
		return false;
	}
	for (size_t k = 0; k < 3; k++)
		point->normal[k] = vector3_dot(R + 3 * k, normal);
	return vector3_dot(point->normal, point->normal) > 0;
}

/* Two surfaces may be so far apart at a point and still be one. */
static double
tolerance(const struct colouring *colouring, const struct point *point)
{
	const struct visible_view *view = &colouring->visible->view;
	const struct visible_points *points = &colouring->visible->points;
	double pixel = point->seen[2] * fmax(fabs(view->bin[0] / view->camera->K[0]),
	    fabs(view->bin[1] / view->camera->K[4]));

	return colouring->jump > 0 ? colouring->jump :
	    fmax(pixel, fmax(points->spacing, NOISES * points->noise));
}

/* The mean of the pixels around a place that see the point; false where there are none. */
static bool
take_colour(const struct picture *picture, const struct visible_corners *corners, float colour[3])
{
	float sum = 0, total[3] = { 0, 0, 0 }, pixel[3];

	for (size_t k = 0; k < 4; k++) {
		if (!(corners->weight[k] > 0) || !picture_pixel(picture, corners->x[k & 1],
		    corners->y[k >> 1], pixel))
			continue;
		sum += corners->weight[k];
		for (size_t i = 0; i < 3; i++)
			total[i] += corners->weight[k] * pixel[i];
	}
	for (size_t i = 0; i < 3 && sum > 0; i++)
		colour[i] = total[i] / sum;
	return sum > 0;
}

/* How many places along a tangent stand for the picture's pixels there. */
static int
places(const struct visible_view *view, const double X[3], const double along[3])
{
	double ends[2][2], seen[3], far = 0;

	for (int end = 0; end < 2; end++) {
		double at[3];

		for (int k = 0; k < 3; k++)
			at[k] = X[k] + (end - 0.5) * along[k];
		if (!visible_project(view, at, seen, ends[end]))
			return 1;
	}
	far = fmax(fabs(ends[1][0] - ends[0][0]), fabs(ends[1][1] - ends[0][1]));
	return (int)fmin(fmax(ceil(far), 1), SUPERSAMPLES_MOST);
}

/* The mean over the piece of surface halfway to the neighbours; colour stays where a pixel holds
 * all of it. */
static void
supersample(const struct colouring *colouring, const struct point *point, double jump,
    float colour[3])
{
	const struct visible *visible = colouring->visible;
	int n[2], taken = 0;
	float total[3] = { 0, 0, 0 }, one[3];

	for (int k = 0; k < 2; k++)
		n[k] = places(&visible->view, point->X, point->along[k]);
	if (n[0] * n[1] == 1)
		return;
	for (int i = 0; i < n[0] * n[1]; i++) {
		double a = (i % n[0] + 0.5) / n[0] - 0.5, b = (i / n[0] + 0.5) / n[1] - 0.5;
		double X[3], seen[3], uv[2];
		struct visible_corners corners;

		for (int k = 0; k < 3; k++)
			X[k] = point->X[k] + a * point->along[0][k] + b * point->along[1][k];
		if (!visible_project(&visible->view, X, seen, uv) ||
		    !visible_inside(&visible->view, uv))
			continue;
		visible_look(visible, seen, point->normal, uv, jump, &corners);
		if (corners.hidden || !take_colour(colouring->picture, &corners, one))
			continue;
		taken++;
		for (int k = 0; k < 3; k++)
			total[k] += one[k];
	}
	for (int k = 0; k < 3 && taken; k++)
		colour[k] = total[k] / (float)taken;
}

static enum fate
colour_point(const struct colouring *colouring, size_t x, size_t y, struct point *point,
    float colour[3])
{
	const struct visible *visible = colouring->visible;
	const struct visible_view *view = &visible->view;
	struct visible_corners corners;
	double jump, cosine;

	if (!visible_project(view, point->X, point->seen, point->uv))
		return BEHIND;
	if (!visible_inside(view, point->uv))
		return OUTSIDE;
	if (!find_normal(colouring, x, y, point))
		return LONE;
	cosine = -vector3_dot(point->normal, point->seen) /
	    sqrt(vector3_dot(point->normal, point->normal) *
	    vector3_dot(point->seen, point->seen));
	if (!(cosine >= colouring->least_cosine))
		return GRAZED;
	jump = tolerance(colouring, point);
	visible_look(visible, point->seen, point->normal, point->uv, jump, &corners);
	if (corners.hidden || !(corners.sum > 0))
		return HIDDEN;
	if (!take_colour(colouring->picture, &corners, colour))
		return BLANK;
	if (colouring->supersample && point->tangents)
		supersample(colouring, point, jump, colour);
	return COLOURED;
}

size_t
colouring_parts(const struct colouring *colouring)
{
	const struct frame_head *head = &colouring->visible->points.frame->head;

	return (head->w + PART - 1) / PART * head->h;
}

void
colouring_part(void *arg, size_t part)
{
	const struct colouring *colouring = arg;
	const struct visible_points *points = &colouring->visible->points;
	struct colouring_counts *counts = &colouring->counts[part];
	size_t w = points->frame->head.w, across = (w + PART - 1) / PART;
	size_t y = part / across, first = part % across * PART;

	for (size_t x = first; x < first + PART && x < w; x++) {
		struct point point;
		float colour[3];
		bool given = visible_points_at(points, x, y, point.X);
		enum fate fate = given ? colour_point(colouring, x, y, &point, colour) : BLANK;

		counts->points += given;
		counts->coloured += given && fate == COLOURED;
		counts->behind += given && fate == BEHIND;
		counts->outside += given && fate == OUTSIDE;
		counts->lone += given && fate == LONE;
		counts->grazed += given && fate == GRAZED;
		counts->hidden += given && fate == HIDDEN;
		counts->blank += given && fate == BLANK;
		for (size_t k = 0; k < 3; k++)
			frame_floats(colouring->out, k, y)[x] =
			    given && fate == COLOURED ? colour[k] : NAN;
	}
}

struct colouring_counts
colouring_add(const struct colouring_counts *row, size_t rows)
{
	struct colouring_counts all = { 0 };

	for (size_t y = 0; y < rows; y++) {
		all.points += row[y].points;
		all.coloured += row[y].coloured;
		all.behind += row[y].behind;
		all.outside += row[y].outside;
		all.lone += row[y].lone;
		all.grazed += row[y].grazed;
		all.hidden += row[y].hidden;
		all.blank += row[y].blank;
	}
	return all;
}
