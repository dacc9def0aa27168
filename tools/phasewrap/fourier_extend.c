#include "fourier_extend.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define ORDER 8		/* coefficients at most: four waves, or fewer and their trend */
#define PER_SAMPLE 8	/* samples that a hole of one more wants to be predicted from */
#define LEAST_FIT 16
#define ROUNDING 1e-8	/* of the power */
#define MORE 1.25f	/* times as far from the mean as any sample may a prediction be */
#define LEAST 12		/* samples that are predicted from */

size_t
fourier_extend_memory(const struct fourier_extend *extend)
{
	/* both predictions of a hole; forward and backward errors; the ends at its sides */
	return extend->channels * (2 * extend->total + 4 * extend->fit);
}

/* ---- one end ---- */

/* The end of the known samples before a hole, seen from the hole, and how they go on. */
struct end {
	size_t n;		/* of them */
	float *v;		/* channels x n, the nearest one last, less the mean */
	float mean[2], most[2];	/* and how far samples are from it */
	size_t order;
	double a[ORDER + 1];
};

/* Prediction coefficients: v[i] is about -sum a[k] v[i - k]. Common to both channels. */
static void
find_coefficients(const struct end *end, size_t channels, size_t order, float *errors, double *a)
{
	float *forward = errors, *backward = errors + channels * end->n;
	double rounding = 0;

	memcpy(forward, end->v, channels * end->n * sizeof(*forward));
	memcpy(backward, end->v, channels * end->n * sizeof(*backward));
	a[0] = 1;
	for (size_t m = 1; m <= order; m++) {
		double product = 0, squares = 0, k, next[ORDER + 1];

		for (size_t c = 0; c < channels; c++) {
			const float *f = forward + c * end->n, *b = backward + c * end->n;
			float p = 0, s = 0;

			for (size_t i = m; i < end->n; i++) {
				p += f[i] * b[i - 1];
				s += f[i] * f[i] + b[i - 1] * b[i - 1];
			}
			product += (double)p;
			squares += (double)s;
		}
		/* what is left of fringes without noise is rounding, which predicts nothing */
		if (m == 1)
			rounding = ROUNDING * squares;
		squares += rounding;
		k = squares > 0 && isfinite(squares) ? -2 * product / squares : 0;
		k = fmax(-1, fmin(1, k));
		for (size_t i = 0; i <= m; i++)
			next[i] = (i < m ? a[i] : 0) + (i > 0 ? k * a[m - i] : 0);
		memcpy(a, next, (m + 1) * sizeof(*a));
		for (size_t c = 0; c < channels; c++) {
			float *f = forward + c * end->n, *b = backward + c * end->n;

			for (size_t i = end->n - 1; i >= m; i--) {
				float error = f[i];

				f[i] = error + (float)k * b[i - 1];
				b[i] = b[i - 1] + (float)k * error;
			}
		}
	}
}

/* Finds how the samples go on. */
static void
fit(const struct fourier_extend *extend, struct end *end, float *errors)
{
	end->order = end->n / 3 < ORDER ? end->n / 3 : ORDER;
	for (size_t c = 0; c < extend->channels; c++) {
		float *v = end->v + c * end->n, sum = 0;

		for (size_t i = 0; i < end->n; i++)
			sum += v[i];
		/* a complex wave has none, but for the piece that is seen of it */
		end->mean[c] = extend->channels == 1 ? sum / (float)end->n : 0;
		end->most[c] = 0;
		for (size_t i = 0; i < end->n; i++) {
			v[i] -= end->mean[c];
			end->most[c] = fmaxf(end->most[c], MORE * fabsf(v[i]));
		}
	}
	find_coefficients(end, extend->channels, end->order, errors, end->a);
}

/* Too few samples for that go on as those behind the hole do, or, without such, stay as they are.
 * False where they are too few to go on. */
static bool
borrow(const struct fourier_extend *extend, struct end *end, const struct end *other)
{
	if (other->n >= LEAST && end->n < other->order)
		return false;
	end->order = other->n >= LEAST ? other->order : 0;
	memcpy(end->a, other->a, sizeof(end->a));
	for (size_t c = 0; c < extend->channels; c++) {
		float *v = end->v + c * end->n;

		end->mean[c] = end->order ? other->mean[c] : v[end->n - 1];
		end->most[c] = end->order ? other->most[c] : 0;
		for (size_t i = 0; i < end->n; i++)
			v[i] -= end->mean[c];
	}
	return true;
}

/* Writes the n samples that follow into `to`, channel after channel. */
static void
predict(const struct fourier_extend *extend, const struct end *end, size_t n, float *to)
{
	for (size_t c = 0; c < extend->channels; c++) {
		const float *v = end->v + c * end->n;
		float last[ORDER + 1] = { 0 };	/* the latest first */

		for (size_t k = 0; k < end->order; k++)
			last[k] = v[end->n - 1 - k];
		for (size_t i = 0; i < n; i++) {
			float next = 0;

			for (size_t k = 1; k <= end->order; k++)
				next -= (float)end->a[k] * last[k - 1];
			memmove(last + 1, last, ORDER * sizeof(*last));
			next = fmaxf(-end->most[c], fminf(end->most[c], next));
			last[0] = next;
			to[c * n + i] = next + end->mean[c];
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

/* The samples next to a hole, at place `at` and on, going away from it; known: NULL where all up to
 * `stop` are. */
static struct end
find_end(const struct fourier_extend *extend, const float *line, const unsigned char *known,
    size_t at, size_t stop, size_t hole, float *memory)
{
	size_t most = extend->fit, n = 0, all = (stop > at ? stop - at : at - stop) + 1;
	struct end end = { .v = memory };

	if (most > LEAST_FIT + PER_SAMPLE * hole)
		most = LEAST_FIT + PER_SAMPLE * hole;
	if (most > all)
		most = all;
	while (n < most && (!known || known[stop > at ? at + n : at - n]))
		n++;
	end.n = n;
	for (size_t c = 0; c < extend->channels; c++)
		for (size_t i = 0; i < n; i++)
			end.v[c * n + n - 1 - i] =
			    line[c * extend->total + (stop > at ? at + i : at - i)];
	return end;
}

/* A hole: n samples from place `first` on, cyclically. */
struct hole {
	size_t first, n;
	struct end before, after;
};

static void
fill_hole(const struct fourier_extend *extend, float *line, struct hole *hole, float *memory)
{
	size_t channels = extend->channels, total = extend->total, n = hole->n;
	size_t made = n < 2 * extend->reach ? n : extend->reach;
	float *before = memory, *after = memory + channels * total;
	float *errors = after + channels * total;
	bool two[2] = { true, true };

	if (hole->before.n >= LEAST)
		fit(extend, &hole->before, errors);
	if (hole->after.n >= LEAST)
		fit(extend, &hole->after, errors);
	if (hole->before.n < LEAST)
		two[0] = borrow(extend, &hole->before, &hole->after);
	if (hole->after.n < LEAST)
		two[1] = borrow(extend, &hole->after, &hole->before);
	predict(extend, &hole->before, two[0] ? made : 0, before);
	predict(extend, &hole->after, two[1] ? made : 0, after);
	for (size_t i = 0; i < n; i++) {
		size_t back = n - 1 - i, x = (hole->first + i) % total;
		float a = share(extend, i + 1, n), b = share(extend, back + 1, n);

		if (!two[0] || !two[1]) {
			a = two[0] ? (made == n ? 1 : a) : 0;
			b = two[1] ? (made == n ? 1 : b) : 0;
		}
		for (size_t c = 0; c < channels; c++) {
			float v = extend->rest;

			if (i < made && two[0])
				v += a * (before[c * made + i] - extend->rest);
			if (back < made && two[1])
				v += b * (after[c * made + back] - extend->rest);
			line[c * total + x] = v;
		}
	}
}

void
fourier_extend_line(const struct fourier_extend *extend, float *line, const unsigned char *known,
    float *memory)
{
	size_t n = extend->n, total = extend->total, first = 0, last = n, holes = 0;
	float *at = memory + 4 * extend->channels * extend->fit + 2 * extend->channels * total;
	float *at_before = at - 2 * extend->channels * extend->fit;
	float *at_after = at - extend->channels * extend->fit;

	while (first < n && !known[first])
		first++;
	if (first == n) {
		for (size_t i = 0; i < extend->channels * total; i++)
			line[i] = extend->rest;
		return;
	}
	while (!known[last - 1])
		last--;
	/* each hole sees those before it as filled */
	for (size_t x = first; x < last; x++) {
		if (!known[x])
			holes++;
		if (known[x] && holes) {
			struct hole hole = { .first = x - holes, .n = holes };

			hole.before = find_end(
			    extend, line, NULL, hole.first - 1, first, holes, at_before);
			hole.after = find_end(
			    extend, line, known, x, last - 1, holes, at_after);
			fill_hole(extend, line, &hole, memory);
			holes = 0;
		}
	}
	holes = total - last + first;
	if (holes > 0) {
		struct hole hole = { .first = last, .n = holes };

		hole.before = find_end(extend, line, NULL, last - 1, first, holes, at_before);
		hole.after = find_end(
		    extend, line, NULL, first, last - 1, holes, at_after);
		fill_hole(extend, line, &hole, memory);
	}
}
