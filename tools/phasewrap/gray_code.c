#include "gray_code.h"

#include <string.h>

#include "base/cpu_level.h"
#include "fringe_sums.h"
#include "phasewrap.px.h"

static void
add_bit(const float *restrict plane, const float *restrict threshold, uint *restrict value,
    size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		value[x] = phasewrap_binary(value[x], phasewrap_bit(plane[x], threshold[x]));
}

static void
write_index(const uint *restrict value, float *restrict index, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		index[x] = px_float(value[x]);
}

/* The threshold between two flat images. */
static void
between(struct tile *restrict tile, const float *restrict white, const float *restrict black,
    size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		tile->threshold[0][x] = tile->threshold[1][x] = (white[x] + black[x]) * 0.5f;
}

void
gray_code_decode(const struct frame *in, const struct capture_code *code, const float *threshold,
    size_t y, size_t x, size_t n, struct tile *tile, float *index)
{
	memset(tile->value, 0, sizeof(tile->value));
	for (size_t i = 0; i < code->n; i++) {
		tile_load(tile, in, code->plane[i], y, x, n, tile->plane);
		if (code->inverse)
			tile_load(tile, in, code->inverse[i], y, x, n, tile->inverse);
		add_bit(tile->plane, code->inverse ? tile->inverse : threshold, tile->value, n);
	}
	write_index(tile->value, index, n);
}

void
gray_code_read_flats(const struct capture_set *captures, const struct phasewrap_limits *limits,
    const struct frame *in, size_t y, size_t x, size_t n, struct tile *tile)
{
	tile_load(tile, in, captures->flat[0], y, x, n, tile->plane);
	tile_load(tile, in, captures->flat[captures->flats - 1], y, x, n, tile->inverse);
	between(tile, tile->plane, tile->inverse, n);
	if (captures->fringes == 0 && captures->flats == 2)
		fringe_sums_judge_flats(*limits, tile, tile->plane, tile->inverse, n);
}

/* ---- of several exposures, whose samples are added: a plane that is saturated with its inverse
 * in one tells nothing there, and does no harm ---- */

static void
add_plane(const float *restrict v, float *restrict sum, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		sum[x] += v[x];
}

static void
add_flats(const struct phasewrap *wrap, const struct frame *in, size_t y, size_t x, size_t n,
    struct tile *tile)
{
	memset(tile->threshold, 0, sizeof(tile->threshold));
	for (size_t e = 0; e < wrap->exposures.n; e++) {
		const struct capture_set *set =
		    exposures_get(&wrap->exposures, &wrap->captures, e);

		for (size_t k = 0; k < 2; k++) {
			tile_load(tile, in, set->flat[k && set->flats > 1], y, x, n, tile->plane);
			for (size_t p = 0; p < n; p++)
				tile->threshold[0][p] += 0.5f * tile->plane[p];
		}
	}
	memcpy(tile->threshold[1], tile->threshold[0], sizeof(tile->threshold[1]));
}

static void
decode_sums(const struct phasewrap *wrap, size_t code, const struct frame *in, size_t y, size_t x,
    size_t n, struct tile *tile, float *index)
{
	const struct exposures *exposures = &wrap->exposures;
	float *plane = tile->image[0][0], *inverse = tile->image[0][1];
	bool has_inverse = wrap->captures.code[code].inverse;

	memset(tile->value, 0, sizeof(tile->value));
	for (size_t i = 0; i < wrap->captures.code[code].n; i++) {
		memset(plane, 0, n * sizeof(*plane));
		memset(inverse, 0, n * sizeof(*inverse));
		for (size_t e = 0; e < exposures->n; e++) {
			const struct capture_code *own =
			    &exposures_get(exposures, &wrap->captures, e)->code[code];

			tile_load(tile, in, own->plane[i], y, x, n, tile->plane);
			add_plane(tile->plane, plane, n);
			if (!has_inverse)
				continue;
			tile_load(tile, in, own->inverse[i], y, x, n, tile->plane);
			add_plane(tile->plane, inverse, n);
		}
		add_bit(plane, has_inverse ? inverse : tile->threshold[code], tile->value, n);
	}
	write_index(tile->value, index, n);
}

void
gray_code_decode_exposures(const struct phasewrap *wrap, const struct frame *in, struct frame *out,
    size_t channel, size_t y, size_t x, size_t n, struct tile *tile)
{
	if (wrap->captures.flats && wrap->captures.codes)
		add_flats(wrap, in, y, x, n, tile);
	for (size_t i = 0; i < wrap->captures.codes; i++)
		decode_sums(wrap, i, in, y, x, n, tile, frame_floats(out, channel + i, y) + x);
}
