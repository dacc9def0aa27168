#define _GNU_SOURCE
#include "feature/board.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "feature/board_find.h"

#define FIELDS "u v sigma i j"
#define N_FIELDS 5

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
	if (head_set_channels(head, FIELDS) == 0 &&
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
	for (size_t c = 0; c < N_FIELDS; c++)
		frame_floats(*out, c, 0)[0] = NAN;
	for (size_t k = 0; k < corners->n; k++) {
		const struct corner *corner = &corners->corner[k];
		double v[N_FIELDS] = { corner->u, corner->v, corner->sigma, (double)corner->i,
			(double)corner->j };

		for (size_t c = 0; c < N_FIELDS; c++)
			frame_floats(*out, c, 0)[k] = (float)v[c];
	}
	return 0;
}

/* ---- reading ---- */

static int
read_sides(const char *path, const struct meta *meta, struct board *board)
{
	struct numbers side;
	bool right;

	board->w = board->h = 0;
	if (meta_numbers(meta, "board_size", &side) < 0)
		return -1;
	right = side.n == 2 || side.n == 0;
	for (size_t k = 0; k < side.n && right; k++)
		right = side.v[k] >= 2 && side.v[k] <= 10000 && side.v[k] == floor(side.v[k]);
	if (right && side.n) {
		board->w = (size_t)side.v[0];
		board->h = (size_t)side.v[1];
	}
	numbers_free(&side);
	return right ? 0 : fail(path, "key board_size: must be two numbers of points, not '%.40s'",
	    meta_get(meta, "board_size"));
}

int
board_read_keys(const char *path, const struct meta *meta, struct board *board)
{
	const char *kind = meta_get(meta, "board_kind");
	int k = 0;

	if (read_sides(path, meta, board) < 0 ||
	    meta_number(meta, "board_spacing_mm", 0, &board->spacing_mm) < 0)
		return -1;
	if (!(board->spacing_mm >= 0 && isfinite(board->spacing_mm)))
		return fail(path, "key board_spacing_mm: must be positive, not %g",
		    board->spacing_mm);
	while (kind && board_kinds[k] && strcmp(kind, board_kinds[k]) != 0)
		k++;
	if (!board_kinds[k])
		return fail(path, "key board_kind: '%.40s' is none that is known", kind);
	if (kind)
		board->kind = (enum board_kind)k;
	return 0;
}
