/* The options of fringecal, and what init makes of them. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "base/opt.h"
#include "calib_problem.h"

enum weights { WEIGHTS_SIGMA, WEIGHTS_EQUAL };

struct parameters {
	const char *board, *cameras, *sizes, *projector_points, *fix, *frame;
	int kind, model, weights;
	const char *report, *models, *manifest, *phasewrap, *unwrap2f;
	struct opt_list phase[2];	/* of fringes along x, y: of each camera */
	bool poses;
	struct opt_size projector;
	double reject, diameter;
	bool warp;
};

extern const struct opt fringecal_options[];

/* The devices, board and weights of the command line; *frame: the device whose coordinates are
 * wanted. -1 after fail_usage(). */
int options_apply(const struct parameters *, struct calib_problem *, size_t *frame);
/* What --fix holds, once the sizes of all devices are known. */
int options_fix(const struct parameters *, struct calib_problem *);

/* The diameter of circles, once the board is known. -1 after fail_usage(). */
int options_diameter(const struct parameters *, struct calib_board *);

#endif
