#include "plausible.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "image/statistics.h"

#define LEAST 100		/* values */
#define ZEROS 0.02		/* of the values */
#define FAR 0.25		/* of the usual magnitude, */
#define FEW 0.05		/* of the zeros are that near to 0 */
#define WRONG 4			/* times as much motion */
#define LAGS 0.3		/* standard deviations of noise in a frame: what a mean does show */
#define LAGGING 4		/* frames of that motion, one behind another */
#define DROWNED 8		/* and what leaves the noise as it is */

bool
plausible_zeros(struct noise *noise, const struct frame_head *head, const char *name)
{
	size_t pixels = coarse_grid_pixels(&noise->grid), zeros = 0, n = 0, near = 0;
	const char *z_axis = meta_get(&head->meta, "z_axis");
	double usual;

	if (z_axis && !strcmp(z_axis, "towards"))	/* 0 is a plane behind the object */
		return false;
	for (size_t i = 0; i < pixels; i++) {
		double v = fabs((double)noise->frame[0][i].value[0]);

		zeros += v == 0;
		if (v > 0 && isfinite(v))
			noise->work[n++] = v;
	}
	if (n < LEAST || !((double)zeros > ZEROS * (double)(n + zeros)))
		return false;
	usual = statistics_quantile(noise->work, n, 0.5);
	for (size_t i = 0; i < n; i++)
		near += noise->work[i] < FAR * usual;
	if ((double)near > FEW * (double)zeros)
		return false;
	warn(NULL, "%.2g %% of %s are 0, and hardly any near it: if that stands for none, framecat "
	    "--invalid 0 makes it NaN; it is filtered as a value", 100 * (double)zeros /
	    (double)(n + zeros), name);
	return true;
}

/* Does the last frame move, as well as all of them on the average? A jump is one frame's, and drift
 * tells motion from noise of few values. */
static bool
is_moving(struct kalman *kalman, double moved, double motion, double noise)
{
	const struct noise *all = &kalman->noise;
	double now = sqrt(fmax(0, 2 * (all->first - all->variance) * all->usual));
	double drift = sqrt(noise_drift(all)) * kalman->clock.usual;

	if (moved > WRONG * motion && fmin(fmin(moved, now), drift) > LAGS * noise)
		kalman->lags++;
	else
		kalman->lags = 0;
	return kalman->lags >= LAGGING;
}

bool
plausible_motion(struct kalman *kalman, const char *option, double motion, double noise)
{
	double moved = sqrt(noise_motion(&kalman->noise)) * kalman->clock.usual;

	if (is_moving(kalman, moved, motion, noise))
		warn(option, "%s moves by %.3g a frame, and not by %.3g: it is shown late",
		    kalman->channels.name, moved, motion);
	else if (motion > DROWNED * noise && motion > WRONG * moved)
		warn(option, "%.3g a frame is %.3g times the noise of %s, and it moves by %.3g: "
		    "hardly anything is filtered", motion, motion / noise, kalman->channels.name,
		    moved);
	else
		return false;
	return true;
}
