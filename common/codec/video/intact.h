/*
 * Is a file as it was written? Encoders of lossy video have no check sums, and a decoder makes a
 * picture of whatever bytes it finds. Matroska, MP4 and QuickTime files that we write end in
 * an element that players pass over (Void, free), with the CRC-32 of all bytes before it.
 */
#ifndef VIDEO_INTACT_H
#define VIDEO_INTACT_H

#include <stdio.h>

/* Appends the sum, where the file's format has a place for it. -1 after fail(path, ...), also where
 * the file does not begin as a video does: a program that ended well may have written none. */
int intact_seal(const char *path, FILE *);
/* Refuses a file with another sum, and one whose last element or box is cut, which ffmpeg may read
 * without a word, and without its tags. -1 after fail(path, ...). */
int intact_check(const char *path, FILE *);

#endif
