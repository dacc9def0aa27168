/*
 * What a calibration's covariance means in pixels and in space.
 *
 * A change of all parameters that only moves the whole rig in space does no harm to what it
 * measures: the six rigid motions are projected out of the Jacobian J, sd^2 = diag(P J C J' P).
 * With them in it, sd is that of the first device's rays as well.
 */
#include "fringecal.h"

#include "optics/camera_model.h"

/* ---- Jacobians ---- */

/* Rows of derivatives by the parameters of a calibration, and by the six rigid motions that change
 * the same quantities. */

struct jacobian {
	size_t n, parameters;
	double *J;		/* n rows of `parameters` */
	double (*M)[6];		/* n rows; NaN in the first place: there is no such row */
	bool *fits;		/* n: the motions are fitted to this row; all at first */
};

/* n rows of zeros. */
static void
jacobian_new(struct jacobian *rows, size_t n, size_t parameters)
{
	rows->n = n;
	rows->parameters = parameters;
	rows->J = must_alloc(n * parameters + 1, sizeof(*rows->J));
	rows->M = must_alloc(n + 1, sizeof(*rows->M));
	rows->fits = must_alloc(n + 1, sizeof(*rows->fits));
	for (size_t r = 0; r < n; r++)
		rows->fits[r] = true;
}

static void
jacobian_free(struct jacobian *rows)
{
	free_all(rows->J, rows->M, rows->fits);
}

/* Takes the motions out of all rows of J that M fits best to those that count; M becomes another
 * base of the same. -1 after fail(). */
static int
jacobian_project_out(struct jacobian *rows)
{
	size_t p = rows->parameters;
	double A[36] = { 0 }, scale[6] = { 0 }, *b = must_alloc(6 * p + 1, sizeof(*b));
	bool solved;

	for (size_t r = 0; r < rows->n; r++)
		for (size_t i = 0; i < 6 && !isnan(rows->M[r][0]); i++)
			scale[i] += rows->M[r][i] * rows->M[r][i];
	for (size_t r = 0; r < rows->n; r++)
		for (size_t i = 0; i < 6 && !isnan(rows->M[r][0]); i++) {
			rows->M[r][i] /= sqrt(scale[i] > 0 ? scale[i] : 1);
		}
	for (size_t r = 0; r < rows->n; r++)
		for (size_t i = 0; i < 6 && rows->fits[r] && !isnan(rows->M[r][0]); i++) {
			for (size_t j = 0; j < 6; j++)
				A[6 * i + j] += rows->M[r][i] * rows->M[r][j];
			for (size_t k = 0; k < p; k++)
				b[i * p + k] += rows->M[r][i] * rows->J[r * p + k];
		}
	solved = symmetric_factor(6, A, 1e-14);
	if (solved)
		symmetric_solve(6, A, b, p);
	for (size_t r = 0; r < rows->n && solved; r++)
		for (size_t i = 0; i < 6; i++)
			for (size_t k = 0; k < p; k++)
				rows->J[r * p + k] -= rows->M[r][i] * b[i * p + k];
	free(b);
	return solved ? 0 : fail(NULL, "the uncertainty is not determined: all points lie on a "
	    "line");
}

/* Derivatives of a device's pixel u, v at a point: by all parameters, J[2][parameters] (zeros at
 * first), and by the point, D[6]. */
static void
jacobian_of_pixel(const struct calib_problem *problem, const struct calib_solution *solution,
    size_t device, const double X[3], double *J, double D[6])
{
	size_t count = calib_intrinsics_count(problem->device[device].model);
	size_t at = calib_parameter_intrinsics(problem, device), p = solution->parameters;
	const double *R = solution->device[device].R;
	double uv[2], lens[2 * CALIB_INTRINSICS], turn[9], in_device[3];

	calib_project(problem, solution, device, X, uv, D, lens);
	for (size_t i = 0; i < 2; i++)
		memcpy(J + i * p + at, lens + i * count, count * sizeof(*J));
	if (device == 0)
		return;
	at = calib_parameter_pose(problem, device);
	rotation_derivative(R, X, turn);
	for (size_t i = 0; i < 2; i++) {
		matrix3_apply(R, D + 3 * i, in_device);	/* by the point in the device's frame */
		matrix3_apply_transposed(turn, in_device, J + i * p + at);
		memcpy(J + i * p + at + 3, in_device, sizeof(in_device));
	}
}

/* ---- points ---- */

static void
set_pinhole(struct pinhole *pinhole, const struct calib_device *device, const double *intrinsics)
{
	size_t count = calib_intrinsics_count(device->model);

	*pinhole = (struct pinhole){ .K = { intrinsics[0], 0, intrinsics[2], 0, intrinsics[1],
	    intrinsics[3], 0, 0, 1 }, .R = { 1, 0, 0, 0, 1, 0, 0, 0, 1 } };
	memcpy(pinhole->distortion, intrinsics + 4, (count - 4) * sizeof(double));
	pinhole_complete(pinhole);
}

/* The point that a device sees at pixel uv, so far along its axis, in the first device's frame. */
static bool
point_seen(const struct calib_solution *solution, const struct pinhole *pinhole, size_t device,
    const double uv[2], double distance, double X[3])
{
	const struct calib_pose *pose = &solution->device[device];
	double xy[2], x[3];

	if (!pinhole_undistort(pinhole, uv, xy))
		return false;
	for (size_t i = 0; i < 3; i++)
		x[i] = distance * (i < 2 ? xy[i] : 1) - pose->T[i];
	matrix3_apply_transposed(pose->R, x, X);
	return true;
}

/* The mean distance of the points that a device has, along its axis. */
static double
mean_distance(const struct calib_problem *problem, const struct calib_solution *solution,
    size_t device)
{
	double sum = 0, n = 0;

	for (size_t v = 0; v < problem->views; v++) {
		const struct calib_view *view = &problem->view[v];

		for (size_t k = 0; view->device == device && k < view->n; k++) {
			const struct calib_point *point = &problem->point[view->first + k];
			double X[3], x[3];

			calib_corner(problem, solution, view->pose, point->i, point->j, X);
			calib_pose_apply(&solution->device[device], X, x);
			sum += x[2];
			n++;
		}
	}
	return sum / n;
}

/* ---- over pictures ---- */

static void
map_new(const struct calib_problem *problem, const struct calib_solution *solution, size_t device,
    size_t columns, struct uncertainty_map *map)
{
	const struct calib_device *d = &problem->device[device];

	map->distance = mean_distance(problem, solution, device);
	map->columns = columns;
	map->rows = (size_t)fmax(2, round((double)columns * (double)d->h / (double)d->w));
	map->sd = must_alloc(columns * map->rows, sizeof(*map->sd));
	map->sd_all = must_alloc(columns * map->rows, sizeof(*map->sd_all));
}

/* Lies a pixel within the hull of a device's points? */
static bool
is_inside(const struct diagnosis_device *hull, const double uv[2])
{
	for (size_t i = 0; i < hull->hull_corners; i++) {
		const double *a = hull->hull[i], *b = hull->hull[(i + 1) % hull->hull_corners];

		if ((b[0] - a[0]) * (uv[1] - a[1]) - (b[1] - a[1]) * (uv[0] - a[0]) < 0)
			return false;
	}
	return hull->hull_corners > 2;
}

/* Fills in rows `first` and on of J and M with the points of a map. */
static void
map_rows(const struct calib_problem *problem, const struct calib_solution *solution, size_t device,
    const struct uncertainty_map *map, const struct diagnosis_device *hull,
    const double middle[3], struct jacobian *rows, size_t first)
{
	const struct calib_device *d = &problem->device[device];
	struct pinhole pinhole;

	set_pinhole(&pinhole, d, solution->intrinsics[device]);
	for (size_t i = 0; i < map->columns * map->rows; i++) {
		double uv[2] = { (double)(i % map->columns) * ((double)d->w - 1) /
			    ((double)map->columns - 1), (double)(i / map->columns) *
			    ((double)d->h - 1) / ((double)map->rows - 1) };
		double X[3], D[6], M[3][6];
		size_t row = first + 2 * i;

		rows->fits[row] = rows->fits[row + 1] = is_inside(hull, uv);
		if (!point_seen(solution, &pinhole, device, uv, map->distance, X)) {
			rows->M[row][0] = rows->M[row + 1][0] = NAN;
			continue;
		}
		jacobian_of_pixel(problem, solution, device, X, rows->J + row * rows->parameters,
		    D);
		rotation_motions(X, middle, M);
		for (size_t k = 0; k < 2; k++)
			for (size_t m = 0; m < 6; m++)
				rows->M[row + k][m] = D[3 * k] * M[0][m] + D[3 * k + 1] * M[1][m] +
				    D[3 * k + 2] * M[2][m];
	}
}

/* The standard deviations of all maps out of their rows: with rigid motions, or without. */
static void
maps_sd(const struct calib_problem *problem, const struct calib_solution *solution,
    const struct jacobian *rows, struct uncertainty_map *map, bool motions)
{
	const struct fringecal_rows *loops = fringecal_rows();
	size_t p = rows->parameters, row = 0;

	for (struct uncertainty_map *end = map + problem->devices; map < end; map++) {
		double sum = 0, valid = 0, inside = 0, sum_inside = 0;
		double *sd = motions ? map->sd_all : map->sd;

		for (size_t i = 0; i < map->columns * map->rows; i++, row += 2) {
			const double *J = rows->J + row * p;
			double variance = (loops->jacobian_variance(solution->covariance, p, J) +
			    loops->jacobian_variance(solution->covariance, p, J + p)) / 2;

			sd[i] = isnan(rows->M[row][0]) ? NAN : sqrt(variance);
			if (isnan(sd[i]))
				continue;
			sum += variance;
			valid++;
			sum_inside += rows->fits[row] ? variance : 0;
			inside += rows->fits[row];
		}
		*(motions ? &map->rms_all : &map->rms) = sqrt(sum_inside / inside);
		if (!motions)
			map->rms_picture = sqrt(sum / valid);
	}
}

static int
maps_fill(const struct calib_problem *problem, const struct calib_solution *solution,
    const struct diagnosis_device *hulls, struct uncertainty_map *map, struct jacobian *rows)
{
	double middle[3] = { 0, 0, mean_distance(problem, solution, 0) };
	size_t first = 0;

	for (size_t d = 0; d < problem->devices; d++) {
		map_rows(problem, solution, d, &map[d], &hulls[d], middle, rows, first);
		first += 2 * map[d].columns * map[d].rows;
	}
	maps_sd(problem, solution, rows, map, true);
	if (jacobian_project_out(rows) < 0)
		return -1;
	maps_sd(problem, solution, rows, map, false);
	return 0;
}

int
uncertainty_maps(const struct calib_problem *problem, const struct calib_solution *solution,
    const struct diagnosis_device *hulls, size_t columns, struct uncertainty_map **out)
{
	struct uncertainty_map *map = must_alloc(problem->devices, sizeof(*map));
	struct jacobian rows = { 0 };
	size_t n = 0;
	int status;

	*out = map;
	for (size_t d = 0; d < problem->devices; d++) {
		map_new(problem, solution, d, columns, &map[d]);
		n += 2 * columns * map[d].rows;
	}
	jacobian_new(&rows, n, solution->parameters);
	status = maps_fill(problem, solution, hulls, map, &rows);
	jacobian_free(&rows);
	return status;
}

void
uncertainty_maps_free(struct uncertainty_map *map, size_t devices)
{
	for (size_t d = 0; map && d < devices; d++) {
		free(map[d].sd);
		free(map[d].sd_all);
	}
	free(map);
}

/* ---- in space ---- */

void
uncertainty_volume_range(const struct calib_problem *problem, const struct calib_solution *solution,
    double uvz[3][2])
{
	double *list = must_alloc(3 * problem->points + 1, sizeof(*list));
	size_t n = 0;

	for (size_t v = 0; v < problem->views; v++)
		for (size_t k = 0; problem->view[v].device == 0 && k < problem->view[v].n; k++) {
			const struct calib_point *p = &problem->point[problem->view[v].first + k];
			double X[3];

			calib_corner(problem, solution, problem->view[v].pose, p->i, p->j, X);
			list[n] = p->u;
			list[problem->points + n] = p->v;
			list[2 * problem->points + n++] = X[2];
		}
	for (size_t k = 0; k < 3; k++) {	/* nine tenths in the middle */
		double *v_k = list + k * problem->points;

		calib_sort(v_k, n);
		uvz[k][0] = n ? v_k[n / 20] : NAN;
		uvz[k][1] = n ? v_k[n - 1 - n / 20] : NAN;
	}
	free(list);
}

/* What a point's triangulated place does when the parameters change: three rows of J. */
static bool
point_rows(const struct calib_problem *problem, const struct calib_solution *solution,
    const double X[3], double *scratch, double *J)
{
	size_t p = solution->parameters;
	double A[9] = { 0 };

	memset(J, 0, 3 * p * sizeof(*J));
	for (size_t d = 0; d < problem->devices; d++) {
		size_t rows = problem->device[d].kind == CALIB_CAMERA ? 2 : 1;
		double D[6];

		memset(scratch, 0, 2 * p * sizeof(*scratch));
		jacobian_of_pixel(problem, solution, d, X, scratch, D);
		for (size_t r = 0; r < rows; r++)
			for (size_t i = 0; i < 3; i++) {
				for (size_t j = 0; j < 3; j++)
					A[3 * i + j] += D[3 * r + i] * D[3 * r + j];
				for (size_t k = 0; k < p; k++)
					J[i * p + k] -= D[3 * r + i] * scratch[r * p + k];
			}
	}
	if (!symmetric_factor(3, A, 1e-14))
		return false;
	symmetric_solve(3, A, J, p);
	return true;
}

static double
volume_sd(const struct calib_solution *solution, const struct jacobian *rows, size_t n,
    double (*sd)[3])
{
	size_t p = rows->parameters;
	double sum = 0;

	for (size_t i = 0; i < 3 * n; i++) {
		const double *J = rows->J + i * p;
		double variance = fringecal_rows()->jacobian_variance(solution->covariance, p, J);

		sd[i / 3][i % 3] = sqrt(variance);
		sum += variance;
	}
	return sqrt(sum / (double)n);
}

static int
volume_fill(const struct calib_problem *problem, const struct calib_solution *solution,
    struct uncertainty_volume *volume, struct jacobian *rows)
{
	double *scratch = must_alloc(2 * rows->parameters, sizeof(*scratch)), middle[3] = { 0 };
	bool measures = true;

	for (size_t i = 0; i < volume->n; i++)
		for (size_t k = 0; k < 3; k++)
			middle[k] += volume->X[i][k] / (double)volume->n;
	for (size_t i = 0; i < volume->n && measures; i++) {
		rotation_motions(volume->X[i], middle, rows->M + 3 * i);
		measures = point_rows(problem, solution, volume->X[i], scratch,
		    rows->J + 3 * i * rows->parameters);
	}
	free(scratch);
	if (!measures)
		return fail(NULL, "the devices' rays are parallel: they measure no points");
	volume->rms_all = volume_sd(solution, rows, volume->n, volume->sd_all);
	if (jacobian_project_out(rows) < 0)
		return -1;
	volume->rms = volume_sd(solution, rows, volume->n, volume->sd);
	return 0;
}

int
uncertainty_of_volume(const struct calib_problem *problem, const struct calib_solution *solution,
    struct uncertainty_volume *volume)
{
	struct jacobian rows = { 0 };
	struct pinhole first;
	double uvz[3][2];
	int status;

	*volume = (struct uncertainty_volume){ 0 };
	if (problem->devices < 2)
		return 0;
	uncertainty_volume_range(problem, solution, uvz);
	set_pinhole(&first, &problem->device[0], solution->intrinsics[0]);
	volume->n = calib_volume_points(&first, uvz, volume->X);
	if (volume->n == 0)
		return 0;
	jacobian_new(&rows, 3 * volume->n, solution->parameters);
	status = volume_fill(problem, solution, volume, &rows);
	jacobian_free(&rows);
	return status;
}
