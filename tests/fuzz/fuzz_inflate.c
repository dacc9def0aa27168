/*
 * Streams of zlib, most with a right check sum, unpacked by ISA-L's igzip, by libdeflate and by
 * zlib: igzip and libdeflate touch no byte behind what they are given, as the next page shows (they
 * are not compiled with sanitizers), and what they accept, zlib has accepted with the same bytes.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <sys/mman.h>
#include <zlib.h>

#include "fuzz.h"
#include "fuzz_zlib.h"
#include "codec/png/png_codec.h"

#define ROOM ((size_t)1 << 16)		/* bytes that are unpacked at most */
#define PAGE ((size_t)4096)

size_t LLVMFuzzerMutate(unsigned char *, size_t, size_t);
size_t LLVMFuzzerCustomMutator(unsigned char *, size_t, size_t, unsigned);

/* n bytes that end where pages end that may be touched. which: one of three places. */
static unsigned char *
at_the_edge(size_t n, int which)
{
	static unsigned char *place[3];

	if (!place[which]) {
		unsigned char *pages = mmap(NULL, ROOM + 2 * PAGE, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		check(pages != MAP_FAILED, "mmap");
		check(mprotect(pages + PAGE, ROOM, PROT_READ | PROT_WRITE) == 0, "mprotect");
		place[which] = pages + PAGE;
	}
	return place[which] + ROOM - n;
}

/* What zlib makes of it. */
struct result {
	bool whole;			/* a stream that ends with the bytes, its check sum right */
	size_t n, used;			/* bytes to and from */
	char message[64];
};

static struct result
by_zlib(const unsigned char *data, size_t n, int window, unsigned char *to)
{
	z_stream stream = { .next_in = (unsigned char *)data, .avail_in = (uInt)n, .next_out = to,
		.avail_out = ROOM };
	struct result result = { 0 };

	check(inflateInit2(&stream, window) == Z_OK, "memory");
	result.whole = inflate(&stream, Z_FINISH) == Z_STREAM_END;
	result.n = stream.total_out;
	result.used = stream.total_in;
	snprintf(result.message, sizeof(result.message), "%s", stream.msg ? stream.msg : "");
	inflateEnd(&stream);
	return result;
}

static void
put_big_endian(unsigned char *at, size_t v)
{
	for (int i = 0; i < 4; i++)
		at[i] = (unsigned char)(v >> (24 - 8 * i));
}

/* The usual head, and the check sum of what it unpacks to. */
static size_t
mend(unsigned char *data, size_t n, size_t room)
{
	static unsigned char raw[ROOM];
	struct result result;

	if (n < 8)
		return n;
	memcpy(data, "\x78\x9c", 2);
	result = by_zlib(data + 2, n - 2, -15, raw);
	if (!result.whole || result.used + 6 > room)
		return n;
	put_big_endian(data + 2 + result.used, adler32(1, raw, (uInt)result.n));
	return result.used + 6;
}

/* Changes what it unpacks to. */
static size_t
change_unpacked(unsigned char *data, size_t n, size_t room, unsigned seed)
{
	static unsigned char raw[ROOM];
	struct result result = by_zlib(data, n, 15, raw);
	z_stream stream = { .next_in = raw, .next_out = data, .avail_out = (uInt)room };
	int status;

	if (!result.whole)
		return n;
	stream.avail_in = (uInt)LLVMFuzzerMutate(raw, result.n, ROOM);
	check(deflateInit2(&stream, (int)(seed / 4 % 10), Z_DEFLATED, 15, 8, (int)(seed / 40 % 5))
	    == Z_OK, "memory");
	status = deflate(&stream, Z_FINISH);
	deflateEnd(&stream);
	return status == Z_STREAM_END ? stream.total_out : mend(data, room, room);
}

size_t
LLVMFuzzerCustomMutator(unsigned char *data, size_t n, size_t room, unsigned seed)
{
	if (seed % 4 == 0)
		return change_unpacked(data, n, room, seed);
	n = LLVMFuzzerMutate(data, n, room);
	return seed % 16 == 1 ? n : mend(data, n, room);
}

typedef bool inflate_fn(const unsigned char *, size_t, unsigned char *, size_t);

static void
compare(const char *name, inflate_fn *by, const unsigned char *packed, size_t packed_bytes,
    const struct result *zlib, const unsigned char *expected)
{
	unsigned char *to = at_the_edge(zlib->n, 1);

	if (!by(packed, packed_bytes, to, zlib->n)) {
		check(!zlib->whole || zlib->used < packed_bytes, name);
		return;
	}
	check(zlib->whole || zlib_is_stricter(zlib->message), name);
	check(!zlib->whole || zlib->used == packed_bytes, name);
	check(!zlib->whole || !memcmp(to, expected, zlib->n), name);
	if (zlib->n > 0)
		check(!by(packed, packed_bytes, at_the_edge(zlib->n - 1, 1), zlib->n - 1), name);
}

int
LLVMFuzzerTestOneInput(const unsigned char *data, size_t n)
{
	struct result zlib;
	unsigned char *packed, *expected = at_the_edge(ROOM, 2);

	/* the caller compares a smaller window with what is unpacked */
	if (n < 8 || n > ROOM || data[0] >> 4 != 7)
		return 0;
	packed = at_the_edge(n, 0);
	memcpy(packed, data, n);
	zlib = by_zlib(packed, n, 15, expected);
	if (zlib.n == 0)		/* it does not like the head */
		zlib.n = by_zlib(packed + 2, n - 2, -15, expected).n;
	if (zlib.n == 0 || zlib.n == ROOM)
		return 0;
	compare("igzip", inflate_by_isal, packed, n, &zlib, expected);
	compare("libdeflate", inflate_by_libdeflate, packed, n, &zlib, expected);
	return 0;
}
