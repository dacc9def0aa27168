#include "inclination.h"

#include <math.h>

#define LEAST 100		/* points */
#define ROUNDS 12		/* of least squares, each with weights from the one before */
#define CLOSE 1e-3		/* of the mean 1/z: nearer points weigh no more */

struct inclination_point
inclination_point(const struct pinhole *camera, const double X[3])
{
	const double *R = camera->R, *T = camera->T;
	double x = R[0] * X[0] + R[1] * X[1] + R[2] * X[2] + T[0];
	double y = R[3] * X[0] + R[4] * X[1] + R[5] * X[2] + T[1];
	double z = R[6] * X[0] + R[7] * X[1] + R[8] * X[2] + T[2];

	return (struct inclination_point){ (float)(x / z), (float)(y / z), (float)(1 / z) };
}

static double
determinant(const double m[6], const double v[3], int column)
{
	double a[9] = { m[0], m[1], m[2], m[1], m[3], m[4], m[2], m[4], m[5] };

	for (int i = 0; i < 3 && column >= 0; i++)
		a[3 * i + column] = v[i];
	return a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6]) +
	    a[2] * (a[3] * a[7] - a[4] * a[6]);
}

/* Weighted least squares for 1/z = plane . (x, y, 1); x and y less their means. */
static bool
fit(const struct inclination_point *point, size_t n, const double mean[2], double close,
    bool weighted, double plane[3])
{
	double m[6] = { 0 }, v[3] = { 0 }, whole;

	for (size_t i = 0; i < n; i++) {
		double x = (double)point[i].x - mean[0], y = (double)point[i].y - mean[1];
		double inverse = (double)point[i].inverse;
		double rest = fabs(plane[0] * x + plane[1] * y + plane[2] - inverse);
		double weight = weighted ? 1 / fmax(rest, close) : 1;

		m[0] += weight * x * x;
		m[1] += weight * x * y;
		m[2] += weight * x;
		m[3] += weight * y * y;
		m[4] += weight * y;
		m[5] += weight;
		v[0] += weight * x * inverse;
		v[1] += weight * y * inverse;
		v[2] += weight * inverse;
	}
	whole = determinant(m, v, -1);
	if (!(whole > 1e-9 * m[0] * m[3] * m[5]))
		return false;
	for (int k = 0; k < 3; k++)
		plane[k] = determinant(m, v, k) / whole;
	return true;
}

static double
angle_deg(const double a[3], const double b[3])
{
	double dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
	double squares = (a[0] * a[0] + a[1] * a[1] + a[2] * a[2]) *
	    (b[0] * b[0] + b[1] * b[1] + b[2] * b[2]);

	return acos(fmax(-1, fmin(1, dot / sqrt(squares)))) * 180 / M_PI;
}

bool
inclination_find(struct inclination_point *point, size_t n, const struct calib *calib,
    double *camera_deg, double *projector_deg)
{
	double mean[2] = { 0, 0 }, inverse = 0, plane[3] = { 0, 0, 0 };
	double ray[3], light[3], normal[3], world[3];
	const struct pinhole *camera = &calib->camera;
	size_t there = 0;

	for (size_t i = 0; i < n; i++)
		if (!isnan(point[i].x))
			point[there++] = point[i];
	if (there < LEAST)
		return false;
	for (size_t i = 0; i < there; i++) {
		mean[0] += (double)point[i].x / (double)there;
		mean[1] += (double)point[i].y / (double)there;
		inverse += fabs((double)point[i].inverse) / (double)there;
	}
	for (int i = 0; i <= ROUNDS; i++)
		if (!fit(point, there, mean, CLOSE * inverse, i > 0, plane))
			return false;
	if (!(plane[2] > 0))
		return false;		/* 1/z where the mean ray meets it */
	normal[0] = plane[0];
	normal[1] = plane[1];
	normal[2] = plane[2] - plane[0] * mean[0] - plane[1] * mean[1];
	ray[0] = mean[0];
	ray[1] = mean[1];
	ray[2] = 1;
	*camera_deg = angle_deg(normal, ray);
	/* the projector in the camera's frame */
	pinhole_center(&calib->projector, world);
	for (int i = 0; i < 3; i++)
		light[i] = ray[i] / plane[2] - (camera->R[3 * i] * world[0] +
		    camera->R[3 * i + 1] * world[1] + camera->R[3 * i + 2] * world[2] +
		    camera->T[i]);
	*projector_deg = angle_deg(normal, light);
	return true;
}
