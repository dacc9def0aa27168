#include "view_checks.h"

#include "pose_unit.h"
#include "same_views.h"

int
view_checks_add(struct view_checks *checks, struct run *run, const struct piece *piece,
    size_t views)
{
	struct frame *frame[views];

	if (checks->first.view == 0)
		checks->first = *piece;
	checks->pose_check.posed = checks->poses;
	for (size_t k = 0; k < views; k++) {
		frame[k] = piece[k].frame;
		if (checks->poses && !checks->unit_checked)
			checks->unit_checked = pose_unit_warn(&checks->first, &piece[k],
			    &checks->unit_warned);
		if (!checks->fits && (checks->poses || !checks->splat) &&
		    pose_check_frame(&checks->pose_check, run, piece[k].frame, piece[k].number,
		    piece[k].view, &piece[k].pose) < 0)
			return -1;
	}
	checks->same = checks->same || same_views_warn(frame, views, checks->files);
	return 0;
}

void
view_checks_warn(const struct view_checks *checks)
{
	if (!checks->unit_warned && !checks->same)
		pose_check_warn(&checks->pose_check);
}

void
view_checks_free(struct view_checks *checks)
{
	pose_check_free(&checks->pose_check);
}
