#include "mixing.h"

#include "base/px.h"
#include "dark.h"
#include "holodec.px.h"

/* Blue's difference of colour, of R, G and B, and how much of it is in B (JFIF). */
#define BLUE_R (-0.168736f)
#define BLUE_G (-0.331264f)
#define BLUE_B 0.5f
#define B_OF_BLUE 1.772f

#define STEP 16		/* one row or column of so many is looked at */
#define ROUNDING 4.0f	/* levels */
#define HALVED 0.6f	/* third differences above ROUNDING: from odd pixels over from even */

/* ---- is colour halved? ---- */

struct blue_sample {
	float blue;
	bool cut;	/* a channel is at the end of its range */
};

static struct blue_sample
sample_at(const struct growing *growing, size_t x, size_t y)
{
	const size_t *channel = growing->reading->channel;
	unsigned char v[3];
	bool cut = false;

	for (int c = 0; c < 3; c++) {
		v[c] = ((const unsigned char *)frame_row(growing->in, channel[c], y))[x];
		cut |= v[c] == 0 || v[c] == 255;
	}
	return (struct blue_sample){ BLUE_R * v[0] + BLUE_G * v[1] + BLUE_B * v[2], cut };
}

/* Samples doubled by weights of 3/4 and 1/4 have no third difference from an odd pixel to the third
 * behind it but that of rounding. */
static bool
is_doubled(const struct growing *growing, bool down)
{
	size_t w = growing->regions->w, h = growing->regions->h, rough[2] = { 0 };

	for (size_t line = 0; line < (down ? w : h); line += STEP) {
		float v[4] = { 0 };
		int whole = 0;		/* samples that are not cut, in a row */

		for (size_t i = 0; i < (down ? h : w); i++) {
			struct blue_sample sample = down ? sample_at(growing, line, i)
							 : sample_at(growing, i, line);

			for (int k = 0; k < 3; k++)
				v[k] = v[k + 1];
			v[3] = sample.blue;
			whole = sample.cut ? 0 : whole + 1;
			rough[~i % 2] += whole >= 4 &&
			    px_abs(v[3] - v[0] - 3 * (v[2] - v[1])) > ROUNDING;
		}
	}
	return (float)rough[1] < HALVED * (float)rough[0];
}

void
mixing_find(struct growing *growing)
{
	bool coloured = growing->reading->rgb && growing->in->head.type == SAMPLE_UCHAR;

	for (int i = 0; i <= HOLO_PROFILE; i++) {
		float rest = (float)i / HOLO_PROFILE;

		growing->blue[i] = BLUE_R * holo_sine_level(rest) +
		    BLUE_G * holo_cosine_level(rest) + BLUE_B * growing->reading->stair[i];
	}
	growing->halved[0] = coloured && is_doubled(growing, false);
	growing->halved[1] = coloured && is_doubled(growing, true);
}

/* ---- stairs as they are read ---- */

/* Blue's difference of colour as the pixel's turns make it; of the background 0. */
static float
blue_of(const struct growing *growing, size_t at)
{
	float turns = growing->turns[at], rest = growing->regions->rest[at];

	return px_isnan(turns) ? 0
			       : growing->blue[(int)(rest * HOLO_PROFILE)] +
		BLUE_B * growing->reading->code.height * px_round(turns - rest);
}

struct taps {
	size_t at[4];
	float weight[4];
	int n;
};

/* The pixels of a row or column of n that pixel i's colour is of: 3/4 of its own block of two and
 * 1/4 of the nearer other one. */
static struct taps
find_taps(size_t i, size_t n, bool halved)
{
	struct taps taps = { .at = { i }, .weight = { 1 }, .n = 1 };
	size_t own = i & ~(size_t)1, other = i & 1 ? own + 2 : own - 2;

	if (!halved)
		return taps;
	if (other >= n)		/* or before the first */
		other = own;
	for (int k = 0; k < 4; k++) {
		size_t at = (k < 2 ? own : other) + (size_t)(k & 1);

		taps.at[k] = at < n ? at : n - 1;
		taps.weight[k] = k < 2 ? 0.375f : 0.125f;
	}
	taps.n = 4;
	return taps;
}

float
mixing_read(const struct growing *growing, const struct pixel *pixel)
{
	const struct reading *reading = growing->reading;
	float rest = growing->regions->rest[pixel->at];

	return rest + holodec_order(dark_level(growing, 2, pixel),
	    reading->stair[(int)(rest * HOLO_PROFILE)], 1 / reading->code.height);
}

float
mixing_offset(const struct growing *growing, const struct pixel *pixel)
{
	size_t w = growing->regions->w, h = growing->regions->h;
	float off = pixel->read - growing->turns[pixel->at], mixed = 0;
	struct taps across, along;

	if (!growing->halved[0] && !growing->halved[1])
		return off;
	across = find_taps((size_t)pixel->x, w, growing->halved[0]);
	along = find_taps((size_t)pixel->y, h, growing->halved[1]);
	for (int j = 0; j < along.n; j++)
		for (int i = 0; i < across.n; i++)
			mixed += along.weight[j] * across.weight[i] *
			    blue_of(growing, along.at[j] * w + across.at[i]);
	mixed -= blue_of(growing, (size_t)pixel->at);
	return off - B_OF_BLUE * mixed / growing->reading->code.height;
}
