/*
 * A segment, consecutive maps that take each band together, and the shares of rows that threads
 * take from a frame.
 */
#include "run/segment.h"

#include "base/process.h"

#define ROWS_LEAST 6		/* that are taken at a time, at the end of a share */

struct row_share {
	size_t next, end;		/* rows that nobody has taken yet */
	bool begun;
	void *frame;
};

void
row_shares_init(struct row_shares *shares)
{
	*shares = (struct row_shares){ .lock = PTHREAD_MUTEX_INITIALIZER };
}

void
row_shares_free(struct row_shares *shares)
{
	free(shares->share);
	pthread_mutex_destroy(&shares->lock);
}

void
row_shares_open(struct row_shares *shares, size_t n, size_t step, size_t least)
{
	pthread_mutex_lock(&shares->lock);	/* threads may look for rows */
	if (shares->room < n) {
		shares->share = must_resize(shares->share, n, sizeof(*shares->share));
		shares->room = n;
	}
	memset(shares->share, 0, n * sizeof(*shares->share));
	shares->n = n;
	shares->step = step;
	shares->least = least;
	pthread_mutex_unlock(&shares->lock);
}

size_t
row_shares_divide(struct row_shares *shares, size_t h, size_t n, size_t step, size_t least)
{
	if (n > (h + step - 1) / step)
		n = (h + step - 1) / step;
	row_shares_open(shares, n, step, least);
	for (size_t i = 0; i < n; i++)
		shares->share[i] = (struct row_share){ h / n * i + h % n * i / n,
			h / n * (i + 1) + h % n * (i + 1) / n, false, NULL };
	return n;
}

void
row_shares_begin(struct row_shares *shares, size_t i, size_t h, void *frame)
{
	pthread_mutex_lock(&shares->lock);
	shares->share[i] = (struct row_share){ 0, h, false, frame };
	pthread_mutex_unlock(&shares->lock);
}

bool
row_shares_left(struct row_shares *shares, size_t i)
{
	bool left;

	pthread_mutex_lock(&shares->lock);
	left = shares->share[i].next < shares->share[i].end;
	pthread_mutex_unlock(&shares->lock);
	return left;
}

/* What is left of the largest share: its lower half. Called with the lock held. */
static bool
take_half(struct row_shares *shares, struct row_share *to)
{
	struct row_share *from = shares->share;
	size_t half;

	for (size_t i = 1; i < shares->n; i++)
		if (shares->share[i].end - shares->share[i].next > from->end - from->next)
			from = &shares->share[i];
	half = (from->end - from->next) / 2;
	if (half == 0 || half < shares->least)
		return false;
	*to = (struct row_share){ from->end - half, from->end, false, from->frame };
	from->end -= half;
	return true;
}

bool
row_shares_take(struct row_shares *shares, size_t i, bool last, struct row_piece *piece)
{
	struct row_share *share = &shares->share[i];
	size_t left, n;
	bool got;

	pthread_mutex_lock(&shares->lock);
	got = share->next < share->end || take_half(shares, share);
	if (got) {
		/* fewer towards the end, so that others wait less for them, unless they have frames
		 * of their own */
		left = share->end - share->next;
		n = (left + 1) / 2 < ROWS_LEAST ? ROWS_LEAST : (left + 1) / 2;
		n = last && n < shares->step ? n : shares->step;
		piece->y0 = share->next;
		share->next += n < left ? n : left;
		piece->y1 = share->next;
		piece->end = share->end;
		piece->begins = !share->begun;
		piece->frame = share->frame;
		share->begun = true;
	}
	pthread_mutex_unlock(&shares->lock);
	return got;
}

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

size_t
segment_maps(const struct segment *segment)
{
	return segment->n - !segment->link[segment->n - 1].run.body->rows;
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
