/*
 * Reads and writes files in the user's cache folder ($XDG_CACHE_HOME/fringepipe); a failure costs
 * time, never the run.
 */
#include "base/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/process.h"

#define FILE_MOST (1 << 28)

char *
cache_path(const char *name)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	return cache && *cache == '/' ? must_format("%s/fringepipe/%s", cache, name) :
	    home && *home == '/' ? must_format("%s/.cache/fringepipe/%s", home, name) : NULL;
}

void *
cache_read(const char *path, size_t *bytes)
{
	/* what is no regular file must not keep the reader waiting */
	int fd = path ? open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) : -1;
	FILE *file = fd >= 0 ? fdopen(fd, "rb") : NULL;
	struct stat about;
	char *data = NULL;

	*bytes = 0;
	if (fd >= 0 && !file)
		close(fd);
	if (file && fstat(fileno(file), &about) == 0 && S_ISREG(about.st_mode) &&
	    about.st_uid == geteuid() && about.st_size > 0 && about.st_size < FILE_MOST) {
		size_t n = (size_t)about.st_size;

		data = malloc(n + 1);
		if (data && fread(data, 1, n, file) == n) {
			data[n] = '\0';
			*bytes = n;
		} else {
			free(data);
			data = NULL;
		}
	}
	if (file)
		fclose(file);
	return data;
}

/* Makes the folders above a path, as far as it can. */
static void
make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);	/* as the XDG Base Directory Specification has it */
		*slash = '/';
	}
}

int
cache_write(const char *path, const void *data, size_t bytes)
{
	char *made = must_format("%s.%ld", path, (long)getpid());
	FILE *file;
	bool written = false;
	int number, fd;

	make_folders(made);
	unlink(made);		/* of a process of this number that was killed */
	fd = open(made, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);	/* follows no link */
	file = fd < 0 ? NULL : fdopen(fd, "wb");
	if (file) {
		written = fwrite(data, 1, bytes, file) == bytes;
		written &= fclose(file) == 0;
		written = written && rename(made, path) == 0;
	}
	number = errno;
	if (fd >= 0 && !file)
		close(fd);
	if (fd >= 0 && !written)
		unlink(made);
	errno = number;
	free(made);
	return written ? 0 : -1;
}

/* Behind the content of a file that has a checksum. */
struct seal {
	char magic[8];
	uint64_t bytes;
	uint32_t crc, zero;
};

static struct seal
make_seal(const void *data, size_t bytes)
{
	return (struct seal){ .magic = "fpcache1", .bytes = bytes,
		.crc = (uint32_t)crc32_z(crc32_z(0, NULL, 0), data, bytes) };
}

void *
cache_read_sealed(const char *path, size_t *bytes)
{
	char *data = cache_read(path, bytes);
	struct seal wanted;

	if (data && *bytes > sizeof(wanted)) {
		*bytes -= sizeof(wanted);
		wanted = make_seal(data, *bytes);
		if (!memcmp(data + *bytes, &wanted, sizeof(wanted)))
			return data;
	}
	free(data);
	*bytes = 0;
	return NULL;
}

int
cache_write_sealed(const char *path, const void *data, size_t bytes)
{
	struct seal seal = make_seal(data, bytes);
	char *whole = must_resize(NULL, bytes + sizeof(seal), 1);
	int status;

	memcpy(whole, data, bytes);
	memcpy(whole + bytes, &seal, sizeof(seal));
	status = cache_write(path, whole, bytes + sizeof(seal));
	free(whole);
	return status;
}
