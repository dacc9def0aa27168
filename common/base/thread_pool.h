/*
 * The threads of one chain: one OpenMP parallel region that lives as long as the chain. Thread 0
 * drives; the others spin for jobs for a moment, then sleep on a condition until there are some
 * (libgomp's own waiting would spin all the time).
 */
#ifndef THREAD_POOL_H
#define THREAD_POOL_H

#include <stddef.h>

struct thread_pool;

/* fn(arg, item, thread): 0 <= thread < thread_pool_threads(). */
typedef void thread_pool_fn(void *arg, size_t item, int thread);

/* Runs drive(arg, pool) with `threads` threads, or as many as the system gives, and returns what it
 * returned; -1 after fail(). */
int thread_pool_run(int threads, int (*drive)(void *arg, struct thread_pool *), void *arg);
int thread_pool_threads(const struct thread_pool *);
/* Calls fn for items 0..n-1 on all threads, in any order; returns when all are done. Only from
 * drive, for which the message of the first item (by number) that called fail() is recorded. */
void thread_pool_for(struct thread_pool *, size_t n, thread_pool_fn *fn, void *arg);

#endif
