/* Segments on the Vulkan device. */
#ifndef DEVICE_H
#define DEVICE_H

#include "run/chain.h"
#include "run/passes.h"
#include "run/sampler.h"
#include "run/segment.h"

struct device_frame;

/* ---- the passes that a map lists (passes.h), as the runner sees them, and the open device ---- */

struct device {
	struct gpu *gpu;
	bool verbose;
};

struct constant {
	struct gpu_block *host, *device;
	bool there;			/* on the device */
};

struct passes {
	struct gpu *gpu;
	const struct frame_head *in, *out;
	struct pass *pass;
	size_t n;
	bool *reads;			/* by channel of the input */
	size_t scratches;
	struct constant *constant;
	size_t constants;
	const char *refused;
	bool exact;			/* declared to give the processor's bytes */
	bool doubles;			/* some shader has them: Vulkan does not say how exact */
};

/* Lists a planned link's passes; *able: whether there are any. -1 after fail(). */
int passes_plan(struct device *, struct link *, bool *able);
/* Forgets them. */
void passes_unplan(struct link *);
/* Says, once and under -v, why the processor does this. */
void passes_refused(const struct device *, struct link *, const char *why);

/* A tile: the rows of a frame that one job of the device makes, through all maps of a segment. */

/* Memory that grows when it is needed. */
struct gpu_job_slot {
	struct gpu_job *job;
	struct gpu_block *arena;	/* planes on the device */
	struct gpu_block *words_host, *words;	/* addresses and blocks; the same if unified */
	struct gpu_block *staging;	/* planes in memory that the device does not reach */
	struct frame **held;		/* whose pixels it uses */
	size_t holds;
	struct frame *completes;	/* the frame whose last tile it is */
	struct device_frame *frame;	/* likewise */
	struct copy_back {
		void *to;
		size_t at, bytes;
	} *copy_back;			/* from the staging block, when it is done */
	size_t copies_back;
};

/* Rows that checks look at, of a plane that the segment's maps make: channel c of the rows is
 * channel `channel` of map k's output. */
struct sampled_plane {
	struct check_rows *rows;
	size_t c, k, channel;
	size_t final;	/* the channel of the segment's output that it is; NO_CHANNEL: none */
};

/* A frame under way, till its last tile is done. */
struct device_frame {
	struct segment segment;		/* only what does not change meanwhile is of use */
	struct frame *in;		/* shares its pixels */
	struct frame **second;		/* inputs of its maps, one map after the other, likewise */
	size_t seconds;
	struct check_sample *sample;	/* of each map; NULL: no map has had checks */
	struct sampled_plane *plane;
	size_t planes, room;
};

/* A plane as shaders see it (gpu.glsl). */
struct gpu_plane {
	uint64_t address;		/* of row 0 */
	uint32_t stride, type;		/* bytes from row to row; enum sample */
};

/* One tile of one frame on its way through the segment. */
struct tile {
	struct device *device;
	struct segment *segment;
	struct gpu_job_slot *slot;
	struct device_frame *frame;
	size_t y0, y1;
	bool fills;			/* false: only sizes are found */
	size_t arena, words, staging;	/* bytes used so far */
	size_t up_bytes, down_bytes;	/* that cross */
	bool fits;			/* no dispatch has more workgroups than the device takes */
	/* planes of map k's input, output and state, in the order of struct frame */
	struct gpu_plane *in[SEGMENT_MOST], *out[SEGMENT_MOST];
	bool *wanted;			/* of the segment's input: read by some map */
	size_t *final[SEGMENT_MOST]; /* by channel of map k: the output's channel that it is */
	struct gpu_plane *planes;	/* memory of the lists above */
	size_t *channels;
};

/* ---- passes that a flow owns: run_passes() of passes.h. For the runner's parts only ---- */

/* Tells times under -v, and frees. */
void flow_gpu_end(struct chain *, struct link *);

/*
 * Segments of a chain on the device. Jobs of several frames are in flight at once, each with memory
 * of its own, so that copies overlap with computing; they complete in the order of submission. A
 * frame that does not fit the device's memory is computed in tiles of rows.
 */

/* which: as in gpu_open(). Frames made from now on lie in memory that the device reaches. */
int device_open(const char *which, bool verbose, struct device **out);
/* -1 after fail() where the validation layer found fault. NULL is no device. */
int device_close(struct device *);
const struct gpu_facts *device_facts(const struct device *);

/*
 * Submits a frame to the segment, in tiles of chain->band rows (0: as many as fit). `complete`
 * is called with frames that are done, oldest first; it owns them and may start others elsewhere.
 * 0: it has taken segment->in and ->out. 1 after fail(): the device has no room for it, and the
 * tiles in flight complete no frame. -1 after fail().
 */
typedef int device_complete(struct chain *, size_t at, struct frame *);
int device_start(struct device *, struct segment *, device_complete *);
/* Completes the jobs in flight of the segment that begins with this link, if that segment goes past
 * stage `to`. */
int device_drain(struct chain *, struct link *, size_t to, device_complete *);
/* Waits for the jobs in flight and frees them; their frames are dropped. */
void device_abandon(struct device *, struct link *);

#endif
