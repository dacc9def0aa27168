/*
 * Pictures of a video of holoserve(5), decoded by an ffmpeg that runs for as long as they come. It
 * may keep a picture or two back until the next ones have come.
 */
#ifndef HOLORECV_VIDEO_H
#define HOLORECV_VIDEO_H

#include <stdbool.h>

#include "live_stream.h"

#define VIDEO_BEHIND 16		/* pictures that it may keep back */

struct ffmpeg;
struct pixel_format;

struct video {
	const char *server;		/* the caller's, for messages */
	struct ffmpeg *ffmpeg;		/* NULL: not running */
	enum live_kind kind;
	const struct pixel_format *format;
	size_t w, h;			/* of the pictures, as coded */
	unsigned char *raw;		/* the next one, of which this much has come */
	size_t bytes, got;
	size_t behind;			/* pictures that it keeps back, as far as was seen */
	struct video_sent {
		struct live_keys keys;
		struct live_head head;
		bool unwanted;		/* it is only what others depend on */
	} sent[VIDEO_BEHIND + 1];	/* those that have not come back, the oldest first */
	size_t n;
	unsigned char *keyframe;	/* the last one: it drives out what is kept back */
	size_t keyframe_bytes;
};

/* Is there an ffmpeg? */
bool video_is_there(void);
/* Sends a picture; all that came before must have been taken. -1 after fail(). */
int video_send(struct video *, const struct live_keys *, const struct live_picture *,
    bool unwanted, const char *path);
/* Takes the next picture. 1, with *out NULL where it is unwanted; 0: none yet, or, once the input
 * has ended, none any more. -1 after fail(). */
int video_take(struct video *, bool ended, const char *path, struct live_head *,
    struct frame **out);
void video_stop(struct video *);

#endif
