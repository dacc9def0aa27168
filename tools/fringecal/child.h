/* Other tools of the toolchain as child processes. */
#ifndef CHILD_H
#define CHILD_H

#include <stdbool.h>

/* A file in memory, for what goes from tool to tool: its descriptor, or -1 after fail(). */
int child_memory(const char *name);
/* Where another process, or this one, opens it anew. */
void child_memory_path(int descriptor, char path[64]);
#define CHILD_REASON 512

/*
 * Runs a tool with words[0] its name, ended by NULL, and waits for it. The tool is the one beside
 * this program, else that in PATH. Its standard input is the file `from` (-1: none), from its
 * beginning, its standard output the file `to`. 0, what it warned of printed unless `silent`; 1
 * where it fails, `reason` being the last line that it printed; -1 after fail(object, ...) where it
 * cannot be run.
 */
int child_run(const char *object, char *const words[], int from, int to, bool silent,
    char reason[CHILD_REASON]);

#endif
