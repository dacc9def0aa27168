/* PNG's filters (PNG specification, 9), for writing. */
#ifndef FILTER_H
#define FILTER_H

#include <stddef.h>

/* Bytes before and behind the rows that may be read; those before the pixels count as 0. */
#define FILTER_MARGIN 16

/* As the specification numbers them; FILTER_LEAST: the one whose differences have the smallest sum
 * of magnitudes in this row, as the specification advises. */
enum filter { FILTER_NONE, FILTER_SUB, FILTER_UP, FILTER_AVERAGE, FILTER_PAETH, FILTER_LEAST };

/*
 * One row of n bytes, of pixels of pixel_bytes bytes, becomes a filter byte and n bytes at `to`.
 * `above` is the row before it, all zero for the first one. FILTER_MARGIN bytes before both rows
 * are zero; as many behind them, and behind the n + 1 bytes of `to`, are there to be used.
 */
void filter_row(const unsigned char *row, const unsigned char *above, size_t n, size_t pixel_bytes,
    enum filter filter, unsigned char *to);

#endif
