/*
 * The program of all tools: fringepipe, or the tool by whose name it is called. A tool that is a
 * program of its own is compiled with TOOLS = X(its name), without CHAIN.
 */
#include "run/stage.h"

#include <signal.h>
#include <stdio.h>

#include "base/text.h"

#define X(name) extern const struct stage stage_##name;
TOOLS
#undef X
#define X(name) { #name, &stage_##name },
const struct stage_row stage_table[] = { TOOLS { 0 } };

#ifdef CHAIN
static int
run_as(const char *name, int argc, char **argv)
{
	const struct stage_row *row = stage_table;

	if (!strcmp(name, "fringepipe"))
		return chain_main(argc, argv);
	while (row->name && strcmp(row->name, name))
		row++;
	if (row->name)
		return stage_main(name, argc, argv);
	fprintf(stderr, "fringepipe: '%s' is no tool's name; it goes by these: fringepipe", name);
	for (row = stage_table; row->name; row++)
		fprintf(stderr, " %s", row->name);
	fputc('\n', stderr);
	return EXIT_USAGE;
}
#endif

int
main(int argc, char **argv)
{
	/* a write that meets ulimit -f fails, and that of a driver's cache may */
	signal(SIGXFSZ, SIG_IGN);
#ifdef CHAIN
	return run_as(path_name(argc ? argv[0] : "fringepipe"), argc, argv);
#else
	return stage_main(stage_table[0].name, argc, argv);
#endif
}
