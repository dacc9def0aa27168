/* What the fuzzers that compare with zlib share. */
#ifndef FUZZ_ZLIB_H
#define FUZZ_ZLIB_H

#include <stdbool.h>
#include <string.h>

/*
 * zlib's messages of streams that igzip and libdeflate read, to the bytes that their Adler-32
 * tells: codes that are incomplete, or have more symbols than the format knows.
 */
static inline bool
zlib_is_stricter(const char *message)
{
	static const char *const strict[] = { "invalid distance code", "invalid distances set",
		"invalid literal/length code", "invalid literal/lengths set",
		"invalid code lengths set", "too many length or distance symbols",
		"invalid bit length repeat" };

	for (size_t i = 0; i < sizeof(strict) / sizeof(*strict); i++)
		if (strstr(message, strict[i]))
			return true;
	return false;
}

#endif
