/* Computes the key holo_check of a Holoimage and compares a decoded one with it (holoimage(5)). */
#include "holo/holocheck.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/fail.h"

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
	double n, off_off, off[MOTIONS], row[MOTIONS][MOTIONS];
};

static void
factors(size_t place, const double slope[2], double factor[MOTIONS])
{
	double across = (double)(2 * (place % HOLOCHECK_SIDE) + 1) / HOLOCHECK_SIDE - 1;
	double down = (double)(2 * (place / HOLOCHECK_SIDE) + 1) / HOLOCHECK_SIDE - 1;

	for (int i = 0; i < 2; i++) {
		factor[3 * i] = slope[i];
		factor[3 * i + 1] = slope[i] * across;
		factor[3 * i + 2] = slope[i] * down;
	}
}

static void
add(struct motion_fit *fit, size_t place, double off, const double slope[2])
{
	double factor[MOTIONS];

	factors(place, slope, factor);
	fit->n++;
	fit->off_off += off * off;
	for (int i = 0; i < MOTIONS; i++) {
		fit->off[i] += off * factor[i];
		for (int k = 0; k < MOTIONS; k++)
			fit->row[i][k] += factor[i] * factor[k];
	}
}

/* Solves with `ridge` on the diagonal: where the slopes do not determine a motion, it stays small.
 * The matrix is positive definite, so that no pivot need be sought. */
static void
solve(struct motion_fit fit, double ridge, double motion[MOTIONS])
{
	for (int i = 0; i < MOTIONS; i++)
		fit.row[i][i] += ridge;
	for (int i = 0; i < MOTIONS; i++)
		for (int k = i + 1; k < MOTIONS; k++) {
			double share = fit.row[k][i] / fit.row[i][i];

			for (int j = i; j < MOTIONS; j++)
				fit.row[k][j] -= share * fit.row[i][j];
			fit.off[k] -= share * fit.off[i];
		}
	for (int i = MOTIONS - 1; i >= 0; i--) {
		motion[i] = fit.off[i];
		for (int k = i + 1; k < MOTIONS; k++)
			motion[i] -= fit.row[i][k] * motion[k];
		motion[i] /= fit.row[i][i];
	}
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

/* Is the place another surface than was encoded, or one where there was none? Sets *off, turns. A
 * filter may have dropped it: black decides nothing. */
static bool
is_other(int code, const struct holocheck_seen *seen, double *off)
{
	*off = NAN;
	if (code == HOLOCHECK_UNKNOWN)
		return false;
	if (code == HOLOCHECK_BACKGROUND)
		return seen->black < 0.5;
	if (seen->black > 0)
		return false;
	*off = seen->rest - (double)code / STEPS;
	*off -= floor(*off + 0.5);
	return fabs(*off) > OFF_MOST;
}

/* Was there a surface at the place, and is none now? */
static bool
is_gone(int code, const struct holocheck_seen *seen)
{
	return code >= 0 && seen->black > 0.5;
}

/* Is the place whole turns off? */
static bool
is_turned(int code, const struct holocheck_seen *seen)
{
	double off = seen->turns - (double)code / STEPS;

	return code >= 0 && fabs(off - TURNS * floor(off / TURNS + 0.5)) > 0.5;
}

int
holocheck_compare(
    const int code[HOLOCHECK_PLACES], const struct holocheck_seen *seen, bool filtered)
{
	struct motion_fit fit = { 0 };
	double off, moved, off_most = filtered ? OFF_MOST_RMS_FILTERED : OFF_MOST_RMS;
	int others = 0, known = 0, turned = 0, surface = 0, gone = 0;

	for (size_t i = 0; i < HOLOCHECK_PLACES; i++) {
		bool other = is_other(code[i], &seen[i], &off);

		known += code[i] != HOLOCHECK_UNKNOWN;
		others += other;
		turned += is_turned(code[i], &seen[i]);
		surface += code[i] >= 0;
		gone += is_gone(code[i], &seen[i]);
		if (!other && !isnan(off))
			add(&fit, i, off, seen[i].slope);
	}
	if (others >= PLACES_OFF)
		return fail("holo_check",
		    "the picture is not what was encoded, at %d of %d places: damaged, moved, "
		    "resampled, or another's metadata (framecat --delete holo_check takes it)",
		    others, known);
	if (filtered && gone >= PLACES_OFF && gone > GONE_MOST * surface)
		return fail("holo_check",
		    "the surface is gone at %d of %d places: damaged, moved, or dithered too "
		    "coarsely (framecat --delete holo_check takes it)",
		    gone, surface);
	moved = fit.n < PLACES_LEAST ? 0 : find_motion(&fit);
	if (moved > (filtered ? MOVED_MOST_FILTERED : MOVED_MOST))
		return fail("holo_check",
		    "the picture has been moved or resampled since it was encoded, by %.1f pixels "
		    "(framecat --delete holo_check takes it)",
		    moved);
	if (turned >= PLACES_OFF && turned > TURNED_MOST * fit.n)
		return fail("holo_check",
		    "the picture is whole fringes off what was encoded at %d of %d places: "
		    "damaged, or compressed too much (framecat --delete holo_check takes it)",
		    turned, known);
	if (fit.off_off <= off_most * off_most * fit.n)
		return 0;
	return fail("holo_check",
	    "the picture is not what was encoded, by %.2f fringes (rms): damaged or resampled "
	    "(framecat --delete holo_check takes it)",
	    sqrt(fit.off_off / fit.n));
}
