/* Files without a name, in the folder for temporary ones. */
#ifndef SCRATCH_FILE_H
#define SCRATCH_FILE_H

#include <stdio.h>

/* $TMPDIR, else /tmp. */
const char *scratch_folder(void);
/* A new file there, for reading and writing, which is gone when it is closed; NULL with errno. */
FILE *scratch_file_open(void);

#endif
