#include "pool.h"

#include <omp.h>
#include <pthread.h>
#include <stdbool.h>

struct pool {
	int threads;
	pthread_mutex_t lock;
	pthread_cond_t wake, done;
	unsigned long job;		/* counts jobs; workers run each once */
	bool stop;
	pool_fn *fn;
	void *arg;
	size_t n, next;			/* items, and the next one to take */
	size_t finished;
};

/* Takes items until none is left. Called and returns with the lock held. */
static void
take_items(struct pool *pool, int thread)
{
	while (pool->next < pool->n) {
		size_t item = pool->next++;
		pool_fn *fn = pool->fn;
		void *arg = pool->arg;

		pthread_mutex_unlock(&pool->lock);
		fn(arg, item, thread);
		pthread_mutex_lock(&pool->lock);
		if (++pool->finished == pool->n)
			pthread_cond_signal(&pool->done);
	}
}

static void
work(struct pool *pool, int thread)
{
	unsigned long seen = 0;

	pthread_mutex_lock(&pool->lock);
	while (!pool->stop) {
		if (seen == pool->job) {
			pthread_cond_wait(&pool->wake, &pool->lock);
			continue;
		}
		seen = pool->job;
		take_items(pool, thread);
	}
	pthread_mutex_unlock(&pool->lock);
}

void
pool_for(struct pool *pool, size_t n, pool_fn *fn, void *arg)
{
	if (n == 0)
		return;
	if (pool->threads == 1 || n == 1) {
		for (size_t i = 0; i < n; i++)
			fn(arg, i, 0);
		return;
	}
	pthread_mutex_lock(&pool->lock);
	pool->fn = fn;
	pool->arg = arg;
	pool->n = n;
	pool->next = pool->finished = 0;
	pool->job++;
	pthread_cond_broadcast(&pool->wake);
	take_items(pool, 0);
	while (pool->finished < pool->n)
		pthread_cond_wait(&pool->done, &pool->lock);
	pool->n = pool->next = 0;
	pthread_mutex_unlock(&pool->lock);
}

int
pool_threads(const struct pool *pool)
{
	return pool->threads;
}

static void
stop(struct pool *pool)
{
	pthread_mutex_lock(&pool->lock);
	pool->stop = true;
	pthread_cond_broadcast(&pool->wake);
	pthread_mutex_unlock(&pool->lock);
}

int
pool_run(int threads, int (*drive)(void *arg, struct pool *), void *arg)
{
	struct pool pool = { .threads = threads, .lock = PTHREAD_MUTEX_INITIALIZER,
		.wake = PTHREAD_COND_INITIALIZER, .done = PTHREAD_COND_INITIALIZER };
	int status = -1;

	if (threads == 1)
		return drive(arg, &pool);
	omp_set_dynamic(0);
#pragma omp parallel num_threads(threads)
	{
		if (omp_get_thread_num() == 0) {
			status = drive(arg, &pool);
			stop(&pool);
		} else {
			work(&pool, omp_get_thread_num());
		}
	}
	return status;
}
