/*
 * Pixel formats of videos: the mapping between their 8- to 16-bit levels and the planes of a frame.
 */
#include "codec/video/pixel_format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/numbers.h"

#define GREY(name, bits, big) { name, PIXEL_GREY, bits, 1, 1, 0, 0, { 0 }, big }
#define YUV(name, bits, x, y) { name, PIXEL_YUV, bits, 3, 1, x, y, { 0, 1, 2 }, false }
#define GBR(name, bits) { name, PIXEL_RGB, bits, 3, 1, 0, 0, { 2, 0, 1 }, false }
#define RGB(name, bits, n, r, g, b, a, big) \
	{ name, PIXEL_RGB, bits, 1, n, 0, 0, { r, g, b, a }, big }
#define NO_ALPHA 255

static const struct pixel_format formats[] = {
	GREY("gray", 8, false), GREY("gray10le", 10, false), GREY("gray12le", 12, false),
	GREY("gray16le", 16, false), GREY("gray16be", 16, true),
	YUV("yuv444p", 8, 0, 0), YUV("yuvj444p", 8, 0, 0), YUV("yuv444p10le", 10, 0, 0),
	YUV("yuv444p12le", 12, 0, 0),
	YUV("yuv422p", 8, 1, 0), YUV("yuvj422p", 8, 1, 0), YUV("yuv422p10le", 10, 1, 0),
	YUV("yuv422p12le", 12, 1, 0),
	YUV("yuv420p", 8, 1, 1), YUV("yuvj420p", 8, 1, 1), YUV("yuv420p10le", 10, 1, 1),
	YUV("yuv420p12le", 12, 1, 1),
	GBR("gbrp", 8), GBR("gbrp10le", 10), GBR("gbrp12le", 12),
	RGB("rgb24", 8, 3, 0, 1, 2, NO_ALPHA, false), RGB("bgr24", 8, 3, 2, 1, 0, NO_ALPHA, false),
	RGB("bgr0", 8, 4, 2, 1, 0, NO_ALPHA, false), RGB("rgb0", 8, 4, 0, 1, 2, NO_ALPHA, false),
	RGB("rgba", 8, 4, 0, 1, 2, 3, false), RGB("bgra", 8, 4, 2, 1, 0, 3, false),
	RGB("argb", 8, 4, 1, 2, 3, 0, false), RGB("rgb48be", 16, 3, 0, 1, 2, NO_ALPHA, true),
	RGB("rgba64be", 16, 4, 0, 1, 2, 3, true),
	{ 0 }
};

const struct pixel_format *
pixel_format_find(const char *name)
{
	for (const struct pixel_format *format = formats; format->name; format++)
		if (!strcmp(format->name, name))
			return format;
	return NULL;
}

size_t
pixel_format_channels(const struct pixel_format *format)
{
	if (format->planes == 1 && format->kind == PIXEL_RGB)
		return format->place[3] == NO_ALPHA ? 3 : 4;
	return format->planes;
}

/* ---- where samples lie ---- */

/* One channel in a picture. */
struct channel_place {
	size_t offset, row, step;	/* bytes, from row to row, in samples from pixel to pixel */
	size_t w, h;
	bool halved_x, halved_y;
};

static size_t
sample_bytes(const struct pixel_format *format)
{
	return format->bits > 8 ? 2 : 1;
}

static struct channel_place
find_place(const struct pixel_format *format, size_t w, size_t h, size_t c)
{
	size_t bytes = sample_bytes(format);
	struct channel_place place = { .w = w, .h = h, .step = format->samples };

	if (format->planes == 1) {
		place.offset = format->place[c] * bytes;
		place.row = w * format->samples * bytes;
		return place;
	}
	for (unsigned plane = 0; plane <= format->place[c]; plane++) {
		bool halved = plane > 0;

		place.offset += place.row * (plane ? place.h : 0);
		place.halved_x = halved && format->halved_x;
		place.halved_y = halved && format->halved_y;
		place.w = place.halved_x ? (w + 1) / 2 : w;
		place.h = place.halved_y ? (h + 1) / 2 : h;
		place.row = place.w * bytes;
	}
	return place;
}

int
pixel_format_bytes(const struct pixel_format *format, size_t w, size_t h, size_t *bytes)
{
	size_t most;

	/* what four samples a pixel and two bytes each would take must fit */
	if (size_multiply(w, h, &most) < 0 || size_multiply(most, 8, &most) < 0)
		return -1;
	if (format->planes == 1) {
		*bytes = w * h * format->samples * sample_bytes(format);
		return 0;
	}
	*bytes = w * h + 2 * (format->halved_x ? (w + 1) / 2 : w) *
	    (format->halved_y ? (h + 1) / 2 : h);
	*bytes *= sample_bytes(format);
	return 0;
}

static inline unsigned
get(const struct pixel_format *format, const unsigned char *row, size_t x)
{
	if (format->bits <= 8)
		return row[x];
	return format->big_endian ? (unsigned)(row[2 * x] << 8 | row[2 * x + 1]) :
	    (unsigned)(row[2 * x + 1] << 8 | row[2 * x]);
}

static inline void
put(const struct pixel_format *format, unsigned char *row, size_t x, unsigned v)
{
	if (format->bits <= 8) {
		row[x] = (unsigned char)v;
	} else {
		row[2 * x + !format->big_endian] = (unsigned char)(v >> 8);
		row[2 * x + format->big_endian] = (unsigned char)v;
	}
}

static inline unsigned
sample_of(const struct frame *frame, const void *row, size_t x)
{
	return frame->head.type == SAMPLE_UCHAR ? ((const uint8_t *)row)[x] :
	    ((const uint16_t *)row)[x];
}

static inline void
set_sample(const struct frame *frame, void *row, size_t x, unsigned v)
{
	if (frame->head.type == SAMPLE_UCHAR)
		((uint8_t *)row)[x] = (uint8_t)v;
	else
		((uint16_t *)row)[x] = (uint16_t)v;
}

/* Do rows of the channel lie in the picture as they do in a frame? */
static bool
is_plain(const struct pixel_format *format, const struct channel_place *place)
{
	return !place->halved_x && !place->halved_y && place->step == 1 && !format->big_endian;
}

/* ---- frames to pictures ---- */

/* The bits that samples of a row have set. */
static unsigned
row_bits(const struct frame *frame, const void *row)
{
	const uint16_t *of_two = row;
	const uint8_t *of_one = row;
	unsigned set = 0;

	if (frame->head.type == SAMPLE_USHORT)
		for (size_t x = 0; x < frame->head.w; x++)
			set |= of_two[x];
	else
		for (size_t x = 0; x < frame->head.w; x++)
			set |= of_one[x];
	return set;
}

static size_t
within(size_t at, size_t n)
{
	return at < n ? at : n - 1;
}

/* Returns the bits that the frame's samples have set. */
static unsigned
put_row(const struct pixel_format *format, const struct frame *frame, size_t c,
    const struct channel_place *place, size_t y, unsigned char *to)
{
	const struct frame_head *head = &frame->head;
	size_t step_y = place->halved_y ? 2 : 1, step_x = place->halved_x ? 2 : 1;
	const void *upper = frame_row(frame, c, within(y * step_y, head->h));
	const void *lower = frame_row(frame, c, within(y * step_y + step_y - 1, head->h));
	unsigned set = row_bits(frame, upper) | (step_y == 2 ? row_bits(frame, lower) : 0);

	if (is_plain(format, place) && place->w == head->w) {
		memcpy(to, upper, place->row);
		return set;
	}
	for (size_t x = 0; x < place->w; x++) {
		size_t left = within(x * step_x, head->w);
		size_t right = within(x * step_x + step_x - 1, head->w);
		/* of halves every other one goes up, or all would be brighter */
		unsigned up = (x + y) & 1;
		unsigned v = sample_of(frame, upper, left);

		if (step_x == 2 && step_y == 2)
			v = (v + sample_of(frame, upper, right) + sample_of(frame, lower, left) +
			    sample_of(frame, lower, right) + 1 + up) / 4;
		else if (step_x == 2)
			v = (v + sample_of(frame, upper, right) + up) / 2;
		put(format, to, x * place->step, v);
	}
	return set;
}

void
pixel_format_flatten(const struct pixel_format *format, size_t bytes, unsigned char *to)
{
	for (size_t x = 0; x < bytes / sample_bytes(format); x++)
		put(format, to, x, 1U << (format->bits - 1));
}

size_t
pixel_format_flat_bytes(const struct pixel_format *format, size_t channels, size_t w, size_t h)
{
	size_t all;

	if (channels >= pixel_format_channels(format) || pixel_format_bytes(format, w, h, &all) < 0)
		return 0;
	return all - find_place(format, w, h, channels).offset;
}

unsigned
pixel_format_put(const struct pixel_format *format, const struct frame *frame, size_t w, size_t h,
    unsigned char *picture)
{
	unsigned set = 0;

	for (size_t c = 0; c < pixel_format_channels(format) && c < frame->head.c; c++) {
		struct channel_place place = find_place(format, w, h, c);

		for (size_t y = 0; y < place.h; y++)
			set |= put_row(format, frame, c, &place, y,
			    picture + place.offset + y * place.row);
	}
	return set;
}

unsigned
pixel_format_put_track(const struct pixel_format *format, const struct frame *frame, size_t c,
    unsigned bits, size_t w, size_t h, size_t i, size_t n, unsigned char *picture)
{
	struct channel_place place = find_place(format, w, n * h, 0);
	unsigned shift = format->bits - 8, set = 0;
	const struct frame_head *head = &frame->head;

	for (size_t y = 0; y < h; y++) {
		const void *from = frame_row(frame, c, within(y, head->h));
		unsigned char *to = picture + place.offset + (i * h + y) * place.row;

		set |= row_bits(frame, from);
		for (size_t x = 0; x < w; x++) {
			unsigned v = sample_of(frame, from, within(x, head->w));

			put(format, to, x, bits == 1 ? v * ((1U << format->bits) - 1) :
			    v << shift | v >> (8 - shift));
		}
	}
	return set;
}

/* ---- pictures to frames ---- */

/* The sample at column x of a plane whose columns are halved, between the rows near and far, which
 * count 3 and 1: in 16ths. */
static unsigned
between(const struct pixel_format *format, const struct channel_place *place,
    const unsigned char *near, const unsigned char *far, size_t x)
{
	size_t at = x / 2, other = x & 1 ? within(at + 1, place->w) : at - (at > 0);
	unsigned here = 3 * get(format, near, at) + get(format, far, at);
	unsigned there = 3 * get(format, near, other) + get(format, far, other);

	return 3 * here + there;
}

static void
get_row(const struct pixel_format *format, const struct channel_place *place,
    const unsigned char *plane, size_t y, struct frame *frame, size_t c)
{
	void *to = frame_row(frame, c, y);
	size_t at = place->halved_y ? y / 2 : y;
	size_t other = !place->halved_y ? at : y & 1 ? within(at + 1, place->h) : at - (at > 0);
	const unsigned char *near = plane + at * place->row, *far = plane + other * place->row;

	if (is_plain(format, place) && sample_bytes(format) == sample_size(frame->head.type)) {
		memcpy(to, near, frame->head.w * sample_bytes(format));
		return;
	}
	for (size_t x = 0; x < frame->head.w; x++)
		set_sample(frame, to, x, place->halved_x ?
		    (between(format, place, near, far, x) + 7 + (unsigned)(x & 1)) / 16 :
		    get(format, near, x * place->step));
}

void
pixel_format_get(const struct pixel_format *format, const unsigned char *picture, size_t w,
    size_t h, struct frame *frame, size_t first, size_t n)
{
	for (size_t c = 0; c < n; c++) {
		struct channel_place place = find_place(format, w, h, c);

		for (size_t y = 0; y < frame->head.h; y++)
			get_row(format, &place, picture + place.offset, y, frame, first + c);
	}
}

static unsigned
cut_to(int v, int most)
{
	return (unsigned)(v < 0 ? 0 : v > most ? most : v);
}

/* ITU-R BT.601, BT.709 and BT.2020: Y = red R + (1 - red - blue) G + blue B, and colour is B - Y
 * and R - Y, both scaled to the same range; in 65536ths. */
void
pixel_format_to_rgb(const struct pixel_format *format, struct frame *frame, bool limited,
    double red, double blue)
{
	const int most = (1 << format->bits) - 1, middle = 1 << (format->bits - 1);
	const int black = limited ? middle / 8 : 0, half = 1 << 15;
	const double green = 1 - red - blue, luma = limited ? most / (219.0 / 128 * middle) : 1;
	const double colour = 2 * 65536 * (limited ? most / (224.0 / 128 * middle) : 1);
	const int scale = (int)lround(luma * 65536), u_b = (int)lround(colour * (1 - blue));
	const int v_r = (int)lround(colour * (1 - red));
	const int u_g = (int)lround(colour * (1 - blue) * blue / green);
	const int v_g = (int)lround(colour * (1 - red) * red / green);

	for (size_t y = 0; y < frame->head.h; y++) {
		void *row[3] = { frame_row(frame, 0, y), frame_row(frame, 1, y),
			frame_row(frame, 2, y) };

		for (size_t x = 0; x < frame->head.w; x++) {
			const int l = ((int)sample_of(frame, row[0], x) - black) * scale + half;
			const int u = (int)sample_of(frame, row[1], x) - middle;
			const int v = (int)sample_of(frame, row[2], x) - middle;

			set_sample(frame, row[0], x, cut_to((l + v_r * v) >> 16, most));
			set_sample(frame, row[1], x,
			    cut_to((l - u_g * u - v_g * v) >> 16, most));
			set_sample(frame, row[2], x, cut_to((l + u_b * u) >> 16, most));
		}
	}
}

#define PLACES 8	/* along each axis */
#define APART 4.0	/* 255ths: places where two ranges differ by no more do not tell */
#define NEAR 2.5	/* 255ths: what coding loses in most places */
#define LEAST 6		/* places that tell */
#define CHANGED 8.0	/* 255ths: what places differ by in the mean where a picture was changed */
#define FAR 32.0	/* 255ths: more than that in a quarter of the places is another picture */

/* A place's level in 255ths of the largest. */
static double
level_at(const struct pixel_format *format, const unsigned char *picture, size_t columns, size_t w,
    size_t h, size_t place)
{
	size_t x = (2 * (place % PLACES) + 1) * w / (2 * PLACES);
	size_t y = (2 * (place / PLACES) + 1) * h / (2 * PLACES);

	struct channel_place at = find_place(format, columns, y + 1, 0);

	return get(format, picture + at.offset + y * at.row, x * at.step) * 255.0 /
	    ((1U << format->bits) - 1);
}

void
levels_describe(const struct pixel_format *format, const unsigned char *picture, size_t columns,
    size_t w, size_t h, char text[LEVELS_TEXT + 1])
{
	for (size_t i = 0; i < PLACES * PLACES; i++)
		snprintf(text + 2 * i, 3, "%02x",
		    (unsigned)lround(level_at(format, picture, columns, w, h, i)));
}

enum way { TO_SAME, TO_LIMITED, TO_FULL };

/* What a level becomes on this way. */
static double
gone(double level, enum way way)
{
	return way == TO_SAME ? level : way == TO_LIMITED ? 16 + level * 219 / 255 :
	    fmin(fmax((level - 16) * 255 / 219, 0), 255);
}

/* Did levels go this way rather than another? Of the places where the two differ three quarters
 * must say so. */
static bool
went(const double *was, const double *is, enum way way, enum way other)
{
	size_t n = 0, near = 0;

	for (size_t i = 0; i < PLACES * PLACES; i++) {
		double to = gone(was[i], way), to_other = gone(was[i], other);
		double off = fabs(is[i] - to);

		if (fabs(to - to_other) <= APART)
			continue;
		n++;
		near += off <= NEAR && off < fabs(is[i] - to_other);
	}
	return n >= LEAST && 4 * near >= 3 * n;
}

/* What another program made of a picture: any of these, added. */
enum { MIRRORED_X = 1, MIRRORED_Y = 2, TRANSPOSED = 4, NEGATED = 8, CHANGES = 16 };

/* The mean difference from what was written, changed so. */
static double
mean_off(const double *was, const double *is, int change)
{
	double sum = 0;

	for (size_t i = 0; i < PLACES * PLACES; i++) {
		size_t x = change & MIRRORED_X ? PLACES - 1 - i % PLACES : i % PLACES;
		size_t y = change & MIRRORED_Y ? PLACES - 1 - i / PLACES : i / PLACES;
		double level = was[change & TRANSPOSED ? x * PLACES + y : y * PLACES + x];

		sum += fabs(is[i] - (change & NEGATED ? 255 - level : level));
	}
	return sum / (PLACES * PLACES);
}

/* The change after which levels differ by less than a quarter of what they differ by without one.
 * Loss, which makes pictures flatter, brings them no nearer to a changed one. 0: there is none. */
static int
find_change(const double *was, const double *is)
{
	double least = mean_off(was, is, 0) / 4;
	int found = 0;

	if (4 * least <= CHANGED)
		return 0;
	for (int change = 1; change < CHANGES; change++) {
		double off = mean_off(was, is, change);

		if (off < least) {
			least = off;
			found = change;
		}
	}
	return found;
}

static bool
is_other(const double *was, const double *is)
{
	size_t n = 0;

	for (size_t i = 0; i < PLACES * PLACES; i++)
		n += fabs(is[i] - was[i]) > FAR;
	return 4 * n > PLACES * PLACES;
}

enum levels_found
levels_compare(const struct pixel_format *format, const unsigned char *picture, size_t columns,
    size_t w, size_t h, const char *text)
{
	double was[PLACES * PLACES], is[PLACES * PLACES];
	int change;

	if (strlen(text) != LEVELS_TEXT || strspn(text, "0123456789abcdef") != LEVELS_TEXT)
		return LEVELS_UNKNOWN;
	for (size_t i = 0; i < PLACES * PLACES; i++) {
		unsigned level = 0;

		(void)sscanf(text + 2 * i, "%2x", &level);
		was[i] = level;
		is[i] = level_at(format, picture, columns, w, h, i);
	}
	change = find_change(was, is);
	if (change)
		return change & NEGATED ? LEVELS_NEGATED : LEVELS_TURNED;
	return went(was, is, TO_SAME, TO_LIMITED) ? LEVELS_SAME :
	    went(was, is, TO_LIMITED, TO_SAME) ? LEVELS_LIMITED :
	    went(was, is, TO_FULL, TO_SAME) ? LEVELS_STRETCHED :
	    is_other(was, is) ? LEVELS_OTHER : LEVELS_UNKNOWN;
}
