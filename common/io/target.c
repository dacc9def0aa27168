/* Writing frames: formats, numbered names, folders, standard output. */
#include "io/target.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/opt.h"
#include "base/process.h"
#include "base/text.h"
#include "io/file_list.h"
#include "io/nrrd.h"
#include "io/safe_file.h"
#include "io/shared_frames.h"

#define PIPE_SIZE (1024 * 1024)
#define BUFFER_SIZE 65536	/* of a file: stdio's own is 4096, a call of write for each */
#define STANDARD_OUTPUT "standard output"

enum target_kind { TARGET_STREAM, TARGET_FILE, TARGET_NUMBERED, TARGET_FOLDER };

struct target {
	enum target_kind kind;
	char *path;			/* as given; a folder without / at its end */
	struct save_options options;
	const struct codec *codec;	/* TARGET_FOLDER: of the current file */
	struct saver saver;		/* saver.file: a file is open */
	void *codec_options;		/* of the open file's codec */
	char *file_path;		/* of the open file */
	char buffer[BUFFER_SIZE];	/* of the open file */
	struct safe_file *place;	/* where it will be; NULL: it is written there directly */
	bool spooled;			/* the open file has no name: it is copied at the end */
	bool failed;
	size_t frames;
	struct shared_sender *sender;	/* TARGET_STREAM: NULL where frames cannot be shared */
	void *names;			/* TARGET_FOLDER: struct taken_name, as tsearch(3) has it */
};

const char *const jpeg_purposes[] = { "eyes", "fringes", NULL };

/* ---- numbers in names ---- */

/* The length and width of the conversion after a %, if it is d, 4d, 04d and the like. */
static size_t
conversion_length(const char *text, int *width)
{
	size_t digits = strspn(text, "0123456789");

	if (digits > 3 || text[digits] != 'd')
		return 0;
	*width = digits ? atoi(text) : 0;
	return digits + 1;
}

/*
 * The name of file `number`: %d, %4d (both filled with zeros, so that names sort) and %04d become
 * the number, %% a percent sign. A new string; *numbers counts the conversions. NULL after fail().
 */
static char *
numbered_path(const char *path, size_t number, size_t *numbers)
{
	struct text text;
	FILE *file = text_open(&text);

	*numbers = 0;
	for (const char *p = path; *p; p++) {
		int width;
		size_t length;

		if (*p != '%' || p[1] == '%') {
			putc(*p, file);
			p += *p == '%';
			continue;
		}
		length = conversion_length(p + 1, &width);
		if (!length) {
			text_drop(&text);
			fail_usage(path, "only %%d or %%04d can number files; %%%% is a percent "
			    "sign");
			return NULL;
		}
		fprintf(file, "%0*zu", width, number);
		p += length;
		(*numbers)++;
	}
	return text_close(&text, NULL);
}

/* ---- formats ---- */

static const struct codec *
codec_to_save(const char *path)
{
	const struct codec *codec = codec_by_suffix(path);
	char known[256] = "";
	size_t used = 0;

	if (!codec && safe_file_is_special(path))		/* /dev/null, a named pipe */
		codec = codec_by_suffix("a.nrrd");
	if (codec)
		return !codec->check_save || codec->check_save(path) == 0 ? codec : NULL;
	for (size_t i = 0; codecs[i] && used < sizeof(known); i++)
		used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s",
		    used ? " " : "", codecs[i]->suffixes);
	fail_usage(path, "suffix tells no image format; known are %s", known);
	return NULL;
}

/* ---- one file ---- */

/* Opens file_path (owned) for the codec. */
static int
file_begin(struct target *target, char *file_path)
{
	target->file_path = file_path;
	/* Where one cannot seek, only formats that are streams are written directly. */
	target->spooled = !target->codec->concatenates && safe_file_is_special(file_path);
	target->codec_options = codec_options_new(target->codec, &target->options);
	target->saver = (struct saver){ .path = file_path, .options = target->codec_options };
	target->saver.file = target->spooled ? scratch_file_open() :
	    safe_file_open(file_path, &target->place);
	if (target->saver.file) {
		setvbuf(target->saver.file, target->buffer,
		    target->codec->large_writes ? _IONBF : _IOFBF, BUFFER_SIZE);
		return 0;
	}
	if (target->spooled)
		fail_errno(file_path, "temporary file cannot be created in %s", scratch_folder());
	codec_options_free(target->codec, target->codec_options);
	free(target->file_path);
	target->file_path = NULL;
	return -1;
}

/* Copies the nameless file to its destination. */
static int
spooled_copy(FILE *from, const char *path)
{
	char buffer[65536];
	struct safe_file *place;
	FILE *to = safe_file_open(path, &place);
	size_t n;
	int status = 0;

	if (!to)
		return -1;
	rewind(from);
	while (status == 0 && (n = fread(buffer, 1, sizeof(buffer), from)) > 0)
		if (fwrite(buffer, 1, n, to) != n)
			status = fail_errno(path, "cannot be written");
	if (ferror(from))
		status = fail_errno(path, "temporary file cannot be read");
	if (safe_file_close(to, path, place, true) < 0)
		status = -1;
	return status;
}

/* Completes the open file, or removes it. */
static int
file_end(struct target *target, bool keep)
{
	struct saver *saver = &target->saver;
	int status = 0;

	if (!saver->file)
		return 0;
	if (target->codec->save_end && (saver->state || saver->frames))
		status = target->codec->save_end(saver);
	if (saver->frames == 0)
		keep = false;
	if (target->spooled && keep && status == 0)
		status = fflush(saver->file) == 0 ? spooled_copy(saver->file, saver->path) :
		    fail_errno(saver->path, "temporary file in %s cannot be written",
		    scratch_folder());
	if (safe_file_close_one(saver->file, target->file_path, target->place,
	    keep && status == 0) < 0)
		status = -1;
	codec_options_free(target->codec, target->codec_options);
	free(target->file_path);
	target->file_path = NULL;
	target->place = NULL;
	saver->file = NULL;
	return keep ? status : 0;
}

static int
file_put(struct target *target, const struct frame *frame)
{
	struct saver *saver = &target->saver;

	if (saver->frames && !target->codec->many)
		return fail(saver->path, "%s holds one frame, and a second one came; %%04d in the "
		    "name numbers the files, and a .nrrd file holds all", target->codec->name);
	if (target->codec->save(saver, frame) < 0)
		return -1;
	saver->frames++;
	return 0;
}

/* One frame into a file of its own; file_path is owned. */
static int
put_alone(struct target *target, char *file_path, const struct frame *frame)
{
	int status;

	if (!file_path || file_begin(target, file_path) < 0)
		return -1;
	status = file_put(target, frame);
	return file_end(target, status == 0) < 0 ? -1 : status;
}

/* ---- folders ---- */

static int
folder_check(const char *path, bool force)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	bool empty = true;

	if (!dir)
		return fail_errno(path, "folder cannot be opened");
	while ((entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			empty = false;
	closedir(dir);
	if (!empty && !force)
		return fail_usage(path, "folder is not empty; -f writes into it");
	if (access(path, W_OK | X_OK) < 0)
		return fail_errno(path, "cannot be written into");
	return 0;
}

/* The frame's `name` without suffix and path; a new string, NULL if it has none or a bad one. */
static char *
name_given(const struct frame_head *head)
{
	const char *given = meta_get(&head->meta, "name");
	size_t length;

	given = given ? path_name(given) : NULL;
	if (!given || !*given || *given == '.' || strlen(given) >= 200)
		return NULL;
	for (const char *p = given; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)	/* commands to a terminal */
			return NULL;
	length = strlen(given);
	if (codec_by_suffix(given))
		length = (size_t)(strrchr(given, '.') - given);
	return must_format("%.*s", (int)length, given);
}

/* A name that the run has given to a frame. */
struct taken_name {
	size_t number;		/* the first one behind this name that may be free */
	char text[];
};

static int
compare_names(const void *a, const void *b)
{
	return strcmp(((const struct taken_name *)a)->text, ((const struct taken_name *)b)->text);
}

/* The name of this text, which is put into the tree where it has none; NULL after fail(). */
static struct taken_name *
name_enter(void **names, struct taken_name *name)
{
	struct taken_name **found = tsearch(name, names, compare_names);

	if (!found)
		fail_memory();
	return found ? *found : NULL;
}

/* Takes `text`; where it is taken, TEXT-NUMBER with four digits or more, of the first number from
 * `number` on that is free: numbers of one text are searched once, not once for each frame. NULL
 * after fail(). */
static const char *
name_take(void **names, const char *text, size_t number)
{
	const size_t room = strlen(text) + 24;
	struct taken_name *name = must_alloc(1, sizeof(*name) + room), *first, *found;

	strcpy(name->text, text);
	found = first = name_enter(names, name);
	if (found && found != name && first->number < number)
		first->number = number;
	while (found && found != name) {
		snprintf(name->text, room, "%s-%04zu", text, first->number++);
		found = name_enter(names, name);
	}
	if (!found)
		free(name);
	return found ? name->text : NULL;
}

/* The frame's name, or its number, as no frame of this run has it yet. NULL after fail(). */
static const char *
name_choose(struct target *target, const struct frame *frame)
{
	char *given = name_given(&frame->head), number[24];
	const char *name;

	snprintf(number, sizeof(number), "%04zu", target->frames);
	name = name_take(&target->names, given ? given : number, target->frames);
	free(given);
	return name;
}

static bool
fits_png(const struct frame_head *head)
{
	return head->type != SAMPLE_FLOAT && head->c <= 4;
}

static int
folder_put(struct target *target, const struct frame *frame)
{
	bool png = fits_png(&frame->head);
	const char *name = name_choose(target, frame);
	char *file_path;

	if (!name)
		return -1;
	file_path = must_format("%s/%s.%s", target->path, name, png ? "png" : "tif");
	target->codec = codec_to_save(file_path);
	if (!target->codec) {
		free(file_path);
		return -1;
	}
	return put_alone(target, file_path, frame);
}

/* ---- targets ---- */

static int
stream_put(struct target *target, const struct frame *frame)
{
	unsigned long number = target->sender ? shared_sender_put(target->sender, frame) : 0;

	if (fflush(stdout) != 0)
		return fail_errno(STANDARD_OUTPUT, "cannot be written");
	return stream_send(STDOUT_FILENO, STANDARD_OUTPUT, frame, number);
}

/* So that a misspelt folder is an error before the work, not after it. */
static bool
folder_of_is_there(const char *path)
{
	char *final = safe_file_final_path(path), *slash = final ? strrchr(final, '/') : NULL;
	bool there;

	if (slash)
		slash[1] = '\0';
	there = final && access(slash ? final : ".", W_OK | X_OK) == 0;
	free(final);
	return there;
}

/* The name of the first file, or NULL after fail(); *codec is the format of all. */
static char *
files_check(const char *path, const struct codec **codec, size_t *numbers)
{
	char *first = numbered_path(path, 0, numbers);
	bool new;

	if (!first)
		return NULL;
	*codec = codec_to_save(first);
	if (*numbers > 1)
		fail_usage(path, "%zu numbers in the name, where one can be", *numbers);
	else if (*codec && link_owner_check(first, &new) == 0 &&
	    (safe_file_is_special(first) || folder_of_is_there(first)))
		return first;
	else if (*codec)
		fail_errno(path, "cannot be created");
	free(first);
	return NULL;
}

/* Is the folder there that the file or folder will lie in? */
static int
parent_check(const char *path)
{
	char *folder = must_strdup(path), *slash;
	int status = 0;

	for (size_t n = strlen(folder); n > 1 && folder[n - 1] == '/'; n--)
		folder[n - 1] = '\0';
	slash = strrchr(folder, '/');
	if (slash && slash > folder) {
		*slash = '\0';
		if (access(folder, F_OK) < 0)
			status = fail(path, "cannot be created: there is no folder %s (mkdir -p "
			    "makes it)", folder);
	}
	free(folder);
	return status;
}

static bool
names_folder(const char *path)
{
	return path[strlen(path) - 1] == '/' || path_is_folder(path);
}

int
target_check(const char *path, bool force)
{
	const struct codec *codec;
	size_t numbers;
	char *first;

	if (!path || !strcmp(path, "-"))
		return 0;
	if (!*path)
		return fail_usage(NULL, "name of the output is empty");
	if (names_folder(path))
		return access(path, F_OK) == 0 ? folder_check(path, force) : parent_check(path);
	if (!strchr(path, '%') && parent_check(path) < 0)
		return -1;
	first = files_check(path, &codec, &numbers);
	free(first);
	return first ? 0 : -1;
}

static int
target_begin(struct target *target, const char *path, bool force)
{
	size_t length, numbers;
	char *first;
	bool new;

	if (!path || !strcmp(path, "-")) {
		target->kind = TARGET_STREAM;
		(void)fcntl(STDOUT_FILENO, F_SETPIPE_SZ, PIPE_SIZE);
		target->sender = shared_sender_open(STDOUT_FILENO);
		return 0;
	}
	if (!*path)
		return fail_usage(NULL, "name of the output is empty");
	target->path = must_strdup(path);
	if (names_folder(path)) {
		target->kind = TARGET_FOLDER;
		length = strlen(target->path);
		while (length > 1 && target->path[length - 1] == '/')
			target->path[--length] = '\0';
		if (link_owner_check(target->path, &new) < 0)
			return -1;
		if (mkdir(target->path, 0777) == 0)
			return safe_file_put(target->path);
		if (errno != EEXIST)
			return fail_errno(target->path, "folder cannot be created");
		return folder_check(target->path, force);
	}
	first = files_check(target->path, &target->codec, &numbers);
	if (!first)
		return -1;
	target->kind = numbers ? TARGET_NUMBERED : TARGET_FILE;
	if (target->kind == TARGET_FILE)
		return file_begin(target, first);
	free(first);
	return 0;
}

/* Is it an option of any format? */
static bool
is_of_format(const char *name)
{
	for (size_t i = 0; codecs[i]; i++)
		if (opt_row(codecs[i]->options, 0, name))
			return true;
	return false;
}

static bool
takes(const char *path, const char *name)
{
	const struct codec *codec = codec_by_suffix(path);

	return codec && opt_row(codec->options, 0, name);
}

/* Fails where an option of a format is given that `path` does not take; NULL: nothing takes it. */
static int
check_options(const char *path, const char *why, const struct save_options *options)
{
	size_t n = opt_count(options->table);
	bool given[n + 1], folder = path && names_folder(path);

	opt_given(options->table, options->values, given);
	for (size_t i = 0; i < n; i++) {
		const char *name = options->table[i].name;
		char option[80];

		if (!given[i] || !is_of_format(name) || (folder ?
		    takes("a.png", name) || takes("a.tif", name) : path && takes(path, name)))
			continue;
		snprintf(option, sizeof(option), "--%s", name);
		return fail_usage(option, "%s%s", why, folder ? "a folder's PNG and TIFF files" :
		    path ? path : "");
	}
	return 0;
}

int
save_options_set(struct save_options *at, struct save_options options)
{
	if (at->table && check_options(NULL, "stands in an earlier stage, which does not write the "
	    "file: give it to this one", at) < 0)
		return -1;
	*at = options;
	return 0;
}

char *
target_file_name(const char *path, size_t number, const struct frame_head *head)
{
	size_t length = strlen(path), numbers;
	const char *suffix = fits_png(head) ? "png" : "tif";
	char *name, *file;

	if (!*path || !names_folder(path))
		return numbered_path(path, number, &numbers);
	name = name_given(head);
	while (length > 1 && path[length - 1] == '/')
		length--;
	file = name ? must_format("%.*s/%s.%s", (int)length, path, name, suffix) :
	    must_format("%.*s/%04zu.%s", (int)length, path, number, suffix);
	free(name);
	return file;
}

struct target *
target_open(const char *path, bool force, const struct save_options *options)
{
	struct target *target = must_alloc(1, sizeof(*target));

	if (options)
		target->options = *options;
	if ((target->options.table && (!path || !strcmp(path, "-") ?
	    check_options(NULL, "has no effect on a stream: give -o FILE", &target->options) :
	    check_options(path, "has no effect on ", &target->options)) < 0) ||
	    target_begin(target, path, force) < 0) {
		target_close(target, false);
		return NULL;
	}
	return target;
}

int
target_put(struct target *target, const struct frame *frame)
{
	size_t numbers;
	int status;

	if (target->kind == TARGET_STREAM)
		status = stream_put(target, frame);
	else if (target->kind == TARGET_FILE)
		status = file_put(target, frame);
	else if (target->kind == TARGET_NUMBERED)
		status = put_alone(target, numbered_path(target->path, target->frames, &numbers),
		    frame);
	else
		status = folder_put(target, frame);
	target->frames++;
	target->failed |= status < 0;
	return status;
}

bool
target_waits(const struct target *target)
{
	/* what must be checked before a codec can save is a program that it saves through */
	return (target->codec && target->codec->check_save) || target->kind == TARGET_STREAM ||
	    safe_file_syncs() || safe_file_is_special(target->path);
}

void
target_skip(struct target *target, size_t n)
{
	target->frames += n;
}

int
target_close(struct target *target, bool keep)
{
	int status = file_end(target, keep && !target->failed);

	if (target->kind != TARGET_STREAM && safe_file_sync_folder() < 0)
		status = -1;
	if (target->kind == TARGET_STREAM)
		status = safe_file_close(stdout, NULL, NULL, keep) < 0 ||
		    (keep && target->failed) ? -1 : 0;
	shared_sender_close(target->sender);
	tdestroy(target->names, free);
	free(target->path);
	free(target);
	return status;
}
