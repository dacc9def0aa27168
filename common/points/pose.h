/* Rigid motions, and text files of them. */
#ifndef POSE_H
#define POSE_H

#include <stddef.h>

/* A point X goes to R X + T. */
struct pose {
	double R[9], T[3];		/* row-major; T in the unit of the points */
};

struct pose_list {
	struct pose *v;
	size_t n;
};

extern const struct pose pose_identity;

void pose_apply(const struct pose *, const double X[3], double to[3]);
/* The motion `first`, then the motion `then`. to may be one of them. */
void pose_compose(const struct pose *then, const struct pose *first, struct pose *to);
void pose_invert(const struct pose *, struct pose *to);
/* A rotation by the vector turn_rad (axis times angle) about the point `center`, then the shift. */
void pose_from_twist(const double turn_rad[3], const double shift[3], const double center[3],
    struct pose *to);
/* The vector turn_rad of its rotation; angles up to pi. */
void pose_turn(const struct pose *, double turn_rad[3]);
/* Makes R the orthonormal matrix next to it. */
void pose_orthonormalize(struct pose *);
/*
 * Reads every pose of a text file: numbers separated by blanks, commas, semicolons or brackets; #
 * begins a comment. A pose is a 4x4 matrix, the 3x4 matrix R|T row by row, or the nine numbers of R
 * row by row and then the three of T (a bar between them is allowed). The number of numbers and the
 * rotations tell which. An entry may be off by 2e-4 from a rotation's, as of four digits; R becomes
 * the next one. *to is overwritten; the caller calls pose_list_free(). 0, or -1 after fail(path,
 * ...): also for what is no rigid motion, naming the pose and what it does instead.
 */
int pose_list_load(const char *path, struct pose_list *to);
void pose_list_free(struct pose_list *);

#endif
