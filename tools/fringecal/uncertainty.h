/*
 * What a calibration's covariance means in pixels and in space.
 *
 * A change of all parameters that only moves the whole rig in space does no harm to what it
 * measures: the six rigid motions are projected out of the Jacobian J, sd^2 = diag(P J C J' P).
 * With them in it, sd is that of the first device's rays as well.
 */
#ifndef UNCERTAINTY_H
#define UNCERTAINTY_H

#include "calib_problem.h"
#include "diagnosis.h"
#include "optics/calib_volume.h"

/* Over a device's picture, of points at a distance. */
struct uncertainty_map {
	size_t columns, rows;	/* of a grid over the full frame, first pixel to last */
	double distance;	/* along the device's axis: the mean of the board's views; in the
				 * board's unit */
	double *sd, *sd_all;	/* px, a coordinate, without and with rigid motions; NaN: no such
				 * ray */
	double rms, rms_all;	/* over the grid, where it lies within the hull of the points */
	double rms_picture;	/* without rigid motions, over the whole grid */
};

/* At points of space that the first device's views take in. */
struct uncertainty_volume {
	size_t n;		/* of points; 0: one device alone measures none */
	double X[CALIB_VOLUME_POINTS][3];	/* in the first device's frame */
	double sd[CALIB_VOLUME_POINTS][3], sd_all[CALIB_VOLUME_POINTS][3];
	double rms, rms_all;	/* of a point's whole error, |sd| */
};

/*
 * Of every device's picture: devices maps of `columns` columns, to be freed with
 * uncertainty_maps_free(). The rigid motion is the one that fits best within the hulls of the
 * devices' points; beyond them a lens is a guess. Needs the covariance. -1 after fail().
 */
int uncertainty_maps(const struct calib_problem *, const struct calib_solution *,
    const struct diagnosis_device *hulls, size_t columns, struct uncertainty_map **out);
void uncertainty_maps_free(struct uncertainty_map *, size_t devices);
/* Where nine tenths of the first device's points lie along u, along v, and in distance: what
 * calib_volume_points() takes. NaN where it has none. -1 after fail(). */
int uncertainty_volume_range(const struct calib_problem *, const struct calib_solution *,
    double uvz[3][2]);
/*
 * Of points that are triangulated from both coordinates of every camera and, as fringes along x
 * give it, the column of every projector. -1 after fail().
 */
int uncertainty_volume(const struct calib_problem *, const struct calib_solution *,
    struct uncertainty_volume *);

/* A point of the first device's frame in that of a device. */
void uncertainty_to_device(const struct calib_solution *, size_t device, const double X[3],
    double x[3]);
/* Point (i, j) of the board of a pose in the first device's frame. */
void uncertainty_board_point(const struct calib_problem *, const struct calib_solution *,
    size_t pose, int i, int j, double X[3]);

#endif
