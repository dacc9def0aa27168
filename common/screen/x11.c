/*
 * Outputs of an X server: a window of exactly the output's part of the desktop, which no window
 * manager places or decorates; RandR says what the output does with it, Present brings images with
 * a refresh and reports its count and time.
 *
 * The gamma ramp of an output belongs to its controller and outlives the program that sets it:
 * night light and colour profiles bend it. It is set straight, and a child process restores it when
 * this one has closed the screen or has ended, however that happens.
 */
#include "screen/screen.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xcb/present.h>
#include <xcb/randr.h>
#include <xcb/xcb.h>

#include "base/process.h"

#define REFRESH_WAIT_S 5.0	/* an output that sleeps sends no refresh */
#define REFRESHES_MEASURED 20
#define MODE_AGREES 0.01	/* with what was measured */
#define ROWS_SENT 16		/* at a time */
#define RAMP_TOLERANCE 1	/* of 255: rounding of a straight one */

struct x11 {
	xcb_connection_t *connection;
	xcb_screen_t *root;
	xcb_window_t window;
	xcb_gcontext_t gc;
	xcb_randr_crtc_t controller;
	xcb_special_event_t *events;
	uint32_t serial;
	uint64_t refresh, time_us;	/* of the last one that was reported */
	int mode;			/* of Present: copied, flipped */
	xcb_pixmap_t *image;
	size_t images;
	pid_t restorer;			/* of the gamma ramp; 0: there is nothing to restore */
	int open;			/* a pipe to it, whose end it waits for */
};

/* An output with its place on the desktop. */
struct output {
	struct screen_facts facts;
	xcb_randr_crtc_t controller;
	int16_t x, y;
};

static int
x11_connect(struct x11 *x11, bool *xwayland)
{
	int number;
	xcb_screen_iterator_t screen;
	xcb_query_extension_reply_t *extension;

	x11->connection = xcb_connect(NULL, &number);
	if (xcb_connection_has_error(x11->connection))
		return fail(NULL, "no X server answers: DISPLAY is %s", getenv("DISPLAY") ?
		    getenv("DISPLAY") : "not set");
	screen = xcb_setup_roots_iterator(xcb_get_setup(x11->connection));
	while (number--)
		xcb_screen_next(&screen);
	x11->root = screen.data;
	if (!xcb_get_extension_data(x11->connection, &xcb_randr_id)->present ||
	    !xcb_get_extension_data(x11->connection, &xcb_present_id)->present)
		return fail(NULL, "the X server lacks the extension RANDR or Present");
	free(xcb_randr_query_version_reply(x11->connection,
	    xcb_randr_query_version(x11->connection, 1, 5), NULL));
	free(xcb_present_query_version_reply(x11->connection,
	    xcb_present_query_version(x11->connection, 1, 2), NULL));
	extension = xcb_query_extension_reply(x11->connection,
	    xcb_query_extension(x11->connection, 8, "XWAYLAND"), NULL);
	*xwayland = extension && extension->present;
	free(extension);
	return 0;
}

/* Largest distance of a ramp from a straight one, of 255; -1: unknown, as one that was never set,
 * all zeros, is. The three colours one after another. */
static int
ramp_off(const uint16_t *ramp, size_t n)
{
	int worst = 0;
	bool set = false;

	for (size_t i = 0; i < 3 * n; i++) {
		int straight = (int)(i % n * 65535 / (n > 1 ? n - 1 : 1));
		int off = abs((int)ramp[i] - straight) / 257;

		set |= ramp[i] != 0;
		worst = off > worst ? off : worst;
	}
	return set ? worst : -1;
}

/* A controller's ramp, a new array; NULL: it has none. */
static uint16_t *
ramp_get(xcb_connection_t *c, xcb_randr_crtc_t controller, uint16_t *size)
{
	xcb_randr_get_crtc_gamma_reply_t *reply =
	    xcb_randr_get_crtc_gamma_reply(c, xcb_randr_get_crtc_gamma(c, controller), NULL);
	uint16_t *ramp = NULL;

	*size = reply ? reply->size : 0;
	if (*size) {
		ramp = must_alloc(3 * (size_t)*size, sizeof(*ramp));
		memcpy(ramp, xcb_randr_get_crtc_gamma_red(reply), *size * sizeof(*ramp));
		memcpy(ramp + *size, xcb_randr_get_crtc_gamma_green(reply), *size * sizeof(*ramp));
		memcpy(ramp + 2 * *size, xcb_randr_get_crtc_gamma_blue(reply),
		    *size * sizeof(*ramp));
	}
	free(reply);
	return ramp;
}

/* Returns when the ramp has arrived. */
static void
ramp_set(xcb_connection_t *c, xcb_randr_crtc_t controller, const uint16_t *ramp, uint16_t size)
{
	xcb_randr_set_crtc_gamma(c, controller, size, ramp, ramp + size, ramp + 2 * (size_t)size);
	free(xcb_get_input_focus_reply(c, xcb_get_input_focus(c), NULL));
}

/* Starts the process that restores the ramp. -1 after fail(). */
static int
ramp_guard(struct x11 *x11, const uint16_t *ramp, uint16_t size)
{
	static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };
	int ends[2];
	char none;

	if (pipe2(ends, O_CLOEXEC) < 0 || (x11->restorer = fork()) < 0)
		return fail_errno("gamma ramp", "no process to restore it");
	if (x11->restorer > 0) {
		close(ends[0]);
		x11->open = ends[1];
		return 0;
	}
	setsid();
	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		signal(ignored[i], SIG_IGN);
	close(STDOUT_FILENO);	/* readers may wait for the end of these */
	close(STDERR_FILENO);
	close(ends[1]);
	while (read(ends[0], &none, 1) < 0 && errno == EINTR)
		;
	ramp_set(xcb_connect(NULL, NULL), x11->controller, ramp, size);
	_exit(0);
}

/* Is a transform of RandR none: 1 0 0 0 1 0 0 0 1, in 16.16 bits? */
static bool
is_transformed(xcb_connection_t *c, xcb_randr_crtc_t controller)
{
	static const xcb_render_transform_t none = { 65536, 0, 0, 0, 65536, 0, 0, 0, 65536 };
	xcb_randr_get_crtc_transform_cookie_t asked = xcb_randr_get_crtc_transform(c, controller);
	xcb_randr_get_crtc_transform_reply_t *reply =
	    xcb_randr_get_crtc_transform_reply(c, asked, NULL);
	bool is = reply && memcmp(&reply->current_transform, &none, sizeof(none));

	free(reply);
	return is;
}

static void
mode_facts(const xcb_randr_mode_info_t *mode, size_t modes, xcb_randr_mode_t which,
    struct screen_facts *facts)
{
	for (size_t i = 0; i < modes; i++)
		if (mode[i].id == which && mode[i].htotal && mode[i].vtotal) {
			facts->mode_w = mode[i].width;
			facts->mode_h = mode[i].height;
			facts->refresh_hz = mode[i].dot_clock /
			    ((double)mode[i].htotal * mode[i].vtotal);
		}
}

/* All outputs, as a new array. Connected or not does not matter: cables and splitters hide it. */
static int
outputs_get(const struct x11 *x11, bool xwayland, struct output **out, size_t *n)
{
	xcb_connection_t *c = x11->connection;
	xcb_randr_get_screen_resources_current_reply_t *all =
	    xcb_randr_get_screen_resources_current_reply(c,
	    xcb_randr_get_screen_resources_current(c, x11->root->root), NULL);
	xcb_randr_get_output_primary_reply_t *primary = xcb_randr_get_output_primary_reply(c,
	    xcb_randr_get_output_primary(c, x11->root->root), NULL);
	xcb_randr_output_t *id;

	if (!all) {
		free(primary);
		return fail(NULL, "the X server does not list its outputs");
	}
	id = xcb_randr_get_screen_resources_current_outputs(all);
	*n = all->num_outputs;
	*out = must_alloc(*n + 1, sizeof(**out));
	for (size_t i = 0; i < *n; i++) {
		struct output *output = &(*out)[i];
		struct screen_facts *facts = &output->facts;
		xcb_randr_get_output_info_reply_t *info = xcb_randr_get_output_info_reply(c,
		    xcb_randr_get_output_info(c, id[i], all->config_timestamp), NULL);
		xcb_randr_get_crtc_info_reply_t *place = !info || !info->crtc ? NULL :
		    xcb_randr_get_crtc_info_reply(c, xcb_randr_get_crtc_info(c, info->crtc,
		    all->config_timestamp), NULL);

		facts->gamma_off = -1;
		facts->xwayland = xwayland;
		facts->main = primary && primary->output == id[i];
		if (info)
			snprintf(facts->name, sizeof(facts->name), "%.*s", info->name_len,
			    (const char *)xcb_randr_get_output_info_name(info));
		if (place && place->mode) {
			uint16_t size, *ramp = ramp_get(c, info->crtc, &size);

			facts->on = true;
			facts->w = place->width;
			facts->h = place->height;
			facts->rotated = place->rotation != XCB_RANDR_ROTATION_ROTATE_0;
			facts->transformed = is_transformed(c, info->crtc);
			if (ramp)
				facts->gamma_off = ramp_off(ramp, size);
			free(ramp);
			output->controller = info->crtc;
			output->x = place->x;
			output->y = place->y;
			mode_facts(xcb_randr_get_screen_resources_current_modes(all),
			    all->num_modes, place->mode, facts);
		}
		free(place);
		free(info);
	}
	free(primary);
	free(all);
	return 0;
}

int
screen_x11_list(FILE *file)
{
	struct x11 x11 = { 0 };
	bool xwayland;
	struct output *output = NULL;
	size_t n = 0;
	int status = x11_connect(&x11, &xwayland);

	if (status == 0)
		status = outputs_get(&x11, xwayland, &output, &n);
	for (size_t i = 0; status == 0 && i < n; i++) {
		const struct screen_facts *facts = &output[i].facts;

		if (!facts->on) {
			fprintf(file, "%s off\n", facts->name);
			continue;
		}
		fprintf(file, "%s %zux%zu at %d,%d, %.2f Hz", facts->name, facts->w, facts->h,
		    output[i].x, output[i].y, facts->refresh_hz);
		if (facts->gamma_off > RAMP_TOLERANCE)
			fprintf(file, ", gamma ramp bent by up to %d of 255", facts->gamma_off);
		fprintf(file, "%s%s%s%s\n", facts->main ? ", main screen" : "", facts->rotated ?
		    ", rotated" : "", facts->transformed ? ", scaled" : "", facts->xwayland ?
		    ", of XWayland" : "");
	}
	free(output);
	if (x11.connection)
		xcb_disconnect(x11.connection);
	return status;
}

/* The output of this name, else the only one that is on. NULL after fail(). */
static const struct output *
output_choose(const struct output *output, size_t n, const char *name)
{
	const struct output *found = NULL;
	char list[300] = "";
	size_t on = 0;

	for (size_t i = 0; i < n; i++) {
		if (name ? !strcmp(output[i].facts.name, name) : output[i].facts.on)
			found = &output[i];
		if (!output[i].facts.on)
			continue;
		on++;
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", *list ? ", " :
		    "", output[i].facts.name);
	}
	if (name && found && found->facts.on)
		return found;
	if (name)
		fail("--screen", "%s %s; on are: %s", name, found ? "is off" : "is not there",
		    *list ? list : "none");
	else if (on != 1)
		fail_usage("--screen", "which one? on are: %s", *list ? list : "none");
	return name || on != 1 ? NULL : found;
}

/* Waits until the last image that was sent is shown, or (image false) a refresh comes. */
static int
wait_shown(struct screen *screen, bool image)
{
	struct x11 *x11 = screen->own;
	double until = screen_real_now_s(screen) + REFRESH_WAIT_S;

	xcb_flush(x11->connection);
	for (;;) {
		xcb_present_complete_notify_event_t *event = (void *)xcb_poll_for_special_event(
		    x11->connection, x11->events);
		double left = until - screen_real_now_s(screen);
		bool done;

		if (!event) {
			if (xcb_connection_has_error(x11->connection))
				return fail(screen->name, "the X server has gone");
			if (left <= 0)
				return fail(screen->name, "no refresh in %g s: does it sleep?",
				    REFRESH_WAIT_S);
			if (screen_poll(xcb_get_file_descriptor(x11->connection), left) < 0)
				return -1;
			continue;
		}
		done = event->event_type == XCB_PRESENT_EVENT_COMPLETE_NOTIFY && (image ?
		    event->kind == XCB_PRESENT_COMPLETE_KIND_PIXMAP &&
		    event->serial == x11->serial :
		    event->kind == XCB_PRESENT_COMPLETE_KIND_NOTIFY_MSC);
		if (done) {
			x11->refresh = event->msc;
			x11->time_us = event->ust;
			x11->mode = event->mode;
		}
		free(event);
		if (done)
			return 0;
	}
}

static int
x11_load(struct screen *screen, const struct frame *frame, size_t *image)
{
	struct x11 *x11 = screen->own;
	xcb_pixmap_t pixmap = xcb_generate_id(x11->connection);
	uint32_t *rows;
	size_t w = frame->head.w, h = frame->head.h, colour = frame->head.c == 3;

	if (w != screen->w || h != screen->h)
		return fail(NULL, "is %zux%zu, %s shows %zux%zu: nothing is scaled here", w, h,
		    screen->name, screen->w, screen->h);
	rows = must_alloc(w * ROWS_SENT, sizeof(*rows));
	xcb_create_pixmap(x11->connection, 24, pixmap, x11->window, (uint16_t)w, (uint16_t)h);
	for (size_t y0 = 0; y0 < h; y0 += ROWS_SENT) {
		size_t n = h - y0 < ROWS_SENT ? h - y0 : ROWS_SENT;

		for (size_t i = 0; i < n * w; i++) {
			size_t y = y0 + i / w, x = i % w;
			uint32_t r = ((const uint8_t *)frame_row(frame, 0, y))[x];
			uint32_t g = ((const uint8_t *)frame_row(frame, colour, y))[x];
			uint32_t b = ((const uint8_t *)frame_row(frame, 2 * colour, y))[x];

			rows[i] = r << 16 | g << 8 | b;
		}
		xcb_put_image(x11->connection, XCB_IMAGE_FORMAT_Z_PIXMAP, pixmap, x11->gc,
		    (uint16_t)w, (uint16_t)n, 0, (int16_t)y0, 0, 24, (uint32_t)(4 * n * w),
		    (const uint8_t *)rows);
	}
	free(rows);
	if (xcb_flush(x11->connection) <= 0)
		return fail(screen->name, "the X server has gone, or has no memory for images");
	x11->image = must_resize(x11->image, x11->images + 1, sizeof(*x11->image));
	*image = x11->images;
	x11->image[x11->images++] = pixmap;
	return 0;
}

static int
x11_show(struct screen *screen, size_t image, uint64_t refresh, struct screen_shown *shown)
{
	struct x11 *x11 = screen->own;

	xcb_present_pixmap(x11->connection, x11->window, x11->image[image], ++x11->serial, 0, 0, 0,
	    0, 0, 0, 0, 0, refresh, 0, 0, 0, NULL);
	if (wait_shown(screen, true) < 0)
		return -1;
	*shown = (struct screen_shown){ x11->refresh, 1e-6 * (double)x11->time_us,
		x11->mode != XCB_PRESENT_COMPLETE_MODE_FLIP };
	/* a server on another machine has another clock */
	if (fabs(shown->time_s - screen_real_now_s(screen)) > 1)
		shown->time_s = screen_real_now_s(screen);
	return 0;
}

static void
x11_close(struct screen *screen)
{
	struct x11 *x11 = screen->own;

	if (!x11)
		return;
	if (x11->restorer > 0) {
		close(x11->open);
		waitpid(x11->restorer, NULL, 0);
	}
	if (x11->events)
		xcb_unregister_for_special_event(x11->connection, x11->events);
	xcb_disconnect(x11->connection);
	free(x11->image);
	free(x11);
	screen->own = NULL;
}

/* Straight, until the screen is closed. -1 after fail(). */
static int
ramp_straighten(struct x11 *x11, const struct screen_facts *facts)
{
	uint16_t size, *ramp;

	if (facts->gamma_off <= RAMP_TOLERANCE)
		return 0;
	ramp = ramp_get(x11->connection, x11->controller, &size);
	if (size < 2 || ramp_guard(x11, ramp, size) < 0) {
		free(ramp);
		return size < 2 ? 0 : -1;	/* one entry is neither bent nor straight */
	}
	for (size_t i = 0; i < 3 * (size_t)size; i++)
		ramp[i] = (uint16_t)(i % size * 65535 / (size - 1u));
	ramp_set(x11->connection, x11->controller, ramp, size);
	free(ramp);
	note(facts->name, "gamma ramp bends tones by up to %d of 255 (night light, colour "
	    "profile): straight until the end", facts->gamma_off);
	return 0;
}

/* The window, black and without a pointer, and the events of Present. */
static void
window_open(struct x11 *x11, const struct output *output)
{
	xcb_connection_t *c = x11->connection;
	xcb_pixmap_t none = xcb_generate_id(c);
	xcb_cursor_t pointer = xcb_generate_id(c);
	uint32_t id = xcb_generate_id(c);

	x11->window = xcb_generate_id(c);
	xcb_create_window(c, 24, x11->window, x11->root->root, output->x, output->y,
	    (uint16_t)output->facts.w, (uint16_t)output->facts.h, 0,
	    XCB_WINDOW_CLASS_INPUT_OUTPUT, x11->root->root_visual, XCB_CW_BACK_PIXEL |
	    XCB_CW_OVERRIDE_REDIRECT, (const uint32_t[]){ x11->root->black_pixel, 1 });
	xcb_create_pixmap(c, 1, none, x11->window, 1, 1);
	x11->gc = xcb_generate_id(c);
	xcb_create_gc(c, x11->gc, none, XCB_GC_FOREGROUND, (const uint32_t[]){ 0 });
	xcb_poly_fill_rectangle(c, none, x11->gc, 1, &(xcb_rectangle_t){ 0, 0, 1, 1 });
	xcb_create_cursor(c, pointer, none, none, 0, 0, 0, 0, 0, 0, 0, 0);
	xcb_change_window_attributes(c, x11->window, XCB_CW_CURSOR, &pointer);
	xcb_free_gc(c, x11->gc);
	x11->gc = xcb_generate_id(c);
	xcb_create_gc(c, x11->gc, x11->window, 0, NULL);
	xcb_map_window(c, x11->window);
	xcb_present_select_input(c, id, x11->window, XCB_PRESENT_EVENT_MASK_COMPLETE_NOTIFY);
	x11->events = xcb_register_for_special_xge(c, &xcb_present_id, id, NULL);
}

/* Times some refreshes; where the mode's own figure agrees, that is the more exact one. */
static int
refresh_measure(struct screen *screen, double hz)
{
	struct x11 *x11 = screen->own;
	uint64_t first, from_us;

	xcb_present_notify_msc(x11->connection, x11->window, 1, 0, 1, 0);
	if (wait_shown(screen, false) < 0)
		return -1;
	first = x11->refresh;
	from_us = x11->time_us;
	xcb_present_notify_msc(x11->connection, x11->window, 2, first + REFRESHES_MEASURED, 0, 0);
	if (wait_shown(screen, false) < 0)
		return -1;
	screen->refresh_s = x11->refresh > first && x11->time_us > from_us ?
	    1e-6 * (double)(x11->time_us - from_us) / (double)(x11->refresh - first) : 0;
	if (fabs(screen->refresh_s * hz - 1) < MODE_AGREES)
		screen->refresh_s = 1 / hz;
	return 0;
}

int
screen_x11_open(struct screen *screen, const char *name, size_t w, size_t h, bool force,
    bool verbose)
{
	struct x11 *x11 = must_alloc(1, sizeof(*x11));
	struct output *output = NULL;
	const struct output *chosen = NULL;
	bool xwayland;
	size_t n = 0;
	int status;

	*screen = (struct screen){ .own = x11, .load = x11_load, .show = x11_show,
		.now_s = screen_real_now_s, .wait = screen_real_wait, .close = x11_close };
	status = x11_connect(x11, &xwayland);
	if (status == 0)
		status = outputs_get(x11, xwayland, &output, &n);
	if (status == 0)	/* from here on signals end nothing before the ramp is restored */
		status = screen_poll(-1, 0);
	if (status == 0 && (!(chosen = output_choose(output, n, name)) ||
	    screen_check(&chosen->facts, w, h, force) < 0))
		status = -1;
	if (status == 0 && x11->root->root_depth != 24)
		status = fail(chosen->facts.name, "has %d bits a pixel: images need 24",
		    x11->root->root_depth);
	if (status == 0) {
		snprintf(screen->name, sizeof(screen->name), "%s", chosen->facts.name);
		screen->w = chosen->facts.w;
		screen->h = chosen->facts.h;
		x11->controller = chosen->controller;
		if (chosen->facts.main && n > 1)
			note(screen->name, "is the main screen, with the windows");
		status = ramp_straighten(x11, &chosen->facts);
	}
	if (status == 0) {
		window_open(x11, chosen);
		status = refresh_measure(screen, chosen->facts.refresh_hz);
	}
	if (status == 0 && verbose)
		note(screen->name, "%zux%zu, a refresh lasts %.3f ms%s", screen->w, screen->h,
		    1e3 * screen->refresh_s, chosen->facts.gamma_off < 0 ?
		    "; its gamma ramp is unknown" : "");
	free(output);
	if (status < 0)
		x11_close(screen);
	return status;
}
