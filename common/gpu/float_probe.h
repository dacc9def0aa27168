/*
 * Does a device compute floats as the processor does? Not all drivers declare what their devices
 * do: one keeps subnormal numbers in sums and products and does not say so. So what formulas rest
 * on (float_results.px.h) is computed on both sides, of numbers at the edges of floats.
 */
#ifndef FLOAT_PROBE_H
#define FLOAT_PROBE_H

#include <stddef.h>
#include <stdint.h>

#include "gpu/gpu.h"

/* A job of some thousand pairs. *exact: all results have the same bits, NaN counted as equal. -1
 * after fail(). */
int float_probe(struct gpu *, bool *exact);

#endif
