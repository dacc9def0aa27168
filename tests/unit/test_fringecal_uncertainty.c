/*
 * What a covariance means in pixels and in space, against draws of parameters from it: what they do
 * to projected and to triangulated points, before and after a rigid fit.
 */
#include <math.h>
#include <stdlib.h>

#include "frames.h"

#include "../../tools/fringecal/calib_problem.c"
#include "../../tools/fringecal/uncertainty.c"

#define DRAWS 400

/* The pinhole alone: what calib_project() is without a lens. */
void
calib_project(const struct calib_problem *problem, const struct calib_solution *solution,
    size_t device, const double X[3], double uv[2], double *by_point, double *by_intrinsics)
{
	const double *in = solution->intrinsics[device], *R = solution->device[device].R;
	double x[3], f[2] = { in[0], in[1] };

	(void)problem;
	calib_pose_apply(&solution->device[device], X, x);
	for (size_t i = 0; i < 2; i++) {
		uv[i] = f[i] * x[i] / x[2] + in[2 + i];
		for (size_t j = 0; by_point && j < 3; j++)
			by_point[3 * i + j] = device > 0 ?
			    f[i] * (R[3 * i + j] - R[6 + j] * x[i] / x[2]) / x[2] :
			    f[i] * ((i == j) - (j == 2) * x[i] / x[2]) / x[2];
		for (size_t j = 0; by_intrinsics && j < 4; j++)
			by_intrinsics[4 * i + j] = j == i ? x[i] / x[2] : j == 2 + i;
	}
}

static double
normal(uint64_t *seed)
{
	double u[2];

	for (size_t k = 0; k < 2; k++) {
		*seed = *seed * 6364136223846793005u + 1442695040888963407u;
		u[k] = (double)(*seed >> 11) * 0x1p-53;
	}
	return sqrt(-2 * log(1 - u[0])) * cos(2 * M_PI * u[1]);
}

static void
rotation(const double r[3], double R[9])
{
	double angle = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]), a, b;

	a = angle > 0 ? sin(angle) / angle : 1;
	b = angle > 0 ? (1 - cos(angle)) / (angle * angle) : 0.5;
	for (size_t i = 0; i < 3; i++)
		for (size_t j = 0; j < 3; j++)
			R[3 * i + j] = (i == j) * cos(angle) + b * r[i] * r[j] + (i == j ? 0 :
			    (j == (i + 1) % 3 ? -1 : 1) * a * r[3 - i - j]);
}

/* A camera and a projector beside it that look at a board in four poses. */
struct rig {
	struct calib_problem problem;
	struct calib_solution solution;
	double r[3];		/* turn of the projector */
	double sd[14];		/* of the parameters, which are independent */
};

static void
make_rig(struct rig *rig)
{
	static const double sd[14] = { 1.5, 1.2, 2, 1, 2, 1, 1.5, 2, 2e-4, 5e-4, 1e-4, 0.05, 0.03,
		0.2 };
	struct calib_device camera = { "camera", CALIB_CAMERA, CALIB_PINHOLE, 1280, 1024 };
	struct calib_device projector = { "projector", CALIB_PROJECTOR, CALIB_PINHOLE, 1920, 1080 };
	struct calib_solution *s = &rig->solution;

	*rig = (struct rig){ .r = { 0.02, -0.3, 0.01 } };
	rig->problem.board = (struct calib_board){ .w = 11, .h = 8,
		.spacing = 15, .unit = "mm", .turns = 1 };
	calib_problem_add_device(&rig->problem, &camera);
	calib_problem_add_device(&rig->problem, &projector);
	s->devices = 2;
	s->poses = 4;
	s->parameters = calib_parameters(&rig->problem);
	assert_int_equal(s->parameters, 14);
	s->intrinsics = calloc(2, sizeof(*s->intrinsics));
	s->device = calloc(2, sizeof(*s->device));
	s->board = calloc(4, sizeof(*s->board));
	s->covariance = calloc(14 * 14, sizeof(*s->covariance));
	assert_true(s->intrinsics && s->device && s->board && s->covariance);
	for (size_t i = 0; i < 14; i++) {
		rig->sd[i] = sd[i];
		s->covariance[15 * i] = sd[i] * sd[i];
	}
	memcpy(s->intrinsics[0], (double[]){ 2100, 2105, 640, 512 }, 4 * sizeof(double));
	memcpy(s->intrinsics[1], (double[]){ 2000, 1995, 960, 700 }, 4 * sizeof(double));
	for (size_t k = 0; k < 3; k++)
		s->device[0].R[4 * k] = 1;
	rotation(rig->r, s->device[1].R);
	memcpy(s->device[1].T, (double[]){ 180, -10, 25 }, 3 * sizeof(double));
	for (size_t p = 0; p < 4; p++) {
		double turn[3] = { 0.2 * cos(1.0 + (double)p), 0.3 * sin((double)p), 0.1 };

		rotation(turn, s->board[p].R);
		memcpy(s->board[p].T, (double[]){ -90 + 10 * (double)p, -60, 560 + 30 * (double)p },
		    3 * sizeof(double));
		for (size_t d = 0; d < 2; d++) {
			struct calib_point point[88];

			for (int k = 0; k < 88; k++) {
				double X[3], uv[2];

				calib_corner(&rig->problem, s, p, k % 11, k / 11, X);
				calib_project(&rig->problem, s, d, X, uv, NULL, NULL);
				point[k] = (struct calib_point){ uv[0], uv[1], { 0.05, 0.05 },
					k % 11, k / 11 };
			}
			calib_problem_add_view(&rig->problem, d, p, 0, point, 88);
		}
	}
}

static void
free_rig(struct rig *rig)
{
	free(rig->solution.intrinsics);
	free(rig->solution.device);
	free(rig->solution.board);
	free(rig->solution.covariance);
	calib_problem_free(&rig->problem);
}

/* Another rig, its parameters drawn; shares the problem and the boards. */
static void
draw(const struct rig *rig, uint64_t *seed, double (*intrinsics)[CALIB_INTRINSICS],
    struct calib_pose *device, struct calib_solution *drawn)
{
	double r[3];

	*drawn = rig->solution;
	drawn->intrinsics = intrinsics;
	drawn->device = device;
	for (size_t d = 0; d < 2; d++) {
		device[d] = rig->solution.device[d];
		for (size_t k = 0; k < 4; k++)
			intrinsics[d][k] = rig->solution.intrinsics[d][k] +
			    rig->sd[4 * d + k] * normal(seed);
	}
	for (size_t k = 0; k < 3; k++) {
		r[k] = rig->r[k] + rig->sd[8 + k] * normal(seed);
		device[1].T[k] += rig->sd[11 + k] * normal(seed);
	}
	rotation(r, device[1].R);
}

/* The point whose camera pixel and projector column are those of X in the true rig. */
static void
triangulate(const struct rig *rig, const struct calib_solution *drawn, const double X[3],
    double out[3])
{
	memcpy(out, X, 3 * sizeof(*out));
	for (size_t round = 0; round < 4; round++) {
		double A[9] = { 0 }, b[3] = { 0 };

		for (size_t d = 0; d < 2; d++) {
			double want[2], uv[2], D[6];

			calib_project(&rig->problem, &rig->solution, d, X, want, NULL, NULL);
			calib_project(&rig->problem, drawn, d, out, uv, D, NULL);
			for (size_t k = 0; k < 2 - d; k++)
				for (size_t i = 0; i < 3; i++) {
					b[i] += D[3 * k + i] * (want[k] - uv[k]);
					for (size_t j = 0; j < 3; j++)
						A[3 * i + j] += D[3 * k + i] * D[3 * k + j];
				}
		}
		assert_true(symmetric_factor(3, A, 1e-14));
		symmetric_solve(3, A, b, 1);
		for (size_t i = 0; i < 3; i++)
			out[i] += b[i];
	}
}

/* What is left of n rows of errors e when the motions M are fitted. */
static double
after_fit(size_t n, double (*M)[6], const double *e)
{
	double A[36] = { 0 }, b[6] = { 0 }, sum = 0;

	for (size_t r = 0; r < n; r++)
		for (size_t i = 0; i < 6; i++) {
			b[i] += M[r][i] * e[r];
			for (size_t j = 0; j < 6; j++)
				A[6 * i + j] += M[r][i] * M[r][j];
		}
	assert_true(symmetric_factor(6, A, 1e-14));
	symmetric_solve(6, A, b, 1);
	for (size_t r = 0; r < n; r++) {
		double left = e[r];

		for (size_t i = 0; i < 6; i++)
			left -= M[r][i] * b[i];
		sum += left * left;
	}
	return sum;
}

static void
points_in_space(void **state)
{
	static const double middle[3] = { 0, 0, 600 };
	struct uncertainty_volume volume;
	struct rig rig;
	uint64_t seed = 5;
	double all = 0, rigid = 0;

	(void)state;
	make_rig(&rig);
	assert_int_equal(uncertainty_of_volume(&rig.problem, &rig.solution, &volume), 0);
	assert_int_equal(volume.n, CALIB_VOLUME_POINTS);
	for (size_t k = 0; k < DRAWS; k++) {
		double e[3 * CALIB_VOLUME_POINTS], M[3 * CALIB_VOLUME_POINTS][6];
		double intrinsics[2][CALIB_INTRINSICS];
		struct calib_pose device[2];
		struct calib_solution drawn;

		draw(&rig, &seed, intrinsics, device, &drawn);
		for (size_t i = 0; i < volume.n; i++) {
			double out[3];

			triangulate(&rig, &drawn, volume.X[i], out);
			rotation_motions(volume.X[i], middle, M + 3 * i);
			for (size_t j = 0; j < 3; j++) {
				e[3 * i + j] = out[j] - volume.X[i][j];
				all += e[3 * i + j] * e[3 * i + j];
			}
		}
		rigid += after_fit(3 * volume.n, M, e);
	}
	all = sqrt(all / (DRAWS * (double)volume.n));
	rigid = sqrt(rigid / (DRAWS * (double)volume.n));
	print_message("drawn %.4f and %.4f mm, predicted %.4f and %.4f mm\n", all, rigid,
	    volume.rms_all, volume.rms);
	assert_true(fabs(all / volume.rms_all - 1) < 0.1);
	assert_true(fabs(rigid / volume.rms - 1) < 0.1);
	assert_true(rigid < 0.2 * all);
	free_rig(&rig);
}

static void
pixels(void **state)
{
	static double frame[2][4][2] = { { { -1, -1 }, { 1280, -1 }, { 1280, 1024 }, { -1, 1024 } },
		{ { -1, -1 }, { 1920, -1 }, { 1920, 1080 }, { -1, 1080 } } };
	const struct diagnosis_device hulls[2] = { { frame[0], 4, 1, 20 }, { frame[1], 4, 1, 20 } };
	struct uncertainty_map *map;
	struct pool pool = { 0 };
	struct rig rig;
	uint64_t seed = 9;
	double all[2] = { 0 }, middle[3] = { 0, 0, 600 }, rigid = 0, predicted = 0;
	size_t n = 0;

	(void)state;
	make_rig(&rig);
	assert_int_equal(uncertainty_maps(&rig.problem, &rig.solution, hulls, 9, &pool, &map),
	    0);
	for (size_t k = 0; k < DRAWS; k++) {
		static double e[500], M[500][6];
		double intrinsics[2][CALIB_INTRINSICS];
		struct calib_pose device[2];
		struct calib_solution drawn;

		draw(&rig, &seed, intrinsics, device, &drawn);
		n = 0;
		for (size_t d = 0; d < 2; d++) {
			struct pinhole pinhole;

			set_pinhole(&pinhole, &rig.problem.device[d], rig.solution.intrinsics[d]);
			for (size_t i = 0; i < map[d].columns * map[d].rows; i++) {
				double w = (double)rig.problem.device[d].w - 1, X[3], uv[2], D[6];
				double h = (double)rig.problem.device[d].h - 1, m[3][6];
				double at[2] = { w * (double)(i % map[d].columns) / 8, h *
				    (double)(i / map[d].columns) / ((double)map[d].rows - 1) };

				assert_true(point_seen(&rig.solution, &pinhole, d, at,
				    map[d].distance, X));
				calib_project(&rig.problem, &rig.solution, d, X, uv, D, NULL);
				assert_true(fabs(uv[0] - at[0]) < 4.1e-13 &&
				    fabs(uv[1] - at[1]) < 4.1e-13);
				calib_project(&rig.problem, &drawn, d, X, uv, NULL, NULL);
				rotation_motions(X, middle, m);
				for (size_t c = 0; c < 2; c++, n++) {
					e[n] = uv[c] - at[c];
					all[d] += e[n] * e[n] / (2 * DRAWS *
					    (double)(map[d].columns * map[d].rows));
					for (size_t j = 0; j < 6; j++)
						M[n][j] = D[3 * c] * m[0][j] + D[3 * c + 1] *
						    m[1][j] + D[3 * c + 2] * m[2][j];
				}
			}
		}
		rigid += after_fit(n, M, e) / ((double)n * DRAWS);
	}
	for (size_t d = 0; d < 2; d++) {
		print_message("device %zu: drawn %.3f px, predicted %.3f px\n", d, sqrt(all[d]),
		    map[d].rms_all);
		assert_true(fabs(sqrt(all[d]) / map[d].rms_all - 1) < 0.1);
		predicted += map[d].rms * map[d].rms * 2 * (double)(map[d].columns * map[d].rows) /
		    (double)n;
	}
	print_message("without motions: drawn %.3f px, predicted %.3f px\n", sqrt(rigid),
	    sqrt(predicted));
	assert_true(fabs(sqrt(rigid / predicted) - 1) < 0.1);
	pool_free(&pool);
	free_rig(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(points_in_space),
		cmocka_unit_test(pixels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
