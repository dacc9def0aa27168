#include "bare.h"

#include <stdio.h>

#include "base/fail.h"
#include "holodec.px.h"

#define TURNS_MOST 64	/* of --stair-turns */
#define POINTS_LEAST 256 /* fewer may be exact by chance */
/* Of an exact picture's points none is beyond; up to 0.001 of its pixels may be damaged. */
#define BEYOND_MOST 0.005
/*
 * Of a lossy picture's. Measured in the range that the depths fill, on five objects, pitches of
 * 16 to 42, both layouts, JPEG of quality 50 to 95 at full and at halved colour: none of 146 right
 * pictures has so many points so far beyond, 87 of 142 with 3 % too much of pitch and 69 of 139
 * with an angle of 29 for 30 degrees have.
 */
#define BEYOND_LOSSY 0.02
#define BEYOND_TURNS 0.05f
#define ROW_STEP 8		/* one row of so many is looked at */

bool
bare_is(const struct holo_options *options, const struct frame_head *head, bool blurred)
{
	return head->type == SAMPLE_UCHAR && !blurred && options->rounding < 0 &&
	    !meta_get(&head->meta, "holo_pitch_px") && !meta_get(&head->meta, "holo_stair_height");
}

/* Stairs other than those of the options. */
struct stairs {
	enum holo_stair stair;
	long height, turns;
};

/* Counts with these stairs, and pairs nearest in angle. */
static struct pixel_counts
counts_with(const struct holo *holo, const struct reading *reading, const struct frame *in,
    const struct stairs *stairs)
{
	struct reading other = *reading;
	struct holo with = *holo;
	struct exact_limits limits;

	with.rounding = HOLO_ANGLE;
	with.stair = stairs->stair;
	with.stair_height = stairs->height;
	with.stair_turns = stairs->turns;
	other.code = holo_code(&with);
	holo_profile(&other.code, 0, other.stair);
	limits = exact_limits(&with);
	return pixel_counts_take(&other, in, &limits);
}

/* Is the picture exact with these stairs? If so, -1 after fail(). */
static int
refuse_exact(const struct holo *holo, const struct reading *reading, const struct frame *in,
    const struct stairs *stairs)
{
	struct pixel_counts counts = counts_with(holo, reading, in, stairs);
	bool other = stairs->stair != holo->stair, high = stairs->height != holo->stair_height;
	char turns[48] = "";

	if (!pixel_counts_exact(&counts))
		return 0;
	if (high)
		return fail("--stair-height", "the stairs of the picture are %ld levels high, not "
		    "%ld", stairs->height, holo->stair_height);
	if (!other)
		return fail("--stair-turns", "the stairs of the picture have %ld turns, not %ld",
		    stairs->turns, holo->stair_turns);
	if (stairs->stair == HOLO_COSINE)
		snprintf(turns, sizeof(turns), ", of %ld turns", stairs->turns);
	return fail("--stair", "the stairs of the picture are %s%s, not %s",
	    holo_stairs[stairs->stair], turns, holo_stairs[holo->stair]);
}

/* -1 after fail() where other turns, the other shape or another height makes it exact. */
static int
refuse_other(const struct holo *holo, const struct reading *reading, const struct frame *in)
{
	struct stairs stairs = { HOLO_COMPOSITE, holo->stair_height, 0 };
	int status = refuse_exact(holo, reading, in, &stairs);

	stairs.stair = HOLO_COSINE;
	for (; status == 0 && stairs.height > 1 && stairs.turns <= TURNS_MOST; stairs.turns++)
		status = refuse_exact(holo, reading, in, &stairs);
	stairs = (struct stairs){ holo->stair, 2, holo->stair_turns };
	for (; status == 0 && stairs.height <= holo_height_most(holo); stairs.height++)
		status = refuse_exact(holo, reading, in, &stairs);
	return status;
}

int
bare_counts(const struct holo *holo, const struct reading *reading, const struct frame *in,
    struct pixel_counts *counts)
{
	struct stairs given = { holo->stair, holo->stair_height, holo->stair_turns };
	struct exact_limits cut = exact_limits(holo);
	struct pixel_counts angle, whole;

	if ((pixel_counts_exact(counts) && pixel_counts_stairs(counts)) ||
	    counts->points < POINTS_LEAST)
		return 0;
	angle = counts_with(holo, reading, in, &given);
	cut.cut = 0.5f;
	whole = pixel_counts_take(reading, in, &cut);
	if (pixel_counts_exact(&angle) || pixel_counts_exact(&whole)) {
		*counts = pixel_counts_exact(&angle) ? angle : whole;
		return 0;
	}
	return pixel_counts_circle(&angle) ? refuse_other(holo, reading, in) : 0;
}

static void
warn_outside(double share, const char *kind)
{
	warn(NULL, "%.1f %% of the picture%s decode to depths outside of the range, where no "
	    "encoder has any: wrong --pitch, --theta or --layout, or columns were cut off; depths "
	    "are wrong", 100 * share, kind);
}

void
bare_warn_beyond(const struct pixel_counts *counts, struct bare *bare)
{
	double share = (double)counts->beyond / (double)(counts->points ? counts->points : 1);

	if (bare->beyond || share <= BEYOND_MOST)
		return;
	bare->beyond = true;
	warn_outside(share, ", of which nothing was lost,");
}

/* 1: beyond the range; 0: inside; -1: no point. */
static int
beyond_at(const struct holo_code *code, const struct regions *regions, size_t x, size_t at)
{
	float turns = regions->order[at] + regions->rest[at], z, far;

	if (px_isnan(turns))
		return -1;
	z = holo_depth(turns, (float)x, code->turns_per_column, 1 / code->turns_per_depth);
	far = (px_abs(z - 0.5f) - 0.5f) * code->turns_per_depth;
	return far > BEYOND_TURNS;
}

void
bare_warn_beyond_regions(const struct holo_code *code, const struct regions *regions,
    struct bare *bare)
{
	size_t points = 0, beyond = 0;

	for (size_t y = 0; y < regions->h && !bare->beyond; y += ROW_STEP)
		for (size_t x = 0; x < regions->w; x++) {
			int is = beyond_at(code, regions, x, y * regions->w + x);

			points += is >= 0;
			beyond += is > 0;
		}
	if (points < POINTS_LEAST || (double)beyond <= BEYOND_LOSSY * (double)points)
		return;
	bare->beyond = true;
	warn_outside((double)beyond / (double)points, "");
}
