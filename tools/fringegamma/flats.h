/* The projector's response from flat images of known levels. */
#ifndef FLATS_H
#define FLATS_H

#include "base/numbers.h"
#include "pixels.h"
#include "response.h"

#define FLATS_FEWEST 4

struct flats {
	size_t n;
	double *level, *light;		/* rising; shares of full scale, mean grey levels */
	double light_error;		/* standard, the largest; over the range of light */
	double gamma, gamma_error;
	double left;			/* rms of what offset + gain level^gamma leaves, over the
					 * range of light */
	bool fits;
};

/* pixels: of as many images as there are levels. -1 after fail(), which names flats that do not
 * rise. Free with flats_free, also after a failure. */
int flats_fit(const struct pixels *, const struct numbers *level, double full, struct flats *out);
void flats_free(struct flats *);
/* The harmonics of fringes of these levels. False where flats do not reach as far as they do. */
bool flats_harmonics(const struct flats *, struct response_levels, struct response_harmonics *);

#endif
