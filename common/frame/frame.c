/* Frames: allocation of planes, views of other frames, stacks of several frames without a copy. */
#include "frame/frame.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>

#include "base/cpu_level.h"
#include "base/process.h"

/*
 * Frames without planes or metadata, with room for head.c names and planes, kept for later ones of
 * as many channels. Sanitizers see every one anew.
 */
#if SANITIZED
#define SPARE_MOST 0
#else
#define SPARE_MOST 16
#endif

static struct {
	pthread_mutex_t lock;
	struct frame *frame[SPARE_MOST + 1];
	size_t n;
} spare = { .lock = PTHREAD_MUTEX_INITIALIZER };

size_t
frame_stride(size_t w, enum sample type)
{
	return (w * sample_size(type) + 63) & ~(size_t)63;
}

size_t
frame_bytes(const struct frame *frame)
{
	const struct frame_head *head = &frame->head;

	return frame_stride(head->w, head->type) * head->h * head->c;
}

/* A spare frame for c channels; NULL: there is none. */
static struct frame *
spare_take(size_t c)
{
	struct frame *found = NULL;

	pthread_mutex_lock(&spare.lock);
	for (size_t i = spare.n; i-- > 0 && !found;)
		if (spare.frame[i]->head.c == c) {
			found = spare.frame[i];
			spare.frame[i] = spare.frame[--spare.n];
		}
	pthread_mutex_unlock(&spare.lock);
	return found;
}

static void
spare_free(struct frame *frame)
{
	free_all(frame->plane, frame->head.channel, frame);
}

/* Keeps a frame that has lost its planes and metadata, or frees it. */
static void
spare_keep(struct frame *frame)
{
	const size_t most = SPARE_MOST;
	bool keep;

	pthread_mutex_lock(&spare.lock);
	keep = spare.n < most;
	if (keep)
		spare.frame[spare.n++] = frame;
	pthread_mutex_unlock(&spare.lock);
	if (!keep)
		spare_free(frame);
}

int
frame_new_empty(const struct frame_head *head, struct frame **out)
{
	struct frame *frame = spare_take(head->c);
	char (*names)[CHANNEL_NAME_SIZE];

	*out = NULL;
	if (!frame) {
		frame = must_alloc(1, sizeof(*frame));
		frame->plane = must_alloc(head->c, sizeof(*frame->plane));
		if (head_set_count(&frame->head, head->c) < 0) {
			spare_free(frame);
			return -1;
		}
	}
	names = frame->head.channel;
	frame->head = *head;
	frame->head.channel = names;
	memcpy(names, head->channel, head->c * sizeof(*names));
	meta_copy(&frame->head.meta, &head->meta);
	memset(frame->plane, 0, head->c * sizeof(*frame->plane));
	*out = frame;
	return 0;
}

void
frame_use_memory(const struct memory_source *source)
{
	frame_release_stores();
	pixel_store_use_memory(source);
}

void *
frame_memory_owner(const struct plane *plane, void (*give)(void *arg, void *owner))
{
	return pixel_store_owner(plane->store, give);
}

/* *zeroed: memory is new, all of it 0. */
static int
new_frame(const struct frame_head *head, struct frame **out, bool *zeroed)
{
	struct pixel_store *store = NULL;
	struct frame *frame;
	size_t row, plane, all;
	void *memory;

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
	if (all <= PTRDIFF_MAX - 63)
		store = pixel_store_new(all, head->c, &memory, zeroed);
	if (!store) {
		frame_free(frame);
		return fail(NULL, "out of memory for a frame of %zu x %zu x %zu %s", head->w,
		    head->h, head->c, sample_name(head->type));
	}
	for (size_t c = 0; c < head->c; c++)
		frame->plane[c] = (struct plane){ .host = (char *)memory + c * plane,
			.stride = frame_stride(head->w, head->type), .type = head->type,
			.store = store };
	*out = frame;
	return 0;
}

int
frame_new(const struct frame_head *head, struct frame **out)
{
	size_t used = head->w * sample_size(head->type), stride = frame_stride(head->w, head->type);
	bool zeroed;

	if (new_frame(head, out, &zeroed) < 0)
		return -1;
	for (size_t c = 0; c < head->c && !zeroed && used < stride; c++)
		for (size_t y = 0; y < head->h; y++)
			memset((char *)frame_row(*out, c, y) + used, 0, stride - used);
	return 0;
}

int
frame_new_if(int status, struct frame_head *head, struct frame **out)
{
	if (status == 0)
		status = frame_new(head, out);
	head_free(head);
	return status;
}

int
frame_new_named(size_t w, size_t h, size_t c, enum sample type, const char *names,
    struct frame **out)
{
	struct frame_head head;
	int status = head_init(&head, w, h, c, type);

	if (status == 0 && names)
		status = head_set_channels(&head, names);
	return frame_new_if(status, &head, out);
}

int
frame_new_sized(const struct frame_head *like, size_t w, size_t h, struct frame **out)
{
	struct frame_head head;

	head_copy(&head, like);
	head.w = w;
	head.h = h;
	return frame_new_if(0, &head, out);
}

int
frame_new_table(const struct frame_head *like, size_t points, struct frame **out)
{
	struct frame_head head;

	head_copy(&head, like);
	head_set_points(&head, points);
	if (frame_new_if(0, &head, out) < 0)
		return -1;
	for (size_t c = 0; c < (*out)->head.c; c++)
		frame_floats(*out, c, 0)[0] = NAN;
	return 0;
}

int
frame_new_unset(const struct frame_head *head, struct frame **out)
{
	bool zeroed;

	return new_frame(head, out, &zeroed);
}

int
frame_adopt(const struct frame_head *head, void *const plane[], void *const owner[],
    void (*give)(void *arg, void *owner), struct frame **out)
{
	if (frame_new_empty(head, out) < 0) {
		for (size_t c = 0; c < head->c; c++)
			give(NULL, owner[c]);
		return -1;
	}
	for (size_t c = 0; c < head->c; c++)
		(*out)->plane[c] = (struct plane){ .host = plane[c],
			.stride = frame_stride(head->w, head->type), .type = head->type,
			.store = pixel_store_adopt(owner[c], give) };
	return 0;
}

void
frame_release_stores(void)
{
	struct frame *frame;

	do {
		pthread_mutex_lock(&spare.lock);
		frame = spare.n ? spare.frame[--spare.n] : NULL;
		pthread_mutex_unlock(&spare.lock);
		if (frame)
			spare_free(frame);
	} while (frame);
	pixel_store_release();
}

void
frame_free(struct frame *frame)
{
	if (!frame)
		return;
	for (size_t c = 0; c < frame->head.c; c++)
		pixel_store_drop(frame->plane[c].store);
	meta_free(&frame->head.meta);
	spare_keep(frame);
}

void
frame_replace(struct frame **frame, struct frame *by)
{
	frame_free(*frame);
	*frame = by;
}

void
frame_share(struct frame *to, size_t to_c, const struct frame *from, size_t c)
{
	pixel_store_share(from->plane[c].store);
	pixel_store_drop(to->plane[to_c].store);
	to->plane[to_c] = from->plane[c];
}

int
frame_select(const struct frame *frame, const size_t *channel, size_t n, struct frame **out)
{
	struct frame_head head = frame->head;
	int status;

	*out = NULL;
	head.channel = NULL;
	if (head_set_count(&head, n) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		memcpy(head.channel[i], frame->head.channel[channel[i]], CHANNEL_NAME_SIZE);
	status = frame_new_empty(&head, out);
	free(head.channel);
	if (status < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		frame_share(*out, i, frame, channel[i]);
	return 0;
}

int
frame_add_channel(const struct frame *frame, const char *name, struct frame **out)
{
	size_t c = 0, *channel = must_alloc(frame->head.c, sizeof(*channel));
	struct frame_head head;
	struct frame *kept;
	int status;

	*out = NULL;
	for (size_t k = 0; k < frame->head.c; k++)
		if (strcmp(frame->head.channel[k], name))
			channel[c++] = k;
	status = frame_select(frame, channel, c, &kept);
	free(channel);
	if (status < 0)
		return -1;
	head_copy(&head, &kept->head);
	status = frame_new_if(head_add_channels(&head, name), &head, out);
	for (size_t y = 0; y < head.h && status == 0; y++) {
		for (size_t k = 0; k < c; k++)
			frame_pass(kept, k, *out, k, y);
		for (size_t x = 0; x < head.w; x++)
			frame_floats(*out, c, y)[x] = NAN;
	}
	frame_free(kept);
	return status;
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

void
frame_write_soon(const struct frame *frame, size_t c, size_t y, size_t x, size_t n)
{
	const struct plane *plane = &frame->plane[c];
	size_t size = sample_size(plane->type);
	const char *at;

	if (y >= frame->head.h || plane->rows > 0)
		return;
	at = (const char *)frame_row(frame, c, y) + x * size;
	for (size_t i = 0; i < n * size; i += 64)
		CPU_WRITE_SOON(at + i);
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
	head_copy(&head, &frame->head);
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

/* ---- several frames of one size as one frame of all their channels ---- */

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
	const struct frame_head *first = &frames[0]->head;
	const struct meta **meta;
	size_t *planes, c = 0;
	int status;

	if (head_init(head, first->w, first->h, channels, first->type) < 0)
		return -1;
	memcpy(head->spacing, first->spacing, sizeof(head->spacing));
	memcpy(head->unit, first->unit, sizeof(head->unit));
	meta = must_alloc(n, sizeof(*meta));
	planes = must_alloc(n, sizeof(*planes));
	for (size_t i = 0; i < n; i++) {
		meta[i] = &frames[i]->head.meta;
		planes[i] = frames[i]->head.c;
		for (size_t k = 0; k < planes[i]; k++, c++)
			memcpy(head->channel[c], frames[i]->head.channel[k], CHANNEL_NAME_SIZE);
	}
	status = meta_gather(&head->meta, meta, planes, n);
	if (status < 0)
		head_free(head);
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

/* Makes the head of the whole and keeps copies of the heads it was made of. */
static int
stacking_new(struct frame_stacking *last, struct frame *const *frames, size_t n)
{
	size_t channels;

	frame_stacking_free(last);
	if (check_stackable(frames, n, &channels) < 0 ||
	    stacked_head(frames, n, channels, &last->whole) < 0)
		return -1;
	last->part = must_alloc(n, sizeof(*last->part));
	for (; last->n < n; last->n++)
		head_copy(&last->part[last->n], &frames[last->n]->head);
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
