/* What shoot.c, which shows and grabs over any screen and any cameras, does for fringeshoot.c. */
#pragma once

#include <math.h>

#include "base/process.h"
#include "camera/camera.h"
#include "frame/frame.h"
#include "screen/screen.h"

enum shoot_check { CHECK_MIX, CHECK_ONCE, CHECK_NONE };

struct shoot {
	/* set by the caller */
	struct screen *screen;
	struct camera *camera;
	size_t cameras;
	enum shoot_check check;
	long retries;
	double latency_s;	/* from the refresh to a picture of the new pattern alone */
	bool any_exposure, verbose;
	size_t black, white, grey;	/* images of the screen */
	/* set by shoot_flats() */
	struct light *light;		/* of each camera */
	struct frame **before;		/* its accepted picture before */
	double before_level;		/* of the pattern that it shows, 0 to 1 */
	bool unsure;			/* a pattern was rejected: what is seen is not known */
	/* counted */
	size_t retaken, rejected, late, copied, between;
};

/* A pattern: its image on the screen, mean from 0 to 1, and name for messages. */
struct pattern {
	size_t image;
	double level;
	const char *name;
};

/* Is the exposure a whole number of refreshes? -1 after fail_usage(). */
int shoot_exposure_check(const struct shoot *);
/* Shows white, black and grey, and looks at them. -1 after fail(). */
int shoot_flats(struct shoot *);
/* Measures latency_s by flashes. -1 after fail(). */
int shoot_latency(struct shoot *);
/* Shows a pattern and takes it with all cameras; picture[i] is the caller's. 1: as it should be; 0:
 * rejected, after all retries; -1 after fail(). */
int shoot_pattern(struct shoot *, const struct pattern *, struct frame **picture);
/* Shows black, and prints one line of what was counted, if anything was. */
void shoot_end(struct shoot *);
