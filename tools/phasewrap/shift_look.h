/* The pixels that --shift auto looks at, and the sums over them (shift_gram.h). */
#ifndef SHIFT_LOOK_H
#define SHIFT_LOOK_H

#include "fringe/phase_shift_weights.h"
#include "image/coarse_grid.h"
#include "run/run.h"
#include "shift_gram.h"

struct shift_look {
	const struct frame *in;
	const struct capture_fringe *fringe;
	float max_value, least;	/* least: mean square about the mean of a pixel with fringes */
	struct coarse_grid grid;
	float *sample;		/* n of each pixel */
	float *square;		/* the mean square; 0 where the pixel does not count */
	float *scale;		/* of a pixel's fringes in the sums; NULL: as they are */
	float *taper;		/* weight of each pixel; NULL: 1 */
	struct shift_sums block[SHIFT_BLOCKS];
	double *share;		/* [column of blocks][column]: how much of it is theirs */
	bool overlap;		/* blocks pass into each other smoothly */
	double level[SHIFT_IMAGES_MOST];	/* of each image, times the pixels that count */
};

/* Reads the pixels and sums them; `in`, `fringe` and `max_value` are set. Free the look also after
 * a failure: -1 after fail(). */
int shift_look_begin(struct shift_look *, struct run *, float least_amplitude);
/* The sums with the amplitudes that these shifts give; overlap: in blocks that pass into each
 * other. -1 after fail(). */
int shift_look_weigh(struct shift_look *, struct run *, const struct phase_shift_fit *,
    float least_amplitude, bool overlap);
/* The share of the pixels whose phases lie in the emptiest sector of the circle; *used: the pixels.
 */
double shift_look_emptiest_sector(const struct shift_look *, const struct phase_shift_fit *,
    size_t *used);
/* The mean square below which a pixel is dark, however textured the surface. */
float shift_look_dark(const struct shift_look *, float least_amplitude);
void shift_look_free(struct shift_look *);

#endif
