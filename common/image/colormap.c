/* Colour maps: anchors at equal distances, linear between them. */
#include "image/colormap.h"

#include <math.h>

#include "base/fail.h"
#include "image/colormap.px.h"

const char *const colormap_names[] = { "gray", "viridis", "turbo", "phase", "deviation", NULL };

static const float gray[][3] = { { 0, 0, 0 }, { 1, 1, 1 } };

static const float viridis[][3] = {
	{ 0.267f, 0.005f, 0.329f }, { 0.283f, 0.141f, 0.458f }, { 0.254f, 0.265f, 0.530f },
	{ 0.207f, 0.372f, 0.553f }, { 0.164f, 0.471f, 0.558f }, { 0.128f, 0.567f, 0.551f },
	{ 0.135f, 0.659f, 0.518f }, { 0.267f, 0.749f, 0.441f }, { 0.478f, 0.821f, 0.318f },
	{ 0.741f, 0.873f, 0.150f }, { 0.993f, 0.906f, 0.144f },
};

/* Without the darkest ends, which would hide what is drawn in them. */
static const float turbo[][3] = {
	{ 0.251f, 0.252f, 0.633f }, { 0.276f, 0.421f, 0.891f },
	{ 0.254f, 0.571f, 0.997f }, { 0.139f, 0.718f, 0.883f }, { 0.096f, 0.859f, 0.741f },
	{ 0.243f, 0.949f, 0.575f }, { 0.482f, 0.997f, 0.374f }, { 0.690f, 0.975f, 0.220f },
	{ 0.864f, 0.880f, 0.204f }, { 0.968f, 0.740f, 0.224f }, { 0.996f, 0.556f, 0.166f },
	{ 0.950f, 0.357f, 0.076f }, { 0.836f, 0.196f, 0.021f }, { 0.680f, 0.083f, 0.004f },
};

/* Six hues of about equal lightness, back to the first. */
static const float phase[][3] = {
	{ 0.85f, 0.40f, 0.45f }, { 0.75f, 0.55f, 0.20f }, { 0.40f, 0.68f, 0.30f },
	{ 0.15f, 0.66f, 0.65f }, { 0.35f, 0.55f, 0.88f }, { 0.70f, 0.43f, 0.80f },
	{ 0.85f, 0.40f, 0.45f },
};

/*
 * White at zero, blue below, red above. In CIELAB the distance from white grows evenly and alike on
 * both sides: lightness 96 to 40, chroma 0 to 58, at the hues 285 and 30 degrees.
 */
static const float deviation[][3] = {
	{ 0.017f, 0.361f, 0.732f }, { 0.342f, 0.468f, 0.779f }, { 0.515f, 0.583f, 0.825f },
	{ 0.667f, 0.702f, 0.869f }, { 0.812f, 0.826f, 0.913f },
	{ 0.955f, 0.955f, 0.955f },
	{ 0.923f, 0.804f, 0.789f }, { 0.879f, 0.655f, 0.629f }, { 0.823f, 0.507f, 0.477f },
	{ 0.756f, 0.357f, 0.332f }, { 0.678f, 0.190f, 0.196f },
};

_Static_assert(sizeof(turbo) <= COLORMAP_ANCHORS_MOST * sizeof(*turbo), "turbo is the longest");

#define ANCHORS(table) { table, sizeof(table) / sizeof(*(table)) }

static const struct {
	const float (*anchor)[3];
	size_t n;
} maps[] = { ANCHORS(gray), ANCHORS(viridis), ANCHORS(turbo), ANCHORS(phase),
	ANCHORS(deviation) };

void
colormap_rgb(enum colormap map, float t, float rgb[3])
{
	float last = (float)(maps[map].n - 1);
	float place = colormap_place(t, last), anchor = colormap_anchor(place, last);
	const float *before = maps[map].anchor[(size_t)anchor], *behind = before + 3;

	for (int k = 0; k < 3; k++)
		rgb[k] = colormap_between(before[k], behind[k], place - anchor);
}

size_t
colormap_anchors(enum colormap map, const float (**anchor)[3])
{
	*anchor = maps[map].anchor;
	return maps[map].n;
}

void
colormap_range(enum colormap map, const float *value, size_t n, float range[2])
{
	float limit[2] = { 0, 1 };

	if (n)
		numbers_ranks(value, n, (size_t[2]){ n / 100, n - 1 - n / 100 }, 2, limit);
	range[1] = colormap_last_value(limit[0], limit[1], map == COLORMAP_DEVIATION);
	range[0] = colormap_first_value(limit[0], range[1], map == COLORMAP_DEVIATION);
}

void
colormap_check_white(enum colormap map, const char *option, double low, double high)
{
	if (map == COLORMAP_DEVIATION && low != -high)
		warn(option, "the white of the map deviation is %g by these, not zero",
		    (low + high) / 2);
}

int
colormap_nan(enum colormap map, const char *option, const struct numbers *given, float rgb[3])
{
	static const float gray_nan[3] = { 64, 80, 160 };

	for (size_t k = 0; k < 3; k++) {
		rgb[k] = given->n ? (float)given->v[k] : map == COLORMAP_GRAY ? gray_nan[k] : 0;
		if (rgb[k] != floorf(rgb[k]))
			return fail_usage(option, "wants whole numbers, not %g", given->v[k]);
		rgb[k] /= 255.0f;
	}
	return 0;
}
