/* Where ffmpeg and ffprobe are. */
#ifndef VIDEO_PROGRAM_H
#define VIDEO_PROGRAM_H

#include <limits.h>
#include <stdbool.h>

/* name: ffmpeg or ffprobe. ffmpeg is the one that FRINGEPIPE_FFMPEG names, else that of PATH;
 * ffprobe the one beside it, else that of PATH. -1 after fail(path, ...). */
int program_find(const char *path, const char *name, char found[PATH_MAX]);
/* Is it a program of its own (ELF), and no script? */
bool program_is_binary(const char *program);

#endif
