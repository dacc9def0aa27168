/*
 * What holodec does for lossy pictures, in this order: colour of half the resolution is mended,
 * regions are found that decide their orders together, and pixels beside jumps are grown. Memory
 * and refusals; halved_rows.c, regions_rows.c and growing_rows.c have the loops and the methods.
 */
#include "holodec.h"

/* ---- colour of half the resolution ---- */

int
halved_mend(struct run *run, const struct reading *reading, const struct frame *in,
    struct halved *out)
{
	size_t pixels = in->head.w * in->head.h, blocks;
	struct halving halving;
	int status;

	*out = (struct halved){ 0 };
	if (in->head.type != SAMPLE_UCHAR)
		return 0;
	halved_rows()->find(reading, in, &halving);
	if (!halving.wide)
		return 0;
	blocks = halving.w * halving.h;
	halving.near = must_alloc(pixels, 1);
	halving.surface = must_alloc(pixels, 1);
	halving.mixed = must_alloc(blocks, 1);
	halving.untold = must_alloc(blocks, 1);
	halving.block = must_alloc(blocks, sizeof(*halving.block));
	status = frame_new(&in->head, &halving.out);
	if (status == 0)
		halved_rows()->mend(run, &halving);
	free_all(halving.near, halving.mixed, halving.untold, halving.block);
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
	free_all(regions->rest, regions->order, regions->turns, regions->state, regions->certainty,
	    regions->lead, regions->inside, regions->row, regions->run, regions->branch,
	    regions->edge, regions->sorted, regions->block, regions->class, regions->turn);
	*regions = (struct regions){ 0 };
}

/* Makes ready for a picture. -1 after fail(). */
static int
regions_begin(struct regions *regions, size_t w, size_t h)
{
	size_t size = w * h;

	if (size > INT32_MAX / 2)
		return fail(NULL,
		    "%zu pixels are too many to be decoded by regions: give --decode median",
		    size);
	if (regions->size < size || regions->rows < h) {
		regions_free(regions);
		*regions = (struct regions){ .size = size, .rows = h,
			.rest = must_alloc(size, sizeof(float)),
			.order = must_alloc(size, sizeof(float)),
			.turns = must_alloc(size, sizeof(float)),
			.state = must_alloc(size, 2),
			.certainty = must_alloc(size, sizeof(float)),
			.lead = must_alloc(size, sizeof(int32_t)),
			.inside = must_alloc(h, sizeof(*regions->inside)),
			.row = must_alloc(h, sizeof(*regions->row)),
			.run = must_alloc(size, sizeof(*regions->run)),
			.branch = must_alloc(size, sizeof(*regions->branch)),
			.edge = must_alloc(size, 2 * sizeof(*regions->edge)),
			.sorted = must_alloc(size, 2 * sizeof(*regions->sorted)),
			.block = must_alloc(h, sizeof(*regions->block)),
			.class = must_alloc(size, 1),
			.turn = must_alloc(size, sizeof(int32_t)) };
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
 * smooth regions, NaN in the background, 0 in what may be background. The certainty to ask for is
 * 0.93, or less, down to 0.43, so that at most 1.5 % of the surface is dropped, not counting what
 * looks like a filled hole. A wrong order costs more than a lost pixel, but a surface full of holes
 * is none.
 */
int
certain_grow(struct run *run, const struct frame *in, bool lossy, bool no_edge, bool asked)
{
	struct priv *priv = run->priv;
	struct regions *regions = &priv->regions;
	struct growing growing = { .regions = regions, .reading = &priv->reading,
		.in = priv->mended.picture ? priv->mended.picture : in, .stored = in,
		.surface = priv->mended.surface, .turns = regions->turns,
		.state = regions->state };
	bool by_regions = priv->decode == DECODE_REGION;
	size_t waiting;
	float least;

	priv->grown = lossy && by_regions && (no_edge || asked || priv->keep);
	if (lossy && !by_regions && (priv->keep || asked))
		return fail(NULL,
		    "certainty in a lossy picture is that of regions: give --decode region");
	if (!priv->grown)
		return 0;
	waiting = growing_rows()->begin(run, &growing);
	growing.pixel = must_alloc(waiting ? waiting : 1, sizeof(*growing.pixel));
	growing_rows()->grow(run, &growing, &least);
	free(growing.pixel);
	if (!priv->keep)
		growing_rows()->drop(regions, asked ? priv->least : least);
	return 0;
}
