/* A picture of a report: a panel with axes in pixels for each device, two in a row, and a legend of
 * the poses' colours below. */
#ifndef REPORT_SHEET_H
#define REPORT_SHEET_H

#include "image/drawing.h"
#include "report_pictures.h"

#define SHEET_BAR_ROOM 92	/* to the right of a panel's axes, for a bar of colours */

struct sheet {
	const struct report_pictures *report;
	/* draws within the axes, and what stands around them */
	void (*inside)(const struct sheet *, size_t device, const struct axes *);
	void (*around)(const struct sheet *, size_t device, const struct axes *);
	double right;		/* room at the right of a panel's axes */
	double factor;		/* of residuals */
	/* set by sheet_save() */
	double panel_h;		/* height of a panel */
	size_t columns;
	double legend;		/* height of the legend below all panels; 0: none */
	size_t entry;		/* width of a swatch and a pose's name */
};

/* Draws it into a file. -1 after fail(). */
int sheet_save(struct sheet *, bool legend, const char *path);
/* The colour of a pose for what is drawn next. */
void sheet_use_pose(cairo_t *, size_t pose);
/* Above a panel, at its left. */
void sheet_title(const struct axes *, const char *title);

#endif
