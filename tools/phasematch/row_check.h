/* Do matched points lie on equal rows? By the textures of both frames. */
#ifndef ROW_CHECK_H
#define ROW_CHECK_H

#include "match_row.h"

/* Warns where they do not; path: of --right. Frames without textures, or with ones that show
 * nothing, are not judged. 0, or -1 after fail(). */
int row_check(const char *path, const struct frame *in, const struct matching *,
    struct match_memory *);

#endif
