/* UTF-8's byte order mark, which some programs begin a text with. */
#ifndef BYTE_ORDER_MARK_H
#define BYTE_ORDER_MARK_H

#include <stddef.h>

/* The mark's bytes at the start of a text of n bytes: 3, or 0 where there is none. */
size_t byte_order_mark(const void *text, size_t n);

#endif
