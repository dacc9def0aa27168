/* A child process with these descriptors and no others. */
#ifndef VIDEO_SPAWN_H
#define VIDEO_SPAWN_H

#include <stdbool.h>
#include <sys/types.h>

/* Starts a program with words, the first its name, the last NULL. given[i] becomes its descriptor
 * i; -1: /dev/null for 0 to 2, else none. own_group: it is not interrupted from the terminal. 0, or
 * an error number. */
int spawn_child(const char *program, const char *const words[], bool own_group, const int given[5],
    pid_t *child);

#endif
