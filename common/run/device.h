/*
 * Segments of a chain on the device. Frames fly: several are on their way at once, each with memory
 * of its own, so that copies overlap with computing; they complete in the order in which they
 * started. A frame that does not fit the device's memory flies in bands of rows.
 */
#ifndef DEVICE_H
#define DEVICE_H

#include "run/passes.h"
#include "run/segment.h"

struct device;

/* which: as in gpu_open(). Frames made from now on lie in memory that the device reaches. */
int device_open(const char *which, bool verbose, struct device **out);
/* -1 after fail() where the validation layer found fault. NULL is no device. */
int device_close(struct device *);
const struct gpu_facts *device_facts(const struct device *);

/*
 * Starts a frame through the segment, in bands of chain->band rows (0: as many as fit). `complete`
 * is called with frames that are done, oldest first; it owns them and may start others elsewhere.
 * 0: it has taken segment->in and ->out. 1 after fail(): the device has no room for it, and what
 * flies of it will not complete. -1 after fail().
 */
typedef int device_complete(struct chain *, size_t at, struct frame *);
int device_start(struct device *, struct segment *, device_complete *);
/* Lands what the segment beginning with this link has in slot, if that segment goes past stage
 * `to`. */
int device_drain(struct chain *, struct link *, size_t to, device_complete *);
/* Waits for what flies and frees it, landing nothing. */
void device_abandon(struct device *, struct link *);

#endif
