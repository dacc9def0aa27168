/*
 * Pictures as H.264, one for one and at once: by an ffmpeg that runs for as long as pictures of one
 * size come, over pipes. Each picture depends on none but those before it, back to a keyframe, and
 * of VIDEO_GROUP in a row one is a keyframe at least.
 */
#ifndef HOLOSERVE_VIDEO_H
#define HOLOSERVE_VIDEO_H

#include <stdbool.h>

#include "frame/frame.h"
#include "live/live_message.h"

#define VIDEO_GROUP 15
#define VIDEO_BLOCK 16		/* rows of a macroblock: a texture below begins at one */
#define VIDEO_BITS 10		/* of luma */

struct video_encoder;

struct video_options {
	double crf;		/* how lossy, of x264; NaN: as is best for the kind */
	double bitrate;		/* Mbit/s at most; NaN: as many as that takes */
	double fps;		/* pictures a second, for the bit rate; NaN: 30 */
};

/* A picture in Annex B, behind the lead that the caller wanted. */
struct video_picture {
	unsigned char *bytes;	/* with the lead */
	size_t n;		/* without */
	bool keyframe;
};

/* Is there an ffmpeg? 0, or -1 after fail(). */
int video_check(void);
/* For pictures of w x h: of LIVE_H264, planes Y, U, V of 8 bits, the last two at half the
 * resolution; of LIVE_LUMA, one of VIDEO_BITS. -1 after fail(). */
int video_start(enum live_kind, size_t w, size_t h, const struct video_options *,
    struct video_encoder **out);
/* Does it take pictures of this size? */
bool video_fits(const struct video_encoder *, size_t w, size_t h);
/* Encodes a frame of three channels of uchar, or of one of ushort. -1 after fail(), and then the
 * encoder is of no more use. */
int video_encode(struct video_encoder *, const struct frame *, size_t lead,
    struct video_picture *out);
/* The codec, as browsers name it: "avc1.6E0020"; once there was a keyframe. */
const char *video_codec(const struct video_encoder *);
/* NULL is passed over. */
void video_free(struct video_encoder *);

#endif
