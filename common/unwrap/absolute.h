/* Absolute and wrapped phases: ranges, anchors, means, marker fringes. */
#pragma once

#include <limits.h>

#include "frame/meta.h"
#include "unwrap/regions.h"

/* ---- can samples be a wrapped phase, by the range that they take? ---- */

/* Do they span one turn at most, in their own unit, but for noise and rounding? */
bool wrapped_range_fits(double least, double most, double turn);
/* Do they span 0 to 1 or -1/2 to 1/2, as a phase in turns does and one in radians does not? */
bool wrapped_range_is_turns(double least, double most);

/* ---- the key phase_anchor: what made an absolute phase absolute ---- */

/* Is the absolute phase of this frame known up to whole turns only, as its anchor is neither a
 * pixel nor a reference nor a marker? Without the key it is absolute. */
bool phase_anchor_is_relative(const struct meta *);

/* ---- the weights of several absolute phases in the mean of them all (methods §5) ---- */

/*
 * weight[i] of the coordinates that n phases of scatter[i] (in radians; NULL: all alike) give:
 * 1/(T scatter)^2, their sum 1.
 */
void phase_mean_weights(const double *period_px, const double *scatter, size_t n, double *weight);

/* ---- a marker ---- */

/*
 * A marker makes components absolute: a bright stripe on black that the projector shows in an
 * image of its own, half a fringe wide at most, along the fringes. So its pixels have one phase,
 * which is known: a component of the right turns has the stripe where its phase says, of other
 * turns nowhere.
 *
 * A pixel's image of the marker is compared with its own fringes, of mean A and amplitude B: white
 * is A + B, black A - B, whatever the surface sends back and whatever other light is there.
 */

struct marker {
	const struct frame *frame;
	size_t channel;              /* the marker's image */
	size_t texture, modulation;  /* of the fringes: A + B and B/A */
	double turns, width_turns;   /* of the phase: where its middle is, and how wide it is */
};

/* Where a stage finds the image of a marker, and where the marker is: options --marker and
 * --marker-at, else the input's channel marker and its keys. */

struct marker_options {
	const char *file;  /* --marker, of type OPT_FRAME; NULL: not given */
	struct numbers at; /* --marker-at: its middle and its width; n = 0: not given */
};

/* What makes components absolute: known pixels, a reference, or a marker; the options of the stages
 * that unwrap in space. */

struct absolute_options {
	struct numbers anchor;
	const char *ref;
	struct marker_options marker;
	long min_size;
};

/* offset: of a struct absolute_options in the stage's parameters. */
#define ABSOLUTE_AT(offset, field) ((offset) + offsetof(struct absolute_options, field))
#define ABSOLUTE_OPTIONS(offset)                                                                   \
	{ 0, "anchor", "X,Y,RAD,...", OPT_NUMBERS, ABSOLUTE_AT(offset, anchor), NULL, 0, 0,        \
	    "px and rad", "the absolute phase at a pixel of each component", NULL },               \
	{ 0, "ref", "FILE", OPT_FRAME, ABSOLUTE_AT(offset, ref), NULL, 0, 0, NULL,                 \
	    "an absolute phase that each component comes nearest to", NULL },                      \
	{ 0, "marker", "FILE", OPT_FRAME, ABSOLUTE_AT(offset, marker.file), NULL, 0, 0, NULL,      \
	    "image of the marker; the channel marker if not given", NULL },                        \
	{ 0, "marker-at", "PX[,WIDTH]", OPT_NUMBERS, ABSOLUTE_AT(offset, marker.at), NULL, 0, 1e6, \
	    "projector px", "where the marker's middle is, and its width", NULL },                 \
	{ 0, "min-size", "N", OPT_INTEGER, ABSOLUTE_AT(offset, min_size), "1", 1, LONG_MAX, "px",  \
	    "components of fewer pixels become invalid", NULL }

struct absolute {
	const struct absolute_options *options;
	size_t ref; /* channel; NO_CHANNEL */
	struct marker marker;
};

/* The first of the options that is given; NULL: none is. */
const char *absolute_given(const struct absolute_options *);
/* For init: -1 after fail_usage(). */
int absolute_check(const struct absolute_options *);
/* For plan: finds the channels and sets the key phase_anchor of `out`, whose period_px and axis are
 * those of the result. period_px: of the phase that the components are of; NaN: not known. -1 after
 * fail(). */
int absolute_plan(const struct run *, const struct absolute_options *, const struct frame_head *in,
    double period_px, struct meta *out, struct absolute *);
/* Gives the components their turns and numbers, and warns of what becomes invalid. rad: of the
 * result, for one of the components' phase. -1 after fail(). */
int absolute_place(
    const struct absolute *, struct components *, const struct frame *in, double rad);
