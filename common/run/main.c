/* The program of every tool: compiled once per tool with TOOLS = X(its name), once with all of
 * them. */
#include "run/stage.h"

#include <signal.h>

#define X(name) STAGE_DECLARE(name)
TOOLS
#undef X
#define X(name) STAGE_ROW(name)
const struct stage_row stage_table[] = { TOOLS { 0 } };

int
main(int argc, char **argv)
{
	/* a write that meets ulimit -f fails, and that of a driver's cache may */
	signal(SIGXFSZ, SIG_IGN);
#ifdef CHAIN
	return chain_main(argc, argv);
#else
	return stage_main(stage_table[0].name, argc, argv);
#endif
}
