/*
 * The threads of one chain: one OpenMP parallel region that lives as long as the chain. Thread 0
 * drives; the others look out for jobs for a moment, then sleep on a condition until there are some
 * (libgomp's own waiting would spin).
 */
#ifndef THREAD_POOL_H
#define THREAD_POOL_H

#include <stddef.h>

struct pool;

/* fn(arg, item, thread): 0 <= thread < pool_threads(). */
typedef void pool_fn(void *arg, size_t item, int thread);

/* Runs drive(arg, pool) with `threads` threads and returns what it returned; -1 after fail(). */
int pool_run(int threads, int (*drive)(void *arg, struct pool *), void *arg);
int pool_threads(const struct pool *);
/* Calls fn for items 0..n-1 on all threads, in any order; returns when all are done. Only from
 * drive. */
void pool_for(struct pool *, size_t n, pool_fn *fn, void *arg);

#endif
