#include "base/library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "base/fail.h"

/* POSIX lets a data pointer hold a function. */
static void *
function_at(const struct library *library, size_t i)
{
	void *function;

	memcpy(&function, (char *)library->table + i * sizeof(function), sizeof(function));
	return function;
}

static int
fill(const struct library *library, void *handle)
{
	for (size_t i = 0; i < library->functions; i++) {
		void *function = dlsym(handle, library->name[i]);

		if (!function)
			return fail(library->file, "has no function %s", library->name[i]);
		memcpy((char *)library->table + i * sizeof(function), &function, sizeof(function));
	}
	return 0;
}

int
library_load(const struct library *library)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	int status = 0;

	pthread_mutex_lock(&lock);
	/* the last one is set when all are */
	if (!function_at(library, library->functions - 1)) {
		void *handle = dlopen(library->file, RTLD_NOW | RTLD_LOCAL);

		status = handle ? fill(library, handle) :
		    fail(library->file, "cannot be loaded: %s", dlerror());
	}
	pthread_mutex_unlock(&lock);
	return status;
}
