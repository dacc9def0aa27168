#include "gap.h"

#include <stdio.h>

#define BLOCKS 64		/* of rows, for the threads */

/* So many in the middle half of the gap for each depth are too many, in the layout luma. Measured
 * over four sequences, the worst frame of each: 0.0012 at most up to --crf 12 of 10 bits, 18 of 8
 * and 6 of 12; 0.0011 to 0.019 where another program codes again at its crf 18, 23 or 28, with 0.4
 * to 15 % of the depths off by more than 1 % of the range. */
#define TOO_MANY 0.0014

struct counting {
	const struct frame *frame;
	size_t luma;
	float from, to, least;		/* levels: of the gap's middle half, of a depth */
	size_t inside[BLOCKS], depths[BLOCKS];
};

/* A row's levels within the gap, and its depths: ints, as rows are short. */
#define COUNT_ROW(type) \
	static void \
	count_##type(const type *restrict level, size_t n, const struct counting *counting, \
	    int *inside, int *depths) \
	{ \
		float from = counting->from, to = counting->to, least = counting->least; \
		int in = 0, valid = 0; \
\
		_Pragma("omp simd reduction(+:in,valid)") \
		for (size_t x = 0; x < n; x++) { \
			float v = (float)level[x]; \
\
			in += (v >= from) & (v < to); \
			valid += v >= least; \
		} \
		*inside = in; \
		*depths = valid; \
	}

COUNT_ROW(uint8_t)
COUNT_ROW(uint16_t)
COUNT_ROW(float)

static void
count_block(void *arg, size_t i)
{
	struct counting *counting = arg;
	const struct frame_head *head = &counting->frame->head;
	int inside, depths;

	for (size_t y = head->h * i / BLOCKS; y < head->h * (i + 1) / BLOCKS; y++) {
		const void *row = frame_row(counting->frame, counting->luma, y);

		if (head->type == SAMPLE_UCHAR)
			count_uint8_t(row, head->w, counting, &inside, &depths);
		else if (head->type == SAMPLE_USHORT)
			count_uint16_t(row, head->w, counting, &inside, &depths);
		else
			count_float(row, head->w, counting, &inside, &depths);
		counting->inside[i] += (size_t)inside;
		counting->depths[i] += (size_t)depths;
	}
}

void
gap_count(struct run *run, struct gap *gap, const struct depthcode_code *code,
    const struct frame *frame, size_t luma)
{
	struct counting counting = { .frame = frame, .luma = luma, .from = code->guard / 4,
		.to = code->guard * 3 / 4, .least = code->least };
	size_t inside = 0, depths = 0, number = run_inputs(run) + 1;
	bool again = gap->last == number;	/* the runner may survey a frame twice */
	char object[40];

	run_for(run, BLOCKS, count_block, &counting);
	for (size_t i = 0; i < BLOCKS; i++) {
		inside += counting.inside[i];
		depths += counting.depths[i];
	}
	gap->frames = number;
	if (again || (double)inside <= TOO_MANY * (double)depths)
		return;
	gap->last = number;
	if (gap->moved++)
		return;
	snprintf(object, sizeof(object), "frame %zu", number - 1);
	warn(object, "%zu samples, %.2g for each hundred depths, are neither a depth nor none: the "
	    "video was coded with much loss, maybe again by another program, and depths are off, "
	    "most of all at boundaries", inside, 100 * (double)inside / (double)depths);
}

void
gap_conclude(const struct gap *gap)
{
	if (gap->moved > 1)
		warn(NULL, "%zu of %zu frames have such samples", gap->moved, gap->frames);
}
