#include "mend.h"

#include "undither3.px.h"

/* The turns of the nearest trusted pixel in a direction, carried on to here; NaN if there is none,
 * or if it has another phase. */
static float
carry(const struct planes *planes, size_t at, int dx, int dy)
{
	for (int k = 1; k <= MEND_REACH; k++) {
		size_t to = at + (size_t)(k * (dy * (ptrdiff_t)planes->stride + dx));

		if (planes->trusted[to] > 0)
			return undither3_carry(planes->turns[to], planes->right[to],
			    planes->down[to], (float)k, (float)dx, (float)dy,
			    planes->turns[at]);
	}
	return PX_NAN;
}

/* The turns of a pixel that is not trusted; NaN: dropped. */
static float
mend(const struct planes *planes, size_t at)
{
	float turns = PX_NAN;
	int agreeing = 0;

	for (int way = 0; way < 9; way++) {
		float carried = way == 4 ? PX_NAN : carry(planes, at, way % 3 - 1, way / 3 - 1);

		if (px_isnan(carried))
			continue;
		if (px_abs(turns - carried) > 0.5f)
			return PX_NAN;
		turns = carried;
		agreeing++;
	}
	return px_select(agreeing < MEND_LEAST || turns < 0.0f, PX_NAN, turns);
}

/* The mended turns of a row; NaN: dropped. */
static void
mend_row(const struct planes *planes, size_t y, float *turns)
{
	for (size_t x = 0; x < planes->w; x++) {
		size_t at = (y + MARGIN) * planes->stride + x + MARGIN;
		bool stays = planes->trusted[at] > 0 || planes->inside[at] == 0;

		turns[x] = stays ? planes->turns[at] : mend(planes, at);
	}
}

static void
mend_block(void *arg, size_t block)
{
	const struct job *job = arg;

	for (size_t y = block * BLOCK; y < job->planes.h && y < (block + 1) * BLOCK; y++)
		mend_row(&job->planes, y, job->smooth[0] + y * job->planes.stride);
}

/* What mending leaves is trusted. */
static void
take_mended(struct job *job, size_t y)
{
	struct planes *planes = &job->planes;
	size_t first = (y + MARGIN) * planes->stride + MARGIN;
	const float *mended = job->smooth[0] + y * planes->stride;

	for (size_t x = 0; x < planes->w; x++) {
		if (planes->inside[first + x] == 0)
			continue;
		planes->trusted[first + x] = px_isnan(mended[x]) ? 0 : 1;
		if (!px_isnan(mended[x]))
			planes->turns[first + x] = mended[x];
	}
}

void
mend_all(struct run *run, struct job *job)
{
	run_for(run, (job->planes.h + BLOCK - 1) / BLOCK, mend_block, job);
	for (size_t y = 0; y < job->planes.h; y++)
		take_mended(job, y);
}
