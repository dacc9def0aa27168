/* The line detector's loops for all machines. */
#include "feature/line_loops.h"

const struct line_level line_level_any = LINE_LEVEL_FUNCTIONS;
