/* The loop of boardfind: the pass over all pixels. */
#include "boardfind.h"

#include "feature/derivative_rows.h"

const struct boardfind_rows AT_LEVEL(boardfind_rows) = { .derivative_row = derivative_row };
