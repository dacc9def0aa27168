/*
 * The points of all devices, from what the command line names: tables of corners; for a projector
 * absolute phases at the corners of the board, or captures (pose_captures.c) that give both.
 */
#include "fringecal.h"

#include "base/numbers.h"
#include "fringe/manifest.h"
#include "io/source.h"
#include "unwrap/absolute.h"

/* ---- tables of corners (channels u v sigma i j), one of each pose ---- */

enum table_channel { U, V, SIGMA, I, J, U_LOW, V_LOW, TABLE_CHANNELS };

struct table {
	const char *path;
	const struct frame *frame;
	size_t rows, pose;
	size_t channel[TABLE_CHANNELS];	/* NO_CHANNEL: the table has none */
};

static bool
has(const struct table *table, enum table_channel which)
{
	return table->channel[which] != NO_CHANNEL;
}

static int
find_channels(struct table *table)
{
	static const char *const names[] = { "u", "v", "sigma", "i", "j", "u_low", "v_low" };
	const struct frame_head *head = &table->frame->head;
	char hint[300];

	if (!head_is_table(head))
		return fail(table->path, "is an image of %zux%zu, not a table of corners "
		    "(boardfind makes it)", head->w, head->h);
	for (size_t k = 0; k < TABLE_CHANNELS; k++)
		table->channel[k] = head_channel(head, names[k]);
	if (!has(table, U) || !has(table, V))
		return fail(table->path, "expected channels u v sigma i j, found %s",
		    head_channels_hint(head, hint));
	if (has(table, I) != has(table, J))
		return fail(table->path, "has only one of the channels i and j");
	if (has(table, U_LOW) != has(table, V_LOW))
		return fail(table->path, "has only one of the channels u_low and v_low");
	return head_points(head, &table->rows);
}

static double
number_at(const struct table *table, enum table_channel which, size_t row)
{
	return has(table, which) ?
	    (double)frame_sample(table->frame, table->channel[which], 0, row) : 0;
}

/* Which corner a row is. */
static int
find_corner(const struct calib_problem *problem, const struct table *table, size_t row,
    struct calib_point *point)
{
	const struct calib_board *board = &problem->board;
	double i = (double)(row % board->w), j = (double)(row / board->w);

	if (has(table, I)) {
		i = number_at(table, I, row);
		j = number_at(table, J, row);
	}
	if (!(i >= 0 && i < (double)board->w && j >= 0 && j < (double)board->h) || i != floor(i) ||
	    j != floor(j))
		return fail(table->path, "pose %zu: corner %g %g (i j) is none of a board of "
		    "%zux%zu", table->pose + 1, i, j, board->w, board->h);
	point->i = (int)i;
	point->j = (int)j;
	return 0;
}

static int
take_row(const struct calib_problem *problem, const struct calib_device *device,
    const struct table *table, size_t row, struct calib_point *point)
{
	double sigma = has(table, SIGMA) ? number_at(table, SIGMA, row) : 1;

	/* a coordinate is a float and, where a channel has it, what the float leaves of it */
	point->u = number_at(table, U, row) + number_at(table, U_LOW, row);
	point->v = number_at(table, V, row) + number_at(table, V_LOW, row);
	point->sigma[0] = point->sigma[1] = sigma;
	if (find_corner(problem, table, row, point) < 0)
		return -1;
	if (isnan(point->u) || isnan(point->v))
		return 0;
	if (!(sigma > 0) || !isfinite(sigma))
		return fail(table->path, "pose %zu: corner %d %d has sigma %g", table->pose + 1,
		    point->i, point->j, sigma);
	if (!(point->u > -1 && point->u < (double)device->w && point->v > -1 &&
	    point->v < (double)device->h))
		return fail(table->path, "pose %zu: corner %d %d at %g %g lies outside of %s, "
		    "%zux%zu px", table->pose + 1, point->i, point->j, point->u, point->v,
		    device->name, device->w, device->h);
	return 1;
}

/* The points of a table, no corner twice. */
static int
take_rows(const struct calib_problem *problem, const struct calib_device *device,
    const struct table *table, struct calib_point *point, bool *seen, size_t *n)
{
	for (size_t row = 0; row < table->rows; row++) {
		int taken = take_row(problem, device, table, row, &point[*n]);
		size_t corner;

		if (taken < 0)
			return -1;
		corner = (size_t)point[*n].j * problem->board.w + (size_t)point[*n].i;
		if (taken && seen[corner])
			return fail(table->path, "pose %zu: corner %d %d is there twice",
			    table->pose + 1, point[*n].i, point[*n].j);
		seen[corner] |= taken;
		*n += taken > 0;
	}
	return 0;
}

/* The picture's size is that of the first table that names it; those of a camera must agree. */
static int
find_picture_size(const struct table *table, struct calib_device *device)
{
	static const char key[] = "image_size_px";
	const struct meta *meta = &table->frame->head.meta;
	struct numbers numbers;
	size_t size[2] = { 0, 0 };
	bool right;

	if (meta_numbers(meta, key, &numbers) < 0)
		return -1;
	right = numbers.n == 2 || numbers.n == 0;
	for (size_t k = 0; k < numbers.n && right; k++) {
		right = numbers.v[k] >= 1 && numbers.v[k] <= 65535;
		size[k] = right ? (size_t)numbers.v[k] : 0;
	}
	numbers_free(&numbers);
	if (!right)
		return fail(table->path, "key %s: expected two sizes, found %s", key,
		    meta_get(meta, key));
	if (size[0] && device->kind == CALIB_CAMERA && device->w &&
	    (device->w != size[0] || device->h != size[1]))
		return fail(table->path, "pose %zu is of a picture of %zux%zu, and %s has %zux%zu",
		    table->pose + 1, size[0], size[1], device->name, device->w, device->h);
	if (size[0] && !device->w) {
		device->w = size[0];
		device->h = size[1];
	}
	return device->w ? 0 : fail(table->path, "does not say the size of the picture (key %s): "
	    "give --sizes WxH", key);
}

/* The spacing is the command line's, else that of the tables, which must agree. */
static int
find_spacing(struct calib_board *board, const struct table *table, double spacing)
{
	bool same = fabs(spacing - board->spacing) <= 1e-6 * spacing;

	if (!(spacing > 0) || (same && !strcmp(board->unit, "mm")))
		return 0;
	if (!strcmp(board->unit, "board")) {
		board->spacing = spacing;
		snprintf(board->unit, sizeof(board->unit), "mm");
		return 0;
	}
	if (!board->named)
		return fail(table->path, "pose %zu is of a board with a spacing of %g mm, and "
		    "others of %g mm", table->pose + 1, spacing, board->spacing);
	if (table->pose == 0)
		warn(table->path, "is of a board with a spacing of %g mm: the %g mm of --board "
		    "are taken", spacing, board->spacing);
	return 0;
}

/* The board of the first table is taken where the command line names none; all are of one board. */
static int
find_board(struct calib_problem *problem, const struct table *table)
{
	struct calib_board *board = &problem->board;
	struct board from = { .kind = board->kind };

	if (board_read_keys(table->path, &table->frame->head.meta, &from) < 0)
		return -1;
	if (!from.w)
		return board->w ? 0 : fail(table->path, "does not say what board it is of (key "
		    "board_size): give --board WxH,MM");
	if (!board->w && calib_board_set(board, &from) < 0)
		return fail(table->path, "is of no board that is known: %s, %zux%zu, %g mm",
		    board_kinds[from.kind], from.w, from.h, from.spacing_mm);
	if (from.kind != board->kind)
		return fail(table->path, "pose %zu is of a board of %s, not %s", table->pose + 1,
		    board_kinds[from.kind], board_kinds[board->kind]);
	if (from.w != board->w || from.h != board->h)
		return fail(table->path, "pose %zu is of a board of %zux%zu corners, not %zux%zu",
		    table->pose + 1, from.w, from.h, board->w, board->h);
	return find_spacing(board, table, from.spacing_mm);
}

static int
take_table(struct calib_problem *problem, size_t device, size_t through, struct table *table)
{
	size_t corners, n = 0;
	struct calib_point *point;
	bool *seen;
	int status = 0;

	if (find_channels(table) < 0 || find_picture_size(table, &problem->device[device]) < 0 ||
	    find_board(problem, table) < 0)
		return -1;
	corners = problem->board.w * problem->board.h;
	if (table->rows > corners || (!has(table, I) && table->rows != corners))
		return fail(table->path, "pose %zu has %zu corners, and the board %zu (%zux%zu)%s",
		    table->pose + 1, table->rows, corners, problem->board.w, problem->board.h,
		    has(table, I) ? "" : "; which ones they are, channels i j say");
	if (!has(table, SIGMA))
		problem->device[device].sigma_unknown = true;
	point = must_alloc(table->rows + 1, sizeof(*point));
	seen = must_alloc(corners, sizeof(*seen));
	status = take_rows(problem, &problem->device[device], table, point, seen, &n);
	if (status == 0 && n && n < CALIB_FEWEST_POINTS)
		warn(table->path, "pose %zu has only %zu corners: left out", table->pose + 1, n);
	else if (status == 0 && n)
		calib_problem_add_view(problem, device, table->pose, through, point, n);
	free(point);
	free(seen);
	return status;
}

static int
read_file(struct calib_problem *problem, size_t device, size_t through, const char *path,
    size_t *poses)
{
	struct source *source = source_open(path);
	struct frame *frame;
	int more;

	if (!source)
		return -1;
	while ((more = source_next(source, &frame)) > 0) {
		struct table table = { .path = path, .frame = frame, .pose = *poses };
		int status = take_table(problem, device, through, &table);

		frame_free(frame);
		if (status < 0) {
			more = -1;
			break;
		}
		++*poses;
	}
	source_close(source);
	return more;
}

/*
 * Adds the views of a device from the tables in the files, one after another: of poses 0, 1, ..
 * through: the camera whose corners they are. Sets the device's size where it is 0 and the tables
 * have it. *poses: their number. -1 after fail().
 */
static int
corners_read(struct calib_problem *problem, size_t device, size_t through, char *const *path,
    size_t paths, size_t *poses)
{
	bool unknown = false;

	*poses = 0;
	for (size_t i = 0; i < paths; i++) {
		size_t before = *poses;

		if (read_file(problem, device, through, path[i], poses) < 0)
			return -1;
		if (paths > 1 && *poses > before + 1)
			return fail_usage(path[i], "has the corners of %zu poses, and there are "
			    "other files: name their cameras by --cameras", *poses - before);
		/* With some tables' sigma unknown all count alike. */
		unknown |= problem->device[device].sigma_unknown;
	}
	for (size_t v = 0; v < problem->views && unknown; v++)
		for (size_t k = 0; k < problem->view[v].n && problem->view[v].device == device;
		    k++) {
			double *sigma = problem->point[problem->view[v].first + k].sigma;

			sigma[0] = sigma[1] = 1;
		}
	return *poses ? 0 : fail(problem->device[device].name, "has no table of corners");
}

/*
 * ---- the projector's image points of a board's corners (methods §16) ----
 *
 * Around each corner u and v are fitted by a quadratic in (x, y), each pixel weighted by its own
 * sigma, so that black squares, whose fringes are weak, count little. A bilinear value at the
 * corner has 18 times the error and an affine fit 7 times.
 */

#define WINDOW_PX 31		/* a side of the window about a corner */
#define MAX_RESIDUAL 3		/* of a fit over what sigma predicts */

/* Pixels to each side of corner i: half a window, and not past the nearest other corner. */
static size_t
reach(const double (*corner)[2], size_t n, size_t i)
{
	double most = WINDOW_PX / 2;

	for (size_t k = 0; k < n; k++)
		if (k != i)
			most = fmin(most, fmax(fabs(corner[k][0] - corner[i][0]),
			    fabs(corner[k][1] - corner[i][1])));
	return (size_t)most;
}

/* The median residual of the points that have one: what sigma is to be multiplied by. */
static double
find_scale(const struct projector_point *point, size_t n, size_t axis)
{
	float *chi = must_alloc(n, sizeof(*chi)), median;
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		if (point[i].fault == PROJECTOR_POINT_GOOD)
			chi[count++] = (float)point[i].residual[axis];
	median = numbers_median(chi, count);
	free(chi);
	return median > 0 ? (double)median : 1;
}

void
projector_points(const struct coordinate_map map[2], const double (*corner)[2], size_t n,
    struct projector_point *out, struct projector_ripple ripple[2])
{
	const struct fringecal_rows *rows = fringecal_rows();
	double scale[2] = { 1, 1 };

	for (size_t i = 0; i < n; i++) {
		size_t half = reach(corner, n, i);

		memset(&out[i], 0, sizeof(out[i]));
		for (size_t axis = 0; axis < 2 && out[i].fault == PROJECTOR_POINT_GOOD; axis++)
			out[i].fault = rows->projector_point_fit(&map[axis], corner[i], half, axis,
			    &out[i]);
		for (size_t axis = 0; ripple && axis < 2 && out[i].fault == PROJECTOR_POINT_GOOD;
		    axis++)
			rows->projector_ripple_add(&map[axis], corner[i], half, &ripple[axis]);
	}
	for (size_t axis = 0; axis < 2; axis++)
		if (!map[axis].absolute)
			scale[axis] = find_scale(out, n, axis);
	/* a fit is judged by its residual, and sigma grows with it */
	for (struct projector_point *point = out; point < out + n; point++) {
		for (size_t axis = 0; axis < 2 && point->fault == PROJECTOR_POINT_GOOD; axis++) {
			point->residual[axis] /= scale[axis];
			point->sigma[axis] *= scale[axis];
			if (!(point->residual[axis] <= MAX_RESIDUAL))
				point->fault = PROJECTOR_POINT_RESIDUAL;
		}
		if (point->fault != PROJECTOR_POINT_GOOD)
			point->uv[0] = point->uv[1] = point->sigma[0] = point->sigma[1] = NAN;
	}
}

double
projector_ripple_rms(const struct projector_ripple *ripple, int *strongest)
{
	double sum = 0, most = 0;

	*strongest = 0;
	for (int k = 1; k < PROJECTOR_HARMONICS && ripple->weight > 0; k++) {
		double re = ripple->re[k] / ripple->weight, im = ripple->im[k] / ripple->weight;
		double square = 2 * (re * re + im * im);	/* half of (2 |c|)^2 */

		sum += square;
		if (square > most) {
			most = square;
			*strongest = k + 1;
		}
	}
	return sqrt(sum);
}

/*
 * ---- absolute phase as projector coordinates: frames of unwrap2f(1) ----
 *
 * With the conventions of phase2depth(1): coordinate = phase period/2 pi, 0 the centre of the
 * projector's first column.
 */

static int
find_noise(const struct frame_head *head, const char *path, struct noise_channels *noise)
{
	noise->sigma = head_channel(head, "sigma");
	noise->amplitude = head_channel(head, "amplitude");
	noise->modulation = head_channel(head, "modulation");
	noise->texture = head_channel(head, "texture");
	noise->mean_light = meta_get(&head->meta, "texture_from") != NULL;
	if (noise->sigma != NO_CHANNEL || noise->amplitude != NO_CHANNEL ||
	    (noise->modulation != NO_CHANNEL && noise->texture != NO_CHANNEL))
		return 0;
	return fail(path, "has neither sigma nor modulation and texture, which tell black squares "
	    "from white ones: keep those channels of phasewrap (best: phasewrap --sigma)");
}

static int
check_keys(const struct frame_head *head, const char *path, char axis, double *period_px)
{
	const char *along = meta_get(&head->meta, "axis");

	if (along && (along[0] != axis || along[1]))
		return fail(path, "is a phase along %.40s (key axis), and one along %c is wanted",
		    along, axis);
	if (phase_anchor_is_relative(&head->meta))
		return fail(path, "absphase is known up to whole turns only: a projector's "
		    "coordinates need an absolute one (unwrap2f, or a marker)");
	if (meta_number(&head->meta, "period_px", NAN, period_px) < 0)
		return fail_prefix(path);
	if (isnan(*period_px))
		return fail(path, "lacks the key period_px, projector pixels from a fringe to the "
		    "next");
	if (!(*period_px > 0 && isfinite(*period_px)))
		return fail(path, "key period_px must be positive, not %g", *period_px);
	return 0;
}

static void
phase_map_free(struct coordinate_map *map)
{
	free(map->px);
	free(map->sigma);
	map->px = map->sigma = NULL;
}

/*
 * The map of a frame with the channel absphase, its keys period_px and axis. path names it in
 * messages; axis is 'x' or 'y', and the key, where there is one, must agree. The sigma of a pixel
 * comes from the channel sigma, or else up to its scale from the fringes' amplitude: from
 * modulation and texture, or from the channel amplitude. Free it with phase_map_free(). -1 after
 * fail().
 */
static int
phase_map_make(const struct frame *frame, const char *path, char axis, struct coordinate_map *map)
{
	const struct frame_head *head = &frame->head;
	struct noise_channels noise;
	size_t phase = head_channel(head, "absphase");
	char names[300];

	*map = (struct coordinate_map){ .w = head->w, .h = head->h };
	if (phase == NO_CHANNEL || head->type != SAMPLE_FLOAT)
		return fail(path, "has no channel absphase of floats (unwrap2f makes it): %s",
		    head_channels_hint(head, names));
	if (check_keys(head, path, axis, &map->period_px) < 0 ||
	    find_noise(head, path, &noise) < 0)
		return -1;
	map->absolute = noise.sigma != NO_CHANNEL;
	map->px = must_alloc(map->w * map->h, sizeof(*map->px));
	map->sigma = must_alloc(map->w * map->h, sizeof(*map->sigma));
	fringecal_rows()->phase_map_fill(frame, phase, &noise, map);
	return 0;
}

/* ---- a projector's views: phases along x and y at the corners that a camera has of a pose ---- */

/* Errors of the fringes themselves are reported from this rms on, and this share of the noise. */
#define RIPPLE_PX 0.02
#define RIPPLE_NOISE 0.3

int
phase_crop_find(const struct frame_head *head, const char *path, struct phase_crop *crop)
{
	static const double zero[2] = { 0, 0 };

	if (sensor_crop_origin(NULL, &(struct numbers){ 0 }, head, zero, crop->first,
	    crop->bin) < 0)
		return fail_prefix(path);
	for (size_t k = 0; k < 2; k++)		/* the centre of the first pixel */
		crop->first[k] += (crop->bin[k] - 1) / 2;
	crop->given = meta_get(&head->meta, "origin_px") || meta_get(&head->meta, "bin");
	return 0;
}

int
phase_projector_size(const struct frame_head *head, const char *path,
    struct calib_device *projector)
{
	struct numbers size;
	bool there, same;

	if (meta_numbers(&head->meta, "projector_px", &size) < 0)
		return fail_prefix(path);
	there = size.n == 2 && size.v[0] >= 1 && size.v[1] >= 1 && size.v[0] < 65536 &&
	    size.v[1] < 65536;
	if (there && !projector->w) {
		projector->w = (size_t)size.v[0];
		projector->h = (size_t)size.v[1];
	}
	same = !there || ((size_t)size.v[0] == projector->w && (size_t)size.v[1] == projector->h);
	numbers_free(&size);
	return same ? 0 : fail(path, "is of patterns for a projector of %s px (key projector_px), "
	    "not %zux%zu", meta_get(&head->meta, "projector_px"), projector->w, projector->h);
}

static const struct calib_view *
find_view(const struct calib_problem *problem, size_t device, size_t pose)
{
	for (size_t v = 0; v < problem->views; v++)
		if (problem->view[v].device == device && problem->view[v].pose == pose)
			return &problem->view[v];
	return NULL;
}

/* Adds a corner's projector point to a list. The sigma of a coordinate is the fit's, and the
 * corner's along the slope of the phase; of a corner whose sigma is not known the fit's alone. */
static int
collect(const struct calib_problem *problem, size_t projector, const struct calib_view *view,
    const struct calib_point *corner, const struct projector_point *found,
    const struct phase_crop *crop, const char *path, struct calib_point *point)
{
	const struct calib_device *device = &problem->device[projector];

	*point = *corner;
	point->u = found->uv[0];
	point->v = found->uv[1];
	for (size_t axis = 0; axis < 2; axis++) {
		double sum = found->sigma[axis] * found->sigma[axis];

		for (size_t k = 0; k < 2 && !problem->device[view->device].sigma_unknown; k++) {
			/* per pixel of the full frame */
			double moved = found->gradient[axis][k] / crop->bin[k] * corner->sigma[k];

			sum += moved * moved;
		}
		point->sigma[axis] = sqrt(sum);
	}
	if (point->u >= -0.5 && point->u <= (double)device->w - 0.5 && point->v >= -0.5 &&
	    point->v <= (double)device->h - 0.5)
		return 0;
	return fail(path, "pose %zu: corner %d %d lies at %.1f %.1f of the projector, outside of "
	    "its %zux%zu px: another --projector, another period_px, or wrong fringe orders",
	    view->pose + 1, point->i, point->j, point->u, point->v, device->w, device->h);
}

static int
add_points(struct phase_views *views, struct calib_problem *problem, size_t projector,
    const struct calib_view *view, const struct coordinate_map map[2],
    const struct phase_crop *crop, const char *path)
{
	const struct calib_point *own = problem->point + view->first;
	double (*corner)[2] = must_alloc(view->n + 1, sizeof(*corner));
	struct projector_point *found = must_alloc(view->n + 1, sizeof(*found));
	struct calib_point *point = must_alloc(view->n + 1, sizeof(*point));
	size_t n = 0;
	int status = 0;

	for (size_t k = 0; k < view->n; k++) {
		corner[k][0] = (own[k].u - crop->first[0]) / crop->bin[0];
		corner[k][1] = (own[k].v - crop->first[1]) / crop->bin[1];
	}
	projector_points(map, (const double (*)[2])corner, view->n, found, views->ripple);
	for (size_t k = 0; k < view->n && status == 0; k++) {
		views->corners++;
		views->count[found[k].fault]++;
		if (found[k].fault == PROJECTOR_POINT_GOOD)
			status = collect(problem, projector, view, &own[k], &found[k], crop, path,
			    &point[n++]);
	}
	if (status == 0 && n >= CALIB_FEWEST_POINTS)
		calib_problem_add_view(problem, projector, view->pose, view->device, point, n);
	free_all(corner, found, point);
	return status;
}

static size_t
lost_corners(const struct phase_views *views)
{
	return views->corners - views->count[PROJECTOR_POINT_GOOD];
}

int
phase_views_add(struct phase_views *views, struct calib_problem *problem, size_t projector,
    size_t camera, size_t pose, const struct frame *const phase[2], const char *const path[2])
{
	const struct calib_view *view = find_view(problem, camera, pose);
	struct coordinate_map map[2] = { 0 };
	struct phase_crop crop[2];
	size_t before = lost_corners(views);
	int status = 0;

	if (!view)
		return 0;
	if (phase[0]->head.w != phase[1]->head.w || phase[0]->head.h != phase[1]->head.h)
		return fail(path[1], "pose %zu has %zux%zu pixels, and %zux%zu along x", pose + 1,
		    phase[1]->head.w, phase[1]->head.h, phase[0]->head.w, phase[0]->head.h);
	for (size_t axis = 0; axis < 2 && status == 0; axis++) {
		const struct frame_head *head = &phase[axis]->head;
		const struct calib_device *of = &problem->device[camera];

		status = phase_crop_find(head, path[axis], &crop[axis]);
		if (status == 0 && !crop[axis].given && (head->w != of->w || head->h != of->h))
			status = fail(path[axis], "has %zux%zu pixels and %s %zux%zu: a crop needs "
			    "the key origin_px", head->w, head->h, of->name, of->w, of->h);
		if (status == 0)
			status = phase_projector_size(head, path[axis],
			    &problem->device[projector]);
		if (status == 0)
			status = phase_map_make(phase[axis], path[axis], axis ? 'y' : 'x',
			    &map[axis]);
	}
	if (status == 0)
		status = add_points(views, problem, projector, view, map, &crop[0], path[0]);
	phase_map_free(&map[0]);
	phase_map_free(&map[1]);
	if (lost_corners(views) - before > views->most_lost) {
		views->most_lost = lost_corners(views) - before;
		views->worst = pose;
	}
	return status;
}

/* The same of all poses, from two streams with one frame for each of so many. -1 after fail(). */
static int
phase_views_read(struct phase_views *views, struct calib_problem *problem, size_t projector,
    size_t camera, size_t poses, const char *const path[2])
{
	struct source *source[2] = { source_open(path[0]), NULL };
	int status = -1;

	if (source[0])
		source[1] = source_open(path[1]);
	for (size_t pose = 0; source[0] && source[1] && pose <= poses; pose++) {
		struct frame *phase[2] = { NULL, NULL };

		status = 0;
		for (size_t axis = 0; axis < 2 && status == 0; axis++) {
			int more = source_next(source[axis], &phase[axis]);

			if (more < 0)
				status = -1;
			else if (!more != (pose == poses))
				status = fail(path[axis], "has %s phases than there are poses, %zu",
				    more ? "more" : "fewer", poses);
		}
		if (status == 0 && pose < poses)
			status = phase_views_add(views, problem, projector, camera, pose,
			    (const struct frame *const *)phase, path);
		frame_free(phase[0]);
		frame_free(phase[1]);
		if (status < 0)
			break;
	}
	source_close(source[0]);
	source_close(source[1]);
	return status;
}

bool
phase_views_residual(const struct phase_views *views, size_t axis, char text[200])
{
	const struct projector_ripple *r = &views->ripple[axis];
	int harmonic;
	double rms = projector_ripple_rms(r, &harmonic);
	double noise = r->weight > 0 ? sqrt(fmax(0, r->square / r->weight - rms * rms)) : 0;

	snprintf(text, 200, "errors that repeat %d times a fringe, %.2g px rms, beside noise of "
	    "%.2g px", harmonic, rms, noise);
	return rms > RIPPLE_PX && rms > RIPPLE_NOISE * noise;
}

/* Are there fringes that are no sinusoids? */
static bool
warn_ripple(const struct phase_views *views)
{
	bool warned = false;

	for (size_t axis = 0; axis < 2; axis++) {
		char text[200];

		if (!phase_views_residual(views, axis, text))
			continue;
		warn(NULL, "fringes along %c are no sinusoids: %s: fringegamma measures the "
		    "projector's response, and fringegen --lut takes it out (or project more "
		    "steps)", axis ? 'y' : 'x', text);
		warned = true;
	}
	return warned;
}

/* Warns of corners without a point, and of fringes that are not sinusoidal. pose_name: of each
 * pose; NULL: they are counted from 1. -1 after fail(), where no point is left. */
static int
phase_views_finish(const struct phase_views *views, const char *const *pose_name)
{
	const size_t *count = views->count;
	size_t lost = lost_corners(views);
	bool rippled = warn_ripple(views);
	char number[32], why[200];

	if (!views->corners)
		return fail(NULL, "no pose shows the board");
	snprintf(why, sizeof(why), "%zu lie outside of the phases, %zu have too few valid pixels "
	    "around them, of %zu the phase is not smooth", count[PROJECTOR_POINT_OUTSIDE],
	    count[PROJECTOR_POINT_INVALID], count[PROJECTOR_POINT_RESIDUAL]);
	if (lost == views->corners)
		return fail(NULL, "none of %zu corners has a projector point: %s%s", lost, why,
		    rippled ? " (the projector's response: fringegamma)" : "");
	snprintf(number, sizeof(number), "%zu", views->worst + 1);
	if (lost)
		warn(NULL, "%zu of %zu corners have no projector point: %s; pose %s has the most "
		    "of them, %zu", lost, views->corners, why,
		    pose_name ? pose_name[views->worst] : number, views->most_lost);
	return 0;
}

/* ---- all that the command line names ---- */

int
points_input_check(struct points_input *input, const struct run *run, struct parameters *p)
{
	size_t of[2] = { p->phase[0].n, p->phase[1].n };

	if (of[0] != of[1])
		return fail_usage(of[0] > of[1] ? "--phase-x" : "--phase-y", "is given %zu times, "
		    "and --phase-%c %zu times: a projector's points need both, once for each "
		    "camera", of[0] > of[1] ? of[0] : of[1], of[0] > of[1] ? 'y' : 'x',
		    of[0] > of[1] ? of[1] : of[0]);
	if (of[0] && p->projector_points)
		return fail_usage("--projector-points", "and --phase-x both give the projector's "
		    "points");
	if (!p->poses && (p->manifest || p->phasewrap || p->unwrap2f))
		return fail_usage(p->manifest ? "--manifest" : p->phasewrap ? "--phasewrap" :
		    "--unwrap2f", "is only for --poses");
	if (!p->poses)
		return 0;
	if (of[0] || p->projector_points)
		return fail_usage("--poses", "finds the projector's points by itself: leave out %s",
		    of[0] ? "--phase-x and --phase-y" : "--projector-points");
	if (!p->board)
		return fail_usage("--poses", "wants --board WxH,MM");
	if (!run->operands)
		return fail_usage("--poses", "wants the folders of the poses");
	if (p->cameras)
		return 0;
	if (pose_captures_cameras(run->operand[0], &input->cameras) < 0)
		return -1;
	p->cameras = input->cameras;	/* without folders it stays as it is */
	return 0;
}

static int
read_tables(struct points_input *input, const struct run *run, const struct parameters *p,
    struct calib_problem *problem)
{
	static char standard_input[] = "-", *const standard[] = { standard_input };
	char *const *operand = run->operands ? run->operand : standard;
	size_t operands = run->operands ? run->operands : 1, poses, first = 0;
	size_t cameras = calib_cameras(problem);

	if (cameras > 1 && operands != cameras)
		return fail_usage(NULL, "wants one file of corners for each of %zu cameras, not "
		    "%zu", cameras, operands);
	for (size_t d = 0; d < cameras; d++) {
		if (corners_read(problem, d, d, operand + (cameras > 1 ? d : 0),
		    cameras > 1 ? 1 : operands, &poses) < 0)
			return -1;
		if (d && poses != first)
			return fail(NULL, "%s has %zu poses and %s %zu: one table for each pose, "
			    "an empty one where the board is not seen", problem->device[0].name,
			    first, problem->device[d].name, poses);
		first = poses;
	}
	if (p->phase[0].n && p->phase[0].n != cameras)
		return fail_usage("--phase-x", "is given %zu times, and there are %zu cameras",
		    p->phase[0].n, cameras);
	for (size_t c = 0; c < p->phase[0].n; c++) {
		const char *const path[2] = { p->phase[0].v[c], p->phase[1].v[c] };

		if (phase_views_read(&input->views, problem, cameras, c, first, path) < 0)
			return -1;
	}
	if (p->projector_points) {
		char *const path[] = { (char *)p->projector_points };

		if (corners_read(problem, cameras, 0, path, 1, &poses) < 0)
			return -1;
		if (poses != first)
			return fail(p->projector_points, "has %zu poses and %s %zu", poses,
			    problem->device[0].name, first);
	}
	return p->phase[0].n ? phase_views_finish(&input->views, NULL) : 0;
}

/* The manifest of the patterns has the projector's size, too. */
static int
read_patterns_size(const struct parameters *p, struct calib_problem *problem)
{
	struct calib_device *projector = &problem->device[problem->devices - 1];
	struct manifest manifest;
	size_t size[2];

	if (!p->manifest || projector->kind != CALIB_PROJECTOR)
		return 0;
	if (manifest_load(p->manifest, &manifest) < 0)
		return -1;
	memcpy(size, manifest.projector_px, sizeof(size));
	manifest_free(&manifest);
	if (size[0] && !projector->w) {
		projector->w = size[0];
		projector->h = size[1];
	}
	return !size[0] || (size[0] == projector->w && size[1] == projector->h) ? 0 :
	    fail(p->manifest, "is of patterns for a projector of %zux%zu px, not %zux%zu", size[0],
	    size[1], projector->w, projector->h);
}

static int
read_poses(struct points_input *input, const struct run *run, const struct parameters *p,
    struct calib_problem *problem)
{
	struct pose_captures *captures = &input->captures;

	*captures = (struct pose_captures){ .folder = run->operand, .folders = run->operands,
		.manifest = p->manifest, .wrap = p->phasewrap, .unwrap = p->unwrap2f,
		.cameras_named = p->cameras, .verbose = run->verbose, .quiet = run->quiet,
		.find = { .sigma_px = NAN } };
	if (read_patterns_size(p, problem) < 0 ||
	    board_parse("--board", p->board, p->kind < 0 ? BOARD_CHESS : (enum board_kind)p->kind,
	    &captures->board) < 0 || pose_captures_read(captures, problem, &input->views) < 0)
		return -1;
	return phase_views_finish(&input->views, (const char *const *)captures->pose_name);
}

int
points_input_read(struct points_input *input, const struct run *run, const struct parameters *p,
    struct calib_problem *problem)
{
	return p->poses ? read_poses(input, run, p, problem) :
	    read_tables(input, run, p, problem);
}
