/*
 * What scripts/check-static includes before a file that it analyses: an analyser sees one file at a time, and
 * takes a call of fail() for one that may return 0.
 */
#include "base/fail.h"

#define fail(...)	((void)fail(__VA_ARGS__), -1)
#define fail_errno(...)	((void)fail_errno(__VA_ARGS__), -1)
#define fail_usage(...)	((void)fail_usage(__VA_ARGS__), -1)
#define fail_with(...)	((void)fail_with(__VA_ARGS__), -1)
#define fail_memory()	((void)fail_memory(), -1)
