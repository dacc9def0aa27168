/* Unpacks zlib streams (RFC 1950) in memory. */
#ifndef INFLATE_H
#define INFLATE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Unpacks a whole stream, with nothing behind it, to exactly n bytes, 2^31 at most; is its Adler-32
 * right? It refers back as far as n allows, whatever its head says. False also where memory is
 * short; nothing is recorded.
 */
bool inflate_whole(const unsigned char *packed, size_t packed_bytes, unsigned char *to, size_t n);
/* The same by one library. false of the first also where it is not installed. */
bool inflate_by_isal(const unsigned char *packed, size_t packed_bytes, unsigned char *to, size_t n);
bool inflate_by_libdeflate(const unsigned char *packed, size_t packed_bytes, unsigned char *to,
    size_t n);

#endif
