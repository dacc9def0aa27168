/*
 * A screen to show patterns on: a projector's or a monitor's output, one pattern pixel to one pixel
 * of it. A layer fills in struct screen: x11.c has outputs of an X server, a test its own with a
 * clock that jumps.
 */
#pragma once

#include <stdio.h>

#include "frame/frame.h"

/* When an image was there: the count of refreshes and the time of the one that brought it. */
struct screen_shown {
	uint64_t refresh;
	double time_s;		/* by the screen's now_s */
	bool copied;		/* not flipped to: it may have come within a refresh, or later */
};

struct screen {
	char name[64];
	size_t w, h;
	double refresh_s;	/* from one refresh to the next; 0: not known */
	void *own;		/* the layer's */
	/* Hands an image over, of the screen's size, uchar, one channel or r g b; *image: its
	 * number, from 0. -1 after fail(). */
	int (*load)(struct screen *, const struct frame *, size_t *image);
	/* Shows it with the first refresh from this one on (0: the next), and returns when that has
	 * come. -1 after fail(). */
	int (*show)(struct screen *, size_t image, uint64_t refresh, struct screen_shown *);
	double (*now_s)(struct screen *);
	/* -1 after fail(): interrupted. */
	int (*wait)(struct screen *, double until_s);
	void (*close)(struct screen *);
};

/* What is known of an output before anything is shown on it. */
struct screen_facts {
	char name[64];
	size_t w, h;		/* of its part of the desktop */
	size_t mode_w, mode_h;	/* that it sends; 0: not known */
	double refresh_hz;	/* of the mode; 0: not known */
	bool on;		/* it has a controller that sends a picture */
	bool rotated, transformed, xwayland, main;
	int gamma_off;		/* how far its ramp is from straight, of 255; -1: unknown */
};

/* May patterns of w x h (0 x 0: none yet) be shown there, one to one? force: under XWayland, too.
 * -1 after fail(). */
int screen_check(const struct screen_facts *, size_t w, size_t h, bool force);

/* An image as load() takes it, from one of any type (full scale is max_value, else 255, 65535 or 1)
 * of one channel or r g b. -1 after fail(). */
int screen_image(const struct frame *, struct frame **out);
/* Hands an image over and frees it, which is NULL then. -1 after fail(), which names it. */
int screen_load(struct screen *, struct frame **, const char *name, size_t *image);
/* One level, 0 to 255, all over. -1 after fail(). */
int screen_load_flat(struct screen *, int level, size_t *image);

/* now_s and wait of real screens: CLOCK_MONOTONIC, and until a signal that is deferred. */
double screen_real_now_s(struct screen *);
int screen_real_wait(struct screen *, double until_s);
/* Waits for fd (-1: none) to be readable. 1, 0 after so many seconds, -1 after fail(): interrupted,
 * by SIGINT, SIGTERM or SIGHUP, which end no process from the first call of it on: their second
 * does. SIGPIPE is ignored from then on: the write fails, and what was changed is restored. */
int screen_poll(int fd, double seconds);
/* After fail() of a command that is a camera or a stage: where this process was interrupted, so was
 * the command, by the same Ctrl-C, and the message is that. -1. */
int screen_command_failed(void);

/* A screen of this size that `command` shows images on: its word %s is the image's file, a PNG, and
 * it ends when the image is there. Its refresh is not known. -1 after fail(). */
int screen_command_open(struct screen *, const char *command, size_t w, size_t h);

/* ---- x11.c ---- */

/* The outputs of the X server that $DISPLAY names, a line each. */
int screen_x11_list(FILE *);
/*
 * Opens an output by its name; NULL: the only one that is on. The screen is black from then on, and
 * its gamma ramp straight, with a note, until it is closed. w, h: of the patterns, for
 * screen_check(). -1 after fail().
 */
int screen_x11_open(struct screen *, const char *name, size_t w, size_t h, bool force,
    bool verbose);
