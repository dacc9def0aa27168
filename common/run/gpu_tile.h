/* A tile: the rows of a frame that one job of the device makes, through all maps of a segment. */
#ifndef GPU_TILE_H
#define GPU_TILE_H

#include "run/pass_list.h"
#include "run/sampler.h"

struct device_frame;

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

/* Finds what the tile's segment reads and makes. Channels of the output that are made once and
 * handed on twice become one plane. -1 after fail(). */
int tile_open(struct tile *);
void tile_close(struct tile *);
/* Goes over everything once: to find the sizes, or (fills) to record the job. -1 after fail(). */
int tile_record(struct tile *, bool fills);
/* The job is on its way: the tables that it uploads will be there for the next one. */
void tile_submitted(struct tile *);
/* Where pixels come from while the device is open; arg: the device. */
void tile_memory(struct device *, struct memory_source *);

#endif
