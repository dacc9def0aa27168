/* Writing frames into files, a folder or standard output; the suffix chooses the format. */
#pragma once

#include "io/codec.h"

struct target;

/*
 * path: a file name, maybe with one %d, %04d, ... that numbers the frames (from 0), or a folder
 * (ending in /, or existing): frames go into it under their `name` key, else numbered, as PNG
 * (uchar, ushort) or TIFF (float). NULL path or "-": the stream on standard output.
 * Files appear under their final name only when complete. options may be NULL.
 */
struct target *target_open(const char *path, bool force, const struct save_options *options);
/* Replaces the options at hand. -1 after fail(): some of them would be without effect. */
int save_options_set(struct save_options *at, struct save_options);
/* Checks such a path before there is a frame; touches nothing. 0 or -1 after fail(). */
int target_check(const char *path, bool force);
/* Does writing wait for others: a pipe's reader, the disk, an encoder's process? Not where a file
 * is left to the kernel. */
bool target_waits(const struct target *);
int target_put(struct target *, const struct frame *);
/* Leaves out the next n numbers. */
void target_skip(struct target *, size_t n);
/* Completes (keep = true) or removes what is unfinished; frees. 0 or -1 after fail(). */
int target_close(struct target *, bool keep);
/*
 * The file that frame `number` (from 0) of a target goes into, for lists of what was written. The
 * frames' `name` keys must differ. A new string, NULL after fail().
 */
char *target_file_name(const char *path, size_t number, const struct frame_head *);

/* What the steps of quantisation of a JPEG file are chosen for: the option --jpeg-for of the codec
 * and of the tools that write such files. */
enum jpeg_purpose {
	JPEG_FOR_EYES,		/* YCbCr, by the tables of ITU-T T.81, Annex K */
	JPEG_FOR_FRINGES,	/* RGB, by steps that leave the angle of two channels exact */
};

/* Their words, ended by NULL. */
extern const char *const jpeg_purposes[];
