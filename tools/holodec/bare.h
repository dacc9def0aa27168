/*
 * Pictures that do not say how they were encoded, which other programs made, or took the keys from:
 * whether nothing was lost of them, and how they were rounded, their levels tell.
 */
#ifndef HOLODEC_BARE_H
#define HOLODEC_BARE_H

#include "pixel_counts.h"
#include "regions.h"

struct bare {
	bool picture;	/* the one at hand is such a one */
	bool beyond;	/* a warning was given */
};

/* Is it a picture of 8 bits without keys, of which no option says how it was rounded? */
bool bare_is(const struct holo_options *, const struct frame_head *, bool blurred);
/*
 * counts are those of levels that were each rounded to the nearest. Where the picture is exact with
 * pairs nearest in angle, or with levels that were cut, they become those. -1 after fail() where it
 * is exact with other stairs than those of the options. Pictures of few points are not looked at.
 */
int bare_counts(const struct holo *, const struct reading *, const struct frame *in,
    struct pixel_counts *counts);
/* Of an exact picture: warns of depths outside of the range, which no encoder makes. */
void bare_warn_beyond(const struct pixel_counts *, struct bare *);
/* Of a lossy one: the same, of what regions have found and kept. */
void bare_warn_beyond_regions(const struct holo_code *, const struct regions *, struct bare *);

#endif
