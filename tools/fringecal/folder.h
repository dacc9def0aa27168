/* A folder that results are written into. */
#ifndef FOLDER_H
#define FOLDER_H

#include <stdbool.h>

/* Can files be written there, before it is made? One that is not empty is taken with `force` only.
 * later: the folder that it lies in need not be there yet. -1 after fail(). */
int folder_check(const char *option, const char *folder, bool force, bool later);
/* Makes it where it is not there yet. -1 after fail(). */
int folder_make(const char *folder);

#endif
