/*
 * The threads of one chain, which live as long as it does. Thread 0 drives; the others spin for
 * jobs for a moment, then sleep on a condition until there are some. They are no OpenMP region:
 * where one begins and ends libgomp's threads spin for each other, which took a process that makes
 * one measurement of 640x480 a quarter of its processor time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct thread_pool;

/*
 * What a thread that has no items may do meanwhile. fn does one piece of it, and returns false
 * where there is none for now; several threads call it at once, thread 0 only in
 * thread_pool_help(). The caller owns the struct and sets fn and arg.
 */
struct thread_pool_idle {
	bool (*fn)(void *arg, int thread);
	void *arg;
	/* the pool's: */
	struct thread_pool *pool;	/* NULL: it is no pool's, or that one has ended */
	size_t running;			/* calls under way */
	bool leaving;			/* no call begins any more */
	struct thread_pool_idle *next;
};

/* fn(arg, item, thread): 0 <= thread < thread_pool_threads(). */
typedef void thread_pool_fn(void *arg, size_t item, int thread);

/* Runs drive(arg, pool) with `threads` threads, or as many as the system gives, and returns what it
 * returned; -1 after fail(). */
int thread_pool_run(int threads, int (*drive)(void *arg, struct thread_pool *), void *arg);
int thread_pool_threads(const struct thread_pool *);
/* Calls fn for items 0..n-1 on all threads, in any order; returns when all are done. Only from
 * drive, for which the message of the first item (by number) that called fail() is recorded. pool
 * NULL: on this thread, from anywhere. */
void thread_pool_for(struct thread_pool *, size_t n, thread_pool_fn *fn, void *arg);

/* Adds idle work, before what was added earlier; says that there are pieces again; takes it away,
 * once no thread is at it any more. The last may come after the pool has ended. */
void thread_pool_add_idle(struct thread_pool *, struct thread_pool_idle *);
void thread_pool_call_idle(struct thread_pool *);
/* The same, of pieces for all threads. */
void thread_pool_call_all_idle(struct thread_pool *);
void thread_pool_remove_idle(struct thread_pool_idle *);
/* One piece of idle work by thread 0, which would wait otherwise; its own failure stays as it is.
 * False: there is none. */
bool thread_pool_help(struct thread_pool *);
