/* What a file format provides: struct codec, and how a file finds its codec. */
#pragma once

#include <stdio.h>
#include <sys/types.h>

#include "base/opt.h"
#include "frame/frame.h"
#include "io/whole_file.h"

/*
 * Formats of image files. common/codec/ has a file or a folder per format, which defines
 * `const struct codec codec_NAME`; the build makes the table of them, so adding one edits no file.
 *
 * Every function returns -1 after fail(path, ...).
 */

/*
 * Options for writing, as a tool has them: its option table and the values. Each codec takes the
 * options that its own table names (quality, jump, ...); the others are the tool's, or those of
 * other codecs. All NULL: every codec uses its defaults. See run_save_options().
 */
struct save_options {
	const struct opt *table;
	const void *values;		/* must live as long as the target */
};

#define SNIFF_MAX 512		/* bytes that formats look at */

/* The start of a pipe, read to recognise the format. */
struct pipe_start {
	int fd;
	size_t n;
	unsigned char byte[SNIFF_MAX];
};

struct loader {			/* a file being read */
	FILE *file;		/* at the start of the file; seekable if the codec says so */
	const char *path;	/* for messages; "standard input" on a pipe */
	size_t frames;		/* frames delivered so far */
	void *state;		/* the codec's own */
	struct shared_receiver *receiver;	/* of a pipe whose writer may share frames */
	/* A pipe that the codec reads as it comes: `file` has no buffer, and gives this start
	 * first. NULL: `file` is no such pipe. */
	const struct pipe_start *pipe;
	const char *raw;	/* of --raw, for samples without a head; NULL: the file has one */
	size_t behind;		/* bytes of the image's file that `file` does not have */
};

struct saver {			/* a file being written */
	FILE *file;		/* opened for reading and writing, empty, seekable */
	const char *path;	/* the final name, for messages */
	const void *options;	/* the codec's own, option_size bytes; NULL if it has none */
	size_t frames;		/* frames written so far */
	void *state;		/* the codec's own */
};

struct codec {
	const char *name;
	const char *suffixes;	/* blank-separated, lower case, without dot */
	bool seeks;		/* reading needs a seekable file: standard input is spooled */
	/* Pipes that start so are read as they come, though `seeks`. NULL: none are. */
	bool (*streams)(const unsigned char *start, size_t n);
	bool many;		/* several frames fit into one file */
	bool follows;		/* one does, as a rule; but more may follow its end */
	bool concatenates;	/* reading: frames follow one another until the file ends */
	bool tables;		/* it holds tables (frame(5)): in a folder of images it is none */
	bool by_suffix;		/* a file whose start tells no format has this one by its suffix */
	/* Does a file that starts with these n bytes (up to 512) have this format? */
	bool (*sniff)(const unsigned char *start, size_t n);
	/* The next frame: 1 and *out, 0 when there is none left. NULL: the format is only written.
	 * Called again after 1 only if `many`, `follows` or `concatenates`. */
	int (*load)(struct loader *, struct frame **out);
	void (*load_end)(struct loader *);	/* frees state; may be NULL */
	/* The one frame of a file, in few calls of the system: 1 and *out. 0, with nothing
	 * recorded, where the file is not so simple, or bad: then load() reads it. NULL: it always
	 * does. */
	int (*load_whole)(const struct whole_file *, struct frame **out);
	/* It reads samples without a head: can it read those of these words of --raw? 0, or -1
	 * after fail_usage(). NULL: it reads none. */
	int (*raw_check)(const char *words);
	/* Options for writing, ended by a row without name, and the size of their struct; NULL:
	 * there are none. A tool that offers one has a row of the same name and type, with the
	 * help and the unit. */
	const struct opt *options;
	size_t option_size;
	int (*check_save)(const char *path);	/* can it be written here and now? may be NULL */
	int (*save)(struct saver *, const struct frame *);
	bool large_writes;	/* it writes few, large pieces: the file has no buffer */
	int (*save_end)(struct saver *);	/* completes the file, frees state; may be NULL */
};

/* All formats, ended by NULL; made by the build. */
extern const struct codec *const codecs[];

/* The codec that reads what --raw says. */
const struct codec *codec_of_raw(void);
/* The codec for a file name's suffix; NULL if there is none (nothing recorded). */
const struct codec *codec_by_suffix(const char *path);
/* Likewise, of a list of codecs ended by NULL. */
const struct codec *codec_of_list(const struct codec *const *list, const char *path);

/*
 * The options of a codec, for a saver: its defaults, changed by the tool's values (NULL: none).
 * NULL if it has no options.
 */
void *codec_options_new(const struct codec *, const struct save_options *);
void codec_options_free(const struct codec *, void *options);

/* "channels:=...", "key:=value" lines of a head as one new string, for PNG text, TIFF
 * ImageDescription and JPEG COM. */
char *head_to_text(const struct frame_head *);
/* Writes such lines, each after `prefix` and a blank, but for those of `most` bytes and more.
 * table: also without those that head_line_is_of_table() names. */
void head_put_comments(FILE *, const char *prefix, const struct frame_head *, size_t most,
    bool table);
/* Is it such a line that a table tells otherwise: channels or points? */
bool head_line_is_of_table(const char *line);
/* Takes such lines back into a head (channel names only if their number agrees); other text is
 * left alone. Returns 0, -1 after fail(). */
int head_from_text(struct frame_head *, const char *text, size_t length);

/* ---- recognising the format of a file by its first bytes ---- */

/* The format of a file that starts with these n bytes; NULL if none is known. `also`: the caller's
 * own formats (ended by NULL), which come after those of images; NULL if it has none. */
const struct codec *sniff_codec(const struct codec *const *also, const unsigned char *start,
    size_t n);
/* The first bytes of a file from `here` on, up to `most`: their number, less where the file ends;
 * -1 with errno. */
ssize_t sniff_read(int fd, void *start, size_t most, off_t here);
/* fail() for a file that starts with these n bytes; returns -1. */
int sniff_fail(const char *path, const unsigned char *start, size_t n);
