/*
 * A filter of frames (frame(5)) in C alone, for a little-endian machine: doubles float samples and
 * passes everything else. cc -O2 -o double double.c
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char header[16777217];

static void
die(const char *what)
{
	fprintf(stderr, "double: %s\n", what);
	exit(1);
}

/* Reads through the blank line; its length, 0 at the end of the stream. */
static size_t
read_header(void)
{
	size_t n = 0;
	int byte;

	while ((byte = getchar()) != EOF) {
		if (n == sizeof(header) - 1)
			die("header is too long");
		header[n++] = (char)byte;
		if (n > 1 && byte == '\n' && header[n - 2] == '\n')
			break;
	}
	header[n] = '\0';
	if (n && (byte == EOF || strncmp(header, "NRRD0004\n", 9)))
		die("not a frame");
	if (n && (!strstr(header, "\nendian: little\n") || !strstr(header, "\nencoding: raw\n")))
		die("not little endian and raw");
	return n;
}

/* The product of the sizes. */
static size_t
count_samples(void)
{
	char *text = strstr(header, "\nsizes:"), *end;
	size_t samples = 1;

	if (!text)
		die("sizes are missing");
	text += strlen("\nsizes:");
	do {
		size_t size = strtoul(text, &end, 10);

		if (end == text)
			die("sizes are no numbers");
		if (__builtin_mul_overflow(samples, size, &samples))
			die("sizes are too large");
		text = end;
	} while (*text != '\n');
	return samples;
}

static size_t
sample_size(void)
{
	if (strstr(header, "\ntype: uchar\n"))
		return 1;
	if (strstr(header, "\ntype: ushort\n"))
		return 2;
	if (!strstr(header, "\ntype: float\n"))
		die("type is not known");
	return 4;
}

int
main(void)
{
	size_t length;

	while ((length = read_header()) > 0) {
		size_t samples = count_samples(), size = sample_size();

		fwrite(header, 1, length, stdout);
		for (size_t i = 0; i < samples; i++) {
			float v;

			if (fread(&v, size, 1, stdin) != 1)
				die("data are truncated");
			if (size == sizeof(v))
				v *= 2;
			fwrite(&v, size, 1, stdout);
		}
	}
	if (fclose(stdout) != 0)
		die("standard output could not be written");
	return 0;
}
