/* Rows on the processor: matches of three rows, the support that the middle one has, its points. */
#include "phasematch.h"

#include <string.h>

#include "base/cpu_level.h"
#include "phasematch.px.h"

#define MARGIN 16		/* samples before and behind a row, of which the first is NaN */

/* A row whose neighbours are not looked at yet. */
struct matched {
	float *disparity, *sigma;
	struct match_counts *counts;
};

static size_t
matched_bytes(const struct phasematch *priv)
{
	return 2 * (frame_stride(priv->matching.w, SAMPLE_FLOAT) + 2 * MARGIN * sizeof(float)) +
	    ((sizeof(struct match_counts) + 63) & ~(size_t)63);
}

/* Three of them, a row without disparities, and what a match needs. */
size_t
phasematch_scratch_bytes(const struct phasematch *priv)
{
	return 4 * matched_bytes(priv) + match_memory_bytes(&priv->matching);
}

static struct matched
matched_at(const struct phasematch *priv, const struct row_scratch *scratch, size_t i)
{
	char *at = (char *)scratch->memory + i * matched_bytes(priv);
	size_t bytes = frame_stride(priv->matching.w, SAMPLE_FLOAT);
	size_t margin = MARGIN * sizeof(float);

	return (struct matched){ (float *)(void *)(at + margin),
		(float *)(void *)(at + bytes + 3 * margin), (void *)(at + 2 * bytes + 4 * margin) };
}

static void
make_matched(const struct phasematch *priv, const struct frame *in, size_t y, struct matched row,
    struct match_memory *memory)
{
	memset(row.counts, 0, sizeof(*row.counts));
	match_row(&priv->matching, memory, in, y, row.disparity,
	    priv->matching.sigma ? row.sigma : NULL, row.counts);
	row.disparity[-1] = row.disparity[priv->matching.w] = PX_NAN;
}

static void
add_counts(struct match_counts *to, const struct match_counts *more)
{
	to->pixels += more->pixels;
	to->residual += more->residual;
	to->bracket += more->bracket;
	to->both_ways += more->both_ways;
	to->vote += more->vote;
}

/* Returns how many disparities have too few neighbours that are alike. */
static size_t
support_row(const float *restrict above, const float *restrict row, const float *restrict below,
    float range, uint least, float *restrict out, size_t w)
{
	uint lost = 0;

	_Pragma("omp simd reduction(+:lost)")
	for (size_t i = 0; i < w; i++) {
		ptrdiff_t x = (ptrdiff_t)i;
		float own = row[x];
		uint n = phasematch_supports(above[x - 1], own, range) +
		    phasematch_supports(above[x], own, range) +
		    phasematch_supports(above[x + 1], own, range) +
		    phasematch_supports(row[x - 1], own, range) +
		    phasematch_supports(row[x + 1], own, range) +
		    phasematch_supports(below[x - 1], own, range) +
		    phasematch_supports(below[x], own, range) +
		    phasematch_supports(below[x + 1], own, range);
		bool there = !px_isnan(own), enough = n >= least;

		out[x] = px_select(px_both(there, enough), own, PX_NAN);
		lost += px_both(there, !enough);
	}
	return lost;
}

/* Depths; a disparity without one is none. Returns how many are not. Three loops, as compilers do
 * not vectorise one over conditions that follow from each other. */
static size_t
depth_row(const struct rig *rig, float *restrict disparity, float *restrict z, size_t w)
{
	const float centres = rig->centres, focal_baseline = rig->focal_baseline;
	const float least = rig->least, most = rig->most;
	uint lost = 0;

	CPU_SIMD
	for (size_t i = 0; i < w; i++)
		z[i] = phasematch_depth(disparity[i], centres, focal_baseline);
	CPU_SIMD
	for (size_t i = 0; i < w; i++)
		z[i] = phasematch_limit(z[i], least, most);
	_Pragma("omp simd reduction(+:lost)")
	for (size_t i = 0; i < w; i++) {
		bool none = px_isnan(z[i]);

		lost += px_select(none, px_select(px_isnan(disparity[i]), 0u, 1u), 0u);
		disparity[i] = px_select(none, PX_NAN, disparity[i]);
	}
	return lost;
}

static void
point_row(const struct rig *rig, float row, float *restrict x, float *restrict y,
    const float *restrict z, int w)
{
	CPU_SIMD
	for (int i = 0; i < w; i++) {
		x[i] = phasematch_aside(z[i], (float)i, rig->cx, rig->focal);
		y[i] = phasematch_aside(z[i], row, rig->cy, rig->focal);
	}
}

static void
turn_row(const struct rig *rig, float *restrict x, float *restrict y, float *restrict z, size_t w)
{
	const float *R = rig->R, *shift = rig->shift;

	CPU_SIMD
	for (size_t i = 0; i < w; i++) {
		PX_F a = x[i] + shift[0], b = y[i] + shift[1], c = z[i] + shift[2];

		x[i] = phasematch_turn(a, b, c, R[0], R[1], R[2]);
		y[i] = phasematch_turn(a, b, c, R[3], R[4], R[5]);
		z[i] = phasematch_turn(a, b, c, R[6], R[7], R[8]);
	}
}

/* The standard deviation where there is a disparity. */
static void
sigma_row(const float *restrict disparity, const float *restrict sigma, float *restrict out,
    size_t w)
{
	CPU_SIMD
	for (size_t i = 0; i < w; i++)
		out[i] = px_select(px_isnan(disparity[i]), PX_NAN, sigma[i]);
}

static void
depth_sigma_row(const float *restrict sigma, const float *restrict z, float focal_baseline,
    float *restrict out, size_t w)
{
	CPU_SIMD
	for (size_t i = 0; i < w; i++)
		out[i] = phasematch_depth_sigma(sigma[i], z[i], focal_baseline);
}

/* The points of row y, whose disparities are made. */
static void
make_points(const struct phasematch *priv, struct frame *out, size_t y, struct match_counts *counts)
{
	size_t w = priv->matching.w;
	float *x, *row, *z;

	if (!priv->rig.known)
		return;
	x = frame_floats(out, priv->x, y);
	row = frame_floats(out, priv->y, y);
	z = frame_floats(out, priv->z, y);
	counts->depth += depth_row(&priv->rig, frame_floats(out, 0, y), z, w);
	point_row(&priv->rig, (float)y, x, row, z, (int)w);
}

static void
make_sigmas(const struct phasematch *priv, const float *sigma, struct frame *out, size_t y)
{
	size_t w = priv->matching.w;
	float *made;

	if (priv->sigma_disparity == NO_CHANNEL)
		return;
	made = frame_floats(out, priv->sigma_disparity, y);
	sigma_row(frame_floats(out, 0, y), sigma, made, w);
	if (priv->rig.known)
		depth_sigma_row(made, frame_floats(out, priv->z, y), priv->rig.focal_baseline,
		    frame_floats(out, priv->sigma, y), w);
}

/* Row y of the output from the matched rows. */
static void
make_row(const struct phasematch *priv, const struct matched *above, const struct matched *row,
    const struct matched *below, struct frame *out, size_t y, struct match_counts *counts)
{
	size_t w = priv->matching.w;
	float *disparity = frame_floats(out, 0, y);

	add_counts(counts, row->counts);
	if (priv->support)
		counts->support += support_row(above->disparity, row->disparity, below->disparity,
		    priv->support_range, (uint)priv->support, disparity, w);
	else
		memcpy(disparity, row->disparity, w * sizeof(*disparity));
	make_points(priv, out, y, counts);
	make_sigmas(priv, row->sigma, out, y);
	if (priv->rig.turned)
		turn_row(&priv->rig, frame_floats(out, priv->x, y), frame_floats(out, priv->y, y),
		    frame_floats(out, priv->z, y), w);
}

static void
report(struct match_counts *all, const struct match_counts *more)
{
	__atomic_fetch_add(&all->pixels, more->pixels, __ATOMIC_RELAXED);
	__atomic_fetch_add(&all->residual, more->residual, __ATOMIC_RELAXED);
	__atomic_fetch_add(&all->bracket, more->bracket, __ATOMIC_RELAXED);
	__atomic_fetch_add(&all->both_ways, more->both_ways, __ATOMIC_RELAXED);
	__atomic_fetch_add(&all->vote, more->vote, __ATOMIC_RELAXED);
	__atomic_fetch_add(&all->support, more->support, __ATOMIC_RELAXED);
	__atomic_fetch_add(&all->depth, more->depth, __ATOMIC_RELAXED);
}

void
phasematch_rows(const struct run *run, const struct frame *in, struct frame *out, size_t y0,
    size_t y1, const struct row_scratch *scratch)
{
	struct phasematch *priv = run->priv;
	size_t h = in->head.h, halo = run->halo, w = priv->matching.w;
	size_t made = y0 > halo ? y0 - halo : 0;	/* the next row to be matched */
	struct matched row[3] = { matched_at(priv, scratch, 0), matched_at(priv, scratch, 1),
		matched_at(priv, scratch, 2) };
	struct matched none = matched_at(priv, scratch, 3);
	struct match_memory memory;
	struct match_counts counts = { 0 };

	match_memory_place(&memory, &priv->matching,
	    (char *)scratch->memory + 4 * matched_bytes(priv));
	for (size_t x = 0; x < w + 2; x++)
		none.disparity[(ptrdiff_t)x - 1] = PX_NAN;
	if (scratch->continues)
		made = y0 + halo;
	for (size_t y = y0; y < y1; y++) {
		for (; made <= y + halo && made < h; made++)
			make_matched(priv, in, made, row[made % 3], &memory);
		make_row(priv, y > 0 ? &row[(y - 1) % 3] : &none, &row[y % 3],
		    y + 1 < h ? &row[(y + 1) % 3] : &none, out, y, &counts);
		passthrough_row(&priv->passthrough, in, out, y);
	}
	report(&priv->counts, &counts);
}
