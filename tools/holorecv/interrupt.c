#include "interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#include "base/fail.h"

/* A signal handler can reach nothing else. */
static volatile sig_atomic_t came;
static int ends[2] = { -1, -1 };
static const int signals[] = { SIGINT, SIGTERM };
static struct sigaction before[2];

static void
note_signal(int signal)
{
	int error = errno;

	came = 1;
	for (size_t i = 0; i < 2; i++)
		if (signals[i] == signal)
			sigaction(signal, &before[i], NULL);
	if (write(ends[1], "", 1) < 0)
		came = 1;		/* the flag is enough */
	errno = error;
}

int
interrupt_watch(void)
{
	struct sigaction action = { .sa_handler = note_signal };

	came = 0;
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return fail_errno(NULL, "no pipe can be made");
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < 2; i++) {
		sigaction(signals[i], NULL, &before[i]);
		if (before[i].sa_handler != SIG_IGN)	/* as nohup and the shell want it */
			sigaction(signals[i], &action, NULL);
	}
	return 0;
}

void
interrupt_forget(void)
{
	if (ends[0] < 0)
		return;
	for (size_t i = 0; i < 2; i++)
		sigaction(signals[i], &before[i], NULL);
	close(ends[0]);
	close(ends[1]);
	ends[0] = ends[1] = -1;
}

bool
interrupted(void)
{
	return came;
}

int
interrupt_descriptor(void)
{
	return ends[0];
}
