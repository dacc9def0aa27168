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
#include <search.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/process.h"

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

/* The same, and whether the folder is there, and nothing of this name in it. */
static int
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

#define TEMPORARY_MOST 16	/* temporary files at a time that a signal removes */

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

static void
watch(void)
{
	ending_signals_watch(remove_temporary_files);
}

/* A signal that ends the process removes this file, until temporary_files_forget(). To be called
 * before it exists, since a signal could come between. */
static void
temporary_files_add(const char *path)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, watch);
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

/* A search tree of names; numbers of one name are searched once, not once for each frame. */

struct taken_name {
	const char *text;
	size_t number;			/* the first one behind this name that may be free */
};

struct taken_names {
	void *tree;			/* of struct taken_name, as tsearch(3) has it */
};

static int
compare(const void *a, const void *b)
{
	return strcmp(((const struct taken_name *)a)->text, ((const struct taken_name *)b)->text);
}

static struct taken_name *
find(const struct taken_names *names, const char *text)
{
	const struct taken_name wanted = { text, 0 };
	struct taken_name *const *found = tfind(&wanted, &names->tree, compare);

	return found ? *found : NULL;
}

static const char *
take(struct taken_names *names, const char *text)
{
	size_t size = strlen(text) + 1;
	struct taken_name *name = malloc(sizeof(*name) + size);

	if (name) {
		*name = (struct taken_name){ memcpy(name + 1, text, size), 0 };
		if (tsearch(name, &names->tree, compare))
			return name->text;
	}
	free(name);
	fail_memory();
	return NULL;
}

struct taken_names *
taken_names_new(void)
{
	struct taken_names *names = calloc(1, sizeof(*names));

	if (!names)
		fail_memory();
	return names;
}

void
taken_names_free(struct taken_names *names)
{
	if (names)
		tdestroy(names->tree, free);
	free(names);
}

const char *
taken_names_add(struct taken_names *names, const char *text, size_t number)
{
	struct taken_name *name = find(names, text);
	size_t room = strlen(text) + 24;
	const char *taken;
	char *numbered;

	if (!name)
		return take(names, text);
	numbered = malloc(room);
	if (!numbered) {
		fail_memory();
		return NULL;
	}
	if (name->number < number)
		name->number = number;
	do
		snprintf(numbered, room, "%s-%04zu", text, name->number++);
	while (find(names, numbered));
	taken = take(names, numbered);
	free(numbered);
	return taken;
}

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

/* A new file from its opening, without a name, to its place on the disk: the path behind links, the
 * file itself, the name it gets, what is synced. */

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
