/* From images that belong together to the phase that they show. */
#include "fringe_set.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIT_UNEQUAL 0.2		/* of shifts that are no equal steps */
#define PIXELS_LEAST 50
#define ROUGH 0.2

/* Period and number of fringes, from an unwrapped phase; false: the phase falls along the line. */
bool
fringe_set_period(const struct field *field, struct fringe_set *set)
{
	double grown = 0, pixels = 0;
	size_t lines = 0;

	for (size_t l = 0; l < field->lines; l++) {
		const float *phase = set->phase + l * field->length;
		bool any = false;

		for (size_t x = 1; x < field->length; x++)
			if (!isnan(phase[x - 1]) && !isnan(phase[x])) {
				grown += (double)(phase[x] - phase[x - 1]);
				pixels++;
				any = true;
			}
		lines += any;
	}
	set->period_px = pixels > 0 ? 2 * M_PI * pixels / fabs(grown) : (double)NAN;
	set->fringes = lines ? fabs(grown) / (2 * M_PI) / (double)lines : 0;
	return grown >= 0;
}

bool
fringe_set_rough(const struct field *field, const struct fringe_set *set)
{
	size_t steps = 0, broken = 0;

	for (size_t p = 1; p < field->lines * field->length; p++)
		if (p % field->length && !isnan(set->mean[p]) && !isnan(set->mean[p - 1])) {
			steps++;
			broken += isnan(set->phase[p]);
		}
	return steps == 0 || (double)broken > ROUGH * (double)steps;
}

int
fringe_set_phase(const struct field *field, struct fringe_set *set)
{
	size_t pixels = field->lines * field->length;

	free(set->phase);
	free(set->mean);
	set->phase = malloc(pixels * sizeof(float));
	set->mean = malloc(pixels * sizeof(float));
	if (!set->phase || !set->mean)
		return fail_memory();
	if (steps_phase(field, &set->steps, set->phase, set->mean) < 0)
		return -1;
	field_unwrap(field->lines, field->length, FRINGE_SET_RUN_STEP, set->phase);
	return 0;
}

/* The images in the order of their shifts, if they are not; and the shifts as they are meant, which
 * are found only about. Each is counted from the first image. */
static void
arrange(struct fringe_set *set)
{
	struct steps *steps = &set->steps, old = *steps;
	struct steps_order *order = &set->order, found = *order;
	size_t n = 0, of = order->of;

	memcpy(order->was, old.image, sizeof(order->was));
	for (size_t j = 0; j < of; j++)
		for (size_t k = 0; k < steps->n; k++) {
			size_t from = order->ordered ? 0 : found.start;
			size_t at = order->sign > 0 ? found.place[k] + of - from :
			    from + of - found.place[k];

			if (at % of != j)
				continue;
			steps->image[n] = old.image[k];
			order->place[n] = j;
			steps->shift_rad[n] = order->sign * 2 * M_PI * (double)j / (double)of;
			n++;
		}
	for (size_t k = of ? n : 0; k-- > 0;) {
		steps->shift_rad[k] -= steps->shift_rad[0];
		order->place[k] -= order->place[0];
	}
}

/* Three images fit any shifts, and any three images fit some: only usual shifts are taken. */
static bool
is_plausible(const struct fringe_set *set)
{
	if (set->steps.n == 3)
		return set->order.of == 3 || set->order.of == 4;
	return set->order.of || (set->steps.residual < FIT_UNEQUAL && set->fringes > 2);
}

int
fringe_set_drop(struct sets *sets, struct fringe_set *set)
{
	for (size_t i = 0; i < sets->images; i++)
		if (sets->set[i] == sets->n)
			sets->kind[i] = KIND_UNKNOWN;
	free(set->phase);
	free(set->mean);
	*set = (struct fringe_set){ 0 };
	return 0;
}

/* What the images of the set show, by their shifts; the phase is made to grow. */
int
fringe_set_make(struct sets *sets, const struct field *field, struct fringe_set *set)
{
	struct steps *steps = &set->steps;

	if (fringe_set_phase(field, set) < 0)
		return -1;
	if (!fringe_set_period(field, set)) {
		for (size_t k = 0; k < steps->n; k++)
			steps->shift_rad[k] = -steps->shift_rad[k];
		if (fringe_set_phase(field, set) < 0)
			return -1;
		fringe_set_period(field, set);
	}
	steps_read(steps, &set->order);
	if (!is_plausible(set) || fringe_set_rough(field, set))
		return fringe_set_drop(sets, set);
	arrange(set);
	if (fringe_set_phase(field, set) < 0)
		return -1;
	for (size_t k = 0; k < steps->n; k++) {
		sets->kind[steps->image[k]] = KIND_FRINGE;
		sets->set[steps->image[k]] = sets->n;
	}
	sets->n++;
	return 1;
}

bool
fringe_set_fits(const struct steps *steps, double worst)
{
	return steps->pixels >= PIXELS_LEAST && !(steps->residual > worst);
}
