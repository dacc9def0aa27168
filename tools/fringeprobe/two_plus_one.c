/* A sine, a cosine and a flat image (Zhang and others 2006): the first two lie on a circle about
 * the third, whose radius is in proportion to it. */
#include "two_plus_one.h"

#include <math.h>
#include <stdlib.h>

#include "fringe_set.h"

#define RADIUS 0.3		/* of the mean radius: its scatter, rms */
#define ELLIPSE 0.25		/* it is one of 0.5 of three equal steps */
#define CENTRE 0.25		/* of it: how far the circle's centre may be from the flat image */
#define SECTORS 8		/* of the circle, each with */
#define SECTOR_LEAST 0.05	/* of the pixels, at least */
#define FRINGES 1		/* in view, at least */
#define SINUSOID 0.18		/* of pixels lies between bright and dark, of 0.33 */

struct circle {
	double x, y, r, rr, xx, xy, n, amplitude, mean;
	double sector[SECTORS];
};

static void
add_pixel(struct circle *circle, double sine, double cosine, double flat)
{
	double x = cosine / flat, y = sine / flat;
	int sector = (int)((atan2(y, x) / (2 * M_PI) + 0.5) * SECTORS);

	circle->x += x;
	circle->y += y;
	circle->r += hypot(x, y);
	circle->rr += x * x + y * y;
	circle->xx += x * x - y * y;
	circle->xy += 2 * x * y;
	circle->amplitude += hypot(sine, cosine);
	circle->mean += flat;
	circle->sector[sector < SECTORS ? sector : SECTORS - 1]++;
	circle->n++;
}

/* Do the pixels lie on a circle, all around it? */
static bool
is_circle(const struct circle *circle)
{
	double n = circle->n, r = circle->r / n;

	for (int i = 0; i < SECTORS; i++)
		if (circle->sector[i] < SECTOR_LEAST * n)
			return false;
	return n > 0 && hypot(circle->xx, circle->xy) < ELLIPSE * circle->rr &&
	    circle->rr / n - r * r < RADIUS * RADIUS * r * r &&
	    hypot(circle->x, circle->y) / n < CENTRE * r;
}

/* Phase and mean of three images, of which one is flat; false: they are none. */
static bool
make_phase(const struct field *field, const struct steps *images, size_t flat, float *phase,
    float *mean, struct circle *circle)
{
	const float *v[3];
	size_t n = 0;

	for (size_t k = 0; k < 3; k++)
		if (k != flat)
			v[n++] = field->v[images->image[flat == 1 ? 2 - k : k]];
	v[2] = field->v[images->image[flat]];
	*circle = (struct circle){ 0 };
	for (size_t p = 0; p < field->lines * field->length; p++) {
		double sine = (double)(v[0][p] - v[2][p]), cosine = (double)(v[1][p] - v[2][p]);
		bool lit = field->lit[p] && v[2][p] > 0;

		if (lit)
			add_pixel(circle, sine, cosine, (double)v[2][p]);
		phase[p] = lit ? (float)atan2(sine, cosine) : NAN;
		mean[p] = lit ? v[2][p] : NAN;
	}
	return is_circle(circle);
}

/* The set of three images along one axis; 0: they are none, -1 after fail(). */
static int
make_set(const struct sets *sets, int axis, const struct steps *images, size_t flat,
    struct fringe_set *set)
{
	const struct field *field = &sets->field[axis];
	size_t pixels = field->lines * field->length;
	struct circle circle;

	*set = (struct fringe_set){ .axis = axis, .steps = *images, .flat = flat + 1 };
	set->order = (struct steps_order){ .sign = 1, .ordered = true };
	set->phase = malloc(pixels * sizeof(float));
	set->mean = malloc(pixels * sizeof(float));
	if (!set->phase || !set->mean)
		return fail_memory();
	if (!make_phase(field, images, flat, set->phase, set->mean, &circle))
		return 0;
	set->steps.amplitude = circle.amplitude / circle.n;
	set->steps.mean = circle.mean / circle.n;
	set->steps.modulation = circle.r / circle.n;
	set->steps.residual = set->steps.noise = (double)NAN;
	field_unwrap(field->lines, field->length, FRINGE_SET_RUN_STEP, set->phase);
	if (!fringe_set_period(field, set)) {
		for (size_t p = 0; p < pixels; p++)
			set->phase[p] = -set->phase[p];
		set->order.sign = -1;
	}
	return set->fringes > FRINGES && !fringe_set_rough(field, set);
}

static void
free_set(struct fringe_set *set)
{
	free(set->phase);
	free(set->mean);
	*set = (struct fringe_set){ 0 };
}

/* The set that three images are, along the axis along which its phase grows more; 1, 0, -1 after
 * fail(). */
static int
find_set(const struct sets *sets, const struct steps *images, struct fringe_set *out)
{
	*out = (struct fringe_set){ 0 };
	for (size_t flat = 3; flat-- > 0 && !out->phase;)
		for (int axis = 0; axis < 2; axis++) {
			struct fringe_set set;
			int status = make_set(sets, axis, images, flat, &set);

			if (status > 0 && (!out->phase || set.period_px < out->period_px)) {
				free_set(out);
				*out = set;
				continue;
			}
			free_set(&set);
			if (status < 0) {
				free_set(out);
				return -1;
			}
		}
	return out->phase != NULL;
}

/* Three images of one group of names, from one on, of which two are no Gray planes. */
static bool
gather(const struct sets *sets, size_t first, struct steps *images)
{
	size_t sinusoids = 0;

	*images = (struct steps){ .n = 3 };
	for (size_t k = 0; k < 3; k++) {
		size_t i = first + k;

		if (i >= sets->images || sets->kind[i] != KIND_UNKNOWN)
			return false;
		images->image[k] = i;
		sinusoids += sets->carrier[0][i].between > SINUSOID;
	}
	return sinusoids >= 2 || sets->images == 3;	/* as the range of three says nothing */
}

/* Are the three images of a set that was found none of equal steps, but 2+1? */
static int
replace(struct sets *sets, size_t k)
{
	struct fringe_set *set = &sets->fringe[k], found;
	size_t lowest = set->steps.image[0];
	struct steps images = { .n = 3 };
	int status;

	for (size_t i = 1; i < 3; i++)
		lowest = set->steps.image[i] < lowest ? set->steps.image[i] : lowest;
	for (size_t i = 0; i < 3; i++) {
		images.image[i] = lowest + i;
		if (lowest + i >= sets->images || sets->kind[lowest + i] != KIND_FRINGE ||
		    sets->set[lowest + i] != k)
			return 0;
	}
	status = find_set(sets, &images, &found);
	if (status <= 0)
		return status;
	free_set(set);
	*set = found;
	return 0;
}

int
two_plus_one_find(struct sets *sets)
{
	for (size_t k = 0; k < sets->n; k++)
		if (sets->fringe[k].steps.n == 3 && replace(sets, k) < 0)
			return -1;
	if (sets->n && !sets->fringe[0].flat)
		return 0;
	for (size_t i = 0; i + 3 <= sets->images && sets->n < SETS_MOST; i++) {
		struct steps images;
		int found;

		if (!gather(sets, i, &images))
			continue;
		found = find_set(sets, &images, &sets->fringe[sets->n]);
		if (found < 0)
			return -1;
		for (size_t k = 0; k < 3 && found; k++) {
			sets->kind[i + k] = KIND_FRINGE;
			sets->set[i + k] = sets->n;
		}
		sets->n += (size_t)found;
	}
	return 0;
}
