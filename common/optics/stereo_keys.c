/* What a rectified frame says of itself. */
#include "optics/stereo.h"

#include <math.h>
#include <string.h>

#include "optics/sensor_crop.h"

int
stereo_describe(const struct stereo *stereo, enum stereo_side side, double bin, struct meta *meta)
{
	/* the centre of the first of the larger pixels lies at (bin - 1)/2 of the smaller ones */
	double cx_px = (stereo->cx_px[side] + 0.5) / bin - 0.5;
	double cy_px = (stereo->cy_px + 0.5) / bin - 0.5;

	return meta_set_number(meta, "rect_f_px", stereo->f_px / bin) < 0 ||
	    meta_set_number(meta, "rect_cx_px", cx_px) < 0 ||
	    meta_set_number(meta, "rect_cy_px", cy_px) < 0 ||
	    meta_set_number(meta, "rect_baseline_mm", stereo->baseline_mm) < 0 ||
	    meta_set(meta, "rect_side", side == STEREO_LEFT ? "left" : "right") < 0 ?
	    -1 : meta_set_numbers(meta, "rect_rotation", stereo->R[side], 9);
}

static int
get_rotation(const struct meta *meta, double R[9])
{
	struct numbers list;

	if (meta_numbers(meta, "rect_rotation", &list) < 0)
		return -1;
	for (size_t i = 0; i < 9 && list.n == 9; i++)
		R[i] = list.v[i];
	if (list.n != 9)
		fail(NULL, "key rect_rotation must be 9 numbers, not %zu", list.n);
	numbers_free(&list);
	return fail_message() ? -1 : 0;
}

static int
get_side(const struct meta *meta, enum stereo_side *side)
{
	const char *text = meta_get(meta, "rect_side");

	if (!text || (strcmp(text, "left") && strcmp(text, "right")))
		return fail(NULL, "key rect_side must be left or right, not '%.40s'",
		    text ? text : "");
	*side = strcmp(text, "left") ? STEREO_RIGHT : STEREO_LEFT;
	return 0;
}

/* Where the frame was cropped or binned since it was rectified. */
static int
apply_crop(const struct run *run, const struct frame_head *head, struct stereo_view *view)
{
	const double zero[2] = { 0 };
	double origin_px[2], bin[2];

	if (sensor_crop_origin(run, &(struct numbers){ 0 }, head, zero, origin_px, bin) < 0)
		return -1;
	if (bin[0] != bin[1])
		return fail(NULL, "bin is %g %g: the pixels of a rectified frame must stay square",
		    bin[0], bin[1]);
	view->f_px /= bin[0];
	view->cx_px = (view->cx_px - origin_px[0] + 0.5) / bin[0] - 0.5;
	view->cy_px = (view->cy_px - origin_px[1] + 0.5) / bin[0] - 0.5;
	return 0;
}

int
stereo_view(const struct run *run, const struct frame_head *head, struct stereo_view *view,
    bool *found)
{
	static const char *const keys[] = { "rect_f_px", "rect_cx_px", "rect_cy_px",
		"rect_baseline_mm", "rect_side", "rect_rotation" };
	double *const value[] = { &view->f_px, &view->cx_px, &view->cy_px, &view->baseline_mm };
	const char *missing = NULL;

	*found = false;
	for (size_t i = 0; i < 6; i++) {
		bool there = meta_get(&head->meta, keys[i]);

		*found |= there;
		if (!there && !missing)
			missing = keys[i];
	}
	if (!*found)
		return 0;
	if (missing)
		return fail(NULL, "the frame has other keys of a rectified one, but no %s",
		    missing);
	for (size_t i = 0; i < 4; i++)
		if (meta_number(&head->meta, keys[i], NAN, value[i]) < 0)
			return -1;
	if (!(view->f_px > 0 && isfinite(view->f_px + view->cx_px + view->cy_px)))
		return fail(NULL, "key rect_f_px must be positive, not %g", view->f_px);
	if (view->baseline_mm == 0 || !isfinite(view->baseline_mm))
		return fail(NULL, "key rect_baseline_mm must not be %g", view->baseline_mm);
	return get_side(&head->meta, &view->side) < 0 || get_rotation(&head->meta, view->R) < 0 ?
	    -1 : apply_crop(run, head, view);
}
