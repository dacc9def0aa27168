#include "held.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/px.h"

#define NEARLY (8 / 255.0f)	/* of a level: camera noise, a fiftieth of a fringe */

void
held_start(const struct held *held, float *const share[3], const unsigned char *black,
    unsigned char *const bit[3], size_t w, size_t h)
{
	if (held->w != w || held->h != h)
		return;
	for (size_t i = 0; i < w * h; i++) {
		bool still = !black[i];

		for (int c = 0; c < 3; c++)
			still = still && px_abs(share[c][i] - held->share[c][i]) <= NEARLY;
		for (int c = 0; c < 3 && still; c++)
			bit[c][i] = held->bit[c][i];
	}
}

int
held_keep_levels(struct held *next, float *const share[3], size_t w, size_t h)
{
	*next = (struct held){ .w = w, .h = h };
	for (int c = 0; c < 3; c++) {
		next->share[c] = malloc(w * h * sizeof(float));
		if (!next->share[c])
			return fail_memory();
		memcpy(next->share[c], share[c], w * h * sizeof(float));
	}
	return 0;
}

int
held_keep_bits(struct held *next, unsigned char *const bit[3])
{
	for (int c = 0; c < 3; c++) {
		next->bit[c] = malloc(next->w * next->h);
		if (!next->bit[c])
			return fail_memory();
		memcpy(next->bit[c], bit[c], next->w * next->h);
	}
	return 0;
}

void
held_free(struct held *held)
{
	for (int c = 0; c < 3; c++) {
		free(held->share[c]);
		free(held->bit[c]);
	}
	*held = (struct held){ 0 };
}
