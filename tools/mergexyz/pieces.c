/*
 * The pieces of mergexyz: the frames of all views as they come, and the cloud of their points. With
 * --grid one point per cube: of the whole cloud, or of many frames by sums, so that their points
 * need not be kept.
 */
#include "mergexyz.h"

/* ---- pieces ---- */

/* Keys that describe one frame, not the cloud of all. */
static const char *const own_keys[] = { "name", "stage_mm", "stage_deg", "time_s", "frame_number",
	"points", "origin_px", "bin", "rect_f_px", "rect_cx_px", "rect_cy_px", "rect_side",
	"rect_baseline_mm", "rect_rotation", "picture_px", "seen_from_mm" };

static int
check_key(const struct view_frame *first, const struct view_frame *piece, const char *key)
{
	const char *a = meta_get(&first->frame->head.meta, key);
	const char *b = meta_get(&piece->frame->head.meta, key);

	if (!a || !b || !strcmp(a, b))
		return 0;
	return fail(NULL, "views differ in %s: %s in frame %zu of view %zu, %s in frame %zu of "
	    "view %zu", key, a, first->number, first->view, b, piece->number, piece->view);
}

static int
check_piece(const struct pieces *pieces, const struct view_frame *piece)
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

/* Takes ownership of the piece's frame, also where it fails: without x y z, or with another
 * length_unit or z_axis than the first piece. -1 after fail(). */
int
pieces_add(struct pieces *pieces, const struct view_frame *piece)
{
	int status = check_piece(pieces, piece);

	if (status == 0 && pieces->n == pieces->room) {
		pieces->room = pieces->room ? 2 * pieces->room : 16;
		pieces->v = must_resize(pieces->v, pieces->room, sizeof(*pieces->v));
	}
	if (status == 0)
		pieces->v[pieces->n++] = *piece;
	else
		frame_free(piece->frame);
	return status;
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
	size_t c = 0, *kept = must_alloc(first->c, sizeof(*kept));
	int status = -1;

	for (size_t k = 0; k < first->c; k++)
		if (keeps(pieces, first->channel[k]))
			kept[c++] = k;
	head_copy(head, first);
	status = meta_pick(&head->meta, first->c, kept, c);
	for (size_t k = 0; k < c; k++)
		memcpy(head->channel[k], first->channel[kept[k]], CHANNEL_NAME_SIZE);
	if (status == 0)
		status = head_set_count(head, c);
	for (size_t i = 0; i < sizeof(own_keys) / sizeof(own_keys[0]); i++)
		meta_remove(&head->meta, own_keys[i]);
	head->spacing[0] = head->spacing[1] = NAN;
	*head->unit = '\0';
	head_set_points(head, points);
	if (status < 0)
		head_free(head);
	free(kept);
	return status;
}

/* ---- errors that points share ---- */

static size_t
chunks_of(const struct view_frame *piece)
{
	return (piece->frame->head.w * piece->frame->head.h + GATHER_POINTS - 1) / GATHER_POINTS;
}

/* The window of a frame's own pixels, or that which the points of a cloud are as if filtered by. */
static int
piece_window(const struct frame_head *head, double *window_px)
{
	double shared;

	*window_px = 0;
	if (head_channel(head, "sigma") == NO_CHANNEL)
		return 0;
	if (meta_number(&head->meta, "sigma_window_px", 0, window_px) < 0 ||
	    meta_number(&head->meta, "sigma_shared", 0, &shared) < 0)
		return -1;
	if (shared > 1)
		*window_px = sqrt(shared / (4 * M_PI));
	*window_px = *window_px > 0 ? *window_px : 0;
	return 0;
}

/* The variance of the sum of all points of a cloud by their sigma: with the windows of the pieces,
 * and (*independent) without. */
static double
shared_variance(const struct frame *cloud, size_t points, const struct shared_errors *errors,
    double *independent)
{
	size_t c = head_channel(&cloud->head, "sigma"), i = 0;
	const float *sigma = c == NO_CHANNEL ? NULL : frame_floats(cloud, c, 0);
	double sum = 0;

	*independent = 0;
	for (size_t p = 0; sigma && i < points; p++) {
		double window = p < errors->n ? errors->piece[p].window_px : 0, squares = 0;
		size_t end = p < errors->n ? errors->piece[p].end : points;

		for (; i < end; i++)
			squares += isnan(sigma[i]) ? 0 : (double)sigma[i] * (double)sigma[i];
		sum += squares * fmax(4 * M_PI * window * window, 1);
		*independent += squares;
	}
	return sum;
}

/* Says in a cloud's key sigma_shared how many times the variance of a mean of many points is that
 * of independent ones; there are no pixels whose window could be said. */
static void
set_shared(struct meta *meta, double variance, double independent)
{
	meta_remove(meta, "sigma_window_px");
	meta_remove(meta, "sigma_shared");
	if (independent > 0 && variance > 1.001 * independent)
		meta_set_number(meta, "sigma_shared", variance / independent);
}

/* Lists the pieces' windows and points; none where no piece has a window. The points of piece i
 * begin at first[chunk]. */
static int
find_shared(const struct pieces *pieces, const size_t *first, size_t points,
    struct shared_errors *errors)
{
	bool any = false;

	*errors = (struct shared_errors){ .piece = must_alloc(pieces->n, sizeof(*errors->piece)) };
	for (size_t i = 0; i < pieces->n; i++) {
		first += chunks_of(&pieces->v[i]);
		errors->piece[i].end = i + 1 < pieces->n ? *first : points;
		if (piece_window(&pieces->v[i].frame->head, &errors->piece[i].window_px) < 0)
			return -1;
		any |= errors->piece[i].window_px > 0;
	}
	errors->n = any ? pieces->n : 0;
	return 0;
}

static bool
is_moved(const struct view_frame *piece)
{
	return memcmp(&piece->pose, &pose_identity, sizeof(piece->pose)) != 0;
}

static void
find_channels(struct gathering *gathering)
{
	const struct frame_head *head = &gathering->piece->frame->head;

	gathering->moved = is_moved(gathering->piece);
	head_xyz(head, gathering->x);
	head_three(head, "n", "xyz", gathering->n);
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
		size_t chunks = chunks_of(&pieces->v[i]);

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

static void
gather_points(struct run *run, struct pieces *pieces, size_t *first, struct frame *cloud)
{
	size_t *channel = must_alloc(cloud->head.c, sizeof(*channel));

	for (size_t i = 0; i < pieces->n; i++) {
		struct gathering gathering = { .piece = &pieces->v[i], .first = first,
			.cloud = cloud, .channel = channel };
		const struct frame_head *head = &pieces->v[i].frame->head;
		size_t chunks = chunks_of(&pieces->v[i]);

		find_channels(&gathering);
		for (size_t c = 0; c < cloud->head.c; c++)
			channel[c] = head_channel(head, cloud->head.channel[c]);
		run_for(run, chunks, mergexyz_rows()->take_points, &gathering);
		first += chunks;
		frame_free(pieces->v[i].frame);		/* two copies of all would be too much */
		pieces->v[i].frame = NULL;
	}
	free(channel);
}

/*
 * A table of all points that have x y z, in order, in world coordinates; normals are rotated, too.
 * It has the channels that all pieces have, in the first one's order, and the first one's metadata
 * without keys of single frames. Frees the pieces' frames. errors: of its points, which the caller
 * frees in any case. -1 after fail().
 */
int
pieces_cloud(struct run *run, struct pieces *pieces, struct shared_errors *errors,
    struct frame **cloud)
{
	size_t chunks = 0, *first, points;
	const struct frame_head *only = &pieces->v[0].frame->head;
	struct frame_head head;
	int status;

	for (size_t i = 0; i < pieces->n; i++)
		chunks += chunks_of(&pieces->v[i]);
	first = must_alloc(chunks + 1, sizeof(*first));
	points = count_points(run, pieces, first);
	status = find_shared(pieces, first, points, errors) < 0 ? -1 :
	    make_head(pieces, points, &head);
	if (status == 0 && pieces->n == 1 && !is_moved(&pieces->v[0]) && only->h == 1 &&
	    only->w == points && head.c == only->c) {
		/* the only piece is the cloud itself */
		status = frame_new_empty(&head, cloud);
		for (size_t c = 0; c < head.c && status == 0; c++)
			frame_share(*cloud, c, pieces->v[0].frame, c);
		head_free(&head);
	} else if (status == 0) {
		status = frame_new_table(&head, points, cloud);
		head_free(&head);
		if (status == 0)
			gather_points(run, pieces, first, *cloud);
	}
	if (status == 0) {
		double independent = 0, variance = errors->n ?
		    shared_variance(*cloud, points, errors, &independent) : 0;

		set_shared(&(*cloud)->head.meta, variance, independent);
	}
	free(first);
	return status;
}

/* Keeps only the table of a piece's points, in the world. -1 after fail(). */
int
pieces_compact(struct run *run, struct view_frame *piece)
{
	struct view_frame own = *piece;
	struct frame *table = NULL;
	struct shared_errors errors = { 0 };
	int status = pieces_cloud(run, &(struct pieces){ &own, 1, 1 }, &errors, &table);

	free(errors.piece);
	frame_free(own.frame);
	piece->frame = status < 0 ? NULL : table;
	piece->pose = pose_identity;
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
/* Noise of so much of a cube is reported: it carries points into the next cube. Means of 16 points
 * scatter by 0.85 of their sigma then and lie off by 1.25 (tests/error_bars.py). */
#define CUBE_NOISE 0.1

/* Prints the numbers with -v. Warns where cubes are large or small for the cloud: a size in another
 * unit, or with a slipped decimal point, leaves a few points, or all; and where they are small for
 * the noise. */
static void
report_cubes(const struct run *run, const struct cube_sums *sums)
{
	size_t points = sums->points, cells = sums->cells;
	double length = 0, size = sums->size;

	for (size_t k = 0; k < 3; k++)
		length = fmax(length, sums->extent.high[k] - sums->extent.low[k]);
	if (points >= THIN_POINTS_LEAST && cells <= CUBES_FEW && size > CUBE_LARGE * length)
		warn("--grid", "cubes of %g are large for a cloud %.4g long: of %zu points %zu "
		    "are left", size, length, points, cells);
	else if (points >= THIN_POINTS_LEAST && (double)cells > CUBES_SINGLE * (double)points &&
	    size < CUBE_SMALL * length / sqrt((double)points))
		warn("--grid", "cubes of %g are small for a cloud %.4g long: %zu of its %zu points "
		    "are left: is that its unit?", size, length, cells, points);
	else if (sums->noisy > points / 2)
		warn("--grid", "cubes of %g are small for the noise: sigma of most points is "
		    "larger than %g, so that points fall into the wrong cube and means are off by "
		    "more than their sigma; larger cubes mend it", size, CUBE_NOISE * size);
	if (run->verbose)
		note(NULL, "--grid: %zu points in %zu cubes of %g", points, cells, size);
}

/* The points of a cloud in cubes. 0, or -1 after fail(); grid_free() in either case. */
static int
sort_cloud(struct run *run, const struct frame *cloud, size_t points, double size,
    struct grid_extent *extent, struct grid *grid)
{
	const float *xyz[3];

	for (size_t k = 0; k < 3; k++)
		xyz[k] = frame_floats(cloud, head_channel(&cloud->head, (char[2]){ "xyz"[k] }), 0);
	if (grid_make(run, xyz, points, size, NULL, extent, grid) == 0)
		return 0;
	fail_prefix("--grid");
	return -1;
}

/* ---- sums over cubes, cloud by cloud ---- */

#define ROOM_FIRST 65536	/* cubes */

static void
free_channels(struct cube_sums *sums)
{
	for (size_t c = 0; sums->channel && c < sums->head.c; c++) {
		free(sums->channel[c].sum);
		free(sums->channel[c].valid);
	}
	free(sums->channel);
	head_free(&sums->head);
	sums->channel = NULL;
}

/* Takes the head of a cloud: its channels are those of the sums so far, or some of them. */
static void
take_head(struct cube_sums *sums, const struct frame_head *from)
{
	struct cube_channel *channel = must_alloc(from->c, sizeof(*channel));
	struct frame_head head;

	head_copy(&head, from);
	for (size_t c = 0; c < head.c && sums->channel; c++) {
		size_t old = head_channel(&sums->head, head.channel[c]);

		channel[c] = sums->channel[old];
		sums->channel[old] = (struct cube_channel){ 0 };
	}
	free_channels(sums);
	sums->channel = channel;
	sums->head = head;
}

/* Makes room for so many cubes in all channels. */
static void
grow_channels(struct cube_sums *sums, size_t cells)
{
	size_t room = sums->room ? sums->room : ROOM_FIRST;

	while (room < cells)
		room += room / 2;
	for (size_t c = 0; c < sums->head.c && room > sums->room; c++) {
		struct cube_channel *channel = &sums->channel[c];

		channel->sum = must_resize(channel->sum, room, sizeof(*channel->sum));
		channel->valid = must_resize(channel->valid, room, sizeof(*channel->valid));
	}
	sums->room = room;
}

static int
compare_places(const int32_t a[3], const int32_t b[3])
{
	for (int k = 0; k < 3; k++)
		if (a[k] != b[k])
			return a[k] < b[k] ? -1 : 1;
	return 0;
}

/* The cube of a cloud, of which there are `cells`, as one of the sums, without a number. */
static struct cube_place
cube_at(const struct cube_sums *sums, const struct grid *grid, size_t cell)
{
	struct cube_place cube = { .number = NO_CUBE };
	int64_t place[3];

	grid_place_of_key(grid->key[cell], place);
	for (int k = 0; k < 3; k++)
		cube.place[k] = (int32_t)(place[k] + grid->origin[k] - sums->base[k]);
	return cube;
}

/* Merges the cubes of a cloud, which are sorted by their places, with those of the sums, which are,
 * too. number: of each cube of the cloud; new ones get the next, in the order of their first
 * points. */
static void
number_cubes(struct cube_sums *sums, const struct grid *grid, uint32_t *number)
{
	size_t most = sums->cells + grid->cells, n = 0, old = 0;
	struct cube_place *all = must_alloc(most, sizeof(*all));
	uint32_t *order = grid_in_order(grid);

	for (size_t c = 0; c < grid->cells; c++) {
		struct cube_place cube = cube_at(sums, grid, c);
		int side = -1;

		while (old < sums->cells &&
		    (side = compare_places(sums->cube[old].place, cube.place)) < 0)
			all[n++] = sums->cube[old++];
		number[c] = (uint32_t)n;	/* where it is, for now */
		all[n++] = side == 0 ? sums->cube[old++] : cube;
	}
	while (old < sums->cells)
		all[n++] = sums->cube[old++];
	for (size_t k = 0; k < grid->cells; k++) {
		uint32_t *of = &number[order[k]], *own = &all[*of].number;

		if (*own == NO_CUBE)
			*own = (uint32_t)sums->cells++;
		*of = *own;
	}
	free(order);
	free(sums->cube);
	sums->cube = all;
}

/* Adds a table of points, all of them valid. The result is, bit by bit, that of all tables joined,
 * with the channels that all have. */
static int
cube_sums_add(struct cube_sums *sums, struct run *run, const struct frame *cloud,
    const struct shared_errors *errors)
{
	struct adding adding = { .sums = sums, .cloud = cloud, .before = sums->cells,
		.errors = errors };
	double independent;
	struct grid *grid = &adding.grid;
	size_t points, sigma = head_channel(&cloud->head, "sigma");
	int status;

	if (sums->clouds++ == 0)
		sums->extent = GRID_NOWHERE;
	if (head_points(&cloud->head, &points) < 0)
		return -1;
	take_head(sums, &cloud->head);
	if (points == 0)
		return 0;
	status = sort_cloud(run, cloud, points, sums->size, &sums->extent, grid);
	if (status == 0) {
		if (sums->points == 0)
			memcpy(sums->base, grid->origin, sizeof(sums->base));
		sums->points += points;
		sums->shared += shared_variance(cloud, points, errors, &independent);
		for (size_t p = 0; sigma != NO_CHANNEL && p < points; p++)
			sums->noisy += (double)frame_floats(cloud, sigma, 0)[p] >
			    CUBE_NOISE * sums->size;
		if (sums->cells + grid->cells >= NO_CUBE)
			status = fail("--grid", "%zu cubes and more are too many",
			    sums->cells + grid->cells);
	}
	if (status == 0) {
		adding.number = must_alloc(grid->cells, sizeof(*adding.number));
		grow_channels(sums, sums->cells + grid->cells);
		number_cubes(sums, grid, adding.number);
		run_for(run, (grid->cells + GRID_CUBES - 1) / GRID_CUBES,
		    mergexyz_rows()->add_cubes, &adding);
	}
	free(adding.number);
	grid_free(grid);
	return status;
}

void
cube_sums_free(struct cube_sums *sums)
{
	free_channels(sums);
	free(sums->cube);
	*sums = (struct cube_sums){ .size = sums->size };
}

/* The table of all cubes; frees the sums. -1 after fail(). */
int
cube_sums_cloud(struct cube_sums *sums, struct run *run, struct frame **cloud)
{
	size_t c = head_channel(&sums->head, "sigma");
	double independent = 0;

	*cloud = NULL;
	report_cubes(run, sums);
	free(sums->cube);
	sums->cube = NULL;
	for (size_t i = 0; c != NO_CHANNEL && i < sums->cells; i++)
		independent += sums->channel[c].sum[i];
	set_shared(&sums->head.meta, sums->shared, independent);
	if (frame_new_table(&sums->head, sums->cells, cloud) < 0)
		return -1;
	run_for(run, (sums->cells + GRID_CUBES - 1) / GRID_CUBES, mergexyz_rows()->divide_cubes,
	    &(struct dividing){ sums, *cloud });
	cube_sums_free(sums);
	return 0;
}

/*
 * Replaces a table of points by one with one point per cube floor(p/size): the mean of each channel
 * over its valid values, normals of unit length, sigma that of the mean, and of channels that
 * number something (label, line, frame, ...) the first point's value. The cubes come in the order
 * of their first points. Frees the old table. -1 after fail().
 */
int
thin_cloud(struct run *run, double size, const struct shared_errors *errors, struct frame **cloud)
{
	struct cube_sums sums = { .size = size };
	struct frame *all = *cloud;
	int status = cube_sums_add(&sums, run, all, errors);

	if (status == 0 && sums.points) {
		status = cube_sums_cloud(&sums, run, cloud);
		frame_free(all);
	}
	cube_sums_free(&sums);
	return status;
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
	struct view_frame piece = { .view = pieces->v[0].view, .number = pieces->v[0].number,
		.pose = pose_identity };

	if (frame_new_table(from, 0, &piece.frame) < 0)
		return -1;
	pieces->v[0] = piece;
	pieces->n = 1;
	return 0;
}

/* Adds the points of all pieces to the sums. Leaves a piece without points, with the first one's
 * metadata and the channels that all have had so far. -1 after fail(). */
int
fold_pieces(struct run *run, struct cube_sums *sums, struct pieces *pieces)
{
	struct shared_errors errors = { 0 };
	struct frame *cloud = NULL;
	int status = pieces_cloud(run, pieces, &errors, &cloud);

	if (status < 0) {
		frame_free(cloud);
		free(errors.piece);
		return -1;
	}
	for (size_t i = 0; i < pieces->n; i++) {
		frame_free(pieces->v[i].frame);		/* that of a single piece */
		pieces->v[i].frame = NULL;
	}
	status = cube_sums_add(sums, run, cloud, &errors);
	if (status == 0)
		status = leave_empty(&cloud->head, pieces);
	frame_free(cloud);
	free(errors.piece);
	return status;
}
