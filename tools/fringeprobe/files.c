/*
 * The files around the images: the shortest shell words that name them in a command, captures of
 * several scenes in one folder by their names, and calibrations and other files of named numbers
 * next to them, for what images cannot tell.
 */
#include "fringeprobe.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <unistd.h>

#include "base/text.h"
#include "io/file_list.h"
#include "optics/calib.h"
#include "optics/stereo.h"

/* ---- words of a shell ---- */

/* A control character, or one of the two bytes of a C1 control in UTF-8, or alone? */
static bool
is_control(const char *word, const char *c)
{
	unsigned char at = (unsigned char)*c, before = c > word ? (unsigned char)c[-1] : 0;
	unsigned char next = at ? (unsigned char)c[1] : 0;

	if (at == 0xc2)
		return next < 0xa0;
	return at < 0x20 || at == 0x7f || (at >= 0x80 && at < 0xa0 && (before < 0x80 ||
	    before == 0xc2));
}

char *
shell_word(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "0123456789_-+=./:@%,";
	char *text = must_alloc(4 * strlen(word) + 4, 1), *to = text;
	bool control = false;

	for (const char *c = word; *c; c++)
		control |= is_control(word, c);
	if (!control && word[strspn(word, plain)] == '\0' && strcmp(word, ",") && *word)
		return strcpy(text, word);
	to = stpcpy(to, control ? "$'" : "'");
	for (const char *c = word; *c; c++)
		if (is_control(word, c))
			to += sprintf(to, "\\x%02x", (unsigned char)*c);
		else if (control && (*c == '\'' || *c == '\\'))
			to += sprintf(to, "\\%c", *c);
		else if (*c == '\'')
			to = stpcpy(to, "'\\''");
		else
			*to++ = *c;
	strcpy(to, "'");
	return text;
}

/* A path that begins as options do, or is the end of a stage, gets its folder. */
static const char *
path_start(const char *path)
{
	return (*path == '-' && path[1]) || !strcmp(path, ",") ? "./" : "";
}

static void
put_path(FILE *to, const char *path)
{
	char *safe = must_format("%s%s", path_start(path), path), *word = shell_word(safe);

	fprintf(to, " %s", word);
	free(word);
	free(safe);
}

/* ---- files as a folder or as patterns ---- */

#define MIN_PATTERN_FILES 3	/* fewer files are named one by one */

/* A path's parts: the number that tells it from others of its run, and what comes before. */
struct path_parts {
	size_t stem, digits;		/* bytes */
	const char *suffix;
};

static struct path_parts
path_divide(const char *path)
{
	const char *base = path_name(path);
	struct path_parts parts = { .stem = (size_t)(base - path) + names_stem(base) };

	parts.digits = strspn(path + parts.stem, "0123456789");
	parts.suffix = path + parts.stem + parts.digits;
	return parts;
}

/* Puts the folder that n paths are in, if it holds just these images in this order, and returns 1,
 * else 0; -1 after fail(). */
static int
put_folder(FILE *to, char *const *path, size_t n)
{
	const char *slash = strrchr(path[0], '/');
	char *folder, **listed;
	size_t images;
	bool same, hidden;

	if (!slash || slash == path[0])
		return 0;
	folder = must_format("%.*s", (int)(slash - path[0]), path[0]);
	/* files of a folder that may not be listed are named one by one */
	hidden = access(folder, R_OK) < 0 && errno == EACCES;
	if (hidden || file_list_folder(folder, &listed, &images) < 0) {
		free(folder);
		return hidden ? 0 : -1;
	}
	same = images == n;
	for (size_t i = 0; i < images; i++) {
		same = same && !strcmp(listed[i], path[i]);
		free(listed[i]);
	}
	free(listed);
	if (same)
		put_path(to, folder);
	free(folder);
	return same;
}

/* Puts a word with this pattern in the place of a number, if a shell expands it to just these n
 * paths. They differ in digits of one place only, so that every locale sorts them alike. */
static bool
put_pattern(FILE *to, const char *pattern, size_t stem_bytes, char *const *path, size_t n)
{
	const char *suffix = path_divide(path[0]).suffix;
	char *stem = must_format("%.*s", (int)stem_bytes, path[0]);
	const char *part[] = { stem, pattern, suffix };
	char *all = must_alloc(2 * strlen(path[0]) + strlen(pattern) + 1, 1), *end = all;
	glob_t found = { 0 };
	bool same;

	for (int i = 0; i < 3; i++)
		for (const char *c = part[i]; *c; c++) {
			if (i != 1 && strchr("*?[\\", *c))
				*end++ = '\\';
			*end++ = *c;
		}
	same = glob(all, 0, NULL, &found) == 0 && found.gl_pathc == n;
	for (size_t i = 0; i < n && same; i++)
		same = !strcmp(found.gl_pathv[i], path[i]);
	globfree(&found);
	free(all);
	if (same) {
		char *safe = must_format("%s%s", path_start(stem), stem);
		char *before = *safe ? shell_word(safe) : safe;
		char *after = *suffix ? shell_word(suffix) : NULL;

		fprintf(to, " %s%s%s", before, pattern, after ? after : "");
		free_all(after, before == safe ? NULL : before, safe);
	}
	free(stem);
	return same;
}

/* How many of n paths differ from the first in their number only: of as many digits, rising; all
 * but its last digit equal and the last one rising by one, if `range`. */
static size_t
count_run(char *const *path, size_t n, bool range)
{
	struct path_parts first = path_divide(path[0]);
	size_t same = first.stem + (range && first.digits ? first.digits - 1 : 0), run = 1;

	for (; first.digits && run < n; run++) {
		struct path_parts next = path_divide(path[run]);
		const char *before = path[run - 1], *at = path[run];

		if (next.stem != first.stem || next.digits != first.digits ||
		    strcmp(next.suffix, first.suffix) || strncmp(at, before, same) ||
		    strncmp(at + same, before + same, first.stem + first.digits - same) <= 0 ||
		    (range && at[same] != before[same] + 1))
			break;
	}
	return run;
}

/* Puts the first of n paths, with as many more as one word gives; returns how many. */
static size_t
put_some(FILE *to, char *const *path, size_t n)
{
	struct path_parts parts = path_divide(path[0]);
	size_t run = count_run(path, n, false);
	char *marks = must_alloc(parts.digits + 1, 1), range[] = "[0-0]";
	bool put;

	memset(marks, '?', parts.digits);
	put = run >= MIN_PATTERN_FILES && (put_pattern(to, "*", parts.stem, path, run) ||
	    put_pattern(to, marks, parts.stem, path, run));
	free(marks);
	if (put)
		return run;
	run = count_run(path, n, true);
	if (run >= MIN_PATTERN_FILES) {
		range[1] = parts.suffix[-1];
		range[3] = path_divide(path[run - 1]).suffix[-1];
		if (put_pattern(to, range, parts.stem + parts.digits - 1, path, run))
			return run;
	}
	put_path(to, path[0]);
	return 1;
}

int
files_put(FILE *to, char *const *path, size_t n)
{
	int put = n >= MIN_PATTERN_FILES ? put_folder(to, path, n) : 0;

	for (size_t i = 0; i < n && put == 0;)
		i += put_some(to, path + i, n - i);
	return put < 0 ? -1 : 0;
}

/* ---- several captures in one folder, by their names ---- */

#define MIN_CAPTURE_IMAGES 3
#define MAX_NAME_TOKENS 24

/* Where the runs of letters, of digits and of others begin in a name's first n bytes. */
static size_t
divide_name(const char *name, size_t n, size_t start[MAX_NAME_TOKENS + 1])
{
	size_t tokens = 0;

	for (size_t i = 0; i < n && tokens < MAX_NAME_TOKENS; tokens++) {
		int kind = isalpha((unsigned char)name[i]) ? 2 : !!isdigit((unsigned char)name[i]);

		start[tokens] = i;
		while (i < n && kind == (isalpha((unsigned char)name[i]) ? 2 :
		    !!isdigit((unsigned char)name[i])))
			i++;
	}
	start[tokens] = n;
	return tokens;
}

/*
 * The key of a capture, and the rest, which is alike in all captures: the first tokens of the name
 * up to token k (kind 0), those from the k-th last one on (1), or token k alone (2). False: none.
 */
static bool
split_name(const char *name, int kind, size_t k, char **key, char **rest)
{
	const char *dot = strrchr(name, '.');
	size_t n = dot ? (size_t)(dot - name) : strlen(name), start[MAX_NAME_TOKENS + 1];
	size_t tokens = divide_name(name, n, start), from, to;

	if (k + 1 >= tokens + (kind == 2))
		return false;
	from = kind == 0 ? 0 : start[kind == 1 ? tokens - 1 - k : k];
	to = kind == 1 ? n : start[k + 1];
	if (!isalnum((unsigned char)name[kind == 1 ? from : to - 1]))
		return false;
	*key = must_format("%.*s", (int)(to - from), name + from);
	*rest = must_format("%.*s/%s", (int)from, name, name + to);
	return true;
}

bool
files_split(char *const *name, size_t n, int way, struct files_split *split)
{
	char **key = must_alloc(n, sizeof(*key)), **rest = must_alloc(n, sizeof(*rest));
	size_t *first = must_alloc(n, sizeof(*first)), *count = must_alloc(n, sizeof(*count));
	bool fits = true;

	*split = (struct files_split){ .group = must_alloc(n, sizeof(*split->group)) };
	for (size_t i = 0; i < n && fits; i++) {
		size_t g = 0;

		fits = split_name(name[i], way % 3, (size_t)way / 3, &key[i], &rest[i]);
		while (fits && g < split->groups && strcmp(key[first[g]], key[i]))
			g++;
		if (!fits)
			break;
		split->group[i] = g;
		if (g == split->groups)
			first[split->groups++] = i;
		count[g]++;
	}
	fits = fits && split->groups > 1 && count[0] >= MIN_CAPTURE_IMAGES;
	for (size_t g = 1; g < split->groups && fits; g++) {
		fits = count[g] == count[0];
		for (size_t i = 0, k = 0; i < n && fits; i++) {
			if (split->group[i] != g)
				continue;
			while (split->group[k] != 0)	/* its place in the first capture */
				k++;
			fits = !strcmp(rest[i], rest[k++]);
		}
	}
	split->key = fits ? must_alloc(split->groups, sizeof(*split->key)) : NULL;
	for (size_t g = 0; g < split->groups && fits; g++)
		split->key[g] = must_strdup(key[first[g]]);
	for (size_t i = 0; i < n; i++) {
		free(key[i]);
		free(rest[i]);
	}
	free_all(key, rest, first, count);
	if (!fits)
		files_split_free(split);
	return fits;
}

void
files_split_free(struct files_split *split)
{
	for (size_t g = 0; g < split->groups && split->key; g++)
		free(split->key[g]);
	free(split->key);
	free(split->group);
	*split = (struct files_split){ 0 };
}

/* ---- calibrations and other files of named numbers ---- */

/* Names, in small letters and digits alone, at whose end an entry's name is looked for. */
static const char *const period_names[] = { "fringeperiodprojectorpx", "fringeperiodpx",
	"fringeperiod", "periodpx", "fringepitchpx", "fringepitch", NULL };
static const char *const size_names[] = { "projectorsize", "projectorpx", "projectorresolution",
	"projsize", "sprojector", NULL };
static const char *const side_names[2][4] = { { "projectorwidth", "projwidth", "projectorw", NULL },
	{ "projectorheight", "projheight", "projectorh", NULL } };

/* The n positive numbers of an entry of such a name; NULL: there is none. */
static const double *
find_numbers(const struct number_file *file, const char *const *names, size_t n)
{
	for (size_t i = 0; i < file->entries; i++) {
		const struct number_file_entry *entry = &file->entry[i];
		char plain[NUMBER_FILE_NAME_SIZE], *to = plain;
		const double *v = file->v + entry->first;
		bool numbers = entry->n == n;

		for (const char *c = entry->name; *c && strcmp(c, ".data"); c++)
			if (isalnum((unsigned char)*c))
				*to++ = (char)tolower((unsigned char)*c);
		*to = '\0';
		for (size_t k = 0; k < n && numbers; k++)
			numbers = v[k] > 0 && isfinite(v[k]);
		for (const char *const *name = names; *name && numbers; name++) {
			size_t length = strlen(*name), whole = (size_t)(to - plain);

			if (whole >= length && !strcmp(to - length, *name))
				return v;
		}
	}
	return NULL;
}

/* Sets a number that a file says, unless another file says another one: then none is known. */
static void
take_number(struct beside_number *number, const double *v, const char *path)
{
	if (!v || number->differs)
		return;
	number->differs = number->path && number->v != *v;
	number->v = number->differs ? (double)NAN : *v;
	free(number->path);
	number->path = must_strdup(path);
}

/* Takes the file as the calibration if it is one, of images of this size. */
static void
take_calibration(struct probe *probe, const char *path, const struct number_file *file)
{
	const struct frame_head *head = &probe->image[0]->head;
	struct beside *beside = &probe->beside;
	double size[2] = { 0 }, crop[2];
	bool cut = calib_has(file, "crop_x0_y0"), pair = probe->side != SIDE_NONE;
	struct calib calib;
	struct stereo stereo;
	char **to = pair ? &beside->pair : &beside->calib;
	const char *no = NULL;

	if (pair) {
		if (stereo_load(path, &stereo) < 0)
			return;
		size[0] = stereo.camera[probe->side == SIDE_RIGHT].w;
		size[1] = stereo.camera[probe->side == SIDE_RIGHT].h;
	} else {
		if (calib_load(path, &calib) < 0)
			return;
		if (calib.two_cameras)
			no = "calibration of two cameras: probe the folders of both";
		size[0] = calib.camera.w;
		size[1] = calib.camera.h;
	}
	if (cut && calib_get_pair(path, file, "image_size", "a size, w h", crop) == 0 &&
	    crop[0] > 0)
		memcpy(size, crop, sizeof(size));
	/* a width of 0: the file does not say it */
	if (!no && size[0] > 0 &&
	    (size[0] != (double)head->w || size[1] != (double)head->h)) {
		char *text = must_format("calibration of images of %g x %g, these have %zu x %zu",
		    size[0], size[1], head->w, head->h);

		images_add_skip(&probe->images, path, text);
		free(text);
	} else if (no || *to) {
		images_add_skip(&probe->images, path, no ? no : "a second calibration that fits");
		beside->ambiguous |= !no;
	} else {
		*to = must_strdup(path);
	}
}

/* What a file says. Files that hold no named numbers stay what they were: no images. */
static void
read_beside(struct probe *probe, const char *path)
{
	struct beside *beside = &probe->beside;
	struct number_file file;
	const double *size;

	if (number_file_load(path, &file) < 0) {
		fail_clear();
		return;
	}
	images_drop_skip(&probe->images, path);
	take_number(&beside->period, find_numbers(&file, period_names, 1), path);
	size = find_numbers(&file, size_names, 2);
	for (int axis = 0; axis < 2; axis++)
		take_number(&beside->projector[axis], size ? &size[axis] :
		    find_numbers(&file, side_names[axis], 1), path);
	take_calibration(probe, path, &file);
	fail_clear();
	number_file_free(&file);
}

static int
is_number_file(const struct dirent *entry)
{
	static const char *const suffixes[] = { ".json", ".yml", ".yaml", ".xml", NULL };
	const char *dot = strrchr(entry->d_name, '.');

	for (const char *const *suffix = suffixes; *suffix && dot; suffix++)
		if (!strcasecmp(dot, *suffix))
			return *entry->d_name != '.';
	return 0;
}

void
beside_read(struct probe *probe)
{
	const char *path = probe->image[0]->path, *slash = strrchr(path, '/');
	char *folder = slash ? must_format("%.*s", (int)(slash - path + 1), path) : must_strdup("");

	/* of two cameras also the folder that holds both of theirs */
	for (int up = 0; up < (probe->side == SIDE_NONE ? 1 : 2) && strcmp(path, "-"); up++) {
		struct dirent **entry = NULL;
		char *above;
		int n = scandir(*folder ? folder : ".", &entry, is_number_file, versionsort);

		for (int i = 0; i < n; i++) {
			char *file = must_format("%s%s", folder, entry[i]->d_name);

			read_beside(probe, file);
			free(file);
			free(entry[i]);
		}
		free(entry);
		above = folder + strlen(folder);	/* its slash, and the name before it */
		for (above -= above > folder; above > folder && above[-1] != '/'; above--)
			;
		*above = '\0';
	}
	free(folder);
}
