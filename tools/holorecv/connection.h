/* A connection to a server of holoserve(5), from the first packet to its end. */
#ifndef CONNECTION_H
#define CONNECTION_H

#include <stdbool.h>

#include "address.h"
#include "live/websocket.h"

enum connection_end {
	CONNECTION_LOST,	/* or never made: another one may last */
	CONNECTION_REFUSED,	/* nor will the next one */
	CONNECTION_STREAM_END,
	CONNECTION_INTERRUPTED,
};

struct connection {
	int fd;
	double silence_s;		/* as long as this without a picture: lost */
	bool renewed;			/* a picture has come since that time began */
	const char *awaited;		/* what must have come ... */
	double patience_s, due_s;	/* ... in so many seconds, and at this time */
	enum connection_end end;	/* once a function has returned 0 or -1 */
	char reason[200];		/* of an end with a message */
	struct websocket socket;
};

/* Connects, and says what can be decoded. 1; 0 with end and reason; -1 after fail(). */
int connection_open(struct connection *, const struct address *, double silence_s,
    const char *can);
/* The next text or picture of up to `most` bytes; as above. */
int connection_next(struct connection *, size_t most, struct websocket_message *);
/* A frame is done. As above. */
int connection_answer(struct connection *, unsigned long long number);
/* Says goodbye where that makes sense; closes. */
void connection_close(struct connection *);
/* Waits, less if it is interrupted: false. */
bool connection_wait(double seconds);

#endif
