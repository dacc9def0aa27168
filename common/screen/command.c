/* A screen that a command is: it shows each image, a PNG file, until it is called again. */
#include "screen/screen.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/process.h"
#include "io/command_file.h"
#include "io/target.h"

struct command {
	struct command_file *file;
	struct frame **image;
	size_t images;
};

static int
command_load(struct screen *screen, const struct frame *frame, size_t *image)
{
	struct command *own = screen->own;

	own->image = must_resize(own->image, own->images + 1, sizeof(*own->image));
	*image = own->images;
	return frame_duplicate(frame, &own->image[own->images++]);
}

/* It is there when the command has ended. */
static int
command_show(struct screen *screen, size_t image, uint64_t, struct screen_shown *shown)
{
	struct command *own = screen->own;
	struct target *target = target_open(own->file->file, true, NULL);
	int status = target ? target_put(target, own->image[image]) : -1;

	if (target && target_close(target, status == 0) < 0)
		status = -1;
	if (status < 0 || command_file_run(own->file) < 0)
		return screen_command_failed();
	*shown = (struct screen_shown){ .time_s = screen_real_now_s(screen) };
	return 0;
}

static void
command_close(struct screen *screen)
{
	struct command *own = screen->own;

	command_file_close(own->file);
	for (size_t i = 0; i < own->images; i++)
		frame_free(own->image[i]);
	free(own->image);
	free(own);
	screen->own = NULL;
}

int
screen_command_open(struct screen *screen, const char *command, size_t w, size_t h)
{
	struct command_file *file;

	if (screen_poll(-1, 0) < 0 ||	/* from here on signals end nothing before close() */
	    command_file_open(&file, "--show", command, "image.png") < 0)
		return -1;
	*screen = (struct screen){ .w = w, .h = h, .own = must_alloc(1, sizeof(struct command)),
		.load = command_load, .show = command_show, .now_s = screen_real_now_s,
		.wait = screen_real_wait, .close = command_close };
	((struct command *)screen->own)->file = file;
	snprintf(screen->name, sizeof(screen->name), "%.*s", (int)strcspn(command, " "), command);
	return 0;
}
