/* What viewers get of a frame, smaller if it is to be: its depth and texture, and these as a
 * Holoimage (holoimage(5)). */
#ifndef HOLOSERVE_PICTURE_H
#define HOLOSERVE_PICTURE_H

#include "holo/holo.h"
#include "image/depth_use.h"
#include "image/hole_value.h"
#include "base/opt.h"
#include "video.h"

struct picture_options {
	struct holo_options holo;
	struct opt_size size;		/* at most; 0 x 0: as large as the frame */
	long quality;			/* of JPEG */
	struct video_options video;
	bool luma;			/* the depth itself is to be sent */
};

/* What is kept from frame to frame. */
struct picture_maker {
	const struct picture_options *options;
	/* of all frames so far where no range was given: it only grows, so that it seldom changes;
	 * low > high: none yet */
	double low, high;
	struct depth_use use;		/* of a range that was given */
	double step;			/* of its depths, as they are encoded */
	struct hole_value hole;
	bool outside, stray, unused;	/* a line was printed: of depths outside of a range that
					 * was given, of stray ones in another, and of options */
	bool bright;			/* a texture was looked at */
};

struct picture {
	size_t w, h;
	bool textured;
	struct frame *image;		/* of 8 bits, r g b or r g b and the texture; or not yet */
	struct meta keys;		/* of the image */
	char unit[16];
	/* where the input is no Holoimage: */
	struct frame *source;		/* of floats */
	size_t depth, texture;		/* its channels; NO_CHANNEL */
	double white;			/* of the texture */
	struct holo holo;		/* of a Holoimage the layout alone */
};

/* Does a frame with this head show anything? */
bool picture_shows(const struct frame_head *);
/* For plan: can a frame with this head be encoded by the options? -1 after fail(). */
int picture_check(const struct picture_options *, const struct frame_head *);
void picture_begin(struct picture_maker *, const struct picture_options *);
/* Takes a frame. 0; 1 where it holds no depth at all; -1 after fail(). */
int picture_make(struct picture_maker *, const struct frame *, struct picture *);
/* The Holoimage, made when it is first asked for. NULL after fail(). */
const struct frame *picture_image(struct picture *);
void picture_free(struct picture *);
/* At the end: a line where depths use a small share of a range that was given. */
void picture_conclude(const struct picture_maker *);

#endif
