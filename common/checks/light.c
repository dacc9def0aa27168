/*
 * Checks of how bright captures are.
 *
 * `max-value`, `min-amplitude`: limits that the type of the samples makes useless.
 *
 * `clipped`: how many of the pixels that pass all other limits have no phase because some image is
 * saturated there.
 *
 * `saturation`: where samples end below the largest number of their type. A 12-bit camera saturates
 * at 4095, or at 65520 where its bits stand above, and one of 8 bits may at 235; a test for 65535
 * or 255 never sees it, nor any test of floats. It fires where many pixels are exactly the largest
 * number of 8 to 15 bits and none is more, or many more are exactly the largest value than any of
 * the eight below.
 */
#include "checks/checks.h"

#include <math.h>
#include <string.h>

#include "fringe/capture_set.h"

/* ---- saturation ---- */

#define SATURATION_BELOW 8	/* values below the largest one that are counted */
#define SATURATION_PIXELS 4096	/* of a plane of 16 bits, about, */
#define SATURATION_SAMPLES_8 4096	/* of all planes of 8 bits, whose values are few */
#define SATURATION_LEAST 8	/* samples of the largest value that a warning needs */
#define SATURATION_SHARE 0.001	/* and their share of all */
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
#define PLATEAU_LEVELS 24	/* of 8 bits; sinusoids of so many have levels below the crest */
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
	/* Values of 8 bits that occur, and their number. */
	bool occurs[UINT8_MAX + 1];
	size_t levels;
};

static const uint32_t type_most[] = { UINT8_MAX, UINT16_MAX, UINT32_MAX };

/* The pixels of a frame that are looked at. */
struct saturation {
	const struct check_rows *rows;
	const struct capture_set *captures;
	struct check_grid grid;
	uint64_t samples;	/* looked at */
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
add(struct saturation_top *top, uint32_t value)
{
	if (value > top->value)
		raise_top(top, value);
	if (top->value - value <= SATURATION_BELOW)
		top->n[top->value - value]++;
}

static inline uint32_t
value_of(enum sample type, const void *row, size_t x)
{
	return type == SAMPLE_UCHAR ? ((const uint8_t *)row)[x] : ((const uint16_t *)row)[x];
}

/* One pixel of a fringe set of 8 or 16 bits. */
static void
look_integer(const struct capture_fringe *fringe, enum sample type, const void *const *row,
    size_t x, struct saturation_ends *ends)
{
	uint32_t least = UINT32_MAX, most = 0, end = type_most[type];

	for (size_t i = 0; i < fringe->n; i++) {
		uint32_t v = value_of(type, row[i], x);

		least = v < least ? v : least;
		most = v > most ? v : most;
		if (type == SAMPLE_UCHAR) {
			ends->levels += !ends->occurs[v];
			ends->occurs[v] = true;
		}
	}
	if (is_near(&ends->top, most))
		for (size_t i = 0; i < fringe->n; i++)
			add(&ends->top, value_of(type, row[i], x));
	if (has_fringes(least, most) && is_near(&ends->bottom, end - least))
		for (size_t i = 0; i < fringe->n; i++)
			add(&ends->bottom, end - value_of(type, row[i], x));
}

/* Level 0 is the largest value itself, level 1 what is less by up to a 256th of it, and so on. */
static void
add_float(struct saturation_ends *ends, float v)
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
		ends->top.n[(size_t)ceilf(below * FLOAT_LEVELS)]++;
}

static void
look_float(const struct capture_fringe *fringe, const void *const *row, size_t x,
    struct saturation_ends *ends)
{
	for (size_t i = 0; i < fringe->n; i++)
		add_float(ends, ((const float *)row[i])[x]);
}

/* Row i of a fringe set. */
static void
look_at_row(const struct saturation *saturation, const struct capture_fringe *fringe, size_t i,
    struct saturation_ends *ends)
{
	const struct frame *frame = &saturation->rows->frame;
	const void *row[fringe->n];

	for (size_t p = 0; p < fringe->n; p++)
		row[p] = frame_row(frame, fringe->plane[p], i);
	for (size_t x = check_grid_shift(&saturation->grid, i); x < frame->head.w;
	    x += saturation->grid.step)
		if (saturation->type == SAMPLE_FLOAT)
			look_float(fringe, row, x, ends);
		else
			look_integer(fringe, saturation->type, row, x, ends);
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

/* Have so many samples the largest value that the camera, or what stands behind it, ends there? */
static bool
is_plateau(const struct saturation *saturation, const struct saturation_ends *ends)
{
	double share = saturation->type == SAMPLE_USHORT ? PLATEAU_SHARE_16 : PLATEAU_SHARE;
	const uint32_t *n = ends->top.n;
	uint32_t fullest = 0, occur = 0;

	for (size_t i = 1; i <= SATURATION_BELOW; i++) {
		fullest = n[i] > fullest ? n[i] : fullest;
		occur += n[i] > 0;
	}
	return (occur >= PLATEAU_OCCUR || ends->levels >= PLATEAU_LEVELS) &&
	    n[0] >= PLATEAU_LEAST && n[0] > PLATEAU_OVER_TROUGH * ends->bottom.n[0] &&
	    (double)n[0] >= share * (double)saturation->samples &&
	    (double)n[0] > PLATEAU_RATIO * (double)fullest;
}

static bool
saturation_judge(const struct check_facts *facts, const struct check_sample *sample,
    struct check_line *line)
{
	struct saturation saturation = { .rows = &sample->in, .captures = facts->captures,
		.type = sample->in.frame.head.type };
	struct saturation_ends all = { 0 };
	struct saturation_top top;
	size_t planes = 0;
	unsigned bits;

	for (size_t k = 0; k < facts->captures->fringes; k++)
		planes += facts->captures->fringe[k].n;
	saturation.grid = check_grid(&sample->in, saturation.type == SAMPLE_UCHAR ?
	    SATURATION_SAMPLES_8 / planes + 1 : SATURATION_PIXELS);
	saturation.samples = saturation.grid.columns * saturation.grid.rows * planes;
	for (size_t k = 0; k < facts->captures->fringes; k++)
		for (size_t i = 0; i < saturation.grid.rows; i++)
			look_at_row(&saturation, &facts->captures->fringe[k], i, &all);
	top = all.top;
	if ((saturation.type == SAMPLE_FLOAT ? (double)all.most : top.value) >= facts->max_value)
		return false;	/* check_clipped knows them */
	bits = saturation.type == SAMPLE_USHORT ? full_bits(top.value) : 0;
	if (bits && top.n[0] >= SATURATION_LEAST &&
	    (double)top.n[0] >= SATURATION_SHARE * (double)saturation.samples)
		return check_fire(line, NULL, "many samples are %u, the %u-bit maximum, and none "
		    "is above: if the camera saturates there give --max-value %u", top.value, bits,
		    top.value);
	if (top.value < type_most[saturation.type] && is_plateau(&saturation, &all)) {
		double most = saturation.type == SAMPLE_FLOAT ? (double)all.most : top.value;

		return check_fire(line, NULL, "about %.0f %% of the fringe images' samples are "
		    "exactly %.9g, and none is above: if the camera saturates there give "
		    "--max-value %.9g", 100.0 * top.n[0] / (double)saturation.samples, most, most);
	}
	return false;
}

static bool
saturation_applies(const struct check_facts *facts, const struct check_heads *)
{
	return facts->captures && facts->captures->fringes && !facts->max_value_given;
}

const struct check check_saturation = {
	.name = "saturation", .rank = 2, .looks = CHECK_INPUT, .applies = saturation_applies,
	.channels = check_fringe_channels, .judge = saturation_judge
};

/* ---- clipped ---- */

#define CLIPPED_PIXELS 2048	/* looked at first, about; a good one costs a look at its phase */
#define CLIPPED_LEAST 20	/* of those lost, from which on a share tells something */
#define CLIPPED_SHARE 0.03	/* of those that pass all other limits */
#define CLIPPED_NEAR 0.25	/* of that share in sampled rows: all pixels are counted, */
#define CLIPPED_COUNTS 16	/* but in so many frames of a run only, as it takes time; then */
#define CLIPPED_SAMPLED 2.0	/* times the share fires in sampled rows */

/* Of the pixels that pass all limits but that of saturation. */
struct clipped {
	size_t good, lost;
};

/* Adds a pixel by its samples alone. It is lost if some image of a period is saturated; and all
 * are, or what is left of the fringes passes the other limits. */
static void
add_pixel(struct clipped *to, const struct check_facts *facts, const struct frame *in, size_t y,
    size_t x)
{
	const struct capture_set *captures = facts->captures;
	bool clipped = false, white = false, other = false;

	for (size_t k = 0; k < captures->fringes; k++) {
		const struct capture_fringe *fringe = &captures->fringe[k];
		double least = INFINITY, most = -INFINITY;

		for (size_t p = 0; p < fringe->n; p++) {
			double v = (double)frame_sample(in, fringe->plane[p], y, x);

			if (isnan(v))
				return;
			least = v < least ? v : least;
			most = v > most ? v : most;
		}
		clipped |= most >= facts->max_value;
		white |= least >= facts->max_value;
		other |= most - least < 2 * facts->min_amplitude ||
		    most - least < facts->min_modulation * (most + least) ||
		    most + least < 2 * facts->min_mean;
	}
	to->lost += clipped && (white || !other);
	to->good += !clipped && !other;
}

/* Of so many pixels of the sampled rows, about: those that have a phase are good. */
static struct clipped
sample_clipped(const struct check_facts *facts, const struct check_sample *sample, size_t pixels)
{
	struct check_grid grid = check_grid(&sample->in, pixels);
	struct clipped all = { 0 };

	for (size_t i = 0; i < grid.rows; i++) {
		const float *phase = frame_floats(&sample->out.frame, 0, i);

		for (size_t x = check_grid_shift(&grid, i); x < sample->in.frame.head.w;
		    x += grid.step)
			if (isnan(phase[x]))
				add_pixel(&all, facts, &sample->in.frame, i, x);
			else
				all.good++;
	}
	return all;
}

/* Is a sample at column x saturated, in one of n rows? A loop for each type takes half the time. */
static bool
is_saturated(double max_value, enum sample type, const void *const *row, size_t n, size_t x)
{
	uint32_t most = 0;

	for (size_t i = 0; i < n && type == SAMPLE_FLOAT; i++)
		if ((double)((const float *)row[i])[x] >= max_value)
			return true;
	for (size_t i = 0; i < n && type == SAMPLE_UCHAR; i++)
		most = most > ((const uint8_t *)row[i])[x] ? most : ((const uint8_t *)row[i])[x];
	for (size_t i = 0; i < n && type == SAMPLE_USHORT; i++)
		most = most > ((const uint16_t *)row[i])[x] ? most : ((const uint16_t *)row[i])[x];
	return (double)most >= max_value;
}

/* Adds the pixels that are lost in a row halfway between each two groups of sampled rows: then no
 * band of CLIPPED_SHARE of the height lies between two rows. */
static void
add_between(struct clipped *to, const struct check_facts *facts, const struct check_sample *sample)
{
	const struct capture_set *captures = facts->captures;
	const struct check_rows *rows = &sample->in;
	struct check_grid grid = check_grid(rows, CLIPPED_PIXELS);
	struct clipped between = { 0 };
	size_t planes = 0, step = grid.step + grid.step / 2;	/* these lie in no cache */

	for (size_t k = 0; k < captures->fringes; k++)
		planes += captures->fringe[k].n;
	for (size_t i = 0; i < grid.rows; i += rows->group) {
		const void *row[planes];
		size_t next = i + rows->group < grid.rows ? rows->y[i + rows->group] :
		    sample->whole->head.h, y = (rows->y[i] + next) / 2, n = 0;

		for (size_t k = 0; k < captures->fringes; k++)
			for (size_t p = 0; p < captures->fringe[k].n; p++)
				row[n++] = frame_row(sample->whole, captures->fringe[k].plane[p],
				    y);
		for (size_t x = check_grid_shift(&grid, i); x < rows->frame.head.w; x += step)
			if (is_saturated(facts->max_value, sample->whole->head.type, row, n, x))
				add_pixel(&between, facts, sample->whole, y, x);
	}
	to->lost += between.lost;
	/* good pixels of these rows are not counted: as many, about, as in the sampled rows */
	to->good += to->good * grid.step / (step * rows->group);
}

static struct clipped
count_clipped(const struct check_facts *facts, const struct frame *in)
{
	struct clipped all = { 0 };

	for (size_t y = 0; y < in->head.h; y++)
		for (size_t x = 0; x < in->head.w; x++)
			add_pixel(&all, facts, in, y, x);
	return all;
}

static double
clipped_share(struct clipped all)
{
	return all.lost < CLIPPED_LEAST ? 0 : (double)all.lost / (double)(all.good + all.lost);
}

static bool
clipped_judge(const struct check_facts *facts, const struct check_sample *sample,
    struct check_line *line)
{
	struct clipped seen = sample_clipped(facts, sample, CLIPPED_PIXELS);
	double share, limit = CLIPPED_SHARE;
	bool counted = sample->whole && *line->kept < CLIPPED_COUNTS;

	if (sample->whole && sample->number < CLIPPED_COUNTS)	/* light changes little later */
		add_between(&seen, facts, sample);
	share = clipped_share(seen);
	if (share <= CLIPPED_NEAR * limit)
		return false;
	if (counted) {
		share = clipped_share(count_clipped(facts, sample->whole));
		++*line->kept;
	} else {
		share = clipped_share(sample_clipped(facts, sample, SIZE_MAX));
		limit *= sample->whole ? CLIPPED_SAMPLED : 1;
	}
	return share > limit &&
	    check_fire(line, NULL, "%s%.0f %% of the pixels that pass all other limits are "
	    "lost to saturation, at %g or above in some image (--max-value): less light or a "
	    "shorter exposure keeps them", counted ? "" : "about ", 100 * share,
	    facts->max_value);
}

static bool
clipped_applies(const struct check_facts *facts, const struct check_heads *heads)
{
	return facts->captures && facts->captures->fringes && !facts->several_exposures &&
	    facts->max_value < INFINITY && heads->out->type == SAMPLE_FLOAT;
}

const struct check check_clipped = {
	.name = "clipped", .rank = 2, .looks = CHECK_INPUT | CHECK_OUTPUT,
	.applies = clipped_applies, .channels = check_phase_channels, .judge = clipped_judge
};

/* ---- max-value: the stated level of saturation is out of reach ---- */

static bool
max_value_applies(const struct check_facts *facts, const struct check_heads *heads)
{
	return heads->in->type == SAMPLE_UCHAR &&
	    facts->max_value > UINT8_MAX + 1 && facts->max_value <= UINT16_MAX + 1;
}

static bool
max_value_judge(const struct check_facts *facts, const struct check_sample *,
    struct check_line *line)
{
	return check_fire(line, NULL, "max_value is %g (--max-value, key max_value), and samples "
	    "of 8 bits end at 255: saturated pixels are not found", facts->max_value);
}

const struct check check_max_value = {
	.name = "max-value", .rank = 2, .looks = CHECK_FIRST, .applies = max_value_applies,
	.judge = max_value_judge
};

/* ---- min-amplitude: the stated limit is below what rounding leaves ---- */

#define ROUNDING 0.25		/* levels: a mean square of 1/12, where nothing is lit */

static bool
min_amplitude_applies(const struct check_facts *facts, const struct check_heads *heads)
{
	return heads->in->type != SAMPLE_FLOAT && facts->min_amplitude > 0 &&
	    facts->min_amplitude < ROUNDING;
}

static bool
min_amplitude_judge(const struct check_facts *facts, const struct check_sample *,
    struct check_line *line)
{
	return check_fire(line, "--min-amplitude", "%g levels of images of whole numbers, which "
	    "rounding alone reaches, leave nothing out: it is no ratio, as --min-modulation is",
	    facts->min_amplitude);
}

const struct check check_min_amplitude = {
	.name = "min-amplitude", .rank = 2, .looks = CHECK_FIRST,
	.applies = min_amplitude_applies, .judge = min_amplitude_judge
};
