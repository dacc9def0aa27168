/* Pictures of the scene in even light, in place of fringes: in colour where it is painted so. */
#ifndef FRINGESIM_PICTURE_H
#define FRINGESIM_PICTURE_H

#include "camera.h"
#include "io/target.h"
#include "run/stage.h"
#include "simulated_scene.h"

struct picture {
	const struct camera *camera;
	struct simulated_scene *simulated;
	double ambient;			/* grey levels on white; 0: 200/255 of full scale */
	bool several;			/* one of several: its name has a number */
	struct target *truth;		/* NULL: none */
};

/* Takes the picture of a measurement and hands it on: channels r g b, or image. -1 after fail(). */
int picture_take(struct run *, const struct picture *, uint32_t measurement,
    const struct rig_pose *);

#endif
