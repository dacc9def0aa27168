#include "cube_sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "points/point_grid.h"
#include "thin.h"

#define CUBES 8192		/* that a thread takes at a time */
#define ROOM_FIRST 65536
#define NONE UINT32_MAX

/* ---- channels ---- */

/* Leaves out the channels that this cloud lacks. */
static int
drop_channels(struct cube_sums *sums, const struct frame_head *head)
{
	size_t c = sums->head.c, n = 0, kept[c];

	for (size_t k = 0; k < c; k++)
		if (head_channel(head, sums->head.channel[k]) != NO_CHANNEL)
			kept[n++] = k;
	if (n == c)
		return 0;
	for (size_t k = 0, i = 0; k < c; k++) {
		if (i < n && kept[i] == k) {
			i++;
			continue;
		}
		free(sums->channel[k].sum);
		free(sums->channel[k].valid);
		sums->channel[k] = (struct cube_channel){ 0 };
	}
	if (meta_pick(&sums->head.meta, c, kept, n) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		struct cube_channel moved = sums->channel[kept[i]];

		sums->channel[kept[i]] = (struct cube_channel){ 0 };
		sums->channel[i] = moved;
		memmove(sums->head.channel[i], sums->head.channel[kept[i]], CHANNEL_NAME_SIZE);
	}
	return head_set_count(&sums->head, n);
}

/* ---- cubes ---- */

static int
grow(struct cube_sums *sums, size_t cells)
{
	size_t room = sums->room ? sums->room : ROOM_FIRST;
	void *more;

	while (room < cells)
		room += room / 2;
	if (room == sums->room)
		return 0;
	more = reallocarray(sums->place, room, sizeof(*sums->place));
	if (!more)
		return fail_memory();
	sums->place = more;
	for (size_t c = 0; c < sums->head.c; c++) {
		struct cube_channel *channel = &sums->channel[c];

		more = reallocarray(channel->sum, room, sizeof(*channel->sum));
		if (!more)
			return fail_memory();
		channel->sum = more;
		more = reallocarray(channel->valid, room, sizeof(*channel->valid));
		if (!more)
			return fail_memory();
		channel->valid = more;
	}
	sums->room = room;
	return 0;
}

static size_t
slot_of(const struct cube_sums *sums, const int32_t place[3])
{
	uint64_t v = (uint32_t)place[0] * 0x9e3779b97f4a7c15ULL;

	v = (v ^ v >> 32 ^ (uint32_t)place[1]) * 0xff51afd7ed558ccdULL;
	v = (v ^ v >> 32 ^ (uint32_t)place[2]) * 0xc4ceb9fe1a85ec53ULL;
	v ^= v >> 33;
	for (v &= sums->slots - 1; sums->slot[v] != NONE; v = (v + 1) & (sums->slots - 1))
		if (!memcmp(sums->place[sums->slot[v]], place, sizeof(*sums->place)))
			break;
	return v;
}

/* Makes room in the hash for so many cubes. */
static int
widen(struct cube_sums *sums, size_t cells)
{
	size_t slots = sums->slots ? sums->slots : 2 * ROOM_FIRST;

	while (slots * 5 < cells * 8)
		slots *= 2;
	if (slots == sums->slots)
		return 0;
	free(sums->slot);
	sums->slot = reallocarray(NULL, slots, sizeof(*sums->slot));
	sums->slots = sums->slot ? slots : 0;
	if (!sums->slot)
		return fail_memory();
	memset(sums->slot, 0xff, slots * sizeof(*sums->slot));		/* NONE */
	for (size_t i = 0; i < sums->cells; i++)
		sums->slot[slot_of(sums, sums->place[i])] = (uint32_t)i;
	return 0;
}

/* ---- one cloud ---- */

struct adding {
	struct cube_sums *sums;
	const struct frame *cloud;
	const uint32_t *start, *order;	/* points of the cloud's own cubes */
	uint32_t *cell;			/* the cube that each of these is */
	size_t cells, before;		/* of the cloud; cubes before it */
};

static void
add_channel(const struct adding *adding, size_t c, size_t begin, size_t end)
{
	const char *name = adding->sums->head.channel[c];
	const struct cube_channel *channel = &adding->sums->channel[c];
	const float *v = frame_floats(adding->cloud, head_channel(&adding->cloud->head, name), 0);
	enum thin_kind kind = thin_kind(name);

	for (size_t k = begin; k < end; k++) {
		const uint32_t *point = adding->order + adding->start[k];
		size_t n = adding->start[k + 1] - adding->start[k], cell = adding->cell[k];
		bool first = cell >= adding->before;
		double sum = first ? 0 : channel->sum[cell];
		size_t valid = first ? 0 : channel->valid[cell];

		if (kind == THIN_FIRST) {
			channel->sum[cell] = first ? (double)v[point[0]] : sum;
			continue;
		}
		thin_add(kind, v, point, n, &sum, &valid);
		channel->sum[cell] = sum;
		channel->valid[cell] = (uint32_t)valid;
	}
}

static void
add_cubes(void *arg, size_t part)
{
	const struct adding *adding = arg;
	size_t begin = part * CUBES, end = begin + CUBES;

	end = end < adding->cells ? end : adding->cells;
	for (size_t c = 0; c < adding->sums->head.c; c++)
		add_channel(adding, c, begin, end);
}

/* Finds the cubes that those of the cloud are; new ones come behind. */
static int
find_cells(struct adding *adding, const struct point_grid *grid, const float *const xyz[3])
{
	struct cube_sums *sums = adding->sums;
	size_t most = sums->cells + grid->cells;

	if (most >= NONE)
		return fail("--grid", "%zu cubes and more are too many", most);
	if (grow(sums, most) < 0 || widen(sums, most) < 0)
		return -1;
	adding->cell = calloc(grid->cells + 1, sizeof(*adding->cell));
	if (!adding->cell)
		return fail_memory();
	for (size_t k = 0; k < grid->cells; k++) {
		size_t i = adding->order[adding->start[k]], slot;
		int64_t at[3];
		int32_t place[3];

		point_grid_place(grid, (float[3]){ xyz[0][i], xyz[1][i], xyz[2][i] }, at);
		for (size_t axis = 0; axis < 3; axis++)
			place[axis] = (int32_t)(at[axis] + grid->origin[axis] - sums->base[axis]);
		slot = slot_of(sums, place);
		if (sums->slot[slot] == NONE) {
			memcpy(sums->place[sums->cells], place, sizeof(place));
			sums->slot[slot] = (uint32_t)sums->cells++;
		}
		adding->cell[k] = sums->slot[slot];
	}
	return 0;
}

static int
add(struct cube_sums *sums, struct run *run, const struct frame *cloud,
    const struct point_grid *grid, const float *const xyz[3])
{
	uint32_t *start, *order;
	struct adding adding = { .sums = sums, .cloud = cloud, .cells = grid->cells,
		.before = sums->cells };
	int status;

	if (point_grid_lists(grid, &start, &order) < 0)
		return -1;
	adding.start = start;
	adding.order = order;
	status = find_cells(&adding, grid, xyz);
	if (status == 0)
		run_for(run, (grid->cells + CUBES - 1) / CUBES, add_cubes, &adding);
	free(adding.cell);
	free(start);
	free(order);
	return status;
}

static int
begin(struct cube_sums *sums, const struct frame_head *head)
{
	for (size_t k = 0; k < 3; k++) {
		sums->low[k] = INFINITY;
		sums->high[k] = -INFINITY;
	}
	if (head_copy(&sums->head, head) < 0)
		return -1;
	sums->channel = calloc(head->c, sizeof(*sums->channel));
	return sums->channel ? 0 : fail_memory();
}

int
cube_sums_add(struct cube_sums *sums, struct run *run, const struct frame *cloud)
{
	struct point_grid grid = { 0 };
	const float *xyz[3];
	size_t points;
	int status;

	if (head_points(&cloud->head, &points) < 0 ||
	    (sums->clouds++ == 0 && begin(sums, &cloud->head) < 0) ||
	    drop_channels(sums, &cloud->head) < 0)
		return -1;
	if (points == 0)
		return 0;
	for (size_t k = 0; k < 3; k++)
		xyz[k] = frame_floats(cloud, head_channel(&cloud->head, (char[2]){ "xyz"[k] }), 0);
	thin_extent(xyz, points, sums->low, sums->high);
	status = point_grid_check_extent(sums->size, sums->low, sums->high);
	if (status == 0)
		status = point_grid_make(run, xyz, points, sums->size, NULL, &grid);
	if (status < 0) {
		fail_prefix("--grid");
		return -1;
	}
	point_grid_forget(&grid);
	if (sums->points == 0)
		memcpy(sums->base, grid.origin, sizeof(sums->base));
	sums->points += points;
	status = add(sums, run, cloud, &grid, xyz);
	point_grid_free(&grid);
	return status;
}

/* ---- all of them ---- */

struct dividing {
	const struct cube_sums *sums;
	struct frame *cloud;
};

static void
divide(void *arg, size_t part)
{
	const struct dividing *dividing = arg;
	const struct cube_sums *sums = dividing->sums;
	size_t first = part * CUBES, end = first + CUBES;

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

int
cube_sums_cloud(struct cube_sums *sums, struct run *run, struct frame **cloud)
{
	*cloud = NULL;
	thin_check_size(sums->points, sums->cells, sums->size, sums->low, sums->high);
	if (run->verbose)
		note(NULL, "--grid: %zu points in %zu cubes of %g", sums->points, sums->cells,
		    sums->size);
	free(sums->slot);
	free(sums->place);
	sums->slot = NULL;
	sums->place = NULL;
	if (head_set_points(&sums->head, sums->cells) < 0 || frame_new(&sums->head, cloud) < 0)
		return -1;
	for (size_t c = 0; c < sums->head.c; c++)
		frame_floats(*cloud, c, 0)[0] = NAN;	/* where there is no point */
	run_for(run, (sums->cells + CUBES - 1) / CUBES, divide, &(struct dividing){ sums, *cloud });
	cube_sums_free(sums);
	return 0;
}

void
cube_sums_free(struct cube_sums *sums)
{
	for (size_t c = 0; sums->channel && c < sums->head.c; c++) {
		free(sums->channel[c].sum);
		free(sums->channel[c].valid);
	}
	free(sums->channel);
	free(sums->slot);
	free(sums->place);
	head_free(&sums->head);
	*sums = (struct cube_sums){ .size = sums->size };
}
