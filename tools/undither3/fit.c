/*
 * The fit of whole pictures of three bits a pixel: turns of all pixels, by the processor or a
 * device; surfaces that are grown from what is trusted; and what is certain enough, as levels.
 * Memory, the order of the steps, and the device's passes; undither3_rows.c and growing_rows.c have
 * the loops.
 */
#include "undither3.h"

#include "run/passes.h"
#include "fit.block.h"

/*
 * ---- the device ----
 *
 * Over planes with a margin: the processor's steps, a pass each, but for the growing, which asks
 * few pixels many times.
 */

_Static_assert(FIT_MARGIN == MARGIN && FIT_TILE == DITHER_TILE && FIT_CLOSE == CLOSE &&
    FIT_SMOOTH == SMOOTH_REACH && FIT_REACH_MOST == DITHER_REACH_MOST && FIT_MEND == MEND_REACH &&
    FIT_MEND_LEAST == MEND_LEAST && FIT_ORDERS == ORDERS_REACH,
    "the same in the shaders");

/* Rows up and down that the first smoothing, mending and checking read. */
#define FIRST_ROWS (2 * CLOSE + 2 * SMOOTH_REACH + 1)
#define MENDED_ROWS MEND_REACH
#define CHECKED_ROWS (MEND_REACH + 1 + ORDERS_REACH)

/* Passes in their order; each computes what later ones read. */
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
static void
list(struct listing *listing, const struct shader *shader, size_t rows)
{
	struct pass pass = { .shader = shader, .block = &listing->block,
		.bytes = sizeof(listing->block), PASS_PIXELS };

	listing->beyond -= rows;
	pass.beyond = listing->beyond;
	passes_add(listing->passes, &pass);
}

static void
list_refine(struct listing *listing)
{
	struct undither3_fit *block = &listing->block;

	for (uint step = 0; step < REFINE_STEPS; step++) {
		block->first = step == 0;
		block->from = step % 2 ? FIT_TO : FIT_FROM;
		block->to = step % 2 ? FIT_FROM : FIT_TO;
		block->momentum = (float)step / (float)(step + 3);
		block->anew = step % REFINE_BOUNDS == 0;
		list(listing, SHADER(undither3_step), 2);
	}
	list(listing, SHADER(undither3_refined), 0);
}

int
fit_passes(struct run *run, struct passes *passes)
{
	const struct priv *priv = run->priv;
	const struct holo_code *code = &priv->code;
	const struct bits_code *bits = &priv->bits;
	const struct kernels *kernels = &priv->kernels;
	size_t bytes = kernels->width * kernels->width * sizeof(float);
	struct listing listing = { passes, {
		.reach = (uint)kernels->reach, .width = (uint)kernels->width,
		.to_right = priv->moved[0], .to_down = priv->moved[1],
		.height = code->height, .order_most = code->order_most,
	}, fit_rows(priv) };

	memcpy(listing.block.kernel, priv->smooth, sizeof(listing.block.kernel));
	passes_read(passes, 0);
	passes_scratch(passes, FIT_SCRATCHES);
	/* in the order of FIT_PROFILE to FIT_THRESHOLD */
	if (passes_constant(passes, bits->stair, sizeof(bits->stair)) < 0 ||
	    passes_constant(passes, kernels->fringe, bytes) < 0 ||
	    passes_constant(passes, kernels->stair, bytes) < 0 ||
	    passes_constant(passes, bits->arc[0], sizeof(bits->arc[0])) < 0 ||
	    passes_constant(passes, bits->arc[1], sizeof(bits->arc[1])) < 0 ||
	    passes_constant(passes, bits->threshold, sizeof(bits->threshold)) < 0)
		return -1;
	/* a closing by a square: spread along rows and columns, then the gaps */
	for (uint i = 0; i < 4; i++) {
		listing.block.from = i == 0 ? FIT_BITS : i % 2 ? FIT_SPARE : FIT_INSIDE;
		listing.block.to = i % 2 ? FIT_INSIDE : FIT_SPARE;
		listing.block.down = i % 2;
		listing.block.smallest = i / 2;
		listing.block.last = i == 3;
		list(&listing, SHADER(undither3_spread), i % 2 ? CLOSE : 0);
	}
	list(&listing, SHADER(undither3_fringes), 0);
	list(&listing, SHADER(undither3_smooth), SMOOTH_REACH);
	list(&listing, SHADER(undither3_turning), 1);
	list(&listing, SHADER(undither3_frequency), SMOOTH_REACH);
	list(&listing, SHADER(undither3_window), kernels->reach);
	if (priv->ordered)
		list_refine(&listing);
	list(&listing, SHADER(undither3_mended), MEND_REACH);
	if (priv->checked) {
		list(&listing, SHADER(undither3_ask), 1);
		list(&listing, SHADER(undither3_vote), ORDERS_REACH);
	}
	list(&listing, SHADER(undither3_taken), 0);
	return 0;
}

/* Turns, NaN in the background, and which are trusted, on a device, as planes with their margin;
 * *turns is NULL where none is demanded. The input of the passes is the picture's bits in one plane
 * with its margin. -1 after fail(). */
static int
fit_turns_on_device(struct run *run, const struct frame *in, struct frame **turns)
{
	const struct priv *priv = run->priv;
	const size_t w = priv->w + 2 * MARGIN, h = priv->h + 2 * MARGIN;
	struct frame_head head = { 0 };
	struct frame *bits = NULL;
	int status = -1;

	*turns = NULL;
	if (!run_wants_device(run))
		return 0;
	run->halo = fit_rows(priv);
	if (frame_new_named(w, h, 1, SAMPLE_UCHAR, NULL, &bits) < 0)
		return -1;
	for (size_t y = 0; y < h; y++)
		memset(frame_row(bits, 0, y), 0, bits->plane[0].stride);
	undither3_rows()->pack(priv, in, bits);
	if (head_init(&head, w, h, 2, SAMPLE_FLOAT) == 0)
		status = run_passes(run, bits, &head, turns);
	frame_free(bits);
	head_free(&head);
	return status;
}

/* ---- growing ---- */

#define SURFACE_LEAST 1000	/* pixels; a smaller surface is not judged */
#define TRUSTED_LEAST 0.35	/* share of a surface */

/* From planes->turns and planes->trusted computes planes->certainty: 1 for what was trusted, 0.5
 * for what remains. bits: thresholds are known and the stair is slow; else nothing is grown. -1
 * after fail(). Warns, once in a run, of a picture that was moved, turned over, inverted or scaled:
 * at most a quarter of its surface's pixels are trusted, of an untouched one three quarters and
 * more. */
static void
grow(struct run *run, struct job *job, bool bits)
{
	struct priv *priv = run->priv;
	struct growing growing = { .job = job };
	bool marked = priv->keys.marked;

	if (bits) {
		double share;
		size_t n;

		growing_rows()->begin(&growing);
		n = growing.n ? growing.n : 1;
		growing.waiting = must_alloc(n, sizeof(*growing.waiting));
		if (marked) {	/* for islands */
			growing.island_pixel = must_alloc(n, sizeof(*growing.island_pixel));
			growing.index = must_alloc(job->planes.pixels, sizeof(*growing.index));
			growing.queue = must_alloc(n, sizeof(*growing.queue));
		}
		share = (double)growing.trusted / (double)growing.surface;

		if (!priv->warned && growing.surface >= SURFACE_LEAST && share < TRUSTED_LEAST) {
			priv->warned = true;
			warn(NULL, "the bits agree with the thresholds of %s at %.0f %% of the "
			    "surface only: was the picture moved, cropped, turned over, inverted "
			    "or scaled, or dithered otherwise?",
			    dither_methods[priv->keys.method], 100 * share);
		}
		growing_rows()->grow(run, &growing);
	}
	growing_rows()->find_certainty(&growing, bits);
	free_all(growing.waiting, growing.island_pixel, growing.index, growing.queue);
}

/* ---- the picture ---- */

/* -1 after fail(). */
static int
job_start(struct job *job, const struct priv *priv, const struct frame *in, struct frame *out)
{
	struct planes *planes = &job->planes;
	float **plane[] = { &planes->sine, &planes->cosine, &planes->inside, &planes->rest,
		&planes->order, &planes->right, &planes->down, &planes->turns, &planes->trusted,
		&planes->certainty, &job->bit[0], &job->bit[1], &job->bit[2], &job->smooth[0],
		&job->smooth[1], &job->smooth[2] };
	size_t n = sizeof(plane) / sizeof(*plane), all;

	*job = (struct job){ .priv = priv, .out = out };
	planes->w = priv->w;
	planes->h = priv->h;
	planes->stride = priv->w + 2 * MARGIN;
	for (int way = 0; way < BITS_WAYS; way++)
		planes->way[way] =
		    bits_way[way][1] * (ptrdiff_t)planes->stride + bits_way[way][0];
	if (size_multiply(planes->stride, priv->h + 2 * MARGIN, &planes->pixels) < 0 ||
	    size_multiply(planes->pixels, n, &all) < 0)
		return -1;
	job->memory = must_large(all, sizeof(float));
	memset(job->memory, 0, all * sizeof(float));
	for (size_t i = 0; i < n; i++)
		*plane[i] = (float *)job->memory + i * planes->pixels;
	undither3_rows()->unpack(job, in);
	return 0;
}

int
fit(struct run *run, const struct frame *in, struct frame *out)
{
	struct frame *found = NULL;
	struct job job = { 0 };
	int status = fit_turns_on_device(run, in, &found);

	if (status == 0)
		status = job_start(&job, run->priv, in, out);
	if (status == 0 && found)
		undither3_rows()->take_turns(&job, found);
	else if (status == 0)
		undither3_rows()->find_turns(run, &job);
	if (status == 0)
		grow(run, &job, job.priv->checked);
	if (status == 0)
		undither3_rows()->levels(run, &job);
	free(job.memory);
	frame_free(found);
	return status;
}
