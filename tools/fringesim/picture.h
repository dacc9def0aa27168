/* Pictures of the scene in even light, in place of fringes: in colour where it is painted so. */
#ifndef FRINGESIM_PICTURE_H
#define FRINGESIM_PICTURE_H

#include "io/target.h"
#include "options.h"
#include "run/stage.h"
#include "simulated_scene.h"

struct picture {
	const struct parameters *parameters;	/* ambient 0: 200/255 of full scale */
	struct simulated_scene *simulated;
	struct target *truth;			/* NULL: none */
};

/* Takes the picture of a measurement and hands it on: channels r g b, or image. -1 after fail(). */
int picture_take(struct run *, const struct picture *, uint32_t measurement);

#endif
