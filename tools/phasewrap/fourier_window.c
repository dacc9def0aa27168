#include "fourier_window.h"

#include <math.h>

float
fourier_window(enum fourier_shape shape, double u)
{
	if (!(u < 1))
		return 0;
	switch (shape) {
	case WINDOW_HANN:
		return (float)(0.5 + 0.5 * cos(M_PI * u));
	case WINDOW_GAUSS:
		return (float)exp(-4.5 * u * u);
	case WINDOW_TUKEY:
		break;
	}
	return u <= 0.5 ? 1 : (float)(0.5 + 0.5 * cos(M_PI * (2 * u - 1)));
}
