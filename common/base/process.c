/*
 * What a process needs from the system: large pages, standard files that are missing, signals that
 * end it, shared libraries that are loaded on demand, and the environment variables of the tools.
 */
#include "base/process.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/opt.h"

void *
large_memory(size_t n, size_t bytes)
{
	void *memory;
	size_t all;

	if (__builtin_mul_overflow(n, bytes, &all) || all > SIZE_MAX - LARGE_MEMORY_PAGE)
		return NULL;
	if (all < LARGE_MEMORY_LEAST)
		return malloc(all);
	all = (all + LARGE_MEMORY_PAGE - 1) / LARGE_MEMORY_PAGE * LARGE_MEMORY_PAGE;
	memory = aligned_alloc(LARGE_MEMORY_PAGE, all);
	if (memory)
		(void)madvise(memory, all, MADV_HUGEPAGE);
	return memory;
}

int
standard_files_reserve(void)
{
	static const char *const names[] = { "standard input", "standard output",
		"standard error" };

	/* open() gives the lowest number that is free: those below are open by then */
	for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++) {
		if (fcntl(i, F_GETFD) >= 0)
			continue;
		if (open("/dev/null", i == STDIN_FILENO ? O_WRONLY : O_RDONLY) != i)
			return fail_errno(names[i], "is closed, and /dev/null cannot be opened "
			    "in its place");
	}
	return 0;
}

#define CLEANS 4

typedef void clean_function(void);

static _Atomic(clean_function *) cleans[CLEANS];

static void
run_cleans(void)
{
	for (size_t i = 0; i < CLEANS; i++) {
		clean_function *clean = atomic_load(&cleans[i]);

		if (clean)
			clean();
	}
}

static atomic_int deferred = -1;	/* the descriptor that the first signal makes readable */

static void
clean_up(int signal)
{
	int told = signal == SIGINT || signal == SIGTERM || signal == SIGHUP ?
	    atomic_exchange(&deferred, -1) : -1;
	struct sigaction action = { .sa_handler = clean_up, .sa_flags = (int)SA_RESETHAND };

	if (told >= 0 && write(told, &(uint64_t){ 1 }, sizeof(uint64_t)) > 0) {
		/* a terminal that goes sends SIGHUP twice: by the shell and by the kernel */
		if (signal == SIGHUP)
			action.sa_handler = SIG_IGN;
		sigfillset(&action.sa_mask);
		sigaction(signal, &action, NULL);
		return;
	}
	run_cleans();
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

static pthread_once_t signals_once = PTHREAD_ONCE_INIT;

int
ending_signals_defer(void)
{
	int told = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	pthread_once(&signals_once, watch_signals);
	atomic_store(&deferred, told);
	return told;
}

void
ending_signals_watch(void (*clean)(void))
{
	for (size_t i = 0; i < CLEANS; i++) {
		clean_function *none = NULL;

		if (atomic_compare_exchange_strong(&cleans[i], &none, clean) || none == clean)
			break;
	}
	pthread_once(&signals_once, watch_signals);
}

static _Atomic(int (*)(void)) memory_end;

void
memory_ends_with(int (*end)(void))
{
	atomic_store(&memory_end, end);
}

/* Ends the program in whatever state its threads are: nothing is freed, no buffer is flushed. */
_Noreturn void
out_of_memory(void)
{
	static atomic_flag ending = ATOMIC_FLAG_INIT;
	int (*end)(void) = atomic_load(&memory_end);

	while (atomic_flag_test_and_set(&ending))
		pause();	/* another thread does it */
	fail_clear();
	fail_memory();
	fail_print();
	run_cleans();
	_exit(end ? end() : EXIT_FAILED);
}

static void *
never_null(void *memory)
{
	if (!memory)
		out_of_memory();
	return memory;
}

void *
must_alloc(size_t n, size_t bytes)
{
	/* a byte, where there are no items: NULL means a failure */
	return never_null(calloc(n ? n : 1, bytes ? bytes : 1));
}

struct pool_item {
	struct pool_item *before;
	max_align_t memory[];
};

void *
pool_alloc(struct pool *pool, size_t n, size_t bytes)
{
	struct pool_item *item;
	size_t all;

	if (__builtin_mul_overflow(n, bytes, &all) ||
	    __builtin_add_overflow(all, sizeof(*item), &all))
		out_of_memory();
	item = must_alloc(1, all);
	item->before = pool->last;
	pool->last = item;
	return item->memory;
}

void
pool_free(struct pool *pool)
{
	for (struct pool_item *item = pool->last, *before; item; item = before) {
		before = item->before;
		free(item);
	}
	pool->last = NULL;
}

void *
must_resize(void *old, size_t n, size_t bytes)
{
	return never_null(reallocarray(old, n ? n : 1, bytes ? bytes : 1));
}

void *
must_large(size_t n, size_t bytes)
{
	return never_null(large_memory(n, bytes));
}

void *
must_aligned(size_t n, size_t bytes)
{
	void *memory = NULL;
	size_t all;

	if (!__builtin_mul_overflow(n, bytes, &all) && all < SIZE_MAX - 64)
		memory = aligned_alloc(64, (all / 64 + 1) * 64);
	return never_null(memory);
}

void
free_each(void *const *memory, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(memory[i]);
}

char *
must_strdup(const char *text)
{
	return never_null(strdup(text));
}

char *
must_vformat(const char *format, va_list args)
{
	char *text;

	if (vasprintf(&text, format, args) < 0)
		out_of_memory();
	return text;
}

char *
must_format(const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = must_vformat(format, args);
	va_end(args);
	return text;
}

#define PREFIX "FRINGEPIPE_"

/* What follows it: fringepipe(1) has them, but for FFMPEG, which is in frame(5), and GPU, which
 * scripts/bench reads. */
static const char *const names[] = { "BAND", "CPU", "FFMPEG", "GPU", "GPU_BITS", "GPU_CHECK",
	"GPU_COPY", "GPU_PROBE", "GPU_TIMEOUT", "HANDOVER", "REPEAT", "SYNC", NULL };

extern char **environ;

void
variables_check(void)
{
	const size_t prefix = strlen(PREFIX);
	char near[120];

	for (char **variable = environ; *variable; variable++) {
		const char *name = *variable + prefix;
		size_t n, i = 0;

		if (strncmp(*variable, PREFIX, prefix))
			continue;
		n = strcspn(name, "=");
		while (names[i] && (strlen(names[i]) != n || strncmp(names[i], name, n)))
			i++;
		/* a name without any that is near may be the user's own */
		if (!names[i] && *opt_suggest_word(name, n, PREFIX, names, near,
		    sizeof(near)))
			warn(NULL, "no tool reads the variable %.*s%s", (int)(prefix + n < 80 ?
			    prefix + n : 80), *variable, near);
	}
}

int
library_load(const struct library *library)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	char *table = library->table;
	const size_t bytes = sizeof(void *);
	void *function, *handle;	/* POSIX lets a data pointer hold a function */
	int status = 0;

	pthread_mutex_lock(&lock);
	/* the last one is set when all are */
	memcpy(&function, table + (library->functions - 1) * bytes, bytes);
	if (!function) {
		handle = dlopen(library->file, RTLD_NOW | RTLD_LOCAL);
		if (!handle)
			status = fail(library->file, "cannot be loaded: %s", dlerror());
		for (size_t i = 0; i < library->functions && status == 0; i++) {
			function = dlsym(handle, library->name[i]);
			memcpy(table + i * bytes, &function, bytes);
			if (!function)
				status = fail(library->file, "has no function %s",
				    library->name[i]);
		}
	}
	pthread_mutex_unlock(&lock);
	return status;
}
