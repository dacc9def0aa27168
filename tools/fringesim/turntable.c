#include "turntable.h"

#include <math.h>

struct rig_stage
turntable_stage(const struct rig *rig, double turn_rad)
{
	double c = cos(turn_rad), s = sin(turn_rad), z = rig->distance + rig->scene->radius;

	return (struct rig_stage){ .R = { c, 0, -s, 0, 1, 0, s, 0, c },
		.t = { s * z, 0, z - c * z }, .turns = true };
}

int
turntable_describe(const struct laser_options *options, uint32_t measurement,
    struct frame_head *head)
{
	double degrees = measurement * options->stage_angle * 180 / M_PI;

	return isnan(degrees) ? 0 : meta_set_number(&head->meta, "stage_deg",
	    round(degrees * 1e9) / 1e9);
}
