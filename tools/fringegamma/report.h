/* What was found, as text, as JSON, and as the files that fringegen and phasewrap read. */
#ifndef REPORT_H
#define REPORT_H

#include <stdio.h>

#include "flats.h"
#include "fringe/capture_set.h"
#include "harmonic_fit.h"
#include "response.h"
#include "uneven.h"

enum method { BY_HARMONICS, BY_GAMMA, BY_UNEVEN, BY_FLATS };

/* What was found of one set of fringes, or of flats. */
struct finding {
	enum method method;		/* BY_GAMMA: few steps; harmonics are the gamma's */
	char axis;			/* 0: of flats */
	double period_px;		/* NaN: not known */
	size_t images;
	size_t total, lit, saturated, used;	/* pixels */
	size_t w, h;			/* of the picture */
	double sign, origin_rad;	/* of the shifts */
	struct harmonic_fit *fit;	/* NULL: not by harmonics */
	struct response_harmonics harmonics;
	bool has_harmonics;
	bool of_gamma;			/* they are the gamma's: measured ones agree with them */
	struct response_gamma gamma;
	struct uneven_gamma uneven;
	struct flats flats;
};

struct findings {
	size_t n;
	struct finding *finding;
	struct response_levels levels;
	char compensation[1024];		/* of the patterns; "": none */
};

void report_text(const struct findings *, FILE *);
void report_json(const struct findings *, FILE *);
/* The table for phasewrap --harmonics. */
void report_harmonics(const struct findings *, FILE *);
/* The table for fringegen --lut: from the finding that `table` was made of. */
void report_lut(const struct findings *, const struct finding *, const double *table, FILE *);

#endif
