#include "pixel_wave.h"

#include "phasewrap.px.h"

struct pixel_wave
pixel_wave_fit(const struct capture_fringe *fringe, const struct phase_shift_fit *fit,
    const struct frame *in, size_t y, size_t x)
{
	float first = frame_sample(in, fringe->plane[0], y, x), rise = 0;
	struct pixel_wave wave = { 0 };

	for (size_t i = 1; i < fringe->n; i++) {
		float v = frame_sample(in, fringe->plane[i], y, x) - first;

		rise = phasewrap_add(rise, v, fit->weights[i].mean);
		wave.cosine = phasewrap_add(wave.cosine, v, fit->weights[i].c);
		wave.sine = phasewrap_add(wave.sine, v, fit->weights[i].s);
	}
	if (fringe->two_plus_one || fringe->n < 4)
		return wave;
	rise = rise * (1.0f / (float)fringe->n);
	for (size_t i = 0; i < fringe->n; i++) {
		float v = frame_sample(in, fringe->plane[i], y, x) - first;
		float left = phasewrap_left(v, rise, wave.cosine, wave.sine, fit->model[i].cosine,
		    fit->model[i].sine);

		wave.left = phasewrap_add(wave.left, left, left);
	}
	wave.left /= (float)(fringe->n - 3);
	return wave;
}
