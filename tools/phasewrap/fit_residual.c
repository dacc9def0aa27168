/*
 * The misfit of a fringe set: the images are read twice, for the sums of the fit and for what it
 * leaves. Nothing is taken from fringe_sums.c, whose sums are vectors of length 1 by then, so that
 * its loops carry nothing for this.
 */
#include "fit_residual.h"

#include <string.h>

#include "base/cpu_level.h"
#include "base/fail.h"
#include "fit_sums.h"
#include "phasewrap.px.h"

static bool
has_residual(const struct capture_fringe *fringe)
{
	return fringe->n > 3;
}

int
fit_residual_check(const struct capture_set *captures, bool several_exposures)
{
	for (size_t k = 0; k < captures->fringes; k++)
		if (has_residual(&captures->fringe[k]) || several_exposures)
			return 0;
	return fail(NULL, captures->fringes ? "the fit of three images leaves no residual: "
	    "--fit-residual and --max-fit-residual want four or more of a period" :
	    "without fringe images there is no fit: --fit-residual and --max-fit-residual want "
	    "them");
}

static void
add_square(const struct tile *restrict tile, struct phase_shift_model model, float per_image,
    float *restrict squares, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		PX_F d = tile->plane[x] - tile->first[x], rise = tile->mean[x] * per_image;
		PX_F left = phasewrap_left(d, rise, tile->c[x], tile->s[x], model.cosine,
		    model.sine);

		squares[x] = phasewrap_add(squares[x], left, left);
	}
}

static void
keep_largest(const struct tile *restrict tile, const float *restrict squares, float per_freedom,
    float *restrict misfit, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		misfit[x] = px_max(misfit[x], phasewrap_misfit(squares[x],
		    phasewrap_amplitude(tile->s[x], tile->c[x]), per_freedom));
}

static void
judge(struct tile *restrict tile, const float *restrict misfit, float most, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		tile->bad[x] |= !(misfit[x] <= most);
}

static void
write_misfit(const struct tile *restrict tile, const float *restrict misfit, float *restrict to,
    size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		to[x] = px_select((tile->missing[x] != 0) | (misfit[x] == PHASEWRAP_MOST_MISFIT),
		    PX_NAN, misfit[x]);
}

static void
add_set(const struct capture_fringe *fringe, const struct phase_shift_fit *fit,
    const struct frame *in, size_t y, size_t x, size_t n, struct tile *tile, float *misfit)
{
	float *squares = tile->image[0][1];

	fit_sums_add(fringe, fit, in, y, x, n, tile);
	memset(squares, 0, n * sizeof(*squares));
	for (size_t i = 0; i < fringe->n; i++) {
		tile_load(tile, in, fringe->plane[i], y, x, n, tile->plane);
		add_square(tile, fit->model[i], 1.0f / (float)fringe->n, squares, n);
	}
	keep_largest(tile, squares, 1.0f / (float)(fringe->n - 3), misfit, n);
}

void
fit_residual_wrap(const struct phasewrap *wrap, const struct frame *in, struct frame *out, size_t y,
    size_t x, size_t n, struct tile *tile)
{
	const struct capture_set *captures = &wrap->captures;
	float *misfit = tile->image[0][0];

	memset(misfit, 0, n * sizeof(*misfit));
	for (size_t k = 0; k < captures->fringes; k++)
		if (has_residual(&captures->fringe[k]))
			add_set(&captures->fringe[k], &wrap->fit[k], in, y, x, n, tile, misfit);
	judge(tile, misfit, wrap->limits.most_misfit, n);
	if (wrap->writes_fit)
		write_misfit(tile, misfit, frame_floats(out, wrap->channels.fit_residual, y) + x,
		    n);
}
