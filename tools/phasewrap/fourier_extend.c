#include "fourier_extend.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define ORDER 8		/* coefficients at most: four waves, or fewer and their trend */
#define PER_SAMPLE 8	/* samples that a hole of one more wants to be predicted from */
#define LEAST_FIT 16

size_t
fourier_extend_memory(const struct fourier_extend *extend)
{
	/* both predictions of a hole; the line's end; forward and backward errors */
	return 2 * extend->channels * extend->total + 3 * extend->channels * extend->fit;
}

/* ---- one end ---- */

/* The end of the known samples before a hole, seen from the hole. */
struct end {
	size_t n;		/* of them */
	float *v;		/* channels x n, the nearest one last, less their mean */
	float mean[2];
};

/* Prediction coefficients: v[i] is about -sum a[k] v[i - k]. Common to both channels. */
static void
find_coefficients(const struct end *end, size_t channels, size_t order, float *errors, double *a)
{
	float *forward = errors, *backward = errors + channels * end->n;

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

/* Writes the n samples that follow into `to`, channel after channel. */
static void
predict(const struct fourier_extend *extend, struct end *end, size_t n, float *errors, float *to)
{
	size_t order = end->n / 3 < ORDER ? end->n / 3 : ORDER;
	double a[ORDER + 1];

	for (size_t c = 0; c < extend->channels; c++) {
		float *v = end->v + c * end->n, sum = 0;

		for (size_t i = 0; i < end->n; i++)
			sum += v[i];
		end->mean[c] = sum / (float)end->n;
		for (size_t i = 0; i < end->n; i++)
			v[i] -= end->mean[c];
	}
	find_coefficients(end, extend->channels, order, errors, a);
	for (size_t c = 0; c < extend->channels; c++) {
		const float *v = end->v + c * end->n;
		float last[ORDER + 1] = { 0 };	/* the latest first */

		for (size_t k = 0; k < order; k++)
			last[k] = v[end->n - 1 - k];
		for (size_t i = 0; i < n; i++) {
			float next = 0;

			for (size_t k = 1; k <= order; k++)
				next -= (float)a[k] * last[k - 1];
			memmove(last + 1, last, (ORDER) * sizeof(*last));
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

/* The known samples next to a hole at place `at` and on, going by step +1 or -1 away from it. */
static struct end
find_end(const struct fourier_extend *extend, const float *line, const unsigned char *known,
    size_t at, bool rising, size_t hole, float *memory)
{
	size_t most = extend->fit, n = 0;
	struct end end = { 0, memory, { 0 } };

	if (most > LEAST_FIT + PER_SAMPLE * hole)
		most = LEAST_FIT + PER_SAMPLE * hole;
	while (n < most && (rising ? at + n < extend->n : n <= at) &&
	    known[rising ? at + n : at - n])
		n++;
	end.n = n;
	for (size_t c = 0; c < extend->channels; c++)
		for (size_t i = 0; i < n; i++)
			end.v[c * n + n - 1 - i] =
			    line[c * extend->total + (rising ? at + i : at - i)];
	return end;
}

/* Fills n samples from place `first` on, cyclically, between known ones at `left` and `right`. */
static void
fill_hole(const struct fourier_extend *extend, float *line, const unsigned char *known,
    size_t first, size_t n, size_t left, size_t right, float *memory)
{
	size_t channels = extend->channels, total = extend->total;
	size_t made = n < 2 * extend->reach ? n : extend->reach;
	float *before = memory, *after = memory + channels * total;
	float *at_end = after + channels * total, *errors = at_end + channels * extend->fit;
	struct end end;

	end = find_end(extend, line, known, left, false, n, at_end);
	predict(extend, &end, made, errors, before);
	end = find_end(extend, line, known, right, true, n, at_end);
	predict(extend, &end, made, errors, after);
	for (size_t i = 0; i < n; i++) {
		size_t back = n - 1 - i, x = (first + i) % total;
		float a = share(extend, i + 1, n), b = share(extend, back + 1, n);

		for (size_t c = 0; c < channels; c++) {
			float v = extend->rest;

			if (i < made)
				v += a * (before[c * made + i] - extend->rest);
			if (back < made)
				v += b * (after[c * made + back] - extend->rest);
			line[c * total + x] = v;
		}
	}
}

void
fourier_extend_line(const struct fourier_extend *extend, float *line, const unsigned char *known,
    float *memory)
{
	size_t first = 0, last = extend->n, n = extend->n, total = extend->total, hole = 0;

	while (first < n && !known[first])
		first++;
	if (first == n) {
		for (size_t i = 0; i < extend->channels * total; i++)
			line[i] = extend->rest;
		return;
	}
	while (!known[last - 1])
		last--;
	for (size_t x = first; x < last; x++) {
		if (!known[x])
			hole++;
		if (known[x] && hole) {
			fill_hole(extend, line, known, x - hole, hole, x - hole - 1, x, memory);
			hole = 0;
		}
	}
	if (total - last + first > 0)
		fill_hole(extend, line, known, last, total - last + first, last - 1, first, memory);
}
