/* A stage that turns a cylinder from measurement to measurement. */
#ifndef FRINGESIM_TURNTABLE_H
#define FRINGESIM_TURNTABLE_H

#include "laser_light.h"
#include "rig.h"

/* Turned about the cylinder's axis, which stands along y behind the reference plane. */
struct rig_stage turntable_stage(const struct rig *, double turn_rad);
/* The key stage_deg, rounded to 1e-9, where the options turn the stage. -1 after fail(). */
int turntable_describe(const struct laser_options *, uint32_t measurement, struct frame_head *);

#endif
