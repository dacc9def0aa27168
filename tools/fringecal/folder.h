/* A folder that results are written into. */
#ifndef FOLDER_H
#define FOLDER_H

#include <stdbool.h>

/* Can files be written there? One that is not empty is taken with `force` only. -1 after fail(). */
int folder_check(const char *option, const char *folder, bool force);
/* Makes it where it is not there yet. -1 after fail(). */
int folder_make(const char *folder);

#endif
