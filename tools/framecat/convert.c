/* Samples of one type to those of another one: ranges, invalid values, scales and their keys. */
#define _GNU_SOURCE
#include "convert.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "convert_rows.h"
#include "image/statistics.h"

int
range_parse(const char *option, const char *text, struct sample_range *range)
{
	struct numbers list;

	*range = (struct sample_range){ .kind = RANGE_AUTO };
	if (!strcmp(text, "auto"))
		return 0;
	if (numbers_parse(text, ",", &list) < 0 || list.n != 2 || !isfinite(list.v[0]) ||
	    !isfinite(list.v[1]) || list.v[0] == list.v[1]) {
		numbers_free(&list);
		return fail_usage(option, "wants auto or two numbers LOW,HIGH that differ, not "
		    "'%.60s'", text);
	}
	*range = (struct sample_range){ RANGE_GIVEN, list.v[0], list.v[1] };
	numbers_free(&list);
	return 0;
}

/* ---- bands of rows, on all threads ---- */

#define BAND 16

static void
replace(struct frame **frame, struct frame *by)
{
	frame_free(*frame);
	*frame = by;
}

static void
convert_band(void *arg, size_t item)
{
	const struct conversion *conversion = arg;
	size_t h = conversion->out->head.h, end = (item + 1) * BAND;

	for (size_t y = item * BAND; y < h && y < end; y++)
		conversion->row(conversion, y);
}

/* Fills a new frame of this head, which it frees, and puts it in place of *frame. */
static int
convert(struct run *run, struct frame **frame, struct frame_head *head,
    struct conversion *conversion)
{
	int status;

	conversion->in = *frame;
	status = frame_new(head, &conversion->out);
	head_free(head);
	if (status < 0)
		return -1;
	run_for(run, (conversion->out->head.h + BAND - 1) / BAND, convert_band, conversion);
	replace(frame, conversion->out);
	return 0;
}

/* ---- to values ---- */

static bool
lines_equal(const struct line *line, size_t c)
{
	for (size_t i = 1; i < c; i++)
		if (line[i].scale != line[0].scale || line[i].offset != line[0].offset)
			return false;
	return true;
}

/* max_value, where a camera saturates, goes with the samples; away where channels go apart. */
static int
move_maximum(struct frame_head *head, const struct line *line, bool decodes, double largest)
{
	double v;

	if (meta_number(&head->meta, "max_value", NAN, &v) < 0)
		return -1;
	if (isnan(v))
		return 0;
	if (line && !lines_equal(line, head->c)) {
		meta_remove(&head->meta, "max_value");
		return 0;
	}
	if (line)
		v = decodes ? v * line->scale + line->offset : (v - line->offset) / line->scale;
	v = decodes ? v : fmin(fmax(floor(v + 0.5), 0.0), largest);
	return meta_set_number(&head->meta, "max_value", v);
}

int
convert_to_float(struct run *run, struct frame **frame,
    double invalid)
{
	struct conversion conversion = { .row = convert_rows_decode, .invalid = invalid };
	struct frame_head head;

	if ((*frame)->head.type == SAMPLE_FLOAT && isnan(invalid))
		return 0;
	if (head_copy(&head, &(*frame)->head) < 0)
		return -1;
	head.type = SAMPLE_FLOAT;
	if (!isnan(invalid))
		meta_remove(&head.meta, "invalid");
	return convert(run, frame, &head, &conversion);
}

/* Number c of a key that has one, or one per channel. */
static int
channel_number(const struct frame_head *head, const char *key, size_t c, double otherwise,
    double *out)
{
	const char *value = meta_get(&head->meta, key);
	struct numbers list;
	size_t n;

	*out = otherwise;
	if (meta_numbers(&head->meta, key, &list) < 0)
		return -1;
	n = list.n;
	if (n == 1 || n == head->c)
		*out = list.v[n == 1 ? 0 : c];
	numbers_free(&list);
	if (value && n != 1 && n != head->c)
		return fail(key, "wants one number or %zu, not '%.60s'", head->c, value);
	return 0;
}

static const char *const keys[] = { "sample_scale", "sample_offset", "invalid" };

static void
remove_keys(struct meta *meta)
{
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		meta_remove(meta, keys[i]);
}

int
convert_unscale(struct run *run, struct frame **frame)
{
	struct conversion conversion = { .row = convert_rows_decode };
	struct frame_head head;
	int status = 0;

	if (!meta_get(&(*frame)->head.meta, "sample_scale"))
		return fail("--unscale", "input has no key sample_scale");
	if (head_copy(&head, &(*frame)->head) < 0)
		return -1;
	conversion.line = calloc(head.c, sizeof(*conversion.line));
	if (!conversion.line)
		status = fail_memory();
	for (size_t c = 0; c < head.c && status == 0; c++)
		if (channel_number(&head, keys[0], c, 1.0, &conversion.line[c].scale) < 0 ||
		    channel_number(&head, keys[1], c, 0.0, &conversion.line[c].offset) < 0)
			status = -1;
	if (status == 0)
		status = meta_number(&head.meta, keys[2], NAN, &conversion.invalid);
	if (status == 0)
		status = move_maximum(&head, conversion.line, true, 0.0);
	head.type = SAMPLE_FLOAT;
	remove_keys(&head.meta);
	if (status == 0)
		status = convert(run, frame, &head, &conversion);
	else
		head_free(&head);
	free(conversion.line);
	return status;
}

/* ---- to samples ---- */

/* The lines that take samples 0 .. largest to the range, one per channel; a new array in *line. */
static int
find_lines(struct run *run, const struct frame *frame, struct sample_range range, double largest,
    struct line **line)
{
	struct statistics *of = calloc(frame->head.c, sizeof(*of));
	int status = 0;

	*line = calloc(frame->head.c, sizeof(**line));
	if (!of || !*line)
		status = fail_memory();
	else if (range.kind == RANGE_AUTO)
		status = statistics_of(run, frame, of);
	for (size_t c = 0; c < frame->head.c && status == 0; c++) {
		double low = range.low, high = range.high;

		if (range.kind == RANGE_AUTO) {
			low = of[c].n ? of[c].min : 0.0;
			high = of[c].n && of[c].max > low ? of[c].max : low + 1.0;
		}
		(*line)[c] = (struct line){ (high - low) / largest, low };
	}
	free(of);
	if (status < 0) {
		free(*line);
		*line = NULL;
	}
	return status;
}

static int
record_lines(struct frame_head *head, const struct line *line, enum range_kind kind)
{
	size_t n = kind == RANGE_AUTO ? head->c : 1;
	double *number = calloc(n, sizeof(*number));
	int status;

	if (!number)
		return fail_memory();
	for (size_t c = 0; c < n; c++)
		number[c] = line[c].scale;
	status = meta_set_numbers(&head->meta, "sample_scale", number, n);
	for (size_t c = 0; c < n; c++)
		number[c] = line[c].offset;
	if (status == 0)
		status = meta_set_numbers(&head->meta, "sample_offset", number, n);
	free(number);
	return status;
}

/* What integer samples NaN becomes, and where a valid one goes that would be the same. */
static int
set_fill(struct conversion *conversion, double fill)
{
	conversion->fill = isnan(fill) ? 0.0 : fill;
	conversion->around = conversion->fill;
	if (conversion->fill < 0.0 || conversion->fill > conversion->largest ||
	    conversion->fill != floor(conversion->fill))
		return fail_usage("--fill", "must be a whole number from 0 to %g, not %g",
		    conversion->largest, fill);
	if (!isnan(fill))
		conversion->around += conversion->fill > 0.0 ? -1.0 : 1.0;
	return 0;
}

int
convert_encode(struct run *run, struct frame **frame,
    const struct encoding *encoding)
{
	struct conversion conversion = {
		.row = encoding->type == SAMPLE_FLOAT ? convert_rows_fill : convert_rows_encode,
		.fill = encoding->fill,
		.largest = encoding->type == SAMPLE_UCHAR ? 255.0 : 65535.0 };
	struct frame_head head;
	bool whole = encoding->type != SAMPLE_FLOAT;
	int status = 0;

	if (!whole && isnan(encoding->fill))
		return 0;
	if (encoding->range.kind != RANGE_NONE && meta_get(&(*frame)->head.meta, keys[0]))
		return fail("--scale", "input has the key sample_scale already: say --unscale "
		    "as well");
	if (whole && set_fill(&conversion, encoding->fill) < 0)
		return -1;
	if (head_copy(&head, &(*frame)->head) < 0)
		return -1;
	head.type = encoding->type;
	if (whole && encoding->range.kind != RANGE_NONE) {
		status = find_lines(run, *frame, encoding->range, conversion.largest,
		    &conversion.line);
		if (status == 0)
			status = record_lines(&head, conversion.line, encoding->range.kind);
	}
	if (status == 0 && whole)
		status = move_maximum(&head, conversion.line, false, conversion.largest);
	if (status == 0 && !isnan(encoding->fill))
		status = meta_set_number(&head.meta, "invalid", encoding->fill);
	if (status == 0)
		status = convert(run, frame, &head, &conversion);
	else
		head_free(&head);
	free(conversion.line);
	return status;
}

/* ---- to colours ---- */

/* The 1st to the 99th percentile of the one channel's finite samples. */
static int
find_percentiles(const struct frame *frame, enum colormap map, struct sample_range *range)
{
	size_t pixels, n = 0;
	float *value, ends[2];

	if (size_multiply(frame->head.w, frame->head.h, &pixels) < 0)
		return -1;
	value = calloc(pixels, sizeof(*value));
	if (!value)
		return fail_memory();
	for (size_t y = 0; y < frame->head.h; y++) {
		const float *row = frame_floats(frame, 0, y);

		for (size_t x = 0; x < frame->head.w; x++)
			if (isfinite(row[x]))
				value[n++] = row[x];
	}
	colormap_range(map, value, n, ends);
	free(value);
	*range = (struct sample_range){ RANGE_GIVEN, ends[0], ends[1] };
	return 0;
}

/* The line that takes the first colour, 0, to one end of the range, the last, 1, to the other. */
static int
find_colour_line(struct run *run, const struct frame *frame, enum colormap map,
    struct sample_range range, struct line **line)
{
	if (range.kind == RANGE_NONE && map == COLORMAP_PHASE)
		range = (struct sample_range){ RANGE_GIVEN, -M_PI, M_PI };
	if (range.kind == RANGE_NONE && find_percentiles(frame, map, &range) < 0)
		return -1;
	if (find_lines(run, frame, range, 1.0, line) < 0)
		return -1;
	if (range.kind == RANGE_AUTO && map == COLORMAP_DEVIATION) {
		double low = (*line)->offset, high = low + (*line)->scale;
		double most = fmax(fabs(low), fabs(high));

		**line = (struct line){ 2.0 * most, -most };
	}
	return 0;
}

int
convert_colour(struct run *run, struct frame **frame, const struct painting *painting,
    double ends[2])
{
	enum colormap map = painting->map;
	struct conversion conversion = { .row = convert_rows_colour, .map = map,
		.nan = painting->nan };
	struct frame_head head;
	int status;

	if ((*frame)->head.c != 1)
		return fail("--colormap", "paints one channel, the input has %zu: choose with "
		    "--channels", (*frame)->head.c);
	if (find_colour_line(run, *frame, map, painting->range, &conversion.line) < 0)
		return -1;
	ends[0] = conversion.line->offset;
	ends[1] = conversion.line->offset + conversion.line->scale;
	status = head_copy(&head, &(*frame)->head);
	if (status == 0) {
		head.type = SAMPLE_UCHAR;
		remove_keys(&head.meta);
		meta_remove(&head.meta, "max_value");
		if (head_set_channels(&head, "r g b") == 0 &&
		    meta_set(&head.meta, "colormap", colormap_names[map]) == 0 &&
		    meta_set_numbers(&head.meta, "colormap_range", ends, 2) == 0) {
			status = convert(run, frame, &head, &conversion);
		} else {
			head_free(&head);
			status = -1;
		}
	}
	free(conversion.line);
	return status;
}

/* Are all samples whole numbers, 0 and up, or NaN? -1 after fail(). */
static int
check_labels(const struct frame *frame)
{
	for (size_t y = 0; y < frame->head.h; y++) {
		const float *row = frame_floats(frame, 0, y);

		for (size_t x = 0; x < frame->head.w; x++)
			if (row[x] < 0 || row[x] > floorf(row[x]))
				return fail("--colormap", "labels are whole numbers from 0 on, and "
				    "pixel (%zu, %zu) of %s is %g", x, y, frame->head.channel[0],
				    (double)row[x]);
	}
	return 0;
}

int
convert_labels(struct run *run, struct frame **frame, const struct painting *painting)
{
	struct conversion conversion = { .row = convert_rows_labels, .nan = painting->nan };
	struct frame_head head;

	if ((*frame)->head.c != 1)
		return fail("--colormap", "paints one channel, the input has %zu: choose with "
		    "--channels", (*frame)->head.c);
	if (check_labels(*frame) < 0 || head_copy(&head, &(*frame)->head) < 0)
		return -1;
	head.type = SAMPLE_UCHAR;
	remove_keys(&head.meta);
	meta_remove(&head.meta, "max_value");
	if (head_set_channels(&head, "r g b") == 0 &&
	    meta_set(&head.meta, "colormap", "labels") == 0)
		return convert(run, frame, &head, &conversion);
	head_free(&head);
	return -1;
}
