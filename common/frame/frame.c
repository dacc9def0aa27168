#define _GNU_SOURCE
#include "frame/frame.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

struct pixels {
	atomic_int users;
	void *memory, *allocated;	/* the first at a multiple of 64 */
	void *owner;			/* instead of allocated: whose memory it is */
	struct memory_source source;	/* of the owner */
	size_t bytes;			/* 0: not ours to use again */
};

/* Where stores come from, if not from malloc; under the lock of `stores`. */
static struct memory_source memory_source;

/*
 * Stores that nobody uses any more, kept for the next frame of the same size: a stream's frames are
 * alike, and fresh pages cost more than the pixels' arithmetic. So are frames without their planes.
 * Sanitizers see every one anew.
 */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STORES_KEPT 0
#else
#define STORES_KEPT 16
#endif
#define STORE_LEAST 65536		/* bytes; smaller ones are always ordinary memory */

static struct {
	pthread_mutex_t lock;
	struct pixels *kept[STORES_KEPT + 1];
	size_t n;
	struct frame *bare[STORES_KEPT + 1];	/* with room for head.c names and planes */
	size_t bares;
} stores = { .lock = PTHREAD_MUTEX_INITIALIZER };

const char *
sample_name(enum sample type)
{
	return type == SAMPLE_UCHAR ? "uchar" : type == SAMPLE_USHORT ? "ushort" : "float";
}

static int
set_channel_count(struct frame_head *head, size_t c)
{
	char (*names)[CHANNEL_NAME_SIZE];

	if (c == 0 || c > 65536)
		return fail(NULL, "a frame has 1 to 65536 channels, not %zu", c);
	names = reallocarray(head->channel, c, sizeof(*names));
	if (!names)
		return fail_memory();
	head->channel = names;
	head->c = c;
	return 0;
}

int
head_init(struct frame_head *head, size_t w, size_t h, size_t c, enum sample type)
{
	static const char rgba[4][2] = { "r", "g", "b", "a" };

	memset(head, 0, sizeof(*head));
	head->w = w;
	head->h = h;
	head->type = type;
	head->spacing[0] = head->spacing[1] = NAN;
	if (set_channel_count(head, c) < 0)
		return -1;
	memset(head->channel, 0, c * sizeof(*head->channel)); /* head_equal compares whole names */
	for (size_t i = 0; i < c; i++) {
		if (c == 1)
			strcpy(head->channel[i], "image");
		else if ((c == 3 || c == 4) && type != SAMPLE_FLOAT)
			strcpy(head->channel[i], rgba[i]);
		else
			snprintf(head->channel[i], CHANNEL_NAME_SIZE, "image%zu", i + 1);
	}
	return 0;
}

int
head_copy(struct frame_head *to, const struct frame_head *from)
{
	*to = *from;
	to->channel = NULL;
	to->meta = (struct meta){ 0 };
	if (set_channel_count(to, from->c) < 0)
		return -1;
	memcpy(to->channel, from->channel, from->c * sizeof(*from->channel));
	meta_copy(&to->meta, &from->meta);
	return 0;
}

void
head_free(struct frame_head *head)
{
	free(head->channel);
	head->channel = NULL;
	meta_free(&head->meta);
}

static bool
same_number(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

bool
head_equal(const struct frame_head *a, const struct frame_head *b)
{
	return a->w == b->w && a->h == b->h && a->c == b->c && a->type == b->type &&
	    same_number(a->spacing[0], b->spacing[0]) &&
	    same_number(a->spacing[1], b->spacing[1]) && !strcmp(a->unit, b->unit) &&
	    !memcmp(a->channel, b->channel, a->c * sizeof(*a->channel)) &&
	    meta_equal(&a->meta, &b->meta);
}

int
head_set_channels(struct frame_head *head, const char *names)
{
	size_t n = meta_words(names);

	if (set_channel_count(head, n) < 0)
		return -1;
	memset(head->channel, 0, n * sizeof(*head->channel));
	for (size_t i = 0; i < n; i++)
		if (!meta_word(names, i, head->channel[i], CHANNEL_NAME_SIZE))
			return fail("channels", "name is longer than %d bytes: %.60s",
			    CHANNEL_NAME_SIZE - 1, head->channel[i]);
	return 0;
}

char *
head_channels(const struct frame_head *head)
{
	char *text = calloc(head->c, CHANNEL_NAME_SIZE + 1), *end = text;

	if (!text) {
		fail_memory();
		return NULL;
	}
	for (size_t i = 0; i < head->c; i++)
		end = stpcpy(stpcpy(end, i ? " " : ""), head->channel[i]);
	return text;
}

size_t
head_channel(const struct frame_head *head, const char *name)
{
	for (size_t i = 0; i < head->c; i++)
		if (!strcmp(head->channel[i], name))
			return i;
	return NO_CHANNEL;
}

size_t
head_numbered_channel(const struct frame_head *head, const char *base, size_t number)
{
	char name[CHANNEL_NAME_SIZE + 24];
	size_t c;

	snprintf(name, sizeof(name), "%s%zu", base, number);
	c = head_channel(head, name);
	return c == NO_CHANNEL && number == 1 ? head_channel(head, base) : c;
}

size_t
head_count_channels(const struct frame_head *head, const char *base)
{
	size_t n = 0;

	while (head_numbered_channel(head, base, n + 1) != NO_CHANNEL)
		n++;
	return n;
}

size_t
frame_stride(size_t w, enum sample type)
{
	return (w * sample_size(type) + 63) & ~(size_t)63;
}

/* A kept frame without planes or metadata, for c channels; NULL: there is none. */
static struct frame *
bare_take(size_t c)
{
	struct frame *found = NULL;

	pthread_mutex_lock(&stores.lock);
	for (size_t i = stores.bares; i-- > 0 && !found;)
		if (stores.bare[i]->head.c == c) {
			found = stores.bare[i];
			stores.bare[i] = stores.bare[--stores.bares];
		}
	pthread_mutex_unlock(&stores.lock);
	return found;
}

static void
bare_free(struct frame *frame)
{
	free(frame->plane);
	free(frame->head.channel);
	free(frame);
}

static struct frame *
bare_new(size_t c)
{
	struct frame *frame = bare_take(c);

	if (frame)
		return frame;
	frame = calloc(1, sizeof(*frame));
	if (!frame) {
		fail_memory();
		return NULL;
	}
	frame->plane = calloc(c, sizeof(*frame->plane));
	if (!frame->plane)
		fail_memory();
	if (!frame->plane || set_channel_count(&frame->head, c) < 0) {
		bare_free(frame);
		return NULL;
	}
	return frame;
}

/* Keeps a frame without planes or metadata, or frees it. */
static void
bare_keep(struct frame *frame)
{
	const size_t most = STORES_KEPT;
	bool keep;

	pthread_mutex_lock(&stores.lock);
	keep = stores.bares < most;
	if (keep)
		stores.bare[stores.bares++] = frame;
	pthread_mutex_unlock(&stores.lock);
	if (!keep)
		bare_free(frame);
}

int
frame_new_empty(const struct frame_head *head, struct frame **out)
{
	struct frame *frame = bare_new(head->c);
	char (*names)[CHANNEL_NAME_SIZE];

	*out = NULL;
	if (!frame)
		return -1;
	names = frame->head.channel;
	frame->head = *head;
	frame->head.channel = names;
	memcpy(names, head->channel, head->c * sizeof(*names));
	meta_copy(&frame->head.meta, &head->meta);
	memset(frame->plane, 0, head->c * sizeof(*frame->plane));
	frame->stride = frame_stride(head->w, head->type);
	*out = frame;
	return 0;
}

/* Does somebody outside this process still use it? */
static bool
is_busy(const struct pixels *pixels)
{
	return pixels->owner && pixels->source.busy &&
	    pixels->source.busy(pixels->source.arg, pixels->owner);
}

/* A kept store of just this size, or NULL. */
static struct pixels *
stores_take(size_t bytes)
{
	struct pixels *found = NULL;

	pthread_mutex_lock(&stores.lock);
	for (size_t i = stores.n; i-- > 0 && !found;)
		if (stores.kept[i]->bytes == bytes && !is_busy(stores.kept[i])) {
			found = stores.kept[i];
			stores.kept[i] = stores.kept[--stores.n];
		}
	pthread_mutex_unlock(&stores.lock);
	return found;
}

/* Keeps a store; returns the one to be freed instead: itself, the oldest, or none. */
static struct pixels *
stores_keep(struct pixels *pixels)
{
	struct pixels *out = pixels;

	if (STORES_KEPT == 0 || pixels->bytes == 0)
		return pixels;
	pthread_mutex_lock(&stores.lock);
	out = NULL;
	if (stores.n == STORES_KEPT) {
		out = stores.kept[0];
		memmove(stores.kept, stores.kept + 1, --stores.n * sizeof(*stores.kept));
	}
	stores.kept[stores.n++] = pixels;
	pthread_mutex_unlock(&stores.lock);
	return out;
}

static struct memory_source
current_source(void)
{
	struct memory_source source;

	pthread_mutex_lock(&stores.lock);
	source = memory_source;
	pthread_mutex_unlock(&stores.lock);
	return source;
}

static void
pixels_free(struct pixels *pixels)
{
	if (!pixels)
		return;
	if (pixels->owner)
		pixels->source.give(pixels->source.arg, pixels->owner);
	free(pixels->allocated);
	free(pixels);
}

void
frame_use_memory(const struct memory_source *source)
{
	frame_release_stores();
	pthread_mutex_lock(&stores.lock);
	memory_source = source ? *source : (struct memory_source){ 0 };
	pthread_mutex_unlock(&stores.lock);
}

void *
frame_memory_owner(const struct plane *plane, void (*give)(void *arg, void *owner))
{
	return plane->store && plane->store->source.give == give ? plane->store->owner : NULL;
}

/* A fresh store is zero, by pages that are not there before they are used: a header that lies about
 * its size on a pipe costs no memory. */
static struct pixels *
pixels_new(size_t bytes, bool *fresh)
{
	struct pixels *pixels = stores_take(bytes);
	struct memory_source source;

	*fresh = !pixels;
	if (pixels)
		return pixels;
	pixels = calloc(1, sizeof(*pixels));
	if (!pixels)
		return NULL;
	pixels->bytes = bytes;
	source = current_source();
	if (source.take && bytes >= STORE_LEAST)
		pixels->memory = source.take(source.arg, bytes, &pixels->owner);
	if (pixels->memory) {
		pixels->source = source;
		*fresh = source.zeroed;
		return pixels;
	}
	pixels->allocated = calloc(1, bytes + 63);
	if (!pixels->allocated) {
		free(pixels);
		return NULL;
	}
	pixels->memory = (void *)(((uintptr_t)pixels->allocated + 63) & ~(uintptr_t)63);
	return pixels;
}

static void
zero_padding(struct frame *frame)
{
	size_t used = frame->head.w * sample_size(frame->head.type);

	if (used == frame->stride)
		return;
	for (size_t c = 0; c < frame->head.c; c++)
		for (size_t y = 0; y < frame->head.h; y++)
			memset((char *)frame_row(frame, c, y) + used, 0, frame->stride - used);
}

int
frame_new(const struct frame_head *head, struct frame **out)
{
	struct pixels *pixels;
	struct frame *frame;
	size_t row, plane, all;
	bool fresh;

	*out = NULL;
	if (head->w == 0 || head->h == 0)
		return fail(NULL, "frame is empty: %zu x %zu", head->w, head->h);
	if (size_multiply(head->w, sample_size(head->type), &row) < 0 ||
	    size_add(row, 63, &row) < 0 ||
	    size_multiply(row & ~(size_t)63, head->h, &plane) < 0 ||
	    size_multiply(plane, head->c, &all) < 0)
		return -1;
	if (frame_new_empty(head, &frame) < 0)
		return -1;
	pixels = all <= PTRDIFF_MAX - 63 ? pixels_new(all, &fresh) : NULL;
	if (!pixels) {
		frame_free(frame);
		return fail(NULL, "out of memory for a frame of %zu x %zu x %zu %s", head->w,
		    head->h, head->c, sample_name(head->type));
	}
	for (size_t c = 0; c < head->c; c++) {
		frame->plane[c].host = (char *)pixels->memory + c * plane;
		frame->plane[c].store = pixels;
	}
	atomic_init(&pixels->users, (int)head->c);
	if (!fresh)
		zero_padding(frame);
	*out = frame;
	return 0;
}

int
frame_adopt(const struct frame_head *head, void *const plane[], void *const owner[],
    void (*give)(void *arg, void *owner), struct frame **out)
{
	size_t c = 0;

	if (frame_new_empty(head, out) == 0)
		for (; c < head->c; c++) {
			struct pixels *pixels = calloc(1, sizeof(*pixels));

			if (!pixels)
				break;
			pixels->owner = owner[c];
			pixels->source.give = give;
			atomic_init(&pixels->users, 1);
			(*out)->plane[c] = (struct plane){ .host = plane[c], .store = pixels };
		}
	if (c == head->c)
		return 0;
	for (; c < head->c; c++)
		give(NULL, owner[c]);
	frame_free(*out);
	*out = NULL;
	return fail_memory();
}

static void
pixels_drop(struct pixels *pixels)
{
	if (pixels && atomic_fetch_sub(&pixels->users, 1) == 1)
		pixels_free(stores_keep(pixels));
}

void
frame_release_stores(void)
{
	struct pixels *pixels;
	struct frame *frame;

	do {
		pthread_mutex_lock(&stores.lock);
		pixels = stores.n ? stores.kept[--stores.n] : NULL;
		frame = stores.bares ? stores.bare[--stores.bares] : NULL;
		pthread_mutex_unlock(&stores.lock);
		pixels_free(pixels);
		if (frame)
			bare_free(frame);
	} while (pixels || frame);
}

void
frame_free(struct frame *frame)
{
	if (!frame)
		return;
	for (size_t c = 0; c < frame->head.c; c++)
		pixels_drop(frame->plane[c].store);
	meta_free(&frame->head.meta);
	bare_keep(frame);
}

void
frame_share(struct frame *to, size_t to_c, const struct frame *from, size_t c)
{
	if (from->plane[c].store)
		atomic_fetch_add(&from->plane[c].store->users, 1);
	pixels_drop(to->plane[to_c].store);
	to->plane[to_c] = from->plane[c];
}

static int
check_stackable(struct frame *const *frames, size_t n, size_t *channels)
{
	const struct frame_head *first = &frames[0]->head;

	*channels = 0;
	for (size_t i = 0; i < n; i++) {
		const struct frame_head *head = &frames[i]->head;

		if (head->w != first->w || head->h != first->h)
			return fail(NULL, "images differ in size: %zu x %zu, then %zu x %zu",
			    first->w, first->h, head->w, head->h);
		if (head->type != first->type)
			return fail(NULL, "images differ in sample type: %s, then %s",
			    sample_name(first->type), sample_name(head->type));
		*channels += head->c;
	}
	return 0;
}

static int
stacked_head(struct frame *const *frames, size_t n, size_t channels, struct frame_head *head)
{
	const struct meta **meta = calloc(n, sizeof(*meta));
	size_t *planes = calloc(n, sizeof(*planes)), c = 0;
	int status = -1;

	if (!meta || !planes) {
		fail_memory();
		goto done;
	}
	if (head_init(head, frames[0]->head.w, frames[0]->head.h, channels, frames[0]->head.type) <
	    0)
		goto done;
	memcpy(head->spacing, frames[0]->head.spacing, sizeof(head->spacing));
	memcpy(head->unit, frames[0]->head.unit, sizeof(head->unit));
	for (size_t i = 0; i < n; i++) {
		meta[i] = &frames[i]->head.meta;
		planes[i] = frames[i]->head.c;
		for (size_t k = 0; k < planes[i]; k++, c++)
			memcpy(head->channel[c], frames[i]->head.channel[k], CHANNEL_NAME_SIZE);
	}
	status = meta_gather(&head->meta, meta, planes, n);
	if (status < 0)
		head_free(head);
done:
	free(meta);
	free(planes);
	return status;
}

void
frame_stacking_free(struct frame_stacking *last)
{
	for (size_t i = 0; i < last->n; i++)
		head_free(&last->part[i]);
	free(last->part);
	head_free(&last->whole);
	*last = (struct frame_stacking){ 0 };
}

static bool
is_stacked_again(const struct frame_stacking *last, struct frame *const *frames, size_t n)
{
	for (size_t i = 0; i < n && n == last->n; i++)
		if (!head_equal(&last->part[i], &frames[i]->head))
			return false;
	return n == last->n;
}

/* Makes the head of the whole, and remembers what of. */
static int
stacking_new(struct frame_stacking *last, struct frame *const *frames, size_t n)
{
	size_t channels;

	frame_stacking_free(last);
	if (check_stackable(frames, n, &channels) < 0 ||
	    stacked_head(frames, n, channels, &last->whole) < 0)
		return -1;
	last->part = calloc(n, sizeof(*last->part));
	if (!last->part)
		return fail_memory();
	for (; last->n < n; last->n++)
		if (head_copy(&last->part[last->n], &frames[last->n]->head) < 0)
			return -1;
	return 0;
}

int
frame_stack(struct frame *const *frames, size_t n, struct frame_stacking *last, struct frame **out)
{
	size_t c = 0;

	*out = NULL;
	if (!is_stacked_again(last, frames, n) && stacking_new(last, frames, n) < 0) {
		frame_stacking_free(last);
		return -1;
	}
	if (frame_new_empty(&last->whole, out) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < frames[i]->head.c; k++)
			frame_share(*out, c++, frames[i], k);
	return 0;
}

int
frame_select(const struct frame *frame, const size_t *channel, size_t n, struct frame **out)
{
	struct frame_head head;
	int status;

	*out = NULL;
	if (head_copy(&head, &frame->head) < 0)
		return -1;
	if (set_channel_count(&head, n) < 0) {
		head_free(&head);
		return -1;
	}
	for (size_t i = 0; i < n; i++)
		memcpy(head.channel[i], frame->head.channel[channel[i]], CHANNEL_NAME_SIZE);
	status = frame_new_empty(&head, out);
	head_free(&head);
	if (status < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		frame_share(*out, i, frame, channel[i]);
	return 0;
}

int
frame_duplicate(const struct frame *frame, struct frame **out)
{
	if (frame_new_empty(&frame->head, out) < 0)
		return -1;
	for (size_t c = 0; c < frame->head.c; c++)
		frame_share(*out, c, frame, c);
	return 0;
}

static void
row_to_float(const struct frame *from, size_t c, size_t y, float *to)
{
	const void *row = frame_row(from, c, y);

	if (from->head.type == SAMPLE_UCHAR)
		for (size_t x = 0; x < from->head.w; x++)
			to[x] = ((const uint8_t *)row)[x];
	else
		for (size_t x = 0; x < from->head.w; x++)
			to[x] = ((const uint16_t *)row)[x];
}

int
frame_to_float(const struct frame *frame, struct frame **out)
{
	struct frame_head head;
	int status;

	*out = NULL;
	if (head_copy(&head, &frame->head) < 0)
		return -1;
	head.type = SAMPLE_FLOAT;
	status =
	    frame->head.type == SAMPLE_FLOAT ? frame_new_empty(&head, out) : frame_new(&head, out);
	head_free(&head);
	if (status < 0)
		return -1;
	for (size_t c = 0; c < frame->head.c; c++) {
		if (frame->head.type == SAMPLE_FLOAT) {
			frame_share(*out, c, frame, c);
			continue;
		}
		for (size_t y = 0; y < frame->head.h; y++)
			row_to_float(frame, c, y, frame_row(*out, c, y));
	}
	return 0;
}
