/* What becomes of a picture that holodec refuses: one bad frame need not end a video. */
#ifndef HOLODEC_REFUSAL_H
#define HOLODEC_REFUSAL_H

#include "run/stage.h"

enum refusal { REFUSAL_NAN, REFUSAL_SKIP, REFUSAL_STOP };

extern const char *const refusal_words[];

struct refusals {
	size_t all, refused;		/* pictures so far */
	size_t last;			/* run_inputs() of the last refused one, + 1 */
	bool decoded;			/* one of them was */
	bool now;			/* the picture at hand is refused, and gives no depths */
};

/*
 * The picture at hand is refused, as fail() has recorded. word: an enum refusal, or -1 where the
 * option was not given: REFUSAL_STOP with --keep-going, which loses the frame, and as long as
 * nothing has been decoded, else REFUSAL_NAN. What a survey returns: -1, fail()'s record stays;
 * or, after a warning, 0 for NaN or SURVEY_SKIPS.
 */
int refusal_take(struct run *, struct refusals *, int word);
/* The picture at hand is decoded. */
void refusal_none(const struct run *, struct refusals *);
/* All channels but that of the texture (or NO_CHANNEL) become NaN in rows y0 to y1. */
void refusal_rows(struct frame *out, size_t texture, size_t y0, size_t y1);
/* At the end: how many were refused, where not each had its own warning. */
void refusal_conclude(const struct refusals *);
/* The input has ended: -1 after fail() where every picture was left out. */
int refusal_end(const struct refusals *, int word);

#endif
