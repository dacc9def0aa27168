/*
 * What sides of different height do to a line's place, and back (Steger 1998, section 3.4; the
 * profile is that of Liu 2016, eq 10). All lengths are over the kernels' sigma.
 */
#ifndef LINE_ASYMMETRY_H
#define LINE_ASYMMETRY_H

#define LINE_ASYMMETRY_RATIOS 33
#define LINE_ASYMMETRY_WIDTHS 33

/* By the ratio of the gradients on both sides, and half the distance of the inflection points. */
struct line_asymmetry {
	float shift[LINE_ASYMMETRY_RATIOS][LINE_ASYMMETRY_WIDTHS];
};

void line_asymmetry_init(struct line_asymmetry *);

struct line_filter;
struct line_candidate;
/* Takes that off a candidate, if the filter is to; half_width in px here. */
void line_asymmetry_correct(const struct line_filter *, struct line_candidate *, float half_width,
    float left, float right);

#endif
