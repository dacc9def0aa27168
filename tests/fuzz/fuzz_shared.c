/*
 * Messages that a writer behind a pipe sends about shared frames: of any length, number, offsets
 * and descriptors, of memory of its own making or none. The receiver takes a frame whose planes lie
 * in that memory, or fails with a message; no descriptor is lost.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "fuzz.h"
#include "io/shared_frames.h"

#define DESCRIPTORS_MOST 8
#define SEALED 1		/* bits of a descriptor's byte */
#define NO_MEMORY 2

static int
lowest_free(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

/* A descriptor as a fuzzed byte wants it. */
static int
make_descriptor(unsigned kind)
{
	int fd;

	if (kind & NO_MEMORY)
		return open("/dev/null", O_RDONLY | O_CLOEXEC);
	fd = memfd_create("fuzz", MFD_ALLOW_SEALING);
	check(fd >= 0 && ftruncate(fd, (off_t)(kind >> 2) * 1024) == 0, "memfd");
	if (kind & SEALED)
		fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
	return fd;
}

static int
connect_to(int pipe)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct stat st;
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0), n;

	check(fd >= 0 && fstat(pipe, &st) == 0, "socket");
	n = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "fringepipe-1-%lx-%lx",
	    (unsigned long)st.st_dev, (unsigned long)st.st_ino);
	check(connect(fd, (struct sockaddr *)&address,
	    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)) == 0, "connect");
	return fd;
}

/* Sends what is left of the bytes as a message. */
static void
send_message(int fd, struct bytes *bytes)
{
	union {
		char space[CMSG_SPACE(DESCRIPTORS_MOST * sizeof(int))];
		struct cmsghdr header;
	} control = { 0 };
	int passed[DESCRIPTORS_MOST];
	size_t n = take_below(bytes, DESCRIPTORS_MOST + 1);
	struct iovec text;
	struct msghdr header = { .msg_iov = &text, .msg_iovlen = 1 };

	for (size_t i = 0; i < n; i++)
		passed[i] = make_descriptor((unsigned)take_below(bytes, 256));
	text = (struct iovec){ (void *)bytes->at, bytes->left };
	if (n) {
		header.msg_control = control.space;
		header.msg_controllen = CMSG_SPACE(n * sizeof(int));
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(n * sizeof(int));
		memcpy(CMSG_DATA(&control.header), passed, n * sizeof(int));
	}
	sendmsg(fd, &header, MSG_NOSIGNAL);
	while (n)
		close(passed[--n]);
}

static void
receive(struct shared_receiver *receiver, const struct frame_head *head, uint64_t number)
{
	static volatile unsigned sum;
	struct frame *frame;
	int status = shared_receiver_take(receiver, "input", number, head, &frame);

	check((status == 0) == (frame != NULL), "frame and status disagree");
	for (size_t c = 0; frame && c < head->c; c++)
		for (size_t y = 0; y < head->h; y++) {
			const unsigned char *row = frame_row(frame, c, y);

			sum = sum + row[0] + row[head->w * sample_size(head->type) - 1];
		}
	frame_free(frame);
	check_status(status);
}

int
LLVMFuzzerTestOneInput(const unsigned char *data, size_t n)
{
	struct bytes bytes = { data, n };
	int before = lowest_free(), fd[2], connection;
	struct shared_receiver *receiver;
	struct frame_head head;
	uint64_t number = 1;

	check(head_init(&head, 1 + take_below(&bytes, 100), 1 + take_below(&bytes, 100),
	    1 + take_below(&bytes, 6), (enum sample)take_below(&bytes, 3)) == 0, "head");
	check(pipe(fd) == 0, "pipe");
	receiver = shared_receiver_open(fd[0]);
	check(receiver != NULL, "receiver");
	connection = connect_to(fd[0]);
	/* the number comes first in a message: half of them have the right one */
	if (take_below(&bytes, 2) && bytes.left >= 20)
		memcpy(&number, bytes.at + bytes.left - 8, sizeof(number));
	send_message(connection, &bytes);
	if (bytes.left >= 8)
		memcpy(&number, bytes.at, sizeof(number));
	receive(receiver, &head, number);
	close(connection);
	shared_receiver_close(receiver);
	close(fd[0]);
	close(fd[1]);
	head_free(&head);
	check(lowest_free() == before, "a descriptor is lost");
	return 0;
}
