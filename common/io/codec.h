/*
 * Image files. One file per format in common/codec/, each defining `const struct codec codec_NAME`;
 * the table is made by the build from what lies there, so adding a format edits no file.
 *
 * Every function returns -1 after fail(path, ...).
 */
#ifndef CODEC_H
#define CODEC_H

#include <stdio.h>

#include "frame/frame.h"

/* Resolution of colour in a JPEG: full, halved along rows, halved both ways. */
enum chroma { CHROMA_444, CHROMA_422, CHROMA_420 };

/* How frames are written; a stage that has such options (framecat) fills it, see
 * run_save_options(). */
struct save_options {
	int quality;		/* JPEG quality 1..100; 0: the format's default (95) */
	enum chroma chroma;	/* of a JPEG of three channels */
	bool fast;		/* less compression, more speed */
	bool ascii;		/* text instead of binary, where the format has both */
	double
	    jump; /* meshes: no triangle across a larger step in z, in units of z; 0: automatic */
	bool points;		/* meshes: points only, no faces */
};

struct loader {			/* a file being read */
	FILE *file;		/* at the start of the file; seekable if the codec says so */
	const char *path;	/* for messages; "standard input" on a pipe */
	size_t frames;		/* frames delivered so far */
	void *state;		/* the codec's own */
	struct shared_receiver *inlet;	/* of a pipe whose writer may hand frames over (handover.h) */
};

struct saver {			/* a file being written */
	FILE *file;		/* opened for reading and writing, empty, seekable */
	const char *path;	/* the final name, for messages */
	const struct save_options *options;
	size_t frames;		/* frames written so far */
	void *state;		/* the codec's own */
};

struct codec {
	const char *name;
	const char *suffixes;	/* blank-separated, lower case, without dot */
	bool seeks;		/* reading needs a seekable file: standard input is spooled */
	bool many;		/* several frames fit into one file */
	bool concatenates;	/* reading: frames follow one another until the file ends */
	/* Does a file that starts with these n bytes (up to 512) have this format? */
	bool (*sniff)(const unsigned char *start, size_t n);
	/* The next frame: 1 and *out, 0 when there is none left. NULL: the format is only written.
	 * Called again after 1 only if `many` or `concatenates`. */
	int (*load)(struct loader *, struct frame **out);
	void (*load_end)(struct loader *);	/* frees state; may be NULL */
	/* NULL: the format is only read. */
	int (*save)(struct saver *, const struct frame *);
	int (*save_end)(struct saver *);	/* completes the file, frees state; may be NULL */
};

/* All formats, ended by NULL; made by the build. */
extern const struct codec *const codecs[];

/* The codec for a file name's suffix; NULL if there is none (nothing recorded). */
const struct codec *codec_by_suffix(const char *path);
/* Likewise, of a list of codecs ended by NULL. */
const struct codec *codec_of_list(const struct codec *const *list, const char *path);

/* ---- reading: any known format, recognised by its first bytes ---- */

struct source;

/* path "-" is standard input. NULL after fail(). */
struct source *source_open(const char *path);
/* The next frame: 1, 0 at the end, -1 after fail(). */
int source_next(struct source *, struct frame **out);
void source_close(struct source *);
/*
 * As source_open() for a stage that reads files of other kinds by itself: `also` (ended by NULL)
 * are their formats, without load, known by sniff or else by suffix. source_other() says which one
 * path is, and gives the file at its start, maybe a pipe; NULL if it is an image.
 */
struct source *source_open_also(const char *path, const struct codec *const *also);
FILE *source_other(const struct source *, const struct codec **which);
/* The files that a path stands for: itself, or a folder's images in natural order. The list and its
 * names are the caller's to free. */
int source_files(const char *path, char ***files, size_t *n);
/* The only frame of a file; fails if it holds none; further frames are left alone. */
int source_load(const char *path, struct frame **out);

/* ---- writing: the format is chosen by the suffix ---- */

struct target;

/*
 * path: a file name, maybe with one %d, %04d, ... that numbers the frames (from 0), or a folder
 * (ending in /, or existing): frames go into it under their `name` key, else numbered, as PNG
 * (uchar, ushort) or TIFF (float). NULL path or "-": the stream on standard output.
 * Files appear under their final name only when complete. options may be NULL.
 */
struct target *target_open(const char *path, bool force, const struct save_options *options);
/* What can be told of such a path before there is a frame; touches nothing. 0 or -1 after fail().
 */
int target_check(const char *path, bool force);
int target_put(struct target *, const struct frame *);
/* Completes (keep = true) or removes what is unfinished; frees. 0 or -1 after fail(). */
int target_close(struct target *, bool keep);
/*
 * The file that frame `number` (from 0) of a target goes into, whatever numbers and folders do to
 * its name; for lists of what was written. The frames' `name` keys must differ. A new string, NULL
 * after fail().
 */
char *target_file_name(const char *path, size_t number, const struct frame_head *);
/* One frame into one file. */
int target_save(const char *path, const struct frame *, const struct save_options *options);

/*
 * A text or other file of a tool's own under the same rule: opens a temporary file beside path;
 * target_file_close renames it (keep) or removes it. So does a signal that ends the process.
 */
FILE *target_file_open(const char *path, char **temporary);
int target_file_close(FILE *, const char *path, char *temporary, bool keep);

/* ---- what codecs share ---- */

/* "channels:=...", "key:=value" lines of a head as one new string, for PNG text, TIFF
 * ImageDescription and JPEG COM; NULL after fail(). */
char *head_to_text(const struct frame_head *);
/* Takes such lines back into a head (channel names only if their number agrees); other text is
 * left alone. Returns 0, -1 after fail(). */
int head_from_text(struct frame_head *, const char *text, size_t length);

#endif
