/* What the fuzzers share. libFuzzer's program replays the files that are named to it. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdio.h>
#include <stdlib.h>

#include <string.h>

#include "base/fail.h"
#include "base/process.h"

#if !SANITIZED
#error "no sanitizer is recognised: memory that is kept for reuse would hide errors"
#endif

int LLVMFuzzerTestOneInput(const unsigned char *, size_t);

static void
check(int holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s: %s\n", what, fail_message() ? fail_message() : "no message");
	abort();
}

/* What a fuzzer gives, taken piece by piece; zeros behind its end. */
struct bytes {
	const unsigned char *at;
	size_t left;
};

static inline void
take(struct bytes *bytes, void *to, size_t n)
{
	size_t got = n < bytes->left ? n : bytes->left;

	memset(to, 0, n);
	memcpy(to, bytes->at, got);
	bytes->at += got;
	bytes->left -= got;
}

static inline size_t
take_below(struct bytes *bytes, size_t limit)
{
	unsigned short v;

	take(bytes, &v, sizeof(v));
	return v % limit;
}

/* A new string of the next bytes up to `end`, or all that are left. */
static inline char *
take_text(struct bytes *bytes, unsigned char end)
{
	const unsigned char *stop = bytes->left ? memchr(bytes->at, end, bytes->left) : NULL;
	size_t n = stop ? (size_t)(stop - bytes->at) : bytes->left;
	char *text = malloc(n + 1);

	check(text != NULL, "memory");
	take(bytes, text, n);
	text[n] = '\0';
	if (stop)
		take(bytes, &end, 1);
	return text;
}

/* A status and its message agree, and the message is removed. */
static inline void
check_status(int status)
{
	check((status < 0) == (fail_message() != NULL), "message and status disagree");
	fail_clear();
}

#endif
