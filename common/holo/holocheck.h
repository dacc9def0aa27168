/*
 * The key holo_check of holoimage(5), by which a Holoimage is compared with itself: the turns at 8
 * x 8 places, to a 128th. A picture that was moved, turned over, resampled or damaged, or that has
 * another one's metadata, does not have them there; one that was only compressed or dithered does.
 */
#ifndef HOLOCHECK_H
#define HOLOCHECK_H

#include <stdbool.h>

#include "frame/meta.h"

#define HOLOCHECK_SIDE 8
#define HOLOCHECK_PLACES 64
#define HOLOCHECK_TEXT 128
#define HOLOCHECK_WINDOW 2 /* pixels around a place that are averaged */
#define HOLOCHECK_SMOOTH 4 /* a surface without jumps must reach so far */
#define HOLOCHECK_FAR 8    /* or the background */
#define HOLOCHECK_STEP 0.1f /* turns: from pixel to pixel, more is a jump */

#define HOLOCHECK_BACKGROUND (-1)
#define HOLOCHECK_UNKNOWN (-2)

/* The pixel of place 0 .. 63, by rows. */
void holocheck_place(size_t w, size_t h, size_t place, size_t *x, size_t *y);

/* Codes: 128 times the turns, modulo 31 turns; or one of the two above. */
int holocheck_code(double turns);
void holocheck_write(const int code[HOLOCHECK_PLACES], char text[HOLOCHECK_TEXT + 1]);
/* 1; 0 where there is no such key; -1 after fail() where it is none. */
int holocheck_read(const struct meta *, int code[HOLOCHECK_PLACES]);

/* A place as it is found in the picture. */
struct holocheck_seen {
	double black;	 /* share of its window that is background */
	double rest;	 /* turns, but for whole ones: mean of the window */
	double slope[2]; /* of the turns, per column and per row */
	double turns;	 /* of its pixel, as decoded with its neighbours'; NaN: not known */
};

/* 0 where the picture is the one that was encoded, else -1 after fail(). Of one that was filtered
 * (its samples are floats) a little more is taken. */
int holocheck_compare(
    const int code[HOLOCHECK_PLACES], const struct holocheck_seen *, bool filtered);

#endif
