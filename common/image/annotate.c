/* Colour bar, scale bar and axes around a picture: first the layout, then the drawing. */
#include "image/annotate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "image/canvas.h"
#include "image/ticks.h"

#define LABEL_MOST 9		/* characters of a number of the bar */
#define TITLE_MOST 24

static const unsigned char paper[3] = { 255, 255, 255 }, ink[3] = { 24, 24, 24 };

/* Lengths in pixels; a place is that of the left upper corner. */
struct layout {
	size_t scale;			/* of the letters; all other lengths grow with it */
	size_t letter, line;		/* width of a letter with its gap; height of a line */
	size_t w, h;			/* of the picture */
	struct canvas_place picture, bar, scale_bar;
	size_t bar_w, bar_h;
	size_t target;			/* the longest scale bar */
	double step[2];			/* distance of the axes' ticks, in their unit */
	double spacing[2];		/* length of a pixel; 1: they count pixels */
	char title[2][32];		/* of the axes */
	size_t canvas_w, canvas_h;
};

void
annotation_set_title(struct annotation *annotation, const char *name, const char *unit)
{
	snprintf(annotation->title, sizeof(annotation->title), unit ? "%s (%.30s)" : "%s", name,
	    unit);
}

void
annotation_set_spacing(struct annotation *annotation, const struct frame_head *head)
{
	memcpy(annotation->spacing, head->spacing, sizeof(annotation->spacing));
	memcpy(annotation->spacing_unit, head->unit, sizeof(annotation->spacing_unit));
}

/* ---- layout ---- */

static size_t
most(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* The widest number of an axis, in characters. */
static size_t
widest_label(const struct layout *layout, int axis)
{
	double last = ((double)(axis ? layout->h : layout->w) - 1) * layout->spacing[axis];
	char text[32];

	ticks_text(floor(last / layout->step[axis]) * layout->step[axis], layout->step[axis], text);
	return strlen(text);
}

/* Ticks so far apart that their numbers keep a distance; a pixel at least where they count these.
 */
static void
choose_ticks(struct layout *layout, int axis)
{
	double pixels = (double)(axis ? layout->h : layout->w), spacing = layout->spacing[axis];
	bool counts = spacing == 1;

	for (double n = fmin(10, pixels); ; n = fmin(n * 0.7, n - 1)) {
		double step, apart, room;

		if (n < 1)
			n = 0.5;
		step = ticks_step(0, pixels * spacing, n);
		layout->step[axis] = counts ? fmax(step, 1) : step;
		apart = layout->step[axis] / spacing;
		room = axis ? 2.0 * (double)layout->line :
		    (double)((widest_label(layout, axis) + 2) * layout->letter);
		if (apart >= room || n < 1)
			return;
	}
}

static void
plan_axes(struct layout *layout, const struct annotation *annotation)
{
	bool measured = annotation->spacing[0] > 0 && annotation->spacing[1] > 0;
	const char *unit = measured ? annotation->spacing_unit : "px";

	for (int axis = 0; axis < 2; axis++) {
		const char *name = measured ? (axis ? "y" : "x") : axis ? "row" : "column";

		layout->spacing[axis] = measured ? annotation->spacing[axis] : 1;
		snprintf(layout->title[axis], sizeof(layout->title[axis]),
		    *unit ? "%s (%s)" : "%s", name, unit);
		choose_ticks(layout, axis);
	}
}

static size_t
bar_title_letters(const struct annotation *annotation)
{
	size_t n = font_length(annotation->title);

	return n > TITLE_MOST ? TITLE_MOST : n;
}

static void
plan(struct layout *layout, const struct annotation *annotation, size_t w, size_t h)
{
	size_t s = ((w < h ? w : h) + 160) / 320, left, top, right, below = 0, across = w, down = h;
	size_t half = 0;		/* of a number below the picture */

	s = s < 1 ? 1 : s;
	*layout = (struct layout){ .scale = s, .letter = FONT_ADVANCE * s, .line = FONT_HEIGHT * s,
		.w = w, .h = h };
	left = right = top = 4 * s;
	if (annotation->axes) {
		plan_axes(layout, annotation);
		left += layout->line + 6 * s + widest_label(layout, 1) * layout->letter + 3 * s;
		half = (widest_label(layout, 0) + 1) * layout->letter / 2;
		top += layout->line / 2;
		below = 6 * s + layout->line + 5 * s + layout->line;
		across = most(across, strlen(layout->title[0]) * layout->letter);
		down = most(down, strlen(layout->title[1]) * layout->letter);
	}
	if (annotation->scale_bar) {
		layout->target = most(w * 3 / 10 < 200 * s ? w * 3 / 10 : 200 * s, 30 * s);
		across = most(across, layout->target + (8 + font_length(annotation->length_unit)) *
		    layout->letter);
		layout->scale_bar.y = (ptrdiff_t)(below + 6 * s);
		below += 6 * s + layout->line;
	}
	if (annotation->bar) {
		top = 4 * s + layout->line + 8 * s;
		layout->bar_w = 10 * s;
		layout->bar_h = most(h, 8 * layout->line);
		down = most(down, layout->bar_h);
		below = most(below, 6 * s + layout->line + 3 * s + layout->line);
		layout->bar = (struct canvas_place){ (ptrdiff_t)(left + across + most(8 * s,
		    half + layout->letter)), (ptrdiff_t)top };
		right = (size_t)layout->bar.x - left - across + 4 * s +
		    most(layout->bar_w + 5 * s + LABEL_MOST * layout->letter,
			bar_title_letters(annotation) * layout->letter);
	} else {
		right += half;
	}
	layout->picture = (struct canvas_place){ (ptrdiff_t)left, (ptrdiff_t)top };
	layout->scale_bar.x = (ptrdiff_t)left;
	layout->scale_bar.y += (ptrdiff_t)(top + down);
	layout->canvas_w = left + across + right;
	layout->canvas_h = top + down + below + 4 * s;
}

/* ---- the bar ---- */

/* A number of the bar, with fewer decimals where it would be too long. */
static void
bar_text(double v, int decimals, char text[32])
{
	do
		snprintf(text, 32, "%.*f", decimals, v);
	while (strlen(text) > LABEL_MOST && decimals-- > 0);
	if (text[0] == '-' && strspn(text + 1, "0.") == strlen(text + 1))
		memmove(text, text + 1, strlen(text));		/* no -0 */
}

/* Numbers of the bar are multiples of 10^(it): 0 unless they were long otherwise. */
static int
bar_exponent(const struct annotation *annotation)
{
	double largest = fmax(fabs(annotation->low), fabs(annotation->high));

	if (largest == 0 || !isfinite(largest) || (largest >= 1e-2 && largest < 1e5))
		return 0;
	return 3 * (int)floor(log10(largest) / 3);
}

static void
draw_bar_tick(struct frame *frame, const struct layout *layout, double share, double v,
    int decimals)
{
	size_t s = layout->scale;
	ptrdiff_t x = layout->bar.x + (ptrdiff_t)layout->bar_w;
	ptrdiff_t y = layout->bar.y + (ptrdiff_t)floor((1 - share) * (double)layout->bar_h);
	ptrdiff_t last = layout->bar.y + (ptrdiff_t)(layout->bar_h - s);
	char text[32];

	bar_text(v, decimals, text);
	canvas_fill(frame, (struct canvas_place){ x, y > last ? last : y }, 3 * s, s, ink);
	canvas_text(frame, (struct canvas_place){ x + (ptrdiff_t)(5 * s),
	    y - (ptrdiff_t)(layout->line / 2) }, CANVAS_LEFT, s, ink, text);
}

/* The range's ends, and round numbers where these leave room. */
static void
draw_bar_numbers(struct frame *frame, const struct layout *layout,
    const struct annotation *annotation)
{
	double factor = pow(10, bar_exponent(annotation));
	double low = annotation->low / factor, high = annotation->high / factor;
	double least = fmin(low, high), largest = fmax(low, high);
	double n = fmin(8, (double)layout->bar_h / (double)(3 * layout->line));
	double room = 1.4 * (double)layout->line / (double)layout->bar_h, step;
	struct ticks ticks;

	if (!(largest > least) || !isfinite(largest - least))
		return;
	step = ticks_step(least, largest, n);
	ticks = ticks_between(least, largest, step);
	draw_bar_tick(frame, layout, 0, low, ticks_decimals(step) + 1);
	draw_bar_tick(frame, layout, 1, high, ticks_decimals(step) + 1);
	for (size_t i = 0; i < ticks.n; i++) {
		double v = ticks_value(&ticks, i), share = (v - low) / (high - low);

		if (share > room && share < 1 - room)
			draw_bar_tick(frame, layout, share, v, ticks_decimals(step));
	}
}

static void
levels_of(const float rgb[3], unsigned char level[3])
{
	for (int k = 0; k < 3; k++)
		level[k] = (unsigned char)(rgb[k] * 255.0f + 0.5f);
}

/* Below the bar: the power of ten of its numbers, and the colour of NaN. */
static void
draw_bar_foot(struct frame *frame, const struct layout *layout,
    const struct annotation *annotation)
{
	ptrdiff_t s = (ptrdiff_t)layout->scale, line = (ptrdiff_t)layout->line;
	struct canvas_place at = { layout->bar.x,
		layout->bar.y + (ptrdiff_t)layout->bar_h + 6 * s };
	int exponent = bar_exponent(annotation);
	unsigned char level[3];
	char text[32];

	snprintf(text, sizeof(text), "x 1e%d", exponent);
	if (exponent)
		canvas_text(frame, at, CANVAS_LEFT, layout->scale, ink, text);
	at.y += line + 3 * s;
	levels_of(annotation->nan, level);
	canvas_fill(frame, at, layout->bar_w, layout->line, level);
	canvas_outline(frame, at, layout->bar_w, layout->line, layout->scale, ink);
	at.x += (ptrdiff_t)layout->bar_w + 5 * s;
	canvas_text(frame, at, CANVAS_LEFT, layout->scale, ink, "NaN");
}

static void
draw_bar(struct frame *frame, const struct layout *layout, const struct annotation *annotation)
{
	char title[sizeof(annotation->title)];
	const char *end = annotation->title;
	size_t s = layout->scale;

	for (size_t i = 0; i < layout->bar_h; i++) {
		float t = 1 - ((float)i + 0.5f) / (float)layout->bar_h, rgb[3];
		unsigned char level[3];

		colormap_rgb(annotation->map, t, rgb);
		levels_of(rgb, level);
		canvas_fill(frame, (struct canvas_place){ layout->bar.x,
		    layout->bar.y + (ptrdiff_t)i }, layout->bar_w, 1, level);
	}
	canvas_outline(frame, (struct canvas_place){ layout->bar.x - (ptrdiff_t)s,
	    layout->bar.y - (ptrdiff_t)s }, layout->bar_w + 2 * s, layout->bar_h + 2 * s, s, ink);
	draw_bar_numbers(frame, layout, annotation);
	draw_bar_foot(frame, layout, annotation);
	for (size_t n = bar_title_letters(annotation); n > 0; n--)
		font_next(&end);
	snprintf(title, sizeof(title), "%.*s", (int)(end - annotation->title), annotation->title);
	canvas_text(frame, (struct canvas_place){ layout->bar.x, 4 * (ptrdiff_t)s }, CANVAS_LEFT, s,
	    ink, title);
}

/* ---- the axes ---- */

static void
draw_axis(struct frame *frame, const struct layout *layout, int axis)
{
	ptrdiff_t s = (ptrdiff_t)layout->scale, line = (ptrdiff_t)layout->line;
	double last = (double)(axis ? layout->h : layout->w) - 1;
	ptrdiff_t x = layout->picture.x, bottom = layout->picture.y + (ptrdiff_t)layout->h;
	double step = layout->step[axis] / layout->spacing[axis];	/* in pixels */
	struct ticks ticks = ticks_between(0, last, step);
	ptrdiff_t middle;

	for (size_t i = 0; i < ticks.n; i++) {
		ptrdiff_t at = (ptrdiff_t)floor(ticks_value(&ticks, i) + 0.5);
		char text[32];

		ticks_text((double)i * layout->step[axis], layout->step[axis], text);
		if (axis) {
			at += layout->picture.y;
			canvas_fill(frame, (struct canvas_place){ x - 3 * s, at - s / 2 },
			    2 * layout->scale, layout->scale, ink);
			canvas_text(frame, (struct canvas_place){ x - 5 * s, at - line / 2 },
			    CANVAS_RIGHT, layout->scale, ink, text);
		} else {
			at += x;
			canvas_fill(frame, (struct canvas_place){ at - s / 2, bottom + s },
			    layout->scale, 2 * layout->scale, ink);
			canvas_text(frame, (struct canvas_place){ at, bottom + 6 * s },
			    CANVAS_CENTRE, layout->scale, ink, text);
		}
	}
	middle = (ptrdiff_t)most(axis ? layout->h : layout->w, strlen(layout->title[axis]) *
	    layout->letter) / 2;
	if (axis)
		canvas_text_upright(frame, (struct canvas_place){ 4 * s,
		    layout->picture.y + middle }, layout->scale, ink, layout->title[1]);
	else
		canvas_text(frame, (struct canvas_place){ x + middle, bottom + 11 * s + line },
		    CANVAS_CENTRE, layout->scale, ink, layout->title[0]);
}

/* ---- the scale bar ---- */

static void
draw_scale_bar(struct frame *frame, const struct layout *layout,
    const struct annotation *annotation)
{
	size_t s = layout->scale, w;
	double longest = annotation->pixel_length * (double)layout->target, length;
	struct canvas_place at = layout->scale_bar;
	char text[64];

	if (!(longest > 0) || !isfinite(longest))
		return;
	length = ticks_step(0, longest, 1);
	for (double n = 1.25; length > longest * (1 + 1e-9); n *= 1.25)
		length = ticks_step(0, longest, n);
	w = (size_t)(length / annotation->pixel_length + 0.5);
	canvas_fill(frame, at, s, layout->line, ink);
	canvas_fill(frame, (struct canvas_place){ at.x + (ptrdiff_t)(w - s), at.y }, s,
	    layout->line, ink);
	canvas_fill(frame, (struct canvas_place){ at.x, at.y + (ptrdiff_t)(3 * s) }, w, s, ink);
	snprintf(text, sizeof(text), *annotation->length_unit ? "%g %s" : "%g", length,
	    annotation->length_unit);
	canvas_text(frame, (struct canvas_place){ at.x + (ptrdiff_t)(w + layout->letter), at.y },
	    CANVAS_LEFT, s, ink, text);
}

/* ---- all of it ---- */

static void
copy_picture(struct frame *frame, const struct layout *layout, const struct frame *picture)
{
	for (size_t y = 0; y < layout->h; y++)
		for (size_t k = 0; k < 3; k++)
			memcpy((unsigned char *)frame_row(frame, k,
			    (size_t)layout->picture.y + y) + layout->picture.x,
			    frame_row(picture, k, y), layout->w);
}

static int
set_head(struct frame_head *head, const struct layout *layout)
{
	head->w = layout->canvas_w;
	head->h = layout->canvas_h;
	meta_remove(&head->meta, "origin_px");
	meta_remove(&head->meta, "bin");
	return meta_set_numbers(&head->meta, "picture_px", (double[4]){
	    (double)layout->picture.x, (double)layout->picture.y, (double)layout->w,
	    (double)layout->h }, 4);
}

int
annotate(struct frame **picture, const struct annotation *annotation)
{
	struct layout layout;
	struct frame_head head;
	struct frame *frame;
	int status;

	if (head_copy(&head, &(*picture)->head) < 0)
		return -1;
	plan(&layout, annotation, head.w, head.h);
	status = set_head(&head, &layout);
	if (status == 0)
		status = frame_new(&head, &frame);
	head_free(&head);
	if (status < 0)
		return -1;
	canvas_fill(frame, (struct canvas_place){ 0, 0 }, layout.canvas_w, layout.canvas_h, paper);
	copy_picture(frame, &layout, *picture);
	for (int axis = 0; axis < 2 && annotation->axes; axis++)
		draw_axis(frame, &layout, axis);
	if (annotation->bar)
		draw_bar(frame, &layout, annotation);
	if (annotation->scale_bar)
		draw_scale_bar(frame, &layout, annotation);
	frame_free(*picture);
	*picture = frame;
	return 0;
}
