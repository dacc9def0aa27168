/* Pixels that no fringes reach, and the amplitude that tells them from others. */
#include <math.h>
#include <stdlib.h>

#include "probe.h"

#define FRINGES 0.25f		/* of the median amplitude: more is lit */
#define SHARE 0.02		/* of all pixels: fewer need no limit */

/* What so many of n values do not reach. */
static double
quantile(float *v, size_t n, double share)
{
	size_t rank = (size_t)(share * (double)(n - 1));
	float out;

	numbers_ranks(v, n, &rank, 1, &out);
	return (double)out;
}

/* Of 2+1 images: how far sine and cosine are off the flat image. */
static void
flat_amplitude(const struct field *field, const struct fringe_set *set, float *amplitude)
{
	const size_t *image = set->steps.image;
	size_t flat = set->flat - 1, sine = flat == 0, cosine = flat == 2 ? 1 : 2;

	for (size_t p = 0; p < field->lines * field->length; p++)
		amplitude[p] = hypotf(field->v[image[sine]][p] - field->v[image[flat]][p],
		    field->v[image[cosine]][p] - field->v[image[flat]][p]);
}

/* Amplitudes of all pixels, those of lit ones from the front, those of others from the back. */
static int
divide(const struct field *field, const struct fringe_set *set, float *amplitude, size_t *lit)
{
	size_t pixels = field->lines * field->length, unlit = 0;
	float *all = malloc(pixels * sizeof(*all));

	if (!all)
		return fail_memory();
	if (set->flat) {
		flat_amplitude(field, set, all);
	} else if (steps_amplitude(field, &set->steps, all) < 0) {
		free(all);
		return -1;
	}
	*lit = 0;
	for (size_t p = 0; p < pixels; p++)
		if (!field->lit[p] && !(all[p] > FRINGES * (float)set->steps.amplitude))
			amplitude[pixels - ++unlit] = isnan(all[p]) ? 0 : all[p];
		else
			amplitude[(*lit)++] = all[p];
	free(all);
	return 0;
}

int
unlit_find(struct probe *probe)
{
	const struct fringe_set *set = &probe->sets.fringe[probe->set[0]];
	const struct field *field = &probe->sets.field[set->axis];
	size_t pixels = field->lines * field->length, lit = 0;
	struct unlit *unlit = &probe->unlit;
	float *amplitude;

	if (!probe->chosen)
		return 0;
	amplitude = malloc(pixels * sizeof(*amplitude));
	if (!amplitude)
		return fail_memory();
	if (divide(field, set, amplitude, &lit) < 0) {
		free(amplitude);
		return -1;
	}
	unlit->share = (double)(pixels - lit) / (double)pixels;
	if (unlit->share > SHARE && lit > 0) {
		unlit->unlit = quantile(amplitude + lit, pixels - lit, 0.99) *
		    (probe->smooth ? sqrt(IMAGES_SMOOTH) : 1);	/* of noise */
		unlit->lit = quantile(amplitude, lit, 0.01);
		unlit->least = unlit->unlit < unlit->lit ?
		    sqrt(fmax(unlit->unlit, 0.01 * unlit->lit) * unlit->lit) : unlit->unlit;
	}
	free(amplitude);
	return 0;
}
