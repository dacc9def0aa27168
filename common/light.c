#define _GNU_SOURCE
#include "light.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"

#define TWO_PI 6.28318530717958647692

/* ---- the list ---- */

static struct shot *
shots_add(struct shots *shots, enum manifest_role role, char axis)
{
	struct shot *more = reallocarray(shots->shot, shots->n + 1, sizeof(*more));

	if (!more) {
		fail_memory();
		return NULL;
	}
	shots->shot = more;
	more[shots->n] = (struct shot){ .role = role, .axis = axis, .period_px = NAN, .step = -1,
		.bit = -1, .shift_rad = NAN };
	return &more[shots->n++];
}

/* d_n of methods §1. */
static double
standard_shift(long n, long steps)
{
	return steps == 3 ? TWO_PI * (double)(n - 1) / 3 : TWO_PI * (double)n / (double)steps;
}

static int
add_fringes(struct shots *shots, const struct shots_options *options, char axis)
{
	static const enum manifest_role triple[] = { ROLE_SIN, ROLE_COS, ROLE_FLAT };

	for (size_t k = 0; k < options->period.n; k++)
		for (long n = 0; n < shots->steps; n++) {
			struct shot *shot = shots_add(shots,
			    options->kind == SHOTS_2_PLUS_1 ? triple[n] : ROLE_PHASE, axis);

			if (!shot)
				return -1;
			snprintf(shot->name, sizeof(shot->name), "phase_%02zu", shots->n - 1);
			shot->period_px = options->period.v[k];
			if (options->kind == SHOTS_2_PLUS_1)
				continue;
			shot->step = n;
			shot->shift_rad = options->shift.n ? options->shift.v[n] :
			    standard_shift(n, shots->steps);
		}
	return 0;
}

static double
cell_px(enum manifest_cell cell, double period_px)
{
	return cell == CELL_COLUMN ? 1 : cell == CELL_PERIOD ? period_px : period_px / 2;
}

static long
cell_of(double column, double cell_px)
{
	return (long)floor(column / cell_px);
}

static int
add_gray(struct shots *shots, const struct shots_options *options, double columns, char axis,
    enum manifest_role role)
{
	double size = cell_px(shots->gray_cell, options->period.v[0]);
	long last = cell_of(columns - 1, size), bits = 1;
	size_t before = 0;

	for (size_t i = 0; i < shots->n; i++)
		before += shots->shot[i].role == role;
	while (last >> bits)
		bits++;
	for (long bit = bits - 1; bit >= 0; bit--) {
		struct shot *shot = shots_add(shots, role, axis);

		if (!shot)
			return -1;
		snprintf(shot->name, sizeof(shot->name), "%s_%zu", manifest_roles[role], before++);
		shot->bit = bit;
	}
	return 0;
}

static int
add_flat(struct shots *shots, enum manifest_role role)
{
	struct shot *shot = shots_add(shots, role, 0);

	if (!shot)
		return -1;
	snprintf(shot->name, sizeof(shot->name), "%s", manifest_roles[role]);
	return 0;
}

int
shots_check(const struct shots_options *options)
{
	bool counted = options->steps != OPT_NONE_INTEGER;

	if (options->kind == SHOTS_2_PLUS_1 && (options->shift.n || counted))
		return fail_usage("--kind", "2+1 takes neither --steps nor --shift");
	if (options->shift.n && options->shift.n < 3)
		return fail_usage("--shift", "must be at least 3 angles, not %zu", options->shift.n);
	if (options->shift.n && counted && (size_t)options->steps != options->shift.n)
		return fail_usage("--shift", "has %zu angles for %ld steps", options->shift.n,
		    options->steps);
	if (options->inverse && options->gray < 0)
		return fail_usage("--inverse", "needs --gray");
	return 0;
}

int
shots_list(const struct shots_options *options, const double projector_px[2], struct shots *shots)
{
	bool along[2] = { options->axis != SHOTS_Y, options->axis != SHOTS_X };

	*shots = (struct shots){ .gray_cell = (enum manifest_cell)options->gray, .steps = 3 };
	if (options->shift.n)
		shots->steps = (long)options->shift.n;
	else if (options->steps != OPT_NONE_INTEGER)
		shots->steps = options->steps;
	for (int k = 0; k < 2; k++)
		if (along[k] && add_fringes(shots, options, "xy"[k]) < 0)
			return -1;
	for (int k = 0; k < 2; k++) {
		if (!along[k] || shots->gray_cell == CELL_NONE)
			continue;
		if (add_gray(shots, options, projector_px[k], "xy"[k], ROLE_GRAY) < 0)
			return -1;
		if (options->inverse &&
		    add_gray(shots, options, projector_px[k], "xy"[k], ROLE_GRAY_INVERSE) < 0)
			return -1;
	}
	if (options->flats && (add_flat(shots, ROLE_WHITE) < 0 || add_flat(shots, ROLE_BLACK) < 0))
		return -1;
	return 0;
}

void
shots_free(struct shots *shots)
{
	free(shots->shot);
	*shots = (struct shots){ 0 };
}

/* `-` where there is no such number. */
static int
set_or_null(struct meta *meta, const char *key, double v, bool there)
{
	return there ? meta_set_number(meta, key, v) : meta_set(meta, key, "-");
}

int
shot_describe(const struct shots *shots, const struct shot *shot, const char *prefix, struct meta *meta)
{
	char axis[2] = { shot->axis ? shot->axis : '-', '\0' };

	if (meta_set(meta, "role", manifest_roles[shot->role]) < 0 || meta_set(meta, "axis", axis) < 0 ||
	    set_or_null(meta, "period_px", shot->period_px, !isnan(shot->period_px)) < 0 ||
	    set_or_null(meta, "step", (double)shot->step, shot->step >= 0) < 0 ||
	    meta_set_number(meta, "steps", (double)shots->steps) < 0 ||
	    set_or_null(meta, "shift_rad", shot->shift_rad, !isnan(shot->shift_rad)) < 0 ||
	    set_or_null(meta, "bit", (double)shot->bit, shot->bit >= 0) < 0)
		return -1;
	if (shots->gray_cell != CELL_NONE &&
	    meta_set(meta, "gray_cell", manifest_cells[shots->gray_cell]) < 0)
		return -1;
	if (meta_set_number(meta, "set_images", (double)shots->n) < 0)
		return -1;
	return meta_setf(meta, "name", "%s%s", prefix, shot->name);
}

/* ---- the light ---- */

int
light_complete(struct light *light, double full)
{
	light->full = full;
	if (isnan(light->mean))
		light->mean = full * 127 / 255;
	if (isnan(light->amplitude))
		light->amplitude = full * 100 / 255;
	if (light->amplitude > light->mean)
		return fail_usage("--amplitude", "must not exceed the mean %g, is %g", light->mean,
		    light->amplitude);
	return 0;
}

static double
response(const struct light *light, double level)
{
	return light->gamma == 1 ? level :
	    light->full * pow(fmax(level, 0) / light->full, light->gamma);
}

/* What a Gaussian blur leaves of harmonic m. */
static double
attenuation(const struct light *light, double period_px, size_t m)
{
	double cycles = (double)m * light->defocus_px / period_px;

	return exp(-0.5 * TWO_PI * TWO_PI * cycles * cycles);
}

/*
 * The Fourier series of the response to a cosine, by a sum over one turn (which is exact but for what
 * folds over at 4096 samples), blurred; ends where what follows does not matter in double.
 */
static void
find_harmonics(struct beam *beam)
{
	const struct light *light = beam->light;
	enum { SAMPLES = 4096 };

	for (size_t m = 0; m < LIGHT_HARMONICS; m++) {
		double left = attenuation(light, beam->shot->period_px, m), sum = 0;

		if (left < 1e-17)
			break;
		for (int i = 0; i < SAMPLES; i++)
			sum += response(light, light->mean + light->amplitude * cos(TWO_PI * i / SAMPLES)) *
			    cos(TWO_PI * (double)(m * (size_t)i % SAMPLES) / SAMPLES);
		beam->harmonic[m] = left * sum * (m ? 2 : 1) / SAMPLES;
		beam->harmonics = m + 1;
	}
}

void
beam_init(struct beam *beam, const struct light *light, const struct shots *shots, const struct shot *shot,
    double period_px)
{
	*beam = (struct beam){ .light = light, .shot = shot };
	beam->dark = response(light, light->mean - light->amplitude);
	beam->bright = response(light, light->mean + light->amplitude);
	beam->cell_px = cell_px(shots->gray_cell, period_px);
	beam->shift_rad = shot->role == ROLE_SIN ? -0.25 * TWO_PI :
	    shot->role == ROLE_COS ? 0 : shot->shift_rad;
	if (light->gamma == 1) {
		beam->harmonics = 2;
		beam->harmonic[0] = light->mean;
		beam->harmonic[1] = light->amplitude * attenuation(light, shot->period_px, 1);
	} else if (light->defocus_px > 0) {
		find_harmonics(beam);
	}
}

static double
sinusoid(const struct beam *beam, double column)
{
	const struct light *light = beam->light;
	double c = cos(TWO_PI * column / beam->shot->period_px + beam->shift_rad), b1 = 0, b2 = 0;

	if (beam->harmonics == 2)
		return beam->harmonic[0] + beam->harmonic[1] * c;
	if (beam->harmonics == 0)
		return response(light, light->mean + light->amplitude * c);
	for (size_t m = beam->harmonics - 1; m > 0; m--) {	/* Clenshaw */
		double b = beam->harmonic[m] + 2 * c * b1 - b2;

		b2 = b1;
		b1 = b;
	}
	return beam->harmonic[0] + c * b1 - b2;
}

/* Is the whole projector column bright? */
static double
gray_bit(const struct beam *beam, double column)
{
	long cell = cell_of(fmax(column, 0), beam->cell_px);
	bool set = (cell ^ (cell >> 1)) >> beam->shot->bit & 1;

	return set != (beam->shot->role == ROLE_GRAY_INVERSE);
}

/* The share of the light that comes from bright columns. Column j reaches from j - 1/2 to j + 1/2. */
static double
gray_share(const struct beam *beam, double column)
{
	double sigma = beam->light->defocus_px, reach = 9 * sigma;
	double j = floor(column - reach + 0.5), end = floor(column + reach + 0.5);
	double share = gray_bit(beam, j);

	for (; j < end; j++) {
		double step = gray_bit(beam, j + 1) - gray_bit(beam, j);

		if (step != 0)
			share += step * 0.5 * erfc((j + 0.5 - column) / (sigma * sqrt(2)));
	}
	return share;
}

double
beam_at(const struct beam *beam, double column)
{
	switch (beam->shot->role) {
	case ROLE_GRAY:
	case ROLE_GRAY_INVERSE:
		return beam->dark + (beam->bright - beam->dark) * gray_share(beam, column);
	case ROLE_FLAT:
		return response(beam->light, beam->light->mean);
	case ROLE_WHITE:
		return beam->bright;
	case ROLE_BLACK:
		return beam->dark;
	default:
		return sinusoid(beam, column);
	}
}
