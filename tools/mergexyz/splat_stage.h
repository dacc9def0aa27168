/* mergexyz --splat: its options and its body. */
#ifndef SPLAT_STAGE_H
#define SPLAT_STAGE_H

#include "run/stage.h"
#include "splat.h"
#include "splat_sets.h"

enum splat_onto { SPLAT_ORTHO, SPLAT_PROJECTOR };
enum splat_weight { SPLAT_BY_SIGMA, SPLAT_BY_MODULATION, SPLAT_ALIKE };

struct splat_options {
	struct opt_size size;
	int onto, weight;
	const char *calib, *frame;
	double pixel_mm, jump, late_s;
	struct numbers center;
};

extern const char *const splat_onto_words[], *const splat_weight_words[];

/* clang-format off */
#define SPLAT_OPTIONS(type, member) \
	{ 0, "splat", "WxH", OPT_SIZE, offsetof(type, member.size), NULL, 0, 0, NULL, \
	  "one ordered frame of all views, so many cells, in a projector's frame", NULL }, \
	{ 0, "onto", "WORD", OPT_WORD, offsetof(type, member.onto), NULL, 0, 0, NULL, \
	  "cells of equal size, or the projector's picture", splat_onto_words }, \
	{ 0, "calib", "FILE", OPT_FILE, offsetof(type, member.calib), NULL, 0, 0, NULL, \
	  "the projector's calibration", NULL }, \
	{ 0, "frame", "NAME", OPT_TEXT, offsetof(type, member.frame), NULL, 0, 0, NULL, \
	  "the points' coordinates are those of the calibration's device of that name", NULL }, \
	{ 0, "pixel", "MM", OPT_NUMBER, offsetof(type, member.pixel_mm), NULL, 1e-9, 1e9, "mm", \
	  "side of a cell of --onto ortho; such that all points fit if not given", NULL }, \
	{ 0, "center", "X,Y", OPT_NUMBERS, offsetof(type, member.center), NULL, 0, 0, "mm", \
	  "its middle in the projector's frame; that of the points if not given", NULL }, \
	{ 0, "weight", "WORD", OPT_WORD, offsetof(type, member.weight), NULL, 0, 0, NULL, \
	  "of a point: what all views have, the first of these, if not given", \
	  splat_weight_words }, \
	{ 0, "jump", "MM", OPT_NUMBER, offsetof(type, member.jump), NULL, 1e-9, 1e9, "mm", \
	  "surfaces farther apart are two, and the nearer counts; 10 cells if not given", NULL }, \
	{ 0, "late", "S", OPT_NUMBER, offsetof(type, member.late_s), "0.005", 0, 1e9, "s", \
	  "frames whose times differ by more are not of one set", NULL }
/* clang-format on */

/* What the stage keeps. */
struct splat_stage {
	const struct splat_options *options;
	struct splat splat;
	struct splat_sets sets;
	struct pinhole projector;
	double projector_px[2];		/* its picture; 0: not known */
	char unit[16];
	bool posed;			/* poses are given */
	bool placed;			/* the grid and the jump are chosen */
	double (*eye)[3];		/* of each view, in its points' frame; NULL: not yet */
};

/* Does anything of the options ask for a splat? -1 after fail_usage() where they do not go
 * together. */
int splat_stage_wanted(const struct splat_options *);
/* Reads the calibration. -1 after fail(). */
int splat_stage_open(struct splat_stage *, const struct splat_options *, size_t views);
void splat_stage_close(struct splat_stage *);
/* A step's frame of each view, which it then owns, and the poses that take them to the world. Hands
 * on what sets there are. -1 after fail(). */
int splat_stage_step(struct splat_stage *, struct run *, struct frame **view,
    const struct pose *pose);
/* The streams have ended. -1 after fail() where no set was complete. */
int splat_stage_end(struct splat_stage *);

#endif
