#define _GNU_SOURCE
#include "io/scratch_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "io/waiting_file.h"

const char *
scratch_folder(void)
{
	const char *folder = getenv("TMPDIR");

	return folder && *folder ? folder : "/tmp";
}

/* Where the file system has no files without a name: one whose name is removed at once. */
static int
create_unlinked(void)
{
	char *path;
	int fd;

	if (asprintf(&path, "%s/fringepipe.XXXXXX", scratch_folder()) < 0) {
		errno = ENOMEM;
		return -1;
	}
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	free(path);
	return fd;
}

FILE *
scratch_file_open(void)
{
	int fd = waiting_open(scratch_folder(), O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
	FILE *file;

	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL))
		fd = create_unlinked();
	file = fd >= 0 ? fdopen(fd, "w+b") : NULL;
	if (!file && fd >= 0)
		close(fd);
	return file;
}
