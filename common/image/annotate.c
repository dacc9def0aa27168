/*
 * Labels on images: colour bars, ticks and text on a canvas of pixels. Letters are those of plots,
 * drawn by cairo, or of a built-in font where cairo is missing; the room for both is the same.
 */
#include "image/annotate.h"

#include <math.h>
#include <stdio.h>

#include "base/process.h"

#define FONT_WIDTH 5
#define FONT_HEIGHT 7
#define FONT_ADVANCE 6			/* from one character to the next */

/* From the blank to ~, and the micro sign. */
static const uint8_t glyphs[][FONT_HEIGHT] = {
	{ 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00 },	/* space */
	{ 0x04, 0x04, 0x04, 0x04, 0x04, 0x00, 0x04 },	/* ! */
	{ 0x0a, 0x0a, 0x0a, 0x00, 0x00, 0x00, 0x00 },	/* " */
	{ 0x0a, 0x0a, 0x1f, 0x0a, 0x1f, 0x0a, 0x0a },	/* # */
	{ 0x04, 0x0f, 0x14, 0x0e, 0x05, 0x1e, 0x04 },	/* $ */
	{ 0x19, 0x19, 0x02, 0x04, 0x08, 0x13, 0x13 },	/* % */
	{ 0x0c, 0x12, 0x14, 0x08, 0x15, 0x12, 0x0d },	/* & */
	{ 0x04, 0x04, 0x04, 0x00, 0x00, 0x00, 0x00 },	/* ' */
	{ 0x02, 0x04, 0x08, 0x08, 0x08, 0x04, 0x02 },	/* ( */
	{ 0x08, 0x04, 0x02, 0x02, 0x02, 0x04, 0x08 },	/* ) */
	{ 0x00, 0x04, 0x15, 0x0e, 0x15, 0x04, 0x00 },	/* * */
	{ 0x00, 0x04, 0x04, 0x1f, 0x04, 0x04, 0x00 },	/* + */
	{ 0x00, 0x00, 0x00, 0x00, 0x06, 0x02, 0x04 },	/* , */
	{ 0x00, 0x00, 0x00, 0x1f, 0x00, 0x00, 0x00 },	/* - */
	{ 0x00, 0x00, 0x00, 0x00, 0x00, 0x0c, 0x0c },	/* . */
	{ 0x01, 0x01, 0x02, 0x04, 0x08, 0x10, 0x10 },	/* / */
	{ 0x0e, 0x11, 0x13, 0x15, 0x19, 0x11, 0x0e },	/* 0 */
	{ 0x04, 0x0c, 0x04, 0x04, 0x04, 0x04, 0x0e },	/* 1 */
	{ 0x0e, 0x11, 0x01, 0x02, 0x04, 0x08, 0x1f },	/* 2 */
	{ 0x1f, 0x02, 0x04, 0x02, 0x01, 0x11, 0x0e },	/* 3 */
	{ 0x02, 0x06, 0x0a, 0x12, 0x1f, 0x02, 0x02 },	/* 4 */
	{ 0x1f, 0x10, 0x1e, 0x01, 0x01, 0x11, 0x0e },	/* 5 */
	{ 0x06, 0x08, 0x10, 0x1e, 0x11, 0x11, 0x0e },	/* 6 */
	{ 0x1f, 0x01, 0x02, 0x04, 0x08, 0x08, 0x08 },	/* 7 */
	{ 0x0e, 0x11, 0x11, 0x0e, 0x11, 0x11, 0x0e },	/* 8 */
	{ 0x0e, 0x11, 0x11, 0x0f, 0x01, 0x02, 0x0c },	/* 9 */
	{ 0x00, 0x0c, 0x0c, 0x00, 0x0c, 0x0c, 0x00 },	/* : */
	{ 0x00, 0x0c, 0x0c, 0x00, 0x0c, 0x04, 0x08 },	/* ; */
	{ 0x02, 0x04, 0x08, 0x10, 0x08, 0x04, 0x02 },	/* < */
	{ 0x00, 0x00, 0x1f, 0x00, 0x1f, 0x00, 0x00 },	/* = */
	{ 0x08, 0x04, 0x02, 0x01, 0x02, 0x04, 0x08 },	/* > */
	{ 0x0e, 0x11, 0x01, 0x02, 0x04, 0x00, 0x04 },	/* ? */
	{ 0x0e, 0x11, 0x01, 0x0d, 0x15, 0x15, 0x0e },	/* @ */
	{ 0x0e, 0x11, 0x11, 0x1f, 0x11, 0x11, 0x11 },	/* A */
	{ 0x1e, 0x11, 0x11, 0x1e, 0x11, 0x11, 0x1e },	/* B */
	{ 0x0e, 0x11, 0x10, 0x10, 0x10, 0x11, 0x0e },	/* C */
	{ 0x1c, 0x12, 0x11, 0x11, 0x11, 0x12, 0x1c },	/* D */
	{ 0x1f, 0x10, 0x10, 0x1e, 0x10, 0x10, 0x1f },	/* E */
	{ 0x1f, 0x10, 0x10, 0x1e, 0x10, 0x10, 0x10 },	/* F */
	{ 0x0e, 0x11, 0x10, 0x17, 0x11, 0x11, 0x0f },	/* G */
	{ 0x11, 0x11, 0x11, 0x1f, 0x11, 0x11, 0x11 },	/* H */
	{ 0x0e, 0x04, 0x04, 0x04, 0x04, 0x04, 0x0e },	/* I */
	{ 0x07, 0x02, 0x02, 0x02, 0x02, 0x12, 0x0c },	/* J */
	{ 0x11, 0x12, 0x14, 0x18, 0x14, 0x12, 0x11 },	/* K */
	{ 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x1f },	/* L */
	{ 0x11, 0x1b, 0x15, 0x15, 0x11, 0x11, 0x11 },	/* M */
	{ 0x11, 0x11, 0x19, 0x15, 0x13, 0x11, 0x11 },	/* N */
	{ 0x0e, 0x11, 0x11, 0x11, 0x11, 0x11, 0x0e },	/* O */
	{ 0x1e, 0x11, 0x11, 0x1e, 0x10, 0x10, 0x10 },	/* P */
	{ 0x0e, 0x11, 0x11, 0x11, 0x15, 0x12, 0x0d },	/* Q */
	{ 0x1e, 0x11, 0x11, 0x1e, 0x14, 0x12, 0x11 },	/* R */
	{ 0x0f, 0x10, 0x10, 0x0e, 0x01, 0x01, 0x1e },	/* S */
	{ 0x1f, 0x04, 0x04, 0x04, 0x04, 0x04, 0x04 },	/* T */
	{ 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x0e },	/* U */
	{ 0x11, 0x11, 0x11, 0x11, 0x11, 0x0a, 0x04 },	/* V */
	{ 0x11, 0x11, 0x11, 0x15, 0x15, 0x15, 0x0a },	/* W */
	{ 0x11, 0x11, 0x0a, 0x04, 0x0a, 0x11, 0x11 },	/* X */
	{ 0x11, 0x11, 0x11, 0x0a, 0x04, 0x04, 0x04 },	/* Y */
	{ 0x1f, 0x01, 0x02, 0x04, 0x08, 0x10, 0x1f },	/* Z */
	{ 0x0e, 0x08, 0x08, 0x08, 0x08, 0x08, 0x0e },	/* [ */
	{ 0x10, 0x10, 0x08, 0x04, 0x02, 0x01, 0x01 },	/* \ */
	{ 0x0e, 0x02, 0x02, 0x02, 0x02, 0x02, 0x0e },	/* ] */
	{ 0x04, 0x0a, 0x11, 0x00, 0x00, 0x00, 0x00 },	/* ^ */
	{ 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x1f },	/* _ */
	{ 0x08, 0x04, 0x02, 0x00, 0x00, 0x00, 0x00 },	/* ` */
	{ 0x00, 0x00, 0x0e, 0x01, 0x0f, 0x11, 0x0f },	/* a */
	{ 0x10, 0x10, 0x16, 0x19, 0x11, 0x11, 0x1e },	/* b */
	{ 0x00, 0x00, 0x0e, 0x10, 0x10, 0x11, 0x0e },	/* c */
	{ 0x01, 0x01, 0x0d, 0x13, 0x11, 0x11, 0x0f },	/* d */
	{ 0x00, 0x00, 0x0e, 0x11, 0x1f, 0x10, 0x0e },	/* e */
	{ 0x06, 0x09, 0x08, 0x1c, 0x08, 0x08, 0x08 },	/* f */
	{ 0x00, 0x0f, 0x11, 0x11, 0x0f, 0x01, 0x0e },	/* g */
	{ 0x10, 0x10, 0x16, 0x19, 0x11, 0x11, 0x11 },	/* h */
	{ 0x04, 0x00, 0x0c, 0x04, 0x04, 0x04, 0x0e },	/* i */
	{ 0x02, 0x00, 0x06, 0x02, 0x02, 0x12, 0x0c },	/* j */
	{ 0x10, 0x10, 0x12, 0x14, 0x18, 0x14, 0x12 },	/* k */
	{ 0x0c, 0x04, 0x04, 0x04, 0x04, 0x04, 0x0e },	/* l */
	{ 0x00, 0x00, 0x1a, 0x15, 0x15, 0x11, 0x11 },	/* m */
	{ 0x00, 0x00, 0x16, 0x19, 0x11, 0x11, 0x11 },	/* n */
	{ 0x00, 0x00, 0x0e, 0x11, 0x11, 0x11, 0x0e },	/* o */
	{ 0x00, 0x00, 0x1e, 0x11, 0x1e, 0x10, 0x10 },	/* p */
	{ 0x00, 0x00, 0x0d, 0x13, 0x0f, 0x01, 0x01 },	/* q */
	{ 0x00, 0x00, 0x16, 0x19, 0x10, 0x10, 0x10 },	/* r */
	{ 0x00, 0x00, 0x0f, 0x10, 0x0e, 0x01, 0x1e },	/* s */
	{ 0x08, 0x08, 0x1c, 0x08, 0x08, 0x09, 0x06 },	/* t */
	{ 0x00, 0x00, 0x11, 0x11, 0x11, 0x13, 0x0d },	/* u */
	{ 0x00, 0x00, 0x11, 0x11, 0x11, 0x0a, 0x04 },	/* v */
	{ 0x00, 0x00, 0x11, 0x11, 0x15, 0x15, 0x0a },	/* w */
	{ 0x00, 0x00, 0x11, 0x0a, 0x04, 0x0a, 0x11 },	/* x */
	{ 0x00, 0x00, 0x11, 0x11, 0x0f, 0x01, 0x0e },	/* y */
	{ 0x00, 0x00, 0x1f, 0x02, 0x04, 0x08, 0x1f },	/* z */
	{ 0x02, 0x04, 0x04, 0x08, 0x04, 0x04, 0x02 },	/* { */
	{ 0x04, 0x04, 0x04, 0x04, 0x04, 0x04, 0x04 },	/* | */
	{ 0x08, 0x04, 0x04, 0x02, 0x04, 0x04, 0x08 },	/* } */
	{ 0x00, 0x00, 0x08, 0x15, 0x02, 0x00, 0x00 },	/* ~ */
	{ 0x00, 0x00, 0x11, 0x11, 0x13, 0x1d, 0x10 },	/* micro sign */
};

#define FIRST ' '
#define LAST '~'

/* Is it a byte that goes on with a character of UTF-8? */
static bool
continues(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

/* How many characters a text in UTF-8 has. */
static size_t
font_length(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += !continues(*text);
	return n;
}

/*
 * The next character of a text, which moves on: FONT_HEIGHT rows from the top, in each of which bit
 * FONT_WIDTH - 1 is the left pixel. A question mark where the font lacks it; NULL at the end.
 */
static const uint8_t *
font_next(const char **text)
{
	const char *at = *text;
	bool micro = !strncmp(at, "\xc2\xb5", 2) || !strncmp(at, "\xce\xbc", 2);

	if (!*at)
		return NULL;
	do
		++*text;
	while (continues(**text));
	if (micro)
		return glyphs[LAST - FIRST + 1];
	return glyphs[(*at >= FIRST && *at <= LAST ? *at : '?') - FIRST];
}

struct canvas_place {
	ptrdiff_t x, y;
};

enum canvas_align { CANVAS_LEFT, CANVAS_CENTRE, CANVAS_RIGHT, CANVAS_UPRIGHT };

static ptrdiff_t
within(ptrdiff_t v, size_t end)
{
	return v < 0 ? 0 : v > (ptrdiff_t)end ? (ptrdiff_t)end : v;
}

/* Fills w x h pixels from `at` on. */
static void
canvas_fill(struct frame *frame, struct canvas_place at, size_t w, size_t h,
    const unsigned char rgb[3])
{
	size_t x0 = (size_t)within(at.x, frame->head.w);
	size_t x1 = (size_t)within(at.x + (ptrdiff_t)w, frame->head.w);
	size_t y0 = (size_t)within(at.y, frame->head.h);
	size_t y1 = (size_t)within(at.y + (ptrdiff_t)h, frame->head.h);

	for (size_t y = y0; y < y1; y++)
		for (size_t k = 0; k < 3; k++)
			memset((unsigned char *)frame_row(frame, k, y) + x0, rgb[k], x1 - x0);
}

/* Their outline, of this thickness, drawn inside of them. */
static void
canvas_outline(struct frame *frame, struct canvas_place at, size_t w, size_t h, size_t thick,
    const unsigned char rgb[3])
{
	struct canvas_place right = { at.x + (ptrdiff_t)w - (ptrdiff_t)thick, at.y };
	struct canvas_place below = { at.x, at.y + (ptrdiff_t)h - (ptrdiff_t)thick };

	canvas_fill(frame, at, w, thick, rgb);
	canvas_fill(frame, below, w, thick, rgb);
	canvas_fill(frame, at, thick, h, rgb);
	canvas_fill(frame, right, thick, h, rgb);
}

/* A line of text: rows of w pixels, each a share of 255 that ink covers. */
struct letters {
	size_t w, h, margin;	/* the margin lies above a digit, and below */
	unsigned char *cover;
};

static struct letters
letters_of_built_in(size_t scale, const char *text)
{
	size_t w = font_length(text) * FONT_ADVANCE * scale, h = FONT_HEIGHT * scale;
	struct letters letters = { w, h, 0, must_alloc(h, w + 1) };
	const uint8_t *glyph;

	for (size_t left = 0; (glyph = font_next(&text)); left += FONT_ADVANCE * scale)
		for (size_t y = 0; y < h; y++)
			for (size_t x = 0; x < FONT_WIDTH * scale; x++)
				if (glyph[y / scale] >> (FONT_WIDTH - 1 - x / scale) & 1)
					letters.cover[y * w + left + x] = 255;
	return letters;
}

static struct letters
letters_of(size_t scale, const char *text)
{
#ifdef WITH_CAIRO
	struct letters letters = { .h = (FONT_HEIGHT + 6) * scale, .margin = 3 * scale };

	letters.cover = drawing_letters(text, FONT_HEIGHT * scale, letters.margin,
	    font_length(text) * FONT_ADVANCE * scale + FONT_ADVANCE * scale / 2, &letters.w);
	if (letters.cover)
		return letters;
#endif
	return letters_of_built_in(scale, text);
}

/* Inks a pixel, if it is on the canvas. */
static void
canvas_blend(struct frame *frame, ptrdiff_t x, ptrdiff_t y, const unsigned char rgb[3],
    unsigned cover)
{
	if (x < 0 || y < 0 || (size_t)x >= frame->head.w || (size_t)y >= frame->head.h)
		return;
	for (size_t k = 0; k < 3; k++) {
		unsigned char *p = (unsigned char *)frame_row(frame, k, (size_t)y) + x;

		*p = (unsigned char)((*p * (255 - cover) + rgb[k] * cover + 127) / 255);
	}
}

/* A line of text with digits of FONT_HEIGHT times `scale` pixels; `at` is the top of its left end,
 * middle or right end; of an upright line, which is read from below, of its middle. */
static void
canvas_text(struct frame *frame, struct canvas_place at, enum canvas_align align, size_t scale,
    const unsigned char rgb[3], const char *text)
{
	struct letters letters = letters_of(scale, text);
	ptrdiff_t left = align == CANVAS_LEFT ? 0 : align == CANVAS_RIGHT ? (ptrdiff_t)letters.w :
	    (ptrdiff_t)letters.w / 2;

	for (size_t y = 0; y < letters.h; y++)
		for (size_t x = 0; x < letters.w; x++) {
			ptrdiff_t along = (ptrdiff_t)x - left;
			ptrdiff_t down = (ptrdiff_t)y - (ptrdiff_t)letters.margin;

			canvas_blend(frame, at.x + (align == CANVAS_UPRIGHT ? down : along),
			    at.y + (align == CANVAS_UPRIGHT ? -along : down), rgb,
			    letters.cover[y * letters.w + x]);
		}
	free(letters.cover);
}

#define MOST 1000		/* ticks */
#define NARROWEST 1e-12		/* range, of the larger of its ends */
#define SMALLEST 1e-300		/* range: its inverse is a number */
#define SLACK 1e-9		/* of a step, for rounding errors */

double
ticks_step(double low, double high, double n)
{
	double rough = (high - low) / n, power = pow(10, floor(log10(rough)));
	double factor = rough / power;

	return power * (factor < 1.5 ? 1 : factor < 3.5 ? 2 : factor < 7.5 ? 5 : 10);
}

bool
ticks_range_fits(double low, double high)
{
	double width = fabs(high - low);

	return isfinite(width) && width >= SMALLEST &&
	    width > NARROWEST * fmax(fabs(low), fabs(high));
}

struct ticks
ticks_between(double low, double high, double step)
{
	struct ticks ticks = { ceil(low / step - SLACK), step, 0 };

	if (!(step > 0) || !isfinite(step) || !isfinite(ticks.first))
		return ticks;
	while (ticks.n < MOST && ticks_value(&ticks, ticks.n) <= high + SLACK * step)
		ticks.n++;
	return ticks;
}

double
ticks_value(const struct ticks *ticks, size_t i)
{
	return (ticks->first + (double)i) * ticks->step;
}

/* The decimals that numbers at this distance need. */
static int
ticks_decimals(double step)
{
	return (int)fmax(0, -floor(log10(step) + 1e-9));
}

void
ticks_text(double v, double step, char text[32])
{
	int digits = ticks_decimals(step);

	if (fabs(v) < 1e-9 * step)
		v = 0;
	if (digits > 6 || fabs(v) >= 1e7)
		snprintf(text, 32, "%.4g", v);
	else
		snprintf(text, 32, "%.*f", digits, v);
}

/* ---- a colour bar, a scale bar and axes around a picture: layout, then drawing ---- */

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
		canvas_text(frame, (struct canvas_place){ 4 * s, layout->picture.y + middle },
		    CANVAS_UPRIGHT, layout->scale, ink, layout->title[1]);
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

int
annotate(struct frame **picture, const struct annotation *annotation)
{
	struct layout layout;
	struct frame_head head;
	struct frame *frame;

	head_copy(&head, &(*picture)->head);
	plan(&layout, annotation, head.w, head.h);
	head.w = layout.canvas_w;
	head.h = layout.canvas_h;
	meta_remove(&head.meta, "origin_px");
	meta_remove(&head.meta, "bin");
	meta_set_numbers(&head.meta, "picture_px", (double[4]){ (double)layout.picture.x,
	    (double)layout.picture.y, (double)layout.w, (double)layout.h }, 4);
	if (frame_new_if(0, &head, &frame) < 0)
		return -1;
	canvas_fill(frame, (struct canvas_place){ 0, 0 }, layout.canvas_w, layout.canvas_h, paper);
	for (size_t y = 0; y < layout.h; y++)
		for (size_t k = 0; k < 3; k++)
			memcpy((unsigned char *)frame_row(frame, k, (size_t)layout.picture.y + y) +
			    layout.picture.x, frame_row(*picture, k, y), layout.w);
	for (int axis = 0; axis < 2 && annotation->axes; axis++)
		draw_axis(frame, &layout, axis);
	if (annotation->bar)
		draw_bar(frame, &layout, annotation);
	if (annotation->scale_bar)
		draw_scale_bar(frame, &layout, annotation);
	frame_replace(picture, frame);
	return 0;
}

/* ---- how long a pixel is, by an option or by metadata ---- */

#define APART 0.01	/* a share: options are rounded */

bool
pixel_option_differs(const struct numbers *option, const struct frame_head *head)
{
	for (size_t i = 0; i < 2 && option->n; i++) {
		double given = option->v[i < option->n ? i : 0], own = head->spacing[i];

		if (!(own > 0) || fabs(given / own - 1) <= APART)
			continue;
		warn("--pixel", "says that %s are %g apart, the frame itself %g%s%s: the option "
		    "counts", i ? "rows" : "columns", given, own, *head->unit ? " " : "",
		    head->unit);
		return true;
	}
	return false;
}

/* The distances of neighbours in row y that both have points; how many there are. */
static size_t
row_distances(const struct frame *frame, const size_t channel[2], size_t y, float *distance)
{
	const float *px = frame_floats(frame, channel[0], y);
	const float *py = frame_floats(frame, channel[1], y);
	size_t n = 0;

	for (size_t x = 0; x + 1 < frame->head.w; x++) {
		float d = hypotf(px[x + 1] - px[x], py[x + 1] - py[x]);

		if (isfinite(d))
			distance[n++] = d;
	}
	return n;
}

static int
median_distance(const struct frame *frame, const size_t channel[2], double *length)
{
	size_t pixels, n = 0;
	float *distance, median;

	if (size_multiply(frame->head.w, frame->head.h, &pixels) < 0)
		return -1;
	distance = must_alloc(pixels, sizeof(*distance));
	for (size_t y = 0; y < frame->head.h; y++)
		n += row_distances(frame, channel, y, distance + n);
	median = numbers_median(distance, n);
	*length = median > 0 ? median : NAN;
	free(distance);
	return 0;
}

int
pixel_length_of(const struct frame *frame, double *length, const char **unit)
{
	const struct frame_head *head = &frame->head;
	size_t channel[2] = { head_channel(head, "x"), head_channel(head, "y") };

	if (head->spacing[0] > 0) {
		*length = head->spacing[0];
		*unit = *head->unit ? head->unit : NULL;
		return 0;
	}
	*unit = meta_get(&head->meta, "length_unit");
	if (head->type == SAMPLE_FLOAT && channel[0] != NO_CHANNEL && channel[1] != NO_CHANNEL)
		return median_distance(frame, channel, length);
	return fail("--scale-bar", "the length of a pixel is not known: the input has neither "
	    "spacings nor channels x y");
}
