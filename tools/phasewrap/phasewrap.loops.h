/* The loops over pixels of phasewrap.c. */
#include "frame/frame.h"
#include "base/cpu_level.h"
#include "step_weights.h"
#include "phasewrap.px.h"

#include <string.h>

#define TILE 448	/* pixels of a row that are worked on together: whole 64 bytes of a type */
#define SPAN (TILE + 16) /* of arrays, so that they do not lie at the same place of 4 KiB pages */
#define IMAGES 4	/* of a fringe set, likewise */
#define SETS 2		/* fringe sets, likewise */

/* What makes a pixel invalid. */
struct limits {
	float max_value, least_amplitude, least_mean, least_modulation;
};

/* What is planned for a measurement. */
struct wrap {
	struct capture_set shots;
	struct steps *steps;		/* of each fringe set */
	size_t reference[2];		/* fringe set whose mean is the threshold of a code */
	bool vector;
	struct limits limits;
};

struct tile {
	float first[SPAN], mean[SPAN], c[SPAN], s[SPAN]; /* I_0, sums of one fringe set; N A */
	float most[SPAN];					/* of its images */
	float modulation[SPAN], texture[SPAN], threshold[2][SPAN], plane[SPAN], inverse[SPAN];
	uint missing[SPAN], bad[SPAN], value[SPAN];
	/* of the fringe sets that are taken at once */
	float image[SETS][IMAGES][SPAN], pair[SETS][2][SPAN];
} __attribute__((aligned(64)));

/* The images of one fringe set that are summed in one go. */
struct images {
	const void *restrict row[IMAGES];
	struct steps_weight weight[IMAGES];
};

/* What is to be made of the sums of a fringe set. */
struct verdict {
	struct limits limits;
	float images;			/* of the set */
	float *cosine, *sine;		/* where they go, of the tile's first pixel */
};

/* A pixel's sums are complete: texture and modulation of all sets are gathered. */
static inline __attribute__((always_inline)) void
judge(struct verdict verdict, struct tile *restrict tile, size_t x, float first, float most,
    float sum, float c, float s)
{
	const struct limits *limits = &verdict.limits;
	float images = verdict.images;
	PX_F mean = phasewrap_mean(first, sum, images);
	PX_F amplitude = phasewrap_amplitude(s, c), amplitude_sum = amplitude * images;
	PX_F divisor = px_max(mean, PHASEWRAP_LEAST_MEAN);
	PX_F product = amplitude * divisor, inverse = 1.0f / product;
	bool divisible = (mean > 0.0f) & (product > PHASEWRAP_LEAST_PRODUCT);
	PX_F modulation = px_select(divisible, amplitude_sum * amplitude * inverse, 0.0f);
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
	case count + (begin ? 0 : IMAGES) + (end ? 0 : 2 * IMAGES): \
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
	switch (count + (begin ? 0 : IMAGES) + (end ? 0 : 2 * IMAGES)) { \
	SUM(type, 3, true, true) \
	SUM(type, 4, true, true) \
	SUM(type, 4, true, false) \
	SUM(type, 1, false, true) \
	SUM(type, 2, false, true) \
	SUM(type, 3, false, true) \
	SUM(type, 4, false, true) \
	SUM(type, 4, false, false) \
	} \
} \
 \
static void \
load_##type(const type *restrict image, float *restrict v, struct tile *restrict tile, size_t n) \
{ \
	CPU_SIMD \
	for (size_t x = 0; x < n; x++) { \
		v[x] = (float)image[x]; \
		if (sizeof(type) == sizeof(float)) \
			tile->missing[x] |= phasewrap_missing(v[x]); \
	} \
}
TYPED(uint8_t)
TYPED(uint16_t)
TYPED(float)

/* ---- all fringe sets at once, where they are few and alike, of whole numbers ---- */

/* Fringe sets of as many images each, all weighing the same in the mean. */
struct alike {
	const float (*image[SETS])[SPAN];
	struct steps_weight weight[SETS][IMAGES];
	float *restrict cosine[SETS], *restrict sine[SETS], *restrict modulation, *restrict texture;
	struct limits limits;
};

struct judged {
	float cosine, sine, modulation, texture;
	bool good;
};

/* As judge(), but nothing is missing, infinite or negative, so that a mean is 0 or at least 1. */
static inline __attribute__((always_inline)) struct judged
judge_whole(const struct limits *limits, bool limited, float images, float most, float mean,
    float c, float s)
{
	struct judged judged;
	PX_F amplitude = phasewrap_amplitude(s, c), amplitude_sum = amplitude * images;
	PX_F product = amplitude * mean, inverse = 1.0f / product;
	bool divisible = product > PHASEWRAP_LEAST_PRODUCT;
	PX_F unit = mean * inverse;

	judged.modulation = px_select(divisible, amplitude_sum * amplitude * inverse, 0.0f);
	judged.cosine = c * unit;
	judged.sine = s * unit;
	judged.texture = (mean + amplitude_sum) * (1.0f / images);
	judged.good = divisible;
	if (limited)
		judged.good &= (amplitude >= limits->least_amplitude) &
		    (mean >= limits->least_mean * images) &
		    (judged.modulation >= limits->least_modulation) &
		    (most < limits->max_value);
	return judged;
}

/* Sums of whole numbers are exact, so that N A is just that. */
static inline __attribute__((always_inline)) struct judged
whole_pixel(const float (*image)[SPAN], const struct steps_weight *weight,
    const struct limits *limits, bool limited, size_t count, size_t x)
{
	PX_F zero = image[0][x], most = zero, sum = zero, c = 0, s = 0;

	_Pragma("GCC unroll 8")
	for (size_t i = 1; i < count; i++) {
		PX_F v = image[i][x], d = v - zero;

		most = px_max(most, v);
		sum = sum + v;
		c = phasewrap_add(c, d, weight[i].c);
		s = phasewrap_add(s, d, weight[i].s);
	}
	return judge_whole(limits, limited, (float)(int)count, most, sum, c, s);
}

/* `limited`: something may be beyond the limits. */
static inline __attribute__((always_inline)) void
take_alike(const struct alike *all, size_t sets, size_t count, bool limited, size_t n)
{
	struct alike a = *all;

	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		struct judged p =
		    whole_pixel(a.image[0], a.weight[0], &a.limits, limited, count, x), q = p;
		bool good = p.good;
		PX_F modulation = p.modulation, texture = p.texture;

		if (sets == 2) {
			q = whole_pixel(a.image[1], a.weight[1], &a.limits, limited, count, x);
			good = good & q.good;
			modulation = px_smaller(modulation, q.modulation);
			texture = (texture + q.texture) * 0.5f;
			a.cosine[1][x] = px_select(good, q.cosine, PX_NAN);
			a.sine[1][x] = px_select(good, q.sine, PX_NAN);
		}
		a.cosine[0][x] = px_select(good, p.cosine, PX_NAN);
		a.sine[0][x] = px_select(good, p.sine, PX_NAN);
		a.modulation[x] = modulation;
		a.texture[x] = texture;
	}
}

/* Does a sample of one of the images reach the limit? The rest of a row's last 64 bytes may say so
 * too, which does no harm. */
#define REACHED(type) \
static bool \
reached_##type(const void *const *image, size_t images, size_t n, float limit) \
{ \
	typedef type some __attribute__((vector_size(CPU_VECTOR_BYTES), may_alias)); \
	typedef uint64_t bits __attribute__((vector_size(CPU_VECTOR_BYTES))); \
	float most = (float)(type)-1; \
	type top = (type)ceilf(px_min(limit, most)); \
	bits any = { 0 }; \
	uint64_t one = 0; \
 \
	if (limit > most) \
		return false; \
	for (size_t i = 0; i < images; i++) \
		for (size_t x = 0; x < n * sizeof(type); x += CPU_VECTOR_BYTES) \
			any |= (bits)(*(const some *)((const char *)image[i] + x) >= top); \
	for (size_t i = 0; i < CPU_VECTOR_BYTES / 8; i++) \
		one |= any[i]; \
	return one != 0; \
}
REACHED(uint8_t)
REACHED(uint16_t)

/* The phases of what is good. */
static void
write_good(const float *restrict sine, const float *restrict cosine, float *restrict phase,
    size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		phase[x] = px_select(
		    px_isnan(cosine[x]), PX_NAN, phasewrap_phase(sine[x], cosine[x]));
}

static void
write_phase(const struct tile *restrict tile, float *restrict phase, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		phase[x] = phasewrap_phase(tile->s[x], tile->c[x]);
}

static void
take_threshold(const float *restrict mean, float images, float *restrict threshold, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		threshold[x] = mean[x] / images;
}

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

static void
write_quality(struct tile *restrict tile, float sets, float *restrict modulation,
    float *restrict texture, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		bool missing = tile->missing[x] != 0;

		modulation[x] = px_select(missing, PX_NAN, tile->modulation[x]);
		texture[x] = px_select(missing, PX_NAN, tile->texture[x] / sets);
	}
}

static void
mask(const struct tile *restrict tile, float *restrict v, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		v[x] = px_select(tile->bad[x] != 0, PX_NAN, v[x]);
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

/* What white and black tell about a pixel without fringes. */
static void
judge_flats(struct limits limits, struct tile *restrict tile, const float *restrict white,
    const float *restrict black, size_t n)
{
	struct verdict verdict = { limits, 1, tile->c, tile->s };

	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		judge(verdict, tile, x, (white[x] + black[x]) * 0.5f, 0, 0,
		    px_max(white[x] - black[x], 0.0f) * 0.5f, 0);
}

/* Missing pixels are bad too; is there a bad one? */
static bool
any_bad(struct tile *restrict tile, size_t n)
{
	uint any = 0;

	_Pragma("omp simd reduction(|:any)")
	for (size_t x = 0; x < n; x++) {
		tile->bad[x] |= tile->missing[x];
		any |= tile->bad[x];
	}
	return any != 0;
}

static void
start(struct tile *restrict tile, size_t n)
{
	memset(tile->missing, 0, n * sizeof(*tile->missing));
	memset(tile->bad, 0, n * sizeof(*tile->bad));
	memset(tile->texture, 0, n * sizeof(*tile->texture));
	for (size_t x = 0; x < n; x++)
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

/* The sums of a fringe set over n pixels from column x of row y on, and what is made of them. */
static void
sum_fringe(const struct frame *in, const struct capture_fringe *fringe, const struct steps *steps,
    size_t y, size_t x, size_t n, struct verdict verdict, struct tile *tile)
{
	for (size_t first = 0; first < fringe->n; first += IMAGES) {
		bool end = fringe->n - first <= IMAGES;
		size_t count = end ? fringe->n - first : IMAGES;
		struct images images;

		for (size_t i = 0; i < count; i++) {
			images.row[i] = (char *)frame_row(in, fringe->plane[first + i], y) +
			    x * sample_size(in->head.type);
			images.weight[i] = steps->weight[first + i];
		}
		if (in->head.type == SAMPLE_UCHAR)
			sums_uint8_t(&images, count, first == 0, end, verdict, tile, n);
		else if (in->head.type == SAMPLE_USHORT)
			sums_uint16_t(&images, count, first == 0, end, verdict, tile, n);
		else
			sums_float(&images, count, first == 0, end, verdict, tile, n);
	}
}

/* The index that a Gray code gives; threshold is used where it has no inverse planes. */
static void
decode(const struct frame *in, const struct capture_code *code, const float *threshold, size_t y,
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
read_flats(const struct capture_set *shots, const struct limits *limits, const struct frame *in, size_t y,
    size_t x, size_t n, struct tile *tile)
{
	CALL(load, in, shots->flat[0], y, x, tile->plane, tile, n);
	CALL(load, in, shots->flat[shots->flats - 1], y, x, tile->inverse, tile, n);
	between(tile, tile->plane, tile->inverse, n);
	if (shots->fringes == 0 && shots->flats == 2)
		judge_flats(*limits, tile, tile->plane, tile->inverse, n);
}

static void
wrap_phases(const struct wrap *wrap, const struct frame *in, struct frame *out, size_t y, size_t x,
    size_t n, struct tile *tile)
{
	const struct capture_set *shots = &wrap->shots;

	for (size_t k = 0; k < shots->fringes; k++) {
		struct verdict verdict = { wrap->limits, (float)shots->fringe[k].n,
			tile->c, tile->s };

		if (wrap->vector) {
			verdict.cosine = frame_floats(out, 2 * k, y) + x;
			verdict.sine = frame_floats(out, 2 * k + 1, y) + x;
		}
		sum_fringe(in, &shots->fringe[k], &wrap->steps[k], y, x, n, verdict, tile);
		if (!wrap->vector)
			write_phase(tile, frame_floats(out, k, y) + x, n);
		for (size_t i = 0; i < shots->codes; i++)
			if (wrap->reference[i] == k)
				take_threshold(tile->mean, verdict.images, tile->threshold[i], n);
	}
}

/* Can all fringe sets be taken at once? */
static bool
are_alike(const struct wrap *wrap, enum sample type)
{
	const struct capture_set *shots = &wrap->shots;

	if (type == SAMPLE_FLOAT || shots->codes || shots->fringes < 1 || shots->fringes > SETS)
		return false;
	for (size_t k = 0; k < shots->fringes; k++) {
		size_t n = shots->fringe[k].n;

		if (n < 3 || n > 4 || n != shots->fringe[0].n)
			return false;
		for (size_t i = 0; i < n; i++)
			if (wrap->steps[k].weight[i].mean != 1)
				return false;
	}
	return true;
}

/* Calls for the samples behind these n: a tile is too short for the processor to see it coming. */
static void
call_ahead(const struct frame *in, size_t plane, size_t y, size_t x, size_t n)
{
	size_t size = sample_size(in->head.type);
	const char *next = (const char *)frame_row(in, plane, y) + (x + n) * size;

	for (size_t i = 0; i < n * size; i += 64)
		__builtin_prefetch(next + i);
}

#define TAKE(sets, images) do { \
	if (limited) \
		take_alike(&alike, sets, images, true, n); \
	else \
		take_alike(&alike, sets, images, false, n); \
} while (false)

static void
wrap_alike(const struct wrap *wrap, const struct frame *in, struct frame *out, size_t y, size_t x,
    size_t n, struct tile *tile)
{
	const struct capture_set *shots = &wrap->shots;
	const struct limits *limits = &wrap->limits;
	size_t sets = shots->fringes, images = shots->fringe[0].n;
	size_t phases = sets * (wrap->vector ? 2 : 1);
	struct alike alike = { .limits = *limits,
		.modulation = frame_floats(out, phases, y) + x,
		.texture = frame_floats(out, phases + 1, y) + x };
	const void *raw[SETS * IMAGES];
	size_t raws = 0;
	bool limited = limits->least_amplitude > 0 || limits->least_modulation > 0 ||
	    limits->least_mean > 0;

	for (size_t k = 0; k < sets; k++) {
		for (size_t i = 0; i < images; i++) {
			call_ahead(in, shots->fringe[k].plane[i], y, x, n);
			CALL(load, in, shots->fringe[k].plane[i], y, x, tile->image[k][i], tile, n);
			raw[raws++] = (char *)frame_row(in, shots->fringe[k].plane[i], y) +
			    x * sample_size(in->head.type);
			alike.weight[k][i] = wrap->steps[k].weight[i];
		}
		alike.image[k] = (const float (*)[SPAN])tile->image[k];
		alike.cosine[k] =
		    wrap->vector ? frame_floats(out, 2 * k, y) + x : tile->pair[k][0];
		alike.sine[k] =
		    wrap->vector ? frame_floats(out, 2 * k + 1, y) + x : tile->pair[k][1];
	}
	limited |= in->head.type == SAMPLE_UCHAR ?
	    reached_uint8_t(raw, raws, n, limits->max_value) :
	    reached_uint16_t(raw, raws, n, limits->max_value);
	if (sets == 1 && images == 3)
		TAKE(1, 3);
	else if (sets == 1)
		TAKE(1, 4);
	else if (images == 3)
		TAKE(2, 3);
	else
		TAKE(2, 4);
	for (size_t k = 0; k < sets && !wrap->vector; k++)
		write_good(alike.sine[k], alike.cosine[k], frame_floats(out, k, y) + x, n);
}

static void
wrap_tile(const struct wrap *wrap, const struct frame *in, struct frame *out, size_t y, size_t x,
    size_t n, struct tile *tile)
{
	const struct capture_set *shots = &wrap->shots;
	size_t phases = shots->fringes * (wrap->vector ? 2 : 1), codes = out->head.c - shots->codes;

	if (are_alike(wrap, in->head.type)) {
		wrap_alike(wrap, in, out, y, x, n, tile);
		return;
	}
	start(tile, n);
	wrap_phases(wrap, in, out, y, x, n, tile);
	if (shots->flats && shots->codes)
		read_flats(shots, &wrap->limits, in, y, x, n, tile);
	for (size_t i = 0; i < shots->codes; i++)
		decode(in, &shots->code[i], tile->threshold[i], y, x, n, tile,
		    frame_floats(out, codes + i, y) + x);
	if (shots->fringes)
		write_quality(tile, (float)shots->fringes, frame_floats(out, phases, y) + x,
		    frame_floats(out, phases + 1, y) + x, n);
	if (any_bad(tile, n))
		for (size_t c = 0; c < out->head.c; c++)
			if (c < phases || c >= codes)
				mask(tile, frame_floats(out, c, y) + x, n);
}
