#include "plausible.h"

#include <math.h>
#include <string.h>

#include "optics/sensor_fit.h"
#include "run/stage.h"

#define NEAREST_MM 5.0		/* no camera and laser measure everything nearer than this */
#define SLICES 20		/* scans of fewer may be of a narrow piece */
#define SCAN 5e-4		/* of the distance from the camera: all slices lie in one */
#define OFF 0.1			/* of the length of scan_direction: lasercal's own bar */
#define ALONG 0.02		/* rad between a stage's motion and the laser's plane */
#define STOOD 4			/* frames in one place, and more */
#define TURNS 1.5		/* a scan goes round once, and a little more */
#define NO_PLACE 0.1		/* of the points: reflections are fewer */
#define BEYOND 0.01		/* of the points, of which there are LEAST */
#define LEAST 10
#define DEGREES 57.29577951308232

int
plausible_picture(struct plausible *plausible, const struct laser *laser,
    const struct frame_head *head, const double origin_px[2], const double bin[2], bool placed)
{
	const struct sensor_fit fit = { { origin_px[0], origin_px[1] }, { bin[0], bin[1] },
		placed };

	return sensor_fit_check(&laser->camera, head, false, &fit, &plausible->size_warned);
}

/* Slices of a stage that moves, in one place, are a wrong cloud. */
static void
check_unmoved(struct plausible *plausible, const struct run *run,
    const struct stage_pose_options *options, const struct stage_pose *pose)
{
	if (pose->kind != STAGE_POSE_NONE || run_inputs(run) == 0 || plausible->unmoved_warned ||
	    options->key)
		return;
	plausible->unmoved_warned = true;
	warn(NULL, "frames have no key stage_mm or stage_deg, and neither --step nor --angle is "
	    "given: all slices are where the camera saw them (--pose-from none is silent)");
}

/* What a unit is in mm; 0: not known. */
static double
unit_mm(const char *unit)
{
	static const struct { const char *name; double mm; } units[] = { { "mm", 1 }, { "cm", 10 },
		{ "m", 1000 }, { "um", 1e-3 } };

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(unit, units[i].name))
			return units[i].mm;
	return 0;
}

/* Travel is in mm, and so many of the calibration's units make one. */
static bool
check_length(const struct laser *laser)
{
	const double *D = laser->direction, mm = unit_mm(laser->unit);
	double length = sqrt(D[0] * D[0] + D[1] * D[1] + D[2] * D[2]);

	if (!(mm > 0) || fabs(length * mm - 1) <= OFF)
		return false;
	warn("scan_direction", "takes points %.4g %s for each mm of travel, not %g: is it of this "
	    "stage, and in the calibration's unit?", length, laser->unit, 1 / mm);
	return true;
}

/* A stage that moves the object within the laser's plane makes one slice of all. */
static bool
check_slices(const struct laser *laser, const struct stage_pose *pose)
{
	bool turns = pose->kind == STAGE_POSE_TURN;
	const double *D = turns ? laser->axis_direction : laser->direction, *n = laser->plane;
	double length = sqrt(D[0] * D[0] + D[1] * D[1] + D[2] * D[2]), cross = 0;
	double along = (n[0] * D[0] + n[1] * D[1] + n[2] * D[2]) / length;

	/* an axis across the plane leaves it where it is */
	for (int i = 0; i < 3 && turns; i++) {
		double c = n[(i + 1) % 3] * D[(i + 2) % 3] - n[(i + 2) % 3] * D[(i + 1) % 3];

		cross += c * c / (length * length);
	}
	if (turns ? cross >= ALONG * ALONG : fabs(along) >= ALONG)
		return false;
	warn(turns ? "axis_direction" : "scan_direction", "moves the object within the laser's "
	    "plane, so that all slices are one: is it of this stage, and of this laser?");
	return true;
}

int
plausible_pose(struct plausible *plausible, const struct run *run,
    const struct stage_pose_options *options, const struct frame_head *head,
    const struct laser *laser, const struct stage_pose *pose)
{
	if (stage_history_add(&plausible->history, run, options, head, pose) < 0)
		return -1;
	check_unmoved(plausible, run, options, pose);
	if (pose->kind != STAGE_POSE_NONE && !plausible->direction_warned)
		plausible->direction_warned = check_slices(laser, pose) ||
		    (pose->kind == STAGE_POSE_TRAVEL && check_length(laser));
	return 0;
}

bool
plausible_pixel(const struct laser *laser, const double uv[2])
{
	const struct pinhole *camera = &laser->camera;

	return !(camera->w > 0) || !(camera->h > 0) || (uv[0] > -1 && uv[1] > -1 &&
	    uv[0] < camera->w && uv[1] < camera->h);
}

/* What the stage did in all frames. */
static bool
check_stage(const struct stage_history *history, const struct laser *laser, double deepest)
{
	double travel_mm = history->most_mm - history->least_mm, mm = unit_mm(laser->unit);
	double turns = (history->most_rad - history->least_rad) / (2 * M_PI);

	stage_history_end(history);
	if (history->kind == STAGE_POSE_NONE)
		return false;
	if (history->frames >= STOOD && !(travel_mm > 0) && !(turns > 0))
		warn(NULL, "the stage stood in one place in all %zu frames, so that all slices are "
		    "one (--pose-from none is silent)", history->frames);
	else if (history->frames >= STOOD && turns > TURNS)
		warn(NULL, "the stage turned by %.4g degrees in %zu frames, %.3g times around: is "
		    "its angle that from frame to frame?", 2 * M_PI * DEGREES * turns,
		    history->frames, turns);
	else if (history->kind == STAGE_POSE_TRAVEL && history->frames >= SLICES &&
	    travel_mm < SCAN * deepest * mm)
		warn(NULL, "the stage travels by %.3g mm in %zu frames, before points up to %.4g "
		    "%s away: is that in metres?", travel_mm, history->frames, deepest,
		    laser->unit);
	else
		return false;
	return true;
}

/* Points without a place, and beside the picture, among others. */
static void
check_places(const struct laser *laser, const struct counts *all)
{
	size_t lost = all->no_ray + all->parallel + all->behind;

	if (all->outside >= LEAST && (double)all->outside > BEYOND * (double)all->points)
		warn(NULL, "%zu of %zu points lie beside the calibration's picture of %gx%g px: is "
		    "it of this camera, at this resolution, and are u and v columns and rows?",
		    all->outside, all->points, laser->camera.w, laser->camera.h);
	else if (all->met && lost >= LEAST && (double)lost > NO_PLACE * (double)all->points)
		warn(NULL, "%zu of %zu points have no place: %zu without a ray, %zu along the "
		    "plane, %zu behind the camera: is laser_plane of this camera and laser?", lost,
		    all->points, all->no_ray, all->parallel, all->behind);
}

void
plausible_end(const struct plausible *plausible, const struct laser *laser,
    const struct counts *all)
{
	double mm = unit_mm(laser->unit);

	check_places(laser, all);
	if (!check_stage(&plausible->history, laser, all->deepest) && all->deepest > 0 && mm > 0 &&
	    all->deepest * mm < NEAREST_MM)
		warn(NULL, "all points lie within %.3g %s of the camera: is laser_plane in another "
		    "unit than length_unit (mm unless given)?", all->deepest, laser->unit);
}
