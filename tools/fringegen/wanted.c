#include "wanted.h"

#include <math.h>

#include "fringe/levels.h"

#define IN(kind) (1u << (kind))

int
wanted_check(const struct parameters *p)
{
	const unsigned toned = IN(KIND_SINE) | IN(KIND_TWO_PLUS_ONE) | IN(KIND_COMPOSITE);
	const unsigned stepped = IN(KIND_SINE) | IN(KIND_SQUARE) | IN(KIND_DITHER);
	const struct {
		const char *name;
		bool given;
		unsigned kinds;
	} uses[] = {
		{ "--steps", p->steps != OPT_NONE_INTEGER, stepped },
		{ "--shift", p->shift_rad.n > 0, stepped },
		{ "--mean", !isnan(p->mean), IN(KIND_DITHER) | (toned & ~IN(KIND_COMPOSITE)) },
		{ "--amplitude", !isnan(p->amplitude), IN(KIND_DITHER) | toned },
		{ "--gamma", p->gamma != 1.0, toned },
		{ "--lut", p->lut, toned },
		{ "--dither", p->dither != DITHER_FS_SERPENTINE, IN(KIND_DITHER) },
		{ "--stair", p->stair != OPT_NONE_INTEGER, IN(KIND_COMPOSITE) },
		{ "--bits=1", p->bits == BITS_1, ~toned },
	};

	for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++)
		if (uses[i].given && !(uses[i].kinds & IN(p->kind)))
			return fail_usage(uses[i].name, "has no meaning for %s patterns",
			    fringegen_kinds[p->kind]);
	if (p->kind == KIND_GRAY && p->gray <= CELL_COLUMN && (p->period_px.n || p->count.n))
		return fail_usage(p->count.n ? "--count" : "--period",
		    "has no meaning for a Gray code of columns alone");
	if (p->inverse && p->gray < 0 && p->kind != KIND_GRAY)
		return fail_usage("--inverse", "needs --gray");
	if (p->marker && (p->kind == KIND_COMPOSITE || p->kind == KIND_GRAY))
		return fail_usage("--marker", "is for phases: %s patterns count their periods",
		    fringegen_kinds[p->kind]);
	if (!isnan(p->marker_at) && !p->marker)
		return fail_usage("--marker-at", "needs --marker");
	if (p->gamma != 1.0 && p->lut)
		return fail_usage("--lut", "stands instead of --gamma, not beside it");
	return 0;
}

/*
 * The middle, for steps of whole levels less a quarter of one: images half a turn apart are a +- b,
 * and about a whole or half level they are rounded to the same side of the phase, about a quarter
 * to either (even numbers of steps; others gain nothing).
 */
static double
best_mean(const struct parameters *p)
{
	double full = p->bits == BITS_8 ? 255 : 65535;

	if (p->kind != KIND_SINE || (p->bits != BITS_8 && p->bits != BITS_16))
		return 0.5;
	return (full / 2 - 0.25) / full;
}

int
wanted_tone(const struct parameters *p, struct priv *priv)
{
	double clear = p->kind == KIND_SINE || p->kind == KIND_TWO_PLUS_ONE ? 0.96 : 1.0;
	double room;

	priv->mean = isnan(p->mean) ? best_mean(p) : p->mean;
	room = fmin(priv->mean, 1.0 - priv->mean);
	priv->amplitude = isnan(p->amplitude) ? clear * room : p->amplitude;
	if (priv->amplitude <= 0.0 || priv->amplitude > room + 1e-9)
		return fail_usage(isnan(p->amplitude) ? "--mean" : "--amplitude",
		    "an amplitude of %g about a mean of %g is not above 0 and within 0 to 1",
		    priv->amplitude, priv->mean);
	return p->lut ? lut_load(p->lut, &priv->lut) : 0;
}

int
wanted_patterns(const struct parameters *p, struct pattern_spec *spec)
{
	static const enum pattern_family families[] = { FAMILY_SHIFTS, FAMILY_SHIFTS, FAMILY_SHIFTS,
		FAMILY_SIN_COS_FLAT, FAMILY_COMPOSITE, FAMILY_GRAY };

	spec->w = p->size.w;
	spec->h = p->size.h;
	spec->family = families[p->kind];
	spec->wave = p->kind == KIND_SQUARE ? WAVE_SQUARE : p->kind == KIND_DITHER ? WAVE_DITHERED :
	    WAVE_SINE;
	spec->gray_cell = p->gray >= 0 ? (enum manifest_cell)p->gray :
	    p->kind == KIND_GRAY ? CELL_COLUMN : CELL_NONE;
	spec->bits = (enum pattern_bits)p->bits;
	spec->inverse = p->inverse;
	spec->flats = p->flats;
	spec->along[0] = p->axis != AXIS_Y;
	spec->along[1] = p->axis != AXIS_X;
	if (!(p->kind == KIND_GRAY && spec->gray_cell == CELL_COLUMN) &&
	    patterns_periods(spec, &p->period_px, &p->count) < 0)
		return -1;
	if (p->marker && patterns_marker(spec, p->marker_at) < 0)
		return -1;
	if (p->kind == KIND_COMPOSITE)
		return patterns_stair(spec, p->stair);
	return patterns_shifts(spec, &p->shift_rad, p->steps);
}
