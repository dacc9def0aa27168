/*
 * One image: W x H x C, planar, rows from the top, samples uchar, ushort or float (native order).
 *
 * Planes are pointers into reference-counted pixel stores, so images of one measurement become one
 * many-channel frame without a copy. Every row starts on a 64-byte boundary. A frame that another
 * one may share planes with is never written to again: fill a frame before you hand it on.
 * An invalid pixel is NaN in float planes.
 */
#ifndef FRAME_H
#define FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "frame/meta.h"

enum sample { SAMPLE_UCHAR, SAMPLE_USHORT, SAMPLE_FLOAT };

#define CHANNEL_NAME_SIZE 32
#define NO_CHANNEL SIZE_MAX

/* What is known of a frame before its pixels. */
struct frame_head {
	size_t w, h, c;
	enum sample type;
	char (*channel)[CHANNEL_NAME_SIZE];	/* c names */
	double spacing[2];			/* distance of columns, of rows; NaN: not known */
	char unit[16];				/* of the spacings; empty: not known */
	struct meta meta;
};

struct plane {
	void *host;		/* row 0, but for the runner's windows: */
	size_t y_first, slot;	/* the first row that is there, and its place */
	size_t rows;		/* in a ring of so many */
	struct pixels *store;	/* who owns the memory */
};

struct frame {
	struct frame_head head;
	size_t stride;		/* bytes from row to row, of every plane */
	struct plane *plane;	/* head.c of them */
};

static inline size_t
sample_size(enum sample type)
{
	return (size_t)1 << type;	/* 1, 2, 4 */
}

const char *sample_name(enum sample);		/* uchar ushort float */

/*
 * A head of c channels, all named `image` if c = 1, else `r g b` / `r g b a` for 3 and 4 channels
 * of type uchar or ushort, else `image1 ..`. head is overwritten, not freed. 0 or -1 after fail().
 */
int head_init(struct frame_head *head, size_t w, size_t h, size_t c, enum sample);
int head_copy(struct frame_head *to, const struct frame_head *from);
void head_free(struct frame_head *);
bool head_equal(const struct frame_head *, const struct frame_head *);
/* Sets the number of channels and their names from a blank-separated list. */
int head_set_channels(struct frame_head *, const char *names);
/* Writes the names, blank-separated, into a new string; NULL after fail(). */
char *head_channels(const struct frame_head *);
/* The index of a channel, or NO_CHANNEL. */
size_t head_channel(const struct frame_head *, const char *name);
/* The number of channels named base1 base2 ... in a row from base1 (or 1 if there is `base` alone).
 */
size_t head_count_channels(const struct frame_head *, const char *base);
/* The index of channel `base` followed by number (1..), or of `base` itself when number is 1. */
size_t head_numbered_channel(const struct frame_head *, const char *base, size_t number);

size_t frame_stride(size_t w, enum sample);
/* A new frame with the head's size, channels and metadata and unset pixels (row padding is zero).
 */
int frame_new(const struct frame_head *, struct frame **out);
/* The same, without pixels: plane[].store and host are to be filled by the caller with frame_share.
 */
int frame_new_empty(const struct frame_head *, struct frame **out);
void frame_free(struct frame *);
/* Gives back the memory that is kept for frames to come; for the end of a program. */
void frame_release_stores(void);
/* Memory for pixels. The functions may be called by several threads at once. */
struct memory_source {
	/* Memory of `bytes`, aligned to 64, and what owns it; NULL: ordinary memory then. */
	void *(*take)(void *arg, size_t bytes, void **owner);
	void (*give)(void *arg, void *owner);
	/* Does somebody outside this process read it? It is not used again so long. NULL: never. */
	bool (*busy)(void *arg, void *owner);
	void *arg;
	bool zeroed;		/* what take() gives is zero */
};

/* Pixel stores come from there from now on; NULL: ordinary memory. */
void frame_use_memory(const struct memory_source *);
/* What owns a plane's memory, if it is to be given back by `give`; else NULL. */
void *frame_memory_owner(const struct plane *, void (*give)(void *arg, void *owner));
/*
 * A frame of planes that lie in somebody's memory, in rows of frame_stride(); they are not written
 * to. give(NULL, owner[c]) is called when nobody uses plane c any more. 0, or -1 after fail() and
 * after all were given back.
 */
int frame_adopt(const struct frame_head *, void *const plane[], void *const owner[],
    void (*give)(void *arg, void *owner), struct frame **out);
/* Makes plane `to_c` of `to` the same memory as plane c of `from`; sizes and types must agree. */
void frame_share(struct frame *to, size_t to_c, const struct frame *from, size_t c);
/* The heads that were stacked last and what came of them; zero at first. A stream's sets are mostly
 * alike. */
struct frame_stacking {
	struct frame_head *part, whole;
	size_t n;
};

void frame_stacking_free(struct frame_stacking *);
/* All planes of n frames (same size and type) as one frame, without copying pixels; see
 * meta_gather. */
int frame_stack(struct frame *const *frames, size_t n, struct frame_stacking *last,
    struct frame **out);
/* The chosen channels of a frame, sharing its pixels. */
int frame_select(const struct frame *, const size_t *channel, size_t n, struct frame **out);
/* All of it, sharing its pixels. */
int frame_duplicate(const struct frame *, struct frame **out);
/* The frame as float samples (values unchanged); shares the planes if it is float already. */
int frame_to_float(const struct frame *, struct frame **out);

static inline void *
frame_row(const struct frame *frame, size_t c, size_t y)
{
	const struct plane *plane = &frame->plane[c];
	size_t at = plane->slot + (y - plane->y_first);

	return (unsigned char *)plane->host +
	    (at - (at < plane->rows ? 0 : plane->rows)) * frame->stride;
}

/* Copies row y of a channel, unless both frames hold it in the same memory. */
static inline void
frame_pass(const struct frame *in, size_t in_c, struct frame *out, size_t out_c, size_t y)
{
	const void *from = frame_row(in, in_c, y);
	void *to = frame_row(out, out_c, y);

	if (from != to)
		memcpy(to, from, in->stride < out->stride ? in->stride : out->stride);
}

static inline float *
frame_floats(const struct frame *frame, size_t c, size_t y)
{
	return __builtin_assume_aligned(frame_row(frame, c, y), 64);
}

#endif
