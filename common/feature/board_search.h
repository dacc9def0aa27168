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

/* The kernels that candidates are found with, of this sigma. -1 after fail(). */
int board_kernels_init(const struct board_options *, double sigma, struct derivative_kernels *);

/* The plane of a picture of board_picture(). */
struct derivative_plane board_plane(const struct frame *gray);
/* The picture with means of `bin` x `bin` pixels as pixels, bin a power of two; those over are left
 * out. */
int board_binned(const struct frame *gray, size_t bin, struct frame **out);
/* How many points there have to be at least. */
size_t board_least(const struct board *);

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
