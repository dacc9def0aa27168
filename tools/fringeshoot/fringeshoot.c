/*
 * Shows the patterns of a manifest, and takes pictures of each that hold its light alone: the
 * screen of X11 and the cameras of Aravis, V4L2 or a command, options, and the files or the stream.
 */
#include "fringeshoot.h"

#include <errno.h>
#include <sys/stat.h>

#include "fringe/manifest.h"
#include "io/file_list.h"
#include "io/source.h"
#include "run/stage.h"

#define COMMAND_LATENCY_S 0.5	/* of a check that cannot measure it */
#define MANIFEST_NAME "manifest.txt"

struct parameters {
	const char *manifest, *screen, *show, *exposure, *format, *grab, *latency;
	struct opt_list camera;
	double gain;
	long retries, repeat;
	int check, trigger;
	bool any_exposure, force_screen, dry_run;
};

/* A pattern with its picture's name. Rows of the manifest are as many. */
struct image {
	struct frame *shown;	/* until the screen has it */
	struct meta keys;
	char *name;		/* without suffix */
	struct pattern pattern;
	bool rejected;		/* in the set at hand */
};

struct priv {
	struct screen screen;
	struct shoot shoot;
	struct manifest manifest;
	struct image *image;
	size_t images;
	size_t taken;		/* in the set at hand: the first ones */
};

static const char *const checks[] = { "mix", "once", "none", NULL };
static const char *const triggers[] = { "software", "none", NULL };

static const struct opt options[] = {
	{ 'm', "manifest", "FILE", OPT_FILE, AT(manifest), NULL, 0, 0, NULL,
	  "the patterns, as fringegen -m writes it", NULL },
	{ 0, "camera", "NAME", OPT_TEXTS, AT(camera), NULL, 0, 0, NULL,
	  "a camera that fringegrab --list names; NAME=LABEL where there are several", NULL },
	{ 0, "grab", "COMMAND", OPT_TEXT, AT(grab), NULL, 0, 0, NULL,
	  "instead: runs this for each picture, with the word %s for its file", NULL },
	{ 0, "screen", "NAME", OPT_TEXT, AT(screen), NULL, 0, 0, NULL,
	  "the output, as fringeshow --list names it; the only one if not given", NULL },
	{ 0, "show", "COMMAND", OPT_TEXT, AT(show), NULL, 0, 0, NULL,
	  "instead: runs this for each image, with the word %s for its file", NULL },
	{ 0, "latency", "MS", OPT_TEXT, AT(latency), NULL, 0, 0, "ms",
	  "from a refresh to a picture of the new pattern alone; measured if not given", NULL },
	{ 0, "check", NULL, OPT_WORD, AT(check), NULL, 0, 0, NULL,
	  "two pictures a pattern, one that is compared with the one before, or one", checks },
	{ 0, "retries", "N", OPT_INTEGER, AT(retries), "8", 0, 1000, NULL,
	  "of a pattern, until it is rejected", NULL },
	{ 0, "repeat", "N", OPT_INTEGER, AT(repeat), "1", 1, 1e6, NULL, "sets to take", NULL },
	{ 0, "exposure", "MS", OPT_TEXT, AT(exposure), NULL, 0, 0, "ms",
	  "exposure time, or refreshes as 1r; one refresh if not given", NULL },
	FLAG_ROW(0, "any-exposure", any_exposure,
	    "also one that is no whole number of refreshes, or that beats"),
	{ 0, "gain", "G", OPT_NUMBER, AT(gain), NULL, 0, 1e4, NULL, "in the camera's unit", NULL },
	{ 0, "format", "NAME", OPT_TEXT, AT(format), NULL, 0, 0, NULL,
	  "pixel format, as fringegrab has it", NULL },
	{ 0, "trigger", NULL, OPT_WORD, AT(trigger), "software", 0, 0, NULL,
	  "of cameras that have none, free-running ones", triggers },
	FLAG_ROW(0, "force-screen", force_screen, "show under XWayland, too"),
	FLAG_ROW(0, "dry-run", dry_run, "checks, flat images and latency only"),
	{ 0 },
};

/* ---- patterns ---- */

/* The mean of an image, of full scale. */
static double
mean_level(const struct frame *frame)
{
	double sum = 0;

	for (size_t c = 0; c < frame->head.c; c++)
		for (size_t y = 0; y < frame->head.h; y++)
			for (size_t x = 0; x < frame->head.w; x++)
				sum += (double)frame_sample(frame, c, y, x);
	return sum / 255 / (double)(frame->head.w * frame->head.h * frame->head.c);
}

/* Keys of the pattern's file, and of its row, that its pictures carry. */
static int
set_keys(struct image *image, const struct frame *file, const struct manifest_row *row)
{
	static const char *const kept[] = { "set_images", "projector_px", "gray_cell", "marker_px",
		"marker_width_px", NULL };

	manifest_row_to_meta(row, &image->keys);
	for (size_t i = 0; kept[i]; i++)
		if (meta_get(&file->head.meta, kept[i]))
			meta_set(&image->keys, kept[i], meta_get(&file->head.meta, kept[i]));
	if (row->gray_cell != CELL_NONE)
		meta_set(&image->keys, "gray_cell", manifest_cells[row->gray_cell]);
	return meta_set(&image->keys, "name", image->name);
}

static int
read_pattern(struct priv *priv, const char *folder, size_t i)
{
	const struct manifest_row *row = &priv->manifest.row[i];
	struct image *image = &priv->image[i];
	const char *name = row->file + strlen(folder);
	struct frame *file;
	int status;

	if (*row->plane)
		return fail(row->file, "holds several patterns (fringegen --pack), which a camera "
		    "that follows the screen cannot tell apart");
	if (strncmp(row->file, folder, strlen(folder)) || strchr(name, '/') || *name == '.')
		return fail(row->file, "pictures get the patterns' names: they must lie in the "
		    "manifest's folder");
	image->name = must_strdup(name);
	if (strrchr(image->name, '.'))
		*strrchr(image->name, '.') = '\0';
	for (size_t k = 0; k < i; k++)
		if (!strcmp(image->name, priv->image[k].name))
			return fail(row->file, "is there twice, or two files differ only in their "
			    "suffix");
	if (source_load(row->file, &file) < 0)
		return -1;
	status = set_keys(image, file, row);
	if (status == 0 && screen_image(file, &image->shown) < 0)
		status = fail_prefix(row->file);
	frame_free(file);
	if (status < 0)
		return -1;
	image->pattern.level = mean_level(image->shown);
	image->pattern.name = image->name;
	return 0;
}

static int
read_patterns(struct run *run)
{
	const struct parameters *p = run->parameters;
	struct priv *priv = run->priv;
	const char *slash = strrchr(p->manifest, '/');
	char *folder = must_format("%.*s", slash ? (int)(slash - p->manifest + 1) : 0, p->manifest);
	int status = manifest_load(p->manifest, &priv->manifest);

	if (status == 0) {
		priv->images = priv->manifest.n;
		priv->image = must_alloc(priv->images, sizeof(*priv->image));
	}
	for (size_t i = 0; i < priv->images && status == 0; i++)
		status = read_pattern(priv, folder, i);
	free(folder);
	return status;
}

/* ---- screen and cameras ---- */

static int
open_screen(struct run *run)
{
	const struct parameters *p = run->parameters;
	struct priv *priv = run->priv;
	struct screen *screen = &priv->screen;
	struct shoot *shoot = &priv->shoot;

	const struct frame_head *head = &priv->image[0].shown->head;

	if ((p->show ? screen_command_open(screen, p->show, head->w, head->h) :
	    screen_x11_open(screen, p->screen, head->w, head->h, p->force_screen,
	    run->verbose)) < 0 ||
	    screen_load_flat(screen, 0, &shoot->black) < 0 ||
	    screen_load_flat(screen, 255, &shoot->white) < 0 ||
	    screen_load_flat(screen, 128, &shoot->grey) < 0)
		return -1;
	for (size_t i = 0; i < priv->images; i++) {
		struct image *image = &priv->image[i];

		if (screen_load(screen, &image->shown, image->name, &image->pattern.image) < 0)
			return -1;
	}
	shoot->screen = screen;
	return 0;
}

static int
open_cameras(struct run *run)
{
	const struct parameters *p = run->parameters;
	struct priv *priv = run->priv;
	struct shoot *shoot = &priv->shoot;
	struct camera_wanted wanted = { p->format, triggers[p->trigger], NAN, p->gain,
		run->verbose };

	const char *exposure = p->exposure || !(priv->screen.refresh_s > 0) ? p->exposure : "1r";

	return camera_exposure(exposure, priv->screen.refresh_s, &wanted.exposure_s) < 0 ? -1 :
	    cameras_open(&p->camera, p->grab, &wanted, &shoot->camera, &shoot->cameras);
}

/* ---- results ---- */

/* Without a folder, pictures go into the stream. */
static bool
is_folder(const struct run *run)
{
	return run->output && *run->output && (run->output[strlen(run->output) - 1] == '/' ||
	    path_is_folder(run->output));
}

/* FOLDER/LABEL/0001, a new string; what is not needed is left out. */
static char *
set_folder(const struct run *run, size_t camera, long set)
{
	const struct parameters *p = run->parameters;
	const struct priv *priv = run->priv;
	const char *label = priv->shoot.cameras > 1 ? priv->shoot.camera[camera].label : "";
	size_t n = strlen(run->output);

	while (n > 1 && run->output[n - 1] == '/')
		n--;
	return p->repeat > 1 ? must_format("%.*s%s%s/%04ld", (int)n, run->output, *label ? "/" : "",
	    label, set + 1) : must_format("%.*s%s%s", (int)n, run->output, *label ? "/" : "",
	    label);
}

/* Makes the folders above it. */
static int
make_folders(char *path)
{
	for (char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		if (mkdir(path, 0777) < 0 && errno != EEXIST)
			return fail_errno(path, "folder cannot be created");
		*p = '/';
	}
	return 0;
}

/* The patterns' manifest with the pictures' files, and a column that tells good from rejected. */
static int
write_manifest(const struct priv *priv, const char *folder)
{
	char *path = must_format("%s/" MANIFEST_NAME, folder);
	struct manifest taken = priv->manifest;
	int status;

	taken.row = must_alloc(priv->images, sizeof(*taken.row));
	for (taken.n = 0; taken.n < priv->taken; taken.n++) {
		struct manifest_row *row = &taken.row[taken.n];
		const struct image *image = &priv->image[taken.n];

		*row = priv->manifest.row[taken.n];
		row->file = must_format("%s/%s.png", folder, image->name);
		row->checked = true;
		row->rejected = image->rejected;
	}
	status = manifest_write(path, &taken);
	manifest_free(&taken);
	free(path);
	return status;
}

static int
describe(const struct image *image, unsigned long long number, struct frame *picture)
{
	for (size_t i = 0; i < image->keys.n; i++)
		if (meta_set(&picture->head.meta, image->keys.entry[i].key,
		    image->keys.entry[i].value) < 0)
			return -1;
	return meta_setf(&picture->head.meta, "frame_number", "%llu", number);
}

/* Takes all patterns; target[camera] NULL: into the stream. */
static int
shoot_set(struct run *run, long set, struct target *const *target)
{
	struct priv *priv = run->priv;
	struct shoot *shoot = &priv->shoot;
	struct frame **picture = must_alloc(shoot->cameras, sizeof(*picture));
	int status = 0;

	for (size_t i = 0; i < priv->images && status == 0; i++) {
		struct image *image = &priv->image[i];
		int taken = shoot_pattern(shoot, &image->pattern, picture);

		if (taken < 0)
			status = -1;
		/* in a stream nothing tells it from a good one */
		if (taken == 0 && !target && !run_keeps_going(run))
			status = fail(image->name, "rejected: the stream ends (--keep-going: it "
			    "does not)");
		for (size_t k = 0; k < shoot->cameras && taken >= 0; k++) {
			if (status == 0)
				status = describe(image, (unsigned long long)set * priv->images + i,
				    picture[k]);
			if (status == 0 && !target) {	/* which owns it */
				status = run_emit(run, picture[k]);
				continue;
			}
			if (status == 0)
				status = target_put(target[k], picture[k]);
			frame_free(picture[k]);
		}
		image->rejected = taken == 0;
		priv->taken += status == 0;
	}
	free(picture);
	return status;
}

/* A set in its folders, with a manifest of what was taken, also where it was interrupted. */
static int
shoot_into_folders(struct run *run, long set)
{
	struct priv *priv = run->priv;
	size_t n = priv->shoot.cameras;
	struct target **target = must_alloc(n, sizeof(*target));
	char **folder = must_alloc(n, sizeof(*folder));
	struct fail_record record = { .code = EXIT_DONE };
	int status = 0;

	for (size_t k = 0; k < n && status == 0; k++) {
		folder[k] = set_folder(run, k, set);
		char *inside = must_format("%s/", folder[k]);

		status = make_folders(folder[k]);
		if (status == 0 && !(target[k] = target_open(inside, run->force, NULL)))
			status = -1;
		free(inside);
	}
	if (status == 0)
		status = shoot_set(run, set, target);
	fail_take(&record);
	for (size_t k = 0; k < n; k++) {
		if (target[k] && (target_close(target[k], true) < 0 ||
		    (priv->taken && write_manifest(priv, folder[k]) < 0)))
			status = -1;
		free(folder[k]);
	}
	if (*record.message) {
		fail_clear();
		fail_put(&record);
	}
	free(folder);
	free(target);
	return status;
}

/* ---- the program ---- */

static int
set_latency(struct run *run)
{
	const struct parameters *p = run->parameters;
	struct priv *priv = run->priv;
	struct shoot *shoot = &priv->shoot;
	double ms;

	shoot->latency_s = COMMAND_LATENCY_S;
	if (p->latency && strcmp(p->latency, "measure")) {
		if (number_parse(p->latency, &ms) < 0 || !(ms >= 0 && ms <= 60000))
			return fail_usage("--latency", "wants milliseconds, or measure, not '%s'",
			    p->latency);
		shoot->latency_s = ms / 1e3;
	} else if (p->latency || shoot->check == CHECK_MIX) {
		if (shoot_latency(shoot) < 0)
			return -1;
		if (!run->quiet)
			note(NULL, "--latency %.1f saves measuring it the next time",
			    1e3 * shoot->latency_s);
	}
	return 0;
}

static int
start(struct run *run)
{
	const struct parameters *p = run->parameters;
	struct priv *priv = run->priv;
	struct shoot *shoot = &priv->shoot;
	int status;

	*shoot = (struct shoot){ .retries = p->retries, .any_exposure = p->any_exposure,
		.verbose = run->verbose,
		.check = p->check >= 0 ? (enum shoot_check)p->check : p->grab ? CHECK_ONCE :
		CHECK_MIX };
	if (read_patterns(run) < 0 || open_screen(run) < 0 || open_cameras(run) < 0 ||
	    shoot_exposure_check(shoot) < 0)
		return -1;
	status = shoot_flats(shoot);
	if (status == 0)
		status = set_latency(run);
	for (long set = 0; set < p->repeat && status == 0 && !p->dry_run; set++) {
		priv->taken = 0;
		status = is_folder(run) ? shoot_into_folders(run, set) : shoot_set(run, set, NULL);
	}
	if (status == 0 && shoot->rejected)
		status = fail(NULL, "%zu picture%s rejected: a longer --latency, a steady rig, or "
		    "more --retries may help", shoot->rejected, shoot->rejected == 1 ? " is" :
		    "s are");
	return status;
}

static const struct body body = { .start = start };

/* Is the folder that is written the patterns' own? */
static bool
same_folder(const char *manifest, const char *output)
{
	const char *slash = strrchr(manifest, '/');
	char *folder = must_format("%.*s", slash ? (int)(slash - manifest + 1) : 1, slash ?
	    manifest : ".");
	struct stat a, b;
	bool same = stat(folder, &a) == 0 && stat(output, &b) == 0 && a.st_dev == b.st_dev &&
	    a.st_ino == b.st_ino;

	free(folder);
	return same;
}

static int
init(struct run *run)
{
	const struct parameters *p = run->parameters;

	run->body = &body;
	run->sink = p->dry_run || is_folder(run);
	if (!p->manifest)
		return fail_usage("--manifest", "which patterns? fringegen -m writes it");
	if (p->show && (p->screen || p->force_screen))
		return fail_usage("--show", "the command knows its screen; give it there");
	if (p->grab && (p->camera.n || p->format || isfinite(p->gain)))
		return fail_usage("--grab", "the command knows the camera, its gain and format; "
		    "give them there");
	if (p->camera.n > 1 && !is_folder(run) && !p->dry_run)
		return fail_usage("--camera", "several cameras write into folders: -o FOLDER/");
	for (size_t i = 0; i < p->camera.n && p->camera.n > 1; i++) {
		const char *label = strchr(p->camera.v[i], '=');

		if (!label)
			return fail_usage("--camera", "%s has no label for its folder: NAME=LABEL",
			    p->camera.v[i]);
		for (size_t k = 0; k < i; k++)
			if (!strcmp(label, strchr(p->camera.v[k], '=')))
				return fail_usage("--camera", "%s and %s have the same label: one "
				    "folder each", p->camera.v[k], p->camera.v[i]);
	}
	if (is_folder(run) && same_folder(p->manifest, run->output))
		return fail_usage("--output", "%s is the patterns' own folder", run->output);
	return 0;
}

/* Black, then what was changed is restored: trigger modes, the gamma ramp. */
static void
release(struct run *run)
{
	struct priv *priv = run->priv;
	struct shoot *shoot = &priv->shoot;

	if (shoot->screen)
		shoot_end(shoot);
	cameras_close(shoot->camera, shoot->cameras);
	if (priv->screen.own)
		priv->screen.close(&priv->screen);
	for (size_t i = 0; i < priv->images; i++) {
		frame_free(priv->image[i].shown);
		meta_free(&priv->image[i].keys);
		free(priv->image[i].name);
	}
	free(priv->image);
	manifest_free(&priv->manifest);
}

const struct stage stage_fringeshoot = {
	.name = "fringeshoot",
	.summary = "show patterns and grab pictures in step, each checked",
	.options = options,
	.usual = "manifest camera screen latency exposure repeat dry-run",
	STAGE_MEMORY(priv),
	.traits = STAGE_SOURCE | STAGE_ANY_TYPE | STAGE_ALONE,
	.init = init,
	.release = release,
};
