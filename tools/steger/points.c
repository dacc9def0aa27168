#include "points.h"

#include <math.h>

enum { POINT_U, POINT_V, POINT_NU, POINT_NV, POINT_RESPONSE, POINT_WIDTH, POINT_LINE,
	POINT_FIELDS };

int
points_head(struct frame_head *head)
{
	head->spacing[0] = head->spacing[1] = NAN;
	head->unit[0] = '\0';
	head->type = SAMPLE_FLOAT;
	return head_set_channels(head, "u v nu nv response width line");
}

static void
put(struct frame *frame, size_t x, size_t y, const struct line_point *p)
{
	const float value[POINT_FIELDS] = { p->u, p->v, p->nu, p->nv, p->response, p->width,
		(float)p->line };

	for (size_t c = 0; c < POINT_FIELDS; c++)
		frame_floats(frame, c, y)[x] = value[c];
}

static int
new_frame(const struct frame_head *head, size_t w, size_t h, bool table, size_t points,
    struct frame **out)
{
	struct frame_head own;
	int status;

	*out = NULL;
	if (head_copy(&own, head) < 0)
		return -1;
	own.w = w;
	own.h = h;
	status = (table && head_set_points(&own, points) < 0) || frame_new(&own, out) < 0 ? -1 : 0;
	head_free(&own);
	if (status < 0)
		return -1;
	for (size_t c = 0; c < POINT_FIELDS; c++) {
		for (size_t y = 0; y < (*out)->head.h; y++) {
			for (size_t x = 0; x < (*out)->head.w; x++)
				frame_floats(*out, c, y)[x] = NAN;
		}
	}
	return 0;
}

int
points_table(const struct line_points *points, const struct frame_head *head, struct frame **out)
{
	if (new_frame(head, points->n, 1, true, points->n, out) < 0)
		return -1;
	for (size_t i = 0; i < points->n; i++)
		put(*out, i, 0, &points->v[i]);
	return 0;
}

int
points_per_line(const struct line_points *points, bool columns, const struct line_image *image,
    const struct frame_head *head, struct frame **out)
{
	size_t n = columns ? image->w : image->h;

	if (new_frame(head, columns ? n : 1, columns ? 1 : n, false, 0, out) < 0)
		return -1;
	for (size_t i = 0; i < points->n; i++) {
		const struct line_point *p = &points->v[i];
		float at = floorf((columns ? p->u : p->v) + 0.5f);
		size_t place = at > 0 ? (size_t)at : 0, x, y;

		place = place < n ? place : n - 1;
		x = columns ? place : 0;
		y = columns ? 0 : place;
		if (!(frame_floats(*out, POINT_RESPONSE, y)[x] >= p->response))
			put(*out, x, y, p);
	}
	return 0;
}
