#include "image/libcairo.h"

#include "base/library.h"

#ifndef LIBCAIRO
#define LIBCAIRO "libcairo.so.2"
#endif

struct libcairo libcairo;

int
libcairo_load(void)
{
	static const char *const names[] = {
#define X(name) "cairo_" #name,
		LIBCAIRO_FUNCTIONS
#undef X
	};
	static const struct library library = { LIBCAIRO, sizeof(names) / sizeof(*names), names,
		&libcairo };

	return library_load(&library);
}
