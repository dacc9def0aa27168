#include "unwrap/phase_anchor.h"

#include <string.h>

bool
phase_anchor_is_relative(const struct meta *meta)
{
	const char *anchor = meta_get(meta, "phase_anchor");

	return anchor && strcmp(anchor, "pixel") && strcmp(anchor, "ref") &&
	    strcmp(anchor, "marker");
}
