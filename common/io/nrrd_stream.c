/*
 * The NRRD subset of frame.5, and a reader for what others write.
 * Format: Teem's "Definition of NRRD File Format", https://teem.sourceforge.net/nrrd/format.html
 */
#define _GNU_SOURCE
#include "io/nrrd_stream.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <zlib.h>

#include "base/fail.h"
#include "frame/keyline.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "samples are written as they lie");

#define HEADER_MAX 65536
#define HEADER_UNIT 64		/* data begin at a multiple of this */
#define DEFLATE_RATIO_MAX 1032	/* no deflate stream grows by more */
#define CHUNK 4096		/* samples converted at once */
#define PIECES 256		/* of memory, written by one call */

/* W H C, W C H, C W H; the first one runs fastest. */
enum axes { AXES_PLANES, AXES_LINES, AXES_PIXELS };
enum encoding { ENCODING_RAW, ENCODING_GZIP, ENCODING_TEXT };

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

struct sample_kind {
	const char *names;	/* all that NRRD knows, each between bars */
	size_t size;
	enum sample as;
	void (*to_float)(const unsigned char *, size_t, float *);	/* NULL: taken as it is */
};

static const struct sample_kind sample_kinds[] = {
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

static const struct sample_kind *
sample_kind_find(const char *name)
{
	char barred[64];

	if (strchr(name, '|'))
		return NULL;
	snprintf(barred, sizeof(barred), "|%s|", name);
	for (size_t i = 0; i < sizeof(sample_kinds) / sizeof(*sample_kinds); i++)
		if (strcasestr(sample_kinds[i].names, barred))
			return &sample_kinds[i];
	return NULL;
}

/* ---- reading the header ---- */

struct input {
	FILE *file;
	const char *name;		/* for messages */
	const char *value[FIELDS];	/* NULL: the header has no such field */
	const struct sample_kind *kind;
	enum encoding encoding;
	enum axes axes;
	bool swapped;
	size_t expected, got;		/* bytes of data; samples when they are text */
	struct inflater *inflater;
	struct shared_receiver *inlet;		/* for pixels that are handed over, or NULL */
	unsigned long number;		/* of such a frame; 0: the data follow */
};

static bool
ends_header(const char *text, size_t n)
{
	return n > 8 && text[n - 1] == '\n' &&
	    (text[n - 2] == '\n' || (text[n - 2] == '\r' && text[n - 3] == '\n'));
}

static int
fail_magic(const char *name, const char *text, size_t n)
{
	const unsigned char *byte = (const unsigned char *)text;

	return fail(name, "no NRRD header where a frame should begin, but 0x%02x 0x%02x 0x%02x "
	    "0x%02x", byte[0], n > 1 ? byte[1] : 0, n > 2 ? byte[2] : 0, n > 3 ? byte[3] : 0);
}

/* Reads through the blank line. 1, 0 when the file ends before the first byte, -1 after fail(). */
static int
header_read(FILE *file, const char *name, char text[HEADER_MAX + 1])
{
	size_t n = 0;
	int byte;

	while ((byte = getc_unlocked(file)) != EOF) {
		if (n == HEADER_MAX)
			return fail(name, "header is longer than %d bytes", HEADER_MAX);
		text[n++] = byte ? (char)byte : '?';
		if (n == 7 && memcmp(text, "NRRD000", 7) && memcmp(text, "NRRD00.", 7))
			return fail_magic(name, text, n);
		if (ends_header(text, n)) {
			text[n] = '\0';
			return 1;
		}
	}
	if (ferror(file))
		return fail_errno(name, "cannot be read");
	if (n == 0)
		return 0;
	if (n < 7)
		return fail_magic(name, text, n);
	return fail(name, "truncated: the header ends after %zu bytes", n);
}

static enum field
field_find(const char *name, size_t length)
{
	while (length && name[length - 1] == ' ')
		length--;
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if (strlen(fields[i].name) == length && !strncasecmp(fields[i].name, name, length))
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
line_take(struct input *in, char *line, struct meta *meta)
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
		return meta_set(meta, key, value);
	return fail(in->name, "not a line of a NRRD header: %.60s", line);
}

static int
lines_take(struct input *in, char *text, struct meta *meta)
{
	char *line = strsep(&text, "\n");

	if ((line[7] < '1' || line[7] > '5') && strncmp(line, "NRRD00.01", 9))
		return fail(in->name, "NRRD version is not known: %.16s", line);
	while ((line = strsep(&text, "\n"))) {
		size_t length = strlen(line);

		if (length && line[length - 1] == '\r')
			line[length - 1] = '\0';
		if (line_take(in, line, meta) < 0)
			return -1;
	}
	return 0;
}

/* ---- what the fields say ---- */

/* data file: @NUMBER is one that the writer of the pipe hands over. 0: it is none. */
static unsigned long
number_handed_over(const struct input *in, const char *data)
{
	char *end;
	unsigned long number;

	if (!in->inlet || data[0] != '@' || !isdigit((unsigned char)data[1]))
		return 0;
	number = strtoul(data + 1, &end, 10);
	return *end ? 0 : number;
}

static int
take_elsewhere(struct input *in)
{
	const char *byte_skip = in->value[FIELD_BYTE_SKIP], *line_skip = in->value[FIELD_LINE_SKIP];
	const char *data = in->value[FIELD_DATA_FILE];

	in->number = data ? number_handed_over(in, data) : 0;
	if (data && in->number == 0)
		return fail(in->name, "data in a separate file are not read: data file: %.60s",
		    data);
	if (byte_skip && strcmp(byte_skip, "0"))
		return fail(in->name, "skips are not read: byte skip: %.60s", byte_skip);
	if (line_skip && strcmp(line_skip, "0"))
		return fail(in->name, "skips are not read: line skip: %.60s", line_skip);
	return 0;
}

static int
take_encoding(struct input *in)
{
	const char *encoding = in->value[FIELD_ENCODING];

	if (!encoding)
		return fail(in->name, "header lacks the field encoding");
	if (!strcasecmp(encoding, "raw"))
		in->encoding = ENCODING_RAW;
	else if (!strcasecmp(encoding, "gzip") || !strcasecmp(encoding, "gz"))
		in->encoding = ENCODING_GZIP;
	else if (!strcasecmp(encoding, "ascii") || !strcasecmp(encoding, "text") ||
	    !strcasecmp(encoding, "txt"))
		in->encoding = ENCODING_TEXT;
	else
		return fail(in->name, "encoding is not raw, gzip or ascii, but %.60s", encoding);
	return 0;
}

static int
take_type(struct input *in)
{
	const char *type = in->value[FIELD_TYPE], *endian = in->value[FIELD_ENDIAN];

	if (!type)
		return fail(in->name, "header lacks the field type");
	in->kind = sample_kind_find(type);
	if (!in->kind)
		return fail(in->name, "type cannot be read: %.60s", type);
	if (in->kind->size == 1 || in->encoding == ENCODING_TEXT)
		return 0;
	if (!endian)
		return fail(in->name, "header lacks the field endian");
	in->swapped = !strcasecmp(endian, "big");
	if (!in->swapped && strcasecmp(endian, "little"))
		return fail(in->name, "endian is neither little nor big, but %.60s", endian);
	return 0;
}

/* Up to three sizes; their number, or -1 after fail(). */
static int
take_sizes(const struct input *in, size_t size[3])
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

static enum axes
axes_from_kinds(const char *kinds)
{
	if (kind_is_list(kinds, 2))
		return AXES_PLANES;
	if (kind_is_list(kinds, 0))
		return AXES_PIXELS;
	return kind_is_list(kinds, 1) ? AXES_LINES : AXES_PLANES;
}

static double
usable_spacing(double v)
{
	return isfinite(v) && v != 0 ? v : NAN;
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
take_geometry(const struct input *in, struct frame_head *head)
{
	size_t x = in->axes == AXES_PIXELS ? 1 : 0, y = in->axes == AXES_PLANES ? 1 : 2;
	double spacing[3] = { NAN, NAN, NAN };

	if (in->value[FIELD_DIRECTIONS])
		take_directions(in->value[FIELD_DIRECTIONS], spacing);
	if (in->value[FIELD_SPACINGS])
		take_spacings(in->value[FIELD_SPACINGS], spacing);
	head->spacing[0] = usable_spacing(spacing[x]);
	head->spacing[1] = usable_spacing(spacing[y]);
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
head_take(struct input *in, struct meta *meta, struct frame_head *head)
{
	size_t size[3] = { 0 };
	int axes;

	if (take_elsewhere(in) < 0 || take_encoding(in) < 0 || take_type(in) < 0)
		return -1;
	axes = take_sizes(in, size);
	if (axes < 0)
		return -1;
	in->axes = axes == 3 ? axes_from_kinds(in->value[FIELD_KINDS]) : AXES_PLANES;
	if (axes == 2)
		size[2] = 1;
	if (in->number && (in->encoding != ENCODING_RAW || in->swapped || in->kind->to_float ||
	    in->axes != AXES_PLANES))
		return fail(in->name, "pixels of a frame are not as tools hand them over");
	if (in->axes == AXES_PLANES && head_init(head, size[0], size[1], size[2], in->kind->as) < 0)
		return -1;
	if (in->axes == AXES_LINES && head_init(head, size[0], size[2], size[1], in->kind->as) < 0)
		return -1;
	if (in->axes == AXES_PIXELS && head_init(head, size[1], size[2], size[0], in->kind->as) < 0)
		return -1;
	take_geometry(in, head);
	move_meta(head, meta);
	return 0;
}

/* ---- does a header tell the truth about its size? ---- */

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

/* Before memory is taken: is there so much data, and so much memory? */
static int
check_size(struct input *in, const struct frame_head *head)
{
	size_t samples, bytes, padded, left;
	size_t memory = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);

	if (size_multiply(head->w, head->h, &samples) < 0 ||
	    size_multiply(samples, head->c, &samples) < 0 ||
	    size_multiply(samples, in->kind->size, &bytes) < 0 ||
	    size_multiply(head->w, sample_size(head->type), &padded) < 0 ||
	    size_add(padded, 63, &padded) < 0 ||
	    size_multiply(padded & ~(size_t)63, head->h, &padded) < 0 ||
	    size_multiply(padded, head->c, &padded) < 0)
		return -1;
	in->expected = in->encoding == ENCODING_TEXT ? samples : bytes;
	if (bytes_left(in->file, &left)) {
		if (in->encoding == ENCODING_RAW && left < bytes)
			return fail(in->name, "truncated: expected %zu bytes, got %zu", bytes,
			    left);
		if (in->encoding == ENCODING_GZIP && left < bytes / DEFLATE_RATIO_MAX)
			return fail(in->name, "truncated: %zu bytes cannot be packed into %zu",
			    bytes, left);
		if (in->encoding == ENCODING_TEXT && left < samples)
			return fail(in->name, "truncated: %zu samples cannot be written in %zu "
			    "bytes", samples, left);
	}
	if (padded > memory)
		return fail(in->name, "frame of %zu x %zu x %zu %s is larger than the memory",
		    head->w, head->h, head->c, sample_name(head->type));
	return 0;
}

/* ---- reading the data ---- */

struct inflater {
	z_stream z;
	bool ended;			/* a gzip member, with its checksum, is complete */
	unsigned char buffer[65536];
};

static int
inflater_start(struct input *in)
{
	struct inflater *inflater = calloc(1, sizeof(*inflater));

	if (!inflater)
		return fail_memory();
	if (inflateInit2(&inflater->z, 15 + 32) != Z_OK) {
		free(inflater);
		return fail_memory();
	}
	in->inflater = inflater;
	return 0;
}

static void
inflater_end(struct input *in)
{
	if (in->inflater)
		inflateEnd(&in->inflater->z);
	free(in->inflater);
	in->inflater = NULL;
}

/* Unpacks up to n bytes, maybe none. 1, 0 at the end of the file, -1 after fail(). */
static int
inflate_some(struct input *in, void *to, size_t n, size_t *got)
{
	struct inflater *inflater = in->inflater;
	z_stream *z = &inflater->z;
	int status;

	*got = 0;
	if (z->avail_in == 0) {
		z->next_in = inflater->buffer;
		z->avail_in = (uInt)fread(inflater->buffer, 1, sizeof(inflater->buffer), in->file);
		if (z->avail_in == 0)
			return 0;
	}
	z->next_out = to;
	z->avail_out = n > 1 << 30 ? 1 << 30 : (uInt)n;
	n = z->avail_out;
	status = inflate(z, Z_NO_FLUSH);
	if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
		return fail(in->name, "gzip data are damaged: %s", z->msg ? z->msg : "zlib failed");
	inflater->ended = status == Z_STREAM_END;
	*got = n - z->avail_out;
	return 1;
}

/* Up to n bytes, across gzip members; how many there were, or -1 after fail(). */
static ssize_t
inflate_bytes(struct input *in, unsigned char *to, size_t n)
{
	size_t done = 0, got;
	int status = 1;

	while (done < n && status == 1) {
		if (in->inflater->ended)
			inflateReset(&in->inflater->z);
		status = inflate_some(in, to + done, n - done, &got);
		done += got;
	}
	return status < 0 ? -1 : (ssize_t)done;
}

/* After the last sample: takes in the checksum; more data than the header tells are left. */
static int
inflate_end(struct input *in)
{
	unsigned char rest;
	size_t got = 0;
	int status = 1;

	while (!in->inflater->ended && status == 1 && got == 0)
		status = inflate_some(in, &rest, 1, &got);
	return status == 0 ? fail(in->name, "truncated: the gzip data lack their end") : status;
}

static int
read_bytes(struct input *in, void *to, size_t n)
{
	ssize_t got = in->encoding == ENCODING_GZIP ? inflate_bytes(in, to, n) :
	    (ssize_t)fread(to, 1, n, in->file);

	if (got < 0)
		return -1;
	in->got += (size_t)got;
	if ((size_t)got == n)
		return 0;
	if (ferror(in->file))
		return fail_errno(in->name, "cannot be read");
	return fail(in->name, "truncated: expected %zu bytes, got %zu", in->expected, in->got);
}

static void
swap_bytes(void *samples, size_t n, size_t size)
{
	unsigned char *byte = samples;

	for (size_t i = 0; i < n; i++, byte += size)
		for (size_t k = 0; k < size / 2; k++) {
			unsigned char kept = byte[k];

			byte[k] = byte[size - 1 - k];
			byte[size - 1 - k] = kept;
		}
}

/* The next number of text; blanks, line ends and commas stand between them. */
static int
read_text_number(struct input *in, double *v)
{
	char word[64];
	size_t n = 0;
	int byte;

	do
		byte = getc_unlocked(in->file);
	while (byte != EOF && strchr(" \t\r\n,", byte));
	for (; byte != EOF && !strchr(" \t\r\n,", byte); byte = getc_unlocked(in->file))
		if (n < sizeof(word) - 1)
			word[n++] = (char)byte;
	word[n] = '\0';
	if (n == 0)
		return fail(in->name, "truncated: expected %zu samples, got %zu", in->expected,
		    in->got);
	if (n == sizeof(word) - 1 || number_parse(word, v) < 0)
		return fail(in->name, "sample is not a number: %s", word);
	in->got++;
	return 0;
}

static int
read_text(struct input *in, void *to, size_t n)
{
	enum sample as = in->kind->as;
	double top = as == SAMPLE_UCHAR ? UINT8_MAX : UINT16_MAX;

	for (size_t i = 0; i < n; i++) {
		double v;

		if (read_text_number(in, &v) < 0)
			return -1;
		if (as != SAMPLE_FLOAT && !(v >= 0 && v <= top))
			return fail(in->name, "sample does not fit into %s: %g", sample_name(as),
			    v);
		if (as == SAMPLE_UCHAR)
			((uint8_t *)to)[i] = (uint8_t)v;
		else if (as == SAMPLE_USHORT)
			((uint16_t *)to)[i] = (uint16_t)v;
		else
			((float *)to)[i] = (float)v;
	}
	return 0;
}

/* The next n samples, in the frame's type. */
static int
read_samples(struct input *in, void *to, size_t n)
{
	size_t size = in->kind->size;
	unsigned char raw[8 * CHUNK];

	if (in->encoding == ENCODING_TEXT)
		return read_text(in, to, n);
	if (!in->kind->to_float) {
		if (read_bytes(in, to, n * size) < 0)
			return -1;
		if (in->swapped)
			swap_bytes(to, n, size);
		return 0;
	}
	for (size_t i = 0; i < n; i += CHUNK) {
		size_t some = n - i < CHUNK ? n - i : CHUNK;

		if (read_bytes(in, raw, some * size) < 0)
			return -1;
		if (in->swapped)
			swap_bytes(raw, some, size);
		in->kind->to_float(raw, some, (float *)to + i);
	}
	return 0;
}

static int
read_planes(struct input *in, struct frame *frame)
{
	const struct frame_head *head = &frame->head;

	/* A new frame's planes follow one another: without padding they are one piece, which
	 * fread() takes past its buffer. */
	if (frame->plane[0].stride == head->w * sample_size(head->type))
		return read_samples(in, frame_row(frame, 0, 0), head->w * head->h * head->c);
	for (size_t c = 0; c < head->c; c++)
		for (size_t y = 0; y < head->h; y++)
			if (read_samples(in, frame_row(frame, c, y), head->w) < 0)
				return -1;
	return 0;
}

static int
read_lines(struct input *in, struct frame *frame)
{
	for (size_t y = 0; y < frame->head.h; y++)
		for (size_t c = 0; c < frame->head.c; c++)
			if (read_samples(in, frame_row(frame, c, y), frame->head.w) < 0)
				return -1;
	return 0;
}

static void
part_row(const void *pixels, struct frame *frame, size_t y)
{
	size_t w = frame->head.w, channels = frame->head.c;

	for (size_t c = 0; c < channels; c++) {
		void *row = frame_row(frame, c, y);

		if (frame->head.type == SAMPLE_UCHAR)
			for (size_t x = 0; x < w; x++)
				((uint8_t *)row)[x] = ((const uint8_t *)pixels)[x * channels + c];
		else if (frame->head.type == SAMPLE_USHORT)
			for (size_t x = 0; x < w; x++)
				((uint16_t *)row)[x] = ((const uint16_t *)pixels)[x * channels + c];
		else	/* as bits, so that no NaN changes */
			for (size_t x = 0; x < w; x++)
				((uint32_t *)row)[x] = ((const uint32_t *)pixels)[x * channels + c];
	}
}

static int
read_pixels(struct input *in, struct frame *frame)
{
	size_t n = frame->head.w * frame->head.c;
	void *pixels = malloc(n * sample_size(frame->head.type));
	int status = 0;

	if (!pixels)
		return fail_memory();
	for (size_t y = 0; y < frame->head.h && status == 0; y++) {
		status = read_samples(in, pixels, n);
		if (status == 0)
			part_row(pixels, frame, y);
	}
	free(pixels);
	return status;
}

/* Gzip and text end with the file: checks the checksum and leaves the file at its end. */
static int
finish_file(struct input *in)
{
	unsigned char rest[4096];

	if (in->encoding == ENCODING_RAW)
		return 0;
	if (in->encoding == ENCODING_GZIP && inflate_end(in) < 0)
		return -1;
	while (fread(rest, 1, sizeof(rest), in->file) > 0)
		;
	return ferror(in->file) ? fail_errno(in->name, "cannot be read") : 0;
}

static int
data_read(struct input *in, struct frame *frame)
{
	int status;

	if (in->encoding == ENCODING_GZIP && inflater_start(in) < 0)
		return -1;
	if (in->axes == AXES_PLANES)
		status = read_planes(in, frame);
	else if (in->axes == AXES_LINES)
		status = read_lines(in, frame);
	else
		status = read_pixels(in, frame);
	if (status == 0)
		status = finish_file(in);
	inflater_end(in);
	return status;
}

static int
frame_read(struct input *in, char *text, struct frame **out)
{
	struct meta meta = { 0 };
	struct frame_head head = { 0 };
	int status;

	if (lines_take(in, text, &meta) < 0 || head_take(in, &meta, &head) < 0) {
		meta_free(&meta);
		return -1;
	}
	status = check_size(in, &head);
	if (status == 0)
		status = in->number ? shared_receiver_take(in->inlet, in->name, in->number, &head, out) :
		    frame_new(&head, out);
	head_free(&head);
	if (status == 0 && in->number == 0 && data_read(in, *out) < 0) {
		frame_free(*out);
		*out = NULL;
		status = -1;
	}
	return status;
}

int
stream_read(FILE *file, const char *name, struct frame **out)
{
	return stream_receive(file, NULL, name, out);
}

int
stream_receive(FILE *file, struct shared_receiver *inlet, const char *name, struct frame **out)
{
	struct input in = { .file = file, .inlet = inlet, .name = name };
	char *text = malloc(HEADER_MAX + 1);
	int status;

	*out = NULL;
	if (!text)
		return fail_memory();
	status = header_read(file, name, text);
	if (status == 1 && frame_read(&in, text, out) < 0)
		status = -1;
	free(text);
	return status;
}

/* ---- writing ---- */

static const char *
spacing_text(double v, char text[32])
{
	return isnan(usable_spacing(v)) ? "NaN" : number_format(v, text);
}

static void
put_geometry(FILE *file, const struct frame_head *head)
{
	char x[32], y[32];

	if (isnan(usable_spacing(head->spacing[0])) && isnan(usable_spacing(head->spacing[1])))
		return;
	fprintf(file, "spacings: %s %s%s\n", spacing_text(head->spacing[0], x),
	    spacing_text(head->spacing[1], y), head->c > 1 ? " NaN" : "");
	if (*head->unit && !strpbrk(head->unit, "\"\\\r\n"))
		fprintf(file, "units: \"%s\" \"%s\"%s\n", head->unit, head->unit,
		    head->c > 1 ? " \"\"" : "");
}

/* All lines but the padding and the blank one, as a new string. number: of a frame that is handed
 * over, else 0. */
static char *
header_text(const struct frame_head *head, unsigned long number, size_t *length)
{
	char *text = NULL;
	FILE *file = open_memstream(&text, length);
	int failed;

	if (!file)
		return NULL;
	fprintf(file, "NRRD0004\ntype: %s\ndimension: %d\nsizes: %zu %zu", sample_name(head->type),
	    head->c > 1 ? 3 : 2, head->w, head->h);
	if (head->c > 1)
		fprintf(file, " %zu", head->c);
	fprintf(file, "\nendian: little\nencoding: raw\nkinds: domain domain%s\n",
	    head->c > 1 ? " list" : "");
	if (number)
		fprintf(file, "data file: @%lu\n", number);
	put_geometry(file, head);
	keyline_put_head(file, head);
	failed = ferror(file);
	if (fclose(file) != 0 || failed) {
		free(text);
		return NULL;
	}
	return text;
}

/* The whole header as a new string; NULL after fail(). */
static char *
padded_header(const char *name, const struct frame_head *head, unsigned long number, size_t *length)
{
	char *text = header_text(head, number, length), *padded;
	size_t padding;

	if (!text) {
		fail_memory();
		return NULL;
	}
	padding = (HEADER_UNIT - (*length + 3) % HEADER_UNIT) % HEADER_UNIT;
	if (*length + 3 + padding > HEADER_MAX) {
		fail(name, "header is longer than %d bytes: %zu", HEADER_MAX,
		    *length + 3 + padding);
		free(text);
		return NULL;
	}
	padded = realloc(text, *length + 3 + padding + 1);
	if (!padded) {
		free(text);
		fail_memory();
		return NULL;
	}
	*length += (size_t)sprintf(padded + *length, "#%*s\n\n", (int)padding, "");
	return padded;
}

/* What is written, in pieces as large as can be: what lies behind one another is one. */
struct pieces {
	FILE *file;			/* NULL: straight to fd, without a copy */
	int fd;
	const char *name;		/* for messages */
	struct iovec piece[PIECES];
	size_t n;
};

static int
wait_writable(int fd)
{
	struct pollfd wanted = { .fd = fd, .events = POLLOUT };

	return poll(&wanted, 1, -1) < 0 && errno != EINTR ? -1 : 0;
}

static void
pieces_drop(struct pieces *pieces, size_t bytes)
{
	size_t i = 0;

	for (; i < pieces->n && bytes >= pieces->piece[i].iov_len; i++)
		bytes -= pieces->piece[i].iov_len;
	pieces->n -= i;
	memmove(pieces->piece, pieces->piece + i, pieces->n * sizeof(*pieces->piece));
	if (bytes) {
		pieces->piece[0].iov_base = (char *)pieces->piece[0].iov_base + bytes;
		pieces->piece[0].iov_len -= bytes;
	}
}

static int
pieces_write(struct pieces *pieces)
{
	while (pieces->n) {
		const struct iovec *first = &pieces->piece[0];
		ssize_t done;

		if (pieces->file) {
			done = (ssize_t)fwrite(first->iov_base, 1, first->iov_len, pieces->file);
			if ((size_t)done != first->iov_len)
				return fail_errno(pieces->name, "cannot be written");
		} else {
			done = writev(pieces->fd, pieces->piece, (int)pieces->n);
			if (done < 0 && errno == EAGAIN && wait_writable(pieces->fd) == 0)
				continue;
			if (done < 0 && errno != EINTR)
				return fail_errno(pieces->name, "cannot be written");
		}
		if (done > 0)
			pieces_drop(pieces, (size_t)done);
	}
	return 0;
}

static int
pieces_add(struct pieces *pieces, void *from, size_t bytes)
{
	struct iovec *last = pieces->n ? &pieces->piece[pieces->n - 1] : NULL;

	if (last && (char *)last->iov_base + last->iov_len == from) {
		last->iov_len += bytes;
		return 0;
	}
	if (pieces->n == PIECES && pieces_write(pieces) < 0)
		return -1;
	pieces->piece[pieces->n++] = (struct iovec){ from, bytes };
	return 0;
}

/* number: not 0, the header alone. */
static int
frame_write(struct pieces *pieces, const struct frame *frame, unsigned long number)
{
	const struct frame_head *head = &frame->head;
	size_t bytes = head->w * sample_size(head->type), length;
	char *text = padded_header(pieces->name, head, number, &length);
	int status;

	if (!text)
		return -1;
	status = pieces_add(pieces, text, length);
	for (size_t c = 0; c < head->c && number == 0; c++)
		for (size_t y = 0; y < head->h && status == 0; y++)
			status = pieces_add(pieces, frame_row(frame, c, y), bytes);
	if (status == 0)
		status = pieces_write(pieces);
	free(text);
	return status;
}

int
stream_write(FILE *file, const char *name, const struct frame *frame)
{
	struct pieces pieces = { .file = file, .name = name };

	return frame_write(&pieces, frame, 0);
}

int
stream_send(int fd, const char *name, const struct frame *frame, unsigned long number)
{
	struct pieces pieces = { .fd = fd, .name = name };

	return frame_write(&pieces, frame, number);
}
