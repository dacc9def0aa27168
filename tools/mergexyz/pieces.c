/*
 * The pieces of mergexyz: the frames of all views as they come, and the cloud of their points. With
 * --grid one point per cube: of the whole cloud, or of many frames by sums, so that their points
 * need not be kept.
 */
#include "mergexyz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

/* ---- pieces ---- */

/* Keys that describe one frame, not the cloud of all. */
static const char *const own_keys[] = { "name", "stage_mm", "stage_deg", "time_s", "frame_number",
	"points", "origin_px", "bin", "rect_f_px", "rect_cx_px", "rect_cy_px", "rect_side",
	"rect_baseline_mm", "rect_rotation", "picture_px" };

static int
check_key(const struct piece *first, const struct piece *piece, const char *key)
{
	const char *a = meta_get(&first->frame->head.meta, key);
	const char *b = meta_get(&piece->frame->head.meta, key);

	if (!a || !b || !strcmp(a, b))
		return 0;
	return fail(NULL, "views differ in %s: %s in frame %zu of view %zu, %s in frame %zu of "
	    "view %zu", key, a, first->number, first->view, b, piece->number, piece->view);
}

static int
check_piece(const struct pieces *pieces, const struct piece *piece)
{
	const struct frame_head *head = &piece->frame->head;
	char text[300];

	for (size_t k = 0; k < 3; k++)
		if (head_channel(head, (char[2]){ "xyz"[k] }) == NO_CHANNEL)
			return fail(NULL, "view %zu has no channel %c, but %s", piece->view,
			    "xyz"[k], head_channels_hint(head, text));
	if (pieces->n && (check_key(&pieces->v[0], piece, "length_unit") < 0 ||
	    check_key(&pieces->v[0], piece, "z_axis") < 0))
		return -1;
	return 0;
}

/* Takes ownership of the frame, also where it fails: without x y z, or with another length_unit or
 * z_axis than the first piece. -1 after fail(). */
int
pieces_add(struct pieces *pieces, struct frame *frame, size_t view, size_t number,
    const struct pose *pose)
{
	struct piece piece = { frame, view, number, *pose, false };

	piece.moved = memcmp(pose, &pose_identity, sizeof(*pose)) != 0;
	if (pieces->n == pieces->room) {
		size_t room = pieces->room ? 2 * pieces->room : 16;
		struct piece *more = reallocarray(pieces->v, room, sizeof(*more));

		if (!more) {
			frame_free(frame);
			return fail_memory();
		}
		pieces->v = more;
		pieces->room = room;
	}
	if (check_piece(pieces, &piece) < 0) {
		frame_free(frame);
		return -1;
	}
	pieces->v[pieces->n++] = piece;
	return 0;
}

void
pieces_free(struct pieces *pieces)
{
	for (size_t i = 0; i < pieces->n; i++)
		frame_free(pieces->v[i].frame);
	free(pieces->v);
	*pieces = (struct pieces){ 0 };
}

/* ---- the cloud ---- */

static bool
all_have(const struct pieces *pieces, const char *channel)
{
	for (size_t i = 0; i < pieces->n; i++)
		if (head_channel(&pieces->v[i].frame->head, channel) == NO_CHANNEL)
			return false;
	return true;
}

/* Three channels of normals are kept together, or none. */
static bool
keeps(const struct pieces *pieces, const char *channel)
{
	bool normal = !strcmp(channel, "nx") || !strcmp(channel, "ny") || !strcmp(channel, "nz");

	return all_have(pieces, channel) && (!normal || (all_have(pieces, "nx") &&
	    all_have(pieces, "ny") && all_have(pieces, "nz")));
}

static int
make_head(const struct pieces *pieces, size_t points, struct frame_head *head)
{
	const struct frame_head *first = &pieces->v[0].frame->head;
	size_t c = 0, *kept = calloc(first->c, sizeof(*kept));
	int status = -1;

	if (!kept)
		return fail_memory();
	for (size_t k = 0; k < first->c; k++)
		if (keeps(pieces, first->channel[k]))
			kept[c++] = k;
	if (head_copy(head, first) == 0) {
		status = meta_pick(&head->meta, first->c, kept, c);
		for (size_t k = 0; k < c; k++)
			memcpy(head->channel[k], first->channel[kept[k]], CHANNEL_NAME_SIZE);
		if (status == 0)
			status = head_set_count(head, c);
		for (size_t i = 0; i < sizeof(own_keys) / sizeof(own_keys[0]); i++)
			meta_remove(&head->meta, own_keys[i]);
		head->spacing[0] = head->spacing[1] = NAN;
		*head->unit = '\0';
		if (status == 0)
			status = head_set_points(head, points);
		if (status < 0)
			head_free(head);
	}
	free(kept);
	return status;
}

static void
find_channels(struct gathering *gathering)
{
	const struct frame_head *head = &gathering->piece->frame->head;

	for (size_t k = 0; k < 3; k++) {
		gathering->x[k] = head_channel(head, (char[2]){ "xyz"[k] });
		gathering->n[k] = head_channel(head, (char[3]){ 'n', "xyz"[k] });
	}
	if (gathering->cloud &&
	    head_channel(&gathering->cloud->head, "nx") == NO_CHANNEL)
		gathering->n[0] = NO_CHANNEL;
}

/* Counts the points; first: where those of each chunk of each piece go. */
static size_t
count_points(struct run *run, const struct pieces *pieces, size_t *first)
{
	size_t points = 0;

	for (size_t i = 0; i < pieces->n; i++) {
		struct gathering gathering = { .piece = &pieces->v[i], .first = first };
		const struct frame_head *head = &pieces->v[i].frame->head;
		size_t chunks = (head->w * head->h + GATHER_POINTS - 1) / GATHER_POINTS;

		find_channels(&gathering);
		run_for(run, chunks, mergexyz_rows()->count_points, &gathering);
		for (size_t k = 0; k < chunks; k++) {
			size_t here = first[k];

			first[k] = points;
			points += here;
		}
		first += chunks;
	}
	return points;
}

static int
gather_points(struct run *run, struct pieces *pieces, size_t *first, struct frame *cloud)
{
	size_t *channel = calloc(cloud->head.c, sizeof(*channel));

	if (!channel)
		return fail_memory();
	for (size_t i = 0; i < pieces->n; i++) {
		struct gathering gathering = { .piece = &pieces->v[i], .first = first,
			.cloud = cloud, .channel = channel };
		const struct frame_head *head = &pieces->v[i].frame->head;
		size_t chunks = (head->w * head->h + GATHER_POINTS - 1) / GATHER_POINTS;

		find_channels(&gathering);
		for (size_t c = 0; c < cloud->head.c; c++)
			channel[c] = head_channel(head, cloud->head.channel[c]);
		run_for(run, chunks, mergexyz_rows()->take_points, &gathering);
		first += chunks;
		frame_free(pieces->v[i].frame);		/* two copies of all would be too much */
		pieces->v[i].frame = NULL;
	}
	free(channel);
	return 0;
}

/* The only piece is the cloud itself. */
static int
share(const struct piece *piece, struct frame_head *head, struct frame **cloud)
{
	if (frame_new_empty(head, cloud) < 0)
		return -1;
	for (size_t c = 0; c < head->c; c++)
		frame_share(*cloud, c, piece->frame, c);
	return 0;
}

/*
 * A table of all points that have x y z, in order, in world coordinates; normals are rotated, too.
 * It has the channels that all pieces have, in the first one's order, and the first one's metadata
 * without keys of single frames. Frees the pieces' frames. -1 after fail().
 */
int
pieces_cloud(struct run *run, struct pieces *pieces, struct frame **cloud)
{
	size_t chunks = 0, *first, points;
	const struct frame_head *only = &pieces->v[0].frame->head;
	struct frame_head head;
	int status;

	for (size_t i = 0; i < pieces->n; i++)
		chunks += (pieces->v[i].frame->head.w * pieces->v[i].frame->head.h +
		    GATHER_POINTS - 1) / GATHER_POINTS;
	first = calloc(chunks + 1, sizeof(*first));
	if (!first)
		return fail_memory();
	points = count_points(run, pieces, first);
	status = make_head(pieces, points, &head);
	if (status == 0 && pieces->n == 1 && !pieces->v[0].moved && only->h == 1 &&
	    only->w == points && head.c == only->c) {
		status = share(&pieces->v[0], &head, cloud);
		head_free(&head);
	} else if (status == 0) {
		status = frame_new(&head, cloud);
		head_free(&head);
		for (size_t c = 0; status == 0 && c < (*cloud)->head.c; c++)
			frame_floats(*cloud, c, 0)[0] = NAN;	/* where there is no point */
		if (status == 0)
			status = gather_points(run, pieces, first, *cloud);
	}
	free(first);
	return status;
}

/* Keeps only the table of a piece's points, in the world. -1 after fail(). */
int
pieces_compact(struct run *run, struct piece *piece)
{
	struct piece own = *piece;
	struct frame *table;
	int status = pieces_cloud(run, &(struct pieces){ &own, 1, 1 }, &table);

	frame_free(own.frame);
	piece->frame = status < 0 ? NULL : table;
	piece->pose = pose_identity;
	piece->moved = false;
	return status;
}

/* ---- one point per cube ---- */

#define CUBE_LARGE 0.1		/* of the cloud's length: larger cubes are reported, */
#define CUBES_FEW 2197		/* where there are no more of them: 11 along a side, and a few */
/* Cubes are reported as small where they are smaller than so much of the distance of as many points
 * that fill a square of the cloud's length, and so many points have a cube of their own. */
#define CUBE_SMALL 0.1
#define CUBES_SINGLE 0.999
#define THIN_POINTS_LEAST 1000	/* fewer are no cloud to thin out */

static int
make_thin(struct run *run, const struct point_grid *grid, struct frame **cloud)
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
		run_for(run, (grid->cells + GRID_CUBES - 1) / GRID_CUBES,
		    mergexyz_rows()->mean_cubes, &thinning);
		frame_free(*cloud);
		*cloud = thinning.out;
	}
	free(start);
	free(order);
	return status;
}

/* Warns where cubes are large or small for the cloud: a size in another unit, or with a slipped
 * decimal point, leaves a few points, or all. */
static void
thin_check_size(size_t points, size_t cells, double size, const double low[3],
    const double high[3])
{
	double length = 0;

	for (size_t k = 0; k < 3; k++)
		length = fmax(length, high[k] - low[k]);
	if (points >= THIN_POINTS_LEAST && cells <= CUBES_FEW && size > CUBE_LARGE * length)
		warn("--grid", "cubes of %g are large for a cloud %.4g long: of %zu points %zu "
		    "are left", size, length, points, cells);
	else if (points >= THIN_POINTS_LEAST && (double)cells > CUBES_SINGLE * (double)points &&
	    size < CUBE_SMALL * length / sqrt((double)points))
		warn("--grid", "cubes of %g are small for a cloud %.4g long: %zu of its %zu points "
		    "are left: is that its unit?", size, length, cells, points);
}

/*
 * Replaces a table of points by one with one point per cube floor(p/size): the mean of each channel
 * over its valid values, normals of unit length, sigma that of the mean, and of channels that
 * number something (label, line, frame, ...) the first point's value. The cubes come in the order
 * of their first points. Frees the old table. -1 after fail().
 */
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
	if (grid.cells <= CUBES_FEW || (double)grid.cells > CUBES_SINGLE * (double)points)
		mergexyz_rows()->extent(xyz, points, low, high);
	thin_check_size(points, grid.cells, size, low, high);
	point_grid_forget(&grid);
	if (run->verbose)
		note(NULL, "--grid: %zu points in %zu cubes of %g", points, grid.cells, size);
	status = make_thin(run, &grid, cloud);
	point_grid_free(&grid);
	return status;
}

/* ---- sums over cubes, cloud by cloud ---- */

#define ROOM_FIRST 65536	/* cubes */

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
	memset(sums->slot, 0xff, slots * sizeof(*sums->slot));		/* NO_CUBE */
	mergexyz_rows()->hash_cubes(sums);
	return 0;
}

static int
find_cubes(struct adding *adding, const struct point_grid *grid, const float *const xyz[3])
{
	struct cube_sums *sums = adding->sums;
	size_t most = sums->cells + grid->cells;

	if (most >= NO_CUBE)
		return fail("--grid", "%zu cubes and more are too many", most);
	if (grow(sums, most) < 0 || widen(sums, most) < 0)
		return -1;
	adding->cell = calloc(grid->cells + 1, sizeof(*adding->cell));
	if (!adding->cell)
		return fail_memory();
	mergexyz_rows()->number_cubes(adding, grid, xyz);
	return 0;
}

static int
add_cloud(struct cube_sums *sums, struct run *run, const struct frame *cloud,
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
	status = find_cubes(&adding, grid, xyz);
	if (status == 0)
		run_for(run, (grid->cells + GRID_CUBES - 1) / GRID_CUBES,
		    mergexyz_rows()->add_cubes, &adding);
	free(adding.cell);
	free(start);
	free(order);
	return status;
}

static int
begin_sums(struct cube_sums *sums, const struct frame_head *head)
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

/* Adds a table of points, all of them valid. The result is bit by bit that of thin_cloud() of all
 * tables joined, with the channels that all have. */
static int
cube_sums_add(struct cube_sums *sums, struct run *run, const struct frame *cloud)
{
	struct point_grid grid = { 0 };
	const float *xyz[3];
	size_t points;
	int status;

	if (head_points(&cloud->head, &points) < 0 ||
	    (sums->clouds++ == 0 && begin_sums(sums, &cloud->head) < 0) ||
	    drop_channels(sums, &cloud->head) < 0)
		return -1;
	if (points == 0)
		return 0;
	for (size_t k = 0; k < 3; k++)
		xyz[k] = frame_floats(cloud, head_channel(&cloud->head, (char[2]){ "xyz"[k] }), 0);
	mergexyz_rows()->extent(xyz, points, sums->low, sums->high);
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
	status = add_cloud(sums, run, cloud, &grid, xyz);
	point_grid_free(&grid);
	return status;
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

/* The table of all cubes; frees the sums. -1 after fail(). */
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
	run_for(run, (sums->cells + GRID_CUBES - 1) / GRID_CUBES, mergexyz_rows()->divide_cubes,
	    &(struct dividing){ sums, *cloud });
	cube_sums_free(sums);
	return 0;
}

#define FOLD_POINTS ((size_t)1 << 21)	/* waiting: few enough to keep, enough for all threads */
#define FOLD_PIECES 1024		/* small ones: counting their points takes no time */

/* Are there so many points that adding them up pays? A single frame alone is thinned directly. */
bool
fold_is_due(const struct pieces *pieces)
{
	size_t points = 0;

	if (pieces->n >= FOLD_PIECES)
		return true;
	for (size_t i = 0; i < pieces->n; i++)
		points += pieces->v[i].frame->head.w * pieces->v[i].frame->head.h;
	return points >= FOLD_POINTS;
}

static int
leave_empty(const struct frame_head *from, struct pieces *pieces)
{
	struct piece piece = { .view = pieces->v[0].view, .number = pieces->v[0].number,
		.pose = pose_identity };
	struct frame_head head;
	int status;

	if (head_copy(&head, from) < 0)
		return -1;
	status = head_set_points(&head, 0) < 0 ? -1 : frame_new(&head, &piece.frame);
	head_free(&head);
	if (status < 0)
		return -1;
	for (size_t c = 0; c < piece.frame->head.c; c++)
		frame_floats(piece.frame, c, 0)[0] = NAN;
	pieces->v[0] = piece;
	pieces->n = 1;
	return 0;
}

/* Adds the points of all pieces to the sums. Leaves a piece without points, with the first one's
 * metadata and the channels that all have had so far. -1 after fail(). */
int
fold_pieces(struct run *run, struct cube_sums *sums, struct pieces *pieces)
{
	struct frame *cloud;
	int status;

	if (pieces_cloud(run, pieces, &cloud) < 0)
		return -1;
	for (size_t i = 0; i < pieces->n; i++) {
		frame_free(pieces->v[i].frame);		/* that of a single piece */
		pieces->v[i].frame = NULL;
	}
	status = cube_sums_add(sums, run, cloud);
	if (status == 0)
		status = leave_empty(&cloud->head, pieces);
	frame_free(cloud);
	return status;
}
