#include "rig_covariance.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "optics/calib_entries.h"

struct file {
	const char *path;
	struct number_file numbers;
};

/* ---- devices, in the order of their parameters ---- */

/* The length of NAME in an entry devices.NAME.kind; 0: it is another entry. */
static size_t
device_name(const struct number_file_entry *entry)
{
	size_t n = strlen(entry->name);

	return !strncmp(entry->name, "devices.", 8) && n > 13 &&
	    !strcmp(entry->name + n - 5, ".kind") ? n - 13 : 0;
}

static bool
is_device(const struct number_file_entry *entry, const char *name, const char *kind)
{
	size_t n = device_name(entry);

	return n && (!kind || !strcmp(entry->text, kind)) &&
	    (!name || (strlen(name) == n && !strncmp(entry->name + 8, name, n)));
}

static const struct number_file_entry *
entry_of(const struct file *file, const struct number_file_entry *device, const char *what,
    char name[2 * NUMBER_FILE_NAME_SIZE])
{
	snprintf(name, 2 * NUMBER_FILE_NAME_SIZE, "%.*s.%s", (int)strlen(device->name) - 5,
	    device->name, what);
	return number_file_find(&file->numbers, name);
}

/* How many intrinsics a device's model has; 0 where it is not known. */
static size_t
intrinsics_count(const struct file *file, const struct number_file_entry *device)
{
	static const struct { const char *model; size_t count; } models[] = { { "pinhole", 4 },
		{ "opencv4", 8 }, { "opencv5", 9 }, { "opencv8", 12 } };
	char name[2 * NUMBER_FILE_NAME_SIZE];
	const struct number_file_entry *model = entry_of(file, device, "model", name);

	for (size_t i = 0; model && i < sizeof(models) / sizeof(*models); i++)
		if (!strcmp(model->text, models[i].model))
			return models[i].count;
	return 0;
}

/* Where the parameters of the k-th device begin; of the one behind the last, the devices' end. */
static int
place_parameters(const struct file *file, size_t k, struct rig_device *device, size_t *end)
{
	size_t devices = 0, intrinsics = 0;

	*device = (struct rig_device){ .pose = SIZE_MAX };
	for (size_t i = 0; i < file->numbers.entries; i++) {
		const struct number_file_entry *entry = &file->numbers.entry[i];
		size_t count = device_name(entry) ? intrinsics_count(file, entry) : 0;

		if (!device_name(entry))
			continue;
		if (!count)
			return fail(file->path, "%s: its model is not known", entry->name);
		if (devices == k) {
			device->intrinsics = intrinsics;
			device->count = count;
		}
		intrinsics += count;
		devices++;
	}
	if (k > 0)
		device->pose = intrinsics + 6 * (k - 1);
	*end = devices ? intrinsics + 6 * (devices - 1) : 0;
	return 0;
}

/* R and T take a device to the file's frame: the first device's frame becomes the world. */
static int
get_pose(const struct file *file, const struct number_file_entry *device, double R[9], double T[3])
{
	char name[2 * NUMBER_FILE_NAME_SIZE];
	double place[3];

	if (!entry_of(file, device, "T_mm", name))
		entry_of(file, device, "T", name);
	if (calib_get(file->path, &file->numbers, name, "a translation of 3 numbers", 3,
	    place) < 0)
		return -1;
	entry_of(file, device, "R", name);
	if (calib_get_rotation(file->path, &file->numbers, name, R) < 0)
		return -1;
	for (size_t i = 0; i < 3; i++)		/* the inverse */
		for (size_t j = i + 1; j < 3; j++) {
			double swap = R[3 * i + j];

			R[3 * i + j] = R[3 * j + i];
			R[3 * j + i] = swap;
		}
	for (size_t i = 0; i < 3; i++)
		T[i] = -(R[3 * i] * place[0] + R[3 * i + 1] * place[1] + R[3 * i + 2] * place[2]);
	return 0;
}

static int
get_device(const struct file *file, const struct number_file_entry *first,
    const struct number_file_entry *entry, struct rig_device *device)
{
	char K[2 * NUMBER_FILE_NAME_SIZE], lens[2 * NUMBER_FILE_NAME_SIZE];
	struct pinhole *p = &device->pinhole;
	double R[9], T[3];
	size_t k = 0, end;

	for (const struct number_file_entry *at = file->numbers.entry; at < entry; at++)
		k += device_name(at) > 0;
	if (place_parameters(file, k, device, &end) < 0)
		return -1;
	entry_of(file, entry, "K", K);
	entry_of(file, entry, "dist", lens);
	if (calib_get_intrinsics(file->path, &file->numbers, K, lens, "a 3x3 camera matrix", p) < 0
	    || get_pose(file, first, R, T) < 0 || get_pose(file, entry, p->R, p->T) < 0)
		return -1;
	pinhole_between(R, T, p->R, p->T, p->R, p->T);
	pinhole_complete(p);
	return 0;
}

/* The first device of that name and kind, either of which may be NULL. */
static const struct number_file_entry *
find_device(const struct file *file, const char *name, const char *kind)
{
	for (size_t i = 0; i < file->numbers.entries; i++)
		if (is_device(&file->numbers.entry[i], name, kind))
			return &file->numbers.entry[i];
	return NULL;
}

/* The file's own frame counts where a device is named; without a name it is the first camera's. */
static int
get_devices(const struct file *file, const char *camera, const char *frame,
    struct rig_covariance *rig)
{
	const struct number_file_entry *own = number_file_find(&file->numbers, "frame");
	const struct number_file_entry *first = find_device(file, NULL, NULL);
	const struct number_file_entry *seen = find_device(file, camera, "camera");
	const struct number_file_entry *lit = find_device(file, NULL, "projector");
	const struct number_file_entry *world = frame ? find_device(file, frame, NULL) :
	    camera && own ? find_device(file, own->text, NULL) : find_device(file, NULL, "camera");

	if (!seen || !lit || !world)	/* calib_load_device() has said which */
		return fail(file->path, "has no device of that name");
	return get_device(file, first, seen, &rig->camera) < 0 ||
	    get_device(file, first, lit, &rig->projector) < 0 ||
	    get_device(file, first, world, &rig->frame) < 0 ? -1 : 0;
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
	if (!find_device(file, NULL, "camera") || !find_device(file, NULL, "projector"))
		return fail(file->path, "has a covariance, and no camera and projector that it is "
		    "of: fringecal writes both");
	if (place_parameters(file, 0, &unused, &end) < 0)
		return -1;
	rig->n = entry->n == (end + 2) * (end + 2) ? end + 2 : end;	/* the board's bends */
	if (end == 0 || entry->n != rig->n * rig->n)
		return fail(file->path, "covariance: expected %zu x %zu numbers, found %zu", end,
		    end, entry->n);
	rig->C = malloc(entry->n * sizeof(*rig->C));
	return !rig->C ? fail_memory() : calib_get(file->path, &file->numbers, "covariance",
	    "a covariance", entry->n, rig->C);
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
	if (get_device(file, find_device(file, NULL, NULL), find_device(file, NULL, NULL),
	    &first) < 0)
		return -1;
	rig->points = calib_volume_points(&first.pinhole, uvz, rig->X);
	return rig->points > 3 ? 0 : fail(file->path, "volume: the first camera sees nothing "
	    "there");
}

int
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

void
rig_covariance_free(struct rig_covariance *rig)
{
	free(rig->C);
	rig->C = NULL;
}
