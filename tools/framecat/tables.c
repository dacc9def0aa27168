/*
 * Images as tables of points (frame(5)), --points, and tables as images again, --like. A table has
 * one row per valid pixel; its channels column and row hold the pixel's place, from 0.
 */
#include "framecat.h"

#include "base/px.h"
#include "base/text.h"
#include "io/source.h"

/* ---- --points: an image as a table ---- */

#define MAX_PLACE (1u << 24)	/* pixels; a float holds all whole numbers up to here */

struct point_table {
	const struct frame *image;	/* float */
	struct frame *table;
	size_t *first;		/* per row: the number of its points, then that of its first one */
};

/* For run_for(): the number of row y's points. */
static void
count_points(void *arg, size_t y)
{
	struct point_table *points = arg;
	const float *v = frame_floats(points->image, 0, y);

	for (size_t x = 0; x < points->image->head.w; x++)
		points->first[y] += !px_isnan(v[x]);
}

/* The same: copies them to the table. */
static void
copy_points(void *arg, size_t y)
{
	const struct point_table *points = arg;
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

/* The channels of the image, then column and row. */
static int
table_head(const struct frame_head *image, size_t n, struct frame_head *head)
{
	head_copy(head, image);
	head->type = SAMPLE_FLOAT;
	head->spacing[0] = head->spacing[1] = NAN;	/* rows of a table have no distance */
	*head->unit = '\0';
	head_set_points(head, n);
	return head_add_channels(head, "column row");
}

static int
tabulate(struct run *run, struct point_table *points)
{
	size_t h = points->image->head.h, n = 0;
	struct frame_head head;

	run_for(run, h, count_points, points);
	for (size_t y = 0; y < h; y++) {
		size_t here = points->first[y];

		points->first[y] = n;
		n += here;
	}
	if (frame_new_if(table_head(&points->image->head, n, &head), &head, &points->table) < 0)
		return -1;
	/* a table without points has one row */
	for (size_t c = 0; c < points->table->head.c; c++)
		*frame_floats(points->table, c, 0) = NAN;
	run_for(run, h, copy_points, points);
	return 0;
}

static int
check_image(const struct frame_head *head)
{
	static const char *const added[] = { "column", "row" };
	const char *scale = meta_get(&head->meta, "sample_scale");

	if (scale)
		return fail("--points", "samples are scaled (key sample_scale, %.60s), and a table "
		    "is of values: say --unscale as well", scale);
	for (size_t i = 0; i < 2; i++)
		if (head_channel(head, added[i]) != NO_CHANNEL)
			return fail("--points", "input has a channel %s already", added[i]);
	if (head->w > MAX_PLACE || head->h > MAX_PLACE)
		return fail("--points", "%zu x %zu pixels: a float counts no more than %u",
		    head->w, head->h, MAX_PLACE);
	return 0;
}

int
points_tabulate(struct run *run, struct frame **frame)
{
	struct point_table points = { 0 };
	struct frame *image;
	int status;

	if (head_is_table(&(*frame)->head))
		return 0;
	if (check_image(&(*frame)->head) < 0 || frame_to_float(*frame, &image) < 0)
		return -1;
	points.image = image;
	points.first = must_alloc(image->head.h, sizeof(*points.first));
	status = tabulate(run, &points);
	free(points.first);
	frame_free(image);
	if (status < 0)
		return -1;
	frame_free(*frame);
	*frame = points.table;
	return 0;
}

/* ---- --where: rows of a table ---- */

/* The rows whose channel c has one of the values, in *row; how many. */
static size_t
find_rows(const struct frame *table, size_t points, size_t c, const struct numbers *value,
    size_t *row)
{
	size_t n = 0;

	for (size_t i = 0; i < points; i++) {
		float v = frame_sample(table, c, 0, i);
		bool wanted = false;

		for (size_t k = 0; k < value->n; k++)
			wanted |= v == (float)value->v[k];
		row[n] = i;
		n += wanted;
	}
	return n;
}

/* The table's rows of this list. */
static int
take_rows(struct frame **frame, const size_t *row, size_t n)
{
	struct frame *table, *out = NULL;
	int status = frame_to_float(*frame, &table);

	if (status < 0)
		return -1;
	status = frame_new_table(&table->head, n, &out);
	for (size_t c = 0; status == 0 && c < table->head.c; c++)
		for (size_t i = 0; i < n; i++)
			frame_floats(out, c, 0)[i] = frame_floats(table, c, 0)[row[i]];
	frame_free(table);
	if (status < 0)
		return -1;
	frame_replace(frame, out);
	return 0;
}

int
table_where(struct frame **frame, const char *where)
{
	size_t length = strcspn(where, "="), points, c, n, *row;
	struct numbers value;
	char name[CHANNEL_NAME_SIZE], seen[300];
	int status;

	if (length == 0 || length >= sizeof(name) || !where[length] ||
	    numbers_parse(where + length + 1, ",", &value) < 0)
		return fail_usage("--where", "wants NAME=V or NAME=V,V,..., not '%.60s'", where);
	memcpy(name, where, length);
	name[length] = '\0';
	status = frame ? 0 : 1;		/* 1: nothing is left to do */
	if (status == 0 && !head_is_table(&(*frame)->head))
		status = fail("--where", "is for tables, the input is an image");
	c = status == 0 ? head_channel(&(*frame)->head, name) : 0;
	if (status == 0 && c == NO_CHANNEL)
		status = fail("--where", "there is no channel %s, only %s", name,
		    head_channels_hint(&(*frame)->head, seen));
	if (status == 0)
		status = head_points(&(*frame)->head, &points);
	if (status == 0) {
		row = must_alloc(points + 1, sizeof(*row));
		n = find_rows(*frame, points, c, &value, row);
		status = take_rows(frame, row, n);
		free(row);
	}
	numbers_free(&value);
	return status < 0 ? -1 : 0;
}

/* ---- --like: frames whose size and keys tables take ---- */

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
	head_copy(&like->head, &frame->head);
	frame_free(frame);
	return 0;
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

/* ---- --like: the pixel of each point ---- */

struct places {
	const struct frame *table;	/* float */
	size_t points, w, h;
	size_t column, row;		/* channels */
	size_t *pixel;			/* of each point: column + w * row */
};

/* The column (or row) of point i in an image of this size. -1 after fail(). */
static int
find_coordinate(const struct places *places, size_t c, size_t i, size_t size, size_t *place)
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

/* taken: w x h, false. -1 after fail(). */
static int
find_taken(struct places *places, bool *taken)
{
	for (size_t i = 0; i < places->points; i++) {
		size_t x, y, first = 0, *pixel = places->pixel;

		if (find_coordinate(places, places->column, i, places->w, &x) < 0 ||
		    find_coordinate(places, places->row, i, places->h, &y) < 0)
			return -1;
		pixel[i] = x + places->w * y;
		while (taken[pixel[i]] && pixel[first] != pixel[i])
			first++;
		if (taken[pixel[i]])
			return fail("--like", "points %zu and %zu are both for column %zu, row "
			    "%zu", first, i, x, y);
		taken[pixel[i]] = true;
	}
	return 0;
}

/* ---- --like: the image ---- */

/* Does the key describe samples of the frame itself, or its history? The table does not take it. */
static bool
is_own(const char *key)
{
	static const char *const own[] = { "sample_scale", "sample_offset", "invalid", "max_value",
		"bits", "colormap", "colormap_range", "points", NULL };

	return word_find(own, key) >= 0 || !strncmp(key, "cmd.", 4);
}

/* Fails where both have the key with different numbers. */
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

/* Adds the frame's keys that the table lacks. */
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
image_head(const struct places *places, const struct frame_head *like, struct frame_head *head)
{
	const struct frame_head *table = &places->table->head;
	size_t n = 0;

	head_copy(head, table);
	head->w = places->w;
	head->h = places->h;
	head->c = table->c - 2;
	memcpy(head->spacing, like->spacing, sizeof(head->spacing));
	memcpy(head->unit, like->unit, sizeof(head->unit));
	for (size_t c = 0; c < table->c; c++)
		if (c != places->column && c != places->row)
			memcpy(head->channel[n++], table->channel[c], sizeof(*head->channel));
	return take_keys(&head->meta, &like->meta);
}

/* Fills the image: NaN, and the points at their pixels. */
static void
place_points(const struct places *places, struct frame *image)
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
	bool *taken = must_alloc(places->w, places->h);
	int status;

	places->pixel = must_alloc(places->points + 1, sizeof(*places->pixel));
	status = find_taken(places, taken);
	free(taken);
	if (status < 0 || frame_new_if(image_head(places, like, &head), &head, image) < 0)
		return -1;
	place_points(places, *image);
	return 0;
}

static int
check_like(const struct like *like, const struct frame_head *head, struct places *places)
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

	if (check_like(like, &(*frame)->head, &places) < 0 || frame_to_float(*frame, &table) < 0)
		return -1;
	places.table = table;
	status = restore(&places, &like->head, &image);
	free(places.pixel);
	frame_free(table);
	if (status < 0)
		return -1;
	frame_replace(frame, image);
	return 0;
}
