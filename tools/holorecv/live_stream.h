/* The messages of a stream of holoserve(5): key lines, and pictures that become frames. */
#ifndef LIVE_STREAM_H
#define LIVE_STREAM_H

#include <stdbool.h>

#include "frame/frame.h"
#include "live/live_message.h"

#define LIVE_KEYS_MOST ((size_t)64 << 10)	/* bytes of key lines */

enum live_texture { LIVE_NO_TEXTURE, LIVE_ALPHA, LIVE_BELOW };

struct live_keys {
	enum live_kind encoding;
	enum live_texture texture;
	size_t w, h;			/* of the depth */
	size_t texture_row;		/* of the picture, where a texture below begins */
	struct meta meta;		/* the other keys */
};

struct pixel_format;

struct live_picture {
	struct live_head head;
	const unsigned char *bytes;
	size_t n;
};

/* Overwrites *keys, without freeing it. 0, or -1 after fail(). */
int live_read_keys(const unsigned char *text, size_t n, struct live_keys *);
int live_copy_keys(const struct live_keys *, struct live_keys *to);
void live_free_keys(struct live_keys *);
/* Is its encoding one of video? */
bool live_is_video(const struct live_keys *);
/* The sides of a video's pictures: even. */
void live_coded_size(const struct live_keys *, size_t *w, size_t *h);
/* The most bytes that a message of a picture may take; keys->w 0: there are no keys yet. */
size_t live_picture_most(const struct live_keys *);
/* Takes a message's head apart. 0, or -1 after fail(). */
int live_read_picture(const unsigned char *message, size_t n, struct live_picture *);
/* Is a picture of the encoding that the keys say? 0, or -1 after fail(). */
int live_check_kind(const struct live_keys *, const struct live_head *, const char *path);
/*
 * The Holoimage as a frame r g b, or r g b a with the texture in a, with the stream's keys,
 * frame_number, sent_s, and time_s where the time of capture is known. path is for messages. 0, or
 * -1 after fail(). Not of a video.
 */
int live_decode(const struct live_keys *, const struct live_picture *, const char *path,
    struct frame **out);
/* The same of a video's picture, by its planes; luma becomes a frame as depthenc(1) makes it. */
int live_take_planes(const struct live_keys *, const struct live_head *,
    const struct pixel_format *, const unsigned char *planes, const char *path, struct frame **out);

#endif
