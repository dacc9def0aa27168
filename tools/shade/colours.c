#include "colours.h"

struct shade_vector
colours_of(const struct priv *priv, float value)
{
	float rgb[3];

	colormap_rgb(priv->map, (value - priv->low) / (priv->high - priv->low), rgb);
	return (struct shade_vector){ rgb[0], rgb[1], rgb[2] };
}

void
colours_find_range(struct priv *priv, float *value, size_t n)
{
	float limit[2] = { 0, 1 };

	if (n)
		numbers_ranks(value, n, (size_t[2]){ n / 100, n - 1 - n / 100 }, 2, limit);
	priv->low = limit[0];
	priv->high = limit[1] > limit[0] ? limit[1] : limit[0] + 1;
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
