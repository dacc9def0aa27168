#include "run/frame_choice.h"

#include <sys/resource.h>
#include <unistd.h>

#include "run/second_input.h"

/* Two threads that share the rows of a frame lose 1 to 2 % to halos and waiting; two frames at once
 * took them 5 % more, as less of them stays in the cache. */
#define THREADS_LEAST 3
#define FRAMES_LEAST 2
/*
 * Frames at once are half the threads and so many more: where a band costs 14 rows for its halos,
 * 16 threads then spend 93 % of their time on rows of 600 that count, by a model; of as many frames
 * as threads 95 %, of a quarter and 2 88 %, of one frame at a time 73 %. Each takes memory, and
 * leaves the cache.
 */
#define MORE 2
/* Frames take so many bytes for each thread, input and output together. Of larger ones fewer are
 * made at once, by several threads each: a share then has many rows. */
#define BYTES_PER_THREAD ((size_t)32 << 20)
#define MEMORY_PART 8		/* of the machine's, or of what the process may have */

static size_t
least_of(size_t a, size_t b)
{
	return a < b ? a : b;
}

size_t
frame_choice_bytes(size_t threads)
{
	size_t most = threads * BYTES_PER_THREAD;
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	struct rlimit limit;

	if (pages > 0 && page > 0)
		most = least_of(most, (size_t)pages / MEMORY_PART * (size_t)page);
	if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
		most = least_of(most, limit.rlim_cur / MEMORY_PART);
	return most;
}

size_t
frame_choice_room(size_t threads)
{
	return threads / 2 + MORE;
}

size_t
frame_choice_most(const struct segment *segment)
{
	size_t threads = (size_t)thread_pool_threads(segment->chain->pool);
	const struct frame_head *out = &segment->link[segment->n - 1].out;
	size_t bytes = frame_bytes(segment->in) + out->c * frame_stride(out->w, out->type) * out->h;

	if (threads < THREADS_LEAST)
		return 0;
	return least_of(frame_choice_room(threads), segment->chain->making_bytes / (bytes + 1));
}

static bool
map_allows(const struct link *link)
{
	/* the first frame by a plan is made alone: checks of the stage look at more of it */
	if (!(link->run.stage->traits & STAGE_CONCURRENT) || link->run.body->survey ||
	    link->run.state || link->made == 0)
		return false;
	return !second_inputs_in_step(link);
}

/* Does a stage behind these maps gather? Then --keep-going looks at what waits there. */
static bool
is_gathered(const struct segment *segment)
{
	const struct chain *chain = segment->chain;

	for (size_t i = segment->link->run.position + segment->n; i < chain->n; i++)
		if (chain->link[i].run.body->gather)
			return true;
	return false;
}

bool
frame_choice_wanted(const struct segment *segment)
{
	const struct chain *chain = segment->chain;

	if (!chain->waits || chain->band || chain->device || chain->opens ||
	    head_is_table(&segment->in->head))
		return false;
	for (size_t k = 0; k < segment->n; k++)
		if (!map_allows(&segment->link[k]))
			return false;
	return frame_choice_most(segment) >= FRAMES_LEAST &&
	    !(chain->losses.on && is_gathered(segment));
}
