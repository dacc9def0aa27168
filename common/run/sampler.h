/* The runner's side of checks: choosing them, letting them judge, printing (check.c), and copying
 * the rows that they look at (sampler.c). A stage without checks has no link->checks, and none of
 * this costs anything. */
#pragma once

#include "run/check.h"
#include "run/segment.h"

/* Of a link, for all frames. */
struct link_checks {
	struct check_facts facts;
	const struct check *const *check;	/* the stage's list */
	size_t n;
	struct check_state {
		bool fired;		/* its line was printed, or another one explains it */
		bool off;		/* --no-check names it */
		bool applies;		/* by the last plan */
		bool first;		/* no frame of that plan is judged yet */
		bool judged;		/* a frame of the run is */
		double kept;		/* check.h */
	} *state;
	struct check_sample sample;	/* of the frame at hand, where frames are made one by one */
	bool *wants;			/* of the plan's input, then of its output: memory alone */
};

/* The stage's checks, without those that --no-check names. */
void checks_open(struct link *);
void checks_free(struct link *);
/* Before plan: no facts are known. */
void checks_begin_plan(struct link *);
/* After plan: which checks apply. */
void checks_end_plan(struct link *);
/* A frame begins: makes room in the sample, which is zeroed at first, for what checks still look
 * at, and copies rows of the second inputs. */
void checks_begin(struct link *, struct check_sample *);
/* Copies the sampled ones of the rows y0 <= y < y1, which nobody else copies. The sample may be
 * NULL. */
void check_sample_take(struct check_sample *, const struct frame *in, const struct frame *out,
    size_t y0, size_t y1);
/* The same of a table: columns x to x + n - 1 are those of the frames. */
void check_sample_take_columns(struct check_sample *, const struct frame *in,
    const struct frame *out, size_t x, size_t n);
/* Copies the rows of channel c, which is channel from_c of a frame that lies whole in memory. */
void check_rows_copy(struct check_rows *, size_t c, const struct frame *, size_t from_c);
void check_sample_free(struct check_sample *);
/* A frame is complete: makes the pixels NaN that its mask takes out. */
void check_sample_mask(const struct check_sample *);
/* The whole input, NULL where it is none, becomes sample->whole if checks may look at it. */
void check_sample_whole(struct check_sample *, const struct frame *in);

/* A flow takes a frame, or emits one. */
void checks_flow_take(struct link *, const struct frame *in);
void checks_flow_emit(struct link *, const struct frame *out);

/* Channels of the planned input that are no second input's. */
size_t check_own_channels(const struct link *);
/* Does the check look for something in the next frame? */
bool check_is_active(const struct link_checks *, size_t i);
enum check_time { CHECK_TAKEN = 1, CHECK_EMITTED = 2, CHECK_COMPLETE = 3 };
/* Judges a frame and prints lines: when a flow has taken its input, by the checks that do not look
 * at the output; when it has emitted a frame, by the others; when a map's frame is complete, by
 * all. */
void checks_judge(struct link *, const struct check_sample *, enum check_time);
