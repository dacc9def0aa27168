/* The Holoimage: encoding grid, keys, bit packs. */
#pragma once

#include "base/opt.h"
#include "frame/frame.h"
#include "holo/bits.px.h"
#include "holo/dither.h"
#include "holo/holo.px.h"

/*
 * The parameters of a Holoimage (methods §12, holoimage(5)): from options, from metadata, into
 * metadata, and as what the formulas of holo.px.h take.
 *
 * A picture is a virtual projector's view of a cube of edge W pixels, W being the larger side of
 * the image. Normalised depth grows towards the camera whatever the frame's own z_axis is.
 */

enum holo_stair { HOLO_COMPOSITE, HOLO_COSINE };
enum holo_layout { HOLO_RGB, HOLO_YUV };
enum holo_rounding { HOLO_LEVEL, HOLO_ANGLE };
enum holo_z_axis { HOLO_TOWARDS, HOLO_AWAY };

/* As given on the command line; these win over the metadata. */
struct holo_options {
	double pitch_px, theta_rad;     /* NaN: not given */
	long stair_height, stair_turns; /* LONG_MIN: not given */
	int stair, layout, z_axis;      /* -1: not given */
	int rounding;                   /* likewise */
	struct numbers depth_range;     /* n = 0: not given */
};

extern const char *const holo_stairs[], *const holo_layouts[], *const holo_z_axes[];
extern const char *const holo_roundings[];

/* Rows of an option table whose parameter struct `type` has a struct holo_options `member`.
 * range_words: of --depth-range; NULL. */
/* clang-format off */
#define HOLO_OPTIONS(type, member, range_words) \
	{ 'P', "pitch", "PX", OPT_NUMBER, offsetof(type, member.pitch_px), NULL, 1e-3, 1e6, "px", \
	  "fringe pitch", NULL }, \
	{ 't', "theta", "DEG", OPT_ANGLE, offsetof(type, member.theta_rad), NULL, 1, 89, \
	  "degrees", "angle between camera and virtual projector", NULL }, \
	{ 0, "stair", "WORD", OPT_WORD, offsetof(type, member.stair), NULL, 0, 0, NULL, \
	  "shape of the stairs in blue", holo_stairs }, \
	{ 'S', "stair-height", "LEVELS", OPT_INTEGER, offsetof(type, member.stair_height), NULL, \
	  1, 255, "grey levels", "height of a stair", NULL }, \
	{ 'K', "stair-turns", "N", OPT_INTEGER, offsetof(type, member.stair_turns), NULL, 0, 64, \
	  NULL, "whole cosine turns on each stair, besides a half", NULL }, \
	{ 0, "layout", "WORD", OPT_WORD, offsetof(type, member.layout), NULL, 0, 0, NULL, \
	  "fringes in R and G, stairs in B; or stairs in Y, fringes in U and V", holo_layouts }, \
	{ 0, "depth-range", "LO,HI", OPT_NUMBERS, offsetof(type, member.depth_range), NULL, 0, 0, \
	  NULL, "depths of the cube's two faces", range_words }, \
	{ 0, "z-axis", "WORD", OPT_WORD, offsetof(type, member.z_axis), NULL, 0, 0, NULL, \
	  "where depth grows: towards the camera, or away from it", holo_z_axes }, \
	{ 0, "rounding", "WORD", OPT_WORD, offsetof(type, member.rounding), NULL, 0, 0, NULL, \
	  "each to its nearest level, or two to the pair of levels nearest in angle", \
	  holo_roundings }

struct holo {
	size_t w, h;
	double pitch_px, theta_rad;
	enum holo_stair stair;
	long stair_height, stair_turns; /* S, K */
	enum holo_layout layout;
	enum holo_z_axis z_axis;
	enum holo_rounding rounding;
	double low, high;             /* depths of the faces, low < high; NaN: not known yet */
	double spacing[2], corner[2]; /* x = corner[0] + column spacing[0], y alike */
};

/* What the formulas take. */
struct holo_code {
	float turns_per_column, turns_per_depth; /* depth normalised */
	float height, base, swing, waves;        /* of the stairs, in levels */
	float order_most;
	float depth_zero, depth_one; /* depths at normalised 0 and 1 */
};

/*
 * For an encoder: options, and for what is not given the head's spacing, depth_range, z_axis, and
 * what is best. -1 after fail() with the numbers where the stairs do not fit.
 */
int holo_choose(struct holo *, const struct holo_options *, const struct frame_head *);
/* For a decoder: options, else keys; -1 after fail() that names the options that would mend it. */
int holo_read(struct holo *, const struct holo_options *, const struct frame_head *);
/* An option wins over the picture, but not in silence: what it makes may look like a surface. One
 * line for each option that differs from its key. */
void holo_warn_overruled(const struct holo_options *, const struct meta *);
/* For a decoder: has the picture the size of its key? -1 after fail(). */
int holo_check_size(const struct meta *, const char *key, size_t w, size_t h);
/* 0, or -1 after fail() that names the options among `missing`, which ends with NULL; "" is none.
 * none: the picture has no keys at all, which `keys` explains. */
int holo_check_options(const char *const *missing, bool none, const char *keys);
/* Sets the keys of holoimage(5); takes them away. */
void holo_write(const struct holo *, struct meta *);
void holo_remove(struct meta *);

/* The greatest height S at which all stairs fit. */
long holo_height_most(const struct holo *);

struct holo_code holo_code(const struct holo *);
/* Between two depths of a range so large whose sine differs by a level where it is steepest. */
double holo_depth_step(const struct holo_code *, double range);
/* The channels of sine, cosine, stair, by layout. */
extern const size_t holo_place[2][3];
/* The channel that formats keep at full resolution, and that has a texture below, by layout. */
extern const size_t holo_luma[2];
/* Where sine, cosine, stair and texture (or NO_CHANNEL) lie in a picture; -1 after fail(). */
int holo_channels(const struct holo *, const struct frame_head *, size_t channel[4]);
/* The layout alone: an option (-1: not given), else the key; rgb where that is no word. */
enum holo_layout holo_layout_of(int option, const struct meta *);
/* The channel names of a picture. */
const char *holo_channel_names(enum holo_layout, bool texture);
/* How far sine and cosine may lie off the circle of radius 127.5. */
#define HOLO_OFF_CIRCLE_LEVELS 25.5f
/* holodec refuses a picture in which more of the fringe pixels lie farther off. */
#define HOLO_OFF_CIRCLE_MOST_PERCENT 15
/* For a format with colour of half resolution: -1 after fail() where that has blurred the fringes
 * of a picture of uchar with keys, as it was coded and read back, beyond use. */
int holo_check_fringes(const char *path, const struct frame *coded);

/*
 * The stair of order 0 over the rest 0 .. 1 in HOLO_PROFILE equal parts (their centres), after a
 * Gaussian blur of sigma in turns.
 */
void holo_profile(const struct holo_code *, double sigma, float level[HOLO_PROFILE + 1]);

/*
 * Channels x y as a regular grid: spacing and corner by least squares. -1 after fail() naming the
 * pixel that lies farthest off if that is more than a twentieth of a pixel.
 */
int holo_grid(const struct frame *, size_t x, size_t y, double spacing[2], double corner[2]);

/*
 * Pictures of three bits a pixel whose thresholds are known: surfaces carried on from pixel to
 * pixel, and what a pixel's bits have against that. The encoder and the decoder ask the same.
 */

/* Thresholds, and stairs. */
struct bits_code {
	float arc[2][DITHER_TILE_PIXELS];	/* where sine and cosine pass them, in turns */
	float threshold[DITHER_TILE_PIXELS];	/* of the stair, as a level */
	float stair[HOLO_PROFILE + 1];		/* of order 0 */
	float height, order_most;
};

/* A pixel's bits, 0 or 1, and its place in the tile of thresholds. */
struct bits_pixel {
	float red, green, stair;
	size_t place;
};

/* The eight neighbours of a pixel, for bits_carry(). */
#define BITS_WAYS 8
extern const int bits_way[BITS_WAYS][2];	/* x, y */

/*
 * Thresholds: where sine and cosine pass each pixel's, in turns: asin and acos of it. Holoimages
 * have whole levels: the threshold is halfway between two of them.
 */
void bits_thresholds(struct bits_code *, const struct dither_keys *);
/* The stairs; arcs and thresholds stay. */
void bits_stairs(struct bits_code *, const struct holo_code *);
/* Can a pixel of a surface have neither bit of the fringes at this place of the tile? */
bool bits_may_lack(const struct bits_code *, size_t place);
/*
 * Turns, moved by `tolerance` at most, that give the pixel's bits; NaN where there are none such.
 */
float bits_fit(const struct bits_code *, const struct bits_pixel *, float turns, float tolerance);

/*
 * The key holo_check of holoimage(5), by which a Holoimage is compared with itself: the turns at 8
 * x 8 places, to a 128th. A picture that was moved, turned over, resampled or damaged, or that has
 * another one's metadata, does not have them there; one that was only compressed or dithered does.
 */

#define HOLOCHECK_SIDE 8
#define HOLOCHECK_PLACES 64
#define HOLOCHECK_TEXT 128
#define HOLOCHECK_WINDOW 2 /* pixels around a place that are averaged */
#define HOLOCHECK_SMOOTH 4 /* a surface without jumps must reach so far */
#define HOLOCHECK_FAR 8    /* or the background */
#define HOLOCHECK_STEP 0.1f /* turns: from pixel to pixel, more is a jump */

#define HOLOCHECK_BACKGROUND (-1)
#define HOLOCHECK_UNKNOWN (-2)

/* The pixel of place 0 .. 63, by rows. */
void holocheck_place(size_t w, size_t h, size_t place, size_t *x, size_t *y);

/* Codes: 128 times the turns, modulo 31 turns; or one of the two above. */
int holocheck_code(double turns);
void holocheck_write(const int code[HOLOCHECK_PLACES], char text[HOLOCHECK_TEXT + 1]);
/* 1; 0 where there is no such key; -1 after fail() where it is none. */
int holocheck_read(const struct meta *, int code[HOLOCHECK_PLACES]);

/* A place as it is found in the picture. */
struct holocheck_seen {
	double black;	 /* share of its window that is background */
	double rest;	 /* turns, but for whole ones: mean of the window */
	double slope[2]; /* of the turns, per column and per row */
	double turns;	 /* of its pixel, as decoded with its neighbours'; NaN: not known */
};

/* 0 where the picture is the one that was encoded, else -1 after fail(). Of one that was filtered
 * (its samples are floats) a little more is taken. */
int holocheck_compare(
    const int code[HOLOCHECK_PLACES], const struct holocheck_seen *, bool filtered);
