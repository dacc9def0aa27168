#include "colour_camera.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "optics/calib_entries.h"
#include "optics/laser.h"
#include "optics/stereo.h"

/* The cameras among the entries devices.NAME.kind: their number, and their names for a message. */
static size_t
list_cameras(const struct number_file *numbers, char text[200], bool *devices)
{
	size_t n = 0, length = 0;

	*devices = false;
	text[0] = '\0';
	for (size_t i = 0; i < numbers->entries; i++) {
		const struct number_file_entry *entry = &numbers->entry[i];
		size_t all = strlen(entry->name);

		if (strncmp(entry->name, "devices.", 8) || all <= 13 ||
		    strcmp(entry->name + all - 5, ".kind"))
			continue;
		*devices = true;
		if (strcmp(entry->text, "camera"))
			continue;
		if (length < 150)
			length += (size_t)snprintf(text + length, 200 - length, "%s%.*s",
			    n ? ", " : "", all - 13 < 40 ? (int)all - 13 : 40, entry->name + 8);
		n++;
	}
	return n;
}

static int
load_side(const char *path, const char *name, struct colour_camera *camera)
{
	struct stereo stereo;
	enum stereo_side side = strcmp(name, "left") ? STEREO_RIGHT : STEREO_LEFT;

	if (stereo_load(path, &stereo) < 0)
		return -1;
	camera->pinhole = stereo.camera[side];
	strcpy(camera->unit, "mm");
	return 0;
}

/* The camera of a file that names only one. */
static int
load_single(const char *path, const char *name, struct colour_camera *camera)
{
	struct laser laser;

	if (laser_load(path, name, &laser) < 0)
		return -1;
	camera->pinhole = laser.camera;
	memcpy(camera->unit, laser.unit, sizeof(camera->unit));
	memcpy(camera->origin_px, laser.origin_px, sizeof(camera->origin_px));
	return 0;
}

int
colour_camera_load(const char *path, const char *name, struct colour_camera *camera)
{
	struct number_file numbers;
	char text[200];
	size_t n;
	bool devices, pair, is_device = false;

	*camera = (struct colour_camera){ 0 };
	if (number_file_load(path, &numbers) < 0)
		return -1;
	n = list_cameras(&numbers, text, &devices);
	for (size_t i = 0; i < numbers.entries && name; i++) {
		char kind[2 * NUMBER_FILE_NAME_SIZE];

		snprintf(kind, sizeof(kind), "devices.%s.kind", name);
		is_device |= !strcmp(numbers.entry[i].name, kind);
	}
	pair = calib_has(&numbers, "K2|M2|cameraMatrix2");
	number_file_free(&numbers);
	if (name && !is_device && pair && (!strcmp(name, "left") || !strcmp(name, "right")))
		return load_side(path, name, camera);
	if (name && !devices)
		return fail(path, pair ? "has no camera %.40s: its two are left and right" :
		    "has no camera %.40s: its only camera has no name", name);
	if (name)
		return load_single(path, name, camera);
	if (n > 1)
		return fail(path, "has %zu cameras, %s: say which one took the picture, by "
		    "--camera", n, text);
	if (n == 0 && pair)
		return fail(path, "has two cameras: say which one took the picture, by --camera "
		    "left or right");
	return load_single(path, n == 1 ? text : NULL, camera);
}
