#include "mesh_distance.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "mesh/mesh.h"

#define BLOCK 1024		/* points of one call */

/* ---- points ---- */

static bool
get_point(const struct frame *frame, const struct mesh *mesh, size_t x, size_t y, double out[3])
{
	bool plain = mesh->point[0] == NO_CHANNEL;

	out[0] = plain ? (double)x * mesh->spacing[0] :
	    (double)frame_floats(frame, mesh->point[0], y)[x];
	out[1] = plain ? (double)y * mesh->spacing[1] :
	    (double)frame_floats(frame, mesh->point[1], y)[x];
	out[2] = (double)frame_floats(frame, mesh->point[2], y)[x];
	return isfinite(out[0]) && isfinite(out[1]) && isfinite(out[2]);
}

int
mesh_points_take(const struct frame *frame, struct mesh_points *points)
{
	const struct frame_head *head = &frame->head;
	const char *unit = meta_get(&head->meta, "length_unit");
	struct mesh mesh;
	size_t most;

	*points = (struct mesh_points){ .low = { INFINITY, INFINITY, INFINITY },
		.high = { -INFINITY, -INFINITY, -INFINITY } };
	if (mesh_channels(&mesh, NULL, head) < 0)
		return -1;
	if (!mesh.scaled)
		return fail(NULL, "%.40s without x and y, whose pixels have no known distance: "
		    "--to wants x y z", head->channel[mesh.point[2]]);
	snprintf(points->unit, sizeof(points->unit), "%.15s", unit ? unit : head->unit);
	points->camera[3] = mesh.point[0] != NO_CHANNEL && !mesh.towards;
	points->camera[2] = points->camera[3] != 0 ? 0 : mesh.towards ? 1 : -1;
	if (size_multiply(head->w, head->h, &most) < 0)
		return -1;
	points->x = calloc(most + 1, sizeof(*points->x));
	points->pixel = calloc(most + 1, sizeof(*points->pixel));
	if (!points->x || !points->pixel)
		return fail_memory();
	for (size_t y = 0; y < head->h; y++)
		for (size_t x = 0; x < head->w; x++) {
			double *p = points->x[points->n];

			if (!get_point(frame, &mesh, x, y, p))
				continue;
			for (int i = 0; i < 3; i++) {
				points->low[i] = fmin(points->low[i], p[i]);
				points->high[i] = fmax(points->high[i], p[i]);
			}
			points->pixel[points->n++] = y * head->w + x;
		}
	return 0;
}

void
mesh_points_free(struct mesh_points *points)
{
	free(points->x);
	free(points->pixel);
	*points = (struct mesh_points){ 0 };
}

/* ---- distances ---- */

struct measuring {
	const struct mesh_points *points;
	const struct nearest *mesh;
	const struct pose *pose;
	double within;
	size_t n, step;			/* of every step-th point */
	struct mesh_distance *out;	/* or */
	struct rigid_pair *pair;
};

static void
measure_block(void *arg, size_t block)
{
	const struct measuring *m = arg;
	size_t end = (block + 1) * BLOCK < m->n ? (block + 1) * BLOCK : m->n;
	size_t from = NEAREST_NONE;	/* points of a frame lie beside the one before, as a rule */

	for (size_t k = block * BLOCK; k < end; k++) {
		struct nearest_point found;
		double x[3];

		pose_apply(m->pose, m->points->x[k * m->step], x);
		nearest_find(m->mesh, x, m->within, from, &found);
		from = found.place;
		if (m->out) {
			m->out[k].far = found.triangle == NEAREST_NONE;
			m->out[k].border = found.border;
			m->out[k].d = found.border ? (float)NAN : (float)found.distance;
			continue;
		}
		m->pair[k].residual = (float)NAN;
		if (found.triangle == NEAREST_NONE || found.border)
			continue;
		m->pair[k].residual = 0;
		for (int i = 0; i < 3; i++) {
			m->pair[k].point[i] = (float)x[i];
			m->pair[k].normal[i] = (float)found.normal[i];
			m->pair[k].residual += (float)(found.normal[i] * (found.point[i] - x[i]));
		}
	}
}

void
mesh_distances(struct run *run, const struct mesh_points *points, const struct nearest *mesh,
    const struct pose *pose, double within, struct mesh_distance *out)
{
	struct measuring measuring = { points, mesh, pose, within, points->n, 1, out, NULL };

	run_for(run, (points->n + BLOCK - 1) / BLOCK, measure_block, &measuring);
}

/* ---- the fit ---- */

#define STEPS 100
#define FEW 5000		/* points of the first steps */
#define PAIRS_LEAST 1000
#define TURN_LEAST 1e-6		/* rad */
#define SHIFT_LEAST 1e-6	/* of the mesh's size */

/* Steps on n points, every step-th. 1: at rest. */
static int
fit_some(struct run *run, struct measuring *measuring, double size, struct mesh_fit *fit)
{
	struct rigid_freedom freedom;
	struct rigid_step step;

	for (; fit->steps < STEPS; fit->steps++) {
		run_for(run, (measuring->n + BLOCK - 1) / BLOCK, measure_block, measuring);
		fit->pairs = 0;
		for (size_t k = 0; k < measuring->n; k++)
			fit->pairs += !isnan(measuring->pair[k].residual);
		if (fit->pairs < PAIRS_LEAST && (measuring->step == 1 || fit->pairs < 6))
			return fail("--icp", "%zu points lie on the mesh: it needs %d", fit->pairs,
			    PAIRS_LEAST);
		if (rigid_step_solve(run, measuring->pair, measuring->n, measuring->within,
		    &step) < 0 || rigid_step_freedom(run, measuring->pair, NULL, measuring->n,
		    &step, &freedom) < 0)
			return -1;
		if (freedom.free)
			return fail("--icp", "%s is free: the mesh does not hold the points there",
			    freedom.motion);
		fit->used = step.used;
		fit->rms = step.rms;
		fit->cut = 3 * step.sigma;
		pose_compose(&step.motion, &fit->pose, &fit->pose);
		pose_orthonormalize(&fit->pose);
		if (step.turn_rad < TURN_LEAST && step.shift < SHIFT_LEAST * size)
			return 1;
	}
	return 0;
}

int
mesh_fit_points(struct run *run, const struct mesh_points *points, const struct nearest *mesh,
    double within, double size, struct mesh_fit *fit)
{
	size_t steps[2] = { points->n / FEW + 1, 1 };
	struct measuring measuring = { points, mesh, &fit->pose, within, 0, 1, NULL, NULL };
	int status = 0;

	*fit = (struct mesh_fit){ .pose = pose_identity };
	measuring.pair = calloc(points->n + 1, sizeof(*measuring.pair));
	if (!measuring.pair)
		return fail_memory();
	for (size_t k = 0; k < 2 && status >= 0; k++) {
		measuring.step = steps[k];
		measuring.n = (points->n + steps[k] - 1) / steps[k];
		status = fit_some(run, &measuring, size, fit);
	}
	free(measuring.pair);
	if (status == 0)
		return fail("--icp", "has found no rest after %d steps: the points are too far "
		    "from where they belong, or belong to another part", STEPS);
	return status < 0 ? -1 : 0;
}
