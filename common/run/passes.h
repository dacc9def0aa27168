/*
 * A map's compute passes on the device. A stage whose body has `passes` lists them there, after
 * plan (and survey): for each a shader and the block of numbers that the shader reads. The runner
 * owns everything else: memory, copies, order, tiles of frames that do not fit.
 *
 * The shader (tools/NAME/NAME.comp or NAME_WORD.comp) includes common/gpu/gpu.glsl and the stage's
 * own .px.h; the block's struct stands in both languages with the same members of 4 or 8 bytes.
 */
#pragma once

#include "frame/frame.h"
#include "gpu/gpu.h"

/* The shader of a .comp file; NULL in a build without a device. */
#ifdef NO_GPU
#define SHADER(name) NULL
#else
#define SHADER(name) __extension__({ \
	extern const struct shader shader_##name; \
 \
	&shader_##name; \
})
#endif

struct pass {
	const struct shader *shader;
	const void *block;		/* copied */
	size_t bytes;
	uint32_t tile[2];		/* columns and rows that one workgroup makes */
	uint32_t local[2];		/* its invocations */
	/* Rows above and below the wanted ones that it makes too (of scratch planes), as far as the
	 * image goes. */
	size_t beyond;
	/* It needs nothing of the pass before it, nor of what that one is beside: they may run at
	 * once. */
	bool beside;
};

/* For shaders that make four pixels of a row per invocation, and for those that make one. */
#define PASS_FOURS .tile = { 64, 8 }, .local = { 16, 8 }
#define PASS_PIXELS .tile = { 16, 8 }, .local = { 16, 8 }

/* A pass's shader, and the block that it reads. */
#define PASS_OF(name, data) .shader = SHADER(name), .block = &(data), .bytes = sizeof(data)

struct passes;
struct run;

/* The head of what comes in, with the second inputs behind it. */
const struct frame_head *passes_input(const struct passes *);
bool passes_float64(const struct passes *);	/* may shaders use doubles? */

/* Does some pass read the input's channel c? */
bool passes_reads(const struct passes *, size_t c);

/* A pass of this shader over all pixels follows. */
void passes_add(struct passes *, const struct pass *);
/* Some pass reads the input's channel c; others are not brought to the device. */
void passes_read(struct passes *, size_t c);
/* The passes hand n float planes of the output's width to each other. */
void passes_scratch(struct passes *, size_t n);
/* A table for all frames until the next plan; the first is gpu_constant(0). Copied. -1 after
 * fail(). */
int passes_constant(struct passes *, const void *table, size_t bytes);
/* For flows whose body has passes: is a device demanded, or would -d auto gain by one? */
bool run_wants_device(const struct run *);
/* For them, too: makes the frame of head `out` from `in` on the device, if that is wanted and can;
 * run->halo rows above and below are read, or all of an input of another height. *made: the frame,
 * the caller's; NULL: the processor is to do it. -1 after fail(). */
int run_passes(struct run *, struct frame *in, const struct frame_head *out, struct frame **made);

/* These passes give the processor's bytes, by construction (base/px.h), though the stage declares a
 * tolerance for others: -d auto may take them. */
void passes_exact(struct passes *);
/* For flows: the passes need the whole frame at once; it is not cut into tiles. */
void passes_whole(struct passes *);
/* This cannot be done on the device, which is no error: the processor does it. Returns 0. */
int passes_refuse(struct passes *, const char *why);
