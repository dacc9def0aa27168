/*
 * The standard deviation of a filtered phase (gauss.px.h), in one go over all pairs of the window:
 * a sum over columns and rows one after the other would lack the pairs at holes. A thread keeps the
 * rows of the window for all columns, so that cos and sin are computed once.
 */
#include "gauss_sigma.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "gauss.px.h"
#include "gauss_window.h"

enum sigma_plane { COS, SIN, VARIANCE, VALID, PLANES };

/* ---- planning ---- */

static const char *
number_of(const char *name)
{
	return strncmp(name, "sigma", 5) || name[5 + strspn(name + 5, "0123456789")] ? NULL :
	    name + 5;
}

/* The channel that is filtered and whose standard deviation sigma with this number is. */
static size_t
channel_of(const struct frame_head *in, const char *number, const char *list)
{
	static const char *const linear[] = { "absphase", "depth", "z" };
	char name[CHANNEL_NAME_SIZE];
	size_t c;

	snprintf(name, sizeof(name), "phase%.12s", number);
	c = head_channel(in, name);
	if (c == NO_CHANNEL) {
		snprintf(name, sizeof(name), "cos%.12s", number);
		c = head_channel(in, name);
	}
	if (c != NO_CHANNEL)
		return !list || gauss_is_listed(list, name) ? c : NO_CHANNEL;
	snprintf(name, sizeof(name), "absphase%.12s", number);
	if (list && gauss_is_listed(list, name))
		return head_channel(in, name);
	for (size_t i = 0; i < 3 && list && !*number; i++)
		if (gauss_is_listed(list, linear[i]) && head_channel(in, linear[i]) != NO_CHANNEL)
			return head_channel(in, linear[i]);
	return NO_CHANNEL;
}

int
gauss_sigma_plan(struct gauss *gauss, const struct frame_head *in, size_t c, const char *list,
    struct frame_head *out, bool *carried)
{
	const char *name = in->channel[c], *number = number_of(name);
	size_t of = number ? channel_of(in, number, list) : NO_CHANNEL;

	*carried = of != NO_CHANNEL;
	if (number && list && gauss_is_listed(list, name))
		return fail("--on", "%s goes with what it is the standard deviation of, and is not "
		    "filtered by itself", name);
	if (!*carried)
		return 0;
	if (meta_get(&in->meta, "sigma_window_px"))
		return fail(NULL, "the errors that %s stands for are those of a filtered phase, "
		    "which neighbours share (key sigma_window_px): filter once, or leave the "
		    "channel out by framecat --channels", name);
	memcpy(out->channel[out->c], name, CHANNEL_NAME_SIZE);
	gauss->sigma[gauss->sigmas++] = (struct gauss_sigma){ .of = of, .in = c, .out = out->c++ };
	return 0;
}

int
gauss_sigma_join(struct gauss *gauss, double window_px, struct meta *out)
{
	size_t n = 0;

	for (size_t i = 0; i < gauss->sigmas; i++)
		for (size_t j = 0; j < gauss->jobs; j++)
			if (gauss->job[j].in[0] == gauss->sigma[i].of) {
				gauss->sigma[n] = gauss->sigma[i];
				gauss->sigma[n++].job = j;
				break;
			}
	gauss->sigmas = n;
	return n ? meta_set_number(out, "sigma_window_px", window_px) : 0;
}

/* ---- rows ---- */

/* Floats of a row of a plane, with GAUSS_EDGE on both sides. */
static size_t
span(size_t w)
{
	return (w + 2 * GAUSS_EDGE + 2 * GAUSS_LANES) / GAUSS_LANES * GAUSS_LANES;
}

static size_t
sigma_floats(const struct gauss *gauss, size_t w)
{
	return (2 * gauss->radius + 1) * PLANES * span(w);
}

size_t
gauss_sigma_bytes(const struct gauss *gauss, size_t w)
{
	return gauss->sigmas * sigma_floats(gauss, w) * sizeof(float);
}

static void
fill_linear(const float *restrict value, const float *restrict sigma, size_t w, size_t stride,
    float *restrict to)
{
	CPU_SIMD
	for (size_t x = 0; x < w; x++) {
		uint there = gauss_there(value[x]);

		to[COS * stride + x] = gauss_part(1.0f, there);
		to[SIN * stride + x] = 0.0f;
		to[VARIANCE * stride + x] = gauss_variance(sigma[x], there);
		to[VALID * stride + x] = gauss_part(1.0f, there);
	}
}

static void
fill_phase(const float *restrict phase, const float *restrict sigma, size_t w, size_t stride,
    float *restrict to)
{
	CPU_SIMD
	for (size_t x = 0; x < w; x++) {
		uint there = gauss_phase_there(phase[x]);
		PX_F angle = gauss_part(phase[x], there);

		to[COS * stride + x] = px_cos(angle);
		to[SIN * stride + x] = px_sin(angle);
		to[VARIANCE * stride + x] = gauss_variance(sigma[x], there);
		to[VALID * stride + x] = gauss_part(1.0f, there);
	}
}

static void
fill_vector(const float *restrict cosine, const float *restrict sine, const float *restrict sigma,
    size_t w, size_t stride, float *restrict to)
{
	CPU_SIMD
	for (size_t x = 0; x < w; x++) {
		uint there = gauss_there(cosine[x]) & gauss_there(sine[x]);

		to[COS * stride + x] = gauss_part(cosine[x], there);
		to[SIN * stride + x] = gauss_part(sine[x], there);
		to[VARIANCE * stride + x] = gauss_variance(sigma[x], there);
		to[VALID * stride + x] = gauss_part(1.0f, there);
	}
}

/* Row y of the image into its place in the ring; outside the image nothing is there. */
static void
fill(const struct gauss *gauss, const struct gauss_sigma *sigma, const struct frame *in,
    ptrdiff_t y, float *ring)
{
	const struct gauss_job *job = &gauss->job[sigma->job];
	size_t w = in->head.w, stride = span(w), size = 2 * gauss->radius + 1;
	float *to = ring + (size_t)(y + (ptrdiff_t)size) % size * PLANES * stride + GAUSS_EDGE;
	const float *a, *b, *deviation;

	if (y < 0 || y >= (ptrdiff_t)in->head.h) {
		memset(to - GAUSS_EDGE, 0, PLANES * stride * sizeof(*to));
		return;
	}
	a = frame_floats(in, job->in[0], (size_t)y);
	b = frame_floats(in, job->in[1], (size_t)y);
	deviation = frame_floats(in, sigma->in, (size_t)y);
	if (job->kind == KIND_PHASE)
		fill_phase(a, deviation, w, stride, to);
	else if (job->kind == KIND_VECTOR)
		fill_vector(a, b, deviation, w, stride, to);
	else
		fill_linear(a, deviation, w, stride, to);
}

/* A row of the window from column `at` of the planes on, with its mirror image. */
INLINED void
add_row(size_t radius, const float *row, const float *mirror, size_t stride, const float *kernel,
    float row_weight, size_t at, vector sum[5])
{
	#pragma GCC unroll 4
	for (size_t j = 0; j <= 2 * radius; j++) {
		const float *here = row + at + j - radius;
		vector both = VECTOR_IN(here + VALID * stride) *
		    VECTOR_IN(mirror + VALID * stride + at + radius - j);
		vector w = both * (row_weight * kernel[j]), c = VECTOR_IN(here + COS * stride);
		vector s = VECTOR_IN(here + SIN * stride);
		vector q = w * w * VECTOR_IN(here + VARIANCE * stride), qc = q * c, qs = q * s;

		sum[0] += w * c;
		sum[1] += w * s;
		sum[2] += qc * c;
		sum[3] += qc * s;
		sum[4] += qs * s;
	}
}

INLINED void
sum_pairs(size_t radius, const float *const *row, size_t stride, const float *kernel, size_t at,
    float sums[5][WIDTH])
{
	vector sum[5] = { 0 };

	for (size_t k = 0; k <= 2 * radius; k++)
		add_row(radius, row[k], row[2 * radius - k], stride, kernel, kernel[k], at, sum);
	for (size_t p = 0; p < 5; p++)
		VECTOR(sums[p]) = sum[p];
}

static void
filter_row(const struct gauss *gauss, const float *ring, size_t w, size_t y, float *sigma)
{
	const float *row[2 * GAUSS_RADIUS_MOST + 1], *kernel = gauss->kernel + GAUSS_EDGE;
	size_t radius = gauss->radius, size = 2 * radius + 1, stride = span(w);
	float sums[5][WIDTH];

	kernel -= radius;
	for (size_t k = 0; k < size; k++)
		row[k] = ring + (y + k + size - radius) % size * PLANES * stride;
	for (size_t x = 0; x < w; x += WIDTH) {
		size_t n = w - x < WIDTH ? w - x : WIDTH;
		const float *valid = row[radius] + VALID * stride + GAUSS_EDGE + x;

		BY_RADIUS(sum_pairs, radius, row, stride, kernel, GAUSS_EDGE + x, sums);
		for (size_t i = 0; i < n; i++)
			sigma[x + i] = gauss_sigma_of(sums[0][i], sums[1][i], sums[2][i],
			    sums[3][i], sums[4][i], valid[i]);
	}
}

void
gauss_sigma_rows(const struct gauss *gauss, const struct frame *in, struct frame *out, size_t y0,
    size_t y1, void *memory, bool continues)
{
	ptrdiff_t radius = (ptrdiff_t)gauss->radius;

	if (!continues)
		memset(memory, 0, gauss_sigma_bytes(gauss, in->head.w));
	for (size_t i = 0; i < gauss->sigmas; i++) {
		const struct gauss_sigma *sigma = &gauss->sigma[i];
		float *ring = (float *)memory + i * sigma_floats(gauss, in->head.w);

		for (ptrdiff_t y = (ptrdiff_t)y0 - radius; y < (ptrdiff_t)y0 + radius; y++)
			if (!continues)
				fill(gauss, sigma, in, y, ring);
		for (size_t y = y0; y < y1; y++) {
			fill(gauss, sigma, in, (ptrdiff_t)y + radius, ring);
			filter_row(gauss, ring, in->head.w, y, frame_floats(out, sigma->out, y));
		}
	}
}
