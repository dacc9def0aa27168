/* What is kept of an image: lines of samples across it, and its largest sample. */
#include <math.h>
#include <stdlib.h>

#include "images.h"

/* NaN where it is no level. */
static float
sample_at(const void *row, enum sample type, size_t x)
{
	float v = frame_sample_in(type, row, x);

	return fabsf(v) < 1e30f ? v : NAN;
}

/* The largest sample, and how many are as large. */
static void
find_max(const struct frame *frame, size_t c, struct image *image)
{
	double max = -INFINITY, at = 0;

	for (size_t y = 0; y < frame->head.h; y++) {
		const void *row = frame_row(frame, c, y);

		for (size_t x = 0; x < frame->head.w; x++) {
			double v = (double)sample_at(row, frame->head.type, x);

			if (v > max) {
				max = v;
				at = 0;
			}
			at += v == max;
		}
	}
	image->max = max;
	image->share_max = at / ((double)frame->head.w * (double)frame->head.h);
}

/* How many of n lines of a length are kept: 64, fewer of large images. */
static size_t
count_lines(size_t n, size_t length)
{
	size_t most = IMAGES_SAMPLES / length;

	most = most < IMAGES_LINES_LEAST ? IMAGES_LINES_LEAST : most;
	most = most > IMAGES_LINES ? IMAGES_LINES : most;
	return n < most ? n : most;
}

/* Line l of n that are spread evenly over a length. */
static size_t
line_at(size_t l, size_t n, size_t length)
{
	return (2 * l + 1) * length / (2 * n);
}

int
image_reduce(const struct frame *frame, size_t c, struct image *image)
{
	size_t w = frame->head.w, h = frame->head.h;
	size_t rows = count_lines(h, w), columns = count_lines(w, h);

	image->lines[0] = rows;
	image->lines[1] = columns;
	image->line[0] = malloc(rows * w * sizeof(float));
	image->line[1] = malloc(columns * h * sizeof(float));
	if (!image->line[0] || !image->line[1])
		return fail_memory();
	for (size_t l = 0; l < rows; l++) {
		const void *row = frame_row(frame, c, line_at(l, rows, h));

		for (size_t x = 0; x < w; x++)
			image->line[0][l * w + x] = sample_at(row, frame->head.type, x);
	}
	for (size_t y = 0; y < h; y++) {
		const void *row = frame_row(frame, c, y);

		for (size_t l = 0; l < columns; l++)
			image->line[1][l * h + y] =
			    sample_at(row, frame->head.type, line_at(l, columns, w));
	}
	find_max(frame, c, image);
	return 0;
}

/* The mean of the samples about each one that are no NaN, NaN where it is one. */
static void
smooth_line(const float *from, size_t length, float *to)
{
	for (size_t x = 0; x < length; x++) {
		size_t half = IMAGES_SMOOTH / 2;
		size_t first = x < half ? 0 : x - half;
		size_t end = x + half + 1 < length ? x + half + 1 : length;
		float sum = 0, n = 0;

		for (size_t k = first; k < end; k++)
			if (!isnan(from[k])) {
				sum += from[k];
				n++;
			}
		to[x] = isnan(from[x]) ? NAN : sum / n;
	}
}

int
images_smooth(struct image *const *image, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (int axis = 0; axis < 2; axis++) {
			size_t length = axis ? image[i]->head.h : image[i]->head.w;
			float *to = malloc(image[i]->lines[axis] * length * sizeof(*to));

			if (!to)
				return fail_memory();
			for (size_t l = 0; l < image[i]->lines[axis]; l++)
				smooth_line(image[i]->line[axis] + l * length, length,
				    to + l * length);
			image[i]->raw[axis] = image[i]->line[axis];
			image[i]->line[axis] = to;
		}
	return 0;
}

void
images_unsmooth(struct image *const *image, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (int axis = 0; axis < 2; axis++) {
			if (!image[i]->raw[axis])
				continue;
			free(image[i]->line[axis]);
			image[i]->line[axis] = image[i]->raw[axis];
			image[i]->raw[axis] = NULL;
		}
}
