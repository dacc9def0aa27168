/*
 * Sets of several exposures: a measurement whose images were all taken K times, with as many
 * exposure times. Each exposure is sorted like a measurement of its own; all must be the same
 * images. exposure_fit.h makes one phase of them.
 */
#ifndef EXPOSURES_H
#define EXPOSURES_H

#include "fringe/capture_set.h"

#define EXPOSURES_MOST 8

enum exposure_order { EXPOSURE_ORDER_SET, EXPOSURE_ORDER_STEP };

/* What becomes of a pixel that is saturated in some of its images. */
enum saturated { SATURATED_INVALID, SATURATED_SOLVE };

struct exposure_options {
	long n;			/* of exposures; 1: as captures usually are */
	int order;		/* enum exposure_order; -1: not given */
	struct numbers time_s;	/* of each, in their order; n = 0: not given */
	bool map;		/* channel `exposure` */
	int saturated;		/* enum saturated */
};

struct exposures {
	size_t n;		/* 1: usual; 0 before anything is planned */
	struct capture_set set[EXPOSURES_MOST];	/* from the second on; the first is the caller's */
	float gain[EXPOSURES_MOST];	/* of the light, that of the longest exposure is 1 */
	size_t shortest;
	bool timed;		/* the times are known: the gains are not found in the images */
	bool described;		/* each image says what it is: their order does not matter */
	bool solves;		/* saturated pixels, from their other images */
	bool map;
};

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
/* Exposure number e of a measurement whose first is `first`. */
static inline const struct capture_set *
exposures_get(const struct exposures *exposures, const struct capture_set *first, size_t e)
{
	return e ? &exposures->set[e] : first;
}
/* Sets the gains by the light of each exposure, in any unit. */
void exposures_set_gains(struct exposures *, const double *light);
void exposures_free(struct exposures *);

#endif
