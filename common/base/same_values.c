#include "base/same_values.h"

#include "base/px.h"

#define LEAST 10000	/* equal values that are no accident */

void
same_values_add(struct same_values *same, const float *a, const float *b, size_t n)
{
	for (size_t i = 0; i < n && !same->differ; i++) {
		bool valid = !px_isnan(a[i]);

		same->differ = valid != !px_isnan(b[i]) || (valid && a[i] != b[i]);
		same->there += valid;
	}
}

bool
same_values_found(const struct same_values *same)
{
	return !same->differ && same->there > LEAST;
}
