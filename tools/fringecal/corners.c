/* Tables of corners. */
#include "corners.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "frame/frame.h"
#include "io/source.h"

#define FEWEST_POINTS 6

struct table {
	const char *path;
	const struct frame *frame;
	size_t rows;
	size_t u, v, sigma, i, j, u_low, v_low;	/* channels; NO_CHANNEL */
	size_t pose;
};

static int
find_channels(struct table *table)
{
	const struct frame_head *head = &table->frame->head;
	char hint[300];

	if (!head_is_table(head))
		return fail(table->path, "is an image of %zux%zu, not a table of corners "
		    "(boardfind makes it)", head->w, head->h);
	table->u = head_channel(head, "u");
	table->v = head_channel(head, "v");
	table->u_low = head_channel(head, "u_low");
	table->v_low = head_channel(head, "v_low");
	table->sigma = head_channel(head, "sigma");
	table->i = head_channel(head, "i");
	table->j = head_channel(head, "j");
	if (table->u == NO_CHANNEL || table->v == NO_CHANNEL)
		return fail(table->path, "expected channels u v sigma i j, found %s",
		    head_channels_hint(head, hint));
	if ((table->i == NO_CHANNEL) != (table->j == NO_CHANNEL))
		return fail(table->path, "has only one of the channels i and j");
	if ((table->u_low == NO_CHANNEL) != (table->v_low == NO_CHANNEL))
		return fail(table->path, "has only one of the channels u_low and v_low");
	return head_points(head, &table->rows);
}

static double
at(const struct table *table, size_t channel, size_t row)
{
	return (double)frame_sample(table->frame, channel, 0, row);
}

/* A coordinate is a float and, where a channel has it, what the float leaves of it. */
static double
coordinate(const struct table *table, size_t channel, size_t low, size_t row)
{
	return at(table, channel, row) + (low == NO_CHANNEL ? 0 : at(table, low, row));
}

/* Which corner a row is. */
static int
find_corner(const struct calib_problem *problem, const struct table *table, size_t row,
    struct calib_point *point)
{
	const struct calib_board *board = &problem->board;
	double i = (double)(row % board->w), j = (double)(row / board->w);

	if (table->i != NO_CHANNEL) {
		i = at(table, table->i, row);
		j = at(table, table->j, row);
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
	double sigma = table->sigma == NO_CHANNEL ? 1 : at(table, table->sigma, row);

	point->u = coordinate(table, table->u, table->u_low, row);
	point->v = coordinate(table, table->v, table->v_low, row);
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

/* The picture's size, 0 where the table does not say it. -1 after fail(). */
static int
read_size(const struct table *table, size_t size[2])
{
	const struct meta *meta = &table->frame->head.meta;
	struct numbers numbers;
	bool right;

	size[0] = size[1] = 0;
	if (meta_numbers(meta, "image_size_px", &numbers) < 0)
		return -1;
	right = numbers.n == 2;
	for (size_t k = 0; k < 2 && right; k++) {
		right = numbers.v[k] >= 1 && numbers.v[k] <= 65535;
		size[k] = right ? (size_t)numbers.v[k] : 0;
	}
	right |= numbers.n == 0;
	numbers_free(&numbers);
	return right ? 0 : fail(table->path, "key image_size_px: expected two sizes, found %s",
	    meta_get(meta, "image_size_px"));
}

static int
find_size(const struct table *table, struct calib_device *device)
{
	size_t size[2];

	if (read_size(table, size) < 0)
		return -1;
	if (size[0] && device->kind == CALIB_CAMERA && device->w &&
	    (device->w != size[0] || device->h != size[1]))
		return fail(table->path, "pose %zu is of a picture of %zux%zu, and %s has %zux%zu",
		    table->pose + 1, size[0], size[1], device->name, device->w, device->h);
	if (size[0] && !device->w) {
		device->w = size[0];
		device->h = size[1];
	}
	return device->w ? 0 : fail(table->path, "does not say the size of the picture (key "
	    "image_size_px): give --sizes WxH");
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

	if (find_channels(table) < 0 || find_size(table, &problem->device[device]) < 0 ||
	    find_board(problem, table) < 0)
		return -1;
	corners = problem->board.w * problem->board.h;
	if (table->rows > corners || (table->i == NO_CHANNEL && table->rows != corners))
		return fail(table->path, "pose %zu has %zu corners, and the board %zu (%zux%zu)%s",
		    table->pose + 1, table->rows, corners, problem->board.w, problem->board.h,
		    table->i == NO_CHANNEL ? "; which ones they are, channels i j say" : "");
	if (table->sigma == NO_CHANNEL)
		problem->device[device].sigma_unknown = true;
	point = calloc(table->rows + 1, sizeof(*point));
	seen = calloc(corners, sizeof(*seen));
	if (!point || !seen)
		status = fail_memory();
	else
		status = take_rows(problem, &problem->device[device], table, point, seen, &n);
	if (status == 0 && n && n < FEWEST_POINTS)
		warn(table->path, "pose %zu has only %zu corners: left out", table->pose + 1, n);
	else if (status == 0 && n)
		status = calib_problem_add_view(problem, device, table->pose, through, point, n);
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

int
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
		for (size_t k = 0; k < problem->view[v].n && problem->view[v].device == device; k++)
			problem->point[problem->view[v].first + k].sigma[0] =
			    problem->point[problem->view[v].first + k].sigma[1] = 1;
	return *poses ? 0 : fail(problem->device[device].name, "has no table of corners");
}
