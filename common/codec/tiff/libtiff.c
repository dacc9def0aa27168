#include "codec/tiff/libtiff.h"

#include "base/library.h"

#ifndef LIBTIFF
#define LIBTIFF "libtiff.so.6"
#endif

#ifdef LIBTIFF_LINKED	/* into the program: for fuzzers that see into it */

struct libtiff libtiff = {
#define X(name) .name = TIFF##name,
	LIBTIFF_FUNCTIONS
#undef X
};

int
libtiff_load(void)
{
	return 0;
}

#else

struct libtiff libtiff;

int
libtiff_load(void)
{
	static const char *const names[] = {
#define X(name) "TIFF" #name,
		LIBTIFF_FUNCTIONS
#undef X
	};
	static const struct library library = { LIBTIFF, sizeof(names) / sizeof(*names), names,
		&libtiff };

	return library_load(&library);
}

#endif
