/* One capture of a simulated scene. */
#ifndef FRINGESIM_EXPOSURE_H
#define FRINGESIM_EXPOSURE_H

#include "camera.h"
#include "dithered.h"
#include "fringe/projector_response.h"
#include "simulated_scene.h"

/* A Gaussian over the samples of a pixel and of its neighbours (rig.h). */
struct camera_blur {
	size_t n;
	double *weight;			/* n, summing to 1 */
	double *line;			/* the samples' light, then each row's as pixels */
};

struct exposure {
	const struct camera *camera;
	const struct simulated_scene *simulated;
	struct projected_pattern projected;
	enum dither how;		/* of WAVE_DITHERED */
	struct dithered dithered;
	struct camera_blur blur;
	struct camera_capture capture;
	double ambient;
	struct frame *out;
};

/* Fills `out` on all of the run's threads; the pattern is one of these. -1 after fail(). */
int exposure_fill(struct run *, struct exposure *, const struct pattern_spec *,
    const struct patterns *);

#endif
