/*
 * Tone tables as text: the level to send for each level that the projector shall show.
 *
 * One row per line: `input output`, or `output` alone for the inputs 0, 1, 2, ...; lines that are
 * blank or start with # are skipped. Inputs ascend from 0; the last one is full scale, of both
 * columns: 256 rows from 0 to 255 are 8-bit levels, rows from 0 to 1 are shares.
 */
#ifndef LUT_H
#define LUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct lut {
	size_t n;
	double *input, *output;		/* shares of full scale; input[0] = 0, input[n - 1] = 1 */
};

/* path "-" is standard input. -1 after fail(path, ...). */
int lut_load(const char *path, struct lut *out);
/* Likewise from an open file; path is for messages. */
int lut_read(FILE *, const char *path, struct lut *out);
void lut_free(struct lut *);
/* Linear between the rows; share is held to 0 .. 1. */
double lut_value(const struct lut *, double share);

/* Replaces n wanted levels by the levels to send, in place: through the table if it has rows, else
 * level^(1/gamma) (methods §1). */
void lut_compensate(const struct lut *, double gamma, float *level, size_t n);

#endif
