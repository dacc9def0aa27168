/* Products of vectors of three numbers. */
#ifndef VECTOR3_H
#define VECTOR3_H

/* In hot loops: inline. */
static inline double
vector3_dot(const double a[3], const double b[3])
{
	return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* out is neither a nor b. */
static inline void
vector3_cross(const double a[3], const double b[3], double out[3])
{
	for (int k = 0; k < 3; k++)
		out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

#endif
