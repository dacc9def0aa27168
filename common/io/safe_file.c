/*
 * Output files that replace existing ones only when they are complete: temporary files beside them,
 * removed when the run fails or is interrupted; no link of another user is followed.
 */
#include "io/safe_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/process.h"

#define LINKS_MOST 40		/* that follow one another, as the kernel has it */
#define TEMPORARY_MOST 16	/* temporary files at a time that a signal removes */
#define NAMES_MOST 1000		/* of temporary files that are tried */
#define HOST_SIZE 65		/* of a machine's name; two of them may share a folder */

struct safe_file {
	char *final;			/* what is replaced, behind symbolic links */
	char *temporary;		/* NULL: the file has no name */
};

/* ---- paths and links ---- */

/* How much of a path is its folder, with the slash. */
static int
folder_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (int)(slash + 1 - path) : 0;
}

/* A new string. */
static char *
folder_of(const char *path)
{
	const int n = folder_length(path);

	return must_format("%.*s", n ? n : 1, n ? path : ".");
}

/* The path that the symbolic link at `path` holds, as a new string. NULL: it is no link, with
 * errno EINVAL or ENOENT, or it cannot be read. */
static char *
link_target(const char *path)
{
	char text[PATH_MAX + 1];
	ssize_t n = readlink(path, text, sizeof(text) - 1);

	if (n < 0)
		return NULL;
	text[n] = '\0';
	return must_format("%.*s%s", *text == '/' ? 0 : folder_length(path), path, text);
}

/* Is the link in a sticky folder, which others may write into, and of neither owner? */
static bool
is_strangers(const struct stat *link, const char *path)
{
	char *folder = folder_of(path);
	struct stat st;
	const bool strangers = stat(folder, &st) == 0 && (st.st_mode & S_ISVTX) &&
	    (st.st_mode & S_IWOTH) && link->st_uid != geteuid() && link->st_uid != st.st_uid;

	free(folder);
	return strangers;
}

/* Is a folder on the way, or the last part, a stranger's link, or does a link lead through one?
 * *new: all but the last part is there. */
static bool
has_strangers_link(const char *path, unsigned links, bool *new)
{
	char *part = must_strdup(path), *target;
	bool found = false, target_new;
	struct stat st;

	*new = false;
	for (size_t i = 1; path[i - 1] != '\0' && !found; i++) {
		if ((path[i] != '/' && path[i] != '\0') || path[i - 1] == '/')
			continue;
		part[i] = '\0';
		if (lstat(part, &st) < 0) {
			*new = errno == ENOENT && path[i] == '\0';
			break;
		}
		if (S_ISLNK(st.st_mode) && !(found = is_strangers(&st, part)) &&
		    links < LINKS_MOST && (target = link_target(part))) {
			found = has_strangers_link(target, links + 1, &target_new);
			free(target);
		}
		part[i] = path[i];
	}
	free(part);
	return found;
}

int
link_owner_check(const char *path, bool *new)
{
	return !has_strangers_link(path, 0, new) ? 0 : fail(path, "is or leads through a link that "
	    "another user has put into a folder which all may write into");
}

char *
safe_file_final_path(const char *path)
{
	char *final = realpath(path, NULL), *target;

	if (final)
		return final;
	final = must_strdup(path);	/* a link that points nowhere is followed to its end */
	for (int links = 0; (target = link_target(final)) && links < LINKS_MOST; links++) {
		free(final);
		final = target;
	}
	if (target) {
		errno = ELOOP;
		fail_errno(path, "cannot be created");
	} else if (errno == EIO) {	/* other errors are those of making the file, too */
		fail_errno(path, "link cannot be read");
	} else {
		return final;
	}
	free(target);
	free(final);
	return NULL;
}

/* The path without . and .. and links in it, of a file that need not exist; NULL where its folder
 * does not. */
static char *
plain_path(const char *path)
{
	char *final = realpath(path, NULL), *copy, *folder, *parent, *plain;

	if (final || !(copy = safe_file_final_path(path)))
		return final;
	parent = folder_of(copy);
	folder = realpath(parent, NULL);
	plain = folder ? must_format("%s/%s", folder, copy + folder_length(copy)) : NULL;
	free_all(folder, parent, copy);
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

/* ---- temporary files that a signal removes ---- */

enum slot_state { SLOT_FREE, SLOT_TAKEN, SLOT_READY };

/* Fixed, so that a signal handler can read it at any moment. */
static struct {
	atomic_int state;
	char path[4096];
} temporary_files[TEMPORARY_MOST];

static void
remove_temporary_files(void)
{
	for (size_t i = 0; i < TEMPORARY_MOST; i++)
		if (atomic_load(&temporary_files[i].state) == SLOT_READY)
			unlink(temporary_files[i].path);
}

/* A signal that ends the process removes this file, until temporary_files_forget(). To be called
 * before it exists, since a signal could come between. */
static void
temporary_files_add(const char *path)
{
	ending_signals_watch(remove_temporary_files);
	for (size_t i = 0; i < TEMPORARY_MOST; i++) {
		int free_state = SLOT_FREE;

		if (strlen(path) < sizeof(temporary_files[i].path) &&
		    atomic_compare_exchange_strong(&temporary_files[i].state, &free_state,
		    SLOT_TAKEN)) {
			strcpy(temporary_files[i].path, path);
			atomic_store(&temporary_files[i].state, SLOT_READY);
			return;
		}
	}
}

static void
temporary_files_forget(const char *path)
{
	for (size_t i = 0; i < TEMPORARY_MOST; i++)
		if (atomic_load(&temporary_files[i].state) == SLOT_READY &&
		    !strcmp(temporary_files[i].path, path))
			atomic_store(&temporary_files[i].state, SLOT_FREE);
}

/* ---- calls that wait ---- */

/* Shall a call that failed be made again? Waits until it can succeed. */
static bool
again(int fd, short events)
{
	struct pollfd wanted = { .fd = fd, .events = events };

	return errno == EINTR || (errno == EAGAIN && (poll(&wanted, 1, -1) >= 0 || errno == EINTR));
}

int
waiting_open(const char *path, int flags, mode_t permissions)
{
	return (int)TEMP_FAILURE_RETRY(open(path, flags, permissions));
}

ssize_t
waiting_read(int fd, void *to, size_t n)
{
	ssize_t got;

	do
		got = read(fd, to, n);
	while (got < 0 && again(fd, POLLIN));
	return got;
}

ssize_t
waiting_write(int fd, const void *from, size_t n)
{
	ssize_t done;

	do
		done = write(fd, from, n);
	while (done < 0 && again(fd, POLLOUT));
	return done;
}

ssize_t
waiting_writev(int fd, const struct iovec *piece, int n)
{
	ssize_t done;

	do
		done = writev(fd, piece, n);
	while (done < 0 && again(fd, POLLOUT));
	return done;
}

static ssize_t
read_cookie(void *cookie, char *to, size_t n)
{
	return waiting_read((int)(intptr_t)cookie, to, n);
}

static ssize_t
write_cookie(void *cookie, const char *from, size_t n)
{
	ssize_t done = waiting_write((int)(intptr_t)cookie, from, n);

	return done < 0 ? 0 : done;	/* as fopencookie(3) has it */
}

static int
close_cookie(void *cookie)
{
	return close((int)(intptr_t)cookie);
}

FILE *
waiting_file_input(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags >= 0 && !(flags & O_NONBLOCK))
		return fdopen(fd, "rb");
	return fopencookie((void *)(intptr_t)fd, "rb",
	    (cookie_io_functions_t){ .read = read_cookie, .close = close_cookie });
}

FILE *
waiting_file_output(int fd)
{
	return fopencookie((void *)(intptr_t)fd, "wb",
	    (cookie_io_functions_t){ .write = write_cookie, .close = close_cookie });
}

/* ---- files without a name, for a while ---- */

const char *
scratch_folder(void)
{
	const char *folder = getenv("TMPDIR");

	return folder && *folder ? folder : "/tmp";
}

FILE *
scratch_file_open(void)
{
	int fd = waiting_open(scratch_folder(), O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
	FILE *file;

	/* a file system that has no files without a name: one whose name is removed at once */
	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
		char *path = must_format("%s/fringepipe.XXXXXX", scratch_folder());

		fd = mkostemp(path, O_CLOEXEC);
		if (fd >= 0)
			unlink(path);
		free(path);
	}
	file = fd >= 0 ? fdopen(fd, "w+b") : NULL;
	if (!file && fd >= 0)
		close(fd);
	return file;
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
	return TEMP_FAILURE_RETRY(fsync(fd)) == 0 || errno == EINVAL || errno == ENOTSUP ? 0 : -1;
}

/* Notes a folder, which this then owns, as the one with new files; NULL: none. Writes another one
 * that was noted to the disk. One that cannot be opened, as where it may be written and not read,
 * is left to the kernel. */
static int
change_unsynced(char *folder)
{
	int fd = -1, status = 0;
	char *before;

	pthread_mutex_lock(&unsynced_lock);
	before = unsynced;
	if (before && folder && !strcmp(before, folder)) {
		free(folder);
		before = NULL;
	} else {
		unsynced = folder;
	}
	pthread_mutex_unlock(&unsynced_lock);
	if (before)
		fd = waiting_open(before, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (fd >= 0 && sync_descriptor(fd) < 0)
		status = fail_errno(before, "folder cannot be written to the disk");
	if (fd >= 0)
		close(fd);
	free(before);
	return status;
}

int
safe_file_put(const char *path)
{
	return no_sync ? 0 : change_unsynced(folder_of(path));
}

int
safe_file_sync_folder(void)
{
	return change_unsynced(NULL);
}

/* ---- new files: without a name until they are complete, else with a temporary one ---- */

static char *
descriptor_path(int fd)
{
	return must_format("/proc/self/fd/%d", fd);
}

/* A file without a name in the folder of `final`; -1: that, or giving it a name, cannot be done. */
static int
nameless_create(const char *final)
{
	char *folder = folder_of(final), *path;
	int fd = waiting_open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);

	free(folder);
	if (fd < 0)
		return -1;
	path = descriptor_path(fd);
	if (access(path, F_OK) < 0) {
		close(fd);
		fd = -1;
	}
	free(path);
	return fd;
}

/* Kernels before 6.10 let only privileged processes link a descriptor, others its path. */
static int
nameless_link(int fd, const char *name)
{
	char *path;
	int status;

	if (linkat(fd, "", AT_FDCWD, name, AT_EMPTY_PATH) == 0)
		return 0;
	if (errno == EEXIST)
		return -1;
	path = descriptor_path(fd);
	status = linkat(AT_FDCWD, path, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
	free(path);
	return status;
}

/* A new file of this name with the content and the permissions of fd, where it cannot be linked. */
static int
nameless_copy(int fd, const char *name)
{
	int to = waiting_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666), error = 0;
	struct stat st;
	off_t at = 0;
	ssize_t n;

	if (to < 0)
		return -1;
	do
		n = TEMP_FAILURE_RETRY(sendfile(to, fd, &at, (size_t)1 << 20));
	while (n > 0);
	if (n == 0 && fstat(fd, &st) == 0)
		(void)fchmod(to, st.st_mode & 07777);
	if (n < 0 || (!no_sync && sync_descriptor(to) < 0))
		error = errno;
	if (close(to) < 0 && !error)
		error = errno;
	if (error)
		unlink(name);
	errno = error;
	return error ? -1 : 0;
}

/* Makes something of the first name FOLDER/.NAME.HOST.PID.N.tmp that is free: make() returns -1 and
 * EEXIST where it is not. What it returns, and the name in *temporary; -1 with errno set. */
static int
temporary_make(const char *final, char **temporary, int (*make)(int fd, const char *name), int fd)
{
	int folder = folder_length(final), made = -1;
	char host[HOST_SIZE] = "";

	if (gethostname(host, HOST_SIZE - 1) < 0)
		*host = '\0';
	for (char *c = host; *c; c++)
		*c = *c == '/' ? '-' : *c;
	for (unsigned i = 0; made < 0 && i < NAMES_MOST; i++) {
		*temporary = must_format("%.*s.%.150s.%s.%ld.%u.tmp", folder, final,
		    final + folder, host, (long)getpid(), i);
		temporary_files_add(*temporary);
		made = make(fd, *temporary);
		if (made >= 0)
			break;
		temporary_files_forget(*temporary);
		free(*temporary);
		*temporary = NULL;
		if (errno != EEXIST)
			break;
	}
	return made;
}

static int
create_new(int, const char *name)
{
	return waiting_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

/* ---- files that appear when they are complete ---- */

static void
place_free(struct safe_file *place)
{
	if (place->temporary) {
		unlink(place->temporary);	/* after a rename it does not exist */
		temporary_files_forget(place->temporary);
	}
	free_all(place->temporary, place->final, place);
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
	if (link_owner_check(path, &new) < 0)
		return NULL;
	if (!new && safe_file_is_special(path)) {
		file = fopen(path, "wb");
		if (!file)
			fail_errno(path, "cannot be opened for writing");
		return file;
	}
	*place = must_alloc(1, sizeof(**place));
	(*place)->final = new ? must_strdup(path) : safe_file_final_path(path);
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
		status = place->temporary && rename(place->temporary, place->final) < 0 ?
		    fail_errno(path, "cannot be put in its place") :
		    safe_file_put(place->final);
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
