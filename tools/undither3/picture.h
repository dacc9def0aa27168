/* A picture of three bits a pixel: its bits, its background, and a first smoothing. */
#ifndef UNDITHER3_PICTURE_H
#define UNDITHER3_PICTURE_H

#include "holo/holo.h"
#include "mend.h"

#define BLOCK 8			/* rows that a thread takes at a time */
#define CLOSE 2 /* px; dots of a surface are nowhere farther apart than twice this */
#define SMOOTH_REACH 3		/* of the papers' 7x7 Gaussian */
#define SMOOTH_SIGMA (7.0 / 3)

enum filter { FILTER_FIT, FILTER_GAUSS };

struct priv {
	enum filter filter;
	bool keep;			/* pixels that are not to be trusted */
	struct dither_keys keys;
	struct holo holo;
	struct holo_code code;
	struct kernels kernels;
	float smooth[2 * SMOOTH_REACH + 1];
	float stair[HOLO_PROFILE + 1];
	float moved[2];
	bool ordered;			/* thresholds are known */
	bool checked;			/* and the stair is so slow that its bits tell orders */
	float arc[2][DITHER_TILE_PIXELS];	/* where sine and cosine pass them, in turns */
	float threshold[DITHER_TILE_PIXELS];	/* of the stair, as a level */
	struct frame_head out;
	size_t w, h;			/* of the output */
};

/* A picture being read. Planes are of `priv` size, with MARGIN around. */
struct job {
	const struct priv *priv;
	struct frame *out;
	struct planes planes;
	float *bit[3];			/* 0 or 1, of sine, cosine, stair */
	float *smooth[3];		/* scratch; after the first smoothing: sine, cosine */
	void *memory;
};

/* ---- unpacking ---- */

/* Which samples there can be: anything else has been through a lossy format, or is something else.
 */
static int
check_samples(const struct priv *priv, const struct frame *in)
{
	unsigned allowed =
	    priv->keys.texture_bits == 1 && priv->keys.pack == DITHER_MSB ? 0xf0 : 0xe0;

	for (size_t y = 0; y < in->head.h; y++) {
		const unsigned char *row = frame_row(in, 0, y);

		for (size_t x = 0; x < in->head.w; x++) {
			bool bad = priv->keys.pack == DITHER_PLANAR
			    ? row[x] > 1 && row[x] != 255 : (row[x] & ~allowed) != 0;

			if (bad)
				return fail(NULL, "the picture has not three bits a pixel, packed "
				    "as %s: pixel (%zu, %zu) is %d; has a lossy format been at it?",
				    dither_packs[priv->keys.pack], x, y, row[x]);
		}
	}
	return 0;
}

/* The bits, 0 or 1, of n pixels of row y from x on. */
static void
unpack_row(const struct priv *priv, const struct frame *in, size_t c, size_t y, size_t x, size_t n,
    float *restrict out)
{
	const unsigned char *restrict row = frame_row(in, 0, y);
	int value = (int)DITHER_BIT(c);

	row += x;
	if (priv->keys.pack == DITHER_PLANAR) {
		row += c * priv->w;
		value = 0xff;
	} else if (priv->keys.pack == DITHER_RGB && c == 3) {
		row = (unsigned char *)frame_row(in, 1, y) + x;
		value = 0x80;
	}
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		out[i] = row[i] & value ? 1.0f : 0.0f;
}

static float *
row_of(const struct planes *planes, float *plane, size_t y)
{
	return plane + (y + MARGIN) * planes->stride + MARGIN;
}

/* ---- where the surface is ---- */

/* The largest (or smallest) of the samples so near along a row or column; far outside is 0. */
static void
spread(const struct planes *planes, const float *in, float *out, size_t step, bool smallest)
{
	size_t first = CLOSE * (planes->stride + 1);
	size_t last = (planes->h + 2 * MARGIN) * planes->stride - first;

	for (size_t i = first; i < last; i++) {
		float most = in[i];

		for (size_t k = 1; k <= CLOSE; k++) {
			float a = in[i - k * step], b = in[i + k * step];

			most = smallest ? px_min(most, px_min(a, b)) : px_max(most, px_max(a, b));
		}
		out[i] = most;
	}
}

/* Pixels with a dot, and the gaps between: a morphological closing by a square. */
static void
find_inside(struct job *job)
{
	struct planes *planes = &job->planes;
	size_t n = (planes->h + 2 * MARGIN) * planes->stride;

	for (size_t i = 0; i < n; i++)
		planes->inside[i] = px_max(job->bit[0][i], px_max(job->bit[1][i], job->bit[2][i]));
	spread(planes, planes->inside, job->smooth[0], 1, false);
	spread(planes, job->smooth[0], planes->inside, planes->stride, false);
	spread(planes, planes->inside, job->smooth[0], 1, true);
	spread(planes, job->smooth[0], planes->inside, planes->stride, true);
	/* a closing reaches beyond the image where a surface does */
	for (size_t y = 0; y < planes->h + 2 * MARGIN; y++)
		for (size_t x = 0; x < planes->stride; x++)
			if (y < MARGIN || y >= planes->h + MARGIN || x < MARGIN ||
			    x >= planes->w + MARGIN)
				planes->inside[y * planes->stride + x] = 0;
}

/* ---- the papers' Gaussian ---- */

static void
smooth_line(const float *restrict in, float *restrict out, size_t step, size_t n,
    const float *restrict kernel)
{
	const float *a = in - 3 * step, *b = in - 2 * step, *c = in - step;
	const float *d = in + step, *e = in + 2 * step, *f = in + 3 * step;
	float far = kernel[0], middle = kernel[1], near = kernel[2], centre = kernel[3];

	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		out[i] = undither3_smooth(in[i], a[i], b[i], c[i], d[i], e[i], f[i], far, middle,
		    near, centre);
}

static void
smooth_plane(const struct job *job, const float *in, float *scratch, float *out)
{
	const struct planes *planes = &job->planes;
	size_t first = SMOOTH_REACH * (planes->stride + 1);
	size_t n = (planes->h + 2 * MARGIN) * planes->stride - 2 * first;

	smooth_line(in + first, scratch + first, 1, n, job->priv->smooth);
	smooth_line(scratch + first, out + first, planes->stride, n, job->priv->smooth);
}

/* ---- the first smoothing ---- */

/* Phasors of the bits, and of their average. */
static void
find_fringes(struct job *job)
{
	struct planes *planes = &job->planes;
	size_t n = (planes->h + 2 * MARGIN) * planes->stride;

	for (size_t i = 0; i < n; i++) {
		planes->sine[i] = (job->bit[0][i] - 0.5f) * planes->inside[i];
		planes->cosine[i] = (job->bit[1][i] - 0.5f) * planes->inside[i];
	}
	smooth_plane(job, planes->sine, job->smooth[2], job->smooth[0]);
	smooth_plane(job, planes->cosine, job->smooth[2], job->smooth[1]);
}

/* The turn between the phasors one pixel before and behind, averaged over its neighbours. */
static void
find_frequency(struct job *job, size_t step, float *out)
{
	struct planes *planes = &job->planes;
	const float *sine = job->smooth[0], *cosine = job->smooth[1];
	size_t n = (planes->h + 2 * MARGIN) * planes->stride;
	float *c = planes->right == out ? planes->down : planes->rest, *s = planes->order;

	for (size_t i = step; i < n - step; i++) {
		c[i] = undither3_turn_cosine(
		    sine[i - step], cosine[i - step], sine[i + step], cosine[i + step]);
		s[i] = undither3_turn_sine(
		    sine[i - step], cosine[i - step], sine[i + step], cosine[i + step]);
	}
	smooth_plane(job, c, job->smooth[2], c);
	smooth_plane(job, s, job->smooth[2], s);
	for (size_t i = 0; i < n; i++)
		out[i] = undither3_frequency(s[i], c[i]);
}

/* What each pixel says of its order: no more than one bit of the stair. */
static void
find_orders(struct job *job)
{
	struct planes *planes = &job->planes;
	const struct priv *priv = job->priv;
	size_t n = (planes->h + 2 * MARGIN) * planes->stride;
	float per_height = 1 / priv->code.height;

	for (size_t i = 0; i < n; i++) {
		float rest = holo_rest(job->smooth[0][i], job->smooth[1][i]);
		float stair = priv->stair[(int)(rest * HOLO_PROFILE)];

		planes->rest[i] = rest;
		planes->order[i] = undither3_order(job->bit[2][i], stair, per_height);
	}
}

#endif
