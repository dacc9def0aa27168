/* Grabs frames from cameras: GenICam, the kernel's, and whatever a command takes pictures with. */
#include <math.h>

#include "camera/camera.h"
#include "io/command_file.h"
#include "run/stage.h"
#include "screen/screen.h"

#define TIMEOUT_S 5.0		/* for a picture without a trigger line */
#define LINE_TIMEOUT_S 1.0	/* after which interruptions are looked for; a line may be still */
#define MIXED_MOST 100		/* pictures in a row; then a line asks for a slower screen */
#define STILL_S 5.0		/* without a new pattern; then a line asks for one, once */
#define TRIES 10		/* for a picture that is not whole, one after another */

struct parameters {
	struct opt_list camera;
	long n, average;
	const char *trigger, *exposure, *format, *grab, *between, *key;
	double gain;
	bool list, preview, settled;
};

struct priv {
	struct camera *camera;
	size_t cameras;
	struct settled *settled;	/* of each camera */
	char key[64];			/* of --key */
	double key_start, key_step;
	double focus_best;
	bool still;			/* of STILL_S: told */
};

static const struct opt options[] = {
	{ 0, "camera", "NAME", OPT_TEXTS, AT(camera), NULL, 0, 0, NULL,
	  "a camera that --list names, or /dev/videoN; NAME=LABEL labels its frames", NULL },
	{ 0, "grab", "COMMAND", OPT_TEXT, AT(grab), NULL, 0, 0, NULL,
	  "instead: runs this for each picture, with the word %s for its file", NULL },
	{ 'n', "frames", "N", OPT_INTEGER, AT(n), "1", 0, 1e9, NULL,
	  "how many of each camera; 0: until interrupted", NULL },
	{ 0, "trigger", "WORD", OPT_TEXT, AT(trigger), "none", 0, 0, NULL,
	  "none, software, or an input of the camera, as Line0", NULL },
	{ 0, "exposure", "MS", OPT_TEXT, AT(exposure), NULL, 0, 0, "ms",
	  "exposure time; the camera's own if not given", NULL },
	{ 0, "gain", "G", OPT_NUMBER, AT(gain), NULL, 0, 1e4, NULL, "in the camera's unit", NULL },
	{ 0, "format", "NAME", OPT_TEXT, AT(format), NULL, 0, 0, NULL,
	  "Mono8, Mono10, Mono10Packed, Mono12, Mono12Packed, Mono12p, Mono16, Bayer..8, GREY, Y16",
	  NULL },
	{ 0, "average", "K", OPT_INTEGER, AT(average), "1", 1, 10000, NULL,
	  "each frame is the mean of so many pictures", NULL },
	FLAG_ROW(0, "settled", settled,
	    "one picture of each pattern that is shown, of three at least"),
	{ 0, "between", "COMMAND", OPT_TEXT, AT(between), NULL, 0, 0, NULL,
	  "runs this before each frame, with its number for the word %d: a stage", NULL },
	{ 0, "key", "NAME=START,STEP", OPT_TEXT, AT(key), NULL, 0, 0, NULL,
	  "a key that counts with the frames, as stage_mm=0,5", NULL },
	FLAG_ROW(0, "preview", preview,
	    "a line on standard error for each frame: level, saturated, dark, focus"),
	FLAG_ROW(0, "list", list, "list the cameras"),
	{ 0 },
};

static int
open_cameras(struct run *run)
{
	const struct parameters *p = run->parameters;
	struct priv *priv = run->priv;
	struct camera_wanted wanted = { p->format, p->trigger, NAN, p->gain, run->verbose };

	return camera_exposure(p->exposure, 0, &wanted.exposure_s) < 0 ? -1 :
	    cameras_open(&p->camera, p->grab, &wanted, &priv->camera, &priv->cameras);
}

/* A whole picture, after as many tries as it takes; -1 after fail(). */
static int
grab(struct run *run, struct camera *camera, struct frame **out)
{
	const struct parameters *p = run->parameters;
	bool line = strcmp(p->trigger, "none") && strcmp(p->trigger, "software");
	int got = 0;

	for (int tries = 0; got == 0; tries += !line) {
		if (screen_poll(-1, 0) < 0)
			return -1;
		if (tries == TRIES)
			return fail(camera->name, "no whole picture in %d tries (%llu timeouts, "
			    "%llu with lost packets)", TRIES, (unsigned long long)camera->timeouts,
			    (unsigned long long)camera->broken);
		/* free-running pictures are taken as they come, none is left out */
		if ((camera->triggered && !line && camera->trigger(camera) < 0) ||
		    (got = camera->take(camera, line ? LINE_TIMEOUT_S : TIMEOUT_S, out)) < 0)
			return screen_command_failed();
		if (line && got == 0)
			camera->timeouts = 0;	/* nothing came, nothing was missed */
	}
	return 0;
}

/* The next picture that is settled and new. */
static int
grab_settled(struct run *run, size_t i, struct frame **out)
{
	struct priv *priv = run->priv;
	struct settled *settled = &priv->settled[i];
	struct frame *picture;
	double start = progress_seconds();

	for (*out = NULL; !*out;) {
		if (grab(run, &priv->camera[i], &picture) < 0 ||
		    settled_take(settled, picture, out) < 0)
			return -1;
		if (settled->mixed == MIXED_MOST)
			warn(priv->camera[i].name, "no two of %d pictures agree: a pattern must be "
			    "shown for three of them at least (fringeshow --hold)", MIXED_MOST);
		if (*out || settled->mixed || priv->still || progress_seconds() < start + STILL_S)
			continue;
		priv->still = true;
		warn(priv->camera[i].name, "no new pattern for %g s: the pictures stay the same, "
		    "and --settled waits for another one (fringeshow --loop --hold)", STILL_S);
	}
	return 0;
}

/* The mean of K pictures, as floats with the first one's keys. */
static int
average(struct run *run, size_t i, struct frame **out)
{
	const struct parameters *p = run->parameters;
	struct camera *camera = &((struct priv *)run->priv)->camera[i];
	struct frame *next, *sum;

	if (p->settled)
		return grab_settled(run, i, out);
	if (grab(run, camera, out) < 0)
		return -1;
	if (p->average == 1)
		return 0;
	if (frame_to_float(*out, &sum) < 0)
		return -1;
	frame_replace(out, sum);
	for (long k = 1; k < p->average; k++) {
		if (grab(run, camera, &next) < 0)
			return -1;
		for (size_t y = 0; y < sum->head.h; y++)
			for (size_t x = 0; x < sum->head.w; x++)
				frame_floats(sum, 0, y)[x] += frame_sample(next, 0, y, x);
		frame_free(next);
	}
	for (size_t y = 0; y < sum->head.h; y++)
		for (size_t x = 0; x < sum->head.w; x++)
			frame_floats(sum, 0, y)[x] /= (float)p->average;
	meta_set_number(&sum->head.meta, "max_value", camera->max_value);
	return 0;
}

/* The focus is the mean square of differences of neighbours over the mean level's. */
static void
preview(struct run *run, const struct camera *camera, const struct frame *frame)
{
	struct priv *priv = run->priv;
	double n = (double)(frame->head.w * frame->head.h), sum = 0, full = 0, dark = 0, edges = 0;
	float top = 0;

	for (size_t y = 0; y < frame->head.h; y++)
		for (size_t x = 0; x < frame->head.w; x++) {
			float v = frame_sample(frame, 0, y, x);
			float d = x ? v - frame_sample(frame, 0, y, x - 1) : 0;

			sum += (double)v;
			top = v > top ? v : top;
			full += (double)v >= camera->max_value;
			dark += (double)v < 0.02 * camera->max_value;
			edges += (double)(d * d);
		}
	edges = sum > 0 ? edges / n / pow(sum / n, 2) : 0;
	priv->focus_best = fmax(priv->focus_best, edges);
	note(camera->name, "mean %.1f, white %.0f of %.0f, saturated %.2f %%, dark %.1f %%, focus "
	    "%.0f %% of the best", sum / n, (double)top, camera->max_value, 100 * full / n,
	    100 * dark / n, priv->focus_best > 0 ? 100 * edges / priv->focus_best : 0);
}

static int
describe(struct run *run, const struct camera *camera, long i, struct frame *frame)
{
	struct priv *priv = run->priv;

	if (*camera->label && meta_set(&frame->head.meta, "label", camera->label) < 0)
		return -1;
	if (*priv->key)
		meta_set_number(&frame->head.meta, priv->key,
		    priv->key_start + (double)i * priv->key_step);
	return 0;
}

static int
grab_all(struct run *run)
{
	const struct parameters *p = run->parameters;
	struct priv *priv = run->priv;
	char number[24];

	for (long i = 0; p->n == 0 || i < p->n; i++) {
		snprintf(number, sizeof(number), "%ld", i);
		if (p->between && command_run(p->between, "%d", number) < 0)
			return screen_command_failed();
		for (size_t k = 0; k < priv->cameras; k++) {
			struct frame *frame = NULL;

			if (average(run, k, &frame) < 0 ||
			    describe(run, &priv->camera[k], i, frame) < 0) {
				frame_free(frame);
				return -1;
			}
			if (p->preview)
				preview(run, &priv->camera[k], frame);
			if (run_emit(run, frame) < 0)	/* a reader that Ctrl-C has ended */
				return screen_command_failed();
		}
	}
	return 0;
}

static int
start(struct run *run)
{
	const struct parameters *p = run->parameters;
	struct priv *priv = run->priv;
	unsigned long long lost = 0, broken = 0, timeouts = 0;
	int status;

	if (p->list)
		return camera_list(stdout);
	status = open_cameras(run);
	priv->settled = must_alloc(priv->cameras + 1, sizeof(*priv->settled));
	if (status == 0)
		status = grab_all(run);
	for (size_t i = 0; i < priv->cameras; i++) {
		lost += priv->camera[i].lost;
		broken += priv->camera[i].broken;
		timeouts += priv->camera[i].timeouts;
	}
	if (lost + broken + timeouts)
		warn(NULL, "%llu pictures lost, %llu with packets missing, %llu not in time", lost,
		    broken, timeouts);
	/* the way to end it */
	if (status < 0 && p->n == 0 && fail_message() && !strcmp(fail_message(), "interrupted")) {
		fail_clear();
		status = 0;
	}
	return status;
}

static const struct body body = { .start = start };

/* What camera_frame() and describe() write, and `points`, which makes a frame a table. */
static const char *const own_keys[] = { "max_value", "time_s", "exposure_time_s", "camera",
	"frame_number", "mosaic", "label", "points", NULL };

static int
init(struct run *run)
{
	struct parameters *p = run->parameters;
	struct priv *priv = run->priv;
	const char *comma = p->key ? strchr(p->key, ',') : NULL;
	char start_text[40];
	size_t n = p->key ? strcspn(p->key, "=") : 0;

	run->body = &body;
	run->sink = p->list;
	if (p->grab && (p->camera.n || p->exposure || p->format || strcmp(p->trigger, "none")))
		return fail_usage("--grab", "the command knows the camera, its exposure and "
		    "format; give them there");
	if (p->settled && (p->average > 1 || strcmp(p->trigger, "none")))
		return fail_usage("--settled", "is for a camera that runs freely, without "
		    "--trigger and --average");
	if (!p->key)
		return 0;
	snprintf(start_text, sizeof(start_text), "%.*s", comma ? (int)(comma - p->key - (long)n - 1)
	    : 0, p->key + n + (p->key[n] == '='));
	if (n == 0 || n >= sizeof(priv->key) || !comma ||
	    number_parse(start_text, &priv->key_start) < 0 ||
	    number_parse(comma + 1, &priv->key_step) < 0)
		return fail_usage("--key", "wants NAME=START,STEP, as stage_mm=0,5, not '%s'",
		    p->key);
	snprintf(priv->key, sizeof(priv->key), "%.*s", (int)n, p->key);
	if (priv->key[strspn(priv->key, "abcdefghijklmnopqrstuvwxyz0123456789_")])
		return fail_usage("--key", "%s: a key has letters a to z, digits and _", priv->key);
	for (size_t i = 0; own_keys[i]; i++)
		if (!strcmp(priv->key, own_keys[i]))
			return fail_usage("--key", "%s has a meaning of its own in a frame",
			    priv->key);
	return 0;
}

static void
release(struct run *run)
{
	struct priv *priv = run->priv;

	for (size_t i = 0; priv->settled && i < priv->cameras; i++)
		settled_free(&priv->settled[i]);
	free(priv->settled);
	cameras_close(priv->camera, priv->cameras);
}

const struct stage stage_fringegrab = {
	.name = "fringegrab",
	.summary = "grab frames from cameras",
	.options = options,
	.usual = "camera list frames exposure gain trigger preview",
	STAGE_MEMORY(priv),
	.traits = STAGE_SOURCE | STAGE_ANY_TYPE | STAGE_ALONE,
	.init = init,
	.release = release,
};
