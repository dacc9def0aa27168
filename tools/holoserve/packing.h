/* Pictures as the bytes that viewers get: files of JPEG and PNG, or pictures of a video; and the
 * key lines that they are decoded by. */
#ifndef HOLOSERVE_PACKING_H
#define HOLOSERVE_PACKING_H

#include "picture.h"
#include "video.h"

struct packer {
	const struct picture_options *options;
	struct video_encoder *video[LIVE_KINDS];	/* NULL: not running */
};

struct packing {
	unsigned char *bytes;	/* behind `lead` bytes for the caller */
	size_t n;		/* without these */
	bool keyframe;		/* can be decoded by itself */
	char *keys;		/* key lines */
};

/* anew: a video begins again, with a keyframe. -1 after fail(), with *out empty. */
int packing_make(struct packer *, struct picture *, enum live_kind, bool anew, size_t lead,
    struct packing *out);
/* Ends what runs. */
void packing_stop(struct packer *);

#endif
