#include "folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "io/target.h"

int
folder_check(const char *option, const char *folder, bool force)
{
	struct stat status;
	char *path;
	size_t n;
	int result;

	if (!folder[0])
		return fail_usage(option, "is an empty name");
	if (stat(folder, &status) == 0 && !S_ISDIR(status.st_mode))
		return fail_usage(folder, "is no folder");
	n = strlen(folder) + 2;
	path = malloc(n);
	if (!path)
		return fail_memory();
	snprintf(path, n, "%s/", folder);
	result = target_check(path, force);
	free(path);
	return result;
}

int
folder_make(const char *folder)
{
	struct stat at;

	return mkdir(folder, 0777) < 0 && (stat(folder, &at) < 0 || !S_ISDIR(at.st_mode)) ?
	    fail_errno(folder, "cannot be made") : 0;
}
