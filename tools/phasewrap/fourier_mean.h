/* Means along cyclic lines, many of which lie side by side. */
#ifndef FOURIER_MEAN_H
#define FOURIER_MEAN_H

#include <stddef.h>

#define FOURIER_MEAN_LINES ((size_t)32)

/* Of n samples, each of FOURIER_MEAN_LINES floats, the means over `period` samples about each; what
 * lies between two samples is on a straight line. */
void fourier_mean_lines(const float *restrict from, size_t n, double period, float *restrict to);

#endif
