/* A frame: size, sample type, named channels as planes, metadata. */
#pragma once

#include <string.h>

#include "frame/head.h"
#include "frame/meta.h"
#include "frame/pixel_store.h"

/*
 * One image: W x H x C, planar, rows from the top, samples uchar, ushort or float (native order).
 *
 * Planes are pointers into reference-counted pixel stores, so images of one measurement become one
 * many-channel frame without a copy. Every row starts on a 64-byte boundary. Nobody writes to a
 * frame whose planes another frame may share: fill a frame before you pass it on.
 * An invalid pixel is NaN in float planes.
 */

struct plane {
	/* Row 0. The runner's windows are rings of `rows` rows: row y_first is in place slot. */
	void *host;
	size_t y_first, slot;
	size_t rows;			/* 0: no window */
	size_t stride;			/* bytes from row to row */
	enum sample type;
	struct pixel_store *store;	/* owns the memory */
};

/* The planes have the head's size and type, but for those that the runner puts behind them (second
 * inputs, state planes; run.h): they carry their own. */
struct frame {
	struct frame_head head;
	struct plane *plane;	/* head.c of them */
};

size_t frame_stride(size_t w, enum sample);
/* Bytes of all rows of its planes, which it may share with others. */
size_t frame_bytes(const struct frame *);
/* A new frame with the head's size, channels and metadata. Pixels are unset, row padding is 0. */
int frame_new(const struct frame_head *, struct frame **out);
/* The same where status is 0, else -1; frees what the head has. */
int frame_new_if(int status, struct frame_head *, struct frame **out);
/* A new frame like frame_new()'s, but of another size. */
int frame_new_sized(const struct frame_head *, size_t w, size_t h, struct frame **out);
/* The same of floats as a table of so many points: of none it has a row of NaN. */
int frame_new_table(const struct frame_head *, size_t points, struct frame **out);
/* The same of this size, without metadata; names: of the channels, NULL: head_init()'s. */
int frame_new_named(size_t w, size_t h, size_t c, enum sample, const char *names,
    struct frame **out);
/* The same as frame_new() for a caller that sets the padding, too. */
int frame_new_unset(const struct frame_head *, struct frame **out);
/* The same without pixels: the caller fills in the planes with frame_share(). */
int frame_new_empty(const struct frame_head *, struct frame **out);
void frame_free(struct frame *);
/* Frees *frame, and puts another one in its place, or NULL. */
void frame_replace(struct frame **frame, struct frame *by);
/* Frees the memory that is kept for later frames; for the end of a program. */
void frame_release_stores(void);
/* New pixel stores come from this source; NULL: ordinary memory. */
void frame_use_memory(const struct memory_source *);
/* The owner of a plane's memory, if `give` takes it back; else NULL. */
void *frame_memory_owner(const struct plane *, void (*give)(void *arg, void *owner));
/*
 * A frame of planes in memory of the caller's, in rows of frame_stride(); nobody writes to them.
 * When the last user drops plane c, give(NULL, owner[c]) is called. 0, or -1 after fail() and after
 * all planes were given back.
 */
int frame_adopt(const struct frame_head *, void *const plane[], void *const owner[],
    void (*give)(void *arg, void *owner), struct frame **out);
/* Makes plane `to_c` of `to` the same memory as plane c of `from`; sizes and types must agree. */
void frame_share(struct frame *to, size_t to_c, const struct frame *from, size_t c);
/* The heads that were stacked last and their common head, which a stream of equal sets computes
 * once; zero at first. */
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
/* A frame of floats and a channel of this name behind them, all NaN, in place of an older one. */
int frame_add_channel(const struct frame *, const char *name, struct frame **out);
/* All of it, sharing its pixels. */
int frame_duplicate(const struct frame *, struct frame **out);
/* The frame, all of whose planes have its size and type, as float samples (values unchanged);
 * shares the planes if it is float already. */
int frame_to_float(const struct frame *, struct frame **out);

static inline void *
frame_row(const struct frame *frame, size_t c, size_t y)
{
	const struct plane *plane = &frame->plane[c];
	size_t at = plane->slot + (y - plane->y_first);

	return (unsigned char *)plane->host +
	    (at - (at < plane->rows ? 0 : plane->rows)) * plane->stride;
}

/* Sample x of a row of samples of this type; its value is unchanged. */
static inline float
frame_sample_in(enum sample type, const void *row, size_t x)
{
	switch (type) {
	case SAMPLE_UCHAR:
		return ((const uint8_t *)row)[x];
	case SAMPLE_USHORT:
		return ((const uint16_t *)row)[x];
	case SAMPLE_FLOAT:
		break;
	}
	return ((const float *)row)[x];
}

/* Sample x of row y of channel c. */
static inline float
frame_sample(const struct frame *frame, size_t c, size_t y, size_t x)
{
	return frame_sample_in(frame->head.type, frame_row(frame, c, y), x);
}

static inline size_t
frame_shorter_stride(const struct plane *a, const struct plane *b)
{
	return a->stride < b->stride ? a->stride : b->stride;
}

/* Asks for the memory of n samples from column x of row y on, which are written some 500 ns later
 * (CPU_WRITE_SOON); not in a window of rows, which a cache has, nor below the last row. */
void frame_write_soon(const struct frame *, size_t c, size_t y, size_t x, size_t n);

/* Copies row y of a channel, unless both frames hold it in the same memory. */
static inline void
frame_pass(const struct frame *in, size_t in_c, struct frame *out, size_t out_c, size_t y)
{
	const void *from = frame_row(in, in_c, y);
	void *to = frame_row(out, out_c, y);

	if (from != to)
		memcpy(to, from, frame_shorter_stride(&in->plane[in_c], &out->plane[out_c]));
}

static inline float *
frame_floats(const struct frame *frame, size_t c, size_t y)
{
	return __builtin_assume_aligned(frame_row(frame, c, y), 64);
}
