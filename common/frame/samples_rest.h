/* What stands behind the end of an image in its file, and what of that is worth a word. */
#ifndef SAMPLES_REST_H
#define SAMPLES_REST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define SAMPLES_REST_WORD 3	/* some programs leave what is missing in a word of four bytes */

/* Are these bytes nothing but filling, all 0 or 255? Programs fill files up to whole blocks. */
bool samples_rest_is_padding(const unsigned char *bytes, size_t n);
/* Reads to the end: how many bytes there are; 0 where they are filling, or no more than a word. */
size_t samples_rest_read(FILE *);

#endif
