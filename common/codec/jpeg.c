/*
 * JPEG by libjpeg-turbo, grey, YCbCr or RGB. Our key lines are comment markers; lines longer than
 * one marker go on in the next. Data that the library only warns of (cut or damaged) is an error
 * here: a grey rectangle must not be taken for a measurement; and files that we write hold a check
 * sum.
 */
#include "io/codec.h"

#include <jerror.h>
#include <jpeglib.h>
#include <libdeflate.h>
#include <math.h>
#include <setjmp.h>

#include "base/process.h"
#include "base/text.h"
#include "frame/samples.h"
#include "holo/holo.h"
#include "io/target.h"

#define MARKER_BYTES 65533
#define APP1 (JPEG_APP0 + 1)	/* Exif, XMP */
#define APP2 (JPEG_APP0 + 2)	/* MPF, and profiles of colour */
#define EXIF_BYTES 4096	/* of its marker: the first directory, not the preview */
#define EXIF_ORIENTATION 0x112
#define SCANS_MOST 500		/* each takes the time of the picture; encoders make a dozen */

/* What is open while libjpeg may jump. It lives on the heap: no local can be lost by the jump. */
struct job {
	struct jpeg_error_mgr errors;	/* first: libjpeg hands its address back */
	jmp_buf back;
	struct jpeg_progress_mgr progress;
	const char *path;
	size_t left;			/* in the file before libjpeg read ahead */
	bool of_camera;
	union {
		struct jpeg_common_struct common;
		struct jpeg_decompress_struct in;
		struct jpeg_compress_struct out;
	} jpeg;
	struct frame_head head;
	struct frame *frame;
	unsigned char *row;
	char *text;
	struct text memory;		/* what is written, before its sum is known */
};

static bool
jpeg_sniff(const unsigned char *start, size_t n)
{
	return n >= 3 && start[0] == 0xff && start[1] == 0xd8 && start[2] == 0xff;
}

static void
on_error(j_common_ptr jpeg)
{
	struct job *job = (struct job *)jpeg->err;
	char message[JMSG_LENGTH_MAX];

	jpeg->err->format_message(jpeg, message);
	fail(job->path, "JPEG: %s", message);
	longjmp(job->back, 1);
}

static void
on_message(j_common_ptr jpeg, int level)
{
	if (level < 0)	/* a warning: damaged data */
		on_error(jpeg);
}

static void
stay_silent(j_common_ptr)
{
}

/* Ends a step when fail() has been called already. */
static void
jump_if(struct job *job, bool failed)
{
	if (failed)
		longjmp(job->back, 1);
}

static struct job *
job_new(const char *path)
{
	struct job *job = must_alloc(1, sizeof(*job));

	job->path = path;
	job->jpeg.common.err = jpeg_std_error(&job->errors);
	job->errors.error_exit = on_error;
	job->errors.emit_message = on_message;
	job->errors.output_message = stay_silent;
	return job;
}

static void
job_free(struct job *job)
{
	jpeg_destroy(&job->jpeg.common);
	head_free(&job->head);
	free(job->row);
	free(job->text);
	text_drop(&job->memory);
	free(job);
}

/* ---- a sum over the file ---- */

/*
 * A check sum over a JPEG file. Entropy-coded data with a flipped byte often decode without an
 * error, to levels that are shifted from there on; PNG has check sums of its own, JPEG has none.
 *
 * The comment marker `jpeg_crc32:=SUM LENGTH`, first in the file or after its JFIF marker, holds
 * the CRC-32 (as of PNG, in hexadecimal) and the number of all other bytes. A program that writes
 * the picture anew and copies comments changes the length, and the sum is then ignored.
 */

#define KEY "jpeg_crc32:="
#define TEXT_BYTES 31 /* of the comment: key, 8 digits, blank, 10 digits */
#define SUM_BYTES (4 + TEXT_BYTES)
#define CHUNK 65536

struct summed {
	struct jpeg_source_mgr manager; /* first: libjpeg passes its address */
	FILE *file;
	uint32_t sum;
	unsigned long long bytes; /* summed up */
	char stored[TEXT_BYTES + 1]; /* the file's sum; empty: it has none */
	bool started;
	JOCTET byte[CHUNK];
};

/* Is this comment a sum? */
static bool
is_sum(const unsigned char *comment, size_t n)
{
	return n == TEXT_BYTES && !memcmp(comment, KEY, sizeof(KEY) - 1);
}

/* Where the sum is written: after SOI, and after a JFIF marker, which must be the first. */
static size_t
place_of(const unsigned char *jpeg, size_t n)
{
	size_t behind = n >= 6 && jpeg[2] == 0xff && jpeg[3] == 0xe0
	    ? 4 + (size_t)jpeg[4] * 256 + jpeg[5]
	    : 2;

	return behind <= n ? behind : n;
}

/* Writes the n bytes of a JPEG with its sum. 0, or -1 after fail(). */
static int
write_with_sum(const char *path, FILE *file, const unsigned char *jpeg, size_t n)
{
	size_t place = place_of(jpeg, n);
	char marker[SUM_BYTES + 16] = { (char)0xff, (char)JPEG_COM, 0, 2 + TEXT_BYTES };

	snprintf(marker + 4, sizeof(marker) - 4, KEY "%08lx %010zu",
	    (unsigned long)libdeflate_crc32(libdeflate_crc32(0, jpeg, place), jpeg + place,
	    n - place), n);
	if (samples_write(path, file, jpeg, place) < 0 ||
	    samples_write(path, file, marker, SUM_BYTES) < 0)
		return -1;
	return samples_write(path, file, jpeg + place, n - place);
}

/* ---- reading ---- */

static void
add(struct summed *summed, const JOCTET *byte, size_t n)
{
	summed->sum = libdeflate_crc32(summed->sum, byte, n);
	summed->bytes += n;
}

/* Leaves the sum's own marker out. */
static void
add_first(struct summed *summed, size_t n)
{
	size_t place = place_of(summed->byte, n);
	const JOCTET *marker = summed->byte + place;

	add(summed, summed->byte, place);
	if (n - place >= SUM_BYTES && marker[0] == 0xff && marker[1] == JPEG_COM &&
	    marker[2] == 0 && marker[3] == 2 + TEXT_BYTES &&
	    is_sum(marker + 4, TEXT_BYTES)) {
		memcpy(summed->stored, marker + 4, TEXT_BYTES);
		place += SUM_BYTES;
	}
	add(summed, summed->byte + place, n - place);
}

static size_t
next_bytes(struct summed *summed)
{
	size_t n = fread(summed->byte, 1, CHUNK, summed->file);

	if (summed->started)
		add(summed, summed->byte, n);
	else
		add_first(summed, n);
	summed->started = true;
	return n;
}

static boolean
fill(j_decompress_ptr jpeg)
{
	struct summed *summed = (struct summed *)jpeg->src;
	size_t n = next_bytes(summed);

	if (n == 0)
		WARNMS(jpeg, JWRN_JPEG_EOF); /* an error for the codec: it does not return */
	summed->manager.next_input_byte = summed->byte;
	summed->manager.bytes_in_buffer = n;
	return n > 0;
}

static void
skip(j_decompress_ptr jpeg, long n)
{
	struct jpeg_source_mgr *manager = jpeg->src;

	while (n > (long)manager->bytes_in_buffer) {
		n -= (long)manager->bytes_in_buffer;
		if (!fill(jpeg))
			return;
	}
	if (n > 0) {
		manager->next_input_byte += n;
		manager->bytes_in_buffer -= (size_t)n;
	}
}

static void
nothing(j_decompress_ptr jpeg)
{
	(void)jpeg;
}

/* Gives libjpeg the bytes of a file as jpeg_stdio_src() does, and sums them up. libjpeg owns
 * the memory and frees it. */
static void
sum_source(j_decompress_ptr jpeg, FILE *file)
{
	struct summed *summed = (*jpeg->mem->alloc_large)(
	    (j_common_ptr)jpeg, JPOOL_PERMANENT, sizeof(*summed));

	memset(summed, 0, offsetof(struct summed, byte));
	summed->file = file;
	summed->manager = (struct jpeg_source_mgr){ .init_source = nothing,
		.fill_input_buffer = fill, .skip_input_data = skip,
		.resync_to_restart = jpeg_resync_to_restart, .term_source = nothing };
	jpeg->src = &summed->manager;
}

/* After the last scan: reads to the end of the file. The bytes behind the picture; 0 where they
 * only fill it up (samples_rest_read()). */
static size_t
rest_behind(j_decompress_ptr jpeg)
{
	struct summed *summed = (struct summed *)jpeg->src;
	size_t n = summed->manager.bytes_in_buffer, left = n;
	bool padding = samples_rest_is_padding(summed->manager.next_input_byte, n);

	while ((n = next_bytes(summed)) > 0) {
		left += n;
		padding = padding && samples_rest_is_padding(summed->byte, n);
	}
	return padding || left <= SAMPLES_REST_WORD ? 0 : left;
}

/* After the last scan: reads to the end of the file. -1 after fail() if it holds a sum that
 * differs from that of its bytes. */
static int
check_sum(j_decompress_ptr jpeg, const char *path)
{
	struct summed *summed = (struct summed *)jpeg->src;
	unsigned long sum;
	unsigned long long length;

	if (!*summed->stored ||
	    sscanf(summed->stored + sizeof(KEY) - 1, "%8lx %10llu", &sum, &length) != 2)
		return 0;
	while (summed->bytes <= length && next_bytes(summed) > 0)
		;
	if (summed->bytes != length || summed->sum == sum)
		return 0;
	return fail(path, "JPEG: damaged: its bytes are not those that were written");
}

/* All such comments as one text; one that fills its marker is continued by the next. */
static void
take_text(struct job *job)
{
	size_t n = 0;

	for (jpeg_saved_marker_ptr m = job->jpeg.in.marker_list; m; m = m->next)
		n += m->data_length + 1;
	job->text = must_resize(NULL, n + 1, 1);
	n = 0;
	for (jpeg_saved_marker_ptr m = job->jpeg.in.marker_list; m; m = m->next) {
		if (m->marker != JPEG_COM || is_sum(m->data, m->data_length))
			continue;
		memcpy(job->text + n, m->data, m->data_length);
		n += m->data_length;
		if (m->data_length < MARKER_BYTES)
			job->text[n++] = '\n';
	}
	jump_if(job, head_from_text(&job->head, job->text, n) < 0);
}

/* Cameras, whose files have Exif, XMP or MPF, put previews, films and more pictures of the moment
 * behind the picture. */
static bool
is_of_camera(const struct job *job)
{
	for (jpeg_saved_marker_ptr m = job->jpeg.in.marker_list; m; m = m->next)
		if (m->marker == APP1 ||
		    (m->marker == APP2 && m->data_length >= 4 && !memcmp(m->data, "MPF", 4)))
			return true;
	return false;
}

static size_t
exif_number(const unsigned char *at, size_t bytes, bool little)
{
	size_t v = 0;

	for (size_t i = 0; i < bytes; i++)
		v = v << 8 | at[little ? bytes - 1 - i : i];
	return v;
}

/* From the first directory of the Exif data, which is that of a TIFF file; 1: there is none. */
static unsigned
exif_orientation(const struct job *job)
{
	jpeg_saved_marker_ptr m = job->jpeg.in.marker_list;
	const unsigned char *tiff;
	size_t n, at, entries;
	bool little;

	while (m && !(m->marker == APP1 && m->data_length >= 14 && !memcmp(m->data, "Exif\0", 6)))
		m = m->next;
	if (!m)
		return 1;
	tiff = m->data + 6;
	n = m->data_length - 6;
	little = *tiff == 'I';
	at = exif_number(tiff + 4, 4, little);
	if (at > n - 2)
		return 1;
	entries = exif_number(tiff + at, 2, little);
	for (at += 2; entries && at + 12 <= n; at += 12, entries--)
		if (exif_number(tiff + at, 2, little) == EXIF_ORIENTATION)
			return (unsigned)exif_number(tiff + at + 8, 2, little);
	return 1;
}

static void
read_head(struct job *job)
{
	struct jpeg_decompress_struct *jpeg = &job->jpeg.in;

	jpeg_save_markers(jpeg, JPEG_COM, 0xffff);
	jpeg_save_markers(jpeg, APP1, EXIF_BYTES);
	jpeg_save_markers(jpeg, APP2, 4);
	jpeg_read_header(jpeg, TRUE);
	jump_if(job, jpeg->num_components != 1 && jpeg->num_components != 3 && fail(job->path,
	    "JPEG of %d components is neither grey nor RGB (CMYK?)", jpeg->num_components) < 0);
	jpeg->out_color_space = jpeg->num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
	/* an empty block takes a bit or two, of progressive or arithmetic coding less */
	jump_if(job, samples_check_claim(job->path, job->left, jpeg->image_width,
	    jpeg->image_height, (size_t)jpeg->num_components, 8, 16384) < 0);
	jump_if(job, head_init(&job->head, jpeg->image_width, jpeg->image_height,
	    (size_t)jpeg->num_components, SAMPLE_UCHAR) < 0);
	take_text(job);
	samples_note_orientation(job->path, exif_orientation(job));
	job->of_camera = is_of_camera(job);
}

/* libjpeg calls it at every row of blocks. */
static void
limit_scans(j_common_ptr common)
{
	struct job *job = (struct job *)common->err;

	jump_if(job, job->jpeg.in.input_scan_number > SCANS_MOST && fail(job->path,
	    "JPEG: has more than %d scans", SCANS_MOST) < 0);
}

static int
read_image(struct job *job, FILE *file)
{
	struct jpeg_decompress_struct *jpeg = &job->jpeg.in;

	if (setjmp(job->back))
		return -1;
	jpeg_create_decompress(jpeg);
	job->progress.progress_monitor = limit_scans;
	jpeg->progress = &job->progress;
	sum_source(jpeg, file);
	read_head(job);
	job->row = must_resize(NULL, job->head.w, job->head.c);
	jump_if(job, frame_new(&job->head, &job->frame) < 0);
	jpeg_start_decompress(jpeg);
	while (jpeg->output_scanline < jpeg->output_height) {
		size_t y = jpeg->output_scanline;
		JSAMPROW row = job->head.c == 1 ? frame_row(job->frame, 0, y) : job->row;

		jpeg_read_scanlines(jpeg, &row, 1);
		if (job->head.c > 1)
			samples_split(row, job->frame, y);
	}
	jpeg_finish_decompress(jpeg);
	if (!job->of_camera)
		samples_warn_rest(job->path, rest_behind(jpeg));
	return check_sum(jpeg, job->path);
}

static int
jpeg_load(struct loader *loader, struct frame **out)
{
	struct job *job;
	int status;

	*out = NULL;
	job = job_new(loader->path);
	job->left = samples_bytes_left(loader->file);
	status = read_image(job, loader->file);
	if (status == 0)
		*out = job->frame;
	else
		frame_free(job->frame);
	job_free(job);
	return status < 0 ? -1 : 1;
}

/* Resolution of colour in pictures of three channels: full, halved along rows, halved both ways. */
enum chroma { CHROMA_444, CHROMA_422, CHROMA_420 };

static const char *const chromas[] = { "444", "422", "420", NULL };

struct jpeg_options {
	long quality;
	int chroma, purpose;	/* chroma: -1: not given, full */
};

#define AT(field) offsetof(struct jpeg_options, field)

static const struct opt jpeg_options[] = {
	{ 0, "quality", "N", OPT_INTEGER, AT(quality), "95", 1, 100 },
	/* full resolution by default: fringes encoded in colour vary from pixel to pixel */
	{ 0, "chroma", "WORD", OPT_WORD, AT(chroma), .words = chromas },
	{ 0, "jpeg-for", "WORD", OPT_WORD, AT(purpose), "eyes", .words = jpeg_purposes },
	{ 0 },
};

/* Colour is halved by raising the resolution of brightness, the first component. */
static void
set_chroma(struct jpeg_compress_struct *jpeg, int chroma)
{
	jpeg->comp_info[0].h_samp_factor = jpeg->num_components > 1 && chroma > CHROMA_444 ? 2 : 1;
	jpeg->comp_info[0].v_samp_factor = jpeg->num_components > 1 && chroma == CHROMA_420 ? 2 : 1;
}

/* Steps at quality 50: of a block's mean, and so much more where a row or a column of the block has
 * seven half turns. */
#define FRINGE_STEP 40
#define FRINGE_RISE 20

/* Fringes are read by the angle of two channels, in which errors of all frequencies count nearly
 * alike: nearly equal steps leave the least error at a given size (of eleven kinds of tables, on
 * two scans, a depth camera's frame and a closed form). The three channels of a Holoimage have
 * little in common, and the matrix of YCbCr would put fringes into all of them and the errors of
 * two into the third, so that they are coded as they are. The third, which has the stairs, takes
 * the Huffman code that the standard made for colour, since few of its coefficients are not 0. */
static void
set_fringes(struct jpeg_compress_struct *jpeg, long quality)
{
	unsigned steps[DCTSIZE2];

	for (int i = 0; i < DCTSIZE2; i++)
		steps[i] = (unsigned)lround(FRINGE_STEP +
		    FRINGE_RISE * hypot(i % DCTSIZE, i / DCTSIZE) / (DCTSIZE - 1));
	if (jpeg->num_components == 3) {
		jpeg_set_colorspace(jpeg, JCS_RGB);
		jpeg->comp_info[2].dc_tbl_no = 1;
		jpeg->comp_info[2].ac_tbl_no = 1;
	}
	jpeg_add_quant_table(jpeg, 0, steps, jpeg_quality_scaling((int)quality), TRUE);
}

static int
write_image(struct job *job, const struct frame *frame, const struct jpeg_options *options)
{
	struct jpeg_compress_struct *jpeg = &job->jpeg.out;
	size_t n;

	if (setjmp(job->back))
		return -1;
	jpeg_create_compress(jpeg);
	jpeg_stdio_dest(jpeg, job->memory.file);
	jpeg->image_width = (JDIMENSION)frame->head.w;
	jpeg->image_height = (JDIMENSION)frame->head.h;
	jpeg->input_components = (int)frame->head.c;
	jpeg->in_color_space = frame->head.c == 1 ? JCS_GRAYSCALE : JCS_RGB;
	jpeg_set_defaults(jpeg);
	jpeg_set_quality(jpeg, (int)options->quality, TRUE);
	set_chroma(jpeg, options->chroma);
	if (options->purpose == JPEG_FOR_FRINGES)
		set_fringes(jpeg, options->quality);
	jpeg_start_compress(jpeg, TRUE);
	job->text = head_to_text(&frame->head);
	n = strlen(job->text);
	for (size_t i = 0; i < n; i += MARKER_BYTES)
		jpeg_write_marker(jpeg, JPEG_COM, (JOCTET *)job->text + i,
		    (unsigned)(n - i < MARKER_BYTES ? n - i : MARKER_BYTES));
	job->row = must_resize(NULL, frame->head.w, frame->head.c);
	while (jpeg->next_scanline < jpeg->image_height) {
		size_t y = jpeg->next_scanline;
		JSAMPROW row = frame->head.c == 1 ? frame_row(frame, 0, y) : job->row;

		if (frame->head.c > 1)
			samples_join(frame, y, row);
		jpeg_write_scanlines(jpeg, &row, 1);
	}
	jpeg_finish_compress(jpeg);
	return 0;
}

/* Has colour of half resolution blurred the fringes of a Holoimage? Reads it back. */
static int
check_fringes(const char *path, void *bytes, size_t n)
{
	FILE *file = fmemopen(bytes, n, "r");
	struct job *job = job_new(path);
	int status;

	job->left = n;
	status = !file ? fail_memory() : read_image(job, file) < 0 ? -1 :
	    holo_check_fringes(path, job->frame);
	frame_free(job->frame);
	job_free(job);
	if (file)
		fclose(file);
	return status;
}

static int
jpeg_save(struct saver *saver, const struct frame *frame)
{
	const struct jpeg_options *options = saver->options;
	const struct frame_head *head = &frame->head;
	struct job *job;
	void *bytes;
	size_t n;
	int status;

	if (head->type != SAMPLE_UCHAR)
		return fail(saver->path, "JPEG holds 8 bits a sample, not %s (use framecat "
		    "--scale, or a TIFF or NRRD file)", sample_name(head->type));
	if (head->c != 1 && head->c != 3)
		return fail(saver->path, "JPEG holds 1 or 3 channels, not %zu (use framecat "
		    "--channels, or --split for a file each)", head->c);
	if (meta_get(&head->meta, "pack") && !strcmp(meta_get(&head->meta, "pack"), "planes24"))
		return fail(saver->path, "patterns of --pack planes24 are single bits, which a "
		    "loss changes: give BMP or PNG files");
	if (head->w > JPEG_MAX_DIMENSION || head->h > JPEG_MAX_DIMENSION)
		return fail(saver->path, "JPEG holds at most %ld x %ld pixels, not %zu x %zu",
		    JPEG_MAX_DIMENSION, JPEG_MAX_DIMENSION, head->w, head->h);
	if (head->c == 1 && options->chroma > CHROMA_444)
		return fail_usage("--chroma", "%s has no effect on a picture of one channel, which "
		    "has no colour", chromas[options->chroma]);
	if (options->purpose == JPEG_FOR_FRINGES && options->chroma > CHROMA_444)
		return fail_usage("--chroma", "%s does not go with --jpeg-for fringes, which has "
		    "no plane of colour to halve", chromas[options->chroma]);
	job = job_new(saver->path);
	text_open(&job->memory);
	status = write_image(job, frame, options);
	bytes = status == 0 ? text_close(&job->memory, &n) : NULL;
	job_free(job);
	if (bytes && options->chroma > CHROMA_444 && meta_get(&head->meta, "holo_pitch_px"))
		status = check_fringes(saver->path, bytes, n);
	if (status == 0)
		status = write_with_sum(saver->path, saver->file, bytes, n);
	free(bytes);
	return status;
}

const struct codec codec_jpeg = {
	.name = "JPEG",
	.suffixes = "jpg jpeg",
	.seeks = true,		/* so that what the head claims is held against the file's size */
	.sniff = jpeg_sniff,
	.load = jpeg_load,
	.options = jpeg_options,
	.option_size = sizeof(struct jpeg_options),
	.save = jpeg_save
};
