/* Operands as lists of files, in natural order. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Files that come as a shell sorts their names, as text, and not by the numbers in them: 1 10 2. */

/* Of n names in the order of text the first that has a larger number than the next; n where none
 * has, or they are in another order. */
size_t text_order_find(char *const *name, size_t n);
/* The same among `least` names in a row or more that are alike but for their numbers. */
size_t text_order_find_alike(char *const *name, size_t n, size_t least);
/* Warns of name `at`, which one of these has found. */
void text_order_warn(char *const *name, size_t at);

/* ---- the files that an operand stands for. Functions return -1 after fail() ---- */

/* The path itself, or a folder's images. The caller frees the list and its names. */
int file_list(const char *path, char ***files, size_t *n);
/* Likewise of a folder: in natural order, 9 before 10; fails where it holds no image. */
int file_list_folder(const char *folder, char ***files, size_t *n);
/* Is it there, and a folder? */
bool path_is_folder(const char *path);

/* ---- folders that are followed: their images as they become complete ---- */

struct follow;

/* Of those operands that are folders. idle_s: nothing comes for so long, and that is the end; NaN:
 * a signal is, which does not end the process then (ending_signals_defer()). NULL after fail(). */
struct follow *follow_open(char *const *operand, size_t operands, double idle_s);
/* The next files that are complete, as a new list: 1. 0: there are none now, and where it waits
 * none will come; -1 after fail(). */
int follow_next(struct follow *, bool wait, char ***files, size_t *n);
void follow_close(struct follow *);
