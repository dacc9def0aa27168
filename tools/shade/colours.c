#include "colours.h"

/* By a value. */
static struct shade_vector
colours_of(const struct priv *priv, float value)
{
	float rgb[3];

	if (px_isnan(value))
		return priv->nan;
	colormap_rgb(priv->map, (value - priv->low) / (priv->high - priv->low), rgb);
	return (struct shade_vector){ rgb[0], rgb[1], rgb[2] };
}

void
colours_find_range(struct priv *priv, const float *value, size_t n)
{
	float range[2];

	colormap_range(priv->map, value, n, range);
	priv->low = range[0];
	priv->high = range[1];
}

void
colours_fill(const struct priv *priv, const float *value, float *restrict r, float *restrict g,
    float *restrict b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct shade_vector rgb = { PLASTER, PLASTER, PLASTER };

		if (value)
			rgb = colours_of(priv, value[i]);
		r[i] = rgb.x;
		g[i] = rgb.y;
		b[i] = rgb.z;
	}
}
