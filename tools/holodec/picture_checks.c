/*
 * Is the picture a Holoimage, of these options, as it was encoded? The checks of holodec: counts of
 * pixels, pictures without keys, changed levels, mirrored and turned pictures, palettes, and the
 * places of the key holo_check. The first, those without keys and the last may refuse a picture,
 * the others warn.
 */
#include "holodec.h"

#include <stdio.h>

/* ---- counts of pixels ---- */

/* Rounding puts no depth so far outside of the cube: it moves phases by 0.002 turns. */
#define BEYOND_TURNS 0.02f

/* Pairs of levels nearest in angle lie up to 3.39 off the circle, and 0.0039 rad off the angle that
 * the stair was computed from. Where each level was rounded by itself, the circle tells enough. */
struct exact_limits
exact_limits_of(const struct holo *holo)
{
	struct holo_code code = holo_code(holo);
	bool angle = holo->rounding == HOLO_ANGLE;
	float far = (float)holo->low, near = (float)holo->high;

	return (struct exact_limits){ .circle = angle ? 3.4f : 1.0f,
		.stair = angle ? 0.6f + 0.004f * code.swing * code.waves : INFINITY,
		.stair_height = code.height,
		.middle = (far + near) / 2,
		.reach = (near - far) * (0.5f + BEYOND_TURNS / code.turns_per_depth) };
}

static double
percent(size_t part, size_t of)
{
	return of ? 100 * (double)part / (double)of : 0;
}

/* Have R and G, and the background, levels of an encoder? */
static bool
pixel_counts_circle(const struct pixel_counts *counts)
{
	return percent(counts->inexact, counts->pixels) <= 0.1;
}

/* Do nearly all points lie near a stair? */
static bool
pixel_counts_stairs(const struct pixel_counts *counts)
{
	return percent(counts->off_stair, counts->points) <= 10;
}

bool
pixel_counts_exact(const struct pixel_counts *counts)
{
	return percent(counts->inexact + counts->off_level, counts->pixels) <= 0.1;
}

/* A picture that is something else must not become a surface. Measured: a JPEG of quality 50 and
 * colour 420 has 3 % off the circle and 5 % outside; one with two channels exchanged 50 and 70 %.
 */
int
pixel_counts_check(const struct pixel_counts *counts, const struct frame_head *head, bool blurred)
{
	bool exact = pixel_counts_exact(counts);
	/* a Gaussian over a dithered picture leaves 20 % and more so far off */
	int off_most = head->type == SAMPLE_FLOAT || blurred ? 40 : HOLO_OFF_CIRCLE_MOST_PERCENT;

	if (counts->points && !counts->coloured)
		return fail(NULL, "the picture is grey: a Holoimage has fringes in colour");
	if (percent(counts->off_circle, counts->points) > off_most)
		return fail(NULL,
		    "the picture is no Holoimage%s: red and green are no fringes in %.0f %% of it",
		    !meta_get(&head->meta, "holo_pitch_px") || exact ? "" :
		    ", or its fringes are too fine for colour of half resolution (holoenc with a "
		    "larger --pitch)", percent(counts->off_circle, counts->points));
	if (pixel_counts_circle(counts) && !blurred && !pixel_counts_stairs(counts))
		return fail(NULL,
		    "the stairs are not those of the picture in %.0f %% of it: wrong --stair, "
		    "--stair-height, --stair-turns or --layout?",
		    percent(counts->off_stair, counts->points));
	if (percent(counts->outside, counts->points) > (exact ? 10 : 15))
		return fail(NULL,
		    "%.0f %% of the picture decode to depths outside of the range: wrong --pitch "
		    "or --theta?",
		    percent(counts->outside, counts->points));
	return 0;
}

/*
 * ---- pictures without keys ----
 *
 * Other programs made them, or took the keys from them. Their levels tell whether they are exact,
 * and how they were rounded.
 */

#define TURNS_MOST 64	/* of --stair-turns */
#define POINTS_LEAST 256 /* fewer may be exact by chance */
/* Share of an exact picture's points beyond the range: none is, but up to 0.001 of its pixels may
 * be damaged. */
#define BEYOND_MOST 0.005
/*
 * The same of a lossy picture. Measured in the range that the depths fill, on five objects, pitches
 * of 16 to 42, both layouts, JPEG of quality 50 to 95 at full and at halved colour: none of 146
 * right pictures has so many points so far beyond, 87 of 142 with 3 % too much of pitch and 69 of
 * 139 with an angle of 29 for 30 degrees have.
 */
#define BEYOND_LOSSY 0.02

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
	limits = exact_limits_of(&with);
	return holodec_rows()->count_pixels(&other, in, &limits);
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
	struct exact_limits cut = exact_limits_of(holo);
	struct pixel_counts angle, whole;

	if ((pixel_counts_exact(counts) && pixel_counts_stairs(counts)) ||
	    counts->points < POINTS_LEAST)
		return 0;
	angle = counts_with(holo, reading, in, &given);
	cut.cut = 0.5f;
	whole = holodec_rows()->count_pixels(reading, in, &cut);
	if (pixel_counts_exact(&angle) || pixel_counts_exact(&whole)) {
		*counts = pixel_counts_exact(&angle) ? angle : whole;
		return 0;
	}
	return pixel_counts_circle(&angle) ? refuse_other(holo, reading, in) : 0;
}

/* One line, once, where more than this share of the points lies beyond. */
static void
warn_outside(struct bare *bare, size_t beyond, size_t points, double most, const char *kind)
{
	double share = (double)beyond / (double)(points ? points : 1);

	if (bare->beyond || share <= most)
		return;
	bare->beyond = true;
	warn(NULL, "%.1f %% of the picture%s decode to depths outside of the range, where no "
	    "encoder has any: wrong --pitch, --theta or --layout, or columns were cut off; depths "
	    "are wrong", 100 * share, kind);
}

void
bare_warn_beyond(const struct pixel_counts *counts, struct bare *bare)
{
	warn_outside(bare, counts->beyond, counts->points, BEYOND_MOST,
	    ", of which nothing was lost,");
}

void
bare_warn_beyond_regions(const struct holo_code *code, const struct regions *regions,
    struct bare *bare)
{
	size_t points = 0, beyond = 0;

	if (!bare->beyond)
		holodec_rows()->count_beyond(regions, code, &points, &beyond);
	if (points >= POINTS_LEAST)
		warn_outside(bare, beyond, points, BEYOND_LOSSY, "");
}

/*
 * ---- changed levels, and mirrored or turned pictures ----
 *
 * Without the key holo_check no place tells whether a picture is as it was encoded, but fringes do:
 * they lie on a circle of known centre and radius, and their phase rises along the rows.
 */

/* Phase falls along rows only where the surface is turned away from the projector: on at most 20 %
 * of these objects and of frames of a depth camera, but on 80 % and more of mirrored ones. Down the
 * columns it changes more than along rows on at most 37 %, on 63 % and more of those that were
 * turned by a quarter; a steep ramp does so, too, but rises everywhere. */
#define TURNED_POINTS_LEAST 500
#define FALLS_MOST 0.6
#define ACROSS_MOST 0.58
#define FALLS_ACROSS 0.15

static bool
warn_turned(const struct step_counts *counts)
{
	double falls, across;

	if (counts->points < TURNED_POINTS_LEAST)
		return false;
	falls = (double)counts->falls / (double)counts->points;
	across = (double)counts->across / (double)counts->points;
	if (across > ACROSS_MOST && falls > FALLS_ACROSS)
		warn(NULL,
		    "the picture seems to be turned by a quarter or transposed: in %.0f %% of it "
		    "the phase changes more down the columns than along the rows; depths are wrong",
		    100 * across);
	else if (falls > FALLS_MOST)
		warn(NULL,
		    "the picture seems to be mirrored or turned: in %.0f %% of it the phase falls "
		    "along the rows, where it rises on what the projector sees; depths are wrong",
		    100 * falls);
	else
		return false;
	return true;
}

void
altered_warn(const struct reading *reading, const struct frame *in, bool levels,
    struct altered *altered)
{
	struct step_counts counts;
	bool bare = !meta_get(&in->head.meta, "holo_check");

	levels &= in->head.type == SAMPLE_UCHAR && !altered->levels;
	bare &= !altered->turned;
	if (!levels && !bare)
		return;
	holodec_rows()->count_steps(reading, in, &counts);
	if (levels)
		altered->levels = fringe_circle_warn(&counts.circle);
	if (bare)
		altered->turned = warn_turned(&counts);
}

/* ---- palettes ---- */

void
palette_warn(const struct frame *frame, size_t row_step, bool *warned)
{
	size_t colours = *warned ? PALETTE_MOST + 1
				 : holodec_rows()->count_colours(frame, row_step);

	if (colours > PALETTE_MOST)
		return;
	*warned = true;
	warn(NULL,
	    "the picture has only %zu colours, as a palette leaves: its depths are far off "
	    "(save it with 24 bits a pixel)",
	    colours);
}

/* ---- places of the key holo_check ---- */

int
check_picture(const struct reading *reading, const struct regions *regions,
    const struct frame *in)
{
	struct holocheck_seen seen[HOLOCHECK_PLACES];
	int code[HOLOCHECK_PLACES], found = holocheck_read(&in->head.meta, code);
	size_t x, y;

	if (found <= 0)
		return found;
	for (size_t i = 0; i < HOLOCHECK_PLACES; i++) {
		holocheck_place(in->head.w, in->head.h, i, &x, &y);
		seen[i] = holodec_rows()->look_at_place(reading, in, x, y);
		seen[i].turns = regions ? (double)(regions->order[y * in->head.w + x] +
					      regions->rest[y * in->head.w + x])
					: NAN;
	}
	return holocheck_compare(code, seen, in->head.type == SAMPLE_FLOAT);
}
