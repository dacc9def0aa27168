/* The options of framecat, and what it keeps from frame to frame. */
#ifndef FRAMECAT_H
#define FRAMECAT_H

#include "convert.h"
#include "image/arrange.h"
#include "like.h"
#include "paint.h"
#include "run/stage.h"

struct parameters {
	const char *frames, *channels, *scale, *set, *delete, *like, *preset;
	struct numbers crop;
	long bin, quality, level;
	int as, chroma, purpose, coding;
	struct paint_options paint;
	double invalid, fill, jump, crf, fps, texture_crf;
	bool unscale, stack, split, fast, one_page, ascii, points, lossless;
};

struct priv {
	struct ranges wanted;
	struct encoding encoding;
	struct paint paint;
	bool encodes, tabulates;	/* --points makes tables, not meshes without triangles */
	bool clamped_warned, jump_checked, misspelt_warned, set_warned;
	size_t frames, emitted;		/* that came; that went on, or wait to be stacked */
	struct frame **stack;
	size_t lost, channels;		/* wanted frames; of the last frame that was split */
	struct like like;
	struct parameters written;	/* for formats: without --points where it made tables */
};

/* Are they numbers that --crop takes? -1 after fail_usage(). */
int change_check_crop(const struct numbers *);
/* All options that change pixels, in their order. Replaces *frame; after a failure, -1, *frame is
 * still the caller's. */
int change_frame(struct run *, struct frame **frame);
/* The body's `lost`: counts a frame for --frames, --like and --split; a stack lacks it, and is not
 * made without it. */
int lose_frame(struct run *, bool seen, size_t *results);
/* Takes a frame for --stack. -1 after fail(). */
int stack_keep(struct priv *, struct frame *);
/* Tables have as many points, and are not stacked with images. -1 after fail(). */
int stack_check(struct frame *const *, size_t n);
/* --delete and --set. -1 after fail(). */
int change_metadata(const struct parameters *, struct priv *, struct frame *);

#endif
