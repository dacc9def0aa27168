/* What holds for every camera: its name, the numbers of its pictures, their keys, pixel formats. */
#include "camera/camera.h"

#include <math.h>
#include <time.h>
#include <unistd.h>

#include "base/numbers.h"
#include "base/process.h"
#include "io/command_file.h"
#include "io/source.h"

#define FOUR(a, b, c, d) \
	((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)

static const struct camera_format formats[] = {
	/* GenICam's, by the codes of its Pixel Format Naming Convention */
	{ "Mono8", 0x01080001, PACK_8, 8, NULL },
	{ "Mono10", 0x01100003, PACK_16, 10, NULL },
	{ "Mono10Packed", 0x010c0004, PACK_10_PACKED, 10, NULL },
	{ "Mono12", 0x01100005, PACK_16, 12, NULL },
	{ "Mono12Packed", 0x010c0006, PACK_12_PACKED, 12, NULL },
	{ "Mono12p", 0x010c0047, PACK_12P, 12, NULL },
	{ "Mono16", 0x01100007, PACK_16, 16, NULL },
	{ "BayerGR8", 0x01080008, PACK_8, 8, "grbg" },
	{ "BayerRG8", 0x01080009, PACK_8, 8, "rggb" },
	{ "BayerGB8", 0x0108000a, PACK_8, 8, "gbrg" },
	{ "BayerBG8", 0x0108000b, PACK_8, 8, "bggr" },
	/* V4L2's */
	{ "GREY", FOUR('G', 'R', 'E', 'Y'), PACK_8, 8, NULL },
	{ "Y10", FOUR('Y', '1', '0', ' '), PACK_16, 10, NULL },
	{ "Y12", FOUR('Y', '1', '2', ' '), PACK_16, 12, NULL },
	{ "Y16", FOUR('Y', '1', '6', ' '), PACK_16, 16, NULL },
	{ "YUYV", FOUR('Y', 'U', 'Y', 'V'), PACK_YUYV, 8, NULL },
};

const struct camera_format *
camera_format_find(uint32_t code)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		if (formats[i].code == code)
			return &formats[i];
	return NULL;
}

/* Bytes of a row of w samples without a gap. Packed rows may share a byte, but for whole ones. */
static size_t
row_bytes(enum camera_packing packing, size_t w)
{
	switch (packing) {
	case PACK_8:
		return w;
	case PACK_16:
	case PACK_YUYV:
		return 2 * w;
	default:
		return w * 3 / 2;
	}
}

/* Takes w, h samples of `stride` bytes a row (0: without a gap) into the frame. -1 after fail(). */
static int
unpack(const struct camera_format *format, const void *from, size_t bytes, size_t stride,
    struct frame *to)
{
	size_t w = to->head.w, h = to->head.h, row = row_bytes(format->packing, w);
	unsigned low = format->bits - 8, mask = (1u << low) - 1;

	if (stride == 0)
		stride = row;
	if (bytes < stride * (h - 1) + row)
		return fail(format->name, "%zu bytes came for %zux%zu pixels", bytes, w, h);
	if (row_bytes(format->packing, 2) == 3 && w % 2)
		return fail(format->name, "a width of %zu, which is odd, is not read", w);
	for (size_t y = 0; y < h; y++) {
		const uint8_t *d = (const uint8_t *)from + y * stride;
		uint8_t *narrow = frame_row(to, 0, y);
		uint16_t *wide = frame_row(to, 0, y);

		switch (format->packing) {
		case PACK_8:
			memcpy(narrow, d, w);
			break;
		case PACK_YUYV:
			for (size_t x = 0; x < w; x++)
				narrow[x] = d[2 * x];
			break;
		case PACK_16:
			for (size_t x = 0; x < w; x++)
				wide[x] = (uint16_t)(d[2 * x] | d[2 * x + 1] << 8);
			break;
		case PACK_10_PACKED:	/* high bits, both low parts, high bits */
		case PACK_12_PACKED:
			for (size_t x = 0; x < w; x += 2, d += 3) {
				wide[x] = (uint16_t)(d[0] << low | (d[1] & mask));
				wide[x + 1] = (uint16_t)(d[2] << low | (d[1] >> 4 & mask));
			}
			break;
		case PACK_12P:		/* one stream of bits, the lowest first */
			for (size_t x = 0; x < w; x += 2, d += 3) {
				wide[x] = (uint16_t)(d[0] | (d[1] & 15) << 8);
				wide[x + 1] = (uint16_t)(d[1] >> 4 | d[2] << 4);
			}
		}
	}
	return 0;
}

/* ---- keys ---- */

/* A new frame of the camera's head with its keys. -1 after fail(). */
static int
camera_frame(const struct camera *camera, struct frame **out)
{
	struct frame_head head;
	struct timespec now;
	int status;

	clock_gettime(CLOCK_REALTIME, &now);
	head_init(&head, camera->w, camera->h, 1, camera->type);
	if (camera->max_value != 255)
		meta_set_number(&head.meta, "max_value", camera->max_value);
	meta_setf(&head.meta, "time_s", "%.6f", (double)now.tv_sec + 1e-9 * (double)now.tv_nsec);
	if (isfinite(camera->exposure_s))
		meta_setf(&head.meta, "exposure_time_s", "%.6g", camera->exposure_s);
	status = meta_set(&head.meta, "camera", camera->name);
	meta_setf(&head.meta, "frame_number", "%llu", (unsigned long long)camera->number);
	if (camera->mosaic)
		meta_set(&head.meta, "mosaic", camera->mosaic);
	return frame_new_if(status, &head, out);
}

/* ---- a command that takes pictures, each into a file: gphoto2, libcamera-still ---- */

static int
command_trigger(struct camera *camera)
{
	struct command_file *own = camera->own;

	unlink(own->file);
	return command_file_run(own);
}

static int
command_take(struct camera *camera, double timeout_s, struct frame **out)
{
	static const double full[] = { 255, 65535, 1 };
	struct command_file *own = camera->own;
	struct frame *picture;
	int status = 0;

	(void)timeout_s;
	if (source_load(own->file, &picture) < 0)
		return fail_prefix(own->command);
	if (picture->head.type == SAMPLE_FLOAT ||
	    (picture->head.c != 1 && !head_is_colour(&picture->head)))
		status = fail(own->command, "gives %s: want one of 8 or 16 bits, grey or in colour",
		    picture->head.type == SAMPLE_FLOAT ? "floats" : "no picture");
	else if (camera->number && (camera->w != picture->head.w || camera->h != picture->head.h ||
	    camera->type != picture->head.type))
		status = fail(own->command, "gives %zux%zu %s after %zux%zu %s", picture->head.w,
		    picture->head.h, sample_name(picture->head.type), camera->w, camera->h,
		    sample_name(camera->type));
	if (status == 0) {
		camera->w = picture->head.w;
		camera->h = picture->head.h;
		camera->type = picture->head.type;
		camera->number++;
		status = meta_number(&picture->head.meta, "max_value", full[camera->type],
		    &camera->max_value);
	}
	if (status == 0)
		status = camera_frame(camera, out);
	/* of colours green: projector and camera have most light there */
	for (size_t y = 0; y < camera->h && status == 0; y++)
		memcpy(frame_row(*out, 0, y), frame_row(picture, picture->head.c > 1, y),
		    camera->w * sample_size(camera->type));
	frame_free(picture);
	return status < 0 ? -1 : 1;
}

static void
command_close(struct camera *camera)
{
	command_file_close(camera->own);
}

/* `command` has the word %s, which is the name of the file that it writes. */
static int
camera_command_open(struct camera *camera, const char *command)
{
	struct command_file *own;

	*camera = (struct camera){ .exposure_s = NAN, .triggered = true, .trigger = command_trigger,
		.take = command_take, .close = command_close };
	snprintf(camera->name, sizeof(camera->name), "%.*s", (int)strcspn(command, " "), command);
	if (command_file_open(&own, "--grab", command, "picture") < 0)
		return -1;
	camera->own = own;
	return 0;
}

/* ---- opening, and numbers ---- */

/* Opens NAME or NAME=LABEL; NULL: the first that Aravis finds. -1 after fail(). */
static int
camera_open(struct camera *camera, const char *text, const struct camera_wanted *wanted)
{
	const char *label = text ? strchr(text, '=') : NULL;
	char name[sizeof(camera->name)];
	int status;

	*camera = (struct camera){ .exposure_s = NAN };
	snprintf(name, sizeof(name), "%.*s", label ? (int)(label - text) : (int)sizeof(name),
	    text ? text : "");
	if (label && (!label[1] || strchr(label, '/') || label[1] == '.'))
		return fail_usage("--camera", "%s: a label names a folder: letters and digits",
		    text);
	if (label && strlen(label + 1) >= sizeof(camera->label))
		return fail_usage("--camera", "%s: a label has %zu bytes at most", text,
		    sizeof(camera->label) - 1);
	status = !strncmp(name, "/dev/video", 10) ? camera_v4l2_open(camera, name, wanted) :
	    camera_aravis_open(camera, *name ? name : NULL, wanted);
	snprintf(camera->label, sizeof(camera->label), "%s", label ? label + 1 : "");
	return status;
}

int
cameras_open(const struct opt_list *names, const char *command, const struct camera_wanted *wanted,
    struct camera **out, size_t *n)
{
	size_t most = names->n ? names->n : 1;
	struct camera *camera = must_alloc(most, sizeof(*camera));

	*out = camera;
	for (*n = 0; *n < most; ++*n)
		if (command ? camera_command_open(&camera[*n], command) < 0 :
		    camera_open(&camera[*n], names->n ? names->v[*n] : NULL, wanted) < 0)
			return -1;
	return 0;
}

void
cameras_close(struct camera *camera, size_t n)
{
	for (size_t i = 0; i < n; i++)
		camera[i].close(&camera[i]);
	free(camera);
}

int
camera_exposure(const char *text, double refresh_s, double *exposure_s)
{
	size_t n = text ? strlen(text) : 0;
	bool refreshes = n > 1 && text[n - 1] == 'r';
	char number[32];
	double v;

	*exposure_s = NAN;
	if (!text)
		return 0;
	snprintf(number, sizeof(number), "%.*s", (int)(refreshes ? n - 1 : n), text);
	if (number_parse(number, &v) < 0 || !(v > 0 && v < 1e6))
		return fail_usage("--exposure", "wants milliseconds, or refreshes as 1r, not '%s'",
		    text);
	if (refreshes && !(refresh_s > 0))
		return fail_usage("--exposure", "%s: the refresh is not known here: give ms", text);
	*exposure_s = refreshes ? v * refresh_s : v / 1e3;
	return 0;
}

void
camera_count(struct camera *camera, uint64_t id, unsigned bits)
{
	uint64_t turn = bits ? (1ull << bits) - 1 : 0;	/* GigE Vision's ids skip 0 */
	uint64_t last = camera->number;
	uint64_t step = last == 0 ? 1 : turn ? (id + turn - last % turn) % turn : id - last;

	if (last == 0)
		camera->number = id;
	else if (step > 0 && step < (turn ? turn / 2 : UINT64_MAX / 2)) {
		camera->number += step;
		camera->lost += step - 1;
	}
}

int
camera_picture(const struct camera *camera, const struct camera_format *format, const void *from,
    size_t bytes, size_t stride, struct frame **out)
{
	*out = NULL;
	if (camera_frame(camera, out) < 0)
		return -1;
	if (unpack(format, from, bytes, stride, *out) == 0)
		return 1;
	frame_replace(out, NULL);
	return fail_prefix(camera->name);
}
