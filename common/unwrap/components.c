#include "unwrap/components.h"

#include <stdlib.h>

#include "image/statistics.h"

/* Pixels of one component along a row. */
struct stretch {
	int32_t component;
	size_t size;
	int64_t turns;
};

static void
add_stretch(struct components *components, const struct stretch *stretch)
{
	struct component *component = &components->component[stretch->component];

	if (stretch->size == 0)
		return;
	__atomic_fetch_add(&component->size, stretch->size, __ATOMIC_RELAXED);
	__atomic_fetch_add(&component->turns, stretch->turns, __ATOMIC_RELAXED);
}

/* n pixels of a patch, whose own turns sum to so many, go on with the stretch or begin the next. */
static inline void
add_pixels(struct components *components, int32_t patch, size_t n, int32_t turns,
    struct stretch *stretch)
{
	struct choice joined = components->joined[patch];

	if (joined.other != stretch->component) {
		add_stretch(components, stretch);
		*stretch = (struct stretch){ joined.other, 0, 0 };
	}
	stretch->size += n;
	stretch->turns += turns + (int64_t)n * joined.turns;
}

static void
count_row(void *arg, size_t y)
{
	struct components *components = arg;
	size_t w = components->patches->w;
	const int32_t *patch = components->patches->patch + y * w;
	const int32_t *turns = components->patches->turns + y * w;
	struct stretch stretch = { 0 };

	for (size_t x = 0; x < w;) {
		int32_t sum = 0;

		if (x % PATCH_SIDE == 0 && x + PATCH_SIDE <= w && patches_is_whole(patch + x)) {
			for (size_t i = 0; i < PATCH_SIDE; i++)
				sum += turns[x + i];
			add_pixels(components, patch[x], PATCH_SIDE, sum, &stretch);
			x += PATCH_SIDE;
		} else {
			if (patch[x] != NO_PATCH)
				add_pixels(components, patch[x], 1, turns[x], &stretch);
			x++;
		}
	}
	add_stretch(components, &stretch);
}

int
unwrapping_begin(struct unwrapping *unwrapping, patches_cut *cut, size_t w, size_t h)
{
	joining_free(&unwrapping->joining);
	return patches_begin(&unwrapping->patches, cut, w, h);
}

void
unwrapping_free(struct unwrapping *unwrapping)
{
	joining_free(&unwrapping->joining);
	patches_free(&unwrapping->patches);
}

int
components_unwrap(struct run *run, struct unwrapping *unwrapping, const struct phase_plane *phase,
    const struct phase_plane *quality, struct components *components)
{
	struct patches *patches = &unwrapping->patches;
	struct joining *joining = &unwrapping->joining;

	*components = (struct components){ .patches = patches, .phase = phase };
	patches_find(run, patches, phase);
	if (join_patches(run, patches, phase, quality, joining) < 0)
		return -1;
	components->joined = joining->joined;
	components->n = joining->components;
	components->component = calloc(components->n + 1, sizeof(*components->component));
	if (!components->component)
		return fail_memory();
	run_for(run, patches->h, count_row, components);
	return 0;
}

void
components_free(struct components *components)
{
	free(components->component);
	*components = (struct components){ 0 };
}

void
components_center(struct components *components)
{
	for (size_t i = 0; i < components->n; i++) {
		struct component *component = &components->component[i];

		component->shift =
		    -(int32_t)lrint((double)component->turns / (double)component->size);
	}
}

static int
anchor(struct components *components, double x, double y, double rad)
{
	const struct patches *patches = components->patches;
	struct component *component;
	size_t column, row, i;
	double turns;
	int32_t shift;

	if (!(x >= 0 && y >= 0 && x < (double)patches->w && y < (double)patches->h))
		return fail("--anchor", "pixel %g,%g lies outside the image of %zux%zu", x, y,
		    patches->w, patches->h);
	if (x != floor(x) || y != floor(y))
		return fail(
		    "--anchor", "a pixel's column and row are whole numbers, not %g,%g", x, y);
	column = (size_t)x;
	row = (size_t)y;
	i = components_of(components, column, row);
	if (i == components->n)
		return fail("--anchor", "pixel %g,%g is invalid", x, y);
	turns =
	    (double)phase_row(components->phase, row)[column] * (double)components->phase->turns;
	shift =
	    (int32_t)lrint(rad / (2 * M_PI) - turns) - components_turns(components, column, row);
	component = &components->component[i];
	if (component->anchored && component->shift != shift)
		return fail("--anchor",
		    "pixel %g,%g is connected to one before it, which is %+d turns "
		    "off it",
		    x, y, (int)component->shift - (int)shift);
	component->shift = shift;
	component->anchored = true;
	return 0;
}

int
components_anchor(struct components *components, const struct numbers *anchors, double unit)
{
	for (size_t i = 0; i + 2 < anchors->n; i += 3)
		if (anchor(components, anchors->v[i], anchors->v[i + 1], anchors->v[i + 2] / unit) <
		    0)
			return -1;
	return 0;
}

/* ---- a reference ---- */

/* The turns from each pixel to the reference, component by component: from first[i] on those of i.
 */
static void
list_differences(const struct components *components, const struct frame *frame, size_t ref_channel,
    double turn, double *difference, size_t *end)
{
	const struct patches *patches = components->patches;

	for (size_t y = 0; y < patches->h; y++) {
		const float *phase = phase_row(components->phase, y);
		const float *ref = frame_floats(frame, ref_channel, y);

		for (size_t x = 0; x < patches->w; x++) {
			size_t i = components_of(components, x, y);

			if (i < components->n && phase_is_valid(ref[x], (float)(0.5 / M_PI)))
				difference[end[i]++] = (double)ref[x] / turn -
				    (double)phase[x] * (double)components->phase->turns -
				    components_turns(components, x, y);
		}
	}
}

int
components_refer(struct components *components, const struct frame *frame, size_t ref_channel,
    double unit)
{
	size_t all = 0, *end = malloc((components->n + 1) * sizeof(*end));
	double *difference;

	for (size_t i = 0; end && i < components->n; i++) {
		end[i] = all;
		all += components->component[i].size;
	}
	difference = malloc((all + 1) * sizeof(*difference));
	if (!end || !difference) {
		free(end);
		free(difference);
		return fail_memory();
	}
	list_differences(components, frame, ref_channel, 2 * M_PI * unit, difference, end);
	all = 0;
	for (size_t i = 0; i < components->n; i++) {
		struct component *component = &components->component[i];

		component->anchored = end[i] > all;
		if (component->anchored)
			component->shift = (int32_t)lrint(
			    statistics_quantile(difference + all, end[i] - all, 0.5));
		all += component->size;
	}
	free(end);
	free(difference);
	return 0;
}

/* ---- numbers ---- */

struct place {
	size_t size, component;
};

static int
by_size(const void *a, const void *b)
{
	const struct place *left = a, *right = b;

	if (left->size != right->size)
		return left->size > right->size ? -1 : 1;
	return left->component < right->component ? -1 : 1;
}

int
components_number(struct components *components, size_t least, bool anchored)
{
	struct place *place = malloc((components->n + 1) * sizeof(*place));
	size_t kept = 0;

	if (!place)
		return fail_memory();
	for (size_t i = 0; i < components->n; i++) {
		const struct component *component = &components->component[i];

		if (component->size >= least && (component->anchored || !anchored))
			place[kept++] = (struct place){ component->size, i };
	}
	qsort(place, kept, sizeof(*place), by_size);
	for (size_t i = 0; i < kept; i++)
		components->component[place[i].component].label = (int32_t)i + 1;
	free(place);
	return 0;
}
