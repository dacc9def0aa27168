#define _GNU_SOURCE
#include "interrupt.h"

#include <signal.h>
#include <unistd.h>

#include "run/stage.h"

static struct {
	struct server *server;
	struct sigaction before[2];
	volatile sig_atomic_t signal;	/* that came */
} caught;
static const int signals[] = { SIGINT, SIGTERM };

/* The second signal ends the process at once. */
static void
catch_signal(int number)
{
	caught.signal = number;
	server_interrupt(caught.server);
}

void
interrupt_leave(bool by_signal)
{
	if (!by_signal)
		_exit(EXIT_DONE);
	sigaction(caught.signal, &caught.before[caught.signal == signals[1]], NULL);
	kill(getpid(), caught.signal);
}

void
interrupt_catch(struct server *server)
{
	struct sigaction action = { .sa_handler = catch_signal,
		.sa_flags = (int)SA_RESETHAND | SA_RESTART };

	caught.server = server;
	for (int i = 0; i < 2; i++) {
		sigaction(signals[i], NULL, &caught.before[i]);
		if (caught.before[i].sa_handler != SIG_IGN)	/* as nohup and the shell want it */
			sigaction(signals[i], &action, NULL);
	}
}

void
interrupt_release(void)
{
	for (int i = 0; caught.server && i < 2; i++)
		sigaction(signals[i], &caught.before[i], NULL);
	caught.server = NULL;
}
