/* What board_find() and its two kinds of boards, of corners and of circles, share. */
#ifndef BOARD_SEARCH_H
#define BOARD_SEARCH_H

#include "feature/board_find.h"
#include "feature/board_grid.h"
#include "feature/board_place.h"

/* A board, the picture that it is looked for in, and the best grid until now. */
struct board_search {
	const struct board *board;
	const struct board_options *options;
	const struct frame *gray;
	struct grid_point *point; /* px of the picture */
	size_t points;
	struct grid grid;
};

void board_search_free(struct board_search *);

/* The plane of a picture of board_picture(). */
struct derivative_plane board_plane(const struct frame *gray);
/* The picture with means of `bin` x `bin` pixels as pixels, bin a power of two; those over are left
 * out. */
int board_binned(const struct frame *gray, size_t bin, struct frame **out);
/* How many points there have to be at least. */
size_t board_least(const struct board *);

/* So many candidates for points are looked for. */
size_t board_candidates(const struct board_search *);
/* The bin, a power of two, of the picture that is looked at first. */
size_t board_first_bin(const struct board_search *);
/* Finds candidates in a picture; a new array, their places in its pixels. -1 after fail(). */
typedef int board_candidates_find(const struct board_search *, const struct derivative_plane *,
    const struct derivative_kernels *, struct grid_point **, size_t *n);
/* The grid of the picture of this bin, by kernels of this sigma, of which no side has more than
 * side_most points; it is kept if it is larger than the one so far. -1 after fail(). */
int board_search_at(struct board_search *, size_t bin, double sigma, size_t side_most,
    board_candidates_find *);

/* The largest grid of a kind; its nodes have no numbers yet. -1 after fail(). */
int board_chess_grid(struct board_search *);
int board_circles_grid(struct board_search *);
/* Has the grid all points of the board, but for those that lie outside of the picture, or nearer to
 * its border than margin px? Then a picture of higher resolution shows no more. */
bool board_complete(const struct board_search *, double margin);
/* The points of a grid that board_place() has numbered, to a small part of a pixel. -1 after
 * fail(). */
int board_chess_measure(struct board_search *, const struct placement *, struct corners *);
int board_circles_measure(struct board_search *, const struct placement *, struct corners *);

#endif
