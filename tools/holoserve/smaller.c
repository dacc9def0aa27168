#include "smaller.h"

#include "base/px.h"

size_t
smaller_step(const struct opt_size *size, size_t w, size_t h)
{
	size_t across, down, step;

	if (size->w == 0 || size->h == 0)
		return 1;
	across = (w + size->w - 1) / size->w;
	down = (h + size->h - 1) / size->h;
	step = across > down ? across : down;
	/* a long, thin image keeps a pixel */
	if (step > w || step > h)
		step = w < h ? w : h;
	return step ? step : 1;
}

static float
mean_of_box(const struct frame *frame, size_t c, size_t x0, size_t y0, size_t step)
{
	size_t n = 0;
	double sum = 0;

	for (size_t y = y0; y < y0 + step; y++) {
		const float *row = frame_floats(frame, c, y);

		for (size_t x = x0; x < x0 + step; x++)
			if (!px_isnan(row[x])) {
				sum += (double)row[x];
				n++;
			}
	}
	return 2 * n < step * step ? PX_NAN : (float)(sum / (double)n);
}

int
smaller_make(const struct frame *frame, size_t depth, size_t texture, size_t step,
    struct frame **out)
{
	const size_t from[2] = { depth, texture };
	struct frame_head head;
	int status = head_copy(&head, &frame->head);

	if (status < 0)
		return -1;
	head.w /= step;
	head.h /= step;
	status = head_set_channels(&head, texture == NO_CHANNEL ? "depth" : "depth texture");
	if (status == 0)
		status = frame_new(&head, out);
	for (size_t c = 0; status == 0 && c < head.c; c++)
		for (size_t y = 0; y < head.h; y++) {
			float *row = frame_floats(*out, c, y);

			for (size_t x = 0; x < head.w; x++)
				row[x] = mean_of_box(frame, from[c], x * step, y * step, step);
		}
	head_free(&head);
	return status;
}
