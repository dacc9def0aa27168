/*
 * Measurements of captured images, for stages that compute phases: the options that say what the
 * images are, how many make one measurement, whether a camera has dropped some, what contradicts
 * what, and the limits of valid pixels. A measurement is the images of one output frame.
 */
#pragma once

#include "base/opt.h"
#include "fringe/capture_set.h"
#include "fringe/manifest.h"

struct run;

/* ---- places of images by what they look like (image_places.c) ---- */

struct image_places;

/* What no image tells; PLACES_TOLD: nothing of the kind. */
enum places_untold { PLACES_TOLD, PLACES_START, PLACES_ALIKE };

/* What becomes of the first images that wait. */
enum places_answer {
	PLACES_WAIT,		/* not decided yet, or too few wait */
	PLACES_SET,		/* they are a set */
	PLACES_LEFT_OUT,	/* they are of sets that lack images */
};

/* For a set of these captures (head->c images, described as for capture_set_sort()); NULL: images
 * of such sets cannot be told apart (other sizes than one plane, too many images, no fringes). */
struct image_places *image_places_new(const struct capture_options *, const struct manifest *,
    const struct frame_head *set);
void image_places_free(struct image_places *);
/* The next image, of one plane. */
void image_places_take(struct image_places *, const struct frame *);
/*
 * What becomes of the first images that were taken and have no answer yet; ended: no more come.
 * *images: how many they are, *sets: how many sets lack images, where they are left out.
 */
enum places_answer image_places_next(struct image_places *, bool ended, size_t *images,
    size_t *sets);
/* What could not be told so far. */
enum places_untold image_places_untold(const struct image_places *);
size_t image_places_set(const struct image_places *);	/* images of a set */

/* ---- images that a camera has dropped ---- */

enum dropped_how { DROPPED_AUTO, DROPPED_TIME, DROPPED_NUMBER, DROPPED_IGNORED, DROPPED_IMAGES };

#define DROPPED_INTERVALS 32	/* of which the median is the time from image to image */

struct dropped_images {
	enum dropped_how how;
	bool described;		/* the images' own keys count */
	bool rgb;		/* an image has three planes */
	size_t have;		/* of the measurement when the last image came */
	bool keeps_going, verbose;	/* --keep-going, -v */
	size_t measurement;		/* the one at hand, from 0 */
	/* the first measurement's images, by their keys, and how far the one at hand is */
	char **word;
	size_t words, place;
	bool complete;
	/* counting by number or time */
	bool counted, spoiled;	/* the last image had a number or a time; nothing can be told */
	double last, interval[DROPPED_INTERVALS];
	size_t intervals;
	long index, origin;	/* of the last image; of the first of a measurement */
	size_t runs_on, pauses;		/* whole measurements with the next one at once, or later */
	long last_number;	/* in the name of the previous file; -1: none */
	bool watched;		/* there was one */
	long gap, before;	/* where they jumped, 0: nowhere; and from which */
	size_t in_step;		/* files so far whose numbers rise by 1 */
	bool warned;
};

/* ---- measurements (measurement.c) ---- */

struct measurement_options {
	struct capture_options captures;
	const char *manifest;
	int sign, channel, dropped;	/* -1: not given, but for dropped */
	struct numbers count;
	double field_px, phase_origin;
	double min_modulation, min_amplitude;	/* 0: none */
	double max_value, dark;			/* NaN: not given */
};

extern const char *const measurement_signs[], *const measurement_channels[];
extern const char *const measurement_dropped[];

/* Rows of an option table whose parameter struct `type` has a struct measurement_options `member`.
 */
/* clang-format off */
#define MEASUREMENT_PERIOD_OPTIONS(type, member) \
	{ 'p', "period", "PX,...", OPT_NUMBERS, offsetof(type, member.captures.period_px), NULL, \
	  1e-3, 1e6, "projector px", "fringe periods, as many as there are", NULL }, \
	{ 0, "count", "N,...", OPT_NUMBERS, offsetof(type, member.count), NULL, 1e-3, 1e6, \
	  "fringes", "instead of the periods: fringes over the field", NULL }, \
	{ 0, "field", "PX", OPT_NUMBER, offsetof(type, member.field_px), NULL, 1, 1e6, \
	  "projector px", "width of the field that --count counts over", NULL }, \
	{ 'a', "axis", "x|y,...", OPT_TEXT, offsetof(type, member.captures.axis), NULL, 0, 0, \
	  NULL, "along which the phase varies, one for all or one per period", NULL }

#define MEASUREMENT_ORIGIN_OPTIONS(type, member) \
	{ 0, "sign", "+1|-1", OPT_WORD, offsetof(type, member.sign), NULL, 0, 0, NULL, \
	  "of the shifts, in foreign images: I = A + B cos(phase + sign * shift)", \
	  measurement_signs }, \
	{ 0, "phase-origin", "DEG", OPT_ANGLE, offsetof(type, member.phase_origin), NULL, -3600, \
	  3600, "degrees", "what the phase of foreign images is at projector column 0", NULL }

#define MEASUREMENT_LIMIT_OPTIONS(type, member) \
	{ 0, "channel", "WORD", OPT_WORD, offsetof(type, member.channel), NULL, 0, 0, NULL, \
	  "take this one of colour images", measurement_channels }, \
	{ 0, "min-modulation", "RATIO", OPT_NUMBER, offsetof(type, member.min_modulation), "0", \
	  0, 1e6, NULL, "less amplitude/mean makes a pixel invalid", NULL }, \
	{ 0, "min-amplitude", "LEVELS", OPT_NUMBER, offsetof(type, member.min_amplitude), "0", 0, \
	  1e30, "grey levels", "a smaller amplitude makes a pixel invalid", NULL }, \
	{ 0, "max-value", "LEVEL", OPT_NUMBER, offsetof(type, member.max_value), NULL, 0, 1e30, \
	  "grey levels", \
	  "a fringe image that reaches it is saturated; else 255, 65535, none for float", NULL }, \
	{ 0, "dark", "LEVEL", OPT_NUMBER, offsetof(type, member.dark), NULL, -1e30, 1e30, \
	  "grey levels", "a lower mean makes a pixel invalid", NULL }
/* clang-format on */

/* What makes a pixel invalid. */
struct measurement_limits {
	float max_value, least_amplitude, least_mean, least_modulation;
};

/* What the images are, by options, manifest and their own keys. */
struct measurement {
	const struct measurement_options *options;
	struct capture_options captures;	/* what is planned with */
	struct manifest whole, manifest;	/* as read; the rows of one measurement */
	bool manifest_read;
	char **file;			/* of the manifest, where no operands are given */
	double *unknown_px;		/* NaN for each period of --count without --field */
	bool roles_known;		/* keys or a manifest say what each image is */
	bool compared;			/* the options were, with the images' own keys */
	double sign, origin_rad;	/* of the phases, once they are sorted */
	struct dropped_images dropped;
	/* places of images without roles, by what they look like */
	struct image_places *places;
	bool places_begun, untold_noted, counted;	/* images have numbers or times */
	size_t images;			/* that have an answer */
};

/* NULL without one. */
static inline const struct manifest *
measurement_manifest(const struct measurement *measurement)
{
	return measurement->manifest_read ? &measurement->manifest : NULL;
}

/* The value from which on a sample of this type is saturated, if no option or key gives one. */
double measurement_full_scale(enum sample);
/* Before any image: sets run->colour, computes periods from --count; captures are those of the
 * options. described: images may be compared by their keys. -1 after fail_usage(). */
int measurement_init(struct run *, struct measurement_options *, bool described,
    struct measurement *);
/* Reads the manifest, if there is one; its images are the operands, if none are given. -1 after
 * fail(). */
int measurement_read_manifest(struct run *, struct measurement *);
void measurement_free(struct measurement *);
/* As a body's `arrives`. */
int measurement_arrives(struct run *, struct measurement *, const struct frame_head *,
    const char *path, size_t have, size_t wanted, bool *begins);
/* As a body's `holds`: of images of known shifts that have no roles; planes: of a measurement. */
void measurement_holds(struct run *, struct measurement *, const struct frame *in, size_t planes,
    bool ended, size_t *images, size_t *measurements);
/* For frames of this head: checks the files' names, and the manifest against --kind. -1 after
 * fail(). */
int measurement_begin(const struct run *, struct measurement *, const struct frame_head *);
/* Finds sign and origin of sorted captures; the first time, compares the options with the manifest,
 * which is an error, or with the images' own keys, which is a warning. -1 after fail(). */
int measurement_solve(struct measurement *, const struct frame_head *, const struct capture_set *);
/* Sets the keys field_px, for unwrap2f, where --field is given, and decoded_sign and
 * decoded_origin_rad, where these are not 1 and 0. */
void measurement_describe(const struct measurement *, struct meta *);
/* -1 after fail(). */
int measurement_limit(const struct run *, const struct measurement_options *,
    const struct frame_head *, struct measurement_limits *);
/* Row y of the markers' levels as they are, into channels from `first` on. */
void measurement_copy_markers(const struct capture_set *, const struct frame *in, size_t first,
    struct frame *out, size_t y);
/* For -v: prints a line for the first set whose late start would not show. */
void late_start_note(const struct capture_set *);
