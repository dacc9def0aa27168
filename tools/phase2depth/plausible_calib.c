/* What a calibration says of itself, and of the frame that it is for, before a pixel is made. */
#include "plausible.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"

#define BASELINE_MM 2.0		/* a smaller one was meant in another unit */
#define BASELINE_MOST_MM 20000.0	/* and no rig is so wide */
#define TANGENTIAL 0.03		/* p1 and p2 of lenses are below 0.02 */
#define SKEW 0.05		/* of the focal length; sensors have some 1e-4 */
#define WIDE 8.0		/* widths of the picture in a focal length: some 150 degrees */
#define MIDDLE 0.05		/* principal points lie so near it, a share of the picture, */
#define ASIDE 0.2		/* and a camera's never so far from it; halved: 0.25 */

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
 * resolution it lies near a quarter, a third, 3/8, 2/3, 3/4 or all of it; a projector's picture
 * may be shifted up or down. The factor between the two pictures, 1 where they are of one size.
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

/* A projector's picture may be shifted up or down by lens and mirror, by up to its height. */
static bool
is_outside(const struct pinhole *device, double w, double h, bool is_projector)
{
	double x = device->K[2], y = device->K[5], beyond = is_projector ? h : 0;

	return x < 0 || x > w || y < -beyond || y > h + beyond;
}

/* Of a camera one number alone may be of another picture. */
static bool
is_aside(const struct pinhole *device, double w, double h)
{
	return fabs(device->K[2] / w - 0.5) > ASIDE || fabs(device->K[5] / h - 0.5) > ASIDE;
}

/* Would width and height be right the other way round, and only so? */
static bool
is_exchanged(const struct pinhole *device, double w, double h)
{
	return fabs(device->K[2] / h - 0.5) < MIDDLE && fabs(device->K[5] / w - 0.5) < MIDDLE &&
	    (fabs(device->K[2] / w - 0.5) > MIDDLE || fabs(device->K[5] / h - 0.5) > MIDDLE);
}

bool
plausible_resolution(const char *object, const struct pinhole *device, bool is_projector, double w,
    double h)
{
	const char *name = is_projector ? "projector" : "camera";
	double factor, focal = fabs(device->K[0]);

	if (!(w > 0 && h > 0))
		return true;
	factor = resolution_factor(device, w, h, is_projector);
	if (focal < w / WIDE)
		warn(object, "the %s's focal length of %.4g px would see %.0f degrees: are the "
		    "numbers of its matrix pixels?", name, focal, 360 / M_PI * atan(w / 2 / focal));
	else if (is_exchanged(device, w, h))
		warn(object, "the %s's matrix has its principal point at %.4g,%.4g, and the %s has "
		    "%g x %g px: are width and height exchanged?", name, device->K[2],
		    device->K[5], name, w, h);
	else if (factor != 1)
		warn(object, "the %s's matrix has its principal point at %.4g,%.4g, as a picture "
		    "of %.4g x %.4g px would, and the %s has %g x %g px: is it of another "
		    "resolution?",
		    name, device->K[2], device->K[5], w * factor, h * factor, name, w, h);
	else if (is_outside(device, w, h, is_projector))
		warn(object, "the %s's matrix has its principal point at %.4g,%.4g, outside of the "
		    "%s's %g x %g px: is it the matrix of this picture, and not of a part?", name,
		    device->K[2], device->K[5], name, w, h);
	else if (!is_projector && is_aside(device, w, h))
		warn(object, "the camera's matrix has its principal point at %.4g,%.4g, far from "
		    "the middle of its %g x %g px: are both numbers, and all of the matrix, of "
		    "this picture, and not of a part?", device->K[2], device->K[5], w, h);
	else
		return true;
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

/* False after a warning. */
static bool
check_skew(const char *path, const struct pinhole *device, const char *name)
{
	if (fabs(device->K[1]) <= SKEW * fabs(device->K[0]))
		return true;
	warn(path, "the %s's matrix has a skew of %g with a focal length of %g px, which no sensor "
	    "has: is it in the order fx s cx, 0 fy cy, 0 0 1?", name, device->K[1], device->K[0]);
	return false;
}

/* Does the lens show all corners of its picture, of which 0, 0 is one whatever its size? False
 * after a warning. */
static bool
check_fold(const char *path, const struct pinhole *device, const char *name)
{
	double last[2] = { fmax(device->w - 1, 0), fmax(device->h - 1, 0) };

	for (size_t k = 0; k < 4; k++) {
		double corner[2] = { k % 2 ? last[0] : 0, k / 2 ? last[1] : 0 }, xy[2];

		if (pinhole_undistort(device, corner, xy))
			continue;
		warn(path, "the %s's lens folds back before the corner %g, %g of its picture: what "
		    "is beyond is lost. Did the calibration see its corners?", name, corner[0],
		    corner[1]);
		return false;
	}
	return true;
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
	if (unit_mm(calib->unit) == 0 || (apart_mm >= BASELINE_MM && apart_mm <= BASELINE_MOST_MM))
		return 0;
	*plausible = false;
	if (strcmp(calib->unit, "mm"))
		warn(path, "camera and projector are %.3g %s apart: is T in %s?",
		    plausible_baseline(calib), calib->unit, calib->unit);
	else if (apart_mm < BASELINE_MM)
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
	if (calib->contradiction[0] || !check_tangential(path, &calib->camera, "camera") ||
	    !check_tangential(path, &calib->projector, "projector") ||
	    !check_skew(path, &calib->camera, "camera") ||
	    !check_skew(path, &calib->projector, "projector"))
		plausible->off = true;
	else
		plausible->off = !plausible_resolution(path, &calib->camera, false,
		    calib->camera.w, calib->camera.h) ||
		    (!as_projector && !plausible_resolution(path, &calib->projector, true,
		    calib->projector.w, calib->projector.h));
	if (!plausible->off)
		plausible->off = !check_fold(path, &calib->camera, "camera") ||
		    !check_fold(path, &calib->projector, "projector");
	return 0;
}
