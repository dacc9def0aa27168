/* Frames that are lost under --keep-going. */
#include "framecat.h"

int
lose_frame(struct run *run, bool seen, size_t *results)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	bool wanted = true;

	if (!seen && parameters->like && like_next(&priv->like) < 0)
		return -1;
	if (parameters->frames)
		wanted = ranges_hold(&priv->wanted, seen ? priv->frames - 1 : priv->frames++);
	priv->lost += wanted;
	*results = !wanted || parameters->stack ? 0 : parameters->split ? priv->channels : 1;
	return 0;
}
