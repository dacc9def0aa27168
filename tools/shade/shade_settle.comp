#include "image/colormap.px.h"
#include "shade_view.glsl"

/* One invocation finds what the values of ranks are needed for. */

#define LARGEST 0x7f7fffffu	/* bits of the largest float */

/* The value of a rank of list number n; `otherwise` where there are no values. */
float
found_value(uint n, uint k, float otherwise)
{
	return view_words().at[VIEW_COUNTED + n] == 0u ? otherwise :
	    view_value(view_words().at[VIEW_PREFIX + 2u * n + k]);
}

/* The bits of the largest float that is not above x times a small number; x is not negative. */
uint
times(float x, uint by)
{
	uint u = px_bits(x), e = max(u >> 23, 1u);
	uint digits = ((u & 0x7fffffu) | (u >= 0x800000u ? 0x800000u : 0u)) * by;

	for (; digits >= 0x1000000u; e++)
		digits >>= 1;
	return e > 254u ? LARGEST : digits < 0x800000u ? digits : e << 23 | (digits & 0x7fffffu);
}

/* jump_end() and jump_largest() of common/mesh/mesh.c. */
uint
find_jump()
{
	float dz = found_value(0u, 0u, 0.0f), lateral = found_value(0u, 1u, 0.0f);

	if (VIEW.jump > 0.0f)
		return px_bits(VIEW.jump);
	if (view_words().at[VIEW_COUNTED] == 0u)
		return LARGEST;
	return VIEW.scaled != 0u ? max(times(lateral, 8u), times(dz, 10u)) : times(dz, 5u);
}

/* An end of turned X (k = 0) or Y; without a cell these are not looked at. */
float
end_of(uint word, uint k)
{
	bool none = view_words().at[VIEW_LEAST + k] == VIEW_UNSET || VIEW.h < 2u;

	return none ? 0.0f : view_value(view_words().at[word + k]);
}

/* The jump, the tolerance, and whether turned X and Y have points that are far out. */
void
settle_survey()
{
	PX_F range = found_value(3u, 1u, 0.0f) - found_value(3u, 0u, 0.0f);
	PX_F tolerance = range * (1.0f / VIEW_TOLERANCE_PARTS);

	view_words().at[VIEW_VALID] = view_words().at[VIEW_ORIGIN] != VIEW_UNSET ? 1u : 0u;
	view_words().at[VIEW_JUMP] = find_jump();
	if (VIEW.tolerance >= 0.0f)
		tolerance = VIEW.tolerance;
	else if (view_words().at[VIEW_COUNTED + 3u] < VIEW_TOLERANCE_LEAST)
		tolerance = 0.0f;
	view_words().at[VIEW_TOLERATED] = px_bits(tolerance);
	for (uint k = 0u; k < 2u; k++)
		view_words().at[VIEW_OUTLIES + k] = shade_outlies(end_of(VIEW_LEAST, k),
		    end_of(VIEW_MOST, k), found_value(1u + k, 0u, 0.0f),
		    found_value(1u + k, 1u, 0.0f)) ? 1u : 0u;
}

/* place_surface() of shade_turned.c. */
void
settle_place()
{
	float low[2], high[2];

	for (uint k = 0u; k < 2u; k++) {
		float least = end_of(VIEW_LEAST, k), most = end_of(VIEW_MOST, k);
		float first = found_value(k, 0u, 0.0f), last = found_value(k, 1u, 0.0f);
		bool outlies = view_words().at[VIEW_OUTLIES + k] != 0u;

		low[k] = outlies ? shade_first_shown(least, first, last) : least;
		high[k] = outlies ? shade_last_shown(most, first, last) : most;
	}
	PX_F across = high[0] - low[0], down = high[1] - low[1];
	PX_F scale = shade_scale(across, down, float(VIEW.columns), float(VIEW.rows));

	view_words().at[VIEW_SCALE] = px_bits(scale);
	for (uint k = 0u; k < 2u; k++) {
		PX_F zero = shade_zero(scale, low[k], high[k],
		    float(k == 0u ? VIEW.columns : VIEW.rows));

		for (uint i = 0u; i < 3u; i++) {
			PX_F factor = VIEW.axis[3u * k + i] * scale;

			view_words().at[VIEW_FACTOR + 4u * k + i] = px_bits(factor);
		}
		view_words().at[VIEW_FACTOR + 4u * k + 3u] = px_bits(zero);
	}
}

/* colormap_range() */
void
settle_colours()
{
	float low = found_value(0u, 0u, 0.0f), last = found_value(0u, 1u, 1.0f);
	float high = colormap_last_value(low, last, VIEW.diverging != 0u);

	view_words().at[VIEW_HIGH] = px_bits(high);
	view_words().at[VIEW_LOW] = px_bits(colormap_first_value(low, high, VIEW.diverging != 0u));
}

void
main()
{
	if (gl_LocalInvocationID.x > 0u)
		return;
	if (VIEW.list == VIEW_STEPS)
		settle_survey();
	else if (VIEW.list == VIEW_ALL)
		settle_place();
	else
		settle_colours();
}
