/*
 * Formats of image files. common/codec/ has a file or a folder per format, which defines
 * `const struct codec codec_NAME`; the build makes the table of them, so adding one edits no file.
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
	struct shared_receiver *receiver;	/* of a pipe whose writer may share frames */
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

/* ---- what codecs share ---- */

/* "channels:=...", "key:=value" lines of a head as one new string, for PNG text, TIFF
 * ImageDescription and JPEG COM; NULL after fail(). */
char *head_to_text(const struct frame_head *);
/* Takes such lines back into a head (channel names only if their number agrees); other text is
 * left alone. Returns 0, -1 after fail(). */
int head_from_text(struct frame_head *, const char *text, size_t length);

#endif
