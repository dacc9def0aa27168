/* What a calibration says of itself, and of the frame that it is for, before a pixel is made. */
#include "plausible.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "optics/device_check.h"

double
plausible_baseline(const struct calib *calib)
{
	double camera[3], projector[3], square = 0;

	pinhole_center(&calib->camera, camera);
	pinhole_center(&calib->projector, projector);
	for (size_t i = 0; i < 3; i++)
		square += (camera[i] - projector[i]) * (camera[i] - projector[i]);
	return sqrt(square);
}

/* -1 after fail() where the file is of two cameras. */
static int
check_kind(const char *path, const struct calib *calib)
{
	return !calib->two_cameras ? 0 : fail(path, "is of two cameras (R1 and R2 stand there, and "
	    "nothing names a projector): wanted are camera_K, projector_K, R_cam_to_proj and "
	    "T_cam_to_proj, or others of man phase2depth; --as-projector takes the second camera "
	    "for a projector");
}

/* Millimetres of the calibration's unit of lengths; 0: it is unknown. */
static double
unit_mm(const char *unit)
{
	static const struct {
		const char *name;
		double mm;
	} units[] = { { "um", 1e-3 }, { "mm", 1 }, { "cm", 10 }, { "m", 1000 } };

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!strcmp(unit, units[i].name))
			return units[i].mm;
	return 0;
}

/* -1 after fail() where both devices are in one place. False in *plausible after a warning. */
static int
check_baseline(const char *path, const struct calib *calib, bool *plausible)
{
	double apart_mm = plausible_baseline(calib) * unit_mm(calib->unit);

	*plausible = true;
	if (plausible_baseline(calib) == 0)
		return fail(path, "camera and projector are in one place, T is 0: nothing can be "
		    "measured from there");
	if (unit_mm(calib->unit) == 0 ||
	    (apart_mm >= BASELINE_LEAST_MM && apart_mm <= BASELINE_MOST_MM))
		return 0;
	*plausible = false;
	if (strcmp(calib->unit, "mm"))
		warn(path, "camera and projector are %.3g %s apart: is T in %s?",
		    plausible_baseline(calib), calib->unit, calib->unit);
	else if (apart_mm < BASELINE_LEAST_MM)
		warn(path, "camera and projector are %.3g mm apart: is T in metres? Then say "
		    "length_unit: m there", apart_mm);
	else
		warn(path, "camera and projector are %.3g m apart: is T in micrometres? Then say "
		    "length_unit: um there", apart_mm / 1000);
	return 0;
}

int
plausible_calib(struct plausible *plausible, const char *path, bool as_projector,
    const struct calib *calib)
{
	bool sound;

	if ((!as_projector && check_kind(path, calib) < 0) ||
	    check_baseline(path, calib, &sound) < 0)
		return -1;
	plausible->path = path;
	plausible->calib = calib;
	plausible->off = !sound;
	if (!sound)
		return 0;
	if (calib->contradiction[0])
		warn(path, "%s", calib->contradiction);
	if (calib->contradiction[0] || !device_check_tangential(path, &calib->camera, "camera") ||
	    !device_check_tangential(path, &calib->projector, "projector") ||
	    !device_check_skew(path, &calib->camera, "camera") ||
	    !device_check_skew(path, &calib->projector, "projector"))
		plausible->off = true;
	else
		plausible->off = !device_check_resolution(path, &calib->camera,
		    DEVICE_CAMERA, "camera", calib->camera.w, calib->camera.h) ||
		    (!as_projector && !device_check_resolution(path, &calib->projector,
		    DEVICE_PROJECTOR, "projector", calib->projector.w, calib->projector.h));
	if (!plausible->off)
		plausible->off = !device_check_fold(path, &calib->camera, "camera") ||
		    !device_check_fold(path, &calib->projector, "projector");
	return 0;
}
