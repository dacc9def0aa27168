#include "libwebsockets.h"

#include "base/library.h"

#ifndef LIBWEBSOCKETS
#define LIBWEBSOCKETS "libwebsockets.so.17"
#endif

struct libwebsockets lws;

int
libwebsockets_load(void)
{
	static const char *const names[] = {
#define X(name) "lws_" #name,
		LIBWEBSOCKETS_FUNCTIONS
#undef X
	};
	static const struct library library = { LIBWEBSOCKETS, sizeof(names) / sizeof(*names),
		names, &lws };

	return library_load(&library);
}
