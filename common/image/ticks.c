#include "image/ticks.h"

#include <math.h>
#include <stdio.h>

#define MOST 1000		/* ticks */
#define NARROWEST 1e-12		/* range, of the larger of its ends */
#define SMALLEST 1e-300		/* range: its inverse is a number */
#define SLACK 1e-9		/* of a step, for rounding errors */

double
ticks_step(double low, double high, double n)
{
	double rough = (high - low) / n, power = pow(10, floor(log10(rough)));
	double factor = rough / power;

	return power * (factor < 1.5 ? 1 : factor < 3.5 ? 2 : factor < 7.5 ? 5 : 10);
}

bool
ticks_range_fits(double low, double high)
{
	double width = fabs(high - low);

	return isfinite(width) && width >= SMALLEST &&
	    width > NARROWEST * fmax(fabs(low), fabs(high));
}

struct ticks
ticks_between(double low, double high, double step)
{
	struct ticks ticks = { ceil(low / step - SLACK), step, 0 };

	if (!(step > 0) || !isfinite(step) || !isfinite(ticks.first))
		return ticks;
	while (ticks.n < MOST && ticks_value(&ticks, ticks.n) <= high + SLACK * step)
		ticks.n++;
	return ticks;
}

double
ticks_value(const struct ticks *ticks, size_t i)
{
	return (ticks->first + (double)i) * ticks->step;
}

int
ticks_decimals(double step)
{
	return (int)fmax(0, -floor(log10(step) + 1e-9));
}

void
ticks_text(double v, double step, char text[32])
{
	int digits = ticks_decimals(step);

	if (fabs(v) < 1e-9 * step)
		v = 0;
	if (digits > 6 || fabs(v) >= 1e7)
		snprintf(text, 32, "%.4g", v);
	else
		snprintf(text, 32, "%.*f", digits, v);
}
