#include "fourier_extend.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define ORDER 8		/* coefficients at most: four waves, or fewer and their trend */
#define PER_SAMPLE 8	/* samples that a hole of one more wants to be predicted from */
#define LEAST_FIT 16
#define ROUNDING 1e-8	/* of the power */
#define MORE 1.25f	/* times as far from the mean as any sample may a prediction be */
#define LEAST 12		/* samples that are predicted from */
#define VECTOR FOURIER_EXTEND_LANES_LEAST
#define FLOATS (2 * FOURIER_EXTEND_LANES_MOST)	/* of a sample at most: channels times lanes */

typedef float vector __attribute__((vector_size(CPU_VECTOR_BYTES), aligned(4), may_alias));
typedef int32_t mask __attribute__((vector_size(CPU_VECTOR_BYTES)));

static size_t
floats_of(const struct fourier_extend *extend)
{
	return extend->channels * extend->lanes;
}

size_t
fourier_extend_memory(const struct fourier_extend *extend)
{
	/* the ends at both sides of a hole and what is predicted behind them; forward and backward
	 * errors; how much of a prediction counts */
	return floats_of(extend) * (2 * extend->total + 4 * extend->fit) + extend->total + 1;
}

/* ---- one end ---- */

/* The end of the known samples before a hole, seen from the hole, and how they go on. */
struct end {
	size_t n;		/* of them */
	float *v;		/* the nearest one last, less the mean; then room for predictions */
	float mean[FLOATS], most[FLOATS];	/* and how far samples are from it */
	size_t order;
	float a[ORDER + 1][FLOATS / 2];		/* of each lane, common to its channels */
};

static inline vector
at(const float *v)
{
	return *(const vector *)v;
}

static inline void
put(float *v, vector a)
{
	*(vector *)v = a;
}

static inline vector
select_vector(mask where, vector a, vector b)
{
	return (vector)(((mask)a & where) | ((mask)b & ~where));
}

/* What of lanes' forward and backward errors, `apart` floats from sample to sample, agrees, and
 * their power. */
static void
correlate(const float *forward, const float *backward, size_t apart, size_t m, size_t n,
    float *product, float *squares)
{
	vector p = { 0 }, s = { 0 };

	for (size_t i = m; i < n; i++) {
		vector f = at(forward + i * apart), b = at(backward + (i - 1) * apart);

		p += f * b;
		s += f * f + b * b;
	}
	put(product, p);
	put(squares, s);
}

static void
reflect(float *forward, float *backward, size_t apart, size_t m, size_t n, const float *k)
{
	vector factor = at(k), before = at(backward + (m - 1) * apart);

	for (size_t i = m; i < n; i++) {
		vector error = at(forward + i * apart), own = at(backward + i * apart);

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
		for (size_t lane = 0; lane < apart; lane += VECTOR)
			correlate(forward + lane, backward + lane, apart, m, end->n, product + lane,
			    squares + lane);
		for (size_t lane = 0; lane < lanes; lane++) {
			double p = 0, s = 0, k, next[ORDER + 1];

			for (size_t c = 0; c < extend->channels; c++) {
				p += (double)product[c * lanes + lane];
				s += (double)squares[c * lanes + lane];
			}
			/* what is left of fringes without noise is rounding, which predicts
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
		for (size_t lane = 0; lane < apart; lane += VECTOR)
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

/* Finds how the samples go on. */
static void
fit(const struct fourier_extend *extend, struct end *end, float *errors)
{
	size_t apart = floats_of(extend);

	end->order = end->n / 3 < ORDER ? end->n / 3 : ORDER;
	for (size_t lane = 0; lane < apart; lane += VECTOR) {
		vector sum = { 0 }, most = { 0 };

		for (size_t i = 0; i < end->n; i++)
			sum += at(end->v + i * apart + lane);
		/* a complex wave has none, but for the piece that is seen of it */
		put(end->mean + lane, sum * (extend->channels == 1 ? 1 / (float)end->n : 0));
		take_mean_off(end, apart, lane);
		for (size_t i = 0; i < end->n; i++) {
			vector v = at(end->v + i * apart + lane) * MORE;
			vector size = (vector)((mask)v & 0x7fffffff);

			most = select_vector(size > most, size, most);
		}
		put(end->most + lane, most);
	}
	find_coefficients(extend, end, errors);
}

/* Too few samples for that go on as those behind the hole do, or, without such, stay as they are.
 * False where they are too few to go on. */
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
	for (size_t lane = 0; lane < apart; lane += VECTOR)
		take_mean_off(end, apart, lane);
	return true;
}

/* Writes the n samples that follow behind those of the end, less the mean as these. */
static void
predict(const struct fourier_extend *extend, struct end *end, size_t n)
{
	size_t lanes = extend->lanes, apart = floats_of(extend);

	for (size_t lane = 0; lane < apart; lane += VECTOR) {
		float *to = end->v + end->n * apart + lane;
		vector most = at(end->most + lane);

		for (size_t i = 0; i < n; i++, to += apart) {
			vector next = { 0 };

			for (size_t k = 1; k <= end->order; k++)
				next -= at(end->a[k] + lane % lanes) * at(to - k * apart);
			next = select_vector(next < most, next, most);
			put(to, select_vector(next > -most, next, -most));
		}
	}
}

/* ---- a hole ---- */

/* The share of a prediction at distance i of 1 .. n of a hole: it goes over into the other one, or
 * after half the reach to rest. */
static float
share(const struct fourier_extend *extend, size_t i, size_t n)
{
	float at;

	if (n < 2 * extend->reach)
		return (1 + cosf((float)M_PI * (float)i / (float)(n + 1))) * 0.5f;
	at = 2 * (float)i / (float)extend->reach - 1;
	return at <= 0 ? 1 : at >= 1 ? 0 : (1 + cosf((float)M_PI * at)) * 0.5f;
}

/* The samples next to a hole, at place `from` and on, going away from it; known: NULL where all up
 * to `stop` are. */
static void
find_end(const struct fourier_extend *extend, const float *line, const unsigned char *known,
    size_t from, size_t stop, size_t hole, float *memory, struct end *end)
{
	size_t most = extend->fit, n = 0, all = (stop > from ? stop - from : from - stop) + 1;
	size_t apart = floats_of(extend);

	if (most > LEAST_FIT + PER_SAMPLE * hole)
		most = LEAST_FIT + PER_SAMPLE * hole;
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

	for (size_t lane = 0; lane < apart; lane += VECTOR)
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

void
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
	/* each hole sees those before it as filled */
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
