#include "fringe/channel_kinds.h"

#include <stddef.h>
#include <string.h>

bool
channel_is_named(const char *name, const char *const *list)
{
	size_t n = strcspn(name, "0123456789");

	if (strspn(name + n, "0123456789") != strlen(name + n))
		return false;
	for (; *list; list++)
		if (strlen(*list) == n && !strncmp(name, *list, n))
			return true;
	return false;
}

bool
channel_is_position(const char *name)
{
	static const char *const names[] = { "phase", "absphase", "cos", "sin", "index", "label",
		"marker", "depth", "x", "y", "z", "nx", "ny", "nz", "disparity", NULL };

	return channel_is_named(name, names);
}

bool
channel_is_error(const char *name)
{
	static const char *const names[] = { "fit_residual", "residual", "sigma", "sigma_calib",
		"sigma_disparity", "p_order", NULL };

	return channel_is_named(name, names);
}

bool
channel_is_no_phase(const char *name)
{
	static const char *const names[] = { "absphase", "cos", "sin", "index", "label", "marker",
		"modulation", "texture", "mask", "depth", "x", "y", "z", "nx", "ny", "nz",
		"disparity", NULL };

	return channel_is_named(name, names) || channel_is_error(name);
}
