/*
 * Ordered key := value metadata of a frame.
 *
 * Keys are lower case with the unit as suffix (period_px, shift_rad, scale_mm); a list is
 * blank-separated. A value holds no newline and no ": " (each breaks a real NRRD reader).
 */
#pragma once

#include <stdbool.h>

#include "base/numbers.h"

#define META_KEYS_MOST 10000	/* that are read: looking one up takes time in proportion */

struct meta_entry {
	char *key;
	char *value;
};

struct meta {		/* only the functions below change its entries */
	size_t n;
	struct meta_entry *entry;
};

/* NULL when there is no such key. */
const char *meta_get(const struct meta *, const char *key);
/* Sets or replaces; the place of an existing key is kept. -1 after fail() where key or value cannot
 * stand in a header: a caller whose key and value are words or numbers of its own need not look. */
int meta_set(struct meta *, const char *key, const char *value);
int meta_setf(struct meta *, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The key `name`: a file's without folder and suffix, where that can stand there. */
int meta_set_file_name(struct meta *, const char *path);
void meta_set_number(struct meta *, const char *key, double v);
void meta_set_numbers(struct meta *, const char *key, const double *v, size_t n);
/*
 * For readers of many keys, without a copy of each: meta_adopt() gives the metadata, which are
 * empty, a block of malloc() in which keys and values lie as strings, and which is freed with them.
 * meta_put() is meta_set() of two of its strings, which meta_set() would accept; -1 after fail()
 * where there are META_KEYS_MOST already.
 */
void meta_adopt(struct meta *, char *text, size_t bytes);
int meta_put(struct meta *, char *key, char *value);
void meta_remove(struct meta *, const char *key);

/* The key's number, or `otherwise` if it is absent; -1 after fail() if it is no number. */
int meta_number(const struct meta *, const char *key, double otherwise, double *out);
/* The key's numbers (free with numbers_free), none if it is absent; -1 after fail() if not numbers.
 */
int meta_numbers(const struct meta *, const char *key, struct numbers *out);
/* Their mean; NaN if it is absent, infinity where one of them is not finite. */
int meta_mean(const struct meta *, const char *key, double *mean);
/* Word i (from 0) of a blank-separated value, copied into word; false where there is none. */
bool meta_word(const char *value, size_t i, char *word, size_t size);
size_t meta_words(const char *value);

/* to is overwritten, not freed. Costs nothing: the entries are shared until one of them changes. */
void meta_copy(struct meta *to, const struct meta *from);
bool meta_equal(const struct meta *, const struct meta *);
void meta_free(struct meta *);

/* Appends the next cmd.N: words with one blank between. Bytes that NRRD readers cannot read
 * become %XX, but not %: the caller wrote the words with escape_put_word(). */
void meta_append_command(struct meta *, const char *command);

/*
 * Metadata of frames that are gathered into one: keys that are equal in all stay, keys that differ
 * become lists in channel order, cmd.N comes from the first. planes[i] is the number of
 * channels of meta[i]: a value that is already a list of that length is taken word by word.
 */
int meta_gather(struct meta *to, const struct meta *const *meta, const size_t *planes, size_t n);

/*
 * Of every value that is a list of c words, one per channel, keeps words index[0] .. index[n - 1].
 * Values that are lists by themselves (origin_px, projector_px, ref_plane_rad, cmd.N) stay whole.
 */
int meta_pick(struct meta *, size_t c, const size_t *index, size_t n);
/* The same for words first .. first + n - 1. */
int meta_slice(struct meta *, size_t c, size_t first, size_t n);
