#ifndef FRAMECMP_OPTIONS_H
#define FRAMECMP_OPTIONS_H

#include "compare.h"
#include "to_mesh.h"

struct parameters {
	struct compare_limits limits;
	const char *channels;
	long margin;
	bool turns, meta, table;
	struct to_mesh_options to;
};

extern const struct opt framecmp_options[];
/* 0; -1 after fail_usage(). */
int options_check(const struct run *, const struct parameters *);

#endif
