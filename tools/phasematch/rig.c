#include "rig.h"

#include <float.h>
#include <math.h>

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

/* The calibration in the place of the frame's keys. */
static int
view_by_file(const struct run *run, const struct stereo *stereo, enum stereo_side side,
    const struct frame_head *head, struct stereo_view *view)
{
	struct frame_head own = *head;
	bool found;
	int status;

	meta_copy(&own.meta, &head->meta);
	status = stereo_describe(stereo, side, 1, &own.meta);
	if (status == 0)
		status = stereo_view(run, &own, view, &found);
	meta_free(&own.meta);
	return status;
}

static int
views_by_file(const struct run *run, const char *path, const struct frame_head *in,
    const struct frame_head *right, struct stereo_view view[2])
{
	struct stereo stereo;

	if (stereo_load(path, &stereo) < 0)
		return -1;
	return view_by_file(run, &stereo, STEREO_LEFT, in, &view[0]) < 0 ? -1 :
	    view_by_file(run, &stereo, STEREO_RIGHT, right, &view[1]);
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
	if (options->calib && views_by_file(run, options->calib, in, right, view) < 0)
		return -1;
	rig->known |= options->calib != NULL;
	if (!rig->known && needy)
		return fail(needy, "needs the rig, which neither the frames' keys nor --calib "
		    "describe");
	if (!rig->known)
		return 0;
	if (check_views(path, view) < 0)
		return -1;
	set_rig(view, options, rig);
	return 0;
}
