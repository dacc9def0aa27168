/* Reading frames from pipes, files, folders. */
#include "io/source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/process.h"
#include "io/file_list.h"
#include "io/nrrd.h"
#include "io/safe_file.h"
#include "io/shared_frames.h"
#include "io/whole_file.h"

#define BUFFER_SIZE (64 * 1024)	/* larger reads bypass it, without a copy */
#define HEAD_SIZE 4096	/* likewise, where a codec reads a head, then all at once */
#define PIPE_SIZE (1024 * 1024)		/* the most that the kernel grants without privilege */

struct source {
	struct loader loader;
	const struct codec *codec;
	const struct codec *const *also;	/* formats that the caller reads; NULL: none */
	const char *raw;		/* words of --raw; NULL: files have heads */
	struct pipe_start start;	/* of the pipe at hand */
	char *buffer;			/* of loader.file, and its size */
	size_t buffer_size;
	char **path;			/* the files of a folder, or the one file */
	size_t paths, opened;
	bool may_list;			/* the path may be a folder, whose files take its place */
	bool folder;			/* it is */
	bool failed;			/* the next file, which could not be opened */
	struct fail_record failure;	/* the reason */
	bool whole;			/* the file at hand is to be read by the codec's
					 * load_whole(), and has no stream yet */
	struct whole_file file;		/* set where `whole` is */
};

/* ---- pipes ---- */

/* Under --raw: the codec for it. NULL after fail(): these n bytes are the start of another file. */
static const struct codec *
raw_codec(const char *path, const unsigned char *start, size_t n)
{
	const struct codec *known = n ? sniff_codec(NULL, start, n) : NULL;

	if (n > 0 && (!known || known->tables))
		return codec_of_raw();
	if (known)
		fail(path, "is a file of %s, no raw pictures: leave --raw out", known->name);
	return NULL;
}

/* Reads no further than needed: on a pipe the next bytes may come with the next frame only. */
static int
start_read(struct source *source, const char *path)
{
	struct pipe_start *start = &source->start;
	ssize_t got = 1;

	source->codec = NULL;
	while (!source->codec && start->n < SNIFF_MAX && got > 0 && !(source->raw && start->n)) {
		got = waiting_read(start->fd, start->byte + start->n, SNIFF_MAX - start->n);
		if (got > 0)
			start->n += (size_t)got;
		source->codec = source->raw ? raw_codec(path, start->byte, start->n) :
		    sniff_codec(source->also, start->byte, start->n);
	}
	return got < 0 ? -1 : 0;
}

/* Before anything is read. NULL is passed on; without memory stdio's own buffer remains. */
static FILE *
buffered(struct source *source, FILE *file, size_t size)
{
	if (source->buffer_size < size) {
		free(source->buffer);
		source->buffer = malloc(size);
		source->buffer_size = source->buffer ? size : 0;
	}
	if (file && source->buffer)
		setvbuf(file, source->buffer, _IOFBF, size);
	return file;
}

/* A stream of all bytes of fd, and their format. Owns fd. */
static FILE *
pipe_open(struct source *source, int fd, const char *path)
{
	struct pipe_start *start = &source->start;
	bool streams;
	FILE *file;

	start->fd = fd;
	start->n = 0;
	(void)fcntl(fd, F_SETPIPE_SZ, PIPE_SIZE);	/* fewer switches; may fail */
	source->loader.receiver = shared_receiver_open(fd);
	if (start_read(source, path) < 0)
		fail_errno(path, "cannot be read");
	else if (!source->codec)
		sniff_fail(path, start->byte, start->n);
	if (!source->codec) {
		shared_receiver_close(source->loader.receiver);
		close(fd);
		return NULL;
	}
	streams = source->raw || (source->codec->streams &&
	    source->codec->streams(start->byte, start->n));
	if (source->codec->seeks) {	/* another process may read on, and listen */
		shared_receiver_close(source->loader.receiver);
		source->loader.receiver = NULL;
	}
	file = waiting_file_input(fd);
	if (file && streams)	/* a child may read on where we are */
		setvbuf(file, NULL, _IONBF, 0);
	else
		file = buffered(source, file, BUFFER_SIZE);
	if (!file) {
		fail_errno(path, "cannot be opened");
		close(fd);
	}
	for (size_t i = start->n; file && i > 0; i--)
		if (ungetc(start->byte[i - 1], file) == EOF) {
			fail_errno(path, "cannot be opened");
			fclose(file);
			file = NULL;
		}
	if (!file) {
		shared_receiver_close(source->loader.receiver);
		source->loader.receiver = NULL;
	}
	source->loader.pipe = streams ? start : NULL;
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

/* A stream of a regular file. */
static FILE *
regular_stream(struct source *source, int fd, const char *path)
{
	FILE *file = buffered(source, fdopen(fd, "rb"),
	    source->codec->concatenates ? HEAD_SIZE : BUFFER_SIZE);

	if (!file) {
		fail_errno(path, "cannot be opened");
		close(fd);
	}
	return file;
}

/* Recognises the format. The stream, or NULL and source->whole where none is needed yet; likewise
 * after fail(). */
static FILE *
regular_open(struct source *source, int fd, const char *path, size_t bytes)
{
	const struct codec *const *also = source->also, **codec = &source->codec;
	const bool standard = !strcmp(source->path[source->opened - 1], "-");
	char *start = source->file.start;
	off_t here = standard ? lseek(fd, 0, SEEK_CUR) : 0;
	ssize_t got = sniff_read(fd, start, WHOLE_FILE_START, here);
	const size_t n = got < 0 ? 0 : got < SNIFF_MAX ? (size_t)got : SNIFF_MAX;
	FILE *file;

	*codec = n == 0 ? NULL : source->raw ? raw_codec(path, (unsigned char *)start, n) :
	    sniff_codec(also, (unsigned char *)start, n);
	/* where comments fill the start it may look like a table, and the suffix knows better */
	if (n > 0 && also && (!*codec || (*codec)->tables) && codec_of_list(also, path))
		*codec = codec_of_list(also, path);
	if (n > 0 && !*codec && !source->raw && codec_by_suffix(path) &&
	    (codec_by_suffix(path)->by_suffix ||
	    (!also && !codec_by_suffix(path)->load)))	/* a mesh: source_enter_file() refuses */
		*codec = codec_by_suffix(path);
	if (got < 0)
		fail_errno(path, "cannot be read");
	else if (!*codec)
		sniff_fail(path, (unsigned char *)start, n);
	if (!*codec) {
		close(fd);
		return NULL;
	}
	if (!standard && (*codec)->load_whole) {
		source->whole = true;
		source->file.fd = fd;
		source->file.path = path;
		source->file.bytes = bytes;
		source->file.n = (size_t)got;
		return NULL;
	}
	file = regular_stream(source, fd, path);
	if (file && here != 0 && (*codec)->seeks)	/* codecs seek from the start */
		file = spool(source, file, path);
	return file;
}

/* NULL is no failure where source->whole is set, nor where source->folder is: a folder may be
 * opened, too. */
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
		return regular_open(source, fd, name, (size_t)st.st_size);
	source->folder = source->may_list && S_ISDIR(st.st_mode);
	if (source->folder) {
		close(fd);
		return NULL;
	}
	file = pipe_open(source, fd, name);
	return file && source->codec->seeks && !source->loader.pipe ? spool(source, file, name) :
	    file;
}

/* ---- frames ---- */

static void
source_leave_file(struct source *source)
{
	if (source->whole)
		close(source->file.fd);
	source->whole = false;
	if (source->loader.file) {
		if (source->codec->load_end && source->loader.state)
			source->codec->load_end(&source->loader);
		/* before the file, so that the next reader of a named pipe can listen */
		shared_receiver_close(source->loader.receiver);
		fclose(source->loader.file);
	}
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

	source->loader.file = file_open(source, path);
	if (!source->loader.file && !source->whole)
		return -1;
	source->loader.path = strcmp(path, "-") ? path : "standard input";
	source->loader.raw = source->raw;
	if (!source->codec->load && !source_other(source, NULL))
		return fail(source->loader.path,
		    "%s files are written, but not read here: mesh2depth reads meshes",
		    source->codec->name);
	return 0;
}

/* The files of the folder that the one path is. */
static int
source_enter_folder(struct source *source)
{
	char *folder = source->path[0];
	int status;

	free(source->path);
	source->path = NULL;
	source->paths = source->opened = 0;
	source->may_list = source->folder = false;
	status = file_list_folder(folder, &source->path, &source->paths);
	free(folder);
	return status < 0 ? -1 : source_enter_file(source);
}

/* Opens the path, or its first file where it is a folder. */
static int
source_begin(struct source *source, const char *path)
{
	int status;

	if (!*path)
		return fail_usage(NULL, "name of an input is empty");
	source->path = must_alloc(1, sizeof(*source->path));
	*source->path = must_strdup(path);
	source->paths = 1;
	source->may_list = strcmp(path, "-") != 0;
	status = source_enter_file(source);
	return source->folder ? source_enter_folder(source) : status;
}

struct source *
source_open_as(const char *path, const struct codec *const *also, const char *raw)
{
	struct source *source = must_resize(NULL, 1, sizeof(*source));
	int status;

	memset(source, 0, offsetof(struct source, file));	/* `file` is large */
	source->also = also;
	source->raw = raw;
	status = source_begin(source, path);
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

struct source *
source_open(const char *path)
{
	return source_open_as(path, NULL, NULL);
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

/* The only frame of a file, 1; or a stream of the file, 0. */
static int
whole_next(struct source *source, struct frame **out)
{
	struct loader *loader = &source->loader;
	const int fd = source->file.fd;

	source->whole = false;
	if (source->codec->load_whole(&source->file, out)) {
		close(fd);
		loader->frames = 1;
		return 1;
	}
	loader->file = regular_stream(source, fd, loader->path);
	return loader->file ? 0 : -1;
}

/* The next frame of the file that is open. */
static int
file_next(struct source *source, struct frame **out)
{
	struct loader *loader = &source->loader;
	int status = source->whole ? whole_next(source, out) : 0;

	if (status != 0 || !loader->file)
		return status;
	if (loader->frames && !source->codec->many && !source->codec->concatenates &&
	    !source->codec->follows)
		return 0;
	status = loader->frames && (source->codec->concatenates || source->codec->follows) ?
	    is_at_end(loader) : 0;
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
	while (source->loader.path) {
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

/* Called after a frame: a stream whose writer failed is an error, although its frames are whole. */
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
		frame_replace(out, NULL);
		status = -1;
	}
	source_close(source);
	return status == 1 ? 0 : -1;
}
