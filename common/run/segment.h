/* The shares of rows that threads take, and the runner's own types: chain, link and segment. */
#pragma once

#include <pthread.h>

#include "base/thread_pool.h"
#include "io/background_io.h"
#include "run/check.h"
#include "run/cost_model.h"
#include "run/stage.h"

/*
 * The rows of one frame or several, shared out among threads. Each works through its own share from
 * the top, a few rows at a time, and then takes the lower half of what is left of another one. So a
 * thread begins in the middle of a frame hardly more often than once, and none waits long for
 * another.
 */

struct row_shares {
	pthread_mutex_t lock;
	struct row_share *share;
	size_t n, room;
	size_t step, least;
};

/* Rows y0 to y1 are to be made now, of those to `end` that are this thread's as things stand;
 * `begins`: they do not follow those taken before. */
struct row_piece {
	size_t y0, y1, end;
	bool begins;
	void *frame;			/* as row_shares_begin() was given it */
};

void row_shares_init(struct row_shares *);
void row_shares_free(struct row_shares *);
/*
 * Divides h rows among n shares, or fewer if they are few, to be taken `step` at a time. `least`
 * rows at least lie between what one has taken and what another takes off its share; SIZE_MAX:
 * none takes from another. Returns the number of shares.
 */
size_t row_shares_divide(struct row_shares *, size_t h, size_t n, size_t step, size_t least);
/* The same without rows: n shares, each of which begins with a frame of its own. */
void row_shares_open(struct row_shares *, size_t n, size_t step, size_t least);
/* Share i, which has no rows left, is a whole frame of h rows. */
void row_shares_begin(struct row_shares *, size_t i, size_t h, void *frame);
/* Has share i rows that nobody has taken? */
bool row_shares_left(struct row_shares *, size_t i);
/* The next rows for the thread that works on share i. last: no frame waits, so that others may soon
 * take some. False: there are none. */
bool row_shares_take(struct row_shares *, size_t i, bool last, struct row_piece *);

/*
 * The types of the runner: a chain of links, each a stage with its plan, and a segment, which is
 * consecutive maps that a frame is taken through together. The functions here only read them.
 */

/* Frames that are read in step with the input (second_input.h). */
struct second_input {
	const struct opt *opt;
	char *path;
	size_t number;			/* of a repeatable option, from 1; else 0 */
	struct read_ahead *reader;
	struct frame *frame;		/* of this input, as the stage takes it */
	struct frame_head planned;	/* the head that the link was planned for */
	size_t frames;			/* read so far, lost ones counted */
	bool taken;			/* for the stage's input at hand */
	size_t lost;			/* --keep-going: frames to come that cannot be read */
	struct fail_record failure;	/* the reason */
	bool single;			/* it may serve all inputs, and the file holds one frame */
};

/* Where a stage shall run. */
enum placement { PLACE_PROCESSOR, PLACE_DEVICE, PLACE_AUTO };

/* What a map took on the processor or on the device, all frames. */
struct timing {
	double seconds; /* of all threads together divided by their number; NaN without a clock */
	double samples; /* pixels of all channels in and out */
	size_t frames;
};

/* --keep-going: the measurement that is gathered is lost; what belongs to it is counted. */
struct gather_loss {
	bool on;
	size_t planes;			/* of the measurement that have come or are lost */
	size_t images;			/* lost ones whose planes are not in `planes` yet */
	size_t more;			/* reasons beside the first */
	struct fail_record reason;
};

/* --keep-going. */
struct losses {
	bool on;
	bool stopped;	/* what has failed cannot be survived: the output, the device */
	bool cut;	/* an input ended before its time */
	bool spans;	/* a measurement has images of several files */
	bool counts;	/* a file was read to its end */
	const char *first, *path;	/* files of the frames at hand; NULL: not known */
	size_t *number, n;	/* of the results that are lost */
	bool ended;	/* the run went to its end: what it wrote is whole, without the lost ones */
	size_t gap;	/* results lost since the last one that was written */
	/* Images come from a stream, whose writer may lose some: measurements without them are
	 * left out, and counted at the end. */
	bool stream, leaves_out;	/* leaves_out: one is left out now */
	size_t left_out;
};

struct link {
	struct run run;
	char title[80];	/* in messages: the stage's name, with its place where others have the same
			   name; empty where it is the only stage */
	char *command;			/* what becomes cmd.N */
	bool planned;
	size_t made;			/* frames that the processor has made by the last plan */
	struct frame_head in, out;	/* of the last plan; `in` with the second inputs */
	size_t *source_channel;	/* by output channel: the input's, or NO_CHANNEL */
	size_t source_channels;		/* how many of them are set */
	struct held_image {		/* images that the stage holds back (body->holds) */
		struct frame *frame;
		const char *path;	/* its file */
	} *held;
	size_t holds, held_room;
	bool judges;			/* the stage tells which of them are a measurement */
	bool luma_noted;		/* -v: luma is taken of images in YUV */
	struct frame **waiting;		/* frames whose planes wait to be gathered */
	struct frame **part;		/* room for parts of as many */
	size_t waitings, waiting_room, planes, want;
	size_t taken;			/* channels of the first of them that were taken already */
	size_t image_planes;		/* of the last frame that was put there */
	struct frame_stacking stacking;	/* of what was gathered last */
	struct gather_loss loss;
	size_t inputs;			/* whole ones so far, lost ones counted */
	bool seen;			/* the flow was given the input at hand */
	struct second_input *second_input;
	size_t second_inputs;
	bool masked;	/* --valid: one more behind them, which the stage does not see */
	bool mask_judged, mask_kept;	/* a pixel, of any frame */
	bool masks_result;	/* of the input at hand: its samples cannot be NaN */
	struct frame *state[2];		/* state planes: of the last frame, of this one; or NULL */
	struct all_invalid all_invalid;		/* did its map give any valid pixel? */
	struct link_checks *checks;	/* sampler.h; NULL: the stage has none */
	const char *device;		/* -d of this stage, or NULL */
	enum placement place;
	bool able, on_device; /* of the last plan: has passes; runs there */
	bool planned_anew, refused;	/* the reason why not was printed */
	bool scanned; /* the processor has made a frame: its warnings were printed */
	struct timing timing[2];		/* by on_device */
	struct passes *passes;		/* of the last plan, on the device */
	struct gpu_jobs *jobs;	/* of the segment that begins here */
	struct frame_jobs *frame_jobs;	/* likewise, on the processor */
	struct flow_gpu *flow_gpu;	/* a flow's own passes */
	bool flow_on_device;		/* they made something of the input at hand */
	double after_s;			/* a flow spent so long in the stages that follow */
};

/* What a segment's output channels are made by, and room to find that. */
struct producers {
	struct producer *producer;
	bool *used;			/* by channels of all maps: an output has it already */
	size_t room, used_room;
};

struct chain {
	struct link *link;
	size_t n;
	const char *output;		/* NULL: the stream on standard output */
	const char *valid;		/* --valid, or NULL */
	struct read_ahead_how how;	/* the first stage's operands are read */
	bool force, verbose, quiet, strict;
	int threads;
	struct gpu *device;		/* NULL: the processor does everything */
	const struct costs *costs;	/* to decide by; NULL: what is not demanded stays there */
	bool opens;	/* the device of the costs is opened when opening it is worth while */
	bool gave_way;	/* the line that the processor goes on was printed */
	struct save_options save;
	struct opt_list no_check;	/* names of --no-check */
	char *const *operand;		/* of the first stage */
	size_t operands;
	/* while running */
	int (*push)(struct chain *, size_t at, struct frame *);	/* hands a frame to stage `at` */
	int (*feed)(struct chain *, size_t at, struct frame *);	/* one whole input */
	/* An image for a stage that holds some back; NULL: those that it holds go on. */
	int (*hold)(struct chain *, size_t at, struct frame *);
	struct losses losses;
	struct thread_pool *pool;
	struct write_behind *writer;		/* opened with the first frame that is written */
	struct band_memory *memory;	/* one per thread */
	struct row_shares shares;		/* of the frame that is worked on */
	struct producers producers;		/* of the segment that is run */
	struct thread_pool_idle making;	/* frames beside others (frame_jobs.h) */
	size_t making_bytes;		/* that these may take */
	bool waits;	/* the next frame is already there */
	bool delivered; /* what came before the failure at hand has gone through the chain */
	size_t band; /* rows of a band, of a tile on the device; 0: a share each (FRINGEPIPE_BAND
			forces it) */
	size_t frames;			/* written or dropped so far */
	size_t repeat; /* FRINGEPIPE_REPEAT: how often the whole input is taken, from memory */
	struct frame **kept;		/* the input, for that */
	size_t keeps;
	double start;			/* when the first frame was pushed, seconds */
	/* --valid: the masks of results of the first stage that are under way */
	struct result_mask {
		const struct frame *result;
		struct frame *mask;
	} *result_mask;
	size_t result_masks;
};

#define SEGMENT_MOST 64		/* maps taken through together */

/* A map and a channel of its output. */
struct producer {
	size_t k, c;
};

/*
 * On a device the last link may be a flow whose passes do all of it (struct body's `made`).
 *
 * A band is a thread's piece of work. It is taken through the maps a few rows at a
 * time: each map makes the rows that the next ones need now, and a window of its last rows is kept
 * for their halos. So a row is made once, but for the halos at the band's two ends.
 */
struct segment {
	struct chain *chain;
	struct link *link;		/* the first map */
	size_t n;			/* maps */
	struct frame *in;
	struct frame *out;
	/* What it makes is thrown away: the device makes the frame, and checks look at that. It
	 * runs for the stages' `after`, or to find which map leaves no valid pixel. */
	enum { SCAN_NONE, SCAN_AFTER, SCAN_VALID } scan;
	size_t step, h;			/* rows made at a time, rows of the image */
	size_t halo[SEGMENT_MOST]; /* rows of map k's output needed beyond the band, each side */
	size_t window[SEGMENT_MOST];	/* rows of map k's output that are kept at most */
	size_t reader[SEGMENT_MOST];	/* the last map that reads what map k made */
	/* where in a thread's memory map k has the window of its output, its state rows, its
	 * scratch */
	size_t offset[SEGMENT_MOST], state_offset[SEGMENT_MOST], scratch_offset[SEGMENT_MOST];
	size_t bytes;			/* of a thread's memory */
	struct producer
	    *producer; /* of what the last map only hands on, by its channels; else k = n */
	/* of each map, for this frame alone where several are made at once: */
	const struct run *run[SEGMENT_MOST];
	struct all_invalid *all_invalid[SEGMENT_MOST];
	struct check_sample *sample[SEGMENT_MOST];	/* NULL: the stage has no checks */
};

/* The channel that map k hands on as its channel c without touching it; NO_CHANNEL if it makes it.
 */
size_t segment_passed_from(const struct segment *, size_t k, size_t c);
/* Follows a channel of map k's output back to the map that makes it: *k and *c. False: it is the
 * input's channel *c. */
bool segment_produced_by(const struct segment *, size_t *k, size_t *c);
/* How many of its links are maps: all, or all but the last. */
size_t segment_maps(const struct segment *);
/* Sets halo[]. */
void segment_halos(struct segment *);
/* Does the stage take samples of this type as they are? */
bool link_takes(const struct link *, enum sample);
/* Its option table, which may be empty. */
const struct opt *link_options(const struct stage *);
/* Pixels of all channels that a planned map reads and makes. */
double link_samples(const struct link *);
