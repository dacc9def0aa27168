/*
 * What the files of fringesim share, in the order in which light passes: scene, rig, laser, what
 * the samples of the picture see, the camera.
 *
 * All geometry is in double: simulated phases are checked to an ulp.
 */
#pragma once

#include <math.h>

#include "base/cpu_level.h"
#include "base/linear.h"
#include "feature/board.h"
#include "frame/frame.h"
#include "fringe/patterns.h"
#include "io/target.h"
#include "optics/calib.h"
#include "optics/laser.h"
#include "optics/stereo.h"
#include "run/run.h"

#define TWO_PI (2 * M_PI)

/* ---- the scene ---- */

enum scene_kind {
	SCENE_PLANE,	/* z = rise */
	SCENE_TILT,	/* from 0 in the upper left corner to `rise` in the lower right one */
	SCENE_STEPS,	/* SCENE_TERRACES terraces from 0 at the left to `rise` at the right */
	SCENE_SPHERE,	/* a cap `rise` high of a sphere of `radius`, on the plane z = 0 */
	SCENE_RELIEF,	/* a face; C2; see relief() */
	SCENE_FILE,	/* heights of a depth image over the field; no surface where they are NaN */
	SCENE_BOARD,	/* a calibration board of any pose: struct board_scene, of rigs only */
	SCENE_CYLINDER	/* waves `rise` high around one of `radius` along y, before a rig */
};

/*
 * The top of a solid, as height in mm over a reference plane. Scene coordinates: x to the right and
 * y down from the centre of the field, z up from the reference plane towards the camera.
 */
struct scene {
	enum scene_kind kind;
	double width, length;		/* the field in mm, along x and y */
	double rise, radius;		/* mm */
	struct frame *file;		/* SCENE_FILE: one channel of float */
	double spacing;			/* of its columns and rows, mm */
	double low, high;		/* no point of the surface is lower, or higher */
	double slope;			/* SCENE_RELIEF, SCENE_CYLINDER: its steepest, mm/mm */
};

/* What --paint puts on it. */
enum scene_paint { SCENE_PAINT_CHECKER, SCENE_PAINT_WAVES };
#define SCENE_COLOURS 3		/* red, green, blue */

/*
 * A calibration board as scene: a printed plane of any pose before a pinhole camera. Around the
 * pattern it is white; black sends back 0.12 of the light. There is nothing behind it.
 */
struct board_scene {
	struct board board;		/* its spacing is known */
	double R[9], T[3];		/* from mm on the board, from its middle, to the camera */
	double half[2];			/* half of its sides, mm */
	double radius;			/* of circles, mm */
	bool lit_from_behind;		/* the projector stands on its other side */
};

/* ---- the rig ---- */

/*
 * A camera, a projector and a scene between them (methods §8).
 *
 * Without a calibration both are orthographic over a reference plane: z = c (PHI - PHI_ref), where
 * PHI_ref is a plane over the pixels. With one both are pinholes, and the scene stands across the
 * camera's axis.
 */
struct rig {
	const struct scene *scene;
	const struct board_scene *board;	/* SCENE_BOARD: stands in the scene's place */
	size_t w, h;			/* camera pixels of the picture */
	/* Where the camera blurs: samples per pixel along each axis, and the pixels around the
	 * picture that are sampled too. Else 1 and 0: a pixel sees what lies at its centre. */
	size_t samples, margin;
	double origin_px[2];		/* of the picture on the sensor */
	double projector_px[2];
	bool used[2];			/* fringes along x, along y */
	bool shadow;			/* the scene blocks the projector's light */
	const struct calib *calib;	/* NULL: orthographic */
	const struct pinhole *before;	/* the scene stands before this camera; NULL: calib's */
	const struct pinhole *other;	/* a second camera, to be seen by; NULL: there is none */
	double distance;		/* pinhole: of the scene's plane from that camera */
	double pixel;			/* orthographic: mm of a pixel */
	double period_px;		/* orthographic: the period that c and ref_plane count in */
	double c;			/* mm per rad */
	double ref_plane[2][3];		/* a b c of PHI_ref = a + b x + c y, per axis */
};

/* A stage: a place x of the camera's frame was at R x + t before it moved. */
struct rig_stage {
	double R[9], t[3];
	bool turns;
};

/* Where the scene stands: turned about the viewing axis, moved towards the camera; both after
 * what a stage (of pinholes; NULL: none) did. */
struct rig_pose {
	double turn_rad, lift;
	const struct rig_stage *stage;
};

/* What a place of the picture sees. */
struct rig_point {
	bool surface;			/* there is a point */
	bool lit;			/* it gets the projector's light */
	bool seen;			/* nothing stands between it and the other camera */
	double X[3];			/* mm from the first pixel, height; pinhole: world */
	double depth;			/* height; pinhole: along the camera's axis */
	double painted[2];		/* scene coordinates; on a board mm from its middle */
	double column[2];		/* projector column and row, or NaN; orthographic, along an
					 * axis without fringes: the picture's */
};

/* The place in the picture of column (or row) k of samples. */
static inline double
rig_sample(const struct rig *rig, size_t k)
{
	return ((double)k + 0.5) / (double)rig->samples - 0.5 - (double)rig->margin;
}

/* A second camera: the views of a stereo pair of one scene, which stands before the left camera. */
struct pair {
	bool given;			/* else there is one camera */
	enum stereo_side side;		/* the view */
	struct stereo stereo;
};

/* ---- the laser (--laser) ---- */

enum laser_profile { LASER_GAUSS, LASER_BAR };

struct laser_options {
	bool on;
	int profile;			/* enum laser_profile */
	double thickness;		/* mm: standard deviation, or half of a bar's; NaN: 2 px */
	double speckle;			/* contrast */
	struct numbers reflection;	/* share, mm: n = 0 without */
	struct numbers from;		/* where it comes from, x y z; n = 0: not given */
	double stage_step, stage_angle;	/* mm, rad from picture to picture; NaN: it stands still */
	double stage_start;		/* mm, of the first picture */
};

struct laser_light {
	struct laser laser;
	enum laser_profile profile;
	double thickness, speckle;
	double share, shift;		/* of the reflection: 0 without */
};

/* ---- what the picture's samples see ---- */

/* Options; numbers are NaN, lists empty, sizes 0 x 0 and words -1 where they were not given. */
struct simulated_scene_options {
	struct opt_size size, projector;
	struct numbers ref_plane, origin;
	int scene;			/* enum scene_kind */
	bool shadow;
	const char *depth, *calib, *camera, *albedo, *view, *board;
	int paint;			/* enum scene_paint, or -1 */
	int board_kind;			/* enum board_kind */
	struct numbers board_pose;
	double height, radius, field, pixel, c, distance;
	double blur;			/* the camera's, px */
	struct laser_options laser;
};

/*
 * Blur of the print's edges, in px, before they are sampled: at 2 samples a pixel 8e-4 of what the
 * samples cannot hold is left, which moves an edge by 1e-4 px at most. The samples lack the rest.
 */
#define EDGE_BLUR 0.3

enum visibility { VISIBILITY_NONE, VISIBILITY_DARK, VISIBILITY_LIT };

struct simulated_scene {
	struct scene scene;
	struct calib calib;
	struct pair pair;
	struct board_scene board;
	struct rig rig;
	struct laser_light light;	/* where a laser takes the projector's place */
	double pixel_blur;		/* sigma in px of a pixel with the camera's blur */
	double blur;			/* sigma in px of what the samples still lack */
	enum paint { PAINT_NONE, PAINT_CHECKER, PAINT_NOISE, PAINT_FILE, PAINT_COLOURS } paint;
	enum scene_paint colours;	/* PAINT_COLOURS */
	size_t colour;			/* of the light, below SCENE_COLOURS; else all */
	struct frame *albedo;		/* one channel */
	double white;			/* its sample that is 1 */
	uint32_t seed;			/* of painted noise */
	bool both;			/* both of column[] are wanted; set before it is opened */
	bool projector_given;		/* its size was given, not assumed */
	/* What the samples see, row by row, columns x rows (struct rig: one for each pixel unless
	 * the camera blurs); column[k] is NULL along an axis without fringes, but for `both`. */
	size_t columns, rows;
	double *column[2];		/* projector column and row */
	double *painted[2];		/* of a board: mm from its middle */
	double *share;			/* of the light that the surface sends back */
	unsigned char *visibility;
};

/* One look at a simulated scene. */
struct look {
	struct simulated_scene *simulated;
	const struct rig_pose *pose;
	struct frame *truth;		/* NULL: not wanted */
};

/* ---- the camera ---- */

enum camera_bits { CAMERA_8, CAMERA_12, CAMERA_16, CAMERA_FLOAT };

struct camera {
	int bits;			/* enum camera_bits */
	double exposure;		/* factor on all light */
	double noise;			/* read noise, sigma in grey levels */
	double shot;			/* the variance of shot noise is this times the signal */
	long seed;
};

/* Which of the captures; they all have noise of their own. */
struct camera_capture {
	uint32_t measurement, image, view;	/* view: 0, or 1 for the right one of a pair */
};

/* The largest sample; float captures are in the levels of 8 bits and may go beyond. */
static inline double
camera_full(const struct camera *camera)
{
	static const double full[] = { 255, 4095, 65535, 255 };

	return full[camera->bits];
}

/* The head of a picture of this camera: its type of sample, its key max_value. */
void camera_describe(const struct camera *, struct frame_head *);

/* ---- one image ---- */

#define DITHERED_SIGMA 64	/* px, at most; the work grows with its square */

/* A dithered pattern out of focus: the projector's pixels, bright or dark, each a square, through a
 * Gaussian blur (methods §1). */
struct dithered {
	struct frame *image;		/* samples 0 and 1 */
	double sigma_px;
};

/* A Gaussian over the samples of a pixel and of its neighbours (struct rig). */
struct camera_blur {
	size_t n;
	double *weight;			/* n, summing to 1 */
	double *line;			/* the samples' light, then each row's as pixels */
};

struct exposure {
	const struct camera *camera;
	const struct simulated_scene *simulated;
	struct projected_pattern projected;
	struct dithered dithered;	/* of WAVE_DITHERED */
	struct camera_blur blur;
	struct camera_capture capture;
	double ambient;
	struct frame *out;
	size_t plane;			/* of it */
};

/* What a pixel sees of a laser's line. */
struct seen {
	struct rig_point point;		/* lit: by the laser */
	double off;			/* from the laser's plane, mm */
};

struct laser_scan {
	const struct camera *camera;
	const struct laser_options *options;
	struct simulated_scene *simulated;
	double level, ambient;		/* of the line's middle on white, and beside it */
	long pictures;
	struct target *truth;		/* NULL: not wanted */
};

struct laser_picture {
	const struct laser_scan *scan;
	const struct laser_light *light;
	struct rig rig;			/* with the board where the stage has it */
	struct board_scene board;
	struct rig_stage stage;
	struct rig_pose pose;
	struct stage_pose stands;	/* the scene's stage */
	uint32_t number;
	struct seen *middle;		/* what the pixels' centres see, row by row */
	struct frame *out;
};

/* ---- simulated_scene.c ---- */

/* period_px: the one that c and the reference plane count in. -1 after fail();
 * simulated_scene_close() in either case. */
int simulated_scene_open(struct simulated_scene *, const struct simulated_scene_options *,
    double period_px, uint32_t seed, const bool axis[2]);
void simulated_scene_close(struct simulated_scene *);
/* Fills column, share and visibility for a pose on all of the run's threads; truth (or NULL)
 * too. */
void simulated_scene_look(struct simulated_scene *, struct run *, const struct rig_pose *,
    struct frame *truth);
/* A frame for the truth: channels absphase depth x y z mask, disparity of a pair, and r g b of a
 * coloured scene. -1 after fail(). */
int simulated_scene_new_truth(const struct simulated_scene *, struct frame **out);
/* The table of a board's points: channels u v i j projector_u projector_v, of those within the
 * picture; NaN where the projector's light does not fall. -1 after fail(). */
int simulated_scene_corners(const struct simulated_scene *, struct frame **out);
/* Keys and spacing that describe the rig. */
void simulated_scene_describe(const struct simulated_scene *, struct frame_head *);

/* ---- laser_capture.c ---- */

/* Do the options go together, and with a calibration? -1 after fail_usage(). */
int laser_options_check(const struct laser_options *, bool calibrated, bool shadow, bool cylinder,
    long frames);
/*
 * The rig of a simulated scene that a laser lights. The laser stands where a projector would, which
 * looks at the scene and sees all of it. Reads the calibration: camera, plane and stage; sets the
 * rig's distance. -1 after fail().
 */
int laser_scene_open(struct simulated_scene *, const struct simulated_scene_options *);
/* Emits the pictures of a scan. -1 after fail(). */
int laser_scan_take(struct run *, const struct laser_scan *);

/* The loops of fringesim_rows.c. Those with `void *arg` compute a row each, for run_for(). */
struct fringesim_rows {
	/* Sets the bounds of a scene: low and high; slope; of a file spacing and length too. */
	void (*scene_bounds)(struct scene *);
	/* How far a projector ray moves in the picture of an orthographic rig, in pixels, per mm
	 * that it rises: not finite where the reference plane is level. */
	void (*light_direction)(const struct rig *, double move[2]);
	/* Point (i, j) of the board, and its place in the picture; false where it is outside. */
	bool (*board_point)(const struct rig *, long i, long j, struct rig_point *, double uv[2]);
	/* What a row of samples sees (struct look); the truth of a row of pixels that consist of
	 * several samples; the share[] of the samples that see a board (struct simulated_scene). */
	void (*look_row)(void *arg, size_t row);
	void (*truth_row)(void *arg, size_t y);
	void (*paint_board_row)(void *arg, size_t row);
	/* A row of an image (struct exposure); with the camera's blur: along the rows of samples,
	 * then across. */
	void (*expose_row)(void *arg, size_t y);
	void (*blur_row)(void *arg, size_t row);
	void (*expose_blurred_row)(void *arg, size_t y);
	/* The same of a laser's line (struct laser_picture): `middle`, then the image. */
	void (*laser_look_row)(void *arg, size_t y);
	void (*laser_expose_row)(void *arg, size_t y);
	/* Where the laser's plane crosses the surface between pixels `from` and `to`; false where
	 * it does not. */
	bool (*laser_crossing)(const struct laser_picture *, const size_t from[2],
	    const size_t to[2], double uv[2], double X[3]);
};
LEVELS_OF(fringesim_rows)
