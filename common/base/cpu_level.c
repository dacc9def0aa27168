/*
 * Chooses the instruction level at start-up: the best of the machine, or the one that
 * FRINGEPIPE_CPU names.
 */
#include "base/cpu_level.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

#if CPU_LEVELS > 1
static const char *const level_name[CPU_LEVELS] = { "v2", "v3", "v4" };

#define SUPPORTS(feature) (__builtin_cpu_supports(feature) != 0)

/* Clang does not know the levels by name before its version 18; what else v3 has besides these
 * (F16C, LZCNT, MOVBE) came with them. */
static int
best_level(void)
{
	bool v3 = SUPPORTS("avx2") && SUPPORTS("bmi") && SUPPORTS("bmi2") && SUPPORTS("fma");

	if (v3 && SUPPORTS("avx512f") && SUPPORTS("avx512bw") && SUPPORTS("avx512cd") &&
	    SUPPORTS("avx512dq") && SUPPORTS("avx512vl"))
		return 2;
	return v3 ? 1 : 0;
}
#else
#define NAME(level) #level
#define NAME_OF(level) NAME(level)
static const char *const level_name[CPU_LEVELS] = { &NAME_OF(CPU_ONE_LEVEL)[1] };

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

int
cpu_level_chosen(void)
{
	static atomic_int chosen = -1;

	if (chosen < 0) {
		int level = cpu_level(NULL);

		chosen = level < 0 ? best_level() : level;
	}
	return chosen;
}
