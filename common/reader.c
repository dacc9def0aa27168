#include "reader.h"

#include <stdlib.h>

#include "fail.h"
#include "progress.h"

#define AHEAD 2			/* files a thread, so that one that is done early has another */

/* A file whose first frame is there already. */
struct slot {
	const char *path;
	struct source *source;
	struct frame *first;
	int got;			/* what source_next() said of it */
};

struct reader {
	struct pool *pool;
	char **path;
	size_t paths, next;		/* files, and the first one not opened yet */
	struct slot *slot;		/* a ring without wrap: filled when empty */
	size_t slots, room, at;
};

static int
add_operand(struct reader *reader, const char *operand)
{
	char **files, **more;
	size_t n;

	if (source_files(operand, &files, &n) < 0)
		return -1;
	more = reallocarray(reader->path, reader->paths + n, sizeof(*more));
	if (!more) {
		for (size_t i = 0; i < n; i++)
			free(files[i]);
		free(files);
		return fail_memory();
	}
	reader->path = more;
	for (size_t i = 0; i < n; i++)
		more[reader->paths++] = files[i];
	free(files);
	return 0;
}

struct reader *
reader_open(char *const *operand, size_t operands, struct pool *pool)
{
	struct reader *reader = calloc(1, sizeof(*reader));
	int status = 0;

	if (!reader) {
		fail_memory();
		return NULL;
	}
	reader->pool = pool;
	if (operands == 0)
		status = add_operand(reader, "-");
	for (size_t i = 0; i < operands && status == 0; i++)
		status = add_operand(reader, operand[i]);
	reader->room = pool_threads(pool) > 1 ? AHEAD * (size_t)pool_threads(pool) : 1;
	reader->slot = calloc(reader->room, sizeof(*reader->slot));
	if (status == 0 && !reader->slot)
		status = fail_memory();
	if (status < 0) {
		reader_close(reader);
		return NULL;
	}
	return reader;
}

static void
open_slot(void *arg, size_t item, int thread)
{
	struct slot *slot = &((struct reader *)arg)->slot[item];

	(void)thread;
	slot->source = source_open(slot->path);
	slot->got = slot->source ? source_next(slot->source, &slot->first) : -1;
}

static void
close_slot(struct slot *slot)
{
	source_close(slot->source);
	frame_free(slot->first);
	*slot = (struct slot){ 0 };
}

/* Opens the next files, on all threads. */
static void
fill(struct reader *reader)
{
	reader->at = 0;
	reader->slots = reader->paths - reader->next;
	if (reader->slots > reader->room)
		reader->slots = reader->room;
	progress_input(reader->next, reader->paths);
	for (size_t i = 0; i < reader->slots; i++)
		reader->slot[i].path = reader->path[reader->next++];
	pool_for(reader->pool, reader->slots, open_slot, reader);
}

int
reader_next(struct reader *reader, struct frame **out)
{
	for (;;) {
		struct slot *slot = &reader->slot[reader->at];
		int got;

		if (reader->at == reader->slots) {
			if (reader->next == reader->paths)
				return 0;
			fill(reader);
			continue;
		}
		if (slot->first) {
			*out = slot->first;
			slot->first = NULL;
			return 1;
		}
		got = slot->got == 1 ? source_next(slot->source, out) : slot->got;
		if (got != 0)
			return got;
		close_slot(slot);
		reader->at++;
	}
}

void
reader_close(struct reader *reader)
{
	if (!reader)
		return;
	for (size_t i = 0; i < reader->slots; i++)
		close_slot(&reader->slot[i]);
	for (size_t i = 0; i < reader->paths; i++)
		free(reader->path[i]);
	free(reader->path);
	free(reader->slot);
	free(reader);
}
