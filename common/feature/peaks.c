#define _GNU_SOURCE
#include "feature/peaks.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/numbers.h"

static int
add_peak(struct peaks *peaks, struct peak peak)
{
	if (peaks->n == peaks->room) {
		size_t room = peaks->room ? 2 * peaks->room : 1024;
		struct peak *more = reallocarray(peaks->peak, room, sizeof(*more));

		if (!more)
			return fail_memory();
		peaks->peak = more;
		peaks->room = room;
	}
	peaks->peak[peaks->n++] = peak;
	return 0;
}

/* Strongest first; equal ones from the top left. */
static int
compare_peaks(const void *a, const void *b)
{
	const struct peak *p = a, *q = b;

	if (p->strength != q->strength)
		return p->strength > q->strength ? -1 : 1;
	if (p->y != q->y)
		return p->y < q->y ? -1 : 1;
	return p->x < q->x ? -1 : p->x > q->x;
}

/* Peaks of the middle one of three rows. */
static int
find_peaks(const float *const row[3], size_t w, size_t y, struct peaks *peaks)
{
	for (size_t x = 1; x + 1 < w; x++) {
		float v = row[1][x];

		if (!(v > 0) || !(v > row[1][x - 1]) || !(v >= row[1][x + 1]))
			continue;
		if (v > row[0][x - 1] && v > row[0][x] && v > row[0][x + 1] && v >= row[2][x - 1] &&
		    v >= row[2][x] && v >= row[2][x + 1] &&
		    add_peak(peaks, (struct peak){ v, (uint32_t)x, (uint32_t)y }) < 0)
			return -1;
	}
	return 0;
}

static void
respond(
    const float *const restrict d[DERIVATIVES], size_t w, enum peak_kind kind, float *restrict out)
{
	const float *restrict xx = d[DERIVATIVE_XX], *restrict xy = d[DERIVATIVE_XY];
	const float *restrict yy = d[DERIVATIVE_YY];
	float sign = kind == PEAK_DARK ? 1.0f : -1.0f;

	if (kind == PEAK_SADDLE) {
		for (size_t x = 0; x < w; x++)
			out[x] = xy[x] * xy[x] - xx[x] * yy[x];
		return;
	}
	for (size_t x = 0; x < w; x++) {
		float det = xx[x] * yy[x] - xy[x] * xy[x];

		out[x] = sign * (xx[x] + yy[x]) > 0 ? det : 0;
	}
}

static int
all_peaks(const struct derivative_plane *in, const struct derivative_kernels *k,
    enum peak_kind kind, float *memory, size_t length, struct peaks *peaks)
{
	float *second[DERIVATIVES] = { [DERIVATIVE_XX] = memory,
		[DERIVATIVE_XY] = memory + length,
		[DERIVATIVE_YY] = memory + 2 * length };
	float *work = memory + 6 * length;

	for (size_t y = 0; y < in->h; y++) {
		float *to = memory + (3 + y % 3) * length;

		k->row(k, in, y, work, second);
		respond((const float *const *)second, in->w, kind, to);
		if (y >= 2 &&
		    find_peaks((const float *const[3]){ memory + (3 + (y - 2) % 3) * length,
				   memory + (3 + (y - 1) % 3) * length, to },
			in->w, y - 1, peaks) < 0)
			return -1;
	}
	return 0;
}

/* Leaves out those below `least` of the strongest: with noise nearly all are. */
static void
drop_weak(struct peaks *peaks, float least)
{
	float strongest = 0;
	size_t n = 0;

	for (size_t i = 0; i < peaks->n; i++)
		strongest = peaks->peak[i].strength > strongest ? peaks->peak[i].strength :
		    strongest;
	for (size_t i = 0; i < peaks->n; i++)
		if (peaks->peak[i].strength >= least * strongest)
			peaks->peak[n++] = peaks->peak[i];
	peaks->n = n;
}

int
peaks_find(const struct derivative_plane *in, const struct derivative_kernels *k,
    enum peak_kind kind, double least, struct peaks *peaks)
{
	size_t length = (in->w + 15) / 16 * 16, bytes;
	float *memory;
	int status;

	*peaks = (struct peaks){ 0 };
	if (size_multiply(6 * length + derivatives_work(k, in->w), sizeof(*memory), &bytes) < 0)
		return -1;
	memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
	if (!memory)
		return fail_memory();
	status = all_peaks(in, k, kind, memory, length, peaks);
	free(memory);
	if (status < 0) {
		free(peaks->peak);
		*peaks = (struct peaks){ 0 };
	} else if (peaks->n) {
		drop_weak(peaks, (float)(least * least));
		qsort(peaks->peak, peaks->n, sizeof(*peaks->peak), compare_peaks);
	}
	return status;
}
