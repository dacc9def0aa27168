/*
 * The runner: frames are pushed through a chain of stages (stage.h). Consecutive maps are taken
 * through together, band by band; flows get whole frames.
 */
#ifndef CHAIN_H
#define CHAIN_H

#include "run/all_invalid.h"
#include "run/cost_model.h"
#include "base/thread_pool.h"
#include "run/row_shares.h"
#include "run/stage.h"

/* An image beside the input: an option of type OPT_FRAME. */
struct second_input {
	const struct opt *opt;
	const char *path;
	struct source *source;
	struct frame *frame;		/* float; the one in use */
	size_t frames;			/* taken from the source */
	bool single;			/* the file held one frame: it serves all */
};

/* Where a stage shall run. */
enum placement { PLACE_PROCESSOR, PLACE_DEVICE, PLACE_AUTO };

/* What a map took on the processor or on the device, all frames. */
struct timing {
	double seconds; /* of all threads together divided by their number; NaN without a clock */
	double samples; /* pixels of all channels in and out */
	size_t frames;
};

struct link {
	struct run run;
	char *command;			/* what becomes cmd.N */
	bool planned;
	struct frame_head in, out;	/* of the last plan; `in` with what stands beside */
	size_t *from; /* by output channel: the input's channel that it is, or NO_CHANNEL */
	size_t froms;			/* how many of them are set */
	struct frame **waiting;		/* frames whose planes wait to be gathered */
	size_t waitings, waiting_room, planes, want;
	struct frame_stacking stacking;	/* of what was gathered last */
	struct second_input *beside;
	size_t besides;
	struct all_invalid blank;		/* did its map give any valid pixel? */
	bool second_inputs_read;		/* for the input that is planned now */
	const char *device;		/* -d of this stage, or NULL */
	enum placement wish;
	bool able, on_device; /* of the last plan: has passes; runs there */
	bool planned_anew, refused;	/* why not, has been said */
	bool looked;			/* the processor has made a frame: it warned if need be */
	struct timing spent[2];		/* by on_device */
	struct passes *passes;		/* of the last plan, on the device */
	struct gpu_jobs *flights;	/* of the segment that begins here */
	struct flow_gpu *aside;		/* a flow's own passes */
};

struct chain {
	struct link *link;
	size_t n;
	const char *output;		/* NULL: the stream on standard output */
	bool force, verbose, quiet;
	int threads;
	struct device *device;		/* NULL: the processor does everything */
	const struct costs *costs;	/* to decide by; NULL: what is not demanded stays there */
	bool opens;	/* the device of the costs is opened when opening it is worth while */
	struct save_options save;
	char *const *operand;		/* of the first stage */
	size_t operands;
	/* while running */
	struct thread_pool *pool;
	struct write_behind *outbox;		/* opened with the first frame that is written */
	struct scratch *scratch;	/* one per thread */
	struct row_shares shares;		/* of the frame that is worked on */
	struct producer *maker;		/* of the segment that is run, see segment.h */
	size_t makers;			/* for which there is room */
	size_t band; /* rows of a band; 0: a share each (FRINGEPIPE_BAND forces it) */
	size_t frames;			/* written or dropped so far */
	size_t repeat; /* FRINGEPIPE_REPEAT: how often the whole input is taken, from memory */
	struct frame **kept;		/* the input, for that */
	size_t keeps;
	double start;			/* when the first frame was pushed, seconds */
};

/* Pixels of all channels that a planned map reads and makes. */
double link_samples(const struct link *);
/* Runs what has been set up: 0 or -1 after fail(). */
int chain_run(struct chain *);
/* -o null: frames are counted and dropped, so that a chain can be timed without its output. */
bool chain_drops(const struct chain *);

#endif
