/* The line detector's loops at this tool's instruction levels. */
#include "steger_loops.h"

#include "feature/line_loops.h"

const struct line_level steger_loops = LINE_LEVEL_FUNCTIONS;
