#include "image/ticks.h"

#include <math.h>
#include <stdio.h>

double
ticks_step(double low, double high, double n)
{
	double rough = (high - low) / n, power = pow(10, floor(log10(rough)));
	double factor = rough / power;

	return power * (factor < 1.5 ? 1 : factor < 3.5 ? 2 : factor < 7.5 ? 5 : 10);
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
