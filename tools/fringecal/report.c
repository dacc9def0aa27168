/*
 * The report of a calibration, a folder: residuals.png, coverage.png, uncertainty.png, drawn by
 * cairo, views.txt, report.txt, points.csv and volume.csv (man/fringecal.1); and the warnings that
 * come without it, too.
 */
#include "fringecal.h"

#include "image/colormap.h"
#include "image/drawing.h"
#include "io/safe_file.h"

/* ---- sheets: a panel with axes in pixels for each device, two in a row, a legend below ---- */

struct report {
	const char *folder;
	const struct calib_problem *problem;
	const struct calib_solution *solution;
	const struct phase_views *phases;
	const char *const *pose_name;	/* of each pose; NULL: they are counted from 1 */
	struct diagnosis diagnosis;
	struct board_shape shape;
	struct uncertainty_map *map;	/* of each device */
	struct uncertainty_volume volume;
	struct pool pool;		/* of the maps */
};

#define SHEET_BAR_ROOM 92	/* to the right of a panel's axes, for a bar of colours */
#define PANEL_W 840
#define TOP 44
#define LEGEND_LETTERS 16	/* of a pose's name, at most */
#define LEGEND_ROW 20

struct sheet {
	const struct report *report;
	/* Draws within the axes of a device; the title above them. */
	void (*inside)(const struct sheet *, size_t device, const struct axes *);
	void (*title)(const struct sheet *, size_t device, char title[200]);
	bool bar;		/* a bar of colours at the right of axes; else a legend of poses */
	double factor;		/* of residuals */
	/* set by sheet_save() */
	double right;		/* room at the right of a panel's axes */
	double panel_h;		/* height of a panel */
	size_t columns;
	double legend;		/* height of the legend below all panels; 0: none */
	size_t entry;		/* width of a swatch and a pose's name */
};

/* The colour of a pose for what is drawn next. */
static void
sheet_use_pose(cairo_t *cr, size_t pose)
{
	/* neighbours of the list get colours far apart: steps of the golden section */
	float t = (float)fmod((double)pose * 0.6180339887498949, 1), rgb[3];

	colormap_rgb(COLORMAP_TURBO, 0.05f + 0.9f * t, rgb);
	libcairo.set_source_rgb(cr, 0.88 * (double)rgb[0], 0.88 * (double)rgb[1],
	    0.88 * (double)rgb[2]);
}

/* Ticks and numbers of pixels along the bottom and the left of a panel. */
static void
draw_scales(const struct axes *axes)
{
	struct ticks x = ticks_between(axes->x_low, axes->x_high,
	    ticks_step(axes->x_low, axes->x_high, TICKS));
	struct ticks y = ticks_between(axes->y_high, axes->y_low,
	    ticks_step(axes->y_high, axes->y_low, TICKS));

	drawing_use_ink(axes->cr);
	drawing_level_ticks(axes, &x);
	drawing_upright_ticks(axes, &y, false);
}

/* The name of a pose, or its number from 1 in `number`. */
static const char *
pose_name(const struct report *report, size_t pose, char number[32])
{
	snprintf(number, 32, "%zu", pose + 1);
	return report->pose_name ? report->pose_name[pose] : number;
}

/* The same, shortened, for a legend. */
static const char *
pose_label(const struct report *report, size_t pose, char text[32])
{
	char number[32];

	snprintf(text, 32, "%.*s", LEGEND_LETTERS, pose_name(report, pose, number));
	return text;
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
		drawing_text(cr, x + 16, y + 0.8 * LEGEND_ROW, 0,
		    pose_label(sheet->report, i, text));
	}
}

#define BAR_W 16
#define SD_MOST 6		/* times the rms within the hull: the last colour of a map */

/* The value of the last colour: the largest, or, where a lens that nothing holds runs away beyond
 * the points, some times what it is among them. 0: there is none. *more: some are larger. */
static double
map_most(const struct uncertainty_map *map, bool *more)
{
	double most = 0, shown;

	for (size_t i = 0; i < map->columns * map->rows; i++)
		if (map->sd[i] > most)
			most = map->sd[i];
	shown = map->rms > 0 ? fmin(most, SD_MOST * map->rms) : most;
	*more = shown < most;
	return shown;
}

static void
use_value(cairo_t *cr, double share)
{
	float rgb[3];

	colormap_rgb(COLORMAP_VIRIDIS, (float)share, rgb);
	libcairo.set_source_rgb(cr, (double)rgb[0], (double)rgb[1], (double)rgb[2]);
}

static void
draw_bar(const struct axes *axes, const struct uncertainty_map *map)
{
	bool more;
	double most = map_most(map, &more);
	struct axes bar = { .cr = axes->cr, .left = axes->right + 16,
		.right = axes->right + 16 + BAR_W, .top = axes->top, .bottom = axes->bottom,
		.x_high = 1, .y_high = most };
	struct ticks ticks = ticks_between(0, most, ticks_step(0, most, TICKS));
	double steps = bar.bottom - bar.top;

	if (!ticks_range_fits(0, most))
		return;
	for (double i = 0; i < steps; i++) {
		use_value(bar.cr, (steps - i) / steps);
		libcairo.rectangle(bar.cr, bar.left, bar.top + i, BAR_W, 1);
		libcairo.fill(bar.cr);
	}
	drawing_frame(&bar);
	drawing_upright_ticks(&bar, &ticks, true);
	drawing_text(bar.cr, bar.right + 40, bar.bottom + 1.5 * FONT, 1, "sd, px");
	if (more)
		drawing_text(bar.cr, bar.right + 40, bar.top - 0.7 * FONT, 1, "or more");
}

static void
draw_sheet(const struct drawing *drawing, cairo_t *cr)
{
	const struct sheet *sheet = drawing->arg;
	const struct calib_problem *problem = sheet->report->problem;
	size_t rows = (problem->devices + sheet->columns - 1) / sheet->columns;
	char title[200];

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
		sheet->title(sheet, d, title);
		drawing_use_ink(cr);
		drawing_text_within(cr, axes.left, axes.top - 0.7 * FONT, 0,
		    axes.right - axes.left + 40, title);
		if (sheet->bar)
			draw_bar(&axes, &sheet->report->map[d]);
		drawing_use_ink(cr);
		drawing_text(cr, (axes.left + axes.right) / 2, axes.bottom + 3.1 * FONT, 0.5,
		    "u, v in px");
	}
	if (sheet->legend > 0)
		draw_legend(sheet, cr, (double)drawing->w, (double)rows * sheet->panel_h);
}

/* Draws it into a file. -1 after fail(). */
static int
sheet_save(struct sheet *sheet, const char *path)
{
	const struct calib_problem *problem = sheet->report->problem;
	struct drawing drawing = { .draw = draw_sheet, .arg = sheet };
	size_t rows, row, letters = 0;
	char text[32];

	sheet->right = sheet->bar ? SHEET_BAR_ROOM : RIGHT;
	sheet->columns = problem->devices > 1 ? 2 : 1;
	rows = (problem->devices + sheet->columns - 1) / sheet->columns;
	for (size_t d = 0; d < problem->devices; d++) {
		const struct calib_device *device = &problem->device[d];

		sheet->panel_h = fmax(sheet->panel_h, ceil(TOP + BOTTOM +
		    (PANEL_W - LEFT - sheet->right) * (double)device->h / (double)device->w));
	}
	drawing.w = sheet->columns * PANEL_W;
	for (size_t i = 0; i < problem->poses; i++) {
		size_t n = strlen(pose_label(sheet->report, i, text));

		letters = n > letters ? n : letters;
	}
	sheet->entry = 30 + 8 * letters;
	row = (size_t)(((double)drawing.w - LEFT - RIGHT) / (double)sheet->entry);
	sheet->legend = sheet->bar ? 0 :
	    (double)((problem->poses + row - 1) / row * LEGEND_ROW + 10);
	drawing.h = (size_t)((double)rows * sheet->panel_h + sheet->legend);
	return drawing_save(&drawing, path);
}

/* ---- residuals.png ---- */

#define VECTOR 0.012		/* length of a residual of one rms, of the picture's width */

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
residuals_title(const struct sheet *sheet, size_t device, char title[200])
{
	const struct calib_problem *problem = sheet->report->problem;
	size_t rejected = 0;

	for (size_t v = 0; v < problem->views; v++) {
		const struct diagnosis_view *view = &sheet->report->diagnosis.view[v];

		rejected += problem->view[view->view].device == device ? view->rejected : 0;
	}
	snprintf(title, 200, "%s: residuals x %g, rms %.3g px%s",
	    problem->device[device].name, sheet->factor,
	    sheet->report->solution->device_rms[device],
	    rejected ? "; a cross: left out" : "");
}

/* What residuals are drawn by: 1, 2 or 5 times a power of ten, 1e9 at most. */
static double
residuals_factor(const struct report *report)
{
	double most = 0;

	for (size_t d = 0; d < report->problem->devices; d++)
		most = fmax(most, report->solution->device_rms[d] /
		    (double)report->problem->device[d].w);
	return most > 0 ? ticks_step(0, fmin(VECTOR / most, 1e9), 1.01) : 1;
}

/* ---- coverage.png ---- */

#define COVERAGE 0.6		/* less of a picture is worth a warning, */
#define COVERAGE_BARE 0.2	/* this without --report */

static void
hull_path(const struct sheet *sheet, size_t device, const struct axes *axes)
{
	const struct diagnosis_device *d = &sheet->report->diagnosis.device[device];

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
coverage_title(const struct sheet *sheet, size_t device, char title[200])
{
	double share = sheet->report->diagnosis.device[device].coverage;

	snprintf(title, 200, "%s: the points' hull takes %.0f %% of the picture%s",
	    sheet->report->problem->device[device].name, 100 * share,
	    share < COVERAGE ? ": too little" : "");
}

/* ---- uncertainty.png ---- */

static void
uncertainty_inside(const struct sheet *sheet, size_t device, const struct axes *axes)
{
	const struct uncertainty_map *map = &sheet->report->map[device];
	bool more;
	double most = map_most(map, &more);
	double dx = (axes->x_high - axes->x_low - 1) / ((double)map->columns - 1);
	double dy = (axes->y_low - axes->y_high - 1) / ((double)map->rows - 1);

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
uncertainty_title(const struct sheet *sheet, size_t device, char title[200])
{
	const struct uncertainty_map *map = &sheet->report->map[device];
	const struct calib_problem *problem = sheet->report->problem;

	snprintf(title, 200, "%s at %.4g %s: sd %.2g px rms within the hull; with the rig's place "
	    "and turn %.2g px", problem->device[device].name, map->distance, problem->board.unit,
	    map->rms, map->rms_all);
}

/* ---- the files of numbers and texts ---- */

#define TILT_DEG 10	/* less in all views: focal length and distance are not told apart */
#define MAP_COLUMNS 49

static void
write_views(const struct report *report, FILE *file)
{
	const struct calib_problem *problem = report->problem;

	fprintf(file, "# views, the most doubtful first: the rms distance of its points, left out "
	    "ones too; MAD: how far above the device's median;\n"
	    "# distance of the board's middle in %s; tilt of the board to the device's axis, "
	    "degrees\n"
	    "# view device points left_out rms_px MAD distance tilt_deg flag\n",
	    problem->board.unit);
	for (size_t i = 0; i < report->diagnosis.views; i++) {
		const struct diagnosis_view *v = &report->diagnosis.view[i];
		const struct calib_view *view = &problem->view[v->view];
		char number[32];

		if (v->points)
			fprintf(file, "%s %s %zu %zu %.4f %.1f %.1f %.1f %s\n",
			    pose_name(report, view->pose, number),
			    problem->device[view->device].name, v->points, v->rejected, v->rms,
			    v->excess, v->distance, v->tilt_deg, v->flagged ? "doubtful" : "-");
	}
}

static void
write_volume(const struct report *report, FILE *file)
{
	const struct uncertainty_volume *volume = &report->volume;

	fprintf(file, "# length_unit:=%s\nx,y,z,sigma_x,sigma_y,sigma_z,sigma,sigma_with_motion\n",
	    report->problem->board.unit);
	for (size_t i = 0; i < volume->n; i++) {
		const double *X = volume->X[i], *s = volume->sd[i];

		fprintf(file, "%.6g,%.6g,%.6g,%.4g,%.4g,%.4g,%.4g,%.4g\n", X[0], X[1], X[2], s[0],
		    s[1], s[2], vector3_length(s), vector3_length(volume->sd_all[i]));
	}
}

/* All points with their residuals, as a table of numbers. */
static void
write_points(const struct report *report, FILE *file)
{
	const struct calib_problem *problem = report->problem;

	fputs("# devices:=", file);
	for (size_t d = 0; d < problem->devices; d++)
		fprintf(file, "%s%s", d ? " " : "", problem->device[d].name);
	fputs("\npose,device,i,j,u,v,sigma_u,sigma_v,residual_u,residual_v,left_out\n", file);
	for (size_t v = 0; v < problem->views; v++) {
		const struct calib_view *view = &problem->view[v];

		for (size_t k = view->first; k < view->first + view->n; k++) {
			const struct calib_point *p = &problem->point[k];
			const struct calib_residual *r = &report->solution->residual[k];

			fprintf(file, "%zu,%zu,%d,%d,%.4f,%.4f,%.4g,%.4g,%.4g,%.4g,%d\n",
			    view->pose + 1, view->device + 1, p->i, p->j, p->u, p->v, p->sigma[0],
			    p->sigma[1], r->u, r->v, r->rejected);
		}
	}
}

static void
print_device(const struct report *report, size_t d, FILE *file)
{
	const struct calib_problem *problem = report->problem;
	const struct diagnosis_device *device = &report->diagnosis.device[d];
	const struct uncertainty_map *map = &report->map[d];

	fprintf(file, "%s\n", problem->device[d].name);
	fprintf(file, "  rms distance of the points     %.4f px, %zu points\n",
	    report->solution->device_rms[d], report->solution->device_used[d]);
	fprintf(file, "  hull of the points             %.0f %% of the picture%s\n",
	    100 * device->coverage, device->coverage < COVERAGE ?
	    ": too little, beyond it the lens is a guess" : "");
	fprintf(file, "  largest tilt of the board      %.1f degrees%s\n", device->most_tilt_deg,
	    device->most_tilt_deg < TILT_DEG ?
	    ": too little, tilt the board by 20 to 40 degrees" : "");
	fprintf(file, "  sd of a projected point        %.2g px rms at %.4g %s, within the hull "
	    "(%.2g px with the rig's place and turn; %.2g px over the whole picture)\n", map->rms,
	    map->distance, problem->board.unit, map->rms_all, map->rms_picture);
}

static void
print_phases(const struct phase_views *phases, FILE *file)
{
	char text[200];

	fprintf(file, "phases at the corners            %zu of %zu give projector points\n",
	    phases->count[PROJECTOR_POINT_GOOD], phases->corners);
	for (size_t axis = 0; axis < 2; axis++) {
		bool bad = phase_views_residual(phases, axis, text);

		fprintf(file, "  fringes along %c                %s%s\n", axis ? 'y' : 'x', text,
		    bad ? ": no sinusoids; fringegamma measures the projector's response, "
		    "fringegen --lut takes it out" : "");
	}
}

/* What repeats at the same corners. */
static void
print_shape(const struct report *report, FILE *file)
{
	const struct board_shape *shape = &report->shape;

	fprintf(file, "repeats at the same corners      %.2g of %.2g px a coordinate",
	    shape->px, shape->all_px);
	if (shape->repeats)
		fprintf(file, ": the board's corners are off by %.2g %s along a side%s",
		    shape->offset, report->problem->board.unit,
		    report->problem->warp ? "" : ", or the board is bent (--warp)");
	fputc('\n', file);
}

static void
write_summary(const struct report *report, FILE *file)
{
	const struct calib_problem *problem = report->problem;
	const struct diagnosis *d = &report->diagnosis;
	const struct uncertainty_volume *volume = &report->volume;
	char number[32];

	for (size_t i = 0; i < problem->devices; i++)
		print_device(report, i, file);
	if (report->phases->corners)
		print_phases(report->phases, file);
	if (volume->n)
		fprintf(file, "sd of a measured point in space  %.2g %s rms over the volume of the "
		    "views (%.2g %s with the rig's place and turn); volume.csv\n", volume->rms,
		    problem->board.unit, volume->rms_all, problem->board.unit);
	if (d->views)
		fprintf(file, "worst view                       %s of %s, rms %.3f px, %.1f MAD "
		    "above the median%s\n",
		    pose_name(report, problem->view[d->view[0].view].pose, number),
		    problem->device[problem->view[d->view[0].view].device].name, d->view[0].rms,
		    d->view[0].excess, d->view[0].flagged ? ": look at its pictures, leave it out" :
		    ": not enough to doubt it");
	if (report->shape.all_px > 0)
		print_shape(report, file);
	fprintf(file, "parameters that the views hardly tell apart (correlation above %g)%s\n",
	    DIAGNOSIS_CORRELATION, d->pairs ? "" : ": none");
	for (size_t i = 0; i < d->pairs; i++) {
		const char *advice = diagnosis_pair_advice(problem, &d->pair[i]);
		char a[64], b[64];

		calib_parameter_name(problem, d->pair[i].a, a, sizeof(a));
		calib_parameter_name(problem, d->pair[i].b, b, sizeof(b));
		fprintf(file, "  %s %s %+.4f%s%s\n", a, b, d->pair[i].correlation,
		    advice ? ": " : "", advice ? advice : "");
	}
}

/* ---- the folder ---- */

/* Writes one of its files: a text, or where `write` is NULL a drawing. */
static int
write_file(const struct report *report, const char *name,
    void (*write)(const struct report *, FILE *), struct sheet *sheet)
{
	bool slash = report->folder[strlen(report->folder) - 1] == '/';
	char *path = must_format("%s%s%s", report->folder, slash ? "" : "/", name);
	struct safe_file *place;
	FILE *file = write ? safe_file_open(path, &place) : NULL;
	int status = write ? -1 : sheet_save(sheet, path);

	if (file) {
		write(report, file);
		status = safe_file_close(file, path, place, true);
	}
	free(path);
	return status;
}

/* ---- warnings ---- */

/* Warns of a view that does not fit the others; of devices whose board is never tilted; of points
 * on less than `least_coverage` of a picture, or a principal point far from its middle: often the
 * picture is not as large as the caller says. */
static void
warn_all(const struct report *report, double least_coverage)
{
	const struct calib_problem *problem = report->problem;
	const struct diagnosis *d = &report->diagnosis;
	char number[32];

	if (d->views && d->view[0].flagged)
		warn(NULL, "view %s of %s does not fit the others: its rms is %.3f px, %.0f MAD "
		    "above the median",
		    pose_name(report, problem->view[d->view[0].view].pose, number),
		    problem->device[problem->view[d->view[0].view].device].name, d->view[0].rms,
		    d->view[0].excess);
	for (size_t i = 0; i < d->devices; i++) {
		const struct calib_device *device = &problem->device[i];
		const double *centre = report->solution->intrinsics[i] + 2;
		double covered = d->device[i].coverage;

		if (diagnosis_off_centre(device, centre))
			warn(device->name, "the principal point %.0f %.0f is far from the middle "
			    "of %zux%zu px, of which the points take %.0f %%: is that the size of "
			    "its picture?", centre[0], centre[1], device->w, device->h,
			    100 * covered);
		else if (covered < least_coverage)
			warn(device->name, "the points take %.0f %% of the picture: beyond them "
			    "the lens is a guess", 100 * covered);
	}
	for (size_t i = 0; i < d->devices; i++)
		if (d->device[i].most_tilt_deg < TILT_DEG)
			warn(problem->device[i].name, "no view is tilted by more than %.1f "
			    "degrees, so that focal length and distance are told apart badly: "
			    "tilt the board by 20 to 40 degrees", d->device[i].most_tilt_deg);
	warn_pixels(problem, report->solution);
	warn_unit(problem, report->solution, d);
}

int
report_write(const char *folder, const struct calib_problem *problem,
    const struct calib_solution *solution, const struct phase_views *phases,
    const char *const *pose_name)
{
	struct report report = { .folder = folder, .problem = problem, .solution = solution,
		.phases = phases, .pose_name = pose_name };
	struct sheet residuals = { .report = &report, .inside = residuals_inside,
		.title = residuals_title, .factor = residuals_factor(&report) };
	struct sheet coverage = { .report = &report, .inside = coverage_inside,
		.title = coverage_title };
	struct sheet uncertainty = { .report = &report, .inside = uncertainty_inside,
		.title = uncertainty_title, .bar = true };
	int status = 0;

	diagnosis_make(problem, solution, &report.diagnosis);
	if (folder)
		board_shape_find(problem, solution, &report.shape);
	if (folder && (uncertainty_maps(problem, solution, report.diagnosis.device, MAP_COLUMNS,
	    &report.pool, &report.map) < 0 ||
	    uncertainty_of_volume(problem, solution, &report.volume) < 0 ||
	    write_file(&report, "views.txt", write_views, NULL) < 0 ||
	    write_file(&report, "report.txt", write_summary, NULL) < 0 ||
	    write_file(&report, "points.csv", write_points, NULL) < 0 ||
	    (report.volume.n && write_file(&report, "volume.csv", write_volume, NULL) < 0) ||
	    write_file(&report, "residuals.png", NULL, &residuals) < 0 ||
	    write_file(&report, "coverage.png", NULL, &coverage) < 0 ||
	    write_file(&report, "uncertainty.png", NULL, &uncertainty) < 0))
		status = -1;
	if (status == 0)
		warn_all(&report, folder ? COVERAGE : COVERAGE_BARE);
	pool_free(&report.pool);
	pool_free(&report.diagnosis.pool);
	return status;
}
