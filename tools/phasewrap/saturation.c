/* Where the samples of fringe images end, below the largest number of their type. */
#define _GNU_SOURCE
#include "saturation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

#define PIXELS 4096		/* of a plane of 16 bits, about, */
#define PIXELS_OF_BYTES 1024	/* and of 8 bits, whose values are few */
#define BLOCK 64		/* columns of 8 bits that are kept end in whole blocks, with 0 */
#define LEAST 8			/* pixels at the top that are no chance, */
#define SHARE 0.001		/* nor is this share of them */
/*
 * A plateau at any other value: so many pixels, and as many times those of the fullest one of the
 * values below, of which so many occur. Of sinusoidal fringes without noise and saturation the
 * crest has at most 1 / (sqrt 2 - 1) = 2.4 times the pixels of the next level. Where levels below
 * do not occur, or troughs end as flat as crests, as of square fringes or of few phases, nothing
 * tells.
 */
#define PLATEAU_LEAST 30
#define PLATEAU_SHARE 0.003	/* of 8 bits; */
#define PLATEAU_SHARE_16 0.05	/* a projector of 8 bits has a flat crest on 3 % of a period */
#define PLATEAU_RATIO 4
#define PLATEAU_OCCUR 6
#define PLATEAU_OVER_TROUGH 3
/* Of 8 bits without noise few levels occur; there the plateau is compared with all of them. A phase
 * and its mirror image give one level, two of each are merged by rounding. */
#define PLATEAU_OVER_ALL 3
#define PLATEAU_OF_ALL 24	/* so many levels */
#define FLOAT_LEVELS 256	/* of floats: the levels below are parts of the largest value */
#define FRINGES 4		/* a pixel has them where they are a part of its largest value */

int
saturation_plan(struct saturation *saturation, const struct frame_head *head, bool known,
    float max_value, size_t planes)
{
	if (known && !saturation->off && head->type == SAMPLE_UCHAR && max_value > UINT8_MAX + 1 &&
	    max_value <= UINT16_MAX + 1)
		warn(NULL, "saturation is looked for from %g on (--max-value, key max_value), and "
		    "samples of 8 bits reach 255: saturated pixels pass, too", (double)max_value);
	saturation->type = head->type;
	saturation->w = head->w;
	saturation->grid = coarse_grid(head->w, head->h,
	    head->type == SAMPLE_UCHAR ? PIXELS_OF_BYTES : PIXELS);
	saturation->pixels = coarse_grid_pixels(&saturation->grid) * planes;
	saturation->off |= known;
	saturation_free(saturation);
	if (head->type == SAMPLE_UCHAR) {
		saturation->stride = (saturation->grid.columns + BLOCK - 1) / BLOCK * BLOCK;
		saturation->bytes = saturation->grid.rows * planes * saturation->stride;
		saturation->planes = planes;
		saturation->kept = calloc(saturation->bytes + 1, 1);
		return saturation->kept ? 0 : fail_memory();
	}
	saturation->ends = calloc(saturation->grid.rows + 1, sizeof(*saturation->ends));
	return saturation->ends ? 0 : fail_memory();
}

void
saturation_free(struct saturation *saturation)
{
	free(saturation->ends);
	free(saturation->kept);
	saturation->ends = NULL;
	saturation->kept = NULL;
}

/* Makes room for a larger value. */
static void
raise_top(struct saturation_top *top, uint32_t value)
{
	size_t by = value - top->value, size = SATURATION_BELOW + 1;

	by = by < size ? by : size;
	memmove(top->n + by, top->n, (size - by) * sizeof(*top->n));
	memset(top->n, 0, by * sizeof(*top->n));
	top->value = value;
}

/* Does a value count? */
static inline bool
is_near(const struct saturation_top *top, uint32_t value)
{
	return value + SATURATION_BELOW >= top->value;
}

/* Do the values of a pixel differ as fringes do? */
static inline bool
has_fringes(uint32_t least, uint32_t most)
{
	return (most - least) * FRINGES > most;
}

static inline void
add(struct saturation_top *top, uint32_t value, uint32_t pixels)
{
	if (value > top->value)
		raise_top(top, value);
	if (top->value - value <= SATURATION_BELOW)
		top->n[top->value - value] += pixels;
}

/* One pixel of a fringe set. */
static void
look_ushort(const struct capture_fringe *fringe, const void *const *row, size_t x,
    struct saturation_ends *ends)
{
	uint32_t least = UINT16_MAX, most = 0;

	for (size_t i = 0; i < fringe->n; i++) {
		uint32_t v = ((const uint16_t *)row[i])[x];

		least = v < least ? v : least;
		most = v > most ? v : most;
	}
	if (is_near(&ends->top, most))
		for (size_t i = 0; i < fringe->n; i++)
			add(&ends->top, ((const uint16_t *)row[i])[x], 1);
	if (has_fringes(least, most) && is_near(&ends->bottom, UINT16_MAX - least))
		for (size_t i = 0; i < fringe->n; i++)
			add(&ends->bottom, UINT16_MAX - ((const uint16_t *)row[i])[x], 1);
}

/* Level 0 is the largest value itself, level 1 what is less by up to a 256th of it, and so on. */
static void
add_float(struct saturation_ends *ends, float v, uint32_t pixels)
{
	float below;

	if (!(v > 0 && v < INFINITY))
		return;
	if (v > ends->most) {	/* what was the largest is one of the levels now */
		struct saturation_top old = ends->top;
		double shift = FLOAT_LEVELS * (1 - (double)ends->most / (double)v);

		memset(&ends->top, 0, sizeof(ends->top));
		for (size_t i = 0; i <= SATURATION_BELOW; i++) {
			double level = ceil((double)i + shift);

			if (level <= SATURATION_BELOW)
				ends->top.n[(size_t)level] += old.n[i];
		}
		ends->most = v;
	}
	below = (ends->most - v) / ends->most;	/* divided first: what is large does not overflow */
	if (below * FLOAT_LEVELS <= SATURATION_BELOW)
		ends->top.n[(size_t)ceilf(below * FLOAT_LEVELS)] += pixels;
}

static void
look_float(const struct capture_fringe *fringe, const void *const *row, size_t x,
    struct saturation_ends *ends)
{
	for (size_t i = 0; i < fringe->n; i++)
		add_float(ends, ((const float *)row[i])[x], 1);
}

static void
store(uint32_t *to, const uint32_t *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		__atomic_store_n(&to[i], from[i], __ATOMIC_RELAXED);
}

/* The first column of row y that is looked at: rows begin at other ones, for fringes of few pixels
 * would be seen at few phases. */
static size_t
first_column(const struct saturation *saturation, size_t y)
{
	return y / saturation->grid.step * 5 % 8 * saturation->grid.step / 8;
}

/* How many columns of row y are looked at. */
static size_t
row_columns(const struct saturation *saturation, size_t w, size_t y)
{
	size_t first = first_column(saturation, y);

	return first < w ? coarse_grid_count(w - first, saturation->grid.step) : 0;
}

/* Of 8 bits samples are kept as they are: what they tell costs less in one piece. */
static void
keep_bytes(const struct saturation *saturation, const struct capture_set *captures,
    const struct frame *frame, size_t y)
{
	size_t n = row_columns(saturation, frame->head.w, y), step = saturation->grid.step;
	uint8_t *to = saturation->kept + y / step * saturation->planes * saturation->stride;

	for (size_t k = 0; k < captures->fringes; k++)
		for (size_t i = 0; i < captures->fringe[k].n; i++, to += saturation->stride) {
			const uint8_t *from = frame_row(frame, captures->fringe[k].plane[i], y);

			from += first_column(saturation, y);
			for (size_t x = 0; x < n; x++, from += step)
				__atomic_store_n(&to[x], *from, __ATOMIC_RELAXED);
		}
}

/* Bands may share rows: both store the same. */
void
saturation_row(const struct saturation *saturation, const struct capture_set *captures,
    const struct frame *frame, size_t y)
{
	struct saturation_ends ends;

	if (saturation->off || y % saturation->grid.step)
		return;
	if (saturation->type == SAMPLE_UCHAR) {
		keep_bytes(saturation, captures, frame, y);
		return;
	}
	memset(&ends, 0, sizeof(ends));
	for (size_t k = 0; k < captures->fringes; k++) {
		const struct capture_fringe *fringe = &captures->fringe[k];
		const void *row[fringe->n];

		for (size_t i = 0; i < fringe->n; i++)
			row[i] = frame_row(frame, fringe->plane[i], y);
		for (size_t x = first_column(saturation, y); x < frame->head.w;
		    x += saturation->grid.step)
			if (saturation->type == SAMPLE_FLOAT) {
				look_float(fringe, row, x, &ends);
			} else {
				look_ushort(fringe, row, x, &ends);
			}
	}
	store((uint32_t *)&saturation->ends[y / saturation->grid.step], (const uint32_t *)&ends,
	    sizeof(ends) / sizeof(uint32_t));
}

/* Is it the most of 8 to 15 bits, of 16 that stand below or above? Then how many; else 0. */
static unsigned
full_bits(uint32_t value)
{
	for (unsigned bits = 8; bits < 16; bits++) {
		uint32_t most = (1u << bits) - 1;

		if (value == most || value == most << (16 - bits))
			return bits;
	}
	return 0;
}

/* Have so many pixels the largest value that the camera, or what stands behind it, ends there? */
static bool
is_plateau(const struct saturation *saturation, const struct saturation_top *top,
    const struct saturation_top *bottom)
{
	double share = saturation->type == SAMPLE_USHORT ? PLATEAU_SHARE_16 : PLATEAU_SHARE;
	uint32_t fullest = 0, occur = 0;

	for (size_t i = 1; i <= SATURATION_BELOW; i++) {
		fullest = top->n[i] > fullest ? top->n[i] : fullest;
		occur += top->n[i] > 0;
	}
	return occur >= PLATEAU_OCCUR && top->n[0] >= PLATEAU_LEAST &&
	    top->n[0] > PLATEAU_OVER_TROUGH * bottom->n[0] &&
	    (double)top->n[0] >= share * (double)saturation->pixels &&
	    (double)top->n[0] > PLATEAU_RATIO * (double)fullest;
}

/* The same where few levels occur: the plateau stands above all of them. */
static bool
is_fullest(const struct saturation *saturation, uint32_t top, const uint32_t *value)
{
	uint32_t fullest = 0;
	size_t occur = 0;

	for (size_t v = 0; v < top && v < UINT8_MAX; v++) {
		occur += value[v] > 0;
		fullest = value[v] > fullest ? value[v] : fullest;
	}
	return saturation->type == SAMPLE_UCHAR && occur >= PLATEAU_OF_ALL &&
	    value[top] >= PLATEAU_LEAST && value[top] > PLATEAU_OVER_ALL * fullest &&
	    (double)value[top] >= PLATEAU_SHARE * (double)saturation->pixels;
}

static void
join(struct saturation_top *all, const struct saturation_top *row)
{
	for (size_t i = 0; i <= SATURATION_BELOW && i <= row->value; i++)
		add(all, row->value - (uint32_t)i, row->n[i]);
}

static void
join_floats(struct saturation_ends *all, const struct saturation_ends *row)
{
	for (size_t i = 0; i <= SATURATION_BELOW; i++) {
		float level = i ? (float)i - 0.5f : 0;	/* its middle */

		if (row->top.n[i])
			add_float(all, row->most * (1 - level / FLOAT_LEVELS), row->top.n[i]);
	}
}

/* Counts the values of n of BLOCK pixels, of those without fringes and of those with them. */
static void
count_block(const uint8_t *pixel, size_t stride, size_t images, size_t n,
    uint32_t value[2][UINT8_MAX + 1])
{
	uint8_t least[BLOCK], most[BLOCK];
	uint32_t *count[BLOCK];

	memset(least, UINT8_MAX, sizeof(least));
	memset(most, 0, sizeof(most));
	for (size_t i = 0; i < images; i++)
		for (size_t x = 0; x < BLOCK; x++) {
			uint8_t v = pixel[i * stride + x];

			least[x] = v < least[x] ? v : least[x];
			most[x] = v > most[x] ? v : most[x];
		}
	for (size_t x = 0; x < n; x++)
		count[x] = value[has_fringes(least[x], most[x])];
	for (size_t i = 0; i < images; i++)
		for (size_t x = 0; x < n; x++)
			count[x][pixel[i * stride + x]]++;
}

static void
count_bytes(const struct saturation *saturation, const struct capture_set *captures,
    uint32_t value[2][UINT8_MAX + 1])
{
	for (size_t i = 0; i < saturation->grid.rows; i++) {
		size_t n = row_columns(saturation, saturation->w, i * saturation->grid.step);
		const uint8_t *row = saturation->kept + i * saturation->planes * saturation->stride;

		for (size_t k = 0; k < captures->fringes; k++) {
			size_t images = captures->fringe[k].n;

			for (size_t x = 0; x < n; x += BLOCK)
				count_block(row + x, saturation->stride, images,
				    n - x < BLOCK ? n - x : BLOCK, value);
			row += images * saturation->stride;
		}
	}
}

/* Can there be a plateau at the largest value at all? It is not that of the type, and has enough
 * more pixels than the values below have in the mean. */
static bool
bytes_may_end(const struct saturation *saturation)
{
	uint8_t most_of[BLOCK] = { 0 }, most = 0;
	size_t top = 0, below = 0;

	for (size_t i = 0; i < saturation->bytes; i += BLOCK)
		for (size_t x = 0; x < BLOCK; x++) {
			uint8_t v = saturation->kept[i + x];

			most_of[x] = v > most_of[x] ? v : most_of[x];
		}
	for (size_t x = 0; x < BLOCK; x++)
		most = most_of[x] > most ? most_of[x] : most;
	if (most <= SATURATION_BELOW || most == UINT8_MAX)
		return most < UINT8_MAX;
	for (size_t i = 0; i < saturation->bytes; i += BLOCK) {
		const uint8_t *v = saturation->kept + i, least = most - SATURATION_BELOW;
		uint8_t equal = 0, near = 0;	/* of a block: they hold them */

#pragma omp simd reduction(+ : equal, near)
		for (size_t x = 0; x < BLOCK; x++) {
			equal = (uint8_t)(equal + (v[x] == most));
			near = (uint8_t)(near + (v[x] >= least));
		}
		top += equal;
		below += near - equal;
	}
	return top >= PLATEAU_LEAST && top * SATURATION_BELOW > PLATEAU_OVER_ALL * below;
}

static struct saturation_ends
join_bytes(const struct saturation *saturation, const struct capture_set *captures,
    uint32_t value[2][UINT8_MAX + 1])
{
	struct saturation_ends all = { 0 };

	count_bytes(saturation, captures, value);
	for (uint32_t v = 0; v <= UINT8_MAX; v++) {
		value[0][v] += value[1][v];
		if (value[0][v])
			add(&all.top, v, value[0][v]);
		if (value[1][UINT8_MAX - v])
			add(&all.bottom, v, value[1][UINT8_MAX - v]);
	}
	return all;
}

/* The sums of all rows, which are cleared. */
static struct saturation_ends
join_rows(const struct saturation *saturation)
{
	struct saturation_ends all = { 0 };

	for (size_t y = 0; y < saturation->grid.rows; y++) {
		const struct saturation_ends *row = &saturation->ends[y];

		if (saturation->type == SAMPLE_FLOAT) {
			join_floats(&all, row);
			continue;
		}
		join(&all.top, &row->top);
		join(&all.bottom, &row->bottom);
	}
	memset(saturation->ends, 0, saturation->grid.rows * sizeof(*saturation->ends));
	return all;
}

void
saturation_warn(struct saturation *saturation, const struct capture_set *captures,
    const struct image_names *names)
{
	static const uint32_t type_most[] = { UINT8_MAX, UINT16_MAX, UINT32_MAX };
	char where[IMAGE_NAME_SIZE];
	const char *object = image_names_where(names, where);
	struct saturation_ends all;
	struct saturation_top top;
	uint32_t value[2][UINT8_MAX + 1] = { 0 };
	unsigned bits;

	if (saturation->off || (saturation->type == SAMPLE_UCHAR && !bytes_may_end(saturation)))
		return;
	all = saturation->type == SAMPLE_UCHAR ? join_bytes(saturation, captures, value) :
	    join_rows(saturation);
	top = all.top;
	bits = saturation->type == SAMPLE_USHORT ? full_bits(top.value) : 0;
	if (bits && top.n[0] >= LEAST &&
	    (double)top.n[0] >= SHARE * (double)saturation->pixels) {
		warn(object, "many pixels are %u, the most of %u bits, and none is above: "
		    "if the camera saturates there give --max-value %u", top.value, bits,
		    top.value);
		saturation->off = true;
	} else if (top.value < type_most[saturation->type] &&
	    (is_plateau(saturation, &top, &all.bottom) ||
	    is_fullest(saturation, top.value, value[0]))) {
		double most = saturation->type == SAMPLE_FLOAT ? (double)all.most : top.value;

		warn(object, "%.1f %% of the fringe images' samples are exactly %.9g, and none is "
		    "above: if the camera saturates there give --max-value %.9g",
		    100.0 * top.n[0] / (double)saturation->pixels, most, most);
		saturation->off = true;
	}
}
