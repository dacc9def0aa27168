/* Reading frames: recognising formats, pipes, files, folders. */
#define _GNU_SOURCE
#include "io/source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "io/nrrd_stream.h"
#include "io/scratch_file.h"
#include "io/shared_frames.h"
#include "io/waiting_file.h"

#define SNIFF_MAX 512
#define BUFFER_SIZE (64 * 1024)	/* larger reads bypass it, without a copy */
#define HEAD_SIZE 4096	/* likewise, where a codec reads a head, then all at once */
#define PIPE_SIZE (1024 * 1024)		/* the most that the kernel grants without privilege */

/* The start of a pipe, read to recognise the format. */
struct pipe_start {
	int fd;
	size_t n;
	unsigned char byte[SNIFF_MAX];
};

struct source {
	struct loader loader;
	const struct codec *codec;
	const struct codec *const *also;	/* formats that the caller reads; NULL: none */
	char *buffer;			/* of loader.file */
	char **path;			/* the files of a folder, or the one file */
	size_t paths, opened;
	bool failed;			/* the next file, which could not be opened */
	struct fail_record failure;	/* the reason */
};

/* ---- recognising ---- */

/* images: only formats that images are read from. */
static const struct codec *
sniffed(const struct codec *const *list, const unsigned char *start, size_t n, bool images)
{
	for (; n && *list; list++)
		if ((*list)->sniff && (*list)->sniff(start, n) &&
		    (((*list)->load && !(*list)->tables) || !images))
			return *list;
	return NULL;
}

/* An image format comes before the caller's own formats. */
static const struct codec *
codec_by_start(const struct codec *const *also, const unsigned char *start, size_t n)
{
	const struct codec *codec = sniffed(codecs, start, n, also != NULL);

	if (codec || !also)
		return codec;
	codec = sniffed(also, start, n, false);
	return codec ? codec : sniffed(codecs, start, n, false);
}

/* The first bytes of a file from `here` on, up to n: their number, less where the file ends. */
static ssize_t
file_start(int fd, unsigned char *start, size_t n, off_t here)
{
	size_t got = 0;

	while (got < n) {
		ssize_t more = pread(fd, start + got, n - got, here + (off_t)got);

		if (more < 0 && errno != EINTR)
			return -1;
		if (more == 0)
			break;
		if (more > 0)
			got += (size_t)more;
	}
	return (ssize_t)got;
}

/* Reads no further than needed: on a pipe the next bytes may come with the next frame only. */
static int
start_read(struct pipe_start *start, const struct codec *const *also, const struct codec **codec)
{
	ssize_t got = 1;

	*codec = NULL;
	while (!*codec && start->n < SNIFF_MAX && got > 0) {
		got = waiting_read(start->fd, start->byte + start->n, SNIFF_MAX - start->n);
		if (got > 0)
			start->n += (size_t)got;
		*codec = codec_by_start(also, start->byte, start->n);
	}
	return got < 0 ? -1 : 0;
}

static int
fail_unknown(const char *path, const unsigned char *byte, size_t n)
{
	char text[4 * 5 + 1] = "";

	if (n == 0)
		return fail(path, "is empty");
	for (size_t i = 0; i < n && i < 4; i++)
		sprintf(text + 5 * i, " 0x%02x", byte[i]);
	return fail(path, "not a known image format, starts with%s", text);
}

/* ---- pipes ---- */

/* Before anything is read. NULL is passed on. */
static FILE *
buffered(struct source *source, FILE *file, size_t size)
{
	if (file)
		setvbuf(file, source->buffer, _IOFBF, size);
	return file;
}

/* A stream of all bytes of fd, and their format. Owns fd. */
static FILE *
pipe_open(struct source *source, int fd, const char *path)
{
	struct pipe_start start = { .fd = fd };
	FILE *file;

	(void)fcntl(fd, F_SETPIPE_SZ, PIPE_SIZE);	/* fewer switches; may fail */
	source->loader.receiver = shared_receiver_open(fd);
	if (start_read(&start, source->also, &source->codec) < 0)
		fail_errno(path, "cannot be read");
	else if (!source->codec)
		fail_unknown(path, start.byte, start.n);
	if (!source->codec) {
		shared_receiver_close(source->loader.receiver);
		close(fd);
		return NULL;
	}
	if (source->codec->seeks) {	/* another process may read on, and listen */
		shared_receiver_close(source->loader.receiver);
		source->loader.receiver = NULL;
	}
	file = buffered(source, waiting_file_input(fd), BUFFER_SIZE);
	if (!file) {
		fail_errno(path, "cannot be opened");
		close(fd);
	}
	while (file && start.n)
		if (ungetc(start.byte[--start.n], file) == EOF) {
			fail_errno(path, "cannot be opened");
			fclose(file);
			file = NULL;
		}
	if (!file) {
		shared_receiver_close(source->loader.receiver);
		source->loader.receiver = NULL;
	}
	return file;
}

/* Copies a stream into a nameless file, and closes it. */
static FILE *
spool(struct source *source, FILE *from, const char *path)
{
	char buffer[65536];
	FILE *to = scratch_file_open();
	size_t n;

	while (to && (n = fread(buffer, 1, sizeof(buffer), from)) > 0)
		if (fwrite(buffer, 1, n, to) != n)
			break;
	if (!to || ferror(from) || ferror(to) || fflush(to) != 0) {
		if (ferror(from))
			fail_errno(path, "cannot be read");
		fail_errno(path, "cannot be copied to a temporary file in %s", scratch_folder());
		if (to)
			fclose(to);
		to = NULL;
	}
	fclose(from);
	if (to)
		rewind(to);
	return buffered(source, to, BUFFER_SIZE);
}

/* ---- files ---- */

static FILE *
regular_open(struct source *source, int fd, const char *path)
{
	const struct codec *const *also = source->also, **codec = &source->codec;
	unsigned char start[SNIFF_MAX];
	off_t here = strcmp(source->path[source->opened - 1], "-") ? 0 : lseek(fd, 0, SEEK_CUR);
	ssize_t n = file_start(fd, start, sizeof(start), here);
	FILE *file;

	*codec = n > 0 ? codec_by_start(also, start, (size_t)n) : NULL;
	/* where comments fill the start it may look like a table, and the suffix knows better */
	if (n > 0 && also && (!*codec || (*codec)->tables) && codec_of_list(also, path))
		*codec = codec_of_list(also, path);
	if (n > 0 && !*codec && codec_by_suffix(path) && (codec_by_suffix(path)->by_suffix ||
	    (!also && !codec_by_suffix(path)->load)))	/* a mesh: source_enter_file() refuses */
		*codec = codec_by_suffix(path);
	if (n < 0)
		fail_errno(path, "cannot be read");
	else if (!*codec)
		fail_unknown(path, start, (size_t)n);
	if (!*codec) {
		close(fd);
		return NULL;
	}
	file = buffered(source, fdopen(fd, "rb"), (*codec)->concatenates ? HEAD_SIZE : BUFFER_SIZE);
	if (!file) {
		fail_errno(path, "cannot be opened");
		close(fd);
	} else if (here != 0 && (*codec)->seeks) {	/* codecs seek from the start */
		file = spool(source, file, path);
	}
	return file;
}

static FILE *
file_open(struct source *source, const char *path)
{
	bool standard = !strcmp(path, "-");
	const char *name = standard ? "standard input" : path;
	int fd = standard ? dup(STDIN_FILENO) : waiting_open(path, O_RDONLY | O_CLOEXEC, 0);
	struct stat st;
	FILE *file;

	source->codec = NULL;
	if (fd < 0 || fstat(fd, &st) < 0) {
		fail_errno(name, "cannot be opened");
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	if (S_ISREG(st.st_mode))
		return regular_open(source, fd, name);
	file = pipe_open(source, fd, name);
	return file && source->codec->seeks ? spool(source, file, name) : file;
}

/* ---- folders ---- */

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
compare_naturally(const void *pa, const void *pb)
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
	n = file_start(fd, start, sizeof(start), 0);
	if (n < 0)
		fail_errno(path, "cannot be read");
	close(fd);
	if (n < 0)
		return -1;
	codec = n > 0 ? codec_by_start(NULL, start, (size_t)n) : NULL;
	return codec && codec->load && !codec->tables;
}

static int
source_add(struct source *source, char *path)
{
	char **more = path ? reallocarray(source->path, source->paths + 1, sizeof(*more)) : NULL;

	if (!more) {
		free(path);
		return fail_memory();
	}
	source->path = more;
	more[source->paths++] = path;
	return 0;
}

/* Adds the file of the folder if it is an image. */
static int
folder_add(struct source *source, const char *folder, const char *name)
{
	bool slash = folder[strlen(folder) - 1] == '/';
	char *path;
	int image;

	if (*name == '.')
		return 0;
	if (asprintf(&path, "%s%s%s", folder, slash ? "" : "/", name) < 0)
		return fail_memory();
	image = is_image(path);
	if (image > 0)
		return source_add(source, path);
	free(path);
	return image;
}

static int
folder_list(struct source *source, const char *folder)
{
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
		status = folder_add(source, folder, entry->d_name);
	}
	closedir(dir);
	if (status == 0 && source->paths == 0)
		return fail(folder, "folder holds no images");
	if (status == 0)
		qsort(source->path, source->paths, sizeof(*source->path), compare_naturally);
	return status;
}

/* ---- frames ---- */

static void
source_leave_file(struct source *source)
{
	if (!source->loader.file)
		return;
	if (source->codec->load_end && source->loader.state)
		source->codec->load_end(&source->loader);
	/* before the file, so that the next reader of a named pipe can listen */
	shared_receiver_close(source->loader.receiver);
	fclose(source->loader.file);
	source->loader = (struct loader){ 0 };
}

FILE *
source_other(const struct source *source, const struct codec **which)
{
	for (const struct codec *const *also = source->also; also && *also; also++)
		if (*also == source->codec) {
			if (which)
				*which = *also;
			return source->loader.file;
		}
	return NULL;
}

static int
source_enter_file(struct source *source)
{
	const char *path = source->path[source->opened++];

	source->loader.path = strcmp(path, "-") ? path : "standard input";
	if (!source->buffer)
		source->buffer = malloc(BUFFER_SIZE);
	if (!source->buffer)
		return fail_memory();
	source->loader.file = file_open(source, path);
	if (!source->loader.file)
		return -1;
	if (!source->codec->load && !source_other(source, NULL))
		return fail(source->loader.path,
		    "%s files are written, but not read here: mesh2depth reads meshes",
		    source->codec->name);
	return 0;
}

struct source *
source_open(const char *path)
{
	return source_open_also(path, NULL);
}

/* The files that a path stands for. */
static int
list(struct source *source, const char *path)
{
	struct stat st;

	if (!*path)
		return fail_usage(NULL, "name of an input is empty");
	if (strcmp(path, "-") && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return folder_list(source, path);
	return source_add(source, strdup(path));
}

int
source_files(const char *path, char ***files, size_t *n)
{
	struct source source = { 0 };

	if (list(&source, path) < 0) {
		for (size_t i = 0; i < source.paths; i++)
			free(source.path[i]);
		free(source.path);
		return -1;
	}
	*files = source.path;
	*n = source.paths;
	return 0;
}

struct source *
source_open_also(const char *path, const struct codec *const *also)
{
	struct source *source = calloc(1, sizeof(*source));
	int status;

	if (!source) {
		fail_memory();
		return NULL;
	}
	source->also = also;
	status = list(source, path);
	if (status == 0)
		status = source_enter_file(source);
	if (status < 0 && source->paths > 1) {	/* source_next() says so, others may be good */
		source_leave_file(source);
		source->failed = true;
		fail_take(&source->failure);
		return source;
	}
	if (status < 0) {
		source_close(source);
		return NULL;
	}
	return source;
}

/* Is all of a file read? A disk that fails behind the last byte loses nothing. -1 after fail()
 * where more was read than there is now: what was behind it is lost. */
static int
is_at_end(const struct loader *loader)
{
	struct stat st;
	off_t here = ftello(loader->file);

	if (fstat(fileno(loader->file), &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	if (here > st.st_size)
		return fail(loader->path, "has become shorter while it was read");
	return here == st.st_size;
}

/* The next frame of the file that is open. */
static int
file_next(struct source *source, struct frame **out)
{
	struct loader *loader = &source->loader;
	int status;

	if (loader->frames && !source->codec->many && !source->codec->concatenates)
		return 0;
	status = loader->frames && source->codec->concatenates ? is_at_end(loader) : 0;
	if (status != 0)
		return status < 0 ? -1 : 0;
	status = source->codec->load(loader, out);
	if (status == 1)
		loader->frames++;
	if (status == 0 && loader->frames == 0)
		return fail(loader->path, "holds no image");
	return status;
}

int
source_next(struct source *source, struct frame **out)
{
	*out = NULL;
	if (source->failed) {
		fail_put(&source->failure);
		return -1;
	}
	while (source->loader.file) {
		int status = file_next(source, out);

		if (status != 0)
			return status;
		source_leave_file(source);
		if (source->opened < source->paths && source_enter_file(source) < 0)
			return -1;
	}
	return 0;
}

bool
source_skip(struct source *source)
{
	source_leave_file(source);
	source->failed = false;
	if (source->opened == source->paths)
		return false;
	if (source_enter_file(source) < 0) {
		source_leave_file(source);
		source->failed = true;
		fail_take(&source->failure);
	}
	return true;
}

void
source_close(struct source *source)
{
	if (!source)
		return;
	source_leave_file(source);
	free(source->buffer);
	for (size_t i = 0; i < source->paths; i++)
		free(source->path[i]);
	free(source->path);
	free(source);
}

/* Behind a frame: a stream whose writer failed there is none to rely on. */
static int
check_end(struct source *source)
{
	const struct loader *loader = &source->loader;
	char text[sizeof(STREAM_FAILED) - 1];
	size_t n;

	if (!loader->file || !source->codec->concatenates)
		return 0;
	n = fread(text, 1, sizeof(text), loader->file);
	if (ferror(loader->file))
		return fail_errno(loader->path, "cannot be read");
	return n == sizeof(text) && !memcmp(text, STREAM_FAILED, n) ?
	    fail(loader->path, "the writer before failed") : 0;
}

int
source_load(const char *path, struct frame **out)
{
	struct source *source = source_open(path);
	int status;

	*out = NULL;
	if (!source)
		return -1;
	status = source_next(source, out);
	if (status == 1 && check_end(source) < 0) {
		frame_free(*out);
		*out = NULL;
		status = -1;
	}
	source_close(source);
	return status == 1 ? 0 : -1;
}
