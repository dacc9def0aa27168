/* The rays of a camera's pixels through its lens. */
#ifndef CAMERA_RAYS_H
#define CAMERA_RAYS_H

#include "triangulate.h"

/* Fills the triangulation's table `lens`, all else of whose camera is set. */
void camera_rays_fill(struct run *, struct triangulation *, const struct pinhole *camera);

#endif
