/* A colour for every point, out of the picture of another camera. */
#include "run/stage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "channels.h"
#include "cloud.h"
#include "colour_camera.h"
#include "colouring.h"
#include "likeness.h"
#include "optics/sensor_crop.h"
#include "optics/sensor_fit.h"
#include "rectified.h"

struct parameters {
	const char *calib, *camera, *image;
	double jump, grazing, max_value;
	bool supersample;
	struct numbers origin;
};

struct priv {
	struct colour_camera camera;
	struct visible_view view;
	struct picture picture;
	double white;			/* the colour's largest level; 0: found from the floats */
	double found_white;		/* so far */
	size_t own;			/* channels of the input */
	struct stereo_view rectified;	/* of frames that are a rectified picture's */
	bool has_rectified;
	bool warned, warned_white, checked_likeness;
	struct colouring_counts all;
};

#define AT(field) offsetof(struct parameters, field)

static const struct opt options[] = {
	{ 0, "calib", "FILE", OPT_FILE, AT(calib), NULL, 0, 0, NULL,
	  "the camera that took the picture, in the world of the points", NULL },
	{ 0, "camera", "NAME", OPT_TEXT, AT(camera), NULL, 0, 0, NULL,
	  "devices.NAME of a calibration of several, left or right of a pair", NULL },
	{ 0, "image", "FILE", OPT_PICTURE, AT(image), NULL, 0, 0, NULL,
	  "its picture: one for all frames, or as many as the input has", NULL },
	{ 0, "supersample", NULL, OPT_FLAG, AT(supersample), NULL, 0, 0, NULL,
	  "the mean over each point's piece of the surface, not the colour at its middle", NULL },
	{ 0, "jump", "Z", OPT_NUMBER, AT(jump), "0", 0, INFINITY, NULL,
	  "surfaces farther apart are two, and the nearer one hides; 0: found from the points",
	  NULL },
	{ 0, "grazing", "DEG", OPT_ANGLE, AT(grazing), "80", 1, 90, NULL,
	  "no colour where the camera looks on at a larger angle to the normal", NULL },
	{ 0, "max-value", "LEVEL", OPT_NUMBER, AT(max_value), NULL, 1e-30, 1e30, NULL,
	  "the picture's white; by its key or its type if not given", NULL },
	{ 0, "origin", "X,Y", OPT_NUMBERS, AT(origin), NULL, -1e6, 1e6, "px",
	  "first pixel of a picture that was cut out, on the calibrated sensor", NULL },
	{ 0 },
};

/* ---- the picture ---- */

static int
plan_white(struct run *run, const struct frame_head *picture)
{
	static const double usual[] = { 255, 65535, 0 };
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;

	if (run_number(run, parameters->max_value, picture, "max_value", usual[picture->type],
	    &priv->white) < 0)
		return -1;
	return priv->white > 0 || !meta_get(&picture->meta, "max_value") ? 0 :
	    fail("--image", "its key max_value must be more than 0, not %g", priv->white);
}

static int
plan_picture(struct run *run, const struct frame_head *head)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	struct visible_view *view = &priv->view;
	const struct pinhole *camera = &priv->camera.pinhole;
	struct sensor_fit fit;

	if (sensor_crop_origin(run, &parameters->origin, head, priv->camera.origin_px,
	    view->origin_px, view->bin) < 0)
		return -1;
	fit = (struct sensor_fit){ .placed = parameters->origin.n ||
		meta_get(&head->meta, "origin_px") };
	memcpy(fit.origin_px, view->origin_px, sizeof(fit.origin_px));
	memcpy(fit.bin, view->bin, sizeof(fit.bin));
	if (!fit.placed && camera->w > 0 &&
	    (fabs((double)head->w * fit.bin[0] - camera->w) >= fit.bin[0] ||
	    fabs((double)head->h * fit.bin[1] - camera->h) >= fit.bin[1]))
		return fail("--image", "the picture, %zux%zu px, has another size than the "
		    "calibration's camera, %gx%g px: if it is cut out say where, by --origin; if "
		    "its pixels were joined, by framecat --set bin=2", head->w, head->h, camera->w,
		    camera->h);
	view->camera = camera;
	view->w = head->w;
	view->h = head->h;
	view->reach = visible_reach(camera);
	return sensor_fit_check(camera, head, true, &fit, &priv->warned) < 0 ? -1 :
	    plan_white(run, head);
}

static int
plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	static const char *const names[] = { "x", "y", "z" };
	struct priv *priv = run->priv;
	const struct frame_head *picture = run_second_input_head(run, "image", 0);
	const char *unit = meta_get(&in->meta, "length_unit");

	(void)out;
	priv->own = in->c - picture->c;
	for (size_t k = 0; k < 3; k++) {
		size_t c;

		if (run_channel(run, in, names[k], &c) < 0)
			return -1;
	}
	if (head_is_table(picture))
		return fail("--image", "is a table, not a picture");
	if (head_is_table(in) && ((const struct parameters *)run->parameters)->supersample)
		return fail("--supersample", "wants ordered points, whose neighbours tell how much "
		    "surface is a point's; these are a table");
	if (unit && strcmp(unit, priv->camera.unit))
		return fail(NULL, "the points are in %.16s (key length_unit), the calibration's "
		    "lengths in %s", unit, priv->camera.unit);
	if (picture_plan(&priv->picture, picture, priv->own) < 0)
		return -1;
	if (stereo_view(run, in, &priv->rectified, &priv->has_rectified) < 0)
		return -1;
	return plan_picture(run, picture);
}

/* ---- one frame ---- */

#define LONE_FEW 10	/* one point in so many without neighbours is no cause for a word */
#define FATES "%zu behind it or beyond its lens, %zu outside of its picture, %zu without "\
	"neighbours, %zu face away or are grazed, %zu hidden, %zu where the picture has no colour"

static int
judge(const struct colouring_counts *all)
{
	return all->coloured || !all->points ? 0 : fail(NULL, "the camera sees none of %zu "
	    "points: " FATES, all->points, all->behind, all->outside, all->lone, all->grazed,
	    all->hidden, all->blank);
}

/* The depth buffer of the points, and their normals. surface: of a table, NULL else. */
static int
draw(struct run *run, const struct frame *kept, struct visible_view *view,
    struct pinhole *camera, struct visible *visible, struct frame **surface)
{
	struct priv *priv = run->priv;
	const struct frame_head *head = &kept->head;
	struct visible_points points;

	*surface = NULL;
	if (head_is_table(head))
		return cloud_draw(visible, run, view, kept, surface);
	if (visible_points_init(&points, kept, (size_t[3]){ head_channel(head, "x"),
	    head_channel(head, "y"), head_channel(head, "z") }) < 0)
		return -1;
	if (priv->has_rectified && rectified_points(&points, &priv->rectified))
		rectified_turn(&priv->rectified, camera);
	return visible_draw(visible, run, view, &points);
}

static int
colour(struct run *run, const struct frame *kept, const struct picture *picture,
    struct frame *colours)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	struct visible visible = { 0 };
	struct colouring colouring = { .visible = &visible, .picture = picture,
		.jump = parameters->jump, .least_cosine = cos(parameters->grazing),
		.supersample = parameters->supersample, .out = colours };
	struct colouring_counts all;
	struct visible_view view = priv->view;
	struct pinhole camera = *view.camera;
	struct frame *surface;
	int status;

	view.camera = &camera;
	status = draw(run, kept, &view, &camera, &visible, &surface);
	for (size_t k = 0; k < 3; k++)
		colouring.normal[k] = head_channel(surface ? &surface->head : &kept->head,
		    (const char *[]){ "nx", "ny", "nz" }[k]);
	if (status == 0) {
		colouring.counts = calloc(colouring_parts(&colouring), sizeof(*colouring.counts));
		status = colouring.counts ? 0 : fail_memory();
	}
	if (status == 0) {
		run_for(run, colouring_parts(&colouring), colouring_part, &colouring);
		all = colouring_add(colouring.counts, colouring_parts(&colouring));
		priv->all = colouring_add((struct colouring_counts[]){ priv->all, all }, 2);
		status = judge(&all);
	}
	if (status == 0 && !surface && !priv->checked_likeness) {
		priv->checked_likeness = true;
		likeness_check(run, &visible.points, colours);
	}
	visible_free(&visible);
	frame_free(surface);
	free(colouring.counts);
	return status;
}

static void
find_white(struct priv *priv, const struct picture *picture)
{
	float most;

	priv->found_white = fmax(priv->found_white, picture_white(picture, &most));
	if (priv->found_white > 255 && most < 32768 && !priv->warned_white) {
		warn("--image", "its floats go up to %g, of which 65535 is taken for white: say "
		    "what is by --max-value", (double)most);
		priv->warned_white = true;
	}
}

static int
take_frame(struct run *run, struct frame *in)
{
	struct priv *priv = run->priv;
	struct picture picture = priv->picture;
	struct frame *kept = NULL, *colours = NULL, *out = NULL;
	int status;

	picture.frame = in;
	if (!(priv->white > 0))
		find_white(priv, &picture);
	status = channels_keep(in, priv->own, &kept);
	if (status == 0)
		status = channels_begin(kept, priv->white > 0 ? priv->white : priv->found_white,
		    &colours, &out);
	if (status == 0)
		status = colour(run, kept, &picture, colours);
	frame_free(in);
	frame_free(kept);
	frame_free(colours);
	if (status == 0)
		return run_emit(run, out);
	frame_free(out);
	return -1;
}

static int
end(struct run *run)
{
	const struct priv *priv = run->priv;
	const struct colouring_counts *all = &priv->all;

	if (all->lone > all->points / LONE_FEW)
		warn(NULL, "%zu of %zu points have too few others around them to say what they "
		    "hide, and no colour: a cloud of even density has them", all->lone,
		    all->points);
	if (run->verbose)
		note(NULL, "%zu of %zu points have a colour; " FATES, all->coloured, all->points,
		    all->behind, all->outside, all->lone, all->grazed, all->hidden, all->blank);
	return 0;
}

static const struct body body = { .frame = take_frame, .end = end,
	.no_passes = "edges of the depth buffer's triangles are exact in 128 bits" };

static int
init(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;

	run->body = &body;
	if (!parameters->calib)
		return fail_usage("--calib", "is needed: the camera that took the picture");
	if (!parameters->image)
		return fail_usage("--image", "is needed: the picture that colours come from");
	if (parameters->origin.n && parameters->origin.n != 2)
		return fail_usage("--origin", "must be two numbers, not %zu", parameters->origin.n);
	return colour_camera_load(parameters->calib, parameters->camera, &priv->camera);
}

STAGE(texmap) = {
	.name = "texmap",
	.summary = "a colour for every point, from another camera's picture",
	.operands = "[FILE ...]",
	.hint = "--calib, --camera",
	.options = options,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct priv),
	.traits = STAGE_ANY_TYPE | STAGE_UNITS | STAGE_TABLES,
	.agree = AGREE_EXACT,
	.init = init,
	.plan = plan,
};
