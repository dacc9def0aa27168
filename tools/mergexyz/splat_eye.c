#include "splat_eye.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "points/ordered_camera.h"

#define SAMPLES 2500	/* points that the camera is fitted to, about */
#define WORST 1.0	/* px: rms of a camera that is one */

/* The point that a 3x4 matrix takes to 0: Cramer's rule. */
static void
find_center(const double P[12], double center[3])
{
	double m[3][3];
	double det = P[0] * (P[5] * P[10] - P[6] * P[9]) - P[1] * (P[4] * P[10] - P[6] * P[8]) +
	    P[2] * (P[4] * P[9] - P[5] * P[8]);

	for (size_t k = 0; k < 3; k++) {
		for (size_t i = 0; i < 3; i++)
			for (size_t j = 0; j < 3; j++)
				m[i][j] = j == k ? -P[4 * i + 3] : P[4 * i + j];
		center[k] = (m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
		    m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
		    m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])) / det;
	}
}

int
splat_eye_sample(const struct splat_source *source, double (**samples)[5], size_t *n)
{
	size_t step = (size_t)sqrt((double)source->w * (double)source->h / SAMPLES) + 1;
	size_t room = (source->w / step + 1) * (source->h / step + 1);
	double (*sample)[5] = malloc(room * sizeof(*sample));

	*n = 0;
	*samples = sample;
	if (!sample)
		return fail_memory();
	for (size_t y = 0; y < source->h; y += step)
		for (size_t x = 0; x < source->w; x += step) {
			for (size_t k = 0; k < 3; k++)
				sample[*n][k] = (double)((const float *)frame_floats(source->frame,
				    source->xyz[k], y))[x];
			sample[*n][3] = (double)x;
			sample[*n][4] = (double)y;
			*n += isfinite(sample[*n][0] + sample[*n][1] + sample[*n][2]);
		}
	return 0;
}

int
splat_eye_find(const struct splat_source *source, double eye[3])
{
	double (*sample)[5];
	struct ordered_camera camera;
	size_t n;
	int status = splat_eye_sample(source, &sample, &n);

	if (status == 0)
		status = ordered_camera_fit((const double (*)[5])sample, n, &camera);
	free(sample);
	if (status < 0)
		return -1;
	find_center(camera.P, eye);
	if (!(camera.rms_px <= WORST) || !isfinite(eye[0] + eye[1] + eye[2]))
		eye[0] = eye[1] = eye[2] = NAN;
	return 0;
}
