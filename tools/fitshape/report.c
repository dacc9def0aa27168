#include "report.h"

#include <math.h>

#define DEGREES 57.29577951308232

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
	if (!isnan(fit->chi_square)) {
		double expected = (double)(fit->used - fit->unknowns);

		fprintf(out, "chi_square      %.6g, expected %.0f +- %.3g\n", fit->chi_square,
		    expected, sqrt(2 * expected));
	}
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

void
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
