#include "like.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/source.h"

/* ---- the frames ---- */

int
like_next(struct like *like)
{
	struct frame *frame;
	int got;

	if (like->single)
		return 0;
	if (!like->source)
		like->source = source_open(like->path);
	if (!like->source)
		return -1;
	got = source_next(like->source, &frame);
	if (got < 0)
		return -1;
	if (got == 0 && like->frames == 1) {
		like->single = true;
		return 0;
	}
	if (got == 0)
		return fail(like->path, "has only %zu frames for --like, the input has more",
		    like->frames);
	like->frames++;
	head_free(&like->head);
	got = head_copy(&like->head, &frame->head);
	frame_free(frame);
	return got;
}

int
like_end(struct like *like)
{
	struct frame *frame;
	int got;

	if (!like->source || like->single)
		return 0;
	got = source_next(like->source, &frame);
	if (got <= 0)
		return got;
	frame_free(frame);
	return fail(like->path, "has more frames for --like than the input, which ends after %zu",
	    like->frames);
}

void
like_close(struct like *like)
{
	source_close(like->source);
	head_free(&like->head);
}

/* ---- a table's pixels ---- */

struct places {
	const struct frame *table;	/* float */
	size_t points, w, h;
	size_t column, row;	/* channels */
	size_t *pixel;		/* of each point: column + w * row */
};

/* -1 after fail() where the value of point i is no number from 0 to size - 1. */
static int
find_place(const struct places *places, size_t c, size_t i, size_t size, size_t *place)
{
	float v = frame_floats(places->table, c, 0)[i];
	const char *name = places->table->head.channel[c];

	if (!(v >= 0.0f) || v != floorf(v) || isinf(v))
		return fail("--like", "point %zu: %s is %g, not a whole number from 0", i, name,
		    (double)v);
	if (v >= (float)size)
		return fail("--like", "point %zu: %s is %.0f, the image is %zu x %zu", i, name,
		    (double)v, places->w, places->h);
	*place = (size_t)v;
	return 0;
}

static int
fail_twice(const struct places *places, size_t later)
{
	size_t first = 0, pixel = places->pixel[later];

	while (places->pixel[first] != pixel)
		first++;
	return fail("--like", "points %zu and %zu are both for column %zu, row %zu", first, later,
	    pixel % places->w, pixel / places->w);
}

static int
find_pixels(struct places *places)
{
	bool *taken = calloc(places->w, places->h);
	int status = taken ? 0 : fail_memory();

	for (size_t i = 0; i < places->points && status == 0; i++) {
		size_t x, y;

		if (find_place(places, places->column, i, places->w, &x) < 0 ||
		    find_place(places, places->row, i, places->h, &y) < 0) {
			status = -1;
			break;
		}
		places->pixel[i] = x + places->w * y;
		if (taken[places->pixel[i]])
			status = fail_twice(places, i);
		taken[places->pixel[i]] = true;
	}
	free(taken);
	return status;
}

/* ---- the image ---- */

/* What describes the samples of a frame, or how it came about, is not the table's. */
static bool
is_own(const char *key)
{
	static const char *const own[] = { "sample_scale", "sample_offset", "invalid", "max_value",
		"bits", "colormap", "colormap_range", "points", NULL };

	for (size_t i = 0; own[i]; i++)
		if (!strcmp(own[i], key))
			return true;
	return !strncmp(key, "cmd.", 4);
}

/* Where both have the key, its numbers must agree. */
static int
check_place(const char *path, const char *key, const struct meta *table, const struct meta *like)
{
	const char *a = meta_get(table, key), *b = meta_get(like, key);
	struct numbers of_a, of_b;
	bool same;

	if (!a || !b)
		return 0;
	if (meta_numbers(table, key, &of_a) < 0)
		return -1;
	if (meta_numbers(like, key, &of_b) < 0) {
		numbers_free(&of_a);
		return -1;
	}
	same = of_a.n == of_b.n;
	for (size_t i = 0; i < of_a.n && same; i++)
		same = of_a.v[i] == of_b.v[i];
	numbers_free(&of_a);
	numbers_free(&of_b);
	return same ? 0 : fail(path, "has %s %.60s, the table %.60s: its points are of other "
	    "pixels", key, b, a);
}

static int
take_keys(struct meta *meta, const struct meta *from)
{
	meta_remove(meta, "points");
	for (size_t i = 0; i < from->n; i++)
		if (!is_own(from->entry[i].key) && !meta_get(meta, from->entry[i].key) &&
		    meta_set(meta, from->entry[i].key, from->entry[i].value) < 0)
			return -1;
	return 0;
}

/* The channels of the table but for column and row. */
static int
make_head(const struct places *places, const struct frame_head *like, struct frame_head *head)
{
	const struct frame_head *table = &places->table->head;
	size_t n = 0;

	if (head_copy(head, table) < 0)
		return -1;
	head->w = places->w;
	head->h = places->h;
	head->c = table->c - 2;
	memcpy(head->spacing, like->spacing, sizeof(head->spacing));
	memcpy(head->unit, like->unit, sizeof(head->unit));
	for (size_t c = 0; c < table->c; c++)
		if (c != places->column && c != places->row)
			memcpy(head->channel[n++], table->channel[c], sizeof(*head->channel));
	if (take_keys(&head->meta, &like->meta) == 0)
		return 0;
	head_free(head);
	return -1;
}

static void
fill(const struct places *places, struct frame *image)
{
	size_t k = 0;

	for (size_t c = 0; c < places->table->head.c; c++) {
		const float *from = frame_floats(places->table, c, 0);

		if (c == places->column || c == places->row)
			continue;
		for (size_t y = 0; y < places->h; y++)
			for (size_t x = 0; x < places->w; x++)
				frame_floats(image, k, y)[x] = NAN;
		for (size_t i = 0; i < places->points; i++)
			frame_floats(image, k, places->pixel[i] / places->w)
			    [places->pixel[i] % places->w] = from[i];
		k++;
	}
}

static int
restore(struct places *places, const struct frame_head *like, struct frame **image)
{
	struct frame_head head;
	int status;

	places->pixel = calloc(places->points + 1, sizeof(*places->pixel));
	if (!places->pixel)
		return fail_memory();
	if (find_pixels(places) < 0 || make_head(places, like, &head) < 0)
		return -1;
	status = frame_new(&head, image);
	head_free(&head);
	if (status == 0)
		fill(places, *image);
	return status;
}

static int
check(const struct like *like, const struct frame_head *head, struct places *places)
{
	if (head_is_table(&like->head))
		return fail(like->path, "is a table, --like wants an image");
	if (!head_is_table(head))
		return fail("--like", "wants a table, the input is an image of %zu x %zu", head->w,
		    head->h);
	if (head_points(head, &places->points) < 0)
		return -1;
	places->column = head_channel(head, "column");
	places->row = head_channel(head, "row");
	if (check_place(like->path, "origin_px", &head->meta, &like->head.meta) < 0 ||
	    check_place(like->path, "bin", &head->meta, &like->head.meta) < 0)
		return -1;
	if (places->column == NO_CHANNEL || places->row == NO_CHANNEL)
		return fail("--like", "input has no channel %s",
		    places->column == NO_CHANNEL ? "column" : "row");
	if (head->c < 3)
		return fail("--like", "input has no channel but column and row");
	places->w = like->head.w;
	places->h = like->head.h;
	return 0;
}

int
like_restore(const struct like *like, struct frame **frame)
{
	struct places places = { 0 };
	struct frame *table, *image = NULL;
	int status;

	if (check(like, &(*frame)->head, &places) < 0 || frame_to_float(*frame, &table) < 0)
		return -1;
	places.table = table;
	status = restore(&places, &like->head, &image);
	free(places.pixel);
	frame_free(table);
	if (status < 0)
		return -1;
	frame_free(*frame);
	*frame = image;
	return 0;
}
