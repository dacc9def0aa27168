/* Round numbers along an axis. */
#ifndef TICKS_H
#define TICKS_H

#include <stddef.h>

/* The distance of ticks, 1, 2 or 5 times a power of ten: about n of them between low and high,
 * low < high. */
double ticks_step(double low, double high, double n);
/* The number of a tick, with the decimals that the step needs. */
void ticks_text(double v, double step, char text[32]);
/* The decimals that numbers at this distance need. */
int ticks_decimals(double step);

#endif
