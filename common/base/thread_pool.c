/* The threads of a chain: they spin for a moment between jobs, then sleep. */
#include "base/thread_pool.h"

#include <pthread.h>

#include "base/process.h"

/* An idle thread spins for this many pauses, some 50 us, before it sleeps: between two frames of a
 * stream that is shorter than falling asleep and waking up, above all on a virtual machine. */
#define SPIN_LIMIT 1000

struct thread_pool {
	int threads;
	pthread_mutex_t lock;
	pthread_cond_t wake, done;
	unsigned long job, ended;	/* count jobs; workers run each once */
	bool stop;
	thread_pool_fn *fn;
	void *arg;
	size_t n, next;			/* items, and the next one to take */
	size_t finished;
	struct fail_record failure;	/* of the failed item of the least number */
	size_t failed;			/* its number; n: none */
	struct thread_pool_idle *idle;	/* a list */
	unsigned long called;		/* counts thread_pool_call_idle() */
};

static void
spin_pause(void)
{
#ifdef __x86_64__
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

/* Spins until the number differs from `was`, or up to the limit. The caller holds the lock; it is
 * free meanwhile. */
static void
spin_wait(struct thread_pool *pool, const unsigned long *number, unsigned long was)
{
	if (*number != was)
		return;
	pthread_mutex_unlock(&pool->lock);
	for (int i = 0; i < SPIN_LIMIT && __atomic_load_n(number, __ATOMIC_RELAXED) == was; i++)
		spin_pause();
	pthread_mutex_lock(&pool->lock);
}

/* Takes items until none is left. Called and returns with the lock held. */
static void
take_items(struct thread_pool *pool, int thread)
{
	while (pool->next < pool->n) {
		size_t item = pool->next++;
		thread_pool_fn *fn = pool->fn;
		void *arg = pool->arg;
		struct fail_record failure;

		pthread_mutex_unlock(&pool->lock);
		fn(arg, item, thread);
		pthread_mutex_lock(&pool->lock);
		if (fail_message()) {
			fail_take(&failure);
			if (item < pool->failed) {	/* the same in every run */
				pool->failed = item;
				pool->failure = failure;
			}
		}
		if (++pool->finished < pool->n)
			continue;
		__atomic_add_fetch(&pool->ended, 1, __ATOMIC_RELAXED);
		pthread_cond_signal(&pool->done);
	}
}

/* One piece of idle work; false: none has any. Called and returns with the lock held. */
static bool
take_idle(struct thread_pool *pool, int thread)
{
	bool done = false;

	for (struct thread_pool_idle *p = pool->idle; p && !done; p = p->next) {
		if (p->leaving)
			continue;
		p->running++;
		pthread_mutex_unlock(&pool->lock);
		done = p->fn(p->arg, thread);
		fail_clear();	/* it keeps what it needs */
		pthread_mutex_lock(&pool->lock);
		if (--p->running == 0)
			pthread_cond_broadcast(&pool->done);	/* it may be taken away */
	}
	return done;
}

static void
work(struct thread_pool *pool, int thread)
{
	unsigned long seen = 0, heard = 0;
	bool spun = true;

	pthread_mutex_lock(&pool->lock);
	while (!pool->stop) {
		if (seen != pool->job) {
			seen = pool->job;
			take_items(pool, thread);
			spun = false;
		} else if (heard != pool->called) {
			unsigned long called = pool->called;

			if (!take_idle(pool, thread))
				heard = called;
		} else if (!spun) {
			spin_wait(pool, &pool->job, seen);
			spun = true;
		} else {
			pthread_cond_wait(&pool->wake, &pool->lock);
		}
	}
	pthread_mutex_unlock(&pool->lock);
}

void
thread_pool_for(struct thread_pool *pool, size_t n, thread_pool_fn *fn, void *arg)
{
	if (n == 0)
		return;
	if (!pool || pool->threads == 1 || n == 1) {
		for (size_t i = 0; i < n; i++)
			fn(arg, i, 0);
		return;
	}
	pthread_mutex_lock(&pool->lock);
	pool->fn = fn;
	pool->arg = arg;
	pool->n = n;
	pool->next = pool->finished = 0;
	pool->failed = n;
	__atomic_add_fetch(&pool->job, 1, __ATOMIC_RELAXED);
	pthread_cond_broadcast(&pool->wake);
	take_items(pool, 0);
	spin_wait(pool, &pool->ended, pool->job - 1);
	while (pool->finished < pool->n)
		pthread_cond_wait(&pool->done, &pool->lock);
	if (pool->failed < n)
		fail_put(&pool->failure);
	pool->n = pool->next = 0;
	pthread_mutex_unlock(&pool->lock);
}

/* There are pieces again, for one thread or for all. */
static void
call_idle(struct thread_pool *pool, int (*wake)(pthread_cond_t *))
{
	if (pool->threads == 1)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->called++;
	wake(&pool->wake);
	pthread_mutex_unlock(&pool->lock);
}

void
thread_pool_call_idle(struct thread_pool *pool)
{
	call_idle(pool, pthread_cond_signal);
}

void
thread_pool_call_all_idle(struct thread_pool *pool)
{
	call_idle(pool, pthread_cond_broadcast);
}

bool
thread_pool_help(struct thread_pool *pool)
{
	struct fail_record pending;
	const char *before;
	bool done;

	if (pool->threads == 1)
		return false;
	fail_take(&pending);
	before = warn_stage(NULL);
	pthread_mutex_lock(&pool->lock);
	done = take_idle(pool, 0);
	pthread_mutex_unlock(&pool->lock);
	warn_stage(before);
	fail_put(&pending);
	return done;
}

void
thread_pool_add_idle(struct thread_pool *pool, struct thread_pool_idle *idle)
{
	pthread_mutex_lock(&pool->lock);
	idle->pool = pool;
	idle->running = 0;
	idle->leaving = false;
	idle->next = pool->idle;
	pool->idle = idle;
	pool->called++;
	pthread_cond_broadcast(&pool->wake);
	pthread_mutex_unlock(&pool->lock);
}

void
thread_pool_remove_idle(struct thread_pool_idle *idle)
{
	struct thread_pool *pool = idle->pool;
	struct thread_pool_idle **at;

	if (!pool)
		return;
	pthread_mutex_lock(&pool->lock);
	idle->leaving = true;	/* on the list, by which a thread that is at it goes on */
	while (idle->running)
		pthread_cond_wait(&pool->done, &pool->lock);
	for (at = &pool->idle; *at != idle; at = &(*at)->next)
		;
	*at = idle->next;
	pthread_mutex_unlock(&pool->lock);
	idle->pool = NULL;
}

int
thread_pool_threads(const struct thread_pool *pool)
{
	return pool->threads;
}

struct worker {
	struct thread_pool *pool;
	int number;
	pthread_t thread;
};

static void *
run_worker(void *arg)
{
	struct worker *worker = arg;

	work(worker->pool, worker->number);
	return NULL;
}

/* Starts workers up to so many threads, this one counted, or as many as the system gives (ulimit
 * -u, a container's limit of tasks). Nobody waits until they run. */
static struct worker *
start_workers(struct thread_pool *pool, int threads)
{
	struct worker *worker = must_alloc((size_t)threads, sizeof(*worker));
	int n = 1;

	for (bool started = true; started && n < threads; n += started) {
		worker[n] = (struct worker){ .pool = pool, .number = n };
		started = pthread_create(&worker[n].thread, NULL, run_worker, &worker[n]) == 0;
	}
	pool->threads = n;
	return worker;
}

int
thread_pool_run(int threads, int (*drive)(void *arg, struct thread_pool *), void *arg)
{
	struct thread_pool pool = { .threads = 1, .lock = PTHREAD_MUTEX_INITIALIZER,
		.wake = PTHREAD_COND_INITIALIZER, .done = PTHREAD_COND_INITIALIZER };
	struct worker *worker = threads > 1 ? start_workers(&pool, threads) : NULL;
	int status = drive(arg, &pool);

	pthread_mutex_lock(&pool.lock);
	pool.stop = true;
	pthread_cond_broadcast(&pool.wake);
	pthread_mutex_unlock(&pool.lock);
	for (int i = 1; i < pool.threads; i++)
		pthread_join(worker[i].thread, NULL);
	free(worker);
	for (struct thread_pool_idle *p = pool.idle; p; p = p->next)
		p->pool = NULL;		/* its idle work is no pool's any more */
	return status;
}
