/*
 * Times TIFF, JPEG, raw and gzip files read and written by the bare libraries, from file to file,
 * for scripts/bench:
 *
 *   files read|write tiff|jpeg|raw|rows|float|gzip FRAMES FILE
 *
 * prints milliseconds per frame by the clock and of the processor. TIFF is libtiff with strips as
 * they are in the file, written without compression; JPEG is libjpeg-turbo, written with quality
 * 95 and colour at full resolution; raw is one read() or write() of the file's bytes; rows is
 * that read() and every row of a NRRD file moved to a place of 64 bytes, as frames have them; float
 * is that read() and a loop that makes floats of 8-bit samples behind the first blank line; gzip is
 * read() and libdeflate over what follows the first blank line (the data of an NRRD file). Samples
 * lie in the order of the format, in memory that is used again for every frame. What is written is a
 * new file for every frame, as a file that is written over costs the kernel half as much, in the
 * folder that the variable WRITTEN names.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <libdeflate.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tiffio.h>
#include <time.h>
#include <unistd.h>

#include <jpeglib.h>

#define WRITTEN "written_by_peer_%04ld"
#define STRIP_BYTES (1 << 20)

struct picture {
	uint32_t w, h;
	uint16_t channels, bits, format;
	unsigned char *bytes, *packed;	/* samples; a file before it is unpacked */
	size_t room, packed_room, n;
	char written[64];		/* the name of the next file */
};

static void
die(const char *why)
{
	fprintf(stderr, "files: %s\n", why);
	exit(1);
}

static unsigned char *
room_for(unsigned char *old, size_t *room, size_t n)
{
	void *new;

	if (n <= *room)
		return old;
	free(old);
	if (posix_memalign(&new, 4096, n))	/* the kernel copies aligned pages sooner */
		die("no memory");
	*room = n;
	return new;
}

static void
read_tiff(const char *path, struct picture *picture)
{
	TIFF *tif = TIFFOpen(path, "r");
	size_t at = 0;

	if (!tif || !TIFFGetField(tif, TIFFTAG_IMAGEWIDTH, &picture->w) ||
	    !TIFFGetField(tif, TIFFTAG_IMAGELENGTH, &picture->h))
		die(path);
	TIFFGetFieldDefaulted(tif, TIFFTAG_BITSPERSAMPLE, &picture->bits);
	TIFFGetFieldDefaulted(tif, TIFFTAG_SAMPLESPERPIXEL, &picture->channels);
	TIFFGetFieldDefaulted(tif, TIFFTAG_SAMPLEFORMAT, &picture->format);
	picture->n = (size_t)picture->w * picture->h * picture->channels * picture->bits / 8;
	picture->bytes = room_for(picture->bytes, &picture->room, picture->n);
	for (uint32_t i = 0; i < TIFFNumberOfStrips(tif); i++) {
		tmsize_t got = TIFFReadEncodedStrip(tif, i, picture->bytes + at,
		    (tmsize_t)(picture->n - at));

		if (got < 0)
			die(path);
		at += (size_t)got;
	}
	if (at != picture->n)
		die(path);
	TIFFClose(tif);
}

static void
write_tiff(const struct picture *picture)
{
	TIFF *tif = TIFFOpen(picture->written, "w");
	const size_t row = picture->n / picture->h, rows = STRIP_BYTES / row;

	if (!tif)
		die("cannot write");
	TIFFSetField(tif, TIFFTAG_IMAGEWIDTH, picture->w);
	TIFFSetField(tif, TIFFTAG_IMAGELENGTH, picture->h);
	TIFFSetField(tif, TIFFTAG_BITSPERSAMPLE, picture->bits);
	TIFFSetField(tif, TIFFTAG_SAMPLESPERPIXEL, picture->channels);
	TIFFSetField(tif, TIFFTAG_SAMPLEFORMAT, picture->format);
	TIFFSetField(tif, TIFFTAG_PHOTOMETRIC, picture->channels == 3 ? PHOTOMETRIC_RGB :
	    PHOTOMETRIC_MINISBLACK);
	TIFFSetField(tif, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
	TIFFSetField(tif, TIFFTAG_ROWSPERSTRIP, (uint32_t)rows);
	for (size_t y = 0, strip = 0; y < picture->h; y += rows, strip++) {
		size_t n = (y + rows < picture->h ? rows : picture->h - y) * row;

		if (TIFFWriteEncodedStrip(tif, (uint32_t)strip, picture->bytes + y * row,
		    (tmsize_t)n) < 0)
			die("cannot write");
	}
	TIFFClose(tif);
}

static void
read_jpeg(const char *path, struct picture *picture)
{
	FILE *file = fopen(path, "rb");
	struct jpeg_decompress_struct jpeg;
	struct jpeg_error_mgr errors;
	size_t row;

	if (!file)
		die(path);
	jpeg.err = jpeg_std_error(&errors);
	jpeg_create_decompress(&jpeg);
	jpeg_stdio_src(&jpeg, file);
	jpeg_read_header(&jpeg, TRUE);
	jpeg_start_decompress(&jpeg);
	picture->w = jpeg.output_width;
	picture->h = jpeg.output_height;
	picture->channels = (uint16_t)jpeg.output_components;
	picture->bits = 8;
	row = (size_t)picture->w * picture->channels;
	picture->n = row * picture->h;
	picture->bytes = room_for(picture->bytes, &picture->room, picture->n);
	while (jpeg.output_scanline < jpeg.output_height) {
		JSAMPROW rows[8];

		for (size_t i = 0; i < 8; i++)
			rows[i] = picture->bytes + (jpeg.output_scanline + i) * row;
		jpeg_read_scanlines(&jpeg, rows, jpeg.output_height - jpeg.output_scanline < 8 ?
		    jpeg.output_height - jpeg.output_scanline : 8);
	}
	jpeg_finish_decompress(&jpeg);
	jpeg_destroy_decompress(&jpeg);
	fclose(file);
}

static void
write_jpeg(const struct picture *picture)
{
	FILE *file = fopen(picture->written, "wb");
	struct jpeg_compress_struct jpeg;
	struct jpeg_error_mgr errors;

	if (!file)
		die("cannot write");
	jpeg.err = jpeg_std_error(&errors);
	jpeg_create_compress(&jpeg);
	jpeg_stdio_dest(&jpeg, file);
	jpeg.image_width = picture->w;
	jpeg.image_height = picture->h;
	jpeg.input_components = picture->channels;
	jpeg.in_color_space = picture->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
	jpeg_set_defaults(&jpeg);
	jpeg_set_quality(&jpeg, 95, TRUE);
	jpeg.comp_info[0].h_samp_factor = jpeg.comp_info[0].v_samp_factor = 1;
	jpeg_start_compress(&jpeg, TRUE);
	while (jpeg.next_scanline < jpeg.image_height) {
		JSAMPROW row = picture->bytes + (size_t)jpeg.next_scanline * picture->w *
		    picture->channels;

		jpeg_write_scanlines(&jpeg, &row, 1);
	}
	jpeg_finish_compress(&jpeg);
	jpeg_destroy_compress(&jpeg);
	if (fclose(file))
		die("cannot write");
}

/* The whole file: its length. */
static size_t
read_whole(const char *path, unsigned char **bytes, size_t *room)
{
	int fd = open(path, O_RDONLY);
	struct stat st;
	size_t got = 0;

	if (fd < 0 || fstat(fd, &st) < 0)
		die(path);
	*bytes = room_for(*bytes, room, (size_t)st.st_size);
	while (got < (size_t)st.st_size) {
		ssize_t n = read(fd, *bytes + got, (size_t)st.st_size - got);

		if (n <= 0)
			die(path);
		got += (size_t)n;
	}
	close(fd);
	return got;
}

static void
write_raw(const struct picture *picture)
{
	int fd = open(picture->written, O_WRONLY | O_CREAT | O_TRUNC, 0666);

	if (fd < 0 || write(fd, picture->bytes, picture->n) != (ssize_t)picture->n || close(fd) < 0)
		die("cannot write");
}

/* The data of a NRRD file, its first size, and how many samples of a byte there are. */
static unsigned char *
nrrd_data(const struct picture *picture, size_t n, size_t *w, size_t *samples)
{
	unsigned char *data = memmem(picture->bytes, n, "\n\n", 2);
	const char *sizes = memmem(picture->bytes, n, "\nsizes: ", 8);

	if (!data || !sizes)
		die("not a NRRD file");
	*w = strtoul(sizes + 8, NULL, 10);
	*samples = n - (size_t)(data + 2 - picture->bytes);
	return data + 2;
}

static void
read_rows(const char *path, struct picture *picture)
{
	size_t n = read_whole(path, &picture->bytes, &picture->room), w, samples, stride;
	unsigned char *data = nrrd_data(picture, n, &w, &samples);

	stride = (w + 63) / 64 * 64;
	if (picture->room < n + samples / w * stride) {		/* before the first is timed */
		picture->bytes = room_for(picture->bytes, &picture->room, n + samples / w * stride);
		return;
	}
	for (size_t y = samples / w; y-- > 0 && stride > w;) {
		memmove(data + y * stride, data + y * w, w);
		memset(data + y * stride + w, 0, stride - w);
	}
}

static void
read_float(const char *path, struct picture *picture)
{
	size_t n = read_whole(path, &picture->bytes, &picture->room), w, samples;
	const unsigned char *data = nrrd_data(picture, n, &w, &samples);
	float *to;

	picture->packed = room_for(picture->packed, &picture->packed_room, samples * sizeof(*to));
	to = (float *)picture->packed;
	for (size_t i = 0; i < samples; i++)
		to[i] = data[i];
}

static void
read_gzip(const char *path, struct picture *picture)
{
	struct libdeflate_decompressor *inflater = libdeflate_alloc_decompressor();
	size_t n = read_whole(path, &picture->packed, &picture->packed_room);
	const unsigned char *data = memmem(picture->packed, n, "\n\n", 2);
	uint32_t size;

	if (!inflater || !data || n - (size_t)(data - picture->packed) < 20)
		die(path);
	data += 2;
	memcpy(&size, picture->packed + n - 4, sizeof(size));
	picture->n = size;
	picture->bytes = room_for(picture->bytes, &picture->room, size);
	if (libdeflate_gzip_decompress(inflater, data, n - (size_t)(data - picture->packed),
	    picture->bytes, size, NULL) != LIBDEFLATE_SUCCESS)
		die(path);
	libdeflate_free_decompressor(inflater);
}

static void
read_file(const char *format, const char *path, struct picture *picture)
{
	if (!strcmp(format, "tiff"))
		read_tiff(path, picture);
	else if (!strcmp(format, "jpeg"))
		read_jpeg(path, picture);
	else if (!strcmp(format, "gzip"))
		read_gzip(path, picture);
	else if (!strcmp(format, "rows"))
		read_rows(path, picture);
	else if (!strcmp(format, "float"))
		read_float(path, picture);
	else
		picture->n = read_whole(path, &picture->bytes, &picture->room);
}

static void
write_file(const char *format, const struct picture *picture)
{
	if (!strcmp(format, "tiff"))
		write_tiff(picture);
	else if (!strcmp(format, "jpeg"))
		write_jpeg(picture);
	else
		write_raw(picture);
}

static double
now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

int
main(int argc, char **argv)
{
	const long frames = argc == 5 ? atol(argv[3]) : 0;
	struct picture picture = { 0 };
	double start, start_cpu;

	if (frames < 1)
		die("files read|write tiff|jpeg|raw|rows|float|gzip FRAMES FILE");
	TIFFSetWarningHandler(NULL);
	read_file(argv[2], argv[4], &picture);
	if (!strcmp(argv[1], "write") && getenv("WRITTEN") && chdir(getenv("WRITTEN")) < 0)
		die("no folder to write into");
	start = now(CLOCK_MONOTONIC);
	start_cpu = now(CLOCK_PROCESS_CPUTIME_ID);
	for (long i = 0; i < frames; i++) {
		if (!strcmp(argv[1], "write")) {
			snprintf(picture.written, sizeof(picture.written), WRITTEN, i);
			write_file(argv[2], &picture);
		} else {
			read_file(argv[2], argv[4], &picture);
		}
	}
	printf("%.5f %.5f\n", (now(CLOCK_MONOTONIC) - start) / (double)frames,
	    (now(CLOCK_PROCESS_CPUTIME_ID) - start_cpu) / (double)frames);
	for (long i = 0; i < frames && !strcmp(argv[1], "write"); i++) {
		snprintf(picture.written, sizeof(picture.written), WRITTEN, i);
		remove(picture.written);
	}
	return 0;
}
