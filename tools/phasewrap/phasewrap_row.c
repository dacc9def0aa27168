#include "phasewrap.h"

#include "alike_sets.h"
#include "base/fail.h"
#include "fit_residual.h"
#include "fringe_sums.h"
#include "gray_code.h"
#include "phase_sigma.h"
#include "tile.h"

#include <stdlib.h>

static void
wrap_tile(const struct phasewrap *wrap, const struct frame *in, struct frame *out, size_t y,
    size_t x, size_t n, struct tile *tile)
{
	const struct capture_set *captures = &wrap->captures;
	size_t phases = captures->fringes * (wrap->vector ? 2 : 1);
	size_t codes = out->head.c - captures->codes;
	size_t kept = captures->fringes ? phases + 2 + wrap->writes_fit : phases;

	if (!wrap->fits && !wrap->sigmas && alike_sets_are(wrap, in->head.type)) {
		alike_sets_wrap(wrap, in, out, y, x, n, tile);
		return;
	}
	tile_start(tile, n);
	fringe_sums_wrap(wrap, in, out, y, x, n, tile);
	if (wrap->fits)
		fit_residual_wrap(wrap, in, out, y, x, n, tile);
	if (wrap->sigmas)
		phase_sigma_wrap(wrap, in, out, y, x, n, tile);
	if (captures->flats && captures->codes)
		gray_code_read_flats(captures, &wrap->limits, in, y, x, n, tile);
	for (size_t i = 0; i < captures->codes; i++)
		gray_code_decode(in, &captures->code[i], tile->threshold[i], y, x, n, tile,
		    frame_floats(out, codes + i, y) + x);
	if (captures->fringes)
		tile_write_quality(tile, (float)captures->fringes, frame_floats(out, phases, y) + x,
		    frame_floats(out, phases + 1, y) + x, n);
	if (tile_any_bad(tile, n))
		for (size_t c = 0; c < out->head.c; c++)
			if (c < phases || c >= kept)
				tile_mask(tile, frame_floats(out, c, y) + x, n);
}

void
phasewrap_row(const struct phasewrap *wrap, const struct frame *in, struct frame *out, size_t y)
{
	struct tile tile;

	for (size_t x = 0, w = in->head.w; x < w; x += TILE_PIXELS)
		wrap_tile(wrap, in, out, y, x, w - x < TILE_PIXELS ? w - x : TILE_PIXELS, &tile);
}

int
phasewrap_solve(struct phasewrap *wrap, double sign, double origin_rad)
{
	wrap->fit = calloc(wrap->captures.fringes + 1, sizeof(*wrap->fit));
	if (!wrap->fit)
		return fail_memory();
	for (size_t k = 0; k < wrap->captures.fringes; k++)
		if (phase_shift_weights_solve(&wrap->captures.fringe[k], sign, origin_rad,
		    &wrap->fit[k]) < 0)
			return -1;
	return 0;
}

void
phasewrap_forget(struct phasewrap *wrap)
{
	for (size_t k = 0; wrap->fit && k < wrap->captures.fringes; k++)
		phase_shift_weights_free(&wrap->fit[k]);
	free(wrap->fit);
	wrap->fit = NULL;
	free(wrap->terms);
	wrap->terms = NULL;
	capture_set_free(&wrap->captures);
}
