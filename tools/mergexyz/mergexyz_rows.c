/*
 * The loops of mergexyz over pixels and points: gathering the points of a view, one point per cube
 * (--grid), and the search for the nearest neighbours (--noise).
 */
#include "mergexyz.h"

#include "base/px.h"

/* ---- gathering points ---- */

static bool
is_point(const struct gathering *gathering, size_t x, size_t y)
{
	for (size_t k = 0; k < 3; k++)
		if (!isfinite(frame_floats(gathering->piece->frame, gathering->x[k], y)[x]))
			return false;
	return true;
}

static void
count_points(void *arg, size_t chunk)
{
	struct gathering *gathering = arg;
	const struct frame_head *head = &gathering->piece->frame->head;
	size_t end = (chunk + 1) * GATHER_POINTS, n = 0;

	for (size_t i = chunk * GATHER_POINTS; i < end && i < head->w * head->h; i++)
		n += is_point(gathering, i % head->w, i / head->w);
	gathering->first[chunk] = n;
}

/* Takes a point or a normal to the world. */
static void
move_vector(const struct gathering *gathering, const size_t channel[3], bool point, size_t at,
    size_t x, size_t y)
{
	static const char *const names[2][3] = { { "nx", "ny", "nz" }, { "x", "y", "z" } };
	struct pose pose = gathering->piece->pose;
	double v[3];

	for (size_t k = 0; k < 3; k++) {
		v[k] = frame_floats(gathering->piece->frame, channel[k], y)[x];
		if (!point)
			pose.T[k] = 0;
	}
	pose_apply(&pose, v, v);
	for (size_t k = 0; k < 3; k++)
		frame_floats(gathering->cloud, head_channel(&gathering->cloud->head,
		    names[point][k]), 0)[at] = (float)v[k];
}

static void
take_points(void *arg, size_t chunk)
{
	const struct gathering *gathering = arg;
	const struct frame *frame = gathering->piece->frame;
	size_t w = frame->head.w, end = (chunk + 1) * GATHER_POINTS, at = gathering->first[chunk];

	for (size_t i = chunk * GATHER_POINTS; i < end && i < w * frame->head.h; i++) {
		size_t x = i % w, y = i / w;

		if (!is_point(gathering, x, y))
			continue;
		for (size_t c = 0; c < gathering->cloud->head.c; c++)
			frame_floats(gathering->cloud, c, 0)[at] =
			    frame_floats(frame, gathering->channel[c], y)[x];
		if (gathering->moved) {
			move_vector(gathering, gathering->x, true, at, x, y);
			if (gathering->n[0] != NO_CHANNEL)
				move_vector(gathering, gathering->n, false, at, x, y);
		}
		at++;
	}
}

/* ---- one point per cube ---- */

/* A channel's mean; of sigma that of the mean, by its squares; of numbers the first point's. */
enum thin_kind { THIN_MEAN, THIN_SIGMA, THIN_FIRST };

static enum thin_kind
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

/* Adds the valid ones of n points' values, and their number; not for THIN_FIRST. */
static void
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

/*
 * The variance of a sum of n neighbouring pixels over that of n independent ones, where errors have
 * the correlation exp(-d^2/4s^2) of a window of standard deviation s. They are treated as a square
 * with a = sqrt(n) pixels a side, whose pairs are sum (a - |d|) exp(-d^2/4s^2) along each axis.
 */
static double
patch_share(double window_px, size_t n)
{
	double side = sqrt((double)n), sum = 1;

	for (double d = 1; d < side && d < 6 * window_px; d++)
		sum += 2 * (1 - d / side) * exp(-d * d / (4 * window_px * window_px));
	return sum * sum;
}

/* thin_add() of THIN_SIGMA, piece by piece; the points rise. */
static void
thin_add_shared(const struct shared_errors *errors, const float *v, const uint32_t *point, size_t n,
    double *sum, size_t *valid)
{
	for (size_t i = 0; i < n;) {
		size_t low = 0, high = errors->n - 1, own = 0;
		double squares = 0;

		while (low < high) {
			size_t middle = (low + high) / 2;

			if (point[i] < errors->piece[middle].end)
				high = middle;
			else
				low = middle + 1;
		}
		for (; i < n && point[i] < errors->piece[low].end; i++) {
			double value = v[point[i]];

			own += !isnan(value);
			squares += isnan(value) ? 0 : value * value;
		}
		*sum += squares * patch_share(errors->piece[low].window_px, own);
		*valid += own;
	}
}

/* The mean of `valid` values; NaN of none. */
static float
thin_mean(enum thin_kind kind, double sum, size_t valid)
{
	if (valid == 0)
		return PX_NAN;
	return (float)((kind == THIN_SIGMA ? sqrt(sum) : sum) / (double)valid);
}

/* Gives normals of points begin to end - 1 unit length, where the cloud has them. */
static void
thin_normals(struct frame *cloud, size_t begin, size_t end)
{
	size_t channel[3];

	if (!head_three(&cloud->head, "n", "xyz", channel))
		return;
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
add_channel(const struct adding *adding, size_t c, size_t begin, size_t end)
{
	const char *name = adding->sums->head.channel[c];
	const struct cube_channel *channel = &adding->sums->channel[c];
	const float *v = frame_floats(adding->cloud, head_channel(&adding->cloud->head, name), 0);
	const struct grid *grid = &adding->grid;
	enum thin_kind kind = thin_kind(name);

	for (size_t k = begin; k < end; k++) {
		const uint32_t *point = grid->point + grid->first[k];
		size_t n = grid->first[k + 1] - grid->first[k], cell = adding->number[k];
		bool first = cell >= adding->before;
		double sum = first ? 0 : channel->sum[cell];
		size_t valid = first ? 0 : channel->valid[cell];

		if (kind == THIN_FIRST) {
			channel->sum[cell] = first ? (double)v[point[0]] : sum;
			continue;
		}
		if (kind == THIN_SIGMA && adding->errors->n)
			thin_add_shared(adding->errors, v, point, n, &sum, &valid);
		else
			thin_add(kind, v, point, n, &sum, &valid);
		channel->sum[cell] = sum;
		channel->valid[cell] = (uint32_t)valid;
	}
}

static void
add_cubes(void *arg, size_t part)
{
	const struct adding *adding = arg;
	size_t begin = part * GRID_CUBES, end = begin + GRID_CUBES;

	end = end < adding->grid.cells ? end : adding->grid.cells;
	for (size_t c = 0; c < adding->sums->head.c; c++)
		add_channel(adding, c, begin, end);
}

static void
divide_cubes(void *arg, size_t part)
{
	const struct dividing *dividing = arg;
	const struct cube_sums *sums = dividing->sums;
	size_t first = part * GRID_CUBES, end = first + GRID_CUBES;

	end = end < sums->cells ? end : sums->cells;
	for (size_t c = 0; c < sums->head.c; c++) {
		enum thin_kind kind = thin_kind(sums->head.channel[c]);
		float *to = frame_floats(dividing->cloud, c, 0);
		const struct cube_channel *channel = &sums->channel[c];

		for (size_t i = first; i < end; i++)
			to[i] = kind == THIN_FIRST ? (float)channel->sum[i] :
			    thin_mean(kind, channel->sum[i], channel->valid[i]);
	}
	thin_normals(dividing->cloud, first, end);
}

/* ---- the nearest neighbours of points ---- */

#define DISTANCES 64		/* that are computed together */

/* The k smallest squared distances, in rising order. */
struct nearest {
	float v[NEIGHBOURS_MOST];
	size_t n, k;
	float most;			/* distances from here on are too far */
};

static void
begin_nearest(struct nearest *nearest, size_t k)
{
	nearest->n = 0;		/* v needs no zeros */
	nearest->k = k;
	nearest->most = INFINITY;
}

static void
insert(struct nearest *nearest, float square)
{
	size_t at = nearest->n < nearest->k ? nearest->n++ : nearest->n - 1;

	for (; at > 0 && nearest->v[at - 1] > square; at--)
		nearest->v[at] = nearest->v[at - 1];
	nearest->v[at] = square;
	if (nearest->n == nearest->k)
		nearest->most = nearest->v[nearest->k - 1];
}

/* Compares sorted point i with those from `begin` to `end`. */
static void
compare(const struct neighbours *search, size_t i, size_t begin, size_t end,
    struct nearest *nearest)
{
	const float *restrict x = search->sorted[0], *restrict y = search->sorted[1];
	const float *restrict z = search->sorted[2];
	const float px = x[i], py = y[i], pz = z[i];
	float square[DISTANCES];

	for (; begin < end; begin += DISTANCES) {
		size_t n = end - begin < DISTANCES ? end - begin : DISTANCES;

		CPU_SIMD
		for (size_t m = 0; m < n; m++) {
			float dx = x[begin + m] - px, dy = y[begin + m] - py;
			float dz = z[begin + m] - pz;

			square[m] = dx * dx + dy * dy + dz * dz;
		}
		if (i >= begin && i < begin + n)
			square[i - begin] = INFINITY;		/* itself */
		for (size_t m = 0; m < n; m++)
			if (square[m] < nearest->most)
				insert(nearest, square[m]);
	}
}

/* Stores the mean distance to the nearest ones; all points up to `reach` have been compared. */
static void
store_distance(struct neighbours *search, size_t i, const struct nearest *nearest, double reach)
{
	size_t point = search->grid.point[i];
	double sum = 0;

	search->uncertain[point] = nearest->n < nearest->k ||
	    (double)nearest->v[nearest->k - 1] > reach * reach;
	for (size_t m = 0; m < nearest->k; m++)
		sum += m < nearest->n ? fmin(sqrt((double)nearest->v[m]), reach) : reach;
	search->distance[point] = (float)(sum / (double)nearest->k);
}

/* The distance of a sorted point from the border of the cubes up to `ring` from its own. */
static double
reach_of(const struct neighbours *search, size_t i, size_t ring)
{
	double reach = INFINITY;

	for (size_t k = 0; k < 3; k++) {
		double at = search->sorted[k][i] / search->grid.size;
		double within = at - floor(at);

		within = within < 0.5 ? within : 1 - within;
		reach = within < reach ? within : reach;
	}
	return (reach + (double)ring) * search->grid.size;
}

/* The nine rows of three cubes around a cube, its own first. cell: the first cube that is not
 * before the row; from one cube to the next it only rises. */
struct rows {
	size_t cell[9];
	uint32_t begin[9], end[9];	/* sorted points */
};

static const int64_t beside[9][2] = { { 0, 0 }, { -1, 0 }, { 1, 0 }, { 0, -1 }, { 0, 1 },
	{ -1, -1 }, { -1, 1 }, { 1, -1 }, { 1, 1 } };

static void
find_rows(const struct grid *grid, uint64_t own, bool anew, struct rows *rows)
{
	for (size_t r = 0; r < 9; r++) {
		uint64_t middle = own + (uint64_t)(beside[r][0] *
		    ((int64_t)1 << 2 * GRID_PLACE_BITS) + beside[r][1] *
		    ((int64_t)1 << GRID_PLACE_BITS));
		size_t cell = rows->cell[r], last;

		if (anew)
			cell = grid_find(grid, middle - 1, 0);
		while (grid->key[cell] < middle - 1)
			cell++;
		for (last = cell; grid->key[last] <= middle + 1; last++)
			;
		rows->cell[r] = cell;
		rows->begin[r] = grid->first[cell];
		rows->end[r] = grid->first[last];
	}
}

static void
search_cubes(void *arg, size_t part)
{
	struct neighbours *search = arg;
	const struct grid *grid = &search->grid;
	size_t first = part * NEIGHBOUR_CUBES, end = first + NEIGHBOUR_CUBES;
	struct rows rows = { 0 };

	for (size_t own = first; own < end && own < grid->cells; own++) {
		find_rows(grid, grid->key[own], own == first, &rows);
		for (size_t i = grid->first[own]; i < grid->first[own + 1]; i++) {
			struct nearest nearest;

			begin_nearest(&nearest, search->k);
			for (size_t r = 0; r < 9; r++)
				compare(search, i, rows.begin[r], rows.end[r], &nearest);
			store_distance(search, i, &nearest, reach_of(search, i, 1));
		}
	}
}

/* Compares a point with those of all cubes up to `ring` from its own. */
static void
compare_ring(const struct neighbours *search, size_t i, int64_t ring, struct nearest *nearest)
{
	const struct grid *grid = &search->grid;
	int64_t place[3], low[3], high[3];

	grid_place(grid, (float[3]){ search->sorted[0][i], search->sorted[1][i],
	    search->sorted[2][i] }, place);
	for (size_t k = 0; k < 3; k++) {
		low[k] = place[k] < ring ? 0 : place[k] - ring;
		high[k] = place[k] + ring < GRID_PLACES ? place[k] + ring : GRID_PLACES - 1;
	}
	for (int64_t x = low[0]; x <= high[0]; x++) {
		size_t from = grid_find(grid, grid_key(x, low[1], low[2]), 0);
		int64_t next[3];

		if (from == grid->cells)
			return;
		grid_place_of_key(grid->key[from], next);
		if (next[0] > x) {	/* on to the next plane that has cubes */
			x = next[0] - 1;
			continue;
		}
		while (grid->key[from] <= grid_key(x, high[1], high[2])) {
			size_t last;

			/* of the row that the next cube lies in */
			grid_place_of_key(grid->key[from], next);
			last = from = grid_find(grid, grid_key(x, next[1], low[2]), from);
			while (grid->key[last] <= grid_key(x, next[1], high[2]))
				last++;
			compare(search, i, grid->first[from], grid->first[last], nearest);
			from = grid_find(grid, grid_key(x, next[1] + 1, low[2]), last);
		}
	}
}

static void
search_farther(void *arg, size_t part)
{
	struct neighbours *search = arg;
	size_t end = (part + 1) * NEIGHBOUR_POINTS;

	for (size_t i = part * NEIGHBOUR_POINTS; i < end && i < search->n; i++) {
		size_t point = search->grid.point[i];

		for (int64_t ring = 2; search->uncertain[point] &&
		    search->distance[point] <= search->cut; ring *= 2) {
			struct nearest nearest;

			begin_nearest(&nearest, search->k);
			compare_ring(search, i, ring, &nearest);
			store_distance(search, i, &nearest, reach_of(search, i, (size_t)ring));
		}
	}
}

static void
deviations(const float *v, size_t n, float middle, float *out)
{
	for (size_t i = 0; i < n; i++)
		out[i] = fabsf(v[i] - middle);
}

static size_t
count_uncertain(const struct neighbours *search)
{
	size_t n = 0;

	for (size_t i = 0; i < search->n; i++)
		n += search->uncertain[i] && search->distance[i] <= search->cut;
	return n;
}

static void
keep_channel(void *arg, size_t c)
{
	const struct keeping *keeping = arg;
	const float *v = frame_floats(keeping->from, c, 0);
	float *to = frame_floats(keeping->to, c, 0);

	for (size_t i = 0; i < keeping->n; i++)
		to[i] = v[keeping->point[i]];
}

const struct mergexyz_rows AT_LEVEL(mergexyz_rows) = {
	.count_points = count_points,
	.take_points = take_points,
	.add_cubes = add_cubes,
	.divide_cubes = divide_cubes,
	.search_cubes = search_cubes,
	.search_farther = search_farther,
	.deviations = deviations,
	.count_uncertain = count_uncertain,
	.keep_channel = keep_channel,
};
