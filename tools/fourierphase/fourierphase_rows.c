/*
 * The loops of Fourier-transform profilometry over pixels and frequencies (methods §3), in the
 * order in which an image passes them: transforms of lines; the signal; its power spectrum; lines
 * that are extended, transformed, cut to a window and transformed back; the variance of the noise;
 * the phase. Threads take items of a few rows or columns, with scratch memory of their own.
 */
#include "fourierphase.h"

#include "base/px.h"
#include "base/transpose.h"

/*
 * ---- transforms of lines ----
 *
 * Fourier transforms of 16 lines together, whose samples lie side by side, so that each step works
 * on whole vectors: 0.5 ns a sample of 1280. Libraries that take one line and are under no copyleft
 * (kissfft) need 5.6 ns. The result of a line depends neither on the others nor on the processor's
 * level.
 *
 *     X_k = sum_n x_n exp(-2 pi i k n / N)
 *
 * The reverse is the same with real and imaginary parts exchanged, before and after, over N. The
 * rms error is at most 2e-7 of the result's rms for lengths up to 10^5.
 */

#define VECTOR (CPU_VECTOR_BYTES / sizeof(float))
#define CACHED_SAMPLES 128	/* of a block that stays in the first cache */

typedef float vector __attribute__((vector_size(CPU_VECTOR_BYTES), may_alias));

struct parts {
	vector re, im;
};

static inline struct parts
load(const float *v)
{
	return (struct parts){ *(const vector *)v, *(const vector *)(v + FFT_LANES) };
}

static inline void
store(float *v, struct parts a)
{
	*(vector *)v = a.re;
	*(vector *)(v + FFT_LANES) = a.im;
}

static inline struct parts
plus(struct parts a, struct parts b)
{
	return (struct parts){ a.re + b.re, a.im + b.im };
}

static inline struct parts
minus(struct parts a, struct parts b)
{
	return (struct parts){ a.re - b.re, a.im - b.im };
}

static inline struct parts
scaled(struct parts a, float by)
{
	return (struct parts){ a.re * by, a.im * by };
}

/* -i a */
static inline struct parts
turned(struct parts a)
{
	return (struct parts){ a.im, -a.re };
}

static inline void
transform2(struct parts *a)
{
	struct parts difference = minus(a[0], a[1]);

	a[0] = plus(a[0], a[1]);
	a[1] = difference;
}

static inline void
transform3(struct parts *a)
{
	struct parts sum = plus(a[1], a[2]), rest = minus(a[0], scaled(sum, 0.5f));
	struct parts across = turned(scaled(minus(a[1], a[2]), 0.866025403784438647f));

	a[0] = plus(a[0], sum);
	a[1] = plus(rest, across);
	a[2] = minus(rest, across);
}

static inline void
transform4(struct parts *a)
{
	struct parts even = plus(a[0], a[2]), odd = plus(a[1], a[3]);
	struct parts rest = minus(a[0], a[2]), across = turned(minus(a[1], a[3]));

	a[0] = plus(even, odd);
	a[1] = plus(rest, across);
	a[2] = minus(even, odd);
	a[3] = minus(rest, across);
}

static inline void
transform5(struct parts *a)
{
	const float c1 = 0.309016994374947424f, c2 = -0.809016994374947424f;
	const float s1 = 0.951056516295153572f, s2 = 0.587785252292473129f;
	struct parts sum1 = plus(a[1], a[4]), sum2 = plus(a[2], a[3]);
	struct parts less1 = minus(a[1], a[4]), less2 = minus(a[2], a[3]);
	struct parts rest1 = plus(a[0], plus(scaled(sum1, c1), scaled(sum2, c2)));
	struct parts rest2 = plus(a[0], plus(scaled(sum1, c2), scaled(sum2, c1)));
	struct parts across1 = turned(plus(scaled(less1, s1), scaled(less2, s2)));
	struct parts across2 = turned(minus(scaled(less1, s2), scaled(less2, s1)));

	a[0] = plus(a[0], plus(sum1, sum2));
	a[1] = plus(rest1, across1);
	a[4] = minus(rest1, across1);
	a[2] = plus(rest2, across2);
	a[3] = minus(rest2, across2);
}

/* Blocks of n samples, each of which becomes `radix` blocks. */
static inline __attribute__((always_inline)) void
step_of(const struct line_fft *fft, float *v, size_t n, size_t radix)
{
	size_t part = n / radix, apart = part * FFT_SAMPLE, stride = fft->n / n;

	for (size_t i = 0; i < part; i++)
		for (size_t lane = 0; lane < FFT_LANES; lane += VECTOR) {
			float *at = v + i * FFT_SAMPLE + lane;
			struct parts a[5];

			for (size_t j = 0; j < radix; j++)
				a[j] = load(at + j * apart);
			if (radix == 2)
				transform2(a);
			else if (radix == 3)
				transform3(a);
			else if (radix == 4)
				transform4(a);
			else
				transform5(a);
			store(at, a[0]);
			for (size_t j = 1; j < radix; j++) {
				float c = fft->cos[i * j * stride], s = fft->sin[i * j * stride];

				store(at + j * apart, (struct parts){ a[j].re * c - a[j].im * s,
							a[j].re * s + a[j].im * c });
			}
		}
}

static void
step(const struct line_fft *fft, float *v, size_t n, size_t radix)
{
	if (radix == 2)
		step_of(fft, v, n, 2);
	else if (radix == 3)
		step_of(fft, v, n, 3);
	else if (radix == 4)
		step_of(fft, v, n, 4);
	else
		step_of(fft, v, n, 5);
}

/* All steps from step i on, of a block of n samples: small ones one after another, of large ones
 * each part by itself. */
static void
run_block(const struct line_fft *fft, size_t i, float *v, size_t n)
{
	if (i == fft->factors)
		return;
	if (n > CACHED_SAMPLES) {
		size_t part = n / fft->factor[i];

		step(fft, v, n, fft->factor[i]);
		for (size_t j = 0; j < fft->factor[i]; j++)
			run_block(fft, i + 1, v + j * part * FFT_SAMPLE, part);
		return;
	}
	for (size_t block = n; i < fft->factors; block /= fft->factor[i++])
		for (size_t at = 0; at < n; at += block)
			step(fft, v + at * FFT_SAMPLE, block, fft->factor[i]);
}

static void
line_fft_run(const struct line_fft *fft, float *v)
{
	run_block(fft, 0, v, fft->n);
}

/* ---- lines of a plane, side by side: sample i of line k is at i * FFT_SAMPLE + k ---- */

#define BLOCK 64	/* samples of a line that change places at once: whole cache lines of it */

/* Up to FFT_SAMPLE lines of n samples of a plane: floats from sample to sample of a line, and
 * from line to line. */
struct lanes {
	size_t n, lines, along, apart;
};

/* The whole fours of n lines or samples. */
static size_t
in_fours(size_t n)
{
	return n / 4 * 4;
}

/* Reads the lines; lanes without a line stay as they are. */
static void
lanes_read(const struct lanes *lanes, const float *restrict plane, float *restrict to)
{
	size_t fours = lanes->along == 1 ? in_fours(lanes->lines) : 0, n = lanes->n;

	for (size_t first = 0; fours && first < in_fours(n); first += BLOCK)
		for (size_t k = 0; k < fours; k += 4)
			for (size_t i = first; i < first + BLOCK && i < in_fours(n); i += 4) {
				const float *from = plane + k * lanes->apart + i;
				transpose_four v[4];

				for (size_t j = 0; j < 4; j++)
					v[j] = transpose_load(from + j * lanes->apart);
				transpose_lines(v);
				for (size_t j = 0; j < 4; j++)
					transpose_store(to + (i + j) * FFT_SAMPLE + k, v[j]);
			}
	/* the last lines, and the last samples of all lines */
	for (size_t i = 0; i < n; i++)
		for (size_t k = i < in_fours(n) ? fours : 0; k < lanes->lines; k++)
			to[i * FFT_SAMPLE + k] = plane[k * lanes->apart + i * lanes->along];
}

/* Writes them, times `scale`; place: of each sample, or NULL: in their order. */
static void
lanes_write(const struct lanes *lanes, const float *restrict from, const size_t *restrict place,
    float scale, float *restrict plane)
{
	size_t fours = lanes->along == 1 ? in_fours(lanes->lines) : 0, n = lanes->n;

	for (size_t first = 0; fours && first < in_fours(n); first += BLOCK)
		for (size_t k = 0; k < fours; k += 4)
			for (size_t i = first; i < first + BLOCK && i < in_fours(n); i += 4) {
				float *to = plane + k * lanes->apart + i;
				transpose_four v[4];

				for (size_t j = 0; j < 4; j++)
					v[j] = scale * transpose_load(from + k +
					    (place ? place[i + j] : i + j) * FFT_SAMPLE);
				transpose_lines(v);
				for (size_t j = 0; j < 4; j++)
					transpose_store(to + j * lanes->apart, v[j]);
			}
	for (size_t i = 0; i < n; i++) {
		const float *sample = from + (place ? place[i] : i) * FFT_SAMPLE;

		for (size_t k = i < in_fours(n) ? fours : 0; k < lanes->lines; k++)
			plane[k * lanes->apart + i * lanes->along] = sample[k] * scale;
	}
}

/* ---- means along cyclic lines, many of which lie side by side ---- */

#define SUMS (CPU_VECTOR_BYTES / sizeof(double))

typedef double sums __attribute__((vector_size(CPU_VECTOR_BYTES)));
typedef float samples __attribute__((vector_size(CPU_VECTOR_BYTES / 2), aligned(4), may_alias));

/* A place on the lines that moves on by a sample at a time: `part` of the way from sample `at` to
 * the next. */
struct place {
	size_t at, next, n;
	double part;
};

static struct place
place_at(double place, size_t n)
{
	long at = (long)floor(place) % (long)n;

	at += at < 0 ? (long)n : 0;
	return (struct place){ (size_t)at, ((size_t)at + 1) % n, n, place - floor(place) };
}

static inline sums
sample(const float *from, size_t at)
{
	return __builtin_convertvector(*(const samples *)(from + at * FILTER_ROWS), sums);
}

/* Moves the place on by a sample; the integral over what it passes. */
static inline sums
move_on(const float *from, struct place *place)
{
	sums passed = sample(from, place->at) * (1 - place->part) +
	    sample(from, place->next) * place->part;

	place->at = place->next;
	place->next = place->next + 1 < place->n ? place->next + 1 : 0;
	return passed;
}

/* The means over `period` samples about each of n samples of FILTER_ROWS floats; between samples
 * the line is straight. */
static void
fourier_mean_lines(const float *restrict lines, size_t n, double period, float *restrict means)
{
	double begin = 0.5 - period / 2, stop = 0.5 + period / 2;
	size_t whole = (size_t)(floor(stop) - floor(begin));

	for (size_t line = 0; line < FILTER_ROWS; line += SUMS) {
		const float *restrict from = lines + line;
		struct place first = place_at(begin, n), end = place_at(stop, n);
		sums sum = sample(from, end.at) * end.part - sample(from, first.at) * first.part;

		for (size_t i = 0; i < whole; i++)
			sum += sample(from, (first.at + i) % n);
		for (size_t x = 0; x < n; x++) {
			*(samples *)(means + x * FILTER_ROWS + line) =
			    __builtin_convertvector(sum / period, samples);
			sum += move_on(from, &end);
			sum -= move_on(from, &first);
		}
	}
}

/*
 * ---- lines that are extended ----
 *
 * Extends lines beyond their ends and fills their holes by linear prediction (Burg's method, whose
 * coefficients are always stable), so that a transform sees fringes there, and neither an edge nor
 * a phase that jumps. Lines that miss the same samples are extended together, side by side; each
 * comes out as if it were alone.
 */

#define EXTEND_LANES_LEAST (CPU_VECTOR_BYTES / sizeof(float))
#define EXTEND_LANES_MOST ((size_t)32)

#define ORDER 8		/* coefficients at most: four waves, or fewer and their trend */
#define FIT_LEAST 16	/* samples that a hole is predicted from, */
#define FIT_PER_SAMPLE 8	/* and so many more for each of its own */
#define ROUNDING 1e-8	/* of the power */
#define REACH_MOST 1.25f	/* a prediction's distance from the mean, over that of any sample */
#define LEAST 12		/* samples, fewer are not predicted from */
#define FLOATS (2 * EXTEND_LANES_MOST)	/* of a sample at most: channels times lanes */

typedef float unaligned __attribute__((vector_size(CPU_VECTOR_BYTES), aligned(4), may_alias));
typedef int32_t mask __attribute__((vector_size(CPU_VECTOR_BYTES)));

static size_t
floats_of(const struct fourier_extend *extend)
{
	return extend->channels * extend->lanes;
}

/* Floats of memory that fourier_extend_lines() works in. */
static size_t
fourier_extend_memory(const struct fourier_extend *extend)
{
	/* the ends at both sides of a hole with their predictions; forward and backward errors;
	 * how much of a prediction counts */
	return floats_of(extend) * (2 * extend->total + 4 * extend->fit) + extend->total + 1;
}

/* The known samples next to a hole, and what predicts the hole from them. */
struct end {
	size_t n;		/* of them */
	float *v;		/* the nearest one last, less the mean; then room for predictions */
	float mean[FLOATS], most[FLOATS];	/* and how far samples are from it */
	size_t order;
	float a[ORDER + 1][FLOATS / 2];		/* of each lane, common to its channels */
};

static inline unaligned
at(const float *v)
{
	return *(const unaligned *)v;
}

static inline void
put(float *v, unaligned a)
{
	*(unaligned *)v = a;
}

static inline unaligned
select_vector(mask where, unaligned a, unaligned b)
{
	return (unaligned)(((mask)a & where) | ((mask)b & ~where));
}

/* The correlation of the lanes' forward and backward errors, `apart` floats from sample to sample,
 * and their power. */
static void
correlate(const float *forward, const float *backward, size_t apart, size_t m, size_t n,
    float *product, float *squares)
{
	unaligned p = { 0 }, s = { 0 };

	for (size_t i = m; i < n; i++) {
		unaligned f = at(forward + i * apart), b = at(backward + (i - 1) * apart);

		p += f * b;
		s += f * f + b * b;
	}
	put(product, p);
	put(squares, s);
}

static void
reflect(float *forward, float *backward, size_t apart, size_t m, size_t n, const float *k)
{
	unaligned factor = at(k), before = at(backward + (m - 1) * apart);

	for (size_t i = m; i < n; i++) {
		unaligned error = at(forward + i * apart), own = at(backward + i * apart);

		put(forward + i * apart, error + factor * before);
		put(backward + i * apart, before + factor * error);
		before = own;
	}
}

/* Prediction coefficients: v[i] is about -sum a[k] v[i - k]. */
static void
find_coefficients(const struct fourier_extend *extend, struct end *end, float *errors)
{
	size_t lanes = extend->lanes, apart = floats_of(extend);
	float *forward = errors, *backward = errors + apart * end->n;
	double a[ORDER + 1][FLOATS / 2], rounding[FLOATS / 2];
	_Alignas(64) float product[FLOATS], squares[FLOATS], factor[FLOATS];

	memcpy(forward, end->v, apart * end->n * sizeof(*forward));
	memcpy(backward, end->v, apart * end->n * sizeof(*backward));
	for (size_t lane = 0; lane < lanes; lane++)
		a[0][lane] = 1;
	for (size_t m = 1; m <= end->order; m++) {
		for (size_t lane = 0; lane < apart; lane += EXTEND_LANES_LEAST)
			correlate(forward + lane, backward + lane, apart, m, end->n, product + lane,
			    squares + lane);
		for (size_t lane = 0; lane < lanes; lane++) {
			double p = 0, s = 0, k, next[ORDER + 1];

			for (size_t c = 0; c < extend->channels; c++) {
				p += (double)product[c * lanes + lane];
				s += (double)squares[c * lanes + lane];
			}
			/* the errors of fringes without noise are rounding, which predicts
			 * nothing */
			if (m == 1)
				rounding[lane] = ROUNDING * s;
			s += rounding[lane];
			k = s > 0 && isfinite(s) ? -2 * p / s : 0;
			k = fmax(-1, fmin(1, k));
			for (size_t i = 0; i <= m; i++)
				next[i] = (i < m ? a[i][lane] : 0) +
				    (i > 0 ? k * a[m - i][lane] : 0);
			for (size_t i = 0; i <= m; i++)
				a[i][lane] = next[i];
			for (size_t c = 0; c < extend->channels; c++)
				factor[c * lanes + lane] = (float)k;
		}
		for (size_t lane = 0; lane < apart; lane += EXTEND_LANES_LEAST)
			reflect(forward + lane, backward + lane, apart, m, end->n, factor + lane);
	}
	for (size_t k = 0; k <= end->order; k++)
		for (size_t lane = 0; lane < lanes; lane++)
			end->a[k][lane] = (float)a[k][lane];
}

static void
take_mean_off(struct end *end, size_t apart, size_t lane)
{
	for (size_t i = 0; i < end->n; i++)
		put(end->v + i * apart + lane, at(end->v + i * apart + lane) -
		    at(end->mean + lane));
}

/* Finds the prediction of an end. */
static void
fit(const struct fourier_extend *extend, struct end *end, float *errors)
{
	size_t apart = floats_of(extend);

	end->order = end->n / 3 < ORDER ? end->n / 3 : ORDER;
	for (size_t lane = 0; lane < apart; lane += EXTEND_LANES_LEAST) {
		unaligned sum = { 0 }, most = { 0 };

		for (size_t i = 0; i < end->n; i++)
			sum += at(end->v + i * apart + lane);
		/* a complex wave has none, but for the piece that is seen of it */
		put(end->mean + lane, sum * (extend->channels == 1 ? 1 / (float)end->n : 0));
		take_mean_off(end, apart, lane);
		for (size_t i = 0; i < end->n; i++) {
			unaligned v = at(end->v + i * apart + lane) * REACH_MOST;
			unaligned size = (unaligned)((mask)v & 0x7fffffff);

			most = select_vector(size > most, size, most);
		}
		put(end->most + lane, most);
	}
	find_coefficients(extend, end, errors);
}

/* An end of too few samples takes the prediction of the other one, or, if that has too few as well,
 * repeats its last sample. False: it has too few samples even for the borrowed prediction. */
static bool
borrow(const struct fourier_extend *extend, struct end *end, const struct end *other)
{
	size_t apart = floats_of(extend);

	if (other->n >= LEAST && end->n < other->order)
		return false;
	end->order = other->n >= LEAST ? other->order : 0;
	memcpy(end->a, other->a, sizeof(end->a));
	for (size_t lane = 0; lane < apart; lane++) {
		end->mean[lane] = end->order ? other->mean[lane] :
		    end->v[(end->n - 1) * apart + lane];
		end->most[lane] = end->order ? other->most[lane] : 0;
	}
	for (size_t lane = 0; lane < apart; lane += EXTEND_LANES_LEAST)
		take_mean_off(end, apart, lane);
	return true;
}

/* Writes the n samples that follow those of the end; their mean is taken off, too. */
static void
predict(const struct fourier_extend *extend, struct end *end, size_t n)
{
	size_t lanes = extend->lanes, apart = floats_of(extend);

	for (size_t lane = 0; lane < apart; lane += EXTEND_LANES_LEAST) {
		float *to = end->v + end->n * apart + lane;
		unaligned most = at(end->most + lane);

		for (size_t i = 0; i < n; i++, to += apart) {
			unaligned next = { 0 };

			for (size_t k = 1; k <= end->order; k++)
				next -= at(end->a[k] + lane % lanes) * at(to - k * apart);
			next = select_vector(next < most, next, most);
			put(to, select_vector(next > -most, next, -most));
		}
	}
}

/* The share of a prediction at distance i of 1 .. n of a hole: it fades into the other one, or from
 * half the reach on to `rest`. */
static float
share(const struct fourier_extend *extend, size_t i, size_t n)
{
	float at;

	if (n < 2 * extend->reach)
		return (1 + cosf((float)M_PI * (float)i / (float)(n + 1))) * 0.5f;
	at = 2 * (float)i / (float)extend->reach - 1;
	return at <= 0 ? 1 : at >= 1 ? 0 : (1 + cosf((float)M_PI * at)) * 0.5f;
}

/* Copies the samples next to a hole, from place `from` towards `stop`, away from the hole; known:
 * NULL where all of them are. */
static void
find_end(const struct fourier_extend *extend, const float *line, const unsigned char *known,
    size_t from, size_t stop, size_t hole, float *memory, struct end *end)
{
	size_t most = extend->fit, n = 0, all = (stop > from ? stop - from : from - stop) + 1;
	size_t apart = floats_of(extend);

	if (most > FIT_LEAST + FIT_PER_SAMPLE * hole)
		most = FIT_LEAST + FIT_PER_SAMPLE * hole;
	if (most > all)
		most = all;
	while (n < most && (!known || known[stop > from ? from + n : from - n]))
		n++;
	end->n = n;
	end->v = memory;
	for (size_t i = 0; i < n; i++)
		memcpy(end->v + (n - 1 - i) * apart,
		    line + (stop > from ? from + i : from - i) * apart, apart * sizeof(*line));
}

/* A hole: n samples from place `first` on, cyclically. */
struct hole {
	size_t first, n;
	struct end before, after;
};

/* Adds what is predicted at the i-th place from an end to a sample of a hole. */
static void
add_prediction(const struct fourier_extend *extend, const struct end *end, size_t i, float counts,
    const float *rest, float *sample)
{
	size_t apart = floats_of(extend);
	const float *v = end->v + (end->n + i) * apart;

	for (size_t lane = 0; lane < apart; lane += EXTEND_LANES_LEAST)
		put(sample + lane, at(sample + lane) + counts * (at(v + lane) +
		    at(end->mean + lane) - at(rest + lane % extend->lanes)));
}

static void
fill_hole(const struct fourier_extend *extend, const float *rest, float *line, struct hole *hole,
    float *memory)
{
	size_t apart = floats_of(extend), n = hole->n;
	size_t made = n < 2 * extend->reach ? n : extend->reach;
	float *errors = memory, *counts = memory + 2 * apart * extend->fit;
	bool two[2] = { true, true };

	if (hole->before.n >= LEAST)
		fit(extend, &hole->before, errors);
	if (hole->after.n >= LEAST)
		fit(extend, &hole->after, errors);
	if (hole->before.n < LEAST)
		two[0] = borrow(extend, &hole->before, &hole->after);
	if (hole->after.n < LEAST)
		two[1] = borrow(extend, &hole->after, &hole->before);
	predict(extend, &hole->before, two[0] ? made : 0);
	predict(extend, &hole->after, two[1] ? made : 0);
	for (size_t i = 1; i <= made; i++)
		counts[i] = made == n && !(two[0] && two[1]) ? 1 : share(extend, i, n);
	for (size_t i = 0; i < n; i++) {
		size_t back = n - 1 - i;
		float *sample = line + (hole->first + i) % extend->total * apart;

		for (size_t c = 0; c < extend->channels; c++)
			memcpy(sample + c * extend->lanes, rest, extend->lanes * sizeof(*rest));
		if (i < made && two[0])
			add_prediction(extend, &hole->before, i, counts[i + 1], rest, sample);
		if (back < made && two[1])
			add_prediction(extend, &hole->after, back, counts[back + 1], rest, sample);
	}
}

/*
 * line: `total` samples, of which the first n are given, each of `channels` times `lanes` floats;
 * known: n of them, or NULL where all are. Fills the others. rest: the value of each lane far from
 * all known samples, and everywhere in lines without any. line, rest and memory are aligned to 64.
 */
static void
fourier_extend_lines(const struct fourier_extend *extend, const float *rest, float *line,
    const unsigned char *known, float *memory)
{
	size_t n = extend->n, total = extend->total, first = 0, last = n, holes = 0;
	size_t apart = floats_of(extend), side = apart * (extend->fit + total);
	float *before = memory, *after = memory + side, *rest_of_memory = memory + 2 * side;
	_Alignas(64) struct hole hole;

	while (known && first < n && !known[first])
		first++;
	if (first == n) {
		for (size_t i = 0; i < total * extend->channels; i++)
			memcpy(line + i * extend->lanes, rest, extend->lanes * sizeof(*rest));
		return;
	}
	while (known && !known[last - 1])
		last--;
	/* for each hole the previous ones are filled */
	for (size_t x = first; known && x < last; x++) {
		if (!known[x])
			holes++;
		if (known[x] && holes) {
			hole.first = x - holes;
			hole.n = holes;
			find_end(extend, line, NULL, hole.first - 1, first, holes, before,
			    &hole.before);
			find_end(extend, line, known, x, last - 1, holes, after, &hole.after);
			fill_hole(extend, rest, line, &hole, rest_of_memory);
			holes = 0;
		}
	}
	hole.first = last;
	hole.n = total - last + first;
	if (hole.n > 0) {
		find_end(extend, line, NULL, last - 1, first, hole.n, before, &hole.before);
		find_end(extend, line, NULL, first, last - 1, hole.n, after, &hole.after);
		fill_hole(extend, rest, line, &hole, rest_of_memory);
	}
}

/*
 * ---- the signal ----
 *
 * The fringe image, less its flat image or over it (thesis eq. 3.6), as a plane of floats with NaN
 * where a sample is missing or saturated.
 */

/* The samples of n pixels of a row. */
struct fourier_pixels {
	float *image;			/* sample; the memory of all begins here */
	float *mean, *unit;		/* that of the flats, or unset; grey levels of 1 */
	unsigned char *missing, *saturated;
};

#define MOST 1e18f	/* squares of more are no floats */

/* free(pixels->image) afterwards. */
static void
fourier_pixels_new(size_t n, struct fourier_pixels *pixels)
{
	float *image = must_alloc(n, 3 * sizeof(*image) + 2);

	*pixels = (struct fourier_pixels){ image, image + n, image + 2 * n,
		(unsigned char *)(image + 3 * n), (unsigned char *)(image + 3 * n) + n };
}

#define READ(type) \
static void \
read_##type(const type *restrict row, size_t n, float most, float *restrict to, \
    unsigned char *restrict missing, unsigned char *restrict saturated) \
{ \
	for (size_t x = 0; x < n; x++) { \
		float v = (float)row[x]; \
\
		to[x] = v; \
		missing[x] |= sizeof(type) == sizeof(float) && !(v >= -MOST && v <= MOST); \
		saturated[x] |= v >= most; \
	} \
}
READ(uint8_t)
READ(uint16_t)
READ(float)

static void
read_plane(const struct fourier_source *source, size_t c, size_t y, float *to,
    const struct fourier_pixels *pixels)
{
	const void *row = frame_row(source->in, c, y);
	size_t n = source->in->head.w;

	float most = source->max_value;

	if (source->in->head.type == SAMPLE_UCHAR)
		read_uint8_t(row, n, most, to, pixels->missing, pixels->saturated);
	else if (source->in->head.type == SAMPLE_USHORT)
		read_uint16_t(row, n, most, to, pixels->missing, pixels->saturated);
	else
		read_float(row, n, most, to, pixels->missing, pixels->saturated);
}

/* Row y of the source. */
static void
fourier_pixels_read(
    const struct fourier_source *source, size_t y, const struct fourier_pixels *pixels)
{
	size_t n = source->in->head.w;
	float *restrict mean = pixels->mean, *restrict unit = pixels->unit;
	float least = source->least_unit;

	memset(pixels->missing, 0, n);
	memset(pixels->saturated, 0, n);
	read_plane(source, source->fringe, y, pixels->image, pixels);
	if (source->flats == 0) {
		for (size_t x = 0; x < n; x++)
			unit[x] = 1;
		return;
	}
	read_plane(source, source->flat[0], y, mean, pixels);
	if (source->flats == 1) {
		memcpy(unit, mean, n * sizeof(*unit));
	} else {
		read_plane(source, source->flat[1], y, unit, pixels);
		for (size_t x = 0; x < n; x++) {
			float white = mean[x], black = unit[x];

			mean[x] = (white + black) * 0.5f;
			unit[x] = (white - black) * 0.5f;
		}
	}
	for (size_t x = 0; x < n; x++)
		unit[x] = source->removal == REMOVAL_DIFFERENCE ? 1 : px_max(unit[x], least);
}

static void
signal_rows(void *arg, size_t item)
{
	struct signal_job *job = arg;
	size_t w = job->source->in->head.w, h = job->source->in->head.h;
	size_t end = (item + 1) * FOURIER_ROWS < h ? (item + 1) * FOURIER_ROWS : h;
	struct fourier_pixels pixels;

	fourier_pixels_new(w, &pixels);
	for (size_t y = item * FOURIER_ROWS; y < end; y++) {
		double sum = 0;
		size_t n = 0;

		fourier_pixels_read(job->source, y, &pixels);
		for (size_t x = 0; x < w; x++) {
			bool good = !pixels.missing[x] && !pixels.saturated[x];
			float mean = job->source->flats ? pixels.mean[x] : 0;

			n += good;
			sum += good ? (double)pixels.unit[x] : 0;
			if (job->signal)
				job->signal->v[y * w + x] = px_select(good,
				    (pixels.image[x] - mean) / pixels.unit[x], PX_NAN);
		}
		job->sum[y] = sum;
		job->count[y] = n;
	}
	free(pixels.image);
}

/* ---- the power spectrum: the mean over pieces of the image, faded out at their borders ---- */

#define FADE 8		/* samples next to a hole that count for less */
#define PARTS 16	/* sums of a row */

/* Means over 2 FADE + 1 samples along a line of n; those beyond its ends equal the last one. */
static void
blur(const float *from, size_t stride, size_t n, float *to)
{
	float sum = 0;

	for (long i = -FADE; i <= FADE; i++)
		sum += from[(size_t)(i < 0 ? 0 : i < (long)n ? i : (long)n - 1) * stride];
	for (size_t i = 0; i < n; i++) {
		size_t out = i < FADE ? 0 : i - FADE, in = i + FADE + 1 < n ? i + FADE + 1 : n - 1;

		to[i * stride] = sum / (2 * FADE + 1);
		sum += from[in * stride] - from[out * stride];
	}
}

/* How much samples near holes count, whose sharp edges would spread light and fringes over other
 * frequencies: from 0 at the edge to 1 from FADE samples on. */
static float *
fade_holes(const float *from, size_t stride, size_t w, size_t h)
{
	float *known = must_alloc(2 * w * h, sizeof(*known)), *rows = known + w * h;

	for (size_t y = 0; y < h; y++)
		for (size_t x = 0; x < w; x++)
			known[y * w + x] = !px_isnan(from[y * stride + x]);
	for (size_t y = 0; y < h; y++)
		blur(known + y * w, 1, w, rows + y * w);
	for (size_t x = 0; x < w; x++)
		blur(rows + x, w, h, known + x);
	for (size_t i = 0; i < w * h; i++)
		known[i] = px_max(2 * known[i] - 1, 0);
	return known;
}

/* The sum of a row's samples, and how many there are. */
static double
sum_row(const float *restrict v, size_t n, size_t *count)
{
	float sums[PARTS] = { 0 };
	uint32_t known = 0;
	double sum = 0;
	size_t x = 0;

	for (; x + PARTS <= n; x += PARTS)
		for (size_t i = 0; i < PARTS; i++) {
			bool good = !px_isnan(v[x + i]);

			sums[i] += px_select(good, v[x + i], 0);
			known += good;
		}
	for (; x < n; x++) {
		sum += px_isnan(v[x]) ? 0 : (double)v[x];
		known += !px_isnan(v[x]);
	}
	for (size_t i = 0; i < PARTS; i++)
		sum += (double)sums[i];
	*count += known;
	return sum;
}

static void
prepare_piece(void *arg, size_t item)
{
	struct spectrum_job *job = arg;
	const struct fourier_spectrum *spectrum = job->spectrum;
	struct spectrum_piece *piece = &job->piece[item];
	double sum = 0;
	size_t count = 0;

	if (job->signal->holes)
		piece->counts = fade_holes(piece->from, job->signal->w, spectrum->tile_w,
		    spectrum->tile_h);
	for (size_t y = 0; y < spectrum->tile_h; y++)
		sum += sum_row(piece->from + y * job->signal->w, spectrum->tile_w, &count);
	piece->mean = count ? (float)(sum / (double)count) : 0;
}

/* Writes n samples from x on of row y of a piece into a lane, less the mean, faded out towards the
 * borders of the piece. */
static void
take_row(const struct spectrum_job *job, const struct spectrum_piece *piece, size_t x, size_t n,
    size_t y, float *to)
{
	const float *restrict v = piece->from + y * job->signal->w + x;
	const float *counts = piece->counts ? piece->counts + y * job->spectrum->tile_w + x : NULL;
	float mean = piece->mean, down = job->fade_y[y];

	for (size_t i = 0; i < n; i++) {
		float fade = job->fade_x[x + i] * down * (counts ? counts[i] : 1);

		to[(x + i) * FFT_SAMPLE] = px_select(px_isnan(v[i]), 0, fade * (v[i] - mean));
	}
}

static void
transform_rows(void *arg, size_t item)
{
	struct spectrum_job *job = arg;
	const struct fourier_spectrum *spectrum = job->spectrum;
	size_t y = item * FFT_LANES, w = spectrum->w;
	const struct lanes lanes = { w, spectrum->h - y < FFT_LANES ? spectrum->h - y :
		FFT_LANES, 1, job->stride };
	struct pixel_store *store;
	float *v;

	store = fourier_scratch(w * FFT_SAMPLE, &v);
	if (y + FFT_LANES > spectrum->tile_h || job->pieces < 2)
		memset(v, 0, w * FFT_SAMPLE * sizeof(*v));
	memset(v + spectrum->tile_w * FFT_SAMPLE, 0,
	    (w - spectrum->tile_w) * FFT_SAMPLE * sizeof(*v));
	for (size_t x = 0; x < spectrum->tile_w; x += BLOCK) {
		size_t n = spectrum->tile_w - x < BLOCK ? spectrum->tile_w - x : BLOCK;

		for (size_t i = 0; i < FFT_LANES && y + i < spectrum->tile_h; i++)
			for (size_t part = 0; part < job->pieces; part++)
				take_row(job, &job->piece[part], x, n, y + i,
				    v + part * FFT_LANES + i);
	}
	line_fft_run(&job->across, v);
	lanes_write(&lanes, v, job->across.place, 1, job->re + y * job->stride);
	lanes_write(&lanes, v + FFT_LANES, job->across.place, 1, job->im + y * job->stride);
	pixel_store_drop(store);
}

static void
transform_columns(void *arg, size_t item)
{
	struct spectrum_job *job = arg;
	size_t x = item * FFT_LANES, h = job->spectrum->h, n = FFT_LANES;
	float *v;
	struct pixel_store *store = fourier_scratch(h * FFT_SAMPLE, &v);

	for (size_t y = 0; y < h; y++) {
		memcpy(v + y * FFT_SAMPLE, job->re + y * job->stride + x, n * sizeof(*v));
		memcpy(v + y * FFT_SAMPLE + n, job->im + y * job->stride + x, n * sizeof(*v));
	}
	line_fft_run(&job->down, v);
	for (size_t y = 0; y < h; y++) {
		const float *restrict from = v + job->down.place[y] * FFT_SAMPLE;
		float *restrict to = job->power + y * job->stride + x;

		CPU_SIMD
		for (size_t i = 0; i < FFT_LANES; i++)
			to[i] += from[i] * from[i] + from[n + i] * from[n + i];
	}
	pixel_store_drop(store);
}

static void
join_powers(void *arg, size_t y)
{
	const struct spectrum_job *job = arg;
	const struct fourier_spectrum *spectrum = job->spectrum;
	const float *a = job->power + y * job->stride;
	const float *b = job->power + (y ? spectrum->h - y : 0) * job->stride + spectrum->w;
	float *to = spectrum->power + y * spectrum->columns;

	to[0] = a[0] + b[-(ptrdiff_t)spectrum->w];
	for (size_t x = 1; x < spectrum->columns; x++)
		to[x] = a[x] + b[-(ptrdiff_t)x];
}

static void
smooth_row(void *arg, size_t y)
{
	struct fourier_spectrum *spectrum = arg;
	size_t n = spectrum->columns;
	float sum[SPECTRUM_TILE + 2], *restrict to = spectrum->smooth + y * n;
	const float *restrict own = spectrum->power + y * n;
	const float *restrict above = spectrum->power + (y ? y - 1 : spectrum->h - 1) * n;
	const float *restrict below = spectrum->power + (y + 1 < spectrum->h ? y + 1 : 0) * n;

	for (size_t x = 0; x < n; x++)
		sum[x + 1] = above[x] + own[x] + below[x];
	sum[0] = sum[n + 1] = 0;
	for (long j = -1; j <= 1; j++) {
		sum[0] += fourier_spectrum_power(spectrum, spectrum->power, -1, (long)y + j);
		sum[n + 1] += fourier_spectrum_power(
		    spectrum, spectrum->power, (long)n, (long)y + j);
	}
	for (size_t x = 0; x < n; x++)
		to[x] = (sum[x] + sum[x + 1] + sum[x + 2]) * (1.0f / 9);
}

static double
spectrum_greatest(const struct fourier_spectrum *spectrum)
{
	float greatest = 0;

	for (size_t y = 0; y < spectrum->h; y++) {
		const float *smooth = spectrum->smooth + y * spectrum->columns;
		size_t x = 0;

		for (; x < spectrum->columns; x++) {
			struct fourier_carrier f = fourier_spectrum_frequency(spectrum, x, y);

			if (hypot(f.x * (double)spectrum->tile_w, f.y * (double)spectrum->tile_h) >=
			    FOURIER_LEAST_CYCLES)
				break;
		}
		_Pragma("omp simd reduction(max : greatest)")
		for (size_t i = x; i < spectrum->columns; i++)
			greatest = smooth[i] > greatest ? smooth[i] : greatest;
	}
	return (double)greatest;
}

/*
 * ---- the filter ----
 *
 * The analytic signal round a carrier: transform, window, transform back (thesis eq. 3.3). Lines
 * are transformed alone, or rows and columns. The carrier mostly varies along a line: the caller
 * turns a signal of horizontal fringes. Of a row's transform only the frequencies that the window
 * keeps go to the narrow plane, whose columns are transformed then.
 */

/* The place of frequency k of N. */
static size_t
frequency_place(long k, size_t n)
{
	return k < 0 ? n - (size_t)-k : (size_t)k;
}

/* Lines side by side; one line alone, of which the first lane counts; working memory. */
struct row_memory {
	float *lines, *alone, *other;
	unsigned char *known;
	bool holes[FILTER_ROWS];
	size_t samples[FILTER_ROWS];
	_Alignas(64) float rest[FILTER_ROWS];	/* the mean of each row */
};

/* Lines from y on, `most` or as many as there are. */
static struct lanes
lanes_of(const struct fourier_signal *signal, size_t y, size_t most)
{
	size_t lines = signal->h - y < most ? signal->h - y : most;

	return (struct lanes){ signal->w, lines, signal->along, signal->apart };
}

/* Reads rows from y on as lines. */
static void
take_rows(const struct filter_job *filter, size_t y, struct row_memory *rows)
{
	const struct fourier_signal *signal = filter->signal;
	size_t w = signal->w;
	struct lanes lanes = lanes_of(signal, y, FILTER_ROWS);
	double sum[FILTER_ROWS] = { 0 };
	uint32_t count[FILTER_ROWS] = { 0 };

	if (lanes.lines < FILTER_ROWS)
		memset(rows->lines, 0, w * FILTER_ROWS * sizeof(*rows->lines));
	lanes_read(&lanes, signal->v + y * signal->apart, rows->lines);
	for (size_t x = 0; x < w; x++) {
		const float *restrict v = rows->lines + x * FILTER_ROWS;

		CPU_SIMD
		for (size_t i = 0; i < FILTER_ROWS; i++) {
			bool known = !px_isnan(v[i]);

			sum[i] += (double)px_select(known, v[i], 0);
			count[i] += known;
		}
	}
	for (size_t i = 0; i < FILTER_ROWS; i++) {
		rows->samples[i] = count[i];
		rows->holes[i] = count[i] < w;
		rows->rest[i] = count[i] ? (float)(sum[i] / count[i]) : 0;
	}
}

/* Extends a row with holes, alone. */
static void
extend_alone(const struct filter_job *filter, size_t i, struct row_memory *rows)
{
	struct fourier_extend extend = filter->row;
	size_t lanes = EXTEND_LANES_LEAST;
	_Alignas(64) float rest[EXTEND_LANES_LEAST];

	extend.lanes = lanes;
	for (size_t lane = 0; lane < lanes; lane++)
		rest[lane] = rows->rest[i];
	for (size_t x = 0; x < extend.n; x++) {
		float v = rows->lines[x * FILTER_ROWS + i];

		rows->known[x] = !px_isnan(v);
		for (size_t lane = 0; lane < lanes; lane++)
			rows->alone[x * lanes + lane] = v;
	}
	fourier_extend_lines(&extend, rest, rows->alone, rows->known, rows->other);
	for (size_t x = 0; x < extend.total; x++)
		rows->lines[x * FILTER_ROWS + i] = rows->alone[x * lanes];
}

/* Extends the lines and fills their holes. */
static void
extend_rows(const struct filter_job *filter, struct row_memory *rows)
{
	bool holes = false;

	for (size_t i = 0; i < FILTER_ROWS; i++)
		holes |= rows->holes[i];
	if (!holes) {
		fourier_extend_lines(&filter->row, rows->rest, rows->lines, NULL, rows->other);
		return;
	}
	for (size_t i = 0; i < FILTER_ROWS; i++)
		extend_alone(filter, i, rows);
}

/* Writes the means over two periods of rows from y on. */
static void
make_means(const struct filter_job *filter, size_t y, const struct row_memory *rows)
{
	double period = 1 / filter->how->carrier.x;
	const struct fourier_signal *signal = filter->signal;
	const struct lanes lanes = lanes_of(signal, y, FILTER_ROWS);
	size_t total = filter->row.total;
	float *once = rows->other, *twice = once + total * FILTER_ROWS;

	fourier_mean_lines(rows->lines, total, period, once);
	fourier_mean_lines(once, total, period, twice);
	lanes_write(&lanes, twice, NULL, 1, filter->result->mean + y * signal->apart);
}

/* Writes the frequencies that the window may keep to the narrow plane; two real rows are the real
 * and the imaginary part of a transformed line. */
static void
keep_rows(const struct filter_job *filter, size_t y, const float *lines)
{
	size_t total = filter->row.total, h = filter->signal->h;

	for (size_t i = 0; i < filter->stride; i++) {
		long k = filter->first + (long)(i < filter->n ? i : 0);
		const size_t *place = filter->across.place;
		const float *a = lines + place[frequency_place(k, total)] * FFT_SAMPLE;
		const float *b = lines + place[frequency_place(-k, total) % total] * FFT_SAMPLE;

		for (size_t lane = 0; lane < FFT_LANES; lane++) {
			size_t first = (y + lane) * filter->stride + i;
			size_t second = first + FFT_LANES * filter->stride;

			if (y + lane < h) {
				filter->re[first] = (a[lane] + b[lane]) * 0.5f;
				filter->im[first] =
				    (a[FFT_LANES + lane] - b[FFT_LANES + lane]) * 0.5f;
			}
			if (y + FFT_LANES + lane < h) {
				filter->re[second] =
				    (a[FFT_LANES + lane] + b[FFT_LANES + lane]) * 0.5f;
				filter->im[second] = (b[lane] - a[lane]) * 0.5f;
			}
		}
	}
}

static void
filter_forward(void *arg, size_t item)
{
	struct filter_job *filter = arg;
	size_t total = filter->row.total, h = filter->signal->h, y = item * FILTER_ROWS;
	size_t others = fourier_aligned(fourier_extend_memory(&filter->row));
	size_t alone = fourier_aligned(total * EXTEND_LANES_LEAST);
	size_t known = fourier_aligned(filter->signal->w / sizeof(float) + 1);
	struct row_memory rows;
	struct pixel_store *store;

	if (others < 2 * total * FILTER_ROWS)
		others = 2 * total * FILTER_ROWS;
	store = fourier_scratch(total * FFT_SAMPLE + others + alone + known, &rows.lines);
	rows.other = rows.lines + total * FFT_SAMPLE;
	rows.alone = rows.other + others;
	rows.known = (unsigned char *)(rows.alone + alone);
	take_rows(filter, y, &rows);
	extend_rows(filter, &rows);
	for (size_t i = 0; i < FILTER_ROWS && y + i < h; i++)
		filter->known[y + i] = (double)rows.samples[i] * filter->how->carrier.x >= 1;
	if (filter->result->mean)
		make_means(filter, y, &rows);
	/* without the row's level, which would leak into other frequencies */
	for (size_t x = 0; x < total; x++) {
		float *restrict v = rows.lines + x * FILTER_ROWS;

		CPU_SIMD
		for (size_t i = 0; i < FILTER_ROWS; i++)
			v[i] -= rows.rest[i];
	}
	line_fft_run(&filter->across, rows.lines);
	keep_rows(filter, y, rows.lines);
	pixel_store_drop(store);
}

static void
filter_columns(void *arg, size_t item)
{
	struct filter_job *filter = arg;
	size_t h = filter->signal->h, total = filter->column.total, stride = filter->stride;
	size_t others = fourier_aligned(fourier_extend_memory(&filter->column));
	float *re = filter->re + item * FFT_LANES, *im = filter->im + item * FFT_LANES;
	float *lines, *spectrum;
	static const _Alignas(64) float rest[FFT_LANES] = { 0 };
	const float scale = 1 / (float)total;
	struct pixel_store *store;

	store = fourier_scratch(2 * total * FFT_SAMPLE + others, &lines);
	spectrum = lines + total * FFT_SAMPLE;
	for (size_t y = 0; y < h; y++) {
		memcpy(lines + y * FFT_SAMPLE, re + y * stride, FFT_LANES * sizeof(*re));
		memcpy(lines + y * FFT_SAMPLE + FFT_LANES, im + y * stride,
		    FFT_LANES * sizeof(*im));
	}
	fourier_extend_lines(
	    &filter->column, rest, lines, filter->known, spectrum + total * FFT_SAMPLE);
	line_fft_run(&filter->down, lines);
	/* the way back is the transform with its parts exchanged, here and in filter_back() */
	for (size_t y = 0; y < total; y++) {
		const float *restrict from = lines + filter->down.place[y] * FFT_SAMPLE;
		const float *restrict window = filter->window + y * stride + item * FFT_LANES;
		float *restrict to = spectrum + y * FFT_SAMPLE;

		CPU_SIMD
		for (size_t lane = 0; lane < FFT_LANES; lane++) {
			to[FFT_LANES + lane] = from[lane] * window[lane];
			to[lane] = from[FFT_LANES + lane] * window[lane];
		}
	}
	line_fft_run(&filter->down, spectrum);
	for (size_t y = 0; y < h; y++) {
		const float *restrict from = spectrum + filter->down.place[y] * FFT_SAMPLE;

		CPU_SIMD
		for (size_t lane = 0; lane < FFT_LANES; lane++) {
			re[y * stride + lane] = from[FFT_LANES + lane] * scale;
			im[y * stride + lane] = from[lane] * scale;
		}
	}
	pixel_store_drop(store);
}

static void
filter_back(void *arg, size_t item)
{
	struct filter_job *filter = arg;
	const struct fourier_signal *signal = filter->signal;
	size_t total = filter->row.total, y = item * FFT_LANES;
	const struct lanes lanes = lanes_of(signal, y, FFT_LANES);
	const size_t *from = filter->across.place;
	const float scale = 1 / (float)total;
	float *v;
	struct pixel_store *store = fourier_scratch(total * FFT_SAMPLE, &v);

	memset(v, 0, total * FFT_SAMPLE * sizeof(*v));
	for (size_t i = 0; i < filter->n; i++) {
		float *to = v + frequency_place(filter->first + (long)i, total) * FFT_SAMPLE;
		float weight = filter->down.n ? 1 : filter->window[i];

		for (size_t lane = 0; lane < lanes.lines; lane++) {
			to[lane] = filter->im[(y + lane) * filter->stride + i] * weight;
			to[FFT_LANES + lane] = filter->re[(y + lane) * filter->stride + i] * weight;
		}
	}
	line_fft_run(&filter->across, v);
	lanes_write(&lanes, v + FFT_LANES, from, scale, filter->result->re + y * signal->apart);
	lanes_write(&lanes, v, from, scale, filter->result->im + y * signal->apart);
	pixel_store_drop(store);
}

/* ---- the variance of the noise (filter.c has the method) ---- */

/* The variance of a sample of the camera. */
static float
of_level(struct phase_noise_model noise, float level)
{
	return px_max(noise.variance + noise.gain * level, noise.least);
}

/* (1 + s)^2, but half of s^2: noise in proportion to the fringes is largest at their crests, where
 * it does not move the phase; half of it changes their amplitude alone. */
static float
across_phase(float s)
{
	return 1 + 2 * s + s * s / 2;
}

/* The variance of a sample of the signal: (I - mean) / unit, where the flat images have noise as
 * well. */
static float
of_signal(const struct sigma_job *job, const struct fourier_pixels *pixels, size_t x)
{
	const struct fourier_source *source = job->source;
	float unit = pixels->unit[x], mean, half, share;
	float sum = of_level(job->noise, pixels->image[x]);

	if (source->flats == 0)
		return sum;
	mean = pixels->mean[x];
	half = source->flats == 2 ? unit : mean;
	/* how much the divisor's noise changes the signal */
	share = source->removal == REMOVAL_QUOTIENT && unit > source->least_unit ?
	    (pixels->image[x] - mean) / half : 0;
	if (source->flats == 1) {
		sum += across_phase(share) * of_level(job->noise, mean);
	} else {
		float rise = source->removal == REMOVAL_QUOTIENT ? unit : 0;

		sum += 0.25f * across_phase(share) * of_level(job->noise, mean + rise);
		sum += 0.25f * across_phase(-share) * of_level(job->noise, mean - rise);
	}
	return sum / (unit * unit);
}

static void
sigma_read(void *arg, size_t item)
{
	struct sigma_job *job = arg;
	size_t end = (item + 1) * FOURIER_ROWS < job->h ? (item + 1) * FOURIER_ROWS : job->h;
	struct fourier_pixels pixels;

	fourier_pixels_new(job->w, &pixels);
	for (size_t y = item * FOURIER_ROWS; y < end; y++) {
		fourier_pixels_read(job->source, y, &pixels);
		for (size_t x = 0; x < job->w; x++) {
			bool good = !pixels.missing[x] && !pixels.saturated[x];

			job->v[y * job->w + x] = good ? of_signal(job, &pixels, x) : 0;
			job->n[y * job->w + x] = good;
		}
	}
	free(pixels.image);
}

static inline void
add_line(const float *restrict from, float weight, float *restrict to, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] += weight * from[i];
}

/* Row y of a plane becomes the weighted sum of the rows about it (down), or each of its samples the
 * sum of those about it. */
static inline __attribute__((always_inline)) void
smooth_plane(const struct sigma_job *job, const float *from, float *to, size_t y, bool down)
{
	size_t w = job->w;

	from += y * w;
	to += y * w;
	memset(to, 0, w * sizeof(*to));
	for (size_t k = 0; k <= job->radius; k++) {
		float weight = job->kernel[k];

		if (down && y >= k)
			add_line(from - k * w, weight, to, w);
		if (down && k > 0 && y + k < job->h)
			add_line(from + k * w, weight, to, w);
		if (!down && k < w)
			add_line(from, weight, to + k, w - k);
		if (!down && k > 0 && k < w)
			add_line(from + k, weight, to, w - k);
	}
}

static void
sigma_smooth(void *arg, size_t item)
{
	const struct sigma_job *job = arg;

	for (size_t y = item * FOURIER_ROWS; y < job->h && y < (item + 1) * FOURIER_ROWS; y++)
		for (int plane = 0; plane < 2; plane++) {
			const float *from = plane ? job->n : job->v;
			float *to = plane ? job->to_n : job->to_v;

			if (job->down)
				smooth_plane(job, from, to, y, true);
			else
				smooth_plane(job, from, to, y, false);
		}
}

static void
sigma_variance(const struct sigma_job *job, float scale, float *restrict variance)
{
	for (size_t i = 0; i < job->w * job->h; i++)
		variance[i] = job->n[i] > 0 ? job->v[i] / job->n[i] * scale : PX_NAN;
}

/* ---- phases, modulation and texture from the analytic signals of a measurement ---- */

#define MOST_AMPLITUDE 3e38f	/* before the first fringe image */

/* A row of the output: of the frame; of its own; of one fringe image. */
struct row {
	float *modulation, *texture;
	float *amplitude;
	unsigned char *lost;
	float *cosine, *sine, *tangent, *size;
};

static inline unsigned char
judge(const struct measurement_limits *limits, bool missing, bool saturated, float mean,
    float modulation, float amplitude)
{
	bool dark = !(mean >= limits->least_mean);
	bool weak = !(modulation >= limits->least_modulation);
	bool none = !(amplitude >= limits->least_amplitude) | !(amplitude > 0);
	unsigned char lost = none ? LOST_AMPLITUDE : LOST_NONE;

	lost = weak ? LOST_MODULATION : lost;
	lost = dark ? LOST_DARKNESS : lost;
	lost = saturated ? LOST_SATURATION : lost;
	return missing ? LOST_MISSING : lost;
}

/* Adds row y of a fringe image to that of the output, and writes the cosine and the sine of its
 * phase, times half the amplitude. */
static void
take_signal(const struct measurement_limits *limits, const struct fourier_image *image, size_t y,
    size_t n, const struct fourier_pixels *pixels, const struct row *row)
{
	const struct fourier_result *result = &image->result;
	const float *restrict re = result->re + y * n, *restrict im = result->im + y * n;
	const float *restrict means = image->source.flats ? pixels->mean : result->mean + y * n;
	/* the texture's light: less two times the signal where no flat image gives it */
	const float *restrict level = image->source.flats ? pixels->mean : pixels->image;
	const float *restrict unit = pixels->unit;
	const unsigned char *restrict missing = pixels->missing;
	const unsigned char *restrict saturated = pixels->saturated;
	float *restrict cosine = row->cosine, *restrict sine = row->sine;
	float *restrict sizes = row->size, *restrict amplitudes = row->amplitude;
	float *restrict modulations = row->modulation, *restrict texture = row->texture;
	unsigned char *restrict losts = row->lost;
	float turn_c = image->cosine, turn_s = image->sine, sign = image->falling ? -1 : 1;
	float part = image->source.flats ? 0 : 2;

	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		float c = re[x], s = sign * im[x], mean = means[x];
		float size = px_sqrt(c * c + s * s), amplitude = 2 * size * unit[x];
		float ratio = amplitude / mean, modulation = px_select(mean > 0, ratio, 0);
		unsigned char lost = judge(limits, missing[x], saturated[x], mean, modulation,
		    amplitude);

		losts[x] = lost < losts[x] ? lost : losts[x];
		amplitudes[x] = px_min(amplitudes[x], amplitude);
		modulations[x] = px_min(modulations[x], modulation);
		texture[x] += level[x] - part * c + amplitude;
		sizes[x] = size;
		cosine[x] = c * turn_c + s * turn_s;
		sine[x] = s * turn_c - c * turn_s;
	}
}

static void
write_phase(const struct row *row, float *restrict phase, size_t n)
{
	const float *restrict cosine = row->cosine, *restrict sine = row->sine;
	float *restrict tangent = row->tangent;

	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		tangent[x] = px_atan2_tangent(sine[x], cosine[x]);
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		phase[x] = px_atan2_angle(tangent[x], sine[x], cosine[x]);
}

static void
write_vector(const struct row *row, float *restrict first, float *restrict second, size_t n)
{
	const float *restrict cosine = row->cosine, *restrict sine = row->sine;
	const float *restrict size = row->size;

	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		first[x] = cosine[x] / size[x];
		second[x] = sine[x] / size[x];
	}
}

/* The standard deviation of the phase of an analytic signal. */
static void
write_sigma(const struct row *row, const float *restrict variance, float *restrict sigma, size_t n)
{
	const float *restrict size = row->size;

	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		float v = px_min(px_sqrt(variance[x]) / size[x], PHASE_NOISE_MOST);

		sigma[x] = px_select(variance[x] > 0, v, PX_NAN);
	}
}

/* The number of pixels of a row that have a phase. */
static size_t
count_good(const unsigned char *restrict lost, size_t w)
{
	uint32_t good = 0;

	_Pragma("omp simd reduction(+ : good)")
	for (size_t x = 0; x < w; x++)
		good += lost[x] == LOST_NONE;
	return good;
}

/* Counts the pixels of a row, and makes those without a phase NaN. */
static void
lose_pixels(const struct output_job *output, size_t y, const struct row *row)
{
	const struct fourierphase *fourier = output->fourier;

	for (size_t x = 0; x < output->frame->head.w; x++) {
		output->lost[y][row->lost[x]]++;
		if (row->lost[x] == LOST_NONE)
			continue;
		row->amplitude[x] = PX_NAN;
		if (row->lost[x] == LOST_MISSING)
			row->texture[x] = row->modulation[x] = PX_NAN;
		for (size_t c = 0; c < fourier->marker; c++)
			if (c < fourier->modulation || c >= fourier->sigma)
				frame_floats(output->frame, c, y)[x] = PX_NAN;
	}
}

static void
write_row(const struct output_job *output, size_t y, const struct fourier_pixels *pixels,
    struct row *row)
{
	const struct fourierphase *fourier = output->fourier;
	size_t w = output->frame->head.w, fringes = fourier->captures.fringes;
	size_t pixel = (y * w + output->step - 1) / output->step * output->step;
	float *restrict texture;

	row->modulation = frame_floats(output->frame, fourier->modulation, y);
	row->texture = texture = frame_floats(output->frame, fourier->texture, y);
	for (size_t x = 0; x < w; x++) {
		row->modulation[x] = row->amplitude[x] = MOST_AMPLITUDE;
		texture[x] = 0;
	}
	memset(row->lost, LOST_NONE, w);
	for (size_t k = 0; k < fringes; k++) {
		const struct fourier_image *image = &output->image[k];

		fourier_pixels_read(&image->source, y, pixels);
		take_signal(&fourier->limits, image, y, w, pixels, row);
		if (fourier->vector)
			write_vector(row, frame_floats(output->frame, 2 * k, y),
			    frame_floats(output->frame, 2 * k + 1, y), w);
		else
			write_phase(row, frame_floats(output->frame, k, y), w);
		if (image->variance)
			write_sigma(row, image->variance + y * w,
			    frame_floats(output->frame, fourier->sigma + k, y), w);
	}
	for (size_t x = 0; x < w; x++)
		texture[x] /= (float)fringes;
	if (count_good(row->lost, w) < w)
		lose_pixels(output, y, row);
	else
		output->lost[y][LOST_NONE] = w;
	measurement_copy_markers(&fourier->captures, output->in, fourier->marker, output->frame,
	    y);
	for (; pixel < (y + 1) * w; pixel += output->step)
		output->amplitude[pixel / output->step] = (double)row->amplitude[pixel - y * w];
}

static void
output_rows(void *arg, size_t item)
{
	struct output_job *output = arg;
	size_t w = output->frame->head.w, h = output->frame->head.h;
	float *memory = must_alloc(w, 5 * sizeof(*memory) + 1);
	struct row row = { .amplitude = memory, .cosine = memory + w, .sine = memory + 2 * w,
		.tangent = memory + 3 * w, .size = memory + 4 * w,
		.lost = (unsigned char *)(memory + 5 * w) };
	struct fourier_pixels pixels;

	fourier_pixels_new(w, &pixels);
	for (size_t y = item * FOURIER_ROWS; y < h && y < (item + 1) * FOURIER_ROWS; y++)
		write_row(output, y, &pixels, &row);
	free(memory);
	free(pixels.image);
}

const struct fourierphase_rows AT_LEVEL(fourierphase_rows) = {
	.line_fft = line_fft_run,
	.signal = signal_rows,
	.filter_forward = filter_forward,
	.filter_columns = filter_columns,
	.filter_back = filter_back,
	.spectrum_piece = prepare_piece,
	.spectrum_rows = transform_rows,
	.spectrum_columns = transform_columns,
	.spectrum_power = join_powers,
	.spectrum_smooth = smooth_row,
	.spectrum_greatest = spectrum_greatest,
	.sigma_read = sigma_read,
	.sigma_smooth = sigma_smooth,
	.sigma_variance = sigma_variance,
	.output = output_rows,
};
