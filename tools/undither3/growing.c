#include "growing.h"

#define BACKGROUND 0.06f	/* turns; a pixel without bits that is farther off its surface */

bool
growing_is_background(const struct job *job, size_t at, size_t place, float turns)
{
	struct bits_pixel none = { 0, 0, 0, place };

	return job->bit[0][at] + job->bit[1][at] + job->bit[2][at] == 0 &&
	    px_isnan(bits_fit(&job->priv->bits, &none, turns, BACKGROUND));
}
