/*
 * All checks (run/check.h), by subject. A stage that wants one names it in its list; checks(7) says
 * what each looks at, its limits, and what to do when it fires.
 */
#pragma once

#include "run/check.h"

struct calib;
struct capture_fringe;
struct phase_shift_fit;

/* light.c */
extern const struct check check_clipped, check_max_value, check_min_amplitude, check_saturation;
/* unlit.c */
extern const struct check check_dark_image, check_no_fringes, check_unlit;
/* gray.c */
extern const struct check check_gray;
/* steps.c */
extern const struct check check_steps, check_assumed_shifts, check_direction;
/* orders.c */
extern const struct check check_beat, check_field, check_residuals, check_jumps, check_gray_of,
    check_offset;
/* geometry.c */
extern const struct check check_calibration, check_coordinates, check_turned, check_epipolar,
    check_rig_fault, check_reference_plane, check_same_phase, check_textures,
    check_behind_cameras, check_outliers, check_inside_out, check_against, check_sheets,
    check_sparse, check_inwards;
/* units.c */
extern const struct check check_units, check_phase_samples, check_period_key;

/* lines.c */
extern const struct check check_line_images, check_line_background, check_line_threshold,
    check_line_sigma, check_line_pieces, check_line_direction, check_line_sign;

/* The channel of the absolute phase, else of the wrapped one, else the only one; NO_CHANNEL. The
 * second marks that of the input. Both in units.c. */
size_t check_phase_channel(const struct check_facts *, const struct frame_head *);
void check_phase_input(const struct check_facts *, const struct check_heads *, bool *in,
    bool *out);
/* For checks of points, which are the first three channels of the output, all in geometry.c. Are
 * there points by a calibration? Marks their channels. */
bool check_has_points(const struct check_facts *, const struct check_heads *);
void check_point_channels(const struct check_facts *, const struct check_heads *, bool *in,
    bool *out);
/* The distance of camera and projector, in the calibration's unit. */
double check_baseline(const struct calib *);

/* A point of the surface, x/z, y/z, 1/z in the camera's frame. */
struct check_ray {
	double x, y, inverse;
};

#define CHECK_RAYS 1024		/* at most */

/* Those of sampled pixels; returns their number. */
size_t check_rays(const struct check_facts *, const struct check_sample *,
    struct check_ray[CHECK_RAYS]);

/* For checks of fringe images, all in steps.c. The first marks the fringe images of the input, the
 * second the phase, too. */
void check_fringe_channels(const struct check_facts *, const struct check_heads *, bool *in,
    bool *out);
void check_phase_channels(const struct check_facts *, const struct check_heads *, bool *in,
    bool *out);

/* What the images of one pixel hold: the amplitude times cosine and sine of the phase. */
struct check_wave {
	double cosine, sine;
};

/* Of pixel x of sampled row i, by the weights of its fringe set. left, which may be NULL: what the
 * fit leaves, squared, per degree of freedom; 0 where it leaves nothing. */
struct check_wave check_wave(const struct capture_fringe *, const struct phase_shift_fit *,
    const struct frame *, size_t i, size_t x, double *left);
