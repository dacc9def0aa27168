/*
 * Shared libraries that few runs need: they are loaded when the first function of them is called
 * for, since finding them and relocating them costs every start of a program.
 *
 * A table is a struct of nothing but pointers to functions, named in the same order.
 */
#ifndef LIBRARY_H
#define LIBRARY_H

#include <stddef.h>

struct library {
	const char *file;		/* its SONAME, for the system's search */
	size_t functions;
	const char *const *name;	/* of each */
	void *table;
};

/* Fills the table, once; any thread may call it. 0, or -1 after fail(file, ...). */
int library_load(const struct library *);

#endif
