/* Messages on standard error, the exit codes that follow from them, and the progress line. */

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "base/process.h"

#define OUT_OF_MEMORY "out of memory"

static _Thread_local struct fail_record own;	/* of this thread */
static _Thread_local const char *stage;	/* that it works for */
static _Thread_local struct warn_held *held;	/* by warn_hold() */
static char program[64] = "fringepipe";
static bool be_quiet;
static size_t warnings;			/* by all threads */

static void
make_printable(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || (unsigned char)*text > 0x7e)
			*text = '?';
}

static void
format_message(char *text, size_t size, const char *object, const char *error,
    const char *format, va_list args)
{
	size_t used = 0;

	text[0] = '\0';
	if (object)
		snprintf(text, size, "%.400s: ", object);
	used = strlen(text);
	vsnprintf(text + used, size - used, format, args);
	used = strlen(text);
	if (error)
		snprintf(text + used, size - used, ": %s", error);
	make_printable(text);
}

static void
record(enum exit_code with, const char *object, const char *error, const char *format, va_list args)
{
	if (!own.message[0]) {
		format_message(own.message, sizeof(own.message), object, error, format, args);
		own.code = with;
	}
}

int
fail(const char *object, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	record(EXIT_FAILED, object, NULL, format, args);
	va_end(args);
	return -1;
}

int
fail_errno(const char *object, const char *format, ...)
{
	const char *error = strerror(errno);
	va_list args;

	va_start(args, format);
	record(EXIT_FAILED, object, error, format, args);
	va_end(args);
	return -1;
}

int
fail_with(enum exit_code with, const char *object, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	record(with, object, NULL, format, args);
	va_end(args);
	return -1;
}

int
fail_memory(void)
{
	return fail(NULL, OUT_OF_MEMORY);
}

bool
fail_is_memory(void)
{
	const char *message = fail_message();

	return message && strstr(message, OUT_OF_MEMORY);
}

bool
fail_is_about(const char *object)
{
	size_t n = strlen(object);

	return !strncmp(own.message, object, n) && own.message[n] == ':';
}

int
fail_prefix(const char *object)
{
	char text[sizeof(own.message)];
	size_t n;

	if (!own.message[0])
		return -1;
	memcpy(text, own.message, sizeof(text));
	n = (size_t)snprintf(own.message, sizeof(own.message), "%.400s: ", object);
	memcpy(own.message + n, text, sizeof(own.message) - n - 1);
	own.message[sizeof(own.message) - 1] = '\0';
	make_printable(own.message);
	return -1;
}

const char *
fail_message(void)
{
	return own.message[0] ? own.message : NULL;
}

enum exit_code
fail_code(void)
{
	return own.message[0] ? own.code : EXIT_DONE;
}

void
fail_clear(void)
{
	own.message[0] = '\0';
}

void
fail_take(struct fail_record *record)
{
	*record = own;
	fail_clear();
}

void
fail_put(const struct fail_record *record)
{
	if (!own.message[0])
		own = *record;
}

void
fail_set_program(const char *name)
{
	snprintf(program, sizeof(program), "%s", name);
}

const char *
fail_program(void)
{
	return program;
}

void
fail_set_quiet(bool quiet)
{
	be_quiet = quiet;
}

void
fail_print(void)
{
	fprintf(
	    stderr, "%s: %s\n", program, own.message[0] ? own.message : "failed without a message");
}

const char *
warn_stage(const char *name)
{
	const char *before = stage;

	stage = name;
	return before;
}

void
warn_hold(struct warn_held *list)
{
	held = list;
}

void
warn_release(struct warn_held *list)
{
	if (list->n)
		fwrite(list->lines, 1, list->n, stderr);
	free(list->lines);
	*list = (struct warn_held){ 0 };
}

static void
print_line(const char *object, const char *format, va_list args)
{
	char text[1024], line[1400];
	bool staged = stage && stage[0];

	format_message(text, sizeof(text), object, NULL, format, args);
	snprintf(line, sizeof(line), "%.100s: %.200s%s%s\n", program, staged ? stage : "",
	    staged ? ": " : "", text);
	if (!held) {
		fputs(line, stderr);
		return;
	}
	held->lines = must_resize(held->lines, held->n + strlen(line) + 1, 1);
	memcpy(held->lines + held->n, line, strlen(line));
	held->n += strlen(line);
}

void
warn(const char *object, const char *format, ...)
{
	va_list args;

	__atomic_fetch_add(&warnings, 1, __ATOMIC_RELAXED);
	if (be_quiet)
		return;
	va_start(args, format);
	print_line(object, format, args);
	va_end(args);
}

size_t
warn_count(void)
{
	return __atomic_load_n(&warnings, __ATOMIC_RELAXED);
}

void
note(const char *object, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_line(object, format, args);
	va_end(args);
}

static struct {
	bool show, shown;
	double start, last;
	size_t operand, operands;
} state;

double
progress_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void
progress_start(bool show)
{
	state.show = show;
	state.shown = false;
	state.start = state.last = progress_seconds();
	state.operand = state.operands = 0;
}

void
progress_input(size_t operand, size_t operands)
{
	state.operand = operand;
	state.operands = operands;
}

void
progress_tick(size_t frames)
{
	double now, spent;

	if (!state.show)
		return;
	now = progress_seconds();
	spent = now - state.start;
	if (spent < 1.0 || now - state.last < 0.2)
		return;
	state.last = now;
	state.shown = true;
	fprintf(stderr, "\r%s: %zu frames, %.1f frames/s", fail_program(), frames,
	    (double)frames / spent);
	if (state.operand > 0)
		fprintf(stderr, ", %.0f s left  ",
		    spent / (double)state.operand * (double)(state.operands - state.operand));
	fflush(stderr);
}

void
progress_end(void)
{
	if (state.shown)
		fputs("\r\033[K", stderr);
}
