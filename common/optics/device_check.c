/*
 * Is a calibration possible for pictures of a given size? Checks matrix and lens of a camera or
 * projector.
 */
#include "optics/device_check.h"

#include <math.h>
#include <stdio.h>

#include "base/fail.h"

#define MAX_TANGENTIAL 0.03	/* p1 and p2 of lenses are below 0.02 */
#define MAX_SKEW 0.05	/* of the focal length; sensors have some 1e-4 */
#define MAX_FOCAL_WIDTHS 8.0	/* widths of the picture in a focal length: some 150 degrees */
#define MIDDLE_SHARE 0.05	/* principal points lie so near it, a share of the picture, */
#define ASIDE_SHARE 0.2	/* and a camera's never so far from it; halved: 0.25 */
#define MAX_SHIFT_HEIGHTS 0.65	/* by which a projector shifts its picture, up or down */

/*
 * A principal point lies near the middle of its picture. In the matrix of a picture of another
 * resolution it lies near a quarter, a third, 3/8, 2/3, 3/4 or all of it; a projector's picture
 * may be shifted up or down. The factor between the two pictures, 1 where they are of one size.
 */
static double
resolution_factor(const struct pinhole *device, double w, double h, enum device_kind kind)
{
	static const double factors[] = { 0.5, 2.0 / 3, 0.75, 4.0 / 3, 1.5, 2 };
	double x = device->K[2] / w, y = device->K[5] / h;

	for (size_t i = 0; i < sizeof(factors) / sizeof(*factors); i++) {
		double off_x = x / factors[i] - 0.5, off_y = y / factors[i] - 0.5;

		if (fabs(off_x) < MIDDLE_SHARE && (fabs(off_y) < MIDDLE_SHARE ||
		    (kind == DEVICE_PROJECTOR && fabs(off_y) < MAX_SHIFT_HEIGHTS)))
			return factors[i];
	}
	return 1;
}

bool
device_check_resolution(const char *object, const struct pinhole *device, enum device_kind kind,
    const char *name, double w, double h)
{
	double u = device->K[2], v = device->K[5], focal = fabs(device->K[0]), factor;
	double off_u = fabs(u / w - 0.5), off_v = fabs(v / h - 0.5);
	/* lens and mirror may shift a projector's picture up or down by its height */
	double beyond = kind == DEVICE_PROJECTOR ? h : 0;
	char what[300];

	if (!(w > 0 && h > 0))
		return true;
	factor = resolution_factor(device, w, h, kind);
	if (focal < w / MAX_FOCAL_WIDTHS) {
		warn(object, "the %s's focal length of %.4g px would see %.0f degrees: are the "
		    "numbers of its matrix pixels?", name, focal, 360 / M_PI * atan(w / 2 / focal));
		return false;
	}
	/* would width and height be right the other way round, and only so? */
	if (fabs(u / h - 0.5) < MIDDLE_SHARE && fabs(v / w - 0.5) < MIDDLE_SHARE &&
	    (off_u > MIDDLE_SHARE || off_v > MIDDLE_SHARE))
		snprintf(what, sizeof(what), "and the %s has %g x %g px: are width and height "
		    "exchanged?", name, w, h);
	else if (factor != 1)
		snprintf(what, sizeof(what), "as a picture of %.4g x %.4g px would, and the %s has "
		    "%g x %g px: is it of another resolution?", w * factor, h * factor, name, w, h);
	else if (kind != DEVICE_CROPPED && (u < 0 || u > w || v < -beyond || v > h + beyond))
		snprintf(what, sizeof(what), "outside of the %s's %g x %g px: is it the matrix of "
		    "this picture, and not of a part?", name, w, h);
	else if (kind == DEVICE_CAMERA && (off_u > ASIDE_SHARE || off_v > ASIDE_SHARE))
		snprintf(what, sizeof(what), "far from the middle of its %g x %g px: are both "
		    "numbers, and all of the matrix, of this picture, and not of a part?", w, h);
	else
		return true;
	warn(object, "the %s's matrix has its principal point at %.4g,%.4g, %s", name, u, v, what);
	return false;
}

/* The list k1 k2 k3 p1 p2 of other programs puts k3 in the place of p1. */
bool
device_check_tangential(const char *path, const struct pinhole *device, const char *name)
{
	const double *p = device->distortion + 2;

	if (fabs(p[0]) < MAX_TANGENTIAL && fabs(p[1]) < MAX_TANGENTIAL)
		return true;
	warn(path, "the %s's lens has p1 = %g and p2 = %g, more than lenses have: is its list in "
	    "OpenCV's order k1 k2 p1 p2 k3?", name, p[0], p[1]);
	return false;
}

bool
device_check_skew(const char *path, const struct pinhole *device, const char *name)
{
	if (fabs(device->K[1]) <= MAX_SKEW * fabs(device->K[0]))
		return true;
	warn(path, "the %s's matrix has a skew of %g with a focal length of %g px, which no sensor "
	    "has: is it in the order fx s cx, 0 fy cy, 0 0 1?", name, device->K[1], device->K[0]);
	return false;
}

/* Does the lens show all corners of its picture, of which 0, 0 is one whatever its size? */
bool
device_check_fold(const char *path, const struct pinhole *device, const char *name)
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
