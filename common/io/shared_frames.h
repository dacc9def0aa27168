/* Frames through shared memory between two tools in a pipe. */
#pragma once

#include <stdatomic.h>
#include <sys/types.h>

#include "frame/frame.h"

struct shared_receiver;
struct shared_sender;

/*
 * Frames that pass to the process behind a pipe without a copy. Where one of our tools reads the
 * pipe, a frame's header goes through the pipe and its pixels stay in memory that both processes
 * map. Order, ends and signals remain the pipe's; any other reader gets whole frames.
 *
 * The reader listens on a socket named after the pipe (its abstract name holds device and inode of
 * the pipe); the writer connects to it, or writes the pixels into the pipe. Both must belong to one
 * user. A shared frame has the field `data file: @NUMBER` in its header, and a message on the
 * socket carries descriptors of the memory and the offsets of the planes. While the reader is slow
 * to take them, frames go through the pipe: the writer never waits longer than for a full pipe.
 *
 * struct shared_block counts the references of both processes. Planes that a stage passes on
 * unchanged
 * are sent on, whichever process made them. A process that is killed leaves its references behind;
 * that memory is not used again, and is freed when newer memory takes its place among the kept.
 */

/* If fd is a pipe, new frames use memory that can be shared, until shared_frames_end(). */
void shared_frames_begin(int fd);
void shared_frames_end(void);

/* For the write end of a pipe. NULL: not a pipe, or disabled (FRINGEPIPE_HANDOVER=no). */
struct shared_sender *shared_sender_open(int fd);
/*
 * Sends a frame to the reader; returns its number for the header. 0: no reader takes it, or it lies
 * in other memory; write it into the pipe. Waits briefly until the reader has taken the frame
 * before.
 */
unsigned long shared_sender_put(struct shared_sender *, const struct frame *);
void shared_sender_close(struct shared_sender *);

/* For the read end of a pipe, before anything is read. NULL as above. */
struct shared_receiver *shared_receiver_open(int fd);
/* The frame whose header has this number. 0 or -1 after fail(name, ...). */
int shared_receiver_take(struct shared_receiver *, const char *name, unsigned long number,
    const struct frame_head *, struct frame **out);
/* Frames that were taken remain valid. */
void shared_receiver_close(struct shared_receiver *);
