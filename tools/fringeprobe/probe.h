/* All that is found about a set of captures, and the command that decodes it. */
#ifndef PROBE_H
#define PROBE_H

#include "frequencies.h"
#include "fringe/capture_set.h"

/* shifts that leave a larger part of a turn free are found about only */
#define PROBE_GAP_MOST (190 * M_PI / 180)

enum certainty {
	SURE_CERTAIN,			/* metadata or a manifest say so */
	SURE_FOUND,			/* measured */
	SURE_GUESSED,			/* a convention */
	SURE_UNKNOWN			/* nothing tells: a placeholder */
};

extern const char *const certainty_words[];

struct word {
	char *text, *why;
	enum certainty sure;
	bool unwraps;			/* it belongs to unwrap2f */
};

/* Pixels without fringes, in the first chosen set. */
struct unlit {
	double share;			/* of all pixels */
	double least;			/* amplitude that keeps them out; 0: none is needed */
	double unlit, lit;		/* amplitude that 1 in 100 of them exceeds; that 1 in 100 of
					 * the others does not reach */
};

struct probe {
	struct images images;
	const char *manifest_path;
	struct manifest manifest;
	bool operands;			/* images are named beside the manifest */
	size_t n;
	struct image **image;		/* of one size and type */
	bool colour;			/* they are in colour: green was looked at */
	size_t measurements;		/* in all images; the first one is looked at */
	bool smooth;			/* the images are noisy: lines were smoothed */
	struct sets sets;
	struct gray gray;
	bool described;			/* images say what they are, or the manifest does */
	struct capture_set captures;	/* what they say */
	size_t chosen, set[SETS_MOST];	/* fringe sets of the command, in the order of the files */
	struct frequencies frequencies;	/* of these, where they are along one axis */
	double saturated;		/* share of lit pixels in the chosen sets' images */
	double saturation;		/* that level; INFINITY: none */
	bool max_value;			/* it is less than the type's */
	struct unlit unlit;
	struct word *word;
	size_t words;
	char **problem;
	size_t problems;
	char *line;			/* the command */
};

/* Finds out all of it. -1 after fail(), also where the images show no fringes. Free with
 * probe_free(), also then. */
int probe_find(struct run *, const char *manifest, struct probe *);
void probe_free(struct probe *);
/* Records what is wrong with the images. -1 after fail(). */
int probe_problem(struct probe *, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *probe_name(const struct probe *, size_t image);

/* Measures probe->unlit. -1 after fail(). */
int unlit_find(struct probe *);

/* Makes the words and the line. -1 after fail(). */
int command_make(struct probe *);
/* Adds a word to the command. -1 after fail(). */
int command_word(struct probe *, enum certainty, const char *why, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* A reason in which numbers stand, for command_word(): text. */
const char *command_reason(char text[300], const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The file operands, and --order where they hold several images each. -1 after fail(). */
int operands_write(struct probe *, FILE *);
/* A word as a shell takes it. */
void operands_put_quoted(FILE *, const char *word);

/* Do the images say what they are? Then those that do not are left out, as are all behind the first
 * measurement. -1 after fail(). */
int described_choose(struct probe *);
/* Looks at whether images are what they say. -1 after fail(). */
int described_check(struct probe *);

void report_text(const struct probe *, FILE *);
void report_json(const struct probe *, FILE *);

#endif
