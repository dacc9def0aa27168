#include "base/ending_signals.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

#define CLEANS 4

typedef void clean_function(void);

static _Atomic(clean_function *) cleans[CLEANS];

static void
clean_up(int signal)
{
	for (size_t i = 0; i < CLEANS; i++) {
		clean_function *clean = atomic_load(&cleans[i]);

		if (clean)
			clean();
	}
	raise(signal);		/* SA_RESETHAND: it ends the process as without this handler */
}

static void
watch_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU };
	struct sigaction action = { .sa_handler = clean_up, .sa_flags = (int)SA_RESETHAND };
	struct sigaction old;

	sigfillset(&action.sa_mask);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (sigaction(signals[i], NULL, &old) == 0 && !(old.sa_flags & SA_SIGINFO) &&
		    old.sa_handler == SIG_DFL) /* not where nohup or the shell ignores it */
			sigaction(signals[i], &action, NULL);
}

void
ending_signals_watch(void (*clean)(void))
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	for (size_t i = 0; i < CLEANS; i++) {
		clean_function *none = NULL;

		if (atomic_compare_exchange_strong(&cleans[i], &none, clean))
			break;
	}
	pthread_once(&once, watch_signals);
}
