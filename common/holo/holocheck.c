/* Computes the key holo_check of a Holoimage and compares a decoded one with it (holoimage(5)). */
#include "holo/holocheck.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/linear.h"

#define STEPS 128 /* of a turn */
#define TURNS 31  /* that are distinguished */
#define BACKGROUND_WORD 4095
#define UNKNOWN_WORD 4094

/* Measured on 19 objects: JPEG of quality 30, colour 420, is off by 0.007 turns (rms) and moves by
 * 0.25 pixels; dithered and filtered pictures by 0.013 turns, and 0.42 pixels, once 0.8. */
#define OFF_MOST 0.1	   /* turns, of one place */
#define PLACES_OFF 2	   /* so many are none that a scratch makes */
#define OFF_MOST_RMS 0.025 /* turns, of all the others */
#define OFF_MOST_RMS_FILTERED 0.035 /* a wide kernel moves what is curved by 0.03 */
#define MOVED_MOST 0.5	   /* pixels */
#define MOVED_MOST_FILTERED 1.0
#define TURNED_MOST 0.1 /* of the places, by whole turns; one that lossy coding turns is rare */
#define GONE_MOST 0.25 /* of the places with a surface, by a filter; 0.13 of an intact picture */
#define PLACES_LEAST 8 /* that a motion is found from */
#define DOUBT 4.0      /* standard deviations that halve a motion */
#define LEAST_NOISE (1.0 / STEPS / 3.464) /* turns: of rounding */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void
holocheck_place(size_t w, size_t h, size_t place, size_t *x, size_t *y)
{
	size_t column = place % HOLOCHECK_SIDE, row = place / HOLOCHECK_SIDE;

	*x = (2 * column + 1) * w / (2 * HOLOCHECK_SIDE);
	*y = (2 * row + 1) * h / (2 * HOLOCHECK_SIDE);
}

int
holocheck_code(double turns)
{
	return (int)fmod(floor(turns * STEPS + 0.5), STEPS * TURNS);
}

void
holocheck_write(const int code[HOLOCHECK_PLACES], char text[HOLOCHECK_TEXT + 1])
{
	for (size_t i = 0; i < HOLOCHECK_PLACES; i++) {
		int word = code[i] == HOLOCHECK_BACKGROUND ? BACKGROUND_WORD
		    : code[i] == HOLOCHECK_UNKNOWN	   ? UNKNOWN_WORD
							   : code[i];

		text[2 * i] = digits[word / 64];
		text[2 * i + 1] = digits[word % 64];
	}
	text[HOLOCHECK_TEXT] = '\0';
}

int
holocheck_read(const struct meta *meta, int code[HOLOCHECK_PLACES])
{
	const char *text = meta_get(meta, "holo_check");

	if (!text)
		return 0;
	if (strlen(text) != HOLOCHECK_TEXT || strspn(text, digits) != HOLOCHECK_TEXT)
		return fail("holo_check", "must be %d letters, digits, + and /", HOLOCHECK_TEXT);
	for (size_t i = 0; i < HOLOCHECK_PLACES; i++) {
		int word = 64 * (int)(strchr(digits, text[2 * i]) - digits) +
		    (int)(strchr(digits, text[2 * i + 1]) - digits);

		code[i] = word == BACKGROUND_WORD ? HOLOCHECK_BACKGROUND
		    : word < STEPS * TURNS	  ? word
						  : HOLOCHECK_UNKNOWN;
	}
	return 1;
}

/* ---- comparing ---- */

/*
 * Sums of a least-squares fit of a motion: what is off is slope . (shift + matrix place), the place
 * in -1 .. 1 from side to side; its unknowns, in pixels, and what they are multiplied by.
 */
#define MOTIONS 6

struct motion_fit {
	double n, off_off, off[MOTIONS], row[MOTIONS * MOTIONS];
};

static void
add_place(struct motion_fit *fit, size_t place, double off, const double slope[2])
{
	double across = (double)(2 * (place % HOLOCHECK_SIDE) + 1) / HOLOCHECK_SIDE - 1;
	double down = (double)(2 * (place / HOLOCHECK_SIDE) + 1) / HOLOCHECK_SIDE - 1;
	const double factor[MOTIONS] = { slope[0], slope[0] * across, slope[0] * down, slope[1],
		slope[1] * across, slope[1] * down };

	fit->n++;
	fit->off_off += off * off;
	for (int i = 0; i < MOTIONS; i++) {
		fit->off[i] += off * factor[i];
		for (int k = 0; k < MOTIONS; k++)
			fit->row[MOTIONS * i + k] += factor[i] * factor[k];
	}
}

/* Solves with `ridge` on the diagonal: where the slopes do not determine a motion, it stays
 * small, and the matrix is positive definite. */
static void
solve(struct motion_fit fit, double ridge, double motion[MOTIONS])
{
	for (int i = 0; i < MOTIONS; i++)
		fit.row[(MOTIONS + 1) * i] += ridge;
	memset(motion, 0, MOTIONS * sizeof(*motion));
	if (!symmetric_factor(MOTIONS, fit.row, 0))
		return;
	memcpy(motion, fit.off, sizeof(fit.off));
	symmetric_solve(MOTIONS, fit.row, motion, 1);
}

/* How far the picture has been moved, in pixels, rms over its area, as far as that is sure: slopes,
 * too, have noise, and on a flat surface they are nothing else. */
static double
find_motion(const struct motion_fit *fit)
{
	double motion[MOTIONS], left = fit->off_off, noise;

	solve(*fit, 1e-9, motion);
	for (int i = 0; i < MOTIONS; i++)
		left -= motion[i] * fit->off[i];
	noise = fmax(sqrt(fmax(left, 0) / fmax(fit->n - MOTIONS, 1)), LEAST_NOISE);
	solve(*fit, (DOUBT * DOUBT + fit->n) * noise * noise, motion);
	return sqrt(motion[0] * motion[0] + motion[3] * motion[3] +
	    (motion[1] * motion[1] + motion[2] * motion[2] + motion[4] * motion[4] +
		motion[5] * motion[5]) /
		3);
}

/* Counts of places, whose codes are compared with what is seen. */
struct places {
	int known;	/* with a code */
	int other;	/* another surface than was encoded, or one where there was none */
	int surface;	/* with a surface, as encoded */
	int gone;	/* of these, black now: a filter may have dropped them */
	int turned;	/* of these, whole turns off */
	struct motion_fit fit;	/* of all that are not other ones */
};

static void
compare_place(struct places *places, size_t place, int code, const struct holocheck_seen *seen)
{
	double turns = seen->turns - (double)code / STEPS, off = seen->rest - (double)code / STEPS;

	places->known += code != HOLOCHECK_UNKNOWN;
	places->other += code == HOLOCHECK_BACKGROUND && seen->black < 0.5;
	if (code < 0)
		return;
	places->surface++;
	places->gone += seen->black > 0.5;
	places->turned += fabs(turns - TURNS * floor(turns / TURNS + 0.5)) > 0.5;
	if (seen->black > 0)
		return;
	off -= floor(off + 0.5);
	if (fabs(off) > OFF_MOST)
		places->other++;
	else if (!isnan(off))
		add_place(&places->fit, place, off, seen->slope);
}

int
holocheck_compare(
    const int code[HOLOCHECK_PLACES], const struct holocheck_seen *seen, bool filtered)
{
	double moved, off_most = filtered ? OFF_MOST_RMS_FILTERED : OFF_MOST_RMS;
	struct places n = { 0 };

	for (size_t i = 0; i < HOLOCHECK_PLACES; i++)
		compare_place(&n, i, code[i], &seen[i]);
	if (n.other >= PLACES_OFF)
		return fail("holo_check",
		    "the picture is not what was encoded, at %d of %d places: damaged, moved, "
		    "resampled, or another's metadata (framecat --delete holo_check takes it)",
		    n.other, n.known);
	if (filtered && n.gone >= PLACES_OFF && n.gone > GONE_MOST * n.surface)
		return fail("holo_check",
		    "the surface is gone at %d of %d places: damaged, moved, or dithered too "
		    "coarsely (framecat --delete holo_check takes it)",
		    n.gone, n.surface);
	moved = n.fit.n < PLACES_LEAST ? 0 : find_motion(&n.fit);
	if (moved > (filtered ? MOVED_MOST_FILTERED : MOVED_MOST))
		return fail("holo_check",
		    "the picture has been moved or resampled since it was encoded, by %.1f pixels "
		    "(framecat --delete holo_check takes it)",
		    moved);
	if (n.turned >= PLACES_OFF && n.turned > TURNED_MOST * n.fit.n)
		return fail("holo_check",
		    "the picture is whole fringes off what was encoded at %d of %d places: "
		    "damaged, or compressed too much (framecat --delete holo_check takes it)",
		    n.turned, n.known);
	if (n.fit.off_off <= off_most * off_most * n.fit.n)
		return 0;
	return fail("holo_check",
	    "the picture is not what was encoded, by %.2f fringes (rms): damaged or resampled "
	    "(framecat --delete holo_check takes it)",
	    sqrt(n.fit.off_off / n.fit.n));
}
