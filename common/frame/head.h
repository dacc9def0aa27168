/* What is known of a frame before its pixels: size, sample type, channel names and metadata. */
#pragma once

#include <stdint.h>

#include "frame/meta.h"

enum sample { SAMPLE_UCHAR, SAMPLE_USHORT, SAMPLE_FLOAT };

#define CHANNEL_NAME_SIZE 32
#define NO_CHANNEL SIZE_MAX

struct frame_head {
	size_t w, h, c;
	enum sample type;
	char (*channel)[CHANNEL_NAME_SIZE];	/* c names */
	double spacing[2];			/* distance of columns, of rows; NaN: not known */
	char unit[16];				/* of the spacings; empty: not known */
	struct meta meta;
};

static inline size_t
sample_size(enum sample type)
{
	return (size_t)1 << type;	/* 1, 2, 4 */
}

const char *sample_name(enum sample);		/* uchar ushort float */

/*
 * A head of c channels, all named `image` if c = 1, else `r g b` / `r g b a` for 3 and 4 channels
 * of type uchar or ushort, else `image1 ..`. head is overwritten, not freed. -1 after fail() for no
 * channel or more than 65536: a caller with a count of its own need not look.
 */
int head_init(struct frame_head *head, size_t w, size_t h, size_t c, enum sample);
/* Makes room for c channel names, which are unset when there were fewer. 0 or -1 after fail(). */
int head_set_count(struct frame_head *, size_t c);
void head_copy(struct frame_head *to, const struct frame_head *from);
void head_free(struct frame_head *);
bool head_equal(const struct frame_head *, const struct frame_head *);
/* Sets the number of channels and their names from a blank-separated list; -1 after fail() where a
 * name is too long. */
int head_set_channels(struct frame_head *, const char *names);
/* The same behind those that the head has. */
int head_add_channels(struct frame_head *, const char *names);
/* Writes the names, blank-separated, into a new string. */
char *head_channels(const struct frame_head *);
/* The names for a message that misses one, cut where they do not fit; where no file of
 * floats gave any (image, image2), with the option that does. Returns text. */
const char *head_channels_hint(const struct frame_head *, char text[300]);
/* The number after `base` in a channel's name, "12" of phase12 or "" of phase; NULL: the name has
 * another base. */
const char *channel_number(const char *name, const char *base);
/* The index of a channel, or NO_CHANNEL. */
size_t head_channel(const struct frame_head *, const char *name);
/* As meta_number(), of a channel: stacked frames have one word for each channel, - where none. */
int head_number(const struct frame_head *, const char *key, size_t channel, double otherwise,
    double *out);
/*
 * A table: a frame of height 1 with the key `points`, each of whose columns is a row of the table
 * (frame(5)). *points: the number of rows, 0 where the only column stands for none. -1 after fail()
 * where the key and the width disagree.
 */
bool head_is_table(const struct frame_head *);
int head_points(const struct frame_head *, size_t *points);
/* A picture in colour: channels r g b, one more at most (opacity), and those of second inputs. */
bool head_is_colour(const struct frame_head *);
/* Makes it a table of so many rows: sets size and key. */
void head_set_points(struct frame_head *, size_t points);
/* Are both tables that differ in the number of rows at most? */
bool head_same_table(const struct frame_head *, const struct frame_head *);
/* The channels of three letters, each after the prefix ("n", "xyz": nx ny nz), NO_CHANNEL where
 * there is none. Are there all? */
bool head_three(const struct frame_head *, const char *prefix, const char *letters,
    size_t channel[3]);

static inline bool
head_xyz(const struct frame_head *head, size_t channel[3])
{
	return head_three(head, "", "xyz", channel);
}

/* The number of consecutive channels base1 base2 ... (1 if there is `base` alone). */
size_t head_count_channels(const struct frame_head *, const char *base);
/* The index of channel `base` followed by number (1..), or of `base` itself when number is 1. */
size_t head_numbered_channel(const struct frame_head *, const char *base, size_t number);
