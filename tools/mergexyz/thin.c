#include "thin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/px.h"
#include "points/point_grid.h"

#define CUBES 8192		/* that a thread takes at a time */
#define LARGE 0.1		/* of the cloud's length: larger cubes are worth a line */
#define CELLS_FEW 2197		/* more than such cubes there are, 11 along a side and a bit */
#define SMALL 0.1		/* of the distance of as many points that fill a square so long: */
#define SINGLE 0.999		/* of them lie in a cube of their own then */
#define POINTS_MANY 1000	/* fewer are no cloud to thin out */

struct thinning {
	const struct frame *cloud;
	struct frame *out;
	const uint32_t *start, *order;
	size_t cells;
};

enum thin_kind
thin_kind(const char *channel)
{
	static const char *const counted[] = { "label", "line", "frame", "view", "column", "row",
		"i", "j", "mask", "index", "u", "v", "nu", "nv" };

	if (!strcmp(channel, "sigma"))
		return THIN_SIGMA;
	for (size_t i = 0; i < sizeof(counted) / sizeof(counted[0]); i++)
		if (!strcmp(channel, counted[i]))
			return THIN_FIRST;
	return THIN_MEAN;
}

void
thin_add(enum thin_kind kind, const float *v, const uint32_t *point, size_t n, double *sum,
    size_t *valid)
{
	for (size_t i = 0; i < n; i++) {
		double value = v[point[i]];

		if (isnan(value))
			continue;
		++*valid;
		*sum += kind == THIN_SIGMA ? value * value : value;
	}
}

float
thin_mean(enum thin_kind kind, double sum, size_t valid)
{
	if (valid == 0)
		return PX_NAN;
	return (float)((kind == THIN_SIGMA ? sqrt(sum) : sum) / (double)valid);
}

void
thin_normals(struct frame *cloud, size_t begin, size_t end)
{
	size_t channel[3];

	for (size_t k = 0; k < 3; k++) {
		channel[k] = head_channel(&cloud->head, (char[3]){ 'n', "xyz"[k] });
		if (channel[k] == NO_CHANNEL)
			return;
	}
	for (size_t i = begin; i < end; i++) {
		float *n[3];
		double length = 0;

		for (size_t k = 0; k < 3; k++) {
			n[k] = frame_floats(cloud, channel[k], 0) + i;
			length += (double)*n[k] * *n[k];
		}
		for (size_t k = 0; k < 3; k++)
			*n[k] = length > 0 ? (float)(*n[k] / sqrt(length)) : PX_NAN;
	}
}

static void
mean_channel(const struct thinning *thinning, size_t c, size_t begin, size_t end)
{
	const float *v = frame_floats(thinning->cloud, c, 0);
	float *to = frame_floats(thinning->out, c, 0);
	enum thin_kind kind = thin_kind(thinning->cloud->head.channel[c]);

	for (size_t k = begin; k < end; k++) {
		const uint32_t *point = thinning->order + thinning->start[k];
		size_t n = thinning->start[k + 1] - thinning->start[k], valid = 0;
		double sum = 0;

		if (kind != THIN_FIRST)
			thin_add(kind, v, point, n, &sum, &valid);
		if (kind == THIN_FIRST)
			to[k] = v[point[0]];
		else
			to[k] = thin_mean(kind, sum, valid);
	}
}

static void
mean_cubes(void *arg, size_t part)
{
	const struct thinning *thinning = arg;
	size_t begin = part * CUBES, end = begin + CUBES;

	end = end < thinning->cells ? end : thinning->cells;
	for (size_t c = 0; c < thinning->cloud->head.c; c++)
		mean_channel(thinning, c, begin, end);
	thin_normals(thinning->out, begin, end);
}

static int
make(struct run *run, const struct point_grid *grid, struct frame **cloud)
{
	struct thinning thinning = { .cloud = *cloud, .cells = grid->cells };
	uint32_t *start, *order;
	struct frame_head head;
	int status;

	if (point_grid_lists(grid, &start, &order) < 0)
		return -1;
	thinning.start = start;
	thinning.order = order;
	status = head_copy(&head, &(*cloud)->head);
	if (status == 0) {
		status = head_set_points(&head, grid->cells) < 0 ? -1 :
		    frame_new(&head, &thinning.out);
		head_free(&head);
	}
	if (status == 0) {
		run_for(run, (grid->cells + CUBES - 1) / CUBES, mean_cubes, &thinning);
		frame_free(*cloud);
		*cloud = thinning.out;
	}
	free(start);
	free(order);
	return status;
}

void
thin_extent(const float *const xyz[3], size_t points, double low[3], double high[3])
{
	for (size_t k = 0; k < 3; k++) {
		float least = INFINITY, most = -INFINITY;

		_Pragma("omp simd reduction(min:least) reduction(max:most)")
		for (size_t i = 0; i < points; i++) {
			least = xyz[k][i] < least ? xyz[k][i] : least;
			most = xyz[k][i] > most ? xyz[k][i] : most;
		}
		low[k] = fmin(low[k], (double)least);
		high[k] = fmax(high[k], (double)most);
	}
}

void
thin_check_size(size_t points, size_t cells, double size, const double low[3],
    const double high[3])
{
	double length = 0;

	for (size_t k = 0; k < 3; k++)
		length = fmax(length, high[k] - low[k]);
	if (points >= POINTS_MANY && cells <= CELLS_FEW && size > LARGE * length)
		warn("--grid", "cubes of %g are large for a cloud %.4g long: of %zu points %zu "
		    "are left", size, length, points, cells);
	else if (points >= POINTS_MANY && (double)cells > SINGLE * (double)points &&
	    size < SMALL * length / sqrt((double)points))
		warn("--grid", "cubes of %g are small for a cloud %.4g long: %zu of its %zu points "
		    "are left: is that its unit?", size, length, cells, points);
}

int
thin_cloud(struct run *run, double size, struct frame **cloud)
{
	const struct frame_head *head = &(*cloud)->head;
	struct point_grid grid;
	const float *xyz[3];
	double low[3] = { INFINITY, INFINITY, INFINITY };
	double high[3] = { -INFINITY, -INFINITY, -INFINITY };
	size_t points;
	int status;

	if (head_points(head, &points) < 0)
		return -1;
	if (points == 0)
		return 0;
	for (size_t k = 0; k < 3; k++)
		xyz[k] = frame_floats(*cloud, head_channel(head, (char[2]){ "xyz"[k] }), 0);
	if (point_grid_make(run, xyz, points, size, NULL, &grid) < 0) {
		fail_prefix("--grid");
		return -1;
	}
	if (grid.cells <= CELLS_FEW || (double)grid.cells > SINGLE * (double)points)
		thin_extent(xyz, points, low, high);
	thin_check_size(points, grid.cells, size, low, high);
	point_grid_forget(&grid);
	if (run->verbose)
		note(NULL, "--grid: %zu points in %zu cubes of %g", points, grid.cells, size);
	status = make(run, &grid, cloud);
	point_grid_free(&grid);
	return status;
}
