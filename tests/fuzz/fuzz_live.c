/*
 * What a viewer of holoserve says. No crash, no undefined behaviour; what is taken holds what
 * websocket.h promises, and nothing else is taken.
 */
#include <stdio.h>
#include <string.h>

#include "fuzz.h"
#include "live/websocket.h"

static void
try_can(const char *text, size_t n)
{
	enum live_kind kind[LIVE_KINDS];
	int kinds = live_read_can(text, n, kind);

	check(kinds >= -1 && kinds < LIVE_KINDS, "number of kinds");
	check(kinds < 0 || (n <= LIVE_CLIENT_BYTES && !memcmp(text, "can ", 4)), "what is taken");
	for (int i = 0; i < kinds; i++) {
		check(kind[i] >= LIVE_JPEG && kind[i] < LIVE_KINDS, "kind");
		for (int k = 0; k < i; k++)
			check(kind[k] != kind[i], "a kind twice");
	}
}

static void
try_number(const char *text, size_t n)
{
	char again[32];
	uint64_t number;

	if (live_read_number(text, n, &number) < 0)
		return;
	while (n > 1 && *text == '0') {
		text++;
		n--;
	}
	snprintf(again, sizeof(again), "%llu", (unsigned long long)number);
	check(strlen(again) == n && !memcmp(again, text, n), "number");
}

/* Of the server, to holorecv. */
static void
try_head(const unsigned char *data, size_t n)
{
	unsigned char again[LIVE_HEAD_BYTES];
	struct live_head head;

	if (live_read_head(data, n, &head) < 0)
		return;
	live_put_head(&head, again);
	check(!memcmp(data, again, 6) && !memcmp(data + 8, again + 8, 24), "head");
}

int
LLVMFuzzerTestOneInput(const unsigned char *data, size_t n)
{
	try_can((const char *)data, n);
	try_number((const char *)data, n);
	try_head(data, n);
	return 0;
}
