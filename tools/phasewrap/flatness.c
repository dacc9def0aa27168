#include "flatness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct search {
	const struct frame *in;
	size_t plane;
	double *row;		/* roughness of each */
};

static double
step(double a, double b)
{
	return isnan(a) || isnan(b) ? 0 : fabs(a - b);
}

#define ROUGHNESS(name, type) \
static double \
name(const type *image, const type *below, size_t w) \
{ \
	double sum = 0; \
 \
	for (size_t x = 0; x + 1 < w; x++) \
		sum += step(image[x + 1], image[x]); \
	for (size_t x = 0; below && x < w; x++) \
		sum += step(below[x], image[x]); \
	return sum; \
}
ROUGHNESS(roughness_uchar, uint8_t)
ROUGHNESS(roughness_ushort, uint16_t)
ROUGHNESS(roughness_float, float)

static void
measure_row(void *arg, size_t y)
{
	const struct search *search = arg;
	const struct frame *in = search->in;
	const void *image = frame_row(in, search->plane, y);
	const void *below = y + 1 < in->head.h ? frame_row(in, search->plane, y + 1) : NULL;

	switch (in->head.type) {
	case SAMPLE_UCHAR:
		search->row[y] = roughness_uchar(image, below, in->head.w);
		break;
	case SAMPLE_USHORT:
		search->row[y] = roughness_ushort(image, below, in->head.w);
		break;
	case SAMPLE_FLOAT:
		search->row[y] = roughness_float(image, below, in->head.w);
		break;
	}
}

static double
roughness(struct run *run, const struct frame *in, size_t plane, double *row)
{
	struct search search = { in, plane, row };
	double sum = 0;

	run_for(run, in->head.h, measure_row, &search);
	for (size_t y = 0; y < in->head.h; y++)
		sum += row[y];
	return sum;
}

int
flatness_turn(struct run *run, const struct frame *in, size_t plane[3])
{
	double *row = calloc(in->head.h, sizeof(*row)), rough[3];
	size_t own[3], flat = 0;

	if (!row)
		return fail_memory();
	memcpy(own, plane, sizeof(own));
	for (size_t i = 0; i < 3; i++) {
		rough[i] = roughness(run, in, own[i], row);
		if (rough[i] < rough[flat] || (rough[i] == rough[flat] && own[i] > own[flat]))
			flat = i;
	}
	for (size_t i = 0; i < 3; i++)
		plane[i] = own[(flat + 1 + i) % 3];
	free(row);
	return 0;
}
