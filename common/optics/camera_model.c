#define _GNU_SOURCE
#include "optics/camera_model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "optics/calib.h"
#include "optics/number_parser.h"

#define SUFFIX ".cameramodel"
#define MOST 32			/* models */
#define FILE_LIMIT ((size_t)64 << 20)	/* mrcal keeps its inputs in them */
#define NAME_SIZE 32
#define MM_PER_M 1000

struct model {
	char name[NAME_SIZE];
	bool projector;
	double size[2], core[4], lens[12];
	size_t lens_n;
	double R[9], T[3];	/* from the models' common frame to the device, mm */
};

struct rig {
	struct model model[MOST];
	size_t n;
	struct number_parser out;
};

bool
camera_model_is_named(const char *paths)
{
	size_t n = strlen(paths), suffix = strlen(SUFFIX);

	return n > suffix && !strcmp(paths + n - suffix, SUFFIX);
}

/* ---- a model ---- */

/* v[n] of one of two names. */
static int
get(const char *path, const struct number_file *file, const char *name, const char *other,
    const char *what, size_t n, double *v)
{
	const struct number_file_entry *entry = number_file_find(file, name);

	entry = entry ? entry : number_file_find(file, other);
	if (!entry || entry->n != n)
		return fail(path, "expected %s of %s, found %s%zu numbers", what, name,
		    entry ? "" : "no entry and ", entry ? entry->n : (size_t)0);
	for (size_t i = 0; i < n; i++) {
		v[i] = file->v[entry->first + i];
		if (!isfinite(v[i]))
			return fail(path, "%s: expected numbers, found %g", name, v[i]);
	}
	return 0;
}

static int
get_lens(const char *path, const struct number_file *file, struct model *model)
{
	static const struct {
		const char *name;
		size_t lens;
	} known[] = { { "LENSMODEL_PINHOLE", 0 }, { "LENSMODEL_OPENCV4", 4 },
		{ "LENSMODEL_OPENCV5", 5 }, { "LENSMODEL_OPENCV8", 8 },
		{ "LENSMODEL_OPENCV12", 12 } };
	const struct number_file_entry *entry = number_file_find(file, "lensmodel");
	double v[16];

	if (!entry || entry->n)
		return fail(path, "is no camera model: expected lensmodel, found none among its "
		    "%zu entries", file->entries);
	for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++) {
		if (strcmp(entry->text, known[k].name))
			continue;
		if (get(path, file, "intrinsics", "", "the numbers", 4 + known[k].lens, v) < 0)
			return -1;
		memcpy(model->core, v, sizeof(model->core));
		memcpy(model->lens, v + 4, known[k].lens * sizeof(*v));
		model->lens_n = known[k].lens;
		return v[0] > 0 && v[1] > 0 ? 0 : fail(path, "intrinsics: expected focal lengths, "
		    "found %g %g", v[0], v[1]);
	}
	return fail(path, "lensmodel: expected LENSMODEL_PINHOLE or _OPENCV4, 5, 8 or 12, found %s "
	    "(mrcal-convert-lensmodel makes them of others)", entry->text[0] ? entry->text :
	    "a longer word");
}

/* A rotation vector's matrix. */
static void
rotate(const double r[3], double R[9])
{
	double angle = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]), c = cos(angle);
	double s = angle > 0 ? sin(angle) / angle : 1, half = sin(angle / 2);
	double w = angle > 0 ? 2 * half * half / (angle * angle) : 0.5;

	for (size_t i = 0; i < 3; i++)
		for (size_t j = 0; j < 3; j++)
			R[3 * i + j] = (i == j ? c : 0) + w * r[i] * r[j];
	for (size_t i = 0; i < 3; i++) {
		size_t j = (i + 1) % 3, k = (i + 2) % 3;

		R[3 * j + i] += s * r[k];
		R[3 * i + j] -= s * r[k];
	}
}

static int
get_name(const char *path, struct model *model)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	size_t n = strlen(name) - strlen(SUFFIX);

	if (n == 0 || n >= sizeof(model->name))
		return fail(path, "names its device by more than %d letters, or by none",
		    NAME_SIZE - 1);
	memcpy(model->name, name, n);
	return 0;
}

static int
get_model(const char *path, const struct number_file *file, struct model *model)
{
	const struct number_file_entry *kind = number_file_find(file, "kind");
	double rt[6] = { 0 };

	if (get_name(path, model) < 0 || get_lens(path, file, model) < 0 ||
	    get(path, file, "imagersize", "", "w h", 2, model->size) < 0 ||
	    get(path, file, "extrinsics", "rt_cam_ref", "rotation and translation", 6, rt) < 0)
		return -1;
	if (!(model->size[0] >= 1 && model->size[1] >= 1))
		return fail(path, "imagersize: expected w h, found %g %g", model->size[0],
		    model->size[1]);
	if (kind && strcmp(kind->text, "camera") && strcmp(kind->text, "projector"))
		return fail(path, "kind: expected camera or projector, found '%s'", kind->text);
	model->projector = kind ? !strcmp(kind->text, "projector") :
	    strcasestr(model->name, "proj") != NULL;
	rotate(rt, model->R);
	for (size_t i = 0; i < 3; i++)
		model->T[i] = MM_PER_M * rt[3 + i];
	return 0;
}

static int
load_one(struct rig *rig, const char *path)
{
	struct model *model = &rig->model[rig->n];
	struct number_file file;
	int status;

	if (rig->n == MOST)
		return fail(path, "more than %d camera models", MOST);
	if (!camera_model_is_named(path))
		return fail(path, "is no camera model by its name (" SUFFIX "), as others of the "
		    "list are");
	if (number_file_load_syntax(path, FILE_LIMIT, &file) < 0)
		return -1;
	*model = (struct model){ 0 };
	status = get_model(path, &file, model);
	number_file_free(&file);
	for (size_t i = 0; i < rig->n && status == 0; i++)
		if (!strcmp(rig->model[i].name, model->name))
			status = fail(path, "names %s a second time", rig->model[i].name);
	rig->n += status == 0;
	return status;
}

/* ---- the entries ---- */

static int
put(struct rig *rig, const char *before, const char *name, const double *v, size_t n)
{
	char whole[2 * NUMBER_FILE_NAME_SIZE];
	int status;

	snprintf(whole, sizeof(whole), "%s%s", before, name);
	status = number_parser_open(&rig->out, whole);
	for (size_t i = 0; i < n && status == 0; i++)
		status = number_parser_add(&rig->out, whole, v[i]);
	return status;
}

static int
put_text(struct rig *rig, const char *before, const char *name, const char *text)
{
	char whole[2 * NUMBER_FILE_NAME_SIZE];

	snprintf(whole, sizeof(whole), "%s%s", before, name);
	return number_parser_text(&rig->out, whole, text, strlen(text));
}

static int
put_lens(struct rig *rig, const char *before, const char *K_name, const char *lens_name,
    const struct model *model)
{
	const double *c = model->core, K[9] = { c[0], 0, c[2], 0, c[1], c[3], 0, 0, 1 };

	return put(rig, before, K_name, K, 9) < 0 ? -1 :
	    put(rig, before, lens_name, model->lens, model->lens_n ? model->lens_n : 4);
}

/* From a's frame to b's. */
static int
put_pose(struct rig *rig, const char *R_name, const char *T_name, const struct model *a,
    const struct model *b)
{
	double R[9], T[3];

	pinhole_between(a->R, a->T, b->R, b->T, R, T);
	return put(rig, "", R_name, R, 9) < 0 ? -1 : put(rig, "", T_name, T, 3);
}

/* devices.NAME; R and T take its points to the common frame. */
static int
put_device(struct rig *rig, const struct model *model)
{
	char before[NAME_SIZE + 16];
	double R[9], T[3] = { 0 };

	for (size_t i = 0; i < 3; i++)
		for (size_t j = 0; j < 3; j++) {
			R[3 * i + j] = model->R[3 * j + i];
			T[i] -= model->R[3 * j + i] * model->T[j];
		}
	snprintf(before, sizeof(before), "devices.%s.", model->name);
	return put_text(rig, before, "kind", model->projector ? "projector" : "camera") < 0 ||
	    put(rig, before, "size", model->size, 2) < 0 ||
	    put_lens(rig, before, "K", "dist", model) < 0 || put(rig, before, "R", R, 9) < 0 ||
	    put(rig, before, "T_mm", T, 3) < 0 ? -1 : 0;
}

static int
put_rig(struct rig *rig)
{
	const struct model *camera[2] = { NULL, NULL }, *projector = NULL;

	for (size_t i = rig->n; i-- > 0;)
		if (rig->model[i].projector) {
			projector = &rig->model[i];
		} else {
			camera[1] = camera[0];
			camera[0] = &rig->model[i];
		}
	if (put_text(rig, "", "unit", "mm") < 0)
		return -1;
	if (camera[0] && (put(rig, "", "camera_size", camera[0]->size, 2) < 0 ||
	    put_lens(rig, "", "camera_K", "camera_dist", camera[0]) < 0))
		return -1;
	if (projector && (put(rig, "", "projector_size", projector->size, 2) < 0 ||
	    put_lens(rig, "", "projector_K", "projector_dist", projector) < 0))
		return -1;
	if (camera[0] && projector && put_pose(rig, "R_cam_to_proj", "T_cam_to_proj_mm", camera[0],
	    projector) < 0)
		return -1;
	if (camera[1] && (put(rig, "", "image_size", camera[0]->size, 2) < 0 ||
	    put_lens(rig, "", "K1", "d1", camera[0]) < 0 ||
	    put_lens(rig, "", "K2", "d2", camera[1]) < 0 ||
	    put_pose(rig, "R", "T", camera[0], camera[1]) < 0))
		return -1;
	for (size_t i = 0; i < rig->n; i++)
		if (put_device(rig, &rig->model[i]) < 0)
			return -1;
	return 0;
}

int
camera_model_load(const char *paths, struct number_file *out)
{
	struct rig *rig = calloc(1, sizeof(*rig));
	char *copy = strdup(paths), *rest = copy, *path;
	int status = rig && copy ? 0 : fail_memory();

	memset(out, 0, sizeof(*out));
	while (status == 0 && (path = strsep(&rest, ",")))
		status = load_one(rig, path);
	if (status == 0) {
		rig->out = (struct number_parser){ .path = paths, .start = "", .at = "", .end = "",
			.file = out };
		status = put_rig(rig);
	}
	if (status < 0)
		number_file_free(out);
	free(copy);
	free(rig);
	return status;
}
