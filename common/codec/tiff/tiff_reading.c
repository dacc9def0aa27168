/* What libtiff asks of a file that is read, and what it says of it. */
#define _GNU_SOURCE
#include "codec/tiff/tiff_reading.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"

#define REST_BYTES 65536	/* profiles of colour are smaller */
#define TAG_BYTES 1024		/* of a page, without those that say where its blocks are, */
#define BLOCK_BYTES 16		/* of each block */

/* libtiff leaves out a tag for which it had no memory, with a warning or an error. */
static void
note_memory(struct tiff_reading *reading, const char *format)
{
	if (!strcasestr(format, "memory") && !strcasestr(format, "alloc"))
		return;
	fail(reading->path, "TIFF page %u: no memory for its tags", reading->page + 1);
	reading->lost = true;
}

/* libtiff passes the file of the message, so that threads do not mix them. */
static void
on_error(thandle_t handle, const char *module, const char *format, va_list args)
{
	struct tiff_reading *reading = handle;

	(void)module;
	if (!reading)
		return;
	if (!reading->message[0])
		vsnprintf(reading->message, sizeof(reading->message), format, args);
	note_memory(reading, format);
}

static void
on_warning(thandle_t handle, const char *module, const char *format, va_list args)
{
	struct tiff_reading *reading = handle;

	(void)module;
	(void)args;
	if (reading)
		note_memory(reading, format);
}

/* The file cannot be read: libtiff would take that for a damaged tag, and go on. */
static void
lose(struct tiff_reading *reading)
{
	fail_errno(reading->path, "cannot be read");
	reading->lost = true;
}

int
tiff_fail_damaged(struct tiff_reading *reading, const char *what, unsigned number)
{
	if (reading->message[0])
		return fail(reading->path, "TIFF %s %u: %s", what, number, reading->message);
	return fail(reading->path, "TIFF %s %u is damaged", what, number);
}

static void
set_handlers(void)
{
	libtiff.SetErrorHandler(NULL);
	libtiff.SetErrorHandlerExt(on_error);
	libtiff.SetWarningHandler(NULL);
	libtiff.SetWarningHandlerExt(on_warning);
}

static tmsize_t
client_read(thandle_t handle, void *to, tmsize_t n)
{
	struct tiff_reading *reading = handle;
	tmsize_t got = 0;

	if (reading->fd < 0) {
		got = (tmsize_t)fread(to, 1, (size_t)n, reading->file);
		if (ferror(reading->file))
			lose(reading);
		return got;
	}
	while (got < n) {
		ssize_t more = pread(reading->fd, (char *)to + got, (size_t)(n - got), reading->at);

		if (more < 0 && errno == EINTR)
			continue;
		if (more < 0)
			lose(reading);
		if (more <= 0)
			break;
		got += more;
		reading->at += more;
	}
	return got;
}

static tmsize_t
client_write(thandle_t handle, void *from, tmsize_t n)
{
	(void)handle;
	(void)from;
	(void)n;
	return -1;
}

static toff_t
client_seek(thandle_t handle, toff_t offset, int whence)
{
	struct tiff_reading *reading = handle;

	off_t at = -1;

	if (offset > INT64_MAX)
		return (toff_t)-1;
	if (reading->fd >= 0 && whence == SEEK_SET)
		return (toff_t)(reading->at = (off_t)offset);
	if (reading->fd >= 0)	/* which libtiff does not ask for */
		return (toff_t)-1;
	if (fseeko(reading->file, (off_t)offset, whence) == 0)
		at = ftello(reading->file);
	if (at < 0)
		lose(reading);
	return (toff_t)at;
}

static int
client_close(thandle_t handle)
{
	(void)handle;
	return 0;
}

static toff_t
client_size(thandle_t handle)
{
	struct tiff_reading *reading = handle;
	struct stat st;
	off_t here, end = -1;

	if (reading->fd >= 0 && fstat(reading->fd, &st) == 0)
		return (toff_t)st.st_size;
	here = ftello(reading->file);
	if (here >= 0 && fseeko(reading->file, 0, SEEK_END) == 0)
		end = ftello(reading->file);
	if (end < 0 || fseeko(reading->file, here, SEEK_SET) < 0) {
		lose(reading);
		return 0;
	}
	return (toff_t)end;
}

uint64_t
tiff_file_size(struct tiff_reading *reading)
{
	return client_size(reading);
}

void
tiff_note_page(struct tiff_reading *reading)
{
	TIFF *tif = reading->tif;
	uint32_t n = libtiff.IsTiled(tif) ? libtiff.NumberOfTiles(tif) :
	    libtiff.NumberOfStrips(tif);
	uint64_t bytes = 0, most = tiff_file_size(reading);	/* a head may claim more blocks */

	for (uint32_t i = 0; i < n && i < most; i++) {
		uint64_t at = libtiff.GetStrileOffset(tif, i);
		uint64_t size = libtiff.GetStrileByteCount(tif, i), end;

		if (__builtin_add_overflow(at, size, &end))
			end = UINT64_MAX;
		reading->end = end > reading->end ? end : reading->end;
		bytes = __builtin_add_overflow(bytes, size, &bytes) ? UINT64_MAX : bytes;
	}
	reading->most = bytes > reading->most ? bytes : reading->most;
	reading->tags += TAG_BYTES + (uint64_t)BLOCK_BYTES * n;
}

void
tiff_warn_rest(struct tiff_reading *reading)
{
	uint64_t size = tiff_file_size(reading);
	uint64_t left = size > reading->end ? size - reading->end : 0;

	/* tags may stand there, too */
	if (left >= reading->most && left >= reading->tags && left - reading->tags >= REST_BYTES)
		warn(reading->path, "TIFF: %llu bytes behind the samples of its %u page%s, as many "
		    "as a page has and more, are not read", (unsigned long long)left,
		    reading->page, reading->page == 1 ? "" : "s");
}

int
tiff_reading_open(struct tiff_reading *reading, const char *path, FILE *file)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (libtiff_load() < 0)
		return -1;
	pthread_once(&once, set_handlers);
	reading->path = path;
	reading->file = file;
	reading->fd = fileno(file);
	/* "m": no memory map, the file may be cut while it is read */
	reading->tif = libtiff.ClientOpen(path, "rm", reading, client_read, client_write,
	    client_seek, client_close, client_size, NULL, NULL);
	if (!reading->tif)
		return tiff_fail_damaged(reading, "page", 1);
	return 0;
}
