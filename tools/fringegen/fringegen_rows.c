/* The loops of fringegen: levels of a pattern along its axis. */
#include "fringegen.h"

#include "fringe/fringes.px.h"

/* Levels of fringes, in place of their phases in turns. */
static void
make_fringes(float *restrict level, size_t n, float mean, float amplitude, bool square)
{
	CPU_SIMD
	for (size_t u = 0; u < n; u++)
		level[u] = px_select(square, fringes_square(level[u], mean, amplitude),
		    fringes_sine(level[u], mean, amplitude));
}

static void
make_levels(const struct pattern *pattern, const struct tone *tone, float *level, size_t n)
{
	float mean = (float)tone->mean, amplitude = (float)tone->amplitude;
	double shift_rad = pattern->role == ROLE_PHASE ? pattern->shift_rad : 0.0;

	if (pattern->role == ROLE_SIN)
		shift_rad = -0.5 * M_PI;	/* sin x = cos(x - pi/2) */
	if (pattern->role == ROLE_GRAY || pattern->role == ROLE_GRAY_INVERSE)
		for (size_t u = 0; u < n; u++) {
			float plane = fringes_gray((uint)patterns_cell(u, pattern->cell_px),
			    (uint)pattern->bit);

			level[u] = pattern->role == ROLE_GRAY_INVERSE ? 1.0f - plane : plane;
		}
	else if (pattern->role == ROLE_MARKER)
		for (size_t u = 0; u < n; u++)
			level[u] = fringegen_marker((float)u, (float)pattern->marker_px,
			    (float)pattern->marker_width_px);
	else if (pattern->axis == 0 || pattern->role == ROLE_FLAT)
		for (size_t u = 0; u < n; u++)
			level[u] = pattern->role == ROLE_FLAT ? mean : pattern->role == ROLE_WHITE;
	else {
		for (size_t u = 0; u < n; u++)
			level[u] = patterns_turn((double)u, pattern->period_px, shift_rad);
		make_fringes(level, n, mean, amplitude, pattern->wave == WAVE_SQUARE);
	}
}

const struct fringegen_rows AT_LEVEL(fringegen_rows) = {
	.make_levels = make_levels,
};
