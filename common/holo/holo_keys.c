/* The parameters of a Holoimage from options and metadata, and into metadata. */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "frame/key_option.h"
#include "holo/holo.h"

#define RADIANS (M_PI / 180)

/* ---- words and numbers of the metadata ---- */

static int
take_number(
    double option, const struct meta *meta, const char *key, double low, double high, double *out)
{
	*out = option;
	if (!isnan(option))
		return 0;
	if (meta_number(meta, key, NAN, out) < 0)
		return -1;
	if (meta_get(meta, key) && !(*out >= low && *out <= high))
		return fail(key, "must lie in %g to %g, not %g", low, high, *out);
	return 0;
}

static int
take_range(
    struct holo *holo, const struct holo_options *options, const struct meta *meta, const char *key)
{
	double range[2];

	if (key_option_range(&options->depth_range, "--depth-range", meta, key, range) < 0)
		return -1;
	holo->low = range[0];
	holo->high = range[1];
	return 0;
}

static int
take_words(struct holo *holo, const struct holo_options *options, const struct meta *meta,
    int stair, int rounding, bool *has_stair)
{
	int word;

	if (key_option_word(options->stair, meta, "holo_stair", holo_stairs, stair, &word) < 0)
		return -1;
	*has_stair = word >= 0;
	holo->stair = word < 0 ? HOLO_COSINE : (enum holo_stair)word;
	if (key_option_word(options->layout, meta, "holo_layout", holo_layouts, HOLO_RGB,
	    &word) < 0)
		return -1;
	holo->layout = (enum holo_layout)word;
	if (key_option_word(options->z_axis, meta, "z_axis", holo_z_axes, HOLO_AWAY, &word) < 0)
		return -1;
	holo->z_axis = (enum holo_z_axis)word;
	if (key_option_word(options->rounding, meta, "holo_rounding", holo_roundings, rounding,
	    &word) < 0)
		return -1;
	holo->rounding = (enum holo_rounding)word;
	return 0;
}

/* ---- the encoder's ---- */

int
holo_choose(struct holo *holo, const struct holo_options *options, const struct frame_head *head)
{
	static const struct meta none;
	bool has_stair;

	*holo = (struct holo){ .w = head->w, .h = head->h };
	if (take_words(holo, options, &head->meta, HOLO_COSINE, HOLO_ANGLE, &has_stair) < 0 ||
	    take_range(holo, options, &head->meta, "depth_range") < 0)
		return -1;
	holo->pitch_px =
	    isnan(options->pitch_px) ? (double)holo_longer_side(holo) / 16 : options->pitch_px;
	holo->theta_rad = isnan(options->theta_rad) ? 30 * RADIANS : options->theta_rad;
	if (key_option_whole(options->stair_turns, &none, "", 0, 64, 0, &holo->stair_turns) < 0 ||
	    key_option_whole(options->stair_height, &none, "", 1, 255, holo_height_most(holo),
		&holo->stair_height) < 0)
		return -1;
	for (int i = 0; i < 2; i++)
		holo->spacing[i] = isfinite(head->spacing[i]) ? head->spacing[i] : 1;
	return holo_check_stairs(holo);
}

int
holo_write(const struct holo *holo, struct meta *meta)
{
	const double range[2] = { holo->low, holo->high };

	if (meta_setf(meta, "holo_size", "%zu %zu", holo->w, holo->h) < 0 ||
	    meta_set_number(meta, "holo_pitch_px", holo->pitch_px) < 0 ||
	    meta_setf(meta, "holo_theta_deg", "%.12g", holo->theta_rad / RADIANS) < 0 ||
	    meta_set(meta, "holo_stair", holo_stairs[holo->stair]) < 0 ||
	    meta_setf(meta, "holo_stair_height", "%ld", holo->stair_height) < 0 ||
	    (holo->stair == HOLO_COSINE &&
		meta_setf(meta, "holo_stair_turns", "%ld", holo->stair_turns) < 0) ||
	    meta_set(meta, "holo_layout", holo_layouts[holo->layout]) < 0 ||
	    (holo->rounding != HOLO_LEVEL &&
		meta_set(meta, "holo_rounding", holo_roundings[holo->rounding]) < 0) ||
	    meta_set_numbers(meta, "holo_depth_range", range, 2) < 0 ||
	    meta_set_numbers(meta, "holo_spacing", holo->spacing, 2) < 0 ||
	    meta_set_numbers(meta, "holo_corner", holo->corner, 2) < 0 ||
	    meta_set(meta, "z_axis", holo_z_axes[holo->z_axis]) < 0)
		return -1;
	return 0;
}

void
holo_remove(struct meta *meta)
{
	static const char *const keys[] = { "holo_size", "holo_pitch_px", "holo_theta_deg",
		"holo_stair", "holo_stair_height", "holo_stair_turns", "holo_layout",
		"holo_rounding",
		"holo_depth_range", "holo_spacing", "holo_corner", "holo_texture",
		"holo_texture_scale", "holo_texture_gain", "holo_texture_place", "holo_check" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		meta_remove(meta, keys[i]);
}

/* ---- the decoder's ---- */

static int
check_size(const struct holo *holo, const struct meta *meta)
{
	double size[2] = { (double)holo->w, (double)holo->h };

	if (key_pair(meta, "holo_size", size) < 0)
		return -1;
	if (size[0] == (double)holo->w && size[1] == (double)holo->h)
		return 0;
	return fail(NULL,
	    "the picture is %zu x %zu, but was encoded as %.0f x %.0f: scaled or cut, it "
	    "cannot be decoded",
	    holo->w, holo->h, size[0], size[1]);
}

/* All that is missing in one message. */
static int
check_complete(const struct holo *holo, const struct meta *meta, bool has_stair)
{
	char options[128] = "";
	bool bare = !meta_get(meta, "holo_pitch_px") && !meta_get(meta, "holo_stair_height");

	if (isnan(holo->pitch_px))
		strcat(options, " --pitch");
	if (isnan(holo->theta_rad))
		strcat(options, " --theta");
	if (!has_stair)
		strcat(options, " --stair");
	if (holo->stair_height < 1)
		strcat(options, " --stair-height");
	if (holo->stair == HOLO_COSINE && holo->stair_turns < 0)
		strcat(options, " --stair-turns");
	if (isnan(holo->low))
		strcat(options, " --depth-range");
	if (!*options)
		return 0;
	return fail(NULL, "the picture %s; give%s",
	    bare ? "does not say how it was encoded (no holo_ keys: is it a Holoimage?)"
		 : "does not say all of how it was encoded",
	    options);
}

int
holo_read(struct holo *holo, const struct holo_options *options, const struct frame_head *head)
{
	const struct meta *meta = &head->meta;
	bool has_stair;

	*holo = (struct holo){ .w = head->w, .h = head->h, .spacing = { 1, 1 } };
	for (int i = 0; i < 2; i++)
		if (isfinite(head->spacing[i]))
			holo->spacing[i] = head->spacing[i];
	if (check_size(holo, meta) < 0 ||
	    take_words(holo, options, meta, -1, HOLO_LEVEL, &has_stair) < 0 ||
	    take_number(options->pitch_px, meta, "holo_pitch_px", 1e-3, 1e6, &holo->pitch_px) < 0 ||
	    take_number(options->theta_rad / RADIANS, meta, "holo_theta_deg", 1, 89,
		&holo->theta_rad) < 0 ||
	    key_option_whole(options->stair_height, meta, "holo_stair_height", 1, 255, 0,
		&holo->stair_height) < 0 ||
	    key_option_whole(options->stair_turns, meta, "holo_stair_turns", 0, 64, -1,
		&holo->stair_turns) < 0 ||
	    take_range(holo, options, meta, "holo_depth_range") < 0 ||
	    key_pair(meta, "holo_spacing", holo->spacing) < 0 ||
	    key_pair(meta, "holo_corner", holo->corner) < 0)
		return -1;
	holo->theta_rad *= RADIANS;
	return check_complete(holo, meta, has_stair) < 0 ? -1 : holo_check_stairs(holo);
}

/* NaN: the option is not given. */
static void
warn_number(double option, const struct meta *meta, const char *key)
{
	const char *value = meta_get(meta, key);
	double own;

	if (!isnan(option) && value && number_parse(value, &own) == 0 &&
	    fabs(own - option) > 1e-6 * fabs(own))
		warn(key, "the picture says %g, the option's %g is used", own, option);
}

void
holo_warn_overruled(const struct holo_options *options, const struct meta *meta)
{
	warn_number(options->pitch_px, meta, "holo_pitch_px");
	warn_number(options->theta_rad / RADIANS, meta, "holo_theta_deg");
	key_option_warn_word(options->stair, meta, "holo_stair", holo_stairs);
	key_option_warn_whole(options->stair_height, meta, "holo_stair_height");
	key_option_warn_whole(options->stair_turns, meta, "holo_stair_turns");
	key_option_warn_word(options->layout, meta, "holo_layout", holo_layouts);
	key_option_warn_word(options->z_axis, meta, "z_axis", holo_z_axes);
	key_option_warn_word(options->rounding, meta, "holo_rounding", holo_roundings);
	key_option_warn_range(&options->depth_range, meta, "holo_depth_range");
}
