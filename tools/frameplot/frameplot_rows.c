/* The loops of frameplot --map: values, their statistics, the image, the histogram. */
#include "frameplot.h"

#include "image/statistics.h"

static void
frameplot_take_values(const struct frame *frame, size_t c, const struct frame *minus,
    size_t minus_c, float *value)
{
	size_t w = frame->head.w;

	for (size_t y = 0; y < frame->head.h; y++)
		for (size_t x = 0; x < w; x++) {
			float v = frame_floats(frame, c, y)[x];

			value[y * w + x] = minus ? v - frame_floats(minus, minus_c, y)[x] : v;
		}
}

static void
frameplot_find_statistics(struct map_plot *plot, float *finite, double *sorted, double *magnitude)
{
	double sum = 0, squares = 0;
	size_t n = 0;

	for (size_t i = 0; i < plot->columns * plot->rows; i++) {
		double v = (double)plot->value[i];

		if (!isfinite(v))
			continue;
		finite[n] = plot->value[i];
		sorted[n] = v;
		magnitude[n++] = fabs(v);
		sum += v;
		squares += v * v;
	}
	plot->valid = n;
	if (n == 0)
		return;
	plot->mean = sum / (double)n;
	plot->rms = sqrt(squares / (double)n);
	plot->median = statistics_quantile(sorted, n, 0.5);
	plot->p95 = statistics_quantile(magnitude, n, 0.95);
}

static bool
frameplot_any_between(const float *v, size_t n, double low, double high, float *least, float *most)
{
	*least = INFINITY;
	*most = -INFINITY;
	for (size_t i = 0; i < n; i++) {
		if (v[i] >= low && v[i] <= high)
			return true;
		*least = fminf(*least, v[i]);
		*most = fmaxf(*most, v[i]);
	}
	return false;
}

static uint32_t
frameplot_colour(const struct map_plot *plot, double v)
{
	float rgb[3] = { plot->nan[0], plot->nan[1], plot->nan[2] };
	uint32_t level = 0;

	if (!isnan(v))
		colormap_rgb(plot->colormap, (float)((v - plot->low) / (plot->high - plot->low)),
		    rgb);
	for (int k = 0; k < 3; k++)
		level = level << 8 | (uint32_t)(rgb[k] * 255.0f + 0.5f);
	return level;
}

/* Mean of the values of a block; NaN: there are none. */
static double
block_mean(const struct map_plot *plot, size_t x0, size_t x1, size_t y0, size_t y1)
{
	double sum = 0;
	size_t n = 0;

	for (size_t y = y0; y < y1; y++)
		for (size_t x = x0; x < x1; x++)
			if (!isnan(plot->value[y * plot->columns + x])) {
				sum += plot->value[y * plot->columns + x];
				n++;
			}
	return n ? sum / (double)n : NAN;
}

static void
frameplot_image_row(const struct map_plot *plot, size_t across, size_t down, size_t y,
    unsigned char *out)
{
	size_t y1 = (y + 1) * down;

	for (size_t x = 0; x * across < plot->columns; x++) {
		size_t x1 = (x + 1) * across;
		uint32_t rgb = frameplot_colour(plot, block_mean(plot, x * across,
		    x1 < plot->columns ? x1 : plot->columns, y * down,
		    y1 < plot->rows ? y1 : plot->rows));

		memcpy(out + 4 * x, &rgb, sizeof(rgb));
	}
}

static void
frameplot_count_bins(const struct map_plot *plot, size_t bins, double *share)
{
	for (size_t i = 0; i < plot->columns * plot->rows; i++) {
		double t = (plot->value[i] - plot->low) / (plot->high - plot->low);
		size_t bin = t >= 0 && t <= 1 ? (size_t)(t * (double)bins) : SIZE_MAX;

		if (bin == bins)
			bin--;			/* the upper end */
		if (bin < bins)
			share[bin] += 1.0 / (double)plot->valid;
	}
}

const struct frameplot_rows AT_LEVEL(frameplot_rows) = {
	.take_values = frameplot_take_values,
	.find_statistics = frameplot_find_statistics,
	.any_between = frameplot_any_between,
	.colour = frameplot_colour,
	.image_row = frameplot_image_row,
	.count_bins = frameplot_count_bins,
};
