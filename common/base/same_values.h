/* Are two measurements one and the same? Two captures never agree to the last bit. */
#ifndef SAME_VALUES_H
#define SAME_VALUES_H

#include <stdbool.h>
#include <stddef.h>

struct same_values {
	size_t there;			/* values that are not NaN, so far */
	bool differ;
};

/* Compares n more values; NaN equals NaN. What has differed once stays so. */
void same_values_add(struct same_values *, const float *a, const float *b, size_t n);
/* Did so many values agree, and none differ, that it is no accident? */
bool same_values_found(const struct same_values *);

#endif
