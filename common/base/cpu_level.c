#include "base/cpu_level.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

#ifdef __x86_64__
static const char *const level_name[CPU_LEVELS] = { "v2", "v3", "v4" };

static int
best_level(void)
{
	if (__builtin_cpu_supports("x86-64-v4"))
		return 2;
	return __builtin_cpu_supports("x86-64-v3") ? 1 : 0;
}
#else
static const char *const level_name[CPU_LEVELS] = { "plain" };

static int
best_level(void)
{
	return 0;
}
#endif

int
cpu_level(const char **name)
{
	const char *wanted = getenv("FRINGEPIPE_CPU");
	int best = best_level(), level = best;

	if (wanted && *wanted) {
		for (level = CPU_LEVELS - 1; level >= 0 && strcmp(wanted, level_name[level]);
		     level--)
			;
		if (level < 0)
			return fail_usage(
			    "FRINGEPIPE_CPU", "names no instruction level: %.20s", wanted);
		if (level > best)
			return fail_usage("FRINGEPIPE_CPU", "this machine has no %s", wanted);
	}
	if (name)
		*name = level_name[level];
	return level;
}
