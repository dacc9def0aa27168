/* What the fuzzers share. libFuzzer's program replays the files that are named to it. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"

int LLVMFuzzerTestOneInput(const unsigned char *, size_t);

static void
check(int holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s: %s\n", what, fail_message() ? fail_message() : "no message");
	abort();
}

#endif
