#include "first_smoothing.h"

#include "smooth.h"
#include "undither3.px.h"

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

/* ---- the first smoothing ---- */

static void
smooth_plane(const struct job *job, const float *in, float *scratch, float *out)
{
	const struct planes *planes = &job->planes;
	size_t first = SMOOTH_REACH * (planes->stride + 1);
	size_t n = (planes->h + 2 * MARGIN) * planes->stride - 2 * first;

	smooth_line(in + first, scratch + first, 1, n, job->priv->smooth);
	smooth_line(scratch + first, out + first, planes->stride, n, job->priv->smooth);
}

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

/* The order of each pixel by itself: no more than one bit of the stair. */
static void
find_orders(struct job *job)
{
	struct planes *planes = &job->planes;
	const struct priv *priv = job->priv;
	size_t n = (planes->h + 2 * MARGIN) * planes->stride;
	float per_height = 1 / priv->code.height;

	for (size_t i = 0; i < n; i++) {
		float rest = holo_rest(job->smooth[0][i], job->smooth[1][i]);
		float stair = priv->bits.stair[(int)(rest * HOLO_PROFILE)];

		planes->rest[i] = rest;
		planes->order[i] = undither3_order(job->bit[2][i], stair, per_height);
	}
}

void
first_smoothing(struct job *job)
{
	find_inside(job);
	find_fringes(job);
	find_frequency(job, 1, job->planes.right);
	find_frequency(job, job->planes.stride, job->planes.down);
	find_orders(job);
}
