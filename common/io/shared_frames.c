/*
 * Passes frames from one tool to the next through shared memory in place of the bytes of a pipe, if
 * both ends of the pipe are tools of this version.
 */
#include "io/shared_frames.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/process.h"

struct shared_block {
	int fd;
	dev_t device;
	ino_t inode;
	void *pixels;
	size_t bytes;			/* of pixels, whole pages */
	atomic_uint *references;	/* the mark comes next */
	/* In the process that received it: */
	struct shared_receiver *receiver;
	size_t users;			/* planes of frames in it */
	struct shared_block *next;
};

#define PAGE 65536		/* the largest one of any processor */

static void
shared_block_free(struct shared_block *block)
{
	munmap(block->pixels, block->bytes);
	munmap(block->references, PAGE);
	close(block->fd);
	free(block);
}

/* Nobody can shrink it while another process reads it. */
static bool
is_sealed(int fd)
{
	int seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && (seals & F_SEAL_SHRINK);
}

/* Maps the memory of a descriptor, which it owns then. NULL: not such memory, or no mapping. */
static struct shared_block *
shared_block_map(int fd, int protection)
{
	struct shared_block *block = must_alloc(1, sizeof(*block));
	void *references = MAP_FAILED, *pixels = MAP_FAILED;
	struct stat st;
	size_t bytes = 0;

	if (is_sealed(fd) && fstat(fd, &st) == 0 && st.st_size > PAGE &&
	    st.st_size % PAGE == 0) {
		bytes = (size_t)st.st_size - PAGE;
		pixels = mmap(NULL, bytes, protection, MAP_SHARED, fd, 0);
		references = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)bytes);
	}
	if (pixels != MAP_FAILED && references != MAP_FAILED) {
		*block = (struct shared_block){ .fd = fd, .device = st.st_dev, .inode = st.st_ino,
			.pixels = pixels, .bytes = bytes, .references = references };
		return block;
	}
	if (pixels != MAP_FAILED)
		munmap(pixels, bytes);
	if (references != MAP_FAILED)
		munmap(references, PAGE);
	free(block);
	return NULL;
}

/* New memory for `bytes`, or NULL. */
static struct shared_block *
shared_block_make(size_t bytes)
{
	size_t all = ((bytes + PAGE - 1) / PAGE + 1) * PAGE;
	struct shared_block *block = NULL;
	struct rlimit file_size;
	int fd;

	if (getrlimit(RLIMIT_FSIZE, &file_size) < 0 || all > file_size.rlim_cur)
		return NULL;	/* memory counts as a file here: a signal would end the process */
	fd = memfd_create("frame", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd >= 0 && TEMP_FAILURE_RETRY(ftruncate(fd, (off_t)all)) == 0 &&
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
		block = shared_block_map(fd, PROT_READ | PROT_WRITE);
	if (!block && fd >= 0)
		close(fd);
	return block;
}

/* ---- frames that pass between processes through shared memory: sender and receiver ---- */

#define PLANES_MOST 64		/* of a frame; one of more goes through the pipe */
#define IDLE_BLOCKS 24		/* that a reader keeps mapped for later frames */
#define IDLE_BYTES ((size_t)512 << 20)	/* of these */
#define HELD_MOST 48		/* blocks made here, and received: each one holds a descriptor */
#define DESCRIPTORS_LEAST 512	/* that a process may have, so that these are not too many */
#define WAIT_MS 200		/* for a frame to be taken; slower ones cost little without */

static void *
take_memory(void *arg, size_t bytes, void **owner)
{
	atomic_uint *made = arg;
	struct shared_block *block = NULL;

	if (atomic_fetch_add(made, 1) < HELD_MOST)
		block = shared_block_make(bytes);
	if (!block)
		atomic_fetch_sub(made, 1);
	*owner = block;
	return block ? block->pixels : NULL;
}

static void
give_memory(void *arg, void *owner)
{
	atomic_uint *made = arg;

	atomic_store(&((struct shared_block *)owner)->references[1], 1);	/* it is given up */
	shared_block_free(owner);
	atomic_fetch_sub(made, 1);
}

/* Does another process still read it? */
static bool
memory_is_busy(void *, void *owner)
{
	const struct shared_block *block = owner;

	return atomic_load(block->references) != 0;
}

/* ---- the socket on which writer and reader meet ---- */

static bool
is_wanted(int fd, struct stat *st)
{
	const char *asked = getenv("FRINGEPIPE_HANDOVER");
	struct rlimit descriptors;

	return (!asked || strcmp(asked, "no")) && fstat(fd, st) == 0 && S_ISFIFO(st->st_mode) &&
	    getrlimit(RLIMIT_NOFILE, &descriptors) == 0 &&
	    descriptors.rlim_cur >= DESCRIPTORS_LEAST;
}

static socklen_t
name_socket(const struct stat *pipe, struct sockaddr_un *address)
{
	int n;

	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	n = snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1, "fringepipe-1-%lx-%lx",
	    (unsigned long)pipe->st_dev, (unsigned long)pipe->st_ino);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

static bool
is_of_same_user(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

/* The writer sends this on the socket before the header goes through the pipe, with a descriptor
 * for each plane. The reader answers with a byte when it has taken the frame. Numbers begin at
 * random, so that no header gets the pixels of another writer that died before its own header. */
struct message {
	uint64_t number;
	uint64_t offset[PLANES_MOST];	/* of each plane in its block */
};

#define MESSAGE_SIZE(planes) (offsetof(struct message, offset) + (planes) * sizeof(uint64_t))

union descriptors {		/* for alignment */
	char space[CMSG_SPACE(PLANES_MOST * sizeof(int))];
	struct cmsghdr header;
};

/* ---- blocks that a receiver holds ---- */

struct shared_receiver {
	int listener, connection;
	pthread_mutex_t lock;
	struct shared_block *block;		/* all mapped ones, the latest first */
	atomic_size_t held;		/* of these, blocks that frames use */
	size_t users;			/* planes, and one while it is open */
};

/* Unmaps blocks that no frame uses, except the latest ones, so many and of so many bytes, which
 * their maker has not given up. The caller holds the lock. */
static void
release_idle(struct shared_receiver *receiver, size_t keep, size_t keep_bytes)
{
	size_t idle = 0, bytes = 0;

	for (struct shared_block **at = &receiver->block; *at;) {
		struct shared_block *block = *at;

		if (block->users == 0 && (idle >= keep || block->bytes > keep_bytes - bytes ||
		    atomic_load(&block->references[1]) != 0)) {	/* it is given up */
			*at = block->next;
			shared_block_free(block);
		} else {
			idle += block->users == 0;
			bytes += block->users == 0 ? block->bytes : 0;
			at = &block->next;
		}
	}
}

static void
shared_receiver_drop(struct shared_receiver *receiver)
{
	bool last;

	pthread_mutex_lock(&receiver->lock);
	last = --receiver->users == 0;
	pthread_mutex_unlock(&receiver->lock);
	if (!last)
		return;
	release_idle(receiver, 0, 0);
	pthread_mutex_destroy(&receiver->lock);
	free(receiver);
}

static void
give_plane(void *, void *owner)
{
	struct shared_block *block = owner;
	struct shared_receiver *receiver = block->receiver;

	pthread_mutex_lock(&receiver->lock);
	atomic_fetch_sub(block->references, 1);
	receiver->held -= --block->users == 0;
	release_idle(receiver, IDLE_BLOCKS, IDLE_BYTES);
	pthread_mutex_unlock(&receiver->lock);
	shared_receiver_drop(receiver);
}

/* ---- sending ---- */

struct shared_sender {
	struct stat pipe;
	int connection;			/* -1: there is none */
	unsigned long number;		/* of the last frame */
	bool untaken;			/* the last frame, so far */
	bool slow;			/* the reader did not take it within WAIT_MS */
};

void
shared_frames_begin(int fd)
{
	static atomic_uint made;
	static const struct memory_source memory = { .take = take_memory, .give = give_memory,
		.busy = memory_is_busy, .arg = &made, .zeroed = true };
	struct stat st;

	if (is_wanted(fd, &st))
		frame_use_memory(&memory);
}

void
shared_frames_end(void)
{
	frame_use_memory(NULL);
}

struct shared_sender *
shared_sender_open(int fd)
{
	struct shared_sender *sender;
	struct stat st;

	if (!is_wanted(fd, &st))
		return NULL;
	sender = must_alloc(1, sizeof(*sender));
	sender->pipe = st;
	sender->connection = -1;
	if (getrandom(&sender->number, sizeof(sender->number), 0) == sizeof(sender->number))
		return sender;
	free(sender);
	return NULL;
}

static void
disconnect(struct shared_sender *sender)
{
	if (sender->connection >= 0)
		close(sender->connection);
	sender->connection = -1;
	sender->untaken = sender->slow = false;
}

/* A socket for the reader that listens now, or -1. */
static int
find_reader(const struct stat *pipe)
{
	const struct timeval wait = { .tv_usec = WAIT_MS * 1000 };
	struct sockaddr_un address;
	socklen_t size = name_socket(pipe, &address);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, size) == 0 &&
	    is_of_same_user(fd) && fcntl(fd, F_SETFL, 0) == 0 &&
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Waits until the reader has taken the last frame. false: that takes too long, and the next frame
 * goes through the pipe, so that two processes never wait for each other. */
static bool
wait_taken(struct shared_sender *sender)
{
	while (sender->untaken) {
		char answer;
		ssize_t got = recv(sender->connection, &answer, 1,
		    sender->slow ? MSG_DONTWAIT : 0);

		if (got == 1) {
			sender->untaken = sender->slow = false;
		} else if (got < 0 && errno == EAGAIN) {
			sender->slow = true;
			return false;
		} else if (got == 0 || errno != EINTR) {
			disconnect(sender);
			return false;
		}
	}
	return true;
}

/* The blocks and offsets of the planes; false: a plane lies in other memory. */
static bool
list_planes(const struct frame *frame, struct message *message,
    struct shared_block *block[PLANES_MOST])
{
	if (frame->head.c > PLANES_MOST)
		return false;
	for (size_t c = 0; c < frame->head.c; c++) {
		block[c] = frame_memory_owner(&frame->plane[c], give_memory);
		if (!block[c])
			block[c] = frame_memory_owner(&frame->plane[c], give_plane);
		if (!block[c])
			return false;
		message->offset[c] =
		    (uint64_t)((char *)frame->plane[c].host - (char *)block[c]->pixels);
	}
	return true;
}

/* Sends it with a reference for each of the n planes. */
static bool
send_message(int fd, struct message *message, struct shared_block *const block[], size_t n)
{
	union descriptors space = { 0 };
	struct iovec text = { message, MESSAGE_SIZE(n) };
	struct msghdr header = { .msg_iov = &text, .msg_iovlen = 1, .msg_control = space.space,
		.msg_controllen = CMSG_SPACE(n * sizeof(int)) };
	struct cmsghdr *control = CMSG_FIRSTHDR(&header);
	ssize_t sent;

	control->cmsg_level = SOL_SOCKET;
	control->cmsg_type = SCM_RIGHTS;
	control->cmsg_len = CMSG_LEN(n * sizeof(int));
	for (size_t c = 0; c < n; c++) {
		memcpy(CMSG_DATA(control) + c * sizeof(int), &block[c]->fd, sizeof(int));
		atomic_fetch_add(block[c]->references, 1);
	}
	do
		sent = sendmsg(fd, &header, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	for (size_t c = 0; c < n && sent < 0; c++)
		atomic_fetch_sub(block[c]->references, 1);
	return sent >= 0;
}

unsigned long
shared_sender_put(struct shared_sender *sender, const struct frame *frame)
{
	struct shared_block *block[PLANES_MOST];
	struct message message;

	if (!list_planes(frame, &message, block))
		return 0;
	if (sender->connection < 0)
		sender->connection = find_reader(&sender->pipe);
	if (sender->connection < 0 || !wait_taken(sender))
		return 0;
	message.number = ++sender->number;
	if (!send_message(sender->connection, &message, block, frame->head.c)) {
		disconnect(sender);
		return 0;
	}
	sender->untaken = true;
	return sender->number;
}

void
shared_sender_close(struct shared_sender *sender)
{
	if (!sender)
		return;
	disconnect(sender);
	free(sender);
}

/* ---- receiving ---- */

struct shared_receiver *
shared_receiver_open(int fd)
{
	struct sockaddr_un address;
	struct shared_receiver *receiver;
	struct stat st;
	socklen_t size;

	if (!is_wanted(fd, &st))
		return NULL;
	receiver = must_alloc(1, sizeof(*receiver));
	size = name_socket(&st, &address);
	receiver->users = 1;
	receiver->connection = -1;
	pthread_mutex_init(&receiver->lock, NULL);
	receiver->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (receiver->listener >= 0 &&
	    bind(receiver->listener, (struct sockaddr *)&address, size) == 0 &&
	    listen(receiver->listener, 16) == 0)
		return receiver;
	shared_receiver_close(receiver);
	return NULL;
}

void
shared_receiver_close(struct shared_receiver *receiver)
{
	if (!receiver)
		return;
	if (receiver->listener >= 0)
		close(receiver->listener);
	if (receiver->connection >= 0)
		close(receiver->connection);
	shared_receiver_drop(receiver);
}

static void
close_all(const int fd[], size_t n)
{
	while (n)
		close(fd[--n]);
}

/* Takes the descriptors out of a message; returns their number. */
static size_t
take_descriptors(struct msghdr *header, int fd[PLANES_MOST])
{
	const struct cmsghdr *control = CMSG_FIRSTHDR(header);
	size_t n;

	if (!control || control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS)
		return 0;
	n = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	memcpy(fd, CMSG_DATA(control), n * sizeof(int));
	return n;
}

/* Takes a message of n planes that has arrived; false: none, or of other content. */
static bool
receive(int connection, struct message *message, int fd[PLANES_MOST], size_t *n)
{
	union descriptors space;
	struct iovec text = { message, sizeof(*message) };
	struct msghdr header = { .msg_iov = &text, .msg_iovlen = 1, .msg_control = space.space,
		.msg_controllen = sizeof(space.space) };
	ssize_t got;

	do	/* reset: the writer exited with answers unread; its messages remain */
		got = recvmsg(connection, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	while (got < 0 && (errno == EINTR || errno == ECONNRESET));
	if (got < 0)
		return false;
	*n = take_descriptors(&header, fd);
	if ((size_t)got == MESSAGE_SIZE(*n))
		return true;
	close_all(fd, *n);
	return false;
}

static int
accept_writer(int listener)
{
	int fd;

	while ((fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) >= 0 && !is_of_same_user(fd))
		close(fd);
	return fd;
}

/* The message that belongs to a header: the writer sent it before. Several writers may use the pipe
 * one after another; a message of another number is of one that died before its header. false:
 * there is none. */
static bool
receive_number(struct shared_receiver *receiver, unsigned long number, struct message *message,
    int fd[PLANES_MOST], size_t *n)
{
	for (;;) {
		if (receiver->connection < 0)
			receiver->connection = accept_writer(receiver->listener);
		if (receiver->connection < 0)
			return false;
		if (receive(receiver->connection, message, fd, n)) {
			if (message->number == number)
				return true;
			close_all(fd, *n);
		}
		close(receiver->connection);
		receiver->connection = -1;
	}
}

/* The block of a descriptor, mapped now or before. Owns fd. NULL: other memory. */
static struct shared_block *
block_take(struct shared_receiver *receiver, int fd)
{
	struct shared_block **at = &receiver->block, *block;
	struct stat st;

	if (fstat(fd, &st) < 0)
		st.st_ino = 0;
	while (*at && ((*at)->inode != st.st_ino || (*at)->device != st.st_dev))
		at = &(*at)->next;
	block = *at;
	if (block)
		*at = block->next;
	else
		block = shared_block_map(fd, PROT_READ);
	if (!block || block->fd != fd)
		close(fd);
	if (!block)
		return NULL;
	block->receiver = receiver;
	block->next = receiver->block;
	receiver->block = block;
	return block;
}

static void
use_planes(struct shared_receiver *receiver, void *const owner[], size_t n)
{
	for (size_t c = 0; c < n; c++) {
		struct shared_block *block = owner[c];

		receiver->held += block->users++ == 0;
		receiver->users++;
	}
}

/* Finds the n planes of a message; owns the descriptors. false: they are not there. */
static bool
take_planes(struct shared_receiver *receiver, const struct message *message,
    const struct frame_head *head, const int fd[], size_t n, void *plane[], void *owner[])
{
	size_t bytes = frame_stride(head->w, head->type) * head->h;
	bool all = n == head->c;

	pthread_mutex_lock(&receiver->lock);
	for (size_t c = 0; c < n; c++) {
		struct shared_block *block = block_take(receiver, fd[c]);
		size_t offset = message->offset[c];

		if (!block || offset % 64 || offset > block->bytes ||
		    bytes > block->bytes - offset) {
			all = false;
			continue;
		}
		plane[c] = (char *)block->pixels + offset;
		owner[c] = block;
	}
	if (all)
		use_planes(receiver, owner, n);
	pthread_mutex_unlock(&receiver->lock);
	return all;
}

/* Copies a frame into ordinary memory, for a stage that keeps too many. */
static int
copy_frame(struct frame **frame)
{
	const struct frame *from = *frame;
	struct frame *copy;

	if (frame_new(&from->head, &copy) < 0)
		return -1;
	for (size_t c = 0; c < from->head.c; c++)
		memcpy(
		    copy->plane[c].host, from->plane[c].host, from->plane[c].stride * from->head.h);
	frame_replace(frame, copy);
	return 0;
}

int
shared_receiver_take(struct shared_receiver *receiver, const char *name, unsigned long number,
    const struct frame_head *head, struct frame **out)
{
	int fd[PLANES_MOST];
	void *plane[PLANES_MOST], *owner[PLANES_MOST];
	struct message message;
	size_t n;

	*out = NULL;
	if (!receive_number(receiver, number, &message, fd, &n))
		return fail(name, "pixels of a frame are not where its header says");
	if (!take_planes(receiver, &message, head, fd, n, plane, owner))
		return fail(name, "pixels of a frame are not what its header says");
	if (frame_adopt(head, plane, owner, give_plane, out) < 0)
		return -1;
	if (receiver->held > HELD_MOST && copy_frame(out) < 0) {
		frame_replace(out, NULL);
		return -1;
	}
	(void)send(receiver->connection, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	return 0;
}
