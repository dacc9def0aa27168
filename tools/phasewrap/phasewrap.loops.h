/* The loops over pixels of phasewrap.c. */
#include "rows.h"
#include "steps.h"
#include "phasewrap.px.h"

#include <string.h>

#define TILE 256	/* pixels of a row that are worked on together */

/* What makes a pixel invalid. */
struct limits {
	float max_value, least_amplitude, least_mean, least_modulation;
};

struct tile {
	float first[TILE], mean[TILE], c[TILE], s[TILE];	/* I_0 and the sums of one fringe set */
	float most[TILE];					/* of its images */
	float modulation[TILE], texture[TILE], threshold[2][TILE], plane[TILE], inverse[TILE];
	uint missing[TILE], bad[TILE], value[TILE];
};

/* One image. What differs by the type of the samples is made for each; 32-bit samples are floats. */
#define TYPED(type) \
static void \
first_##type(const type *restrict image, struct tile *restrict tile, size_t n) \
{ \
	ROWS_SIMD \
	for (size_t x = 0; x < n; x++) { \
		PX_F v = (float)image[x]; \
 \
		tile->first[x] = tile->most[x] = v; \
		tile->mean[x] = tile->c[x] = tile->s[x] = 0; \
		if (sizeof(type) == sizeof(float)) \
			tile->missing[x] |= px_isnan(v); \
	} \
} \
 \
static void \
add_##type(const type *restrict image, const struct steps_weight *restrict weight, \
    struct tile *restrict tile, size_t n) \
{ \
	float m = weight->mean, c = weight->c, s = weight->s; \
 \
	ROWS_SIMD \
	for (size_t x = 0; x < n; x++) { \
		PX_F v = (float)image[x]; \
		PX_F d = v - tile->first[x]; \
 \
		tile->most[x] = px_max(tile->most[x], v); \
		tile->mean[x] = phasewrap_add(tile->mean[x], d, m); \
		tile->c[x] = phasewrap_add(tile->c[x], d, c); \
		tile->s[x] = phasewrap_add(tile->s[x], d, s); \
		if (sizeof(type) == sizeof(float)) \
			tile->missing[x] |= px_isnan(v); \
	} \
} \
 \
static void \
load_##type(const type *restrict image, float *restrict v, struct tile *restrict tile, size_t n) \
{ \
	ROWS_SIMD \
	for (size_t x = 0; x < n; x++) { \
		v[x] = (float)image[x]; \
		if (sizeof(type) == sizeof(float)) \
			tile->missing[x] |= px_isnan(v[x]); \
	} \
} \
 \
/* sum |dI/dx| + |dI/dy| of a row and the one below, or NULL. */ \
static double \
roughness_##type(const type *image, const type *below, size_t w) \
{ \
	double sum = 0; \
 \
	for (size_t x = 0; x < w; x++) { \
		float across = x + 1 < w ? px_abs((float)image[x + 1] - (float)image[x]) : 0; \
		float down = below ? px_abs((float)below[x] - (float)image[x]) : 0; \
 \
		sum += px_isnan(across) ? 0 : across; \
		sum += px_isnan(down) ? 0 : down; \
	} \
	return sum; \
}
TYPED(uint8_t)
TYPED(uint16_t)
TYPED(float)

/* After the sums: the mean takes their place, texture and modulation of all sets are gathered. */
static void
judge(const struct limits *limits, float images, struct tile *restrict tile, size_t n)
{
	float max_value = limits->max_value, least_amplitude = limits->least_amplitude;
	float least_mean = limits->least_mean, least_modulation = limits->least_modulation;

	ROWS_SIMD
	for (size_t x = 0; x < n; x++) {
		PX_F mean = phasewrap_mean(tile->first[x], tile->mean[x], images);
		PX_F amplitude = phasewrap_amplitude(tile->s[x], tile->c[x]);
		PX_F modulation = phasewrap_modulation(amplitude, mean);
		bool good = phasewrap_good(amplitude, mean, modulation, least_amplitude, least_mean,
		    least_modulation) & (tile->most[x] < max_value);

		tile->bad[x] |= !good;
		tile->mean[x] = mean;
		tile->texture[x] += mean + amplitude;
		tile->modulation[x] = px_min(tile->modulation[x], modulation);
	}
}

static void
write_phase(const struct tile *restrict tile, float *restrict phase, size_t n)
{
	ROWS_SIMD
	for (size_t x = 0; x < n; x++)
		phase[x] = phasewrap_phase(tile->s[x], tile->c[x]);
}

static void
write_vector(const struct tile *restrict tile, float *restrict cosine, float *restrict sine,
    size_t n)
{
	ROWS_SIMD
	for (size_t x = 0; x < n; x++) {
		PX_F amplitude = phasewrap_amplitude(tile->s[x], tile->c[x]);

		cosine[x] = tile->c[x] / amplitude;
		sine[x] = tile->s[x] / amplitude;
	}
}

static void
add_bit(const float *restrict plane, const float *restrict threshold, uint *restrict value,
    size_t n)
{
	ROWS_SIMD
	for (size_t x = 0; x < n; x++)
		value[x] = phasewrap_binary(value[x], phasewrap_bit(plane[x], threshold[x]));
}

static void
write_index(const uint *restrict value, float *restrict index, size_t n)
{
	ROWS_SIMD
	for (size_t x = 0; x < n; x++)
		index[x] = px_float(value[x]);
}

static void
write_quality(struct tile *restrict tile, float sets, float *restrict modulation,
    float *restrict texture, size_t n)
{
	ROWS_SIMD
	for (size_t x = 0; x < n; x++) {
		bool missing = tile->missing[x] != 0;

		modulation[x] = px_select(missing, PX_NAN, tile->modulation[x]);
		texture[x] = px_select(missing, PX_NAN, tile->texture[x] / sets);
	}
}

static void
mask(const struct tile *restrict tile, float *restrict v, size_t n)
{
	ROWS_SIMD
	for (size_t x = 0; x < n; x++)
		v[x] = px_select(tile->bad[x] != 0, PX_NAN, v[x]);
}

/* The threshold between two flat images, and what they tell about a pixel without fringes. */
static void
between(struct tile *restrict tile, const float *restrict white, const float *restrict black,
    size_t n)
{
	ROWS_SIMD
	for (size_t x = 0; x < n; x++) {
		tile->first[x] = tile->threshold[0][x] = tile->threshold[1][x] =
		    (white[x] + black[x]) * 0.5f;
		tile->c[x] = px_max(white[x] - black[x], 0.0f) * 0.5f;
		tile->mean[x] = tile->s[x] = tile->most[x] = 0;
	}
}

static void
mask_missing(struct tile *restrict tile, size_t n)
{
	ROWS_SIMD
	for (size_t x = 0; x < n; x++)
		tile->bad[x] |= tile->missing[x];
}

static void
start(struct tile *restrict tile)
{
	memset(tile->missing, 0, sizeof(tile->missing));
	memset(tile->bad, 0, sizeof(tile->bad));
	memset(tile->texture, 0, sizeof(tile->texture));
	for (size_t x = 0; x < TILE; x++)
		tile->modulation[x] = 3e38f;
}
