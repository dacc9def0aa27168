/* What phase2depth makes of a frame, and the two ways: rows on the processor, a pass on the device.
 */
#ifndef PHASE2DEPTH_H
#define PHASE2DEPTH_H

#include "calib_sigma.h"
#include "depthfit.h"
#include "half_turn.h"
#include "optics/calib.h"
#include "phase_steps.h"
#include "plausible.h"
#include "reference_check.h"
#include "run/passthrough.h"
#include "triangulate.h"

struct passes;

/* What is planned for a frame. */
struct phase2depth {
	struct passthrough passthrough;	/* channels that go through behind the result */
	float least, most;		/* limits of depth */
	struct depthfit above;		/* the reference: phase above it, and c */
	struct half_turn_jumps jumps;	/* of wrapped phases */
	struct depthfit_same *same;	/* of all frames: is the reference the input itself? */
	struct reference_check reference;
	struct calib calib;
	struct triangulation rays;
	struct calib_sigma calib_sigma;
	struct plausible plausible;
	struct phase_steps steps;
	size_t phase;
	size_t sigma, ref_sigma;	/* channels; NO_CHANNEL: there is none */
	bool warned_ref_sigma;
	bool calibrated;
	bool on_device;			/* which sees the frames behind the first */
};

/* struct body's `passes`. */
int phase2depth_passes(struct run *, struct passes *);

#endif
