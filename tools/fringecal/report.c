#include "report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "board_shape.h"
#include "diagnosis.h"
#include "io/safe_file.h"
#include "report_pictures.h"
#include "uncertainty.h"
#include "unlikely.h"

#define MAP_COLUMNS 49

struct report {
	const char *folder;
	struct report_pictures p;
	const struct phase_views *phases;
	struct diagnosis diagnosis;
	struct board_shape shape;
	struct uncertainty_map *map;
	struct uncertainty_volume volume;
};

/* The name of a view's pose. */
static const char *
pose_text(const struct report_pictures *p, size_t view, char text[32])
{
	size_t pose = p->problem->view[view].pose;

	if (p->pose_name)
		return p->pose_name[pose];
	snprintf(text, 32, "%zu", pose + 1);
	return text;
}

/* ---- files ---- */

static int
write_views(const struct report *report, FILE *file)
{
	const struct calib_problem *problem = report->p.problem;

	fprintf(file, "# views, the most doubtful first: the rms distance of its points, left out "
	    "ones too; MAD: how far above the device's median;\n"
	    "# distance of the board's middle in %s; tilt of the board to the device's axis, "
	    "degrees\n",
	    problem->board.unit);
	fprintf(file, "# view device points left_out rms_px MAD distance tilt_deg flag\n");
	for (size_t i = 0; i < report->diagnosis.views; i++) {
		const struct diagnosis_view *v = &report->diagnosis.view[i];
		const struct calib_view *view = &problem->view[v->view];
		char text[32];

		if (!v->points)
			continue;
		fprintf(file, "%s %s %zu %zu %.4f %.1f %.1f %.1f %s\n", pose_text(&report->p,
		    v->view, text), problem->device[view->device].name, v->points, v->rejected,
		    v->rms, v->excess, v->distance, v->tilt_deg, v->flagged ? "doubtful" : "-");
	}
	return 0;
}

static int
write_volume(const struct report *report, FILE *file)
{
	const struct uncertainty_volume *volume = &report->volume;

	fprintf(file, "# length_unit:=%s\nx,y,z,sigma_x,sigma_y,sigma_z,sigma,sigma_with_motion\n",
	    report->p.problem->board.unit);
	for (size_t i = 0; i < volume->n; i++) {
		const double *X = volume->X[i], *s = volume->sd[i], *all = volume->sd_all[i];

		fprintf(file, "%.6g,%.6g,%.6g,%.4g,%.4g,%.4g,%.4g,%.4g\n", X[0], X[1], X[2], s[0],
		    s[1], s[2], sqrt(s[0] * s[0] + s[1] * s[1] + s[2] * s[2]),
		    sqrt(all[0] * all[0] + all[1] * all[1] + all[2] * all[2]));
	}
	return 0;
}

/* All points with what is left of them, as a table of numbers. */
static int
write_points(const struct report *report, FILE *file)
{
	const struct calib_problem *problem = report->p.problem;

	fputs("# devices:=", file);
	for (size_t d = 0; d < problem->devices; d++)
		fprintf(file, "%s%s", d ? " " : "", problem->device[d].name);
	fputs("\npose,device,i,j,u,v,sigma_u,sigma_v,residual_u,residual_v,left_out\n", file);
	for (size_t v = 0; v < problem->views; v++) {
		const struct calib_view *view = &problem->view[v];

		for (size_t k = view->first; k < view->first + view->n; k++) {
			const struct calib_point *p = &problem->point[k];
			const struct calib_residual *r = &report->p.solution->residual[k];

			fprintf(file, "%zu,%zu,%d,%d,%.4f,%.4f,%.4g,%.4g,%.4g,%.4g,%d\n",
			    view->pose + 1, view->device + 1, p->i, p->j, p->u, p->v, p->sigma[0],
			    p->sigma[1], r->u, r->v, r->rejected);
		}
	}
	return 0;
}

static void
print_device(const struct report *report, size_t d, FILE *file)
{
	const struct calib_problem *problem = report->p.problem;
	const struct diagnosis_device *device = &report->diagnosis.device[d];
	const struct uncertainty_map *map = &report->map[d];

	fprintf(file, "%s\n", problem->device[d].name);
	fprintf(file, "  rms distance of the points     %.4f px, %zu points\n",
	    report->p.solution->device_rms[d], report->p.solution->device_used[d]);
	fprintf(file, "  hull of the points             %.0f %% of the picture%s\n",
	    100 * device->coverage, device->coverage < DIAGNOSIS_COVERAGE ?
	    ": too little, beyond it the lens is a guess" : "");
	fprintf(file, "  largest tilt of the board      %.1f degrees%s\n", device->most_tilt_deg,
	    device->most_tilt_deg < DIAGNOSIS_TILT_DEG ?
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

static void
print_shape(const struct report *report, FILE *file)
{
	const struct board_shape *shape = &report->shape;

	fprintf(file, "repeats at the same corners      %.2g of %.2g px a coordinate",
	    shape->px, shape->all_px);
	if (shape->repeats)
		fprintf(file, ": the board's corners are off by %.2g %s along a side%s",
		    shape->offset, report->p.problem->board.unit,
		    report->p.problem->warp ? "" : ", or the board is bent (--warp)");
	fputc('\n', file);
}

static int
write_text(const struct report *report, FILE *file)
{
	const struct calib_problem *problem = report->p.problem;
	const struct diagnosis *d = &report->diagnosis;
	const struct uncertainty_volume *volume = &report->volume;
	char text[32];

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
		    "above the median%s\n", pose_text(&report->p, d->view[0].view, text),
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
	return 0;
}

/* ---- a folder ---- */

static int
path_in(const struct report *report, const char *name, char **path)
{
	size_t n = strlen(report->folder) + strlen(name) + 2;
	const char *slash = report->folder[strlen(report->folder) - 1] == '/' ? "" : "/";

	*path = malloc(n);
	if (!*path)
		return fail_memory();
	snprintf(*path, n, "%s%s%s", report->folder, slash, name);
	return 0;
}

static int
write_file(const struct report *report, const char *name,
    int (*write)(const struct report *, FILE *))
{
	struct safe_file *place;
	char *path;
	FILE *file;
	int status;

	if (path_in(report, name, &path) < 0)
		return -1;
	file = safe_file_open(path, &place);
	status = file ? write(report, file) : -1;
	if (file && safe_file_close(file, path, place, status == 0) < 0)
		status = -1;
	free(path);
	return status;
}

static int
draw_file(const struct report *report, const char *name,
    int (*draw)(const struct report_pictures *, const char *))
{
	char *path;
	int status = path_in(report, name, &path);

	if (status < 0)
		return -1;
	status = draw(&report->p, path);
	free(path);
	return status;
}

/* ---- warnings ---- */

static void
warn_tilt(const struct report *report)
{
	const struct diagnosis *d = &report->diagnosis;

	for (size_t i = 0; i < d->devices; i++)
		if (d->device[i].most_tilt_deg < DIAGNOSIS_TILT_DEG)
			warn(report->p.problem->device[i].name, "no view is tilted by more than "
			    "%.1f degrees, so that focal length and distance are told apart badly: "
			    "tilt the board by 20 to 40 degrees", d->device[i].most_tilt_deg);
}

/* Points on less than this share of a picture, or a principal point far from its middle: often the
 * picture is not as large as the caller says. */
static void
warn_coverage(const struct report *report, double least)
{
	const struct diagnosis *d = &report->diagnosis;

	for (size_t i = 0; i < d->devices; i++) {
		const struct calib_device *device = &report->p.problem->device[i];
		const double *centre = report->p.solution->intrinsics[i] + 2;
		double covered = d->device[i].coverage;

		if (diagnosis_off_centre(device, centre))
			warn(device->name, "the principal point %.0f %.0f is far from the middle "
			    "of %zux%zu px, of which the points take %.0f %%: is that the size of "
			    "its picture?", centre[0], centre[1], device->w, device->h,
			    100 * covered);
		else if (covered < least)
			warn(device->name, "the points take %.0f %% of the picture: beyond them "
			    "the lens is a guess", 100 * covered);
	}
}

static void
warn_view(const struct report *report)
{
	const struct calib_problem *problem = report->p.problem;
	const struct diagnosis *d = &report->diagnosis;
	char text[32];

	if (d->views && d->view[0].flagged)
		warn(NULL, "view %s of %s does not fit the others: its rms is %.3f px, %.0f MAD "
		    "above the median", pose_text(&report->p, d->view[0].view, text),
		    problem->device[problem->view[d->view[0].view].device].name, d->view[0].rms,
		    d->view[0].excess);
}

static void
warn_all(const struct report *report, double least_coverage)
{
	warn_view(report);
	warn_coverage(report, least_coverage);
	warn_tilt(report);
	unlikely_warn(report->p.problem, report->p.solution, &report->diagnosis);
}

static int
report_fill(const struct calib_problem *problem, const struct calib_solution *solution,
    const char *const *pose_name, struct report *report)
{
	report->p = (struct report_pictures){ .problem = problem, .solution = solution,
		.diagnosis = &report->diagnosis, .pose_name = pose_name };
	return diagnosis_make(problem, solution, &report->diagnosis);
}

static void
report_free(struct report *report)
{
	uncertainty_maps_free(report->map, report->p.problem->devices);
	diagnosis_free(&report->diagnosis);
}

int
report_warn(const struct calib_problem *problem, const struct calib_solution *solution,
    const char *const *pose_name)
{
	struct report report = { 0 };
	int status = report_fill(problem, solution, pose_name, &report);

	if (status == 0)
		warn_all(&report, DIAGNOSIS_COVERAGE_BARE);
	report_free(&report);
	return status;
}

static int
write_all(const struct report *report)
{
	if (write_file(report, "views.txt", write_views) < 0 ||
	    write_file(report, "report.txt", write_text) < 0 ||
	    write_file(report, "points.csv", write_points) < 0 ||
	    (report->volume.n && write_file(report, "volume.csv", write_volume) < 0) ||
	    draw_file(report, "residuals.png", report_residuals) < 0 ||
	    draw_file(report, "coverage.png", report_coverage) < 0)
		return -1;
	return draw_file(report, "uncertainty.png", report_uncertainty);
}

int
report_write(const char *folder, const struct calib_problem *problem,
    const struct calib_solution *solution, const struct phase_views *phases,
    const char *const *pose_name)
{
	struct report report = { .folder = folder, .phases = phases };
	int status = report_fill(problem, solution, pose_name, &report);

	if (status == 0)
		status = board_shape_find(problem, solution, &report.shape);
	if (status == 0)
		status = uncertainty_maps(problem, solution, report.diagnosis.device,
		    MAP_COLUMNS, &report.map);
	if (status == 0)
		status = uncertainty_volume(problem, solution, &report.volume);
	report.p.uncertainty = report.map;
	if (status == 0)
		status = write_all(&report);
	if (status == 0)
		warn_all(&report, DIAGNOSIS_COVERAGE);
	report_free(&report);
	return status;
}
