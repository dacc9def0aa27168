/*
 * By ISA-L's igzip where it is the faster one, else by libdeflate. igzip finds up to three literals
 * with one look into its table, libdeflate takes a branch for each, which noise makes impossible to
 * foresee. Measured, igzip to libdeflate: pictures with a camera's noise that our own writer packed
 * 1.5 to 2.0 times as fast, those that libpng or OpenCV packed 1.1 to 1.6; but 0.7 to 0.9 times
 * where few repetitions make most of the bytes, or none is left that could be packed.
 */
#include "codec/png/inflate.h"

#include <libdeflate.h>
#include <stdint.h>
#include <stdlib.h>

#if defined(__x86_64__) && __has_include(<isa-l/igzip_lib.h>)
#define HAS_ISAL 1
#include <isa-l/igzip_lib.h>
#include <stdatomic.h>

#include "base/fail.h"
#include "base/library.h"
#else
#define HAS_ISAL 0
#endif

#if HAS_ISAL

/* Loaded when the first stream comes that is its own: relocating it costs every start else. */
static struct {
	void (*init)(struct inflate_state *);
	int (*inflate)(struct inflate_state *);
} isal;

static bool
isal_load(void)
{
	static const char *const names[] = { "isal_inflate_init", "isal_inflate_stateless" };
	static const struct library library = { "libisal.so.2", 2, names, &isal };
	static atomic_bool missing;

	if (missing)
		return false;
	if (library_load(&library) == 0)
		return true;
	fail_clear();
	missing = true;
	return false;
}

bool
inflate_by_isal(const unsigned char *packed, size_t packed_bytes, unsigned char *to, size_t n)
{
	struct inflate_state *state;
	bool done;

	if (packed_bytes > INT32_MAX || n > INT32_MAX || !isal_load())
		return false;
	state = malloc(sizeof(*state));
	if (!state)
		return false;
	isal.init(state);
	state->crc_flag = ISAL_ZLIB;
	state->next_in = (unsigned char *)packed;	/* it is only read */
	state->avail_in = (uint32_t)packed_bytes;
	state->next_out = to;
	state->avail_out = (uint32_t)n;
	done = isal.inflate(state) == ISAL_DECOMP_OK && state->total_out == n &&
	    state->avail_in == 0 && state->read_in_length < 8;
	free(state);
	return done;
}

#else

bool
inflate_by_isal(const unsigned char *packed, size_t packed_bytes, unsigned char *to, size_t n)
{
	(void)packed;
	(void)packed_bytes;
	(void)to;
	(void)n;
	return false;
}

#endif

bool
inflate_by_libdeflate(const unsigned char *packed, size_t packed_bytes, unsigned char *to, size_t n)
{
	struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
	enum libdeflate_result result;
	size_t used;

	if (!decompressor)
		return false;
	result = libdeflate_zlib_decompress_ex(decompressor, packed, packed_bytes, to, n, &used,
	    NULL);
	libdeflate_free_decompressor(decompressor);
	return result == LIBDEFLATE_SUCCESS && used == packed_bytes;
}

/* Are most of the symbols literals, and short? They pack to a third or more, but not to nearly all;
 * measured on captures of six cameras, simulated ones, depth maps, and what three writers make. */
static bool
is_noise(size_t packed_bytes, size_t n)
{
	return n / 13 >= packed_bytes / 10 && n / 32 <= packed_bytes / 10;
}

bool
inflate_whole(const unsigned char *packed, size_t packed_bytes, unsigned char *to, size_t n)
{
	return (is_noise(packed_bytes, n) && inflate_by_isal(packed, packed_bytes, to, n)) ||
	    inflate_by_libdeflate(packed, packed_bytes, to, n);
}
