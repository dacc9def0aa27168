/*
 * Points of a frame or a table as a cloud, for mergexyz, xyz2mesh and pictures: what tells their
 * sides, how dense they are, the order of their cubes, those near a brick, and their normals by the
 * plane through the neighbours.
 */
#include "points/cloud.h"

#include <math.h>

#include "base/cpu_level.h"
#include "base/linear.h"
#include "base/numbers.h"
#include "base/process.h"
#include "io/text_table.h"

/* ---- the points of a frame ---- */

/* The difference of two neighbours along a row or a column, on the sides that have a point. */
static double
along_order(const struct frame *in, size_t channel, size_t x, size_t y, bool down)
{
	size_t at = down ? y : x, n = down ? in->head.h : in->head.w;
	float v[3] = { NAN, frame_floats(in, channel, y)[x], NAN };

	for (size_t side = 0; side < 3; side += 2)
		if (at + side >= 1 && at + side - 1 < n)
			v[side] = frame_floats(in, channel, down ? at + side - 1 : y)
			    [down ? x : at + side - 1];
	return (double)(isnan(v[2]) ? v[1] : v[2]) - (double)(isnan(v[0]) ? v[1] : v[0]);
}

/* A direction to the side that an ordered frame's camera saw, of any length; 0 where no neighbour
 * tells. */
static void
side_by_order(const struct frame *in, const size_t channel[3], size_t x, size_t y, double side[3])
{
	double right[3], down[3];

	for (size_t k = 0; k < 3; k++) {
		right[k] = along_order(in, channel[k], x, y, false);
		down[k] = along_order(in, channel[k], x, y, true);
	}
	vector3_cross(down, right, side);
}

/* Where the key seen_from_mm and the order of a frame tell different sides, as of one that was
 * mirrored, the key is right. */
static void
turn_sides(struct cloud *cloud)
{
	size_t with = 0, against = 0;

	for (size_t i = 0; i < cloud->n; i++) {
		double dot = 0;

		for (size_t k = 0; k < 3; k++)
			dot += (double)cloud->normal[k][i] *
			    (cloud->sensor[k] - (double)cloud->xyz[k][i]);
		with += dot > 0;
		against += dot < 0;
	}
	for (size_t i = 0; i < 3 * cloud->n && against > with; i++)
		cloud->normal[i % 3][i / 3] *= -1;
}

static int
find_sensor(const struct frame_head *head, struct cloud *cloud)
{
	struct numbers seen_from;
	int status = 0;

	if (cloud->has_sensor || !meta_get(&head->meta, "seen_from_mm"))
		return 0;
	if (meta_numbers(&head->meta, "seen_from_mm", &seen_from) < 0)
		return -1;
	cloud->has_sensor = seen_from.n == 3;
	if (!cloud->has_sensor)
		status = fail("seen_from_mm", "has %zu numbers, not three", seen_from.n);
	else
		memcpy(cloud->sensor, seen_from.v, sizeof(cloud->sensor));
	numbers_free(&seen_from);
	return status;
}

int
cloud_take(const struct frame *in, struct cloud *cloud)
{
	size_t channel[9], most = in->head.w * in->head.h, n = 0;
	bool given = !cloud->has_sensor && head_three(&in->head, "n", "xyz", channel + 3);
	bool order = !cloud->has_sensor && !given && in->head.w > 1 && in->head.h > 1;

	if (table_has_points(NULL, &in->head) < 0)
		return -1;
	head_xyz(&in->head, channel);
	cloud->values = head_three(&in->head, "", "rgb", channel + 6) ? 3 : 0;
	if (cloud->values == 0 && head_channel(&in->head, "texture") != NO_CHANNEL) {
		channel[6] = head_channel(&in->head, "texture");
		cloud->values = 1;
	}
	cloud->sides = given ? CLOUD_NORMALS : CLOUD_ORDER;
	if (find_sensor(&in->head, cloud) < 0)
		return -1;
	if (!given && !order)
		cloud->sides = cloud->has_sensor ? CLOUD_SENSOR : CLOUD_NO_SIDES;
	cloud->index = must_large(most, sizeof(*cloud->index));
	for (size_t k = 0; k < 3; k++) {
		cloud->xyz[k] = must_large(most, sizeof(float));
		cloud->normal[k] = given || order ? must_large(most, sizeof(float)) : NULL;
		cloud->value[k] = k < cloud->values ? must_large(most, sizeof(float)) : NULL;
	}
	for (size_t i = 0; i < most; i++) {
		size_t x = i % in->head.w, y = i / in->head.w;
		double side[3] = { 1, 0, 0 }, length;
		bool finite = true;

		for (size_t k = 0; k < 3; k++) {
			cloud->xyz[k][n] = frame_floats(in, channel[k], y)[x];
			finite &= isfinite(cloud->xyz[k][n]) != 0;
			if (given)
				side[k] = (double)frame_floats(in, channel[3 + k], y)[x];
		}
		if (!finite)
			continue;
		if (order)
			side_by_order(in, channel, x, y, side);
		length = vector3_length(side);
		for (size_t k = 0; k < 3 && (given || order); k++)
			cloud->normal[k][n] = length > 0 && isfinite(length) ?
			    (float)(side[k] / length) : cloud->keeps ? 0 : NAN;
		for (size_t k = 0; k < cloud->values; k++)
			cloud->value[k][n] = frame_floats(in, channel[6 + k], y)[x];
		cloud->index[n] = (uint32_t)i;
		cloud->points++;
		n += !given || cloud->keeps || (length > 0 && isfinite(length));
	}
	cloud->n = n;
	if (order && cloud->has_sensor)
		turn_sides(cloud);
	return 0;
}

/* ---- how dense they are ---- */

#define SPACING_POINTS 4096	/* that are looked at */
#define SPACING_NEIGHBOUR 8	/* whose distance tells the density */
#define SPACING_AROUND 60	/* points wanted in 27 cubes: a circle in them has some 20 */

struct spacing_job {
	const struct grid *grid;
	float *distance;		/* of the neighbour; NaN: there are not so many */
};

static void
find_distance(void *arg, size_t k)
{
	const struct spacing_job *job = arg;
	const struct grid *grid = job->grid;
	size_t i = k * grid->points / SPACING_POINTS, n;
	double nearest[SPACING_NEIGHBOUR + 1];	/* squares, rising; the first is the point itself */
	uint32_t around[GRID_MOST_AROUND];

	n = grid_different(grid, i, around);
	for (size_t j = 0; j <= SPACING_NEIGHBOUR; j++)
		nearest[j] = INFINITY;
	for (size_t j = 0; j < n; j++) {
		double square = 0;
		size_t at = SPACING_NEIGHBOUR;

		for (int a = 0; a < 3; a++) {
			double d = (double)grid->xyz[a][around[j]] - (double)grid->xyz[a][i];

			square += d * d;
		}
		for (; at > 0 && nearest[at - 1] > square; at--)
			nearest[at] = nearest[at - 1];
		if (square < nearest[at])
			nearest[at] = square;
	}
	job->distance[k] = (float)sqrt(nearest[SPACING_NEIGHBOUR]);
}

int
cloud_spacing(struct run *run, const struct cloud *cloud, double *spacing)
{
	const float *const xyz[3] = { cloud->xyz[0], cloud->xyz[1], cloud->xyz[2] };
	struct grid grid;
	struct spacing_job job = { .grid = &grid };
	size_t n = 0;

	*spacing = 0;
	if (grid_make_fitting(run, xyz, cloud->n, 0, SPACING_AROUND, true, &grid) < 0) {
		grid_free(&grid);
		return -1;
	}
	job.distance = must_alloc(SPACING_POINTS, sizeof(*job.distance));
	run_for(run, SPACING_POINTS, find_distance, &job);
	for (size_t k = 0; k < SPACING_POINTS; k++)
		if (isfinite(job.distance[k]))
			job.distance[n++] = job.distance[k];
	/* pi r^2 has so many points where each one has spacing^2 */
	if (n > 0)
		*spacing = numbers_median(job.distance, n) * sqrt(M_PI / SPACING_NEIGHBOUR);
	free(job.distance);
	grid_free(&grid);
	if (*spacing > 0)
		return 0;
	return fail(NULL, cloud->n <= SPACING_NEIGHBOUR ? "%zu points are too few to tell how "
	    "dense they are" : "all %zu points are at fewer than %d places", cloud->n,
	    SPACING_NEIGHBOUR + 1);
}

/* ---- the order of cubes ---- */

#define PLACES_FROM_MIDDLE 1e6	/* cubes: beyond, a point has no place of its own in the grid */

/* Keeps the points of this list, in its order. */
static void
keep_points(struct cloud *cloud, const uint32_t *point, size_t n)
{
	float **column[6 + CLOUD_VALUES];
	uint32_t *index = must_large(n + 1, sizeof(*index));
	size_t columns = 0;

	for (size_t i = 0; i < n; i++)
		index[i] = cloud->index[point[i]];
	free(cloud->index);
	cloud->index = index;

	for (int k = 0; k < 3; k++)
		column[columns++] = &cloud->xyz[k];
	for (int k = 0; k < 3 && cloud->normal[0]; k++)
		column[columns++] = &cloud->normal[k];
	for (size_t k = 0; k < cloud->values; k++)
		column[columns++] = &cloud->value[k];
	for (size_t c = 0; c < columns; c++) {
		float *kept = must_large(n + 1, sizeof(*kept));

		for (size_t i = 0; i < n; i++)
			kept[i] = (*column[c])[point[i]];
		free(*column[c]);
		*column[c] = kept;
	}
	cloud->n = n;
}

/* Sorts the points into cubes of BRICK cells; drops those too far away from all others to have a
 * place. -1 after fail(). */
static int
cloud_sort(struct run *run, struct cloud *cloud, double cell)
{
	uint32_t *near = must_large(cloud->n, sizeof(*near));
	double middle[3];
	size_t n = 0;

	for (int k = 0; k < 3; k++)
		middle[k] = numbers_median(cloud->xyz[k], cloud->n);
	for (size_t i = 0; i < cloud->n; i++) {
		bool inside = true;

		for (int k = 0; k < 3; k++)
			inside &= fabs((double)cloud->xyz[k][i] - middle[k]) <
			    PLACES_FROM_MIDDLE * BRICK * cell;
		near[n] = (uint32_t)i;
		n += inside;
	}
	if (n < cloud->n)
		keep_points(cloud, near, n);
	free(near);
	grid_free(&cloud->grid);
	if (grid_make(run, (const float *const[3]){ cloud->xyz[0], cloud->xyz[1], cloud->xyz[2] },
	    n, BRICK * cell, middle, NULL, &cloud->grid) < 0)
		return -1;
	keep_points(cloud, cloud->grid.point, n);
	for (int k = 0; k < 3; k++)
		cloud->grid.xyz[k] = cloud->xyz[k];
	for (size_t i = 0; i < n; i++)
		cloud->grid.point[i] = (uint32_t)i;
	return 0;
}

void
cloud_free(struct cloud *cloud)
{
	for (int k = 0; k < 3; k++)
		free_all(cloud->xyz[k], cloud->normal[k], cloud->value[k]);
	free(cloud->index);
	grid_free(&cloud->grid);
	*cloud = (struct cloud){ 0 };
}

/* ---- points near a brick ---- */

#define NEAR_NONE UINT32_MAX	/* no point, but one more for whole lanes */

static void
near_add(struct near *near, const struct cloud *cloud, uint32_t point, const float place[3])
{
	if (near->n == near->room) {
		near->room = 2 * near->room + 16 * NEAR_LANES;
		for (int k = 0; k < 3; k++)
			near->place[k] = must_resize(near->place[k], near->room, sizeof(float));
		for (int k = 0; k < NEAR_VALUES; k++)
			near->value[k] = must_resize(near->value[k], near->room, sizeof(float));
		near->point = must_resize(near->point, near->room, sizeof(*near->point));
	}
	for (int k = 0; k < 3; k++) {
		near->place[k][near->n] = place[k];
		near->value[k][near->n] = cloud->normal[0] && point != NEAR_NONE ?
		    cloud->normal[k][point] : 0;
	}
	for (size_t k = 0; k < CLOUD_VALUES; k++)
		near->value[3 + k][near->n] = k < cloud->values && point != NEAR_NONE ?
		    cloud->value[k][point] : 0;
	near->point[near->n++] = point;
}

void
near_find(struct near *near, const struct cloud *cloud, const int64_t place[3], double reach)
{
	const struct grid *grid = &cloud->grid;
	const double cell = grid->size / BRICK;
	const float low = (float)-reach, high = (float)(BRICK + reach);
	static const float far[3] = { 1e6f, 1e6f, 1e6f };

	near->n = 0;
	for (int row = 0; row < 9; row++) {
		uint64_t key = grid_key(place[0] + row / 3 - 1, place[1] + row % 3 - 1,
		    place[2] - 1);
		size_t first = grid_find(grid, key, 0), last = grid_find(grid, key + 3, first);

		for (size_t i = grid->first[first]; i < grid->first[last]; i++) {
			float at[3];
			bool inside = true;

			for (int k = 0; k < 3; k++) {
				double from = (double)(place[k] + grid->origin[k]) * BRICK;

				at[k] = (float)((double)cloud->xyz[k][i] / cell - from);
				inside &= at[k] > low && at[k] < high;
			}
			if (inside)
				near_add(near, cloud, (uint32_t)i, at);
		}
	}
	while (near->n % NEAR_LANES)
		near_add(near, cloud, NEAR_NONE, far);
}

void
near_free(struct near *near)
{
	for (int k = 0; k < 3; k++)
		free(near->place[k]);
	for (int k = 0; k < NEAR_VALUES; k++)
		free(near->value[k]);
	free(near->point);
}

/* ---- normals ---- */

#define NORMAL_WEIGHT 2.5	/* of the weights of all neighbours: some six of them */
#define NORMAL_SECOND 0.01	/* of the largest spread along a plane: less is a line */
#define PLANE_FREEDOM 1.22	/* weight of what a plane takes: (1 + 2 x 0.6) sum w^2 / sum w */

struct normals_job {
	struct cloud *cloud;
	bool hints;			/* the cloud's normals tell the sides */
	bool others;			/* planes leave the point itself out */
	bool *has;			/* each point: a normal */
};

/* Weighted sums, about this place, of the places of all points. */
static void
moments(const struct near *near, const float at[3], double sums[NEAR_SUMS])
{
	float lane[NEAR_SUMS][NEAR_LANES] = { 0 };

	for (size_t i = 0; i < near->n; i += NEAR_LANES) {
		CPU_SIMD
		for (size_t k = 0; k < NEAR_LANES; k++) {
			float x = near->place[0][i + k] - at[0], y = near->place[1][i + k] - at[1];
			float z = near->place[2][i + k] - at[2];
			float w = near_weight(x * x + y * y + z * z, WEIGHT_SQUARE);

			lane[0][k] += w;
			lane[1][k] += w * x;
			lane[2][k] += w * y;
			lane[3][k] += w * z;
			lane[4][k] += w * x * x;
			lane[5][k] += w * x * y;
			lane[6][k] += w * x * z;
			lane[7][k] += w * y * y;
			lane[8][k] += w * y * z;
			lane[9][k] += w * z * z;
		}
	}
	for (size_t s = 0; s < NEAR_SUMS; s++) {
		sums[s] = 0;
		for (size_t k = 0; k < NEAR_LANES; k++)
			sums[s] += (double)lane[s][k];
	}
}

/* The plane's normal; its distance from points, in cells. NaN: there is none. */
static float
fit_plane(const double sums[NEAR_SUMS], double normal[3])
{
	double w = sums[0], x = sums[1] / w, y = sums[2] / w, z = sums[3] / w;
	double spread[9], value[3], vector[9];

	if (!(w > NORMAL_WEIGHT))
		return NAN;
	spread[0] = sums[4] / w - x * x;
	spread[1] = spread[3] = sums[5] / w - x * y;
	spread[2] = spread[6] = sums[6] / w - x * z;
	spread[4] = sums[7] / w - y * y;
	spread[5] = spread[7] = sums[8] / w - y * z;
	spread[8] = sums[9] / w - z * z;
	symmetric_eigen(3, spread, value, vector);
	if (!(value[1] > NORMAL_SECOND * value[0]))
		return NAN;
	memcpy(normal, vector + 6, 3 * sizeof(*normal));
	return (float)sqrt(fmax(value[2], 0) / (1 - PLANE_FREEDOM / w));
}

/* All points of a cube. */
static void
make_normals(void *arg, size_t cube)
{
	const struct normals_job *job = arg;
	struct cloud *cloud = job->cloud;
	const struct grid *grid = &cloud->grid;
	struct near near = { 0 };
	float last[3] = { NAN };
	double sums[NEAR_SUMS];
	int64_t place[3];

	grid_place_of_key(grid->key[cube], place);
	near_find(&near, cloud, place, WEIGHT_REACH);
	for (size_t j = 0; j < near.n; j++) {
		size_t i = near.point[j];
		const float at[3] = { near.place[0][j], near.place[1][j], near.place[2][j] };
		double normal[3] = { 0 }, towards = 0, along = 0;

		if (i < grid->first[cube] || i >= grid->first[cube + 1])
			continue;
		/* of many points at one place, such as zeros in place of holes, only the first */
		if (memcmp(at, last, sizeof(at))) {
			moments(&near, at, sums);
			sums[0] -= job->others;	/* its own weight, at its own place: 0 */
			memcpy(last, at, sizeof(at));
		}
		job->has[i] = !isnan(fit_plane(sums, normal));
		if (!job->has[i])
			continue;
		for (int k = 0; k < 3; k++) {
			towards += normal[k] * (cloud->sensor[k] - (double)cloud->xyz[k][i]);
			along += job->hints ? normal[k] * (double)cloud->normal[k][i] : 0;
		}
		if (!job->hints || isnan(along))
			along = cloud->has_sensor ? towards : job->hints ? NAN : 1;
		job->has[i] = !isnan(along);
		for (int k = 0; k < 3; k++)
			cloud->normal[k][i] = (float)(along < 0 ? -normal[k] : normal[k]);
	}
	near_free(&near);
}

int
cloud_normals(struct run *run, struct cloud *cloud, bool others)
{
	uint32_t *kept = must_large(cloud->n, sizeof(*kept));
	struct normals_job job = { cloud, cloud->normal[0] != NULL, others,
		must_alloc(cloud->n, sizeof(bool)) };
	double cell = cloud->grid.size / BRICK;
	size_t n = 0;

	for (int k = 0; k < 3 && !job.hints; k++)
		cloud->normal[k] = must_large(cloud->n, sizeof(float));
	run_for(run, cloud->grid.cells, make_normals, &job);
	for (size_t i = 0; i < cloud->n; i++) {
		kept[n] = (uint32_t)i;
		n += job.has[i] || cloud->keeps;
		for (int k = 0; k < 3 && !job.has[i]; k++)
			cloud->normal[k][i] = 0;
	}
	free(job.has);
	if (n < cloud->n)
		keep_points(cloud, kept, n);
	free(kept);
	return n > 0 ? cloud_sort(run, cloud, cell) : 0;
}

/* ---- a sample of places: a point of each of SPACING_POINTS cubes ---- */

/* near->point[at] is the point of the place. NaN: it tells nothing. */
typedef float judge_place(const struct grid *, const struct near *, size_t at);

struct places_job {
	const struct cloud *cloud;
	double reach;			/* cells around the cube that are looked at */
	judge_place *judge;
	float *found;
};

static void
look_at_place(void *arg, size_t k)
{
	const struct places_job *job = arg;
	const struct grid *grid = &job->cloud->grid;
	size_t cube = k * grid->cells / SPACING_POINTS, at = 0;
	struct near near = { 0 };
	int64_t place[3];

	grid_place_of_key(grid->key[cube], place);
	near_find(&near, job->cloud, place, job->reach);
	while (near.point[at] != grid->first[cube])
		at++;
	job->found[k] = job->judge(grid, &near, at);
	near_free(&near);
}

/* Returns how many places tell something: found[] begins with what they do. */
static size_t
look_at_places(struct run *run, const struct cloud *cloud, double reach, judge_place *judge,
    float found[SPACING_POINTS])
{
	struct places_job job = { cloud, reach, judge, found };
	size_t n = 0;

	run_for(run, SPACING_POINTS, look_at_place, &job);
	for (size_t k = 0; k < SPACING_POINTS; k++)
		if (!isnan(found[k]))
			found[n++] = found[k];
	return n;
}

/* The mean: the share of the places at which `judge` finds 1 rather than 0. */
static double
share_of_places(struct run *run, const struct cloud *cloud, double reach, judge_place *judge)
{
	float found[SPACING_POINTS];
	size_t n = look_at_places(run, cloud, reach, judge, found);
	double sum = 0;

	for (size_t k = 0; k < n; k++)
		sum += (double)found[k];
	return n > 0 ? sum / (double)n : 0;
}

/* ---- noise ---- */

#define WEIGHT_VARIANCE (8.0 / 13)	/* across a plane, whose weights add up to (1 - x^2/8)^5 */
#define MOST_SEEN 0.9		/* of that: thicker than the weights are wide, it is no plane */

static float
noise_at(const struct grid *, const struct near *near, size_t at)
{
	const float place[3] = { near->place[0][at], near->place[1][at], near->place[2][at] };
	double sums[NEAR_SUMS], normal[3];

	moments(near, place, sums);
	return fit_plane(sums, normal);
}

/* The points' standard deviation from planes through their neighbours, in cells, by the median. */
static double
cloud_noise(struct run *run, const struct cloud *cloud)
{
	float found[SPACING_POINTS];
	double noise = numbers_median(found,
	    look_at_places(run, cloud, WEIGHT_REACH, noise_at, found));

	/* weights narrow what they see: 1/seen^2 = 1/noise^2 + 1/WEIGHT_VARIANCE (of Gaussians) */
	return noise / sqrt(1 - fmin(noise * noise / WEIGHT_VARIANCE, MOST_SEEN));
}

#define CELL_SPACINGS 1.5	/* cells, in spacings of the points, */
#define LEAST_SPACINGS 0.9	/* of those: smaller cells leave holes between random points */
#define CELL_NOISE 1.25		/* and at least, in standard deviations of their noise */
#define NOISE_ROUNDS 4		/* in which that is found */

int
cloud_scale(struct run *run, struct cloud *cloud, double *cell, double *noise)
{
	bool found = isnan(*cell);

	*noise = 0;
	if (cloud_spacing(run, cloud, &cloud->spacing) < 0)
		return -1;
	if (found)
		*cell = CELL_SPACINGS * cloud->spacing;
	else if (*cell < LEAST_SPACINGS * cloud->spacing)
		warn("--cell", "%.4g is small for points %.4g apart: the surface may have holes",
		    *cell, cloud->spacing);
	if (cloud_sort(run, cloud, *cell) < 0)
		return -1;
	for (int round = 0; found && round < NOISE_ROUNDS; round++) {
		*noise = cloud_noise(run, cloud) * *cell;
		if (CELL_NOISE * *noise <= *cell)
			break;
		*cell = CELL_NOISE * *noise;
		if (cloud_sort(run, cloud, *cell) < 0)
			return -1;
	}
	return 0;
}

int
cloud_of_table(struct run *run, const struct frame *table, struct cloud *cloud)
{
	double cell = NAN, noise;
	struct frame *floats;
	int status;

	*cloud = (struct cloud){ .keeps = true };
	if (frame_to_float(table, &floats) < 0)
		return -1;
	status = cloud_take(floats, cloud);
	frame_free(floats);
	if (status == 0 && cloud->n == 0)
		status = fail(NULL, "no point: all are NaN");
	if (status == 0)
		status = cloud_scale(run, cloud, &cell, &noise);
	if (status == 0 && cloud->sides != CLOUD_NORMALS)
		status = cloud_normals(run, cloud, false);
	return status;
}

/* ---- do normals agree? ---- */

#define PAIR_CELLS 1.0		/* points as near as that are neighbours */
#define PAIR_POINTS 64		/* that each one is compared with */

struct pairs_job {
	const struct cloud *cloud;
	size_t (*count)[2];		/* of each cube: pairs, and those that disagree */
};

static void
count_pairs(void *arg, size_t cube)
{
	const struct pairs_job *job = arg;
	const struct cloud *cloud = job->cloud;
	const double reach = PAIR_CELLS * cloud->grid.size / BRICK;

	for (size_t i = cloud->grid.first[cube]; i < cloud->grid.first[cube + 1]; i++)
		for (size_t j = i + 1; j < cloud->grid.first[cube + 1] && j <= i + PAIR_POINTS;
		    j++) {
			double square = 0, turn = 0;

			for (int k = 0; k < 3; k++) {
				double d = (double)cloud->xyz[k][i] - (double)cloud->xyz[k][j];

				square += d * d;
				turn += (double)cloud->normal[k][i] * (double)cloud->normal[k][j];
			}
			job->count[cube][0] += square < reach * reach;
			job->count[cube][1] += square < reach * reach && turn < 0;
		}
}

double
cloud_disagreement(struct run *run, const struct cloud *cloud)
{
	size_t cells = cloud->grid.cells, pairs = 0, bad = 0;
	struct pairs_job job = { cloud, must_alloc(cells + 1, sizeof(*job.count)) };

	run_for(run, cells, count_pairs, &job);
	for (size_t c = 0; c < cells; c++) {
		pairs += job.count[c][0];
		bad += job.count[c][1];
	}
	free(job.count);
	return pairs > 0 ? (double)bad / (double)pairs : 0;
}

/* ---- is the surface torn? ---- */

#define SPARSE_WIDE 4.0f	/* square of the cells around a point */
#define SPARSE_POINTS 5		/* there; fewer: their spacing is about two cells */
#define SHEET_CUBES 4	/* with points, around a cube of a sheet; a stray point's has none */

static float
is_sparse_at(const struct grid *grid, const struct near *near, size_t at)
{
	const size_t i = near->point[at];
	const float place[3] = { grid->xyz[0][i], grid->xyz[1][i], grid->xyz[2][i] };
	uint32_t around[27];
	size_t n = 0;

	for (size_t j = 0; j < near->n; j++) {
		float x = near->place[0][j] - near->place[0][at];
		float y = near->place[1][j] - near->place[1][at];
		float z = near->place[2][j] - near->place[2][at];

		n += x * x + y * y + z * z < SPARSE_WIDE;
	}
	return n < SPARSE_POINTS && grid_around(grid, place, around) > SHEET_CUBES;
}

double
cloud_sparse(struct run *run, const struct cloud *cloud)
{
	return share_of_places(run, cloud, sqrt((double)SPARSE_WIDE), is_sparse_at);
}

/* ---- two sheets in one? ---- */

#define SHEET_WIDE 4.0		/* square of the cells along the surface that are looked at, */
#define SHEET_HIGH 3.0		/* cells across it, */
#define SHEET_POINTS 16		/* and points there, at least */
#define SHEET_AGREES 0.7	/* cosine of normals of one side */
#define SHEET_SPREAD 0.12	/* square of half the distance of two sheets, in cells, at least */
/* Fourth moment by the square of the second: 1 of two clean sheets, 1.7 of two that are four
 * sigma apart, 2.4 of a step, 3 of noise. */
#define SHEET_KURTOSIS 1.5

/* Heights of the points around one above the plane that fits them best, along its normal. NaN: too
 * few are around it. */
static float
has_two_sheets_at(const struct grid *, const struct near *near, size_t at)
{
	double normal[3], across[3], along[3], a[12] = { 0 }, second = 0, fourth = 0;
	double (*row)[4] = must_alloc(near->n, sizeof(*row));	/* 1, two places along the
								 * surface, the height */
	size_t n = 0;
	bool fits;

	for (size_t c = 0; c < 3; c++)
		normal[c] = (double)near->value[c][at];
	vector3_cross(normal, fabs(normal[0]) < 0.7 ? (double[]){ 1, 0, 0 } :
	    (double[]){ 0, 1, 0 }, across);
	vector3_normalise(across);
	vector3_cross(normal, across, along);
	for (size_t j = 0; j < near->n; j++) {
		double d[3], turn = 0;

		for (size_t c = 0; c < 3; c++) {
			d[c] = (double)(near->place[c][j] - near->place[c][at]);
			turn += normal[c] * (double)near->value[c][j];
		}
		row[n][0] = 1;
		row[n][1] = vector3_dot(d, across);
		row[n][2] = vector3_dot(d, along);
		row[n][3] = vector3_dot(d, normal);
		n += turn > SHEET_AGREES && fabs(row[n][3]) < SHEET_HIGH &&
		    row[n][1] * row[n][1] + row[n][2] * row[n][2] < SHEET_WIDE;
	}
	for (size_t j = 0; j < n; j++)
		for (size_t c = 0; c < 12; c++)
			a[c] += row[j][c / 4] * row[j][c % 4] / (double)n;
	fits = n >= SHEET_POINTS && linear_solve(a, 3);
	for (size_t j = 0; j < n && fits; j++) {
		double square = pow(row[j][3] - a[3] - a[7] * row[j][1] - a[11] * row[j][2], 2);

		second += square / (double)n;
		fourth += square * square / (double)n;
	}
	free(row);
	return !fits ? NAN : second > SHEET_SPREAD && fourth < SHEET_KURTOSIS * second * second;
}

double
cloud_two_sheets(struct run *run, const struct cloud *cloud)
{
	return share_of_places(run, cloud, SHEET_HIGH, has_two_sheets_at);
}

/* ---- do the sides agree? ---- */

#define SIDES_AGREE 0.8		/* cosine of neighbours' normals, whatever their sides, at least */

/* Two cubes side by side, by a point of each: how far their normals are from parallel. */
struct side_link {
	float away;
	bool turned;
	uint32_t a, b;
};

static int
compare_links(const void *a, const void *b)
{
	const struct side_link *p = a, *q = b;

	return p->away != q->away ? (p->away < q->away ? -1 : 1) :
	    p->a != q->a ? (p->a < q->a ? -1 : 1) : p->b < q->b ? -1 : p->b > q->b;
}

/* The piece of a cube; *turned: does its normal look against that of the piece's first cube? */
static uint32_t
find_piece(const uint32_t *piece, const bool *against, uint32_t cube, bool *turned)
{
	for (*turned = false; piece[cube] != cube; cube = piece[cube])
		*turned ^= against[cube];
	return cube;
}

double
cloud_turned(const struct cloud *cloud)
{
	const struct grid *grid = &cloud->grid;
	struct side_link *link = must_large(13 * grid->cells + 1, sizeof(*link));
	uint32_t *piece = must_large(grid->cells, sizeof(*piece));
	uint32_t *size = must_alloc(grid->cells, sizeof(*size));
	bool *against = must_alloc(grid->cells, sizeof(*against));
	size_t (*count)[2] = must_alloc(grid->cells, sizeof(*count));
	size_t links = 0, wrong = 0;

	for (size_t c = 0; c < grid->cells; c++) {
		piece[c] = (uint32_t)c;
		size[c] = 1;
		for (int b = 14; b < 27; b++) {
			uint64_t key = grid->key[c] + grid_key(b / 9, b / 3 % 3, b % 3) -
			    grid_key(1, 1, 1);
			size_t other = grid_find(grid, key, c);
			double turn = 0;

			if (other == grid->cells || grid->key[other] != key)
				continue;
			for (size_t k = 0; k < 3; k++)
				turn += (double)cloud->normal[k][grid->first[c]] *
				    (double)cloud->normal[k][grid->first[other]];
			link[links] = (struct side_link){ (float)(1 - fabs(turn)), turn < 0,
				(uint32_t)c, (uint32_t)other };
			links += fabs(turn) > SIDES_AGREE;
		}
	}
	qsort(link, links, sizeof(*link), compare_links);
	for (size_t i = 0; i < links; i++) {
		bool turned[2];
		uint32_t a = find_piece(piece, against, link[i].a, &turned[0]);
		uint32_t b = find_piece(piece, against, link[i].b, &turned[1]);
		uint32_t small = size[a] < size[b] ? a : b;

		if (a == b)
			continue;
		piece[small] = a + b - small;
		size[a + b - small] += size[small];
		against[small] = turned[0] ^ turned[1] ^ link[i].turned;
	}
	for (size_t c = 0; c < grid->cells; c++) {
		bool turned;
		uint32_t first = find_piece(piece, against, (uint32_t)c, &turned);

		count[first][turned]++;
	}
	for (size_t c = 0; c < grid->cells; c++)
		wrong += count[c][0] < count[c][1] ? count[c][0] : count[c][1];
	free_all(link, piece, size, against, count);
	return (double)wrong / (double)grid->cells;
}
