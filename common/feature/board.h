/*
 * Calibration boards: what is printed on them, and the tables of their corners that boardfind
 * writes. fringecal and lasercal read them by readers of their own, which take tables of other
 * programs, too.
 *
 * A board has w x h points (corners of a chessboard where four squares meet, or circles), numbered
 * i = 0 .. w - 1 and j = 0 .. h - 1. On the board, x grows with i and y with j; seen from the front
 * the turn from x to y is clockwise, as from a picture's u to its v.
 */
#pragma once

#include "feature/corner.h"
#include "frame/frame.h"

enum board_kind { BOARD_CHESS, BOARD_CIRCLES, BOARD_ACIRCLES };

struct board {
	enum board_kind kind;
	size_t w, h;       /* w >= h, but for asymmetric circles */
	double spacing_mm; /* 0: not known */
};

/* The words of enum board_kind, ended by NULL. */
extern const char *const board_kinds[];

/*
 * Reads WxH or WxH,MM. Of chessboards and circles the longer side becomes w. 0; -1 after
 * fail_usage(option, ...).
 */
int board_parse(const char *option, const char *text, enum board_kind, struct board *);
/* Where point (i, j) is on the board, in spacings from point (0, 0). Of asymmetric circles
 * (OpenCV's numbers) x = 2 i + j mod 2 and y = j; of the others x = i and y = j. */
void board_point(const struct board *, long i, long j, double xy[2]);
/* The same for its middle: half of the way from the least to the largest x and y of all points. */
void board_middle(const struct board *, double xy[2]);

/* One point that was found. */
struct corner {
	double u, v;  /* px, (0, 0) the centre of the first pixel */
	double sigma; /* standard deviation of u and of v, px */
	long i, j;
};

struct corners {
	size_t n;
	struct corner *corner; /* rising j, then rising i */
	/* How many other numberings fit what is seen as well: the same board turned, or, where a
	 * part is hidden, moved. 0: this one is certain. */
	size_t others;
	size_t seen[2];	/* without a board: the size of a grid that is not of it; else 0 */
};

void corners_free(struct corners *);

/*
 * Sets the keys board_kind, board_size, board_spacing_mm (absent where it is not known),
 * length_unit (mm, or board: lengths count spacings) and image_size_px.
 */
void board_describe(const struct board *, double w_px, double h_px, struct meta *);
/*
 * The table of a picture's corners: channels u v sigma i j, the keys of board_describe() and
 * board_numberings, 1 and the number of others. `image` is the picture's head, whose other keys are
 * handed on. -1 after fail().
 */
int board_table(const struct board *, const struct corners *, const struct frame_head *image,
    struct frame **out);
/*
 * What these keys say of the board: w and h are 0 where there is no board_size, spacing_mm where
 * there is none; the kind stays where there is no board_kind. path: for messages. -1 after fail():
 * what is said cannot be.
 */
int board_read_keys(const char *path, const struct meta *, struct board *);

/* ---- the pictures that boards are looked for in ---- */

/*
 * One float channel out of a picture: `channel`, or where that is NULL the only one, `image`, or
 * the luma of r g b (0.299, 0.587, 0.114). What is not finite becomes NaN. -1 after fail().
 */
int board_picture(const struct frame *, const char *channel, struct frame **gray);
/* The plane of a picture of board_picture(). */
struct derivative_plane board_plane(const struct frame *gray);
/* The picture with means of `bin` x `bin` pixels as pixels, bin a power of two; those over are left
 * out. */
int board_binned(const struct frame *gray, size_t bin, struct frame **out);

/* ---- finding a board in a picture ---- */

#define BOARD_REASON 200

struct board_options {
	/* Of derivative_kernels; NULL: derivatives_row(). */
	void (*row)(const struct derivative_kernels *, const struct derivative_plane *, size_t y,
	    float *work, float *const out[DERIVATIVES]);
	double sigma_px; /* of the smoothing that places are measured with; NaN: a tenth of
			  * the least distance of neighbours, 0.8 to 4 */
	bool bright;     /* circles are bright on dark ground */
};

/*
 * Finds the board in such a picture, by itself on the calling thread. 0: corners has those found,
 * at least a quarter of the board's and at most all of them, sorted; free with corners_free(). 1:
 * there is none, and reason says what there is instead. -1 after fail().
 */
int board_find(const struct board *, const struct board_options *, const struct frame *gray,
    struct corners *, char reason[BOARD_REASON]);
