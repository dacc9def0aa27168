/* SIGINT and SIGTERM close the server with code 1001. */
#ifndef HOLOSERVE_INTERRUPT_H
#define HOLOSERVE_INTERRUPT_H

#include <stdbool.h>

#include "server.h"

/* From now on, until interrupt_release(); a signal that is ignored stays so. */
void interrupt_catch(struct server *);
void interrupt_release(void);
/* Ends the process: with status 0, or by the signal that came, since what it wrote is not whole. */
void interrupt_leave(bool by_signal);

#endif
