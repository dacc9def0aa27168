#include "folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "io/target.h"

/* Can it be made, or files where it is there already? */
static int
place_check(const char *folder, bool later)
{
	size_t n = strlen(folder);
	char *place;
	int found;

	if (access(folder, F_OK) == 0)
		return access(folder, W_OK | X_OK) == 0 ? 0 :
		    fail_errno(folder, "cannot be written into");
	while (n > 1 && folder[n - 1] == '/')
		n--;
	while (n > 0 && folder[n - 1] != '/')
		n--;
	place = n ? strndup(folder, n) : strdup(".");
	if (!place)
		return fail_memory();
	found = access(place, W_OK | X_OK);
	free(place);
	return found == 0 || (later && errno == ENOENT) ? 0 : fail_errno(folder, "cannot be made");
}

int
folder_check(const char *option, const char *folder, bool force, bool later)
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
	result = later && access(folder, F_OK) < 0 ? 0 : target_check(path, force);
	free(path);
	return result < 0 ? -1 : place_check(folder, later);
}

int
folder_make(const char *folder)
{
	struct stat at;
	int error;

	if (mkdir(folder, 0777) == 0)
		return 0;
	error = errno;
	if (stat(folder, &at) == 0 && S_ISDIR(at.st_mode))
		return 0;
	errno = error;
	return fail_errno(folder, "cannot be made");
}
