#include "gauss_jobs.h"

#include <string.h>

bool
gauss_is_listed(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = list; at; at = strchr(at, ','), at += at ? 1 : 0)
		if (!strncmp(at, name, n) && (at[n] == ',' || at[n] == '\0'))
			return true;
	return false;
}

float
gauss_kernel_sum(const struct gauss *gauss, size_t radius)
{
	float sum = 0;

	for (size_t k = radius; k > 0; k--)
		sum += 2 * gauss->kernel[GAUSS_EDGE + k];
	return sum + 1;
}
