#define _GNU_SOURCE
#include "children.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/wait.h>
#include <time.h>

#include "base/ending_signals.h"

#define MOST 16		/* children at a time that a signal kills */
#define LOOKS 50	/* of 2 ms: how long the end of one that was killed may take */

/* 0: none. Fixed, so that a signal handler can read it at any moment. */
static atomic_int children[MOST];
static atomic_int coming;	/* threads that start a child right now */

/* In a signal's handler. Takes the child's end, too, which the system's first process may be slow
 * to take; but not where it does not come soon. */
static void
kill_children(void)
{
	const struct timespec moment = { .tv_nsec = 2000000 };

	for (int k = 0; k < LOOKS && atomic_load(&coming) > 0; k++)
		nanosleep(&moment, NULL);
	for (size_t i = 0; i < MOST; i++) {
		pid_t child = atomic_load(&children[i]);

		if (child <= 0 || kill(child, SIGKILL) < 0)
			continue;
		for (int k = 0; k < LOOKS && waitpid(child, NULL, WNOHANG) == 0; k++)
			nanosleep(&moment, NULL);
	}
}

static void
watch(void)
{
	ending_signals_watch(kill_children);
}

void
children_expect(sigset_t *before)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	sigset_t all;

	pthread_once(&once, watch);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, before);
	atomic_fetch_add(&coming, 1);
}

void
children_add(pid_t child, const sigset_t *before)
{
	for (size_t i = 0; child > 0 && i < MOST; i++) {
		int none = 0;

		if (atomic_compare_exchange_strong(&children[i], &none, child))
			break;
	}
	atomic_fetch_sub(&coming, 1);
	pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* Its number may be another process's once it is waited for: it leaves the list before. */
pid_t
children_wait(pid_t child, int *status)
{
	siginfo_t info;
	pid_t ended;

	while (waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
		;
	for (size_t i = 0; i < MOST; i++) {
		int listed = child;

		atomic_compare_exchange_strong(&children[i], &listed, 0);
	}
	do
		ended = waitpid(child, status, 0);
	while (ended < 0 && errno == EINTR);
	return ended;
}
