/*
 * Expands operands to files: folders become their images in natural order, in which 9 precedes 10.
 */
#include "io/file_list.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <search.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/process.h"
#include "io/codec.h"
#include "io/safe_file.h"

/* Are two names alike but for their numbers? */
static bool
differ_in_numbers(const char *a, const char *b)
{
	while (*a && *b) {
		if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
			a += strspn(a, "0123456789");
			b += strspn(b, "0123456789");
		} else if (*a++ != *b++) {
			return false;
		}
	}
	return *a == *b;
}

/* Has it a number with a decimal point, 0.25, whose digits are no number by themselves? */
static bool
has_fraction(const char *name)
{
	for (const char *p = name; (p = strchr(p, '.')); p++)
		if (p > name && isdigit((unsigned char)p[-1]) && isdigit((unsigned char)p[1]))
			return true;
	return false;
}

size_t
text_order_find(char *const *name, size_t n)
{
	size_t at = n;

	for (size_t i = 1; i < n; i++) {
		if (strcmp(name[i - 1], name[i]) >= 0)
			return n;
		if (at == n && strverscmp(name[i - 1], name[i]) > 0)
			at = i - 1;
	}
	return at;
}

size_t
text_order_find_alike(char *const *name, size_t n, size_t least)
{
	for (size_t i = 0, alike; i < n; i += alike) {
		size_t at;

		for (alike = 1; i + alike < n &&
		    differ_in_numbers(name[i + alike - 1], name[i + alike]); alike++)
			;
		at = text_order_find(name + i, alike);
		if (alike >= least && at < alike && !has_fraction(name[i + at + 1]))
			return i + at;
	}
	return n;
}

void
text_order_warn(char *const *name, size_t at)
{
	warn(NULL, "%.200s comes before %.200s, as a shell sorts numbers without zeros: give the "
	    "folder, or the files in the order of their numbers", name[at], name[at + 1]);
}

struct list {
	char **path;
	size_t n;
};

/* The length of the number at *text, past its leading zeros; 0 where there is none. */
static size_t
number_length(const char **text)
{
	size_t n = strspn(*text, "0123456789");

	for (; n > 1 && **text == '0'; n--)
		(*text)++;
	return n;
}

/* Runs of digits compare as numbers: 9 before 10. Where only leading zeros differ, as bytes. */
static int
file_list_compare(const void *pa, const void *pb)
{
	const char *a = *(char *const *)pa, *b = *(char *const *)pb;

	while (*a && *b) {
		size_t na = number_length(&a), nb = number_length(&b);
		int order = (unsigned char)*a - (unsigned char)*b;

		if (na && nb)
			order = na != nb ? (na < nb ? -1 : 1) : strncmp(a, b, na);
		if (order)
			return order;
		a += na ? na : 1;
		b += nb ? nb : 1;
	}
	if (*a || *b)
		return (unsigned char)*a - (unsigned char)*b;
	return strcmp(*(char *const *)pa, *(char *const *)pb);
}

/* Is this file of a folder an image, maybe a damaged one, which must not be skipped silently? 1 or
 * 0, or -1 after fail(). Nor is a link that leads nowhere, where its name is an image's. */
static int
is_image(const char *path)
{
	const struct codec *codec = codec_by_suffix(path);
	unsigned char start[SNIFF_MAX];
	struct stat st;
	ssize_t n;
	int fd;

	if (stat(path, &st) < 0 && (errno == ENOENT || errno == ELOOP || errno == EACCES))
		return codec && codec->load && !codec->tables;
	if (stat(path, &st) < 0)
		return fail_errno(path, "cannot be looked at");
	if (!S_ISREG(st.st_mode))
		return 0;
	if (codec)
		return codec->load && !codec->tables;
	fd = waiting_open(path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return errno == EACCES ? 0 : fail_errno(path, "cannot be opened");
	n = sniff_read(fd, start, sizeof(start), 0);
	if (n < 0)
		fail_errno(path, "cannot be read");
	close(fd);
	if (n < 0)
		return -1;
	codec = n > 0 ? sniff_codec(NULL, start, (size_t)n) : NULL;
	return codec && codec->load && !codec->tables;
}

/* Owns the path. */
static void
list_add(struct list *list, char *path)
{
	list->path = must_resize(list->path, list->n + 1, sizeof(*list->path));
	list->path[list->n++] = path;
}

/* The list is the caller's, or freed where status is not 0. */
static int
list_give(struct list *list, int status, char ***files, size_t *n)
{
	if (status == 0) {
		*files = list->path;
		*n = list->n;
		return 0;
	}
	for (size_t i = 0; i < list->n; i++)
		free(list->path[i]);
	free(list->path);
	return status;
}

/* Adds the file of the folder if it is an image. */
static int
folder_add(struct list *list, const char *folder, const char *name)
{
	bool slash = folder[strlen(folder) - 1] == '/';
	char *path;
	int image;

	if (*name == '.')
		return 0;
	path = must_format("%s%s%s", folder, slash ? "" : "/", name);
	image = is_image(path);
	if (image > 0)
		list_add(list, path);
	else
		free(path);
	return image < 0 ? -1 : 0;
}

int
file_list_folder(const char *folder, char ***files, size_t *n)
{
	struct list list = { 0 };
	DIR *dir = opendir(folder);
	struct dirent *entry;
	int status = 0;

	if (!dir)
		return fail_errno(folder, "cannot be opened");
	while (status == 0) {
		errno = 0;
		entry = readdir(dir);
		if (!entry && errno)
			status = fail_errno(folder, "cannot be read");
		if (!entry)
			break;
		status = folder_add(&list, folder, entry->d_name);
	}
	closedir(dir);
	if (status == 0 && list.n == 0)
		return fail(folder, "folder holds no images");
	if (status == 0)
		qsort(list.path, list.n, sizeof(*list.path), file_list_compare);
	return list_give(&list, status, files, n);
}

bool
path_is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

int
file_list(const char *path, char ***files, size_t *n)
{
	struct list list = { 0 };

	if (!*path)
		return fail_usage(NULL, "name of an input is empty");
	if (strcmp(path, "-") && path_is_folder(path))
		return file_list_folder(path, files, n);
	list_add(&list, must_strdup(path));
	return list_give(&list, 0, files, n);
}

/*
 * Follows folders (--follow): their images as they become complete. inotify tells when a file is
 * closed or renamed into place; where it does not, as on a network's file system, a folder whose
 * time changes is listed again, and a file counts when its size has stayed for two seconds.
 */

#define STAYS_S 2.0		/* seconds in which a file does not change: its writer is done */
#define LOOK_MS 1000		/* how often folders are looked at where inotify tells nothing */
#define LOOK_SOON_MS 100	/* likewise, while files wait for their end */

struct followed {
	char *path;
	struct stat seen;
	double since;			/* when it was last seen to change */
	bool complete, waits;
};

struct follow {
	struct followed_folder {
		const char *path;
		struct timespec changed;	/* its time when it was listed last */
		int watch;
	} *folder;
	size_t folders, again;		/* how often all are listed again, whatever their times */
	int notifier, signal;		/* descriptors; -1: there is none */
	void *tree;			/* all files so far, by their paths */
	struct followed **waiting;
	size_t n;			/* files that wait */
	double idle_s, last;		/* not above 0: without end; when something came last */
};

static int
compare_paths(const void *a, const void *b)
{
	return strcmp(((const struct followed *)a)->path, ((const struct followed *)b)->path);
}

static bool
is_same(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_size == b->st_size &&
	    a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* A file of this name was seen; complete: its writer has closed it. A file that has been given
 * counts again where it was written anew. */
static void
take_name(struct follow *follow, const char *folder, const char *name, bool complete)
{
	const size_t n = strlen(folder);
	const struct codec *codec = codec_by_suffix(name);
	struct followed *file, **known;
	struct stat st;
	char *path;

	if (*name == '.' || !codec || !codec->load || codec->tables)
		return;
	path = must_format("%s%s%s", folder, folder[n - 1] == '/' ? "" : "/", name);
	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode)) {
		free(path);
		return;
	}
	file = must_alloc(1, sizeof(*file));
	file->path = path;
	known = tsearch(file, &follow->tree, compare_paths);
	if (!known)
		out_of_memory();
	if (*known != file) {
		free(path);
		free(file);
		file = *known;
		if (file->waits || !complete || is_same(&file->seen, &st)) {
			file->complete |= complete && file->waits;
			return;
		}
	}
	file->seen = st;
	file->since = progress_seconds();
	file->waits = true;
	file->complete = complete || difftime(time(NULL), st.st_mtime) > STAYS_S;
	follow->waiting = must_resize(follow->waiting, follow->n + 1, sizeof(*follow->waiting));
	follow->waiting[follow->n++] = file;
}

static int
compare_entries(const struct dirent **a, const struct dirent **b)
{
	return file_list_compare(&(const char *){ (*a)->d_name },
	    &(const char *){ (*b)->d_name });
}

/* Lists folders that have changed, and once more after that: their times may be coarse. */
static int
list_changed(struct follow *follow)
{
	const bool again = follow->again > 0;

	follow->again -= again;
	for (size_t i = 0; i < follow->folders; i++) {
		struct followed_folder *folder = &follow->folder[i];
		struct dirent **entry;
		struct stat st;
		int n;

		if (stat(folder->path, &st) < 0)
			return fail_errno(folder->path, "cannot be followed");
		if (st.st_mtim.tv_sec != folder->changed.tv_sec ||
		    st.st_mtim.tv_nsec != folder->changed.tv_nsec)
			follow->again = 2;
		else if (!again)
			continue;
		folder->changed = st.st_mtim;
		n = scandir(folder->path, &entry, NULL, compare_entries);
		if (n < 0)
			return fail_errno(folder->path, "cannot be followed");
		for (int k = 0; k < n; k++) {
			take_name(follow, folder->path, entry[k]->d_name, false);
			free(entry[k]);
		}
		free(entry);
	}
	return 0;
}

static void
take_events(struct follow *follow)
{
	_Alignas(struct inotify_event) char bytes[8192];
	const struct inotify_event *event;
	ssize_t n;

	while (follow->notifier >= 0 && (n = read(follow->notifier, bytes, sizeof(bytes))) > 0)
		for (char *at = bytes; at < bytes + n; at += sizeof(*event) + event->len) {
			event = (const struct inotify_event *)at;
			if (event->mask & IN_Q_OVERFLOW)
				follow->again = 2;
			for (size_t i = 0; i < follow->folders && event->len; i++)
				if (follow->folder[i].watch == event->wd)
					take_name(follow, follow->folder[i].path, event->name,
					    true);
		}
}

/* Moves the files that are complete to a list, in the order in which they were seen first: one that
 * is still written holds up those after it. */
static size_t
take_complete(struct follow *follow, char ***files)
{
	const double now = progress_seconds();
	size_t kept = 0, n = 0;
	bool holds = false;

	for (size_t i = 0; i < follow->n; i++) {
		struct followed *file = follow->waiting[i];
		struct stat st;
		const bool there = stat(file->path, &st) == 0;

		if (there && !is_same(&st, &file->seen)) {
			file->seen = st;
			file->since = follow->last = now;
		}
		file->complete |= now - file->since >= STAYS_S;
		if (there && (holds || !file->complete || st.st_size == 0)) {
			holds |= st.st_size > 0;
			follow->waiting[kept++] = file;
			continue;
		}
		file->waits = false;
		if (!there)
			continue;
		*files = must_resize(*files, n + 1, sizeof(**files));
		(*files)[n++] = must_strdup(file->path);
		follow->last = now;
	}
	follow->n = kept;
	return n;
}

/* Milliseconds until there is something to be looked at; 0: the end. */
static int
time_left(const struct follow *follow)
{
	double left = LOOK_MS;

	for (size_t i = 0; i < follow->n; i++)
		if (follow->waiting[i]->seen.st_size > 0)
			return LOOK_SOON_MS;
	if (follow->idle_s > 0)
		left = fmin(left, 1000 * (follow->last + follow->idle_s - progress_seconds()));
	return left <= 0 ? 0 : (int)ceil(left);
}

int
follow_next(struct follow *follow, bool wait, char ***files, size_t *n)
{
	*files = NULL;
	for (;;) {
		struct pollfd wanted[2] = { { .fd = follow->notifier, .events = POLLIN },
			{ .fd = follow->signal, .events = POLLIN } };
		int left;

		take_events(follow);
		if (list_changed(follow) < 0)
			return -1;
		*n = take_complete(follow, files);
		if (*n || !wait)
			return *n > 0;
		left = time_left(follow);
		if (left == 0 || (poll(&wanted[1], 1, 0) > 0))
			return 0;
		(void)poll(wanted, 2, left);
	}
}

struct follow *
follow_open(char *const *operand, size_t operands, double idle_s)
{
	struct follow *follow = must_alloc(1, sizeof(*follow));

	follow->folder = must_alloc(operands, sizeof(*follow->folder));
	follow->again = 2;
	follow->idle_s = idle_s;
	follow->last = progress_seconds();
	follow->notifier = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	follow->signal = ending_signals_defer();
	for (size_t i = 0; i < operands; i++)
		if (path_is_folder(operand[i]))
			follow->folder[follow->folders++] = (struct followed_folder){
				.path = operand[i], .watch = inotify_add_watch(follow->notifier,
				operand[i], IN_CLOSE_WRITE | IN_MOVED_TO) };
	if (follow->folders && list_changed(follow) == 0)
		return follow;
	if (!follow->folders)
		fail_usage("--follow", "no operand is a folder");
	follow_close(follow);
	return NULL;
}

static void
free_followed(void *file)
{
	free(((struct followed *)file)->path);
	free(file);
}

void
follow_close(struct follow *follow)
{
	if (!follow)
		return;
	if (follow->notifier >= 0)
		close(follow->notifier);
	tdestroy(follow->tree, free_followed);
	free_all(follow->folder, follow->waiting, follow);
}
