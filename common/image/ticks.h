/* Round numbers along an axis. */
#ifndef TICKS_H
#define TICKS_H

#include <stdbool.h>
#include <stddef.h>

/* The distance of ticks, 1, 2 or 5 times a power of ten: about n of them between low and high,
 * low < high. */
double ticks_step(double low, double high, double n);
/* Can a range be marked: are its numbers finite, and far enough from each other for their size? */
bool ticks_range_fits(double low, double high);

/* The multiples of a step in a range. */
struct ticks {
	double first, step;
	size_t n;
};

/* From low to high, low < high; those that lie beside it by rounding errors only are in it. None
 * where the step is no positive number. */
struct ticks ticks_between(double low, double high, double step);
/* The value of tick i < n. */
double ticks_value(const struct ticks *, size_t i);
/* The number of a tick, with the decimals that the step needs. */
void ticks_text(double v, double step, char text[32]);
/* The decimals that numbers at this distance need. */
int ticks_decimals(double step);

#endif
