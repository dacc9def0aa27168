/* The loop of boardfind_rows.c. */
#pragma once

#include "base/cpu_level.h"
#include "feature/corner.h"

struct boardfind_rows {
	/* As derivatives_row(), the same bits. */
	void (*derivative_row)(const struct derivative_kernels *, const struct derivative_plane *,
	    size_t y, float *work, float *const out[DERIVATIVES]);
};
LEVELS_OF(boardfind_rows)
