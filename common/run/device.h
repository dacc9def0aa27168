/* Segments on the Vulkan device. */
#pragma once

#include "gpu/gpu.h"
#include "run/segment.h"

/* Lists a planned link's passes (passes.h); *able: whether there are any. -1 after fail(). */
int passes_plan(struct gpu *, struct link *, bool *able);
/* Do they give the processor's bytes on this device? */
bool passes_are_exact(const struct gpu *, const struct passes *);
/* Forgets them. */
void passes_unplan(struct link *);
/* Prints, once and under -v, why the processor does this. */
void passes_refused(struct link *, const char *why);

/* The passes that a flow owns (run_passes()): prints times under -v, and frees. */
void flow_gpu_end(struct chain *, struct link *);

/*
 * Segments of a chain on the device. Jobs of several frames are in flight at once, each with memory
 * of its own, so that copies overlap with computing; they complete in the order of submission. A
 * frame that does not fit the device's memory is computed in tiles of rows.
 */

/* which: as in gpu_open(). Frames made from now on lie in memory that the device reaches. */
int device_open(const char *which, struct gpu **device);
/* -1 after fail() where the validation layer found fault. NULL is no device. */
int device_close(struct gpu *);

/*
 * Submits a frame to the segment, in tiles of chain->band rows (0: as many as fit). `complete`
 * is called with frames that are done, oldest first; it owns them and may start others elsewhere.
 * 0: it has taken segment->in and ->out. 1 after fail(): the device has no room for it, and the
 * tiles in flight complete no frame. -1 after fail().
 */
typedef int device_complete(struct chain *, size_t at, struct frame *);
int device_start(struct gpu *, struct segment *, device_complete *);
/* Prints, once, why the processor goes on with what -d auto gave to the device: as fail() has
 * recorded, which is cleared. */
void device_gives_way(struct chain *);
/* Completes the jobs in flight of the segment that begins with this link, if that segment goes past
 * stage `to`. */
int device_drain(struct chain *, struct link *, size_t to, device_complete *);
/* Waits for the jobs in flight and frees them; their frames are dropped. */
void device_abandon(struct gpu *, struct link *);
