#include "mergexyz.h"

#define AT(field) offsetof(struct parameters, field)

const struct opt mergexyz_options[] = {
	{ 0, "view", "FILE", OPT_STREAMS, AT(views), NULL, 0, 0, NULL,
	  "another view's stream of points; may be repeated", NULL },
	{ 0, "pose", "FILE", OPT_FILES, AT(poses), NULL, 0, 0, NULL,
	  "poses of a view's frames, 4x4 or R|T, view to world; one file per view", NULL },
	{ 0, "icp", NULL, OPT_FLAG, AT(icp), NULL, 0, 0, NULL,
	  "fit each ordered view to those before it", NULL },
	{ 0, "ring", NULL, OPT_FLAG, AT(ring), NULL, 0, 0, NULL,
	  "with --icp: the last frame also meets the first, and its error is spread", NULL },
	{ 0, "max-rms", "MM", OPT_NUMBER, AT(max_rms), NULL, 0, 1e9, "mm",
	  "of the residuals of --icp [by the noise of the views]", NULL },
	{ 0, "write-pose", "FILE", OPT_FILES, AT(write_pose), NULL, 0, 0, NULL,
	  "the poses that --icp has found, for --pose; one file per view", NULL },
	{ 0, "noise", "K,N", OPT_NUMBERS, AT(noise), NULL, 0, 1000, NULL,
	  "drop points whose K nearest are N sigma farther than is usual", NULL },
	{ 0, "grid", "MM", OPT_NUMBER, AT(grid), NULL, 1e-9, 1e9, "mm",
	  "one point per cube of this side", NULL },
	{ 0 },
};
