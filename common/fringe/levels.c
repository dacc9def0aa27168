#define _GNU_SOURCE
#include "fringe/levels.h"

#include <stdlib.h>
#include <string.h>

#include "holo/dither.h"
#include "base/px.h"
#include "base/cpu_level.h"

#define BLOCK 64		/* rows that a thread takes at a time */

/* The whole level nearest to a share of full scale. The conversion truncates: floor, here. */
static inline uint
whole(float level, float full)
{
	return (uint)px_int(px_min(px_max(level, 0.0f), 1.0f) * full + 0.5f);
}

static void
encode_uchar(const float *restrict level, size_t n, float full, unsigned char *restrict out)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		out[x] = (unsigned char)whole(level[x], full);
}

static void
encode_ushort(const float *restrict level, size_t n, float full, uint16_t *restrict out)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		out[x] = (uint16_t)whole(level[x], full);
}

/*
 * n levels as samples: uchar and ushort take the whole number nearest to level * full, halves
 * upward, held to 0 .. full; float samples are the levels themselves.
 */
static void
levels_encode(const float *level, size_t n, enum sample type, float full, void *out)
{
	if (type == SAMPLE_UCHAR)
		encode_uchar(level, n, full, out);
	else if (type == SAMPLE_USHORT)
		encode_ushort(level, n, full, out);
	else
		memcpy(out, level, n * sizeof(*level));
}

/* Fills a row of n samples with its first one. */
static void
spread_first(void *row, size_t n, enum sample type)
{
	size_t size = sample_size(type);

	for (size_t have = 1; have < n; have *= 2)
		memcpy((char *)row + have * size, row, (have < n - have ? have : n - have) * size);
}

struct job {
	struct frame *frame;
	size_t channel;
	bool down;		/* the levels run from the top, not from the left */
	float full;
	const float *level;
	float *plane;		/* the levels of all pixels instead; or NULL */
};

/* Dithers the whole plane: rows depend on the rows above them. */
static int
dither_plane(struct job *job, enum dither how)
{
	size_t w = job->frame->head.w, h = job->frame->head.h, pixels;

	if (size_multiply(w, h, &pixels) < 0)
		return -1;
	job->plane = reallocarray(NULL, pixels, sizeof(*job->plane));
	if (!job->plane)
		return fail_memory();
	for (size_t i = 0; i < pixels; i++)
		job->plane[i] = job->level[job->down ? i / w : i % w];
	for (size_t y = 0; y < h; y++) {
		float *row = job->plane + y * w;

		if (how == DITHER_BAYER)
			for (size_t x = 0; x < w; x++)
				row[x] = row[x] >= dither_bayer((uint)x, (uint)y, 3) ? 1.0f : 0.0f;
		else
			dither_diffuse_row(row, y + 1 < h ? row + w : NULL, w,
			    how == DITHER_FS_SERPENTINE && y % 2 ? -1 : 1);
	}
	return 0;
}

static void
fill_block(void *arg, size_t block)
{
	const struct job *job = arg;
	const struct frame_head *head = &job->frame->head;

	for (size_t y = block * BLOCK; y < head->h && y < (block + 1) * BLOCK; y++) {
		const float *level = job->plane ? job->plane + y * head->w :
		    job->down ? job->level + y : job->level;
		bool spread = job->down && !job->plane;
		void *row = frame_row(job->frame, job->channel, y);

		levels_encode(level, spread ? 1 : head->w, head->type, job->full, row);
		if (spread)
			spread_first(row, head->w, head->type);
	}
}

static float
full_scale(const struct frame_head *head)
{
	const char *bits = meta_get(&head->meta, "bits");

	if (head->type == SAMPLE_FLOAT || (bits && !strcmp(bits, "1")))
		return 1.0f;
	return head->type == SAMPLE_USHORT ? 65535.0f : 255.0f;
}

int
levels_fill(struct run *run, struct frame *frame, size_t c, const float *level, bool down,
    enum dither how)
{
	struct job job = { frame, c, down, full_scale(&frame->head), level, NULL };

	if (how != DITHER_NONE && dither_plane(&job, how) < 0)
		return -1;
	run_for(run, (frame->head.h + BLOCK - 1) / BLOCK, fill_block, &job);
	free(job.plane);
	return 0;
}
