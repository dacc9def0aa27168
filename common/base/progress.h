/* The one progress line: on a terminal, for work longer than a second. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

/* A clock that only counts forward. */
double progress_seconds(void);

void progress_start(bool show);
void progress_input(size_t operand, size_t operands); /* which operand is being read, of how many */
void progress_tick(size_t frames);			/* frames done so far */
void progress_end(void);

#endif
