/* Captured images, read once and reduced to lines of samples across them. */
#ifndef IMAGES_H
#define IMAGES_H

#include "run/stage.h"

#define IMAGES_LINES 64		/* at most, along each axis, */
#define IMAGES_SAMPLES 160000	/* and of so many samples, */
#define IMAGES_LINES_LEAST 24	/* but no fewer, where there are so many */

#define IMAGES_SMOOTH 5		/* pixels, odd */
#define IMAGES_KEPT 400		/* with their lines: the first ones, of any size */
#define IMAGES_READ 1000	/* behind so many nothing is read */

struct image {
	char *path;			/* the file, as phasewrap is to be given it */
	char *name;			/* for people: base name, [3]: the third image in a file */
	size_t in_file, of_file;	/* from 0; how many images the file holds */
	struct frame_head head;		/* of this image alone: one channel */
	bool left;			/* its file's other images may have been taken without it */
	bool colour;			/* its planes differ: green was taken */
	double max, share_max;		/* the largest sample, and the share of samples there */
	size_t lines[2];		/* rows, columns that were kept */
	float *line[2];			/* lines[0] rows of w samples; lines[1] columns of h; NULL:
					 * it is not among the first IMAGES_KEPT */
	float *raw[2];			/* the same before images_smooth(); else NULL */
};

struct images_skip {
	char *path, *reason;
	bool unreadable;
};

struct images {
	size_t n;
	struct image *image;
	size_t skips;
	struct images_skip *skip;	/* files that are no images, or cannot be read */
	bool more;			/* there are, or may be, more than IMAGES_READ */
	bool sorted;			/* the files were given as text sorts them, 1 10 2 */
};

/*
 * Reads all images of files and folders; no paths: standard input. Files are sorted by the numbers
 * in their names, unless keep_order. What cannot be read, or is no image, becomes a skip. -1 after
 * fail(), where nothing could be read at all. Free with images_free(), also after a failure.
 */
int images_read(struct run *, char *const *path, size_t paths, bool keep_order, struct images *out);
/* Adds a file that was not taken. -1 after fail(). */
int images_skip(struct images *, const char *path, const char *reason);
/* Keeps lines of plane c. -1 after fail(). */
int image_reduce(const struct frame *, size_t c, struct image *);
/* Replaces each sample of n images by the mean of IMAGES_SMOOTH along its line; and back. -1 after
 * fail(). */
int images_smooth(struct image *const *image, size_t n);
void images_unsmooth(struct image *const *image, size_t n);
void images_free(struct images *);

#endif
