/* The files that an operand stands for. Functions return -1 after fail(). */
#ifndef FILE_LIST_H
#define FILE_LIST_H

#include <stddef.h>

/* The path itself, or a folder's images. The caller frees the list and its names. */
int file_list(const char *path, char ***files, size_t *n);
/* Likewise of a folder: in natural order, 9 before 10; fails where it holds no image. */
int file_list_folder(const char *folder, char ***files, size_t *n);

#endif
