#include "fringe/period_keys.h"

static const char *const keys[] = { "c_mm_per_rad", "ref_plane_rad" };

int
period_keys_convert(struct meta *meta, double from_px, double to_px)
{
	/* mm per rad and its powers grow with the period; a plane's phase in rad gets smaller */
	double longer = to_px / from_px;

	for (size_t i = 0; i < 2 && from_px != to_px; i++) {
		double factor = i ? 1 / longer : longer;
		struct numbers number;
		int status = 0;

		if (meta_numbers(meta, keys[i], &number) < 0)
			return -1;
		for (size_t k = 0; k < number.n; k++) {
			number.v[k] *= factor;
			factor *= i ? 1 : longer;
		}
		if (number.n)
			status = meta_set_numbers(meta, keys[i], number.v, number.n);
		numbers_free(&number);
		if (status < 0)
			return -1;
	}
	return 0;
}

void
period_keys_remove(struct meta *meta)
{
	for (size_t i = 0; i < 2; i++)
		meta_remove(meta, keys[i]);
}
