/*
 * Deflate (RFC 1951) without a search for matches: bytes, and runs of one byte, in Huffman codes of
 * their own for every 32 KiB, or for more of long runs. What PNG's filters make of a camera's
 * pictures is noise around zero, in which matches are found that cost more than they save; zlib
 * knows this as Z_RLE.
 */
#ifndef DEFLATE_RUNS_H
#define DEFLATE_RUNS_H

#include <stddef.h>

/* Most bytes that a zlib stream (RFC 1950) of n bytes takes. */
size_t deflate_runs_most(size_t n);
/* Packs n bytes, at least 1, as a zlib stream. Returns its bytes, deflate_runs_most(n) at most. */
size_t deflate_runs(const unsigned char *from, size_t n, unsigned char *to);

#endif
