#include "splat_cameras.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "optics/calib_entries.h"
#include "optics/number_file.h"
#include "optics/sensor_crop.h"
#include "optics/stereo.h"
#include "splat_eye.h"

#define OFF_PX 3.0		/* median, of the frame's pixels: what calibrations agree within */
#define POINTS_LEAST 1000

/* ---- the calibration ---- */

static void
add(struct splat_cameras *cameras, const struct pinhole *pinhole, const double origin_px[2],
    const char *name, size_t length)
{
	struct splat_camera *camera = &cameras->v[cameras->n];

	if (cameras->n == SPLAT_CAMERAS_MOST)
		return;
	cameras->n++;
	camera->pinhole = *pinhole;
	memcpy(camera->origin_px, origin_px, sizeof(camera->origin_px));
	snprintf(camera->name, sizeof(camera->name), "%.*s", (int)length, name);
}

/* devices.NAME of kind camera. */
static int
load_devices(const char *path, const char *frame, const struct number_file *numbers,
    struct splat_cameras *cameras)
{
	for (size_t i = 0; i < numbers->entries; i++) {
		const struct number_file_entry *entry = &numbers->entry[i];
		size_t all = strlen(entry->name);
		struct calib calib;
		char name[64];

		if (strncmp(entry->name, "devices.", 8) || all <= 13 ||
		    strcmp(entry->name + all - 5, ".kind") || strcmp(entry->text, "camera"))
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)all - 13, entry->name + 8);
		if (calib_load_device(path, name, frame, &calib) < 0)
			return -1;
		add(cameras, &calib.camera, calib.origin_px, name, all - 13);
	}
	return 0;
}

/* The two of a pair, or the one beside a projector. */
static int
load_named(const char *path, const struct number_file *numbers, struct splat_cameras *cameras)
{
	struct stereo stereo;
	struct calib calib;

	if (calib_has(numbers, "K1|M1|cameraMatrix1") && calib_has(numbers,
	    "projector_K|M4")) {
		if (stereo_load(path, &stereo) < 0)
			return -1;
		for (int side = 0; side < 2; side++)
			add(cameras, &stereo.camera[side], (double[2]){ 0, 0 }, side ? "right" :
			    "left", 5);
		return 0;
	}
	if (calib_load(path, &calib) < 0)
		return -1;
	add(cameras, &calib.camera, calib.origin_px, "camera", 6);
	return 0;
}

int
splat_cameras_load(const char *path, const char *frame, struct splat_cameras *cameras)
{
	struct number_file numbers;
	int status;

	*cameras = (struct splat_cameras){ .path = path, .frame = frame };
	if (number_file_load(path, &numbers) < 0)
		return -1;
	status = load_devices(path, frame, &numbers, cameras);
	if (status == 0 && cameras->n == 0)
		status = load_named(path, &numbers, cameras);
	number_file_free(&numbers);
	return status;
}

/* ---- a view ---- */

/* By how many of the frame's pixels, in the median, a camera sees points beside their places. */
static int
find_off(const struct splat_camera *camera, const struct run *run, const struct frame_head *head,
    const double (*sample)[5], size_t n, float *work, double *off)
{
	double origin[2], bin[2];
	float median;

	if (sensor_crop_origin(run, &(struct numbers){ 0 }, head, camera->origin_px, origin,
	    bin) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		double uv[2], square = 0;

		work[i] = INFINITY;
		if (!pinhole_project(&camera->pinhole, sample[i], uv))
			continue;
		for (size_t k = 0; k < 2; k++)
			square += pow((uv[k] - origin[k] + 0.5) / bin[k] - 0.5 - sample[i][3 + k],
			    2);
		work[i] = (float)sqrt(square);
	}
	numbers_ranks(work, n, &(size_t){ n / 2 }, 1, &median);
	*off = median;
	return 0;
}

static int
find_best(const struct splat_cameras *cameras, const struct run *run,
    const struct splat_source *source, const double (*sample)[5], size_t n, size_t *best,
    double *least)
{
	float *work = malloc((n + 1) * sizeof(*work));
	int status = work ? 0 : fail_memory();

	*least = INFINITY;
	for (size_t i = 0; i < cameras->n && status == 0; i++) {
		double off = INFINITY;

		status = find_off(&cameras->v[i], run, &source->frame->head, sample, n, work, &off);
		if (off < *least) {
			*least = off;
			*best = i;
		}
	}
	free(work);
	return status;
}

int
splat_cameras_check(struct splat_cameras *cameras, const struct run *run,
    const struct splat_source *source, size_t view)
{
	double eye[3], off = INFINITY, (*sample)[5];
	size_t n, best = 0;
	int status;

	if (cameras->n == 0 || source->w * source->h < POINTS_LEAST ||
	    meta_get(&source->frame->head.meta, "rect_f_px"))
		return 0;
	if (splat_eye_find(source, eye) < 0)
		return -1;
	if (isnan(eye[0]))
		return 0;
	status = splat_eye_sample(source, &sample, &n);
	if (status == 0)
		status = find_best(cameras, run, source, (const double (*)[5])sample, n, &best,
		    &off);
	free(sample);
	if (status < 0)
		return status;
	if (off <= OFF_PX) {
		if (cameras->v[best].view)
			warn(cameras->path, "views %zu and %zu are both where its camera %s sees "
			    "them: is one in a frame of its own?", cameras->v[best].view, view,
			    cameras->v[best].name);
		cameras->v[best].view = view;
	} else if (isinf(off))
		warn(cameras->path, "none of its cameras has the points of view %zu before it: are "
		    "they in the frame of %s?", view, cameras->frame ? cameras->frame :
		    "this calibration");
	else
		warn(cameras->path, "none of its cameras sees the points of view %zu where they "
		    "are in the frame, %s %.3g px off: are they in the frame of %s?", view,
		    cameras->v[best].name, off, cameras->frame ? cameras->frame :
		    "this calibration");
	return 0;
}
