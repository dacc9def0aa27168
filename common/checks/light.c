/*
 * Checks of how bright captures are.
 *
 * `clipped`: how many of the lit pixels have no phase because some image is saturated there, and
 * for no other reason.
 *
 * `saturation`: where samples end below the largest number of their type. A 12-bit camera saturates
 * at 4095, or at 65520 where its bits stand above, and one of 8 bits may at 235; a test for 65535
 * or 255 never sees it, nor any test of floats. It fires where many pixels are exactly the largest
 * number of 8 to 15 bits and none is more, or many more are exactly the largest value than are next
 * to it, or than have any other one.
 */
#define _GNU_SOURCE
#include "checks/checks.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fringe/capture_set.h"

#define SATURATION_BELOW 8	/* values below the largest one that are counted */
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

/* The largest value, and how many samples have it, one less, and so on. */
struct saturation_top {
	uint32_t value, n[SATURATION_BELOW + 1];
};

/* The largest values, and the smallest ones of pixels with fringes, counted from the type's most
 * downwards; for floats the largest one. */
struct saturation_ends {
	struct saturation_top top, bottom;
	float most;
};

/* The pixels of a frame that are looked at. */
struct saturation {
	const struct check_rows *rows;
	const struct capture_set *captures;
	struct check_grid grid;
	uint8_t *kept;		/* of 8 bits: [row][fringe image][stride]: the samples, then 0 */
	size_t planes, stride, bytes;	/* how many fringe images, bytes of a row, and in all */
	uint64_t pixels;	/* looked at */
	enum sample type;
};

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

/* The first column of sampled row i that is looked at: rows begin at other ones, for fringes of few
 * pixels would be seen at few phases. */
static size_t
first_column(const struct saturation *saturation, size_t i)
{
	return i * 5 % 8 * saturation->grid.step / 8;
}

/* How many columns of row i are looked at. */
static size_t
row_columns(const struct saturation *saturation, size_t i)
{
	size_t first = first_column(saturation, i), w = saturation->rows->frame.head.w;
	size_t step = saturation->grid.step;

	return first < w ? (w - first + step - 1) / step : 0;
}

/* Of 8 bits samples are kept in one piece: what they tell costs less so. */
static void
keep_bytes(const struct saturation *saturation, size_t i)
{
	const struct capture_set *captures = saturation->captures;
	size_t n = row_columns(saturation, i), step = saturation->grid.step;
	uint8_t *to = saturation->kept + i * saturation->planes * saturation->stride;

	for (size_t k = 0; k < captures->fringes; k++)
		for (size_t p = 0; p < captures->fringe[k].n; p++, to += saturation->stride) {
			const uint8_t *from = frame_row(&saturation->rows->frame,
			    captures->fringe[k].plane[p], i);

			from += first_column(saturation, i);
			for (size_t x = 0; x < n; x++, from += step)
				to[x] = *from;
		}
}

static void
look_at_row(const struct saturation *saturation, size_t i, struct saturation_ends *ends)
{
	const struct capture_set *captures = saturation->captures;
	const struct frame *frame = &saturation->rows->frame;

	for (size_t k = 0; k < captures->fringes; k++) {
		const struct capture_fringe *fringe = &captures->fringe[k];
		const void *row[fringe->n];

		for (size_t p = 0; p < fringe->n; p++)
			row[p] = frame_row(frame, fringe->plane[p], i);
		for (size_t x = first_column(saturation, i); x < frame->head.w;
		    x += saturation->grid.step)
			if (saturation->type == SAMPLE_FLOAT) {
				look_float(fringe, row, x, ends);
			} else {
				look_ushort(fringe, row, x, ends);
			}
	}
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
count_bytes(const struct saturation *saturation, uint32_t value[2][UINT8_MAX + 1])
{
	const struct capture_set *captures = saturation->captures;

	for (size_t i = 0; i < saturation->grid.rows; i++) {
		size_t n = row_columns(saturation, i);
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
join_bytes(const struct saturation *saturation, uint32_t value[2][UINT8_MAX + 1])
{
	struct saturation_ends all = { 0 };

	count_bytes(saturation, value);
	for (uint32_t v = 0; v <= UINT8_MAX; v++) {
		value[0][v] += value[1][v];
		if (value[0][v])
			add(&all.top, v, value[0][v]);
		if (value[1][UINT8_MAX - v])
			add(&all.bottom, v, value[1][UINT8_MAX - v]);
	}
	return all;
}

/* The sums of all rows. */
static struct saturation_ends
join_rows(const struct saturation *saturation)
{
	struct saturation_ends all = { 0 };

	for (size_t i = 0; i < saturation->grid.rows; i++) {
		struct saturation_ends row = { 0 };

		look_at_row(saturation, i, &row);
		if (saturation->type == SAMPLE_FLOAT) {
			join_floats(&all, &row);
			continue;
		}
		join(&all.top, &row.top);
		join(&all.bottom, &row.bottom);
	}
	return all;
}

static bool
judge(const struct saturation *saturation, struct check_line *line)
{
	static const uint32_t type_most[] = { UINT8_MAX, UINT16_MAX, UINT32_MAX };
	struct saturation_ends all;
	struct saturation_top top;
	uint32_t value[2][UINT8_MAX + 1] = { 0 };
	unsigned bits;

	if (saturation->type == SAMPLE_UCHAR && !bytes_may_end(saturation))
		return false;
	all = saturation->type == SAMPLE_UCHAR ? join_bytes(saturation, value) :
	    join_rows(saturation);
	top = all.top;
	bits = saturation->type == SAMPLE_USHORT ? full_bits(top.value) : 0;
	if (bits && top.n[0] >= LEAST &&
	    (double)top.n[0] >= SHARE * (double)saturation->pixels)
		return check_fire(line, NULL, "many pixels are %u, the most of %u bits, and none "
		    "is above: if the camera saturates there give --max-value %u", top.value, bits,
		    top.value);
	if (top.value < type_most[saturation->type] &&
	    (is_plateau(saturation, &top, &all.bottom) ||
	    is_fullest(saturation, top.value, value[0]))) {
		double most = saturation->type == SAMPLE_FLOAT ? (double)all.most : top.value;

		return check_fire(line, NULL, "%.1f %% of the fringe images' samples are exactly "
		    "%.9g, and none is above: if the camera saturates there give --max-value %.9g",
		    100.0 * top.n[0] / (double)saturation->pixels, most, most);
	}
	return false;
}

static bool
saturation_judge(const struct check_facts *facts, const struct check_sample *sample,
    struct check_line *line)
{
	struct saturation saturation = { .rows = &sample->in, .captures = facts->captures,
		.type = sample->in.frame.head.type };
	bool fires;

	for (size_t k = 0; k < facts->captures->fringes; k++)
		saturation.planes += facts->captures->fringe[k].n;
	saturation.grid = check_grid(&sample->in,
	    saturation.type == SAMPLE_UCHAR ? PIXELS_OF_BYTES : PIXELS);
	saturation.pixels = saturation.grid.columns * saturation.grid.rows * saturation.planes;
	if (saturation.type != SAMPLE_UCHAR)
		return judge(&saturation, line);
	saturation.stride = (saturation.grid.columns + BLOCK - 1) / BLOCK * BLOCK;
	saturation.bytes = saturation.grid.rows * saturation.planes * saturation.stride;
	saturation.kept = calloc(saturation.bytes + 1, 1);
	if (!saturation.kept)
		return false;
	for (size_t i = 0; i < saturation.grid.rows; i++)
		keep_bytes(&saturation, i);
	fires = judge(&saturation, line);
	free(saturation.kept);
	return fires;
}

static bool
saturation_applies(const struct check_facts *facts, const struct check_heads *heads)
{
	(void)heads;
	return facts->captures && facts->captures->fringes && !facts->max_value_stated;
}

const struct check check_saturation = {
	.name = "saturation", .rank = 2, .looks = CHECK_INPUT, .applies = saturation_applies,
	.channels = check_fringe_channels, .judge = saturation_judge
};

/* ---- clipped ---- */

#define CLIPPED_PIXELS 4096	/* looked at, about */
#define CLIPPED_LEAST 30	/* of those lost, from which on a share tells something */
#define CLIPPED_SHARE 0.03	/* of the lit ones */

/* Would the pixel have a phase with less light? Some image of a period is saturated; and all are,
 * or what is left of the fringes passes the other limits. */
static bool
is_lost(const struct check_facts *facts, const struct check_rows *rows, size_t i, size_t x)
{
	const struct capture_set *captures = facts->captures;
	bool clipped = false, white = false, other = false;

	for (size_t k = 0; k < captures->fringes; k++) {
		const struct capture_fringe *fringe = &captures->fringe[k];
		double least = INFINITY, most = -INFINITY;

		for (size_t p = 0; p < fringe->n; p++) {
			double v = (double)frame_sample(&rows->frame, fringe->plane[p], i, x);

			if (isnan(v))
				return false;
			least = v < least ? v : least;
			most = v > most ? v : most;
		}
		clipped |= most >= facts->max_value;
		white |= least >= facts->max_value;
		other |= most - least < 2 * facts->min_amplitude ||
		    most - least < facts->min_modulation * (most + least) ||
		    most + least < 2 * facts->min_mean;
	}
	return clipped && (white || !other);
}

static bool
clipped_judge(const struct check_facts *facts, const struct check_sample *sample,
    struct check_line *line)
{
	struct check_grid grid = check_grid(&sample->in, CLIPPED_PIXELS);
	size_t good = 0, lost = 0;

	for (size_t i = 0; i < grid.rows; i++) {
		const float *phase = frame_floats(&sample->out.frame, 0, i);

		for (size_t x = check_grid_shift(&grid, i); x < sample->in.frame.head.w;
		    x += grid.step)
			if (!isnan(phase[x]))
				good++;
			else
				lost += is_lost(facts, &sample->in, i, x);
	}
	if (lost < CLIPPED_LEAST || (double)lost <= CLIPPED_SHARE * (double)(good + lost))
		return false;
	return check_fire(line, NULL, "%.0f %% of the lit pixels are lost to saturation alone, at "
	    "%g or above in some image (--max-value): less light or a shorter exposure keeps them",
	    100.0 * (double)lost / (double)(good + lost), facts->max_value);
}

static bool
clipped_applies(const struct check_facts *facts, const struct check_heads *heads)
{
	return facts->captures && facts->captures->fringes && !facts->several_exposures &&
	    facts->max_value < INFINITY && heads->out->type == SAMPLE_FLOAT;
}

static void
clipped_channels(const struct check_facts *facts, const struct check_heads *heads, bool *in,
    bool *out)
{
	check_fringe_channels(facts, heads, in, out);
	out[0] = true;
}

const struct check check_clipped = {
	.name = "clipped", .rank = 2, .looks = CHECK_INPUT | CHECK_OUTPUT,
	.applies = clipped_applies, .channels = clipped_channels, .judge = clipped_judge
};

/* ---- max_value: the stated level of saturation is out of reach ---- */

static bool
max_value_applies(const struct check_facts *facts, const struct check_heads *heads)
{
	return facts->max_value_stated && heads->in->type == SAMPLE_UCHAR &&
	    facts->max_value > UINT8_MAX + 1 && facts->max_value <= UINT16_MAX + 1;
}

static bool
max_value_judge(const struct check_facts *facts, const struct check_sample *sample,
    struct check_line *line)
{
	(void)sample;
	return check_fire(line, NULL, "saturation is looked for from %g on (--max-value, key "
	    "max_value), and samples of 8 bits reach 255: saturated pixels pass, too",
	    facts->max_value);
}

const struct check check_max_value = {
	.name = "max-value", .rank = 2, .looks = CHECK_FIRST, .applies = max_value_applies,
	.judge = max_value_judge
};
