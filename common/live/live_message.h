/*
 * Messages of the live stream, holoserve(5): what a client says, and the head of a picture. They
 * come from strangers: every byte is checked.
 */
#ifndef LIVE_MESSAGE_H
#define LIVE_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#define LIVE_PATH "/live"
#define LIVE_PROTOCOL "fringepipe.1"	/* the WebSocket subprotocol */
#define LIVE_CLIENT_BYTES 64		/* of a client's message, at most */
#define LIVE_HEAD_BYTES 32		/* before a picture */
#define LIVE_BLOCK 8			/* rows of JPEG's blocks: a texture below begins at one */
#define LIVE_UNSHOWN 2			/* pictures that a client may have that it has not shown */

/* Encodings; their numbers are those of a picture's head. */
enum live_kind { LIVE_JPEG = 1, LIVE_PNG, LIVE_H264, LIVE_LUMA, LIVE_KINDS };

extern const char *const live_kind_names[LIVE_KINDS];	/* by kind; 0 is empty */

enum live_flag { LIVE_KEYFRAME = 1, LIVE_LAST = 2 };

struct live_head {
	enum live_kind kind;
	unsigned flags;			/* of live_flag */
	uint64_t number;		/* of the frame, from 0, dropped ones counted */
	int64_t captured_us;		/* 0: not known */
	int64_t sent_us;		/* since the epoch */
};

void live_put_head(const struct live_head *, unsigned char to[LIVE_HEAD_BYTES]);
/* The head of a message; its kind may be any byte. -1 where the message has none. */
int live_read_head(const unsigned char *message, size_t n, struct live_head *);

/* "can jpeg png": the kinds that a client decodes, best first; other words are passed over.
 * Returns their number, 0 where it decodes none that we know; -1 where it is no such message. */
int live_read_can(const char *text, size_t n, enum live_kind kind[LIVE_KINDS]);
/* The number of a frame, digits alone. -1 where it is none. */
int live_read_number(const char *text, size_t n, uint64_t *number);

#endif
