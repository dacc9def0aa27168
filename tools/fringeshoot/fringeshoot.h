/*
 * What the files of fringeshoot share: old_light.c judges a picture by its pixels, shoot.c shows
 * and grabs until it is right, over any screen and any cameras.
 */
#ifndef FRINGESHOOT_H
#define FRINGESHOOT_H

#include <stdbool.h>

#include "camera/camera.h"
#include "frame/frame.h"
#include "screen/screen.h"

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
};

/* Of two pictures a, b of one pattern, one after the other, and the accepted one before. b NULL: by
 * `before` alone. */
struct judgement light_judge(const struct light *, const struct frame *a, const struct frame *b,
    const struct frame *before);

/* ---- shoot.c ---- */

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

#endif
