#include "certain.h"

#include "grow.h"

void
certain_row(
    const struct priv *priv, const struct frame *in, struct frame *out, size_t z, size_t y)
{
	size_t w = in->head.w;
	float *restrict depth = frame_floats(out, z, y);
	const float *restrict given = priv->certainty == NO_CHANNEL ? NULL
	    : (const float *)frame_row(in, priv->certainty, y);
	const float *restrict grown = priv->grown ? priv->regions.certainty + y * w : NULL;
	float *restrict to = priv->keep ? frame_floats(out, out->head.c - 1, y) : NULL;

	for (size_t x = 0; x < w; x++) {
		float certain = px_min(given ? given[x] : 1, grown ? grown[x] : 1);

		if (given && !(given[x] >= priv->least))
			depth[x] = PX_NAN;
		if (to)
			to[x] = px_isnan(depth[x]) ? PX_NAN : certain;
	}
}

int
certain_grow(struct run *run, const struct frame *in, bool lossy, bool no_edge, bool asked)
{
	struct priv *priv = run->priv;
	float least;

	priv->grown = lossy && priv->decode == DECODE_REGION && (no_edge || asked || priv->keep);
	if (lossy && priv->decode != DECODE_REGION && (priv->keep || asked))
		return fail(NULL,
		    "certainty in a lossy picture is that of regions: give --decode region");
	if (!priv->grown)
		return 0;
	if (grow(run, &priv->regions, &priv->reading,
		priv->mended.picture ? priv->mended.picture : in, in, priv->mended.surface,
		&least) < 0)
		return -1;
	if (!priv->keep)
		grow_drop(&priv->regions, asked ? priv->least : least);
	return 0;
}
