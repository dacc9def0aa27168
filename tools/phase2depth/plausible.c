#include "plausible.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "image/coarse_grid.h"

#define PIXELS 4096		/* looked at, about */
#define LEAST 100		/* phases, from which on something can be told */
#define OUTSIDE 0.05		/* right captures: 0 to 0.02, in the dark and at the edges */
#define LOST 0.1		/* right captures: 0 */
#define MARGIN_PX 2.0		/* noise at the projector's edge */
#define BASELINE_MM 2.0		/* a smaller one was meant in another unit */
#define SLOPE 0.05		/* of the epipolar line: with less the other axis measures */

static double
baseline(const struct calib *calib)
{
	double camera[3], projector[3], square = 0;

	pinhole_center(&calib->camera, camera);
	pinhole_center(&calib->projector, projector);
	for (size_t i = 0; i < 3; i++)
		square += (camera[i] - projector[i]) * (camera[i] - projector[i]);
	return sqrt(square);
}

int
plausible_calib(const char *path, bool as_projector, struct calib *calib)
{
	if (calib_load(path, calib) < 0)
		return -1;
	if (calib->two_cameras && !as_projector)
		return fail(path, "is of two cameras (R1 and R2 stand there, and nothing names a "
		    "projector): wanted are camera_K, projector_K, R_cam_to_proj and "
		    "T_cam_to_proj, or others of man phase2depth; --as-projector takes the second "
		    "camera for a projector");
	if (!strcmp(calib->unit, "mm") && baseline(calib) < BASELINE_MM)
		warn(path, "camera and projector are %.3g mm apart: is T in metres? Then say "
		    "length_unit: m there", baseline(calib));
	return 0;
}

/* Is the frame larger than the camera, or smaller without a word about where it lies? */
static int
check_size(struct plausible *plausible, const struct pinhole *camera,
    const struct triangulation *rays, const struct frame_head *in)
{
	double right = rays->origin_px[0] + (double)in->w * rays->bin[0];
	double bottom = rays->origin_px[1] + (double)in->h * rays->bin[1], factor;

	if (!(camera->w > 0 && camera->h > 0))
		return 0;
	if (right > camera->w + 0.5 || bottom > camera->h + 0.5 || rays->origin_px[0] < -0.5 ||
	    rays->origin_px[1] < -0.5)
		return fail(NULL, "the frame, %zu x %zu px from %g,%g on, does not lie on the "
		    "calibration's camera of %g x %g px: are --origin and --calib right?", in->w,
		    in->h, rays->origin_px[0], rays->origin_px[1], camera->w, camera->h);
	if (rays->placed || plausible->asked ||
	    (right > camera->w - rays->bin[0] && bottom > camera->h - rays->bin[1]))
		return 0;
	plausible->asked = plausible->off = true;
	factor = camera->w / (right - rays->origin_px[0]);
	if (factor > 1.5 && fabs(factor - round(factor)) < 0.02 &&
	    fabs(factor - camera->h / (bottom - rays->origin_px[1])) < 0.02)
		warn(NULL, "the frame is %.3g times smaller than the calibration's camera of %g x "
		    "%g px: if its pixels are larger say --bin %g, if it is cut out --origin",
		    factor, camera->w, camera->h, round(factor) * rays->bin[0]);
	else
		warn(NULL, "the frame, %zu x %zu px, is smaller than the calibration's camera of "
		    "%g x %g px: if it is cut out say where, by --origin", in->w, in->h,
		    camera->w, camera->h);
	return 0;
}

/* The direction in which depth moves the middle of the frame through the projector's picture. */
static int
check_axis(const struct calib *calib, const struct triangulation *rays, const struct frame_head *in)
{
	double uv[2] = { rays->origin_px[0] + (double)in->w * rays->bin[0] / 2,
		rays->origin_px[1] + (double)in->h * rays->bin[1] / 2 };
	double xy[2], center[3], at[2][2];
	bool along_y = rays->along_y;

	pinhole_center(&calib->camera, center);
	if (!pinhole_undistort(&calib->camera, uv, xy))
		return 0;
	for (size_t k = 0; k < 2; k++) {
		double s = baseline(calib) * (k ? 6 : 3), X[3];

		for (size_t i = 0; i < 3; i++)
			X[i] = center[i] + s * (rays->R[3 * i] * xy[0] +
			    rays->R[3 * i + 1] * xy[1] + rays->R[3 * i + 2]);
		if (!pinhole_project(&calib->projector, X, at[k]))
			return 0;
	}
	if (fabs(at[1][along_y] - at[0][along_y]) >=
	    SLOPE * fabs(at[1][!along_y] - at[0][!along_y]))
		return 0;
	return fail(NULL, "depth does not move a point across the projector's %s: with this "
	    "calibration only a phase that varies along %c measures (--axis)",
	    along_y ? "rows" : "columns", along_y ? 'x' : 'y');
}

int
plausible_plan(struct plausible *plausible, const struct calib *calib,
    const struct triangulation *rays, const struct frame_head *in)
{
	if (check_size(plausible, &calib->camera, rays, in) < 0 || check_axis(calib, rays, in) < 0)
		return -1;
	plausible->size_px = rays->along_y ? calib->projector.h : calib->projector.w;
	plausible->step = coarse_grid_step(in->w, in->h, PIXELS);
	plausible->rows = coarse_grid_count(in->h, plausible->step);
	free(plausible->row);
	plausible->row = calloc(plausible->rows, sizeof(*plausible->row));
	return plausible->row ? 0 : fail_memory();
}

void
plausible_free(struct plausible *plausible)
{
	free(plausible->row);
	plausible->row = NULL;
}

/* Bands may share rows: both store the same. */
void
plausible_row(const struct plausible *plausible, const struct triangulation *rays,
    const float *phase, const float *z, size_t y)
{
	struct plausible_count count = { 0 }, *kept;

	if (plausible->off || y % plausible->step)
		return;
	for (size_t x = 0; x < rays->w; x += plausible->step) {
		double code = rays->px_per_rad * (double)phase[x] + rays->code0_px;

		if (isnan(phase[x]))
			continue;
		count.phases++;
		count.outside += plausible->size_px > 0 &&
		    (code < -0.5 - MARGIN_PX || code > plausible->size_px - 0.5 + MARGIN_PX);
		count.lost += isnan(z[x]);
	}
	kept = &plausible->row[y / plausible->step];
	__atomic_store_n(&kept->phases, count.phases, __ATOMIC_RELAXED);
	__atomic_store_n(&kept->outside, count.outside, __ATOMIC_RELAXED);
	__atomic_store_n(&kept->lost, count.lost, __ATOMIC_RELAXED);
}

void
plausible_warn(struct plausible *plausible, bool along_y)
{
	double phases = 0, outside = 0, lost = 0;

	for (size_t i = 0; i < plausible->rows; i++) {
		phases += plausible->row[i].phases;
		outside += plausible->row[i].outside;
		lost += plausible->row[i].lost;
	}
	if (plausible->off || phases < LEAST)
		return;
	if (outside > OUTSIDE * phases) {
		warn("absphase", "%.0f %% of the pixels lie outside the projector's %g %s: are "
		    "--period, --centered, and phasewrap --phase-origin right?",
		    100 * outside / phases, plausible->size_px, along_y ? "rows" : "columns");
		plausible->off = true;
	} else if (!plausible->limited && lost > LOST * phases && lost < phases) {
		warn("x y z", "%.0f %% of the pixels with a phase have no point in front of camera "
		    "and projector: are --origin, --period, --axis and --calib right?",
		    100 * lost / phases);
		plausible->off = true;
	}
}
