#include "boardfind_rows.h"

#include "feature/derivative_rows.h"

void
boardfind_row(const struct derivative_kernels *k, const struct derivative_plane *in, size_t y,
    float *work, float *const out[DERIVATIVES])
{
	derivative_row(k, in, y, work, out);
}
