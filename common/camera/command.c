/* A camera that a command takes pictures with, each into a file: gphoto2, libcamera-still. */
#include "camera/camera.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "io/command_file.h"
#include "io/source.h"

static int
command_trigger(struct camera *camera)
{
	struct command_file *own = camera->own;

	unlink(own->file);
	return command_file_run(own);
}

static int
command_take(struct camera *camera, double, struct frame **out)
{
	static const double full[] = { 255, 65535, 1 };
	struct command_file *own = camera->own;
	struct frame *picture, *described;
	size_t first = 0;
	int status;

	if (source_load(own->file, &picture) < 0) {
		fail_prefix(own->command);
		return -1;
	}
	if (picture->head.type == SAMPLE_FLOAT ||
	    (picture->head.c != 1 && !head_is_colour(&picture->head))) {
		frame_free(picture);
		return fail(own->command, "gives %s: want one of 8 or 16 bits, grey or in colour",
		    picture->head.type == SAMPLE_FLOAT ? "floats" : "no picture");
	}
	if (camera->number && (camera->w != picture->head.w || camera->h != picture->head.h ||
	    camera->type != picture->head.type)) {
		fail(own->command, "gives %zux%zu %s after %zux%zu %s", picture->head.w,
		    picture->head.h, sample_name(picture->head.type), camera->w, camera->h,
		    sample_name(camera->type));
		frame_free(picture);
		return -1;
	}
	/* of colours green: projector and camera have most light there */
	first = picture->head.c > 1 ? 1 : 0;
	camera->w = picture->head.w;
	camera->h = picture->head.h;
	camera->type = picture->head.type;
	camera->number++;
	status = meta_number(&picture->head.meta, "max_value", full[camera->type],
	    &camera->max_value);
	if (status == 0)
		status = camera_frame(camera, camera_time_s(), &described);
	if (status == 0) {
		for (size_t y = 0; y < camera->h; y++)
			memcpy(frame_row(described, 0, y), frame_row(picture, first, y),
			    camera->w * sample_size(camera->type));
		*out = described;
	}
	frame_free(picture);
	return status < 0 ? -1 : 1;
}

static void
command_close(struct camera *camera)
{
	command_file_close(camera->own);
	camera->own = NULL;
}

int
camera_command_open(struct camera *camera, const char *command)
{
	struct command_file *own;

	*camera = (struct camera){ .exposure_s = NAN, .triggered = true, .trigger = command_trigger,
		.take = command_take, .close = command_close };
	snprintf(camera->name, sizeof(camera->name), "%.*s", (int)strcspn(command, " "), command);
	if (command_file_open(&own, "--grab", command, "picture") < 0)
		return -1;
	camera->own = own;
	return 0;
}
