/*
 * Plans for phase2depth the standard deviation of its points by what is uncertain about the
 * calibration (methods §16): reads the covariance that fringecal(1) writes with a rig, finds the
 * rigid motions that its parameters make of the volume, and fills a grid over the frame.
 */
#include "phase2depth.h"

#include <stdio.h>

#include "base/linear.h"
#include "optics/camera_model.h"

struct file {
	const char *path;
	struct number_file numbers;
};

/* ---- devices, in the order of their parameters ---- */

/* How many intrinsics a device's model has; 0 where it is not known. */
static size_t
intrinsics_count(const struct file *file, const struct number_file_entry *device)
{
	static const struct { const char *model; size_t count; } models[] = { { "pinhole", 4 },
		{ "opencv4", 8 }, { "opencv5", 9 }, { "opencv8", 12 } };
	char name[2 * NUMBER_FILE_NAME_SIZE];
	const struct number_file_entry *model;

	snprintf(name, sizeof(name), "%.*smodel", (int)(strlen(device->name) - strlen("kind")),
	    device->name);
	model = number_file_find(&file->numbers, name);
	for (size_t i = 0; model && i < sizeof(models) / sizeof(*models); i++)
		if (!strcmp(model->text, models[i].model))
			return models[i].count;
	return 0;
}

/* Where the parameters of the device of this entry begin. *end: how many all devices have. */
static int
place_parameters(const struct file *file, const struct number_file_entry *of,
    struct rig_device *device, size_t *end)
{
	size_t devices = 0, intrinsics = 0, place = 0;

	*device = (struct rig_device){ .pose = SIZE_MAX };
	for (size_t i = 0; i < file->numbers.entries; i++) {
		const struct number_file_entry *entry = &file->numbers.entry[i];
		const char *name;
		size_t count;

		if (!calib_device_name(entry, &name))
			continue;
		count = intrinsics_count(file, entry);
		if (!count)
			return fail(file->path, "%s: its model is not known", entry->name);
		if (entry == of) {
			place = devices;
			device->intrinsics = intrinsics;
			device->count = count;
		}
		intrinsics += count;
		devices++;
	}
	if (place > 0)
		device->pose = intrinsics + 6 * (place - 1);
	*end = devices ? intrinsics + 6 * (devices - 1) : 0;
	return 0;
}

/* The first device's frame is the world. */
static int
get_device(const struct file *file, const struct number_file_entry *entry,
    struct rig_device *device)
{
	const struct number_file *numbers = &file->numbers;
	struct pinhole world = { 0 }, *p = &device->pinhole;
	size_t end;

	if (place_parameters(file, entry, device, &end) < 0 || calib_read_device(file->path,
	    numbers, calib_device_entry(numbers, NULL, NULL), &world) < 0 ||
	    calib_read_device(file->path, numbers, entry, p) < 0)
		return -1;
	pinhole_between(world.R, world.T, p->R, p->T, p->R, p->T);
	pinhole_complete(p);
	return 0;
}

/* Coordinates are in the file's own frame where a camera is named, else in the first camera's. */
static int
get_devices(const struct file *file, const char *camera, const char *frame,
    struct rig_covariance *rig)
{
	const struct number_file *numbers = &file->numbers;
	const struct number_file_entry *own = number_file_find(numbers, "frame");
	const struct number_file_entry *seen = calib_device_entry(numbers, camera, "camera");
	const struct number_file_entry *lit = calib_device_entry(numbers, NULL, "projector");
	const struct number_file_entry *world = frame ? calib_device_entry(numbers, frame, NULL) :
	    camera && own ? calib_device_entry(numbers, own->text, NULL) :
	    calib_device_entry(numbers, NULL, "camera");

	if (!seen || !lit || !world)	/* calib_load_device() reports which */
		return fail(file->path, "has no device of that name");
	return get_device(file, seen, &rig->camera) < 0 ||
	    get_device(file, lit, &rig->projector) < 0 ||
	    get_device(file, world, &rig->frame) < 0 ? -1 : 0;
}

/* ---- the covariance and the volume ---- */

static int
get_covariance(const struct file *file, struct rig_covariance *rig)
{
	const struct number_file_entry *entry = number_file_find(&file->numbers, "covariance");
	struct rig_device unused;
	size_t end;

	if (!entry)
		return fail(file->path, "has no covariance, which --calibration-sigma needs: "
		    "fringecal writes it");
	if (!calib_device_entry(&file->numbers, NULL, "camera") ||
	    !calib_device_entry(&file->numbers, NULL, "projector"))
		return fail(file->path, "has a covariance, and no camera and projector that it is "
		    "of: fringecal writes both");
	if (place_parameters(file, NULL, &unused, &end) < 0)
		return -1;
	rig->n = entry->n == (end + 2) * (end + 2) ? end + 2 : end;	/* with the board's bends */
	if (end == 0 || entry->n != rig->n * rig->n)
		return fail(file->path, "covariance: expected %zu x %zu numbers, found %zu", end,
		    end, entry->n);
	rig->C = must_alloc(entry->n, sizeof(*rig->C));
	return calib_get(file->path, &file->numbers, "covariance", "a covariance", entry->n,
	    rig->C);
}

static int
get_volume(const struct file *file, struct rig_covariance *rig)
{
	static const char *const names[3] = { "volume.u", "volume.v", "volume.z" };
	struct rig_device first;
	double uvz[3][2];

	for (size_t k = 0; k < 3; k++)
		if (!calib_has(&file->numbers, names[k]))
			return fail(file->path, "has no %s, which --calibration-sigma needs: "
			    "calibrate again with this fringecal", names[k]);
	for (size_t k = 0; k < 3; k++)
		if (calib_get(file->path, &file->numbers, names[k], "a range of 2 numbers", 2,
		    uvz[k]) < 0)
			return -1;
	if (!(uvz[2][0] > 0 && uvz[2][1] >= uvz[2][0]))
		return fail(file->path, "volume.z: expected distances, found %g %g", uvz[2][0],
		    uvz[2][1]);
	if (get_device(file, calib_device_entry(&file->numbers, NULL, NULL), &first) < 0)
		return -1;
	rig->points = calib_volume_points(&first.pinhole, uvz, rig->X);
	return rig->points > 3 ? 0 : fail(file->path, "volume: the first camera sees nothing "
	    "there");
}

/* camera, frame: names of devices; NULL: those that calib_load_device() takes. -1 after fail(),
 * also where the file has no covariance. */
static int
rig_covariance_load(const char *path, const char *camera, const char *frame,
    struct rig_covariance *rig)
{
	struct file file = { .path = path };
	int status;

	*rig = (struct rig_covariance){ 0 };
	if (number_file_load(path, &file.numbers) < 0)
		return -1;
	status = get_covariance(&file, rig) < 0 || get_devices(&file, camera, frame, rig) < 0 ||
	    get_volume(&file, rig) < 0 ? -1 : 0;
	number_file_free(&file.numbers);
	return status;
}

/* ---- the parameters that matter, and the motions that they make ---- */

static void
add_parameters(struct point_variance *at, size_t first, size_t count)
{
	for (size_t k = 0; k < count; k++) {
		bool known = false;

		for (size_t i = 0; i < at->n; i++)
			known |= at->parameter[i] == first + k;
		if (!known)
			at->parameter[at->n++] = first + k;
	}
}

/* Of the calibration that calib_load_device() reads by the same names; `kind` is set before. -1
 * after fail(). */
int
point_variance_load(struct point_variance *at, const char *path, const char *camera,
    const char *frame)
{
	struct rig_covariance *rig = &at->rig;
	const struct rig_device *device[3] = { &rig->camera, &rig->projector, &rig->frame };

	if (rig_covariance_load(path, camera, frame, rig) < 0)
		return -1;
	at->parameter = must_alloc(rig->n, sizeof(*at->parameter));
	for (size_t d = 0; d < 2; d++)
		add_parameters(at, device[d]->intrinsics, device[d]->count);
	for (size_t d = 0; d < 3; d++)
		if (device[d]->pose != SIZE_MAX)
			add_parameters(at, device[d]->pose, 6);
	at->C = must_alloc(at->n * at->n, sizeof(*at->C));
	at->motion = must_alloc(6 * at->n, sizeof(*at->motion));
	for (size_t a = 0; a < at->n; a++)
		for (size_t b = 0; b < at->n; b++)
			at->C[a * at->n + b] =
			    rig->C[at->parameter[a] * rig->n + at->parameter[b]];
	for (size_t i = 0; i < rig->points; i++)
		for (size_t k = 0; k < 3; k++)
			at->middle[k] += rig->X[i][k] / (double)rig->points;
	return 0;
}

/* The rigid motions of the volume that the parameters make, by least squares over its points. Comes
 * before the rows' point_variance(). */
static int
point_variance_set_axis(struct point_variance *at, bool along_y)
{
	double A[36] = { 0 }, *J = must_alloc(6 * at->n, sizeof(*J));
	size_t n = at->n;

	at->along_y = along_y;
	memset(at->motion, 0, 6 * n * sizeof(*at->motion));
	for (size_t p = 0; p < at->rig.points; p++) {
		double M[3][6];

		if (!phase2depth_rows()->point_rows(at, at->rig.X[p], J + 3 * n, J))
			continue;
		rotation_motions(at->rig.X[p], at->middle, M);
		for (size_t i = 0; i < 3; i++)
			for (size_t m = 0; m < 6; m++) {
				for (size_t l = 0; l < 6; l++)
					A[6 * m + l] += M[i][m] * M[i][l];
				for (size_t k = 0; k < n; k++)
					at->motion[m * n + k] += M[i][m] * J[i * n + k];
			}
	}
	free(J);
	if (!symmetric_factor(6, A, 1e-14))
		return fail("--calibration-sigma", "camera and projector measure no volume where "
		    "the calibration's board was");
	symmetric_solve(6, A, at->motion, n);
	return 0;
}

void
calib_sigma_free(struct calib_sigma *sigma)
{
	free_all(sigma->of.rig.C, sigma->of.parameter, sigma->of.C, sigma->of.motion, sigma->table);
}

/* ---- the grid ---- */

/* The mean variance of the volume's points. */
static void
set_offset(struct calib_sigma *sigma)
{
	const struct rig_covariance *rig = &sigma->of.rig;
	double *scratch = must_alloc(6 * sigma->of.n, sizeof(*scratch)), sum = 0, n = 0;

	for (size_t p = 0; p < rig->points; p++) {
		double v = phase2depth_rows()->point_variance(&sigma->of, rig->X[p], scratch);

		sum += isnan(v) ? 0 : v;
		n += !isnan(v);
	}
	free(scratch);
	sigma->offset_mm2 = fmax(1e-30, sum / n);
}

/* The distances of the volume from the camera, and half of its depth more on each side. */
static void
set_distances(struct calib_sigma *sigma)
{
	const struct rig_covariance *rig = &sigma->of.rig;
	const struct pinhole *camera = &rig->camera.pinhole;
	double least = INFINITY, most = 0;

	for (size_t p = 0; p < rig->points; p++) {
		const double *R = camera->R, *X = rig->X[p];
		double z = R[6] * X[0] + R[7] * X[1] + R[8] * X[2] + camera->T[2];

		least = fmin(least, z);
		most = fmax(most, z);
	}
	sigma->middle_mm = (least + most) / 2;
	sigma->per_mm = 1 / fmax(fmin(most - least, 0.9 * sigma->middle_mm),
	    0.05 * sigma->middle_mm);
}

static void
make_grid(struct run *run, struct calib_sigma *sigma)
{
	size_t longer = sigma->w > sigma->h ? sigma->w : sigma->h;
	struct calib_sigma_job job = { .sigma = sigma };

	sigma->step_px = (longer + CALIB_SIGMA_CELLS - 1) / CALIB_SIGMA_CELLS;
	sigma->columns = sigma->w / sigma->step_px + 2;
	sigma->rows = sigma->h / sigma->step_px + 2;
	free(sigma->table);
	sigma->table = must_alloc(CALIB_SIGMA_TERMS * sigma->columns * sigma->rows,
	    sizeof(*sigma->table));
	job.scratch = must_alloc(6 * sigma->of.n * sigma->rows, sizeof(*job.scratch));
	run_for(run, sigma->rows, phase2depth_rows()->grid_row, &job);
	free(job.scratch);
}

/* For frames that are triangulated so; kept while their size and place stay. -1 after fail(). */
int
calib_sigma_plan(struct run *run, struct calib_sigma *sigma, const struct triangulation *t)
{
	if (sigma->table && t->w == sigma->w && t->h == sigma->h &&
	    t->along_y == sigma->of.along_y &&
	    !memcmp(t->origin_px, sigma->origin_px, sizeof(t->origin_px)) &&
	    !memcmp(t->bin, sigma->bin, sizeof(t->bin)))
		return 0;
	sigma->w = t->w;
	sigma->h = t->h;
	memcpy(sigma->origin_px, t->origin_px, sizeof(t->origin_px));
	memcpy(sigma->bin, t->bin, sizeof(t->bin));
	set_distances(sigma);
	if (point_variance_set_axis(&sigma->of, t->along_y) < 0)
		return -1;
	set_offset(sigma);
	make_grid(run, sigma);
	return 0;
}
