/*
 * What the files of phasewrap share: its options, what is planned for a measurement, and the loops
 * over pixels (struct phasewrap_rows, at the end).
 */
#pragma once

#include "base/numbers.h"
#include "fringe/measurement.h"
#include "fringe/phase_noise.h"
#include "fringe/phase_steps.h"
#include "fringe/step_search.h"
#include "image/statistics.h"
#include "run/stage.h"
#include "phasewrap.block.h"

/* ---- options ---- */

enum as { AS_PHASE, AS_VECTOR };
enum texture_from { TEXTURE_MAX, TEXTURE_MEAN, TEXTURE_FLAT };

/* What becomes of a pixel that is saturated in some of its images. */
enum saturated { SATURATED_INVALID, SATURATED_SOLVE };

struct exposure_options {
	long n;			/* of exposures; 1: as captures usually are */
	int order;		/* enum exposure_order; -1: not given */
	struct numbers time_s;	/* of each, in their order; n = 0: not given */
	bool map;		/* channel `exposure` */
	int saturated;		/* enum saturated */
};

struct parameters {
	struct measurement_options measurement;
	const char *harmonics;
	int as, texture_from;	/* -1: not given */
	struct numbers light;
	bool fit_residual, edges;
	double max_fit_residual;	/* NaN: not given */
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

/* ---- what is planned for a measurement (phase_plan.c) ---- */

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
	uint crest;		/* 1: texture is A + B; 0: A, which of 2+1 is the flat image */
	struct exposures exposures;	/* all of them; `captures` is the first */
	bool warned_ratio;		/* of their light, once in a run */
	bool fits, writes_fit;	/* the misfit is computed; it is a channel */
	struct measurement_limits limits;
	/* codes alone, with inverses, which tell which pixels are lit; the limits hold for them,
	 * there being no white and black; edges come out */
	bool code_alone, judges_codes, edges;
	float least_code_variance;	/* of a plane less its inverse: what rounding alone makes */
	float most_misfit;		/* of valid pixels */
	/* of each fringe set, then the levels of each (harmonics_correct()); NULL: none */
	float *correction;
	/* of each fringe set, along x then y; NULL: the same all over the picture */
	float *correction_slopes;
	bool sigmas;		/* channels after fit_residual: the phases' standard deviations */
	struct phase_noise_model noise;
	size_t noise_distance;	/* pixels: over which it was found */
	double noise_window_px;	/* key sigma_window_px: neighbours share it; 0: they do not */
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

/* Sorts the planes of a measurement and solves the fits of its fringes: wrap->captures, fit,
 * exposures and halves. -1 after fail(). */
int phasewrap_sort(struct measurement *, const struct parameters *, const struct frame_head *in,
    struct phasewrap *);
/* Sets the thresholds of Gray planes, the limits and the light of a sorted measurement, and the
 * run's scratch memory. -1 after fail(). */
int phasewrap_limit(struct run *, const struct frame_head *in, struct phasewrap *);
/* Lays out the channels of a frame, names them and sets its keys: phases, what stands between them
 * and the indices, indices; and what the texture is (enum texture_from). -1 after fail(). */
int phasewrap_describe(struct phasewrap *, int texture_from, struct frame_head *out);
/* Frees all that is planned. */
void phasewrap_forget(struct phasewrap *);
/*
 * Finds the flat one of the three images of a 2+1 set (methods §2; Zhang 2006 eq 11): the plane
 * with the least sum |dI/dx| + sum |dI/dy| (the last of equal ones). Turns the three plane numbers
 * round until it stands last: their cyclic order stays. NaN takes no part.
 */
void flatness_turn(struct run *, const struct frame *, size_t plane[3]);

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

/* -1 after fail(path, ...). Free out->row, also after a failure. */
int harmonics_load(const char *path, struct harmonics *out);
/* Refuses images whose keys say that their phase is corrected already, or that other patterns were
 * projected than those that the harmonics are of; of harmonics that change over the picture images
 * of another size. -1 after fail(). */
int harmonics_check(const struct harmonics *, const struct frame_head *);
/* The corrections of all fringe sets of a measurement, if harmonics were read; sigmas: with the
 * levels that standard deviations need. -1 after fail(). */
int harmonics_correct(const struct harmonics *, struct phasewrap *, bool sigmas);

/* ---- the camera's noise (noise.c) ---- */

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
	struct body body;		/* run->body */
	struct measurement measurement;
	struct phasewrap wrap;
	struct harmonics harmonics;
	struct removed removed;
	bool noted;			/* what only -v says, once */
	struct step_search step_search;		/* --shift auto */
	bool finds_noise;		/* in every measurement */
};

/* ---- the loops of phasewrap_rows.c ---- */

/* The roughness of each row of a plane. */
struct rough_rows {
	const struct frame *in;
	size_t plane;
	double *row;
};

struct phasewrap_rows {
	/* struct body's `rows`. */
	body_rows *wrap;
	/* Row y of a struct rough_rows, for run_for(). */
	void (*roughness)(void *rough_rows, size_t y);
};
LEVELS_OF(phasewrap_rows)
