#include "fold.h"

#include <math.h>

#define POINTS_MANY ((size_t)1 << 21)	/* waiting: few enough to keep, enough for all threads */
#define PIECES_MANY 1024	/* small ones, so that counting them takes no time */

bool
fold_is_due(const struct pieces *pieces)
{
	size_t points = 0;

	if (pieces->n >= PIECES_MANY)
		return true;
	for (size_t i = 0; i < pieces->n; i++)
		points += pieces->v[i].frame->head.w * pieces->v[i].frame->head.h;
	return points >= POINTS_MANY;
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

int
fold_pieces(struct run *run, struct cube_sums *sums, struct pieces *pieces)
{
	struct frame *cloud;
	int status;

	if (pieces_cloud(run, pieces, &cloud) < 0)
		return -1;
	for (size_t i = 0; i < pieces->n; i++) {
		frame_free(pieces->v[i].frame);		/* a single one is still there */
		pieces->v[i].frame = NULL;
	}
	status = cube_sums_add(sums, run, cloud);
	if (status == 0)
		status = leave_empty(&cloud->head, pieces);
	frame_free(cloud);
	return status;
}
