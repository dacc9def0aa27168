/* Means of consecutive frames. */
#include "skeleton.h"

#include <string.h>

#include "run/stage.h"

#define FRAMES_MOST 1000000

struct parameters {
	long frames;
};

/* The frames that wait to be handed on: their sum, and how many samples of each pixel are valid. */
struct priv {
	struct frame *sum, *count;
	long frames;
};

static const struct opt options[] = {
	{ 'n', "frames", "N", OPT_INTEGER, AT(frames), "0", 0, FRAMES_MOST,
	  NULL, "how many frames make one; 0: all that are alike", NULL },
	{ 0 },
};

/* ---- rows of all channels, which the threads share ---- */

struct adding {
	const struct frame *in;
	const struct priv *priv;
};

static void
add_item(void *arg, size_t item)
{
	const struct adding *adding = arg;
	const struct frame_head *head = &adding->in->head;
	size_t c = item / head->h, y = item % head->h;

	skeleton_rows()->add(frame_floats(adding->in, c, y),
	    frame_floats(adding->priv->sum, c, y), frame_floats(adding->priv->count, c, y),
	    head->w);
}

static void
divide_item(void *arg, size_t item)
{
	const struct priv *priv = arg;
	const struct frame_head *head = &priv->sum->head;
	size_t c = item / head->h, y = item % head->h;

	skeleton_rows()->divide(frame_floats(priv->sum, c, y),
	    frame_floats(priv->count, c, y), head->w);
}

/* ---- frames ---- */

static void
drop(struct priv *priv)
{
	frame_free(priv->sum);
	frame_free(priv->count);
	*priv = (struct priv){ 0 };
}

static int
begin(struct priv *priv, const struct frame_head *head)
{
	if (frame_new(head, &priv->sum) < 0 || frame_new(head, &priv->count) < 0)
		return -1;
	for (size_t c = 0; c < head->c; c++)
		for (size_t y = 0; y < head->h; y++) {
			memset(frame_row(priv->sum, c, y), 0, priv->sum->plane[c].stride);
			memset(frame_row(priv->count, c, y), 0, priv->count->plane[c].stride);
		}
	return 0;
}

static int
hand_on(struct run *run)
{
	struct priv *priv = run->priv;
	struct frame *mean = priv->sum;
	int status;

	if (priv->frames == 0)
		return 0;
	run_for(run, mean->head.c * mean->head.h, divide_item, priv);
	status = meta_setf(&mean->head.meta, "frames", "%ld", priv->frames);
	if (status == 0) {
		priv->sum = NULL;		/* the runner's from here on */
		status = run_emit(run, mean);
	}
	drop(priv);
	return status;
}

static int
take_frame(struct run *run, struct frame *in)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;

	if (priv->frames == 0 && begin(priv, &in->head) < 0) {
		frame_free(in);
		return -1;
	}
	run_for(run, in->head.c * in->head.h, add_item, &(struct adding){ in, priv });
	frame_free(in);
	return ++priv->frames == parameters->frames ? hand_on(run) : 0;
}

/* Frames of another size or with other channels belong to the next mean; metadata may differ. */
static int
flush(struct run *run, const struct frame_head *next)
{
	const struct priv *priv = run->priv;
	const struct frame_head *head;

	if (priv->frames == 0)
		return 0;
	head = &priv->sum->head;
	if (head->w == next->w && head->h == next->h && head->c == next->c &&
	    !memcmp(head->channel, next->channel, head->c * sizeof(*head->channel)))
		return 0;
	return hand_on(run);
}

/* A source has `start` in place of `frame`, and STAGE_SOURCE among its traits. */
static const struct body body = { .frame = take_frame, .flush = flush, .end = hand_on,
	.no_passes = "a mean waits for all its frames" };

static int
init(struct run *run)
{
	run->body = &body;
	return 0;
}

static void
release(struct run *run)
{
	drop(run->priv);
}

const struct stage stage_skeleton = {
	.name = "skeleton",
	.summary = "means of consecutive frames",
	.options = options,
	STAGE_MEMORY(priv),
	.init = init,
	.release = release,
};
