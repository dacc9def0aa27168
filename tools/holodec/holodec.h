/*
 * What the files of holodec share: how a picture is read, what is found of it as a whole, what
 * holodec keeps of its options, and the loops of its four rows files.
 */
#pragma once

#include <math.h>

#include "holo/dither.h"
#include "holo/holo.h"
#include "image/texture.h"
#include "run/stage.h"

#define TILE 512 /* pixels of a row that are decoded together */
#define MARGIN 3 /* more on each side, for medians */
#define BACKGROUND_REACH_MOST 64 /* px, of --edge */

/* How a picture is to be read. */
struct reading {
	struct holo_code code;
	size_t channel[4];             /* sine, cosine, stair, texture */
	bool rgb;                      /* the layout: luma is of all three channels */
	float half_step;               /* 1/2 where plain decoding rounds */
	float stair[HOLO_PROFILE + 1]; /* of order 0 */
};

/* ---- regions (regions_rows.c) ---- */

/*
 * Not pixels are joined but runs, pieces of rows in which the surest neighbours follow each other.
 * Each row counts the whole turns that it passes, its `lead`, so that a run has one unknown, its
 * order where the lead is 0. An edge holds by how much those of two neighbours differ.
 *
 * Rows are taken in blocks, each of which has one thread and its part of every array.
 */
#define BLOCK_ROWS 32
#define VOTE_STEPS 256 /* of a turn: sums of whole numbers are the same in every order */
#define REGION_LEAST 128 /* pixels that may vote; smaller regions are read pixel by pixel */

struct run_of_pixels {
	int32_t first, end;   /* columns */
	int64_t members, sum; /* at roots: pixels, and the orders that they give the root */
	int32_t order;        /* found, where the lead is 0; NO_ORDER: the region is too small; in
				 revote() at roots the number of pixels in the sum */
	unsigned char class;  /* of the pair of its last pixel and the next */
};

/* A run's place in the tree of its region; its order less the parent's. */
struct branch {
	int32_t parent, above;
};

/* Order of run b less that of run a, where their leads are 0. */
struct edge {
	int32_t a, b, step;
	unsigned char class;
};

struct span {
	size_t first, end;
};

struct region_block {
	size_t y0, y1; /* rows */
	struct span runs, edges;
	unsigned char *class; /* of a row of pairs */
	int32_t *turn;        /* a number for each pixel of a row */
	size_t points, doubtful;
};

/* Of a whole picture; at first zero. regions_free(). */
struct regions {
	size_t w, h, blocks;
	size_t size, rows;          /* pixels and rows allocated */
	float *rest, *order;        /* of each pixel; order as read, then as found */
	float *turns;               /* while pixels are grown */
	unsigned char *state;       /* likewise; two planes */
	float *certainty;           /* of the order, of each pixel; growing_rows.c */
	int32_t *lead;              /* of each pixel: whole turns passed in its row; then its
				       turns, for the odds */
	struct span *inside;        /* columns of each row; outside is nothing but background */
	struct span *row;           /* runs of each row */
	struct run_of_pixels *run;  /* no more than there are pixels, as for blocks */
	struct branch *branch;      /* of each run */
	struct edge *edge, *sorted; /* no more than two a pixel; the surest first */
	struct region_block *block;
	unsigned char *class;       /* rows for the blocks */
	int32_t *turn;              /* of each pixel; then of its stair's offset, for the odds */
};

/* ---- pixels that wait for an order (growing_rows.c) ---- */

struct pixel {
	int32_t at, x, y;
	float turns;		/* as found, or as the neighbours' best guess */
	float read;		/* turns by the pixel's own stair */
	float certainty;
	float margin;		/* of the best order over the next one, as a log of odds */
	unsigned char round;
	bool taken, dark;
};

struct growing {
	struct regions *regions;
	const struct reading *reading;
	const struct frame *in, *stored;	/* mended (struct halved); and as it came */
	const unsigned char *surface;	/* of each pixel (struct halved); or NULL */
	float *turns;			/* as voted; then as grown */
	unsigned char *state;
	struct pixel *pixel;
	size_t n;
	int round;
	float noise;			/* of stairs, in orders */
	float coarser;			/* luma, than at quality 75, in levels */
	float misread;			/* by trusted pixels' stairs, in orders, on average */
	struct {
		float zero, times;
	} odds;				/* of what the pixels tell, for this picture */
	float blue[HOLO_PROFILE + 1];	/* of order 0, and whether it is halved */
	bool halved[2];			/* along rows, down columns */
};

/* ---- colour of half the resolution (halved_rows.c) ---- */

/* In surface: of the surface by its block's fringes, but as dark as background may be. */
#define HALVED_DOUBTFUL 3

/* The picture with the boundary's fringes mended and its background black, and of each of its
 * pixels 0 for the background, HALVED_DOUBTFUL, or another number for the surface. */
struct halved {
	struct frame *picture;
	unsigned char *surface;
};

struct block {
	float rest;		/* mean phase of the surface, in turns */
	float x, y;		/* centre of its pixels */
	float level[2];		/* sine and cosine as stored, of blocks with untold pixels */
	unsigned char n, of;	/* pixels of the surface; all of them */
};

struct halving {
	const struct reading *reading;
	const struct frame *in;
	struct frame *out;
	size_t w, h;		/* blocks */
	size_t wide, high;	/* pixels of a block; 0: colour is not halved */
	unsigned char *near, *surface;	/* of each pixel: 0, 1, UNTOLD, DOUBTFUL */
	unsigned char *mixed;	/* of each block: has one up to two away background? */
	unsigned char *untold;	/* of each block: has it UNTOLD pixels? Two away, too */
	struct block *block;
};

/* ---- what holodec keeps ---- */

enum decode { DECODE_AUTO, DECODE_NEAREST, DECODE_MEDIAN, DECODE_REGION, DECODE_PLAIN };

/* From columns, rows and depths to points. */
struct place {
	bool in_mesh;	  /* in the coordinates of the mesh that mesh2depth(1) drew */
	double row[3][4]; /* x, y, z of (column, row, depth, 1) */
};

/* Pictures that were refused: one bad frame need not end a video. */
struct refusals {
	size_t all, refused;		/* pictures so far */
	size_t last;			/* run_inputs() of the last refused one, + 1 */
	bool decoded;			/* one of them was */
	bool now;			/* the picture at hand is refused, and gives no depths */
};

/* Warnings that were given; each is given once. */
struct altered {
	bool levels, turned;
};

/* Pictures without keys, which other programs made, or took the keys from. */
struct bare {
	bool picture;	/* the one at hand is such a one */
	bool beyond;	/* a warning was given */
};

struct priv {
	struct holo holo;
	struct reading reading;
	struct regions regions;
	enum decode decode; /* in use */
	size_t edge_px;     /* in use */
	bool compared;      /* options with the keys of the picture */
	bool few_colours;   /* a warning was given */
	struct altered altered; /* likewise */
	struct bare bare;
	bool keep;          /* all pixels, and how certain each is */
	bool grown;         /* regions.certainty is that of this picture */
	float least;        /* certainty of what is kept */
	struct refusals refusals;
	size_t certainty;   /* the input's channel, or NO_CHANNEL */
	struct halved mended; /* the picture at hand, where its colour has half the resolution */
	bool xyz;
	struct place place;
	float texture_scale;
	enum texture_matrix matrix; /* of the texture; TEXTURE_GREY: it is one channel */
	struct texture_below below; /* of a picture with its texture below */
};

/* ---- lossy_picture.c ---- */

/*
 * *out: the mended picture; NULLs where nothing is to be mended, since the picture is not of 8
 * bits, or its colour has full resolution. in: its planes sine, cosine, stair. -1 after fail().
 */
int halved_mend(struct run *, const struct reading *, const struct frame *in, struct halved *out);
void halved_free(struct halved *);
/* The orders of a whole picture: regions->order. -1 after fail() where stairs and fringes do not
 * belong together. */
int regions_find(struct run *, struct regions *, const struct reading *, const struct frame *in);
void regions_free(struct regions *);
/*
 * In a lossy picture what is certain takes the place of a boundary of fixed width, unless one is
 * asked for: regions are grown, and what is not certain is dropped. no_edge: none is asked for;
 * asked: a certainty is. -1 after fail().
 */
int certain_grow(struct run *, const struct frame *in, bool lossy, bool no_edge, bool asked);

/* ---- picture_checks.c ---- */

/* Counts of pixels that decide: is a picture a Holoimage, and has a lossy format been at it? */
struct pixel_counts {
	size_t pixels, points; /* points: not black */
	size_t inexact;        /* whose R and G, or background, no encoder makes */
	size_t off_level;      /* points whose B no encoder makes */
	size_t off_circle;     /* points far from the circle of fringes */
	size_t coloured;       /* R, G, B not all equal */
	size_t off_stair;      /* points whose stair is far from any */
	size_t outside;        /* points whose depth is outside of the cube, by slack and more */
	size_t beyond;         /* by more than rounding makes */
};

/* How far an encoder's own pixels lie off at most, in levels. */
struct exact_limits {
	float circle;          /* R and G off the circle of fringes */
	float stair;           /* B off the stair that their angle belongs to */
	float stair_height;
	float cut;             /* what was cut off R and G on average: 1/2 where none was rounded */
	float middle, reach;   /* of depths */
};

/* Steps between neighbours, and the fringes' circle. */
struct step_counts {
	size_t points, falls, across;
	struct fringe_circle circle;
};

#define PALETTE_MOST 256   /* colours in a palette */

struct exact_limits exact_limits_of(const struct holo *);
/* Is the picture as an encoder made it? Single damaged pixels do not make it lossy. */
bool pixel_counts_exact(const struct pixel_counts *);
/* -1 after fail() where the picture is no Holoimage, or one of other parameters. */
int pixel_counts_check(const struct pixel_counts *, const struct frame_head *, bool blurred);
/* Is it a picture of 8 bits without keys, of which no option says how it was rounded? */
bool bare_is(const struct holo_options *, const struct frame_head *, bool blurred);
/*
 * counts are those of levels that were each rounded to the nearest. Where the picture is exact with
 * pairs nearest in angle, or with levels that were cut, they become those. -1 after fail() where it
 * is exact with other stairs than those of the options. Pictures of few points are not looked at.
 */
int bare_counts(const struct holo *, const struct reading *, const struct frame *in,
    struct pixel_counts *counts);
/* Of an exact picture: warns of depths outside of the range, which no encoder makes. */
void bare_warn_beyond(const struct pixel_counts *, struct bare *);
/* Of a lossy one: the same, of what regions have found and kept. */
void bare_warn_beyond_regions(const struct holo_code *, const struct regions *, struct bare *);
/*
 * Warns of levels that were changed, if `levels` is asked for, which pictures of floats and blurred
 * ones do not answer; and, without holo_check, of a picture that was mirrored or turned.
 */
void altered_warn(const struct reading *, const struct frame *in, bool levels, struct altered *);
/* Warns where the first three channels of every row_step-th row, of 8 bits, have no more colours
 * than a palette holds. Sets *warned then, and does nothing where it is set. */
void palette_warn(const struct frame *, size_t row_step, bool *warned);
/* Compares the picture with the places in the key holo_check. 0, also without the key; -1 after
 * fail(). regions: what has been found, or NULL. */
int check_picture(const struct reading *, const struct regions *, const struct frame *in);

/* ---- loops ---- */

/* A row of readings, and the medians of their orders along it. */
struct medians {
	float rest[TILE], order[TILE];
	size_t first, end; /* NaN before and behind */
} __attribute__((aligned(64)));

/* The rows around the one that is being decoded; they are kept for the rows below. */
struct medians_ring {
	struct medians row[7];
	size_t y0;
};

struct holodec_rows {
	/* A body's `rows`. */
	body_rows *depths;
	/* Samples x .. x + n - 1 of a row, as levels. */
	void (*load_samples)(const struct frame *in, size_t c, size_t y, size_t x, size_t n,
	    float *out);
	/* Makes ready for row y0 of n columns from x on. */
	void (*medians_start)(struct medians_ring *, const struct reading *,
	    const struct frame *in, size_t x, size_t n, size_t y0);
	/* The next row, y: orders, and the readings that they belong to. */
	const struct medians *(*medians_next)(struct medians_ring *, const struct reading *,
	    const struct frame *in, size_t x, size_t n, size_t y, float *order);
	/* Of some rows of the picture, each pixel decoded by itself. */
	struct pixel_counts (*count_pixels)(const struct reading *, const struct frame *in,
	    const struct exact_limits *);
	/* Of some rows. */
	void (*count_steps)(const struct reading *, const struct frame *in, struct step_counts *);
	/* Up to PALETTE_MOST, or one more where there are more, or the picture is too small to
	 * tell. */
	size_t (*count_colours)(const struct frame *, size_t row_step);
	/* Points of some rows, and those farther outside of the range than a lossy format moves
	 * them; adds to both. */
	void (*count_beyond)(const struct regions *, const struct holo_code *, size_t *points,
	    size_t *beyond);
	/* What is seen at a place: the mean of the rests around, and their slopes. */
	struct holocheck_seen (*look_at_place)(const struct reading *, const struct frame *in,
	    size_t x, size_t y);
};
LEVELS_OF(holodec_rows)

struct regions_rows {
	/* The order of each pixel, whose memory is reserved; counts blocks' points and doubtful
	 * ones. */
	void (*vote)(struct run *, struct regions *, const struct reading *,
	    const struct frame *in);
};
LEVELS_OF(regions_rows)

struct growing_rows {
	/* What is smooth; how many pixels wait for an order. */
	size_t (*begin)(struct run *, struct growing *);
	/* Their orders and certainties, with memory for that number of pixels. *least: the
	 * certainty to ask for. */
	void (*grow)(struct run *, struct growing *, float *least);
	/* Drops what is less certain: the rest of its turns becomes NaN. */
	void (*drop)(struct regions *, float least);
};
LEVELS_OF(growing_rows)

struct halved_rows {
	/* Is colour halved, and how? */
	void (*find)(const struct reading *, const struct frame *in, struct halving *);
	/* Mends the picture; all memory is reserved, out is a frame like in. */
	void (*mend)(struct run *, struct halving *);
};
LEVELS_OF(halved_rows)
