#define _GNU_SOURCE
#include "feature/board.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "feature/board_find.h"

enum { U, V, SIGMA, I, J, FIELDS };

static const char *const fields[FIELDS] = { "u", "v", "sigma", "i", "j" };

int
board_describe(const struct board *board, double w_px, double h_px, struct meta *meta)
{
	if (meta_set(meta, "board_kind", board_kinds[board->kind]) < 0 ||
	    meta_set_numbers(
		meta, "board_size", (double[2]){ (double)board->w, (double)board->h }, 2) < 0)
		return -1;
	meta_remove(meta, "board_spacing_mm");
	if (board->spacing_mm > 0 &&
	    meta_set_number(meta, "board_spacing_mm", board->spacing_mm) < 0)
		return -1;
	if (meta_set(meta, "length_unit", board->spacing_mm > 0 ? "mm" : "board") < 0)
		return -1;
	return meta_set_numbers(meta, "image_size_px", (double[2]){ w_px, h_px }, 2);
}

/* ---- writing ---- */

static int
make_head(const struct board *board, const struct corners *corners, const struct frame_head *image,
    struct frame_head *head)
{
	if (head_init(head, 1, 1, 1, SAMPLE_FLOAT) < 0)
		return -1;
	meta_free(&head->meta);
	meta_copy(&head->meta, &image->meta);
	if (head_set_channels(head, "u v sigma i j") == 0 &&
	    board_describe(board, (double)image->w, (double)image->h, &head->meta) == 0 &&
	    meta_setf(&head->meta, "board_numberings", "%zu", corners->others + 1) == 0 &&
	    head_set_points(head, corners->n) == 0)
		return 0;
	head_free(head);
	return -1;
}

int
board_table(const struct board *board, const struct corners *corners,
    const struct frame_head *image, struct frame **out)
{
	struct frame_head head;
	int status;

	if (make_head(board, corners, image, &head) < 0)
		return -1;
	status = frame_new(&head, out);
	head_free(&head);
	if (status < 0)
		return -1;
	for (size_t c = 0; c < FIELDS; c++)
		frame_floats(*out, c, 0)[0] = NAN;
	for (size_t k = 0; k < corners->n; k++) {
		const struct corner *corner = &corners->corner[k];
		double v[FIELDS] = { corner->u, corner->v, corner->sigma, (double)corner->i,
			(double)corner->j };

		for (size_t c = 0; c < FIELDS; c++)
			frame_floats(*out, c, 0)[k] = (float)v[c];
	}
	return 0;
}

/* ---- reading ---- */

static int
read_pair(const char *path, const struct meta *meta, const char *key, double v[2])
{
	struct numbers numbers;
	int status = 0;

	if (meta_numbers(meta, key, &numbers) < 0)
		return -1;
	v[0] = v[1] = 0;
	if (numbers.n == 2)
		memcpy(v, numbers.v, 2 * sizeof(*v));
	else if (numbers.n)
		status = fail(path, "%s must be two numbers, not %zu", key, numbers.n);
	numbers_free(&numbers);
	return status;
}

static int
read_board(const char *path, const struct meta *meta, struct board *board)
{
	const char *kind = meta_get(meta, "board_kind");
	double size[2];
	int k = 0;

	if (read_pair(path, meta, "board_size", size) < 0 ||
	    meta_number(meta, "board_spacing_mm", 0, &board->spacing_mm) < 0)
		return -1;
	while (kind && board_kinds[k] && strcmp(kind, board_kinds[k]) != 0)
		k++;
	if (!kind || size[0] == 0)
		return fail(path, "has no key %s: is it a table of boardfind?",
		    kind ? "board_size" : "board_kind");
	if (!board_kinds[k])
		return fail(path, "board_kind '%.40s' is none that is known", kind);
	board->kind = (enum board_kind)k;
	for (k = 0; k < 2; k++)
		if (!(size[k] >= 2 && size[k] <= 10000 && size[k] == floor(size[k])))
			return fail(path, "board_size must be two numbers of points, not %g %g",
			    size[0], size[1]);
	if (!(board->spacing_mm >= 0 && isfinite(board->spacing_mm)))
		return fail(path, "board_spacing_mm must be positive, not %g", board->spacing_mm);
	board->w = (size_t)size[0];
	board->h = (size_t)size[1];
	return 0;
}

/* A whole number below n. */
static bool
is_index(double v, size_t n)
{
	return v >= 0 && v < (double)n && v == floor(v);
}

static int
read_row(const char *path, const struct board *board, size_t k, const double v[FIELDS],
    struct corner *corner)
{
	if (!isfinite(v[U]) || !isfinite(v[V]))
		return fail(path, "row %zu: u and v are %g and %g", k, v[U], v[V]);
	if (!(v[SIGMA] > 0) || !isfinite(v[SIGMA]))
		return fail(path, "row %zu: sigma must be positive, not %g", k, v[SIGMA]);
	if (!is_index(v[I], board->w) || !is_index(v[J], board->h))
		return fail(path, "row %zu: point %g,%g is not on the board of %zux%zu", k, v[I],
		    v[J], board->w, board->h);
	*corner = (struct corner){ v[U], v[V], v[SIGMA], (long)v[I], (long)v[J] };
	return 0;
}

static int
read_rows(const char *path, const struct frame *table, const struct board *board, size_t n,
    struct corners *corners)
{
	size_t at[FIELDS];

	for (size_t c = 0; c < FIELDS; c++) {
		at[c] = head_channel(&table->head, fields[c]);
		if (at[c] == NO_CHANNEL && c != SIGMA)
			return fail(
			    path, "has no channel %s: is it a table of boardfind?", fields[c]);
	}
	corners->corner = calloc(n ? n : 1, sizeof(*corners->corner));
	if (!corners->corner)
		return fail_memory();
	for (; corners->n < n; corners->n++) {
		double v[FIELDS];

		for (size_t c = 0; c < FIELDS; c++)
			v[c] = at[c] == NO_CHANNEL
			    ? 1
			    : (double)frame_sample(table, at[c], 0, corners->n);
		if (read_row(path, board, corners->n, v, &corners->corner[corners->n]) < 0)
			return -1;
	}
	corners_sort(corners);
	for (size_t k = 1; k < n; k++)
		if (corners->corner[k - 1].i == corners->corner[k].i &&
		    corners->corner[k - 1].j == corners->corner[k].j)
			return fail(path, "point %ld,%ld is there twice", corners->corner[k].i,
			    corners->corner[k].j);
	return 0;
}

int
board_read_table(const char *path, const struct frame *table, struct board *board,
    struct corners *corners, double size_px[2])
{
	double numberings;
	size_t n;

	*corners = (struct corners){ 0 };
	if (!head_is_table(&table->head))
		return fail(path, "is an image, not a table of corners: see boardfind(1)");
	if (head_points(&table->head, &n) < 0 || read_board(path, &table->head.meta, board) < 0 ||
	    read_pair(path, &table->head.meta, "image_size_px", size_px) < 0 ||
	    meta_number(&table->head.meta, "board_numberings", 1, &numberings) < 0)
		return -1;
	if (read_rows(path, table, board, n, corners) < 0) {
		corners_free(corners);
		return -1;
	}
	corners->others = numberings >= 1 && numberings < 1000 ? (size_t)numberings - 1 : 0;
	return 0;
}
