/* A viewer, and what it says. */
#ifndef HOLOSERVE_VIEWER_H
#define HOLOSERVE_VIEWER_H

#include "connection.h"
#include "live/websocket.h"

#define MESSAGES_A_SECOND 200	/* of a viewer; more close its connection */

struct viewer {
	int fd;
	struct websocket socket;
	enum live_kind can[LIVE_KINDS];	/* what it decodes, best first */
	int cans;
	enum live_kind kind;		/* that it gets; 0: it has not said what it can */
	enum live_kind keys_kind;	/* of the keys that it has, and */
	unsigned version;		/* theirs */
	uint64_t from;			/* the number that its next picture has at least */
	uint64_t place;			/* of its last picture among those of a video */
	uint64_t sent[LIVE_UNSHOWN];	/* numbers of pictures that it has not shown */
	int unshown;
	bool knows_end;			/* it was sent that its last picture is the stream's */
	struct packet *packet;		/* goes out next, */
	bool goes_out;			/* or now */
	size_t largest;			/* message so far */
	int64_t second;			/* in which messages are counted */
	int messages;
	int64_t heard_us;		/* when something came from it last, or it took some of a
					 * message that waited */
	bool asked;			/* by a ping, since then */
	unsigned char pong[WEBSOCKET_CONTROL];	/* the answer to its last ping, */
	size_t pong_n;
	bool owes_pong;			/* which is still to be sent */
	unsigned char small[WEBSOCKET_CONTROL];	/* a message of our own that goes out */
	int code;			/* with which the connection is closed; 0: it is not yet */
	const char *reason;
	int64_t closed_us;		/* since when */
	bool said_close, heard_close;
	bool deaf;			/* what it sends is passed over */
};

/* For struct websocket: reads what has come. 0: nothing has, -1: there is nobody. */
ssize_t viewer_read(void *viewer, void *to, size_t n);
/* Hears what has come. False: there is nobody. */
bool viewer_hear(const struct server *, struct viewer *, int64_t now_us);
/* Chooses what it gets, of what it can and the server offers. False: there is nothing. */
bool viewer_choose(const struct server *, struct viewer *);
/* Closes the connection as soon as nothing is half sent. */
void viewer_close(struct viewer *, int code, const char *reason);

#endif
