#include "survey.h"

#include <stdlib.h>

#include "colours.h"

/* The range of the points' values. */
static int
find_values(struct priv *priv, const struct frame *in)
{
	float *value, *at;
	size_t pixels;

	if (size_multiply(in->head.w, in->head.h, &pixels) < 0)
		return -1;
	value = at = malloc(pixels * sizeof(*value));
	if (!value)
		return fail_memory();
	for (size_t y = 0; y < in->head.h; y++) {
		const float *row = frame_floats(in, priv->value, y);

		for (size_t x = 0; x < in->head.w; x++) {
			bool there = shade_there(row[x]);

			for (int k = 0; k < 3 && there; k++)
				there = priv->mesh.point[k] == NO_CHANNEL ||
				    shade_there(frame_floats(in, priv->mesh.point[k], y)[x]);
			if (there)
				*at++ = row[x];
		}
	}
	colours_find_range(priv, value, (size_t)(at - value));
	free(value);
	return 0;
}

int
survey_frame(struct run *run, const struct frame *in)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	double jump = parameters->jump;

	if (priv->value != NO_CHANNEL && parameters->range.n == 0 && find_values(priv, in) < 0)
		return -1;
	if (!mesh_has_normals(&priv->mesh) && !(jump > 0) &&
	    mesh_find_jump(&priv->mesh, in, &jump) < 0)
		return -1;
	priv->jump = (float)jump;
	return 0;
}
