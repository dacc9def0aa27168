/* Messages, exit codes and the progress line. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Messages and exit codes.
 *
 * Library code reports a failure once, where it happens, and returns -1 all the way up;
 * only stage_main() prints and exits. Messages read "object: what was wrong, what was seen":
 * one line, lower case; bytes that are not printable ASCII are shown as ?.
 */

enum exit_code {
	EXIT_DONE = 0,		/* all work done and standard output closed without error */
	EXIT_FAILED = 1,	/* failed while running */
	EXIT_USAGE = 2,		/* the command line cannot be carried out */
	EXIT_NO_DEVICE = 3	/* a GPU was demanded and there is none */
};

/* Records "object: message" (object may be NULL) unless a message is recorded already. Returns -1.
 */
int fail(const char *object, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same, followed by strerror(errno). */
int fail_errno(const char *object, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same as fail() with the exit code of the program. */
int fail_with(enum exit_code code, const char *object, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same, for a command line that cannot be carried out. */
#define fail_usage(...) fail_with(EXIT_USAGE, __VA_ARGS__)
int fail_memory(void);
/* Is the calling thread's recorded message that? */
bool fail_is_memory(void);

/* Does the recorded message begin with "object: "? */
bool fail_is_about(const char *object);
/* Puts "object: " before the recorded message. Returns -1. */
int fail_prefix(const char *object);

/*
 * The calling thread's recorded message, or NULL, and the exit code that belongs to it. Each thread
 * has its own: a thread that works for another one hands its message over together with its result,
 * by fail_take() and fail_put().
 */
const char *fail_message(void);
enum exit_code fail_code(void);
/* Forgets the recorded message: for unit tests, and for callers that try something else next. */
void fail_clear(void);

/* A message on its way from thread to thread; empty: none. */
struct fail_record {
	char message[1024];
	enum exit_code code;
};

/* Moves the calling thread's message, if there is one, to the record. */
void fail_take(struct fail_record *);
/* Records it for the calling thread, unless that has a message or the record none. */
void fail_put(const struct fail_record *);

/* The name that begins every message. */
void fail_set_program(const char *name);
const char *fail_program(void);
void fail_set_quiet(bool quiet);
/* Prints "program: message" on standard error. */
void fail_print(void);
/* Prints "program: object: message" on standard error at once, unless quiet; counts it, also when
 * quiet. */
void warn(const char *object, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Calls of warn() so far, by all threads. */
size_t warn_count(void);
/* The same for -v, which the caller asks for: also when quiet, and not counted. */
void note(const char *object, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Lines of warn() and note() that a thread keeps back for the one that it works for. */
struct warn_held {
	char *lines;
	size_t n;
};

/* The calling thread's lines go there from now on, or, if NULL, are printed as they come. */
void warn_hold(struct warn_held *);
/* Prints them, and empties the list. */
void warn_release(struct warn_held *);

/* Warnings and notes of the calling thread begin "program: stage: " from now on; empty or NULL:
 * without a stage. The name is kept. Returns the one before. */
const char *warn_stage(const char *stage);

/* ---- the one progress line: on a terminal, for work longer than a second ---- */

/* A clock that only counts forward. */
double progress_seconds(void);

void progress_start(bool show);
void progress_input(size_t operand, size_t operands); /* which operand is being read, of how many */
void progress_tick(size_t frames);			/* frames done so far */
void progress_end(void);
