/*
 * Planes, spheres and cylinders through measured points, and distances between them: options, the
 * report as text or JSON, frames. measurement.c measures a frame, fit.c fits a shape,
 * fitshape_rows.c has the loops over points.
 */
#include "fitshape.h"

#include <stdio.h>

#include "base/text.h"
#include "checks/checks.h"
#include "image/annotate.h"
#include "run/stage.h"

static const char *const fitshape_modes[MODES] = { "plane", "sphere", "cylinder", "spheres",
	"length" };
static const char *const alongs[] = { "ray", "z", "normal", NULL };

static const struct opt options[] = {
	FLAG_ROW(0, "robust", robust,
	    "reweighted least squares: points that are wrong do not count"),
	{ 0, "trim", "N", OPT_NUMBER, AT(trim), "3", 0, 500, "per mille",
	  "share of the points that the figures of VDI/VDE 2634 part 2 leave out" },
	{ 0, "roi", "LIST", OPT_NUMBERS, AT(roi), NULL, -1e9, 1e9, NULL,
	  "only these points: x,y,w,h in pixels or x0,y0,z0,x1,y1,z1; spheres, length: two" },
	{ 0, "diameter", "MM", OPT_NUMBERS, AT(diameter), NULL, 1e-9, 1e9, "mm",
	  "calibrated diameter; of spheres one or two" },
	{ 0, "distance", "MM", OPT_NUMBER, AT(distance), NULL, 1e-9, 1e9, "mm",
	  "spheres, length: the calibrated distance" },
	FLAG_ROW(0, "fixed", fixed, "the diameter is that of --diameter, only the place is fitted"),
	{ 0, "pixel", "MM[,MM]", OPT_NUMBERS, AT(pixel), NULL, 1e-9, 1e9, "mm",
	  "of z without x and y: the distance of columns, and of rows" },
	{ 0, "along", "WORD", OPT_WORD, AT(along), NULL, 0, 0, NULL,
	  "where the channel sigma lies: along the camera's ray, as z, or as distance", alongs },
	FLAG_ROW(0, "no-weights", no_weights, "leave the channel sigma out"),
	FLAG_ROW(0, "json", json, "print JSON"),
	{ 0 },
};

/* ---- the report as text ---- */

static void
print_vector(FILE *out, const char *name, const double v[3])
{
	fprintf(out, "%-15s %.9g %.9g %.9g\n", name, v[0], v[1], v[2]);
}

static void
print_place(FILE *out, const struct part *part, const char *unit)
{
	const struct fit *fit = &part->fit;
	double centre[3], sd[3], across = fit_sd_centre(fit, sd);

	fit_centre(&part->cloud, fit, centre);
	print_vector(out, "center", centre);
	if (fit->shape.kind == SHAPE_SPHERE)
		fprintf(out, "center_sd       %.3g %.3g %.3g %s\n", sd[0], sd[1], sd[2], unit);
	else
		fprintf(out, "center_sd       %.3g %s %s\n", across, unit,
		    fit->shape.kind == SHAPE_PLANE ? "along the normal" : "across the axis");
	if (fit->shape.kind == SHAPE_SPHERE)
		return;
	print_vector(out, fit->shape.kind == SHAPE_PLANE ? "normal" : "axis", fit->shape.axis);
	fprintf(out, "%-15s %.3g degrees\n", fit->shape.kind == SHAPE_PLANE ? "normal_sd" :
	    "axis_sd", fit_sd_axis(fit) * DEGREES);
}

static void
print_size(FILE *out, const struct fit *fit, const char *unit)
{
	if (fit->shape.kind == SHAPE_PLANE)
		return;
	fprintf(out, "radius          %.9g %s", fit->shape.radius, unit);
	if (fit->shape.fixed)
		fprintf(out, ", given\n");
	else
		fprintf(out, ", sd %.3g\n", fit_sd_radius(fit));
	if (fit->shape.kind == SHAPE_CYLINDER)
		fprintf(out, "seen            %.4g %s along the axis, up to %.4g degrees from the "
		    "middle of the arc\n", fit->length, unit, fit->extent_deg);
	else
		fprintf(out, "seen            up to %.4g degrees from the middle of the cap\n",
		    fit->extent_deg);
}

static void
print_errors(FILE *out, const struct fit *fit, const char *unit)
{
	fprintf(out, "rms             %.6g %s, sd %.6g\n", fit->rms, unit, fit->sd);
	fprintf(out, "extremes        %.6g %.6g %s\n", fit->min, fit->max, unit);
	fprintf(out, "interval_95     %.6g %.6g %s\n", fit->interval[0], fit->interval[1], unit);
	if (!isnan(fit->scale))
		fprintf(out, "left_out        %zu of %zu points\n", fit->n - fit->used, fit->n);
	if (fit->shared > 1)
		fprintf(out, "shared_errors   %.3g points count as one\n", fit->shared);
	if (!isnan(fit->chi_square) && isnan(fit->chi_square_expected))
		fprintf(out, "chi_square      %.6g, of too few independent points\n",
		    fit->chi_square);
	else if (!isnan(fit->chi_square))
		fprintf(out, "chi_square      %.6g, expected %.0f +- %.3g\n", fit->chi_square,
		    fit->chi_square_expected, fit->chi_square_sd);
}

static void
print_acceptance(FILE *out, const struct measurement *found, const struct part *part)
{
	const struct acceptance *of = &part->acceptance;
	bool plane = part->fit.shape.kind == SHAPE_PLANE;

	if (found->mode == MODE_CYLINDER)
		return;
	if (isnan(of->range)) {
		fprintf(out, "vdi_points      determine no %s without --robust\n",
		    fit_names[part->fit.shape.kind]);
		return;
	}
	fprintf(out, "vdi_points      %zu, %zu trimmed\n", of->points, of->trimmed);
	fprintf(out, "%-15s %.6g %s\n", plane ? "vdi_flatness" : "vdi_form", of->range,
	    found->unit);
	if (!isnan(of->size) && !part->fit.shape.fixed)
		fprintf(out, "vdi_size        %.6g %s\n", of->size, found->unit);
}

static void
report_text(FILE *out, const struct measurement *found, size_t frame)
{
	for (size_t k = 0; k < found->parts; k++) {
		const struct part *part = &found->part[k];

		fprintf(out, "frame %zu: %s", frame, fit_names[part->fit.shape.kind]);
		if (found->parts > 1)
			fprintf(out, " %zu", k + 1);
		fprintf(out, " of %zu points\n", part->fit.n);
		print_place(out, part, found->unit);
		print_size(out, &part->fit, found->unit);
		print_errors(out, &part->fit, found->unit);
		print_acceptance(out, found, part);
	}
	if (found->parts == 1)
		return;
	fprintf(out, "frame %zu: distance\n", frame);
	fprintf(out, "distance        %.9g %s, sd %.3g\n", found->distance, found->unit,
	    found->distance_sd);
	if (found->mode == MODE_LENGTH) {
		print_vector(out, "normal", found->normal);
		fprintf(out, "angle           %.3g degrees between the faces\n", found->angle_deg);
		if (!isnan(found->spacing_error))
			fprintf(out, "length_error    %.6g %s\n", found->spacing_error,
			    found->unit);
		return;
	}
	if (!isnan(found->spacing))
		fprintf(out, "vdi_distance    %.9g %s\n", found->spacing, found->unit);
	if (!isnan(found->spacing_error))
		fprintf(out, "vdi_spacing     %.6g %s\n", found->spacing_error, found->unit);
}

/* ---- the report as JSON ---- */

static void
put(FILE *out, const char *name, double v)
{
	fprintf(out, ", \"%s\": ", name);
	json_put_number(out, v);
}

static void
put_list(FILE *out, const char *name, const double *v, size_t n)
{
	fprintf(out, ", \"%s\": [", name);
	for (size_t i = 0; i < n; i++) {
		if (i)
			fputs(", ", out);
		json_put_number(out, v[i]);
	}
	fputc(']', out);
}

static void
put_place(FILE *out, const struct part *part)
{
	const struct fit *fit = &part->fit;
	double centre[3], sd[3], across = fit_sd_centre(fit, sd), at = 0;

	fit_centre(&part->cloud, fit, centre);
	put_list(out, "center", centre, 3);
	if (fit->shape.kind == SHAPE_SPHERE)
		put_list(out, "center_sd", sd, 3);
	else
		put(out, "center_sd", across);
	if (fit->shape.kind == SHAPE_SPHERE)
		return;
	for (int i = 0; i < 3; i++)
		at -= fit->shape.axis[i] * centre[i];
	put_list(out, fit->shape.kind == SHAPE_PLANE ? "normal" : "axis", fit->shape.axis, 3);
	if (fit->shape.kind == SHAPE_PLANE)
		put(out, "offset", at);
	put(out, fit->shape.kind == SHAPE_PLANE ? "normal_sd_deg" : "axis_sd_deg",
	    fit_sd_axis(fit) * DEGREES);
}

static void
put_part(FILE *out, const struct measurement *found, const struct part *part)
{
	const struct fit *fit = &part->fit;
	const struct acceptance *of = &part->acceptance;

	fprintf(out, "{\"points\": %zu, \"used\": %zu", fit->n, fit->used);
	put_place(out, part);
	if (fit->shape.kind != SHAPE_PLANE) {
		put(out, "radius", fit->shape.radius);
		put(out, "radius_sd", fit_sd_radius(fit));
		put(out, "seen_deg", fit->extent_deg);
	}
	if (fit->shape.kind == SHAPE_CYLINDER)
		put(out, "seen_length", fit->length);
	put(out, "rms", fit->rms);
	put(out, "sd", fit->sd);
	put(out, "mean", fit->mean);
	put_list(out, "extremes", (double[2]){ fit->min, fit->max }, 2);
	put_list(out, "interval_95", fit->interval, 2);
	if (fit->shared > 1)
		put(out, "shared_errors", fit->shared);
	if (!isnan(fit->chi_square)) {
		put(out, "chi_square", fit->chi_square);
		put(out, "chi_square_expected", fit->chi_square_expected);
		put(out, "chi_square_sd", fit->chi_square_sd);
	}
	if (found->mode != MODE_CYLINDER) {
		fprintf(out, ", \"vdi_points\": %zu, \"vdi_trimmed\": %zu", of->points,
		    of->trimmed);
		put(out, fit->shape.kind == SHAPE_PLANE ? "vdi_flatness" : "vdi_form", of->range);
	}
	if (fit->shape.kind == SHAPE_SPHERE) {
		put_list(out, "vdi_center", of->centre, 3);
		put(out, "vdi_diameter", 2 * of->radius);
		put(out, "vdi_size", fit->shape.fixed ? (double)NAN : of->size);
	}
	fputc('}', out);
}

/* Writes one object, without a newline. */
static void
report_json(FILE *out, const struct measurement *found, size_t frame)
{
	fprintf(out, "{\"frame\": %zu, \"shape\": \"%s\", \"unit\": \"", frame,
	    fitshape_modes[found->mode]);
	escape_put_text(out, found->unit);
	fputs("\", \"parts\": [", out);
	for (size_t k = 0; k < found->parts; k++) {
		if (k)
			fputs(", ", out);
		put_part(out, found, &found->part[k]);
	}
	fputc(']', out);
	if (found->parts > 1) {
		put(out, "distance", found->distance);
		put(out, "distance_sd", found->distance_sd);
	}
	if (found->mode == MODE_LENGTH) {
		put_list(out, "normal", found->normal, 3);
		put(out, "angle_deg", found->angle_deg);
		put(out, "length_error", found->spacing_error);
	} else if (found->parts > 1) {
		put(out, "vdi_distance", found->spacing);
		put(out, "vdi_spacing", found->spacing_error);
	}
	fputc('}', out);
}

/* ---- frames ---- */

struct priv {
	enum mode mode;
	struct text text;	/* of --json */
	size_t frames;
	bool warned;		/* that --pixel differs from the frame's own spacing */
	struct fitted_residuals told;	/* to the check, of the frame at hand */
};

/* The frame with its deviations. */
static int
make_output(const struct frame *in, const struct measurement *found, struct frame **out)
{
	size_t c, w = in->head.w;

	if (frame_add_channel(in, "deviation", out) < 0)
		return -1;
	meta_set(&(*out)->head.meta, "fit_shape", fitshape_modes[found->mode]);
	c = (*out)->head.c - 1;
	for (size_t k = 0; k < found->parts; k++) {
		const struct part *part = &found->part[k];

		for (size_t i = 0; i < part->cloud.n; i++)
			frame_floats(*out, c, part->cloud.pixel[i] / w)[part->cloud.pixel[i] % w] =
			    (float)part->fit.distance[i];
	}
	return 0;
}

static int
print(struct run *run, const struct measurement *found)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;

	if (!parameters->json) {
		report_text(stdout, found, priv->frames);
		return ferror(stdout) ? fail_errno("standard output", "cannot write") : 0;
	}
	if (!priv->text.file)
		text_open(&priv->text);
	fputs(priv->frames ? ",\n" : "{\"results\": [\n", priv->text.file);
	report_json(priv->text.file, found, priv->frames);
	return 0;
}

static int
take_frame(struct run *run, struct frame *in)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	struct measurement found = { 0 };
	struct frame *out = NULL;
	char name[32];
	int status;

	if (!priv->warned)
		priv->warned = pixel_option_differs(&parameters->pixel, &in->head);
	status = measure(run, parameters, priv->mode, in, &found);
	if (status < 0 && priv->frames) {
		snprintf(name, sizeof(name), "frame %zu", priv->frames);
		fail_prefix(name);
	}
	if (status == 0 && run->output)
		status = make_output(in, &found, &out);
	if (status == 0)
		status = print(run, &found);
	if (status == 0 && !parameters->robust)
		measurement_residuals(&found, &priv->told);
	if (status == 0 && !out)
		run_judge(run);
	priv->frames++;
	measurement_free(&found);
	frame_free(in);
	if (status == 0 && out)
		return run_emit(run, out);
	frame_free(out);
	return status;
}

/* Prints the frames so far of --json, as a whole object. */
static void
print_json(struct priv *priv)
{
	char *text;

	fputs("\n]}\n", priv->text.file);
	text = text_close(&priv->text, NULL);
	fputs(text, stdout);
	free(text);
}

/* struct body's `end`. */
static int
end(struct run *run)
{
	struct priv *priv = run->priv;

	if (priv->text.file)
		print_json(priv);
	return fflush(stdout) != 0 || ferror(stdout) ?
	    fail_errno("standard output", "cannot write") : 0;
}

/* ---- beginning and end ---- */

static int
check_rectangle(const double v[4])
{
	for (int i = 0; i < 4; i++)
		if (v[i] != floor(v[i]) || v[i] < 0)
			return fail_usage("--roi", "%g is no whole number of pixels", v[i]);
	return v[2] > 0 && v[3] > 0 ? 0 : fail_usage("--roi", "is empty");
}

static int
check_roi(const struct numbers *roi, bool two)
{
	if (!roi->n)
		return 0;
	if (two ? roi->n != 8 && roi->n != 12 : roi->n != 4 && roi->n != 6)
		return fail_usage("--roi", "has %zu numbers: %s", roi->n, two ?
		    "two rectangles x,y,w,h are 8, two boxes x0,y0,z0,x1,y1,z1 are 12" :
		    "x,y,w,h are 4, x0,y0,z0,x1,y1,z1 are 6");
	for (size_t i = 0; i < roi->n && roi->n % 6; i += 4)
		if (check_rectangle(&roi->v[i]) < 0)
			return -1;
	for (size_t i = 0; i < roi->n && roi->n % 6 == 0; i += 6)
		for (size_t k = i; k < i + 3; k++)
			if (!(roi->v[k] < roi->v[k + 3]))
				return fail_usage("--roi", "a box from %g to %g is empty",
				    roi->v[k], roi->v[k + 3]);
	return 0;
}

static int
check_options(const struct parameters *p, enum mode mode)
{
	bool two = mode == MODE_SPHERES || mode == MODE_LENGTH;
	bool flat = mode == MODE_PLANE || mode == MODE_LENGTH;
	const char *name = fitshape_modes[mode];

	if (flat && p->diameter.n)
		return fail_usage("--diameter", "has no meaning for fitshape %s", name);
	if (flat && p->fixed)
		return fail_usage("--fixed", "has no meaning for fitshape %s", name);
	if (!two && !isnan(p->distance))
		return fail_usage("--distance", "has no meaning for fitshape %s", name);
	if (p->diameter.n > (mode == MODE_SPHERES ? 2 : 1))
		return fail_usage("--diameter", "has %zu numbers", p->diameter.n);
	if (p->fixed && !p->diameter.n)
		return fail_usage("--fixed", "wants --diameter");
	if (p->no_weights && p->along >= 0)
		return fail_usage("--along", "says where sigma lies, and --no-weights leaves it "
		    "out");
	if (mode == MODE_LENGTH && !p->roi.n)
		return fail_usage("--roi", "is needed: the two faces");
	if (mode == MODE_SPHERES && !p->roi.n && !p->diameter.n)
		return fail_usage("--roi", "is needed: the two balls, or --diameter, to find them "
		    "by");
	return check_roi(&p->roi, two);
}

static const struct body body = { .frame = take_frame, .end = end,
	.no_passes = "a fit takes all points of a frame together" };

static int
init(struct run *run)
{
	struct priv *priv = run->priv;

	run->body = &body;
	run->sink = !run->output;
	priv->mode = (enum mode)run_take_word(run, fitshape_modes, MODES);
	if (priv->mode == MODES)
		return fail_usage(run->operands ? run->operand[0] : NULL, "fitshape wants plane, "
		    "sphere, cylinder, spheres or length as its first word");
	if (check_options(run->parameters, priv->mode) < 0)
		return -1;
	if (run->output && !strcmp(run->output, "-"))
		return fail_usage("--output", "standard output has the report: name a file for "
		    "the frame");
	return 0;
}

static int
plan(struct run *run, const struct frame_head *, struct frame_head *)
{
	struct priv *priv = run->priv;

	run_check_facts(run)->residuals = &priv->told;
	return 0;
}

static const struct check *const checks[] = { &check_outliers, NULL };

static void
release(struct run *run)
{
	struct priv *priv = run->priv;

	/* after a failure: JSON, like text, has the frames before it */
	if (priv->text.file)
		print_json(priv);
	text_drop(&priv->text);
}

const struct stage stage_fitshape = {
	.name = "fitshape",
	.summary = "planes, spheres, cylinders and distances through measured points",
	.operands = "plane|sphere|cylinder|spheres|length [FILE ...]",
	.options = options,
	.usual = "robust roi diameter distance pixel json",
	STAGE_MEMORY(priv),
	.checks = checks,
	.traits = STAGE_TABLES | STAGE_UNITS | STAGE_WORD | STAGE_TEXT,
	.init = init,
	.plan = plan,
	.release = release,
};
