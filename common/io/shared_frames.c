#define _GNU_SOURCE
#include "io/shared_frames.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fail.h"

#define PLANES_MOST 64		/* of a frame; one of more goes through the pipe */
#define IDLE_PARTS 24		/* that a reader keeps mapped for frames to come */
#define HELD_MOST 48		/* parts made here, and taken over: each one holds a descriptor */
#define DESCRIPTORS_LEAST 512	/* that a process may have, so that these are not too many */
#define WAIT_MS 200		/* for a frame to be taken; slower ones cost little without */
#define PAGE 65536		/* the largest one of any processor */

/* ---- memory that two processes map: pixels, then a page with the number of leases ---- */

struct part {
	int fd;
	dev_t device;
	ino_t inode;
	void *pixels;
	size_t bytes;			/* of pixels, whole pages */
	atomic_uint *leases;
	/* where it was taken over: */
	struct shared_receiver *inlet;
	size_t users;			/* planes of frames that lie there */
	struct part *next;
};

static void
part_free(struct part *part)
{
	munmap(part->pixels, part->bytes);
	munmap(part->leases, PAGE);
	close(part->fd);
	free(part);
}

/* It cannot shrink under who reads it. */
static bool
is_sealed(int fd)
{
	int seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && (seals & F_SEAL_SHRINK);
}

/* Maps what fd holds, and owns it then; NULL: not such memory, or it cannot be mapped. */
static struct part *
part_new(int fd, int protection)
{
	struct part *part = calloc(1, sizeof(*part));
	void *leases = MAP_FAILED, *pixels = MAP_FAILED;
	struct stat st;
	size_t bytes = 0;

	if (part && is_sealed(fd) && fstat(fd, &st) == 0 && st.st_size > PAGE &&
	    st.st_size % PAGE == 0) {
		bytes = (size_t)st.st_size - PAGE;
		pixels = mmap(NULL, bytes, protection, MAP_SHARED, fd, 0);
		leases = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)bytes);
	}
	if (pixels != MAP_FAILED && leases != MAP_FAILED) {
		*part = (struct part){ .fd = fd, .device = st.st_dev, .inode = st.st_ino,
			.pixels = pixels, .bytes = bytes, .leases = leases };
		return part;
	}
	if (pixels != MAP_FAILED)
		munmap(pixels, bytes);
	if (leases != MAP_FAILED)
		munmap(leases, PAGE);
	free(part);
	return NULL;
}

static struct part *
part_make(size_t bytes)
{
	size_t all = ((bytes + PAGE - 1) / PAGE + 1) * PAGE;
	struct part *part = NULL;
	struct rlimit file_size;
	int fd;

	if (getrlimit(RLIMIT_FSIZE, &file_size) < 0 || all > file_size.rlim_cur)
		return NULL;	/* it counts as a file: a signal would end the process */
	fd = memfd_create("frame", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd >= 0 && ftruncate(fd, (off_t)all) == 0 &&
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
		part = part_new(fd, PROT_READ | PROT_WRITE);
	if (!part && fd >= 0)
		close(fd);
	return part;
}

static void *
take_memory(void *arg, size_t bytes, void **owner)
{
	atomic_uint *made = arg;
	struct part *part = NULL;

	if (atomic_fetch_add(made, 1) < HELD_MOST)
		part = part_make(bytes);
	if (!part)
		atomic_fetch_sub(made, 1);
	*owner = part;
	return part ? part->pixels : NULL;
}

static void
give_memory(void *arg, void *owner)
{
	atomic_uint *made = arg;

	part_free(owner);
	atomic_fetch_sub(made, 1);
}

/* Does another process still read what lies there? */
static bool
memory_is_busy(void *arg, void *owner)
{
	const struct part *part = owner;

	(void)arg;
	return atomic_load(part->leases) != 0;
}

/* ---- where the two meet ---- */

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

/* What the socket brings before a header comes through the pipe, with a descriptor for each plane.
 * The answer, when the frame is taken, is a byte. Numbers begin anywhere, so that no header gets
 * the pixels of another writer, who died before its own header was written. */
struct message {
	uint64_t number;
	uint64_t offset[PLANES_MOST];	/* of each plane in its part */
};

#define MESSAGE_SIZE(planes) (offsetof(struct message, offset) + (planes) * sizeof(uint64_t))

union descriptors {		/* for alignment */
	char space[CMSG_SPACE(PLANES_MOST * sizeof(int))];
	struct cmsghdr header;
};

/* ---- leases of what was taken over ---- */

struct shared_receiver {
	int listener, connection;
	pthread_mutex_t lock;
	struct part *part;		/* all that are mapped, the latest first */
	atomic_size_t held;		/* of these, by frames */
	size_t users;			/* planes, and one while it is open */
};

/* Unmaps what no frame uses, but for the latest few. With the lock held. */
static void
forget_parts(struct shared_receiver *inlet, size_t keep)
{
	size_t idle = 0;

	for (struct part **at = &inlet->part; *at;) {
		struct part *part = *at;

		if (part->users == 0 && idle++ >= keep) {
			*at = part->next;
			part_free(part);
		} else {
			at = &part->next;
		}
	}
}

static void
shared_receiver_drop(struct shared_receiver *inlet)
{
	bool last;

	pthread_mutex_lock(&inlet->lock);
	last = --inlet->users == 0;
	pthread_mutex_unlock(&inlet->lock);
	if (!last)
		return;
	forget_parts(inlet, 0);
	pthread_mutex_destroy(&inlet->lock);
	free(inlet);
}

static void
give_plane(void *arg, void *owner)
{
	struct part *part = owner;
	struct shared_receiver *inlet = part->inlet;

	(void)arg;
	pthread_mutex_lock(&inlet->lock);
	atomic_fetch_sub(part->leases, 1);
	inlet->held -= --part->users == 0;
	forget_parts(inlet, IDLE_PARTS);
	pthread_mutex_unlock(&inlet->lock);
	shared_receiver_drop(inlet);
}

/* The part of a plane's memory, or NULL. */
static struct part *
part_of(const struct plane *plane)
{
	struct part *own = frame_memory_owner(plane, give_memory);

	return own ? own : frame_memory_owner(plane, give_plane);
}

/* ---- sending ---- */

struct shared_sender {
	struct stat pipe;
	int connection;			/* -1: there is none */
	unsigned long number;		/* of the last frame */
	bool untaken;			/* the last frame, so far */
	bool slow;			/* the reader let us wait for that in vain */
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
	struct shared_sender *outlet;
	struct stat st;

	if (!is_wanted(fd, &st))
		return NULL;
	outlet = calloc(1, sizeof(*outlet));
	if (!outlet)
		return NULL;
	outlet->pipe = st;
	outlet->connection = -1;
	if (getrandom(&outlet->number, sizeof(outlet->number), 0) == sizeof(outlet->number))
		return outlet;
	free(outlet);
	return NULL;
}

static void
disconnect(struct shared_sender *outlet)
{
	if (outlet->connection >= 0)
		close(outlet->connection);
	outlet->connection = -1;
	outlet->untaken = outlet->slow = false;
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

/* Until the last frame is taken, or it takes too long: then the pipe will take the next one, as it
 * would a foreigner's, and nobody waits for somebody who waits for us. */
static bool
wait_taken(struct shared_sender *outlet)
{
	while (outlet->untaken) {
		char answer;
		ssize_t got = recv(outlet->connection, &answer, 1,
		    outlet->slow ? MSG_DONTWAIT : 0);

		if (got == 1) {
			outlet->untaken = outlet->slow = false;
		} else if (got < 0 && errno == EAGAIN) {
			outlet->slow = true;
			return false;
		} else if (got == 0 || errno != EINTR) {
			disconnect(outlet);
			return false;
		}
	}
	return true;
}

/* In which parts the planes lie, and where; false: not in such memory. */
static bool
list_planes(const struct frame *frame, struct message *message, struct part *part[PLANES_MOST])
{
	if (frame->head.c > PLANES_MOST)
		return false;
	for (size_t c = 0; c < frame->head.c; c++) {
		part[c] = part_of(&frame->plane[c]);
		if (!part[c])
			return false;
		message->offset[c] =
		    (uint64_t)((char *)frame->plane[c].host - (char *)part[c]->pixels);
	}
	return true;
}

/* With a lease for each of the n planes. */
static bool
send_message(int fd, struct message *message, struct part *const part[], size_t n)
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
		memcpy(CMSG_DATA(control) + c * sizeof(int), &part[c]->fd, sizeof(int));
		atomic_fetch_add(part[c]->leases, 1);
	}
	do
		sent = sendmsg(fd, &header, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	for (size_t c = 0; c < n && sent < 0; c++)
		atomic_fetch_sub(part[c]->leases, 1);
	return sent >= 0;
}

unsigned long
shared_sender_put(struct shared_sender *outlet, const struct frame *frame)
{
	struct part *part[PLANES_MOST];
	struct message message;

	if (!list_planes(frame, &message, part))
		return 0;
	if (outlet->connection < 0)
		outlet->connection = find_reader(&outlet->pipe);
	if (outlet->connection < 0 || !wait_taken(outlet))
		return 0;
	message.number = ++outlet->number;
	if (!send_message(outlet->connection, &message, part, frame->head.c)) {
		disconnect(outlet);
		return 0;
	}
	outlet->untaken = true;
	return outlet->number;
}

void
shared_sender_close(struct shared_sender *outlet)
{
	if (!outlet)
		return;
	disconnect(outlet);
	free(outlet);
}

/* ---- receiving ---- */

struct shared_receiver *
shared_receiver_open(int fd)
{
	struct sockaddr_un address;
	struct shared_receiver *inlet;
	struct stat st;
	socklen_t size;

	if (!is_wanted(fd, &st))
		return NULL;
	inlet = calloc(1, sizeof(*inlet));
	if (!inlet)
		return NULL;
	size = name_socket(&st, &address);
	inlet->users = 1;
	inlet->connection = -1;
	pthread_mutex_init(&inlet->lock, NULL);
	inlet->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (inlet->listener >= 0 && bind(inlet->listener, (struct sockaddr *)&address, size) == 0 &&
	    listen(inlet->listener, 16) == 0)
		return inlet;
	shared_receiver_close(inlet);
	return NULL;
}

void
shared_receiver_close(struct shared_receiver *inlet)
{
	if (!inlet)
		return;
	if (inlet->listener >= 0)
		close(inlet->listener);
	if (inlet->connection >= 0)
		close(inlet->connection);
	shared_receiver_drop(inlet);
}

static void
close_all(const int fd[], size_t n)
{
	while (n)
		close(fd[--n]);
}

/* Descriptors that came with a message; how many. */
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

/* A message that is there, of n planes; false: none, or not one of ours. */
static bool
receive(int connection, struct message *message, int fd[PLANES_MOST], size_t *n)
{
	union descriptors space;
	struct iovec text = { message, sizeof(*message) };
	struct msghdr header = { .msg_iov = &text, .msg_iovlen = 1, .msg_control = space.space,
		.msg_controllen = sizeof(space.space) };
	ssize_t got;

	do	/* reset: the writer has gone, answers unread; its messages are there */
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

/* The message that belongs to a header: it was sent before. Writers may have the pipe one after
 * another; one that has left another message died before its header. false: there is none. */
static bool
receive_number(struct shared_receiver *inlet, unsigned long number, struct message *message,
    int fd[PLANES_MOST], size_t *n)
{
	for (;;) {
		if (inlet->connection < 0)
			inlet->connection = accept_writer(inlet->listener);
		if (inlet->connection < 0)
			return false;
		if (receive(inlet->connection, message, fd, n)) {
			if (message->number == number)
				return true;
			close_all(fd, *n);
		}
		close(inlet->connection);
		inlet->connection = -1;
	}
}

/* The part that fd is, mapped now or before. Owns fd. NULL: not such memory. */
static struct part *
part_take(struct shared_receiver *inlet, int fd)
{
	struct part **at = &inlet->part, *part;
	struct stat st;

	if (fstat(fd, &st) < 0)
		st.st_ino = 0;
	while (*at && ((*at)->inode != st.st_ino || (*at)->device != st.st_dev))
		at = &(*at)->next;
	part = *at;
	if (part)
		*at = part->next;
	else
		part = part_new(fd, PROT_READ);
	if (!part || part->fd != fd)
		close(fd);
	if (!part)
		return NULL;
	part->inlet = inlet;
	part->next = inlet->part;
	inlet->part = part;
	return part;
}

static void
use_planes(struct shared_receiver *inlet, void *const owner[], size_t n)
{
	for (size_t c = 0; c < n; c++) {
		struct part *part = owner[c];

		inlet->held += part->users++ == 0;
		inlet->users++;
	}
}

/* Finds the n planes of a message, and owns the descriptors. false: they are not there. */
static bool
take_planes(struct shared_receiver *inlet, const struct message *message, const struct frame_head *head,
    const int fd[], size_t n, void *plane[], void *owner[])
{
	size_t bytes = frame_stride(head->w, head->type) * head->h;
	bool all = n == head->c;

	pthread_mutex_lock(&inlet->lock);
	for (size_t c = 0; c < n; c++) {
		struct part *part = part_take(inlet, fd[c]);
		size_t offset = message->offset[c];

		if (!part || offset % 64 || offset > part->bytes || bytes > part->bytes - offset) {
			all = false;
			continue;
		}
		plane[c] = (char *)part->pixels + offset;
		owner[c] = part;
	}
	if (all)
		use_planes(inlet, owner, n);
	pthread_mutex_unlock(&inlet->lock);
	return all;
}

/* A frame in memory of its own, for one who keeps too many. */
static int
copy_frame(struct frame **frame)
{
	const struct frame *from = *frame;
	struct frame *copy;

	if (frame_new(&from->head, &copy) < 0)
		return -1;
	for (size_t c = 0; c < from->head.c; c++)
		memcpy(copy->plane[c].host, from->plane[c].host, from->plane[c].stride * from->head.h);
	frame_free(*frame);
	*frame = copy;
	return 0;
}

int
shared_receiver_take(struct shared_receiver *inlet, const char *name, unsigned long number,
    const struct frame_head *head, struct frame **out)
{
	int fd[PLANES_MOST];
	void *plane[PLANES_MOST], *owner[PLANES_MOST];
	struct message message;
	size_t n;

	*out = NULL;
	if (!receive_number(inlet, number, &message, fd, &n))
		return fail(name, "pixels of a frame are not where its header says");
	if (!take_planes(inlet, &message, head, fd, n, plane, owner))
		return fail(name, "pixels of a frame are not what its header says");
	if (frame_adopt(head, plane, owner, give_plane, out) < 0)
		return -1;
	if (inlet->held > HELD_MOST && copy_frame(out) < 0) {
		frame_free(*out);
		*out = NULL;
		return -1;
	}
	(void)send(inlet->connection, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	return 0;
}
