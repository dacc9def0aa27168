/*
 * Pixels of PNG files by libdeflate and unfilter.h: 8 and 16 bits a sample, not interlaced, not of
 * a palette.
 */
#ifndef IDAT_READ_H
#define IDAT_READ_H

#include <stdio.h>

#include "frame/frame.h"

/* The most bytes that an image takes before its filters are undone; libpng reads larger ones by
 * the row. */
#define IDAT_READ_MOST ((size_t)256 << 20)

/*
 * Reads all pixels of a frame whose size, channels and type are the image's. The file stands behind
 * the head (length and type) of the first IDAT chunk and has `left` bytes from there on.
 * 1: done. 0: libpng is to read them, because something is unusual, damaged or too large, or
 * memory short; the file stands where it was. -1 after fail(). Besides the frame it takes the
 * packed bytes and those of the filtered rows, IDAT_READ_MOST * 17 / 8 at most.
 */
int idat_read(const char *path, FILE *, size_t left, struct frame *);

#endif
