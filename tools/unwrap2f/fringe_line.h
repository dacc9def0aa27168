/*
 * The line that orders a beat which repeats within the field (methods §5; Karpinsky 2014 eq 14;
 * thesis fig 4.3): 2 pi x/P + b, x in pixels of the sensor along the fringe axis, with the beats of
 * a plane at the near and at the far end of the working volume half a turn above it.
 */
#ifndef FRINGE_LINE_H
#define FRINGE_LINE_H

#include "temporal.h"

struct fringe_line {
	struct temporal temporal;	/* which channels; from the plan */
	double first_px, bin;
	size_t n;			/* planes */
	struct fringe_line_plane {
		double slope;		/* rad per sensor pixel */
		double middle_rad;	/* beat in the middle of the image, mod 2 pi */
		double first_px, last_px;	/* the image's ends on the sensor */
	} *plane;
};

int fringe_line_plan(struct fringe_line *, const struct frame_head *, const struct temporal *);
/* Adds the plane that a frame shows. -1 after fail(). */
int fringe_line_add(struct fringe_line *, const struct frame *);
/* Writes it as the option --line=P,DEG; path NULL: to standard output. */
int fringe_line_print(const struct fringe_line *, const char *path);
void fringe_line_free(struct fringe_line *);

#endif
