/*
 * Frames handed to the process behind a pipe without copying them: where a tool of ours reads the
 * pipe, a frame's header goes through it as ever and its pixels stay in memory that both processes
 * map. Order, ends and signals remain the pipe's; whoever else reads it gets whole frames.
 *
 * The reader listens on a socket named after the pipe (its abstract name holds device and inode of
 * the pipe); the writer finds it there, or writes the pixels into the pipe. Both must be of one
 * user. A frame that is handed over has the field `data file: @NUMBER` in its header, and a message
 * on the socket brings descriptors of the memory and says where the planes are in it. Where the
 * reader takes long, frames go through the pipe: nobody waits who would not wait for a full pipe.
 *
 * Memory is counted in itself: who sends a plane adds a lease, who has done with it takes the lease
 * back, and the one who made the memory writes to it again when none is left. So planes that a
 * stage only passes on are passed on further, whoever made them. A process that is killed leaves
 * leases behind; that memory is not used again, and goes with the next ones of its size.
 */
#ifndef SHARED_FRAMES_H
#define SHARED_FRAMES_H

#include "frame/frame.h"

/* Frames made from now on can be handed over, if fd is a pipe; ends with shared_frames_end(). */
void shared_frames_begin(int fd);
void shared_frames_end(void);

struct shared_sender;

/* For the write end of a pipe. NULL: not a pipe, or not wanted (FRINGEPIPE_HANDOVER=no). */
struct shared_sender *shared_sender_open(int fd);
/*
 * Hands a frame over: its number for the header. 0: nobody takes it, or it does not lie in such
 * memory; write it as ever. Waits a moment for the frame before to be taken.
 */
unsigned long shared_sender_put(struct shared_sender *, const struct frame *);
void shared_sender_close(struct shared_sender *);

struct shared_receiver;

/* For the read end of a pipe, before anything is read. NULL as above. */
struct shared_receiver *shared_receiver_open(int fd);
/* The frame of a header that names this number. 0 or -1 after fail(name, ...). */
int shared_receiver_take(struct shared_receiver *, const char *name, unsigned long number, const struct frame_head *,
    struct frame **out);
/* Frames that were taken live on. */
void shared_receiver_close(struct shared_receiver *);

#endif
