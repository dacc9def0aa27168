#include "points.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/px.h"

#define PLACE_MOST (1u << 24)	/* a float holds whole numbers up to here */

struct points {
	const struct frame *image;	/* float */
	struct frame *table;
	size_t *first;		/* of each row its first point; its number of points before */
};

static void
count_row(void *arg, size_t y)
{
	struct points *points = arg;
	const float *v = frame_floats(points->image, 0, y);
	size_t n = 0;

	for (size_t x = 0; x < points->image->head.w; x++)
		n += !px_isnan(v[x]);
	points->first[y] = n;
}

static void
take_row(void *arg, size_t y)
{
	const struct points *points = arg;
	const struct frame *image = points->image;
	const float *valid = frame_floats(image, 0, y);
	size_t c = image->head.c, i = points->first[y];

	for (size_t x = 0; x < image->head.w; x++) {
		if (px_isnan(valid[x]))
			continue;
		for (size_t k = 0; k < c; k++)
			frame_floats(points->table, k, 0)[i] = frame_floats(image, k, y)[x];
		frame_floats(points->table, c, 0)[i] = (float)x;
		frame_floats(points->table, c + 1, 0)[i] = (float)y;
		i++;
	}
}

static int
make_head(const struct frame_head *image, size_t n, struct frame_head *head)
{
	if (head_copy(head, image) < 0)
		return -1;
	head->type = SAMPLE_FLOAT;
	head->spacing[0] = head->spacing[1] = NAN;	/* rows of a table have no distance */
	*head->unit = '\0';
	if (head_set_count(head, image->c + 2) == 0 && head_set_points(head, n) == 0) {
		memset(head->channel[image->c], 0, 2 * sizeof(*head->channel));
		strcpy(head->channel[image->c], "column");
		strcpy(head->channel[image->c + 1], "row");
		return 0;
	}
	head_free(head);
	return -1;
}

static int
tabulate(struct run *run, struct points *points)
{
	size_t h = points->image->head.h, n = 0;
	struct frame_head head;
	int status;

	run_for(run, h, count_row, points);
	for (size_t y = 0; y < h; y++) {
		size_t here = points->first[y];

		points->first[y] = n;
		n += here;
	}
	if (make_head(&points->image->head, n, &head) < 0)
		return -1;
	status = frame_new(&head, &points->table);
	head_free(&head);
	if (status < 0)
		return -1;
	for (size_t c = 0; c < points->table->head.c; c++)	/* where there is no point */
		*frame_floats(points->table, c, 0) = NAN;
	run_for(run, h, take_row, points);
	return 0;
}

static int
check(const struct frame_head *head)
{
	static const char *const added[] = { "column", "row" };
	const char *scale = meta_get(&head->meta, "sample_scale");

	if (scale)
		return fail("--points", "samples are scaled (key sample_scale, %.60s), and a table "
		    "is of values: say --unscale as well", scale);
	for (size_t i = 0; i < 2; i++)
		if (head_channel(head, added[i]) != NO_CHANNEL)
			return fail("--points", "input has a channel %s already", added[i]);
	if (head->w > PLACE_MOST || head->h > PLACE_MOST)
		return fail("--points", "%zu x %zu pixels: a float counts no more than %u",
		    head->w, head->h, PLACE_MOST);
	return 0;
}

int
points_tabulate(struct run *run, struct frame **frame)
{
	struct points points = { 0 };
	struct frame *image;
	int status;

	if (head_is_table(&(*frame)->head))
		return 0;
	if (check(&(*frame)->head) < 0 || frame_to_float(*frame, &image) < 0)
		return -1;
	points.image = image;
	points.first = calloc(image->head.h, sizeof(*points.first));
	status = points.first ? tabulate(run, &points) : fail_memory();
	free(points.first);
	frame_free(image);
	if (status < 0)
		return -1;
	frame_free(*frame);
	*frame = points.table;
	return 0;
}
