/* Undoes PNG's filters (PNG specification, 9) in memory. */
#ifndef UNFILTER_H
#define UNFILTER_H

#include <stddef.h>

/* Bytes around the rows that may be read, but are not written. */
#define UNFILTER_MARGIN 64
#define UNFILTER_ROWS 16	/* a number of rows that is quick */

/*
 * n rows, each a filter byte and row_bytes bytes of whole pixels of 1, 2, 3, 4, 6 or 8 bytes, one
 * behind the other from `rows` on; they are replaced by the bytes of the pixels. The row before
 * them, already unfiltered, lies in front of them in the same way (all zero for the first row of an
 * image), and UNFILTER_MARGIN bytes of any kind in front of that and behind the last one.
 * -1 if there is no such filter, with nothing recorded.
 */
int unfilter(unsigned char *rows, size_t n, size_t row_bytes, size_t pixel_bytes);

#endif
