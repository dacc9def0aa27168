/* Child processes that end with this one: ffmpeg ends with its pipes, but not one that hangs. */
#ifndef VIDEO_CHILDREN_H
#define VIDEO_CHILDREN_H

#include <signal.h>
#include <sys/types.h>

/* This thread starts a child, and takes no signal until children_add(). */
void children_expect(sigset_t *before);
/* A signal that ends this process kills the child, until children_wait(). 0: none was started. */
void children_add(pid_t, const sigset_t *before);
/* Waits for the child's end. As waitpid(), but not interrupted. */
pid_t children_wait(pid_t, int *status);

#endif
