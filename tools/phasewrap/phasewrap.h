/*
 * What the files of phasewrap share: its options, what is planned for a measurement, and the loops
 * over pixels (struct phasewrap_rows and struct survey_rows, at the end). A measurement is the
 * images that one output frame is computed from. fourier.h has what only --kind fourier needs.
 */
#ifndef PHASEWRAP_H
#define PHASEWRAP_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cpu_level.h"
#include "base/numbers.h"
#include "frame/frame.h"
#include "fringe/capture_set.h"
#include "fringe/phase_noise.h"
#include "fringe/phase_steps.h"
#include "fringe/step_search.h"
#include "image/statistics.h"
#include "run/stage.h"
#include "fourier.h"
#include "phasewrap.block.h"

/* ---- options ---- */

enum as { AS_PHASE, AS_VECTOR };

/* The limits beyond which a pixel is invalid; NaN: not given. */
struct limit_options {
	double min_modulation, min_amplitude;	/* 0: none */
	double max_value, dark, max_fit_residual;
	bool fit_residual;
};

/* What becomes of a pixel that is saturated in some of its images. */
enum saturated { SATURATED_INVALID, SATURATED_SOLVE };

struct exposure_options {
	long n;			/* of exposures; 1: as captures usually are */
	int order;		/* enum exposure_order; -1: not given */
	struct numbers time_s;	/* of each, in their order; n = 0: not given */
	bool map;		/* channel `exposure` */
	int saturated;		/* enum saturated */
};

struct noise_options {
	bool sigma, fit_noise;
	double read_noise, gain, black_level, quantum;	/* NaN: not given */
	double max_value;	/* --max-value again, for --fit-noise; NaN: not given */
};

struct parameters {
	struct capture_options captures;
	const char *manifest, *harmonics;
	int sign, channel, as, dropped;
	struct numbers count, light;
	double field_px, phase_origin;
	struct limit_options limits;
	struct fourier_options fourier;
	struct exposure_options exposures;
	struct noise_options noise;
};

/* ---- exposures (exposures.c) ---- */

#define EXPOSURES_MOST 8

struct exposures {
	size_t n;		/* 1: usual; 0 before anything is planned */
	struct capture_set set[EXPOSURES_MOST];	/* from the second on; the first is the caller's */
	float gain[EXPOSURES_MOST];	/* of the light, that of the longest exposure is 1 */
	size_t shortest;
	bool timed;		/* the times are known: the gains are not found in the images */
	bool described;		/* each image's role is known: their order does not matter */
	bool solves;		/* saturated pixels, from their other images */
	bool map;
};

/* Exposure number e of a measurement whose first is `first`. */
static inline const struct capture_set *
exposures_get(const struct exposures *exposures, const struct capture_set *first, size_t e)
{
	return e ? &exposures->set[e] : first;
}

/* Which planes of a measurement are those of each exposure. */
struct exposure_planes {
	size_t exposures, images;	/* images: of one exposure */
	size_t *plane;			/* images of the first exposure, of the second ... */
	struct frame_head head;		/* of the first exposure */
	bool listed;			/* the manifest has a row for each image of all exposures */
	bool described;
};

/* Checks the options alone. -1 after fail_usage(). */
int exposures_check(const struct exposure_options *, const struct capture_options *);
/* Turns the number of images of one exposure into that of a measurement. */
void exposures_count(const struct exposure_options *, const struct manifest *, size_t *planes);
/*
 * Finds the planes of each exposure: by their descriptions, in whatever order they come, else by
 * --exposure-order. Overwrites *out; the caller frees it with exposure_planes_free, also after a
 * failure. -1 after fail().
 */
int exposure_planes_find(const struct exposure_options *, const struct capture_options *,
    const struct manifest *, const struct frame_head *in, struct exposure_planes *out);
void exposure_planes_free(struct exposure_planes *);
/* Sorts the planes of exposure number e, by their places among its own. *out is overwritten. -1
 * after fail(). */
int exposure_planes_sort(const struct exposure_planes *, const struct capture_options *,
    const struct manifest *, const struct frame_head *in, size_t e, struct capture_set *out);
/*
 * Sorts all other exposures, and turns the planes of all, those of `first` too, into planes of the
 * measurement. Takes the exposure times that are known. exposures is overwritten, not freed. -1
 * after fail().
 */
int exposures_plan(const struct exposure_options *, const struct capture_options *,
    const struct manifest *, const struct frame_head *in, const struct exposure_planes *,
    struct capture_set *first, struct exposures *exposures);
void exposures_free(struct exposures *);

/* ---- what is planned for a measurement (measurement.c) ---- */

/* What makes a pixel invalid. */
struct phasewrap_limits {
	float max_value, least_amplitude, least_mean, least_modulation;
	float most_misfit;
};

/* The two sets of three of a fringe set of six, --kind double. */
struct double_three {
	struct capture_fringe half[2];
	struct phase_shift_fit fit[2];
	size_t plane[2][3];
	double shift_rad[2][3];
};

struct phasewrap {
	struct capture_set captures;
	struct phase_shift_fit *fit;	/* of each fringe set */
	struct double_three *halves;	/* of each fringe set; NULL: not --kind double */
	double sign, origin_rad;	/* of the shifts and phases that the fits are for */
	size_t reference[2];		/* fringe set whose mean is the threshold of a code */
	float *per_light;	/* of each plane, 1 over its light; 0: no fringes; NULL: all even */
	bool vector;
	struct exposures exposures;	/* all of them; `captures` is the first */
	bool warned_ratio;		/* of their light, once in a run */
	bool fits, writes_fit;	/* the misfit is computed; it is a channel */
	struct phasewrap_limits limits;
	/* of each fringe set, then the levels of each (harmonics_correct()); NULL: none */
	float *correction;
	/* of each fringe set, along x then y; NULL: the same all over the picture */
	float *correction_slopes;
	bool sigmas;		/* channels after fit_residual: the phases' standard deviations */
	struct phase_noise_model noise;
	/* of each fringe set, or each half of one; NULL without sigmas */
	struct phase_noise_terms *terms;
	struct phasewrap_channels channels;
};

/* Fringe set k of exposure e. */
static inline const struct capture_fringe *
exposure_fringe(const struct phasewrap *wrap, size_t e, size_t k)
{
	return &exposures_get(&wrap->exposures, &wrap->captures, e)->fringe[k];
}

/* Do pixels leave out some of their images? Then their normal equations are solved one by one. */
static inline bool
exposure_fit_used(const struct phasewrap *wrap)
{
	return wrap->exposures.n > 1 || wrap->exposures.solves;
}

/* What the images of a measurement are, by options, manifest and their own keys. */
struct measurement {
	struct capture_options captures;	/* without --shift auto */
	struct manifest manifest;	/* the rows of one measurement; the names are others' */
	bool manifest_read;
	bool compared;			/* the options were, with the images' own keys */
	double sign, origin_rad;	/* of the phases, once they are sorted */
};

/* NULL without one. */
static inline const struct manifest *
measurement_manifest(const struct measurement *measurement)
{
	return measurement->manifest_read ? &measurement->manifest : NULL;
}

/* The value from which on a sample of this type is saturated, if no option or key gives one. */
double limits_usual_most(enum sample);
/* Sorts the planes of a measurement and solves the fits of its fringes: wrap->captures, fit,
 * exposures and halves; --kind fourier has no fits. -1 after fail(). */
int measurement_sort(struct measurement *, const struct parameters *, const struct frame_head *in,
    struct phasewrap *);
/* Sets the thresholds of Gray planes, the limits and the light of a sorted measurement, and the
 * run's scratch memory. -1 after fail(). */
int measurement_limit(struct run *, const struct frame_head *in, struct phasewrap *);
/* Lays out the channels of a frame, names them and sets its keys: phases, what stands between them
 * and the indices, indices. -1 after fail(). */
int phasewrap_describe(struct phasewrap *, struct frame_head *out);
/* Frees all that is planned. */
void phasewrap_forget(struct phasewrap *);
/*
 * Finds the flat one of the three images of a 2+1 set (methods §2; Zhang 2006 eq 11): the plane
 * with the least sum |dI/dx| + sum |dI/dy| (the last of equal ones). Turns the three plane numbers
 * round until it stands last: their cyclic order stays. NaN takes no part. -1 after fail().
 */
int flatness_turn(struct run *, const struct frame *, size_t plane[3]);

/* ---- what contradicts what (conflicts.c) ---- */

/*
 * Warns, in one line each, where an option contradicts the keys of images whose roles are known;
 * the line names both and says which one counts. sign: 1 or -1; sign and origin_rad are NaN where
 * they are not given. `set` is sorted. -1 after fail(): a key that is no number, or no image of
 * --kind.
 */
int capture_conflicts_warn(const struct capture_options *, double sign, double origin_rad,
    const struct frame_head *, const struct capture_set *set);
/*
 * Compares the options with the manifest's rows of one measurement, which the set was sorted by:
 * periods, shifts, axes, what a Gray code counts, sign, and the numbers of steps, planes and flat
 * images. sign: NaN where it was not given; path: the manifest, for messages. Warns of --order,
 * which has no effect with a manifest, and of images whose own keys differ from their row. -1 after
 * fail_usage() that names the option, both values and the file.
 */
int manifest_conflicts_check(const struct capture_options *, double sign, const char *path,
    const struct manifest *, const struct frame_head *, const struct capture_set *);
/* Does the manifest have images of --kind? Before they are sorted. -1 after fail_usage(). */
int manifest_conflicts_kind(const struct capture_options *, const char *path,
    const struct manifest *);
/* For -v: prints a line for the first set whose late start would not show. */
void late_start_note(const struct capture_set *);

/* ---- images that a camera has dropped (dropped_images.c) ---- */

enum dropped_how { DROPPED_AUTO, DROPPED_TIME, DROPPED_NUMBER, DROPPED_IGNORED };

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
	size_t words, room, place;
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

/*
 * An image comes, `have` others of its measurement wait, `wanted` make one (0: not known yet).
 * *begins: it begins another measurement, and fail() says that the one at hand lacks images. path:
 * its file, or NULL. -1 after fail(): the way that was demanded cannot count it.
 */
int dropped_images_take(struct dropped_images *, const struct frame_head *, const char *path,
    size_t have, size_t wanted, bool *begins);
void dropped_images_free(struct dropped_images *);

/* ---- harmonics of the fringes (harmonics.c) ---- */

struct harmonic {
	char axis;			/* x, y; 0: of any */
	double period_px;		/* NaN: of any */
	long k;				/* from 2 on */
	double cosine, sine;
	double slope[2][2];		/* of these two along x and y, per camera pixel */
};

struct harmonics {
	size_t n;			/* 0: none were read */
	struct harmonic *row;
	char compensation[1024];	/* of the patterns that were measured; "": none */
	bool varying;			/* there are slopes */
	double size_px[2];		/* of the pictures that were measured; 0: not known */
	const char *path;
};

/* -1 after fail(path, ...). Free with harmonics_free, also after a failure. */
int harmonics_load(const char *path, struct harmonics *out);
void harmonics_free(struct harmonics *);
/* Refuses images whose keys say that their phase is corrected already, or that other patterns were
 * projected than those that the harmonics are of; of harmonics that change over the picture images
 * of another size. -1 after fail(). */
int harmonics_check(const struct harmonics *, const struct frame_head *);
/* The corrections of all fringe sets of a measurement, if harmonics were read; sigmas: with the
 * levels that standard deviations need. -1 after fail(). */
int harmonics_correct(const struct harmonics *, struct phasewrap *, bool sigmas, double sign,
    double origin_rad);

/* ---- the camera's noise (noise.c) ---- */

/* Variances at levels of the pairs of images that were read so far. */
struct noise_pairs {
	struct frame *first;	/* of a pair whose second image is to come; one plane */
	struct phase_noise_sample *sample;
	size_t n;
	double quantisation;			/* its variance */
	size_t images;
};

/* Is --sigma asked for, and the noise to be found in the images? */
bool noise_unknown(const struct noise_options *);
/* Options that are of no use alone. -1 after fail_usage(). */
int noise_check(const struct noise_options *);
/*
 * For frames of this head: sets wrap->sigmas, the terms and, where it is given, the noise. *search:
 * noise_find() is to find the noise of every measurement. Captures and fits of wrap are set. -1
 * after fail().
 */
int noise_plan(const struct noise_options *, const struct frame_head *, struct phasewrap *,
    bool *search);
/* Sets the terms of all fits, anew where they were set before; wrap->terms has room for two of each
 * fringe set. */
void phase_sigma_set_terms(struct phasewrap *);
/* Sets wrap->noise to that of one measurement, from what the fit leaves of it. -1 after fail(). */
int noise_find(const struct frame *, struct phasewrap *);
/* Takes one image, or several as the planes of a frame, which it owns. -1 after fail(). */
int noise_pairs_add(const struct noise_options *, struct frame *, struct noise_pairs *);
/* Prints the options that say what was found, to `path` or standard output. -1 after fail(). */
int noise_pairs_print(const struct noise_options *, struct noise_pairs *, const char *path);
void noise_pairs_free(struct noise_pairs *);

/* ---- the light of each exposure, measured in the images (exposures.c) ---- */

/*
 * Sets the gains of wrap->exposures that no times give: from the brightest exposure down by the
 * amplitudes of fringes in pixels of a coarse grid that are unsaturated in both. Refuses exposures
 * whose images are in another order than is given, warns where two are equally bright. -1 after
 * fail().
 */
int exposure_gains_find(struct phasewrap *, const struct frame *in);
/* Prints the gains, once in a run. */
void exposure_gains_note(const struct exposures *);

/* ---- -v: how many pixels each test removes (counted by the rows, reported by phasewrap.c) ---- */

/* The tests, in the order in which they are made: a pixel counts for the first that it fails. */
enum removed_by { REMOVED_MISSING, REMOVED_SATURATION, REMOVED_DARKNESS, REMOVED_MODULATION,
	REMOVED_AMPLITUDE, REMOVED_RESIDUAL, REMOVED_KINDS };

struct removed_count {
	uint32_t by[REMOVED_KINDS], good;
};

struct removed {
	struct removed_count *row;
	size_t rows;
	bool off;		/* without -v, and when it is said */
};

/* ---- what phasewrap keeps while it runs ---- */

struct priv {
	struct body body;		/* run->body, where it is one of rows */
	struct manifest manifest;
	struct measurement measurement;
	char **file;			/* of the manifest, where no operands are given */
	struct phasewrap wrap;
	struct harmonics harmonics;
	struct removed removed;
	bool noted;			/* what only -v says, once */
	bool roles_known;		/* keys or a manifest say what each image is */
	struct fourier fourier;
	struct dropped_images dropped;
	struct step_search step_search;		/* --shift auto */
	bool finds_noise;		/* in every measurement */
	struct noise_pairs pairs;	/* --fit-noise */
};

/* ---- the loops of phasewrap_rows.c ---- */

struct phasewrap_rows {
	/* struct body's `rows`. */
	void (*wrap)(const struct run *, const struct frame *in, struct frame *out, size_t y0,
	    size_t y1, const struct row_scratch *);
	/* Row y of the markers' levels as they are, into their channels. */
	void (*copy_markers)(const struct phasewrap *, const struct frame *in, struct frame *out,
	    size_t y);
};
LEVELS_OF(phasewrap_rows)

/* ---- the loops of survey_rows.c: what looks at a whole measurement before its rows ---- */

/* The roughness of each row of a plane. */
struct roughness {
	const struct frame *in;
	size_t plane;
	double *row;
};

/* Pixels of a coarse grid, for the light of exposures. */
struct exposure_look {
	const struct phasewrap *wrap;
	const struct frame *in;
	size_t step;
};

/* One of three neighbours. */
struct noise_pixel {
	double *left;		/* what the fit leaves of each image */
	double level, amplitude;
};

/* A fringe set of one exposure, for the noise of its images. */
struct noise_set {
	const struct phasewrap *wrap;
	const struct capture_fringe *fringe;
	const struct phase_shift_fit *fit;
	float gain;		/* of the exposure's light: the limits are the longest one's */
	/* of the three neighbours: the images that count, none of which is saturated in any, their
	 * number, and the weights of their fit, mean that of N A as in the fit of all */
	bool *use;
	size_t used;
	struct phase_shift_weights *weights;
};

/* Two images of one scene, of which every step-th pixel is taken. */
struct noise_pair {
	const struct frame *first, *second;
	size_t first_plane, second_plane, step;
	double black, most;
};

struct survey_rows {
	/* Row y of a struct roughness. */
	void (*roughness)(void *roughness, size_t y);
	/* The mean of an image on the grid; saturated samples count as they are. */
	double (*exposure_level)(const struct exposure_look *, size_t plane);
	/* The light of the darker one of two exposures, in parts of the brighter one's; 0: too few
	 * pixels tell. *moved_rad: by how much the fringes of one lie off those of the other, on
	 * the mean. */
	double (*exposure_ratio)(const struct exposure_look *, size_t bright, size_t dark,
	    double *moved_rad);
	/* Variances at levels of a fringe set, of every step-th pixel with its neighbours; how
	 * many. three: room for their images. */
	size_t (*noise_of_set)(struct noise_set *, const struct frame *in, size_t step,
	    struct noise_pixel three[3], struct phase_noise_sample *);
	/* The lamp is never the same: by which factor the second image is brighter. */
	double (*pair_ratio)(const struct noise_pair *);
	/* Noise has nothing to do with that of the next pixel; what differs between two scenes, or
	 * between two steps of a fringe, has: the sums of the product of neighbours' differences,
	 * and of their squares. */
	void (*pair_neighbours)(const struct noise_pair *, double factor, double *product,
	    double *squares);
	/* Variances at levels of a pair, and how many. */
	size_t (*pair_samples)(const struct noise_pair *, double factor,
	    struct phase_noise_sample *);
};
LEVELS_OF(survey_rows)

#endif
