/* The codec's two sides; see codec.h. */
#ifndef VIDEO_H
#define VIDEO_H

#include "io/codec.h"

/* The size of the frames where pictures were padded to even sides: "W H". */
#define VIDEO_SIZE_KEY "video_size"

/* "limited" where the levels of a video that is read are of limited range, "stretched" where
 * another program took them for such, "negated" where one negated them. */
#define VIDEO_RANGE_KEY "video_range"

enum video_coding { VIDEO_H264, VIDEO_HEVC, VIDEO_AV1, VIDEO_FFV1, VIDEO_MJPEG, VIDEO_PNG,
	VIDEO_QTRLE };

struct video_options {
	int coding;		/* enum video_coding */
	double crf;		/* NaN: a default for what is coded */
	bool lossless;
	int chroma;		/* 0, 1, 2: 4:4:4, 4:2:2, 4:2:0 */
	const char *preset;	/* of the encoder; NULL: its own */
	double fps;		/* NaN: from time_s, else 30 */
	double texture_crf;	/* of a texture's own track; NaN: a default */
};

extern const char *const video_codings[], *const video_chromas[];

int video_load(struct loader *, struct frame **out);
void video_load_end(struct loader *);
int video_save(struct saver *, const struct frame *);
int video_save_end(struct saver *);

#endif
