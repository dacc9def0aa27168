/* The loops over pixels of phasewrap.c. */
#include "frame.h"
#include "rows.h"
#include "steps.h"
#include "phasewrap.px.h"

#include <string.h>

#define TILE 256	/* pixels of a row that are worked on together */
#define IMAGES 4	/* of a fringe set, likewise */

/* What makes a pixel invalid. */
struct limits {
	float max_value, least_amplitude, least_mean, least_modulation;
};

/* What is planned for a measurement. */
struct wrap {
	struct shots shots;
	struct steps *steps;		/* of each fringe set */
	size_t reference[2];		/* fringe set whose mean is the threshold of a code */
	bool vector;
	struct limits limits;
};

struct tile {
	float first[TILE], mean[TILE], c[TILE], s[TILE];	/* I_0, sums of one fringe set */
	float most[TILE];					/* of its images */
	float modulation[TILE], texture[TILE], threshold[2][TILE], plane[TILE], inverse[TILE];
	uint missing[TILE], bad[TILE], value[TILE];
};

/* The images of one fringe set that are summed in one go. */
struct images {
	const void *restrict row[IMAGES];
	struct steps_weight weight[IMAGES];
};

#define SUM(type, count, begin) \
	case count + (begin ? 0 : IMAGES): \
		sum_##type(images, count, begin, tile, n); \
		break;

/*
 * What differs by the type of the samples; those of 32 bits are floats, which may be missing. sum_
 * adds `count` images to the sums, which begin with the first one (taken off all others) if
 * `begin`; both are constants where it is called, so that the loop over the images is unrolled.
 */
#define TYPED(type) \
static inline __attribute__((always_inline)) void \
sum_##type(const struct images *restrict images, size_t count, bool begin, \
    struct tile *restrict tile, size_t n) \
{ \
	const type *restrict first = images->row[0]; \
 \
	ROWS_SIMD \
	for (size_t x = 0; x < n; x++) { \
		PX_F zero = begin ? (float)first[x] : tile->first[x]; \
		PX_F most = begin ? zero : tile->most[x], mean = begin ? 0 : tile->mean[x]; \
		PX_F c = begin ? 0 : tile->c[x], s = begin ? 0 : tile->s[x]; \
		bool missing = sizeof(type) == sizeof(float) && phasewrap_missing(zero); \
 \
		_Pragma("GCC unroll 8") \
		for (size_t i = begin; i < count; i++) { \
			PX_F v = (float)((const type *restrict)images->row[i])[x]; \
			PX_F d = v - zero; \
 \
			most = px_max(most, v); \
			mean = phasewrap_add(mean, d, images->weight[i].mean); \
			c = phasewrap_add(c, d, images->weight[i].c); \
			s = phasewrap_add(s, d, images->weight[i].s); \
			missing |= sizeof(type) == sizeof(float) && phasewrap_missing(v); \
		} \
		tile->first[x] = zero; \
		tile->most[x] = most; \
		tile->mean[x] = mean; \
		tile->c[x] = c; \
		tile->s[x] = s; \
		if (sizeof(type) == sizeof(float)) \
			tile->missing[x] |= missing; \
	} \
} \
 \
static void \
sums_##type(const struct images *images, size_t count, bool begin, struct tile *tile, size_t n) \
{ \
	switch (count + (begin ? 0 : IMAGES)) { \
	SUM(type, 1, true) \
	SUM(type, 2, true) \
	SUM(type, 3, true) \
	SUM(type, 4, true) \
	SUM(type, 1, false) \
	SUM(type, 2, false) \
	SUM(type, 3, false) \
	SUM(type, 4, false) \
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
			tile->missing[x] |= phasewrap_missing(v[x]); \
	} \
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

/* ---- of a frame ---- */

/* Calls the function of the frame's type with the samples of plane c from column x of row y on. */
#define CALL(name, in, c, y, x, ...) do { \
	void *row_ = frame_row(in, c, y); \
 \
	if ((in)->head.type == SAMPLE_UCHAR) \
		name##_uint8_t((uint8_t *)row_ + (x), __VA_ARGS__); \
	else if ((in)->head.type == SAMPLE_USHORT) \
		name##_uint16_t((uint16_t *)row_ + (x), __VA_ARGS__); \
	else \
		name##_float((float *)row_ + (x), __VA_ARGS__); \
} while (false)

/* The sums of a fringe set over n pixels from column x of row y on. */
static void
sum_fringe(const struct frame *in, const struct shots_fringe *fringe, const struct steps *steps,
    size_t y, size_t x, size_t n, struct tile *tile)
{
	for (size_t first = 0; first < fringe->n; first += IMAGES) {
		size_t count = fringe->n - first < IMAGES ? fringe->n - first : IMAGES;
		struct images images;

		for (size_t i = 0; i < count; i++) {
			images.row[i] = (char *)frame_row(in, fringe->plane[first + i], y) +
			    x * sample_size(in->head.type);
			images.weight[i] = steps->weight[first + i];
		}
		if (in->head.type == SAMPLE_UCHAR)
			sums_uint8_t(&images, count, first == 0, tile, n);
		else if (in->head.type == SAMPLE_USHORT)
			sums_uint16_t(&images, count, first == 0, tile, n);
		else
			sums_float(&images, count, first == 0, tile, n);
	}
}

/* The index that a Gray code gives; threshold is used where it has no inverse planes. */
static void
decode(const struct frame *in, const struct shots_code *code, const float *threshold, size_t y,
    size_t x, size_t n, struct tile *tile, float *index)
{
	memset(tile->value, 0, sizeof(tile->value));
	for (size_t i = 0; i < code->n; i++) {
		CALL(load, in, code->plane[i], y, x, tile->plane, tile, n);
		if (code->inverse)
			CALL(load, in, code->inverse[i], y, x, tile->inverse, tile, n);
		add_bit(tile->plane, code->inverse ? tile->inverse : threshold, tile->value, n);
	}
	write_index(tile->value, index, n);
}

/* Thresholds from white and black, or from one image between them; without fringes, white and black
 * also tell how good a pixel is. */
static void
read_flats(const struct shots *shots, const struct limits *limits, const struct frame *in, size_t y,
    size_t x, size_t n, struct tile *tile)
{
	CALL(load, in, shots->flat[0], y, x, tile->plane, tile, n);
	CALL(load, in, shots->flat[shots->flats - 1], y, x, tile->inverse, tile, n);
	between(tile, tile->plane, tile->inverse, n);
	if (shots->fringes == 0 && shots->flats == 2)
		judge(limits, 1, tile, n);
}

static void
wrap_phases(const struct wrap *wrap, const struct frame *in, struct frame *out, size_t y, size_t x,
    size_t n, struct tile *tile)
{
	const struct shots *shots = &wrap->shots;

	for (size_t k = 0; k < shots->fringes; k++) {
		sum_fringe(in, &shots->fringe[k], &wrap->steps[k], y, x, n, tile);
		judge(&wrap->limits, (float)shots->fringe[k].n, tile, n);
		if (wrap->vector)
			write_vector(tile, frame_floats(out, 2 * k, y) + x,
			    frame_floats(out, 2 * k + 1, y) + x, n);
		else
			write_phase(tile, frame_floats(out, k, y) + x, n);
		for (size_t i = 0; i < shots->codes; i++)
			if (wrap->reference[i] == k)
				memcpy(tile->threshold[i], tile->mean, n * sizeof(float));
	}
}

static void
wrap_tile(const struct wrap *wrap, const struct frame *in, struct frame *out, size_t y, size_t x,
    size_t n, struct tile *tile)
{
	const struct shots *shots = &wrap->shots;
	size_t phases = shots->fringes * (wrap->vector ? 2 : 1), codes = out->head.c - shots->codes;

	start(tile);
	wrap_phases(wrap, in, out, y, x, n, tile);
	if (shots->flats && shots->codes)
		read_flats(shots, &wrap->limits, in, y, x, n, tile);
	for (size_t i = 0; i < shots->codes; i++)
		decode(in, &shots->code[i], tile->threshold[i], y, x, n, tile,
		    frame_floats(out, codes + i, y) + x);
	if (shots->fringes)
		write_quality(tile, (float)shots->fringes, frame_floats(out, phases, y) + x,
		    frame_floats(out, phases + 1, y) + x, n);
	mask_missing(tile, n);
	for (size_t c = 0; c < out->head.c; c++)
		if (c < phases || c >= codes)
			mask(tile, frame_floats(out, c, y) + x, n);
}
