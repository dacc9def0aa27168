#include "report_sheet.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "image/colormap.h"
#include "image/ticks.h"

#define PANEL_W 840
#define TOP 44
#define LEGEND_LETTERS 16	/* of a pose's name, at most */
#define LEGEND_ROW 20

static void
pose_rgb(size_t pose, double rgb[3])
{
	/* neighbours of the list get colours far apart: steps of the golden section */
	float t = (float)fmod((double)pose * 0.6180339887498949, 1), colour[3];

	colormap_rgb(COLORMAP_TURBO, 0.05f + 0.9f * t, colour);
	for (size_t k = 0; k < 3; k++)
		rgb[k] = 0.88 * (double)colour[k];
}

void
sheet_use_pose(cairo_t *cr, size_t pose)
{
	double rgb[3];

	pose_rgb(pose, rgb);
	libcairo.set_source_rgb(cr, rgb[0], rgb[1], rgb[2]);
}

/* Ticks and numbers of pixels along the bottom and the left of a panel. */
static void
draw_scales(const struct axes *axes)
{
	struct ticks x = ticks_between(axes->x_low, axes->x_high,
	    ticks_step(axes->x_low, axes->x_high, TICKS));
	struct ticks y = ticks_between(axes->y_high, axes->y_low,
	    ticks_step(axes->y_high, axes->y_low, TICKS));
	char text[32];

	drawing_use_ink(axes->cr);
	for (size_t i = 0; i < x.n; i++) {
		double at = drawing_at_x(axes, ticks_value(&x, i));

		ticks_text(ticks_value(&x, i), x.step, text);
		drawing_line(axes->cr, at, axes->bottom, at, axes->bottom + 4);
		drawing_text(axes->cr, at, axes->bottom + 1.5 * FONT, 0.5, text);
	}
	for (size_t i = 0; i < y.n; i++) {
		double at = drawing_at_y(axes, ticks_value(&y, i));

		ticks_text(ticks_value(&y, i), y.step, text);
		drawing_line(axes->cr, axes->left - 4, at, axes->left, at);
		drawing_text(axes->cr, axes->left - 7, at + 0.35 * FONT, 1, text);
	}
}

void
sheet_title(const struct axes *axes, const char *title)
{
	drawing_use_ink(axes->cr);
	drawing_text_within(axes->cr, axes->left, axes->top - 0.7 * FONT, 0,
	    axes->right - axes->left + 40, title);
}

/* Its name, or the beginning of it, or its number from 1. */
static void
pose_label(const struct report_pictures *report, size_t pose, char text[32])
{
	if (report->pose_name)
		snprintf(text, 32, "%.*s", LEGEND_LETTERS, report->pose_name[pose]);
	else
		snprintf(text, 32, "%zu", pose + 1);
}

static void
draw_legend(const struct sheet *sheet, cairo_t *cr, double w, double top)
{
	size_t row = (size_t)((w - LEFT - RIGHT) / (double)sheet->entry);
	size_t poses = sheet->report->problem->poses;

	drawing_use_ink(cr);
	drawing_text(cr, LEFT - 12, top + 0.8 * LEGEND_ROW, 1, "view");
	for (size_t i = 0; i < poses; i++) {
		double x = LEFT + (double)(i % row * sheet->entry);
		double y = top + (double)(i / row * LEGEND_ROW);
		char text[32];

		sheet_use_pose(cr, i);
		libcairo.rectangle(cr, x, y + 6, 12, 12);
		libcairo.fill(cr);
		drawing_use_ink(cr);
		pose_label(sheet->report, i, text);
		drawing_text(cr, x + 16, y + 0.8 * LEGEND_ROW, 0, text);
	}
}

static void
draw_sheet(const struct drawing *drawing, cairo_t *cr)
{
	const struct sheet *sheet = drawing->arg;
	const struct calib_problem *problem = sheet->report->problem;
	size_t rows = (problem->devices + sheet->columns - 1) / sheet->columns;

	drawing_begin(cr);
	for (size_t d = 0; d < problem->devices; d++) {
		double x = (double)(d % sheet->columns) * PANEL_W;
		double y = (double)(d / sheet->columns) * sheet->panel_h;
		double w = (double)problem->device[d].w, h = (double)problem->device[d].h;
		double scale = fmin((PANEL_W - LEFT - sheet->right) / w,
		    (sheet->panel_h - TOP - BOTTOM) / h);
		struct axes axes = { .cr = cr, .left = x + LEFT, .top = y + TOP,
			.right = x + LEFT + scale * w, .bottom = y + TOP + scale * h,
			.x_low = -0.5, .x_high = w - 0.5, .y_low = h - 0.5, .y_high = -0.5 };

		libcairo.save(cr);
		libcairo.rectangle(cr, axes.left, axes.top, scale * w, scale * h);
		libcairo.clip(cr);
		sheet->inside(sheet, d, &axes);
		libcairo.restore(cr);
		drawing_frame(&axes);
		draw_scales(&axes);
		sheet->around(sheet, d, &axes);
		drawing_use_ink(cr);
		drawing_text(cr, (axes.left + axes.right) / 2, axes.bottom + 3.1 * FONT, 0.5,
		    "u, v in px");
	}
	if (sheet->legend > 0)
		draw_legend(sheet, cr, (double)drawing->w, (double)rows * sheet->panel_h);
}

int
sheet_save(struct sheet *sheet, bool legend, const char *path)
{
	const struct calib_problem *problem = sheet->report->problem;
	struct drawing drawing = { .draw = draw_sheet, .arg = sheet };
	size_t rows, row, letters = 0;
	char text[32];

	sheet->columns = problem->devices > 1 ? 2 : 1;
	rows = (problem->devices + sheet->columns - 1) / sheet->columns;
	for (size_t d = 0; d < problem->devices; d++) {
		const struct calib_device *device = &problem->device[d];

		sheet->panel_h = fmax(sheet->panel_h, ceil(TOP + BOTTOM +
		    (PANEL_W - LEFT - sheet->right) * (double)device->h / (double)device->w));
	}
	drawing.w = sheet->columns * PANEL_W;
	for (size_t i = 0; i < problem->poses; i++) {
		pose_label(sheet->report, i, text);
		letters = strlen(text) > letters ? strlen(text) : letters;
	}
	sheet->entry = 30 + 8 * letters;
	row = (size_t)(((double)drawing.w - LEFT - RIGHT) / (double)sheet->entry);
	sheet->legend = legend ? (double)((problem->poses + row - 1) / row * LEGEND_ROW + 10) : 0;
	drawing.h = (size_t)((double)rows * sheet->panel_h + sheet->legend);
	return drawing_save(&drawing, path);
}
