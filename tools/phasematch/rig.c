#include "rig.h"

#include <float.h>
#include <math.h>

#include "optics/sensor_crop.h"
#include "optics/stereo.h"

#define SAME_PX 0.01		/* focal lengths and rows that are the same */

int
rig_check(const struct rig_options *options)
{
	if (options->min_depth > options->max_depth)
		return fail_usage("--min-depth", "%g is more than --max-depth %g: no depth lies "
		    "between", options->min_depth, options->max_depth);
	return 0;
}

/* Do the frame's own keys describe another rectified camera than the calibration? Baselines may
 * differ: that is how a wrong unit of length is put right. */
static int
check_same_camera(const char *path, const char *calib, const struct stereo_view *own,
    const struct stereo_view *view)
{
	double turned = 0;

	for (size_t i = 0; i < 9; i++)
		turned = fmax(turned, fabs(own->R[i] - view->R[i]));
	if (fabs(own->f_px - view->f_px) <= SAME_PX && fabs(own->cx_px - view->cx_px) <= SAME_PX &&
	    fabs(own->cy_px - view->cy_px) <= SAME_PX && turned * view->f_px <= SAME_PX)
		return 0;
	if (own->f_px != view->f_px || own->cx_px != view->cx_px || own->cy_px != view->cy_px)
		return fail(calib, "would rectify to f %.8g px, centre %.8g %.8g, the keys of %s "
		    "say f %.8g px, centre %.8g %.8g: it is not what the frame was rectified with",
		    view->f_px, view->cx_px, view->cy_px, path ? path : "the input", own->f_px,
		    own->cx_px, own->cy_px);
	return fail(calib, "would turn the camera otherwise than rect_rotation of %s says: it is "
	    "not what the frame was rectified with", path ? path : "the input");
}

/* Frames that no key describes are taken to be all that the calibration's rectified cameras see. */
static bool
warn_size(const struct stereo *stereo, const char *path, const struct frame_head *head)
{
	if (meta_get(&head->meta, "origin_px") || meta_get(&head->meta, "bin") ||
	    !(stereo->w > 0) || ((double)head->w == stereo->w && (double)head->h == stereo->h))
		return false;
	warn(path, "the frame has %zu x %zu px, those that --calib rectifies %g x %g: it is taken "
	    "for one that begins at the same pixel", head->w, head->h, stereo->w, stereo->h);
	return true;
}

/* The calibration in the place of the frame's keys, which *view has where `known`; path: NULL is
 * the input. */
static int
view_by_file(const struct run *run, const struct stereo *stereo, const char *calib,
    enum stereo_side side, const char *path, const struct frame_head *head, bool known,
    struct stereo_view *view)
{
	struct stereo_view keyed = *view;
	struct frame_head own = *head;
	bool found;
	int status;

	meta_copy(&own.meta, &head->meta);
	status = stereo_describe(stereo, known ? keyed.side : side, 1, &own.meta);
	if (status == 0)
		status = stereo_view(run, &own, view, &found);
	if (status == 0 && known)
		status = check_same_camera(path, calib, &keyed, view);
	meta_free(&own.meta);
	return status;
}

static int
views_by_file(const struct run *run, const char *calib, const char *path,
    const struct frame_head *in, const struct frame_head *right, struct rig *rig,
    struct stereo_view view[2])
{
	struct stereo stereo;
	bool known = rig->known;

	if (stereo_load(calib, &stereo) < 0)
		return -1;
	if (stereo.contradiction[0] && !rig->asked) {
		warn(calib, "%s", stereo.contradiction);
		rig->asked = true;
	}
	if (!known && !rig->asked)
		rig->asked = warn_size(&stereo, NULL, in) || warn_size(&stereo, path, right);
	return view_by_file(run, &stereo, calib, STEREO_LEFT, NULL, in, known, &view[0]) < 0 ?
	    -1 : view_by_file(run, &stereo, calib, STEREO_RIGHT, path, right, known, &view[1]);
}

/* *known: the frames have keys. */
static int
views_by_keys(const struct run *run, const char *path, const struct frame_head *in,
    const struct frame_head *right, struct stereo_view view[2], bool *known)
{
	bool other;

	if (stereo_view(run, in, &view[0], known) < 0)
		return -1;
	if (stereo_view(run, right, &view[1], &other) < 0) {
		fail_prefix(path);
		return -1;
	}
	if (*known && !other)
		return fail(path, "is not rectified (no key rect_f_px), the input is");
	if (!*known && other)
		return fail(NULL, "the input is not rectified (no key rect_f_px), --right is");
	return 0;
}

/* Of frames that no key describes: were they cropped alike? */
static int
check_rows(const struct run *run, const char *path, const struct frame_head *in,
    const struct frame_head *right)
{
	static const double zero[2] = { 0 };
	double left_px[2], right_px[2], bin[2];

	if (!meta_get(&in->meta, "origin_px") || !meta_get(&right->meta, "origin_px"))
		return 0;
	if (sensor_crop_origin(run, &(struct numbers){ 0 }, in, zero, left_px, bin) < 0 ||
	    sensor_crop_origin(run, &(struct numbers){ 0 }, right, zero, right_px, bin) < 0)
		return -1;
	if (left_px[1] == right_px[1])
		return 0;
	return fail(path, "begins at row %g, the input at row %g (key origin_px): crop rectified "
	    "frames alike", right_px[1], left_px[1]);
}

static int
check_views(const char *path, const struct stereo_view view[2])
{
	double focal_px = view[0].f_px;

	if (view[0].side == view[1].side)
		return fail(path, "is of the %s camera, as the input is",
		    view[0].side == STEREO_LEFT ? "left" : "right");
	if (fabs(view[1].f_px / focal_px - 1) * fabs(view[0].cx_px + focal_px) > SAME_PX)
		return fail(path, "has a focal length of %g px, the input of %g px: both must be "
		    "rectified by one calibration and binned alike", view[1].f_px, focal_px);
	if (fabs(view[1].baseline_mm / view[0].baseline_mm - 1) > 1e-6)
		return fail(path, "has a baseline of %g mm, the input of %g mm: both must be "
		    "rectified by one calibration", view[1].baseline_mm, view[0].baseline_mm);
	if (fabs(view[1].cy_px - view[0].cy_px) > SAME_PX)
		return fail(path, "lies %g rows off the input: crop both alike (keys rect_cy_px, "
		    "origin_px)", view[1].cy_px - view[0].cy_px);
	return 0;
}

static void
set_rig(const struct stereo_view view[2], const struct rig_options *options, struct rig *rig)
{
	bool swapped = view[0].side == STEREO_RIGHT;
	const struct stereo_view *left = &view[swapped];
	double baseline_mm = swapped ? -left->baseline_mm : left->baseline_mm;

	rig->focal = (float)view[0].f_px;
	rig->focal_baseline = (float)(view[0].f_px * baseline_mm);
	rig->cx = (float)view[0].cx_px;
	rig->cy = (float)view[0].cy_px;
	rig->centres = (float)(view[0].cx_px - view[1].cx_px);
	rig->least = isnan(options->min_depth) ? -FLT_MAX : (float)options->min_depth;
	rig->most = isnan(options->max_depth) ? FLT_MAX : (float)options->max_depth;
	rig->turned = options->frame == RIG_LEFT;
	rig->shift[0] = swapped ? (float)left->baseline_mm : 0;
	rig->shift[1] = rig->shift[2] = 0;
	for (size_t i = 0; i < 3; i++)
		for (size_t k = 0; k < 3; k++)
			rig->R[3 * i + k] = (float)left->R[3 * k + i];
}

/* What needs to know the rig. */
static const char *
needy_option(const struct rig_options *options)
{
	return options->frame == RIG_LEFT ? "--frame" : !isnan(options->min_depth) ? "--min-depth" :
	    !isnan(options->max_depth) ? "--max-depth" : NULL;
}

int
rig_plan(const struct run *run, const struct rig_options *options, const char *path,
    const struct frame_head *in, const struct frame_head *right, struct rig *rig)
{
	const char *needy = needy_option(options);
	struct stereo_view view[2];

	rig->known = rig->turned = false;
	if (views_by_keys(run, path, in, right, view, &rig->known) < 0)
		return -1;
	if (!rig->known && !options->assume_rectified)
		return fail(NULL, "the frames are not rectified (no key rect_f_px): rectify makes "
		    "them so; --assume-rectified takes them as they are");
	if (options->calib &&
	    views_by_file(run, options->calib, path, in, right, rig, view) < 0)
		return -1;
	rig->known |= options->calib != NULL;
	if (!rig->known && needy)
		return fail(needy, "needs the rig, which neither the frames' keys nor --calib "
		    "describe");
	if (!rig->known)
		return check_rows(run, path, in, right);
	if (check_views(path, view) < 0)
		return -1;
	set_rig(view, options, rig);
	return 0;
}
