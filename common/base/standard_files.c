#include "base/standard_files.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/fail.h"

int
standard_files_reserve(void)
{
	static const char *const names[] = { "standard input", "standard output",
		"standard error" };

	/* open() gives the lowest number that is free: those below are open by then */
	for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++) {
		if (fcntl(i, F_GETFD) >= 0)
			continue;
		if (open("/dev/null", i == STDIN_FILENO ? O_WRONLY : O_RDONLY) != i)
			return fail_errno(names[i], "is closed, and /dev/null cannot be opened "
			    "in its place");
	}
	return 0;
}
