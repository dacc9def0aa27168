#define _GNU_SOURCE
#include "frames.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "frame/meta.h"
#include "io/codec.h"
#include "io/nrrd.h"
#include "io/whole_file.h"

/* ---- helpers ---- */

struct bytes {
	char *at;
	size_t n;
};

static struct bytes
written(const struct frame *frame)
{
	struct bytes bytes;
	FILE *file = open_memstream(&bytes.at, &bytes.n);

	assert_non_null(file);
	assert_int_equal(stream_write(file, "memory", frame), 0);
	assert_int_equal(fclose(file), 0);
	return bytes;
}

static void
assert_same(const struct frame *a, const struct frame *b)
{
	assert_true(a->head.w == b->head.w && a->head.h == b->head.h && a->head.c == b->head.c);
	assert_int_equal(a->head.type, b->head.type);
	for (size_t c = 0; c < a->head.c; c++)
		for (size_t y = 0; y < a->head.h; y++)
			assert_memory_equal(frame_row(a, c, y), frame_row(b, c, y),
			    a->head.w * sample_size(a->head.type));
}

static void
assert_same_memory(const struct frame *a, const struct frame *b)
{
	for (size_t c = 0; c < b->head.c; c++)	/* with what is behind the rows */
		assert_memory_equal(frame_row(a, c, 0), frame_row(b, c, 0),
		    b->plane[c].stride * b->head.h);
}

/* Reads a file that had `bytes` when it was opened by the codec's load_whole(): false, and no
 * frame and no message, where that leaves it to load(). */
static bool
read_whole(FILE *file, size_t bytes, struct frame **out)
{
	const struct codec *codec = codec_by_suffix("a.nrrd");
	struct whole_file whole = { .fd = fileno(file), .path = "memory", .bytes = bytes };
	ssize_t n = pread(whole.fd, whole.start, sizeof(whole.start), 0);
	int got;

	assert_true(n >= 0);
	whole.n = (size_t)n;
	got = codec->load_whole(&whole, out);
	assert_null(fail_message());
	assert_true(got == 1 ? *out != NULL : got == 0 && !*out);
	assert_int_equal(lseek(whole.fd, 0, SEEK_CUR), 0);
	return got == 1;
}

/* Reads one frame from memory, as from a pipe, and from a file, which is read in larger pieces:
 * both give the same frame or the same message. What stream_read returns. */
static int
read_from(const void *at, size_t n, struct frame **out)
{
	FILE *file = fmemopen((void *)at, n, "rb"), *copy = tmpfile();
	struct frame *same, *all;
	char *message;
	bool whole;
	int status;

	assert_true(file && copy);
	assert_int_equal(fwrite(at, 1, n, copy), n);
	rewind(copy);
	whole = read_whole(copy, n, &all);
	status = stream_read(file, "memory", out);
	if (whole) {
		assert_int_equal(status, 1);
		assert_int_equal(ftello(file), n);	/* nothing is behind the frame */
		assert_true(head_equal(&(*out)->head, &all->head));
		assert_same(*out, all);
		assert_same_memory(*out, all);
	}
	frame_free(all);
	message = strdup(status < 0 ? fail_message() : "");
	assert_int_equal(stream_read(copy, "memory", &same), status);
	assert_string_equal(status < 0 ? fail_message() : "", message);
	if (status == 1) {
		assert_same(*out, same);
		assert_same_memory(*out, same);
		assert_int_equal(ftello(copy), ftello(file));
	}
	frame_free(same);
	free(message);
	fclose(file);
	fclose(copy);
	return status;
}

/* A header (lines, without the blank one) and data as one piece. */
static struct bytes
joined(const char *header, const void *data, size_t n)
{
	struct bytes bytes = { NULL, strlen(header) + 1 + n };

	bytes.at = malloc(bytes.n);
	assert_non_null(bytes.at);
	memcpy(bytes.at, header, strlen(header));
	bytes.at[strlen(header)] = '\n';
	memcpy(bytes.at + strlen(header) + 1, data, n);
	return bytes;
}

static struct frame *
read_joined(const char *header, const void *data, size_t n)
{
	struct bytes bytes = joined(header, data, n);
	struct frame *frame = NULL;
	int status = read_from(bytes.at, bytes.n, &frame);

	if (status != 1)
		fail_print();
	assert_int_equal(status, 1);
	free(bytes.at);
	return frame;
}

static void
assert_refused(const char *header, const void *data, size_t n, const char *message)
{
	struct bytes bytes = joined(header, data, n);
	struct frame *frame = (struct frame *)1;

	assert_int_equal(read_from(bytes.at, bytes.n, &frame), -1);
	assert_null(frame);
	assert_failed(message);
	free(bytes.at);
}

static void
assert_floats(const struct frame *frame, size_t c, size_t y, const float *expected)
{
	assert_int_equal(frame->head.type, SAMPLE_FLOAT);
	for (size_t x = 0; x < frame->head.w; x++)
		assert_true(frame_floats(frame, c, y)[x] == expected[x]);
}

/* A file's padded rows are read many at once and moved to their places: several times so many, of
 * two channels, where the data begin anywhere, in the other byte order, too; cut within a row,
 * it is short of what it says. */
static void
many_padded_rows(void **state)
{
	enum { W = 13, H = 70001, N = 2 * W * H };
	uint16_t *data = malloc(N * sizeof(*data));
	unsigned char *bytes = (unsigned char *)data;

	(void)state;
	assert_non_null(data);
	for (int big = 0; big < 2; big++) {
		char header[200];
		struct frame *frame;

		for (size_t i = 0; i < N; i++) {
			uint16_t v = (uint16_t)(i * 40503);

			bytes[2 * i + !!big] = (unsigned char)v;
			bytes[2 * i + !big] = (unsigned char)(v >> 8);
		}
		snprintf(header, sizeof(header), "NRRD0004\ntype: ushort\ndimension: 3\n"
		    "sizes: %d %d 2\nendian: %s\nencoding: raw\n", W, H, big ? "big" : "little");
		frame = read_joined(header, data, N * sizeof(*data));
		for (size_t i = 0; i < N; i++) {
			const uint16_t *row = frame_row(frame, i / W / H, i / W % H);

			assert_int_equal(row[i % W], (uint16_t)(i * 40503));
			assert_int_equal(row[W + i % (32 - W)], 0);
		}
		frame_free(frame);
		assert_refused(header, data, N * sizeof(*data) - 5, "memory: truncated: expected "
		    "3640052 bytes, got 3640047");
	}
	free(data);
}

/* ---- what we write ---- */

static void
round_trip(void **state)
{
	static const size_t channels[] = { 1, 3, 40 };

	(void)state;
	for (size_t s = 0; s < FRAME_SIZES; s++)
		for (int type = SAMPLE_UCHAR; type <= SAMPLE_FLOAT; type++)
			for (size_t k = 0; k < 3; k++) {
				struct frame *frame =
						 frame_made(frame_sizes[s][0], frame_sizes[s][1],
						     channels[k], (enum sample)type, 1),
					     *back;
				struct bytes bytes = written(frame);
				struct bytes again;

				assert_int_equal(read_from(bytes.at, bytes.n, &back), 1);
				assert_frames_equal(frame, back);
				again = written(back);
				assert_int_equal(again.n, bytes.n);
				assert_memory_equal(again.at, bytes.at, bytes.n);
				free(again.at);
				free(bytes.at);
				frame_free(back);
				frame_free(frame);
			}
}

/* A tool may write a name into memory that it did not clear. */
static void
heads_of_the_same_names_are_equal(void **state)
{
	struct frame_head one, other;

	(void)state;
	assert_int_equal(head_init(&one, 5, 7, 2, SAMPLE_FLOAT), 0);
	assert_int_equal(head_init(&other, 5, 7, 2, SAMPLE_FLOAT), 0);
	memset(other.channel, 'x', 2 * sizeof(*other.channel));
	strcpy(other.channel[0], one.channel[0]);
	strcpy(other.channel[1], one.channel[1]);
	assert_true(head_equal(&one, &other));
	strcpy(other.channel[1], "mask");
	assert_false(head_equal(&one, &other));
	head_free(&one);
	head_free(&other);
}

static void
header_bytes(void **state)
{
	static const char expected[] =
	    "NRRD0004\ntype: ushort\ndimension: 3\nsizes: 5 7 2\nendian: little\nencoding: raw\n"
	    "kinds: domain domain list\nspacings: 0.25 NaN NaN\nunits: \"mm\" \"mm\" \"\"\n"
	    "channels:=gray mask\nback:=a\\\\n\nempty:=\n#";
	struct frame *frame = frame_made(5, 7, 2, SAMPLE_USHORT, 1);
	struct bytes bytes;
	const char *blank;

	(void)state;
	head_set_channels(&frame->head, "gray mask");
	frame->head.spacing[0] = 0.25;
	strcpy(frame->head.unit, "mm");
	meta_set(&frame->head.meta, "back", "a\\n");
	meta_set(&frame->head.meta, "empty", "");
	bytes = written(frame);
	assert_memory_equal(bytes.at, expected, sizeof(expected) - 1);
	blank = strstr(bytes.at, "\n\n");
	assert_non_null(blank);
	assert_int_equal((blank + 2 - bytes.at) % 64, 0);
	assert_int_equal(bytes.n - (size_t)(blank + 2 - bytes.at), 5 * 7 * 2 * 2);
	free(bytes.at);
	frame_free(frame);
}

static void
metadata_round_trip(void **state)
{
	struct frame *frame = frame_made(5, 7, 1, SAMPLE_FLOAT, 1), *back;
	struct bytes bytes;

	(void)state;
	frame->head.spacing[0] = 0.1;
	frame->head.spacing[1] = -1.0 / 3;
	strcpy(frame->head.unit, "px");
	meta_set(&frame->head.meta, "cmd.1", "gauss -s 2");
	meta_set(&frame->head.meta, "path", "C:\\new\\x");
	meta_set(&frame->head.meta, "odd", " :=# tab\t\xc3\xa4 ");
	meta_set(&frame->head.meta, "type", "not a field");
	bytes = written(frame);
	assert_int_equal(read_from(bytes.at, bytes.n, &back), 1);
	assert_frames_equal(frame, back);
	free(bytes.at);
	frame_free(back);
	frame_free(frame);
}

/* No reader may stumble over what a frame brings along from elsewhere. */
static void
odd_names_are_written_safely(void **state)
{
	struct frame *frame = frame_made(2, 1, 2, SAMPLE_UCHAR, 1), *back;
	struct bytes bytes;

	(void)state;
	strcpy(frame->head.channel[0], "a b:");
	strcpy(frame->head.channel[1], "");
	meta_set(&frame->head.meta, "channels", "x");
	meta_set(&frame->head.meta, "#note", "y");
	bytes = written(frame);
	assert_int_equal(read_from(bytes.at, bytes.n, &back), 1);
	assert_string_equal(back->head.channel[0], "a_b_");
	assert_string_equal(back->head.channel[1], "_");
	assert_null(meta_get(&back->head.meta, "channels"));
	assert_string_equal(meta_get(&back->head.meta, "_note"), "y");
	free(bytes.at);
	frame_free(back);
	frame_free(frame);
}

static void
frames_follow_each_other(void **state)
{
	struct frame *a = frame_made(5, 7, 3, SAMPLE_UCHAR, 1);
	struct frame *b = frame_made(129, 65, 1, SAMPLE_FLOAT, 2), *back;
	FILE *file = tmpfile();

	(void)state;
	assert_int_equal(stream_write(file, "f", a), 0);
	assert_int_equal(stream_write(file, "f", b), 0);
	rewind(file);
	assert_int_equal(stream_read(file, "f", &back), 1);
	assert_frames_equal(a, back);
	frame_free(back);
	assert_int_equal(stream_read(file, "f", &back), 1);
	assert_frames_equal(b, back);
	frame_free(back);
	assert_int_equal(stream_read(file, "f", &back), 0);
	assert_null(back);
	assert_null(fail_message());
	fclose(file);
	frame_free(a);
	frame_free(b);
}

/* Files of one frame are read without a stream, unless they are longer or shorter than they were,
 * or than the header says. */
static void
whole_files(void **state)
{
	(void)state;
	for (size_t i = 0; i < FRAME_SIZES; i++)
		for (int type = SAMPLE_UCHAR; type <= SAMPLE_FLOAT; type++) {
			const size_t *size = frame_sizes[i];
			struct frame *frame = frame_made(size[0], size[1], 1 + i % 3,
			    (enum sample)type, 7), *back;
			FILE *file = tmpfile();
			off_t n;

			assert_int_equal(meta_set(&frame->head.meta, "period_px", "60 66"), 0);
			assert_int_equal(stream_write(file, "f", frame), 0);
			n = ftello(file);
			rewind(file);
			assert_true(read_whole(file, (size_t)n, &back));
			assert_frames_equal(frame, back);
			frame_free(back);
			assert_false(read_whole(file, (size_t)n - 1, &back));
			assert_false(read_whole(file, (size_t)n + 1, &back));
			assert_int_equal(ftruncate(fileno(file), n + 1), 0);
			assert_false(read_whole(file, (size_t)n, &back));
			assert_int_equal(ftruncate(fileno(file), n - 1), 0);
			assert_false(read_whole(file, (size_t)n, &back));
			fclose(file);
			frame_free(frame);
		}
}

/* A header of lines that end in CR LF ends at its blank line, whatever looks like lines and blank
 * ones behind that: the first four bytes are the frame. */
static void
header_ends_once(void **state)
{
	static const char text[] = "NRRD0004\r\ntype: uchar\r\ndimension: 2\r\nsizes: 2 2\r\n"
	    "encoding: raw\r\n\r\n#abc\n\nwxyz";
	struct frame *frame;

	(void)state;
	assert_int_equal(read_from(text, sizeof(text) - 1, &frame), 1);
	assert_memory_equal(frame_row(frame, 0, 0), "#a", 2);
	assert_memory_equal(frame_row(frame, 0, 1), "bc", 2);
	frame_free(frame);
	assert_int_equal(read_from(text, sizeof(text) - 1 - 6, &frame), 1);
	assert_memory_equal(frame_row(frame, 0, 0), "#a", 2);
	frame_free(frame);
}

static void
write_errors(void **state)
{
	struct frame *frame = frame_made(128, 64, 1, SAMPLE_FLOAT, 1);
	FILE *file = fopen("/dev/full", "wb");
	char *long_value = calloc(1, 17000000);

	(void)state;
	assert_int_equal(stream_write(file, "full", frame), -1);
	assert_failed("full: cannot be written: No space left on device");
	fclose(file);
	memset(long_value, 'x', 16999999);
	meta_set(&frame->head.meta, "long", long_value);
	file = fopen("/dev/null", "wb");
	assert_int_equal(stream_write(file, "null", frame), -1);
	assert_failed("null: header is longer than 16777216 bytes: 17000128");
	fclose(file);
	free(long_value);
	frame_free(frame);
}

/* ---- what others write ---- */

static void
fields_in_any_order(void **state)
{
	static const uint16_t data[6] = { 1, 2, 3, 0x0400, 0x0500, 0xffff };
	struct frame *frame =
	    read_joined("NRRD0005\r\n# first\r\nEncoding: RAW\r\nENDIAN:little\r\n"
			"content: a: b := c\r\nold_key:=C\r\n#\r\nsizes:  3\t2 \r\nDimension: 2\r\n"
			"type: Unsigned Short\r\nspace units: \"mm\" \"mm\"\r\n"
			"space directions: (0.3, 0.4) (0,2)\r\n\r",
		data, sizeof(data));

	(void)state;
	assert_int_equal(frame->head.w, 3);
	assert_int_equal(frame->head.h, 2);
	assert_int_equal(frame->head.c, 1);
	assert_int_equal(frame->head.type, SAMPLE_USHORT);
	assert_memory_equal(frame_row(frame, 0, 0), data, 6);
	assert_memory_equal(frame_row(frame, 0, 1), data + 3, 6);
	assert_true(fabs(frame->head.spacing[0] - 0.5) < 1e-15);
	assert_true(frame->head.spacing[1] == 2);
	assert_string_equal(frame->head.unit, "mm");
	assert_int_equal(frame->head.meta.n, 1);
	assert_string_equal(meta_get(&frame->head.meta, "old_key"), "C");
	frame_free(frame);
}

#define PLAIN "NRRD0004\nencoding: raw\ndimension: 2\nsizes: 2 1\n"

static void
every_type(void **state)
{
	static const struct {
		const char *names[4], *little, *big;
		size_t size;
		float expected[2];
	} types[] = {
		{ { "signed char", "int8", "int8_t" }, "\x80\x7f", "\x80\x7f", 1, { -128, 127 } },
		{ { "short", "short int", "int16", "signed short" }, "\x00\x80\x02\x01",
		    "\x80\x00\x01\x02", 2, { -32768, 258 } },
		{ { "int", "signed int", "int32", "int32_t" }, "\xfe\xff\xff\xff\x04\x03\x02\x01",
		    "\xff\xff\xff\xfe\x01\x02\x03\x04", 4, { -2, 0x01020304 } },
		{ { "uint", "unsigned int", "uint32", "uint32_t" },
		    "\x00\x00\x00\xf0\x03\x00\x00\x00", "\xf0\x00\x00\x00\x00\x00\x00\x03", 4,
		    { 0xf0000000, 3 } },
		{ { "longlong", "long long", "int64", "int64_t" },
		    "\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x40",
		    "\xff\xff\xff\xff\xff\xff\xff\xff\x40\x00\x00\x00\x00\x00\x00\x00", 8,
		    { -1, 0x1p62f } },
		{ { "ulonglong", "unsigned long long", "uint64", "uint64_t" },
		    "\x05\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80",
		    "\x00\x00\x00\x00\x00\x00\x00\x05\x80\x00\x00\x00\x00\x00\x00\x00", 8,
		    { 5, 0x1p63f } },
		{ { "double" }, "\x00\x00\x00\x00\x00\x00\xf8\x3f\x00\x00\x00\x00\x00\x00\x00\xc0",
		    "\x3f\xf8\x00\x00\x00\x00\x00\x00\xc0\x00\x00\x00\x00\x00\x00\x00", 8,
		    { 1.5f, -2 } },
		{ { "float" }, "\x00\x00\xc0\x3f\x00\x00\x00\xc0",
		    "\x3f\xc0\x00\x00\xc0\x00\x00\x00", 4, { 1.5f, -2 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		for (size_t k = 0; k < 4 && types[i].names[k]; k++) {
			char header[200];
			struct frame *frame;

			snprintf(header, sizeof(header), PLAIN "endian: little\ntype: %s\n",
			    types[i].names[k]);
			frame = read_joined(header, types[i].little, 2 * types[i].size);
			assert_floats(frame, 0, 0, types[i].expected);
			frame_free(frame);
			snprintf(header, sizeof(header), PLAIN "endian: big\ntype: %s\n",
			    types[i].names[k]);
			frame = read_joined(header, types[i].big, 2 * types[i].size);
			assert_floats(frame, 0, 0, types[i].expected);
			frame_free(frame);
		}
}

static void
unsigned_types_stay(void **state)
{
	struct frame *frame =
	    read_joined(PLAIN "endian: big\ntype: uint16_t\n", "\x01\x02\x03\x04", 4);

	(void)state;
	assert_int_equal(frame->head.type, SAMPLE_USHORT);
	assert_memory_equal(frame_row(frame, 0, 0), "\x02\x01\x04\x03", 4);
	frame_free(frame);
	frame = read_joined(PLAIN "type: unsigned char\n", "\x01\xff", 2);
	assert_int_equal(frame->head.type, SAMPLE_UCHAR);
	assert_memory_equal(frame_row(frame, 0, 0), "\x01\xff", 2);
	frame_free(frame);
}

/* More samples than are converted at once. */
static void
long_rows_of_double(void **state)
{
	size_t n = 129 * 65;
	double *data = calloc(n, sizeof(*data));
	struct frame *frame;

	(void)state;
	for (size_t i = 0; i < n; i++)
		data[i] = (double)i / 8;
	frame = read_joined("NRRD0004\ntype: double\nencoding: raw\nendian: little\ndimension: 3\n"
	    "sizes: 8385 1 1\n", data, n * sizeof(*data));
	for (size_t i = 0; i < n; i++)
		assert_true(frame_floats(frame, 0, 0)[i] == (float)data[i]);
	free(data);
	frame_free(frame);
}

static void
channel_axis(void **state)
{
	static const struct {
		const char *sizes, *kinds, *data;
	} orders[] = {
		{ "3 2 4", "domain domain list", "abcdefghijklmnopqrstuvwx" },
		{ "3 2 4", "space space vector", "abcdefghijklmnopqrstuvwx" },
		{ "3 2 4", "space space space", "abcdefghijklmnopqrstuvwx" },
		{ "3 2 4", "??? none ???", "abcdefghijklmnopqrstuvwx" },
		{ "4 3 2", "RGBA-color domain domain", "agmsbhntcioudjpvekqwflrx" },
		{ "4 3 2", "4-vector space space", "agmsbhntcioudjpvekqwflrx" },
		{ "4 3 2", "list space time", "agmsbhntcioudjpvekqwflrx" },
		{ "3 4 2", "domain list domain", "abcghimnostudefjklpqrvwx" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
		char header[200];
		struct frame *frame;

		snprintf(header, sizeof(header), "NRRD0004\ntype: uchar\ndimension: 3\nsizes: %s\n"
		    "kinds: %s\nencoding: raw\n", orders[i].sizes, orders[i].kinds);
		frame = read_joined(header, orders[i].data, 24);
		assert_int_equal(frame->head.w, 3);
		assert_int_equal(frame->head.h, 2);
		assert_int_equal(frame->head.c, 4);
		for (size_t c = 0; c < 4; c++)
			for (size_t y = 0; y < 2; y++)
				assert_memory_equal(frame_row(frame, c, y),
				    &"abcdefghijklmnopqrstuvwx"[6 * c + 3 * y], 3);
		frame_free(frame);
	}
}

static void
interleaved_wide_samples(void **state)
{
	static const float pixels[] = { 1, 10, 2, 20, 3, 30 }, first[] = { 1, 2, 3 };
	static const float second[] = { 10, 20, 30 };
	struct frame *frame = read_joined("NRRD0004\ntype: float\nencoding: raw\nendian: little\n"
	    "dimension: 3\nsizes: 2 3 1\nkinds: vector domain domain\nspacings: nan 0.5 0.25\n"
	    "units: \"\" \"um\" \"um\"\n", pixels, sizeof(pixels));

	(void)state;
	assert_floats(frame, 0, 0, first);
	assert_floats(frame, 1, 0, second);
	assert_true(frame->head.spacing[0] == 0.5 && frame->head.spacing[1] == 0.25);
	assert_string_equal(frame->head.unit, "um");
	frame_free(frame);
}

static void
foreign_keys(void **state)
{
	struct frame *frame = read_joined("NRRD0004\ntype: uchar\nencoding: raw\ndimension: 3\n"
	    "sizes: 1 1 2\nchannels:=mask gray\nDWMRI_b-value:=1000\nurl:=http: //x\\ny\\\\z\n"
	    "Patient:Name:=A\n#no:=key\ntwice:=1\ntwice:=2\n\xe9:=\xe9\n", "ab", 2);
	const struct meta *meta = &frame->head.meta;

	(void)state;
	assert_string_equal(frame->head.channel[0], "mask");
	assert_string_equal(frame->head.channel[1], "gray");
	assert_string_equal(meta_get(meta, "DWMRI_b-value"), "1000");
	assert_string_equal(meta_get(meta, "url"), "http://x y\\z");
	assert_string_equal(meta_get(meta, "Patient_Name"), "A");
	assert_string_equal(meta_get(meta, "twice"), "2");
	assert_string_equal(meta_get(meta, "\xe9"), "\xe9");
	assert_int_equal(meta->n, 5);
	frame_free(frame);
}

static void
channel_names_that_do_not_fit(void **state)
{
	static const char *const names[] = {
		"one", "one two three", "", "short a-name-that-is-longer-than-31-bytes",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char header[200];
		struct frame *frame;

		snprintf(header, sizeof(header),
		    "NRRD0004\ntype: uchar\nencoding: raw\ndimension: 3\n"
		    "sizes: 1 1 2\nchannels:=%s\n",
		    names[i]);
		frame = read_joined(header, "ab", 2);
		assert_string_equal(frame->head.channel[1], "image2");
		assert_int_equal(frame->head.meta.n, 0);
		frame_free(frame);
	}
}

static void
text_samples(void **state)
{
	static const float expected[] = { -1.5f, 1e10f };
	struct frame *frame = read_joined("NRRD0004\ntype: float\nencoding: ascii\ndimension: 2\n"
	    "sizes: 2 2\n", "-1.5 1e10\n0, 7 ", 16);

	(void)state;
	assert_floats(frame, 0, 0, expected);
	frame_free(frame);
#define TEXT "NRRD0004\ntype: uchar\nencoding: text\ndimension: 2\nsizes: 2 1\n"
	frame = read_joined(TEXT, "7 255\n", 6);
	assert_memory_equal(frame_row(frame, 0, 0), "\x07\xff", 2);
	frame_free(frame);
	assert_refused(TEXT, "7 256", 5, "memory: sample does not fit into uchar: 256");
	assert_refused(TEXT, "7 nan", 5, "memory: sample does not fit into uchar: nan");
	assert_refused(TEXT, "7 x  ", 5, "memory: sample is not a number: x");
	assert_refused(TEXT, "7    ", 5, "memory: truncated: expected 2 samples, got 1");
	assert_refused(TEXT, "7", 1, "memory: truncated: 2 samples cannot be written in 1 bytes");
}

/* ---- gzip ---- */

static size_t
packed(const void *data, size_t n, unsigned char *to, size_t size)
{
	z_stream z = { 0 };

	assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = (void *)data;
	z.avail_in = (uInt)n;
	z.next_out = to;
	z.avail_out = (uInt)size;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	return size - z.avail_out;
}

/* What gzip_file_unpack() says of n bytes in a file behind `before` others. */
static bool
unpacks(const unsigned char *zipped, size_t n, size_t before, unsigned char *to, size_t bytes)
{
	FILE *file = tmpfile();
	bool unpacked;

	assert_non_null(file);
	for (size_t i = 0; i < before; i++)
		putc('x', file);
	assert_int_equal(fwrite(zipped, 1, n, file), n);
	assert_int_equal(fseeko(file, (off_t)before, SEEK_SET), 0);
	unpacked = gzip_file_unpack(file, to, bytes);
	assert_int_equal(ftello(file), unpacked ? before + n : before);
	fclose(file);
	return unpacked;
}

static void
gzip_in_one_piece(void **state)
{
	static unsigned char data[200000], to[sizeof(data) + 1], zipped[2 * sizeof(data)];
	size_t bytes = sizeof(data), first, n;
	FILE *file;
	int end[2];

	(void)state;
	for (size_t i = 0; i < bytes; i++)
		data[i] = (unsigned char)(i * i >> 5);
	first = packed(data, 70000, zipped, sizeof(zipped));
	n = first + packed(data + 70000, bytes - 70000, zipped + first, sizeof(zipped) - first);
	to[bytes] = 0xa5;
	assert_true(unpacks(zipped, n, 0, to, bytes) && unpacks(zipped, n, 77, to, bytes));
	assert_memory_equal(to, data, bytes);
	assert_int_equal(to[bytes], 0xa5);
	assert_true(unpacks(zipped, n + 9, 0, to, bytes));	/* rubbish behind them */
	assert_false(unpacks(zipped, n, 0, to, bytes - 1));	/* more than is wanted */
	assert_false(unpacks(zipped, n, 0, to, bytes + 1));	/* less */
	assert_false(unpacks(zipped, n - 1, 0, to, bytes));
	assert_false(unpacks(zipped, n, 0, to, (size_t)1 << 40));
	zipped[3] = 2;		/* a sum of the head, which is zlib's to check */
	assert_false(unpacks(zipped, n, 0, to, bytes));
	zipped[3] = 0;
	zipped[first - 6] ^= 1;	/* the first member's sum */
	assert_false(unpacks(zipped, n, 0, to, bytes));
	zipped[first - 6] ^= 1;
	assert_true(unpacks(zipped, n, 0, to, bytes));
	assert_int_equal(pipe(end), 0);
	assert_int_equal(write(end[1], zipped, 1000), 1000);
	file = fdopen(end[0], "rb");
	assert_false(gzip_file_unpack(file, to, bytes));
	assert_int_equal(getc(file), zipped[0]);
	fclose(file);
	close(end[1]);
}

#define GZIP "NRRD0004\ntype: ushort\nendian: big\nencoding: gzip\ndimension: 2\nsizes: 129 65\n"

static void
gzip_data(void **state)
{
	size_t bytes = 129 * 65 * 2, n;
	unsigned char *data = malloc(bytes), *zipped = malloc(2 * bytes);
	struct frame *frame;

	(void)state;
	for (size_t i = 0; i < bytes; i++)
		data[i] = (unsigned char)(i * i >> 3);
	/* two members, the second one with more than is needed, then rubbish */
	n = packed(data, 1001, zipped, 2 * bytes);
	n += packed(data + 1001, bytes - 1001, zipped + n, 2 * bytes - n);
	memcpy(zipped + n, "\nrubbish", 8);
	frame = read_joined(GZIP, zipped, n + 8);
	for (size_t y = 0; y < 65; y++)
		for (size_t x = 0; x < 129; x++) {
			const unsigned char *at = data + 2 * (y * 129 + x);

			assert_int_equal(
			    ((uint16_t *)frame_row(frame, 0, y))[x], at[0] << 8 | at[1]);
		}
	frame_free(frame);
	assert_refused(GZIP, zipped, n - 1, "memory: truncated: the gzip data lack their end");
	n = packed(data, 999, zipped, 2 * bytes);
	assert_refused(GZIP, zipped, n, "memory: truncated: expected 16770 bytes, got 999");
	zipped[n - 5] ^= 1;
	assert_refused(GZIP, zipped, n, "memory: gzip data are damaged: incorrect data check");
	assert_refused(GZIP, "abcdefghijklmnopqrst", 20,
	    "memory: gzip data are damaged: incorrect header check");
	assert_refused(GZIP, "", 0, "memory: truncated: 16770 bytes cannot be packed into 0");
	free(data);
	free(zipped);
}

/* ---- refusals ---- */

#define UCHAR "NRRD0004\ntype: uchar\n"

static void
refused_headers(void **state)
{
	static const char *const cases[][2] = {
		{ "NRRD0006\n", "NRRD version is not known: NRRD0006" },
		{ "NRRD000x\n", "NRRD version is not known: NRRD000x" },
		{ "PNG here\n",
		    "no NRRD header where a frame should begin, but 0x50 0x4e 0x47 0x20" },
		{ UCHAR "nonsense\n", "not a line of a NRRD header: nonsense" },
		{ UCHAR "endain: little\n", "not a line of a NRRD header: endain: little" },
		{ UCHAR, "header lacks the field encoding" },
		{ UCHAR "encoding: bzip2\n", "encoding is not raw, gzip or ascii, but bzip2" },
		{ UCHAR "encoding: raw\ndata file: x.raw\n",
		    "data in a separate file are not read: data file: x.raw" },
		{ UCHAR "encoding: raw\nDataFile: LIST\n",
		    "data in a separate file are not read: data file: LIST" },
		{ UCHAR "encoding: raw\nbyte skip: -1\n", "skips are not read: byte skip: -1" },
		{ UCHAR "encoding: raw\nlineskip: 3\n", "skips are not read: line skip: 3" },
		{ "NRRD0004\nencoding: raw\n", "header lacks the field type" },
		{ "NRRD0004\nencoding: raw\ntype: block\n", "type cannot be read: block" },
		{ "NRRD0004\nencoding: raw\ntype: |\n", "type cannot be read: |" },
		{ "NRRD0004\nencoding: raw\ntype: float\n", "header lacks the field endian" },
		{ "NRRD0004\nencoding: raw\ntype: float\nendian: middle\n",
		    "endian is neither little nor big, but middle" },
		{ UCHAR "encoding: raw\n", "header lacks the field dimension" },
		{ UCHAR "encoding: raw\ndimension: 2\n", "header lacks the field sizes" },
		{ UCHAR "encoding: raw\ndimension: 1\nsizes: 3\n",
		    "dimension is not 2 or 3, but 1" },
		{ UCHAR "encoding: raw\ndimension: 4\nsizes: 1 1 1 1\n",
		    "dimension is not 2 or 3, but 4" },
		{ UCHAR "encoding: raw\ndimension: 2\nsizes: 3\n", "sizes are not 2 numbers: 3" },
		{ UCHAR "encoding: raw\ndimension: 2\nsizes: 3 0\n",
		    "sizes are not 2 numbers from 1 on: 3 0" },
		{ UCHAR "encoding: raw\ndimension: 2\nsizes: 3 -2\n",
		    "sizes are not 2 numbers from 1 on: 3 -2" },
		{ UCHAR "encoding: raw\ndimension: 2\nsizes: 99999999999999999999 1\n",
		    "sizes are not 2 numbers from 1 on: 99999999999999999999 1" },
		{ UCHAR "encoding: raw\ndimension: 2\nsizes: 3 2\n",
		    "truncated: expected 6 bytes, got 5" },
		{ UCHAR "encoding: raw\ndimension: 2\nsizes: 100000 100000\n",
		    "truncated: expected 10000000000 bytes, got 5" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char message[200];

		snprintf(message, sizeof(message), "memory: %s", cases[i][1]);
		assert_refused(cases[i][0], "12345", 5, message);
	}
}

static void
sizes_that_overflow(void **state)
{
	(void)state;
	assert_refused(UCHAR "encoding: raw\ndimension: 2\nsizes: 4611686018427387904 4\n", "", 0,
	    "size overflows: 4611686018427387904 times 4");
	assert_refused(UCHAR "encoding: raw\ndimension: 3\nsizes: 1 1 65537\n", "", 0,
	    "a frame has 1 to 65536 channels, not 65537");
	assert_refused("NRRD0004\ntype: double\nendian: little\nencoding: raw\ndimension: 2\n"
	    "sizes: 4294967296 2147483648\n", "", 0, "size overflows: 9223372036854775808 times 8");
}

static void
truncated_anywhere(void **state)
{
	struct frame *frame = frame_made(5, 7, 1, SAMPLE_USHORT, 1), *back;
	struct bytes bytes = written(frame);

	(void)state;
	for (size_t n = 1; n < bytes.n; n++) {
		assert_int_equal(read_from(bytes.at, n, &back), -1);
		assert_null(back);
		fail_clear();
	}
	assert_int_equal(read_from(bytes.at, 6, &back), -1);
	assert_failed("memory: no NRRD header where a frame should begin, but 0x4e 0x52 0x52 0x44");
	assert_int_equal(read_from(bytes.at, 20, &back), -1);
	assert_failed("memory: truncated: the header ends after 20 bytes");
	free(bytes.at);
	frame_free(frame);
}

static void
long_header(void **state)
{
	char *header = malloc(17000000);
	struct frame *frame;

	(void)state;
	memset(header, '#', 17000000);
	memcpy(header, "NRRD0004\n", 9);
	assert_int_equal(read_from(header, 17000000, &frame), -1);
	assert_failed("memory: header is longer than 16777216 bytes");
	free(header);
}

/* A pipe cannot be asked for its length: the frame is there, or it is cut short. */
static void
pipes(void **state)
{
	struct frame *frame = frame_made(33, 7, 1, SAMPLE_FLOAT, 1), *back;
	struct bytes bytes = written(frame);
	int fd[2];

	(void)state;
	for (size_t cut = 0; cut < 2; cut++) {
		FILE *file;

		assert_int_equal(pipe(fd), 0);
		assert_int_equal(write(fd[1], bytes.at, bytes.n - cut), (ssize_t)(bytes.n - cut));
		close(fd[1]);
		file = fdopen(fd[0], "rb");
		assert_int_equal(stream_read(file, "pipe", &back), cut ? -1 : 1);
		if (cut) {
			assert_failed("pipe: truncated: expected 924 bytes, got 923");
		} else {
			assert_frames_equal(frame, back);
			frame_free(back);
			assert_int_equal(stream_read(file, "pipe", &back), 0);
		}
		fclose(file);
	}
	free(bytes.at);
	frame_free(frame);
}

static void
a_lying_header_on_a_pipe(void **state)
{
	static const char header[] =
	    UCHAR "encoding: raw\ndimension: 2\nsizes: 1000000 100000000000\n\n";
	struct frame *back;
	int fd[2];
	FILE *file;

	(void)state;
	assert_int_equal(pipe(fd), 0);
	assert_int_equal(write(fd[1], header, sizeof(header) - 1), sizeof(header) - 1);
	close(fd[1]);
	file = fdopen(fd[0], "rb");
	assert_int_equal(stream_read(file, "pipe", &back), -1);
	assert_failed("pipe: frame of 1000000 x 100000000000 x 1 uchar is larger than the memory");
	fclose(file);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_padded_rows),
		cmocka_unit_test(round_trip),
		cmocka_unit_test(heads_of_the_same_names_are_equal),
		cmocka_unit_test(header_bytes),
		cmocka_unit_test(metadata_round_trip),
		cmocka_unit_test(odd_names_are_written_safely),
		cmocka_unit_test(frames_follow_each_other),
		cmocka_unit_test(whole_files),
		cmocka_unit_test(header_ends_once),
		cmocka_unit_test(write_errors),
		cmocka_unit_test(fields_in_any_order),
		cmocka_unit_test(every_type),
		cmocka_unit_test(unsigned_types_stay),
		cmocka_unit_test(long_rows_of_double),
		cmocka_unit_test(channel_axis),
		cmocka_unit_test(interleaved_wide_samples),
		cmocka_unit_test(foreign_keys),
		cmocka_unit_test(channel_names_that_do_not_fit),
		cmocka_unit_test(text_samples),
		cmocka_unit_test(gzip_data),
		cmocka_unit_test(gzip_in_one_piece),
		cmocka_unit_test(refused_headers),
		cmocka_unit_test(sizes_that_overflow),
		cmocka_unit_test(truncated_anywhere),
		cmocka_unit_test(long_header),
		cmocka_unit_test(pipes),
		cmocka_unit_test(a_lying_header_on_a_pipe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
