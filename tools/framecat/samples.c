/*
 * Converts samples from one type to another: ranges, invalid values, scales and their keys; warns
 * where values or holes are lost; paints a channel and what lies around the picture.
 *
 * A frame with the keys sample_scale and sample_offset (one number, or one per channel) represents
 * values: value = sample * sample_scale + sample_offset. A sample that equals the key invalid
 * represents none.
 */
#include "framecat.h"

#include <stdio.h>

#include "fringe/capture_set.h"
#include "image/depth_range.h"
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

#define BAND 16		/* rows that a thread takes together */

static void
convert_band(void *arg, size_t item)
{
	const struct conversion *conversion = arg;
	size_t h = conversion->out->head.h, end = (item + 1) * BAND;

	for (size_t y = item * BAND; y < h && y < end; y++)
		conversion->row(conversion, y);
}

/* Fills a new frame of this head, and puts it in place of *frame, where status is 0. Frees the
 * head. */
static int
convert(struct run *run, struct frame **frame, int status, struct frame_head *head,
    struct conversion *conversion)
{
	conversion->in = *frame;
	if (frame_new_if(status, head, &conversion->out) < 0)
		return -1;
	run_for(run, (conversion->out->head.h + BAND - 1) / BAND, convert_band, conversion);
	frame_free(*frame);
	*frame = conversion->out;
	return 0;
}

/* ---- to values ---- */

/* Are all channels scaled alike? */
static bool
lines_equal(const struct line *line, size_t c)
{
	for (size_t i = 1; i < c; i++)
		if (line[i].scale != line[0].scale || line[i].offset != line[0].offset)
			return false;
	return true;
}

/* Converts max_value, where a camera saturates, like the samples. Removes it where channels are
 * scaled differently. */
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
	meta_set_number(&head->meta, "max_value", v);
	return 0;
}

int
convert_to_float(struct run *run, struct frame **frame, double invalid)
{
	struct conversion conversion = { .row = framecat_rows()->decode, .invalid = invalid };
	struct frame_head head;

	if ((*frame)->head.type == SAMPLE_FLOAT && isnan(invalid))
		return 0;
	head_copy(&head, &(*frame)->head);
	head.type = SAMPLE_FLOAT;
	if (!isnan(invalid))
		meta_remove(&head.meta, "invalid");
	return convert(run, frame, 0, &head, &conversion);
}

/* The number for channel c, of a key that has one number or one per channel. */
static int
key_number(const struct frame_head *head, const char *key, size_t c, double otherwise,
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
	struct conversion conversion = { .row = framecat_rows()->decode };
	struct frame_head head;
	int status = 0;

	if (!meta_get(&(*frame)->head.meta, "sample_scale"))
		return fail("--unscale", "input has no key sample_scale");
	head_copy(&head, &(*frame)->head);
	conversion.line = must_alloc(head.c, sizeof(*conversion.line));
	for (size_t c = 0; c < head.c && status == 0; c++)
		if (key_number(&head, keys[0], c, 1.0, &conversion.line[c].scale) < 0 ||
		    key_number(&head, keys[1], c, 0.0, &conversion.line[c].offset) < 0)
			status = -1;
	if (status == 0)
		status = meta_number(&head.meta, keys[2], NAN, &conversion.invalid);
	if (status == 0)
		status = move_maximum(&head, conversion.line, true, 0.0);
	head.type = SAMPLE_FLOAT;
	remove_keys(&head.meta);
	status = convert(run, frame, status, &head, &conversion);
	free(conversion.line);
	return status;
}

/* ---- to samples ---- */

/* One line per channel, which maps samples from 0 to the largest to the range. *line is a new
 * array. */
static void
find_lines(struct run *run, const struct frame *frame, struct sample_range range, double largest,
    struct line **line)
{
	struct statistics *of = must_alloc(frame->head.c, sizeof(*of));

	*line = must_alloc(frame->head.c, sizeof(**line));
	if (range.kind == RANGE_AUTO)
		statistics_of(run, frame, of);
	for (size_t c = 0; c < frame->head.c; c++) {
		double low = range.low, high = range.high;

		if (range.kind == RANGE_AUTO) {
			low = of[c].n ? of[c].min : 0.0;
			high = of[c].n && of[c].max > low ? of[c].max : low + 1.0;
		}
		(*line)[c] = (struct line){ (high - low) / largest, low };
	}
	free(of);
}

/* Records the lines as sample_scale and sample_offset; per channel only with --scale auto. */
static void
record_lines(struct frame_head *head, const struct line *line, enum range_kind kind)
{
	size_t n = kind == RANGE_AUTO ? head->c : 1;
	double *number = must_alloc(n, sizeof(*number));

	for (size_t c = 0; c < n; c++)
		number[c] = line[c].scale;
	meta_set_numbers(&head->meta, "sample_scale", number, n);
	for (size_t c = 0; c < n; c++)
		number[c] = line[c].offset;
	meta_set_numbers(&head->meta, "sample_offset", number, n);
	free(number);
}

/* Which integer NaN becomes, and its neighbour, which valid samples become that would be equal. */
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
convert_encode(struct run *run, struct frame **frame, const struct encoding *encoding)
{
	struct conversion conversion = {
		.row = encoding->type == SAMPLE_FLOAT ? framecat_rows()->fill :
		    framecat_rows()->encode,
		.fill = encoding->fill,
		.largest = encoding->type == SAMPLE_UCHAR ? 255.0 : 65535.0 };
	struct frame_head head;
	bool whole = encoding->type != SAMPLE_FLOAT;
	int status;

	if (!whole && isnan(encoding->fill))
		return 0;
	if (encoding->range.kind != RANGE_NONE && meta_get(&(*frame)->head.meta, keys[0]))
		return fail("--scale", "input has the key sample_scale already: say --unscale "
		    "as well");
	if (whole && set_fill(&conversion, encoding->fill) < 0)
		return -1;
	head_copy(&head, &(*frame)->head);
	head.type = encoding->type;
	if (whole && encoding->range.kind != RANGE_NONE) {
		find_lines(run, *frame, encoding->range, conversion.largest, &conversion.line);
		record_lines(&head, conversion.line, encoding->range.kind);
	}
	status = whole ? move_maximum(&head, conversion.line, false, conversion.largest) : 0;
	if (status == 0 && !isnan(encoding->fill))
		meta_set_number(&head.meta, "invalid", encoding->fill);
	status = convert(run, frame, status, &head, &conversion);
	free(conversion.line);
	return status;
}

/* ---- warnings: values that --as uchar and --as ushort clamp or round away ---- */

#define SAMPLED_PIXELS 4096		/* per channel, approximately */
#define CLAMPED_SHARE 0.01		/* of the samples, for a warning */
#define CLAMPED_SHARE_SCALED 0.9	/* with a given range, most may lie outside on purpose */
#define MIN_LEVELS 4.0	/* of 16 bits; in 8 bits a flat object may well have only one level */
#define FRACTION_SHARE 0.1		/* of the samples that are no whole numbers */

struct seen {
	double pixels, missing;		/* sampled, and of them NaN */
	double finite, outside, zeros;	/* samples: all, beyond the limits, those that become 0 */
	double min, max;		/* of finite samples */
	double fractions;		/* finite samples that are not -1, 0 or 1 */
};

/* Samples channel c on a coarse grid. Those whose distance from `zero`, in the direction of
 * `step`, is below the step become 0. */
static struct seen
sample_channel(const struct frame *frame, size_t c, double low, double high, double zero,
    double step)
{
	struct seen seen = { .min = INFINITY, .max = -INFINITY };
	size_t every = coarse_grid_step(frame->head.w, frame->head.h, SAMPLED_PIXELS);

	for (size_t y = 0; y < frame->head.h; y += every) {
		const float *row = frame_floats(frame, c, y);

		for (size_t x = 0; x < frame->head.w; x += every) {
			double v = (double)row[x];

			seen.pixels++;
			seen.missing += isnan(v);
			seen.zeros += step > 0 ? v - zero < step : v - zero > step;
			if (!isfinite(v))
				continue;
			seen.finite++;
			seen.outside += v < low || v > high;
			seen.fractions += fabs(v) > 1e-3 && fabs(fabs(v) - 1) > 1e-3;
			seen.min = fmin(seen.min, v);
			seen.max = fmax(seen.max, v);
		}
	}
	return seen;
}

bool
clamped_warn(const struct frame *frame, const struct encoding *encoding)
{
	double largest = encoding->type == SAMPLE_UCHAR ? UINT8_MAX : UINT16_MAX;
	bool given = encoding->range.kind == RANGE_GIVEN;
	double low = given ? fmin(encoding->range.low, encoding->range.high) : 0;
	double high = given ? fmax(encoding->range.low, encoding->range.high) : largest;
	double half = given ? 0 : 0.5;		/* rounding alone does not clamp these */

	if (encoding->type == SAMPLE_FLOAT || encoding->range.kind == RANGE_AUTO ||
	    encoding->fill < 0 || encoding->fill > largest)	/* convert_encode() refuses it */
		return false;
	for (size_t c = 0; c < frame->head.c; c++) {
		struct seen seen = sample_channel(frame, c, low - half, high + half, 0, 0);

		if (seen.outside > (given ? CLAMPED_SHARE_SCALED : CLAMPED_SHARE) * seen.finite) {
			warn(given ? "--scale" : "--as", "about %.0f %% of channel %s, which goes "
			    "from %.4g to %.4g, lie outside %g to %g and are clamped: %s spans "
			    "them", fmax(1, 100 * seen.outside / seen.finite),
			    frame->head.channel[c], seen.min, seen.max, low, high,
			    given ? "--scale auto" : "--scale LO,HI, or --scale auto,");
			return true;
		}
		if (given && encoding->type == SAMPLE_USHORT && seen.max > seen.min &&
		    (seen.max - seen.min) * largest < MIN_LEVELS * (high - low)) {
			warn("--scale", "channel %s goes from %.4g to %.4g, fewer than %g levels "
			    "of 65535 on the scale %g to %g: is that in its unit? --scale auto "
			    "spans it", frame->head.channel[c], seen.min, seen.max, MIN_LEVELS,
			    low, high);
			return true;
		}
		if (!given && seen.fractions > FRACTION_SHARE * seen.finite && seen.min > -1.5 &&
		    seen.max < 1.5) {
			warn("--as", "channel %s goes from %.4g to %.4g, of which whole numbers "
			    "leave nothing: --scale LO,HI, or --scale auto, spans it",
			    frame->head.channel[c], seen.min, seen.max);
			return true;
		}
	}
	return false;
}

/* ---- warning: holes that become the same sample as many values ---- */

#define HOLE_SHARE 0.01		/* of NaN among pixels, and of zeros among values, for a warning */

/* Channels of light, where holes may be black. */
static const char *const light[] = { "image", "texture", "modulation", "gray", "r", "g", "b", "a",
	NULL };

bool
holes_warn(const struct frame *frame, const struct encoding *encoding)
{
	double largest = encoding->type == SAMPLE_UCHAR ? UINT8_MAX : UINT16_MAX;

	if (encoding->type == SAMPLE_FLOAT || !isnan(encoding->fill))
		return false;
	for (size_t c = 0; c < frame->head.c; c++) {
		/* the values that become 0 and the largest sample */
		double first = 0, last = largest;
		struct seen seen;

		if (channel_is_named(frame->head.channel[c], light))
			continue;
		if (encoding->range.kind == RANGE_GIVEN) {
			first = encoding->range.low;
			last = encoding->range.high;
		} else if (encoding->range.kind == RANGE_AUTO) {
			seen = sample_channel(frame, c, 0, 0, 0, 0);
			first = seen.min;
			last = seen.max;
		}
		if (first == last)
			continue;
		seen = sample_channel(frame, c, 0, 0, first, (last - first) / largest / 2);
		if (seen.missing < HOLE_SHARE * seen.pixels ||
		    seen.zeros < HOLE_SHARE * (seen.pixels - seen.missing))
			continue;
		warn("--as", "%.3g %% of channel %s are NaN and become 0, as %.3g %% do that are "
		    "numbers: --fill V keeps holes apart", 100 * seen.missing / seen.pixels,
		    frame->head.channel[c], 100 * seen.zeros / seen.pixels);
		return true;
	}
	return false;
}

/* ---- painting: --colormap ---- */

/* The 1st to the 99th percentile of the one channel's finite samples. */
static int
find_percentiles(const struct frame *frame, enum colormap map, struct sample_range *range)
{
	size_t pixels, n = 0;
	float *value, ends[2];

	if (size_multiply(frame->head.w, frame->head.h, &pixels) < 0)
		return -1;
	value = must_alloc(pixels, sizeof(*value));
	for (size_t y = 0; y < frame->head.h; y++)
		for (size_t x = 0; x < frame->head.w; x++) {
			float v = frame_floats(frame, 0, y)[x];

			if (isfinite(v))
				value[n++] = v;
		}
	colormap_range(map, value, n, ends);
	free(value);
	*range = (struct sample_range){ RANGE_GIVEN, ends[0], ends[1] };
	return 0;
}

/* The line that maps the first colour, 0, and the last one, 1, to the ends of the range. */
static int
find_colour_line(struct run *run, const struct frame *frame, enum colormap map,
    struct sample_range range, struct line **line)
{
	if (range.kind == RANGE_NONE && map == COLORMAP_PHASE)
		range = (struct sample_range){ RANGE_GIVEN, -M_PI, M_PI };
	if (range.kind == RANGE_NONE && find_percentiles(frame, map, &range) < 0)
		return -1;
	find_lines(run, frame, range, 1.0, line);
	if (range.kind == RANGE_AUTO && map == COLORMAP_DEVIATION) {
		double low = (*line)->offset, high = low + (*line)->scale;
		double most = fmax(fabs(low), fabs(high));

		**line = (struct line){ 2.0 * most, -most };
	}
	return 0;
}

/* The head of the picture; ends: of the range, may be NULL. */
static void
picture_head(const struct frame *frame, const char *map, const double ends[2],
    struct frame_head *head)
{
	head_copy(head, &frame->head);
	head->type = SAMPLE_UCHAR;
	remove_keys(&head->meta);
	meta_remove(&head->meta, "max_value");
	head_set_channels(head, "r g b");
	meta_set(&head->meta, "colormap", map);
	if (ends)
		meta_set_numbers(&head->meta, "colormap_range", ends, 2);
}

/*
 * Paints the one channel of a float frame, as r g b. The range is by default -pi to pi for the map
 * phase, and the 1st to the 99th percentile for the others (colormap.h). The map phase is cyclic;
 * the others are clamped. ends: the values of the first and the last colour.
 */
static int
convert_colour(struct run *run, struct frame **frame, const struct painting *painting,
    double ends[2])
{
	enum colormap map = painting->map;
	struct conversion conversion = { .row = framecat_rows()->colour, .map = map,
		.nan = painting->nan };
	struct frame_head head;
	int status;

	if (find_colour_line(run, *frame, map, painting->range, &conversion.line) < 0)
		return -1;
	ends[0] = conversion.line->offset;
	ends[1] = conversion.line->offset + conversion.line->scale;
	picture_head(*frame, colormap_names[map], ends, &head);
	status = convert(run, frame, 0, &head, &conversion);
	free(conversion.line);
	return status;
}

/* Paints labels, whole numbers from 1 up, each in a colour of its own; 0 and NaN in that of NaN. */
static int
convert_labels(struct run *run, struct frame **frame, const struct painting *painting)
{
	struct conversion conversion = { .row = framecat_rows()->labels, .nan = painting->nan };
	struct frame_head head;

	for (size_t y = 0; y < (*frame)->head.h; y++)
		for (size_t x = 0; x < (*frame)->head.w; x++) {
			float v = frame_floats(*frame, 0, y)[x];

			if (v < 0 || v > floorf(v))
				return fail("--colormap", "labels are whole numbers from 0 on, and "
				    "pixel (%zu, %zu) of %s is %g", x, y,
				    (*frame)->head.channel[0], (double)v);
		}
	picture_head(*frame, "labels", NULL, &head);
	return convert(run, frame, 0, &head, &conversion);
}

/* ---- --colormap, and the surroundings of the picture: --bar, --scale-bar, --axes ---- */

#define PAINT_LABELS (COLORMAP_DEVIATION + 1)	/* after the maps of colormap.h */

/* Labels have no range, and so no bar; pixels without one are grey. */
static int
init_labels(struct paint *paint, const struct paint_options *options,
    const struct sample_range *range)
{
	struct annotation *annotation = &paint->annotation;

	if (range->kind != RANGE_NONE || options->bar)
		return fail_usage(options->bar ? "--bar" : "--scale", "does not go with --colormap "
		    "labels, which have no range");
	paint->painting.labels = true;
	if (colormap_nan(COLORMAP_GRAY, "--nan-colour", &options->nan, paint->painting.nan) < 0)
		return -1;
	for (size_t k = 0; k < 3 && !options->nan.n; k++)
		paint->painting.nan[k] = 0.5f;
	memcpy(annotation->nan, paint->painting.nan, sizeof(annotation->nan));
	return 0;
}

int
paint_init(struct paint *paint, const struct paint_options *options,
    const struct sample_range *range)
{
	struct annotation *annotation = &paint->annotation;
	const char *around = options->bar ? "--bar" : options->scale_bar ? "--scale-bar" :
	    options->axes ? "--axes" : options->nan.n ? "--nan-colour" : NULL;

	if (options->map < 0)
		return around ? fail_usage(around, "needs --colormap") : 0;
	annotation->bar = options->bar;
	annotation->scale_bar = options->scale_bar;
	annotation->axes = options->axes;
	if (options->map == PAINT_LABELS)
		return init_labels(paint, options, range);
	paint->painting.map = annotation->map = (enum colormap)options->map;
	paint->painting.range = *range;
	if (colormap_nan(annotation->map, "--nan-colour", &options->nan, paint->painting.nan) < 0)
		return -1;
	if (range->kind == RANGE_GIVEN && !ticks_range_fits(range->low, range->high))
		return fail_usage("--scale", "%.17g to %.17g is too narrow or too wide a range for "
		    "--colormap", range->low, range->high);
	if (range->kind == RANGE_GIVEN)
		colormap_check_white(annotation->map, "--scale", range->low, range->high);
	memcpy(annotation->nan, paint->painting.nan, sizeof(annotation->nan));
	return 0;
}

int
paint_measure(struct paint *paint, const struct frame *frame, size_t bin)
{
	struct annotation *annotation = &paint->annotation;
	const char *unit;

	if (!annotation->scale_bar || head_is_table(&frame->head))
		return 0;
	if (pixel_length_of(frame, &annotation->pixel_length, &unit) < 0)
		return -1;
	annotation->pixel_length *= (double)bin;
	snprintf(annotation->length_unit, sizeof(annotation->length_unit), "%s", unit ? unit : "");
	return 0;
}

/* Names the channel and its unit; scaled samples are not in that unit. */
static void
set_title(struct annotation *annotation, const struct frame_head *head)
{
	const char *name = head->channel[0];

	annotation_set_title(annotation, name,
	    meta_get(&head->meta, "sample_scale") ? "samples" : quantity_unit(head, name));
}

int
paint_frame(struct run *run, struct paint *paint, struct frame **frame)
{
	struct annotation *annotation = &paint->annotation;
	bool annotates = annotation->bar || annotation->scale_bar || annotation->axes;
	double ends[2];

	if (annotates && head_is_table(&(*frame)->head))
		return fail(annotation->bar ? "--bar" : annotation->axes ? "--axes" : "--scale-bar",
		    "is for images, the input is a table");
	if ((*frame)->head.c != 1)
		return fail("--colormap", "paints one channel, the input has %zu: choose with "
		    "--channels", (*frame)->head.c);
	if (annotates) {
		set_title(annotation, &(*frame)->head);
		annotation_set_spacing(annotation, &(*frame)->head);
	}
	if (paint->painting.labels) {
		if (convert_labels(run, frame, &paint->painting) < 0)
			return -1;
	} else {
		if (convert_colour(run, frame, &paint->painting, ends) < 0)
			return -1;
		annotation->low = ends[0];
		annotation->high = ends[1];
	}
	return annotates ? annotate(frame, annotation) : 0;
}
