/* The sums of a fit by themselves, for what is made beside the phase. */
#include "fit_sums.h"

#include "base/cpu_level.h"
#include "phasewrap.px.h"

static void
start(struct tile *restrict tile, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		tile->first[x] = tile->plane[x];
		tile->mean[x] = tile->c[x] = tile->s[x] = 0;
	}
}

static void
add(struct tile *restrict tile, struct phase_shift_weights weight, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		PX_F d = tile->plane[x] - tile->first[x];

		tile->mean[x] = phasewrap_add(tile->mean[x], d, weight.mean);
		tile->c[x] = phasewrap_add(tile->c[x], d, weight.c);
		tile->s[x] = phasewrap_add(tile->s[x], d, weight.s);
	}
}

void
fit_sums_add(const struct capture_fringe *fringe, const struct phase_shift_fit *fit,
    const struct frame *in, size_t y, size_t x, size_t n, struct tile *tile)
{
	tile_load(tile, in, fringe->plane[0], y, x, n, tile->plane);
	start(tile, n);
	for (size_t i = 1; i < fringe->n; i++) {
		tile_load(tile, in, fringe->plane[i], y, x, n, tile->plane);
		add(tile, fit->weights[i], n);
	}
}
