#include "unwrap/patches.h"

#include <stdlib.h>

int
patches_begin(struct patches *patches, patches_cut *cut, size_t w, size_t h)
{
	patches_free(patches);
	if (w == 0 || h == 0 || w > INT32_MAX / h)
		return fail(NULL, "images of %zux%zu are too large to be unwrapped", w, h);
	patches->cut = cut;
	patches->w = w;
	patches->h = h;
	patches->across = (w + PATCH_SIDE - 1) / PATCH_SIDE;
	patches->down = (h + PATCH_SIDE - 1) / PATCH_SIDE;
	patches->patch = malloc(w * h * sizeof(*patches->patch));
	patches->turns = malloc(w * h * sizeof(*patches->turns));
	patches->first = malloc((patches->across * patches->down + 1) * sizeof(*patches->first));
	if (patches->patch && patches->turns && patches->first)
		return 0;
	patches_free(patches);
	return fail_memory();
}

void
patches_free(struct patches *patches)
{
	free(patches->patch);
	free(patches->turns);
	free(patches->first);
	*patches = (struct patches){ 0 };
}

/* From numbers within a square to numbers within the image, of n pixels. */
static inline void
add_first(int32_t *restrict patch, int32_t first, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		patch[x] += patch[x] == NO_PATCH ? 0 : first;
}

static void
number_squares_row(void *arg, size_t j)
{
	const struct patches_job *job = arg;
	const struct patches *patches = job->patches;
	const int32_t *first = patches->first + j * patches->across;
	size_t end = (j + 1) * PATCH_SIDE < patches->h ? (j + 1) * PATCH_SIDE : patches->h;

	for (size_t y = j * PATCH_SIDE; y < end; y++) {
		int32_t *patch = patches->patch + y * patches->w;
		size_t whole = patches->w / PATCH_SIDE;

		for (size_t i = 0; i < whole; i++)
			add_first(patch + i * PATCH_SIDE, first[i], PATCH_SIDE);
		if (whole < patches->across)
			add_first(patch + whole * PATCH_SIDE, first[whole],
			    patches->w - whole * PATCH_SIDE);
	}
}

void
patches_find(struct run *run, struct patches *patches, const struct phase_plane *phase)
{
	struct patches_job job = { patches, phase };
	int32_t before = 0;

	run_for(run, patches->down, patches->cut, &job);
	for (size_t i = 0; i < patches->across * patches->down; i++) {
		int32_t count = patches->first[i];

		patches->first[i] = before;
		before += count;
	}
	patches->first[patches->across * patches->down] = before;
	run_for(run, patches->down, number_squares_row, &job);
}
