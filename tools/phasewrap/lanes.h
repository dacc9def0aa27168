/* Lines of a plane, side by side: sample i of line k is at i * LANES_SAMPLE + k. */
#ifndef LANES_H
#define LANES_H

#include <stddef.h>

#define LANES_SAMPLE ((size_t)32)	/* floats */

/* Up to LANES_SAMPLE lines of n samples of a plane: floats from sample to sample of a line, and
 * from line to line. */
struct lanes {
	size_t n, lines, along, apart;
};

/* Reads the lines; lanes beyond them stay. */
void lanes_read(const struct lanes *, const float *restrict plane, float *restrict to);
/* Writes them, times `scale`; place: of each sample, or NULL: in their order. */
void lanes_write(const struct lanes *, const float *restrict from, const size_t *restrict place,
    float scale, float *restrict plane);

#endif
