#include "optics/calib_volume.h"

size_t
calib_volume_points(const struct pinhole *camera, const double uvz[3][2],
    double X[CALIB_VOLUME_POINTS][3])
{
	const size_t across = CALIB_VOLUME_ACROSS, deep = CALIB_VOLUME_DEEP;
	size_t n = 0;

	for (size_t i = 0; i < CALIB_VOLUME_POINTS; i++) {
		const double part[3] = { (double)(i % across) / (double)(across - 1),
			(double)(i / across % across) / (double)(across - 1),
			(double)(i / (across * across)) / (double)(deep - 1) };
		double at[3], xy[2];

		for (size_t k = 0; k < 3; k++)
			at[k] = uvz[k][0] + part[k] * (uvz[k][1] - uvz[k][0]);
		if (!pinhole_undistort(camera, at, xy))
			continue;
		X[n][0] = at[2] * xy[0];
		X[n][1] = at[2] * xy[1];
		X[n++][2] = at[2];
	}
	return n;
}
