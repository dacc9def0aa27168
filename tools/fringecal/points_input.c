#include "points_input.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "corners.h"
#include "fringe/manifest.h"

/* --cameras as the folders of the first pose have it; without folders it stays as it is. */
static int
name_cameras(struct points_input *input, const char *pose, struct parameters *p)
{
	char **name;
	size_t n, length = 1;
	int status = pose_captures_cameras(pose, &name, &n);

	for (size_t i = 0; i < n; i++)
		length += strlen(name[i]) + 1;
	input->cameras = status == 0 ? calloc(length, 1) : NULL;
	if (status == 0 && !input->cameras)
		status = fail_memory();
	for (size_t i = 0; i < n && status == 0; i++) {
		strcat(input->cameras, i ? "," : "");
		strcat(input->cameras, name[i]);
	}
	for (size_t i = 0; i < n; i++)
		free(name[i]);
	free(name);
	if (status == 0 && n)
		p->cameras = input->cameras;
	return status;
}

int
points_input_check(struct points_input *input, const struct run *run, struct parameters *p)
{
	size_t of[2] = { p->phase[0].n, p->phase[1].n };

	if (of[0] != of[1])
		return fail_usage(of[0] > of[1] ? "--phase-x" : "--phase-y", "is given %zu times, "
		    "and --phase-%c %zu times: a projector's points need both, once for each "
		    "camera", of[0] > of[1] ? of[0] : of[1], of[0] > of[1] ? 'y' : 'x',
		    of[0] > of[1] ? of[1] : of[0]);
	if (of[0] && p->projector_points)
		return fail_usage("--projector-points", "and --phase-x both give the projector's "
		    "points");
	if (!p->poses && (p->manifest || p->phasewrap || p->unwrap2f))
		return fail_usage(p->manifest ? "--manifest" : p->phasewrap ? "--phasewrap" :
		    "--unwrap2f", "is only for --poses");
	if (!p->poses)
		return 0;
	if (of[0] || p->projector_points)
		return fail_usage("--poses", "finds the projector's points by itself: leave out %s",
		    of[0] ? "--phase-x and --phase-y" : "--projector-points");
	if (!p->board)
		return fail_usage("--poses", "wants --board WxH,MM");
	if (!run->operands)
		return fail_usage("--poses", "wants the folders of the poses");
	return p->cameras ? 0 : name_cameras(input, run->operand[0], p);
}

static int
read_phases(struct phase_views *views, const struct parameters *p, struct calib_problem *problem,
    size_t cameras, size_t poses)
{
	if (p->phase[0].n != cameras)
		return fail_usage("--phase-x", "is given %zu times, and there are %zu cameras",
		    p->phase[0].n, cameras);
	for (size_t c = 0; c < cameras; c++) {
		const char *const path[2] = { p->phase[0].v[c], p->phase[1].v[c] };

		if (phase_views_read(views, problem, cameras, c, poses, path) < 0)
			return -1;
	}
	return phase_views_finish(views, NULL);
}

static int
read_tables(struct points_input *input, const struct run *run, const struct parameters *p,
    struct calib_problem *problem)
{
	static char standard_input[] = "-", *const standard[] = { standard_input };
	char *const *operand = run->operands ? run->operand : standard;
	size_t operands = run->operands ? run->operands : 1, cameras = 0, poses, first = 0;

	for (size_t d = 0; d < problem->devices; d++)
		cameras += problem->device[d].kind == CALIB_CAMERA;
	if (cameras > 1 && operands != cameras)
		return fail_usage(NULL, "wants one file of corners for each of %zu cameras, not "
		    "%zu", cameras, operands);
	for (size_t d = 0; d < cameras; d++) {
		if (corners_read(problem, d, d, operand + (cameras > 1 ? d : 0),
		    cameras > 1 ? 1 : operands, &poses) < 0)
			return -1;
		if (d && poses != first)
			return fail(NULL, "%s has %zu poses and %s %zu: one table for each pose, "
			    "an empty one where the board is not seen", problem->device[0].name,
			    first, problem->device[d].name, poses);
		first = poses;
	}
	if (p->phase[0].n)
		return read_phases(&input->views, p, problem, cameras, first);
	if (p->projector_points) {
		char *const path[] = { (char *)p->projector_points };

		if (corners_read(problem, cameras, 0, path, 1, &poses) < 0)
			return -1;
		if (poses != first)
			return fail(p->projector_points, "has %zu poses and %s %zu", poses,
			    problem->device[0].name, first);
	}
	return 0;
}

/* The manifest of the patterns says how large the projector is, too. */
static int
read_patterns_size(const struct parameters *p, struct calib_problem *problem)
{
	struct calib_device *projector = &problem->device[problem->devices - 1];
	struct manifest manifest;
	size_t size[2];

	if (!p->manifest || projector->kind != CALIB_PROJECTOR)
		return 0;
	if (manifest_load(p->manifest, &manifest) < 0)
		return -1;
	memcpy(size, manifest.projector_px, sizeof(size));
	manifest_free(&manifest);
	if (size[0] && !projector->w) {
		projector->w = size[0];
		projector->h = size[1];
	}
	return !size[0] || (size[0] == projector->w && size[1] == projector->h) ? 0 :
	    fail(p->manifest, "is of patterns for a projector of %zux%zu px, not %zux%zu", size[0],
	    size[1], projector->w, projector->h);
}

static int
read_poses(struct points_input *input, const struct run *run, const struct parameters *p,
    struct calib_problem *problem)
{
	struct pose_captures *captures = &input->captures;

	captures->folder = run->operand;
	captures->folders = run->operands;
	captures->manifest = p->manifest;
	captures->wrap = p->phasewrap;
	captures->unwrap = p->unwrap2f;
	captures->cameras_named = p->cameras;
	captures->verbose = run->verbose;
	captures->quiet = run->quiet;
	captures->find.sigma_px = NAN;
	if (read_patterns_size(p, problem) < 0 ||
	    board_parse("--board", p->board, p->kind < 0 ? BOARD_CHESS : (enum board_kind)p->kind,
	    &captures->board) < 0 || pose_captures_read(captures, problem, &input->views) < 0)
		return -1;
	return phase_views_finish(&input->views, (const char *const *)captures->pose_name);
}

int
points_input_read(struct points_input *input, const struct run *run, const struct parameters *p,
    struct calib_problem *problem)
{
	return p->poses ? read_poses(input, run, p, problem) :
	    read_tables(input, run, p, problem);
}

void
points_input_free(struct points_input *input)
{
	pose_captures_free(&input->captures);
	free(input->cameras);
}
