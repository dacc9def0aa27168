/* What the files of mergexyz share: its options, its pieces. */
#ifndef MERGEXYZ_H
#define MERGEXYZ_H

#include "base/opt.h"
#include "cube_sums.h"
#include "pieces.h"
#include "run/stage.h"
#include "splat_stage.h"
#include "view_checks.h"

struct parameters {
	struct opt_list views, poses;
	bool icp, ring;
	double max_rms;
	struct opt_list write_pose;
	double grid;
	struct numbers noise;
	struct splat_options splat;
};

struct priv {
	struct pieces pieces;
	bool folds;			/* points go into sums as frames come */
	struct cube_sums sums;
	struct pose_list *pose;		/* of each view; NULL: none are given */
	size_t views;
	struct view_checks checks;
	struct splat_stage splat;
};

extern const struct opt mergexyz_options[];

#endif
