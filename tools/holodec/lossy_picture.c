/*
 * What holodec does for lossy pictures, in this order: colour of half the resolution is mended,
 * regions are found that decide their orders together, and pixels beside jumps are grown. Memory
 * and refusals; halved_rows.c, regions_rows.c and growing_rows.c have the loops and the methods.
 */
#include "holodec.h"

#include <stdlib.h>

#include "base/fail.h"

/* ---- colour of half the resolution ---- */

static int
halving_reserve(struct halving *halving)
{
	size_t pixels = halving->in->head.w * halving->in->head.h;

	halving->near = malloc(pixels);
	halving->surface = malloc(pixels);
	halving->mixed = malloc(halving->w * halving->h);
	halving->untold = calloc(halving->w, halving->h);
	halving->block = calloc(halving->w * halving->h, sizeof(*halving->block));
	if (!halving->near || !halving->surface || !halving->mixed || !halving->untold ||
	    !halving->block)
		return fail_memory();
	return frame_new(&halving->in->head, &halving->out);
}

int
halved_mend(struct run *run, const struct reading *reading, const struct frame *in,
    struct halved *out)
{
	struct halving halving;
	int status;

	*out = (struct halved){ 0 };
	if (in->head.type != SAMPLE_UCHAR)
		return 0;
	halved_rows()->find(reading, in, &halving);
	if (!halving.wide)
		return 0;
	status = halving_reserve(&halving);
	if (status == 0)
		halved_rows()->mend(run, &halving);
	free(halving.near);
	free(halving.mixed);
	free(halving.untold);
	free(halving.block);
	*out = (struct halved){ halving.out, halving.surface };
	if (status < 0)
		halved_free(out);
	return status;
}

void
halved_free(struct halved *halved)
{
	frame_free(halved->picture);
	free(halved->surface);
	*halved = (struct halved){ 0 };
}

/* ---- regions ---- */

void
regions_free(struct regions *regions)
{
	free(regions->rest);
	free(regions->order);
	free(regions->turns);
	free(regions->state);
	free(regions->certainty);
	free(regions->lead);
	free(regions->inside);
	free(regions->row);
	free(regions->run);
	free(regions->branch);
	free(regions->edge);
	free(regions->sorted);
	free(regions->block);
	free(regions->class);
	free(regions->turn);
	*regions = (struct regions){ 0 };
}

static int
regions_allocate(struct regions *regions, size_t size, size_t rows)
{
	regions->rest = calloc(size, sizeof(*regions->rest));
	regions->order = calloc(size, sizeof(*regions->order));
	regions->turns = calloc(size, sizeof(*regions->turns));
	regions->state = calloc(2, size);
	regions->certainty = calloc(size, sizeof(*regions->certainty));
	regions->lead = calloc(size, sizeof(*regions->lead));
	regions->inside = calloc(rows, sizeof(*regions->inside));
	regions->row = calloc(rows, sizeof(*regions->row));
	regions->run = calloc(size, sizeof(*regions->run));
	regions->branch = calloc(size, sizeof(*regions->branch));
	regions->edge = calloc(2 * size, sizeof(*regions->edge));
	regions->sorted = calloc(2 * size, sizeof(*regions->sorted));
	regions->block = calloc(rows, sizeof(*regions->block));
	regions->class = calloc(size, sizeof(*regions->class));
	regions->turn = calloc(size, sizeof(*regions->turn));
	if (!regions->rest || !regions->order || !regions->certainty ||
	    !regions->turns || !regions->state || !regions->lead || !regions->inside ||
	    !regions->row || !regions->run || !regions->branch || !regions->edge ||
	    !regions->sorted || !regions->block || !regions->class || !regions->turn) {
		regions_free(regions);
		return fail_memory();
	}
	regions->size = size;
	regions->rows = rows;
	return 0;
}

/* Makes ready for a picture. -1 after fail(). */
static int
regions_begin(struct regions *regions, size_t w, size_t h)
{
	if (w * h > INT32_MAX / 2)
		return fail(NULL,
		    "%zu pixels are too many to be decoded by regions: give --decode median",
		    w * h);
	if (regions->size < w * h || regions->rows < h) {
		regions_free(regions);
		if (regions_allocate(regions, w * h, h) < 0)
			return -1;
	}
	regions->w = w;
	regions->h = h;
	regions->blocks = (h + BLOCK_ROWS - 1) / BLOCK_ROWS;
	for (size_t i = 0; i < regions->blocks; i++) {
		size_t y0 = i * BLOCK_ROWS, y1 = h - y0 < BLOCK_ROWS ? h : y0 + BLOCK_ROWS;

		regions->block[i] = (struct region_block){ y0, y1, { y0 * w, y0 * w },
			{ 2 * y0 * w, 2 * y0 * w }, regions->class + i * w,
			regions->turn + i * w, 0, 0 };
	}
	return 0;
}

/* % of a picture's points. Measured: 24 % doubtful at JPEG quality 50 and colour 420, 37 % and more
 * with red and green exchanged. */
#define DOUBTFUL_MOST 33

int
regions_find(struct run *run, struct regions *regions, const struct reading *reading,
    const struct frame *in)
{
	size_t points = 0, doubtful = 0;

	if (regions_begin(regions, in->head.w, in->head.h) < 0)
		return -1;
	regions_rows()->vote(run, regions, reading, in);
	for (size_t i = 0; i < regions->blocks; i++) {
		points += regions->block[i].points;
		doubtful += regions->block[i].doubtful;
	}
	if (points < REGION_LEAST || 100 * doubtful <= DOUBTFUL_MOST * points)
		return 0;
	return fail(NULL,
	    "stairs and fringes disagree in %.0f %% of the picture: wrong options, no Holoimage, "
	    "or compressed too much (--decode median takes it all the same)",
	    100 * (double)doubtful / (double)points);
}

/* ---- growing, and what is kept by certainty ---- */

/*
 * After the vote of the regions: changes regions->order, and fills regions->certainty: 1 inside of
 * smooth regions, NaN in the background, 0 in what may be background. stored: the picture as it
 * came; in: mended, or the same; surface: of struct halved, or NULL. *least: the certainty to ask
 * for: 0.93, or less, down to 0.43, so that at most 1.5 % of the surface is dropped, not counting
 * what looks like a filled hole. A wrong order costs more than a lost pixel, but a surface full of
 * holes is none. -1 after fail().
 */
static int
grow(struct run *run, struct regions *regions, const struct reading *reading,
    const struct frame *in, const struct frame *stored, const unsigned char *surface, float *least)
{
	struct growing growing = { .regions = regions, .reading = reading, .in = in,
		.stored = stored, .surface = surface, .turns = regions->turns,
		.state = regions->state };
	size_t waiting = growing_rows()->begin(run, &growing);

	growing.pixel = malloc((waiting ? waiting : 1) * sizeof(*growing.pixel));
	if (!growing.pixel)
		return fail_memory();
	growing_rows()->grow(run, &growing, least);
	free(growing.pixel);
	return 0;
}

int
certain_grow(struct run *run, const struct frame *in, bool lossy, bool no_edge, bool asked)
{
	struct priv *priv = run->priv;
	float least;

	priv->grown = lossy && priv->decode == DECODE_REGION && (no_edge || asked || priv->keep);
	if (lossy && priv->decode != DECODE_REGION && (priv->keep || asked))
		return fail(NULL,
		    "certainty in a lossy picture is that of regions: give --decode region");
	if (!priv->grown)
		return 0;
	if (grow(run, &priv->regions, &priv->reading,
		priv->mended.picture ? priv->mended.picture : in, in, priv->mended.surface,
		&least) < 0)
		return -1;
	if (!priv->keep)
		growing_rows()->drop(&priv->regions, asked ? priv->least : least);
	return 0;
}
