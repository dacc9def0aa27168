/*
 * What a process needs from the system: memory, standard files, signals, libraries, environment
 * variables. Includes what callers that allocate need: free(), memcpy() and fail().
 */
#pragma once

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

/* SANITIZED: AddressSanitizer or ThreadSanitizer is compiled in. What is kept for reuse hides from
 * them who uses memory that was given back. gcc defines names for them, clang has features. */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* ---- memory that is never NULL ---- */

/*
 * Memory that is never NULL, for all whose size is that of something which is in memory already, or
 * a fixed one: structs, names, lists, a tool's arrays for the pixels or points of its frame. Where
 * there is none the program ends with one line: temporary files are removed and children ended, as
 * by a signal; then memory_ends_with() has its turn. A size that a file claims may be false, and
 * one that an option asks for too large: readers of files and frame_new() take calloc(), whose NULL
 * is fail_memory(), and the caller may go on with the next file. Free with free().
 */
void *must_alloc(size_t n, size_t bytes);		/* n items, zeroed */
void *must_resize(void *, size_t n, size_t bytes);	/* as reallocarray(3) */
void *must_large(size_t n, size_t bytes);		/* as large_memory() below, unset */
void *must_aligned(size_t n, size_t bytes);		/* on 64 bytes, unset */
_Noreturn void out_of_memory(void);			/* ends the program like them */
char *must_strdup(const char *);
char *must_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *must_vformat(const char *format, va_list) __attribute__((format(printf, 1, 0)));
/* free() for each of several pointers. */
#define free_all(...) \
	free_each((void *[]){ __VA_ARGS__ }, sizeof((void *[]){ __VA_ARGS__ }) / sizeof(void *))
void free_each(void *const *memory, size_t n);
/* Called when must_alloc() ends the program, in the thread that called that; returns the exit code.
 * NULL: EXIT_FAILED. */
void memory_ends_with(int (*end)(void));

/* Memory that is given back together; all 0: none yet. */
struct pool {
	struct pool_item *last;
};

void *pool_alloc(struct pool *, size_t n, size_t bytes);	/* as must_alloc() */
void pool_free(struct pool *);				/* all of it: the pool is empty then */

/* ---- memory for large arrays ---- */

#define LARGE_MEMORY_PAGE ((size_t)2 << 20)	/* bytes of the kernel's large pages */
/* Bytes that take longer to be touched, 4 KiB by 4 KiB, than one of those. */
#define LARGE_MEMORY_LEAST ((size_t)512 << 10)

/* Memory of n items of `bytes` each, unset, on large pages where the kernel has them: touching a
 * page of 4 KiB for the first time takes longer than most work on what it holds. From
 * LARGE_MEMORY_LEAST bytes on it begins on a large page; less is aligned as malloc() does. Free
 * with free(). NULL: out of memory (nothing recorded). */
void *large_memory(size_t n, size_t bytes);

/* ---- standard input, output and error that a program was started without ---- */

/*
 * Opens /dev/null for each of descriptors 0 to 2 that is closed, in the direction that nobody uses:
 * reading and writing there fail with EBADF, as on a closed one, but no file that the program opens
 * later gets the number of a standard file, and with it what is written there. The first call of a
 * program. Prints and returns -1 where that cannot be done.
 */
int standard_files_reserve(void);

/* ---- what is done before a signal ends the process ---- */

/* From now on a signal that ends the process, and that nobody ignores or handles otherwise, calls
 * `clean` first, in its handler: it may do what signal-safety(7) allows. Each once, and few. */
void ending_signals_watch(void (*clean)(void));
/* From now on the first SIGINT, SIGTERM or SIGHUP does not end the process, but makes the
 * descriptor readable that this returns (-1: there is none, and they do). The next one ends it, but
 * for SIGHUP after SIGHUP. */
int ending_signals_defer(void);

/* ---- the variables of the environment that the tools read ---- */

/* Warns of FRINGEPIPE_ and a name that none of them has, where few other letters make one of it. */
void variables_check(void);

/*
 * Shared libraries that few runs need: they are loaded when the first function of them is called
 * for, since finding them and relocating them costs every start of a program.
 *
 * A table is a struct of nothing but pointers to functions, named in the same order.
 */

struct library {
	const char *file;		/* its SONAME, for the system's search */
	size_t functions;
	const char *const *name;	/* of each */
	void *table;
};

/* Fills the table, once; any thread may call it. 0, or -1 after fail(file, ...). */
int library_load(const struct library *);
