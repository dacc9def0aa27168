#define _GNU_SOURCE
#include "fringe_line.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/px.h"
#include "io/safe_file.h"

#define PIXELS_LEAST 16		/* fewer do not make a plane */

/* The beat as unit vectors, 0 where it is missing; along x, whatever the axis. */
struct field {
	size_t w, h;
	float *re, *im;
};

int
fringe_line_plan(struct fringe_line *line, const struct frame_head *head,
    const struct temporal *temporal)
{
	line->temporal = *temporal;
	return temporal_first_px(temporal, head, &line->first_px, &line->bin);
}

static int
read_beat(const struct fringe_line *line, const struct frame *frame, struct field *field)
{
	const struct temporal *temporal = &line->temporal;
	bool along_y = temporal->axis == 'y',
	     swap = temporal->period_px[0] > temporal->period_px[1];
	size_t w = frame->head.w, h = frame->head.h, n;

	if (size_multiply(w, h, &n) < 0)
		return -1;
	*field = (struct field){ along_y ? h : w, along_y ? w : h, calloc(n, sizeof(float)),
		calloc(n, sizeof(float)) };
	if (!field->re || !field->im)
		return fail_memory();
	for (size_t y = 0; y < h; y++) {
		const float *shorter = frame_floats(frame, temporal->channel[swap], y);
		const float *longer = frame_floats(frame, temporal->channel[!swap], y);

		for (size_t x = 0; x < w; x++) {
			size_t at = along_y ? x * h + y : y * w + x;

			if (px_isnan(shorter[x]) || px_isnan(longer[x]))
				continue;
			field->re[at] = px_cos(shorter[x] - longer[x]);
			field->im[at] = px_sin(shorter[x] - longer[x]);
		}
	}
	return 0;
}

/* The mean turn from a pixel to the one `lag` further on, less `expected`; the number of pairs. */
static size_t
mean_turn(const struct field *field, size_t lag, double expected, double *turn, double *length)
{
	double re = 0, im = 0, c = cos(expected), s = sin(expected);
	size_t n = 0;

	for (size_t y = 0; y < field->h; y++) {
		const float *a = field->re + y * field->w, *b = field->im + y * field->w;

		for (size_t x = 0; x + lag < field->w; x++) {
			double r = a[x + lag] * a[x] + b[x + lag] * b[x];
			double i = b[x + lag] * a[x] - a[x + lag] * b[x];

			re += r;
			im += i;
			n += r != 0 || i != 0;
		}
	}
	*turn = atan2(im * c - re * s, re * c + im * s);
	*length = n ? hypot(re, im) / (double)n : 0;
	return n;
}

/* From neighbours on to pairs ever further apart, each time exacter, as long as they agree. */
static int
find_slope(const struct field *field, double *slope)
{
	double turn, length;
	size_t n = mean_turn(field, 1, 0, slope, &length);

	if (n < PIXELS_LEAST || length < 0.3)
		return fail(
		    NULL, "no plane to be seen: %zu pairs of pixels, coherence %.2f", n, length);
	for (size_t lag = 2; lag < field->w; lag *= 2) {
		n = mean_turn(field, lag, *slope * (double)lag, &turn, &length);
		if (n < PIXELS_LEAST || length < 0.3)
			break;
		*slope += turn / (double)lag;
	}
	return 0;
}

static double
middle_phase(const struct field *field, double slope)
{
	double re = 0, im = 0, middle = (double)(field->w - 1) / 2;

	for (size_t x = 0; x < field->w; x++) {
		double c = cos(slope * ((double)x - middle)), s = sin(slope * ((double)x - middle));

		for (size_t y = 0; y < field->h; y++) {
			double r = field->re[y * field->w + x], i = field->im[y * field->w + x];

			re += r * c + i * s;
			im += i * c - r * s;
		}
	}
	return atan2(im, re);
}

int
fringe_line_add(struct fringe_line *line, const struct frame *frame)
{
	struct fringe_line_plane *more, plane;
	struct field field = { 0 };
	double slope;
	int status = read_beat(line, frame, &field);

	if (status == 0)
		status = find_slope(&field, &slope);
	if (status == 0) {
		plane.middle_rad = middle_phase(&field, slope);
		plane.slope = slope / line->bin;
		plane.first_px = line->first_px;
		plane.last_px = line->first_px + line->bin * (double)(field.w - 1);
		more = reallocarray(line->plane, line->n + 1, sizeof(*more));
		if (more) {
			line->plane = more;
			more[line->n++] = plane;
		} else {
			status = fail_memory();
		}
	}
	free(field.re);
	free(field.im);
	return status;
}

/*
 * The line for the planes seen, successive ones less than half a turn apart, all within one turn.
 * The whole turns of the offset are those with which the beat is nowhere negative in the image.
 */
static int
fringe_line_fit(const struct fringe_line *line, double *period_px, double *offset_rad)
{
	const struct fringe_line_plane *first = line->plane;
	double slope = 0, phase, least, most, offset, lowest;

	if (line->n < 2)
		return fail(NULL,
		    "--fit-line wants a plane at both ends of the working volume, got %zu",
		    line->n);
	for (size_t i = 0; i < line->n; i++)
		slope += line->plane[i].slope / (double)line->n;
	phase = least = most = first->middle_rad;
	for (size_t i = 1; i < line->n; i++) {
		if (line->plane[i].first_px != first->first_px ||
		    line->plane[i].last_px != first->last_px)
			return fail(
			    NULL, "--fit-line: plane %zu lies elsewhere on the sensor", i + 1);
		phase += remainder(line->plane[i].middle_rad - phase, 2 * M_PI);
		least = fmin(least, phase);
		most = fmax(most, phase);
	}
	if (most - least >= 2 * M_PI)
		return fail(NULL,
		    "--fit-line: the planes are %.0f degrees of the beat apart, a line "
		    "orders less than 360",
		    (most - least) * 180 / M_PI);
	offset = -slope * (first->first_px + first->last_px) / 2;
	lowest = least + offset + fmin(slope * first->first_px, slope * first->last_px);
	offset -= 2 * M_PI * floor((lowest + M_PI / 8) / (2 * M_PI));
	*period_px = 2 * M_PI / slope;
	*offset_rad = (least + most) / 2 + offset - M_PI;
	return 0;
}

int
fringe_line_print(const struct fringe_line *line, const char *path)
{
	double period_px = 0, offset_rad = 0;
	struct safe_file *temporary = NULL;
	FILE *file = stdout;
	int n;

	if (fringe_line_fit(line, &period_px, &offset_rad) < 0)
		return -1;
	if (path && strcmp(path, "-")) {
		file = safe_file_open(path, &temporary);
		if (!file)
			return -1;
	}
	n = fprintf(file, "--line=%.8g,%.8g\n", period_px, offset_rad * 180 / M_PI);
	if (file != stdout)
		return safe_file_close(file, path, temporary, n > 0);
	return n > 0 ? 0 : fail_errno("standard output", "could not be written");
}

void
fringe_line_free(struct fringe_line *line)
{
	free(line->plane);
	line->plane = NULL;
	line->n = 0;
}
