/* Was one file given twice, as two views? */
#ifndef MERGEXYZ_SAME_VIEWS_H
#define MERGEXYZ_SAME_VIEWS_H

#include "base/opt.h"
#include "frame/frame.h"

/* The views of one time, frames of floats with x y z, and the files of those but the first. One
 * line warns of two that are the same; true where it did. */
bool same_views_warn(struct frame *const *view, size_t views, const struct opt_list *files);

#endif
