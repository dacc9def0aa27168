/* What the first frames tell of wrong poses, and of one file that was given twice. */
#ifndef MERGEXYZ_VIEW_CHECKS_H
#define MERGEXYZ_VIEW_CHECKS_H

#include "base/opt.h"
#include "pieces.h"
#include "pose_check.h"

struct view_checks {
	bool poses, fits;		/* poses are given; they are only where a fit begins */
	bool splat;			/* has a check of its own without poses */
	const struct opt_list *files;	/* of the views behind the first one */
	struct piece first;		/* its numbers and its pose; view 0: none yet */
	struct pose_check pose_check;
	bool unit_checked, unit_warned, same;	/* one line is enough */
};

/* The views of one time, as they came. Warns; -1 after fail(): memory. */
int view_checks_add(struct view_checks *, struct run *, const struct piece *, size_t views);
/* All frames are there: what only all of them tell. */
void view_checks_warn(const struct view_checks *);
void view_checks_free(struct view_checks *);

#endif
