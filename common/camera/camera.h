/*
 * A camera to grab pictures from. A layer fills in struct camera: aravis.c has GenICam cameras
 * (GigE and USB3 Vision), v4l2.c the kernel's (/dev/videoN), camera.c whatever a command
 * takes pictures with, a test its own.
 */
#pragma once

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
	 * after fail(). It has keys max_value, time_s, exposure_time_s, camera, frame_number. */
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
/* A new frame, as take() gives it, of samples with `stride` bytes a row (0: without a gap).
 * 1, as take() returns; -1 after fail(), with *out NULL: there are fewer bytes than that. */
int camera_picture(const struct camera *, const struct camera_format *, const void *from,
    size_t bytes, size_t stride, struct frame **out);

/* ---- old_light.c ---- */

/* What white and black show of a camera's view. */
struct light {
	size_t w, h, lit_pixels;
	float *black, *white;
	unsigned char *lit;	/* the screen lights this pixel, and white does not saturate it */
	double level;		/* mean of white over black there */
	double noise;		/* standard deviation of one picture of white, or black if larger */
	double saturated;	/* share of the view */
	double beat;		/* how much equal pictures differ, of their level */
};

/* A number of pictures of black, then of white. Sets all but beat. */
void light_measure(struct light *, struct frame *const *black, struct frame *const *white,
    size_t pictures, double max_value);
/* The largest difference, of blocks of rows, between pictures of one flat image, as a share of
 * their level; 0 within what noise explains. */
double light_beat(const struct light *, struct frame *const *picture, size_t pictures);
/* The smallest share of new light in a block of rows; old, new_: the two levels. *latest: the
 * largest. */
double light_new_share(const struct light *, const struct frame *, bool rises, double *latest);
/* Mean of a picture over the lit pixels, of white over black. */
double light_mean(const struct light *, const struct frame *);
void light_free(struct light *);

enum verdict {
	PICTURE_SETTLED,
	PICTURE_MIXED,		/* some of the light is the pattern's before */
	PICTURE_OLD,		/* all of it */
	PICTURE_REPEATED,	/* two pictures agree to the bit: one is the other */
	PICTURE_UNSTEADY,	/* two pictures differ otherwise: something moves or flickers */
	PICTURE_ALIKE		/* the pattern before hardly differs: nothing can be said */
};

struct judgement {
	enum verdict verdict;
	double share, limit;	/* of old light, in the block where it exceeds its limit most */
	size_t judged, blocks;
	size_t changed;		/* that are no multiple of the picture before, beyond noise */
	double rest2;		/* mean square of what old light and drift leave of a - b; the
				 * median block's */
};

/* Of two pictures a, b of one pattern, one after the other, and the accepted one before. b NULL: by
 * `before` alone. */
struct judgement light_judge(const struct light *, const struct frame *a, const struct frame *b,
    const struct frame *before);

/* Of a camera that runs freely, three frames a pattern at least: picks one of each run of frames
 * that agree to noise. Begins as zeros. */
struct settled {
	struct light light;		/* all pixels, no black */
	struct frame *before, *last;	/* the one handed on, the camera's */
	double rest2, rest2_per_level;	/* the least so far */
	bool apart;			/* `before` is not `last` */
	size_t mixed;			/* pictures in a row that changed and were not settled */
};

/* Takes over a picture. *out: NULL, or one to hand on, without number and time: phasewrap finds
 * lost patterns by the pictures alone. -1 after fail(). */
int settled_take(struct settled *, struct frame *, struct frame **out);
void settled_free(struct settled *);

/* ---- aravis.c, v4l2.c ---- */

int camera_aravis_open(struct camera *, const char *name, const struct camera_wanted *);
int camera_aravis_list(FILE *);
int camera_v4l2_open(struct camera *, const char *path, const struct camera_wanted *);
