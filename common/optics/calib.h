/* The calibration of camera and projector. */
#pragma once

#include "frame/head.h"
#include "optics/camera_model.h"
#include "optics/number_file.h"
#include "run/stage.h"

/*
 * What a calibration file says once more of the pose of two devices: cv2.stereoCalibrate() and
 * cv2.stereoRectify() give E, F, R1 R2 P1 P2 and Q, which many files keep beside K1 K2 R T.
 */

#define CALIB_REST_TEXT 192

/*
 * False, with a sentence in text, where the file's own E, F, R1 R2 P1 P2 or Q belong to another
 * pose than R and T (x2 = R x1 + T, in the file's unit) or to other matrices than K1 and K2.
 * Entries of these names that are something else are passed over.
 */
bool calib_rest_agrees(const struct number_file *, const double K1[9], const double K2[9],
    const double R[9], const double T[3], char text[CALIB_REST_TEXT]);

/*
 * Calibration of a camera and a projector: OpenCV's pinhole model with lens distortion, or a plain
 * pair of 3x4 matrices (methods §8; Zhang 2006 eq 12-18).
 */

struct calib {
	struct pinhole camera, projector;
	char unit[16];			/* of lengths; "mm" unless the file says otherwise */
	bool unit_stated;		/* by an entry or the name T_mm, or 24 bare numbers */
	/* Nothing in the file names a projector, and a pair is rectified, or all its devices are
	 * cameras. */
	bool two_cameras;
	char contradiction[CALIB_REST_TEXT]; /* of the file's own E, F or the like; or empty */
	double origin_px[2]; /* where images without the key lie on the camera's
			      * full frame: the file's crop_x0_y0, else 0 0 */
	double period_px;	/* of the fringes that the file names, on the projector; 0: none */
};

/*
 * Reads a calibration: 24 numbers (camera 3x4, then projector 3x4; # comments), OpenCV YAML or XML
 * (with its %YAML:1.0 line) or JSON in the key dialects that man/phase2depth.1 lists.
 * 0, or -1 after fail(path, ...).
 */
int calib_load(const char *path, struct calib *);
/*
 * The same of a file with several devices (fringecal(1)): camera names the one that takes the
 * camera's place, frame the device whose coordinates are the world's. NULL: the file's own (its
 * first camera). -1 after fail() also where there is no such device.
 */
int calib_load_device(const char *path, const char *camera, const char *frame, struct calib *);
/* A camera of such a file. */
struct calib_camera {
	char name[NUMBER_FILE_NAME_SIZE];
	struct calib calib;
};

/* All cameras of the file but the one of that name (NULL: the first), as far as they can be read;
 * *n: how many. NULL or not, the list is the caller's. */
struct calib_camera *calib_load_others(const char *path, const char *camera, const char *frame,
    size_t *n);
/* calib_load() from memory; text[n] must be 0. */
int calib_parse(const char *path, const char *text, size_t n, struct calib *);

/* Single entries of a calibration file, for what reads other rigs than a camera and a projector. */

/* Names are alternatives, split by |. */
bool calib_has(const struct number_file *, const char *names);
/* `expected` finite numbers; `what` says what they are. -1 after fail(path, ...). */
int calib_get(const char *path, const struct number_file *, const char *names, const char *what,
    size_t expected, double *out);
/* The first of two numbers that are not negative; zeros where there are none. */
int calib_get_pair(const char *path, const struct number_file *, const char *names,
    const char *what, double out[2]);
/* A 3x3 camera matrix and its lens list, which may be missing. */
int calib_get_intrinsics(const char *path, const struct number_file *, const char *K,
    const char *distortion, const char *what, struct pinhole *);
/* Devices, as fringecal(1) writes them: entries devices.NAME.kind and so on. The length of NAME; 0
 * where the entry is another one than a device's kind. */
size_t calib_device_name(const struct number_file_entry *, const char **name);
/* The entry devices.NAME.kind of the first device of that name (NULL: any) and kind (NULL: any);
 * NULL where there is none. */
const struct number_file_entry *calib_device_entry(const struct number_file *, const char *name,
    const char *kind);
/* All that the file has of the device of such an entry; its R and T become those that take a point
 * of the file's frame to it. -1 after fail(). */
int calib_read_device(const char *path, const struct number_file *,
    const struct number_file_entry *, struct pinhole *);
/* The same of the camera of that name; NULL: the first one. */
int calib_get_device(const char *path, const struct number_file *, const char *name,
    struct pinhole *);
/* The crop that the camera's matrix is meant for, which is added to it, and the size of its full
 * frame. */
int calib_get_frame(const char *path, const struct number_file *, struct pinhole *camera,
    double origin_px[2]);
/* The name, of *n letters, of the i-th device of kind camera; NULL: there are not so many. */
const char *calib_camera(const struct number_file *, size_t i, size_t *n);
/* A rotation, which does not mirror. */
int calib_get_rotation(const char *path, const struct number_file *, const char *names,
    double R[9]);
/* The unit of lengths, "mm" where the file names none. */
void calib_get_unit(const struct number_file *, char unit[16]);

/* ---- where a frame lies on its sensor ---- */

/*
 * Pixel (0, 0) begins at origin_px of the full frame (option, else key, else `otherwise`); a pixel
 * is bin[0] x bin[1] of the full frame's (key bin). So the centre of column i is the full frame's
 * origin_px[0] + (i + 1/2) bin[0] - 1/2. -1 after fail().
 */
int sensor_crop_origin(const struct run *, const struct numbers *option, const struct frame_head *,
    const double otherwise[2], double origin_px[2], double bin[2]);

/* Is a picture, or the one that a table's points were found in, of the calibrated camera? */

/* Where a picture of frame w x h begins on the sensor, and how large its pixels are. */
struct sensor_fit {
	double origin_px[2], bin[2];
	bool placed;			/* the frame, or an option, names its origin */
};

/*
 * The picture's size is the frame's, of a table the key image_size_px; without one there is nothing
 * to compare. Fails where the picture does not lie on the camera's full frame; warns where it is
 * smaller though nothing says that it is cut out, or, without a size in the calibration, where
 * the principal point (cx, cy) is far from its middle. *warned keeps it to one warning.
 */
int sensor_fit_check(const struct pinhole *, const struct frame_head *, bool is_picture,
    const struct sensor_fit *, bool *warned);

/* ---- the part of space that a calibration's board took in ---- */

#define CALIB_VOLUME_ACROSS 5
#define CALIB_VOLUME_DEEP 3
#define CALIB_VOLUME_POINTS (CALIB_VOLUME_ACROSS * CALIB_VOLUME_ACROSS * CALIB_VOLUME_DEEP)

/*
 * A grid of 5 x 5 x 3 points that the camera, the frame's own, sees from u0 to u1 and v0 to v1
 * (pixels) at distances from z0 to z1 along its axis. Returns how many: pixels beyond the fold of
 * its lens have none.
 */
size_t calib_volume_points(const struct pinhole *camera, const double uvz[3][2],
    double X[CALIB_VOLUME_POINTS][3]);
