/* Cameras of the kernel, /dev/videoN, by V4L2: pictures are free-running. */
#include "camera/camera.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/videodev2.h>
#include <math.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/process.h"

#define BUFFERS 4

struct v4l2 {
	int fd;
	const struct camera_format *format;
	size_t stride, buffers;
	struct { void *at; size_t bytes; } buffer[BUFFERS];
};

static int
call(int fd, unsigned long request, void *argument)
{
	int status;

	do
		status = ioctl(fd, request, argument);
	while (status < 0 && errno == EINTR);
	return status;
}

/* Best: GREY, Y16, Y12, Y10, then what a webcam has, YUYV; or the one that is wanted. */
static int
set_format(struct camera *camera, const char *wanted)
{
	static const char *const order[] = { "GREY", "Y16 ", "Y12 ", "Y10 ", "YUYV", NULL };
	struct v4l2 *own = camera->own;
	struct v4l2_fmtdesc has = { .type = V4L2_BUF_TYPE_VIDEO_CAPTURE };
	struct v4l2_format format = { .type = V4L2_BUF_TYPE_VIDEO_CAPTURE };
	char list[300] = "", four[5] = "";
	size_t best = SIZE_MAX;

	for (; call(own->fd, VIDIOC_ENUM_FMT, &has) == 0; has.index++) {
		memcpy(four, &has.pixelformat, 4);
		snprintf(list + strlen(list), sizeof(list) - strlen(list), " %s", four);
		for (size_t i = 0; order[i]; i++)
			if (!memcmp(four, order[i], 4) && i < best && (!wanted ||
			    !strncmp(order[i], wanted, strlen(wanted))))
				best = i;
	}
	if (best == SIZE_MAX)
		return fail(camera->name, "has no format %s, but%s", wanted ? wanted : "of GREY, "
		    "Y16, Y12, Y10 and YUYV", *list ? list : " none");
	call(own->fd, VIDIOC_G_FMT, &format);
	memcpy(&format.fmt.pix.pixelformat, order[best], 4);
	format.fmt.pix.field = V4L2_FIELD_NONE;
	if (call(own->fd, VIDIOC_S_FMT, &format) < 0)
		return fail_errno(camera->name, "format %s", order[best]);
	own->format = camera_format_find(format.fmt.pix.pixelformat);
	own->stride = format.fmt.pix.bytesperline;
	camera->w = format.fmt.pix.width;
	camera->h = format.fmt.pix.height;
	if (!own->format)
		return fail(camera->name, "does not keep the format %s", order[best]);
	camera->type = own->format->bits > 8 ? SAMPLE_USHORT : SAMPLE_UCHAR;
	camera->max_value = (1 << own->format->bits) - 1;
	return 0;
}

/* Sets a control. False: it has none, or not this value. */
static bool
set_control(const struct v4l2 *own, uint32_t id, long value)
{
	struct v4l2_control control = { id, (int32_t)value };

	return call(own->fd, VIDIOC_S_CTRL, &control) == 0;
}

static int
set_light(struct camera *camera, const struct camera_wanted *wanted)
{
	static const struct { uint32_t id; long off; const char *name; } automatic[] = {
		{ V4L2_CID_EXPOSURE_AUTO, V4L2_EXPOSURE_MANUAL, "exposure" },
		{ V4L2_CID_AUTOGAIN, 0, "gain" },
		{ V4L2_CID_AUTO_WHITE_BALANCE, 0, "white balance" },
		{ V4L2_CID_EXPOSURE_AUTO_PRIORITY, 0, "frame rate" },
		{ V4L2_CID_BACKLIGHT_COMPENSATION, 0, "backlight compensation" },
	};
	struct v4l2 *own = camera->own;
	struct v4l2_control exposure = { V4L2_CID_EXPOSURE_ABSOLUTE, 0 };

	for (size_t i = 0; i < sizeof(automatic) / sizeof(*automatic); i++) {
		struct v4l2_queryctrl control = { .id = automatic[i].id };

		if (call(own->fd, VIDIOC_QUERYCTRL, &control) == 0 &&
		    !set_control(own, automatic[i].id, automatic[i].off))
			warn(camera->name, "automatic %s cannot be switched off",
			    automatic[i].name);
	}
	if (isfinite(wanted->exposure_s) && !set_control(own, V4L2_CID_EXPOSURE_ABSOLUTE,
	    lround(1e4 * wanted->exposure_s)))
		return fail_errno(camera->name, "exposure of %.1f ms", 1e3 * wanted->exposure_s);
	if (call(own->fd, VIDIOC_G_CTRL, &exposure) == 0) {
		camera->exposure_s = 1e-4 * exposure.value;
		camera->exposure_step_s = 1e-4;
	}
	if (isfinite(wanted->gain) && !set_control(own, V4L2_CID_GAIN, lround(wanted->gain)))
		return fail_errno(camera->name, "gain of %g", wanted->gain);
	return 0;
}

static int
start(struct camera *camera)
{
	struct v4l2 *own = camera->own;
	int type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
	struct v4l2_requestbuffers asked = { .count = BUFFERS, .type = (uint32_t)type,
		.memory = V4L2_MEMORY_MMAP };

	if (call(own->fd, VIDIOC_REQBUFS, &asked) < 0)
		return fail_errno(camera->name, "no buffers");
	for (uint32_t i = 0; i < asked.count && i < BUFFERS; i++) {
		struct v4l2_buffer buffer = { .type = asked.type, .memory = asked.memory,
			.index = i };
		void *at;

		if (call(own->fd, VIDIOC_QUERYBUF, &buffer) < 0 || (at = mmap(NULL, buffer.length,
		    PROT_READ, MAP_SHARED, own->fd, buffer.m.offset)) == MAP_FAILED)
			return fail_errno(camera->name, "no buffers");
		own->buffer[i].at = at;
		own->buffer[i].bytes = buffer.length;
		own->buffers++;
		if (call(own->fd, VIDIOC_QBUF, &buffer) < 0)
			return fail_errno(camera->name, "no buffers");
	}
	return call(own->fd, VIDIOC_STREAMON, &type) < 0 ?
	    fail_errno(camera->name, "does not start") : 0;
}

/* The next picture, in a buffer that is to be given back: 1; 0: none in time; -1 after fail(). */
static int
next_buffer(struct camera *camera, double timeout_s, struct v4l2_buffer *buffer)
{
	struct v4l2 *own = camera->own;
	struct pollfd ready = { .fd = own->fd, .events = POLLIN };

	*buffer = (struct v4l2_buffer){ .type = V4L2_BUF_TYPE_VIDEO_CAPTURE,
		.memory = V4L2_MEMORY_MMAP };
	if (timeout_s > 0 && poll(&ready, 1, (int)(1e3 * timeout_s)) <= 0)
		return 0;
	if (call(own->fd, VIDIOC_DQBUF, buffer) < 0)
		return errno == EAGAIN ? 0 : fail_errno(camera->name, "is gone");
	camera_count(camera, (uint64_t)buffer->sequence + 1, 0);
	return 1;
}

/* Pictures that wait, and the one that is being exposed, were begun before. */
static int
v4l2_trigger(struct camera *camera)
{
	struct v4l2 *own = camera->own;
	struct v4l2_buffer buffer;
	int got;

	while ((got = next_buffer(camera, 0, &buffer)) > 0)
		call(own->fd, VIDIOC_QBUF, &buffer);
	if (got == 0 && (got = next_buffer(camera, 1, &buffer)) > 0)
		call(own->fd, VIDIOC_QBUF, &buffer);
	return got < 0 ? -1 : 0;
}

static int
v4l2_take(struct camera *camera, double timeout_s, struct frame **out)
{
	struct v4l2 *own = camera->own;
	struct v4l2_buffer buffer;
	int got = next_buffer(camera, timeout_s, &buffer);

	camera->timeouts += got == 0;
	if (got < 1)
		return got;
	if (buffer.flags & V4L2_BUF_FLAG_ERROR) {
		camera->broken++;
		got = 0;
	} else {
		got = camera_picture(camera, own->format, own->buffer[buffer.index].at,
		    buffer.bytesused, own->stride, out);
	}
	call(own->fd, VIDIOC_QBUF, &buffer);
	return got;
}

static void
v4l2_close(struct camera *camera)
{
	struct v4l2 *own = camera->own;

	for (size_t i = 0; i < own->buffers; i++)
		munmap(own->buffer[i].at, own->buffer[i].bytes);
	close(own->fd);
	free(own);
}

int
camera_v4l2_open(struct camera *camera, const char *path, const struct camera_wanted *wanted)
{
	struct v4l2 *own = must_alloc(1, sizeof(*own));
	struct v4l2_capability is;

	camera->own = own;
	camera->trigger = v4l2_trigger;
	camera->take = v4l2_take;
	camera->close = v4l2_close;
	snprintf(camera->name, sizeof(camera->name), "%s", path);
	own->fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (own->fd < 0)
		fail_errno(path, "cannot be opened");
	else if (call(own->fd, VIDIOC_QUERYCAP, &is) < 0)
		fail_errno(path, "is no camera");
	else if (strcmp(wanted->trigger, "none") && strcmp(wanted->trigger, "software"))
		fail_usage("--trigger", "%s has no trigger lines", path);
	else if (set_format(camera, wanted->format) == 0 && set_light(camera, wanted) == 0 &&
	    start(camera) == 0) {
		if (wanted->verbose)
			note(path, "%s, %zux%zu, %s, exposure %.1f ms", (const char *)is.card,
			    camera->w, camera->h, own->format->name, 1e3 * camera->exposure_s);
		return 0;
	}
	v4l2_close(camera);
	return -1;
}

int
camera_list(FILE *file)
{
	glob_t found;

	for (size_t i = 0; glob("/dev/video*", i ? GLOB_APPEND : 0, NULL, &found) == 0 &&
	    i < found.gl_pathc; i++) {
		struct v4l2_capability is;
		int fd = open(found.gl_pathv[i], O_RDWR | O_NONBLOCK | O_CLOEXEC);

		if (fd >= 0 && call(fd, VIDIOC_QUERYCAP, &is) == 0 &&
		    is.device_caps & V4L2_CAP_VIDEO_CAPTURE)
			fprintf(file, "%s %s, V4L2\n", found.gl_pathv[i], (const char *)is.card);
		if (fd >= 0)
			close(fd);
	}
	return camera_aravis_list(file);
}
