/* Rotations as vectors: their angle in radians times the unit vector of their axis. */
#ifndef ROTATION_H
#define ROTATION_H

/* d(R X)/dr, row-major, R being the rotation by the vector r, less than half a turn. */
void rotation_derivative(const double R[9], const double X[3], double D[9]);

/* How the six rigid motions move a point: along the axes, and about them through `middle`. */
void rotation_motions(const double X[3], const double middle[3], double M[3][6]);

#endif
