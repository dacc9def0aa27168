/* fringegamma's options. */
#include "options.h"

#include <stddef.h>
#include <string.h>

#include "flats.h"
#include "harmonic_fit.h"
#include "io/safe_file.h"

#define AT(field) offsetof(struct parameters, field)

static const char *const signs[] = { "+1", "-1", "1", NULL };
static const char *const channels[] = { "r", "g", "b", NULL };

const struct opt fringegamma_options[] = {
	{ 'n', "steps", "N", OPT_INTEGER, AT(captures.steps), NULL, 3, FIT_IMAGES, NULL,
	  "images of one period", NULL },
	{ 'p', "period", "PX,...", OPT_NUMBERS, AT(captures.period_px), NULL, 1e-3, 1e6,
	  "projector px", "fringe periods, as many as there are", NULL },
	{ 'a', "axis", "x|y,...", OPT_TEXT, AT(captures.axis), NULL, 0, 0, NULL,
	  "along which the phase varies, one for all or one per period", NULL },
	{ 's', "shift", "DEG,...", OPT_ANGLES, AT(captures.shift_rad), NULL, -3600, 3600, "degrees",
	  "phase of each step; if not given -120,0,120 for 3, else 360 n/N", NULL },
	{ 0, "sign", "+1|-1", OPT_WORD, AT(sign), NULL, 0, 0, NULL,
	  "of the shifts, in foreign images: I = A + B cos(phase + sign * shift)", signs },
	{ 0, "phase-origin", "DEG", OPT_ANGLE, AT(phase_origin), NULL, -3600, 3600, "degrees",
	  "what the phase of foreign images is at projector column 0", NULL },
	{ 0, "order", "WORD,...", OPT_TEXT, AT(captures.order), NULL, 0, 0, NULL,
	  "how images come that do not say what they are, as of phasewrap", NULL },
	{ 'm', "manifest", "FILE", OPT_FILE, AT(manifest), NULL, 0, 0, NULL,
	  "list that says what the images are, in their order", NULL },
	{ 0, "levels", "LEVEL,...", OPT_NUMBERS, AT(levels), NULL, 0, 1e6, NULL,
	  "the images are flat, of these levels of the projector", NULL },
	{ 0, "full", "LEVEL", OPT_NUMBER, AT(full), "255", 1e-6, 1e6, NULL,
	  "full scale of --levels", NULL },
	{ 0, "channel", "WORD", OPT_WORD, AT(channel), NULL, 0, 0, NULL,
	  "take this one of colour images", channels },
	{ 0, "mean", "SHARE", OPT_NUMBER, AT(mean), "0.5", 0, 1, NULL,
	  "of the fringes' levels, of full scale", NULL },
	{ 0, "amplitude", "SHARE", OPT_NUMBER, AT(amplitude), "0.48", 1e-3, 0.5, NULL,
	  "likewise", NULL },
	{ 0, "highest", "K", OPT_INTEGER, AT(highest), NULL, 2, FIT_HIGHEST, NULL,
	  "harmonic; all that the steps tell if not given, 10 at most", NULL },
	{ 0, "min-swing", "LEVELS", OPT_NUMBER, AT(min_swing), NULL, 0, 1e30, "grey levels",
	  "pixels that change less from image to image have no fringes", NULL },
	{ 0, "max-value", "LEVEL", OPT_NUMBER, AT(max_value), NULL, 0, 1e30, "grey levels",
	  "an image that reaches it is saturated; else 255, 65535, none for float", NULL },
	{ 0, "lut", "FILE", OPT_FILE, AT(lut), NULL, 0, 0, NULL,
	  "write the table for fringegen --lut", NULL },
	{ 0, "harmonics", "FILE", OPT_FILE, AT(harmonics), NULL, 0, 0, NULL,
	  "write the table for phasewrap --harmonics", NULL },
	{ 0, "vary", NULL, OPT_FLAG, AT(vary), NULL, 0, 0, NULL,
	  "harmonics change over the picture, each along a plane: of seven steps and more", NULL },
	{ 0, "json", NULL, OPT_FLAG, AT(json), NULL, 0, 0, NULL, "print JSON", NULL },
	{ 0 },
};

static int
check_outputs(const struct run *run, const struct parameters *p)
{
	const char *const paths[] = { p->lut, p->harmonics };
	const char *const names[] = { "--lut", "--harmonics" };

	for (int i = 0; i < 2; i++) {
		if (paths[i] && !strcmp(paths[i], "-"))
			return fail_usage(names[i], "wants a file: the report goes to standard "
			    "output");
		if (safe_file_same(paths[i], run->output))
			return fail_usage(names[i], "is the file that -o writes");
	}
	return safe_file_same(p->lut, p->harmonics) ?
	    fail_usage("--harmonics", "is the file that --lut writes") : 0;
}

static int
check_levels(const struct parameters *p)
{
	const struct capture_options *c = &p->captures;

	if (p->vary && !p->harmonics)
		return fail_usage("--vary", "is for the table of --harmonics");
	if (p->levels.n == 0)
		return 0;
	if (p->vary)
		return fail_usage("--vary", "flats show no change over the picture");
	if (c->steps != OPT_NONE_INTEGER || c->period_px.n || c->shift_rad.n || c->axis ||
	    c->order || p->manifest || p->highest != OPT_NONE_INTEGER || p->sign >= 0 ||
	    !isnan(p->phase_origin))
		return fail_usage("--levels", "says that the images are flat: no --steps, "
		    "--period, --axis, --shift, --sign, --phase-origin, --order, --manifest or "
		    "--highest");
	if (p->levels.n < FLATS_FEWEST)
		return fail_usage("--levels", "needs %d levels or more, has %zu", FLATS_FEWEST,
		    p->levels.n);
	for (size_t i = 0; i < p->levels.n; i++)
		if (!(p->levels.v[i] <= p->full))
			return fail_usage("--levels", "%g is above full scale, %g (--full)",
			    p->levels.v[i], p->full);
	return 0;
}

int
options_check(const struct run *run, const struct parameters *p)
{
	if (p->amplitude > p->mean + 1e-9 || p->amplitude > 1 - p->mean + 1e-9)
		return fail_usage("--amplitude", "%g about a mean of %g is not within 0 to 1",
		    p->amplitude, p->mean);
	return check_levels(p) < 0 ? -1 : check_outputs(run, p);
}
