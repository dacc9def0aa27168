#include "run/segment.h"

static const struct opt no_options[] = { { 0 } };

const struct opt *
link_options(const struct stage *stage)
{
	return stage->options ? stage->options : no_options;
}

size_t
segment_passed_from(const struct segment *segment, size_t k, size_t c)
{
	const struct link *link = &segment->link[k];
	const struct frame_head *before = k ? &link[-1].out : &segment->in->head;
	size_t from = c < link->source_channels ? link->source_channel[c] : NO_CHANNEL;

	/* the second inputs are behind the input's own channels */
	if (from == NO_CHANNEL || from >= before->c || before->type != link->out.type ||
	    before->w != link->out.w)
		return NO_CHANNEL;
	return from;
}

bool
segment_produced_by(const struct segment *segment, size_t *k, size_t *c)
{
	for (;; (*k)--) {
		size_t from = segment_passed_from(segment, *k, *c);

		if (from == NO_CHANNEL)
			return true;
		*c = from;
		if (*k == 0)
			return false;
	}
}

void
segment_halos(struct segment *segment)
{
	segment->halo[segment->n - 1] = 0;
	for (size_t k = segment->n - 1; k > 0; k--)
		segment->halo[k - 1] = segment->halo[k] + segment->link[k].run.halo;
}

double
link_samples(const struct link *link)
{
	return (double)link->in.w * (double)link->in.h * (double)link->in.c +
	    (double)link->out.w * (double)link->out.h * (double)link->out.c;
}

bool
link_takes(const struct link *link, enum sample type)
{
	return type == SAMPLE_FLOAT || (link->run.stage->traits & STAGE_ANY_TYPE);
}
