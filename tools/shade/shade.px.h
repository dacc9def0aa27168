/*
 * Phong's reflection of one light (methods §9; Karpinsky 2014 §3.7). View coordinates: x right, y
 * down, z away; the viewer looks along z. n and light are unit vectors, light points to the lamp.
 */
#include "px.h"

/* Ambient + diffuse share of the colour. Surfaces are lit on the side that faces the viewer. */
PX_FN float
shade_diffuse(
    float nx, float ny, float nz, float lx, float ly, float lz, float ambient, float diffuse)
{
	PX_F side = px_select(nz > 0.0f, -1.0f, 1.0f);

	return ambient + diffuse * px_max(side * (nx * lx + ny * ly + nz * lz), 0.0f);
}

/* Highlight: the mirrored light against the direction to the viewer (0, 0, -1), to a power. */
PX_FN float
shade_specular(float nx, float ny, float nz, float lx, float ly, float lz, float specular,
    float shininess)
{
	PX_F side = px_select(nz > 0.0f, -1.0f, 1.0f);
	PX_F cosine = side * (nx * lx + ny * ly + nz * lz);
	PX_F towards = lz - 2.0f * cosine * side * nz;		/* = mirrored light . (0, 0, -1) */
	PX_F highlight = px_exp(shininess * px_log(px_max(towards, 1e-6f)));

	return px_select(cosine > 0.0f && towards > 0.0f, specular * highlight, 0.0f);
}
