/* gauss on the device: for each thing that is filtered its parts, sums over columns, over rows. */
#include "gauss_passes.h"

#include "gauss.block.h"
#include "gauss_jobs.h"
#include "run/passes.h"
#include "run/stage.h"

#define AT_ONCE 4			/* what is filtered at the same time */

_Static_assert(GAUSS_REACH == GAUSS_RADIUS_MOST + 1, "the same in the shaders");
_Static_assert(GAUSS_RADIUS_MOST <= 52, "the margin of gauss_rows.comp");
_Static_assert(GAUSS_PHASE == KIND_PHASE && GAUSS_VECTOR == KIND_VECTOR &&
    GAUSS_PLAIN == KIND_PLAIN, "the same in the shaders");

/* Words of bits for a column of the window. */
static uint
words_of(const struct gauss *gauss)
{
	return (uint)((2 * gauss->radius + 1 + 31) / 32);
}

/* Scratch planes for each thing that is filtered. */
static uint
scratch_of(const struct gauss *gauss)
{
	return GAUSS_HOLES + words_of(gauss);
}

static void
pack(const struct gauss *gauss, const struct gauss_job *job, struct gauss_block *block)
{
	size_t size = 2 * gauss->radius + 1;

	*block = (struct gauss_block){
		.kind = job->kind, .vectors = gauss->vectors || job->kind == KIND_PLAIN,
		.from = { (uint)job->in[0], (uint)job->in[1] },
		.to = { (uint)job->out[0], (uint)job->out[1] },
		.radius = (uint)gauss->radius, .words = words_of(gauss),
		.few = (uint)GAUSS_FEW(size),
	};
	for (size_t k = 0; k <= gauss->radius; k++) {
		block->kernel[k] = gauss->kernel[GAUSS_EDGE + k];
		block->weight[k] = gauss_kernel_sum(gauss, k);
	}
}

/* The sigma of job j, whose parts have been made. */
static int
add_sigma(const struct gauss *gauss, size_t j, struct passes *passes, struct gauss_block *block)
{
	struct pass pass = { .shader = SHADER(gauss_sigma), .block = block,
		.bytes = sizeof(*block), PASS_PIXELS, .beside = true };

	for (size_t i = 0; i < gauss->sigmas; i++) {
		if (gauss->sigma[i].job != j)
			continue;
		block->sigma_from = (uint)gauss->sigma[i].in;
		block->sigma_to = (uint)gauss->sigma[i].out;
		passes_read(passes, block->sigma_from);
		if (passes_add(passes, &pass) < 0)
			return -1;
	}
	return 0;
}

/* The same step of jobs `first` on, so many as are filtered at once. */
static int
add_step(const struct gauss *gauss, size_t first, size_t jobs, const struct shader *shader,
    size_t beyond, struct passes *passes)
{
	struct gauss_block block;
	struct pass pass = { .shader = shader, .block = &block, .bytes = sizeof(block),
		PASS_FOURS, .beyond = beyond };

	for (size_t k = 0; k < jobs; k++) {
		pack(gauss, &gauss->job[first + k], &block);
		block.scratch = (uint)k * scratch_of(gauss);
		passes_read(passes, block.from[0]);
		passes_read(passes, block.from[1]);
		pass.beside = k > 0;
		if (passes_add(passes, &pass) < 0)
			return -1;
		if (shader == SHADER(gauss_rows) && add_sigma(gauss, first + k, passes, &block) < 0)
			return -1;
	}
	return 0;
}

int
gauss_passes(struct run *run, struct passes *passes)
{
	const struct gauss *gauss = run->priv;
	size_t at_once = gauss->jobs < AT_ONCE ? gauss->jobs : AT_ONCE;

	passes_scratch(passes, at_once * scratch_of(gauss));
	for (size_t j = 0; j < gauss->jobs; j += at_once) {
		size_t jobs = gauss->jobs - j < at_once ? gauss->jobs - j : at_once;

		if (add_step(gauss, j, jobs, SHADER(gauss_parts), gauss->radius, passes) < 0 ||
		    add_step(gauss, j, jobs, SHADER(gauss_columns), 0, passes) < 0 ||
		    add_step(gauss, j, jobs, SHADER(gauss_rows), 0, passes) < 0)
			return -1;
	}
	return 0;
}
