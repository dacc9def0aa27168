/* The fit of several exposures and of saturated pixels, with its limits, residual and sigma. */
#include "exposure_fit.h"

#include <string.h>

#include "base/cpu_level.h"
#include "exposure_fit.px.h"
#include "gray_code.h"
#include "phasewrap.px.h"
#include "tile.h"

/* The sums of one exposure over the images that count. */
struct sums {
	float first[TILE_SPAN];		/* its first image, taken off all samples */
	float n[TILE_SPAN], c[TILE_SPAN], s[TILE_SPAN];
	float cc[TILE_SPAN], cs[TILE_SPAN], ss[TILE_SPAN];
	float d[TILE_SPAN], dc[TILE_SPAN], ds[TILE_SPAN];
};

/* Of a fringe set: the normal equations of all exposures. */
struct normal {
	float cc[TILE_SPAN], cs[TILE_SPAN], ss[TILE_SPAN], rc[TILE_SPAN], rs[TILE_SPAN];
	/* for A = (value - c cosine - s sine) / light */
	float light[TILE_SPAN], value[TILE_SPAN], cosine[TILE_SPAN], sine[TILE_SPAN];
	float most[TILE_SPAN];		/* the largest gain that counts; 0: none does */
	float number[TILE_SPAN];	/* of that exposure, from 1 on */
};

/* What an exposure leaves for the residual: its means over the images that count, 0 images where
 * it does not count itself. */
struct means {
	float n[TILE_SPAN], first[TILE_SPAN], d[TILE_SPAN], c[TILE_SPAN], s[TILE_SPAN];
};

struct work {
	struct tile tile;
	struct sums sums;
	struct normal normal;
	struct means means[EXPOSURES_MOST];
	float misfit[TILE_SPAN], squares[TILE_SPAN], freedom[TILE_SPAN], number[TILE_SPAN];
	float clipped_c[TILE_SPAN], clipped_s[TILE_SPAN], clipped_a[TILE_SPAN];
};

bool
exposure_fit_used(const struct phasewrap *wrap)
{
	return wrap->exposures.n > 1 || wrap->exposures.solves;
}

/* ---- sums of an exposure ---- */

static void
start(struct sums *restrict sums, const float *restrict v, size_t n)
{
	memset(sums, 0, sizeof(*sums));
	for (size_t x = 0; x < n; x++)
		sums->first[x] = v[x];
}

static void
add(struct sums *restrict sums, const float *restrict v, struct phase_shift_model model,
    float max_value, size_t n)
{
	float cosine = model.cosine, sine = model.sine;

	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		bool counts = v[x] < max_value;
		PX_F one = px_select(counts, 1.0f, 0.0f);
		PX_F d = px_select(counts, v[x] - sums->first[x], 0.0f);
		PX_F c = one * cosine, s = one * sine;

		sums->n[x] = sums->n[x] + one;
		sums->c[x] = sums->c[x] + c;
		sums->s[x] = sums->s[x] + s;
		sums->cc[x] = sums->cc[x] + c * cosine;
		sums->cs[x] = sums->cs[x] + c * sine;
		sums->ss[x] = sums->ss[x] + s * sine;
		sums->d[x] = sums->d[x] + d;
		sums->dc[x] = sums->dc[x] + d * cosine;
		sums->ds[x] = sums->ds[x] + d * sine;
	}
}

/* The same with nothing left out, for what is shown of pixels that have no phase, and for the
 * thresholds of Gray planes. */
static void
add_clipped(struct work *restrict work, const float *restrict v, struct phase_shift_weights weight,
    size_t n)
{
	const float *restrict first = work->sums.first;

	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		PX_F d = v[x] - first[x];

		work->clipped_a[x] = phasewrap_add(work->clipped_a[x], d, weight.mean);
		work->clipped_c[x] = phasewrap_add(work->clipped_c[x], d, weight.c);
		work->clipped_s[x] = phasewrap_add(work->clipped_s[x], d, weight.s);
	}
}

/* An exposure is complete: its share of the normal equations. least: images that it must have. */
static void
add_exposure(struct normal *restrict normal, const struct sums *restrict sums,
    struct means *restrict means, float gain, float number, float least, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		bool counts = sums->n[x] >= least;
		PX_F light = px_select(counts, gain, 0.0f), square = light * gain;
		PX_F per_image = px_divide(1.0f, px_max(sums->n[x], 1.0f));
		PX_F c = sums->c[x] * per_image, s = sums->s[x] * per_image;

		normal->cc[x] += square * exposure_about_means(sums->cc[x], sums->c[x], c);
		normal->cs[x] += square * exposure_about_means(sums->cs[x], sums->c[x], s);
		normal->ss[x] += square * exposure_about_means(sums->ss[x], sums->s[x], s);
		normal->rc[x] += light * exposure_about_means(sums->dc[x], sums->d[x], c);
		normal->rs[x] += light * exposure_about_means(sums->ds[x], sums->d[x], s);
		normal->light[x] += square * sums->n[x];
		normal->value[x] += light * (sums->d[x] + sums->n[x] * sums->first[x]);
		normal->cosine[x] += square * sums->c[x];
		normal->sine[x] += square * sums->s[x];
		normal->number[x] = px_select(light > normal->most[x], number, normal->number[x]);
		normal->most[x] = px_max(normal->most[x], light);
		means->n[x] = px_select(counts, sums->n[x], 0.0f);
		means->first[x] = sums->first[x];
		means->d[x] = sums->d[x] * per_image;
		means->c[x] = c;
		means->s[x] = s;
	}
}

static void
sum_exposure(const struct phasewrap *wrap, size_t k, size_t e, const struct frame *in, size_t y,
    size_t x, size_t n, struct work *work)
{
	const struct exposures *exposures = &wrap->exposures;
	const struct capture_fringe *fringe =
	    &exposures_get(exposures, &wrap->captures, e)->fringe[k];
	const struct phase_shift_fit *fit = &wrap->fit[k];
	struct tile *tile = &work->tile;
	float least = exposures->solves ? 3 : (float)fringe->n;

	for (size_t i = 0; i < fringe->n; i++) {
		tile_load(tile, in, fringe->plane[i], y, x, n, tile->plane);
		if (i == 0)
			start(&work->sums, tile->plane, n);
		add(&work->sums, tile->plane, fit->model[i], wrap->limits.max_value, n);
		if (e == exposures->shortest)
			add_clipped(work, tile->plane, fit->weights[i], n);
		for (size_t code = 0; code < wrap->captures.codes; code++)
			if (wrap->reference[code] == k)
				for (size_t p = 0; p < n; p++)
					tile->threshold[code][p] +=
					    tile->plane[p] * (1.0f / (float)fringe->n);
	}
	if (e == exposures->shortest)
		for (size_t p = 0; p < n; p++)
			tile->first[p] = work->sums.first[p];
	add_exposure(&work->normal, &work->sums, &work->means[e], exposures->gain[e],
	    (float)(e + 1), least, n);
}

/* ---- a fringe set ---- */

/* The unit vectors of the phases go to c and s of the tile, B to `mean`; which pixels are bad. */
static void
solve(const struct phasewrap_limits *restrict limits, float images, float shortest,
    struct work *restrict work, size_t n)
{
	struct normal *restrict normal = &work->normal;
	struct tile *restrict tile = &work->tile;
	float most = EXPOSURE_VARIANCE_MOST / images, per_light = 1 / shortest;
	float per_image = 1 / images;

	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		PX_F cc = normal->cc[x], cs = normal->cs[x], ss = normal->ss[x];
		PX_F rc = normal->rc[x], rs = normal->rs[x];
		PX_F determinant = exposure_determinant(cc, cs, ss);
		PX_F inverse = px_divide(1.0f, determinant), gain = normal->most[x];
		PX_F c = exposure_unknown(rc, rs, ss, cs, inverse);
		PX_F s = exposure_unknown(rs, rc, cc, cs, inverse);
		PX_F variance = exposure_variance(cc, cs, ss, c, s) * gain * gain;
		bool solved = exposure_solved(determinant, cc, ss, variance, most);
		PX_F a = exposure_mean(normal->value[x], c, normal->cosine[x], s, normal->sine[x],
		    normal->light[x]);
		PX_F clipped = (tile->first[x] + work->clipped_a[x] * per_image) * per_light;
		PX_F cosine = px_select(solved, c, work->clipped_c[x] * per_light);
		PX_F sine = px_select(solved, s, work->clipped_s[x] * per_light);
		PX_F mean = px_select(solved, a, clipped);
		PX_F amplitude = phasewrap_amplitude(sine, cosine);
		PX_F product = amplitude * px_max(mean, PHASEWRAP_LEAST_MEAN);
		PX_F modulation = phasewrap_modulation(mean, amplitude, amplitude, product,
		    px_divide(1.0f, product)), unit = px_divide(1.0f, amplitude);
		bool good = solved & phasewrap_good(amplitude, mean, product, modulation,
		    limits->least_amplitude, limits->least_mean, limits->least_modulation);

		tile->c[x] = cosine * unit;
		tile->s[x] = sine * unit;
		tile->mean[x] = amplitude;
		tile->bad[x] |= !good;
		tile->texture[x] += mean + amplitude;
		tile->modulation[x] = px_min(tile->modulation[x], modulation);
		work->number[x] = px_min(work->number[x], px_select(solved, normal->number[x],
		    PX_NAN));
	}
}

/* What the fit leaves of one image. */
static void
add_square(struct work *restrict work, const struct means *restrict means,
    struct phase_shift_model model, float gain, float max_value, size_t n)
{
	const struct tile *restrict tile = &work->tile;

	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		PX_F c = tile->c[x] * tile->mean[x] * gain, s = tile->s[x] * tile->mean[x] * gain;
		PX_F left = exposure_left(tile->plane[x], means->first[x], means->d[x], c,
		    model.cosine - means->c[x], s, model.sine - means->s[x]);
		bool counts = (tile->plane[x] < max_value) & (means->n[x] > 0.0f);

		work->squares[x] += px_select(counts, left * left, 0.0f);
	}
}

static void
add_misfit(struct work *restrict work, size_t exposures, size_t n)
{
	const struct tile *restrict tile = &work->tile;

	for (size_t x = 0; x < n; x++)
		work->freedom[x] = -2;
	for (size_t e = 0; e < exposures; e++)
		for (size_t x = 0; x < n; x++)
			work->freedom[x] += px_max(work->means[e].n[x] - 1.0f, 0.0f);
	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		bool free = work->freedom[x] > 0.5f;
		PX_F misfit = phasewrap_misfit(work->squares[x], tile->mean[x],
		    px_divide(1.0f, px_max(work->freedom[x], 1.0f)));

		work->misfit[x] = px_max(work->misfit[x],
		    px_select(free, misfit, EXPOSURE_NO_MISFIT));
	}
}

static void
find_misfit(const struct phasewrap *wrap, size_t k, const struct frame *in, size_t y, size_t x,
    size_t n, struct work *work)
{
	const struct exposures *exposures = &wrap->exposures;

	memset(work->squares, 0, sizeof(work->squares));
	for (size_t e = 0; e < exposures->n; e++) {
		const struct capture_fringe *fringe =
		    &exposures_get(exposures, &wrap->captures, e)->fringe[k];

		for (size_t i = 0; i < fringe->n; i++) {
			tile_load(&work->tile, in, fringe->plane[i], y, x, n, work->tile.plane);
			add_square(work, &work->means[e], wrap->fit[k].model[i],
			    exposures->gain[e], wrap->limits.max_value, n);
		}
	}
	add_misfit(work, exposures->n, n);
}

/* ---- standard deviations ---- */

/* The direction in which the phase turns, into clipped_c and clipped_s, which nobody needs now. */
static void
find_direction(struct work *restrict work, size_t n)
{
	const struct normal *restrict normal = &work->normal;
	const struct tile *restrict tile = &work->tile;

	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		PX_F cc = normal->cc[x], cs = normal->cs[x], ss = normal->ss[x];
		PX_F determinant = exposure_determinant(cc, cs, ss);
		PX_F along = 0.0f - tile->s[x], across = tile->c[x];

		work->clipped_c[x] = exposure_direction(ss, cs, along, across, determinant);
		work->clipped_s[x] = exposure_direction(cc, cs, across, along, determinant);
	}
}

static void
add_noise(struct work *restrict work, const struct means *restrict means,
    struct phase_shift_model model, float light, float max_value, struct phase_noise_model noise,
    size_t n)
{
	const struct tile *restrict tile = &work->tile;

	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		PX_F c = tile->c[x] * tile->mean[x] * light, s = tile->s[x] * tile->mean[x] * light;
		PX_F added = exposure_noise(work->clipped_c[x], work->clipped_s[x], light,
		    model.cosine - means->c[x], model.sine - means->s[x],
		    means->first[x] + means->d[x], c, s, noise.variance, noise.gain, noise.least);
		bool counts = (tile->plane[x] < max_value) & (means->n[x] > 0.0f);

		work->squares[x] += px_select(counts, added, 0.0f);
	}
}

static void
write_sigma(const struct work *restrict work, float *restrict sigma, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		sigma[x] = exposure_sigma(work->squares[x], work->tile.mean[x]);
}

static void
find_sigma(const struct phasewrap *wrap, size_t k, const struct frame *in, struct frame *out,
    size_t y, size_t x, size_t n, struct work *work)
{
	const struct exposures *exposures = &wrap->exposures;

	memset(work->squares, 0, sizeof(work->squares));
	find_direction(work, n);
	for (size_t e = 0; e < exposures->n; e++) {
		const struct capture_fringe *fringe =
		    &exposures_get(exposures, &wrap->captures, e)->fringe[k];

		for (size_t i = 0; i < fringe->n; i++) {
			tile_load(&work->tile, in, fringe->plane[i], y, x, n, work->tile.plane);
			add_noise(work, &work->means[e], wrap->fit[k].model[i], exposures->gain[e],
			    wrap->limits.max_value, wrap->noise, n);
		}
	}
	write_sigma(work, frame_floats(out, wrap->channels.sigma + k, y) + x, n);
}

static void
wrap_set(const struct phasewrap *wrap, size_t k, const struct frame *in, struct frame *out,
    size_t y, size_t x, size_t n, struct work *work)
{
	const struct exposures *exposures = &wrap->exposures;
	const struct tile *tile = &work->tile;

	memset(&work->normal, 0, sizeof(work->normal));
	memset(work->clipped_a, 0, sizeof(work->clipped_a));
	memset(work->clipped_c, 0, sizeof(work->clipped_c));
	memset(work->clipped_s, 0, sizeof(work->clipped_s));
	for (size_t e = 0; e < exposures->n; e++)
		sum_exposure(wrap, k, e, in, y, x, n, work);
	solve(&wrap->limits, (float)wrap->captures.fringe[k].n,
	    exposures->gain[exposures->shortest], work, n);
	if (wrap->fits)
		find_misfit(wrap, k, in, y, x, n, work);
	if (wrap->sigmas)
		find_sigma(wrap, k, in, out, y, x, n, work);
	tile_write_set(tile, wrap->vector, out, k, y, x, n);
}

/* ---- a tile ---- */

/* The fit residual, where a set has more samples than unknowns; the exposure. */
static void
write_qualities(const struct phasewrap *wrap, struct frame *out, size_t y, size_t x, size_t n,
    struct work *work)
{
	const struct phasewrap_channels *at = &wrap->channels;
	struct tile *tile = &work->tile;

	tile_write_quality(tile, (float)wrap->captures.fringes,
	    frame_floats(out, at->modulation, y) + x, frame_floats(out, at->texture, y) + x, n);
	if (wrap->writes_fit) {
		float *residual = frame_floats(out, at->fit_residual, y) + x;

		for (size_t p = 0; p < n; p++)
			residual[p] = px_select(tile->missing[p] != 0 || work->misfit[p] < 0 ||
			    work->misfit[p] == PHASEWRAP_MOST_MISFIT, PX_NAN, work->misfit[p]);
	}
	if (wrap->exposures.map) {
		float *number = frame_floats(out, at->exposure, y) + x;

		for (size_t p = 0; p < n; p++)
			number[p] = px_select(tile->bad[p] != 0, PX_NAN, work->number[p]);
	}
}

static void
fit_tile(const struct phasewrap *wrap, const struct frame *in, struct frame *out, size_t y,
    size_t x, size_t n, struct work *work)
{
	const struct capture_set *captures = &wrap->captures;
	struct tile *tile = &work->tile;

	tile_start(tile, n);
	memset(tile->threshold, 0, sizeof(tile->threshold));
	for (size_t p = 0; p < n; p++) {
		work->number[p] = EXPOSURES_MOST;
		work->misfit[p] = EXPOSURE_NO_MISFIT;
	}
	for (size_t k = 0; k < captures->fringes; k++)
		wrap_set(wrap, k, in, out, y, x, n, work);
	for (size_t p = 0; p < n && wrap->fits; p++)
		tile->bad[p] |= !(work->misfit[p] <= wrap->limits.most_misfit);
	gray_code_decode_exposures(wrap, in, out, wrap->channels.index, y, x, n, tile);
	tile_any_bad(tile, n);
	write_qualities(wrap, out, y, x, n, work);
	for (size_t c = 0; c < out->head.c; c++)
		if (c < wrap->channels.phases || c >= wrap->channels.sigma)
			tile_mask(tile, frame_floats(out, c, y) + x, n);
}

void
exposure_fit_row(const struct phasewrap *wrap, const struct frame *in, struct frame *out, size_t y)
{
	struct work work;

	for (size_t x = 0, w = in->head.w; x < w; x += TILE_PIXELS)
		fit_tile(wrap, in, out, y, x, w - x < TILE_PIXELS ? w - x : TILE_PIXELS, &work);
}
