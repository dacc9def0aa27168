#include "pair_check.h"

#include <math.h>

#include "base/fail.h"
#include "optics/device_check.h"

#define TOED_IN_DEG 3.0		/* with less where the axes meet says nothing of the scene */
#define APART_DEG 6.0		/* cameras that are meant to be parallel are off by less */
#define WHOLE 0.02		/* of a factor between two sizes, from a whole number */

static double
dot(const double a[3], const double b[3])
{
	return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* The direction, in the left camera's frame, that the middle of a picture looks at. */
static void
find_view(const struct pinhole *camera, double view[3])
{
	double v = camera->h > 0 ? ((camera->h - 1) / 2 - camera->K[5]) / camera->K[4] : 0;
	double u = camera->w > 0 ?
	    ((camera->w - 1) / 2 - camera->K[2] - camera->K[1] * v) / camera->K[0] : 0;
	double length = sqrt(u * u + v * v + 1);

	for (size_t i = 0; i < 3; i++)
		view[i] = (camera->R[i] * u + camera->R[3 + i] * v + camera->R[6 + i]) / length;
}

/* The angle between the directions that both look at, and how far from each camera the two lines
 * come nearest to each other: negative behind the camera. */
static double
find_meeting(const struct stereo *stereo, double along_mm[2])
{
	double view[2][3], centre[3], cosine, rest;

	find_view(&stereo->camera[0], view[0]);
	find_view(&stereo->camera[1], view[1]);
	pinhole_center(&stereo->camera[1], centre);
	cosine = dot(view[0], view[1]);
	rest = 1 - cosine * cosine;
	along_mm[0] = (dot(centre, view[0]) - cosine * dot(centre, view[1])) / rest;
	along_mm[1] = (cosine * dot(centre, view[0]) - dot(centre, view[1])) / rest;
	return 180 / M_PI * acos(fmin(cosine, 1));
}

static bool
check_baseline(const char *path, double baseline_mm)
{
	double apart_mm = fabs(baseline_mm);

	if (apart_mm < BASELINE_LEAST_MM)
		warn(path, "the cameras are %.3g mm apart: is T in metres? Then say length_unit: m "
		    "there", apart_mm);
	else if (apart_mm > BASELINE_MOST_MM)
		warn(path, "the cameras are %.3g m apart: is T in micrometres? Then say "
		    "length_unit: um there", apart_mm / 1000);
	else
		return true;
	return false;
}

/* Where do the cameras look? */
static bool
check_views(const char *path, const struct stereo *stereo)
{
	double along[2], degrees = find_meeting(stereo, along), apart = fabs(stereo->baseline_mm);

	if (degrees > APART_DEG && along[0] < 0 && along[1] < 0)
		warn(path, "the cameras look apart, by %.0f degrees: is T's sign right, and do R "
		    "and T take points of the first camera to the second?", degrees);
	else if (!stereo->unit_stated && apart < SMALL_RIG_MM && degrees > TOED_IN_DEG &&
	    along[0] > 0 && along[0] < SMALL_RANGE_MM)
		warn(path, "the cameras are %.3g apart and look at a point %.3g away, taken for mm "
		    "as nothing says the unit of T: is it cm, or squares of a board? length_unit "
		    "says what it is, mm too", apart, along[0]);
	else
		return true;
	return false;
}

bool
pair_check(const char *path, const struct stereo *stereo)
{
	const struct pinhole *left = &stereo->camera[0], *right = &stereo->camera[1];

	if (stereo->contradiction[0]) {
		warn(path, "%s", stereo->contradiction);
		return false;
	}
	if (stereo->named_otherwise) {
		warn(path, "calls its first camera right and its second left: --side left is the "
		    "first one, whatever its name");
		return false;
	}
	return check_baseline(path, stereo->baseline_mm) &&
	    device_check_tangential(path, left, "left camera") &&
	    device_check_tangential(path, right, "right camera") &&
	    device_check_skew(path, left, "left camera") &&
	    device_check_skew(path, right, "right camera") &&
	    device_check_resolution(path, left, DEVICE_CROPPED, "left camera", left->w, left->h) &&
	    device_check_resolution(path, right, DEVICE_CROPPED, "right camera", right->w,
	    right->h) && check_views(path, stereo);
}

/* Is the frame smaller than the camera, and nothing says where on it the frame lies? */
static bool
check_small(const struct source_geometry *geometry, bool placed)
{
	const struct pinhole *camera = &geometry->stereo->camera[geometry->side];
	double w = (double)geometry->in_w * geometry->bin;
	double h = (double)geometry->in_h * geometry->bin, factor = camera->w / w;
	bool halved = round(factor) >= 2 && fabs(factor - round(factor)) < WHOLE &&
	    fabs(factor - camera->h / h) < WHOLE;

	if (!(w <= camera->w - geometry->bin || h <= camera->h - geometry->bin) ||
	    (placed && !halved))
		return true;
	if (halved)
		warn(NULL, "the frame is %.3g times smaller than the calibration's cameras of %g x "
		    "%g px: if its pixels are larger say so (framecat --set bin=%g), if it is cut "
		    "out --origin", factor, camera->w, camera->h, round(factor) * geometry->bin);
	else
		warn(NULL, "the frame, %zu x %zu px, is smaller than the calibration's cameras of "
		    "%g x %g px: if it is cut out say where, by --origin", geometry->in_w,
		    geometry->in_h, camera->w, camera->h);
	return false;
}

bool
pair_check_frame(const char *path, const struct source_geometry *geometry, bool origin_given,
    const struct frame_head *in)
{
	const struct pinhole *camera = &geometry->stereo->camera[geometry->side];
	bool moved = geometry->origin_px[0] != 0 || geometry->origin_px[1] != 0;

	if (origin_given || moved)
		return true;
	if (camera->w > 0)	/* cameras write origin_px 0 0 of whole frames, too */
		return check_small(geometry, meta_get(&in->meta, "origin_px") != NULL);
	return device_check_resolution(path, camera, DEVICE_CAMERA,
	    geometry->side == STEREO_LEFT ? "left camera" : "right camera",
	    (double)geometry->in_w * geometry->bin, (double)geometry->in_h * geometry->bin);
}
