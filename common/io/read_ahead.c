/* Reading files ahead on all threads, and going on behind those that cannot be read. */
#include "io/read_ahead.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/progress.h"
#include "io/file_list.h"
#include "io/source.h"
#include "io/stream_thread.h"

#define FILES_PER_THREAD 2	/* so that a thread that is done early has another one */
/* Of small files more wait, so that threads have something to do while the chain does what one
 * thread does alone; but not so many that a process may have no more of them open. */
#define SMALL_FILES_PER_THREAD 6
#define SMALL_FILES_MOST 96
#define SMALL_PART 16		/* of AHEAD_BYTES, which their frames may take */
/* Descriptors that the rest of the process has; of the others half are for files that wait. */
#define OTHER_DESCRIPTORS 16
#ifndef AHEAD_BYTES		/* a test sets it */
#define AHEAD_BYTES ((size_t)256 << 20)	/* of frames that wait; and one more for each thread */
#endif
#define STREAM_FRAMES 2		/* frames after which a file is read by a thread of its own */

/* A file whose first frame is being read or has been. */
struct open_file {
	const char *path;
	struct source *source;
	struct frame *first;
	bool opened;			/* it has been: all else is the caller's alone */
	int got;			/* what source_next() returned */
	struct fail_record failure;	/* where that is -1 */
	struct warn_held warned;	/* meanwhile; printed when it is the file's turn */
	size_t frames;			/* given out */
	struct stream_thread *stream;
};

struct read_ahead {
	struct thread_pool *pool;
	char **path;
	size_t paths, at;		/* files, and the one at hand */
	struct thread_pool_idle idle;	/* opening files */
	pthread_mutex_t lock;		/* of `at`, what follows, and every file's `opened` */
	pthread_cond_t changed;		/* a file has been opened */
	size_t begun;			/* files that threads have opened or are opening */
	size_t bytes;			/* of first frames that wait to be taken */
	struct open_file *file;		/* `room` of them: path i has place i modulo room */
	size_t room;
	size_t least;			/* of `room` that are read however large they are */
	bool keep_going;
	struct read_ahead_loss lost;
	const char *current;		/* the file at hand */
	size_t each;			/* images of the last file that was read to its end */
	bool uneven;			/* those files differ in that */
	size_t *seam, seams, passed;	/* files before the end of each folder; seams passed */
	size_t folder_files;		/* of the last folder */
	bool uneven_folders;
	bool folders;			/* keep_going, and one of the operands is a folder */
	bool regular;			/* all paths are files, and no pipes */
};

/* kind: S_IFDIR, S_IFREG. */
static bool
is_kind(const char *path, mode_t kind)
{
	struct stat st;

	return stat(path, &st) == 0 && (st.st_mode & S_IFMT) == kind;
}

/* A folder's files are listed: notes where it ends. */
static int
add_seam(struct read_ahead *input, size_t files)
{
	size_t *more = reallocarray(input->seam, input->seams + 1, sizeof(*more));

	if (!more)
		return fail_memory();
	input->seam = more;
	if (input->seams && files != input->folder_files)
		input->uneven_folders = true;
	input->folder_files = files;
	more[input->seams++] = input->paths + files;
	return 0;
}

/* The operand itself, as its only file. */
static int
list_itself(const char *operand, char ***files, size_t *n)
{
	fail_clear();
	*n = 1;
	*files = calloc(1, sizeof(**files));
	if (*files && (**files = strdup(operand)))
		return 0;
	free(*files);
	return fail_memory();
}

/* The files of an operand. A folder that cannot be listed is tried again when it is its turn, and
 * so is what is missing among folders: how many files it had is not known. */
static int
list_operand(struct read_ahead *input, const char *operand, char ***files, size_t *n)
{
	int status = file_list(operand, files, n);

	if (!input->keep_going || !*operand ||
	    (status == 0 && (!input->folders || access(operand, F_OK) == 0)))
		return status;
	if (status < 0 && list_itself(operand, files, n) < 0)
		return -1;
	input->uneven_folders = true;
	if (add_seam(input, 1) == 0)
		return 0;
	free(**files);
	free(*files);
	return -1;
}

static int
add_operand(struct read_ahead *input, const char *operand)
{
	char **files, **more;
	size_t n;
	int status = 0;

	if (list_operand(input, operand, &files, &n) < 0)
		return -1;
	more = reallocarray(input->path, input->paths + n, sizeof(*more));
	if (!more) {
		for (size_t i = 0; i < n; i++)
			free(files[i]);
		free(files);
		return fail_memory();
	}
	input->path = more;
	if (strcmp(files[0], operand) && add_seam(input, n) < 0)
		status = -1;
	for (size_t i = 0; i < n; i++)
		more[input->paths++] = files[i];
	free(files);
	return status;
}

static struct open_file *
file_at(const struct read_ahead *input, size_t i)
{
	return &input->file[i % input->room];
}

/* The next file to be opened; NULL where there is none, or much is read already, or it is none to
 * read before the chain wants it: then it waits until the chain comes nearer. The caller holds the
 * lock. wanted: the chain waits for the file at hand. */
static struct open_file *
take_file(struct read_ahead *input, bool wanted)
{
	size_t ahead = input->begun - input->at;
	struct open_file *file;

	if (input->begun == input->paths || ahead >= input->room)
		return NULL;
	if (ahead > 0 && input->bytes > AHEAD_BYTES / (ahead < input->least ? 1 : SMALL_PART))
		return NULL;
	/* others wait: a named pipe, for a writer, when the chain may have failed long since */
	if ((ahead > 0 || !wanted) && !is_kind(input->path[input->begun], S_IFREG))
		return NULL;
	file = file_at(input, input->begun);
	file->path = input->path[input->begun++];
	return file;
}

/* Opens a file and reads its first frame. The caller holds the lock; it is free meanwhile. */
static void
open_file(struct read_ahead *input, struct open_file *file)
{
	pthread_mutex_unlock(&input->lock);
	warn_hold(&file->warned);
	file->source = source_open(file->path);
	file->got = file->source ? source_next(file->source, &file->first) : -1;
	warn_hold(NULL);
	if (file->got < 0)
		fail_take(&file->failure);
	pthread_mutex_lock(&input->lock);
	if (file->first)
		input->bytes += frame_bytes(file->first);
	file->opened = true;
	pthread_cond_signal(&input->changed);
}

/* What a thread of the pool does meanwhile: opens the next file. */
static bool
open_next(void *arg, int thread)
{
	struct read_ahead *input = arg;
	struct open_file *file;

	(void)thread;
	pthread_mutex_lock(&input->lock);
	file = take_file(input, false);
	if (file)
		open_file(input, file);
	pthread_mutex_unlock(&input->lock);
	return file != NULL;
}

/* Files that may be open at once: at least the one at hand. */
static size_t
files_most(void)
{
	struct rlimit descriptors;

	if (getrlimit(RLIMIT_NOFILE, &descriptors) < 0 || descriptors.rlim_cur == RLIM_INFINITY)
		return SIZE_MAX;
	return descriptors.rlim_cur < OTHER_DESCRIPTORS + 2 ? 1 :
	    (descriptors.rlim_cur - OTHER_DESCRIPTORS) / 2;
}

/* How many files are read ahead: large ones, and small ones. */
static void
set_room(struct read_ahead *input, size_t threads)
{
	const size_t most = threads > 1 ? files_most() : 1;
	const size_t small = SMALL_FILES_PER_THREAD * threads;

	input->least = FILES_PER_THREAD * threads < most ? FILES_PER_THREAD * threads : most;
	input->room = small < SMALL_FILES_MOST ? small : SMALL_FILES_MOST;
	input->room = input->room < most ? input->room : most;
	if (input->room < input->least)
		input->room = input->least;
}

struct read_ahead *
read_ahead_open(char *const *operand, size_t operands, bool keep_going,
    struct thread_pool *pool)
{
	struct read_ahead *input = calloc(1, sizeof(*input));
	size_t threads = (size_t)thread_pool_threads(pool);
	int status = 0;

	if (!input) {
		fail_memory();
		return NULL;
	}
	input->pool = pool;
	input->keep_going = keep_going;
	pthread_mutex_init(&input->lock, NULL);
	pthread_cond_init(&input->changed, NULL);
	for (size_t i = 0; i < operands && keep_going; i++)
		input->folders |= is_kind(operand[i], S_IFDIR);
	if (operands == 0)
		status = add_operand(input, "-");
	for (size_t i = 0; i < operands && status == 0; i++)
		status = add_operand(input, operand[i]);
	input->regular = true;
	for (size_t i = 0; i < input->paths; i++)
		input->regular &= is_kind(input->path[i], S_IFREG);
	set_room(input, threads);
	input->file = calloc(input->room, sizeof(*input->file));
	if (status == 0 && !input->file)
		status = fail_memory();
	if (status < 0) {
		read_ahead_close(input);
		return NULL;
	}
	progress_input(0, input->paths);
	input->idle = (struct thread_pool_idle){ open_next, input };
	thread_pool_add_idle(pool, &input->idle);
	return input;
}

/* The file at hand, opened: by the caller, or by another thread while the caller opens others. */
static struct open_file *
open_current(struct read_ahead *input)
{
	struct open_file *current = file_at(input, input->at), *file;

	pthread_mutex_lock(&input->lock);
	while (!current->opened) {
		file = take_file(input, true);
		if (file)
			open_file(input, file);
		else
			pthread_cond_wait(&input->changed, &input->lock);
	}
	pthread_mutex_unlock(&input->lock);
	warn_release(&current->warned);
	return current;
}

/* The first frame of a file is the caller's from now on. */
static struct frame *
take_first(struct read_ahead *input, struct open_file *file)
{
	struct frame *frame = file->first;

	pthread_mutex_lock(&input->lock);
	input->bytes -= frame_bytes(frame);
	pthread_mutex_unlock(&input->lock);
	file->first = NULL;
	file->frames = 1;
	return frame;
}

/* The frame after the first one. */
static int
file_next(struct open_file *file, struct frame **out)
{
	if (file->frames == STREAM_FRAMES)
		file->stream = stream_thread_open(file->source);
	return file->stream ? stream_thread_next(file->stream, out) :
	    source_next(file->source, out);
}

static void
close_file(struct open_file *file)
{
	if (!file->stream || stream_thread_close(file->stream))
		source_close(file->source);
	frame_free(file->first);
	free(file->warned.lines);
	*file = (struct open_file){ 0 };
}

/* Goes on to the next file; one more may be opened. */
static void
next_file(struct read_ahead *input)
{
	close_file(file_at(input, input->at));
	pthread_mutex_lock(&input->lock);
	input->at++;
	pthread_mutex_unlock(&input->lock);
	progress_input(input->at, input->paths);
	thread_pool_call_idle(input->pool);
}

/* ---- going on behind files that cannot be read ---- */

const struct read_ahead_loss *
read_ahead_lost(const struct read_ahead *input)
{
	return &input->lost;
}

const char *
read_ahead_path(const struct read_ahead *input)
{
	return input->current;
}

/* A format of one image a file, by the name. */
static bool
holds_one(const char *path)
{
	const struct codec *codec = codec_by_suffix(path);

	return codec && !codec->many && !codec->concatenates;
}

/* Images of the next file that can be read; 0 where none can. */
static size_t
count_next(const struct read_ahead *input)
{
	for (size_t i = input->at + 1; i < input->paths; i++) {
		struct stat st;
		struct source *source;
		struct frame *frame;
		size_t n = 0;
		int got = -1;

		if (stat(input->path[i], &st) < 0 || !S_ISREG(st.st_mode))
			continue;
		source = source_open(input->path[i]);
		while (source && (got = source_next(source, &frame)) == 1) {
			frame_free(frame);
			n++;
		}
		source_close(source);
		if (got == 0)
			return n;
		fail_clear();
	}
	return 0;
}

/* The file at hand has failed. */
static int
lose_file(struct read_ahead *input, struct open_file *file)
{
	struct read_ahead_loss *lost = &input->lost;
	struct fail_record failure;
	size_t given = file->frames;
	bool one = holds_one(file->path);

	*lost = (struct read_ahead_loss){ .images = 1, .cut = !one,
		.last = input->at + 1 == input->paths };
	fail_take(&failure);
	if (!one && input->each == 0 && !lost->last)
		input->each = count_next(input);
	if (!one && input->each > given)
		lost->images = input->each - given;
	lost->guessed = !one && !lost->last && (input->uneven || input->each <= given ||
	    (input->seams == 1 && is_kind(file->path, S_IFDIR)));
	if (given)
		fail(NULL, "%s; the file ends there", failure.message);
	fail_put(&failure);
	input->current = file->path;
	next_file(input);
	return READ_AHEAD_LOST;
}

/* The file at hand was read to its end. */
static void
leave_file(struct read_ahead *input, struct open_file *file)
{
	if (!input->uneven && input->each && input->each != file->frames)
		input->uneven = true;
	input->each = file->frames;
	next_file(input);
}

/* Has a folder ended behind the files so far? */
static bool
pass_seam(struct read_ahead *input)
{
	if (!input->keep_going || !input->uneven_folders || input->passed == input->seams ||
	    input->seam[input->passed] > input->at)
		return false;
	input->passed++;
	return true;
}

int
read_ahead_next(struct read_ahead *input, struct frame **out)
{
	for (;;) {
		struct open_file *file;
		int got;

		if (pass_seam(input))
			return READ_AHEAD_SEAM;
		if (input->at == input->paths)
			return 0;
		file = open_current(input);
		input->current = file->path;
		if (file->first) {
			*out = take_first(input, file);
			return 1;
		}
		got = file->got == 1 ? file_next(file, out) : file->got;
		if (file->got < 0)
			fail_put(&file->failure);
		file->frames += got == 1;
		if (got < 0 && input->keep_going)
			return lose_file(input, file);
		if (got != 0)
			return got;
		leave_file(input, file);
	}
}

bool
read_ahead_has_more(struct read_ahead *input)
{
	struct stream_thread *stream;

	if (input->regular || input->at == input->paths)
		return true;
	stream = file_at(input, input->at)->stream;
	return stream && stream_thread_is_ready(stream);
}

void
read_ahead_close(struct read_ahead *input)
{
	if (!input)
		return;
	thread_pool_remove_idle(&input->idle);
	for (size_t i = input->at; i < input->begun; i++)
		close_file(file_at(input, i));
	for (size_t i = 0; i < input->paths; i++)
		free(input->path[i]);
	pthread_mutex_destroy(&input->lock);
	pthread_cond_destroy(&input->changed);
	free(input->path);
	free(input->seam);
	free(input->file);
	free(input);
}
