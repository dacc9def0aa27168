/* The fit on the device, over planes with a margin: the processor's steps, a pass each, but for the
 * growing, which asks few pixels many times. */
#include "fit.h"

#include <stdlib.h>
#include <string.h>

#include "first_smoothing.h"
#include "fit.block.h"
#include "mend.h"
#include "orders.h"
#include "refine.h"
#include "run/passes.h"
#include "unpack.h"

_Static_assert(FIT_MARGIN == MARGIN && FIT_TILE == DITHER_TILE && FIT_CLOSE == CLOSE &&
    FIT_SMOOTH == SMOOTH_REACH && FIT_REACH_MOST == DITHER_REACH_MOST && FIT_MEND == MEND_REACH &&
    FIT_MEND_LEAST == MEND_LEAST && FIT_ORDERS == ORDERS_REACH,
    "the same in the shaders");

/* Rows that the first smoothing, and that mending or checking, read up and down. */
#define FIRST_ROWS (2 * CLOSE + 2 * SMOOTH_REACH + 1)
#define MENDED_ROWS MEND_REACH
#define CHECKED_ROWS (MEND_REACH + 1 + ORDERS_REACH)

/* Passes in their order; each makes what the later ones will read. */
struct listing {
	struct passes *passes;
	struct undither3_fit block;
	size_t beyond;			/* rows that later passes read, up and down */
};

static size_t
fit_rows(const struct priv *priv)
{
	return FIRST_ROWS + priv->kernels.reach + (priv->ordered ? 2 * REFINE_STEPS : 0) +
	    (priv->checked ? CHECKED_ROWS : MENDED_ROWS);
}

/* rows: how far up and down it reads. */
static int
list(struct listing *listing, const struct shader *shader, size_t rows)
{
	struct pass pass = { .shader = shader, .block = &listing->block,
		.bytes = sizeof(listing->block), PASS_PIXELS };

	listing->beyond -= rows;
	pass.beyond = listing->beyond;
	return passes_add(listing->passes, &pass);
}

/* A closing by a square: spread along rows and columns, then the gaps. */
static int
list_inside(struct listing *listing)
{
	struct undither3_fit *block = &listing->block;

	for (uint i = 0; i < 4; i++) {
		block->from = i == 0 ? FIT_BITS : i % 2 ? FIT_SPARE : FIT_INSIDE;
		block->to = i % 2 ? FIT_INSIDE : FIT_SPARE;
		block->down = i % 2;
		block->smallest = i / 2;
		block->last = i == 3;
		if (list(listing, SHADER(undither3_spread), i % 2 ? CLOSE : 0) < 0)
			return -1;
	}
	return 0;
}

static int
list_first(struct listing *listing)
{
	if (list(listing, SHADER(undither3_fringes), 0) < 0 ||
	    list(listing, SHADER(undither3_smooth), SMOOTH_REACH) < 0 ||
	    list(listing, SHADER(undither3_turning), 1) < 0)
		return -1;
	return list(listing, SHADER(undither3_frequency), SMOOTH_REACH);
}

static int
list_refine(struct listing *listing)
{
	struct undither3_fit *block = &listing->block;

	for (uint step = 0; step < REFINE_STEPS; step++) {
		block->first = step == 0;
		block->from = step % 2 ? FIT_TO : FIT_FROM;
		block->to = step % 2 ? FIT_FROM : FIT_TO;
		block->momentum = (float)step / (float)(step + 3);
		block->anew = step % REFINE_BOUNDS == 0;
		if (list(listing, SHADER(undither3_step), 2) < 0)
			return -1;
	}
	return list(listing, SHADER(undither3_refined), 0);
}

static int
list_check(struct listing *listing)
{
	if (list(listing, SHADER(undither3_ask), 1) < 0)
		return -1;
	return list(listing, SHADER(undither3_vote), ORDERS_REACH);
}

static int
list_tables(struct passes *passes, const struct priv *priv)
{
	const struct kernels *kernels = &priv->kernels;
	size_t bytes = kernels->width * kernels->width * sizeof(float);

	if (passes_constant(passes, priv->bits.stair, sizeof(priv->bits.stair)) < 0 ||
	    passes_constant(passes, kernels->fringe, bytes) < 0 ||
	    passes_constant(passes, kernels->stair, bytes) < 0 ||
	    passes_constant(passes, priv->bits.arc[0], sizeof(priv->bits.arc[0])) < 0 ||
	    passes_constant(passes, priv->bits.arc[1], sizeof(priv->bits.arc[1])) < 0)
		return -1;
	return passes_constant(passes, priv->bits.threshold, sizeof(priv->bits.threshold));
}

int
fit_passes(struct run *run, struct passes *passes)
{
	const struct priv *priv = run->priv;
	const struct holo_code *code = &priv->code;
	struct listing listing = { passes, {
		.reach = (uint)priv->kernels.reach,
		.width = (uint)priv->kernels.width, .to_right = priv->moved[0],
		.to_down = priv->moved[1], .height = code->height, .order_most = code->order_most,
	}, fit_rows(priv) };

	memcpy(listing.block.kernel, priv->smooth, sizeof(listing.block.kernel));
	passes_read(passes, 0);
	passes_scratch(passes, FIT_SCRATCHES);
	if (list_tables(passes, priv) < 0 || list_inside(&listing) < 0 ||
	    list_first(&listing) < 0 ||
	    list(&listing, SHADER(undither3_window), priv->kernels.reach) < 0 ||
	    (priv->ordered && list_refine(&listing) < 0) ||
	    list(&listing, SHADER(undither3_mended), MEND_REACH) < 0 ||
	    (priv->checked && list_check(&listing) < 0))
		return -1;
	return list(&listing, SHADER(undither3_taken), 0);
}

/* The picture's bits in one plane with its margin: the input of the passes. */
static int
pack_bits(const struct priv *priv, const struct frame *in, struct frame **out)
{
	struct frame_head head;
	float *bit = malloc(priv->w * sizeof(*bit));
	int status = bit ? 0 : fail_memory();

	if (status == 0)
		status = head_init(
		    &head, priv->w + 2 * MARGIN, priv->h + 2 * MARGIN, 1, SAMPLE_UCHAR);
	if (status == 0) {
		status = frame_new(&head, out);
		head_free(&head);
	}
	for (size_t y = 0; status == 0 && y < (*out)->head.h; y++)
		memset(frame_row(*out, 0, y), 0, (*out)->plane[0].stride);
	for (size_t y = 0; status == 0 && y < priv->h; y++)
		for (size_t c = 0; c < 3; c++) {
			unsigned char *row =
			    (unsigned char *)frame_row(*out, 0, y + MARGIN) + MARGIN;

			unpack_row(priv, in, c, y, 0, priv->w, bit);
			for (size_t x = 0; x < priv->w; x++)
				row[x] |= (unsigned char)((bit[x] > 0) << c);
		}
	free(bit);
	return status;
}

int
fit_turns_on_device(struct run *run, const struct frame *in, struct frame **turns)
{
	const struct priv *priv = run->priv;
	struct frame_head head = { 0 };
	struct frame *bits = NULL;
	int status = -1;

	*turns = NULL;
	if (!run_wants_device(run))
		return 0;
	run->halo = fit_rows(priv);
	if (pack_bits(priv, in, &bits) == 0 &&
	    head_init(&head, bits->head.w, bits->head.h, 2, SAMPLE_FLOAT) == 0)
		status = run_passes(run, bits, &head, turns);
	frame_free(bits);
	head_free(&head);
	return status;
}
