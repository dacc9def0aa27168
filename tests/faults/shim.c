/*
 * A library for LD_PRELOAD that fails one call of a program. Its environment:
 *
 *	FAULT=FUNCTION:N	the N-th call of the function fails
 *	FAULT=FUNCTION:N+	that and all later ones
 *	FAULT=interrupt		every call that a signal can interrupt fails with EINTR, and
 *				succeeds when the same place makes it again at once
 *	FAULT=short		every read and write moves a part of what it could
 *	FAULT=shrink:N		before the N-th read of a file, the file is cut to half of its size
 *	FAULT_LOG=FILE		gets the stack of the call that failed, and at the end how often
 *				each function was called; with FAULT_STACKS=1 the first call of
 *				each stack as well
 *	FAULT_SCOPE=libraries	calls by the image libraries and by libc count, too
 *
 * Calls count where the program itself makes them: a Vulkan driver makes 10^5 of its own.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#undef _FORTIFY_SOURCE
#define FUNCTIONS 128
#define MODULES 64
#define STACKS 4096
#define DEPTH 24

struct counter {
	const char *name;
	atomic_ulong calls;
	bool chosen;
};

static struct counter counters[FUNCTIONS];
static atomic_size_t counter_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static enum { FAULT_NONE, FAULT_CALL, FAULT_INTERRUPT, FAULT_SHORT, FAULT_SHRINK } mode;
static char chosen[64];
static unsigned long chosen_call;
static bool and_later, all_libraries, stacks;
static int log_fd = -1;
static atomic_bool ready;
static _Thread_local bool inside, counted;
static _Thread_local const void *interrupted;	/* the place whose call has just failed so */

/* ---- who calls ---- */

static struct module {
	uintptr_t from, to, base;
	bool program, library;
} module[MODULES];
static size_t modules;

static int
add_module(struct dl_phdr_info *info, size_t size, void *nothing)
{
	static const char *const libraries[] = { "libpng", "libdeflate", "libisal", "libtiff",
		"libjpeg", "libz.", "libc.", "libgomp" };
	struct module *m = &module[modules];
	const char *name = info->dlpi_name;

	(void)size;
	(void)nothing;
	if (modules == MODULES)
		return 1;
	m->base = info->dlpi_addr;
	m->from = UINTPTR_MAX;
	m->to = 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type != PT_LOAD || !(part->p_flags & PF_X))
			continue;
		if (m->base + part->p_vaddr < m->from)
			m->from = m->base + part->p_vaddr;
		if (m->base + part->p_vaddr + part->p_memsz > m->to)
			m->to = m->base + part->p_vaddr + part->p_memsz;
	}
	m->program = modules == 0;
	for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++)
		m->library = m->library || strstr(name, libraries[i]);
	modules++;
	return 0;
}

static const struct module *
find_module(const void *address)
{
	uintptr_t a = (uintptr_t)address;

	for (size_t i = 0; i < modules; i++)
		if (a >= module[i].from && a < module[i].to)
			return &module[i];
	return NULL;
}

/* ---- the log ---- */

static ssize_t write_log(const char *text, size_t n);

static void
print_log(const char *format, ...)
{
	char text[1024];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (log_fd >= 0 && n > 0)
		(void)!write_log(text, (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
}

/* "fired malloc 12 +0x1234 +0x5678": the program's addresses, innermost first. */
static void
log_fired(const char *name, unsigned long call)
{
	void *frame[DEPTH];
	int depth = backtrace(frame, DEPTH);
	char text[512] = "";
	size_t used = 0;

	for (int i = 0; i < depth && used < sizeof(text) - 32; i++) {
		const struct module *m = find_module(frame[i]);

		if (m && m->program)
			used += (size_t)snprintf(text + used, sizeof(text) - used, " %#lx",
			    (unsigned long)((uintptr_t)frame[i] - 1 - m->base));
	}
	print_log("fired %s %lu%s\n", name, call, text);
}

/* The first call of each stack of calls. */
static void
log_stack(const char *name, unsigned long call)
{
	static uint64_t seen[STACKS];
	uint64_t hash = 14695981039346656037u;
	void *frame[DEPTH];
	int depth = backtrace(frame, DEPTH);
	bool known = false;
	size_t at;

	for (const char *p = name; *p; p++)
		hash = (hash ^ (unsigned char)*p) * 1099511628211u;
	for (int i = 0; i < depth; i++) {
		const struct module *m = find_module(frame[i]);

		if (m && (m->program || m->library))
			hash = (hash ^ ((uintptr_t)frame[i] - m->base)) * 1099511628211u;
	}
	pthread_mutex_lock(&lock);
	for (at = hash % STACKS; seen[at] && !known; at = (at + 1) % STACKS)
		known = seen[at] == hash;
	if (!known)
		seen[at] = hash;
	pthread_mutex_unlock(&lock);
	if (!known)
		print_log("stack %s %lu %llx\n", name, call, (unsigned long long)hash);
}

__attribute__((destructor)) static void
log_counts(void)
{
	inside = true;
	for (size_t i = 0; i < atomic_load(&counter_count); i++)
		print_log("calls %s %lu\n", counters[i].name, atomic_load(&counters[i].calls));
}

/* ---- start ---- */

static void *(*real_dlsym)(void *, const char *);

static void *
next(const char *name)
{
	static const char *const versions[] = { "GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17" };

	for (size_t i = 0; !real_dlsym && i < 3; i++)
		real_dlsym = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
	return real_dlsym(RTLD_NEXT, name);
}

__attribute__((constructor)) static void
start(void)
{
	const char *fault = getenv("FAULT"), *path = getenv("FAULT_LOG"), *colon;
	void *frame[4];

	inside = true;
	(void)backtrace(frame, 4);	/* it allocates once */
	dl_iterate_phdr(add_module, NULL);
	stacks = getenv("FAULT_STACKS") != NULL;
	all_libraries = getenv("FAULT_SCOPE") != NULL;
	if (path) {
		int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

		log_fd = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 200);
		if (fd >= 0)
			close(fd);
	}
	if (fault && !strcmp(fault, "interrupt"))
		mode = FAULT_INTERRUPT;
	else if (fault && !strcmp(fault, "short"))
		mode = FAULT_SHORT;
	else if (fault && !strncmp(fault, "shrink:", 7)) {
		mode = FAULT_SHRINK;
		chosen_call = strtoul(fault + 7, NULL, 10);
	} else if (fault && (colon = strchr(fault, ':'))) {
		mode = FAULT_CALL;
		snprintf(chosen, sizeof(chosen), "%.*s", (int)(colon - fault), fault);
		chosen_call = strtoul(colon + 1, NULL, 10);
		and_later = fault[strlen(fault) - 1] == '+';
	}
	inside = false;
	atomic_store(&ready, true);
}

static struct counter *
counter_of(const char *name)
{
	struct counter *found = NULL;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < atomic_load(&counter_count); i++)
		if (!strcmp(counters[i].name, name))
			found = &counters[i];
	if (!found && atomic_load(&counter_count) < FUNCTIONS) {
		found = &counters[atomic_load(&counter_count)];
		found->name = name;
		found->chosen = mode == FAULT_CALL && !strcmp(name, chosen);
		atomic_fetch_add(&counter_count, 1);
	}
	pthread_mutex_unlock(&lock);
	return found;
}

/* Counts a call; is it the one that fails? */
static bool
fails(struct counter **counter, const char *name, const void *caller, bool interruptible)
{
	const struct module *m;
	unsigned long call;
	bool now;

	counted = false;
	if (inside || !atomic_load(&ready))
		return false;
	m = find_module(caller);
	if (!m || !(m->program || (all_libraries && m->library)))
		return false;
	inside = counted = true;
	if (!*counter)
		*counter = counter_of(name);
	call = atomic_fetch_add(&(*counter)->calls, 1) + 1;
	if (stacks)
		log_stack(name, call);
	now = (*counter)->chosen && (call == chosen_call || (and_later && call > chosen_call));
	if (now && call == chosen_call)
		log_fired(name, call);
	if (mode == FAULT_INTERRUPT && interruptible) {
		now = interrupted != caller;
		interrupted = now ? caller : NULL;
	}
	inside = false;
	return now;
}

static size_t
shorter(size_t n)
{
	return mode == FAULT_SHORT && counted && n > 1 ? (n + 2) / 3 : n;
}

/* Cuts the file that is about to be read, when it is time. */
static int
shrink(int fd)
{
	static atomic_ulong reads;
	char link[64], path[4096];
	struct stat st;
	ssize_t n;

	if (mode != FAULT_SHRINK || !counted || atomic_fetch_add(&reads, 1) + 1 != chosen_call)
		return fd;
	inside = true;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n > 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		path[n] = '\0';
		(void)!truncate(path, st.st_size / 2);
	}
	inside = false;
	return fd;
}

static FILE *
shrink_stream(FILE *file)
{
	if (mode == FAULT_SHRINK && counted && fileno(file) >= 0)
		(void)shrink(fileno(file));
	return file;
}

/* ---- the functions ---- */

/* One whose real function is called as `call`, named `real`; where it fails, `failure` happens. */
#define FAULTY_AS(symbol, word, interruptible, type, parameters, call, failure) \
	type faulty_##symbol parameters __asm__(#symbol); \
	type faulty_##symbol parameters \
	{ \
		static type (*real)parameters; \
		static struct counter *counter; \
		\
		if (!real) \
			real = next(#symbol); \
		if (fails(&counter, word, __builtin_return_address(0), interruptible)) { \
			int with = mode == FAULT_INTERRUPT ? EINTR : 0; \
			\
			(void)with; \
			failure \
		} \
		return call; \
	}
#define FAULTY(symbol, type, parameters, call, failure) \
	FAULTY_AS(symbol, #symbol, false, type, parameters, call, failure)
#define INTERRUPTIBLE(symbol, type, parameters, call, failure) \
	FAULTY_AS(symbol, #symbol, true, type, parameters, call, failure)
#define FAIL(number, value) { errno = with ? with : (number); return value; }

/* Before dlsym() has found the real functions it may allocate itself. */
static char early[16384];
static atomic_size_t early_used;

static void *
early_memory(size_t n)
{
	size_t at = atomic_fetch_add(&early_used, (n + 31) / 16 * 16);

	return at + n + 16 <= sizeof(early) ? early + at + 16 - (uintptr_t)early % 16 : NULL;
}

static bool
is_early(const void *p)
{
	return (const char *)p >= early && (const char *)p < early + sizeof(early);
}

#define ALLOCATES(name, parameters, call, bytes) \
	void * \
	name parameters \
	{ \
		static void *(*real)parameters; \
		static struct counter *counter; \
		static _Thread_local bool seeking; \
		\
		if (!real) { \
			if (seeking) \
				return early_memory(bytes); \
			seeking = true; \
			real = next(#name); \
			seeking = false; \
		} \
		if (fails(&counter, #name, __builtin_return_address(0), false)) { \
			errno = ENOMEM; \
			return NULL; \
		} \
		return call; \
	}
ALLOCATES(malloc, (size_t n), real(n), n)
ALLOCATES(calloc, (size_t n, size_t size), real(n, size), n * size)
ALLOCATES(realloc, (void *p, size_t n), real(p, n), n)
ALLOCATES(reallocarray, (void *p, size_t n, size_t size), real(p, n, size), n * size)
ALLOCATES(aligned_alloc, (size_t alignment, size_t n), real(alignment, n), n)

void
free(void *p)
{
	static void (*real)(void *);
	static _Thread_local bool seeking;

	if (!p || is_early(p) || seeking)	/* dlsym() frees its last failure's message */
		return;
	if (!real) {
		seeking = true;
		real = next("free");
		seeking = false;
	}
	real(p);
}

FAULTY(posix_memalign, int, (void **p, size_t alignment, size_t n), real(p, alignment, n),
    { return ENOMEM; })
FAULTY(strdup, char *, (const char *s), real(s), FAIL(ENOMEM, NULL))
FAULTY(strndup, char *, (const char *s, size_t n), real(s, n), FAIL(ENOMEM, NULL))
FAULTY(open_memstream, FILE *, (char **s, size_t *n), real(s, n), FAIL(ENOMEM, NULL))
FAULTY(vasprintf, int, (char **s, const char *format, va_list args), real(s, format, args),
    FAIL(ENOMEM, -1))
FAULTY_AS(__vasprintf_chk, "vasprintf", false, int,
    (char **s, int flag, const char *format, va_list args), real(s, flag, format, args),
    FAIL(ENOMEM, -1))

int
asprintf(char **s, const char *format, ...)
{
	static struct counter *counter;
	va_list args;
	int n;

	if (fails(&counter, "asprintf", __builtin_return_address(0), false)) {
		*s = (char *)16;	/* undefined after a failure */
		errno = ENOMEM;
		return -1;
	}
	va_start(args, format);
	n = vasprintf(s, format, args);
	va_end(args);
	return n;
}

int __asprintf_chk(char **s, int flag, const char *format, ...);
int
__asprintf_chk(char **s, int flag, const char *format, ...)
{
	static struct counter *counter;
	va_list args;
	int n;

	(void)flag;
	if (fails(&counter, "asprintf", __builtin_return_address(0), false)) {
		*s = (char *)16;
		errno = ENOMEM;
		return -1;
	}
	va_start(args, format);
	n = vasprintf(s, format, args);
	va_end(args);
	return n;
}

/* Streams: what their reading and writing does inside libc does not show. */
static void
set_error(FILE *file)
{
	file->_flags |= 0x20;	/* _IO_ERR_SEEN of libc */
}

FAULTY(fopen, FILE *, (const char *path, const char *how), real(path, how), FAIL(EMFILE, NULL))
FAULTY_AS(fopen64, "fopen", false, FILE *, (const char *path, const char *how), real(path, how),
    FAIL(EMFILE, NULL))
FAULTY(fdopen, FILE *, (int fd, const char *how), real(fd, how), FAIL(ENOMEM, NULL))
FAULTY(fopencookie, FILE *, (void *cookie, const char *how, cookie_io_functions_t functions),
    real(cookie, how, functions), FAIL(ENOMEM, NULL))
FAULTY(tmpfile, FILE *, (void), real(), FAIL(ENOSPC, NULL))
FAULTY_AS(tmpfile64, "tmpfile", false, FILE *, (void), real(), FAIL(ENOSPC, NULL))
FAULTY(fread, size_t, (void *p, size_t size, size_t n, FILE *file),
    real(p, size, n, shrink_stream(file)), { set_error(file); errno = EIO; return 0; })
FAULTY_AS(__fread_chk, "fread", false, size_t,
    (void *p, size_t room, size_t size, size_t n, FILE *file),
    real(p, room, size, n, shrink_stream(file)),
    { set_error(file); errno = EIO; return 0; })
FAULTY(fwrite, size_t, (const void *p, size_t size, size_t n, FILE *file),
    real(p, size, n, file), { set_error(file); errno = ENOSPC; return 0; })
FAULTY(fputs, int, (const char *s, FILE *file), real(s, file),
    { set_error(file); errno = ENOSPC; return EOF; })
FAULTY(fputc, int, (int c, FILE *file), real(c, file),
    { set_error(file); errno = ENOSPC; return EOF; })
FAULTY(putc, int, (int c, FILE *file), real(c, file),
    { set_error(file); errno = ENOSPC; return EOF; })
FAULTY(fgetc, int, (FILE *file), real(shrink_stream(file)),
    { set_error(file); errno = EIO; return EOF; })
FAULTY(fflush, int, (FILE *file), real(file), { set_error(file); errno = ENOSPC; return EOF; })
FAULTY(fclose, int, (FILE *file), real(file), { real(file); errno = ENOSPC; return EOF; })
FAULTY_AS(__getdelim, "getline", false, ssize_t, (char **s, size_t *n, int end, FILE *file),
    real(s, n, end, shrink_stream(file)), { set_error(file); errno = EIO; return -1; })
FAULTY(getline, ssize_t, (char **s, size_t *n, FILE *file), real(s, n, file),
    { set_error(file); errno = EIO; return -1; })
FAULTY(fseeko, int, (FILE *file, off_t at, int from), real(file, at, from), FAIL(EIO, -1))
FAULTY(ftello, off_t, (FILE *file), real(file), FAIL(EIO, -1))

/* Files. */
INTERRUPTIBLE(open, int, (const char *path, int flags, mode_t permissions),
    real(path, flags, permissions), FAIL(EMFILE, -1))
FAULTY_AS(open64, "open", true, int, (const char *path, int flags, mode_t permissions),
    real(path, flags, permissions), FAIL(EMFILE, -1))
INTERRUPTIBLE(openat, int, (int at, const char *path, int flags, mode_t permissions),
    real(at, path, flags, permissions), FAIL(EMFILE, -1))
INTERRUPTIBLE(read, ssize_t, (int fd, void *p, size_t n), real(shrink(fd), p, shorter(n)),
    FAIL(EIO, -1))
FAULTY_AS(__read_chk, "read", true, ssize_t, (int fd, void *p, size_t n, size_t room),
    real(shrink(fd), p, shorter(n), room), FAIL(EIO, -1))
INTERRUPTIBLE(pread, ssize_t, (int fd, void *p, size_t n, off_t at),
    real(shrink(fd), p, shorter(n), at), FAIL(EIO, -1))
FAULTY_AS(pread64, "pread", true, ssize_t, (int fd, void *p, size_t n, off_t at),
    real(fd, p, shorter(n), at), FAIL(EIO, -1))

/* The first piece, shortened, where reads are to be short. */
static ssize_t
read_pieces(ssize_t (*real)(int, const struct iovec *, int, off_t), int fd,
    const struct iovec *piece, int n, off_t at)
{
	struct iovec first;

	if (mode != FAULT_SHORT || !counted || n < 1)
		return real(shrink(fd), piece, n, at);
	first = piece[0];
	first.iov_len = shorter(first.iov_len);
	return real(fd, &first, 1, at);
}

INTERRUPTIBLE(preadv, ssize_t, (int fd, const struct iovec *piece, int n, off_t at),
    read_pieces(real, fd, piece, n, at), FAIL(EIO, -1))
INTERRUPTIBLE(write, ssize_t, (int fd, const void *p, size_t n), real(fd, p, shorter(n)),
    FAIL(ENOSPC, -1))
INTERRUPTIBLE(pwrite, ssize_t, (int fd, const void *p, size_t n, off_t at),
    real(fd, p, shorter(n), at), FAIL(ENOSPC, -1))

static ssize_t
write_log(const char *text, size_t n)
{
	return write(log_fd, text, n);
}

/* The first piece, shortened, where writes are to be short. */
static ssize_t
write_pieces(ssize_t (*real)(int, const struct iovec *, int), int fd, const struct iovec *piece,
    int n)
{
	struct iovec first;

	if (mode != FAULT_SHORT || !counted || n < 1)
		return real(fd, piece, n);
	first = piece[0];
	first.iov_len = shorter(first.iov_len);
	return real(fd, &first, 1);
}

INTERRUPTIBLE(writev, ssize_t, (int fd, const struct iovec *piece, int n),
    write_pieces(real, fd, piece, n), FAIL(ENOSPC, -1))
INTERRUPTIBLE(fsync, int, (int fd), real(fd), FAIL(EIO, -1))
INTERRUPTIBLE(fdatasync, int, (int fd), real(fd), FAIL(EIO, -1))
FAULTY(close, int, (int fd), real(fd), { real(fd); errno = EIO; return -1; })
INTERRUPTIBLE(ftruncate, int, (int fd, off_t n), real(fd, n), FAIL(ENOSPC, -1))
FAULTY(lseek, off_t, (int fd, off_t at, int from), real(fd, at, from), FAIL(EIO, -1))
FAULTY_AS(lseek64, "lseek", false, off_t, (int fd, off_t at, int from), real(fd, at, from),
    FAIL(EIO, -1))
FAULTY(fcntl, int, (int fd, int what, long with_what), real(fd, what, with_what),
    FAIL(EINVAL, -1))
FAULTY(flock, int, (int fd, int how), real(fd, how), FAIL(ENOLCK, -1))
FAULTY(dup, int, (int fd), real(fd), FAIL(EMFILE, -1))
FAULTY(fchmod, int, (int fd, mode_t permissions), real(fd, permissions), FAIL(EPERM, -1))
FAULTY(rename, int, (const char *from, const char *to), real(from, to), FAIL(EIO, -1))
FAULTY(linkat, int, (int a, const char *from, int b, const char *to, int flags),
    real(a, from, b, to, flags), FAIL(EIO, -1))
FAULTY(unlink, int, (const char *path), real(path), FAIL(EIO, -1))
FAULTY(unlinkat, int, (int at, const char *path, int flags), real(at, path, flags), FAIL(EIO, -1))
FAULTY(rmdir, int, (const char *path), real(path), FAIL(EIO, -1))
FAULTY(readlink, ssize_t, (const char *path, char *to, size_t n), real(path, to, n),
    FAIL(EIO, -1))
FAULTY(mkdir, int, (const char *path, mode_t permissions), real(path, permissions),
    FAIL(ENOSPC, -1))
FAULTY(mkdtemp, char *, (char *path), real(path), FAIL(ENOSPC, NULL))
FAULTY(stat, int, (const char *path, struct stat *st), real(path, st), FAIL(EIO, -1))
FAULTY(lstat, int, (const char *path, struct stat *st), real(path, st), FAIL(EIO, -1))
FAULTY(fstat, int, (int fd, struct stat *st), real(fd, st), FAIL(EIO, -1))
FAULTY(access, int, (const char *path, int how), real(path, how), FAIL(EIO, -1))
FAULTY(realpath, char *, (const char *path, char *out), real(path, out), FAIL(ENOMEM, NULL))
FAULTY_AS(__realpath_chk, "realpath", false, char *, (const char *path, char *out, size_t room),
    real(path, out, room), FAIL(ENOMEM, NULL))
FAULTY(opendir, DIR *, (const char *path), real(path), FAIL(EMFILE, NULL))
FAULTY(readdir, struct dirent *, (DIR *folder), real(folder), FAIL(EIO, NULL))

/* Memory, threads, sockets. */
FAULTY(mmap, void *, (void *p, size_t n, int protection, int flags, int fd, off_t at),
    real(p, n, protection, flags, fd, at), FAIL(ENOMEM, MAP_FAILED))
FAULTY(munmap, int, (void *p, size_t n), real(p, n), { real(p, n); errno = ENOMEM; return -1; })
INTERRUPTIBLE(getrandom, ssize_t, (void *p, size_t n, unsigned flags), real(p, n, flags),
    FAIL(EAGAIN, -1))
FAULTY(memfd_create, int, (const char *name, unsigned flags), real(name, flags), FAIL(EMFILE, -1))
FAULTY(pthread_create, int,
    (pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *with_what),
    real(thread, attr, start, with_what), { return EAGAIN; })
INTERRUPTIBLE(poll, int, (struct pollfd *fd, nfds_t n, int ms), real(fd, n, ms), FAIL(ENOMEM, -1))
FAULTY_AS(__poll_chk, "poll", true, int, (struct pollfd *fd, nfds_t n, int ms, size_t room),
    real(fd, n, ms, room), FAIL(ENOMEM, -1))
FAULTY(socket, int, (int a, int b, int c), real(a, b, c), FAIL(EMFILE, -1))
FAULTY(bind, int, (int fd, const struct sockaddr *a, socklen_t n), real(fd, a, n),
    FAIL(EACCES, -1))
FAULTY(listen, int, (int fd, int n), real(fd, n), FAIL(EACCES, -1))
INTERRUPTIBLE(connect, int, (int fd, const struct sockaddr *a, socklen_t n), real(fd, a, n),
    FAIL(ECONNREFUSED, -1))
INTERRUPTIBLE(accept4, int, (int fd, struct sockaddr *a, socklen_t *n, int flags),
    real(fd, a, n, flags), FAIL(EMFILE, -1))
INTERRUPTIBLE(send, ssize_t, (int fd, const void *p, size_t n, int flags), real(fd, p, n, flags),
    FAIL(EPIPE, -1))
INTERRUPTIBLE(recv, ssize_t, (int fd, void *p, size_t n, int flags), real(fd, p, n, flags),
    FAIL(EIO, -1))
INTERRUPTIBLE(sendmsg, ssize_t, (int fd, const struct msghdr *m, int flags), real(fd, m, flags),
    FAIL(EPIPE, -1))
INTERRUPTIBLE(recvmsg, ssize_t, (int fd, struct msghdr *m, int flags), real(fd, m, flags),
    FAIL(EIO, -1))
FAULTY(setsockopt, int, (int fd, int a, int b, const void *p, socklen_t n), real(fd, a, b, p, n),
    FAIL(EINVAL, -1))
FAULTY(getsockopt, int, (int fd, int a, int b, void *p, socklen_t *n), real(fd, a, b, p, n),
    FAIL(EINVAL, -1))

/* ---- Vulkan: the program finds every function through vkGetInstanceProcAddr ---- */

typedef long (*vk_function)(long, long, long, long, long, long, long, long);

#define OUT_OF_HOST_MEMORY (-1)
#define OUT_OF_DEVICE_MEMORY (-2)
#define INITIALIZATION_FAILED (-3)
#define DEVICE_LOST (-4)
#define MEMORY_MAP_FAILED (-5)

#define VULKAN(X) \
	X(vkCreateInstance, INITIALIZATION_FAILED) \
	X(vkEnumeratePhysicalDevices, OUT_OF_HOST_MEMORY) \
	X(vkCreateDevice, DEVICE_LOST) \
	X(vkAllocateMemory, OUT_OF_DEVICE_MEMORY) \
	X(vkMapMemory, MEMORY_MAP_FAILED) \
	X(vkBindBufferMemory, OUT_OF_DEVICE_MEMORY) \
	X(vkCreateBuffer, OUT_OF_DEVICE_MEMORY) \
	X(vkCreateShaderModule, OUT_OF_HOST_MEMORY) \
	X(vkCreatePipelineLayout, OUT_OF_HOST_MEMORY) \
	X(vkCreatePipelineCache, OUT_OF_HOST_MEMORY) \
	X(vkGetPipelineCacheData, OUT_OF_HOST_MEMORY) \
	X(vkCreateComputePipelines, OUT_OF_DEVICE_MEMORY) \
	X(vkCreateCommandPool, OUT_OF_DEVICE_MEMORY) \
	X(vkAllocateCommandBuffers, OUT_OF_DEVICE_MEMORY) \
	X(vkBeginCommandBuffer, OUT_OF_DEVICE_MEMORY) \
	X(vkEndCommandBuffer, OUT_OF_DEVICE_MEMORY) \
	X(vkResetCommandPool, OUT_OF_DEVICE_MEMORY) \
	X(vkCreateSemaphore, OUT_OF_HOST_MEMORY) \
	X(vkCreateQueryPool, OUT_OF_HOST_MEMORY) \
	X(vkGetQueryPoolResults, DEVICE_LOST) \
	X(vkQueueSubmit, OUT_OF_DEVICE_MEMORY) \
	X(vkWaitSemaphores, DEVICE_LOST)

#define VULKAN_FUNCTION(name, error) \
	static vk_function real_##name; \
	static long \
	name(long a, long b, long c, long d, long e, long f, long g, long h) \
	{ \
		static struct counter *counter; \
		\
		if (fails(&counter, #name, __builtin_return_address(0), false)) \
			return error; \
		return real_##name(a, b, c, d, e, f, g, h); \
	}
VULKAN(VULKAN_FUNCTION)

static vk_function
replace_vulkan(const char *name, vk_function real)
{
#define VULKAN_REPLACE(function, error) \
	if (real && !strcmp(name, #function)) { \
		real_##function = real; \
		return function; \
	}
	VULKAN(VULKAN_REPLACE)
	return real;
}

typedef vk_function (*find_function)(void *, const char *);

static find_function real_instance_address, real_device_address;

static vk_function
device_address(void *device, const char *name)
{
	return replace_vulkan(name, real_device_address(device, name));
}

static vk_function
instance_address(void *instance, const char *name)
{
	vk_function found = real_instance_address(instance, name);

	if (found && !strcmp(name, "vkGetDeviceProcAddr")) {
		real_device_address = (find_function)(void *)found;
		return (vk_function)(void *)device_address;
	}
	return replace_vulkan(name, found);
}

/* As !strcmp(), which a sanitizer that has not begun yet replaces, too. */
static bool
is_same(const char *a, const char *b)
{
	for (; *a && *a == *b; a++, b++)
		;
	return *a == *b;
}

/* A tail call: dlsym(RTLD_NEXT) looks at who called it. */
__attribute__((optimize("O2", "omit-frame-pointer"))) void *
dlsym(void *handle, const char *name)
{
	if (!real_dlsym)
		(void)next("dlsym");
	if (is_same(name, "vkGetInstanceProcAddr")) {
		const struct module *m = find_module(__builtin_return_address(0));

		if (m && m->program) {
			real_instance_address = (find_function)real_dlsym(handle, name);
			return real_instance_address ? (void *)instance_address : NULL;
		}
	}
	return real_dlsym(handle, name);
}
