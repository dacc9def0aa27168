/* What a stage may call of the runner, and what it knows of its run. */
#pragma once

#include "base/opt.h"
#include "frame/frame.h"
#include "io/source.h"
#include "io/target.h"

struct body;
struct row_scratch;
struct stage;

/* How colour images (channels r g b, maybe a, or luma chroma_u chroma_v) become planes when a tool
 * reads captures. */
enum colour {
	COLOUR_KEEP, /* as they are */
	COLOUR_GREY, /* luma, or one of equal planes; others: an error that names --channel */
	COLOUR_RED,
	COLOUR_GREEN,
	COLOUR_BLUE,
	COLOUR_LUMA,
	COLOUR_PLANES, /* r, g, b are three images, alpha is dropped */
	COLOUR_CHOOSE /* equal planes become one; of unequal ones the stage chooses */
};

struct run {
	const struct stage *stage;
	const struct body *body; /* set by init; plan may take another one with or without survey */
	void *parameters;		/* the option struct, of parameter_size */
	void *priv;			/* zeroed, of private_size */
	enum colour colour;		/* set by init; COLOUR_KEEP */
	size_t halo; /* set by plan: rows of input needed above and below a row of output */
	size_t state;		/* set by plan: state planes; 0 before */
	size_t scratch_bytes;	/* set by plan: memory of each thread for rows; 0 before */
	char *const *operand; /* of the first stage; where there are none, its init may name files
			       * that it knows of (a manifest's), and they are read */
	size_t operands;
	int threads;
	bool verbose, quiet, force;
	const char *output;		/* -o, or NULL: for stages that write files of their own */
	bool sink;			/* set by init: gives no frames this time, but text */
	int status; /* exit status of a tool whose answer is its status (framecmp) */
	struct chain *chain;		/* the runner's own */
	size_t position;
	struct link *link;
};

/*
 * For plan: channel out_c of the output is the input's channel in_c, unchanged. The runner gives
 * both the same memory, or copies its rows after those that a map has made.
 */
void run_pass(struct run *, size_t out_c, size_t in_c);
/*
 * The same of all channels but some: gives `out`, which has the input's own channels, those of
 * `before`, then its own less those of `replaced`, then those of `behind` (lists, blank-separated,
 * maybe empty). -1 after fail().
 */
int run_pass_others(struct run *, struct frame_head *out, const char *before, const char *replaced,
    const char *behind);
/* For flows: copies rows y0 to y1 - 1 of the channels that pass. */
void run_pass_rows(const struct run *, const struct frame *in, struct frame *out, size_t y0,
    size_t y1);

/* Hands a frame on, taking ownership; appends cmd.N. 0; -1 when the chain is stopping. */
int run_emit(struct run *, struct frame *);
/* The same where status is 0; else frees it (it may be NULL) and returns -1. */
int run_emit_if(struct run *, int status, struct frame *);
/* For STAGE_WORD: takes the first operand, one of n words, away. Its index, or n if it is none. */
size_t run_take_word(struct run *, const char *const *words, size_t n);
/* Is it --keep-going? */
bool run_keeps_going(const struct run *);
/* Do the first stage's images come from a stream (a pipe)? */
bool run_reads_stream(const struct run *);
/* How many inputs the stage had before the one at hand, lost ones counted. */
size_t run_inputs(const struct run *);
/* For stages that read by themselves: an input begins. */
void run_begin_input(struct run *);
/* It cannot be read or used, as fail() has recorded: with --keep-going it is lost, with a line that
 * says so, and the next one may follow. -1: the run ends. */
int run_lose_input(struct run *);
/* Calls fn(arg, i) for 0 <= i < n on all threads (run NULL: on this one); returns when all are
 * done. For flows. */
void run_for(struct run *, size_t n, void (*fn)(void *arg, size_t i), void *arg);
/* The output's head as plan made it, by which a flow makes its frames; a survey may change values
 * of its metadata, not keys. */
struct frame_head *run_output(const struct run *);
/* For init: what the chain's -o will be written with. -1 after fail(): an earlier stage has options
 * that this makes useless. */
int run_save_options(struct run *, const struct opt *table, const void *values);

/*
 * An option that may also stand in the metadata (key = option name and unit): the option if it is
 * given (not NaN / n > 0), else the key, else `otherwise`. -1 after fail().
 */
int run_number(const struct run *, double option, const struct frame_head *, const char *key,
    double otherwise, double *out);
/* The same for lists; *out is a new list (numbers_free), n = 0 where neither is there. */
int run_numbers(const struct run *, const struct numbers *option, const struct frame_head *,
    const char *key, struct numbers *out);
/* The index of a channel that the stage needs; -1 after fail() naming what came instead. */
int run_channel(const struct run *, const struct frame_head *, const char *name, size_t *c);
/* Frames given by options of type OPT_FRAME, OPT_STREAM, OPT_PICTURE and OPT_STREAMS stand behind
 * the input's own channels under the names "OPTION.CHANNEL" (ref.absphase, right.image,
 * view2.depth), as float but for stages with STAGE_ANY_TYPE; this looks one up: channel NULL is the
 * only one. Their planes carry their own stride and type, and for all but OPT_FRAME their own size.
 */
int run_second_input(const struct run *, const struct frame_head *, const char *option,
    const char *channel, size_t *c);
/* The head of that frame; NULL where the option is not given. number: from 1 for OPT_STREAMS, else
 * 0. From plan on. */
const struct frame_head *run_second_input_head(const struct run *, const char *option,
    size_t number);
/*
 * State planes of a map: float planes of the output's size that keep what a pixel remembers from
 * frame to frame. For rows: the plane of in (the last frame's, read only) and of out (this frame's,
 * all of whose rows are to be written) that hold state i. Before the first frame, and after the
 * size or the number of planes has changed, the last frame's are NaN.
 */
size_t run_state_in(const struct run *, size_t i);
size_t run_state_out(const struct run *, size_t i);
/* For plan and survey: nothing is remembered of the frames before. */
void run_forget_state(struct run *);
