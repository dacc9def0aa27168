#include "report.h"

#include <math.h>

#include "base/escape.h"
#include "base/numbers.h"

#define DEGREES 57.29577951308232

static void
put_number(FILE *out, double v)
{
	char text[32];

	fputs(isfinite(v) ? number_format(v, text) : "null", out);
}

static void
put(FILE *out, const char *name, double v)
{
	fprintf(out, ", \"%s\": ", name);
	put_number(out, v);
}

static void
put_list(FILE *out, const char *name, const double *v, size_t n)
{
	fprintf(out, ", \"%s\": [", name);
	for (size_t i = 0; i < n; i++) {
		if (i)
			fputs(", ", out);
		put_number(out, v[i]);
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
	if (!isnan(fit->chi_square)) {
		put(out, "chi_square", fit->chi_square);
		put(out, "chi_square_expected", (double)(fit->used - fit->unknowns));
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

void
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
