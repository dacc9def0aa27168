/*
 * Expands operands to files: folders become their images in natural order, in which 9 precedes 10.
 */
#include "io/file_list.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
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
int
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

int
file_list(const char *path, char ***files, size_t *n)
{
	struct list list = { 0 };
	struct stat st;

	if (!*path)
		return fail_usage(NULL, "name of an input is empty");
	if (strcmp(path, "-") && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return file_list_folder(path, files, n);
	list_add(&list, must_strdup(path));
	return list_give(&list, 0, files, n);
}
