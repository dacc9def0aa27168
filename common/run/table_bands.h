/* Tables (frame(5)) through the consecutive maps of a segment: threads take columns, not rows. */
#ifndef TABLE_BANDS_H
#define TABLE_BANDS_H

#include "run/band_layout.h"

/* As band_lay_out(), for pieces of columns. */
void table_bands_lay_out(struct segment *);
/* How many pieces there are. */
size_t table_bands_pieces(const struct segment *);
/* Takes piece `item` through all maps (a function for thread_pool_for(); arg: the segment). */
void table_bands_run(void *arg, size_t item, int thread);

#endif
