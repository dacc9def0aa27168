#include "base/fail.h"
#include "closed_form.h"
#include "placing.h"

#define MOST_ERROR 0.15	/* of a homography's points, in board sizes; lenses bend lines */

int
placing_fit_view(struct start *start, size_t v)
{
	const struct calib_problem *problem = start->problem;
	const struct calib_view *view = &problem->view[v];
	const struct calib_device *device = &problem->device[view->device];
	double error;
	char name[128];

	calib_view_name(problem, view, name, sizeof(name));
	if (!closed_form_homography(&problem->board, problem->point + view->first, view->n,
	    start->H[v], &error))
		return fail(name, "its %zu points lie on a line", view->n);
	if (error > MOST_ERROR)
		return fail(name, "its points do not lie as those of a board of %zux%zu do",
		    problem->board.w, problem->board.h);
	if (closed_form_mirrors(start->H[v], &problem->board))
		return fail(name, device->kind == CALIB_PROJECTOR ?
		    "shows the board mirrored: the phase of x or of y runs the wrong way "
		    "(phasewrap --sign), they are exchanged, or the camera's pictures are "
		    "mirrored" :
		    "shows the board mirrored: from i to j must be a quarter turn to the right in "
		    "the picture, as on the board");
	return 0;
}
