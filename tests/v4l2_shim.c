/*
 * A camera of the kernel, /dev/video77, for LD_PRELOAD: 64x48 pixels at 50 a second, whose sample
 * is x + 2 y + 3 times the picture's number. V4L2_FORMATS lists its formats, each four letters.
 * Picture 2 is marked broken, number 4 is missing, V4L2_STUCK refuses to switch the automatic
 * exposure off, and after picture V4L2_DIES it is unplugged.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define W 64
#define H 48

static int camera = -1;
static uint32_t format, sequence;
static int32_t exposure = 200;
static unsigned queued, given;
static uint8_t *memory[4];

int
open(const char *path, int flags, ...)
{
	int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
	va_list more;
	mode_t mode = 0;

	va_start(more, flags);
	if (flags & O_CREAT)
		mode = va_arg(more, mode_t);
	va_end(more);
	if (strcmp(path, "/dev/video77"))
		return real(path, flags, mode);
	camera = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
	timerfd_settime(camera, 0, &(struct itimerspec){ { 0, 20000000 }, { 0, 20000000 } }, NULL);
	return camera;
}

void *
mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	void *(*real)(void *, size_t, int, int, int, off_t) = dlsym(RTLD_NEXT, "mmap");
	void *map;

	if (fd < 0 || fd != camera)
		return real(at, bytes, protection, flags, fd, offset);
	map = real(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memory[offset / 65536] = map;
	return map;
}

static void
expose(uint8_t *to)
{
	for (unsigned i = 0; i < W * H; i++) {
		uint8_t v = (uint8_t)(i % W + 2 * (i / W) + 3 * sequence);

		if (!memcmp(&format, "GREY", 4)) {
			to[i] = v;
		} else {	/* luminance and colour; or the low and the high byte */
			to[2 * i] = v;
			to[2 * i + 1] = memcmp(&format, "YUYV", 4) ? 1 : 200;
		}
	}
}

static int
give(struct v4l2_buffer *buffer)
{
	const char *dies = getenv("V4L2_DIES");
	uint64_t ticks;

	if (read(camera, &ticks, sizeof(ticks)) < 0)
		return -1;
	if (queued == given || (dies && sequence >= strtoul(dies, NULL, 10))) {
		errno = queued == given ? EAGAIN : ENODEV;
		return -1;
	}
	buffer->index = given++ % 4;
	expose(memory[buffer->index]);
	buffer->sequence = sequence;
	buffer->flags = sequence == 2 ? V4L2_BUF_FLAG_ERROR : 0;
	buffer->bytesused = W * H * (memcmp(&format, "GREY", 4) ? 2 : 1);
	sequence += sequence == 3 ? 2 : 1;
	return 0;
}

int
ioctl(int fd, unsigned long request, ...)
{
	int (*real)(int, unsigned long, ...) = dlsym(RTLD_NEXT, "ioctl");
	const char *list = getenv("V4L2_FORMATS");
	va_list more;
	void *argument;

	va_start(more, request);
	argument = va_arg(more, void *);
	va_end(more);
	if (fd < 0 || fd != camera)
		return real(fd, request, argument);
	errno = EINVAL;
	if (request == VIDIOC_QUERYCAP) {
		strcpy((char *)((struct v4l2_capability *)argument)->card, "shim");
	} else if (request == VIDIOC_ENUM_FMT) {
		struct v4l2_fmtdesc *is = argument;

		if (strlen(list) < 4 * (is->index + 1))
			return -1;
		memcpy(&is->pixelformat, list + 4 * is->index, 4);
	} else if (request == VIDIOC_S_FMT || request == VIDIOC_G_FMT) {
		struct v4l2_pix_format *is = &((struct v4l2_format *)argument)->fmt.pix;

		format = is->pixelformat;
		is->width = W;
		is->height = H;
		is->bytesperline = memcmp(&format, "GREY", 4) ? 2 * W : W;
	} else if (request == VIDIOC_QUERYCTRL) {
		return ((struct v4l2_queryctrl *)argument)->id == V4L2_CID_EXPOSURE_AUTO ? 0 : -1;
	} else if (request == VIDIOC_S_CTRL || request == VIDIOC_G_CTRL) {
		struct v4l2_control *is = argument;

		if (is->id == V4L2_CID_EXPOSURE_AUTO)
			return getenv("V4L2_STUCK") ? -1 : 0;
		if (is->id != V4L2_CID_EXPOSURE_ABSOLUTE)
			return -1;
		exposure = request == VIDIOC_S_CTRL ? is->value : exposure;
		is->value = exposure;
	} else if (request == VIDIOC_QUERYBUF) {
		struct v4l2_buffer *is = argument;

		is->length = 65536;
		is->m.offset = is->index * 65536;
	} else if (request == VIDIOC_QBUF) {
		queued++;
	} else if (request == VIDIOC_DQBUF) {
		return give(argument);
	}
	return 0;
}
