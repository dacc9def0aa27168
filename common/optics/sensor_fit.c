#include "optics/sensor_fit.h"

#include <math.h>

#include "base/fail.h"

#define OFF_CENTRE 0.2		/* of a side: that of another resolution, or of a crop */
#define TURNED 0.08		/* of both sides, and nearly nothing with the sides exchanged */

/* *known: there is a size. */
static int
find_size(const struct frame_head *head, bool is_picture, double size[2], bool *known)
{
	struct numbers list;

	*known = is_picture;
	size[0] = (double)head->w;
	size[1] = (double)head->h;
	if (is_picture)
		return 0;
	if (meta_numbers(&head->meta, "image_size_px", &list) < 0)
		return -1;
	*known = list.n == 2;
	for (size_t i = 0; i < 2 && *known; i++)
		size[i] = list.v[i];
	numbers_free(&list);
	return 0;
}

/* Is the principal point in the picture's middle, more or less, and not that of a turned one? */
static bool
is_centred(const struct pinhole *camera, const double size[2])
{
	double off[2], turned[2];

	for (int i = 0; i < 2; i++) {
		double at = i ? camera->K[5] : camera->K[2];

		off[i] = fabs(at - (size[i] - 1) / 2) / size[i];
		turned[i] = fabs(at - (size[!i] - 1) / 2) / size[i];
	}
	if (off[0] > TURNED && off[1] > TURNED && turned[0] < TURNED / 2 && turned[1] < TURNED / 2)
		return false;
	return off[0] < OFF_CENTRE && off[1] < OFF_CENTRE;
}

int
sensor_fit_check(const struct pinhole *camera, const struct frame_head *head, bool is_picture,
    const struct sensor_fit *fit, bool *warned)
{
	double size[2], whole[2], right, bottom;
	bool known;

	if (find_size(head, is_picture, size, &known) < 0)
		return -1;
	if (!known)
		return 0;
	for (int i = 0; i < 2; i++)
		whole[i] = size[i] * fit->bin[i];
	right = fit->origin_px[0] + whole[0];
	bottom = fit->origin_px[1] + whole[1];
	if (camera->w > 0 && camera->h > 0 && (fit->origin_px[0] < -0.5 ||
	    fit->origin_px[1] < -0.5 || right > camera->w + 0.5 || bottom > camera->h + 0.5))
		return fail(NULL, "the picture, %gx%g px from %g,%g on, does not lie on the "
		    "calibration's camera of %gx%g px: is it the calibration of this one, at "
		    "this resolution?", size[0], size[1], fit->origin_px[0], fit->origin_px[1],
		    camera->w, camera->h);
	if (*warned)
		return 0;
	*warned = true;
	if (!fit->placed && camera->w > 0 && camera->h > 0 && (right < camera->w - fit->bin[0] ||
	    bottom < camera->h - fit->bin[1]))
		warn(NULL, "the picture, %gx%g px, is smaller than the calibration's camera of "
		    "%gx%g px: if it is cut out say where, by --origin", size[0], size[1],
		    camera->w, camera->h);
	else if (!(camera->w > 0) && fit->origin_px[0] == 0 && fit->origin_px[1] == 0 &&
	    !is_centred(camera, whole))
		warn(NULL, "the calibration's principal point, %.6g,%.6g, is far from the middle "
		    "of the picture of %gx%g px: is it the calibration of this camera, at this "
		    "resolution, and not turned?", camera->K[2], camera->K[5], size[0], size[1]);
	else
		*warned = false;
	return 0;
}
