/* A new file from its opening, without a name, to its place on the disk: the path behind links, the
 * file itself, the name it gets, what is synced. */
#define _GNU_SOURCE
#include "io/safe_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "io/link_owner.h"
#include "io/temporary_files.h"
#include "io/waiting_file.h"

#define LINKS_MOST 40		/* that follow one another, as the kernel has it */
#define NAMES_MOST 1000		/* of temporary files that are tried */
#define HOST_SIZE 65		/* of a machine's name; two of them may share a folder */

struct safe_file {
	char *final;			/* what is replaced, behind symbolic links */
	char *temporary;		/* NULL: the file has no name */
};

/* ---- paths ---- */

/* The path that the symbolic link at `path` holds, as a new string. NULL: it is no link, with
 * errno EINVAL or ENOENT, or it cannot be read. */
static char *
link_target(const char *path)
{
	const char *slash = strrchr(path, '/');
	int folder = slash ? (int)(slash + 1 - path) : 0;
	char text[PATH_MAX + 1], *target;
	ssize_t n = readlink(path, text, sizeof(text) - 1);

	if (n < 0)
		return NULL;
	text[n] = '\0';
	if (asprintf(&target, "%.*s%s", *text == '/' ? 0 : folder, path, text) >= 0)
		return target;
	errno = ENOMEM;
	return NULL;
}

char *
safe_file_final_path(const char *path)
{
	char *final = realpath(path, NULL), *target;

	if (final)
		return final;
	final = strdup(path);		/* a link that points nowhere is followed to its end */
	for (int links = 0; final && (target = link_target(final)); links++) {
		free(final);
		final = target;
		if (links == LINKS_MOST) {
			free(final);
			errno = ELOOP;
			fail_errno(path, "cannot be created");
			return NULL;
		}
	}
	if (!final || errno == ENOMEM) {
		fail_memory();
	} else if (errno == EIO) {	/* other errors are those of making the file, too */
		fail_errno(path, "link cannot be read");
	} else {
		return final;
	}
	free(final);
	return NULL;
}

/* The path without . and .. and links in it, of a file that need not exist; NULL where its folder
 * does not. */
static char *
plain_path(const char *path)
{
	char *final = realpath(path, NULL), *copy, *slash, *folder, *plain = NULL;

	if (final)
		return final;
	copy = safe_file_final_path(path);
	if (!copy)
		return NULL;
	slash = strrchr(copy, '/');
	if (slash)
		*slash = '\0';
	folder = realpath(!slash ? "." : *copy ? copy : "/", NULL);
	if (folder && asprintf(&plain, "%s/%s", folder, slash ? slash + 1 : copy) < 0)
		plain = NULL;
	free(folder);
	free(copy);
	return plain;
}

bool
safe_file_same(const char *a, const char *b)
{
	char *one = a ? plain_path(a) : NULL, *other = b ? plain_path(b) : NULL;
	bool same = one && other && !strcmp(one, other);

	free(one);
	free(other);
	return same && !safe_file_is_special(a);
}

bool
safe_file_is_special(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

/* How much of a path is its folder, with the slash. */
static int
folder_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (int)(slash + 1 - path) : 0;
}

/* A new string; NULL where there is no memory. */
static char *
folder_of(const char *path)
{
	int n = folder_length(path);

	return n ? strndup(path, (size_t)n) : strdup(".");
}

/* ---- the disk ---- */

static bool no_sync;
static pthread_mutex_t unsynced_lock = PTHREAD_MUTEX_INITIALIZER;
static char *unsynced;		/* the folder of files that safe_file_close_one() has put there */

void
safe_file_no_sync(void)
{
	no_sync = true;
}

bool
safe_file_syncs(void)
{
	return !no_sync;
}

/* Special files and some file systems cannot do it, and need not. */
static int
sync_descriptor(int fd)
{
	int status;

	do
		status = fsync(fd);
	while (status < 0 && errno == EINTR);
	return status == 0 || errno == EINVAL || errno == ENOTSUP ? 0 : -1;
}

/* Owns the path. A folder that cannot be opened, as where it may be written and not read, is left
 * to the kernel. */
static int
sync_folder(char *folder)
{
	int fd = waiting_open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0), status = 0;

	if (fd >= 0 && sync_descriptor(fd) < 0)
		status = fail_errno(folder, "folder cannot be written to the disk");
	if (fd >= 0)
		close(fd);
	free(folder);
	return status;
}

int
safe_file_put(const char *path)
{
	char *folder, *before;

	if (no_sync)
		return 0;
	folder = folder_of(path);
	if (!folder)
		return fail_memory();
	pthread_mutex_lock(&unsynced_lock);
	before = unsynced;
	unsynced = folder;
	pthread_mutex_unlock(&unsynced_lock);
	if (before && strcmp(before, folder))
		return sync_folder(before);
	free(before);
	return 0;
}

int
safe_file_sync_folder(void)
{
	char *folder;

	pthread_mutex_lock(&unsynced_lock);
	folder = unsynced;
	unsynced = NULL;
	pthread_mutex_unlock(&unsynced_lock);
	return folder ? sync_folder(folder) : 0;
}

/* ---- files without a name ---- */

static void
descriptor_path(int fd, char path[32])
{
	snprintf(path, 32, "/proc/self/fd/%d", fd);
}

/* Are there paths of descriptors? Once there are, they stay. */
static bool
has_path(int fd)
{
	static atomic_bool seen;
	char path[32];

	if (atomic_load(&seen))
		return true;
	descriptor_path(fd, path);
	if (access(path, F_OK) < 0)
		return false;
	atomic_store(&seen, true);
	return true;
}

/* A file without a name in the folder of `final`; -1: that, or giving it a name, cannot be done. */
static int
nameless_create(const char *final)
{
	char *folder = folder_of(final);
	int fd = folder ? waiting_open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666) : -1;

	free(folder);
	if (fd < 0 || has_path(fd))
		return fd;
	close(fd);
	return -1;
}

/* Kernels before 6.10 let only privileged processes link a descriptor, others its path. */
static int
nameless_link(int fd, const char *name)
{
	char path[32];

	if (linkat(fd, "", AT_FDCWD, name, AT_EMPTY_PATH) == 0)
		return 0;
	if (errno == EEXIST)
		return -1;
	descriptor_path(fd, path);
	return linkat(AT_FDCWD, path, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

static int
copy_bytes(int from, int to)
{
	char buffer[65536];
	off_t at = 0;
	ssize_t n, done;

	while ((n = TEMP_FAILURE_RETRY(pread(from, buffer, sizeof(buffer), at))) > 0) {
		for (ssize_t i = 0; i < n; i += done) {
			done = TEMP_FAILURE_RETRY(write(to, buffer + i, (size_t)(n - i)));
			if (done < 0)
				return -1;
		}
		at += n;
	}
	return n < 0 ? -1 : 0;
}

/* A new file of this name with the content and the permissions of fd, where it cannot be linked. */
static int
nameless_copy(int fd, const char *name)
{
	int to = waiting_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666), status, number;
	struct stat st;

	if (to < 0)
		return -1;
	status = copy_bytes(fd, to);
	if (status == 0 && fstat(fd, &st) == 0)
		(void)fchmod(to, st.st_mode & 07777);
	if (status == 0 && !no_sync)
		status = sync_descriptor(to);
	number = errno;
	if (close(to) < 0 && status == 0) {
		number = errno;
		status = -1;
	}
	if (status < 0)
		unlink(name);
	errno = number;
	return status;
}

/* ---- temporary names ---- */

/* This machine's name, without what cannot stand in a file's name. */
static void
host_name(char name[HOST_SIZE])
{
	if (gethostname(name, HOST_SIZE) < 0)
		*name = '\0';
	name[HOST_SIZE - 1] = '\0';
	for (; *name; name++)
		if (*name == '/')
			*name = '-';
}

/* Makes something of the first name FOLDER/.NAME.HOST.PID.N.tmp that is free: make() returns -1 and
 * EEXIST where it is not. What it returns, and the name in *temporary; -1 with errno set. */
static int
temporary_make(const char *final, char **temporary, int (*make)(int fd, const char *name), int fd)
{
	int folder = folder_length(final), made = -1;
	char host[HOST_SIZE];

	host_name(host);
	for (unsigned i = 0; made < 0 && i < NAMES_MOST; i++) {
		if (asprintf(temporary, "%.*s.%.150s.%s.%ld.%u.tmp", folder, final,
		    final + folder, host, (long)getpid(), i) < 0) {
			*temporary = NULL;
			errno = ENOMEM;
			return -1;
		}
		temporary_files_add(*temporary);
		made = make(fd, *temporary);
		if (made < 0) {
			temporary_files_forget(*temporary);
			free(*temporary);
			*temporary = NULL;
			if (errno != EEXIST)
				break;
		}
	}
	return made;
}

static int
create_new(int fd, const char *name)
{
	(void)fd;
	return waiting_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

static void
temporary_remove(char *temporary)
{
	if (!temporary)
		return;
	unlink(temporary);		/* after a rename it does not exist */
	temporary_files_forget(temporary);
	free(temporary);
}

/* ---- files that appear when they are complete ---- */

static void
place_free(struct safe_file *place)
{
	temporary_remove(place->temporary);
	free(place->final);
	free(place);
}

/* A file with the permissions of the one that it will replace. new: there is none. */
static FILE *
place_open(struct safe_file *place, const char *path, bool new)
{
	struct stat st;
	const bool replaces = !new && stat(place->final, &st) == 0;
	FILE *file = NULL;
	int fd;

	if (replaces && access(place->final, W_OK) < 0) {
		fail_errno(path, "cannot be written");
		return NULL;
	}
	fd = nameless_create(place->final);
	if (fd < 0)
		fd = temporary_make(place->final, &place->temporary, create_new, -1);
	if (fd >= 0)
		file = fdopen(fd, "w+b");
	if (!file) {
		fail_errno(path, "cannot be created");
		if (fd >= 0)
			close(fd);
	} else if (replaces) {
		(void)fchmod(fd, st.st_mode & 07777);	/* where it fails, the umask's will do */
	}
	return file;
}

FILE *
safe_file_open(const char *path, struct safe_file **place)
{
	FILE *file = NULL;
	bool new;			/* neither a device nor a link */

	*place = NULL;
	if (!path || !strcmp(path, "-"))
		return stdout;
	if (link_owner_look(path, &new) < 0)
		return NULL;
	if (!new && safe_file_is_special(path)) {
		file = fopen(path, "wb");
		if (!file)
			fail_errno(path, "cannot be opened for writing");
		return file;
	}
	*place = calloc(1, sizeof(**place));
	if (!*place) {
		fail_memory();
		return NULL;
	}
	(*place)->final = new ? strdup(path) : safe_file_final_path(path);
	if (new && !(*place)->final)
		fail_memory();
	if ((*place)->final)
		file = place_open(*place, path, new);
	if (!file) {
		place_free(*place);
		*place = NULL;
	}
	return file;
}

/* Gives a file without a name its final one, or a temporary one where that is taken. */
static int
place_name(struct safe_file *place, int fd)
{
	if (place->temporary || nameless_link(fd, place->final) == 0)
		return 0;
	if (temporary_make(place->final, &place->temporary, nameless_link, fd) == 0)
		return 0;
	return temporary_make(place->final, &place->temporary, nameless_copy, fd);
}

/* Writes what is left of a file, and gives it a name where it has none. */
static int
complete(FILE *file, const char *name, struct safe_file *place, bool keep)
{
	bool lost = ferror(file) != 0;

	errno = lost ? EIO : 0;
	if (fflush(file) != 0 || lost)
		return fail_errno(name, "cannot be written");
	if (!place || !keep)
		return 0;
	if (!no_sync && sync_descriptor(fileno(file)) < 0)
		return fail_errno(name, "cannot be written to the disk");
	if (place_name(place, fileno(file)) < 0)
		return fail_errno(name, "cannot be put in its place");
	return 0;
}

/* Puts a file that is written and closed in its place. */
static int
put(const char *path, struct safe_file *place)
{
	if (place->temporary && rename(place->temporary, place->final) < 0)
		return fail_errno(path, "cannot be put in its place");
	return safe_file_put(place->final);
}

int
safe_file_close_one(FILE *file, const char *path, struct safe_file *place, bool keep)
{
	const char *name = file == stdout ? "standard output" : path;
	int status = complete(file, name, place, keep);

	if (file != stdout && fclose(file) != 0) {
		if (status == 0 && place && keep && !place->temporary)
			unlink(place->final);
		status = fail_errno(name, "cannot be written");
	}
	if (status == 0 && place && keep)
		status = put(path, place);
	if (place)
		place_free(place);
	return keep ? status : 0;
}

int
safe_file_close(FILE *file, const char *path, struct safe_file *place, bool keep)
{
	int status = safe_file_close_one(file, path, place, keep);

	return safe_file_sync_folder() < 0 && keep ? -1 : status;
}
