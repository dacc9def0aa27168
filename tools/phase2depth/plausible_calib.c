/* What a calibration says of itself, and of the frame that it is for, before a pixel is made. */
#include "plausible.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"

#define BASELINE_MM 2.0		/* a smaller one was meant in another unit */
#define BASELINE_MOST_MM 20000.0	/* and no rig is so wide */
#define TANGENTIAL 0.1		/* p1 and p2 of lenses are below 0.02 */
#define MIDDLE 0.05		/* how far principal points lie from it, as a share of the picture */

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

/*
 * A principal point lies near the middle of its picture. In the matrix of a picture of another
 * resolution it lies near a quarter, a third, 3/8, 2/3, 3/4 or all of it; a projector's picture may be
 * shifted up or down. The factor between the two pictures, 1 where they are of one size.
 */
static double
resolution_factor(const struct pinhole *device, double w, double h, bool is_projector)
{
	static const double factors[] = { 0.5, 2.0 / 3, 0.75, 4.0 / 3, 1.5, 2 };
	double x = device->K[2] / w, y = device->K[5] / h;

	for (size_t i = 0; i < sizeof(factors) / sizeof(*factors); i++) {
		double off_x = x / factors[i] - 0.5, off_y = y / factors[i] - 0.5;

		if (fabs(off_x) < MIDDLE && (fabs(off_y) < MIDDLE ||
		    (is_projector && off_y > -0.65 && off_y < 0.65)))
			return factors[i];
	}
	return 1;
}

bool
plausible_resolution(const char *object, const struct pinhole *device, bool is_projector, double w,
    double h)
{
	const char *name = is_projector ? "projector" : "camera";
	double factor = w > 0 && h > 0 ? resolution_factor(device, w, h, is_projector) : 1;

	if (factor == 1)
		return true;
	warn(object, "the %s's matrix has its principal point at %.4g,%.4g, as a picture of "
	    "%.4g x %.4g px would, and the %s has %g x %g px: is it of another resolution?", name,
	    device->K[2], device->K[5], w * factor, h * factor, name, w, h);
	return false;
}

/* The list k1 k2 k3 p1 p2 of other programs puts k3 in the place of p1. False after a warning. */
static bool
check_tangential(const char *path, const struct pinhole *device, const char *name)
{
	const double *p = device->distortion + 2;

	if (fabs(p[0]) < TANGENTIAL && fabs(p[1]) < TANGENTIAL)
		return true;
	warn(path, "the %s's lens has p1 = %g and p2 = %g, more than lenses have: is its list in "
	    "OpenCV's order k1 k2 p1 p2 k3?", name, p[0], p[1]);
	return false;
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

int
plausible_calib(struct plausible *plausible, const char *path, bool as_projector,
    struct calib *calib)
{
	double apart;

	if (calib_load(path, calib) < 0 || (!as_projector && check_kind(path, calib) < 0))
		return -1;
	plausible->path = path;
	plausible->calib = calib;
	apart = plausible_baseline(calib);
	if (!strcmp(calib->unit, "mm") && apart < BASELINE_MM)
		warn(path, "camera and projector are %.3g mm apart: is T in metres? Then say "
		    "length_unit: m there", apart);
	else if (!strcmp(calib->unit, "mm") && apart > BASELINE_MOST_MM)
		warn(path, "camera and projector are %.3g m apart: is T in micrometres? Then say "
		    "length_unit: um there", apart / 1000);
	else if (!check_tangential(path, &calib->camera, "camera") ||
	    !check_tangential(path, &calib->projector, "projector"))
		plausible->off = true;
	else if (!as_projector)
		plausible->off = !plausible_resolution(path, &calib->camera, false,
		    calib->camera.w, calib->camera.h) ||
		    !plausible_resolution(path, &calib->projector, true, calib->projector.w,
		    calib->projector.h);
	return 0;
}
