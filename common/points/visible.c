/* Which points a camera sees from a pose, and how much of two views overlaps. */
#include "points/visible.h"

#include "base/numbers.h"
#include "base/process.h"
#include "base/px.h"
#include "optics/camera_model.h"

/* Neighbours are linked up to so many times the median distance of neighbours. */
#define VISIBLE_LINK 8.0
/* A step so many times longer than the one beside it is an edge. */
#define VISIBLE_STEP 2.5

/* Distances that the medians are taken of: more make them no better. */
#define SAMPLED_DISTANCES 65536
#define NORMAL_MEDIAN 0.6745	/* of |x|, x of the normal distribution with standard deviation 1 */

bool
visible_points_at(const struct visible_points *points, size_t x, size_t y, double X[3])
{
	for (int k = 0; k < 3; k++)
		X[k] = frame_floats(points->frame, points->channel[k], y)[x];
	return isfinite(X[0]) && isfinite(X[1]) && isfinite(X[2]);
}

/* How far a point lies from the middle of its two neighbours in the row or the column; NaN where
 * one is missing. */
static double
bend_at(const struct visible_points *points, size_t x, size_t y, bool down, const double X[3])
{
	const struct frame_head *head = &points->frame->head;
	size_t at = down ? y : x, n = down ? head->h : head->w;
	double before[3], next[3], middle[3];

	if (at == 0 || at + 1 >= n || !visible_points_at(points, x - !down, y - down, before) ||
	    !visible_points_at(points, x + !down, y + down, next))
		return (double)NAN;
	for (int k = 0; k < 3; k++)
		middle[k] = (before[k] + next[k]) / 2;
	return visible_points_distance(X, middle);
}

void
visible_points_init(struct visible_points *points, const struct frame *frame,
    const size_t channel[3])
{
	size_t pixels = frame->head.w * frame->head.h, stride = pixels / SAMPLED_DISTANCES + 1;
	size_t steps = 0, offs = 0;
	float *step = must_alloc(4 * SAMPLED_DISTANCES, sizeof(*step)), *off;

	*points = (struct visible_points){ .frame = frame,
		.channel = { channel[0], channel[1], channel[2] } };
	off = step + 2 * SAMPLED_DISTANCES;
	for (size_t i = 0; i < pixels; i += stride)
		for (size_t down = 0; down < 2; down++) {
			size_t x = i % frame->head.w, y = i / frame->head.w;
			double X[3], next[3];

			if (x + !down >= frame->head.w || y + down >= frame->head.h ||
			    !visible_points_at(points, x, y, X) ||
			    !visible_points_at(points, x + !down, y + down, next))
				continue;
			step[steps] = (float)visible_points_distance(X, next);
			steps += isfinite(step[steps]);
			off[offs] = (float)bend_at(points, x, y, down, X);
			offs += isfinite(off[offs]);
		}
	points->spacing = numbers_median(step, steps);
	/* of X - (X1 + X2)/2, whose variance is 3/2 of a point's */
	points->noise = (double)numbers_median(off, offs) / NORMAL_MEDIAN / sqrt(1.5);
	free(step);
}

/* The neighbour at (x + dx, y + dy), if it is linked with X. */
static bool
linked(const struct visible_points *points, const double X[3], size_t x, size_t y, int dx, int dy,
    double next[3])
{
	const struct frame_head *head = &points->frame->head;

	if ((dx < 0 && x == 0) || (dy < 0 && y == 0) || (dx > 0 && x + 1 >= head->w) ||
	    (dy > 0 && y + 1 >= head->h))
		return false;
	return visible_points_at(points, x + (size_t)dx, y + (size_t)dy, next) &&
	    visible_points_distance(X, next) <= VISIBLE_LINK * points->spacing;
}

static bool
tangent(const struct visible_points *points, const double X[3], size_t x, size_t y, bool down,
    double along[3])
{
	double before[3], next[3];
	bool has_before = linked(points, X, x, y, -!down, -down, before);
	bool has_next = linked(points, X, x, y, !down, down, next);

	if (has_before && has_next) {
		double a = visible_points_distance(X, before), b = visible_points_distance(X, next);

		has_before = a <= VISIBLE_STEP * b;
		has_next = b <= VISIBLE_STEP * a;
	}
	for (int k = 0; k < 3; k++)
		along[k] = has_before && has_next ? (next[k] - before[k]) / 2 :
		    has_next ? next[k] - X[k] : X[k] - before[k];
	return has_before || has_next;
}

bool
visible_points_tangents(const struct visible_points *points, size_t x, size_t y, double along_x[3],
    double along_y[3])
{
	double X[3];

	return visible_points_at(points, x, y, X) && tangent(points, X, x, y, false, along_x) &&
	    tangent(points, X, x, y, true, along_y);
}

/* ---- what a camera sees: the depth buffer of its picture ---- */

#define RADIUS_MOST 20.0	/* tan of 87 degrees */
#define LEAST_WEIGHT 0.01f	/* a pixel that counts for less hides no point */
#define BANDS_MOST 64
#define BAND_ROWS 16		/* at least */
#define BLOCK 16		/* cells of the frame that are skipped together */
#define BEND 0.25		/* distances of neighbours */
#define BEND_NOISES 10.0		/* standard deviations of a point that are no bend */

double
visible_reach(const struct pinhole *camera)
{
	double r = 0;

	while (camera->distorted && r < RADIUS_MOST && lens_growth(camera->distortion, r) > 0)
		r += 1e-3;
	return camera->distorted ? r : INFINITY;
}

bool
visible_project(const struct visible_view *view, const double X[3], double seen[3], double uv[2])
{
	const struct pinhole *camera = view->camera;

	pinhole_from_world(camera, X, seen);
	if (!pinhole_project(camera, X, uv) ||
	    !(hypot(seen[0], seen[1]) < view->reach * seen[2]))
		return false;
	for (int k = 0; k < 2; k++)
		uv[k] = (uv[k] - view->origin_px[k] + 0.5) / view->bin[k] - 0.5;
	return true;
}

/* ---- drawing it ---- */

struct drawing {
	struct visible *visible;
	/* of each pixel of the frame that carries the surface, else NaN */
	float *u, *v, *q;
	float *along[2];		/* lengths of its tangents */
	size_t across, blocks;		/* blocks in a row, of all */
	float (*range)[2];		/* least and largest v of each block */
	size_t rows;			/* of a band */
	uint8_t *bends;			/* at each pixel of the frame: BENDS_ */
	double bend;			/* a second difference of more is one, not noise */
};

enum { BENDS_ALONG = 1, BENDS_DOWN = 2 };	/* the row, the column */

/* The rounding of u and v to floats is the same for all triangles of a pixel. */
static void
project_row(void *arg, size_t y)
{
	const struct drawing *drawing = arg;
	const struct visible *visible = drawing->visible;
	const struct visible_points *points = &visible->points;
	size_t w = points->frame->head.w;
	double X[3], seen[3], uv[2], along[2][3], zero[3] = { 0 };

	for (size_t x = 0; x < w; x++) {
		size_t i = y * w + x;

		drawing->u[i] = drawing->v[i] = drawing->q[i] = NAN;
		drawing->bends[i] = 0;
		if (!visible_points_at(points, x, y, X) ||
		    !visible_points_tangents(points, x, y, along[0], along[1]) ||
		    !visible_project(&visible->view, X, seen, uv))
			continue;
		drawing->u[i] = (float)uv[0];
		drawing->v[i] = (float)uv[1];
		drawing->q[i] = (float)(-1 / seen[2]);
		drawing->bends[i] =
		    (2 * bend_at(points, x, y, false, X) > drawing->bend ? BENDS_ALONG : 0) |
		    (2 * bend_at(points, x, y, true, X) > drawing->bend ? BENDS_DOWN : 0);
		for (int k = 0; k < 2; k++)
			drawing->along[k][i] = (float)visible_points_distance(along[k], zero);
	}
}

/* The rows of the picture that the cells of a block reach into. */
static void
range_of_block(void *arg, size_t block)
{
	const struct drawing *drawing = arg;
	const struct frame_head *head = &drawing->visible->points.frame->head;
	size_t x0 = block % drawing->across * BLOCK, y0 = block / drawing->across * BLOCK;
	float low = INFINITY, high = -INFINITY;

	for (size_t y = y0; y <= y0 + BLOCK && y < head->h; y++)
		for (size_t x = x0; x <= x0 + BLOCK && x < head->w; x++) {
			float v = drawing->v[y * head->w + x];

			low = v < low ? v : low;
			high = v > high ? v : high;
		}
	drawing->range[block][0] = low;
	drawing->range[block][1] = high;
}

static void
draw_triangle(const struct drawing *drawing, const size_t corner[3], size_t y0)
{
	struct raster_vertex vertex[3];

	for (int k = 0; k < 3; k++) {
		size_t i = corner[k];

		if (!(drawing->q[i] < 0))
			return;
		vertex[k].x = (double)drawing->u[i];
		vertex[k].y = (double)drawing->v[i];
		vertex[k].z = (double)drawing->q[i];
	}
	raster_triangle(&drawing->visible->depth, y0, y0 + drawing->rows, &vertex[0], &vertex[1],
	    &vertex[2]);
}

/* Does the surface go on from corner to corner of a cell? */
static bool
is_whole(const struct drawing *drawing, const size_t corner[4], double X[4][3])
{
	static const int sides[4][2] = { { 0, 1 }, { 2, 3 }, { 0, 2 }, { 1, 3 } };

	for (int i = 0; i < 4; i++) {
		int a = sides[i][0], b = sides[i][1];
		const float *along = drawing->along[i / 2];

		if (!(visible_points_distance(X[a], X[b]) <= VISIBLE_STEP *
			(double)fmaxf(along[corner[a]], along[corner[b]])))
			return false;
	}
	return true;
}

/* A plane over a cell, from its corner a on: ways from there along the row and the column. */
static void
draw_plane(const struct drawing *drawing, int a, const double X[3], double way[2][3], size_t y0)
{
	const struct visible *visible = drawing->visible;
	struct raster_vertex vertex[4];
	double seen[3], uv[2], at[3];

	for (int b = 0; b < 4; b++) {
		for (int k = 0; k < 3; k++)
			at[k] = X[k] + ((b ^ a) & 1) * way[0][k] + ((b ^ a) >> 1) * way[1][k];
		if (!visible_project(&visible->view, at, seen, uv))
			return;
		vertex[b] = (struct raster_vertex){ uv[0], uv[1], -1 / seen[2], { 0 } };
	}
	for (int b = 0; b < 2; b++)
		raster_triangle(&drawing->visible->depth, y0, y0 + drawing->rows, &vertex[1],
		    &vertex[2], &vertex[3 * b]);
}

/* At an edge the surface ends somewhere before the next pixel: each corner's tangent plane over the
 * cell. */
static void
draw_ends(const struct drawing *drawing, size_t x, size_t y, const bool has[4], double X[4][3],
    size_t y0)
{
	const struct visible_points *points = &drawing->visible->points;
	double way[2][3];

	for (int a = 0; a < 4; a++) {
		if (!has[a] || !visible_points_tangents(points, x + (size_t)(a & 1),
		    y + (size_t)(a >> 1), way[0], way[1]))
			continue;
		for (int k = 0; k < 3; k++) {
			way[0][k] = a & 1 ? -way[0][k] : way[0][k];
			way[1][k] = a >> 1 ? -way[1][k] : way[1][k];
		}
		draw_plane(drawing, a, X[a], way, y0);
	}
}

/* The point so many pixels from a corner of a cell, away from it along the row or the column;
 * false where it bends itself, or is none. */
static bool
straight_before(const struct drawing *drawing, size_t x, size_t y, int a, bool down, size_t steps,
    double X[3])
{
	const struct visible_points *points = &drawing->visible->points;
	const struct frame_head *head = &points->frame->head;
	size_t at[2] = { x + (size_t)(a & 1), y + (size_t)(a >> 1) };
	bool forward = down ? a >> 1 : a & 1;

	if (forward ? at[down] + steps >= (down ? head->h : head->w) : at[down] < steps)
		return false;
	at[down] = forward ? at[down] + steps : at[down] - steps;
	return !(drawing->bends[at[1] * head->w + at[0]] & (down ? BENDS_DOWN : BENDS_ALONG)) &&
	    visible_points_at(points, at[0], at[1], X);
}

/* The way into a cell from a corner, as the two points before it have it, which lie on a straight
 * line with it. */
static bool
way_in(const struct drawing *drawing, size_t x, size_t y, int a, bool down, const double X[3],
    double way[3])
{
	double one[3], two[3];

	if (!straight_before(drawing, x, y, a, down, 1, one) ||
	    !straight_before(drawing, x, y, a, down, 2, two) ||
	    !(visible_points_distance(two, X) <=
		2 * VISIBLE_LINK * drawing->visible->points.spacing))
		return false;
	for (int k = 0; k < 3; k++)
		way[k] = (X[k] - two[k]) / 2;
	return true;
}

/* Where the surface bends at a corner of a cell its ridge may stand out of the triangles between
 * the points, so that the side before the bend is drawn straight on over the cell, too. */
static void
draw_bends(const struct drawing *drawing, size_t x, size_t y, const size_t corner[4],
    double X[4][3], size_t y0)
{
	for (int a = 0; a < 4; a++) {
		uint8_t bends = drawing->bends[corner[a]];
		double way[2][3];
		bool straight[2];

		if (!bends)
			continue;
		for (int d = 0; d < 2; d++) {
			straight[d] = way_in(drawing, x, y, a, d, X[a], way[d]);
			for (int k = 0; k < 3 && !straight[d]; k++)
				way[d][k] = X[a ^ (d ? 2 : 1)][k] - X[a][k];
		}
		if ((bends & BENDS_ALONG && straight[0]) || (bends & BENDS_DOWN && straight[1]))
			draw_plane(drawing, a, X[a], way, y0);
	}
}

/* The two triangles of a cell, or the one that is left where a corner is missing, split along the
 * shorter diagonal. */
static void
draw_cell(const struct drawing *drawing, size_t x, size_t y, size_t y0)
{
	const struct visible_points *points = &drawing->visible->points;
	size_t w = points->frame->head.w, i = y * w + x;
	const size_t corner[4] = { i, i + 1, i + w, i + w + 1 };
	double X[4][3];
	bool has[4], falling;
	int n = 0;

	for (int k = 0; k < 4; k++) {
		has[k] = drawing->q[corner[k]] < 0 &&
		    visible_points_at(points, x + (size_t)(k & 1), y + (size_t)(k >> 1), X[k]);
		n += has[k];
	}
	if (n > 0 && !(n == 4 && is_whole(drawing, corner, X)))
		draw_ends(drawing, x, y, has, X, y0);
	else if (n == 4)
		draw_bends(drawing, x, y, corner, X, y0);
	falling = has[0] && has[3] &&
	    !(has[1] && has[2] && visible_points_distance(X[1], X[2]) <=
	    visible_points_distance(X[0], X[3]));
	if (falling) {
		draw_triangle(drawing, (size_t[3]){ corner[0], corner[1], corner[3] }, y0);
		draw_triangle(drawing, (size_t[3]){ corner[0], corner[2], corner[3] }, y0);
	} else if (has[1] && has[2]) {
		draw_triangle(drawing, (size_t[3]){ corner[1], corner[2], corner[0] }, y0);
		draw_triangle(drawing, (size_t[3]){ corner[1], corner[2], corner[3] }, y0);
	}
}

static void
draw_band(void *arg, size_t band)
{
	const struct drawing *drawing = arg;
	const struct frame_head *head = &drawing->visible->points.frame->head;
	size_t y0 = band * drawing->rows;

	raster_clear(&drawing->visible->depth, y0, y0 + drawing->rows);
	for (size_t block = 0; block < drawing->blocks; block++) {
		size_t left = block % drawing->across * BLOCK;
		size_t top = block / drawing->across * BLOCK;

		if (!(drawing->range[block][1] >= (float)y0 - 1 &&
			drawing->range[block][0] <= (float)(y0 + drawing->rows)))
			continue;
		for (size_t y = top; y < top + BLOCK && y + 1 < head->h; y++)
			for (size_t x = left; x < left + BLOCK && x + 1 < head->w; x++)
				draw_cell(drawing, x, y, y0);
	}
}

static int
new_drawing(struct drawing *drawing, size_t w, size_t h)
{
	size_t pixels, bytes, h_blocks = (h + BLOCK - 1) / BLOCK;

	drawing->across = (w + BLOCK - 1) / BLOCK;
	drawing->blocks = drawing->across * h_blocks;
	if (size_multiply(w, h, &pixels) < 0 ||
	    size_multiply(pixels, 5 * sizeof(float), &bytes) < 0)
		return -1;
	drawing->u = must_alloc(1, bytes);
	drawing->range = must_alloc(drawing->blocks, sizeof(*drawing->range));
	drawing->bends = must_alloc(1, pixels);
	drawing->v = drawing->u + pixels;
	drawing->q = drawing->v + pixels;
	drawing->along[0] = drawing->q + pixels;
	drawing->along[1] = drawing->along[0] + pixels;
	return 0;
}

int
visible_draw(struct visible *visible, struct run *run, const struct visible_view *view,
    const struct visible_points *points)
{
	const struct frame_head *head = &points->frame->head;
	struct drawing drawing = { .visible = visible,
		.bend = fmax(BEND * points->spacing, BEND_NOISES * points->noise) };
	int status;

	*visible = (struct visible){ .view = *view, .points = *points };
	status = raster_new(&visible->depth, view->w, view->h, 0);
	if (status == 0)
		status = new_drawing(&drawing, head->w, head->h);
	if (status == 0) {
		drawing.rows = (view->h + BANDS_MOST - 1) / BANDS_MOST;
		if (drawing.rows < BAND_ROWS)
			drawing.rows = BAND_ROWS;
		run_for(run, head->h, project_row, &drawing);
		run_for(run, drawing.blocks, range_of_block, &drawing);
		run_for(run, (view->h + drawing.rows - 1) / drawing.rows, draw_band, &drawing);
	}
	free_all(drawing.u, drawing.range, drawing.bends);
	return status;
}

void
visible_free(struct visible *visible)
{
	raster_free(&visible->depth);
}

/* ---- looking ---- */

bool
visible_inside(const struct visible_view *view, const double uv[2])
{
	return uv[0] >= -0.5 && uv[1] >= -0.5 && uv[0] < (double)view->w - 0.5 &&
	    uv[1] < (double)view->h - 0.5;
}

/* Where a pixel's ray meets the plane: its depth, infinity where it does not. The lens is taken for
 * a perfect one between uv and the pixel. */
static double
plane_depth(const struct visible_view *view, const double seen[3], const double normal[3],
    const double move[2])
{
	const double *K = view->camera->K;
	double x = seen[0] / seen[2] + move[0] * view->bin[0] / K[0];
	double y = seen[1] / seen[2] + move[1] * view->bin[1] / K[4];
	double along = normal[0] * x + normal[1] * y + normal[2];
	double away = normal[0] * seen[0] + normal[1] * seen[1] + normal[2] * seen[2];

	return away / along > 0 ? away / along : INFINITY;
}

/* Splits a coordinate into the samples on both sides, which at the border are one. */
static double
split(double at, size_t n, size_t sample[2])
{
	double low = floor(at);

	sample[0] = low < 0 ? 0 : (size_t)low;
	sample[1] = low + 1 > (double)(n - 1) ? n - 1 : (size_t)(low + 1);
	return at - low;
}

void
visible_look(const struct visible *visible, const double seen[3], const double normal[3],
    const double uv[2], double jump, struct visible_corners *corners)
{
	const struct visible_view *view = &visible->view;
	double fx = split(uv[0], view->w, corners->x), fy = split(uv[1], view->h, corners->y);
	float bilinear[4];
	bool drawn = false, open[4];

	corners->hidden = false;
	for (int k = 0; k < 4; k++) {
		double low = seen[2], high = seen[2], depth;
		size_t x = corners->x[k & 1], y = corners->y[k >> 1];
		float q = visible->depth.z[y * view->w + x];

		bilinear[k] = (float)((k & 1 ? fx : 1 - fx) * (k >> 1 ? fy : 1 - fy));
		corners->weight[k] = 0;
		open[k] = !(q < 0);
		if (open[k])
			continue;
		if (normal) {
			depth = plane_depth(view, seen, normal,
			    (double[2]){ (double)x - uv[0], (double)y - uv[1] });
			low = fmin(low, depth);
			high = fmax(high, depth);
		}
		depth = -1 / (double)q;
		corners->hidden |= depth < low - jump && bilinear[k] >= LEAST_WEIGHT;
		if (depth >= low - jump && depth <= high + jump) {
			corners->weight[k] = bilinear[k];
			drawn |= bilinear[k] > 0;
		}
	}
	corners->sum = 0;
	for (int k = 0; k < 4; k++) {
		/* a point that carries no surface, or lies at its border */
		if (!drawn && open[k])
			corners->weight[k] = bilinear[k];
		corners->sum += corners->weight[k];
	}
}

#define VIEW_OVERLAP_PITCHES 20

#define OVERLAP_STEP_PX 8

/* The depth of a point of the target's frame as its camera counts it: larger is farther. */
static double
depth(const struct ordered_view *target, const double X[3])
{
	const double *P = target->camera.P + 8;

	return (P[0] * X[0] + P[1] * X[1] + P[2] * X[2] + P[3]) * target->camera.side;
}

static void
add(const struct ordered_view *target, const struct ordered_pixel *from, const struct pose *pose,
    struct view_overlap *overlap, float *off)
{
	double X[3] = { from->point[0], from->point[1], from->point[2] }, uv[2], foot[3];
	double away = 0, along = 0;
	const struct ordered_pixel *to;

	pose_apply(pose, X, X);
	if (!ordered_view_project(target, X, uv))
		return;
	overlap->seen++;
	if (!ordered_view_surface(target, uv, foot))
		return;
	to = &target->pixel[(size_t)(uv[1] + 0.5) * target->w + (size_t)(uv[0] + 0.5)];
	if (px_isnan(to->normal[0]))
		return;
	overlap->common++;
	for (size_t k = 0; k < 3; k++) {
		away += (foot[k] - X[k]) * (foot[k] - X[k]);
		along += to->normal[k] * (foot[k] - X[k]);
	}
	if (fabs(along) <= VIEW_OVERLAP_PITCHES * target->pitch)
		off[overlap->near++] = (float)fabs(along);
	else if (sqrt(away) > VIEW_OVERLAP_PITCHES * target->pitch &&
	    depth(target, X) < depth(target, foot))
		overlap->before++;
}

void
view_overlap_find(const struct ordered_view *target, const struct ordered_view *source,
    const struct pose *pose, struct view_overlap *overlap)
{
	float *off = must_alloc(source->w / OVERLAP_STEP_PX + 1,
	    (source->h / OVERLAP_STEP_PX + 1) * sizeof(*off));

	*overlap = (struct view_overlap){ .median = NAN };
	for (size_t y = 0; y < source->h; y += OVERLAP_STEP_PX)
		for (size_t x = 0; x < source->w; x += OVERLAP_STEP_PX) {
			const struct ordered_pixel *from = &source->pixel[y * source->w + x];

			if (px_isnan(from->point[0]))
				continue;
			overlap->points++;
			add(target, from, pose, overlap, off);
		}
	if (overlap->near)
		overlap->median = numbers_median(off, overlap->near);
	free(off);
}
