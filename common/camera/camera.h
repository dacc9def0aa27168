/*
 * A camera to grab pictures from. A layer fills in struct camera: aravis.c has GenICam cameras
 * (GigE and USB3 Vision), v4l2.c the kernel's (/dev/videoN), command.c whatever a command takes
 * pictures with, a test its own.
 */
#ifndef CAMERA_H
#define CAMERA_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/opt.h"
#include "frame/frame.h"

struct camera {
	char name[128];		/* for messages and the key `camera` */
	char label[64];		/* its folder, where there are several; "" : none */
	size_t w, h;		/* 0: not known before the first picture */
	enum sample type;	/* uchar, or ushort where deeper than 8 bits */
	double max_value;
	double exposure_s;	/* as the camera took it; NaN: not known */
	double exposure_step_s;	/* its times are multiples of this; 0: any, or not known */
	const char *mosaic;	/* of a colour sensor, "rggb"; NULL: grey */
	bool triggered;		/* a picture's exposure begins when trigger() is called */
	void *own;		/* the layer's */
	uint64_t lost, broken, timeouts;	/* pictures that did not come, or not whole */
	uint64_t number;	/* of the last picture, unwrapped; 0: none yet */
	/* From here on counts a picture: the next that take() gives was not begun before. -1 after
	 * fail(). */
	int (*trigger)(struct camera *);
	/* The picture: 1; 0: none in so many seconds, or not a whole one, which is counted; -1
	 * after fail(). It has the keys of camera_frame(). */
	int (*take)(struct camera *, double timeout_s, struct frame **out);
	/* Stops it and restores its trigger mode. */
	void (*close)(struct camera *);
};

struct camera_wanted {
	const char *format;	/* a pixel format's name; NULL: the camera's own */
	const char *trigger;	/* none, software, or a line's name */
	double exposure_s;	/* NaN: the camera's own */
	double gain;		/* NaN: the camera's own */
	bool verbose;
};

/* Opens NAME or NAME=LABEL; NULL: the first that Aravis finds. -1 after fail(). */
int camera_open(struct camera *, const char *text, const struct camera_wanted *);
/* Opens a camera for each name, or one without any; with `command` they take pictures by that. The
 * caller gives all back to cameras_close(), also after -1, which comes after fail(). */
int cameras_open(const struct opt_list *names, const char *command, const struct camera_wanted *,
    struct camera **, size_t *n);
void cameras_close(struct camera *, size_t n);
/* An option's exposure: milliseconds, or Nr for so many refreshes (refresh_s 0: not known here);
 * NULL: NAN. -1 after fail_usage(). */
int camera_exposure(const char *text, double refresh_s, double *exposure_s);
/* All that are found, a line each. */
int camera_list(FILE *);
/* Counts the camera's own number, of so many bits (0: 64), which skips `from` zero or one at its
 * end, into number and lost. */
void camera_count(struct camera *, uint64_t id, unsigned bits);
/* A new frame of the camera's head with keys max_value, time_s, exposure_time_s, camera,
 * frame_number. -1 after fail(). */
int camera_frame(const struct camera *, double time_s, struct frame **out);
/* Seconds since 1970. */
double camera_time_s(void);

/* ---- pixel formats (camera.c) ---- */

enum camera_packing { PACK_8, PACK_16, PACK_10_PACKED, PACK_12_PACKED, PACK_12P, PACK_YUYV };

struct camera_format {
	const char *name;		/* as GenICam names it */
	uint32_t code;			/* of GigE Vision; V4L2: four letters */
	enum camera_packing packing;
	unsigned bits;
	const char *mosaic;
};

/* By its code; NULL: none that is read. */
const struct camera_format *camera_format_find(uint32_t code);
/* A new frame, as camera_frame() has it, of samples with `stride` bytes a row (0: without a gap).
 * 1, as take() returns; -1 after fail(), with *out NULL: there are fewer bytes than that. */
int camera_picture(const struct camera *, const struct camera_format *, const void *from,
    size_t bytes, size_t stride, struct frame **out);

/* ---- aravis.c, v4l2.c, command.c ---- */

int camera_aravis_open(struct camera *, const char *name, const struct camera_wanted *);
int camera_aravis_list(FILE *);
int camera_v4l2_open(struct camera *, const char *path, const struct camera_wanted *);
/* `command` has the word %s, which is the name of the file that it writes. */
int camera_command_open(struct camera *, const char *command);
/* Runs a command without a shell: its words are those between blanks, and one that is `mark` (%s,
 * %d) is replaced by `argument`. -1 after fail(): it could not be run, or did not exit with 0. */
int camera_command_run(const char *command, const char *mark, const char *argument);

#endif
