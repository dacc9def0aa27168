#include "options.h"

#include <math.h>
#include <stddef.h>

#include "base/fail.h"

const char *const fitshape_modes[MODES] = { "plane", "sphere", "cylinder", "spheres", "length" };

static const char *const alongs[] = { "ray", "z", "normal", NULL };

#define AT(field) offsetof(struct parameters, field)

const struct opt fitshape_options[] = {
	{ 0, "robust", NULL, OPT_FLAG, AT(robust), NULL, 0, 0, NULL,
	  "reweighted least squares: points that are wrong do not count", NULL },
	{ 0, "trim", "N", OPT_NUMBER, AT(trim), "3", 0, 500, "per mille",
	  "share of the points that the figures of VDI/VDE 2634 part 2 leave out", NULL },
	{ 0, "roi", "LIST", OPT_NUMBERS, AT(roi), NULL, -1e9, 1e9, NULL,
	  "only these points: x,y,w,h in pixels or x0,y0,z0,x1,y1,z1; spheres, length: two", NULL },
	{ 0, "diameter", "MM", OPT_NUMBERS, AT(diameter), NULL, 1e-9, 1e9, "mm",
	  "calibrated diameter; of spheres one or two", NULL },
	{ 0, "distance", "MM", OPT_NUMBER, AT(distance), NULL, 1e-9, 1e9, "mm",
	  "spheres, length: the calibrated distance", NULL },
	{ 0, "fixed", NULL, OPT_FLAG, AT(fixed), NULL, 0, 0, NULL,
	  "the diameter is that of --diameter, only the place is fitted", NULL },
	{ 0, "pixel", "MM[,MM]", OPT_NUMBERS, AT(pixel), NULL, 1e-9, 1e9, "mm",
	  "of z without x and y: the distance of columns, and of rows", NULL },
	{ 0, "along", "WORD", OPT_WORD, AT(along), NULL, 0, 0, NULL,
	  "where the channel sigma lies: along the camera's ray, as z, or as distance", alongs },
	{ 0, "no-weights", NULL, OPT_FLAG, AT(no_weights), NULL, 0, 0, NULL,
	  "leave the channel sigma out", NULL },
	{ 0, "json", NULL, OPT_FLAG, AT(json), NULL, 0, 0, NULL, "print JSON", NULL },
	{ 0 },
};

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

int
options_check(const struct parameters *p, enum mode mode)
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
	if (p->pixel.n > 2)
		return fail_usage("--pixel", "has %zu numbers", p->pixel.n);
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
