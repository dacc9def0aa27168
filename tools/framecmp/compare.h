/* How much two channels of the same size differ. */
#ifndef COMPARE_H
#define COMPARE_H

#include <stdio.h>

#include "run/stage.h"

struct comparison {		/* of one channel of A with one of B */
	size_t n;		/* samples that are numbers in both */
	size_t only_a, only_b;	/* samples that are NaN in one alone */
	size_t bits;		/* samples whose bits differ; two NaN are alike */
	double max, rms, mean;	/* of |a - b|, (a - b)^2, a - b; NaN where n = 0 */
	double relative;	/* largest |a - b| / max(|a|, |b|) */
	double ulp;		/* largest distance in representable numbers */
	double *size;		/* |a - b| of the n samples, in no order */
};

struct compare_how {
	size_t margin;		/* pixels left out at every border */
	bool turns;		/* differences of whole turns (2 pi) count as none */
};

/* Channel ca of a, cb of b: same size and type, larger than twice the margin. -1 after fail(). */
int compare_channels(const struct frame *a, size_t ca, const struct frame *b, size_t cb,
    const struct compare_how *, struct comparison *);
void comparison_free(struct comparison *);

/* ---- limits ---- */

enum compare_nan { COMPARE_NAN_AGREE, COMPARE_NAN_IGNORE };
extern const char *const compare_nans[];	/* the words, for an option */

struct compare_limits {		/* NaN, or n = 0: no limit; without any, all bits must agree */
	double max, rms, relative, ulp;
	struct numbers quantile;	/* share, limit, share, limit ... */
	int nan;			/* enum compare_nan */
};

bool compare_limited(const struct compare_limits *);
/* Are all limits kept? Appends ", what was seen <= or > what is allowed" for each to line. */
bool compare_judge(struct comparison *, const struct compare_limits *, FILE *line);

void compare_table_head(FILE *);
void compare_table_row(FILE *, size_t frame, const char *channel, struct comparison *);

/* ---- sizes ---- */

/* Whether two frames differ in size, in the number of points, or in being a table: 1, and why, in
 * text; 0; -1 after fail(). */
int compare_sizes(const struct frame_head *, const struct frame_head *, char *text, size_t size);

/* ---- metadata ---- */

/* Whether two heads' metadata differ (cmd.N and order excepted), and why, in text. */
bool compare_metadata(const struct frame_head *, const struct frame_head *, char *text,
    size_t size);

#endif
