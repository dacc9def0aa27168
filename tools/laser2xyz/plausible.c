#include "plausible.h"

#include <math.h>
#include <string.h>

#include "optics/sensor_fit.h"
#include "run/stage.h"

#define NEAREST_MM 5.0		/* no camera and laser measure everything nearer than this */
#define SLICES 20		/* scans of fewer may be of a narrow piece */
#define SCAN 5e-4		/* of the distance from the camera: all slices lie in one */
#define OFF 0.1			/* of the length of scan_direction: lasercal's own bar */

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
static void
check_direction(struct plausible *plausible, const struct laser *laser,
    const struct stage_pose *pose)
{
	const double *D = laser->direction, mm = unit_mm(laser->unit);
	double length = sqrt(D[0] * D[0] + D[1] * D[1] + D[2] * D[2]);

	if (plausible->length_warned || pose->kind != STAGE_POSE_TRAVEL || !(mm > 0) ||
	    fabs(length * mm - 1) <= OFF)
		return;
	plausible->length_warned = true;
	warn("scan_direction", "takes points %.4g %s for each mm of travel, not %g: is it of this "
	    "stage, and in the calibration's unit?", length, laser->unit, 1 / mm);
}

int
plausible_pose(struct plausible *plausible, const struct run *run,
    const struct stage_pose_options *options, const struct frame_head *head,
    const struct laser *laser, const struct stage_pose *pose)
{
	if (stage_history_add(&plausible->history, run, options, head, pose) < 0)
		return -1;
	check_unmoved(plausible, run, options, pose);
	check_direction(plausible, laser, pose);
	return 0;
}

void
plausible_end(const struct plausible *plausible, const struct laser *laser, double deepest)
{
	const struct stage_history *history = &plausible->history;
	double mm = unit_mm(laser->unit), travel_mm = history->most_mm - history->least_mm;

	stage_history_end(history);
	if (history->kind == STAGE_POSE_TRAVEL && history->frames >= SLICES && travel_mm > 0 &&
	    travel_mm < SCAN * deepest * mm)
		warn(NULL, "the stage travels by %.3g mm in %zu frames, before points up to %.4g "
		    "%s away: is that in metres?", travel_mm, history->frames, deepest,
		    laser->unit);
	else if (deepest > 0 && mm > 0 && deepest * mm < NEAREST_MM)
		warn(NULL, "all points lie within %.3g %s of the camera: is laser_plane in another "
		    "unit than length_unit (mm unless given)?", deepest, laser->unit);
}
