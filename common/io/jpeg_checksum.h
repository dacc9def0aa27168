/* The checksum in JPEG files, and what a JPEG is written for. */
#ifndef JPEG_CHECKSUM_H
#define JPEG_CHECKSUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <jpeglib.h>

/* What the steps of quantisation of a JPEG file are chosen for: the option --jpeg-for of the codec
 * and of the tools that write such files. */

enum jpeg_purpose {
	JPEG_FOR_EYES,		/* YCbCr, by the tables of ITU-T T.81, Annex K */
	JPEG_FOR_FRINGES,	/* RGB, by steps that leave the angle of two channels exact */
};

/* Their words, ended by NULL. */
extern const char *const jpeg_purposes[];

/*
 * A check sum over a JPEG file. Entropy-coded data with a flipped byte often decode without an
 * error, to levels that are shifted from there on; PNG has check sums of its own, JPEG has none.
 *
 * The comment marker `jpeg_crc32:=SUM LENGTH`, first in the file or after its JFIF marker, holds
 * the CRC-32 (as of PNG, in hexadecimal) and the number of all other bytes. A program that writes
 * the picture anew and copies comments changes the length, and the sum is then ignored.
 */

/* Writes the n bytes of a JPEG with its sum. 0, or -1 after fail(). */
int jpeg_checksum_write(const char *path, FILE *, const unsigned char *jpeg, size_t n);

/* Is this comment a sum? */
bool jpeg_checksum_is(const unsigned char *comment, size_t n);

/* Gives libjpeg the bytes of a file as jpeg_stdio_src() does, and sums them up. libjpeg owns
 * the memory and frees it. */
void jpeg_checksum_source(j_decompress_ptr, FILE *);
/* After the last scan: reads to the end of the file. The bytes behind the picture; 0 where they
 * only fill it up (samples_rest_read()). */
size_t jpeg_checksum_rest(j_decompress_ptr);
/* After the last scan: reads to the end of the file. -1 after fail() if it holds a sum that
 * differs from that of its bytes. */
int jpeg_checksum_check(j_decompress_ptr, const char *path);

#endif
