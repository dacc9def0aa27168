#include "optics/sensor_crop.h"

#include <math.h>
#include <string.h>

/* An option that says something else than the frame would move it without a word. */
static int
check_agreement(const struct numbers *option, const struct frame_head *head)
{
	struct numbers own;
	bool differs;

	if (option->n != 2 || meta_numbers(&head->meta, "origin_px", &own) < 0)
		return option->n != 2 ? 0 : -1;
	differs = own.n == 2 && (own.v[0] != option->v[0] || own.v[1] != option->v[1]);
	if (differs)
		fail("--origin", "says %g,%g, and the frame itself says origin_px %g %g: give no "
		    "--origin; or, if the key counts within a crop that lies there, the sum %g,%g "
		    "and take the key away (framecat --delete origin_px)", option->v[0],
		    option->v[1], own.v[0], own.v[1], option->v[0] + own.v[0],
		    option->v[1] + own.v[1]);
	numbers_free(&own);
	return differs ? -1 : 0;
}

int
sensor_crop_origin(const struct run *run, const struct numbers *option,
    const struct frame_head *head, const double otherwise[2], double origin_px[2], double bin[2])
{
	struct numbers list;

	memcpy(origin_px, otherwise, 2 * sizeof(*origin_px));
	if (check_agreement(option, head) < 0 ||
	    run_numbers(run, option, head, "origin_px", &list) < 0)
		return -1;
	if (list.n != 0 && list.n != 2) {
		fail(NULL, "key origin_px must be two numbers, not %zu", list.n);
		numbers_free(&list);
		return -1;
	}
	if (list.n)
		memcpy(origin_px, list.v, 2 * sizeof(*origin_px));
	numbers_free(&list);
	if (meta_numbers(&head->meta, "bin", &list) < 0)
		return -1;
	bin[0] = list.n > 0 ? list.v[0] : 1;
	bin[1] = list.n > 1 ? list.v[1] : bin[0];
	if (list.n > 2 || !(bin[0] > 0 && bin[1] > 0 && isfinite(bin[0] + bin[1]))) {
		fail(NULL, "key bin must be one or two positive numbers");
		numbers_free(&list);
		return -1;
	}
	numbers_free(&list);
	return 0;
}
