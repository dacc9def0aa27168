/* MP4 and QuickTime: a file of boxes, the last of which may hold the keys. */
#ifndef VIDEO_BOXES_H
#define VIDEO_BOXES_H

#include <stdio.h>

/* ffmpeg says nothing where the end of such a file is cut off, and with it its tags. -1 after
 * fail(path, ...) where the boxes do not end with the file; other files are passed over. */
int boxes_check(const char *path, FILE *);

#endif
