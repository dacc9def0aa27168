/* phasewrap's options. */
#include "options.h"

#include <stddef.h>

#define AT(field) offsetof(struct parameters, field)

static const char *const kinds[] = { "auto", "step", "2+1", "gray", "fourier", "double", NULL };
static const char *const cells[] = { "column", "period", "half", NULL };
static const char *const flats[] = { "1", "2", "3", "auto", NULL };
static const char *const signs[] = { "+1", "-1", "1", NULL };
static const char *const channels[] = { "r", "g", "b", NULL };
static const char *const transforms[] = { "2d", "lines", NULL };
static const char *const windows[] = { "tukey", "hann", "gauss", NULL };
static const char *const removals[] = { "quotient", "difference", NULL };
static const char *const ways[] = { "auto", "time", "number", "no", NULL };
static const char *const exposure_orders[] = { "set", "step", NULL };
static const char *const saturateds[] = { "invalid", "solve", NULL };
static const char *const shifts[] = { "auto", NULL };
static const char *const forms[] = { "phase", "vector", NULL };

const struct opt phasewrap_options[] = {
	{ 'k', "kind", "WORD", OPT_WORD, AT(captures.kind), "auto", 0, 0, NULL,
	  "what the images are; auto: what they say themselves, else steps", kinds },
	{ 'n', "steps", "N", OPT_INTEGER, AT(captures.steps), NULL, 3, 1000, NULL,
	  "images of one period", NULL },
	{ 'p', "period", "PX,...", OPT_NUMBERS, AT(captures.period_px), NULL, 1e-3, 1e6,
	  "projector px", "fringe periods, as many as there are", NULL },
	{ 0, "count", "N,...", OPT_NUMBERS, AT(count), NULL, 1e-3, 1e6, "fringes",
	  "instead of the periods: fringes over the field", NULL },
	{ 0, "field", "PX", OPT_NUMBER, AT(field_px), NULL, 1, 1e6, "projector px",
	  "width of the field that --count counts over", NULL },
	{ 'a', "axis", "x|y,...", OPT_TEXT, AT(captures.axis), NULL, 0, 0, NULL,
	  "along which the phase varies, one for all or one per period", NULL },
	{ 's', "shift", "DEG,...", OPT_ANGLES, AT(captures.shift_rad), NULL, -3600, 3600, "degrees",
	  "phase of each step; if not given -120,0,120 for 3, else 360 n/N; found in the images",
	  shifts },
	{ 0, "light", "RATIO,...", OPT_NUMBERS, AT(light), NULL, 0.5, 2, NULL,
	  "how bright each step's image is, over their mean, as fringegamma prints it", NULL },
	{ 0, "sign", "+1|-1", OPT_WORD, AT(sign), NULL, 0, 0, NULL,
	  "of the shifts, in foreign images: I = A + B cos(phase + sign * shift)", signs },
	{ 0, "phase-origin", "DEG", OPT_ANGLE, AT(phase_origin), NULL, -3600, 3600, "degrees",
	  "what the phase of foreign images is at projector column 0", NULL },
	{ 0, "order", "WORD,...", OPT_TEXT, AT(captures.order), NULL, 0, 0, NULL,
	  "how images come that do not say what they are: phase,gray,flat in some order, by-step, "
	  "pairs, lsb-first", NULL },
	{ 'G', "gray", "N[,N]", OPT_NUMBERS, AT(captures.gray), NULL, 1, 24, "planes",
	  "Gray code, of one axis or of x and y", NULL },
	{ 'i', "inverse", NULL, OPT_FLAG, AT(captures.inverse), NULL, 0, 0, NULL,
	  "Gray planes come with their inverses", NULL },
	{ 0, "gray-cell", "WORD", OPT_WORD, AT(captures.gray_cell), NULL, 0, 0, NULL,
	  "what the Gray code counts", cells },
	{ 'F', "flats", "N", OPT_INTEGER, AT(captures.flats), NULL, 0, 2, NULL,
	  "trailing flat images: 2 are white and black, 1 lies between", NULL },
	{ 0, "flat", "WORD", OPT_WORD, AT(captures.flat), NULL, 0, 0, NULL,
	  "which of the 2+1 images is the flat one [3]", flats },
	{ 'm', "manifest", "FILE", OPT_FILE, AT(manifest), NULL, 0, 0, NULL,
	  "list that says what the images are, in their order", NULL },
	{ 0, "rgb", NULL, OPT_FLAG, AT(captures.rgb), NULL, 0, 0, NULL,
	  "red, green and blue of an image are three steps", NULL },
	{ 0, "channel", "WORD", OPT_WORD, AT(channel), NULL, 0, 0, NULL,
	  "take this one of colour images", channels },
	{ 0, "min-modulation", "RATIO", OPT_NUMBER, AT(limits.min_modulation), "0", 0, 1e6, NULL,
	  "less amplitude/mean makes a pixel invalid", NULL },
	{ 0, "min-amplitude", "LEVELS", OPT_NUMBER, AT(limits.min_amplitude), "0", 0, 1e30,
	  "grey levels",
	  "a smaller amplitude makes a pixel invalid", NULL },
	{ 0, "max-value", "LEVEL", OPT_NUMBER, AT(limits.max_value), NULL, 0, 1e30,
	  "grey levels",
	  "a fringe image that reaches it is saturated; else 255, 65535, none for float", NULL },
	{ 0, "dark", "LEVEL", OPT_NUMBER, AT(limits.dark), NULL, -1e30, 1e30, "grey levels",
	  "a lower mean makes a pixel invalid", NULL },
	{ 0, "fit-residual", NULL, OPT_FLAG, AT(limits.fit_residual), NULL, 0, 0, NULL,
	  "add channel fit_residual: what the fit leaves of the images, over the amplitude", NULL },
	{ 0, "max-fit-residual", "RATIO", OPT_NUMBER, AT(limits.max_fit_residual), NULL, 0, 1e6,
	  NULL, "more than this makes a pixel invalid", NULL },
	{ 0, "as", "WORD", OPT_WORD, AT(as), "phase", 0, 0, NULL,
	  "phase, or vector: its cosine and sine", forms },
	{ 0, "carrier", "PX[,PX]", OPT_NUMBERS, AT(fourier.carrier), NULL, -1e6, 1e6, "camera px",
	  "fringe period along x, or along x and y, 0 for none; found if not given", NULL },
	{ 0, "mirrored", NULL, OPT_FLAG, AT(fourier.mirrored), NULL, 0, 0, NULL,
	  "the phase falls along the axis, where the carrier is found", NULL },
	{ 0, "transform", "WORD", OPT_WORD, AT(fourier.transform), NULL, 0, 0, NULL,
	  "of the image, or of each line across the fringes alone [2d]", transforms },
	{ 0, "window", "WORD", OPT_WORD, AT(fourier.window), NULL, 0, 0, NULL,
	  "shape of what is kept of the spectrum round the carrier [tukey]", windows },
	{ 0, "window-width", "RATIO", OPT_NUMBER, AT(fourier.width), NULL, 0.05, 1, NULL,
	  "its half-width over the carrier's frequency [0.75]", NULL },
	{ 0, "flat-removal", "WORD", OPT_WORD, AT(fourier.removal), NULL, 0, 0, NULL,
	  "what a flat image does to the fringes [quotient]", removals },
	{ 0, "dropped", "WORD", OPT_WORD, AT(dropped), "auto", 0, 0, NULL,
	  "how images tell that one before them is missing", ways },
	{ 0, "harmonics", "FILE", OPT_FILE, AT(harmonics), NULL, 0, 0, NULL,
	  "correct the phase by the fringes' harmonics, as fringegamma writes them", NULL },
	{ 0, "exposures", "K", OPT_INTEGER, AT(exposures.n), "1", 1, EXPOSURES_MOST, NULL,
	  "every image was taken so many times, with as many exposure times", NULL },
	{ 0, "exposure-order", "WORD", OPT_WORD, AT(exposures.order), NULL, 0, 0, NULL,
	  "whole sets of one exposure, or all exposures of a step before the next [set]",
	  exposure_orders },
	{ 0, "exposure-time", "S,...", OPT_NUMBERS, AT(exposures.time_s), NULL, 1e-9, 1e9, "s",
	  "of each exposure, or any ratios; if not given the key, else found", NULL },
	{ 0, "exposure-map", NULL, OPT_FLAG, AT(exposures.map), NULL, 0, 0, NULL,
	  "add channel exposure: the longest that counts, from 1 on", NULL },
	{ 0, "saturated", "WORD", OPT_WORD, AT(exposures.saturated), "invalid", 0, 0, NULL,
	  "saturated pixels are invalid, or solved from three and more other steps", saturateds },
	{ 0, "sigma", NULL, OPT_FLAG, AT(noise.sigma), NULL, 0, 0, NULL,
	  "add channel sigma of every phase: its standard deviation in rad", NULL },
	{ 0, "read-noise", "LEVELS", OPT_NUMBER, AT(noise.read_noise), NULL, 0, 1e6, "grey levels",
	  "for --sigma: the camera's noise without light, standard deviation", NULL },
	{ 0, "gain", "LEVELS/E", OPT_NUMBER, AT(noise.gain), NULL, 0, 1e6, "grey levels",
	  "for --sigma: what an electron counts; the variance of light is so many times its level",
	  NULL },
	{ 0, "black-level", "LEVELS", OPT_NUMBER, AT(noise.black_level), NULL, -1e6, 1e6,
	  "grey levels", "level of an image without light; if not given 0", NULL },
	{ 0, "quantum", "LEVELS", OPT_NUMBER, AT(noise.quantum), NULL, 0, 1e6, "grey levels",
	  "what the camera rounds to a multiple of; if not given 1, and unknown for float", NULL },
	{ 0, "fit-noise", NULL, OPT_FLAG, AT(noise.fit_noise), NULL, 0, 0, NULL,
	  "print --read-noise and --gain from two images of a scene, or several pairs", NULL },
	{ 0 },
};

/* Tables of harmonics, and light that is uneven, are for plain fits by shifts that are known. */
int
options_check(const struct parameters *parameters, bool shift_auto)
{
	const char *without = parameters->exposures.n > 1 ? "--exposures" :
	    parameters->exposures.saturated > 0 ? "--saturated solve" :
	    shift_auto ? "--shift auto" :
	    parameters->captures.kind == CAPTURES_DOUBLE ? "--kind double" :
	    parameters->captures.kind == CAPTURES_FOURIER ? "--kind fourier" : NULL;

	const char *option = parameters->harmonics ? "--harmonics" : "--light";

	if (parameters->light.n && (parameters->captures.kind == CAPTURES_TWO_PLUS_ONE ||
	    parameters->captures.kind == CAPTURES_GRAY))
		return fail_usage("--light", "is for --kind step");
	return (parameters->harmonics || parameters->light.n) && without
	    ? fail_usage(option, "does not correct phases by %s", without)
	    : 0;
}
