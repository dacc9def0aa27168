/* Links that somebody else may have put where a file is to be written. */
#ifndef LINK_OWNER_H
#define LINK_OWNER_H

#include <stdbool.h>

/*
 * -1 after fail() where a symbolic link on the way to path, or its last part, lies in a sticky
 * folder that others may write into (/tmp), and belongs neither to this user nor to the folder's
 * owner: what Linux refuses to open where fs.protected_symlinks is set. Other errors are left to
 * the caller, who opens the path.
 */
int link_owner_check(const char *path);
/* The same, and whether the folder is there, and nothing of this name in it. */
int link_owner_look(const char *path, bool *new);

#endif
