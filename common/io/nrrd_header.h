/* The header of a NRRD, as a frame's head and how its samples follow. */
#ifndef NRRD_HEADER_H
#define NRRD_HEADER_H

#include <math.h>
#include <stdio.h>

#include "frame/head.h"

#define NRRD_HEADER_MAX (16 << 20)	/* bytes: 65536 channels with long names */

/* The order of the axes, the fastest first: W H C, W C H, C W H. */
enum nrrd_axes { NRRD_PLANES, NRRD_LINES, NRRD_PIXELS };
enum nrrd_encoding { NRRD_RAW, NRRD_GZIP, NRRD_TEXT };

struct nrrd_kind {
	const char *names;	/* all that NRRD knows, each between bars */
	size_t size;
	enum sample as;
	void (*to_float)(const unsigned char *, size_t, float *);	/* NULL: needs none */
};

struct nrrd_header {
	const struct nrrd_kind *kind;
	enum nrrd_encoding encoding;
	enum nrrd_axes axes;
	bool swapped;		/* samples are big-endian */
	size_t expected;	/* bytes of data; samples when they are text */
	unsigned long number;	/* of a shared frame; 0: the data follow */
};

/* A spacing as NRRD may have it: finite and not 0, else NaN. */
static inline double
nrrd_spacing(double v)
{
	return isfinite(v) && v != 0 ? v : NAN;
}

/*
 * The text of a header through its blank line into *text, n bytes and a 0, which the caller frees;
 * not a byte beyond is read. 1, 0 when the file ends before the first byte, -1 after fail(name,
 * ...).
 */
int nrrd_header_text(FILE *, const char *name, char **text, size_t *n);
/*
 * Reads a header through its blank line and checks that the file can hold the data that it claims.
 * sharing: the writer may share pixels (shared_frames.h). 1 and a head to be freed, 0 when the file
 * ends before the first byte, -1 after fail(name, ...).
 */
int nrrd_header_read(FILE *, const char *name, bool sharing, struct nrrd_header *,
    struct frame_head *);
/* Takes in a header that lies in memory, n bytes from "NRRD000" to its blank line, none of them 0.
 * Whether a file holds what it claims is the caller's to check. 0 and a head to be freed, or -1
 * after fail(name, ...). */
int nrrd_header_take(const char *start, size_t n, const char *name, struct nrrd_header *,
    struct frame_head *);

#endif
