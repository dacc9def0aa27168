/*
 * The loops of texmap: pixels of the picture, the discs of a cloud, and the colour of each point.
 */
#include "texmap.h"

#include "base/linear.h"
#include "base/px.h"

/* ---- the picture ---- */

static float
sample(const struct picture *picture, size_t c, size_t x, size_t y)
{
	return frame_sample_in(picture->type, frame_row(picture->frame, c, y), x);
}

/* The colour of a pixel. False: it has none, but a NaN, or an alpha of 0. */
static bool
picture_pixel(const struct picture *picture, size_t x, size_t y, float colour[3])
{
	for (size_t k = 0; k < 3; k++)
		colour[k] = sample(picture, picture->channel[k], x, y);
	return isfinite(colour[0]) && isfinite(colour[1]) && isfinite(colour[2]) &&
	    (picture->alpha == NO_CHANNEL || sample(picture, picture->alpha, x, y) > 0);
}

static double
picture_white(const struct picture *picture, float *largest)
{
	float most = 0, colour[3];

	for (size_t y = 0; y < picture->h; y++)
		for (size_t x = 0; x < picture->w; x++)
			if (picture_pixel(picture, x, y, colour))
				for (size_t k = 0; k < 3; k++)
					most = colour[k] > most ? colour[k] : most;
	*largest = most;
	return most <= 2 ? 1 : most <= 512 ? 255 : 65535;
}

/* ---- the discs of a cloud ---- */

#define DISC 2.75		/* radius in spacings: less leaves gaps at steps */
#define PIXELS_LEAST 0.75	/* radius in pixels, so that a disc covers its own pixel */

/* The rows or columns of the picture that a disc can reach, within 0 to n - 1. False: none. */
static bool
find_range(double at, double reach, size_t n, size_t range[2])
{
	double low = ceil(at - reach), high = floor(at + reach);

	if (!(high >= 0 && low <= (double)(n - 1)))
		return false;
	range[0] = (size_t)fmax(low, 0);
	range[1] = (size_t)fmin(high, (double)(n - 1));
	return low <= high;
}

/* The part of the picture that a disc can cover. Its near side looks larger than its middle. */
static bool
find_ranges(const struct visible_view *view, struct disc *disc)
{
	const double *s = disc->seen, *K = view->camera->K;
	double reach = disc->radius / (s[2] - disc->radius);

	return s[2] > disc->radius &&
	    find_range(disc->uv[0], reach * hypot(1, s[0] / s[2]) * fabs(K[0] / view->bin[0]),
	    view->w, disc->across) &&
	    find_range(disc->uv[1], reach * hypot(1, s[1] / s[2]) * fabs(K[4] / view->bin[1]),
	    view->h, disc->down);
}

/* Projects a point, and sets its disc. Writes its normal: NaN where it has no neighbours. */
static void
see_point(const struct drawing *drawing, size_t i)
{
	const struct visible_view *view = &drawing->visible->view;
	const struct cloud *cloud = &drawing->cloud;
	struct disc *disc = &drawing->disc[i];
	double X[3], normal[3], pixel, sign;
	bool seen, lone;

	for (size_t k = 0; k < 3; k++) {
		X[k] = cloud->xyz[k][i];
		normal[k] = cloud->normal[k][i];
	}
	lone = !(vector3_dot(normal, normal) > 0);
	seen = visible_project(view, X, disc->seen, disc->uv);
	for (size_t k = 0; k < 3; k++)
		disc->normal[k] = vector3_dot(view->camera->R + 3 * k, normal);
	pixel = disc->seen[2] * fmax(fabs(view->bin[0] / view->camera->K[0]),
	    fabs(view->bin[1] / view->camera->K[4]));
	disc->radius = fmax(DISC * cloud->spacing, PIXELS_LEAST * pixel);
	if (!seen || lone || !find_ranges(view, disc))
		disc->radius = 0;
	sign = cloud->sides != CLOUD_NORMALS && vector3_dot(disc->normal, disc->seen) > 0 ? -1 : 1;
	for (size_t k = 0; k < 3 && !lone; k++)
		frame_floats(drawing->surface, 3 + k, 0)[cloud->index[i]] =
		    (float)(sign * normal[k]);
}

static void
see_points(void *arg, size_t part)
{
	const struct drawing *drawing = arg;
	size_t end = (part + 1) * DRAWN_POINTS;

	for (size_t i = part * DRAWN_POINTS; i < end && i < drawing->cloud.n; i++)
		see_point(drawing, i);
}

/* Draws the rows y0 to y1 - 1 of a disc, without distortion of the lens within it. */
static void
draw_disc(const struct drawing *drawing, const struct disc *disc, size_t y0, size_t y1)
{
	struct raster *depth = &drawing->visible->depth;
	const struct visible_view *view = &drawing->visible->view;
	const double *K = view->camera->K, *s = disc->seen;
	double per_px[2] = { view->bin[0] / K[0], view->bin[1] / K[4] };
	double away = vector3_dot(disc->normal, s);

	for (size_t y = disc->down[0] < y0 ? y0 : disc->down[0]; y <= disc->down[1] && y < y1; y++)
		for (size_t x = disc->across[0]; x <= disc->across[1]; x++) {
			double ray[3] = { s[0] / s[2] + ((double)x - disc->uv[0]) * per_px[0],
				s[1] / s[2] + ((double)y - disc->uv[1]) * per_px[1], 1 };
			double z = away / vector3_dot(disc->normal, ray), square = 0;
			float q = (float)(-1 / z);

			for (size_t k = 0; k < 3; k++)
				square += (z * ray[k] - s[k]) * (z * ray[k] - s[k]);
			if (z > 0 && square <= disc->radius * disc->radius &&
			    q < depth->z[y * depth->w + x])
				depth->z[y * depth->w + x] = q;
		}
}

static void
draw_band(void *arg, size_t band)
{
	const struct drawing *drawing = arg;
	size_t y0 = band * drawing->rows, y1 = y0 + drawing->rows;

	y1 = y1 < drawing->visible->depth.h ? y1 : drawing->visible->depth.h;
	for (size_t i = 0; i < drawing->cloud.n; i++)
		if (drawing->disc[i].radius > 0 && drawing->disc[i].down[1] >= y0 &&
		    drawing->disc[i].down[0] < y1)
			draw_disc(drawing, &drawing->disc[i], y0, y1);
}

/* ---- the colour of a point ---- */

#define SUPERSAMPLES_MOST 16	/* along each axis */
#define JUMP_NOISES 8.0		/* distance of two surfaces, in standard deviations of the noise */

struct point {
	double X[3], along[2][3];	/* of the world: the point, and its tangents */
	double seen[3];			/* in the camera's frame */
	double normal[3];		/* there, towards the side that was measured; any length */
	double uv[2];
	bool tangents;
};

/* The normal in the camera's frame, from the channels, else from the tangents: seen from the
 * measured side, rows run down and columns to the right. False: there is none. */
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

/* The distance at a point up to which two surfaces are treated as one. */
static double
tolerance(const struct colouring *colouring, const struct point *point)
{
	const struct visible_view *view = &colouring->visible->view;
	const struct visible_points *points = &colouring->visible->points;
	double pixel = point->seen[2] * fmax(fabs(view->bin[0] / view->camera->K[0]),
	    fabs(view->bin[1] / view->camera->K[4]));

	return colouring->jump > 0 ? colouring->jump :
	    fmax(pixel, fmax(points->spacing, JUMP_NOISES * points->noise));
}

/* The mean of the pixels around a place that see the point. False: none does. */
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

/* The number of places along a tangent that the picture's pixels need. */
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

/* The mean over the piece of surface halfway to the neighbours. Leaves the colour as it is if one
 * pixel shows the whole piece. */
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

static void
colouring_part(void *arg, size_t part)
{
	const struct colouring *colouring = arg;
	const struct visible_points *points = &colouring->visible->points;
	struct colouring_counts *counts = &colouring->counts[part];
	size_t w = points->frame->head.w, across = (w + COLOURED_POINTS - 1) / COLOURED_POINTS;
	size_t y = part / across, first = part % across * COLOURED_POINTS;

	for (size_t x = first; x < first + COLOURED_POINTS && x < w; x++) {
		struct point point;
		float colour[3];
		bool given = visible_points_at(points, x, y, point.X);
		enum fate fate = given ? colour_point(colouring, x, y, &point, colour) : BLANK;

		counts->points += given;
		counts->of[fate] += given;
		for (size_t k = 0; k < 3; k++)
			frame_floats(colouring->out, k, y)[x] =
			    given && fate == COLOURED ? colour[k] : NAN;
	}
}

const struct texmap_rows AT_LEVEL(texmap_rows) = {
	.picture_white = picture_white,
	.see_points = see_points,
	.draw_band = draw_band,
	.colouring_part = colouring_part,
};
