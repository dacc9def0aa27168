#include "removed.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "phasewrap.px.h"

int
removed_plan(struct removed *removed, const struct frame_head *head)
{
	removed_free(removed);
	if (removed->off)
		return 0;
	removed->rows = head->h;
	removed->row = calloc(head->h, sizeof(*removed->row));
	return removed->row ? 0 : fail_memory();
}

void
removed_free(struct removed *removed)
{
	free(removed->row);
	removed->row = NULL;
}

/* The tests that a pixel fails. */
struct failed {
	bool by[REMOVED_KINDS];
};

static void
judge(const struct phasewrap_limits *limits, float images, float sum, float amplitude,
    struct failed *failed)
{
	PX_F divisor = px_max(sum, PHASEWRAP_LEAST_MEAN), product = amplitude * divisor;
	PX_F modulation = phasewrap_modulation(sum, amplitude, amplitude * images, product,
	    px_divide(1.0f, product));

	failed->by[REMOVED_DARKNESS] |= !(sum >= limits->least_mean * images);
	failed->by[REMOVED_MODULATION] |= !(modulation >= limits->least_modulation);
	failed->by[REMOVED_AMPLITUDE] |= !(amplitude >= limits->least_amplitude) ||
	    !(product > PHASEWRAP_LEAST_PRODUCT) || !(product < 3e38f);
}

static void
test_set(const struct phasewrap *wrap, size_t k, const struct frame *in, size_t y, size_t x,
    struct failed *failed)
{
	const struct capture_fringe *fringe = &wrap->captures.fringe[k];
	const struct phase_shift_fit *fit = &wrap->fit[k];
	float n = (float)fringe->n, first = frame_sample(in, fringe->plane[0], y, x), most = first;
	float rise = 0, c = 0, s = 0, squares = 0, amplitude, misfit;

	failed->by[REMOVED_MISSING] |= phasewrap_missing(first);
	for (size_t i = 1; i < fringe->n; i++) {
		float v = frame_sample(in, fringe->plane[i], y, x);

		failed->by[REMOVED_MISSING] |= phasewrap_missing(v);
		most = px_max(most, v);
		rise = phasewrap_add(rise, v - first, fit->weights[i].mean);
		c = phasewrap_add(c, v - first, fit->weights[i].c);
		s = phasewrap_add(s, v - first, fit->weights[i].s);
	}
	amplitude = phasewrap_amplitude(s, c);
	failed->by[REMOVED_SATURATION] |= !(most < wrap->limits.max_value);
	judge(&wrap->limits, n, phasewrap_mean(first, rise, n), amplitude, failed);
	if (!wrap->fits || fringe->n < 4)
		return;
	rise = rise * (1.0f / n);
	for (size_t i = 0; i < fringe->n; i++) {
		float left, v = frame_sample(in, fringe->plane[i], y, x);

		left = phasewrap_left(v - first, rise, c, s, fit->model[i].cosine,
		    fit->model[i].sine);
		squares = phasewrap_add(squares, left, left);
	}
	misfit = phasewrap_misfit(squares, amplitude, 1.0f / (float)(fringe->n - 3));
	failed->by[REMOVED_RESIDUAL] |= !(misfit <= wrap->limits.most_misfit);
}

/* White and black, where there are no fringes; a plane whose samples are missing. */
static void
test_others(const struct phasewrap *wrap, const struct frame *in, size_t y, size_t x,
    struct failed *failed)
{
	const struct capture_set *captures = &wrap->captures;

	for (size_t i = 0; i < captures->codes; i++)
		for (size_t b = 0; b < captures->code[i].n; b++) {
			const struct capture_code *code = &captures->code[i];
			float other = code->inverse ? frame_sample(in, code->inverse[b], y, x) : 0;

			failed->by[REMOVED_MISSING] |= phasewrap_missing(other) ||
			    phasewrap_missing(frame_sample(in, code->plane[b], y, x));
		}
	if (captures->flats && captures->codes) {
		float white = frame_sample(in, captures->flat[0], y, x);
		float black = frame_sample(in, captures->flat[captures->flats - 1], y, x);

		failed->by[REMOVED_MISSING] |= phasewrap_missing(white) || phasewrap_missing(black);
		if (captures->fringes == 0 && captures->flats == 2)
			judge(&wrap->limits, 1, (white + black) * 0.5f,
			    px_max(white - black, 0.0f) * 0.5f, failed);
	}
}

static void
count_pixel(const struct phasewrap *wrap, const struct frame *in, size_t y, size_t x,
    struct removed_count *count)
{
	struct failed failed = { 0 };
	size_t kind = 0;

	for (size_t k = 0; k < wrap->captures.fringes; k++)
		test_set(wrap, k, in, y, x, &failed);
	test_others(wrap, in, y, x, &failed);
	while (kind < REMOVED_AMPLITUDE && !failed.by[kind])
		kind++;
	if (kind == REMOVED_AMPLITUDE && !failed.by[kind] && failed.by[REMOVED_RESIDUAL])
		kind = REMOVED_RESIDUAL;
	count->by[kind]++;
}

/* Bands may share rows: both store the same. */
void
removed_row(const struct removed *removed, const struct phasewrap *wrap, const struct frame *in,
    const struct frame *out, size_t y)
{
	size_t phase = wrap->captures.fringes ? 0 : wrap->channels.index;
	struct removed_count count = { 0 };
	const float *made = frame_floats(out, phase, y);
	uint32_t *from = (uint32_t *)&count, *to = (uint32_t *)&removed->row[y];

	for (size_t x = 0; x < in->head.w; x++)
		if (px_isnan(made[x]))
			count_pixel(wrap, in, y, x, &count);
		else
			count.good++;
	for (size_t i = 0; i < sizeof(count) / sizeof(*from); i++)
		__atomic_store_n(&to[i], from[i], __ATOMIC_RELAXED);
}

/* Of all rows: more pixels than a row has. */
struct removed_sum {
	uint64_t by[REMOVED_KINDS], good;
};

static void
print(const struct removed_sum *sum)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < REMOVED_KINDS; i++)
		lost += sum->by[i];
	note(NULL, "of %" PRIu64 " pixels %" PRIu64 " are invalid: saturation %" PRIu64
	    ", darkness %" PRIu64 ", modulation %" PRIu64 ", amplitude %" PRIu64 ", residual %"
	    PRIu64 ", missing %" PRIu64, lost + sum->good, lost,
	    sum->by[REMOVED_SATURATION], sum->by[REMOVED_DARKNESS], sum->by[REMOVED_MODULATION],
	    sum->by[REMOVED_AMPLITUDE], sum->by[REMOVED_RESIDUAL], sum->by[REMOVED_MISSING]);
}

void
removed_report(struct removed *removed)
{
	struct removed_sum sum = { 0 };

	if (removed->off)
		return;
	for (size_t y = 0; y < removed->rows; y++) {
		for (size_t i = 0; i < REMOVED_KINDS; i++)
			sum.by[i] += removed->row[y].by[i];
		sum.good += removed->row[y].good;
	}
	print(&sum);
	removed->off = true;
}
