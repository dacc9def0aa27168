/*
 * Captured images: their files are listed and read on all threads. Each image is reduced to lines
 * of samples right away, so that no thread has more than one frame in memory. Also numbers in the
 * names of files.
 */
#include "fringeprobe.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/process.h"
#include "io/file_list.h"
#include "io/source.h"

/* ---- numbers in the names of files ---- */

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static size_t
suffix_start(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && dot != name ? (size_t)(dot - name) : strlen(name);
}

size_t
names_stem(const char *name)
{
	size_t n = suffix_start(name), whole = n;

	while (n > 0 && !is_digit(name[n - 1]))
		n--;
	if (n == 0)
		return whole;
	while (n > 0 && is_digit(name[n - 1]))
		n--;
	return n;
}

bool
names_same_group(const char *a, const char *b)
{
	size_t n = names_stem(a);

	return n == names_stem(b) && !strncmp(a, b, n);
}

bool
names_number(const char *name, size_t n, double *out)
{
	while (n > 0 && !is_digit(name[n - 1]))
		n--;
	if (n == 0)
		return false;
	while (n > 0 && (is_digit(name[n - 1]) ||
	    (name[n - 1] == '.' && n > 1 && is_digit(name[n - 2]))))
		n--;
	*out = strtod(name + n, NULL);
	return true;
}

bool
names_say(const char *name, const char *words)
{
	while (*words) {
		size_t n = strcspn(words, " ");
		char word[32] = "";

		memcpy(word, words, n < sizeof(word) - 1 ? n : sizeof(word) - 1);
		if (strcasestr(name, word))
			return true;
		words += n + (words[n] == ' ');
	}
	return false;
}

/* ---- what is kept of an image: lines of samples across it, and its largest sample ---- */

#define IMAGES_SAMPLES 160000	/* most samples of these lines, */
#define IMAGES_LINES_LEAST 24	/* but no fewer lines than this */

/* How many of n lines of a length are kept: 64, fewer of large images. */
static size_t
count_lines(size_t n, size_t length)
{
	size_t most = IMAGES_SAMPLES / length;

	most = most < IMAGES_LINES_LEAST ? IMAGES_LINES_LEAST : most;
	most = most > IMAGES_LINES ? IMAGES_LINES : most;
	return n < most ? n : most;
}

/* Keeps lines of plane c. -1 after fail(). */
static int
image_reduce(const struct frame *frame, size_t c, struct image *image)
{
	size_t w = frame->head.w, h = frame->head.h;

	image->lines[0] = count_lines(h, w);
	image->lines[1] = count_lines(w, h);
	image->line[0] = malloc(image->lines[0] * w * sizeof(float));
	image->line[1] = malloc(image->lines[1] * h * sizeof(float));
	if (!image->line[0] || !image->line[1])
		return fail_memory();
	fringeprobe_rows()->image_sample(frame, c, image);
	return 0;
}

int
images_smooth(struct image *const *image, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (int axis = 0; axis < 2; axis++) {
			size_t length = axis ? image[i]->head.h : image[i]->head.w;
			float *to = malloc(image[i]->lines[axis] * length * sizeof(*to));

			if (!to)
				return fail_memory();
			for (size_t l = 0; l < image[i]->lines[axis]; l++)
				fringeprobe_rows()->image_smooth_line(image[i]->line[axis] +
				    l * length, length, to + l * length);
			image[i]->raw[axis] = image[i]->line[axis];
			image[i]->line[axis] = to;
		}
	return 0;
}

void
images_unsmooth(struct image *const *image, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (int axis = 0; axis < 2; axis++) {
			if (!image[i]->raw[axis])
				continue;
			free(image[i]->line[axis]);
			image[i]->line[axis] = image[i]->raw[axis];
			image[i]->raw[axis] = NULL;
		}
}

/* ---- reading ---- */

#define FILES 64		/* read before their images are counted */

struct reading {		/* one file */
	const char *path;
	size_t kept;			/* images of previous files that are kept */
	struct images found;
	struct fail_record failure;
};

void
images_add_skip(struct images *images, const char *path, const char *reason)
{
	images->skip = must_resize(images->skip, images->skips + 1, sizeof(*images->skip));
	images->skip[images->skips++] =
	    (struct images_skip){ must_strdup(path), must_strdup(reason), false };
}

static void
image_free(struct image *image)
{
	free(image->path);
	free(image->name);
	head_free(&image->head);
	for (int axis = 0; axis < 2; axis++) {
		free(image->line[axis]);
		free(image->raw[axis]);
	}
}

void
images_free(struct images *images)
{
	for (size_t i = 0; i < images->n; i++)
		image_free(&images->image[i]);
	for (size_t i = 0; i < images->skips; i++) {
		free(images->skip[i].path);
		free(images->skip[i].reason);
	}
	free(images->image);
	free(images->skip);
	*images = (struct images){ 0 };
}

static int
take_plane(struct reading *reading, const struct frame *frame, size_t c, bool colour)
{
	struct images *found = &reading->found;
	struct image *image;

	found->image = must_resize(found->image, found->n + 1, sizeof(*image));
	image = &found->image[found->n++];
	*image = (struct image){ .path = must_strdup(reading->path), .colour = colour,
		.in_file = found->n - 1 };
	if (head_copy(&image->head, &frame->head) < 0 ||
	    meta_slice(&image->head.meta, frame->head.c, c, 1) < 0 ||
	    head_set_count(&image->head, 1) < 0)
		return -1;
	return reading->kept + found->n > IMAGES_KEPT ? 0 : image_reduce(frame, c, image);
}

/* Are the planes r g b, maybe a? And do they differ? */
static bool
is_rgb(const struct frame_head *head)
{
	return head->c >= 3 && !strcmp(head->channel[0], "r") && !strcmp(head->channel[1], "g") &&
	    !strcmp(head->channel[2], "b");
}

static bool
planes_differ(const struct frame *frame)
{
	size_t bytes = frame->head.w * sample_size(frame->head.type);

	for (size_t y = 0; y < frame->head.h; y++)
		for (size_t c = 1; c < 3; c++)
			if (memcmp(frame_row(frame, 0, y), frame_row(frame, c, y), bytes))
				return true;
	return false;
}

static int
take_frame(struct reading *reading, const struct frame *frame)
{
	if (head_is_table(&frame->head))
		return fail(reading->path, "is a table");
	if (is_rgb(&frame->head)) {
		bool colour = planes_differ(frame);

		return take_plane(reading, frame, colour ? 1 : 0, colour);
	}
	for (size_t c = 0; c < frame->head.c && reading->found.n <= IMAGES_READ; c++)
		if (take_plane(reading, frame, c, false) < 0)
			return -1;
	return 0;
}

static void
name_images(struct reading *reading)
{
	const char *slash = strrchr(reading->path, '/');
	const char *base = strcmp(reading->path, "-") ? slash ? slash + 1 : reading->path : "stdin";

	for (size_t i = 0; i < reading->found.n; i++) {
		struct image *image = &reading->found.image[i];

		image->of_file = reading->found.n;
		image->name = image->of_file == 1 ? must_strdup(base) :
		    must_format("%s[%zu]", base, i + 1);
	}
}

static int
read_file(struct reading *reading)
{
	struct source *source = source_open(reading->path);
	struct frame *frame;
	int status = source ? 1 : -1;

	while (status == 1 && reading->found.n <= IMAGES_READ &&
	    (status = source_next(source, &frame)) == 1) {
		if (take_frame(reading, frame) < 0)
			status = -1;
		frame_free(frame);
	}
	source_close(source);
	name_images(reading);
	return status < 0 ? -1 : 0;
}

static void
read_item(void *arg, size_t i)
{
	struct reading *reading = &((struct reading *)arg)[i];

	if (read_file(reading) < 0)
		fail_take(&reading->failure);
}

/* A failure's text without the file's name, which comes in front. */
static const char *
reason(const struct reading *reading)
{
	size_t n = strlen(reading->path);
	const char *text = reading->failure.message;

	return !strncmp(text, reading->path, n) && text[n] == ':' ? text + n + 2 : text;
}

/* Did the machine fail, and not the file? What is found then depends on nothing in the images. */
static bool
is_exhausted(const char *text)
{
	static const int errors[] = { ENOMEM, EMFILE, ENFILE };

	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++)
		if (strstr(text, strerror(errors[i])))
			return true;
	return strcasestr(text, "memory") && !strstr(text, "larger than the memory");
}

/* Appends what one file held. */
static int
append(struct images *images, struct reading *reading)
{
	size_t n = reading->found.n;

	if (reading->failure.message[0]) {
		images_free(&reading->found);
		if (is_exhausted(reason(reading))) {
			fail_put(&reading->failure);
			return -1;
		}
		images_add_skip(images, reading->path, reason(reading));
		images->skip[images->skips - 1].unreadable = true;
		return 0;
	}
	images->image = must_resize(images->image, images->n + n, sizeof(*images->image));
	if (n)
		memcpy(images->image + images->n, reading->found.image, n * sizeof(*images->image));
	images->n += n;
	free(reading->found.image);
	reading->found = (struct images){ 0 };
	return 0;
}

struct paths {
	char **v;
	size_t n;
};

static bool
among(char *const *list, size_t n, const char *path)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(list[i], path))
			return true;
	return false;
}

/* An entry's path, a new string, and whether it is a folder or a link to one. */
static char *
entry_path(const char *folder, const char *name, bool *is_folder)
{
	char *path = must_format("%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/",
	    name);
	struct stat st;

	*is_folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
	return path;
}

/* Files of a folder that are no images are named; other folders in it are not. */
static int
skip_others(struct images *images, const char *folder, char *const *list, size_t n)
{
	struct dirent **entry = NULL;
	int entries = scandir(folder, &entry, NULL, versionsort);

	for (int i = 0; i < entries; i++) {
		bool is_folder;
		char *path = entry_path(folder, entry[i]->d_name, &is_folder);

		if (entry[i]->d_name[0] != '.' && !is_folder && !among(list, n, path))
			images_add_skip(images, path, "no image");
		free(path);
		free(entry[i]);
	}
	free(entry);
	return entries < 0 ? fail_errno(folder, "cannot be listed") : 0;
}

/* A folder without images of its own may have some in its folders. */
static int
fail_empty(const char *folder)
{
	struct dirent **entry = NULL;
	int entries = is_exhausted(fail_message()) ? 0 :
	    scandir(folder, &entry, NULL, versionsort);
	char names[300] = "";

	for (int i = 0; i < entries; i++) {
		bool is_folder = false;

		free(entry_path(folder, entry[i]->d_name, &is_folder));
		if (is_folder && entry[i]->d_name[0] != '.' &&
		    strlen(names) + strlen(entry[i]->d_name) + 3 < sizeof(names)) {
			strcat(names, *names ? ", " : "");
			strcat(names, entry[i]->d_name);
		}
		free(entry[i]);
	}
	free(entry);
	if (*names) {
		fail_clear();
		return fail(folder, "holds no images itself, but folders: probe one of %s", names);
	}
	return -1;
}

static int
list_path(struct images *images, const char *path, struct paths *paths)
{
	struct stat st;
	char **file;
	size_t n;
	int status = 0;

	if (file_list(path, &file, &n) < 0)
		return fail_empty(path);
	if (n != 1 || strcmp(file[0], path))
		status = skip_others(images, path, file, n);
	else if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		status = fail(path, "folder cannot be listed");
	paths->v = must_resize(paths->v, paths->n + n + 1, sizeof(*paths->v));
	for (size_t i = 0; i < n; i++)
		paths->v[paths->n++] = file[i];
	free(file);
	return status;
}

static int
compare_paths(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

/* Were files in the order of their names as text, and not of their numbers? */
static bool
is_text_order(const struct paths *paths)
{
	bool differs = false;

	for (size_t i = 1; i < paths->n; i++) {
		if (strcmp(paths->v[i - 1], paths->v[i]) >= 0)
			return false;
		differs |= strverscmp(paths->v[i - 1], paths->v[i]) > 0;
	}
	return differs;
}

/* Drops the lines of images after the first IMAGES_KEPT, and all images after IMAGES_READ. */
static void
limit(struct images *images)
{
	for (size_t i = 0; i < images->n; i++)
		for (int axis = 0; axis < 2 && i >= IMAGES_KEPT; axis++) {
			free(images->image[i].line[axis]);
			images->image[i].line[axis] = NULL;
		}
	images->more |= images->n > IMAGES_READ;
	while (images->n > IMAGES_READ)
		image_free(&images->image[--images->n]);
}

/* Some files at a time: the same ones for any number of threads, until there are enough. */
static int
read_all(struct run *run, struct paths *paths, struct images *out)
{
	int status = 0;

	for (size_t from = 0; from < paths->n && status == 0 && !out->more; from += FILES) {
		size_t n = paths->n - from < FILES ? paths->n - from : FILES;
		struct reading some[FILES] = { 0 };

		for (size_t i = 0; i < n; i++)
			some[i] = (struct reading){ .path = paths->v[from + i], .kept = out->n };
		run_for(run, n, read_item, some);
		for (size_t i = 0; i < n; i++)
			if (status == 0)
				status = append(out, &some[i]);
			else
				images_free(&some[i].found);
		limit(out);
	}
	return status;
}

int
images_read(struct run *run, char *const *path, size_t n, bool keep_order, struct images *out)
{
	static char *const input[] = { "-" };
	struct paths paths = { 0 };
	int status = 0;

	*out = (struct images){ 0 };
	if (n == 0) {
		path = input;
		n = 1;
	}
	for (size_t i = 0; i < n && status == 0; i++)
		status = list_path(out, path[i], &paths);
	if (status == 0 && !keep_order) {
		out->sorted = is_text_order(&paths);
		qsort(paths.v, paths.n, sizeof(*paths.v), compare_paths);
	}
	if (status == 0)
		status = read_all(run, &paths, out);
	for (size_t i = 0; i < paths.n; i++)
		free(paths.v[i]);
	free(paths.v);
	if (status == 0 && out->n == 0)
		return fail(out->skips ? out->skip[0].path : NULL, "%s",
		    out->skips ? out->skip[0].reason : "there are no images");
	return status;
}
