/* A board's corners and a laser's line out of pictures. */
#ifndef LASERCAL_PICTURES_H
#define LASERCAL_PICTURES_H

#include "feature/board.h"
#include "feature/line.h"

struct pictures {
	struct line_finder *finder;	/* NULL until the first line */
	double sigma;			/* px, of the line's smoothing */
};

/* Is the frame a picture, of one channel, and no table? */
bool pictures_is_picture(const struct frame_head *);
/* The picture (off: its second input --off, which has its size) as a frame of its own, which
 * shares its pixels. -1 after fail(). */
int pictures_own(const struct run *, const struct frame *, bool off, struct frame **);
/* The corners of the board in a picture; free with corners_free(). Fails where there is none. */
int pictures_corners(const struct board *, const struct frame *, struct corners *);
/* The line's points in on, less off (NULL: none). They are valid until the next call. -1 after
 * fail(). */
int pictures_line(struct pictures *, struct run *, const struct frame *on, const struct frame *off,
    struct line_points *);
void pictures_free(struct pictures *);

#endif
