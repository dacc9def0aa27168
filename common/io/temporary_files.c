#include "io/temporary_files.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/ending_signals.h"

#define TEMPORARY_MOST 16	/* temporary files at a time that a signal removes */

enum slot_state { SLOT_FREE, SLOT_TAKEN, SLOT_READY };

/* Fixed, so that a signal handler can read it at any moment. */
static struct {
	atomic_int state;
	char path[4096];
} temporary_files[TEMPORARY_MOST];

static void
remove_temporary_files(void)
{
	for (size_t i = 0; i < TEMPORARY_MOST; i++)
		if (atomic_load(&temporary_files[i].state) == SLOT_READY)
			unlink(temporary_files[i].path);
}

static void
watch(void)
{
	ending_signals_watch(remove_temporary_files);
}

void
temporary_files_add(const char *path)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, watch);
	for (size_t i = 0; i < TEMPORARY_MOST; i++) {
		int free_state = SLOT_FREE;

		if (strlen(path) < sizeof(temporary_files[i].path) &&
		    atomic_compare_exchange_strong(&temporary_files[i].state, &free_state,
		    SLOT_TAKEN)) {
			strcpy(temporary_files[i].path, path);
			atomic_store(&temporary_files[i].state, SLOT_READY);
			return;
		}
	}
}

void
temporary_files_forget(const char *path)
{
	for (size_t i = 0; i < TEMPORARY_MOST; i++)
		if (atomic_load(&temporary_files[i].state) == SLOT_READY &&
		    !strcmp(temporary_files[i].path, path))
			atomic_store(&temporary_files[i].state, SLOT_FREE);
}
