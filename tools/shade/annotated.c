#include "annotated.h"

#include <stdio.h>

#include "image/pixel_length.h"
#include "pixels.h"
#include "survey.h"

#define BAND 16

int
annotated_new(const struct frame_head *in, size_t w, size_t h, struct frame **picture)
{
	struct frame_head head;
	int status;

	if (head_init(&head, w, h, 3, SAMPLE_UCHAR) < 0)
		return -1;
	meta_copy(&head.meta, &in->meta);
	status = frame_new(&head, picture);
	head_free(&head);
	return status;
}

/* How it was painted, where the colours can be looked up. */
static int
set_keys(const struct priv *priv, struct frame *picture)
{
	double ends[2] = { priv->low, priv->high };

	if (!priv->annotation.bar)
		return 0;
	if (meta_set(&picture->head.meta, "colormap", colormap_names[priv->map]) < 0)
		return -1;
	return meta_set_numbers(&picture->head.meta, "colormap_range", ends, 2);
}

int
annotated_emit(struct run *run, struct frame *picture)
{
	struct priv *priv = run->priv;

	priv->annotation.low = priv->low;
	priv->annotation.high = priv->high;
	if (priv->annotates && (set_keys(priv, picture) < 0 ||
	    annotate(&picture, &priv->annotation) < 0)) {
		frame_free(picture);
		return -1;
	}
	return run_emit(run, picture);
}

struct job {
	const struct run *run;
	const struct frame *in;
	struct frame *out;
};

static void
paint_band(void *arg, size_t item)
{
	const struct job *job = arg;
	size_t y0 = item * BAND, y1 = y0 + BAND, h = job->in->head.h;

	pixels_rows(job->run, job->in, job->out, y0, y1 < h ? y1 : h, NULL);
}

static int
measure(struct priv *priv, const struct frame *in)
{
	const char *unit;

	if (!priv->annotation.scale_bar)
		return 0;
	if (pixel_length_of(in, &priv->annotation.pixel_length, &unit) < 0)
		return -1;
	snprintf(priv->annotation.length_unit, sizeof(priv->annotation.length_unit), "%s",
	    unit ? unit : "");
	return 0;
}

int
annotated_frame(struct run *run, struct frame *in)
{
	struct job job = { run, in, NULL };
	int status = -1;

	if (measure(run->priv, in) == 0 && survey_frame(run, in) == 0 &&
	    annotated_new(&in->head, in->head.w, in->head.h, &job.out) == 0) {
		run_for(run, (in->head.h + BAND - 1) / BAND, paint_band, &job);
		status = annotated_emit(run, job.out);
	}
	frame_free(in);
	return status;
}
