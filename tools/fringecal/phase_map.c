#include "phase_map.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "unwrap/phase_anchor.h"

/* How a pixel's sigma is found. */
struct noise_channels {
	size_t sigma, amplitude, modulation, texture;	/* NO_CHANNEL: none */
};

static int
find_noise(const struct frame_head *head, const char *path, struct noise_channels *noise)
{
	noise->sigma = head_channel(head, "sigma");
	noise->amplitude = head_channel(head, "amplitude");
	noise->modulation = head_channel(head, "modulation");
	noise->texture = head_channel(head, "texture");
	if (noise->sigma != NO_CHANNEL || noise->amplitude != NO_CHANNEL ||
	    (noise->modulation != NO_CHANNEL && noise->texture != NO_CHANNEL))
		return 0;
	return fail(path, "has neither sigma nor modulation and texture, which tell black squares "
	    "from white ones: keep those channels of phasewrap (best: phasewrap --sigma)");
}

/* Standard deviation of the phase at a pixel, or what is proportional to it. Texture is the mean
 * light A and the amplitude B together, modulation B/A. */
static float
phase_sigma(const struct frame *frame, const struct noise_channels *noise, size_t x, size_t y)
{
	float modulation;

	if (noise->sigma != NO_CHANNEL)
		return frame_floats(frame, noise->sigma, y)[x];
	if (noise->amplitude != NO_CHANNEL)
		return 1 / frame_floats(frame, noise->amplitude, y)[x];
	modulation = frame_floats(frame, noise->modulation, y)[x];
	return (1 + modulation) / (modulation * frame_floats(frame, noise->texture, y)[x]);
}

static int
check_keys(const struct frame_head *head, const char *path, char axis, double *period_px)
{
	const char *along = meta_get(&head->meta, "axis");

	if (along && (along[0] != axis || along[1]))
		return fail(path, "is a phase along %.40s (key axis), and one along %c is wanted",
		    along, axis);
	if (phase_anchor_is_relative(&head->meta))
		return fail(path, "absphase is known up to whole turns only: a projector's "
		    "coordinates need an absolute one (unwrap2f, or a marker)");
	if (meta_number(&head->meta, "period_px", NAN, period_px) < 0) {
		fail_prefix(path);
		return -1;
	}
	if (isnan(*period_px))
		return fail(path, "lacks the key period_px, projector pixels from a fringe to the "
		    "next");
	if (!(*period_px > 0 && isfinite(*period_px)))
		return fail(path, "key period_px must be positive, not %g", *period_px);
	return 0;
}

int
phase_map_make(const struct frame *frame, const char *path, char axis, struct coordinate_map *map)
{
	const struct frame_head *head = &frame->head;
	struct noise_channels noise;
	size_t phase = head_channel(head, "absphase"), bytes;
	char names[300];

	*map = (struct coordinate_map){ .w = head->w, .h = head->h };
	if (phase == NO_CHANNEL || head->type != SAMPLE_FLOAT)
		return fail(path, "has no channel absphase of floats (unwrap2f makes it): %s",
		    head_channels_hint(head, names));
	if (check_keys(head, path, axis, &map->period_px) < 0 ||
	    find_noise(head, path, &noise) < 0 ||
	    size_multiply(head->w, head->h, &bytes) < 0 ||
	    size_multiply(bytes, sizeof(float), &bytes) < 0)
		return -1;
	map->absolute = noise.sigma != NO_CHANNEL;
	map->px = malloc(bytes);
	map->sigma = malloc(bytes);
	if (!map->px || !map->sigma) {
		phase_map_free(map);
		return fail_memory();
	}
	for (size_t y = 0; y < head->h; y++)
		for (size_t x = 0; x < head->w; x++) {
			double px_per_rad = map->period_px / (2 * M_PI);
			size_t at = y * head->w + x;

			map->px[at] = (float)(px_per_rad * (double)frame_floats(frame, phase,
			    y)[x]);
			map->sigma[at] = (float)(px_per_rad * (double)phase_sigma(frame, &noise, x,
			    y));
		}
	return 0;
}

void
phase_map_free(struct coordinate_map *map)
{
	free(map->px);
	free(map->sigma);
	map->px = map->sigma = NULL;
}
