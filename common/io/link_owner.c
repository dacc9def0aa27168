#define _GNU_SOURCE
#include "io/link_owner.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"

#define LINKS_MOST 40		/* that follow one another, as the kernel has it */

/* Is the link in a sticky folder, which others may write into, and of neither owner? `folder` holds
 * the path up to the link, which may be empty. */
static bool
is_strangers(const struct stat *link, const char *folder)
{
	struct stat st;

	return stat(*folder ? folder : ".", &st) == 0 && (st.st_mode & S_ISVTX) &&
	    (st.st_mode & S_IWOTH) && link->st_uid != geteuid() && link->st_uid != st.st_uid;
}

static int check_parts(const char *path, unsigned links, bool *new);

/* The link at this path, and what it leads through. 1: a stranger's. */
static int
check_link(const char *part, const struct stat *link, unsigned links)
{
	const char *slash = strrchr(part, '/');
	int length = slash ? (int)(slash + 1 - part) : 0;
	char folder[PATH_MAX], text[PATH_MAX + 1], *target;
	bool new;
	ssize_t n;
	int found;

	snprintf(folder, sizeof(folder), "%.*s", length, part);
	if (is_strangers(link, folder))
		return 1;
	n = links < LINKS_MOST ? readlink(part, text, sizeof(text) - 1) : -1;
	if (n < 0)
		return 0;
	text[n] = '\0';
	if (asprintf(&target, "%s%s", *text == '/' ? "" : folder, text) < 0)
		return fail_memory();
	found = check_parts(target, links + 1, &new);
	free(target);
	return found;
}

/* Every folder on the way, and the last part. 1: one is a stranger's link. *new: all but the last
 * part is there. */
static int
check_parts(const char *path, unsigned links, bool *new)
{
	size_t n = strlen(path);
	char *part = malloc(n + 1);
	int found = part ? 0 : fail_memory();
	struct stat st;

	*new = false;
	for (size_t i = 1; i <= n && found == 0; i++) {
		if ((path[i] != '/' && path[i] != '\0') || path[i - 1] == '/')
			continue;
		memcpy(part, path, i);
		part[i] = '\0';
		if (lstat(part, &st) < 0) {
			*new = errno == ENOENT && i == n;
			break;
		}
		if (S_ISLNK(st.st_mode))
			found = check_link(part, &st, links);
	}
	free(part);
	return found;
}

int
link_owner_look(const char *path, bool *new)
{
	int found = check_parts(path, 0, new);

	if (found <= 0)
		return found;
	return fail(path, "is or leads through a link that another user has put into a folder "
	    "which all may write into");
}

int
link_owner_check(const char *path)
{
	bool new;

	return link_owner_look(path, &new);
}
