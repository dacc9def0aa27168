/*
 * Reads and writes NRRD, the format of frames on pipes (frame(5)): parses headers of our own and of
 * foreign writers, converts their samples, and writes the subset that the stream consists of.
 */
#include "io/nrrd.h"

#include <ctype.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <zlib.h>

#include "base/process.h"
#include "base/text.h"
#include "frame/key_lines.h"
#include "frame/pixel_store.h"
#include "frame/samples.h"
#include "io/codec.h"
#include "io/safe_file.h"
#include "io/shared_frames.h"

/* The order of the axes, the fastest first: W H C, W C H, C W H. */
enum nrrd_axes { NRRD_PLANES, NRRD_LINES, NRRD_PIXELS };
enum nrrd_encoding { NRRD_RAW, NRRD_GZIP, NRRD_TEXT };

struct nrrd_header {
	enum element element;
	enum nrrd_encoding encoding;
	enum nrrd_axes axes;
	bool swapped;		/* samples are big-endian */
	size_t expected;	/* bytes of data; samples when they are text */
	unsigned long number;	/* of a shared frame; 0: the data follow */
};

/* The text of a NRRD header, byte for byte no further than its blank line: pixels follow it. */

#define NRRD_HEADER_MAX (16 << 20)	/* bytes: 65536 channels with long names */

#define START_BYTES 7		/* which tell a header from something else */
#define HEADER_ROOM 4096	/* bytes, which most headers take less than */

static int
fail_magic(const char *name, const char *text, size_t n)
{
	const unsigned char *byte = (const unsigned char *)text;

	return fail(name, "no NRRD header where a frame should begin, but 0x%02x 0x%02x 0x%02x "
	    "0x%02x", byte[0], n > 1 ? byte[1] : 0, n > 2 ? byte[2] : 0, n > 3 ? byte[3] : 0);
}

/* The first bytes of a header begin none. */
static int
fail_start(FILE *file, const char *name, const char *text, size_t n)
{
	const char *rest = &STREAM_FAILED[n];

	if (n < sizeof(STREAM_FAILED) && !memcmp(text, STREAM_FAILED, n)) {
		while (*rest && getc_unlocked(file) == (unsigned char)*rest)
			rest++;
		if (!*rest)
			return fail(name, "the writer before failed");
	}
	return fail_magic(name, text, n);
}

/* The rest of a line with its end, up to `most` bytes; a byte of 0 becomes a question mark. */
static size_t
line_read(FILE *file, char *to, size_t most)
{
	size_t n = 0;
	int byte = 0;

	while (n < most && byte != '\n' && (byte = getc_unlocked(file)) != EOF)
		to[n++] = byte ? (char)byte : '?';
	return n;
}

/*
 * The text of a header through its blank line into *text, n bytes and a 0, which the caller frees;
 * not a byte beyond is read. 1, 0 when the file ends before the first byte, -1 after fail(name,
 * ...).
 */
static int
nrrd_header_text(FILE *file, const char *name, char **whole, size_t *bytes)
{
	size_t n = 0, room = 0, got;

	do {
		char *text = *whole;

		if (n + 1 >= room) {	/* memory grows with what was read; a 0 ends it */
			room = room ? 2 * room : HEADER_ROOM;
			*whole = text = must_resize(*whole, room, 1);
		}
		got = line_read(file, text + n, (n < START_BYTES ? START_BYTES : room - 1) - n);
		n += got;
		if (n == START_BYTES && memcmp(text, "NRRD000", 7) && memcmp(text, "NRRD00.", 7))
			return fail_start(file, name, text, n);
		if (n > NRRD_HEADER_MAX)
			return fail(name, "header is longer than %d bytes", NRRD_HEADER_MAX);
		if (n > 8 && text[n - 1] == '\n' &&
		    (text[n - 2] == '\n' || (text[n - 2] == '\r' && text[n - 3] == '\n'))) {
			text[n] = '\0';
			*bytes = n;
			return 1;
		}
	} while (got);
	if (ferror(file))
		return fail_errno(name, "cannot be read");
	if (n == 0)
		return 0;
	if (n < START_BYTES)
		return fail_magic(name, *whole, n);
	return fail(name, "truncated: the header ends after %zu bytes", n);
}

/*
 * The header of a NRRD, of the subset of frame.5 and of what other programs write.
 * Format: Teem's "Definition of NRRD File Format", https://teem.sourceforge.net/nrrd/format.html
 */

/* A spacing as NRRD may have it: finite and not 0, else NaN. */
static inline double
nrrd_spacing(double v)
{
	return isfinite(v) && v != 0 ? v : NAN;
}

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

static const struct nrrd_kind {
	const char *names;	/* all that NRRD knows, each between bars */
	enum element element;
} nrrd_kinds[] = {
	{ "|uchar|unsigned char|uint8|uint8_t|", ELEMENT_U8 },
	{ "|ushort|unsigned short|unsigned short int|uint16|uint16_t|", ELEMENT_U16 },
	{ "|float|", ELEMENT_F32 },
	{ "|double|", ELEMENT_F64 },
	{ "|signed char|int8|int8_t|", ELEMENT_I8 },
	{ "|short|short int|signed short|signed short int|int16|int16_t|", ELEMENT_I16 },
	{ "|int|signed int|int32|int32_t|", ELEMENT_I32 },
	{ "|uint|unsigned int|uint32|uint32_t|", ELEMENT_U32 },
	{ "|longlong|long long|long long int|signed long long|signed long long int|int64|int64_t|",
	    ELEMENT_I64 },
	{ "|ulonglong|unsigned long long|unsigned long long int|uint64|uint64_t|", ELEMENT_U64 },
};

/* Is the word one of those between bars, in any case? */
static bool
has_name(const char *names, const char *word)
{
	char barred[64];

	snprintf(barred, sizeof(barred), "|%s|", word);
	return !strchr(word, '|') && strcasestr(names, barred);
}

static const struct nrrd_kind *
kind_find(const char *name)
{
	for (size_t i = 0; i < 3; i++)	/* as we write them */
		if (!strcmp(name, sample_name(samples_of_element(nrrd_kinds[i].element))))
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
	const struct nrrd_kind *kind;

	if (!type)
		return fail(in->name, "header lacks the field type");
	kind = kind_find(type);
	if (!kind)
		return fail(in->name, "type cannot be read: %.60s", type);
	in->header->element = kind->element;
	if (samples_element_size(kind->element) == 1 || in->header->encoding == NRRD_TEXT)
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
	char word[32];

	return kinds && meta_word(kinds, axis, word, sizeof(word)) && !has_name(domains, word);
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
	char word[64];

	if (in->value[FIELD_DIRECTIONS])
		take_directions(in->value[FIELD_DIRECTIONS], spacing);
	if (in->value[FIELD_SPACINGS])
		for (size_t i = 0; i < 3; i++)
			if (!meta_word(in->value[FIELD_SPACINGS], i, word, sizeof(word)) ||
			    number_parse(word, &spacing[i]) < 0)
				spacing[i] = NAN;
	head->spacing[0] = nrrd_spacing(spacing[x]);
	head->spacing[1] = nrrd_spacing(spacing[y]);
	if (in->value[FIELD_SPACE_UNITS])
		take_unit(in->value[FIELD_SPACE_UNITS], 0, head->unit);
	if (in->value[FIELD_UNITS])
		take_unit(in->value[FIELD_UNITS], x, head->unit);
}

/* Fills head from the fields; the metadata move into it. */
static int
head_take(struct parser *in, struct meta *meta, struct frame_head *head)
{
	static const size_t order[][3] = { [NRRD_PLANES] = { 0, 1, 2 }, [NRRD_LINES] = { 0, 2, 1 },
		[NRRD_PIXELS] = { 1, 2, 0 } };		/* which axes are w, h, c */
	struct nrrd_header *header = in->header;
	size_t size[3] = { 0 }, whc[3];
	const char *names;
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
	    !samples_keep_bits(header->element) || header->axes != NRRD_PLANES))
		return fail(in->name, "pixels of a frame are not as tools hand them over");
	for (size_t i = 0; i < 3; i++)
		whc[i] = size[order[header->axes][i]];
	if (head_init(head, whc[0], whc[1], whc[2], samples_of_element(header->element)) < 0)
		return -1;
	take_geometry(in, head);
	names = meta_get(meta, "channels");
	if (names)
		keyline_name_channels(head, names);
	meta_remove(meta, "channels");
	head->meta = *meta;
	*meta = (struct meta){ 0 };
	return 0;
}

/* ---- does the file hold as much as the header claims? ---- */

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
	size_t samples, bytes, padded, left = SIZE_MAX;

	if (size_multiply(head->w, head->h, &samples) < 0 ||
	    size_multiply(samples, head->c, &samples) < 0 ||
	    size_multiply(samples, samples_element_size(in->header->element), &bytes) < 0 ||
	    size_multiply(head->w, sample_size(head->type), &padded) < 0 ||
	    size_add(padded, 63, &padded) < 0 ||
	    size_multiply(padded & ~(size_t)63, head->h, &padded) < 0 ||
	    size_multiply(padded, head->c, &padded) < 0)
		return -1;
	in->header->expected = in->header->encoding == NRRD_TEXT ? samples : bytes;
	/* what is small may as well be read: that finds the end of the file, too */
	if (in->file && (in->header->encoding != NRRD_RAW || padded > UNCHECKED_BYTES))
		left = samples_bytes_left(in->file);
	if (in->header->encoding == NRRD_RAW && left < bytes)
		return fail(in->name, "truncated: expected %zu bytes, got %zu", bytes, left);
	if (in->header->encoding == NRRD_GZIP && left < bytes / DEFLATE_RATIO_MAX)
		return fail(in->name, "truncated: %zu bytes cannot be packed into %zu", bytes,
		    left);
	if (in->header->encoding == NRRD_TEXT && left < samples)
		return fail(in->name, "truncated: %zu samples cannot be written in %zu bytes",
		    samples, left);
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

	meta_adopt(&meta, text, n);
	if (lines_take(in, text, &meta) < 0 || head_take(in, &meta, head) < 0) {
		meta_free(&meta);
		return -1;
	}
	status = check_size(in, head);
	if (status < 0)
		head_free(head);
	return status;
}

/* Takes in a header that lies in memory, n bytes from "NRRD000" to its blank line, none of them 0.
 * Whether a file holds what it claims is the caller's to check. 0 and a head to be freed, or -1
 * after fail(name, ...). */
static int
nrrd_header_take(const char *start, size_t n, const char *name, struct nrrd_header *header,
    struct frame_head *head)
{
	struct parser in = { .name = name, .header = header };
	char *text = strndup(start, n);

	*header = (struct nrrd_header){ 0 };
	*head = (struct frame_head){ 0 };
	return text ? text_take(&in, text, n + 1, head) : fail_memory();
}

/*
 * Reads a header through its blank line and checks that the file can hold the data that it claims.
 * sharing: the writer may share pixels (shared_frames.h). 1 and a head to be freed, 0 when the file
 * ends before the first byte, -1 after fail(name, ...).
 */
static int
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

/* ---- writing: the subset of frame(5) ---- */

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "samples are written as they lie");

#define HEADER_UNIT 64		/* data begin at a multiple of this */
#define PIECES 256		/* of memory, written by one call */

static const char *
spacing_text(double v, char text[32])
{
	return isnan(nrrd_spacing(v)) ? "NaN" : number_format(v, text);
}

static void
put_geometry(FILE *file, const struct frame_head *head)
{
	char x[32], y[32];

	if (isnan(nrrd_spacing(head->spacing[0])) && isnan(nrrd_spacing(head->spacing[1])))
		return;
	fprintf(file, "spacings: %s %s%s\n", spacing_text(head->spacing[0], x),
	    spacing_text(head->spacing[1], y), head->c > 1 ? " NaN" : "");
	if (*head->unit && !strpbrk(head->unit, "\"\\\r\n"))
		fprintf(file, "units: \"%s\" \"%s\"%s\n", head->unit, head->unit,
		    head->c > 1 ? " \"\"" : "");
}

/* All lines but the padding and the blank one, as a new string. number: of a shared frame, else
 * 0. */
static char *
header_text(const struct frame_head *head, unsigned long number, size_t *length)
{
	struct text text;
	FILE *file = text_open(&text);

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
	return text_close(&text, length);
}

/* The whole header as a new string; NULL after fail(). */
static char *
padded_header(const char *name, const struct frame_head *head, unsigned long number, size_t *length)
{
	char *text = header_text(head, number, length);
	size_t padding = (HEADER_UNIT - (*length + 3) % HEADER_UNIT) % HEADER_UNIT;

	if (*length + 3 + padding > NRRD_HEADER_MAX) {
		fail(name, "header is longer than %d bytes: %zu", NRRD_HEADER_MAX,
		    *length + 3 + padding);
		free(text);
		return NULL;
	}
	text = must_resize(text, *length + 3 + padding + 1, 1);
	*length += (size_t)sprintf(text + *length, "#%*s\n\n", (int)padding, "");
	return text;
}

/* What is written to a descriptor, in pieces as large as possible: adjacent memory is one piece. */
struct pieces {
	int fd;
	const char *name;		/* for messages */
	struct iovec piece[PIECES];
	size_t n;
	bool begun;			/* some bytes are written */
};

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

/* A frame is incomplete, for good or while a thread writes it: what followed now would be read as
 * its samples. */
static atomic_bool torn;

static int
pieces_write(struct pieces *pieces)
{
	atomic_store(&torn, true);
	while (pieces->n) {
		ssize_t done = waiting_writev(pieces->fd, pieces->piece, (int)pieces->n);

		if (done < 0)
			return fail_errno(pieces->name, "cannot be written");
		if (done > 0) {
			pieces_drop(pieces, (size_t)done);
			pieces->begun = true;
		}
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
	size_t length;
	char *text = padded_header(name, &frame->head, 0, &length);
	int status = text ? samples_write_planes(name, file, text, length, frame, 0,
	    frame->head.c) : -1;

	free(text);
	return status;
}

int
stream_send(int fd, const char *name, const struct frame *frame, unsigned long number)
{
	struct pieces pieces = { .fd = fd, .name = name };
	int status = frame_write(&pieces, frame, number);

	if (status == 0 || !pieces.begun)
		atomic_store(&torn, false);
	return status;
}

void
stream_send_failed(int fd)
{
	const char *text = STREAM_FAILED;
	size_t left = strlen(text);
	struct stat st;

	if (atomic_load(&torn) || fstat(fd, &st) < 0 ||
	    !(S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) || S_ISREG(st.st_mode)))
		return;
	signal(SIGPIPE, SIG_IGN);	/* the reader may have gone, and the message counts */
	while (left) {
		ssize_t done = waiting_write(fd, text, left);

		if (done <= 0)
			return;
		text += done;
		left -= (size_t)done;
	}
}

/* ---- reading samples from a pipe or a file ---- */

#define CHUNK 4096		/* samples converted at once */

struct input {
	FILE *file;
	const char *name;		/* for messages */
	struct nrrd_header header;
	size_t got;			/* bytes of data; samples when they are text */
	struct inflater *inflater;
	const unsigned char *unpacked;	/* the rest of gzip data that were unpacked in one piece */
};

struct inflater {
	z_stream z;
	bool ended;			/* a gzip member, with its checksum, is complete */
	unsigned char buffer[65536];
};

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

static int
read_bytes(struct input *in, void *to, size_t n)
{
	ssize_t got;

	if (in->unpacked) {
		memcpy(to, in->unpacked, n);
		in->unpacked += n;
		return 0;
	}
	got = in->header.encoding == NRRD_GZIP ? inflate_bytes(in, to, n) :
	    (ssize_t)fread(to, 1, n, in->file);
	if (got < 0)
		return -1;
	in->got += (size_t)got;
	if ((size_t)got == n)
		return 0;
	if (ferror(in->file))
		return fail_errno(in->name, "cannot be read");
	return fail(in->name, "truncated: expected %zu bytes, got %zu", in->header.expected,
	    in->got);
}

/* The next number of text; blanks, line ends and commas separate them. */
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
		return fail(in->name, "truncated: expected %zu samples, got %zu",
		    in->header.expected, in->got);
	if (n == sizeof(word) - 1 || number_parse(word, v) < 0)
		return fail(in->name, "sample is not a number: %s", word);
	in->got++;
	return 0;
}

static int
read_text(struct input *in, void *to, size_t n)
{
	enum sample as = samples_of_element(in->header.element);
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
	const enum element element = in->header.element;
	const size_t size = samples_element_size(element);
	unsigned char raw[8 * CHUNK];

	if (in->header.encoding == NRRD_TEXT)
		return read_text(in, to, n);
	if (samples_keep_bits(element)) {
		if (read_bytes(in, to, n * size) < 0)
			return -1;
		if (in->header.swapped)
			samples_swap(to, n, size);
		return 0;
	}
	for (size_t i = 0; i < n; i += CHUNK) {
		size_t some = n - i < CHUNK ? n - i : CHUNK;

		if (read_bytes(in, raw, some * size) < 0)
			return -1;
		samples_convert(element, in->header.swapped, raw, size, (float *)to + i, some);
	}
	return 0;
}

/* Rows whose samples lie in the file as in the frame, of all channels, to the frame's places. */
static int
read_row_groups(struct input *in, struct frame *frame)
{
	const struct frame_head *head = &frame->head;
	const size_t rows = head->h * head->c, bytes = head->w * sample_size(head->type);
	const size_t stride = frame->plane[0].stride;
	const size_t group = whole_file_group(rows, bytes, stride);

	for (size_t row = 0; row < rows; row += group) {
		const size_t n = rows - row < group ? rows - row : group;
		char *first = frame_row(frame, row / head->h, row % head->h);

		if (read_samples(in, first + n * (stride - bytes), head->w * n) < 0)
			return -1;
		whole_file_spread(first, n, bytes, stride);
	}
	return 0;
}

/* Do the samples of a row lie in the file as in the frame? */
static bool
comes_by_groups(const struct input *in)
{
	return in->header.axes == NRRD_PLANES && in->header.encoding != NRRD_TEXT &&
	    samples_keep_bits(in->header.element);
}

/* Row by row: all rows of a channel, or all channels of a row. */
static int
read_rows(struct input *in, struct frame *frame)
{
	const bool planes = in->header.axes == NRRD_PLANES;
	const size_t n = planes ? frame->head.h : frame->head.c;

	for (size_t row = 0; row < frame->head.h * frame->head.c; row++) {
		const size_t c = planes ? row / n : row % n, y = planes ? row % n : row / n;

		if (read_samples(in, frame_row(frame, c, y), frame->head.w) < 0)
			return -1;
	}
	return 0;
}

static int
read_pixels(struct input *in, struct frame *frame)
{
	size_t n = frame->head.w * frame->head.c;
	void *pixels = must_resize(NULL, n, sample_size(frame->head.type));
	int status = 0;

	for (size_t y = 0; y < frame->head.h && status == 0; y++) {
		status = read_samples(in, pixels, n);
		if (status == 0)
			samples_split(pixels, frame, y);
	}
	free(pixels);
	return status;
}

/* Gzip and text end with the file: checks the checksum and leaves the file at its end. */
static int
finish_file(struct input *in)
{
	unsigned char rest[4096];
	size_t got = 0;
	int status = 1;

	if (in->header.encoding == NRRD_RAW)
		return 0;
	/* the checksum is taken in; data beyond what the header claims stay unread */
	while (in->header.encoding == NRRD_GZIP && !in->inflater->ended && status == 1 && got == 0)
		status = inflate_some(in, rest, 1, &got);
	if (status < 0)
		return -1;
	if (status == 0)
		return fail(in->name, "truncated: the gzip data lack their end");
	while (fread(rest, 1, sizeof(rest), in->file) > 0)
		;
	return ferror(in->file) ? fail_errno(in->name, "cannot be read") : 0;
}

static int
read_axes(struct input *in, struct frame *frame)
{
	return comes_by_groups(in) ? read_row_groups(in, frame) :
	    in->header.axes == NRRD_PIXELS ? read_pixels(in, frame) : read_rows(in, frame);
}

/* Gzip data in one piece, into the frame where they lie there as they are. 1; 0: piece by piece. */
static int
unpack_whole(struct input *in, struct frame *frame)
{
	const size_t n = in->header.expected;
	struct pixel_store *store;
	void *memory;
	bool zeroed;
	int status = 0;

	/* the planes of a new frame follow one another: without padding they are one piece */
	if (comes_by_groups(in) &&
	    frame->plane[0].stride == frame->head.w * sample_size(frame->head.type)) {
		if (!gzip_file_unpack(in->file, frame_row(frame, 0, 0), n))
			return 0;
		if (in->header.swapped)
			samples_swap(frame_row(frame, 0, 0), n / sample_size(frame->head.type),
			    sample_size(frame->head.type));
		return 1;
	}
	store = pixel_store_new(n, 1, &memory, &zeroed);
	if (!store)
		return 0;
	if (gzip_file_unpack(in->file, memory, n)) {
		in->unpacked = memory;
		status = read_axes(in, frame) < 0 ? -1 : 1;
	}
	pixel_store_drop(store);
	return status;
}

static int
data_read(struct input *in, struct frame *frame)
{
	int status = in->header.encoding == NRRD_GZIP ? unpack_whole(in, frame) : 0;

	if (status != 0)
		return status < 0 ? -1 : 0;
	if (in->header.encoding == NRRD_GZIP) {
		in->inflater = must_alloc(1, sizeof(*in->inflater));
		if (inflateInit2(&in->inflater->z, 15 + 32) != Z_OK)
			status = fail_memory();
	}
	if (status == 0)
		status = read_axes(in, frame);
	if (status == 0)
		status = finish_file(in);
	if (in->inflater)
		inflateEnd(&in->inflater->z);
	free(in->inflater);
	in->inflater = NULL;
	return status;
}

/* A frame with this head, whose data follow in the file or lie in shared memory. */
static int
frame_read(struct input *in, struct shared_receiver *receiver, const struct frame_head *head,
    struct frame **out)
{
	if (in->header.number)
		return shared_receiver_take(receiver, in->name, in->header.number, head, out);
	/* read_row_groups() sets the padding of rows */
	if ((comes_by_groups(in) ? frame_new_unset(head, out) : frame_new(head, out)) < 0)
		return -1;
	if (data_read(in, *out) == 0)
		return 0;
	frame_replace(out, NULL);
	return -1;
}

/* As stream_read(); the process that writes the pipe may also share the pixels. */
static int
stream_receive(FILE *file, struct shared_receiver *receiver, const char *name, struct frame **out)
{
	struct input in = { .file = file, .name = name };
	struct frame_head head;
	int status;

	*out = NULL;
	status = nrrd_header_read(file, name, receiver != NULL, &in.header, &head);
	if (status != 1)
		return status;
	if (frame_read(&in, receiver, &head, out) < 0)
		status = -1;
	head_free(&head);
	return status;
}

int
stream_read(FILE *file, const char *name, struct frame **out)
{
	return stream_receive(file, NULL, name, out);
}

/* ---- the stream as a file of one or more frames ---- */

static bool
sniff(const unsigned char *start, size_t n)
{
	/* a writer that failed before its first frame leaves a stream all the same */
	return (n >= 7 && !memcmp(start, "NRRD00", 6)) ||
	    (n >= strlen(STREAM_FAILED) && !memcmp(start, STREAM_FAILED, strlen(STREAM_FAILED)));
}

static int
load(struct loader *loader, struct frame **out)
{
	return stream_receive(loader->file, loader->receiver, loader->path, out);
}

/* Bytes of a blank line, as the stream's reader takes them; 0: it is none. */
static size_t
blank_line(const char *line, const char *end)
{
	return *line == '\n' ? 1 : end - line > 1 && line[0] == '\r' && line[1] == '\n' ? 2 : 0;
}

/* Bytes of the header through its blank line; 0: that does not lie in the file's first bytes, or
 * something else does. */
static size_t
header_bytes(const struct whole_file *file)
{
	const char *start = file->start, *end = start + file->n, *line = start;
	size_t n;

	while (line < end && blank_line(line, end) == 0) {
		line = memchr(line, '\n', (size_t)(end - line));
		line = line ? line + 1 : end;
	}
	n = line < end ? (size_t)(line - start) + blank_line(line, end) : 0;
	return n > 7 && !memcmp(start, "NRRD000", 7) && !memchr(start, 0, n) ? n : 0;
}

static int
load_whole(const struct whole_file *file, struct frame **out)
{
	const size_t n = header_bytes(file);
	struct nrrd_header header;
	struct frame_head head;
	bool done = false;

	*out = NULL;
	if (n == 0)
		return 0;
	if (nrrd_header_take(file->start, n, file->path, &header, &head) == 0) {
		/* the rest of the file are the rows of one frame, as they lie in memory */
		done = header.encoding == NRRD_RAW && header.axes == NRRD_PLANES &&
		    !header.swapped && samples_keep_bits(header.element) &&
		    header.expected == file->bytes - n &&
		    frame_new_unset(&head, out) == 0 && whole_file_rows(file, n, *out);
		head_free(&head);
	}
	if (done)
		return 1;
	fail_clear();
	frame_replace(out, NULL);
	return 0;
}

static int
save(struct saver *saver, const struct frame *frame)
{
	return stream_write(saver->file, saver->path, frame);
}

const struct codec codec_nrrd = {
	.name = "NRRD",
	.suffixes = "nrrd",
	.many = true,
	.concatenates = true,
	.sniff = sniff,
	.load = load,
	.load_whole = load_whole,
	.save = save,
	.large_writes = true,
};
