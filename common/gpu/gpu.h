/*
 * A compute device: blocks of memory, and jobs that copy to it, run shaders on it and copy back.
 * Vulkan 1.2 (vulkan.c), or nothing (none.c, GPU=0), behind the same functions.
 *
 * Shaders get all their memory by address (bufferDeviceAddress): there are no bindings, the push
 * block of common/gpu/gpu.glsl says where everything is.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GPU_PUSH_MOST 128	/* bytes of a push block that every device takes */

struct gpu;
struct gpu_job;

/* A compiled compute shader that is linked in; see shader.c. */
struct shader {
	const char *name;
	const uint32_t *code;
	const uint32_t *end;
};

/* Copies the first half of a block to the second: memory_copy.comp. */
extern const struct shader shader_memory_copy;

/* The push block of gpu.glsl. */
struct gpu_push {
	uint64_t planes, block;
	uint32_t w, h, y0, y1;
	uint32_t states, outputs, new_states, scratches, constants;
};

struct gpu_facts {
	char name[256];
	const char *kind;		/* discrete, integrated, virtual, cpu, other */
	bool unified;	/* the host's memory is the device's own: nothing has to cross */
	bool float64;			/* shaders may use doubles */
	bool exact;	/* floats are rounded to nearest, subnormal numbers, infinities, NaN kept:
			 * the driver declares it, or it was tried when the device was opened */
	bool transfers;			/* has queues of its own for copies */
	uint64_t memory_bytes;		/* of its largest own heap */
	uint64_t allocation_most;	/* bytes of one block */
	uint32_t groups_most[2];	/* workgroups of a dispatch, across and down */
};

/* Calls each(arg, number, facts) for every device that could be used; their number, -1 after
 * fail(). No loader and no driver: none. Devices whose floats must be tried are opened for that. */
int gpu_list(void (*each)(void *arg, size_t number, const struct gpu_facts *), void *arg);
/*
 * Opens a device: "" the first of the fastest kind, "N" number N of the list, else the first whose
 * name contains the text (in any case). -1 after fail_with(EXIT_NO_DEVICE) where there is none,
 * naming what it lacks. The device remembers compiled shaders in the user's cache folder.
 */
int gpu_open(const char *which, struct gpu **out);
/* All blocks and jobs must have been freed. -1 after fail() if the validation layer
 * (FRINGEPIPE_GPU_CHECK=1) has found fault with something. */
int gpu_close(struct gpu *);
const struct gpu_facts *gpu_facts(const struct gpu *);
bool gpu_shader_has_doubles(const struct shader *);

enum gpu_place {
	GPU_HOST,	/* mapped; pinned, so that the device's copies need no help */
	GPU_DEVICE	/* the device's own; not mapped */
};

struct gpu_block {
	void *host;			/* NULL on the device */
	uint64_t address;		/* what shaders call it */
	size_t bytes;
};

/* NULL where there is not so much, without a message. May be called by several threads at once. */
struct gpu_block *gpu_block_try(struct gpu *, enum gpu_place, size_t bytes);
/* The same; NULL after fail(). */
struct gpu_block *gpu_block_new(struct gpu *, enum gpu_place, size_t bytes);
void gpu_block_free(struct gpu *, struct gpu_block *);

/*
 * A job is filled (uploads, then dispatches, then downloads, in whatever order they are added),
 * submitted, waited for, and may then be filled again. Jobs run in the order of their submission;
 * copies of one overlap with the computing of another. Every dispatch sees what those before it
 * wrote, except those that it runs beside. All return -1 after fail().
 */
struct gpu_job *gpu_job_new(struct gpu *);
/* Must not be running. */
void gpu_job_free(struct gpu_job *);
void gpu_job_begin(struct gpu_job *);
/* From the host's block up to the device's, or from the device's down. */
void gpu_job_copy(struct gpu_job *, const struct gpu_block *from, size_t from_at,
    const struct gpu_block *to, size_t to_at, size_t bytes);
/* local: invocations of a workgroup; groups: workgroups; beside: it does not need what the dispatch
 * before it writes, nor what that one runs beside, and may run while they do. */
int gpu_job_dispatch(struct gpu_job *, const struct shader *, const uint32_t local[2],
    const uint32_t groups[2], const struct gpu_push *push, bool beside);
int gpu_job_submit(struct gpu_job *);
/* Returns when the job is done. A device that does not answer in time (a minute, or
 * FRINGEPIPE_GPU_TIMEOUT seconds) is given
 * up: its memory is never freed, since it may still be at work on it. */
int gpu_job_wait(struct gpu_job *);
/* Was the device given up? Then the memory that its jobs work on must not be used again. */
bool gpu_lost(const struct gpu *);
/* Of a job that is done, seconds that the device spent: each dispatch, uploads, downloads. NaN
 * where it has no clock. */
double gpu_job_dispatch_seconds(const struct gpu_job *, size_t dispatch);
void gpu_job_copy_seconds(const struct gpu_job *, double *up, double *down);
