#include "pieces.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

#define CHUNK 65536

/* What is true of one frame alone has no place in the cloud of all. */
static const char *const own_keys[] = { "name", "stage_mm", "stage_deg", "time_s", "frame_number",
	"points", "origin_px", "bin", "rect_f_px", "rect_cx_px", "rect_cy_px", "rect_side",
	"rect_baseline_mm", "rect_rotation", "picture_px" };

/* ---- what comes in ---- */

static int
check_key(const struct piece *first, const struct piece *piece, const char *key)
{
	const char *a = meta_get(&first->frame->head.meta, key);
	const char *b = meta_get(&piece->frame->head.meta, key);

	if (!a || !b || !strcmp(a, b))
		return 0;
	return fail(NULL, "views differ in %s: %s in frame %zu of view %zu, %s in frame %zu of "
	    "view %zu", key, a, first->number, first->view, b, piece->number, piece->view);
}

static int
check(const struct pieces *pieces, const struct piece *piece)
{
	const struct frame_head *head = &piece->frame->head;
	char text[300];

	for (size_t k = 0; k < 3; k++)
		if (head_channel(head, (char[2]){ "xyz"[k] }) == NO_CHANNEL)
			return fail(NULL, "view %zu has no channel %c, but %s", piece->view,
			    "xyz"[k], head_channels_hint(head, text));
	if (pieces->n && (check_key(&pieces->v[0], piece, "length_unit") < 0 ||
	    check_key(&pieces->v[0], piece, "z_axis") < 0))
		return -1;
	return 0;
}

int
pieces_add(struct pieces *pieces, struct frame *frame, size_t view, size_t number,
    const struct pose *pose)
{
	struct piece piece = { frame, view, number, *pose, false };

	piece.moved = memcmp(pose, &pose_identity, sizeof(*pose)) != 0;
	if (pieces->n == pieces->room) {
		size_t room = pieces->room ? 2 * pieces->room : 16;
		struct piece *more = reallocarray(pieces->v, room, sizeof(*more));

		if (!more) {
			frame_free(frame);
			return fail_memory();
		}
		pieces->v = more;
		pieces->room = room;
	}
	if (check(pieces, &piece) < 0) {
		frame_free(frame);
		return -1;
	}
	pieces->v[pieces->n++] = piece;
	return 0;
}

void
pieces_free(struct pieces *pieces)
{
	for (size_t i = 0; i < pieces->n; i++)
		frame_free(pieces->v[i].frame);
	free(pieces->v);
	*pieces = (struct pieces){ 0 };
}

/* ---- the cloud ---- */

struct gathering {
	const struct piece *piece;
	struct frame *cloud;
	const size_t *channel;		/* of the piece, for each one of the cloud */
	size_t x[3], n[3];		/* of the piece: x y z; nx ny nz or NO_CHANNEL */
	size_t *first;			/* of each chunk: how many points; then where they go */
};

static bool
is_point(const struct gathering *gathering, size_t x, size_t y)
{
	for (size_t k = 0; k < 3; k++)
		if (!isfinite(frame_floats(gathering->piece->frame, gathering->x[k], y)[x]))
			return false;
	return true;
}

static void
count_chunk(void *arg, size_t chunk)
{
	struct gathering *gathering = arg;
	const struct frame_head *head = &gathering->piece->frame->head;
	size_t end = (chunk + 1) * CHUNK, n = 0;

	for (size_t i = chunk * CHUNK; i < end && i < head->w * head->h; i++)
		n += is_point(gathering, i % head->w, i / head->w);
	gathering->first[chunk] = n;
}

/* R v, and T where it is a point. */
static void
turn(const struct gathering *gathering, const size_t channel[3], bool point, size_t at, size_t x,
    size_t y)
{
	static const char *const names[2][3] = { { "nx", "ny", "nz" }, { "x", "y", "z" } };
	struct pose pose = gathering->piece->pose;
	double v[3];

	for (size_t k = 0; k < 3; k++) {
		v[k] = frame_floats(gathering->piece->frame, channel[k], y)[x];
		if (!point)
			pose.T[k] = 0;
	}
	pose_apply(&pose, v, v);
	for (size_t k = 0; k < 3; k++)
		frame_floats(gathering->cloud, head_channel(&gathering->cloud->head,
		    names[point][k]), 0)[at] = (float)v[k];
}

static void
take_chunk(void *arg, size_t chunk)
{
	const struct gathering *gathering = arg;
	const struct frame *frame = gathering->piece->frame;
	size_t w = frame->head.w, end = (chunk + 1) * CHUNK, at = gathering->first[chunk];

	for (size_t i = chunk * CHUNK; i < end && i < w * frame->head.h; i++) {
		size_t x = i % w, y = i / w;

		if (!is_point(gathering, x, y))
			continue;
		for (size_t c = 0; c < gathering->cloud->head.c; c++)
			frame_floats(gathering->cloud, c, 0)[at] =
			    frame_floats(frame, gathering->channel[c], y)[x];
		if (gathering->piece->moved) {
			turn(gathering, gathering->x, true, at, x, y);
			if (gathering->n[0] != NO_CHANNEL)
				turn(gathering, gathering->n, false, at, x, y);
		}
		at++;
	}
}

static bool
all_have(const struct pieces *pieces, const char *channel)
{
	for (size_t i = 0; i < pieces->n; i++)
		if (head_channel(&pieces->v[i].frame->head, channel) == NO_CHANNEL)
			return false;
	return true;
}

/* Three channels of normals go together. */
static bool
keeps(const struct pieces *pieces, const char *channel)
{
	bool normal = !strcmp(channel, "nx") || !strcmp(channel, "ny") || !strcmp(channel, "nz");

	return all_have(pieces, channel) && (!normal || (all_have(pieces, "nx") &&
	    all_have(pieces, "ny") && all_have(pieces, "nz")));
}

static int
make_head(const struct pieces *pieces, size_t points, struct frame_head *head)
{
	const struct frame_head *first = &pieces->v[0].frame->head;
	size_t c = 0, *kept = calloc(first->c, sizeof(*kept));
	int status = -1;

	if (!kept)
		return fail_memory();
	for (size_t k = 0; k < first->c; k++)
		if (keeps(pieces, first->channel[k]))
			kept[c++] = k;
	if (head_copy(head, first) == 0) {
		status = meta_pick(&head->meta, first->c, kept, c);
		for (size_t k = 0; k < c; k++)
			memcpy(head->channel[k], first->channel[kept[k]], CHANNEL_NAME_SIZE);
		if (status == 0)
			status = head_set_count(head, c);
		for (size_t i = 0; i < sizeof(own_keys) / sizeof(own_keys[0]); i++)
			meta_remove(&head->meta, own_keys[i]);
		head->spacing[0] = head->spacing[1] = NAN;
		*head->unit = '\0';
		if (status == 0)
			status = head_set_points(head, points);
		if (status < 0)
			head_free(head);
	}
	free(kept);
	return status;
}

static void
find_channels(struct gathering *gathering)
{
	const struct frame_head *head = &gathering->piece->frame->head;

	for (size_t k = 0; k < 3; k++) {
		gathering->x[k] = head_channel(head, (char[2]){ "xyz"[k] });
		gathering->n[k] = head_channel(head, (char[3]){ 'n', "xyz"[k] });
	}
	if (gathering->cloud &&
	    head_channel(&gathering->cloud->head, "nx") == NO_CHANNEL)
		gathering->n[0] = NO_CHANNEL;
}

/* How many points there are; first: of each chunk of each piece. */
static size_t
count(struct run *run, const struct pieces *pieces, size_t *first)
{
	size_t points = 0;

	for (size_t i = 0; i < pieces->n; i++) {
		struct gathering gathering = { .piece = &pieces->v[i], .first = first };
		const struct frame_head *head = &pieces->v[i].frame->head;
		size_t chunks = (head->w * head->h + CHUNK - 1) / CHUNK;

		find_channels(&gathering);
		run_for(run, chunks, count_chunk, &gathering);
		for (size_t k = 0; k < chunks; k++) {
			size_t here = first[k];

			first[k] = points;
			points += here;
		}
		first += chunks;
	}
	return points;
}

static int
gather(struct run *run, struct pieces *pieces, size_t *first, struct frame *cloud)
{
	size_t *channel = calloc(cloud->head.c, sizeof(*channel));

	if (!channel)
		return fail_memory();
	for (size_t i = 0; i < pieces->n; i++) {
		struct gathering gathering = { .piece = &pieces->v[i], .first = first,
			.cloud = cloud, .channel = channel };
		const struct frame_head *head = &pieces->v[i].frame->head;
		size_t chunks = (head->w * head->h + CHUNK - 1) / CHUNK;

		find_channels(&gathering);
		for (size_t c = 0; c < cloud->head.c; c++)
			channel[c] = head_channel(head, cloud->head.channel[c]);
		run_for(run, chunks, take_chunk, &gathering);
		first += chunks;
		frame_free(pieces->v[i].frame);		/* two copies of all would be too much */
		pieces->v[i].frame = NULL;
	}
	free(channel);
	return 0;
}

/* The only piece is the cloud as it stands. */
static int
share(const struct piece *piece, struct frame_head *head, struct frame **cloud)
{
	if (frame_new_empty(head, cloud) < 0)
		return -1;
	for (size_t c = 0; c < head->c; c++)
		frame_share(*cloud, c, piece->frame, c);
	return 0;
}

int
pieces_cloud(struct run *run, struct pieces *pieces, struct frame **cloud)
{
	size_t chunks = 0, *first, points;
	const struct frame_head *only = &pieces->v[0].frame->head;
	struct frame_head head;
	int status;

	for (size_t i = 0; i < pieces->n; i++)
		chunks += (pieces->v[i].frame->head.w * pieces->v[i].frame->head.h + CHUNK - 1) /
		    CHUNK;
	first = calloc(chunks + 1, sizeof(*first));
	if (!first)
		return fail_memory();
	points = count(run, pieces, first);
	status = make_head(pieces, points, &head);
	if (status == 0 && pieces->n == 1 && !pieces->v[0].moved && only->h == 1 &&
	    only->w == points && head.c == only->c) {
		status = share(&pieces->v[0], &head, cloud);
		head_free(&head);
	} else if (status == 0) {
		status = frame_new(&head, cloud);
		head_free(&head);
		for (size_t c = 0; status == 0 && c < (*cloud)->head.c; c++)
			frame_floats(*cloud, c, 0)[0] = NAN;	/* where there is no point */
		if (status == 0)
			status = gather(run, pieces, first, *cloud);
	}
	free(first);
	return status;
}

int
pieces_compact(struct run *run, struct piece *piece)
{
	struct piece own = *piece;
	struct frame *table;
	int status = pieces_cloud(run, &(struct pieces){ &own, 1, 1 }, &table);

	frame_free(own.frame);
	piece->frame = status < 0 ? NULL : table;
	piece->pose = pose_identity;
	piece->moved = false;
	return status;
}
