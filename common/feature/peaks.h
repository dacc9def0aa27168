/* Pixels where the Hessian's determinant is larger than around them. */
#ifndef PEAKS_H
#define PEAKS_H

#include <stdint.h>

#include "feature/derivatives.h"

/* Saddles (det H < 0, its negative counts), dark or bright blobs (det H > 0). */
enum peak_kind { PEAK_SADDLE, PEAK_DARK, PEAK_BRIGHT };

struct peak {
	float strength; /* of det H, positive */
	uint32_t x, y;
};

struct peaks {
	size_t n, room;
	struct peak *peak; /* strongest first */
};

/* All of an image but those of less than `least` of the strongest one's strength, both taken as
 * sqrt(|det H|). -1 after fail(); the caller frees peak. */
int peaks_find(const struct derivative_plane *, const struct derivative_kernels *, enum peak_kind,
    double least, struct peaks *);

#endif
