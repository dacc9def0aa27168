/* Which frames of a stream came, and which are missing: by their numbers. */
#ifndef HOLORECV_TALLY_H
#define HOLORECV_TALLY_H

#include <stdbool.h>

#include "live/live_message.h"

struct tally {
	uint64_t received, missing, last_number;
	int64_t last_captured_us;
	bool again;			/* nothing has come since the connection was made anew */
};

/* Counts a frame. False: it came before, as a server that serves its last frame sends it to who
 * comes again. */
bool tally_add(struct tally *, const struct live_head *);

#endif
