/*
 * The header of a NRRD, of the subset of frame.5 and of what other programs write.
 * Format: Teem's "Definition of NRRD File Format", https://teem.sourceforge.net/nrrd/format.html
 */
#define _GNU_SOURCE
#include "io/nrrd_header.h"

#include <ctype.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "frame/keyline.h"
#include "io/nrrd_stream.h"

#define UNCHECKED_BYTES ((size_t)1 << 20)
#define DEFLATE_RATIO_MAX 1032	/* no deflate stream grows by more */

enum field {
	FIELD_TYPE, FIELD_DIMENSION, FIELD_SIZES, FIELD_ENDIAN, FIELD_ENCODING, FIELD_KINDS,
	FIELD_SPACINGS, FIELD_UNITS, FIELD_DIRECTIONS, FIELD_SPACE_UNITS, FIELD_DATA_FILE,
	FIELD_BYTE_SKIP, FIELD_LINE_SKIP, FIELD_IGNORED, FIELDS
};

static const struct {
	const char *name;
	enum field field;
} fields[] = {
	{ "type", FIELD_TYPE }, { "dimension", FIELD_DIMENSION }, { "sizes", FIELD_SIZES },
	{ "endian", FIELD_ENDIAN }, { "encoding", FIELD_ENCODING }, { "kinds", FIELD_KINDS },
	{ "spacings", FIELD_SPACINGS }, { "units", FIELD_UNITS },
	{ "space directions", FIELD_DIRECTIONS }, { "space units", FIELD_SPACE_UNITS },
	{ "data file", FIELD_DATA_FILE }, { "datafile", FIELD_DATA_FILE },
	{ "byte skip", FIELD_BYTE_SKIP }, { "byteskip", FIELD_BYTE_SKIP },
	{ "line skip", FIELD_LINE_SKIP }, { "lineskip", FIELD_LINE_SKIP },
	{ "content", FIELD_IGNORED }, { "number", FIELD_IGNORED }, { "min", FIELD_IGNORED },
	{ "max", FIELD_IGNORED }, { "old min", FIELD_IGNORED }, { "oldmin", FIELD_IGNORED },
	{ "old max", FIELD_IGNORED }, { "oldmax", FIELD_IGNORED }, { "block size", FIELD_IGNORED },
	{ "blocksize", FIELD_IGNORED }, { "sample units", FIELD_IGNORED },
	{ "sampleunits", FIELD_IGNORED }, { "space", FIELD_IGNORED },
	{ "space dimension", FIELD_IGNORED }, { "space origin", FIELD_IGNORED },
	{ "measurement frame", FIELD_IGNORED }, { "thicknesses", FIELD_IGNORED },
	{ "axis mins", FIELD_IGNORED }, { "axismins", FIELD_IGNORED },
	{ "axis maxs", FIELD_IGNORED }, { "axismaxs", FIELD_IGNORED },
	{ "centers", FIELD_IGNORED }, { "centerings", FIELD_IGNORED }, { "labels", FIELD_IGNORED },
};

/* ---- sample types ---- */

#define DEFINE_TO_FLOAT(name, c_type) \
static void \
name(const unsigned char *from, size_t n, float *to) \
{ \
	for (size_t i = 0; i < n; i++) { \
		c_type v; \
\
		memcpy(&v, from + i * sizeof(v), sizeof(v)); \
		to[i] = (float)v; \
	} \
}

DEFINE_TO_FLOAT(from_int8, int8_t)
DEFINE_TO_FLOAT(from_int16, int16_t)
DEFINE_TO_FLOAT(from_int32, int32_t)
DEFINE_TO_FLOAT(from_uint32, uint32_t)
DEFINE_TO_FLOAT(from_int64, int64_t)
DEFINE_TO_FLOAT(from_uint64, uint64_t)
DEFINE_TO_FLOAT(from_double, double)

static const struct nrrd_kind nrrd_kinds[] = {
	{ "|uchar|unsigned char|uint8|uint8_t|", 1, SAMPLE_UCHAR, NULL },
	{ "|ushort|unsigned short|unsigned short int|uint16|uint16_t|", 2, SAMPLE_USHORT, NULL },
	{ "|float|", 4, SAMPLE_FLOAT, NULL },
	{ "|double|", 8, SAMPLE_FLOAT, from_double },
	{ "|signed char|int8|int8_t|", 1, SAMPLE_FLOAT, from_int8 },
	{ "|short|short int|signed short|signed short int|int16|int16_t|", 2, SAMPLE_FLOAT,
	    from_int16 },
	{ "|int|signed int|int32|int32_t|", 4, SAMPLE_FLOAT, from_int32 },
	{ "|uint|unsigned int|uint32|uint32_t|", 4, SAMPLE_FLOAT, from_uint32 },
	{ "|longlong|long long|long long int|signed long long|signed long long int|int64|int64_t|",
	    8, SAMPLE_FLOAT, from_int64 },
	{ "|ulonglong|unsigned long long|unsigned long long int|uint64|uint64_t|", 8, SAMPLE_FLOAT,
	    from_uint64 },
};

/* Is the word one of those between bars? */
static bool
has_name(const char *names, const char *word)
{
	const size_t n = strlen(word);

	for (const char *p = names + 1, *end; (end = strchr(p, '|')); p = end + 1)
		if ((size_t)(end - p) == n && !strncasecmp(p, word, n))
			return true;
	return false;
}

static const struct nrrd_kind *
kind_find(const char *name)
{
	for (size_t i = 0; i < 3; i++)	/* as we write them */
		if (!strcmp(name, sample_name(nrrd_kinds[i].as)))
			return &nrrd_kinds[i];
	for (size_t i = 0; i < sizeof(nrrd_kinds) / sizeof(*nrrd_kinds); i++)
		if (has_name(nrrd_kinds[i].names, name))
			return &nrrd_kinds[i];
	return NULL;
}

/* ---- reading the header ---- */

struct parser {
	FILE *file;			/* NULL: the caller knows how much it holds */
	const char *name;		/* for messages */
	const char *value[FIELDS];	/* NULL: the header has no such field */
	bool sharing;			/* the writer may share pixels */
	struct nrrd_header *header;
};

static enum field
field_find(const char *name, size_t length)
{
	while (length && name[length - 1] == ' ')
		length--;
	for (size_t i = 0; length && i < sizeof(fields) / sizeof(*fields); i++)
		if (((fields[i].name[0] ^ name[0]) | ' ') == ' ' &&	/* in either case */
		    !strncasecmp(fields[i].name, name, length) && !fields[i].name[length])
			return fields[i].field;
	return FIELDS;
}

static char *
trim(char *text)
{
	char *end;

	for (char *p = text; *p; p++)
		if (*p == '\t')
			*p = ' ';
	text += strspn(text, " ");
	for (end = text + strlen(text); end > text && end[-1] == ' '; end--)
		;
	*end = '\0';
	return text;
}

/* One header line: a comment, a field, or key:=value. */
static int
line_take(struct parser *in, char *line, struct meta *meta)
{
	char *colon = strchr(line, ':'), *key, *value;
	enum field field = FIELDS;

	if (*line == '#' || !*line)
		return 0;
	if (colon && colon[1] != '=')
		field = field_find(line, (size_t)(colon - line));
	if (field < FIELDS) {
		in->value[field] = trim(colon + 1);
		return 0;
	}
	if (keyline_split(line, &key, &value))
		return meta_put(meta, key, value);
	return fail(in->name, "not a line of a NRRD header: %.60s", line);
}

static int
lines_take(struct parser *in, char *text, struct meta *meta)
{
	char *line = text, *end;
	bool last;

	for (;; line = end + 1) {
		end = strchrnul(line, '\n');
		last = !*end;
		*end = '\0';
		if (line == text) {
			if ((line[7] < '1' || line[7] > '5') && strncmp(line, "NRRD00.01", 9))
				return fail(in->name, "NRRD version is not known: %.16s", line);
		} else {
			if (end > line && end[-1] == '\r')
				end[-1] = '\0';
			if (line_take(in, line, meta) < 0)
				return -1;
		}
		if (last)
			return 0;
	}
}

/* ---- the fields ---- */

/* data file: @NUMBER is a frame that the writer of the pipe shares. 0: no such number. */
static unsigned long
shared_number(const struct parser *in, const char *data)
{
	char *end;
	unsigned long number;

	if (!in->sharing || data[0] != '@' || !isdigit((unsigned char)data[1]))
		return 0;
	number = strtoul(data + 1, &end, 10);
	return *end ? 0 : number;
}

static int
take_elsewhere(struct parser *in)
{
	const char *byte_skip = in->value[FIELD_BYTE_SKIP], *line_skip = in->value[FIELD_LINE_SKIP];
	const char *data = in->value[FIELD_DATA_FILE];

	in->header->number = data ? shared_number(in, data) : 0;
	if (data && in->header->number == 0)
		return fail(in->name, "data in a separate file are not read: data file: %.60s",
		    data);
	if (byte_skip && strcmp(byte_skip, "0"))
		return fail(in->name, "skips are not read: byte skip: %.60s", byte_skip);
	if (line_skip && strcmp(line_skip, "0"))
		return fail(in->name, "skips are not read: line skip: %.60s", line_skip);
	return 0;
}

static int
take_encoding(struct parser *in)
{
	const char *encoding = in->value[FIELD_ENCODING];

	if (!encoding)
		return fail(in->name, "header lacks the field encoding");
	if (!strcasecmp(encoding, "raw"))
		in->header->encoding = NRRD_RAW;
	else if (!strcasecmp(encoding, "gzip") || !strcasecmp(encoding, "gz"))
		in->header->encoding = NRRD_GZIP;
	else if (!strcasecmp(encoding, "ascii") || !strcasecmp(encoding, "text") ||
	    !strcasecmp(encoding, "txt"))
		in->header->encoding = NRRD_TEXT;
	else
		return fail(in->name, "encoding is not raw, gzip or ascii, but %.60s", encoding);
	return 0;
}

static int
take_type(struct parser *in)
{
	const char *type = in->value[FIELD_TYPE], *endian = in->value[FIELD_ENDIAN];

	if (!type)
		return fail(in->name, "header lacks the field type");
	in->header->kind = kind_find(type);
	if (!in->header->kind)
		return fail(in->name, "type cannot be read: %.60s", type);
	if (in->header->kind->size == 1 || in->header->encoding == NRRD_TEXT)
		return 0;
	if (!endian)
		return fail(in->name, "header lacks the field endian");
	in->header->swapped = !strcasecmp(endian, "big");
	if (!in->header->swapped && strcasecmp(endian, "little"))
		return fail(in->name, "endian is neither little nor big, but %.60s", endian);
	return 0;
}

/* Up to three sizes; their number, or -1 after fail(). */
static int
take_sizes(const struct parser *in, size_t size[3])
{
	const char *dimension = in->value[FIELD_DIMENSION], *text = in->value[FIELD_SIZES];
	long axes;
	char word[24];

	if (!dimension || !text)
		return fail(in->name, "header lacks the field %s",
		    dimension ? "sizes" : "dimension");
	if (integer_parse(dimension, &axes) < 0 || axes < 2 || axes > 3)
		return fail(in->name, "dimension is not 2 or 3, but %.60s", dimension);
	if (meta_words(text) != (size_t)axes)
		return fail(in->name, "sizes are not %ld numbers: %.60s", axes, text);
	for (size_t i = 0; i < (size_t)axes; i++) {
		long v;

		if (!meta_word(text, i, word, sizeof(word)) || integer_parse(word, &v) < 0 || v < 1)
			return fail(in->name, "sizes are not %ld numbers from 1 on: %.60s", axes,
			    text);
		size[i] = (size_t)v;
	}
	return (int)axes;
}

/* Is an axis of this kind a direction in the image, or the list of channels? */
static bool
kind_is_list(const char *kinds, size_t axis)
{
	static const char domains[] = "|domain|space|time|none|???|";
	char word[32], barred[36];

	if (!kinds || !meta_word(kinds, axis, word, sizeof(word)))
		return false;
	snprintf(barred, sizeof(barred), "|%s|", word);
	return !strcasestr(domains, barred);
}

static enum nrrd_axes
axes_from_kinds(const char *kinds)
{
	if (kind_is_list(kinds, 2))
		return NRRD_PLANES;
	if (kind_is_list(kinds, 0))
		return NRRD_PIXELS;
	return kind_is_list(kinds, 1) ? NRRD_LINES : NRRD_PLANES;
}

static void
take_spacings(const char *text, double spacing[3])
{
	char word[64];

	for (size_t i = 0; i < 3; i++)
		if (!meta_word(text, i, word, sizeof(word)) || number_parse(word, &spacing[i]) < 0)
			spacing[i] = NAN;
}

/* "(0.1,0,0) (0,0.1,0) none": the lengths of the vectors. */
static void
take_directions(const char *text, double spacing[3])
{
	for (size_t i = 0; i < 3; i++) {
		double squares = 0;

		text += strspn(text, " ");
		if (*text != '(') {
			text += strcspn(text, " ");
			continue;
		}
		do {
			char *end;
			double v = strtod(text + 1, &end);

			squares += v * v;
			text = end + strspn(end, " ");
		} while (*text == ',');
		if (*text != ')')
			return;
		text++;
		spacing[i] = sqrt(squares);
	}
}

/* The axis-th quoted string. */
static void
take_unit(const char *text, size_t axis, char unit[16])
{
	for (size_t i = 0;; i++) {
		const char *start = strchr(text, '"'), *end = start ? strchr(start + 1, '"') : NULL;
		size_t length = end ? (size_t)(end - start - 1) : 0;

		if (!end)
			return;
		if (i == axis) {
			if (length < 16 && !memchr(start + 1, '\\', length))
				snprintf(unit, 16, "%.*s", (int)length, start + 1);
			return;
		}
		text = end + 1;
	}
}

static void
take_geometry(const struct parser *in, struct frame_head *head)
{
	enum nrrd_axes axes = in->header->axes;
	size_t x = axes == NRRD_PIXELS ? 1 : 0, y = axes == NRRD_PLANES ? 1 : 2;
	double spacing[3] = { NAN, NAN, NAN };

	if (in->value[FIELD_DIRECTIONS])
		take_directions(in->value[FIELD_DIRECTIONS], spacing);
	if (in->value[FIELD_SPACINGS])
		take_spacings(in->value[FIELD_SPACINGS], spacing);
	head->spacing[0] = nrrd_spacing(spacing[x]);
	head->spacing[1] = nrrd_spacing(spacing[y]);
	if (in->value[FIELD_SPACE_UNITS])
		take_unit(in->value[FIELD_SPACE_UNITS], 0, head->unit);
	if (in->value[FIELD_UNITS])
		take_unit(in->value[FIELD_UNITS], x, head->unit);
}

static void
move_meta(struct frame_head *head, struct meta *meta)
{
	const char *names = meta_get(meta, "channels");

	if (names)
		keyline_name_channels(head, names);
	meta_remove(meta, "channels");
	head->meta = *meta;
	*meta = (struct meta){ 0 };
}

/* Fills head from the fields; the metadata move into it. */
static int
head_take(struct parser *in, struct meta *meta, struct frame_head *head)
{
	static const size_t order[][3] = { [NRRD_PLANES] = { 0, 1, 2 }, [NRRD_LINES] = { 0, 2, 1 },
		[NRRD_PIXELS] = { 1, 2, 0 } };		/* which axes are w, h, c */
	struct nrrd_header *header = in->header;
	size_t size[3] = { 0 }, whc[3];
	int axes;

	if (take_elsewhere(in) < 0 || take_encoding(in) < 0 || take_type(in) < 0)
		return -1;
	axes = take_sizes(in, size);
	if (axes < 0)
		return -1;
	header->axes = axes == 3 ? axes_from_kinds(in->value[FIELD_KINDS]) : NRRD_PLANES;
	if (axes == 2)
		size[2] = 1;
	if (header->number && (header->encoding != NRRD_RAW || header->swapped ||
	    header->kind->to_float || header->axes != NRRD_PLANES))
		return fail(in->name, "pixels of a frame are not as tools hand them over");
	for (size_t i = 0; i < 3; i++)
		whc[i] = size[order[header->axes][i]];
	if (head_init(head, whc[0], whc[1], whc[2], header->kind->as) < 0)
		return -1;
	take_geometry(in, head);
	move_meta(head, meta);
	return 0;
}

/* ---- does the file hold as much as the header claims? ---- */

/* Bytes from here to the end of a regular file (or one in memory); false on a pipe. */
static bool
bytes_left(FILE *file, size_t *left)
{
	int fd = fileno(file);
	off_t here = ftello(file), end = -1;
	struct stat st;

	if (here < 0)
		return false;
	if (fd >= 0) {
		if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
			return false;
		end = st.st_size;
	} else {
		if (fseeko(file, 0, SEEK_END) == 0)
			end = ftello(file);
		if (fseeko(file, here, SEEK_SET) < 0)
			return false;
	}
	*left = end > here ? (size_t)(end - here) : 0;
	return end >= 0;
}

/* The machine's, in bytes; the system is asked once. */
static size_t
memory_bytes(void)
{
	static atomic_size_t bytes;

	if (bytes == 0)
		bytes = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
	return bytes;
}

/* Before memory is allocated: is there so much data, and so much memory? */
static int
check_size(struct parser *in, const struct frame_head *head)
{
	size_t samples, bytes, padded, left;

	if (size_multiply(head->w, head->h, &samples) < 0 ||
	    size_multiply(samples, head->c, &samples) < 0 ||
	    size_multiply(samples, in->header->kind->size, &bytes) < 0 ||
	    size_multiply(head->w, sample_size(head->type), &padded) < 0 ||
	    size_add(padded, 63, &padded) < 0 ||
	    size_multiply(padded & ~(size_t)63, head->h, &padded) < 0 ||
	    size_multiply(padded, head->c, &padded) < 0)
		return -1;
	in->header->expected = in->header->encoding == NRRD_TEXT ? samples : bytes;
	/* what is small may as well be read: that finds the end of the file, too */
	if (in->file && (in->header->encoding != NRRD_RAW || padded > UNCHECKED_BYTES) &&
	    bytes_left(in->file, &left)) {
		if (in->header->encoding == NRRD_RAW && left < bytes)
			return fail(in->name, "truncated: expected %zu bytes, got %zu", bytes,
			    left);
		if (in->header->encoding == NRRD_GZIP && left < bytes / DEFLATE_RATIO_MAX)
			return fail(in->name, "truncated: %zu bytes cannot be packed into %zu",
			    bytes, left);
		if (in->header->encoding == NRRD_TEXT && left < samples)
			return fail(in->name, "truncated: %zu samples cannot be written in %zu "
			    "bytes", samples, left);
	}
	if (padded > memory_bytes())
		return fail(in->name, "frame of %zu x %zu x %zu %s is larger than the memory",
		    head->w, head->h, head->c, sample_name(head->type));
	return 0;
}

/* Takes in the lines of a header, n bytes that become those of its keys, then checks what they
 * claim. */
static int
text_take(struct parser *in, char *text, size_t n, struct frame_head *head)
{
	struct meta meta = { 0 };
	int status;

	if (meta_adopt(&meta, text, n) < 0)
		return -1;
	if (lines_take(in, text, &meta) < 0 || head_take(in, &meta, head) < 0) {
		meta_free(&meta);
		return -1;
	}
	status = check_size(in, head);
	if (status < 0)
		head_free(head);
	return status;
}

int
nrrd_header_take(const char *start, size_t n, const char *name, struct nrrd_header *header,
    struct frame_head *head)
{
	struct parser in = { .name = name, .header = header };
	char *text = strndup(start, n);

	*header = (struct nrrd_header){ 0 };
	*head = (struct frame_head){ 0 };
	return text ? text_take(&in, text, n + 1, head) : fail_memory();
}

int
nrrd_header_read(FILE *file, const char *name, bool sharing, struct nrrd_header *header,
    struct frame_head *head)
{
	struct parser in = { .file = file, .name = name, .sharing = sharing, .header = header };
	char *text = NULL;
	size_t n = 0;
	int status;

	*header = (struct nrrd_header){ 0 };
	*head = (struct frame_head){ 0 };
	status = nrrd_header_text(file, name, &text, &n);
	if (status != 1)
		free(text);
	else if (text_take(&in, text, n + 1, head) < 0)
		status = -1;
	return status;
}
