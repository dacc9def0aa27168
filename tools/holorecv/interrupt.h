/*
 * The first interruption (SIGINT, SIGTERM) while a stream is received ends it as its end would, so
 * that what came is kept; the second one does what it did before.
 */
#ifndef INTERRUPT_H
#define INTERRUPT_H

#include <stdbool.h>

/* From now on until interrupt_forget(). 0, or -1 after fail(). */
int interrupt_watch(void);
void interrupt_forget(void);
bool interrupted(void);
/* Can be read from once there was one: for poll(). */
int interrupt_descriptor(void);

#endif
