/*
 * Reads frames on a thread ahead of the chain that uses them, and writes results while the chain
 * computes the next ones.
 */
#include "io/background_io.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/process.h"
#include "io/file_list.h"

#define TIMEOUT_NS 200000000	/* for a frame being read, when a chain fails */

struct stream_thread {
	struct source *source;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool wanted, stop;		/* the caller sets them; the thread clears `wanted` */
	struct frame *frame;
	int got;			/* what source_next() returned */
	struct fail_record failure;	/* where that is -1 */
	struct stream_thread *abandoned;	/* the previous one, kept reachable */
};

static void *
read_stream(void *arg)
{
	struct stream_thread *stream = arg;

	pthread_mutex_lock(&stream->lock);
	while (!stream->stop) {
		struct frame *frame;
		int got;

		if (!stream->wanted) {
			pthread_cond_wait(&stream->changed, &stream->lock);
			continue;
		}
		pthread_mutex_unlock(&stream->lock);
		got = source_next(stream->source, &frame);
		pthread_mutex_lock(&stream->lock);
		stream->got = got;
		if (got < 0)
			fail_take(&stream->failure);
		stream->frame = got == 1 ? frame : NULL;
		stream->wanted = false;
		pthread_cond_signal(&stream->changed);
	}
	pthread_mutex_unlock(&stream->lock);
	return NULL;
}

/* Begins to read the next frame. NULL: no thread could be started; the caller reads by itself. */
static struct stream_thread *
stream_thread_open(struct source *source)
{
	struct stream_thread *stream = must_alloc(1, sizeof(*stream));

	stream->source = source;
	stream->wanted = true;
	pthread_mutex_init(&stream->lock, NULL);
	pthread_cond_init(&stream->changed, NULL);
	if (pthread_create(&stream->thread, NULL, read_stream, stream) == 0)
		return stream;
	free(stream);
	return NULL;
}

/* Takes the frame that the thread has read, or waits for it; the thread begins with the next one.
 * As source_next(). */
static int
stream_thread_next(struct stream_thread *stream, struct frame **out)
{
	int got;

	pthread_mutex_lock(&stream->lock);
	while (stream->wanted)
		pthread_cond_wait(&stream->changed, &stream->lock);
	got = stream->got;
	if (got < 0)
		fail_put(&stream->failure);
	*out = stream->frame;
	stream->frame = NULL;
	stream->wanted = got == 1;
	pthread_cond_signal(&stream->changed);
	pthread_mutex_unlock(&stream->lock);
	return got;
}

/* Need nobody wait for what the next call returns? */
static bool
stream_thread_is_ready(struct stream_thread *stream)
{
	bool ready;

	pthread_mutex_lock(&stream->lock);
	ready = !stream->wanted;
	pthread_mutex_unlock(&stream->lock);
	return ready;
}

/* Waits until the thread has read the wanted frame, or for the timeout. */
static bool
wait_for_frame(struct stream_thread *stream)
{
	struct timespec end;
	int status = 0;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_nsec += TIMEOUT_NS;
	end.tv_sec += end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	while (stream->wanted && status == 0)
		status = pthread_cond_timedwait(&stream->changed, &stream->lock, &end);
	return !stream->wanted;
}

/* Keeps the memory that abandoned threads use reachable, for leak checkers. */
static struct stream_thread *volatile abandoned __attribute__((used));

/* False where the thread still waits for input after some time: then a chain has failed, and the
 * thread ends with the process. */
static bool
stream_thread_close(struct stream_thread *stream)
{
	bool done;

	pthread_mutex_lock(&stream->lock);
	stream->stop = true;
	done = wait_for_frame(stream);
	pthread_cond_signal(&stream->changed);
	if (!done) {		/* nobody waits for it any more */
		stream->abandoned = abandoned;
		abandoned = stream;
		pthread_detach(stream->thread);
	}
	pthread_mutex_unlock(&stream->lock);
	if (!done)
		return false;
	pthread_join(stream->thread, NULL);
	pthread_mutex_destroy(&stream->lock);
	pthread_cond_destroy(&stream->changed);
	frame_free(stream->frame);
	free(stream);
	return true;
}

/* ---- reading files ahead on all threads, and going on behind those that cannot be read ---- */

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
	const char *raw;
	struct follow *follow;		/* where further paths come from; NULL: there are no more */
};

/* kind: S_IFDIR, S_IFREG. */
static bool
is_kind(const char *path, mode_t kind)
{
	struct stat st;

	return stat(path, &st) == 0 && (st.st_mode & S_IFMT) == kind;
}

/* A folder's files are listed: notes where it ends. */
static void
add_seam(struct read_ahead *input, size_t files)
{
	input->seam = must_resize(input->seam, input->seams + 1, sizeof(*input->seam));
	if (input->seams && files != input->folder_files)
		input->uneven_folders = true;
	input->folder_files = files;
	input->seam[input->seams++] = input->paths + files;
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
	if (status < 0) {	/* the operand itself is its only file */
		fail_clear();
		*n = 1;
		*files = must_alloc(1, sizeof(**files));
		**files = must_strdup(operand);
	}
	input->uneven_folders = true;
	add_seam(input, 1);
	return 0;
}

static int
add_operand(struct read_ahead *input, const char *operand)
{
	char **files;
	size_t n;

	if (list_operand(input, operand, &files, &n) < 0)
		return -1;
	input->path = must_resize(input->path, input->paths + n, sizeof(*input->path));
	if (strcmp(files[0], operand))
		add_seam(input, n);
	for (size_t i = 0; i < n; i++)
		input->path[input->paths++] = files[i];
	free(files);
	return 0;
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
	file->source = source_open_as(file->path, NULL, input->raw);
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
open_next(void *arg, int)
{
	struct read_ahead *input = arg;
	struct open_file *file;

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

	input->least = size_at_most(FILES_PER_THREAD * threads, most);
	input->room = size_at_most(size_at_most(small, SMALL_FILES_MOST), most);
	input->room = size_at_least(input->room, input->least);
}

/* Further files of the folders that are followed: 1; 0: there are none now, and where it waits none
 * will come; -1 after fail(). */
static int
add_followed(struct read_ahead *input, bool wait)
{
	char **files;
	size_t n;
	int got = input->follow ? follow_next(input->follow, wait, &files, &n) : 0;

	if (got <= 0)
		return got;
	pthread_mutex_lock(&input->lock);
	input->path = must_resize(input->path, input->paths + n, sizeof(*input->path));
	memcpy(input->path + input->paths, files, n * sizeof(*files));
	input->paths += n;
	pthread_mutex_unlock(&input->lock);
	free(files);
	return 1;
}

struct read_ahead *
read_ahead_open(char *const *operand, size_t operands, const struct read_ahead_how *how,
    struct thread_pool *pool)
{
	struct read_ahead *input = must_alloc(1, sizeof(*input));
	size_t threads = (size_t)thread_pool_threads(pool);
	int status = 0;

	input->pool = pool;
	input->keep_going = how->keep_going;
	input->raw = how->raw;
	pthread_mutex_init(&input->lock, NULL);
	pthread_cond_init(&input->changed, NULL);
	for (size_t i = 0; i < operands && how->keep_going && !how->follow; i++)
		input->folders |= is_kind(operand[i], S_IFDIR);
	if (operands == 0)
		status = add_operand(input, "-");
	for (size_t i = 0; i < operands && status == 0; i++)
		if (!how->follow || !is_kind(operand[i], S_IFDIR))
			status = add_operand(input, operand[i]);
	if (how->follow && status == 0) {
		input->follow = follow_open(operand, operands, how->idle_s);
		status = input->follow ? 0 : -1;
	}
	input->regular = true;
	for (size_t i = 0; i < input->paths; i++)
		input->regular &= is_kind(input->path[i], S_IFREG);
	set_room(input, threads);
	input->file = must_alloc(input->room, sizeof(*input->file));
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
		struct source *source;
		struct frame *frame;
		size_t n = 0;
		int got = -1;

		if (!is_kind(input->path[i], S_IFREG))
			continue;
		source = source_open_as(input->path[i], NULL, input->raw);
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
	/* but for PNGs in a row */
	bool one = given == 0 && input->each <= 1 && holds_one(file->path);

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

int
read_ahead_next(struct read_ahead *input, struct frame **out)
{
	for (;;) {
		struct open_file *file;
		int got;

		/* has a folder ended after the files so far? */
		if (input->keep_going && input->uneven_folders && input->passed < input->seams &&
		    input->seam[input->passed] <= input->at) {
			input->passed++;
			return READ_AHEAD_SEAM;
		}
		got = input->at == input->paths ? add_followed(input, true) : 1;
		if (got == 0 && input->paths == 0)
			return fail(NULL, "no image came into the folder");
		if (got <= 0)
			return got;
		file = open_current(input);
		input->current = file->path;
		if (file->first) {
			*out = take_first(input, file);
			return 1;
		}
		if (file->frames == STREAM_FRAMES)
			file->stream = stream_thread_open(file->source);
		got = file->got != 1 ? file->got : file->stream ?
		    stream_thread_next(file->stream, out) : source_next(file->source, out);
		if (file->got < 0)
			fail_put(&file->failure);
		file->frames += got == 1;
		if (got < 0 && input->keep_going)
			return lose_file(input, file);
		if (got != 0)
			return got;
		input->uneven |= input->each && input->each != file->frames;
		input->each = file->frames;
		next_file(input);
	}
}

bool
read_ahead_has_more(struct read_ahead *input)
{
	struct stream_thread *stream;

	/* the file at hand may be at its end */
	if (input->follow && input->at + 1 >= input->paths && add_followed(input, false) <= 0)
		return false;
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
	follow_close(input->follow);
	for (size_t i = input->at; i < input->begun; i++)
		close_file(file_at(input, i));
	for (size_t i = 0; i < input->paths; i++)
		free(input->path[i]);
	pthread_mutex_destroy(&input->lock);
	pthread_cond_destroy(&input->changed);
	free_all(input->path, input->seam, input->file, input);
}

/*
 * Frames that may wait for a thread of their own, and their bytes together. Three threads share two
 * cores, and for whole frames the system may run the other two: with room for one frame the chain
 * waited. More than two gained nothing, and leave the cache before they are written. For the pool
 * one waits: the chain that finds no room decodes meanwhile.
 */
#define WAITING_MOST 2
#define WAITING_IN_POOL 1
#define WAITING_BYTES ((size_t)64 << 20)

struct waiting {
	struct frame *frame;
	size_t skip;			/* numbers to be left out before it */
};

struct write_behind {
	struct target *target;
	struct thread_pool *pool;	/* its threads write; NULL: another, or the caller */
	struct thread_pool_idle idle;	/* writing the next frame */
	bool alone;			/* the caller writes: there is no thread for it */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct waiting waiting[WAITING_MOST];	/* the first of them is the next one written */
	size_t n, room;			/* how many wait, and how many may */
	size_t bytes;			/* of those that wait */
	bool writing;			/* a thread is at it */
	bool ending;
	int status;
	struct fail_record failure;	/* of a thread that wrote, where status is -1 */
};

static bool
has_room(const struct write_behind *writer, size_t bytes)
{
	return writer->n == 0 ||
	    (writer->n < writer->room && writer->bytes + bytes <= WAITING_BYTES);
}

/* Writes the frame that waits longest. The caller holds the lock; it is free meanwhile. */
static void
write_first(struct write_behind *writer)
{
	const struct waiting first = writer->waiting[0];
	int status = writer->status;

	writer->n--;
	writer->bytes -= frame_bytes(first.frame);
	memmove(writer->waiting, writer->waiting + 1, writer->n * sizeof(*writer->waiting));
	writer->writing = true;
	pthread_cond_signal(&writer->changed);
	pthread_mutex_unlock(&writer->lock);
	target_skip(writer->target, first.skip);
	if (status == 0)
		status = target_put(writer->target, first.frame);
	frame_free(first.frame);
	pthread_mutex_lock(&writer->lock);
	if (status < 0 && writer->status == 0)
		fail_take(&writer->failure);
	writer->status = status;
	writer->writing = false;
	pthread_cond_signal(&writer->changed);
}

/* The thread of its own. */
static void *
write_frames(void *arg)
{
	struct write_behind *writer = arg;

	pthread_mutex_lock(&writer->lock);
	while (writer->n || !writer->ending) {
		if (writer->n)
			write_first(writer);
		else
			pthread_cond_wait(&writer->changed, &writer->lock);
	}
	pthread_mutex_unlock(&writer->lock);
	return NULL;
}

/* What a thread of the pool does meanwhile: writes the next frame, unless another one writes. */
static bool
write_next(void *arg, int)
{
	struct write_behind *writer = arg;
	bool free;

	pthread_mutex_lock(&writer->lock);
	free = writer->n && !writer->writing;
	if (free)
		write_first(writer);
	pthread_mutex_unlock(&writer->lock);
	return free;
}

struct write_behind *
write_behind_open(struct target *target, bool live, struct thread_pool *pool)
{
	struct write_behind *writer = must_alloc(1, sizeof(*writer));

	writer->target = target;
	writer->room = live ? 1 : WAITING_MOST;
	pthread_mutex_init(&writer->lock, NULL);
	pthread_cond_init(&writer->changed, NULL);
	if (target_waits(target)) {
		writer->alone =
		    pthread_create(&writer->thread, NULL, write_frames, writer) != 0;
	} else if (thread_pool_threads(pool) == 1) {
		writer->alone = true;
	} else {
		writer->pool = pool;
		writer->room = WAITING_IN_POOL;
		writer->idle = (struct thread_pool_idle){ write_next, writer };
		thread_pool_add_idle(pool, &writer->idle);
	}
	return writer;
}

/* Waits for room. While a thread of the pool writes, the caller does other idle work. The caller
 * holds the lock; it is free meanwhile. */
static void
make_room(struct write_behind *writer, size_t bytes)
{
	while (!has_room(writer, bytes)) {
		bool helped = false;

		if (writer->pool) {
			pthread_mutex_unlock(&writer->lock);
			helped = thread_pool_help(writer->pool);
			pthread_mutex_lock(&writer->lock);
		}
		if (!helped && !has_room(writer, bytes) && (!writer->pool || writer->writing))
			pthread_cond_wait(&writer->changed, &writer->lock);
	}
}

int
write_behind_put(struct write_behind *writer, struct frame *frame, size_t skip)
{
	size_t bytes = frame_bytes(frame);
	int status;

	if (writer->alone) {
		target_skip(writer->target, skip);
		if (writer->status == 0)
			writer->status = target_put(writer->target, frame);
		frame_free(frame);
		return writer->status;
	}
	pthread_mutex_lock(&writer->lock);
	make_room(writer, bytes);
	writer->waiting[writer->n++] = (struct waiting){ frame, skip };
	writer->bytes += bytes;
	status = writer->status;
	if (status < 0)
		fail_put(&writer->failure);
	pthread_cond_signal(&writer->changed);
	pthread_mutex_unlock(&writer->lock);
	if (writer->pool)
		thread_pool_call_idle(writer->pool);
	return status;
}

/* Likewise, by the caller where no thread of the pool is at it. */
static void
end_in_pool(struct write_behind *writer)
{
	struct fail_record pending;

	fail_take(&pending);
	pthread_mutex_lock(&writer->lock);
	while (writer->n || writer->writing) {
		if (writer->writing)
			pthread_cond_wait(&writer->changed, &writer->lock);
		else
			write_first(writer);
	}
	pthread_mutex_unlock(&writer->lock);
	thread_pool_remove_idle(&writer->idle);
	fail_put(&pending);
}

int
write_behind_close(struct write_behind *writer, bool keep)
{
	int status;

	if (writer->pool)
		end_in_pool(writer);
	else if (!writer->alone) {
		pthread_mutex_lock(&writer->lock);
		writer->ending = true;
		pthread_cond_signal(&writer->changed);
		pthread_mutex_unlock(&writer->lock);
		pthread_join(writer->thread, NULL);
	}
	status = writer->status;
	if (status < 0 && !writer->alone)
		fail_put(&writer->failure);
	if (target_close(writer->target, keep && status == 0) < 0)
		status = -1;
	pthread_mutex_destroy(&writer->lock);
	pthread_cond_destroy(&writer->changed);
	free(writer);
	return keep ? status : 0;
}
