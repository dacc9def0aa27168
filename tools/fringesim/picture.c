#include "picture.h"

#include <string.h>

#include "exposure.h"

#define COLOURS 3

/* One of its channels: the surface's share of that colour, in light that comes from everywhere. */
static int
expose(struct run *run, const struct picture *picture, struct camera_capture capture,
    const struct frame_head *head, struct frame **out)
{
	static const struct pattern none = { 0 };
	struct simulated_scene *simulated = picture->simulated;
	struct projected_pattern dark = { .pattern = &none };
	struct projector_response response = { 0 };
	struct exposure exposure = { .camera = &picture->parameters->camera, .simulated = simulated,
		.capture = capture, .ambient = picture->parameters->ambient };
	int status;

	memset(simulated->visibility, VISIBILITY_DARK, simulated->columns * simulated->rows);
	dark.response = &response;
	exposure.projected = dark;
	if (!(exposure.ambient > 0))
		exposure.ambient = camera_full(&picture->parameters->camera) * 200 / 255;
	if (frame_new(head, out) < 0)
		return -1;
	exposure.out = *out;
	status = exposure_fill(run, &exposure, NULL, NULL);
	if (status < 0) {
		frame_free(*out);
		*out = NULL;
	}
	return status;
}

static int
describe(const struct picture *picture, uint32_t measurement, size_t channels,
    struct frame_head *head)
{
	const struct rig *rig = &picture->simulated->rig;

	if (head_init(head, rig->w, rig->h, channels,
	    camera_type(&picture->parameters->camera)) < 0)
		return -1;
	if ((channels > 1 && head_set_channels(head, "r g b") < 0) ||
	    (picture->parameters->frames > 1 && meta_setf(&head->meta, "name", "set%04u_picture",
	    measurement) < 0) ||
	    (picture->parameters->frames <= 1 && meta_set(&head->meta, "name", "picture") < 0) ||
	    (picture->parameters->camera.bits == CAMERA_12 && meta_set(&head->meta, "max_value",
	    "4095") < 0) || simulated_scene_describe(picture->simulated, head) < 0) {
		head_free(head);
		return -1;
	}
	meta_remove(&head->meta, "projector_px");	/* no pattern was shown */
	return 0;
}

/* The channels as one frame. */
static int
join(const struct picture *picture, uint32_t measurement, struct frame *const part[COLOURS],
    size_t channels, struct frame **out)
{
	struct frame_head head;
	int status;

	if (describe(picture, measurement, channels, &head) < 0)
		return -1;
	status = frame_new_empty(&head, out);
	head_free(&head);
	for (size_t k = 0; k < channels && status == 0; k++)
		frame_share(*out, k, part[k], 0);
	return status;
}

/* The truth belongs to the first channel's look, and goes to its file. */
static int
look(struct run *run, const struct picture *picture, const struct rig_pose *pose, size_t k)
{
	struct frame *truth = NULL;
	int status;

	picture->simulated->colour = k;
	if (k == 0 && picture->truth && simulated_scene_new_truth(picture->simulated, &truth) < 0)
		return -1;
	simulated_scene_look(picture->simulated, run, pose, truth);
	status = truth ? target_put(picture->truth, truth) : 0;
	frame_free(truth);
	return status;
}

int
picture_take(struct run *run, const struct picture *picture, uint32_t measurement)
{
	const struct rig_pose pose = { .turn_rad = measurement * picture->parameters->turn };
	struct frame *part[COLOURS] = { NULL }, *out = NULL;
	size_t channels = simulated_scene_is_coloured(picture->simulated) ? COLOURS : 1;
	struct frame_head head;
	int status = describe(picture, measurement, 1, &head);

	if (status < 0)
		return -1;
	for (size_t k = 0; k < channels && status == 0; k++) {
		status = look(run, picture, &pose, k);
		if (status == 0)
			status = expose(run, picture, (struct camera_capture){ measurement,
			    (uint32_t)k, picture->simulated->pair.side }, &head, &part[k]);
	}
	head_free(&head);
	if (status == 0)
		status = join(picture, measurement, part, channels, &out);
	for (size_t k = 0; k < COLOURS; k++)
		frame_free(part[k]);
	return status < 0 ? -1 : run_emit(run, out);
}
