/* The key phase_anchor: what made an absolute phase absolute. */
#ifndef PHASE_ANCHOR_H
#define PHASE_ANCHOR_H

#include <stdbool.h>

#include "frame/meta.h"

/* Is the absolute phase of this frame known up to whole turns only, as its anchor is neither a
 * pixel nor a reference nor a marker? Without the key it is absolute. */
bool phase_anchor_is_relative(const struct meta *);

#endif
