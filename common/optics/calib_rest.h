/*
 * What a calibration file says once more of the pose of two devices: cv2.stereoCalibrate() and
 * cv2.stereoRectify() give E, F, R1 R2 P1 P2 and Q, which many files keep beside K1 K2 R T.
 */
#ifndef CALIB_REST_H
#define CALIB_REST_H

#include <stdbool.h>

#include "optics/number_file.h"

#define CALIB_REST_TEXT 192

/*
 * False, with a sentence in text, where the file's own E, F, R1 R2 P1 P2 or Q belong to another
 * pose than R and T (x2 = R x1 + T, in the file's unit) or to other matrices than K1 and K2.
 * Entries of these names that are something else are passed over.
 */
bool calib_rest_agrees(const struct number_file *, const double K1[9], const double K2[9],
    const double R[9], const double T[3], char text[CALIB_REST_TEXT]);

#endif
