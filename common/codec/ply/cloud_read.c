#define _GNU_SOURCE
#include "codec/ply/cloud.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "frame/table_rows.h"
#include "io/text_table.h"
#include "mesh/ply_file.h"

struct cloud {
	struct frame_head head;
	struct table_rows rows;
	bool warned;		/* about a value that a float rounds */
};

static struct cloud *
cloud_of(const struct ply *ply)
{
	return ply->arg;
}

/* key:=value; other comments, and what the properties tell, are passed over. */
static int
take_comment(struct ply *ply, char *text)
{
	if (!strncmp(text, "channels:=", 10) || !strncmp(text, "points:=", 8))
		return 0;
	return head_from_text(&cloud_of(ply)->head, text, strlen(text));
}

static const struct ply_user user = { .comment = take_comment };

static void
name_channel(const char *property, char to[CHANNEL_NAME_SIZE])
{
	static const char *const colours[][2] = { { "red", "r" }, { "green", "g" },
		{ "blue", "b" }, { "alpha", "a" } };

	for (size_t i = 0; i < 4; i++)
		if (!strcmp(property, colours[i][0]))
			property = colours[i][1];
	memset(to, 0, CHANNEL_NAME_SIZE);
	memcpy(to, property, strnlen(property, CHANNEL_NAME_SIZE - 1));
}

/* The channels are the vertices' properties, but for lists. */
static int
name_channels(const struct ply *ply, const struct ply_element *vertex)
{
	struct cloud *cloud = cloud_of(ply);
	size_t n = 0;

	for (size_t i = 0; i < vertex->n; i++)
		n += !ply->property[vertex->first + i].list;
	if (n == 0)
		return fail(ply->path, "element vertex has no property that is a number");
	if (head_set_count(&cloud->head, n) < 0)
		return -1;
	cloud->rows.c = n;
	for (size_t i = vertex->n, c = n; i-- > 0;)
		if (!ply->property[vertex->first + i].list)
			name_channel(ply->property[vertex->first + i].name,
			    cloud->head.channel[--c]);
	return text_table_check_names(ply->path, &cloud->head);
}

/* The element vertex; -1 where there is none, or faces. */
static int
find_vertices(const struct ply *ply, size_t *vertex)
{
	*vertex = ply->elements;
	for (size_t i = 0; i < ply->elements; i++) {
		if (ply->element[i].kind == PLY_VERTEX)
			*vertex = i;
		else if (ply->element[i].kind != PLY_OTHER && ply->element[i].count)
			return fail(ply->path, "PLY files are written, but not read here: "
			    "mesh2depth reads meshes");
	}
	if (*vertex == ply->elements)
		return fail(ply->path, "header has no element vertex");
	return name_channels(ply, &ply->element[*vertex]);
}

static int
pass_over_list(struct ply *ply, const struct ply_property *property)
{
	unsigned long long n;
	double v;

	if (ply_next_count(ply, property, &n) < 0)
		return -1;
	for (; n; n--)
		if (ply_next_value(ply, property->type, &v) < 0)
			return -1;
	return 0;
}

/* The value just read, as float. -1 after fail() where it is too large. */
static int
keep_value(const struct ply *ply, double v, float *to)
{
	struct cloud *cloud = cloud_of(ply);
	bool ascii = ply->form == PLY_FORM_ASCII;
	const char *word = ply->words.word, *what = ascii ? "line" : "point";
	size_t number = ascii ? ply->words.line : cloud->rows.n - 1;
	char text[64];

	if (ascii)
		v = strtod(word, NULL);		/* before it was rounded */
	*to = isnan(v) ? NAN : (float)v;
	if (!(fabs(v) >= 16777216.0))
		return 0;
	if (!ascii) {
		snprintf(text, sizeof(text), "%.15g", v);
		word = text;
	}
	if (isinf(*to) && (!isinf(v) || (ascii && strpbrk(word, "0123456789"))))
		return fail(ply->path, "%s %zu: %s is larger than a float can be", what, number,
		    word);
	if (!cloud->warned && text_table_rounds(ascii ? word : NULL, v)) {
		text_table_warn_rounded(ply->path, what, number, word, *to);
		cloud->warned = true;
	}
	return 0;
}

/* An item of an element; its numbers go to `row`, if there is one. */
static int
read_item(struct ply *ply, const struct ply_element *element, float *row)
{
	double v;

	for (size_t i = 0; i < element->n; i++) {
		const struct ply_property *property = &ply->property[element->first + i];

		if (property->list) {
			if (pass_over_list(ply, property) < 0)
				return -1;
			continue;
		}
		if (ply_next_value(ply, property->type, &v) < 0)
			return -1;
		if (row && keep_value(ply, v, row++) < 0)
			return -1;
	}
	return 0;
}

/* What stands behind the vertices belongs to an element, else their number is wrong. */
static int
check_end(struct ply *ply, size_t vertex)
{
	for (size_t e = vertex + 1; e < ply->elements; e++)
		if (ply->element[e].count && ply->element[e].n)
			return 0;
	return ply_check_end(ply);
}

/* The elements up to the vertices; what stands behind them is left alone. */
static int
read_points(struct ply *ply, size_t vertex)
{
	for (size_t e = 0; e <= vertex; e++) {
		const struct ply_element *element = &ply->element[e];

		ply_begin_element(ply, e);
		while (ply_begin_item(ply)) {
			float *row = NULL;

			if (e == vertex && !(row = table_rows_add(&cloud_of(ply)->rows)))
				return -1;
			if (read_item(ply, element, row) < 0)
				return -1;
		}
	}
	ply_check_last(ply);
	return check_end(ply, vertex);
}

int
cloud_load(struct loader *loader, struct frame **out)
{
	struct cloud cloud = { 0 };
	struct ply *ply = calloc(1, sizeof(*ply));
	size_t vertex = 0;
	int status;

	*out = NULL;
	if (!ply)
		return fail_memory();
	ply->path = loader->path;
	ply->file = loader->file;
	ply->user = &user;
	ply->arg = &cloud;
	status = head_init(&cloud.head, 1, 1, 1, SAMPLE_FLOAT);
	if (status == 0)
		status = ply_read_header(ply);
	if (status == 0)
		status = find_vertices(ply, &vertex);
	if (status == 0)
		status = read_points(ply, vertex);
	if (status == 0)
		status = table_rows_frame(&cloud.rows, &cloud.head, out);
	table_rows_free(&cloud.rows);
	head_free(&cloud.head);
	free(ply);
	return status < 0 ? -1 : 1;
}
