/* Files that come as a shell sorts their names, as text, and not by the numbers in them: 1 10 2. */
#ifndef TEXT_ORDER_H
#define TEXT_ORDER_H

#include <stddef.h>

/* Of n names in the order of text the first that has a larger number than the next; n where none
 * has, or they are in another order. */
size_t text_order_find(char *const *name, size_t n);
/* The same among `least` names in a row or more that are alike but for their numbers. */
size_t text_order_find_alike(char *const *name, size_t n, size_t least);
/* Warns of name `at`, which one of these has found. */
void text_order_warn(char *const *name, size_t at);

#endif
