/*
 * The images of a measurement and the light that a projector sends for each (methods §1): sinusoids
 * through its response and out of focus, Gray code out of focus, flat images. In double.
 */
#ifndef LIGHT_H
#define LIGHT_H

#include <stdbool.h>
#include <stddef.h>

#include "manifest.h"
#include "opt.h"

#define LIGHT_HARMONICS 128

/* Grey levels that a white surface in full view sends back. */
struct light {
	double mean, amplitude;		/* of the pattern: white is mean + amplitude, black mean - amplitude;
					 * NaN: 127/255 and 100/255 of full, so that nothing saturates */
	double full;			/* what the projector's response is 1 for */
	double gamma;			/* full (pattern/full)^gamma comes out */
	double defocus_px;		/* sigma of the projector's Gaussian blur */
};

/* Sets full and what is NaN. -1 after fail_usage() where the amplitude exceeds the mean. */
int light_complete(struct light *, double full);

struct shot {
	enum manifest_role role;
	char name[40];			/* key `name` */
	char axis;			/* x, y; 0: neither */
	double period_px;		/* NaN: none */
	long step, bit;			/* -1: none */
	double shift_rad;		/* NaN: none */
};

struct shots {
	size_t n;
	struct shot *shot;
	long steps;			/* N */
	enum manifest_cell gray_cell;	/* CELL_NONE: no Gray code */
};

enum shots_kind { SHOTS_STEP, SHOTS_2_PLUS_1 };
enum shots_axis { SHOTS_X, SHOTS_Y, SHOTS_BOTH };

/* Options; lists are empty, words and numbers -1 or OPT_NONE_INTEGER where they were not given. */
struct shots_options {
	struct numbers period, shift;
	long steps;
	int kind, axis;			/* enum shots_kind, shots_axis */
	int gray;			/* enum manifest_cell */
	bool inverse, flats;
};

/* Do the options go together? -1 after fail_usage(). */
int shots_check(const struct shots_options *);
/* In the order of a measurement: fringes, Gray planes, their inverses, white and black. -1 after fail(). */
int shots_list(const struct shots_options *, const double projector_px[2], struct shots *);
void shots_free(struct shots *);
/* role axis period_px step steps shift_rad bit gray_cell set_images name (behind `prefix`). */
int shot_describe(const struct shots *, const struct shot *, const char *prefix, struct meta *);

/* One image ready to be computed. */
struct beam {
	const struct light *light;
	const struct shot *shot;
	double dark, bright;		/* levels of Gray code and flat images */
	double cell_px;			/* of Gray code */
	size_t harmonics;		/* sum of harmonic[m] cos(m theta); 0: response of a sharp sinusoid */
	double harmonic[LIGHT_HARMONICS];
	double shift_rad;
};

/* period_px: the one that Gray code counts. */
void beam_init(struct beam *, const struct light *, const struct shots *, const struct shot *,
    double period_px);
/* The light at a projector column (or row), grey levels. */
double beam_at(const struct beam *, double column);

#endif
