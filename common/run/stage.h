/*
 * Stages and the runner that chains them. A tool is one stage (tools/NAME/NAME.c); standing alone
 * it is the chain `read , NAME , write`.
 *
 * A *map* computes rows and knows neither threads nor devices: the runner cuts the frame into bands
 * and takes each band through all consecutive maps while it is in cache. A *flow* sees whole
 * frames: sources, sinks, whatever needs the whole image. Results must not depend on the number of
 * threads or on the height of bands.
 *
 * Order of calls: options of all stages are parsed, then every init, then frames are read. `plan`
 * runs before a stage's first frame and again whenever the head of its input differs.
 */
#ifndef STAGE_H
#define STAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fail.h"
#include "frame/frame.h"
#include "base/opt.h"
#include "base/cpu_level.h"
#include "io/source.h"
#include "io/target.h"

struct run;
struct passes;	/* a map's compute passes on the device; passes.h */

enum gpu_agreement { AGREE_EXACT, AGREE_ABSOLUTE, AGREE_RELATIVE };

enum stage_trait {
	STAGE_SOURCE = 1, /* takes no input: its flow is called once with NULL */
	STAGE_SINK = 2,   /* gives no frames: its result is text or files */
	/* Reads its operands by itself: as the first stage its flow is called once, with NULL, and
	 * takes run->operand, or standard input where there are none. Behind others it is a flow,
	 * unless a source too. */
	STAGE_OPERANDS = 4,
	STAGE_ANY_TYPE =
	    8 /* takes uchar, ushort and float; without it the runner converts to float */
};

struct body {
	/* How many planes make one input (they are taken in order from the incoming frames, however
	 * those are grouped, and stacked without a copy; metadata as in meta_gather). NULL: the
	 * frame as it is. Called with the head of the first waiting frame. -1 after fail(). */
	int (*gather)(struct run *, const struct frame_head *, size_t *planes);
	/* Whole-frame pass before rows, reduced in a fixed order. May be NULL. Its result goes to
	 * priv, and into values of the output's metadata (run_output_meta) whose keys plan has set.
	 */
	int (*survey)(struct run *, const struct frame *in);
	/* Computes rows y0 <= y < y1 of every output channel. Input rows from y0 - halo to y1 +
	 * halo - 1, as far as they exist in the image (0 <= y < in->head.h), may be read; use
	 * frame_row(). */
	void (*rows)(
	    const struct run *, const struct frame *in, struct frame *out, size_t y0, size_t y1);
	/* All rows of a frame are made: for warnings about what rows has seen. May be NULL. */
	void (*after)(struct run *);
	/* The same on the device, after plan and survey: lists what computes it (passes.h). NULL:
	 * the processor does it. -1 after fail(). */
	int (*passes)(struct run *, struct passes *);
	/* Or this instead of survey, rows and after: whole frames, which it then owns; NULL at the
	 * end. Its passes are those of run_passes(). */
	int (*flow)(struct run *, struct frame *in);
	/* Without passes: why only the processor does this, told under -v where a device is
	 * demanded. NULL: nobody has written them. */
	const char *no_passes;
};

struct stage {
	const char *name, *summary, *operands;	/* operands: "[FILE ...]" */
	const char *advice; /* options to look at where no pixel is valid; may be NULL */
	const struct opt *options;		/* ended by a row without name */
	size_t parameter_size, private_size;
	unsigned traits;
	enum gpu_agreement agree; /* how closely CPU and GPU agree; the tests enforce it */
	double tolerance;
	int (*init)(struct run *);		/* options are set, no frame seen; sets run->body */
	/* out is a copy of in, with type float: change size, channels, metadata; set run->halo,
	 * priv. For a flow, out is only what run_emit checks nothing against: plan may be NULL. */
	int (*plan)(struct run *, const struct frame_head *in, struct frame_head *out);
	void (*end)(struct run *);		/* frees what priv owns; may be NULL */
};

/* How colour images (channels r g b, maybe a) become planes when a tool reads captures. */
enum colour {
	COLOUR_KEEP, /* as they are */
	COLOUR_GREY, /* equal planes become one; unequal ones are an error that names --channel */
	COLOUR_RED,
	COLOUR_GREEN,
	COLOUR_BLUE,
	COLOUR_PLANES /* r, g, b are three images, alpha is dropped */
};

struct run {
	const struct stage *stage;
	const struct body *body; /* set by init; plan may take another one with or without survey */
	void *parameters;		/* the option struct, of parameter_size */
	void *priv;			/* zeroed, of private_size */
	enum colour colour;		/* set by init; COLOUR_KEEP */
	size_t halo; /* set by plan: rows of input needed above and below a row of output */
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
 * For plan: channel out_c of the output is the input's channel in_c, unchanged. The runner may then
 * give both the same memory; rows still calls frame_pass() for every row of it. -1 after fail().
 */
int run_pass(struct run *, size_t out_c, size_t in_c);

/* Hands a frame on, taking ownership; appends cmd.N. 0; -1 when the chain is stopping. */
int run_emit(struct run *, struct frame *);
/* Calls fn(arg, i) for 0 <= i < n on all threads; returns when all are done. For flows. */
void run_for(struct run *, size_t n, void (*fn)(void *arg, size_t i), void *arg);
/* The metadata of the output that plan made; a survey may change values there, not keys. */
struct meta *run_output_meta(struct run *);
/* What the chain's -o will be written with; a stage's init may change it. */
struct save_options *run_save_options(struct run *);

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
/* An image given by an option of type OPT_FRAME stands behind the input's own channels, as float,
 * under the names "OPTION.CHANNEL" (ref.absphase); this looks one up: channel NULL is the only one.
 */
int run_second_input(const struct run *, const struct frame_head *, const char *option,
    const char *channel, size_t *c);
/* The head of that image, as it is in its file; NULL where the option is not given. From plan on.
 */
const struct frame_head *run_second_input_head(const struct run *, const char *option);

/* The whole program of a tool, and of fringepipe. They return the exit code. */
int stage_main(const char *name, int argc, char **argv);
int chain_main(int argc, char **argv);

/* What is linked in: a row per tool, ended by a row without name; main.c makes it. */
struct stage_row {
	const char *name;
	const struct stage *level[CPU_LEVELS];	/* by instruction level */
};
extern const struct stage_row stage_table[];
/* The stage of a name, at this machine's (or FRINGEPIPE_CPU's) level; NULL if there is none. */
const struct stage *stage_find(const char *name);

#endif
