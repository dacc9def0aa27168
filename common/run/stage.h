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
#pragma once

#include "base/cpu_level.h"
#include "base/opt.h"
#include "base/process.h"
#include "frame/frame.h"
#include "run/run.h"

struct check;	/* check.h */
struct passes;	/* a map's compute passes on the device; passes.h */

enum gpu_agreement { AGREE_EXACT, AGREE_ABSOLUTE, AGREE_RELATIVE };

enum stage_trait {
	/* Takes no input: as the first stage its body's `start` makes all frames. */
	STAGE_SOURCE = 1,
	/* Gives no frames: its result is text or files. */
	STAGE_SINK = 2,
	/* Reads its operands by itself: as the first stage its body's `start` takes run->operand,
	 * or standard input where there are none. Behind others it gets frames, unless it is a
	 * source, too. */
	STAGE_OPERANDS = 4,
	/* Takes uchar, ushort and float; without it the runner converts to float. */
	STAGE_ANY_TYPE = 8,
	/* Takes tables, too (frame(5)), which the runner refuses without it. A map's rows then
	 * makes each column from the same column alone, its halo is 0, and plan must not depend on
	 * the number of columns: it does not run anew where only that changes. */
	STAGE_TABLES = 16,
	/* Takes samples in their own unit only: the runner refuses those that framecat --scale has
	 * scaled. */
	STAGE_UNITS = 32,
	/* Its first operand is a word of its own, not a file: init takes it from run->operand. So
	 * it may follow other stages, too. */
	STAGE_WORD = 64,
	/* Its standard output is a text, also where -o takes frames. */
	STAGE_TEXT = 128,
	/* Several frames may be made at once: rows changes nothing of priv, nor what that points
	 * to, but flags of all frames. */
	STAGE_CONCURRENT = 256,
	/* Its exit status is its answer, 0 or 1 in run->status: whatever goes wrong is 2. */
	STAGE_ANSWERS = 512,
	/* No stage of a chain. */
	STAGE_ALONE = 1024
};

/* A thread's memory for the calls of rows of one map: run->scratch_bytes, aligned to 64, unset. */
struct row_scratch {
	void *memory;		/* NULL where scratch_bytes is 0 */
	/* The last call with this memory was for the rows that end at y0 of this one, of the same
	 * frame: what it left in the memory is still there. */
	bool continues;
};

enum { SURVEY_SKIPS = 1 };

/* A body's `rows`, and what a tool compiles for each instruction level to be called by it. */
typedef void body_rows(const struct run *, const struct frame *in, struct frame *out, size_t y0,
    size_t y1, const struct row_scratch *);

struct body {
	/* How many planes make one input (they are taken in order from the incoming frames, however
	 * those are grouped, and stacked without a copy; metadata as in meta_gather). NULL: the
	 * frame as it is. Called with the head of the first waiting frame. -1 after fail(). */
	int (*gather)(struct run *, const struct frame_head *, size_t *planes);
	/*
	 * For a body that gathers: a frame comes, while `have` planes of the measurement at hand
	 * wait or are lost, of `wanted` (0: not known yet). *begins: it begins another one, and
	 * fail() says why what waits stays incomplete. path: its file; NULL: not known. May be
	 * NULL. -1 after fail().
	 */
	int (*arrives)(struct run *, const struct frame_head *, const char *path, size_t have,
	    size_t wanted, bool *begins);
	/*
	 * For a body that gathers: sees every image before it is gathered, and may hold some back
	 * until it knows which are a measurement. in: the next image, NULL: there is none; ended:
	 * none comes. *images: so many of those that are held go on, all where it is SIZE_MAX; 0:
	 * they wait. *measurements: not 0: they are left out instead, as many measurements lack
	 * images, and fail() says why. It is called again, without an image, until they wait.
	 * NULL: nothing is held back. -1 after fail().
	 */
	int (*holds)(struct run *, const struct frame *in, bool ended, size_t *images,
	    size_t *measurements);
	/* Whole-frame pass before rows, reduced in a fixed order. May be NULL. Its result goes to
	 * priv, and into values of the output's metadata (run_output) whose keys plan has set.
	 * SURVEY_SKIPS: the frame gives no output. */
	int (*survey)(struct run *, const struct frame *in);
	/* Computes rows y0 <= y < y1 of every output channel. Input rows from y0 - halo to y1 +
	 * halo - 1, as far as they exist in the image (0 <= y < in->head.h), may be read; use
	 * frame_row(). Second inputs and the last frame's state planes stand behind the input's
	 * planes, this frame's state planes behind the output's (run_state_in(),
	 * run_state_out() in run.h). */
	body_rows *rows;
	/* All rows of a frame are made: for warnings about what rows has seen. May be NULL. */
	void (*after)(struct run *);
	/* The same on the device, after plan and survey: lists what computes it (passes.h). NULL:
	 * the processor does it. -1 after fail(). */
	int (*passes)(struct run *, struct passes *);
	/* Or a flow instead of rows and after, maybe with a survey. -1 after fail(). Its passes are
	 * those of run_passes(), or, where it has `made`, of all that it computes. */
	/* As the first stage of a chain that takes its operands by itself, or none: makes all
	 * frames. */
	int (*start)(struct run *);
	/* A whole frame, which it then owns. */
	int (*frame)(struct run *, struct frame *in);
	/*
	 * The passes have computed a frame of plan's `out`, maybe of what stages before left on the
	 * device: emits it, which it owns. The first word of the last row of its first channel was
	 * not 0 where the stage's input had a valid pixel. 1: it is freed, the processor shall do
	 * it (`frame`). -1 after fail().
	 */
	int (*made)(struct run *, struct frame *made);
	/* Before plan runs for another head: hands on what it holds back of the last one. `next`
	 * may differ in metadata only. NULL: it holds nothing back. */
	int (*flush)(struct run *, const struct frame_head *next);
	/* An input is lost (--keep-going); seen: `frame` was given it, and failed. *results, 1 at
	 * first: how many results are lost with it. NULL: the flow counts nothing. */
	int (*lost)(struct run *, bool seen, size_t *results);
	/* The input has ended: hands on what is left, writes the result. May be NULL. */
	int (*end)(struct run *);
	/* What it takes is kept by this name (cost_model.h). NULL: the stage's. */
	const char *cost;
	/* Without passes: why only the processor does this, which -v prints where a device is
	 * demanded. NULL: nobody has written them. */
	const char *no_passes;
};

/* Where a row of a tool's options keeps its value, for struct opt's `offset`. */
#define AT(field) offsetof(struct parameters, field)

/* In a tool's struct stage: the sizes of its options' values, and of its private struct. */
#define STAGE_MEMORY(priv) \
	.parameter_size = sizeof(struct parameters), .private_size = sizeof(struct priv)

/* Where a tool's rows are compiled for each instruction level (base/cpu_level.h), BODY_ROWS(gauss,
 * filter) defines gauss_filter(), a body's `rows`, which calls those of this machine's level. */
#define BODY_ROWS(tool, field) \
	static void \
	tool##_##field(const struct run *run, const struct frame *in, struct frame *out, \
	    size_t y0, size_t y1, const struct row_scratch *scratch) \
	{ \
		tool##_rows()->field(run, in, out, y0, y1, scratch); \
	}

struct stage {
	const char *name, *summary;
	const char *operands;	/* as --help prints them; NULL: files, or none of a source */
	const char *hint;	/* options to look at where no pixel is valid; may be NULL */
	/* What `fringepipe --calibrate` measures the stage with; words NULL: nothing. The second
	 * one is for a body with a `cost` of its own. */
	struct stage_example {
		const char *words;	/* the stage and its options: "gauss -n 5" */
		const char *from;	/* the output of another stage's example, or "images" */
		const char *to;		/* what its own output is called */
		const char *cost;	/* that body's */
	} example, second_example;
	const struct opt *options;		/* ended by a row without name */
	/* Names of the options that --help lists, with blanks between them: those that the page
	 * calls usual. NULL: all. */
	const char *usual;
	size_t parameter_size, private_size;
	const struct check *const *checks;	/* what to warn about; ended by NULL, or NULL */
	unsigned traits;
	/* How closely processor and device agree, in all that the stage's bodies do; exactly where
	 * nothing else is named. The tests enforce it. -d auto takes only what is exact: such a
	 * stage's passes, and those that call passes_exact(). */
	enum gpu_agreement agree;
	double tolerance;
	int (*init)(struct run *);		/* options are set, no frame seen; sets run->body */
	/* out is a copy of in, with type float: change size, channels, metadata; set run->halo,
	 * run->state, run->scratch_bytes, priv. A flow emits frames of any head, whatever out is;
	 * its plan may be NULL. */
	int (*plan)(struct run *, const struct frame_head *in, struct frame_head *out);
	void (*release)(struct run *);		/* frees what priv owns; may be NULL */
};

/* The whole program of a tool, and of fringepipe. They return the exit code. */
int stage_main(const char *name, int argc, char **argv);
int chain_main(int argc, char **argv);

/* What is linked in: a row per tool (some are no stages, STAGE_ALONE), ended by a row without name;
 * main.c makes it. */
struct stage_row {
	const char *name;
	const struct stage *stage;
};
extern const struct stage_row stage_table[];
/* What --version prints after the name; the Makefile compiles it for each link. */
extern const char program_version[];
/* The tool of a name; NULL if there is none. */
const struct stage *stage_find(const char *name);
