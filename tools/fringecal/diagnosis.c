/*
 * What tells whether a calibration is to be trusted: its views, how they fill the pictures, what
 * they cannot tell apart, the board's shape, and results that fit the points but are unlikely.
 */
#include "fringecal.h"

#include "optics/camera_model.h"

/* ---- views ---- */

#define FLAG_MAD 5		/* a doubtful view's excess */
#define LEAST_MAD 0.02		/* of the median: rms of views that are alike are never equal */
#define LEAST_RMS 1.5		/* of the median: less is no doubtful view, */
#define LEAST_RMS_PX 1e-3	/* nor is this, in px */

static double
median_of(double *v, size_t n)
{
	calib_sort(v, n);
	return n == 0 ? NAN : (v[(n - 1) / 2] + v[n / 2]) / 2;
}

static void
place_view(const struct calib_problem *problem, const struct calib_solution *solution,
    const struct calib_view *view, struct diagnosis_view *out)
{
	const struct calib_pose *board = &solution->board[view->pose];
	const double *R = solution->device[view->device].R;
	double corner[2][3], X[3], x[3], cosine = 0;

	calib_corner(problem, solution, view->pose, 0, 0, corner[0]);
	calib_corner(problem, solution, view->pose, (int)problem->board.w - 1,
	    (int)problem->board.h - 1, corner[1]);
	for (size_t k = 0; k < 3; k++)
		X[k] = (corner[0][k] + corner[1][k]) / 2;
	calib_pose_apply(&solution->device[view->device], X, x);
	out->distance = vector3_length(x);
	for (size_t k = 0; k < 3; k++)	/* z of the board's normal in the device's frame */
		cosine += (view->device == 0 ? k == 2 : R[6 + k]) * board->R[3 * k + 2];
	out->tilt_deg = acos(fmin(1, fabs(cosine))) * 180 / M_PI;
}

static void
sum_view(const struct calib_problem *problem, const struct calib_solution *solution, size_t i,
    double *scratch, struct diagnosis_view *out)
{
	static const double one[2] = { 1, 1 };
	const struct calib_view *view = &problem->view[i];
	double sum = 0, pulls = 0;

	*out = (struct diagnosis_view){ .view = i, .points = view->n };
	for (size_t k = view->first; k < view->first + view->n; k++) {
		const struct calib_residual *r = &solution->residual[k];
		const double *s = problem->equal_weights ? one : problem->point[k].sigma;

		sum += r->u * r->u + r->v * r->v;
		pulls += r->u * r->u / (s[0] * s[0]) + r->v * r->v / (s[1] * s[1]);
		scratch[k - view->first] = hypot(r->u, r->v);
		out->rejected += r->rejected;
	}
	out->rms = view->n ? sqrt(sum / (double)view->n) : 0;
	out->middle = median_of(scratch, view->n);
	out->pull = view->n ? sqrt(pulls / (double)view->n / 2) : 0;
	place_view(problem, solution, view, out);
}

/* The median of a member, as offsetof() finds it, of the views of a device. */
static double
median_of_views(const struct calib_problem *problem, size_t device, const struct diagnosis *d,
    size_t member, double *scratch)
{
	size_t n = 0;

	for (size_t i = 0; i < d->views; i++)
		if (problem->view[i].device == device && d->view[i].points)
			memcpy(&scratch[n++], (const char *)&d->view[i] + member, sizeof(*scratch));
	return median_of(scratch, n);
}

/* Compares the views of a device with each other. */
static void
judge_views(const struct calib_problem *problem, size_t device, struct diagnosis *d,
    double *scratch)
{
	double median, mad, pull, middle;
	size_t n = 0;

	median = median_of_views(problem, device, d, offsetof(struct diagnosis_view, rms), scratch);
	for (size_t i = 0; i < d->views; i++)
		if (problem->view[i].device == device && d->view[i].points)
			scratch[n++] = fabs(d->view[i].rms - median);
	mad = fmax(median_of(scratch, n), LEAST_MAD * median);
	pull = median_of_views(problem, device, d, offsetof(struct diagnosis_view, pull), scratch);
	middle = median_of_views(problem, device, d, offsetof(struct diagnosis_view, middle),
	    scratch);
	for (size_t i = 0; i < d->views; i++) {
		struct diagnosis_view *view = &d->view[i];

		if (problem->view[i].device != device || !view->points)
			continue;
		view->excess = mad > 0 ? (view->rms - median) / mad : 0;
		view->flagged = view->excess > FLAG_MAD && view->rms > LEAST_RMS_PX &&
		    view->rms > LEAST_RMS * median && (view->pull > LEAST_RMS * pull ||
		    view->middle > LEAST_RMS * middle);
		d->device[device].most_tilt_deg = fmax(d->device[device].most_tilt_deg,
		    view->tilt_deg);
	}
}

static int
compare_views(const void *a, const void *b)
{
	const struct diagnosis_view *x = a, *y = b;

	if (x->excess != y->excess)
		return x->excess < y->excess ? 1 : -1;
	return (x->view > y->view) - (x->view < y->view);
}

/* ---- coverage ---- */

#define OFF_CENTRE 0.25		/* of a side of the picture */

static int
compare_points(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

static double
turn(const double a[2], const double b[2], const double c[2])
{
	return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

/* The convex hull of n points (sorted in place), by Andrew's monotone chain; room for n + 1. */
static size_t
convex_hull(double (*point)[2], size_t n, double (*hull)[2])
{
	size_t count = 0, lower;

	qsort(point, n, sizeof(*point), compare_points);
	for (size_t i = 0; i < n; i++) {
		while (count >= 2 && turn(hull[count - 2], hull[count - 1], point[i]) <= 0)
			count--;
		memcpy(hull[count++], point[i], sizeof(*point));
	}
	lower = count + 1;
	for (size_t i = n; i-- > 1;) {
		while (count >= lower && turn(hull[count - 2], hull[count - 1], point[i - 1]) <= 0)
			count--;
		memcpy(hull[count++], point[i - 1], sizeof(*point));
	}
	return count > 1 ? count - 1 : count;
}

static void
cover(const struct calib_problem *problem, const struct calib_solution *solution, size_t device,
    struct diagnosis_device *out)
{
	double (*point)[2] = must_alloc(problem->points + 1, sizeof(*point)), area = 0;
	size_t n = 0;

	out->hull = must_alloc(2 * problem->points + 2, sizeof(*out->hull));
	for (size_t v = 0; v < problem->views; v++)
		for (size_t k = 0; problem->view[v].device == device && k < problem->view[v].n;
		    k++) {
			size_t at = problem->view[v].first + k;

			if (solution->residual[at].rejected)
				continue;
			point[n][0] = problem->point[at].u;
			point[n++][1] = problem->point[at].v;
		}
	out->hull_corners = convex_hull(point, n, out->hull);
	free(point);
	for (size_t i = 0; i < out->hull_corners; i++) {
		const double *a = out->hull[i], *b = out->hull[(i + 1) % out->hull_corners];

		area += (a[0] * b[1] - a[1] * b[0]) / 2;
	}
	out->coverage = fabs(area) / ((double)problem->device[device].w *
	    (double)problem->device[device].h);
}

bool
diagnosis_off_centre(const struct calib_device *device, const double centre[2])
{
	double side[2] = { (double)device->w, (double)device->h };
	size_t axes = device->kind == CALIB_CAMERA ? 2 : 1;

	for (size_t a = 0; a < axes; a++)
		if (!(fabs(centre[a] - (side[a] - 1) / 2) <= OFF_CENTRE * side[a]))
			return true;
	return false;
}

/* ---- parameters that cannot be told apart ---- */

static int
compare_pairs(const void *a, const void *b)
{
	const struct diagnosis_pair *x = a, *y = b;
	double p = fabs(x->correlation), q = fabs(y->correlation);

	if (p != q)
		return p < q ? 1 : -1;
	return x->a != y->a ? (x->a > y->a) - (x->a < y->a) : (x->b > y->b) - (x->b < y->b);
}

static void
find_pairs(const struct calib_solution *solution, struct diagnosis *d)
{
	const double *C = solution->covariance;
	size_t p = solution->parameters;

	d->pair = must_alloc(p * p, sizeof(*d->pair));
	for (size_t a = 0; a < p && C; a++)
		for (size_t b = a + 1; b < p; b++) {
			double r = C[a * p + b] / sqrt(C[a * p + a] * C[b * p + b]);

			if (fabs(r) > DIAGNOSIS_CORRELATION)
				d->pair[d->pairs++] = (struct diagnosis_pair){ a, b, r };
		}
	qsort(d->pair, d->pairs, sizeof(*d->pair), compare_pairs);
}

/* Do the names of a pair end in these two, in either order? */
static bool
is_pair(const char *const name[2], const char *p, const char *q)
{
	return (!strcmp(name[0], p) && !strcmp(name[1], q)) ||
	    (!strcmp(name[0], q) && !strcmp(name[1], p));
}

const char *
diagnosis_pair_advice(const struct calib_problem *problem, const struct diagnosis_pair *pair)
{
	static const char tangential[] = "a shifted centre looks like a tangential lens: take "
	    "views with the board turned by 90 degrees in the picture, and tilted more; or --fix "
	    "tangential";
	static const char turned[] = "a shifted centre looks like a turned device: tilt the board "
	    "by 20 to 40 degrees, about both axes";
	static const char distance[] = "a longer focal length looks like a larger distance: tilt "
	    "the board by 20 to 40 degrees";
	static const struct {
		const char *p, *q, *advice;
	} known[] = { { "cx", "p2", tangential }, { "cy", "p1", tangential },
		{ "cx", "ry", turned }, { "cy", "rx", turned }, { "fx", "tz", distance },
		{ "fy", "tz", distance } };
	char text[2][CALIB_NAME_SIZE + 16];
	const char *name[2];

	for (size_t k = 0; k < 2; k++) {
		calib_parameter_name(problem, k ? pair->b : pair->a, text[k], sizeof(text[k]));
		name[k] = strrchr(text[k], '.') ? strrchr(text[k], '.') + 1 : text[k];
	}
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (is_pair(name, known[i].p, known[i].q))
			return known[i].advice;
	return name[0][0] == 'k' || name[1][0] == 'k' ? "the lens has more numbers than the views "
	    "determine: fill the corners of the picture, or take a smaller --model" : NULL;
}

/* ---- all ---- */

void
diagnosis_make(const struct calib_problem *problem, const struct calib_solution *solution,
    struct diagnosis *d)
{
	double *scratch = must_alloc(problem->views + problem->points + 1, sizeof(*scratch));

	*d = (struct diagnosis){ .views = problem->views, .devices = problem->devices,
		.view = must_alloc(problem->views, sizeof(*d->view)),
		.device = must_alloc(problem->devices, sizeof(*d->device)) };
	for (size_t i = 0; i < d->views; i++)
		sum_view(problem, solution, i, scratch, &d->view[i]);
	for (size_t i = 0; i < d->devices; i++) {
		judge_views(problem, i, d, scratch);
		cover(problem, solution, i, &d->device[i]);
	}
	free(scratch);
	qsort(d->view, d->views, sizeof(*d->view), compare_views);
	find_pairs(solution, d);
}

void
diagnosis_free(struct diagnosis *d)
{
	for (size_t i = 0; i < d->devices; i++)
		free(d->device[i].hull);
	free_all(d->device, d->view, d->pair);
	*d = (struct diagnosis){ 0 };
}

/* ---- the board's shape: what repeats at the same corners in all views ---- */

#define SURE_RATIO 5		/* standard deviations of the ratio of variances */
#define SHAPE_SHARE 0.1		/* of the squares of residuals: less is not reported */
/* A projector's points are measured at the corners that the camera found and repeat their errors
 * within a pose, so that noise alone gives a ratio of up to this. */
#define NOISE_RATIO 2
#define PIVOT_LEAST 1e-9

/* Normal equations of one corner's offset, by all its residuals. */
struct offset {
	double A[9], b[3];
};

/* du, dv by X, Y, Z of the board's frame. */
static void
by_board(const struct calib_problem *problem, const struct calib_solution *solution,
    const struct calib_view *view, const struct calib_point *point, double J[6])
{
	double X[3], uv[2], D[6];

	calib_corner(problem, solution, view->pose, point->i, point->j, X);
	calib_project(problem, solution, view->device, X, uv, D, NULL);
	for (size_t r = 0; r < 2; r++)
		matrix3_apply_transposed(solution->board[view->pose].R, D + 3 * r, J + 3 * r);
}

struct sums {
	double chi, square;	/* residuals over sigma, and in px */
	size_t n;		/* coordinates */
};

static void
add_view(const struct calib_problem *problem, const struct calib_solution *solution,
    const struct calib_view *view, struct offset *corner, struct sums *sums)
{
	for (size_t i = view->first; i < view->first + view->n; i++) {
		const struct calib_point *point = &problem->point[i];
		const struct calib_residual *residual = &solution->residual[i];
		struct offset *of = &corner[(size_t)point->j * problem->board.w + (size_t)point->i];
		double J[6], left[2] = { residual->u, residual->v };

		if (residual->rejected)
			continue;
		by_board(problem, solution, view, point, J);
		for (size_t r = 0; r < 2; r++) {
			double weight = problem->equal_weights ? 1 :
			    1 / (point->sigma[r] * point->sigma[r]);

			for (size_t k = 0; k < 3; k++) {
				of->b[k] += weight * J[3 * r + k] * left[r];
				for (size_t l = 0; l < 3; l++)
					of->A[3 * k + l] += weight * J[3 * r + k] * J[3 * r + l];
			}
			sums->chi += weight * left[r] * left[r];
			sums->square += left[r] * left[r];
			sums->n++;
		}
	}
}

void
board_shape_find(const struct calib_problem *problem, const struct calib_solution *solution,
    struct board_shape *shape)
{
	size_t corners = problem->board.w * problem->board.h, solved = 0;
	struct offset *corner = must_alloc(corners + 1, sizeof(*corner));
	double explained = 0, squares = 0, inverse = 0, noise, ratio, of, left;
	struct sums sums = { 0 };

	*shape = (struct board_shape){ 0 };
	for (size_t v = 0; v < problem->views; v++)
		add_view(problem, solution, &problem->view[v], corner, &sums);
	for (size_t c = 0; c < corners; c++) {
		double x[3], unit[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };

		if (!symmetric_factor(3, corner[c].A, PIVOT_LEAST))
			continue;
		memcpy(x, corner[c].b, sizeof(x));
		symmetric_solve(3, corner[c].A, x, 1);
		symmetric_solve(3, corner[c].A, unit, 3);
		for (size_t k = 0; k < 3; k++)
			explained += x[k] * corner[c].b[k];
		squares += (x[0] * x[0] + x[1] * x[1]) / 2;
		inverse += (unit[0] + unit[4]) / 2;
		solved++;
	}
	free(corner);
	of = 3 * (double)solved;
	left = (double)sums.n - of - (double)solution->parameters - 6 * (double)problem->poses;
	if (solved == 0 || left < of)
		return;
	noise = fmax(0, sums.chi - explained) / left;
	ratio = noise > 0 ? explained / of / noise : 0;
	shape->all_px = sqrt(sums.square / (double)sums.n);
	shape->px = shape->all_px * sqrt(fmax(0, explained - of * noise) / sums.chi);
	shape->offset = sqrt(fmax(0, squares - noise * inverse) / (double)solved);
	shape->repeats = ratio > NOISE_RATIO * (1 + SURE_RATIO * sqrt(2 / of + 2 / left)) &&
	    shape->px * shape->px > SHAPE_SHARE * shape->all_px * shape->all_px;
}

/* ---- results that fit the points but are unlikely ---- */

#define SQUARE_TOLERANCE 0.02		/* fx over fy, from 1, or from 1/2 and 2 of diagonal rows */
#define SURE_SD 10.0		/* standard deviations */
#define LEAST_SPACING_MM 0.8	/* finer boards are made for rigs as small */

static bool
is_near(double ratio, double to)
{
	return fabs(ratio / to - 1) < SQUARE_TOLERANCE;
}

void
warn_pixels(const struct calib_problem *problem, const struct calib_solution *solution)
{
	for (size_t d = 0; d < problem->devices; d++) {
		const double *f = solution->intrinsics[d], *C = solution->covariance;
		size_t at = calib_parameter_intrinsics(problem, d), p = solution->parameters;
		double ratio = f[0] / f[1], variance;

		if (!C || is_near(ratio, 1) || is_near(ratio, 2) || is_near(ratio, 0.5))
			continue;
		variance = C[at * p + at] + C[(at + 1) * p + at + 1] - 2 * C[at * p + at + 1];
		if (fabs(f[0] - f[1]) > SURE_SD * sqrt(fmax(variance, 0)))
			warn(problem->device[d].name, "fx is %.4g times fy, and pixels are square: "
			    "%s, or is the board's spacing another one along its other side?",
			    ratio, problem->device[d].kind == CALIB_PROJECTOR ?
			    "is the period of one axis wrong, or does the projector scale its "
			    "picture" : "are its pictures scaled along one side");
	}
}

void
warn_unit(const struct calib_problem *problem, const struct calib_solution *solution,
    const struct diagnosis *diagnosis)
{
	double apart = 0, nearest = INFINITY, farthest = 0;
	size_t n = 0, near = 0;

	for (size_t d = 1; d < problem->devices; d++)
		apart = fmax(apart, vector3_length(solution->device[d].T));
	for (size_t i = 0; i < diagnosis->views; i++) {
		double distance = diagnosis->view[i].distance;

		if (!diagnosis->view[i].points)
			continue;
		n++;
		near += distance < SMALL_RANGE_MM;
		nearest = fmin(nearest, distance);
		farthest = fmax(farthest, distance);
	}
	if (problem->devices > 1 && !strcmp(problem->board.unit, "mm") &&
	    problem->board.spacing > LEAST_SPACING_MM && apart < SMALL_RIG_MM && 2 * near > n)
		warn("--board", "has its points %g mm from each other, which puts the devices "
		    "%.3g mm apart and the board %.3g to %.3g mm away: is that cm, or no length at "
		    "all? Lengths are mm", problem->board.spacing, apart, nearest, farthest);
}
