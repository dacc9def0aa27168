#define _GNU_SOURCE
#include "codec/ply/cloud.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "frame/samples.h"
#include "mesh/ply_file.h"

/* Readers of PLY keep a line in a buffer of fixed size. */
#define COMMENT_BYTES 1000

struct cloud {
	struct frame *floats;
	size_t points;
	size_t colour[3];	/* channels r g b as uchar; NO_CHANNEL: there are none of these */
};

static bool
is_colour(const struct cloud *cloud, size_t c)
{
	return c == cloud->colour[0] || c == cloud->colour[1] || c == cloud->colour[2];
}

/* Levels of a known white are rounded; no colour is black, as in meshes. */
static bool
rounds_to_uchar(const float *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (v[i] <= -0.5f || v[i] >= 255.5f)
			return false;
	return true;
}

static bool
fits_uchar(const float *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!(v[i] >= 0.0f && v[i] <= 255.0f && v[i] == floorf(v[i])) ||
		    (v[i] == 0.0f && signbit(v[i])))
			return false;
	return true;
}

static void
find_colours(struct cloud *cloud)
{
	static const char *const names[] = { "r", "g", "b" };
	const struct frame *frame = cloud->floats;
	const char *white = meta_get(&frame->head.meta, "max_value");
	bool (*fits)(const float *, size_t) = white && !strcmp(white, "255") ? rounds_to_uchar :
	    fits_uchar;

	for (size_t i = 0; i < 3; i++)
		cloud->colour[i] = head_channel(&frame->head, names[i]);
	for (size_t i = 0; i < 3; i++)
		if (cloud->colour[i] == NO_CHANNEL ||
		    !fits(frame_floats(frame, cloud->colour[i], 0), cloud->points))
			cloud->colour[0] = cloud->colour[1] = cloud->colour[2] = NO_CHANNEL;
}

static int
write_comments(struct saver *saver, const struct frame_head *head)
{
	char *text = head_to_text(head), *rest = text, *line;

	if (!text)
		return -1;
	while ((line = strsep(&rest, "\n")))
		if (*line && strlen(line) < COMMENT_BYTES && strncmp(line, "channels:=", 10) &&
		    strncmp(line, "points:=", 8))
			fprintf(saver->file, "comment %s\n", line);
	free(text);
	return 0;
}

static const char *
property_name(const char *channel)
{
	return !*channel ? "_" : !strcmp(channel, "r") ? "red" : !strcmp(channel, "g") ? "green" :
	    !strcmp(channel, "b") ? "blue" : !strcmp(channel, "a") ? "alpha" : channel;
}

static int
write_header(struct saver *saver, const struct cloud *cloud, bool ascii)
{
	const struct frame_head *head = &cloud->floats->head;
	FILE *file = saver->file;

	fprintf(file, "ply\nformat %s 1.0\n", ascii ? "ascii" : "binary_little_endian");
	if (write_comments(saver, head) < 0)
		return -1;
	fprintf(file, "element vertex %zu\n", cloud->points);
	for (size_t c = 0; c < head->c; c++)
		fprintf(file, "property %s %s\n", is_colour(cloud, c) ? "uchar" : "float",
		    property_name(head->channel[c]));
	fprintf(file, "end_header\n");
	return 0;
}

static void
write_point(FILE *file, const struct cloud *cloud, size_t i, bool ascii)
{
	for (size_t c = 0; c < cloud->floats->head.c; c++) {
		float v = frame_floats(cloud->floats, c, 0)[i];

		if (is_colour(cloud, c))
			v = isnan(v) || v < 0.5f ? 0 : floorf(v + 0.5f);
		if (ascii && isnan(v))
			fputs(c ? " nan" : "nan", file);
		else if (ascii)
			fprintf(file, "%s%.9g", c ? " " : "", v);
		else if (is_colour(cloud, c))
			putc((unsigned char)v, file);
		else
			fwrite(&v, sizeof(v), 1, file);
	}
	if (ascii)
		putc('\n', file);
}

int
cloud_save(struct saver *saver, const struct frame *frame, bool ascii)
{
	struct cloud cloud;
	char seen[300];
	int status;

	if (head_channel(&frame->head, "x") == NO_CHANNEL ||
	    head_channel(&frame->head, "y") == NO_CHANNEL ||
	    head_channel(&frame->head, "z") == NO_CHANNEL)
		return fail(saver->path, "a cloud of points needs channels x y z, not %s",
		    head_channels_hint(&frame->head, seen));
	if (frame->head.c > PLY_PROPERTIES)
		return fail(saver->path, "PLY holds %d channels at most, not %zu", PLY_PROPERTIES,
		    frame->head.c);
	if (head_points(&frame->head, &cloud.points) < 0 ||
	    frame_to_float(frame, &cloud.floats) < 0)
		return -1;
	find_colours(&cloud);
	status = write_header(saver, &cloud, ascii);
	for (size_t i = 0; i < cloud.points && status == 0; i++)
		write_point(saver->file, &cloud, i, ascii);
	if (status == 0 && ferror(saver->file))
		status = fail_errno(saver->path, "cannot be written");
	frame_free(cloud.floats);
	return status;
}
