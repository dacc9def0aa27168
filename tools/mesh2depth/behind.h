/* Is a mesh in a camera's coordinates seen from behind? */
#ifndef BEHIND_H
#define BEHIND_H

#include "meshview.h"

/* Warns of a mesh that does not say where its axes point, and that lies as a camera sees it which
 * looks along z, with its triangles towards there, where the options leave the viewer on the other
 * side. The points are the mesh's own. */
void behind_warn(const char *name, const struct triangles *, const struct meshview_options *);

#endif
