/* The pass over all pixels, compiled once per instruction level. */
#ifndef BOARDFIND_ROWS_H
#define BOARDFIND_ROWS_H

#include "feature/derivatives.h"

/* derivatives_row(), the same bits. */
void boardfind_row(const struct derivative_kernels *, const struct derivative_plane *, size_t y,
    float *work, float *const out[DERIVATIVES]);

#endif
