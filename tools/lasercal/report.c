#include "report.h"

#include <math.h>

#define DEGREES 57.29577951308232

static void
print_numbers(FILE *out, const char *name, const double *v, size_t n)
{
	fprintf(out, "%-15s", name);
	for (size_t i = 0; i < n; i++)
		fprintf(out, " %.9g", v[i]);
	fputc('\n', out);
}

/* Points of a view that count, and their rms. */
static size_t
count_view(const struct views *views, const struct plane_fit *fit, size_t view, double *rms)
{
	double squares = 0;
	size_t n = 0;

	for (size_t i = 0; i < views->points; i++) {
		double off;

		if (views->point[i].view != view)
			continue;
		off = plane_distance(fit->plane, views->point[i].X);
		if (fabs(off) >= fit->limit)
			continue;
		squares += off * off;
		n++;
	}
	*rms = sqrt(squares / (double)n);
	return n;
}

void
report_plane(FILE *out, const struct views *views, const struct plane_fit *fit)
{
	const char *unit = views->laser->unit;
	double nearest, farthest;

	print_numbers(out, "laser_plane", fit->plane, 4);
	fprintf(out, "rms             %.4g %s of %zu points, %zu left out\n", fit->rms, unit,
	    fit->used, views->points - fit->used);
	fprintf(out, "singular        %.3g smallest/middle, %.3g middle/largest\n",
	    fit->singular[2] / fit->singular[1], fit->singular[1] / fit->singular[0]);
	if (!isnan(fit->sd_rad))
		fprintf(out, "sd              %.2g degrees, %.2g %s (one view left out after the "
		    "other)\n", fit->sd_rad * DEGREES, fit->sd_mm, unit);
	if (views_depths(views, &nearest, &farthest))
		fprintf(out, "boards          %.4g to %.4g %s before the camera\n", nearest,
		    farthest, unit);
	fprintf(out, "\n%-6s %8s %8s %8s %10s %10s\n", "view", "seen", "on_board", "used", "rms",
	    "board_px");
	for (size_t i = 0; i < views->n; i++) {
		const struct view *view = &views->view[i];
		double rms;
		size_t n = count_view(views, fit, i, &rms);

		fprintf(out, "%-6zu %8zu %8zu %8zu ", i, view->seen, view->used, n);
		if (n)
			fprintf(out, "%10.4g ", rms);
		else
			fprintf(out, "%10s ", "-");
		if (view->has_board)
			fprintf(out, "%10.3g\n", view->board.rms_px);
		else
			fprintf(out, "%10s\n", "-");
	}
}

void
report_direction(FILE *out, const struct views *views, const struct direction_fit *fit,
    const double *off)
{
	const double *d = fit->direction;

	print_numbers(out, "scan_direction", d, 3);
	fprintf(out, "length          %.6f of 1\n", sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]));
	if (!isnan(fit->sd[0]))
		fprintf(out, "sd              %.2g %.2g %.2g\n", fit->sd[0], fit->sd[1],
		    fit->sd[2]);
	fprintf(out, "rms             %.3g %.3g %.3g %s of the board's middle from the line\n",
	    fit->rms[0], fit->rms[1], fit->rms[2], views->laser->unit);
	fprintf(out, "turn            %.2g degrees from first to last\n",
	    fit->turn_rad * DEGREES);
	fprintf(out, "\n%-6s %10s %10s %10s %10s %10s\n", "view", "travel", "off_x", "off_y",
	    "off_z", "board_px");
	for (size_t i = 0; i < views->n; i++)
		fprintf(out, "%-6zu %10.6g %10.3g %10.3g %10.3g %10.3g\n", i,
		    views->view[i].stage, off[3 * i], off[3 * i + 1], off[3 * i + 2],
		    views->view[i].board.rms_px);
}

void
report_axis(FILE *out, const struct views *views, const struct axis_fit *fit)
{
	print_numbers(out, "axis_point_mm", fit->point, 3);
	print_numbers(out, "axis_direction", fit->direction, 3);
	fprintf(out, "rms             %.3g px of the corners, %.3g of each board alone\n",
	    fit->rms_px, fit->alone_px);
	fprintf(out, "turns           %.5f of the stage's, %.2g degrees rms\n", fit->gain,
	    fit->angle_rms_rad * DEGREES);
	fprintf(out, "radius          %.5g %s of the board's middle\n", fit->radius_mm,
	    views->laser->unit);
	fprintf(out, "\n%-6s %10s %10s\n", "view", "degrees", "board_px");
	for (size_t i = 0; i < views->n; i++)
		fprintf(out, "%-6zu %10.6g %10.3g\n", i, views->view[i].stage * DEGREES,
		    views->view[i].board.rms_px);
}
