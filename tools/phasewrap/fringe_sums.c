#include "fringe_sums.h"

#include "base/cpu_level.h"
#include "phasewrap.px.h"

/* The images of one fringe set that are summed in one go. */
struct images {
	const void *restrict row[TILE_IMAGES];
	struct phase_shift_weights weight[TILE_IMAGES];
};

/* What is to be made of the sums of a fringe set. */
struct verdict {
	struct phasewrap_limits limits;
	float images;			/* of the set */
	float *cosine, *sine;		/* where they go, of the tile's first pixel */
};

/* A pixel's sums are complete: texture and modulation of all sets are gathered. */
static inline __attribute__((always_inline)) void
judge(struct verdict verdict, struct tile *restrict tile, size_t x, float first, float most,
    float sum, float c, float s)
{
	const struct phasewrap_limits *limits = &verdict.limits;
	float images = verdict.images;
	PX_F mean = phasewrap_mean(first, sum, images);
	PX_F amplitude = phasewrap_amplitude(s, c), amplitude_sum = amplitude * images;
	PX_F divisor = px_max(mean, PHASEWRAP_LEAST_MEAN);
	PX_F product = amplitude * divisor, inverse = 1.0f / product;
	PX_F modulation = phasewrap_modulation(mean, amplitude, amplitude_sum, product, inverse);
	PX_F unit = divisor * inverse;
	bool good = phasewrap_good(amplitude, mean, product, modulation, limits->least_amplitude,
	    limits->least_mean * images, limits->least_modulation) & (most < limits->max_value);

	verdict.cosine[x] = c * unit;
	verdict.sine[x] = s * unit;
	tile->mean[x] = mean;
	tile->bad[x] |= !good;
	tile->texture[x] += (mean + amplitude_sum) * (1.0f / images);
	tile->modulation[x] = px_min(tile->modulation[x], modulation);
}

#define SUM(type, count, begin, end) \
	case count + (begin ? 0 : TILE_IMAGES) + (end ? 0 : 2 * TILE_IMAGES): \
		sum_##type(images, count, begin, end, verdict, tile, n); \
		break;

/*
 * What differs by the type of the samples; those of 32 bits are floats, which may be missing. sum_
 * adds `count` images to the sums, which begin with the first one (taken off all others) if
 * `begin`, and judges them if `end`. All three are constants where it is called, so that the loop
 * over the images is unrolled.
 */
#define TYPED(type) \
static inline __attribute__((always_inline)) void \
sum_##type(const struct images *restrict images, size_t count, bool begin, bool end, \
    struct verdict verdict, struct tile *restrict tile, size_t n) \
{ \
	const type *restrict first = images->row[0]; \
 \
	CPU_SIMD \
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
		if (sizeof(type) == sizeof(float)) \
			tile->missing[x] |= missing; \
		if (end) { \
			judge(verdict, tile, x, zero, most, mean, c, s); \
		} else { \
			tile->first[x] = zero; \
			tile->most[x] = most; \
			tile->mean[x] = mean; \
			tile->c[x] = c; \
			tile->s[x] = s; \
		} \
	} \
} \
 \
static void \
sums_##type(const struct images *images, size_t count, bool begin, bool end, \
    struct verdict verdict, struct tile *tile, size_t n) \
{ \
	switch (count + (begin ? 0 : TILE_IMAGES) + (end ? 0 : 2 * TILE_IMAGES)) { \
	SUM(type, 3, true, true) \
	SUM(type, 4, true, true) \
	SUM(type, 4, true, false) \
	SUM(type, 1, false, true) \
	SUM(type, 2, false, true) \
	SUM(type, 3, false, true) \
	SUM(type, 4, false, true) \
	SUM(type, 4, false, false) \
	} \
}
TYPED(uint8_t)
TYPED(uint16_t)
TYPED(float)

static void
take_threshold(const float *restrict mean, float images, float *restrict threshold, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		threshold[x] = mean[x] / images;
}

/* The sums of a fringe set over n pixels from column x of row y on, and what is made of them. */
static void
sum_fringe(const struct frame *in, const struct capture_fringe *fringe,
    const struct phase_shift_fit *fit, size_t y, size_t x, size_t n, struct verdict verdict,
    struct tile *tile)
{
	for (size_t first = 0; first < fringe->n; first += TILE_IMAGES) {
		bool end = fringe->n - first <= TILE_IMAGES;
		size_t count = end ? fringe->n - first : TILE_IMAGES;
		struct images images;

		for (size_t i = 0; i < count; i++) {
			images.row[i] = (char *)frame_row(in, fringe->plane[first + i], y) +
			    x * sample_size(in->head.type);
			images.weight[i] = fit->weights[first + i];
		}
		if (in->head.type == SAMPLE_UCHAR)
			sums_uint8_t(&images, count, first == 0, end, verdict, tile, n);
		else if (in->head.type == SAMPLE_USHORT)
			sums_uint16_t(&images, count, first == 0, end, verdict, tile, n);
		else
			sums_float(&images, count, first == 0, end, verdict, tile, n);
	}
}

void
fringe_sums_of_set(const struct frame *in, const struct capture_fringe *fringe,
    const struct phase_shift_fit *fit, struct phasewrap_limits limits, size_t y, size_t x, size_t n,
    struct tile *tile, float *cosine, float *sine)
{
	struct verdict verdict = { limits, (float)fringe->n, cosine, sine };

	sum_fringe(in, fringe, fit, y, x, n, verdict, tile);
}

void
fringe_sums_wrap(const struct phasewrap *wrap, const struct frame *in, struct frame *out, size_t y,
    size_t x, size_t n, struct tile *tile)
{
	const struct capture_set *captures = &wrap->captures;

	for (size_t k = 0; k < captures->fringes; k++) {
		struct verdict verdict = { wrap->limits, (float)captures->fringe[k].n,
			tile->c, tile->s };

		if (wrap->vector) {
			verdict.cosine = frame_floats(out, 2 * k, y) + x;
			verdict.sine = frame_floats(out, 2 * k + 1, y) + x;
		}
		sum_fringe(in, &captures->fringe[k], &wrap->fit[k], y, x, n, verdict, tile);
		if (!wrap->vector)
			tile_write_phase(tile, frame_floats(out, k, y) + x, n);
		for (size_t i = 0; i < captures->codes; i++)
			if (wrap->reference[i] == k)
				take_threshold(tile->mean, verdict.images, tile->threshold[i], n);
	}
}

void
fringe_sums_judge_flats(struct phasewrap_limits limits, struct tile *restrict tile,
    const float *restrict white, const float *restrict black, size_t n)
{
	struct verdict verdict = { limits, 1, tile->c, tile->s };

	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		judge(verdict, tile, x, (white[x] + black[x]) * 0.5f, 0, 0,
		    px_max(white[x] - black[x], 0.0f) * 0.5f, 0);
}
