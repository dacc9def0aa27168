/* Which image of a captured set shows which pattern. */
#pragma once

#include <limits.h>

#include "fringe/manifest.h"

/* What a channel is by its name, as frame(5) lists them; numbers behind the name do not count. */

/* Is a name one of a list that ends with NULL, with a number behind it or without? */
bool channel_is_named(const char *name, const char *const *list);
/* A phase, an index, a place, a direction: values that are neither good nor bad. */
bool channel_is_position(const char *name);
/* Errors: the less the better. */
bool channel_is_error(const char *name);
/* Neither a wrapped phase nor, as an image may be, one in other units. */
bool channel_is_no_phase(const char *name);

/*
 * What each plane of a measurement is: fringe images by period and step, Gray planes by bit, flat
 * images. A manifest describes them, else their own metadata (in whatever order they come), else
 * the options together with the order in which they come (methods §1).
 */

enum capture_kind {
	CAPTURES_ALL,
	CAPTURES_STEP,
	CAPTURES_TWO_PLUS_ONE,
	CAPTURES_GRAY,
	CAPTURES_DOUBLE,	/* two sets of three steps, 60 degrees apart */
	CAPTURES_FOURIER	/* one image of each period, and flats */
};
enum capture_flat { FLAT_DESCRIBED = -1, FLAT_1, FLAT_2, FLAT_3, FLAT_AUTO };

/* The options of the command line; they win over manifest and metadata. */
struct capture_options {
	int kind;
	long steps;			/* LONG_MIN: not given */
	struct numbers period_px;	/* n = 0: not given */
	struct numbers shift_rad;	/* n = 0: not given */
	double shift_slack_rad;		/* so far they correct the images' own shifts */
	const char *axis;		/* x, y or one letter per period, with commas, or NULL */
	const char *order;		/* NULL: not given */
	struct numbers gray;		/* planes per axis; n = 0: none */
	bool inverse;
	int gray_cell;			/* -1: not given */
	long flats;			/* trailing flat images; LONG_MIN: not given */
	int flat;			/* enum capture_flat */
	size_t operands;		/* files that are given; 0: not known */
	bool rgb;			/* the three planes of a colour image are three steps */
};

/* The fringe images of one period along one axis. */
struct capture_fringe {
	char axis;			/* x or y */
	double period_px;		/* NaN: not known */
	bool two_plus_one;		/* planes are sin, cos, flat; shift_rad[2] has no meaning */
	size_t n;
	size_t left_out;		/* later steps, which CAPTURES_FOURIER does not take */
	size_t *plane;
	double *shift_rad;		/* I = A + B cos(phase + shift) */
};

/* The Gray code along one axis. */
struct capture_code {
	char axis;
	size_t n;
	size_t *plane;			/* most significant first */
	size_t *inverse;		/* of each, or NULL */
	double period_px;		/* that its cells are made of; NaN: not known, or columns */
};

struct capture_set {
	size_t fringes;
	struct capture_fringe *fringe;
	size_t codes;
	struct capture_code code[2];
	enum manifest_cell cell;	/* what the code counts; CELL_NONE: not known */
	size_t markers;			/* where there are fringes; of axis x before y */
	struct capture_marker {
		size_t plane;
		char axis;
		double px, width_px;	/* of a stripe: projector column (row) of its centre; NaN */
	} marker[2];
	size_t flats;			/* 0; 1: at half level; 2: white, black */
	size_t flat[2];
};

/* The name of a fringe set in messages: "the period 60 px". */
#define CAPTURE_SET_NAME_SIZE 64
const char *capture_set_name(const struct capture_fringe *, char text[CAPTURE_SET_NAME_SIZE]);
/* Checks the options alone, before any image is read. -1 after fail_usage(). */
int capture_set_check(const struct capture_options *);
/* Counts the planes of one measurement from the head of the first frame; manifest may be NULL.
 * -1 after fail(). */
int capture_set_count(const struct capture_options *, const struct manifest *,
    const struct frame_head *, size_t *planes);
/* Sorts the planes of one measurement. Overwrites *out; the caller frees it with capture_set_free,
 * also after a failure. -1 after fail(). */
int capture_set_sort(const struct capture_options *, const struct manifest *,
    const struct frame_head *, struct capture_set *out);
/* Checks the operands' names against the order in which images without description are taken (phase
 * before Gray code, without --order). -1 after fail_usage() that names the option to give. */
int capture_set_check_names(const struct capture_options *, const struct manifest *,
    const struct frame_head *, char *const *operand, size_t operands);
/*
 * Turns the head of a measurement into the head of its result: for every fringe set the channels
 * `forms` ("phase" or "cos sin", numbered if there are several sets), then once `qualities`
 * ("modulation texture") if there is a set; then `marker` for every marker, then an index for every
 * code. Sets period_px axis steps gray_cell gray_planes gray_period_px marker_axis marker_px
 * marker_width_px,
 * removes the keys that describe single images. -1 after fail().
 */
int capture_set_describe(const struct capture_set *, const char *forms, const char *qualities,
    struct frame_head *);
void capture_set_free(struct capture_set *);

/* ---- the description of each plane, before capture_set_sort() sorts it ---- */

/* One plane and its description. */
struct capture {
	struct manifest_row described;	/* file: of a manifest's row, else NULL */
	size_t set;			/* fringe images of one set have the same number */
};

static inline bool
capture_roles_given(long option)
{
	return option != LONG_MIN;
}

/* Describes all head->c planes by the manifest (may be NULL), the metadata or the options. -1 after
 * fail(). */
int capture_roles_describe(const struct capture_options *, const struct manifest *,
    const struct frame_head *, struct capture *);

/* Letter i of a list of axes x,y,..., or the only one; 0 where there is none. */
char capture_roles_axis(const char *list, size_t i);
