/*
 * Calibrations of other rigs than a camera and a projector, from arbitrary text: two cameras, a
 * laser, one of several devices, a camera model of mrcal's; and entries put into such a text. No
 * crash, no undefined behaviour, nothing leaked; a failure has a message; what was read has finite
 * numbers; a text with a new entry reads back as the old one with it.
 */
#define _GNU_SOURCE
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "optics/camera_model.h"
#include "optics/laser.h"
#include "optics/number_file.h"
#include "optics/stereo.h"

static void
check_finite(const double *v, size_t n, const char *what)
{
	for (size_t i = 0; i < n; i++)
		check(isfinite(v[i]), what);
}

static void
try_stereo(const char *path)
{
	struct stereo stereo;
	enum stereo_side side;
	double ray[3], uv[2];
	int status = stereo_load(path, &stereo);

	for (int i = 0; status == 0 && i < 2; i++) {
		check_finite(stereo.R[i], 9, "rotation");
		stereo_ray(&stereo, (enum stereo_side)i, 10, 20, ray);
		if (stereo_project(&stereo, (enum stereo_side)i, ray, uv))
			check_finite(uv, 2, "projection");
	}
	if (status == 0) {
		check(isfinite(stereo.f_px) && stereo.f_px > 0, "focal length");
		check(isfinite(stereo.baseline_mm) && stereo.baseline_mm != 0, "baseline");
	}
	check_status(status);
	check_status(stereo_find_side(path, "cam", &side));
}

static void
try_laser(const char *path, const char *device)
{
	struct laser laser;
	double near[2] = { NAN, NAN }, X[3], depth;
	int status = laser_load(path, device, &laser);

	if (status == 0) {
		check_finite(laser.camera.K, 9, "camera matrix");
		check_finite(laser.camera.R, 9, "pose");
		if (laser.has_plane) {
			check_finite(laser.plane, 4, "plane");
			if (laser_meet(&laser, (double[]){ 10, 20 }, near, X, &depth) == LASER_MET)
				check_finite(X, 3, "point");
		}
		if (laser.has_direction)
			check_finite(laser.direction, 3, "direction");
		if (laser.has_axis)
			check_finite(laser.axis_direction, 3, "axis");
	}
	check_status(status);
}

static void
try_device(const char *path, const char *device)
{
	struct calib calib;
	int status = calib_load_device(path, device, device, &calib);

	if (status == 0)
		check_finite(calib.camera.P, 12, "camera");
	check_status(status);
}

/* `path` is the text in another file, by the suffix of a camera model. */
static void
try_model(const char *path)
{
	struct number_file numbers;
	int status = camera_model_load(path, &numbers);

	for (size_t i = 0; status == 0 && i < numbers.entries; i++)
		check(numbers.entry[i].first + numbers.entry[i].n <= numbers.n, "entry");
	if (status == 0)
		number_file_free(&numbers);
	check_status(status);
}

static void
try_edit(const char *text, size_t n)
{
	const double plane[4] = { 0.6, 0, 0.8, -120 };
	const struct number_edit edit = { "laser_plane", plane, 4 };
	const struct number_file_entry *entry;
	struct number_file numbers;
	char *out = NULL;
	int status = number_edit_text("text", text, n, &edit, 1, &out);

	check_status(status);
	if (status < 0)
		return;
	check(number_file_parse("edited", out, strlen(out), &numbers) == 0, "is not read back");
	entry = number_file_find(&numbers, "laser_plane");
	check(entry && entry->n == 4 && !memcmp(numbers.v + entry->first, plane, sizeof(plane)),
	    "entry");
	number_file_free(&numbers);
	free(out);
}

static void
replace(int file, const unsigned char *data, size_t n)
{
	check(ftruncate(file, 0) == 0 && pwrite(file, data, n, 0) == (ssize_t)n, "file");
}

static char model_path[] = "/dev/shm/fuzz-XXXXXX.cameramodel";

static void
remove_model(void)
{
	unlink(model_path);
}

int
LLVMFuzzerTestOneInput(const unsigned char *data, size_t n)
{
	static int file = -1, model = -1;
	static char path[64];
	char *text = malloc(n + 1);

	check(text != NULL, "memory");
	memcpy(text, data, n);
	text[n] = '\0';
	if (file < 0) {
		file = memfd_create("text", 0);
		model = mkstemps(model_path, (int)strlen(".cameramodel"));
		check(file >= 0 && model >= 0 && atexit(remove_model) == 0, "files");
		snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	}
	replace(file, data, n);
	try_stereo(path);
	try_laser(path, NULL);
	try_laser(path, "cam");
	try_device(path, "cam");
	try_edit(text, n);
	replace(model, data, n);
	try_model(model_path);
	free(text);
	return 0;
}
