/* What holds for every screen: which outputs patterns may be shown on, waiting, interruptions. */
#include "screen/screen.h"

#include <math.h>
#include <poll.h>
#include <signal.h>
#include <time.h>

#include "base/process.h"
#include "io/command_file.h"
#include "io/target.h"

int
screen_check(const struct screen_facts *facts, size_t w, size_t h, bool force)
{
	if (!facts->on)
		return fail(facts->name, "is off: switch it on in the desktop's settings or with "
		    "xrandr, beside the main screen and not as its copy");
	if (facts->xwayland && !force)
		return fail(facts->name, "belongs to XWayland, which may scale and delay what it "
		    "shows: log in to an X11 session (--force-screen: show all the same)");
	if (facts->rotated)
		return fail(facts->name, "is rotated or mirrored: xrandr --output %s --rotate "
		    "normal --reflect normal", facts->name);
	if (facts->transformed || (facts->mode_w && (facts->mode_w != facts->w ||
	    facts->mode_h != facts->h)))
		return fail(facts->name, "is scaled, %zux%zu of the desktop in %zux%zu: set the "
		    "desktop's scale to 100 %%, or xrandr --output %s --scale 1x1", facts->w,
		    facts->h, facts->mode_w, facts->mode_h, facts->name);
	if (w && (w != facts->w || h != facts->h))
		return fail(NULL, "patterns are %zux%zu, %s shows %zux%zu: nothing is scaled here; "
		    "make them of its size, or set its mode", w, h, facts->name, facts->w,
		    facts->h);
	return 0;
}

int
screen_image(const struct frame *in, struct frame **out)
{
	static const double full[] = { 255, 65535, 1 };
	const char *word = meta_get(&in->head.meta, "bits");
	long bits = word ? strtol(word, NULL, 10) : 0;
	double most;

	if (in->head.c != 1 && !head_is_colour(&in->head))
		return fail(NULL, "has %zu channels: images to show have one, or r g b",
		    in->head.c);
	/* fringegen's of one bit are 0 and 1, with the key bits */
	if (meta_number(&in->head.meta, "max_value", bits == 1 ? 1 : full[in->head.type],
	    &most) < 0 || frame_new_named(in->head.w, in->head.h, in->head.c == 1 ? 1 : 3,
	    SAMPLE_UCHAR, NULL, out) < 0)
		return -1;
	for (size_t c = 0; c < (*out)->head.c; c++)
		for (size_t y = 0; y < in->head.h; y++) {
			uint8_t *row = frame_row(*out, c, y);

			for (size_t x = 0; x < in->head.w; x++) {
				double v = (double)frame_sample(in, c, y, x) * 255 / most + 0.5;

				row[x] = (uint8_t)(v > 0 ? fmin(v, 255) : 0);
			}
		}
	return 0;
}

int
screen_load(struct screen *screen, struct frame **frame, const char *name, size_t *image)
{
	if (screen->load(screen, *frame, image) < 0) {
		fail_prefix(name);
		return -1;
	}
	frame_replace(frame, NULL);
	return 0;
}

int
screen_load_flat(struct screen *screen, int level, size_t *image)
{
	struct frame *frame;
	int status = frame_new_named(screen->w, screen->h, 1, SAMPLE_UCHAR, NULL, &frame);

	if (status < 0)
		return -1;
	for (size_t y = 0; y < screen->h; y++)
		memset(frame_row(frame, 0, y), level, screen->w);
	status = screen->load(screen, frame, image);
	frame_free(frame);
	return status;
}

int
screen_poll(int fd, double seconds)
{
	static int signal_fd = -2;	/* of the process, as signals are */
	struct pollfd of[2];
	int n;

	if (signal_fd == -2) {
		signal_fd = ending_signals_defer();
		signal(SIGPIPE, SIG_IGN);
	}
	of[0] = (struct pollfd){ .fd = signal_fd, .events = POLLIN };
	of[1] = (struct pollfd){ .fd = fd, .events = POLLIN };
	if (!(seconds > 0))
		seconds = 0;
	n = ppoll(of, 2, &(struct timespec){ (time_t)seconds,
	    (long)((seconds - floor(seconds)) * 1e9) }, NULL);
	if (n > 0 && of[0].revents)
		return fail(NULL, "interrupted");
	return n > 0 && of[1].revents;
}

int
screen_command_failed(void)
{
	struct fail_record record;

	fail_take(&record);
	if (screen_poll(-1, 0) == 0)
		fail_put(&record);
	return -1;
}

double
screen_real_now_s(struct screen *)
{
	return progress_seconds();
}

int
screen_real_wait(struct screen *screen, double until_s)
{
	double left;

	do {
		left = until_s - screen_real_now_s(screen);
		if (screen_poll(-1, left) < 0)
			return -1;
	} while (left > 0);
	return 0;
}

/* ---- a screen that a command is: it shows each image, a PNG, until it is called again ---- */

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
command_show(struct screen *screen, size_t image, uint64_t refresh, struct screen_shown *shown)
{
	struct command *own = screen->own;
	struct target *target = target_open(own->file->file, true, NULL);
	int status = target ? target_put(target, own->image[image]) : -1;

	(void)refresh;
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
