/*
 * Captured images: their files are listed and read on all threads. Each image is reduced to lines
 * of samples right away, so that no thread has more than one frame in memory. Also numbers in the
 * names of files.
 */
#include "fringeprobe.h"

#include <dirent.h>
#include <errno.h>

#include "base/numbers.h"
#include "base/text.h"
#include "feature/board.h"
#include "io/file_list.h"
#include "io/source.h"

/* ---- numbers in the names of files ---- */

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

size_t
names_stem(const char *name)
{
	const char *dot = strrchr(name, '.');
	size_t n = dot && dot != name ? (size_t)(dot - name) : strlen(name), whole = n;

	while (n > 0 && !is_digit(name[n - 1]))
		n--;
	if (n == 0)
		return whole;
	while (n > 0 && is_digit(name[n - 1]))
		n--;
	return n;
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
/* Noise over the range of the pixels from which on three, and five lines are averaged. */
#define MIN_NOISE_OF_THREE 0.012
#define MIN_NOISE_OF_FIVE 0.03
#define LEAST_NOISE 0.3		/* levels: rounding to whole ones leaves as much */

/* How many of n lines of a length are kept: 64, fewer of large images. */
static size_t
count_lines(size_t n, size_t length)
{
	size_t most = IMAGES_SAMPLES / length;

	most = most < IMAGES_LINES_LEAST ? IMAGES_LINES_LEAST : most;
	most = most > IMAGES_LINES ? IMAGES_LINES : most;
	return n < most ? n : most;
}

/* Samples of the lines along one axis. */
static size_t
count_samples(const struct image *image, int axis)
{
	return image->lines[axis] * (axis ? image->head.h : image->head.w);
}

/* Keeps lines of plane c. */
static void
image_reduce(const struct frame *frame, size_t c, struct image *image)
{
	size_t near = 2 * IMAGES_AROUND + 1, bytes = sample_size(frame->head.type);
	float *room;

	image->lines[0] = count_lines(frame->head.h, frame->head.w);
	image->lines[1] = count_lines(frame->head.w, frame->head.h);
	for (int axis = 0; axis < 2; axis++)
		image->near[axis] = must_large(near * count_samples(image, axis), bytes);
	room = must_large(count_samples(image, 0) + count_samples(image, 1), sizeof(*room));
	fringeprobe_rows()->image_sample(frame, c, image);
	image->noise = fringeprobe_rows()->image_noise(image, room);
	if (frame->head.type != SAMPLE_FLOAT)
		image->noise = fmax(image->noise, LEAST_NOISE);
	free(room);
}

static void
fill_lines(struct image *const *image, size_t n, size_t around)
{
	for (size_t i = 0; i < n; i++)
		for (int axis = 0; axis < 2; axis++) {
			size_t samples = count_samples(image[i], axis);

			if (!image[i]->line[axis])
				image[i]->line[axis] = must_large(samples, sizeof(float));
			fringeprobe_rows()->image_average(image[i], axis, around,
			    image[i]->line[axis]);
		}
}

/* Gray planes and flat images tell the noise best: the lower quartile of the images' own. */
static double
usual_noise(struct image *const *image, size_t n)
{
	float *noise = must_alloc(n, sizeof(*noise)), found;

	for (size_t i = 0; i < n; i++)
		noise[i] = (float)image[i]->noise;
	found = numbers_rank(noise, n, n / 4);
	free(noise);
	return (double)found;
}

void
images_average(struct image *const *image, size_t n, size_t *averaged, double *noise)
{
	float *room = must_large(count_samples(image[0], 0) + 1, sizeof(*room));
	double range;
	size_t around;

	fill_lines(image, n, 0);
	range = fringeprobe_rows()->images_range(image, n, room);
	free(room);
	*noise = usual_noise(image, n);
	around = *noise < MIN_NOISE_OF_THREE * range ? 0 : *noise < MIN_NOISE_OF_FIVE * range ?
	    1 : IMAGES_AROUND;
	*averaged = 2 * around + 1;
	*noise /= sqrt((double)*averaged);
	if (around)
		fill_lines(image, n, around);
	for (size_t i = 0; i < n; i++)
		for (int axis = 0; axis < 2; axis++) {
			free(image[i]->near[axis]);
			image[i]->near[axis] = NULL;
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

void
images_drop_skip(struct images *images, const char *path)
{
	for (size_t i = 0; i < images->skips; i++)
		if (!strcmp(images->skip[i].path, path)) {
			free(images->skip[i].path);
			free(images->skip[i].reason);
			images->skip[i--] = images->skip[--images->skips];
		}
}

static void
image_free(struct image *image)
{
	free(image->path);
	free(image->name);
	head_free(&image->head);
	for (int axis = 0; axis < 2; axis++) {
		free(image->line[axis]);
		free(image->near[axis]);
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

/* Fills an overview: means of some samples of each block. */
static void
fill_overview(const struct frame *frame, size_t c, float overview[IMAGES_OVERVIEW])
{
	size_t w = frame->head.w, h = frame->head.h, side = IMAGES_OVERVIEW_SIDE, n = 4 * side;

	memset(overview, 0, IMAGES_OVERVIEW * sizeof(*overview));
	for (size_t j = 0; j < n; j++) {
		const void *row = frame_row(frame, c, j * h / n);

		for (size_t i = 0; i < n; i++)
			overview[j / 4 * side + i / 4] += (float)frame_sample_in(frame->head.type,
			    row, i * w / n) / 16;
	}
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
	head_copy(&image->head, &frame->head);
	if (meta_slice(&image->head.meta, frame->head.c, c, 1) < 0 ||
	    head_set_count(&image->head, 1) < 0)
		return -1;
	fill_overview(frame, c, image->overview);
	if (reading->kept + found->n <= IMAGES_KEPT)
		image_reduce(frame, c, image);
	return 0;
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
	const char *base = strcmp(reading->path, "-") ? path_name(reading->path) : "stdin";

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

static int
is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* An entry's path, a new string, and whether it is a folder or a link to one. */
static char *
entry_path(const char *folder, const struct dirent *entry, bool *is_folder)
{
	char *path = must_format("%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/",
	    entry->d_name);

	*is_folder = path_is_folder(path);
	return path;
}

/* Files of a folder that are no images are named; other folders in it are not. */
static int
skip_others(struct images *images, const char *folder, char *const *list, size_t n)
{
	struct dirent **entry = NULL;
	int entries = scandir(folder, &entry, is_visible, versionsort);

	for (int i = 0; i < entries; i++) {
		bool skip;
		char *path = entry_path(folder, entry[i], &skip);

		for (size_t k = 0; k < n && !skip; k++)
			skip = !strcmp(list[k], path);
		if (!skip)
			images_add_skip(images, path, "no image");
		free(path);
		free(entry[i]);
	}
	free(entry);
	return entries < 0 ? fail_errno(folder, "cannot be listed") : 0;
}

/* A folder without images of its own may have some in its folders: two may be two cameras'. */
static int
fail_empty(const char *folder)
{
	struct dirent **entry = NULL;
	int entries = is_exhausted(fail_message()) ? 0 :
	    scandir(folder, &entry, is_visible, versionsort), n = 0;
	char names[300] = "", both[600] = "";

	for (int i = 0; i < entries; i++) {
		bool is_folder = false;
		char *path = entry_path(folder, entry[i], &is_folder), *word = shell_word(path);

		if (is_folder && strlen(names) + strlen(entry[i]->d_name) + 3 < sizeof(names)) {
			strcat(strcat(names, n++ ? ", " : ""), entry[i]->d_name);
			if (strlen(both) + strlen(word) + 2 < sizeof(both))
				strcat(strcat(both, " "), word);
		}
		free_all(word, path, entry[i]);
	}
	free(entry);
	if (n == 0)
		return -1;
	fail_clear();
	return n == 2 ? fail(folder, "holds no images itself, but two folders: if they are two "
	    "cameras', fringeprobe%s", both) :
	    fail(folder, "holds no images itself, but folders: probe one of %s", names);
}

static int
list_path(struct images *images, const char *path, struct paths *paths)
{
	char **file;
	size_t n;
	int status = 0;

	if (file_list(path, &file, &n) < 0)
		return fail_empty(path);
	if (n != 1 || strcmp(file[0], path))
		status = skip_others(images, path, file, n);
	else if (path_is_folder(path))
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

/* Drops the lines of images after the first IMAGES_KEPT, and all images after IMAGES_READ. */
static void
limit(struct images *images)
{
	for (size_t i = 0; i < images->n; i++)
		for (int axis = 0; axis < 2 && i >= IMAGES_KEPT; axis++) {
			free(images->image[i].near[axis]);
			images->image[i].near[axis] = NULL;
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
		out->sorted = text_order_find(paths.v, paths.n) < paths.n;
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

/* ---- what a single image shows, that is no step of a set ---- */

#define LOOK_LINES 48		/* rows or columns that are looked at, or as many as there are */

/* The lines of a plane along an axis: their number and length; each step-th is looked at. */
struct plane_lines {
	const struct derivative_plane *plane;
	int axis;
	size_t n, length, step;
};

static struct plane_lines
lines_of(const struct derivative_plane *plane, int axis)
{
	size_t n = axis ? plane->w : plane->h;

	return (struct plane_lines){ plane, axis, n, axis ? plane->h : plane->w,
		(n + LOOK_LINES - 1) / LOOK_LINES };
}

static void
take_line(const struct plane_lines *lines, size_t at, float *to)
{
	size_t stride = lines->plane->stride;

	for (size_t i = 0; i < lines->length; i++) {
		float v = lines->plane->v[lines->axis ? i * stride + at : at * stride + i];

		to[i] = isnan(v) ? 0 : v;
	}
}

#define MIN_PEAK_NOISES 8	/* height of a laser line over the rest, in that one's spread */
#define MIN_PEAK_LEVELS 0.1f	/* and in shares of the image's range */
#define MAX_PEAK_SHARE 0.04f	/* of a line of pixels, the width at half the height */

/* Where a line of n samples has its first narrow peak; -1: none, or more than two lasers'. */
static double
find_peak(const float *v, size_t n, float range, float *room)
{
	const size_t rank[] = { n / 6, n / 2, n - 1 - n / 6, n - 1 };
	size_t above = 0, runs = 0;
	float at[4], half;
	double sum = 0, width = 0;

	memcpy(room, v, n * sizeof(*v));
	numbers_ranks(room, n, rank, 4, at);
	half = (at[3] - at[1]) / 2;
	if (!(half > MIN_PEAK_NOISES * (at[2] - at[0]) / 4 && half > MIN_PEAK_LEVELS / 2 * range))
		return -1;
	for (size_t i = 1; i < n; i++) {
		bool on = v[i] > at[1] + half;

		above += on;
		runs += on && !(v[i - 1] > at[1] + half);
		sum += on && runs == 1 ? (double)i : 0;
		width += on && runs == 1;
	}
	return runs > 2 || (float)above > 3 + MAX_PEAK_SHARE * (float)n || width == 0 ? -1 :
	    sum / width;
}

/* The share of lines with one narrow peak that goes on in the next one. */
static double
laser_share(const struct derivative_plane *plane, int axis, float range, float *line, float *room)
{
	struct plane_lines lines = lines_of(plane, axis);
	double before = -1, seen = 0, on = 0;

	for (size_t at = 0; at < lines.n; at += lines.step, seen++) {
		double peak;

		take_line(&lines, at, line);
		peak = find_peak(line, lines.length, range, room);
		on += peak >= 0 && before >= 0 && fabs(peak - before) < 3 + 2 * (double)lines.step;
		before = peak;
	}
	return on / seen;
}

#define MIN_CARRIER 4		/* fringes in a line */
#define MIN_CARRIER_SHARE 0.5	/* of what varies faster than twice in a line, near the carrier */
#define MAX_SKEWNESS 1.5	/* of steps along the lines: more is a sawtooth, a wrapped phase */
#define MIN_CARRIER_ANISOTROPY 3	/* of its power, over that along the other axis */

/* Adds the power of a line's frequencies, 1 to `most` in n samples, under Hann's window, with which
 * v is multiplied; and the mean square and cube of its steps. */
static void
add_power(float *v, size_t n, size_t most, double *power, double steps[2])
{
	double mean = 0;

	for (size_t i = 0; i < n; i++) {
		double step = i ? (double)(v[i] - v[i - 1]) : 0;

		mean += (double)v[i] / (double)n;
		steps[0] += step * step / (double)n;
		steps[1] += step * step * step / (double)n;
	}
	for (size_t i = 0; i < n; i++)
		v[i] = (float)(((double)v[i] - mean) *
		    (1 - cos(2 * M_PI * ((double)i + 0.5) / (double)n)));
	for (size_t k = 1; k <= most; k++) {
		double c = 2 * cos(2 * M_PI * (double)k / (double)n), a = 0, b = 0;

		for (size_t i = 0; i < n; i++) {	/* Goertzel's recurrence */
			double next = (double)v[i] + c * a - b;

			b = a;
			a = next;
		}
		power[k] += (a * a + b * b - c * a * b) / (double)n;
	}
}

/* The power of frequencies from a to b times k. */
static double
band(const double *power, size_t most, double k, double a, double b)
{
	double sum = 0;

	for (size_t i = (size_t)ceil(a * k); i <= most && (double)i <= b * k; i++)
		sum += power[i];
	return sum;
}

/* Do a plane's fringes vary along one axis, with one frequency more or less? */
static bool
has_carrier(const struct derivative_plane *plane, float *line)
{
	size_t longer = plane->w > plane->h ? plane->w : plane->h, most[2], top[2] = { 0 };
	double *power = must_alloc(2 * (longer + 1), sizeof(*power)), carrier, all;
	double *of[2] = { power, power + longer + 1 }, steps[2][2] = { { 0 } };
	bool found = false;

	for (int i = 0; i < 2; i++) {
		struct plane_lines lines = lines_of(plane, i);
		double used = 0;

		most[i] = lines.length / 3;
		for (size_t at = 2 * lines.step; at < lines.n; at += 4 * lines.step, used++) {
			take_line(&lines, at, line);
			add_power(line, lines.length, most[i], of[i], steps[i]);
		}
		used = fmax(used, 1);
		for (size_t k = 1; k <= most[i]; k++)
			of[i][k] /= used;
		for (int k = 0; k < 2; k++)
			steps[i][k] /= used;
		for (size_t k = MIN_CARRIER; k <= most[i]; k++)
			top[i] = !top[i] || of[i][k] > of[i][top[i]] ? k : top[i];
	}
	for (int i = 0; i < 2; i++) {
		double k = (double)top[i], across = k * (double)(i ? plane->w : plane->h) /
		    (double)(i ? plane->h : plane->w);

		carrier = band(of[i], most[i], k, 0.7, 1.42);
		all = band(of[i], most[i], 2, 1, (double)most[i]);
		if (top[i] && carrier > MIN_CARRIER_SHARE * all &&
		    fabs(steps[i][1]) < MAX_SKEWNESS * pow(steps[i][0], 1.5) &&
		    carrier > MIN_CARRIER_ANISOTROPY * band(of[!i], most[!i], across, 0.7, 1.42))
			found = true;
	}
	free(power);
	return found;
}

#define MIN_BOARD_POINTS 20	/* fewer are found in many pictures */

/* The inner corners of a chessboard; false: there is none. -1 after fail(). */
static int
find_board(const struct frame *gray, size_t size[2])
{
	struct board board = { .kind = BOARD_CHESS, .w = 3, .h = 3 };
	struct board_options options = { .sigma_px = (double)NAN };
	struct corners corners;
	char reason[BOARD_REASON];
	size_t w, h;
	int status = board_find(&board, &options, gray, &corners, reason);

	w = corners.seen[0];
	h = corners.seen[1];
	corners_free(&corners);
	if (status != 1 || w * h < MIN_BOARD_POINTS || w < 3 || h < 3)
		return status < 0 ? -1 : 0;
	size[0] = board.w = w > h ? w : h;
	size[1] = board.h = w > h ? h : w;
	status = board_find(&board, &options, gray, &corners, reason);
	w = status == 0 && corners.n == board.w * board.h;
	corners_free(&corners);
	return status < 0 ? -1 : (int)w;
}

static float
plane_range(const struct derivative_plane *plane)
{
	float least = INFINITY, most = -INFINITY;

	for (size_t y = 0; y < plane->h; y++)
		for (size_t x = 0; x < plane->w; x++) {
			least = fminf(least, plane->v[y * plane->stride + x]);
			most = fmaxf(most, plane->v[y * plane->stride + x]);
		}
	return most - least;
}

/* Looks at a picture's channel; NULL: its luma, or the only one. */
static int
look_at(const struct frame *frame, const char *channel, struct image_look *look)
{
	struct frame *gray;
	struct derivative_plane plane;
	float *room, range;
	double share = 0;
	size_t longer;
	int board = 0;

	if (board_picture(frame, channel, &gray) < 0)
		return -1;
	plane = board_plane(gray);
	longer = plane.w > plane.h ? plane.w : plane.h;
	room = must_alloc(2 * longer, sizeof(*room));
	range = plane_range(&plane);
	for (int i = 0; i < 2 && range > 0; i++)
		share = fmax(share, laser_share(&plane, i, range, room, room + longer));
	if (share > look->laser_share) {
		look->laser_share = share;
		look->channel = channel;
	}
	if (!channel && range > 0) {
		board = find_board(gray, look->board);
		look->kind = board > 0 ? LOOK_BOARD : has_carrier(&plane, room) ? LOOK_FRINGES :
		    LOOK_NOTHING;
	}
	free(room);
	frame_free(gray);
	return board < 0 ? -1 : 0;
}

/* ---- all images ---- */

#define MIN_LASER_SHARE 0.3	/* of the lines of pixels, in which a laser line goes on */

struct looking {
	struct image *const *image;
	struct image_look *look;
};

static void
look_item(void *arg, size_t i)
{
	static const char *const colours[] = { "r", "g", "b" };
	const struct looking *looking = arg;
	const struct image *image = looking->image[i];
	struct image_look *look = &looking->look[i];
	struct source *source = image->of_file == 1 ? source_open(image->path) : NULL;
	struct frame *frame;

	if (source && source_next(source, &frame) == 1) {
		int status = look_at(frame, NULL, look);

		if (look->kind == LOOK_FRINGES && image->colour)
			look->kind = LOOK_NOTHING;	/* its planes may be steps */
		for (int c = 0; c < 3 && status == 0 && image->colour; c++)
			status = look_at(frame, colours[c], look);
		if (look->kind == LOOK_NOTHING && look->laser_share > MIN_LASER_SHARE)
			look->kind = LOOK_LASER;
		frame_free(frame);
	}
	source_close(source);
	fail_clear();
}

void
images_look(struct run *run, struct image *const *image, size_t n, struct image_look *look)
{
	struct looking looking = { image, look };

	run_for(run, n, look_item, &looking);
}
