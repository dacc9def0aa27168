/*
 * The Holoimage (Karpinsky and Zhang 2010): depth as three fringe channels. The grid that it is
 * encoded on, the keys that describe it, and bit packs of dithered ones.
 */
#include "holo/holo.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/linear.h"
#include "base/px.h"
#include "frame/key_lines.h"

#define SLACK 0.1f	/* of a stair; turns are not exact */

const int bits_way[BITS_WAYS][2] = { { -1, -1 }, { 0, -1 }, { 1, -1 }, { -1, 0 }, { 1, 0 },
	{ -1, 1 }, { 0, 1 }, { 1, 1 } };

void
bits_thresholds(struct bits_code *bits, const struct dither_keys *keys)
{
	float threshold[4][DITHER_TILE_PIXELS];

	dither_thresholds(keys, threshold);
	for (size_t i = 0; i < DITHER_TILE_PIXELS; i++) {
		double sine = (ceil(255.0 * threshold[0][i]) - 0.5) / 127.5 - 1;
		double cosine = (ceil(255.0 * threshold[1][i]) - 0.5) / 127.5 - 1;

		bits->arc[0][i] = (float)(asin(sine) * HOLO_TURN);
		bits->arc[1][i] = (float)(acos(cosine) * HOLO_TURN);
		bits->threshold[i] = ceilf(255.0f * threshold[2][i]) - 0.5f;
	}
}

void
bits_stairs(struct bits_code *bits, const struct holo_code *code)
{
	holo_profile(code, 0, bits->stair);
	bits->height = code->height;
	bits->order_most = code->order_most;
}

bool
bits_may_lack(const struct bits_code *bits, size_t place)
{
	struct bits_bounds bounds =
	    bits_bound(0.625f, 0, 0, bits->arc[0][place], bits->arc[1][place]);

	return bounds.low <= bounds.high;
}

float
bits_fit(const struct bits_code *bits, const struct bits_pixel *pixel, float turns, float tolerance)
{
	struct bits_bounds bounds = bits_bound(turns, pixel->red, pixel->green,
	    bits->arc[0][pixel->place], bits->arc[1][pixel->place]);
	float moved = px_min(px_max(turns, bounds.low), bounds.high), rest, above;

	if (!(bounds.low <= bounds.high) || !(px_abs(moved - turns) <= tolerance) || moved < 0 ||
	    moved >= bits->order_most + 1)
		return PX_NAN;
	rest = moved - px_floor(moved);
	above = bits_above(moved, bits->threshold[pixel->place],
	    bits->stair[(int)(rest * HOLO_PROFILE)], bits->height);
	/* the stair's bit must not contradict the order of these turns */
	return (pixel->stair > 0 ? -above : above) > SLACK ? PX_NAN : moved;
}

/* Float arithmetic may carry a point on the near face over the edge of the next stair. */
#define ORDER_SLACK 1e-4

#define RADIANS (M_PI / 180)

const char *const holo_stairs[] = { "composite", "cosine", NULL };
const char *const holo_layouts[] = { "rgb", "yuv", NULL };
const char *const holo_z_axes[] = { "towards", "away", NULL };
const char *const holo_roundings[] = { "level", "angle", NULL };
const size_t holo_place[2][3] = { { 0, 1, 2 }, { 1, 2, 0 } };
const size_t holo_luma[2] = { 1, 0 };

/* The edge of the cube, in pixels. */
static size_t
holo_longer_side(const struct holo *holo)
{
	return holo->w > holo->h ? holo->w : holo->h;
}

/* The largest u: that of the last column on the near face. */
static double
u_most(const struct holo *holo)
{
	return (double)(holo->w - 1) * cos(holo->theta_rad) +
	    (double)holo_longer_side(holo) * sin(holo->theta_rad);
}

/* The number of the highest stair, k_max. */
static double
holo_order_most(const struct holo *holo)
{
	return floor(u_most(holo) / holo->pitch_px + ORDER_SLACK);
}

/* Composite: levels 0, S, .., S k_max; cosine: the highest stair has S levels too. */
long
holo_height_most(const struct holo *holo)
{
	double orders = holo_order_most(holo);

	if (holo->stair == HOLO_COMPOSITE)
		return orders < 1 ? 255 : (long)floor(255 / orders);
	return orders < 1 ? 255 : (long)floor(256 / (orders + 1));
}

/* -1 after fail() with the numbers where the stairs do not fit into 256 levels. */
static int
holo_check_stairs(const struct holo *holo)
{
	bool composite = holo->stair == HOLO_COMPOSITE;
	long most = holo_height_most(holo), least = composite ? 1 : 2;
	long height = holo->stair_height < least ? least : holo->stair_height;
	long orders = composite ? 255 / height + 1 : 256 / height;
	double pitch = u_most(holo) / ((double)orders - ORDER_SLACK);	/* stairs fit above it */
	char fewer[40] = "";

	if (holo->stair_height < least && most >= least)
		return fail(NULL, "%s stairs must be at least %ld levels high, not %ld",
		    holo_stairs[holo->stair], least, holo->stair_height);
	if (height <= most)
		return 0;
	if (most >= least)
		snprintf(fewer, sizeof(fewer), "at most %ld levels, or ", most);
	return fail(NULL,
	    "a pitch of %g px makes %.0f stairs on %zu x %zu pixels at theta %g degrees; of %ld "
	    "levels each, they do not fit into 256: give %sa pitch above %.6g px",
	    holo->pitch_px, holo_order_most(holo) + 1, holo->w, holo->h, holo->theta_rad / RADIANS,
	    height, fewer, pitch);
}

/* ---- what the formulas take ---- */

struct holo_code
holo_code(const struct holo *holo)
{
	bool cosine = holo->stair == HOLO_COSINE, away = holo->z_axis == HOLO_AWAY;
	double height = (double)holo->stair_height;

	return (struct holo_code){
		.turns_per_column = (float)(cos(holo->theta_rad) / holo->pitch_px),
		.turns_per_depth =
		    (float)((double)holo_longer_side(holo) * sin(holo->theta_rad) / holo->pitch_px),
		.height = (float)height,
		.base = cosine ? (float)(height / 2) : 0,
		.swing = cosine ? (float)((height - 2) / 2) : 0,
		.waves = cosine ? (float)holo->stair_turns + 0.5f : 0,
		.order_most = (float)holo_order_most(holo),
		.depth_zero = (float)(away ? holo->high : holo->low),
		.depth_one = (float)(away ? holo->low : holo->high),
	};
}

double
holo_depth_step(const struct holo_code *code, double range)
{
	return range / (2 * M_PI * 127.5 * (double)code->turns_per_depth);
}

const char *
holo_channel_names(enum holo_layout layout, bool texture)
{
	if (layout == HOLO_YUV)
		return texture ? "luma chroma_u chroma_v a" : "luma chroma_u chroma_v";
	return texture ? "r g b a" : "r g b";
}

enum holo_layout
holo_layout_of(int option, const struct meta *meta)
{
	const char *word = meta_get(meta, "holo_layout");

	if (option >= 0)
		return (enum holo_layout)option;
	return word && !strcmp(word, holo_layouts[HOLO_YUV]) ? HOLO_YUV : HOLO_RGB;
}

int
holo_channels(const struct holo *holo, const struct frame_head *head, size_t channel[4])
{
	bool colour = head->c >= 3 && head_channel(head, "r") == 0 &&
	    head_channel(head, "g") == 1 && head_channel(head, "b") == 2;
	bool video = head->c >= 3 && head_channel(head, "luma") == 0 &&
	    head_channel(head, "chroma_u") == 1 && head_channel(head, "chroma_v") == 2;
	char *names;

	if (!colour && !video) {
		names = head_channels(head);
		fail(NULL, "a Holoimage has the channels r g b%s, not: %.200s",
		    head->c == 1 ? " (is this one of its planes, or a grey copy?)" : "",
		    names ? names : "?");
		free(names);
		return -1;
	}
	for (int i = 0; i < 3; i++)
		channel[i] = holo_place[holo->layout][i];
	channel[3] = head_channel(head, "a");
	return 0;
}

int
holo_check_fringes(const char *path, const struct frame *coded)
{
	const size_t *place = holo_place[holo_layout_of(-1, &coded->head.meta)];
	double lit = 0, blurred = 0, size[2] = { 0, (double)coded->head.h };

	if (key_pair(&coded->head.meta, "holo_size", size) < 0)	/* a texture is below */
		return -1;
	for (size_t y = 0; y < coded->head.h && (double)y < size[1]; y++) {
		const uint8_t *sine = frame_row(coded, place[0], y);
		const uint8_t *cosine = frame_row(coded, place[1], y);

		for (size_t x = 0; x < coded->head.w; x++) {
			lit += sine[x] + cosine[x] >= HOLO_BLACK;
			blurred += sine[x] + cosine[x] >= HOLO_BLACK &&
			    hypot(sine[x] - 127.5, cosine[x] - 127.5) <
			    127.5 - HOLO_OFF_CIRCLE_LEVELS;
		}
	}
	if (100 * blurred <= HOLO_OFF_CIRCLE_MOST_PERCENT * lit)
		return 0;
	return fail(path, "fringes are too fine for colour of half resolution in %.0f %% of the "
	    "picture, and holodec would refuse it: --chroma 444, or holoenc with a larger --pitch",
	    100 * blurred / lit);
}

/* ---- blurred stairs ---- */

void
holo_profile(const struct holo_code *code, double sigma, float level[HOLO_PROFILE + 1])
{
	int reach = (int)ceil(4 * sigma * HOLO_PROFILE);

	for (int i = 0; i <= HOLO_PROFILE; i++) {
		double sum = 0, weights = 0;

		for (int k = -reach; k <= reach; k++) {
			double d = (double)k / HOLO_PROFILE, turns = (i + 0.5) / HOLO_PROFILE + d;
			double weight = reach ? exp(-0.5 * d * d / (sigma * sigma)) : 1;
			double order = floor(turns), rest = turns - order;
			double stair = (double)code->height * order + (double)code->base -
			    (double)code->swing * cos(2 * M_PI * (double)code->waves * rest);

			sum += weight * stair;
			weights += weight;
		}
		level[i] = (float)(sum / weights);
	}
	level[HOLO_PROFILE] = level[HOLO_PROFILE - 1];
}

/* ---- the grid that the points of a frame lie on ---- */

/* A pixel may lie this far off the grid, in pixels. */
#define GRID_TOLERANCE 0.05

/* Both coordinates of pixel (at[0], at[1]). False: there is no point. */
static bool
point_at(const struct frame *frame, const size_t channel[2], const size_t at[2], double place[2])
{
	for (int k = 0; k < 2; k++)
		place[k] = (double)frame_floats(frame, channel[k], at[1])[at[0]];
	return isfinite(place[0]) && isfinite(place[1]);
}

int
holo_grid(const struct frame *frame, size_t x, size_t y, double spacing[2], double corner[2])
{
	/* sums of two line fits: place = corner + index spacing */
	double n = 0, i[2] = { 0 }, v[2] = { 0 }, ii[2] = { 0 }, iv[2] = { 0 }, place[2], most = 0;
	const size_t channel[2] = { x, y };
	size_t at[2], farthest[2] = { 0, 0 };

	for (at[1] = 0; at[1] < frame->head.h; at[1]++)
		for (at[0] = 0; at[0] < frame->head.w; at[0]++) {
			if (!point_at(frame, channel, at, place))
				continue;
			n++;
			for (int k = 0; k < 2; k++) {
				i[k] += (double)at[k];
				v[k] += place[k];
				ii[k] += (double)at[k] * (double)at[k];
				iv[k] += (double)at[k] * place[k];
			}
		}
	for (int k = 0; k < 2; k++) {
		double spread = n * ii[k] - i[k] * i[k];

		/* NaN where only one index was seen */
		spacing[k] = spread > 0.5 ? (n * iv[k] - i[k] * v[k]) / spread : NAN;
	}
	for (int k = 0; k < 2; k++) {
		if (isnan(spacing[k]))
			spacing[k] = isnan(spacing[1 - k]) ? 1 : spacing[1 - k];
		corner[k] = n ? (v[k] - i[k] * spacing[k]) / n : 0;
	}
	for (at[1] = 0; at[1] < frame->head.h; at[1]++)
		for (at[0] = 0; at[0] < frame->head.w; at[0]++) {
			double off = 0;

			if (!point_at(frame, channel, at, place))
				continue;
			for (int k = 0; k < 2; k++)
				off = fmax(off, fabs((place[k] - corner[k]) / spacing[k] -
				    (double)at[k]));
			if (off <= most)
				continue;
			most = off;
			memcpy(farthest, at, sizeof(at));
		}
	if (most <= GRID_TOLERANCE)
		return 0;
	return fail(NULL,
	    "x and y are no regular grid: pixel (%zu, %zu) lies %.3g pixels off it; make a depth "
	    "map of the points first",
	    farthest[0], farthest[1], most);
}

/* ---- parameters: words and numbers of the metadata ---- */

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

void
holo_write(const struct holo *holo, struct meta *meta)
{
	const double range[2] = { holo->low, holo->high };

	meta_setf(meta, "holo_size", "%zu %zu", holo->w, holo->h);
	meta_set_number(meta, "holo_pitch_px", holo->pitch_px);
	meta_setf(meta, "holo_theta_deg", "%.12g", holo->theta_rad / RADIANS);
	meta_set(meta, "holo_stair", holo_stairs[holo->stair]);
	meta_setf(meta, "holo_stair_height", "%ld", holo->stair_height);
	if (holo->stair == HOLO_COSINE)
		meta_setf(meta, "holo_stair_turns", "%ld", holo->stair_turns);
	meta_set(meta, "holo_layout", holo_layouts[holo->layout]);
	if (holo->rounding != HOLO_LEVEL)
		meta_set(meta, "holo_rounding", holo_roundings[holo->rounding]);
	meta_set_numbers(meta, "holo_depth_range", range, 2);
	meta_set_numbers(meta, "holo_spacing", holo->spacing, 2);
	meta_set_numbers(meta, "holo_corner", holo->corner, 2);
	meta_set(meta, "z_axis", holo_z_axes[holo->z_axis]);
}

void
holo_remove(struct meta *meta)
{
	static const char *const keys[] = { "holo_size", "holo_pitch_px", "holo_theta_deg",
		"holo_stair", "holo_stair_height", "holo_stair_turns", "holo_layout",
		"holo_rounding",
		"holo_depth_range", "holo_spacing", "holo_corner", "holo_texture",
		"holo_texture_scale", "holo_texture_gain", "holo_texture_place",
		"holo_texture_matrix", "holo_check" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		meta_remove(meta, keys[i]);
}

/* ---- the decoder's ---- */

int
holo_check_size(const struct meta *meta, const char *key, size_t w, size_t h)
{
	double size[2] = { (double)w, (double)h };

	if (key_pair(meta, key, size) < 0)
		return -1;
	if (size[0] == (double)w && size[1] == (double)h)
		return 0;
	return fail(NULL,
	    "the picture is %zu x %zu, but was encoded as %.0f x %.0f: scaled or cut, it "
	    "cannot be decoded",
	    w, h, size[0], size[1]);
}

int
holo_check_options(const char *const *missing, bool none, const char *keys)
{
	char options[128] = "";

	for (; *missing; missing++)
		snprintf(options + strlen(options), sizeof(options) - strlen(options), "%s%s",
		    **missing ? " " : "", *missing);
	if (!*options)
		return 0;
	return none ? fail(NULL, "the picture does not say how it was encoded (%s); give%s", keys,
	    options) : fail(NULL, "the picture does not say all of how it was encoded; give%s",
	    options);
}

int
holo_read(struct holo *holo, const struct holo_options *options, const struct frame_head *head)
{
	const struct meta *meta = &head->meta;
	const char *const *missing;
	bool has_stair;

	*holo = (struct holo){ .w = head->w, .h = head->h, .spacing = { 1, 1 } };
	for (int i = 0; i < 2; i++)
		if (isfinite(head->spacing[i]))
			holo->spacing[i] = head->spacing[i];
	if (holo_check_size(meta, "holo_size", holo->w, holo->h) < 0 ||
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
	missing = (const char *const[]){
		isnan(holo->pitch_px) ? "--pitch" : "",
		isnan(holo->theta_rad) ? "--theta" : "",
		has_stair ? "" : "--stair",
		holo->stair_height < 1 ? "--stair-height" : "",
		holo->stair == HOLO_COSINE && holo->stair_turns < 0 ? "--stair-turns" : "",
		isnan(holo->low) ? "--depth-range" : "",
		NULL
	};
	return holo_check_options(missing, !meta_get(meta, "holo_pitch_px") &&
	    !meta_get(meta, "holo_stair_height"), "no holo_ keys: is it a Holoimage?") < 0 ? -1 :
	    holo_check_stairs(holo);
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

/* ---- the key holo_check of holoimage(5), computed, and compared with a decoded picture ---- */

#define STEPS 128 /* of a turn */
#define TURNS 31  /* that are distinguished */
#define BACKGROUND_WORD 4095
#define UNKNOWN_WORD 4094

/* Measured on 19 objects: JPEG of quality 30, colour 420, is off by 0.007 turns (rms) and moves by
 * 0.25 pixels; dithered and filtered pictures by 0.013 turns, and 0.42 pixels, once 0.8. */
#define OFF_MOST 0.1	   /* turns, of one place */
#define PLACES_OFF 2	   /* so many are none that a scratch makes */
#define OFF_MOST_RMS 0.025 /* turns, of all the others */
#define OFF_MOST_RMS_FILTERED 0.035 /* a wide kernel moves what is curved by 0.03 */
#define MOVED_MOST 0.5	   /* pixels */
#define MOVED_MOST_FILTERED 1.0
#define TURNED_MOST 0.1 /* of the places, by whole turns; one that lossy coding turns is rare */
#define GONE_MOST 0.25 /* of the places with a surface, by a filter; 0.13 of an intact picture */
#define PLACES_LEAST 8 /* that a motion is found from */
#define DOUBT 4.0      /* standard deviations that halve a motion */
#define LEAST_NOISE (1.0 / STEPS / 3.464) /* turns: of rounding */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void
holocheck_place(size_t w, size_t h, size_t place, size_t *x, size_t *y)
{
	size_t column = place % HOLOCHECK_SIDE, row = place / HOLOCHECK_SIDE;

	*x = (2 * column + 1) * w / (2 * HOLOCHECK_SIDE);
	*y = (2 * row + 1) * h / (2 * HOLOCHECK_SIDE);
}

int
holocheck_code(double turns)
{
	return (int)fmod(floor(turns * STEPS + 0.5), STEPS * TURNS);
}

void
holocheck_write(const int code[HOLOCHECK_PLACES], char text[HOLOCHECK_TEXT + 1])
{
	for (size_t i = 0; i < HOLOCHECK_PLACES; i++) {
		int word = code[i] == HOLOCHECK_BACKGROUND ? BACKGROUND_WORD
		    : code[i] == HOLOCHECK_UNKNOWN	   ? UNKNOWN_WORD
							   : code[i];

		text[2 * i] = digits[word / 64];
		text[2 * i + 1] = digits[word % 64];
	}
	text[HOLOCHECK_TEXT] = '\0';
}

int
holocheck_read(const struct meta *meta, int code[HOLOCHECK_PLACES])
{
	const char *text = meta_get(meta, "holo_check");

	if (!text)
		return 0;
	if (strlen(text) != HOLOCHECK_TEXT || strspn(text, digits) != HOLOCHECK_TEXT)
		return fail("holo_check", "must be %d letters, digits, + and /", HOLOCHECK_TEXT);
	for (size_t i = 0; i < HOLOCHECK_PLACES; i++) {
		int word = 64 * (int)(strchr(digits, text[2 * i]) - digits) +
		    (int)(strchr(digits, text[2 * i + 1]) - digits);

		code[i] = word == BACKGROUND_WORD ? HOLOCHECK_BACKGROUND
		    : word < STEPS * TURNS	  ? word
						  : HOLOCHECK_UNKNOWN;
	}
	return 1;
}

/* ---- comparing ---- */

/*
 * Sums of a least-squares fit of a motion: what is off is slope . (shift + matrix place), the place
 * in -1 .. 1 from side to side; its unknowns, in pixels, and what they are multiplied by.
 */
#define MOTIONS 6

struct motion_fit {
	double n, off_off, off[MOTIONS], row[MOTIONS * MOTIONS];
};

static void
add_place(struct motion_fit *fit, size_t place, double off, const double slope[2])
{
	double across = (double)(2 * (place % HOLOCHECK_SIDE) + 1) / HOLOCHECK_SIDE - 1;
	double down = (double)(2 * (place / HOLOCHECK_SIDE) + 1) / HOLOCHECK_SIDE - 1;
	const double factor[MOTIONS] = { slope[0], slope[0] * across, slope[0] * down, slope[1],
		slope[1] * across, slope[1] * down };

	fit->n++;
	fit->off_off += off * off;
	for (int i = 0; i < MOTIONS; i++) {
		fit->off[i] += off * factor[i];
		for (int k = 0; k < MOTIONS; k++)
			fit->row[MOTIONS * i + k] += factor[i] * factor[k];
	}
}

/* Solves with `ridge` on the diagonal: where the slopes do not determine a motion, it stays
 * small, and the matrix is positive definite. */
static void
solve(struct motion_fit fit, double ridge, double motion[MOTIONS])
{
	for (int i = 0; i < MOTIONS; i++)
		fit.row[(MOTIONS + 1) * i] += ridge;
	memset(motion, 0, MOTIONS * sizeof(*motion));
	if (!symmetric_factor(MOTIONS, fit.row, 0))
		return;
	memcpy(motion, fit.off, sizeof(fit.off));
	symmetric_solve(MOTIONS, fit.row, motion, 1);
}

/* How far the picture has been moved, in pixels, rms over its area, as far as that is sure: slopes,
 * too, have noise, and on a flat surface they are nothing else. */
static double
find_motion(const struct motion_fit *fit)
{
	double motion[MOTIONS], left = fit->off_off, noise;

	solve(*fit, 1e-9, motion);
	for (int i = 0; i < MOTIONS; i++)
		left -= motion[i] * fit->off[i];
	noise = fmax(sqrt(fmax(left, 0) / fmax(fit->n - MOTIONS, 1)), LEAST_NOISE);
	solve(*fit, (DOUBT * DOUBT + fit->n) * noise * noise, motion);
	return sqrt(motion[0] * motion[0] + motion[3] * motion[3] +
	    (motion[1] * motion[1] + motion[2] * motion[2] + motion[4] * motion[4] +
		motion[5] * motion[5]) /
		3);
}

/* Counts of places, whose codes are compared with what is seen. */
struct places {
	int known;	/* with a code */
	int other;	/* another surface than was encoded, or one where there was none */
	int surface;	/* with a surface, as encoded */
	int gone;	/* of these, black now: a filter may have dropped them */
	int turned;	/* of these, whole turns off */
	struct motion_fit fit;	/* of all that are not other ones */
};

static void
compare_place(struct places *places, size_t place, int code, const struct holocheck_seen *seen)
{
	double turns = seen->turns - (double)code / STEPS, off = seen->rest - (double)code / STEPS;

	places->known += code != HOLOCHECK_UNKNOWN;
	places->other += code == HOLOCHECK_BACKGROUND && seen->black < 0.5;
	if (code < 0)
		return;
	places->surface++;
	places->gone += seen->black > 0.5;
	places->turned += fabs(turns - TURNS * floor(turns / TURNS + 0.5)) > 0.5;
	if (seen->black > 0)
		return;
	off -= floor(off + 0.5);
	if (fabs(off) > OFF_MOST)
		places->other++;
	else if (!isnan(off))
		add_place(&places->fit, place, off, seen->slope);
}

int
holocheck_compare(
    const int code[HOLOCHECK_PLACES], const struct holocheck_seen *seen, bool filtered)
{
	double moved, off_most = filtered ? OFF_MOST_RMS_FILTERED : OFF_MOST_RMS;
	struct places n = { 0 };

	for (size_t i = 0; i < HOLOCHECK_PLACES; i++)
		compare_place(&n, i, code[i], &seen[i]);
	if (n.other >= PLACES_OFF)
		return fail("holo_check",
		    "the picture is not what was encoded, at %d of %d places: damaged, moved, "
		    "resampled, or another's metadata (framecat --delete holo_check takes it)",
		    n.other, n.known);
	if (filtered && n.gone >= PLACES_OFF && n.gone > GONE_MOST * n.surface)
		return fail("holo_check",
		    "the surface is gone at %d of %d places: damaged, moved, or dithered too "
		    "coarsely (framecat --delete holo_check takes it)",
		    n.gone, n.surface);
	moved = n.fit.n < PLACES_LEAST ? 0 : find_motion(&n.fit);
	if (moved > (filtered ? MOVED_MOST_FILTERED : MOVED_MOST))
		return fail("holo_check",
		    "the picture has been moved or resampled since it was encoded, by %.1f pixels "
		    "(framecat --delete holo_check takes it)",
		    moved);
	if (n.turned >= PLACES_OFF && n.turned > TURNED_MOST * n.fit.n)
		return fail("holo_check",
		    "the picture is whole fringes off what was encoded at %d of %d places: "
		    "damaged, or compressed too much (framecat --delete holo_check takes it)",
		    n.turned, n.known);
	if (n.fit.off_off <= off_most * off_most * n.fit.n)
		return 0;
	return fail("holo_check",
	    "the picture is not what was encoded, by %.2f fringes (rms): damaged or resampled "
	    "(framecat --delete holo_check takes it)",
	    sqrt(n.fit.off_off / n.fit.n));
}
