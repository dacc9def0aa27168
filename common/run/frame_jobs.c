/* Computes several frames at the same time where one frame has too few rows for all threads. */
#include "run/frame_jobs.h"

#include <sys/resource.h>
#include <unistd.h>

#include "base/process.h"
#include "run/bands.h"
#include "run/sampler.h"
#include "run/second_input.h"

/* ---- which frames are made at once, and how many ---- */

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
#define FRAMES_MORE 2
/* Frames take so many bytes for each thread, input and output together. Of larger ones fewer are
 * made at once, by several threads each: a share then has many rows. */
#define BYTES_PER_THREAD ((size_t)32 << 20)
#define MEMORY_PART 8		/* of the machine's, or of what the process may have */

/* Bytes that the frames of so many threads may take. */
static size_t
bytes_most(size_t threads)
{
	size_t most = threads * BYTES_PER_THREAD;
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	struct rlimit limit;

	if (pages > 0 && page > 0)
		most = size_at_most(most, (size_t)pages / MEMORY_PART * (size_t)page);
	if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
		most = size_at_most(most, limit.rlim_cur / MEMORY_PART);
	return most;
}

/* Frames at once, where memory allows as many. */
static size_t
frames_of_threads(size_t threads)
{
	return threads / 2 + FRAMES_MORE;
}

/* Frames like the segment's at once. */
static size_t
frames_most(const struct segment *segment)
{
	size_t threads = (size_t)thread_pool_threads(segment->chain->pool);
	const struct frame_head *out = &segment->link[segment->n - 1].out;
	size_t bytes = frame_bytes(segment->in) + out->c * frame_stride(out->w, out->type) * out->h;

	if (threads < THREADS_LEAST)
		return 0;
	return size_at_most(frames_of_threads(threads), segment->chain->making_bytes / (bytes + 1));
}

bool
frame_jobs_wanted(const struct segment *segment)
{
	const struct chain *chain = segment->chain;

	if (!chain->waits || chain->band || chain->device || chain->opens ||
	    head_is_table(&segment->in->head))
		return false;
	for (size_t k = 0; k < segment->n; k++) {
		const struct link *link = &segment->link[k];

		/* the first frame by a plan is made alone: checks look at more of it */
		if (!(link->run.stage->traits & STAGE_CONCURRENT) || link->run.body->survey ||
		    link->run.state || link->made == 0 || second_inputs_in_step(link))
			return false;
	}
	/* --keep-going looks at what waits at a later stage that gathers */
	for (size_t i = segment->link->run.position + segment->n; i < chain->n; i++)
		if (chain->losses.on && chain->link[i].run.body->gather)
			return false;
	return frames_most(segment) >= FRAMES_LEAST;
}

struct frame_job {
	struct segment segment;
	struct run copy[SEGMENT_MOST];		/* each with a priv of its own */
	struct all_invalid all_invalid[SEGMENT_MOST];
	struct check_sample sample[SEGMENT_MOST];
	double seconds[SEGMENT_MOST];
	size_t left;			/* rows that are not made yet */
	const char *first, *path;	/* its files, as struct losses has them */
};

/* Of a segment, kept by its first link. */
struct frame_jobs {
	struct chain *chain;
	struct link *link;
	size_t n;			/* maps */
	struct frame_job **job;		/* a ring */
	size_t room;
	/* frames so far: given, begun by a thread, handed on; the lock is for these, `left` and
	 * `seconds` */
	size_t given, begun, completed;
	pthread_mutex_t lock;
	pthread_cond_t changed;		/* all rows of a frame are made */
	struct row_shares shares;	/* one of each thread */
	struct band_memory *memory;	/* likewise */
	struct segment plan;		/* laid out, for the frames since there were none */
	struct producers producers;
};

/* ---- making frames: any thread ---- */

static struct frame_job *
job_at(const struct frame_jobs *jobs, size_t i)
{
	return jobs->job[i % jobs->room];
}

/* Rows for the thread to make: of its share, of a new frame, or of another thread's. */
static bool
take_piece(struct frame_jobs *jobs, int thread, struct row_piece *piece)
{
	bool waits;

	pthread_mutex_lock(&jobs->lock);
	if (jobs->begun < jobs->given && !row_shares_left(&jobs->shares, (size_t)thread))
		row_shares_begin(&jobs->shares, (size_t)thread, jobs->plan.h,
		    job_at(jobs, jobs->begun++));
	waits = jobs->begun < jobs->given;
	pthread_mutex_unlock(&jobs->lock);
	return row_shares_take(&jobs->shares, (size_t)thread, !waits, piece);
}

/* Makes some rows. False: there are none. *ends: they are the last ones of a share. */
static bool
make_piece(struct frame_jobs *jobs, int thread, bool *ends)
{
	struct band_memory *band = &jobs->memory[thread];
	struct frame_job *job;
	struct row_piece piece;

	if (!take_piece(jobs, thread, &piece))
		return false;
	job = piece.frame;
	memset(band->seconds, 0, sizeof(band->seconds));
	bands_make(&job->segment, band, &piece);
	*ends = piece.y1 == piece.end;
	pthread_mutex_lock(&jobs->lock);
	for (size_t k = 0; k < jobs->n; k++)
		job->seconds[k] += band->seconds[k];
	job->left -= piece.y1 - piece.y0;
	if (job->left == 0)
		pthread_cond_signal(&jobs->changed);
	pthread_mutex_unlock(&jobs->lock);
	return true;
}

/* What a thread of the pool does meanwhile: a share of a frame. */
static bool
make_share(void *arg, int thread)
{
	const struct chain *chain = arg;

	for (size_t i = 0; i < chain->n; i++) {
		struct frame_jobs *jobs =
		    __atomic_load_n(&chain->link[i].frame_jobs, __ATOMIC_ACQUIRE);
		bool ends = false, made = false;

		while (jobs && !ends && make_piece(jobs, thread, &ends))
			made = true;
		if (made)
			return true;
	}
	return false;
}

void
frame_jobs_begin(struct chain *chain)
{
	chain->making_bytes = bytes_most((size_t)thread_pool_threads(chain->pool));
	chain->making = (struct thread_pool_idle){ make_share, chain };
	thread_pool_add_idle(chain->pool, &chain->making);
}

void
frame_jobs_end(struct chain *chain)
{
	chain->waits = false;
	thread_pool_remove_idle(&chain->making);
}

/* ---- thread 0 ---- */

static void
free_jobs(struct frame_jobs *jobs)
{
	for (size_t i = 0; i < jobs->room; i++) {
		for (size_t k = 0; k < SEGMENT_MOST && jobs->job[i]; k++) {
			free(jobs->job[i]->copy[k].priv);
			check_sample_free(&jobs->job[i]->sample[k]);
		}
		free(jobs->job[i]);
	}
	free(jobs->job);
	band_memory_free(jobs->memory, (size_t)thread_pool_threads(jobs->chain->pool));
	band_free_producers(&jobs->producers);
	row_shares_free(&jobs->shares);
	pthread_mutex_destroy(&jobs->lock);
	pthread_cond_destroy(&jobs->changed);
	free(jobs);
}

static struct frame_jobs *
open_jobs(const struct segment *segment)
{
	size_t threads = (size_t)thread_pool_threads(segment->chain->pool);
	struct frame_jobs *jobs = must_alloc(1, sizeof(*jobs));

	jobs->chain = segment->chain;
	jobs->link = segment->link;
	jobs->room = frames_of_threads(threads);
	pthread_mutex_init(&jobs->lock, NULL);
	pthread_cond_init(&jobs->changed, NULL);
	row_shares_init(&jobs->shares);
	jobs->job = must_alloc(jobs->room, sizeof(*jobs->job));
	row_shares_open(&jobs->shares, threads, 1, 1);
	jobs->memory = band_memory_new(threads);
	return jobs;
}

/* No frame is under way: lays out for those to come. -1 after fail(). */
static int
lay_out(struct frame_jobs *jobs, const struct segment *segment)
{
	size_t threads = (size_t)thread_pool_threads(jobs->chain->pool);

	jobs->plan = *segment;
	jobs->n = segment->n;
	band_lay_out(&jobs->plan);
	for (size_t i = 0; i < threads; i++)
		if (band_reserve(&jobs->memory[i], &jobs->plan) < 0)
			return -1;
	row_shares_open(&jobs->shares, threads, jobs->plan.step, bands_least(&jobs->plan));
	jobs->plan.out = segment->out;
	band_find_producers(&jobs->plan, &jobs->producers);
	return 0;
}

int
frame_jobs_submit(struct segment *segment)
{
	struct chain *chain = segment->chain;
	struct frame_jobs *jobs = segment->link->frame_jobs;
	struct frame_job *job;

	if (!jobs)
		jobs = open_jobs(segment);
	__atomic_store_n(&segment->link->frame_jobs, jobs, __ATOMIC_RELEASE);
	if (jobs->completed == jobs->given && lay_out(jobs, segment) < 0)
		return -1;
	job = job_at(jobs, jobs->given);
	if (!job)
		job = jobs->job[jobs->given % jobs->room] = must_alloc(1, sizeof(*job));
	job->segment = jobs->plan;
	job->segment.in = segment->in;
	job->segment.out = segment->out;
	for (size_t k = 0; k < segment->n; k++) {
		struct link *link = &segment->link[k];
		const size_t bytes = link->run.stage->private_size;
		void *priv = must_resize(job->copy[k].priv, 1, bytes);

		job->copy[k] = link->run;
		job->copy[k].priv = memcpy(priv, link->run.priv, bytes);
		job->all_invalid[k] = (struct all_invalid){
			.out = segment_passed_from(segment, k, 0) != NO_CHANNEL };
		job->segment.run[k] = &job->copy[k];
		job->segment.all_invalid[k] = &job->all_invalid[k];
		job->segment.sample[k] = link->checks ? &job->sample[k] : NULL;
		if (link->checks) {
			checks_begin(link, &job->sample[k]);
			check_sample_whole(&job->sample[k], k ? NULL : segment->in);
		}
		job->seconds[k] = 0;
	}
	job->left = segment->h;
	job->first = chain->losses.first;
	job->path = chain->losses.path;
	pthread_mutex_lock(&jobs->lock);
	jobs->given++;
	pthread_mutex_unlock(&jobs->lock);
	thread_pool_call_idle(chain->pool);
	return 0;
}

static bool
is_made(struct frame_jobs *jobs, const struct frame_job *job)
{
	bool made;

	pthread_mutex_lock(&jobs->lock);
	made = job->left == 0;
	pthread_mutex_unlock(&jobs->lock);
	return made;
}

/* Waits for a frame: the caller makes rows meanwhile, or what else there is to do. */
static void
wait_for(struct frame_jobs *jobs, const struct frame_job *job)
{
	bool ends;

	while (!is_made(jobs, job)) {
		if (make_piece(jobs, 0, &ends) || thread_pool_help(jobs->chain->pool))
			continue;
		pthread_mutex_lock(&jobs->lock);
		while (job->left)
			pthread_cond_wait(&jobs->changed, &jobs->lock);
		pthread_mutex_unlock(&jobs->lock);
	}
}

/* All rows of a frame are made: what its stages say of it, and the times. */
static void
conclude_map(struct frame_job *job, size_t k)
{
	struct link *link = &job->segment.link[k];
	const struct all_invalid *seen = &job->all_invalid[k];
	int threads = thread_pool_threads(job->segment.chain->pool);

	all_invalid_begin(&link->all_invalid, seen->out);
	link->all_invalid.in = seen->in;
	link->all_invalid.others = seen->others;
	link->all_invalid.whole |= seen->whole;
	bands_conclude_map(link, job->segment.sample[k]);
	link->timing[false].seconds += job->seconds[k] / threads;
	link->timing[false].samples += link_samples(link);
	link->timing[false].frames++;
}

/* The oldest frame goes on, once it is made. */
static int
complete_oldest(struct frame_jobs *jobs, frame_jobs_complete *complete)
{
	struct chain *chain = jobs->chain;
	struct frame_job *job = job_at(jobs, jobs->completed);
	struct frame *out = job->segment.out;
	const char *first = chain->losses.first, *path = chain->losses.path;
	int status;

	wait_for(jobs, job);
	for (size_t k = 0; k < jobs->n; k++)
		conclude_map(job, k);
	frame_free(job->segment.in);
	chain->losses.first = job->first;
	chain->losses.path = job->path;
	jobs->completed++;
	status = complete(chain, jobs->link->run.position + jobs->n, out);
	chain->losses.first = first;
	chain->losses.path = path;
	return status;
}

int
frame_jobs_make_room(struct segment *segment, frame_jobs_complete *complete)
{
	struct frame_jobs *jobs = segment->link->frame_jobs;
	size_t most = frames_most(segment);

	/* fewer maps go together than before */
	if (jobs && jobs->n != segment->n &&
	    frame_jobs_drain(segment->chain, segment->link, 0, complete) < 0)
		return -1;
	while (jobs && jobs->completed < jobs->given &&
	    (jobs->given - jobs->completed >= most || is_made(jobs, job_at(jobs, jobs->completed))))
		if (complete_oldest(jobs, complete) < 0)
			return -1;
	return 0;
}

int
frame_jobs_drain(struct chain *chain, struct link *link, size_t to, frame_jobs_complete *complete)
{
	struct frame_jobs *jobs = link->frame_jobs;

	if (!jobs || jobs->completed == jobs->given || link->run.position + jobs->n <= to)
		return 0;
	thread_pool_call_all_idle(chain->pool);	/* for rows of the last frames */
	while (jobs->completed < jobs->given)
		if (complete_oldest(jobs, complete) < 0)
			return -1;
	return 0;
}

void
frame_jobs_free(struct link *link)
{
	struct frame_jobs *jobs = link->frame_jobs;

	if (!jobs)
		return;
	for (; jobs->completed < jobs->given; jobs->completed++) {
		struct frame_job *job = job_at(jobs, jobs->completed);

		frame_free(job->segment.in);
		frame_free(job->segment.out);
	}
	free_jobs(jobs);
	link->frame_jobs = NULL;
}
