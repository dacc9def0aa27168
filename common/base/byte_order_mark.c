#include "base/byte_order_mark.h"

#include <string.h>

size_t
byte_order_mark(const void *text, size_t n)
{
	return n >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
}
