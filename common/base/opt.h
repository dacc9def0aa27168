/*
 * Option tables: one row per option. From the row come parsing (getopt_long), range errors, --help,
 * the usage line and the completion words; the man page is checked against it.
 */
#pragma once

#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/numbers.h"

enum opt_type {
	OPT_FLAG,    /* bool; given alone sets true */
	OPT_INTEGER, /* long; LONG_MIN when there is no default and it was not given */
	OPT_NUMBER,  /* double; NaN when there is no default and it was not given */
	OPT_ANGLE,   /* double, degrees on the command line, kept in radians; NaN likewise */
	OPT_NUMBERS, /* struct numbers, comma-separated; n = 0 likewise */
	OPT_ANGLES,  /* struct numbers, degrees on the command line, kept in radians */
	OPT_WORD,    /* int, index into words; -1 likewise */
	OPT_TEXT,    /* const char *; NULL likewise */
	OPT_FILE,    /* const char *, a path; NULL likewise */
	OPT_TEXTS,   /* struct opt_list; the option may be given several times */
	OPT_FILES,   /* struct opt_list, paths; the option may be given several times */
	/* Files that the runner reads in step with the input (run.h): */
	OPT_FRAME,   /* const char *, one image for all frames, or as many as the input has */
	OPT_STREAM,  /* const char *, as many frames as the input has, of their own size and type */
	OPT_PICTURE, /* const char *, one for all frames or as many, of their own size and type */
	OPT_STREAMS, /* struct opt_list, the same; the option may be given several times */
	OPT_SIZE,    /* struct opt_size, WxH; 0 x 0 likewise */
	/* No value, but an old spelling of what another stage does now, which --help and completion
	 * do not show. Given with the value `standard` (NULL: alone, or with any), all words of the
	 * stage are those of the stage that `help` names; with another value it is refused. That
	 * stage's own table has the row too, where it has no effect. A standard of "" always
	 * refuses: the option is for the stage that `help` names. */
	OPT_STAGE
};

/* The values of an option that may be given several times. */
struct opt_list {
	char **v;
	size_t n;
};

struct opt_size {
	size_t w, h;
};

#define OPT_NONE_INTEGER LONG_MIN

struct opt {
	char letter;			/* 0: none */
	const char *name;		/* NULL ends the table */
	const char *value; /* what the help calls the value: PX, FILE, ... ; NULL for a flag. Of a
			    * list with commas it says how many numbers: X,Y; N[,N]; PX,... (any).
			    * [=WORD] of an OPT_WORD: without a value it is the first word */
	enum opt_type type;
	size_t offset;			/* in the stage's parameter struct */
	const char *standard;		/* the default as text; NULL: none */
	double min, max; /* allowed range, of every element of a list, in command-line units;
			  * both 0: any number */
	const char *unit;		/* px, rad, mm, grey levels, ...; NULL: none */
	const char *help;		/* one line, no full stop */
	const char *const *words; /* OPT_WORD: the values, ended by NULL; OPT_FRAME: words that name
				   * no file but an input that the stage computes (ideal);
				   * OPT_NUMBERS, OPT_ANGLES: a word in the place of the list, kept
				   * as a single NaN */
};

/* The row of a flag, which is not set by default; AT() is the offset of a field. */
#define FLAG_ROW(letter, name, field, help) \
	{ letter, name, NULL, OPT_FLAG, AT(field), NULL, 0, 0, NULL, help, NULL }

/* Fills parameters with the defaults. The table's own defaults must be valid. */
void opt_defaults(const struct opt *table, void *parameters);
void opt_free(const struct opt *table, void *parameters);
/*
 * Copies the values that rows of `from` have into rows of table of the same name and type. Ranges
 * are those of `from`; words are matched by their text.
 */
void opt_copy(const struct opt *table, void *parameters, const struct opt *from,
    const void *from_parameters);

/*
 * Parses argv[1..argc-1] with `table` (into parameters) and `common` (into common_parameters);
 * either may be NULL. Operands are moved behind the options, except without `table`, when parsing
 * stops at the first; *first_operand is its index. The last occurrence of an option wins. -1 after
 * fail_usage().
 */
int opt_parse(const struct opt *table, void *parameters, const struct opt *common,
    void *common_parameters, int argc, char **argv, int *first_operand);

/* The row of type OPT_STAGE by which argv[1..argc-1] are another stage's words; NULL: they are the
 * table's own. */
const struct opt *opt_find_stage(const struct opt *table, const struct opt *common, int argc,
    char *const *argv);

/* --help: usage line, summary, options with defaults, units and ranges. usual, usual_common: names
 * of the rows to print, with blanks between them; NULL: all. */
void opt_print_help(FILE *, const char *program, const char *operands, const char *summary,
    const struct opt *table, const char *usual, const struct opt *common,
    const char *usual_common);
/* Every option word, one a line, for shell completion (scripts/completion) and for the test that
 * reads man pages: -LETTER before its --NAME, then --NAME=WORD for each word, --NAME=@ where a file
 * can stand, --NAME=? for any other value. */
void opt_print_words(FILE *, const struct opt *table, const struct opt *common);

/* given[i]: does row i differ from its default? */
void opt_given(const struct opt *table, const void *parameters, bool *given);
/*
 * The options that differ from their defaults, as " --name=value ..." appended to a new string that
 * starts with `program`; files by base name, texts as escape_put_word() writes them.
 */
char *opt_command(const char *program, const struct opt *table, const void *parameters);

/* Rows of a table; NULL is a table without rows. */
static inline size_t
opt_count(const struct opt *table)
{
	size_t n = 0;

	while (table && table[n].name)
		n++;
	return n;
}

/* The row of a name, or, where that is NULL, of a letter; NULL: there is none. */
const struct opt *opt_row(const struct opt *table, int letter, const char *name);

/*
 * What the n bytes of word may have been meant to be: " (is it --A or --B?)" with the words of a
 * list, ended by NULL, that begin with them, else those that few changed letters make of it; "" if
 * there is none. mark ("--" or "") stands before each. Returns text.
 */
const char *opt_suggest_word(const char *word, size_t n, const char *mark, const char *const *words,
    char *text, size_t size);

/* Letters to insert, to leave out or to change, or neighbours to exchange, until the n bytes of a
 * are b. */
size_t opt_suggest_distance(const char *a, size_t n, const char *b);
