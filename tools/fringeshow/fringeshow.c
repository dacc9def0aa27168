/*
 * Shows patterns on a projector's output, one pattern pixel to one of its pixels, each with a
 * refresh that is known.
 */
#include <fcntl.h>
#include <unistd.h>

#include "io/source.h"
#include "run/stage.h"
#include "screen/screen.h"

struct parameters {
	const char *screen;
	long hold;
	bool wait_key, loop, list, force_screen;
};

struct priv {
	struct screen screen;
	struct { char *name; struct frame *frame; } *image;
	size_t images;
	size_t late, copied;
};

static const struct opt options[] = {
	{ 0, "screen", "NAME", OPT_TEXT, AT(screen), NULL, 0, 0, NULL,
	  "the output, as --list names it; the only one if not given", NULL },
	{ 0, "hold", "N", OPT_INTEGER, AT(hold), "1", 1, 1e6, "refreshes",
	  "how long each image is shown", NULL },
	FLAG_ROW(0, "wait-key", wait_key, "the next image comes after the Enter key"),
	FLAG_ROW(0, "loop", loop, "begin again after the last image, until interrupted"),
	FLAG_ROW(0, "list", list, "list the outputs"),
	FLAG_ROW(0, "force-screen", force_screen, "show under XWayland, too"),
	{ 0 },
};

/* Reads the images of a file, a folder or a stream. */
static int
read_images(struct priv *priv, const char *path)
{
	struct source *source = source_open(path);
	struct frame *frame;
	int status = source ? 1 : -1;

	while (status > 0 && (status = source_next(source, &frame)) > 0) {
		const char *own = meta_get(&frame->head.meta, "name");
		size_t i = priv->images++;

		priv->image = must_resize(priv->image, i + 1, sizeof(*priv->image));
		priv->image[i].name = own ? must_strdup(own) : must_format("%s %zu", path, i);
		if (screen_image(frame, &priv->image[i].frame) < 0) {
			priv->image[i].frame = NULL;
			status = fail_prefix(priv->image[i].name);
		}
		frame_free(frame);
	}
	source_close(source);
	return status;
}

/* Opens the screen, when all images are there: an interruption while they are awaited finds nothing
 * to restore. */
static int
open_screen(struct run *run)
{
	const struct parameters *p = run->parameters;
	struct priv *priv = run->priv;
	size_t number;

	if (screen_x11_open(&priv->screen, p->screen, priv->image[0].frame->head.w,
	    priv->image[0].frame->head.h, p->force_screen, run->verbose) < 0)
		return -1;
	for (size_t i = 0; i < priv->images; i++)
		if (screen_load(&priv->screen, &priv->image[i].frame, priv->image[i].name,
		    &number) < 0)
			return -1;
	return 0;
}

/* 1: the key; 0: there is no terminal any more; -1 after fail(). */
static int
wait_for_key(int terminal)
{
	char c = 0;
	int ready;

	while ((ready = screen_poll(terminal, 1)) >= 0)
		if (ready > 0 && (read(terminal, &c, 1) != 1 || c == '\n'))
			return c == '\n';
	return -1;
}

/* Shows an image at a refresh (0: the next), and reports it. */
static int
show(struct run *run, size_t image, uint64_t refresh, struct screen_shown *shown)
{
	struct priv *priv = run->priv;
	uint64_t late;

	if (priv->screen.show(&priv->screen, image, refresh, shown) < 0)
		return -1;
	late = refresh && shown->refresh > refresh ? shown->refresh - refresh : 0;
	priv->late += late > 0;
	priv->copied += shown->copied;
	if (run->verbose)
		note(priv->image[image].name, "refresh %llu, %.6f s, %llu late%s",
		    (unsigned long long)shown->refresh, shown->time_s, (unsigned long long)late,
		    shown->copied ? ", copied" : "");
	return 0;
}

static int
show_all(struct run *run, int terminal)
{
	const struct parameters *p = run->parameters;
	struct priv *priv = run->priv;
	struct screen *screen = &priv->screen;
	struct screen_shown shown;
	uint64_t next = 0;
	int status = 1;

	do
		for (size_t i = 0; i < priv->images && status > 0; i++) {
			if (show(run, i, next, &shown) < 0)
				return -1;
			if (p->wait_key)
				status = wait_for_key(terminal);
			else
				next = shown.refresh + (uint64_t)p->hold;
		}
	while (p->loop && status > 0);
	/* the last one has its time, too */
	return status < 0 ? -1 : p->wait_key ? 0 : screen->wait(screen, shown.time_s +
	    ((double)p->hold - 0.5) * screen->refresh_s);
}

static int
start(struct run *run)
{
	const struct parameters *p = run->parameters;
	struct priv *priv = run->priv;
	int terminal = -1, status = 0;

	if (p->list)
		return screen_x11_list(stdout);
	if (p->wait_key && (terminal = isatty(0) || run->operands ? dup(0) :
	    open("/dev/tty", O_RDONLY | O_CLOEXEC)) < 0)
		return fail_errno("--wait-key", "no terminal to read from");
	for (size_t i = 0; i < (run->operands ? run->operands : 1) && status == 0; i++)
		status = read_images(priv, run->operands ? run->operand[i] : "-");
	if (status == 0 && priv->images == 0)
		status = fail(NULL, "no image came");
	if (status == 0)
		status = open_screen(run);
	if (status == 0)
		status = show_all(run, terminal);
	if (status < 0 && p->loop && fail_message() && !strcmp(fail_message(), "interrupted")) {
		fail_clear();	/* the way to end it */
		status = 0;
	}
	if (priv->late)
		warn(NULL, "%zu image%s came late", priv->late, priv->late == 1 ? "" : "s");
	if (run->verbose && priv->copied)
		note(NULL, "%zu images were copied to the screen, not flipped: a compositor may "
		    "delay them by a refresh", priv->copied);
	if (terminal >= 0)
		close(terminal);
	return status;
}

static const struct body body = { .start = start };

static int
init(struct run *run)
{
	const struct parameters *p = run->parameters;

	run->body = &body;
	if (run->output)
		return fail_usage("--output", "nothing is written");
	return p->list && run->operands ? fail_usage("--list", "takes no files") : 0;
}

static void
release(struct run *run)
{
	struct priv *priv = run->priv;

	if (priv->screen.own)
		priv->screen.close(&priv->screen);
	for (size_t i = 0; i < priv->images; i++) {
		free(priv->image[i].name);
		frame_free(priv->image[i].frame);
	}
	free(priv->image);
}

const struct stage stage_fringeshow = {
	.name = "fringeshow",
	.summary = "show patterns on a projector, pixel by pixel",
	.options = options,
	STAGE_MEMORY(priv),
	.traits = STAGE_SOURCE | STAGE_SINK | STAGE_OPERANDS | STAGE_ANY_TYPE,
	.init = init,
	.release = release,
};
