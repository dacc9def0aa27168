/*
 * Images that a camera has dropped: where does the next measurement begin? By what the images are
 * themselves (keys role, step, ...), in the order of the first measurement; by their number (key
 * frame_number, or the last number in a file's name); by the key time_s, whose intervals are equal.
 */
#ifndef DROPPED_IMAGES_H
#define DROPPED_IMAGES_H

#include "frame/head.h"

enum dropped_how { DROPPED_AUTO, DROPPED_TIME, DROPPED_NUMBER, DROPPED_IGNORED };

#define DROPPED_INTERVALS 32	/* of which the median is the time from image to image */

struct dropped_images {
	enum dropped_how how;
	bool described;		/* the images' own keys count */
	bool rgb;		/* an image has three planes */
	size_t have;		/* of the measurement when the last image came */
	bool keeps_going, verbose;	/* --keep-going, -v */
	size_t measurement;		/* the one at hand, from 0 */
	/* the first measurement's images, by their keys, and how far the one at hand is */
	char **word;
	size_t words, room, place;
	bool complete;
	/* counting by number or time */
	bool counted, spoiled;	/* the last image had a number or a time; nothing can be told */
	double last, interval[DROPPED_INTERVALS];
	size_t intervals;
	long index, origin;	/* of the last image; of the first of a measurement */
	size_t runs_on, pauses;		/* whole measurements with the next one at once, or later */
	long last_number;	/* in the name of the file before; -1: none */
	bool watched;		/* there was one */
	long gap, before;	/* where they jumped, 0: nowhere; and from which */
	size_t in_step;		/* files so far whose numbers rise by 1 */
	bool warned;
};

/*
 * An image comes, `have` others of its measurement wait, `wanted` make one (0: not known yet).
 * *begins: it begins another measurement, and fail() says that the one at hand lacks images. path:
 * its file, or NULL. -1 after fail(): the way that was demanded cannot count it.
 */
int dropped_images_take(struct dropped_images *, const struct frame_head *, const char *path,
    size_t have, size_t wanted, bool *begins);
void dropped_images_free(struct dropped_images *);

#endif
