#include "report_pictures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "image/colormap.h"
#include "image/drawing.h"
#include "image/ticks.h"

#define PANEL_W 840
#define TOP 44
#define BAR_W 16
#define BAR_ROOM 92		/* to the right of a map, for its bar of colours */
#define LEGEND_LETTERS 16	/* of a pose's name, at most */
#define LEGEND_ROW 20
#define VECTOR 0.012		/* a residual of one rms is drawn so long, of the picture's width */
#define SD_MOST 6		/* times the rms within the hull: the last colour of a map */

/* A picture of panels, two in a row. */
struct sheet {
	const struct report_pictures *report;
	/* draws within the axes, and what stands around them */
	void (*inside)(const struct sheet *, size_t device, const struct axes *);
	void (*around)(const struct sheet *, size_t device, const struct axes *);
	double panel_h, right;	/* height of a panel; room at the right of its axes */
	size_t columns;
	double legend;		/* height of the legend below all panels; 0: none */
	size_t entry;		/* width of a swatch and a pose's name */
	double factor;		/* of residuals */
};

static void
pose_rgb(size_t pose, double rgb[3])
{
	/* neighbours of the list get colours far apart: steps of the golden section */
	float t = (float)fmod((double)pose * 0.6180339887498949, 1), colour[3];

	colormap_rgb(COLORMAP_TURBO, 0.05f + 0.9f * t, colour);
	for (size_t k = 0; k < 3; k++)
		rgb[k] = 0.88 * (double)colour[k];
}

static void
use_pose(cairo_t *cr, size_t pose)
{
	double rgb[3];

	pose_rgb(pose, rgb);
	cairo_set_source_rgb(cr, rgb[0], rgb[1], rgb[2]);
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

static void
draw_title(const struct axes *axes, const char *title)
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

		use_pose(cr, i);
		cairo_rectangle(cr, x, y + 6, 12, 12);
		cairo_fill(cr);
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

		cairo_save(cr);
		cairo_rectangle(cr, axes.left, axes.top, scale * w, scale * h);
		cairo_clip(cr);
		sheet->inside(sheet, d, &axes);
		cairo_restore(cr);
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

static int
save_sheet(struct sheet *sheet, bool legend, const char *path)
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

/* ---- residuals ---- */

static void
draw_residual(const struct axes *axes, const struct calib_point *point,
    const struct calib_residual *residual, double factor)
{
	double x = drawing_at_x(axes, point->u), y = drawing_at_y(axes, point->v);

	if (residual->rejected) {
		drawing_line(axes->cr, x - 4, y - 4, x + 4, y + 4);
		drawing_line(axes->cr, x - 4, y + 4, x + 4, y - 4);
		return;
	}
	drawing_line(axes->cr, x, y, drawing_at_x(axes, point->u + factor * residual->u),
	    drawing_at_y(axes, point->v + factor * residual->v));
	cairo_arc(axes->cr, x, y, 1.3, 0, 2 * M_PI);
	cairo_fill(axes->cr);
}

static void
residuals_inside(const struct sheet *sheet, size_t device, const struct axes *axes)
{
	const struct calib_problem *problem = sheet->report->problem;

	cairo_set_line_width(axes->cr, 1.2);
	for (size_t v = 0; v < problem->views; v++) {
		const struct calib_view *view = &problem->view[v];

		use_pose(axes->cr, view->pose);
		for (size_t k = view->first; view->device == device && k < view->first + view->n;
		    k++)
			draw_residual(axes, &problem->point[k],
			    &sheet->report->solution->residual[k], sheet->factor);
	}
}

static void
residuals_around(const struct sheet *sheet, size_t device, const struct axes *axes)
{
	const struct calib_problem *problem = sheet->report->problem;
	size_t rejected = 0;
	char title[200];

	for (size_t v = 0; v < problem->views; v++) {
		const struct diagnosis_view *view = &sheet->report->diagnosis->view[v];

		rejected += problem->view[view->view].device == device ? view->rejected : 0;
	}
	snprintf(title, sizeof(title), "%s: residuals x %g, rms %.3g px%s", problem->device[device].name,
	    sheet->factor, sheet->report->solution->device_rms[device],
	    rejected ? "; a cross: left out" : "");
	draw_title(axes, title);
}

int
report_residuals(const struct report_pictures *report, const char *path)
{
	struct sheet sheet = { .report = report, .inside = residuals_inside,
		.around = residuals_around, .right = RIGHT, .factor = 1 };
	double most = 0;

	for (size_t d = 0; d < report->problem->devices; d++)
		most = fmax(most, report->solution->device_rms[d] /
		    (double)report->problem->device[d].w);
	if (most > 0)		/* 1, 2 or 5 times a power of ten, 1e9 at most */
		sheet.factor = ticks_step(0, fmin(VECTOR / most, 1e9), 1.01);
	return save_sheet(&sheet, true, path);
}

/* ---- coverage ---- */

static void
hull_path(const struct sheet *sheet, size_t device, const struct axes *axes)
{
	const struct diagnosis_device *d = &sheet->report->diagnosis->device[device];

	cairo_new_path(axes->cr);
	for (size_t i = 0; i < d->hull_corners; i++)
		cairo_line_to(axes->cr, drawing_at_x(axes, d->hull[i][0]),
		    drawing_at_y(axes, d->hull[i][1]));
	cairo_close_path(axes->cr);
}

static void
coverage_inside(const struct sheet *sheet, size_t device, const struct axes *axes)
{
	const struct calib_problem *problem = sheet->report->problem;

	hull_path(sheet, device, axes);
	cairo_set_source_rgb(axes->cr, 0.91, 0.95, 0.99);
	cairo_fill_preserve(axes->cr);
	cairo_set_source_rgb(axes->cr, 0.25, 0.45, 0.7);
	cairo_set_line_width(axes->cr, 1.5);
	cairo_stroke(axes->cr);
	for (size_t v = 0; v < problem->views; v++) {
		const struct calib_view *view = &problem->view[v];

		use_pose(axes->cr, view->pose);
		for (size_t k = view->first; view->device == device && k < view->first + view->n;
		    k++) {
			if (sheet->report->solution->residual[k].rejected)
				continue;
			cairo_arc(axes->cr, drawing_at_x(axes, problem->point[k].u),
			    drawing_at_y(axes, problem->point[k].v), 2, 0, 2 * M_PI);
			cairo_fill(axes->cr);
		}
	}
}

static void
coverage_around(const struct sheet *sheet, size_t device, const struct axes *axes)
{
	double share = sheet->report->diagnosis->device[device].coverage;
	char title[200];

	snprintf(title, sizeof(title), "%s: the points' hull takes %.0f %% of the picture%s",
	    sheet->report->problem->device[device].name, 100 * share,
	    share < DIAGNOSIS_COVERAGE ? ": too little" : "");
	draw_title(axes, title);
}

int
report_coverage(const struct report_pictures *report, const char *path)
{
	struct sheet sheet = { .report = report, .inside = coverage_inside,
		.around = coverage_around, .right = RIGHT };

	return save_sheet(&sheet, true, path);
}

/* ---- uncertainty ---- */

static double
map_largest(const struct uncertainty_map *map)
{
	double most = 0;

	for (size_t i = 0; i < map->columns * map->rows; i++)
		if (map->sd[i] > most)
			most = map->sd[i];
	return most;
}

/* The value of the last colour: the largest, or, where a lens that nothing holds runs away beyond
 * the points, some times what it is among them. 0: there is none. */
static double
map_most(const struct uncertainty_map *map)
{
	double most = map_largest(map);

	return map->rms > 0 ? fmin(most, SD_MOST * map->rms) : most;
}

static void
use_value(cairo_t *cr, double share)
{
	float rgb[3];

	colormap_rgb(COLORMAP_VIRIDIS, (float)share, rgb);
	cairo_set_source_rgb(cr, (double)rgb[0], (double)rgb[1], (double)rgb[2]);
}

static void
uncertainty_inside(const struct sheet *sheet, size_t device, const struct axes *axes)
{
	const struct uncertainty_map *map = &sheet->report->uncertainty[device];
	double most = map_most(map), dx = (axes->x_high - axes->x_low - 1) /
	    ((double)map->columns - 1), dy = (axes->y_low - axes->y_high - 1) /
	    ((double)map->rows - 1);

	cairo_set_antialias(axes->cr, CAIRO_ANTIALIAS_NONE);
	for (size_t i = 0; i < map->columns * map->rows; i++) {
		double x = dx * ((double)(i % map->columns) - 0.5);
		double y = dy * ((double)(i / map->columns) - 0.5), left, top;

		if (isnan(map->sd[i]))
			cairo_set_source_rgb(axes->cr, 0, 0, 0);
		else
			use_value(axes->cr, most > 0 ? fmin(1, map->sd[i] / most) : 0);
		left = floor(drawing_at_x(axes, x));
		top = floor(drawing_at_y(axes, y));
		cairo_rectangle(axes->cr, left, top, ceil(drawing_at_x(axes, x + dx)) - left,
		    ceil(drawing_at_y(axes, y + dy)) - top);
		cairo_fill(axes->cr);
	}
	cairo_set_antialias(axes->cr, CAIRO_ANTIALIAS_DEFAULT);
	hull_path(sheet, device, axes);
	cairo_set_source_rgb(axes->cr, 1, 1, 1);
	cairo_set_line_width(axes->cr, 1.5);
	cairo_set_dash(axes->cr, (const double[]){ 6, 4 }, 2, 0);
	cairo_stroke(axes->cr);
	cairo_set_dash(axes->cr, NULL, 0, 0);
}

static void
draw_bar(const struct axes *axes, double most, bool more)
{
	struct axes bar = { .cr = axes->cr, .left = axes->right + 16,
		.right = axes->right + 16 + BAR_W, .top = axes->top, .bottom = axes->bottom,
		.x_high = 1, .y_high = most };
	struct ticks ticks = ticks_between(0, most, ticks_step(0, most, TICKS));
	double steps = bar.bottom - bar.top;
	char text[32];

	for (double i = 0; i < steps; i++) {
		use_value(bar.cr, (steps - i) / steps);
		cairo_rectangle(bar.cr, bar.left, bar.top + i, BAR_W, 1);
		cairo_fill(bar.cr);
	}
	drawing_frame(&bar);
	for (size_t i = 0; i < ticks.n; i++) {
		double at = drawing_at_y(&bar, ticks_value(&ticks, i));

		ticks_text(ticks_value(&ticks, i), ticks.step, text);
		drawing_line(bar.cr, bar.right, at, bar.right + 4, at);
		drawing_text(bar.cr, bar.right + 7, at + 0.35 * FONT, 0, text);
	}
	drawing_text(bar.cr, bar.right + 40, bar.bottom + 1.5 * FONT, 1, "sd, px");
	if (more)
		drawing_text(bar.cr, bar.right + 40, bar.top - 0.7 * FONT, 1, "or more");
}

static void
uncertainty_around(const struct sheet *sheet, size_t device, const struct axes *axes)
{
	const struct uncertainty_map *map = &sheet->report->uncertainty[device];
	const struct calib_problem *problem = sheet->report->problem;
	double most = map_most(map);
	char title[200];

	snprintf(title, sizeof(title), "%s at %.4g %s: sd %.2g px rms within the hull; with the "
	    "rig's place and turn %.2g px", problem->device[device].name, map->distance,
	    problem->board.unit, map->rms, map->rms_all);
	draw_title(axes, title);
	if (ticks_range_fits(0, most))
		draw_bar(axes, most, most < map_largest(map));
}

int
report_uncertainty(const struct report_pictures *report, const char *path)
{
	struct sheet sheet = { .report = report, .inside = uncertainty_inside,
		.around = uncertainty_around, .right = BAR_ROOM };

	return save_sheet(&sheet, false, path);
}
