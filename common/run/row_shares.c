#include "run/row_shares.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

#define FEWEST 6		/* rows at a time, at the end of a share */

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

size_t
row_shares_open(struct row_shares *shares, size_t n, size_t step, size_t least)
{
	pthread_mutex_lock(&shares->lock);	/* threads may look for rows */
	if (shares->room < n) {
		free(shares->share);
		shares->share = malloc(n * sizeof(*shares->share));
		shares->room = shares->share ? n : 0;
	}
	if (shares->share)
		memset(shares->share, 0, n * sizeof(*shares->share));
	else
		fail_memory();
	shares->n = shares->share ? n : 0;
	shares->step = step;
	shares->least = least;
	pthread_mutex_unlock(&shares->lock);
	return shares->n;
}

size_t
row_shares_divide(struct row_shares *shares, size_t h, size_t n, size_t step, size_t least)
{
	if (n > (h + step - 1) / step)
		n = (h + step - 1) / step;
	n = row_shares_open(shares, n, step, least);
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

/* How many of the rows that are left are taken at a time: fewer towards the end, so that others
 * wait less for them, unless they have frames of their own. */
static size_t
few(const struct row_shares *shares, size_t left, bool last)
{
	size_t half = (left + 1) / 2, n = half < FEWEST ? FEWEST : half;

	n = last && n < shares->step ? n : shares->step;
	return n < left ? n : left;
}

bool
row_shares_take(struct row_shares *shares, size_t i, bool last, struct piece *piece)
{
	struct row_share *share = &shares->share[i];
	bool got;

	pthread_mutex_lock(&shares->lock);
	got = share->next < share->end || take_half(shares, share);
	if (got) {
		piece->y0 = share->next;
		share->next += few(shares, share->end - share->next, last);
		piece->y1 = share->next;
		piece->end = share->end;
		piece->begins = !share->begun;
		piece->frame = share->frame;
		share->begun = true;
	}
	pthread_mutex_unlock(&shares->lock);
	return got;
}
