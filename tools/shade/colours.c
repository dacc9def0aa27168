#include "colours.h"

#include "image/colormap.px.h"

void
colours_find_range(struct priv *priv, const float *value, size_t n)
{
	float range[2];

	colormap_range(priv->map, value, n, range);
	priv->low = range[0];
	priv->high = range[1];
}

static void
fill_by_value(const struct priv *priv, const float *restrict value, float *restrict r,
    float *restrict g, float *restrict b, size_t n)
{
	const float (*anchors)[3], *restrict anchor;
	float last = (float)(colormap_anchors(priv->map, &anchors) - 1);
	float low = priv->low, span = priv->high - priv->low;
	struct shade_vector nan = priv->nan;

	anchor = anchors[0];
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F v = value[i];
		bool missing = px_isnan(v);
		PX_F place = colormap_place((v - low) / span, last);
		PX_F before = colormap_anchor(place, last), share = place - before;
		int at = 3 * (int)before;

		r[i] = px_select(missing, nan.x,
		    colormap_between(anchor[at], anchor[at + 3], share));
		g[i] = px_select(missing, nan.y,
		    colormap_between(anchor[at + 1], anchor[at + 4], share));
		b[i] = px_select(missing, nan.z,
		    colormap_between(anchor[at + 2], anchor[at + 5], share));
	}
}

void
colours_fill(const struct priv *priv, const float *value, float *restrict r, float *restrict g,
    float *restrict b, size_t n)
{
	if (value) {
		fill_by_value(priv, value, r, g, b, n);
		return;
	}
	for (size_t i = 0; i < n; i++)
		r[i] = g[i] = b[i] = PLASTER;
}
