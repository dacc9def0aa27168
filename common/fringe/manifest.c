/* Manifests: parsing, reading and writing of their rows. */
#include "fringe/manifest.h"

#include <errno.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/process.h"
#include "base/text.h"
#include "io/safe_file.h"
#include "io/source.h"
#include "io/target.h"
#include "run/run.h"

const char *const manifest_roles[] = {
	"phase", "sin", "cos", "flat", "gray", "gray_inverse", "white", "black", "marker", NULL
};
const char *const manifest_cells[] = { "column", "period", "half", NULL };

enum column {
	COLUMN_FILE, COLUMN_ROLE, COLUMN_AXIS, COLUMN_PERIOD, COLUMN_STEP, COLUMN_SHIFT, COLUMN_BIT,
	COLUMN_CELL, COLUMN_MARKER, COLUMN_MARKER_WIDTH, COLUMN_FRAME, COLUMN_PLANE, COLUMN_CHECK,
	COLUMNS
};

static const char *const columns[] = {
	"file", "role", "axis", "period_px", "step", "shift_rad", "bit", "gray_cell",
	"marker_px", "marker_width_px", "frame", "plane", "check", NULL
};

#define SIZE_KEY "projector_px:="
#define UNKNOWN COLUMNS		/* a column that the reader skips */
#define MAX_FIELDS 64

/* ---- one row from words ---- */

static int
take_number(const char *where, enum column column, const char *word, double *out)
{
	bool length = column == COLUMN_PERIOD || column == COLUMN_MARKER_WIDTH;

	if (number_parse(word, out) < 0 || !isfinite(*out))
		return fail(where, "%s is not a number: %.60s", columns[column], word);
	if (length && !(*out > 0))
		return fail(where, "%s is not above 0: %.60s", columns[column], word);
	if (column == COLUMN_MARKER && *out < 0)
		return fail(where, "marker_px is below 0: %.60s", word);
	return 0;
}

static int
take_whole(const char *where, enum column column, const char *word, long *out)
{
	if (integer_parse(word, out) < 0 || *out < 0 || *out > 1000000)
		return fail(where, "%s is no whole number from 0 on: %.60s", columns[column], word);
	return 0;
}

/* Sets one field other than the file; messages begin with `where`. */
static int
take_field(const char *where, enum column column, const char *word, struct manifest_row *row)
{
	int role = word_find(manifest_roles, word), cell = word_find(manifest_cells, word);

	if (!strcmp(word, "-"))
		return 0;
	switch (column) {
	case COLUMN_ROLE:
		row->role = (enum manifest_role)role;
		return role >= 0 ? 0 : fail(where, "role is not known: %.60s", word);
	case COLUMN_AXIS:
		row->axis = *word;
		return !strcmp(word, "x") || !strcmp(word, "y") ? 0 :
		    fail(where, "axis is neither x nor y: %.60s", word);
	case COLUMN_PERIOD:
		return take_number(where, column, word, &row->period_px);
	case COLUMN_STEP:
		return take_whole(where, column, word, &row->step);
	case COLUMN_SHIFT:
		return take_number(where, column, word, &row->shift_rad);
	case COLUMN_BIT:
		return take_whole(where, column, word, &row->bit);
	case COLUMN_CELL:
		row->gray_cell = (enum manifest_cell)cell;
		return cell >= 0 ? 0 : fail(where, "gray_cell is not known: %.60s", word);
	case COLUMN_MARKER:
		return take_number(where, column, word, &row->marker_px);
	case COLUMN_MARKER_WIDTH:
		return take_number(where, column, word, &row->marker_width_px);
	case COLUMN_FRAME:
		return take_whole(where, column, word, &row->frame);
	case COLUMN_CHECK:
		row->checked = true;
		row->rejected = !strcmp(word, "rejected");
		return row->rejected || !strcmp(word, "ok") ? 0 :
		    fail(where, "check is neither ok nor rejected: %.60s", word);
	case COLUMN_PLANE:
		snprintf(row->plane, sizeof(row->plane), "%s", word);
		return 0;
	default:
		return 0;
	}
}

const struct manifest_row manifest_empty_row = {
	.period_px = NAN, .step = MANIFEST_NO_STEP, .shift_rad = NAN, .bit = MANIFEST_NO_BIT,
	.gray_cell = CELL_NONE, .marker_px = NAN, .marker_width_px = NAN
};

/* Owns row->file from here on. */
static void
append(struct manifest *manifest, const struct manifest_row *row)
{
	manifest->row = must_resize(manifest->row, manifest->n + 1, sizeof(*manifest->row));
	manifest->row[manifest->n++] = *row;
}

void
manifest_free(struct manifest *manifest)
{
	for (size_t i = 0; i < manifest->n; i++)
		free(manifest->row[i].file);
	free(manifest->row);
	*manifest = (struct manifest){ 0 };
}

/* ---- reading ---- */

struct manifest_reader {
	const char *path;
	size_t line;
	enum column column[MAX_FIELDS];	/* of each word of a row, from the legend */
	size_t fields;				/* 0: no legend yet */
};

/* "PATH line N" for messages. */
static const char *
place(const struct manifest_reader *reader, char text[512])
{
	snprintf(text, 512, "%.400s line %zu", reader->path, reader->line);
	return text;
}

/* Splits a line at blanks, in place; returns the number of words, MAX_FIELDS + 1 for more. */
static size_t
divide(char *line, char *word[MAX_FIELDS])
{
	size_t n = 0;

	for (char *p = line; (p = strtok_r(n ? NULL : p, " \t\r\n", &line)); n++) {
		if (n == MAX_FIELDS)
			return n + 1;
		word[n] = p;
	}
	return n;
}

static int
take_legend(struct manifest_reader *reader, char *line)
{
	char *word[MAX_FIELDS], where[512];
	size_t n = divide(line, word), seen[COLUMNS + 1] = { 0 };

	if (n == 0 || n > MAX_FIELDS)
		return fail(place(reader, where), "legend has %s columns", n ? "too many" : "no");
	for (size_t i = 0; i < n; i++) {
		const int column = word_find(columns, word[i]);

		reader->column[i] = column < 0 ? UNKNOWN : (enum column)column;
		if (seen[reader->column[i]]++ && reader->column[i] != UNKNOWN)
			return fail(place(reader, where), "column %s stands there twice", word[i]);
	}
	for (size_t k = COLUMN_FILE; k <= COLUMN_ROLE; k++)
		if (!seen[k])
			return fail(place(reader, where), "legend has no column %s", columns[k]);
	reader->fields = n;
	return 0;
}

/* A file of the manifest as a path from the current folder, a new string. */
static char *
resolve(const char *manifest, const char *file)
{
	const char *slash = strrchr(manifest, '/');

	if (*file == '/' || !slash)
		return must_strdup(file);
	return must_format("%.*s%s", (int)(slash - manifest + 1), manifest, file);
}

static int
take_row(struct manifest_reader *reader, char *line, struct manifest *out)
{
	char *word[MAX_FIELDS], where[512];
	struct manifest_row row = manifest_empty_row;
	const char *file = NULL;
	size_t n = divide(line, word);

	place(reader, where);
	if (n != reader->fields)
		return fail(where, "has %zu words, the legend %zu (file names cannot hold blanks)",
		    n, reader->fields);
	for (size_t i = 0; i < n; i++) {
		enum column column = reader->column[i];

		if (column == COLUMN_FILE)
			file = word[i];
		if (column <= COLUMN_ROLE && !strcmp(word[i], "-"))
			return fail(where, "%s is null", columns[column]);
		if (take_field(where, column, word[i], &row) < 0)
			return -1;
	}
	row.file = resolve(reader->path, file);
	append(out, &row);
	return 0;
}

/* A comment that says how large the patterns are; any other is passed over. */
static int
take_comment(struct manifest_reader *reader, const char *line, size_t px[2])
{
	char where[512];
	int end = 0;

	line += strspn(line, "# \t");
	if (strncmp(line, SIZE_KEY, sizeof(SIZE_KEY) - 1))
		return 0;
	line += sizeof(SIZE_KEY) - 1;
	return sscanf(line, "%5zu %5zu %n", &px[0], &px[1], &end) == 2 && !line[end] &&
	    px[0] - 1 < 65535 && px[1] - 1 < 65535 ? 0 : fail(place(reader, where),
	    "projector_px: expected width and height, found %.*s", (int)strlen(line) - 1, line);
}

static int
take_line(struct manifest_reader *reader, char *line, size_t length, struct manifest *out)
{
	char where[512];

	if (strlen(line) != length)
		return fail(place(reader, where), "is not text");
	line += strspn(line, " \t\r\n");
	if (!*line)
		return 0;
	if (*line != '#')
		return reader->fields ? take_row(reader, line, out) :
		    fail(place(reader, where), "stands before the legend '# file role ...'");
	if (reader->fields || line[1] == '!')
		return 0;
	return line[1] == '#' ? take_comment(reader, line, out->projector_px) :
	    take_legend(reader, line + 1);
}

int
manifest_read(FILE *file, const char *path, struct manifest *out)
{
	struct manifest_reader reader = { .path = path };
	char *line = NULL;
	size_t size = 0;
	ssize_t length;
	int status = 0;

	*out = (struct manifest){ 0 };
	while (status == 0 && (errno = 0, length = getline(&line, &size, file)) >= 0) {
		reader.line++;
		status = take_line(&reader, line, (size_t)length, out);
	}
	if (status == 0 && ferror(file))
		status = fail_errno(path, "cannot be read");
	if (status == 0 && out->n == 0)
		status = fail(path, "manifest names no image");
	free(line);
	if (status < 0)
		manifest_free(out);
	return status;
}

int
manifest_load(const char *path, struct manifest *out)
{
	FILE *file;
	int status;

	if (!strcmp(path, "-"))
		return manifest_read(stdin, "standard input", out);
	*out = (struct manifest){ 0 };
	file = fopen(path, "rb");
	if (!file)
		return fail_errno(path, "manifest cannot be opened");
	status = manifest_read(file, path, out);
	fclose(file);
	return status;
}

int
manifest_check_rejected(const struct manifest *manifest, const char *path, bool keep_going)
{
	const char *first = NULL;
	size_t n = 0;

	for (size_t i = 0; i < manifest->n; i++)
		if (manifest->row[i].rejected && n++ == 0)
			first = manifest->row[i].file;
	if (n == 0)
		return 0;
	if (!keep_going)
		return fail(path, "%zu of %zu images are rejected, as %s: they hold light of "
		    "another pattern; shoot them again (--keep-going: use them)", n, manifest->n,
		    first);
	warn(path, "%zu of %zu images are rejected, as %s, and used all the same", n, manifest->n,
	    first);
	return 0;
}

/* ---- writing ---- */

int
manifest_row_from_meta(const struct meta *meta, const char *file, struct manifest_row *out)
{
	*out = manifest_empty_row;
	if (!meta_get(meta, "role"))
		return fail(file, "image has no key role");
	for (size_t k = COLUMN_ROLE; k < COLUMN_FRAME; k++) {
		const char *value = meta_get(meta, columns[k]);

		if (value && take_field(file, (enum column)k, value, out) < 0)
			return -1;
	}
	out->file = must_strdup(file);
	return 0;
}

void
manifest_set_number(struct meta *meta, const char *key, double v)
{
	if (isnan(v))
		meta_set(meta, key, "-");
	else
		meta_set_number(meta, key, v);
}

void
manifest_row_to_meta(const struct manifest_row *row, struct meta *meta)
{
	meta_set(meta, "role", manifest_roles[row->role]);
	meta_setf(meta, "axis", "%c", row->axis ? row->axis : '-');
	manifest_set_number(meta, "period_px", row->period_px);
	manifest_set_number(meta, "step", row->step < 0 ? NAN : (double)row->step);
	manifest_set_number(meta, "shift_rad", row->shift_rad);
	manifest_set_number(meta, "bit", row->bit < 0 ? NAN : (double)row->bit);
}

int
manifest_add(struct manifest *manifest, const struct frame_head *head, const char *output,
    size_t number)
{
	char *file = target_file_name(output, number, head);
	struct manifest_row row;
	int status;

	if (!file)
		return -1;
	status = manifest_row_from_meta(&head->meta, file, &row);
	free(file);
	if (status == 0)
		append(manifest, &row);
	return status;
}

/* The folder of path without links, a new string; NULL after fail(). */
static char *
real_folder(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash ? must_format("%.*s", (int)(slash - path + 1), path) :
	    must_strdup(".");
	char *real = realpath(folder, NULL);

	if (!real)
		fail_errno(folder, "folder cannot be found");
	free(folder);
	return real;
}

/* The relative path from one real folder to another, ending in / or empty; a new string. */
static char *
relative_folder(const char *from, const char *to)
{
	size_t same = 0, ups = 0;
	char *text, *end;

	for (size_t i = 0;; i++) {
		bool from_ends = !from[i] || from[i] == '/', to_ends = !to[i] || to[i] == '/';

		if (from_ends && to_ends)
			same = i;
		if (!from[i] || from[i] != to[i])
			break;
	}
	from += same;
	to += same;
	for (const char *p = from; *p; p++)
		ups += *p == '/' && p[1];
	text = end = must_alloc(3 * ups + strlen(to) + 2, 1);
	for (; ups; ups--)
		end = stpcpy(end, "../");
	to += *to == '/';
	sprintf(end, "%s%s", to, *to ? "/" : "");
	return text;
}

/* The name of a row's file relative to the folder of the manifest; a new string or NULL after
 * fail(). */
static char *
relative_file(const char *folder, const char *file)
{
	char *own, *there, *text;

	if (*file == '/')
		return must_strdup(file);
	own = real_folder(file);
	if (!own)
		return NULL;
	there = relative_folder(folder, own);
	text = must_format("%s%s", there, path_name(file));
	free(own);
	free(there);
	return text;
}

static void
put_number(FILE *file, double v)
{
	char text[32];

	fprintf(file, " %s", isnan(v) ? "-" : number_format(v, text));
}

static void
put_whole(FILE *file, long v)
{
	if (v < 0)
		fputs(" -", file);
	else
		fprintf(file, " %ld", v);
}

static int
put_row(FILE *file, const char *folder, const struct manifest_row *row,
    const bool written[COLUMNS])
{
	char *name = relative_file(folder, row->file);

	if (!name)
		return -1;
	if (!*name || strpbrk(name, " \t\r\n") || *name == '#' || !strcmp(name, "-")) {
		free(name);
		return fail(row->file, "name cannot stand in a manifest (blanks, # in front)");
	}
	fprintf(file, "%s %s %c", name, manifest_roles[row->role], row->axis ? row->axis : '-');
	free(name);
	put_number(file, row->period_px);
	put_whole(file, row->step);
	put_number(file, row->shift_rad);
	put_whole(file, row->bit);
	if (written[COLUMN_CELL])
		fprintf(file, " %s", row->gray_cell < 0 ? "-" : manifest_cells[row->gray_cell]);
	if (written[COLUMN_MARKER]) {
		put_number(file, row->marker_px);
		put_number(file, row->marker_width_px);
	}
	if (written[COLUMN_FRAME])
		fprintf(file, " %ld %s", row->frame, row->plane);
	if (written[COLUMN_CHECK])
		fprintf(file, " %s", !row->checked ? "-" : row->rejected ? "rejected" : "ok");
	putc('\n', file);
	return 0;
}

/* The columns that a manifest needs: all but those of Gray code, markers, packed patterns and
 * checks where there are none. */
static void
find_columns(const struct manifest *manifest, bool written[COLUMNS])
{
	for (size_t k = 0; k < COLUMNS; k++)
		written[k] = k < COLUMN_CELL;
	for (size_t i = 0; i < manifest->n; i++) {
		written[COLUMN_CELL] |= manifest->row[i].gray_cell >= 0;
		written[COLUMN_MARKER] |= manifest->row[i].role == ROLE_MARKER;
		written[COLUMN_FRAME] |= *manifest->row[i].plane != '\0';
		written[COLUMN_CHECK] |= manifest->row[i].checked;
	}
	written[COLUMN_PLANE] = written[COLUMN_FRAME];
	written[COLUMN_MARKER_WIDTH] = written[COLUMN_MARKER];
}

int
manifest_write(const char *path, const struct manifest *manifest)
{
	struct safe_file *temporary;
	char *folder = real_folder(!strcmp(path, "-") ? "." : path);
	FILE *file = folder ? safe_file_open(path, &temporary) : NULL;
	bool written[COLUMNS];
	int status = 0;

	if (!file) {
		free(folder);
		return -1;
	}
	find_columns(manifest, written);
	if (manifest->projector_px[0])
		fprintf(file, "## " SIZE_KEY "%zu %zu\n", manifest->projector_px[0],
		    manifest->projector_px[1]);
	fprintf(file, "#");
	for (size_t k = 0; k < COLUMNS; k++)
		if (written[k])
			fprintf(file, " %s", columns[k]);
	putc('\n', file);
	for (size_t i = 0; i < manifest->n && status == 0; i++)
		status = put_row(file, folder, &manifest->row[i], written);
	if (safe_file_close(file, path, temporary, status == 0) < 0)
		status = -1;
	free(folder);
	return status;
}

/* Are two images described alike, whatever their files? */
static bool
same_description(const struct manifest_row *a, const struct manifest_row *b)
{
	return a->role == b->role && a->axis == b->axis && a->step == b->step &&
	    a->bit == b->bit && a->gray_cell == b->gray_cell &&
	    numbers_same(a->period_px, b->period_px) && numbers_same(a->shift_rad, b->shift_rad);
}

/* Are the first n rows all different? Rows that do not say their step are not. */
static bool
are_different(const struct manifest *manifest, size_t n)
{
	for (size_t i = 1; i < n; i++)
		for (size_t k = 0; k < i; k++)
			if (same_description(&manifest->row[i], &manifest->row[k]))
				return false;
	return true;
}

#define MIN_IMAGES 2	/* of a measurement */

size_t
manifest_measurement(const struct manifest *manifest)
{
	for (size_t n = MIN_IMAGES; n < manifest->n; n++) {
		size_t i = n;

		while (manifest->n % n == 0 && i < manifest->n &&
		    same_description(&manifest->row[i], &manifest->row[i % n]))
			i++;
		if (i == manifest->n && are_different(manifest, n))
			return n;
	}
	return manifest->n;
}

/* Is a picture one row, or one column, over and over, as patterns of a projector are and captures
 * are not? */
static bool
is_ruled(const struct frame *frame)
{
	size_t w = frame->head.w, h = frame->head.h, along_x = 0, along_y = 0;

	for (size_t y = 0; y < h; y++)
		for (size_t x = 0; x < w; x++) {
			float v = frame_sample(frame, 0, y, x);

			along_x += v != frame_sample(frame, 0, y, 0);
			along_y += v != frame_sample(frame, 0, 0, x);
		}
	return (along_x == 0) != (along_y == 0);
}

enum pictures { PICTURES_CAPTURED, PICTURES_LIKE_PATTERNS, PICTURES_PATTERNS };

/* What the manifest's first image is. Patterns: fringegen alone wrote it (fringesim photographs
 * such patterns). Like patterns: a file without keys that looks so. */
static enum pictures
look_at_pictures(const struct manifest *manifest)
{
	const char *path = manifest->row[0].file, *writer, *next;
	enum pictures pictures = PICTURES_CAPTURED;
	struct frame *frame;
	struct stat st;

	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))	/* a pipe can be read once */
		return pictures;
	if (source_load(path, &frame) < 0) {
		fail_clear();		/* the run fails where it reads the file */
		return pictures;
	}
	writer = meta_get(&frame->head.meta, "cmd.1");
	next = meta_get(&frame->head.meta, "cmd.2");
	if (writer && !strncmp(writer, "fringegen", 9) && !next)
		pictures = PICTURES_PATTERNS;
	else if (!writer && is_ruled(frame))
		pictures = PICTURES_LIKE_PATTERNS;
	frame_free(frame);
	return pictures;
}

static bool
standard_input_has_data(void)
{
	struct stat st;

	return fstat(STDIN_FILENO, &st) == 0 &&
	    (S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

int
manifest_operands(const struct manifest *manifest, const char *path, struct run *run, char ***file)
{
	enum pictures pictures = PICTURES_PATTERNS;

	for (size_t i = 0; i < run->operands; i++)
		if (!strcmp(path, "-") && !strcmp(run->operand[i], "-"))
			return fail_usage("--manifest", "and the images both want standard input");
	if (run->position > 0 || run->operands > 0)
		return 0;
	if (!*manifest->row->plane)
		pictures = look_at_pictures(manifest);
	if (pictures == PICTURES_LIKE_PATTERNS && strcmp(path, "-") && standard_input_has_data())
		warn(path, "its images look like the projected patterns, and are read; captures on "
		    "standard input want the operand -");
	if (pictures == PICTURES_PATTERNS) {
		if (strcmp(path, "-") && standard_input_has_data())
			return 0;
		if (*manifest->row->plane)
			return fail(path, "its images are packed patterns, not captures: name the "
			    "captures, or pipe them in");
		warn(path, "its images are the projected patterns, not captures: name the "
		    "captures, or pipe them in");
	}
	/* each once where it stands several times in a row: a file of several images */
	*file = must_alloc(manifest->n + 1, sizeof(**file));
	for (size_t i = 0; i < manifest->n; i++)
		if (i == 0 || strcmp(manifest->row[i].file, manifest->row[i - 1].file))
			(*file)[run->operands++] = manifest->row[i].file;
	run->operand = *file;
	return 0;
}
