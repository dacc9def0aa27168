#include "known_keys.h"

#include <string.h>

#include "base/fail.h"
#include "base/opt_suggest.h"
#include "image/arrange.h"

#define LETTERS_LEAST 5	/* of a key: shorter ones have too many neighbours */

/* Those of the pages, which a test compares with these. */
static const char *const known[] = {
	"period_px", "phase_anchor", "components", "line_sigma_px", "line_threshold", "line_low",
	"line_noise", "absphase_period_px", "steps", "shift_rad", "gray_cell", "gray_planes",
	"marker_px", "marker_width_px", "stair_levels", "set_images", "time_s", "frame_number",
	"sent_s", "projector_px", "phase_sign", "phase_origin_rad", "c_mm_per_rad",
	"ref_plane_rad", "fit_shape", "fit_rms_mm", "length_unit", "z_axis", "origin_px",
	"rect_f_px", "rect_cx_px", "rect_cy_px", "rect_side", "rect_baseline_mm", "rect_rotation",
	"compensation", "phase_correction", "max_value", "sample_scale", "sample_offset",
	"invalid", "colormap", "colormap_range", "picture_px", "board_kind", "board_size",
	"board_spacing_mm", "image_size_px", "board_numberings", "stage_mm", "stage_deg",
	"points", "pfm_scale", "center_mm", "view_rotation", "depth_range", "video_range",
	"holo_size", "holo_pitch_px", "holo_theta_deg", "holo_stair", "holo_stair_height",
	"holo_stair_turns", "holo_layout", "holo_rounding", "holo_depth_range", "holo_spacing",
	"holo_corner", "holo_texture", "holo_texture_scale", "holo_texture_gain",
	"holo_texture_place", "holo_check", "holo_pack", "holo_dither", "holo_dither_order",
	"holo_dither_jumps", "holo_texture_bits", "holo_sigma_px", NULL
};

/* The known key that this one is meant to be, NULL where it is one itself or far from all. */
static const char *
meant(const char *key, size_t n)
{
	const char *found = NULL;

	for (size_t i = 0; known[i]; i++) {
		size_t away = opt_suggest_distance(key, n, known[i]);

		if (away == 0)
			return NULL;
		if (away == 1)
			found = known[i];
	}
	return found;
}

bool
known_keys_warn(const char *settings, const struct meta *meta)
{
	while (*settings) {
		const char *key, *near;
		size_t n = arrange_next_key(&settings, &key);
		char copy[80];

		near = n < LETTERS_LEAST || n >= sizeof(copy) ? NULL : meant(key, n);
		if (!near)
			continue;
		memcpy(copy, key, n);
		copy[n] = '\0';
		if (strpbrk(copy, "0123456789") || meta_get(meta, copy))
			continue;
		warn("--set", "no tool reads the key %s (is it %s?)", copy, near);
		return true;
	}
	return false;
}
