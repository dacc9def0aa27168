/* Standard input, output and error that a program was started without. */
#ifndef STANDARD_FILES_H
#define STANDARD_FILES_H

/*
 * Opens /dev/null for each of descriptors 0 to 2 that is closed, in the direction that nobody uses:
 * reading and writing there fail with EBADF, as on a closed one, but no file that the program opens
 * later gets the number of a standard file, and with it what is written there. The first call of a
 * program. Prints and returns -1 where that cannot be done.
 */
int standard_files_reserve(void);

#endif
