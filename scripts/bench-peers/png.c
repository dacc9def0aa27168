/*
 * Times PNG files read and written by libpng or libspng, from file to file, for scripts/bench:
 *
 *   png read|write libpng|libpng1|spng FRAMES FILE ...
 *
 * prints milliseconds per frame by the clock and of the processor; write also prints the bytes of a
 * frame, the mean of all files. libpng1 is libpng at its fastest level, 1, with no filter. Rows are
 * as the file has them, 8 and 16 bits, grey or colour, and lie in the order of the format.
 */
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#if __has_include(<spng.h>)
#include <spng.h>
#define HAS_SPNG 1
#else
#define HAS_SPNG 0
#endif

#define WRITTEN "written_by_peer_%04ld.png"	/* a new file for every frame, as ours */

struct picture {
	png_uint_32 w, h;
	int depth, colour;
	size_t bytes;
	unsigned char *pixels;
};

static void
die(const char *why)
{
	fprintf(stderr, "png: %s\n", why);
	exit(1);
}

static char written[64];	/* the name of the next file */

static void
name_written(long frame)
{
	snprintf(written, sizeof(written), WRITTEN, frame);
}

static FILE *
open_file(const char *path, const char *mode)
{
	FILE *file = fopen(path, mode);

	if (!file)
		die(path);
	return file;
}

static unsigned char *
allocate(size_t n)
{
	unsigned char *at = malloc(n);

	if (!at)
		die("no memory");
	return at;
}

static struct picture
read_libpng(const char *path)
{
	FILE *file = open_file(path, "rb");
	png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
	png_infop info = png_create_info_struct(png);
	struct picture picture = { 0 };
	size_t row;

	png_init_io(png, file);
	png_read_info(png, info);
	picture.w = png_get_image_width(png, info);
	picture.h = png_get_image_height(png, info);
	picture.depth = png_get_bit_depth(png, info);
	picture.colour = png_get_color_type(png, info);
	if (png_get_interlace_type(png, info) != PNG_INTERLACE_NONE)
		die("interlaced");
	if (picture.depth == 16)
		png_set_swap(png);
	png_read_update_info(png, info);
	row = png_get_rowbytes(png, info);
	picture.bytes = row * picture.h;
	picture.pixels = allocate(picture.bytes);
	for (size_t y = 0; y < picture.h; y++)
		png_read_row(png, picture.pixels + y * row, NULL);
	png_read_end(png, NULL);
	png_destroy_read_struct(&png, &info, NULL);
	fclose(file);
	return picture;
}

static void
write_libpng(const struct picture *picture, int fastest)
{
	FILE *file = open_file(written, "wb");
	png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
	png_infop info = png_create_info_struct(png);
	const size_t row = picture->bytes / picture->h;

	png_init_io(png, file);
	png_set_IHDR(png, info, picture->w, picture->h, picture->depth, picture->colour,
	    PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
	if (fastest) {
		png_set_compression_level(png, 1);
		png_set_filter(png, 0, PNG_FILTER_NONE);
	}
	png_write_info(png, info);
	if (picture->depth == 16)
		png_set_swap(png);
	for (size_t y = 0; y < picture->h; y++)
		png_write_row(png, picture->pixels + y * row);
	png_write_end(png, NULL);
	png_destroy_write_struct(&png, &info);
	if (fclose(file))
		die("cannot write");
}

#if HAS_SPNG
static void
read_spng(const char *path)
{
	FILE *file = open_file(path, "rb");
	spng_ctx *spng = spng_ctx_new(0);
	unsigned char *pixels;
	size_t bytes;

	if (spng_set_png_file(spng, file) || spng_decoded_image_size(spng, SPNG_FMT_PNG, &bytes))
		die(path);
	pixels = allocate(bytes);
	if (spng_decode_image(spng, pixels, bytes, SPNG_FMT_PNG, 0))
		die(path);
	free(pixels);
	spng_ctx_free(spng);
	fclose(file);
}

static void
write_spng(const struct picture *picture)
{
	struct spng_ihdr head = { .width = picture->w, .height = picture->h,
		.bit_depth = (uint8_t)picture->depth, .color_type = (uint8_t)picture->colour };
	FILE *file = open_file(written, "wb");
	spng_ctx *spng = spng_ctx_new(SPNG_CTX_ENCODER);

	if (spng_set_png_file(spng, file) || spng_set_ihdr(spng, &head) ||
	    spng_encode_image(spng, picture->pixels, picture->bytes, SPNG_FMT_PNG,
	    SPNG_ENCODE_FINALIZE))
		die("libspng cannot write");
	spng_ctx_free(spng);
	if (fclose(file))
		die("cannot write");
}
#else
static void
read_spng(const char *path)
{
	die(path);
}

static void
write_spng(const struct picture *picture)
{
	(void)picture;
}
#endif

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
	const long frames = argc > 4 ? atol(argv[3]) : 0;
	const int n = argc - 4, writes = argc > 4 && !strcmp(argv[1], "write");
	const int spng = argc > 4 && !strcmp(argv[2], "spng");
	struct picture *picture;
	double start, start_cpu, bytes = 0;

	if (n > 0 && spng && !HAS_SPNG)
		return 3;
	if (frames < 1)
		die("png read|write libpng|libpng1|spng FRAMES FILE ...");
	picture = calloc((size_t)n, sizeof(*picture));
	for (int i = 0; picture && i < n; i++)
		picture[i] = read_libpng(argv[4 + i]);
	if (!picture)
		die("no memory");
	start = now(CLOCK_MONOTONIC);
	start_cpu = now(CLOCK_PROCESS_CPUTIME_ID);
	for (long i = 0; i < frames; i++) {
		name_written(i);
		if (!writes && spng)
			read_spng(argv[4 + i % n]);
		else if (!writes)
			free(read_libpng(argv[4 + i % n]).pixels);
		else if (spng)
			write_spng(&picture[i % n]);
		else
			write_libpng(&picture[i % n], !strcmp(argv[2], "libpng1"));
	}
	printf("%.5f %.5f", (now(CLOCK_MONOTONIC) - start) / (double)frames,
	    (now(CLOCK_PROCESS_CPUTIME_ID) - start_cpu) / (double)frames);
	for (int i = 0; writes && i < n; i++) {
		struct stat status;

		if (spng)
			write_spng(&picture[i]);
		else
			write_libpng(&picture[i], !strcmp(argv[2], "libpng1"));
		if (stat(written, &status) == 0)
			bytes += (double)status.st_size / n;
	}
	printf(writes ? " %.0f\n" : "\n", bytes);
	for (long i = 0; i < frames; i++) {
		name_written(i);
		remove(written);
	}
	return 0;
}
