/* What an option or a word that is not there may have been meant to be. */
#ifndef OPT_SUGGEST_H
#define OPT_SUGGEST_H

#include <getopt.h>
#include <stddef.h>

/*
 * For a word "--NAME" or "--NAME=VALUE": " (is it --A or --B?)" with the options of which it is the
 * beginning, else those that few changed letters make of it; "" where there is none. The list of
 * options ends with a row without name. Returns text.
 */
const char *opt_suggest(const char *word, const struct option *option, char *text, size_t size);

/*
 * The same for the n bytes of word and any list of words that NULL ends; mark stands before each
 * that is suggested ("--" or ""). Returns text.
 */
const char *opt_suggest_word(const char *word, size_t n, const char *mark, const char *const *words,
    char *text, size_t size);

/* Letters to insert, to leave out or to change, or neighbours to exchange, until the n bytes of a
 * are b. */
size_t opt_suggest_distance(const char *a, size_t n, const char *b);

#endif
