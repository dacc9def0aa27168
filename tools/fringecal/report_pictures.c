#include "report_pictures.h"

#include <math.h>
#include <stdio.h>

#include "image/colormap.h"
#include "image/ticks.h"
#include "report_sheet.h"

#define BAR_W 16
#define VECTOR 0.012		/* a residual of one rms is drawn so long, of the picture's width */
#define SD_MOST 6		/* times the rms within the hull: the last colour of a map */

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
	libcairo.arc(axes->cr, x, y, 1.3, 0, 2 * M_PI);
	libcairo.fill(axes->cr);
}

static void
residuals_inside(const struct sheet *sheet, size_t device, const struct axes *axes)
{
	const struct calib_problem *problem = sheet->report->problem;

	libcairo.set_line_width(axes->cr, 1.2);
	for (size_t v = 0; v < problem->views; v++) {
		const struct calib_view *view = &problem->view[v];

		sheet_use_pose(axes->cr, view->pose);
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
	snprintf(title, sizeof(title), "%s: residuals x %g, rms %.3g px%s",
	    problem->device[device].name, sheet->factor,
	    sheet->report->solution->device_rms[device],
	    rejected ? "; a cross: left out" : "");
	sheet_title(axes, title);
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
	return sheet_save(&sheet, true, path);
}

/* ---- coverage ---- */

static void
hull_path(const struct sheet *sheet, size_t device, const struct axes *axes)
{
	const struct diagnosis_device *d = &sheet->report->diagnosis->device[device];

	libcairo.new_path(axes->cr);
	for (size_t i = 0; i < d->hull_corners; i++)
		libcairo.line_to(axes->cr, drawing_at_x(axes, d->hull[i][0]),
		    drawing_at_y(axes, d->hull[i][1]));
	libcairo.close_path(axes->cr);
}

static void
coverage_inside(const struct sheet *sheet, size_t device, const struct axes *axes)
{
	const struct calib_problem *problem = sheet->report->problem;

	hull_path(sheet, device, axes);
	libcairo.set_source_rgb(axes->cr, 0.91, 0.95, 0.99);
	libcairo.fill_preserve(axes->cr);
	libcairo.set_source_rgb(axes->cr, 0.25, 0.45, 0.7);
	libcairo.set_line_width(axes->cr, 1.5);
	libcairo.stroke(axes->cr);
	for (size_t v = 0; v < problem->views; v++) {
		const struct calib_view *view = &problem->view[v];

		sheet_use_pose(axes->cr, view->pose);
		for (size_t k = view->first; view->device == device && k < view->first + view->n;
		    k++) {
			if (sheet->report->solution->residual[k].rejected)
				continue;
			libcairo.arc(axes->cr, drawing_at_x(axes, problem->point[k].u),
			    drawing_at_y(axes, problem->point[k].v), 2, 0, 2 * M_PI);
			libcairo.fill(axes->cr);
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
	sheet_title(axes, title);
}

int
report_coverage(const struct report_pictures *report, const char *path)
{
	struct sheet sheet = { .report = report, .inside = coverage_inside,
		.around = coverage_around, .right = RIGHT };

	return sheet_save(&sheet, true, path);
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
	libcairo.set_source_rgb(cr, (double)rgb[0], (double)rgb[1], (double)rgb[2]);
}

static void
uncertainty_inside(const struct sheet *sheet, size_t device, const struct axes *axes)
{
	const struct uncertainty_map *map = &sheet->report->uncertainty[device];
	double most = map_most(map), dx = (axes->x_high - axes->x_low - 1) /
	    ((double)map->columns - 1), dy = (axes->y_low - axes->y_high - 1) /
	    ((double)map->rows - 1);

	libcairo.set_antialias(axes->cr, CAIRO_ANTIALIAS_NONE);
	for (size_t i = 0; i < map->columns * map->rows; i++) {
		double x = dx * ((double)(i % map->columns) - 0.5);
		double y = dy * ((double)(i / map->columns) - 0.5), left, top;

		if (isnan(map->sd[i]))
			libcairo.set_source_rgb(axes->cr, 0, 0, 0);
		else
			use_value(axes->cr, most > 0 ? fmin(1, map->sd[i] / most) : 0);
		left = floor(drawing_at_x(axes, x));
		top = floor(drawing_at_y(axes, y));
		libcairo.rectangle(axes->cr, left, top, ceil(drawing_at_x(axes, x + dx)) - left,
		    ceil(drawing_at_y(axes, y + dy)) - top);
		libcairo.fill(axes->cr);
	}
	libcairo.set_antialias(axes->cr, CAIRO_ANTIALIAS_DEFAULT);
	hull_path(sheet, device, axes);
	libcairo.set_source_rgb(axes->cr, 1, 1, 1);
	libcairo.set_line_width(axes->cr, 1.5);
	libcairo.set_dash(axes->cr, (const double[]){ 6, 4 }, 2, 0);
	libcairo.stroke(axes->cr);
	libcairo.set_dash(axes->cr, NULL, 0, 0);
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
		libcairo.rectangle(bar.cr, bar.left, bar.top + i, BAR_W, 1);
		libcairo.fill(bar.cr);
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
	sheet_title(axes, title);
	if (ticks_range_fits(0, most))
		draw_bar(axes, most, most < map_largest(map));
}

int
report_uncertainty(const struct report_pictures *report, const char *path)
{
	struct sheet sheet = { .report = report, .inside = uncertainty_inside,
		.around = uncertainty_around, .right = SHEET_BAR_ROOM };

	return sheet_save(&sheet, false, path);
}
