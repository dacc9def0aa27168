/* Fringe and Gray code patterns, and the compensation of the projector response. */
#pragma once

#include <stdio.h>

#include "base/numbers.h"
#include "frame/meta.h"
#include "fringe/manifest.h"
#include "run/stage.h"

/* ---- levels, as shares of full scale, become samples ---- */

enum dither {
	DITHER_NONE = -1,	/* rounded */
	DITHER_BAYER,		/* ordered, 8 x 8 */
	DITHER_FS,		/* Floyd and Steinberg */
	DITHER_FS_SERPENTINE	/* the same, odd rows from the right with the kernel mirrored */
};

/*
 * Channel c of a frame from the levels of its columns, or of its rows (down), on all threads;
 * dithered to 0 and full if wanted (methods §13; thesis ch.8). Full is 255, 65535, or 1 for float
 * and where the key `bits` is 1. -1 after fail().
 */
int levels_fill(struct run *, struct frame *, size_t c, const float *level, bool down,
    enum dither);

/*
 * Tone tables as text: the level to send for each level that the projector shall show.
 *
 * One row per line: `input output`, or `output` alone for the inputs 0, 1, 2, ...; lines that are
 * blank or start with # are skipped. Inputs ascend from 0; the last one is full scale, of both
 * columns: 256 rows from 0 to 255 are 8-bit levels, rows from 0 to 1 are shares.
 */

struct lut {
	size_t n;
	double *input, *output;		/* shares of full scale; input[0] = 0, input[n - 1] = 1 */
};

/* path "-" is standard input. -1 after fail(path, ...). */
int lut_load(const char *path, struct lut *out);
/* Likewise from an open file; path is for messages. */
int lut_read(FILE *, const char *path, struct lut *out);
void lut_free(struct lut *);

/* Replaces n wanted levels by the levels to send, in place: through the table if it has rows, else
 * level^(1/gamma) (methods §1). */
void lut_compensate(const struct lut *, double gamma, float *level, size_t n);

/* The keys that say what was done about the projector's response: `compensation` of patterns and of
 * images of them, and what else names a file. */

/* Sets a key to a file's base name, as in cmd.N. -1 after fail(). */
int compensation_set_file(struct meta *, const char *key, const char *path);
/* Sets the key `compensation` for patterns that go through the table lut_path, or if it is NULL
 * through a power of 1/gamma; removes it where gamma is 1. -1 after fail(). */
int compensation_describe(struct meta *, const char *lut_path, double gamma);

/*
 * The images of a measurement, in the order in which they are projected and captured, and the
 * metadata that describes each one (methods §1).
 *
 * A lead frame comes first, then all fringe images (axis x: first period, second period, ...; then
 * axis y), then the
 * Gray planes (x: most significant first, then their inverses; then y), then the markers (x, y),
 * then white and black.
 */

enum pattern_family {
	FAMILY_SHIFTS,			/* one image per shift */
	FAMILY_SIN_COS_FLAT,		/* 2+1 */
	FAMILY_GRAY			/* no fringes */
};

enum pattern_wave { WAVE_SINE, WAVE_SQUARE, WAVE_DITHERED };	/* of phase-shifted fringes */

/* A frame in front of a set that shows where it begins: the only dark one, the only light one. */
enum pattern_lead { LEAD_NONE = -1, LEAD_BLACK, LEAD_WHITE, LEAD_BOTH };	/* black first */

enum pattern_bits { BITS_1, BITS_8, BITS_16, BITS_FLOAT };	/* of a sample */

struct pattern_spec {
	size_t w, h;			/* of the projector */
	enum pattern_bits bits;		/* BITS_1: uchar samples 0 and 1, and the key bits:=1 */
	bool along[2];			/* axis x, axis y */
	enum pattern_family family;
	enum pattern_wave wave;		/* of FAMILY_SHIFTS */
	struct numbers period_px[2];	/* of axis x, of axis y */
	struct numbers shift_rad;
	enum manifest_cell gray_cell;	/* CELL_NONE: no Gray code */
	bool inverse;			/* inverse Gray planes too */
	bool flats;			/* white and black at the end */
	int lead;			/* enum pattern_lead */
	bool marker;			/* a stripe along every axis; patterns_marker() */
	double marker_px[2], marker_width_px[2];	/* its centre and width, of each axis */
};

struct pattern {
	enum manifest_role role;
	enum pattern_wave wave;		/* of ROLE_PHASE */
	char axis;			/* 'x', 'y'; 0: neither */
	double period_px;		/* NaN where it has no meaning */
	long step;			/* MANIFEST_NO_STEP */
	double shift_rad;		/* NaN where it has no meaning */
	long bit;			/* MANIFEST_NO_BIT */
	double cell_px;			/* width of a Gray cell; NaN */
	double marker_px, marker_width_px;	/* centre and width of a stripe; NaN */
	char name[80];			/* all differ; they sort in the order of the measurement */
};

struct patterns {
	size_t n;
	struct pattern *pattern;
};

/* Sets the shifts: `own` if there are any, else -120, 0, 120 degrees for 3 steps, 360 n/N for every
 * other N (methods §1); 3 steps for OPT_NONE_INTEGER. -1 after fail_usage() when own and steps
 * disagree, or when fewer than 3 of the own differ by more than whole turns. */
int patterns_shifts(struct pattern_spec *, const struct numbers *own_rad, long steps);
/* Sets the periods along the axes in use: `count` of them over the image if any, else `period_px`,
 * else 60 px. -1 after fail_usage() when one does not fit, a count is not whole, or both are
 * given. */
int patterns_periods(struct pattern_spec *, const struct numbers *period_px,
    const struct numbers *count);
/* Sets the marker when the periods are set: a bright stripe of whole columns (rows), half the
 * shortest period wide, so that it lies within one turn of every phase; its centre is the one
 * nearest to at_px (NaN: the middle of the image) at which it does. -1 after fail_usage() where it
 * would lie outside the image. */
int patterns_marker(struct pattern_spec *, double at_px);
void patterns_spec_free(struct pattern_spec *);
/* The phase of projector column (or row) u in turns, in [0, 1), to the nearest float: rounding puts
 * back what the division lost, so that equal phases of different periods are equal numbers. */
float patterns_turn(double u, double period_px, double shift_rad);
/* The cell that projector column (or row) u lies in. A quotient that rounding has left just below a
 * whole number counts as that number. */
size_t patterns_cell(size_t u, double cell_px);
/* The words of enum pattern_lead. */
extern const char *const pattern_leads[];
/* All images; warns of square waves whose shifts are not whole columns. -1 after fail_usage() when
 * the Gray code needs no plane or more than 16, or others are as dark or light as the lead. */
int patterns_plan(const struct pattern_spec *, struct patterns *out);
void patterns_free(struct patterns *);
/* The head of image i: size, type, and the keys bits role axis period_px step steps shift_rad bit
 * gray_cell marker_px marker_width_px set_images name projector_px. Overwrites head. */
void patterns_head(const struct pattern_spec *, const struct patterns *, size_t i,
    struct frame_head *);

/*
 * The grey levels that a projector sends for each image of a measurement (methods §1): sinusoids
 * through its response and out of focus, square waves, Gray code and stripes out of focus, flat
 * images. In double.
 */

#define PROJECTOR_HARMONICS 128

/* In grey levels that a camera sees on a white surface at full illumination. */
struct projector_response {
	double mean, amplitude;		/* of the pattern: white is mean + amplitude, black mean -
					 * amplitude; NaN: 127/255 and 100/255 of full */
	double full;			/* level at which the response is 1 */
	const struct lut *lut;		/* that the pattern goes through first; NULL: none */
	double gamma;			/* the projector sends full (pattern/full)^gamma */
	double defocus_px;		/* sigma of the projector's Gaussian blur */
};

/* Sets full, and mean and amplitude where they are NaN. -1 after fail_usage() where the amplitude
 * exceeds the mean. */
int projector_response_complete(struct projector_response *, double full);

/* One image ready to be computed. */
struct projected_pattern {
	const struct projector_response *response;
	const struct pattern *pattern;
	double dark, bright;		/* levels of patterns of two levels, and of flat images */
	double shift_rad;
	size_t harmonics;		/* sum of harmonic[m] cos(m theta); 0: not used */
	double harmonic[PROJECTOR_HARMONICS];
};

void projected_pattern_init(struct projected_pattern *, const struct projector_response *,
    const struct pattern *);
/* The grey level where the bright pixels of a pattern of two levels contribute this share. */
double projected_pattern_level(const struct projected_pattern *, double share);
/* The grey level at a projector column (or row) of any pattern that is not dithered; column j
 * covers j - 1/2 to j + 1/2. */
double projected_pattern_at(const struct projected_pattern *, double column);
