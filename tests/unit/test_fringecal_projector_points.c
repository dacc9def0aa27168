/*
 * Projector coordinates at a board's corners against those of known surfaces: pictures of a corner
 * between black and white squares, blurred by a lens and noisy, under fringes whose phase is that
 * of a board seen in perspective.
 */
#include <math.h>
#include <stdlib.h>

#include "frames.h"

#include "../../tools/fringecal/fringecal.h"

#define SIZE 41			/* pixels a side of the picture of a corner */
#define FINE 4			/* samples a pixel, along each axis */
#define N (SIZE * FINE)
#define PERIOD 18.0
#define STEPS 9
#define BLUR 0.7

static uint64_t
scramble(uint64_t v)
{
	v = (v ^ (v >> 31)) * 0x9e3779b97f4a7c15u;
	v = (v ^ (v >> 29)) * 0xbf58476d1ce4e5b9u;
	return v ^ (v >> 32);
}

static double
uniform(uint64_t *seed)
{
	*seed += 0x632be59bd9b4e019u;
	return (double)(scramble(*seed) >> 11) * 0x1p-53;
}

static double
normal(uint64_t *seed)
{
	double r = sqrt(-2 * log(1 - uniform(seed)));

	return r * cos(2 * M_PI * uniform(seed));
}

/* A corner whose edges lie at these angles, and the homography that gives the projector's
 * pixels. */
struct test_corner {
	double at[2], edge[2], H[2][3], h[2];
	bool circle;
};

static struct test_corner
random_corner(uint64_t *seed)
{
	struct test_corner c = { .circle = false };

	for (size_t i = 0; i < 2; i++) {
		c.at[i] = SIZE / 2 + uniform(seed) - 0.5;
		c.h[i] = 3e-4 * (uniform(seed) - 0.5);
	}
	c.edge[0] = M_PI * uniform(seed);
	c.edge[1] = c.edge[0] + (50 + 40 * uniform(seed)) * M_PI / 180;
	for (size_t i = 0; i < 2; i++)
		for (size_t j = 0; j < 3; j++)
			c.H[i][j] = j == 2 ? 900 + 40 * uniform(seed) :
			    (i == j ? 0.95 : 0) + 0.2 * (uniform(seed) - 0.5);
	return c;
}

static double
truth(const struct test_corner *c, size_t axis, double x, double y)
{
	double dx = x - c->at[0], dy = y - c->at[1];

	return (c->H[axis][0] * dx + c->H[axis][1] * dy + c->H[axis][2]) /
	    (1 + c->h[0] * dx + c->h[1] * dy);
}

static double
albedo(const struct test_corner *c, double x, double y)
{
	double dx = x - c->at[0], dy = y - c->at[1];
	double a = cos(c->edge[0]) * dy - sin(c->edge[0]) * dx;
	double b = cos(c->edge[1]) * dy - sin(c->edge[1]) * dx;

	if (c->circle)
		return dx * dx + dy * dy < 12 * 12 ? 0.12 : 1;
	return (a > 0) == (b > 0) ? 0.12 : 1;
}

/* v blurred by a Gaussian of BLUR pixels and integrated over a pixel, along lines of this step. */
static void
blur(double *v, size_t step, size_t across)
{
	enum { R = 4 * FINE };
	double kernel[2 * R + 1], sum = 0, line[N];

	for (int k = -R; k <= R; k++) {
		double t = k / (double)FINE, s = BLUR * sqrt(2);

		kernel[k + R] = erf((t + 0.5) / s) - erf((t - 0.5) / s);
		sum += kernel[k + R];
	}
	for (size_t i = 0; i < N; i++) {
		for (size_t j = 0; j < N; j++)
			line[j] = v[i * across + j * step];
		for (int j = 0; j < N; j++) {
			double total = 0;

			for (int k = -R; k <= R; k++) {
				int at = j + k < 0 ? 0 : j + k >= N ? N - 1 : j + k;

				total += kernel[k + R] * line[at];
			}
			v[i * across + (size_t)j * step] = total / sum;
		}
	}
}

/* The map that N steps with noise give: a phase and an amplitude are the angle and the length of
 * the blurred fringes' phasor. */
static void
make_map(const struct test_corner *c, size_t axis, double noise, uint64_t *seed,
    struct coordinate_map *map)
{
	static double re[N * N], im[N * N];

	for (size_t i = 0; i < N * N; i++) {
		double x = ((double)(i % N) + 0.5) / FINE - 0.5;
		double y = ((double)(i / N) + 0.5) / FINE - 0.5;
		double turn = 2 * M_PI * truth(c, axis, x, y) / PERIOD;

		re[i] = 100 * albedo(c, x, y) * cos(turn);
		im[i] = 100 * albedo(c, x, y) * sin(turn);
	}
	for (size_t k = 0; k < 2; k++) {
		blur(re, k ? N : 1, k ? 1 : N);
		blur(im, k ? N : 1, k ? 1 : N);
	}
	for (size_t i = 0; i < SIZE * SIZE; i++) {
		size_t x = i % SIZE, y = i / SIZE;
		double s = noise * sqrt(2.0 / STEPS), true_px, turn, px, a[2] = { 0, 0 };

		for (size_t k = 0; k < 4; k++) {	/* the middle of the pixel */
			size_t at = (FINE * y + 1 + k / 2) * N + FINE * x + 1 + k % 2;

			a[0] += re[at] / 4;
			a[1] += im[at] / 4;
		}
		a[0] += s * normal(seed);
		a[1] += s * normal(seed);
		true_px = truth(c, axis, (double)x, (double)y);
		turn = atan2(a[1], a[0]) / (2 * M_PI);
		px = PERIOD * (turn + round(true_px / PERIOD - turn));
		map->px[i] = (float)px;
		map->sigma[i] = (float)(PERIOD / (2 * M_PI) * fmax(s, 1e-3) / hypot(a[0], a[1]));
	}
}

static struct coordinate_map
new_map(void)
{
	struct coordinate_map map = { SIZE, SIZE, calloc(SIZE * SIZE, sizeof(float)),
		calloc(SIZE * SIZE, sizeof(float)), true, PERIOD };

	assert_non_null(map.px);
	assert_non_null(map.sigma);
	return map;
}

static void
free_maps(struct coordinate_map map[2])
{
	for (size_t k = 0; k < 2; k++) {
		free(map[k].px);
		free(map[k].sigma);
	}
}

/* The rms error of both coordinates, and that over the sigma that is given, of many corners. */
static double
error_of(size_t corners, bool circle, bool weighted, double noise, double *pulls)
{
	struct coordinate_map map[2] = { new_map(), new_map() };
	uint64_t seed = 7;
	double sum = 0;

	*pulls = 0;
	for (size_t i = 0; i < corners; i++) {
		struct test_corner c = random_corner(&seed);
		struct projector_point point;

		c.circle = circle;
		for (size_t axis = 0; axis < 2; axis++) {
			make_map(&c, axis, noise, &seed, &map[axis]);
			for (size_t k = 0; !weighted && k < SIZE * SIZE; k++)
				map[axis].sigma[k] = 1;
			map[axis].absolute = weighted;
		}
		projector_points(map, (const double (*)[2])&c.at, 1, &point, NULL);
		assert_int_equal(point.fault, PROJECTOR_POINT_GOOD);
		for (size_t axis = 0; axis < 2; axis++) {
			double error = point.uv[axis] - c.H[axis][2], slope;

			sum += error * error;
			*pulls += error * error / (point.sigma[axis] * point.sigma[axis]);
			slope = c.H[axis][0] - c.H[axis][2] * c.h[0];
			if (!weighted || circle)
				continue;
			assert_true(fabs(point.gradient[axis][0] - slope) < 4.3e-3);
			assert_true(point.residual[axis] > 0.9 && point.residual[axis] < 1.4);
		}
	}
	free_maps(map);
	*pulls = sqrt(*pulls / (2 * (double)corners));
	return sqrt(sum / (2 * (double)corners));
}

static void
corners_within_the_bar(void **state)
{
	double pulls, rms = error_of(40, false, true, 2, &pulls);

	(void)state;
	print_message("corner: rms %.5f px, over sigma %.2f\n", rms, pulls);
	assert_true(rms < 0.0034);
	assert_true(pulls > 0.8 && pulls < 1.2);
	rms = error_of(40, false, false, 2, &pulls);
	print_message("corner, unweighted: rms %.5f px\n", rms);
	assert_true(rms > 0.0066);
	rms = error_of(40, true, true, 2, &pulls);
	print_message("circle: rms %.5f px, over sigma %.2f\n", rms, pulls);
	assert_true(rms < 0.0055);
}

/* A map that is the plane u = 900 + 0.9 x + 0.1 y with sigma 0.03 px. */
static void
make_plane(struct coordinate_map map[2], uint64_t seed)
{
	for (size_t axis = 0; axis < 2; axis++)
		for (size_t i = 0; i < SIZE * SIZE; i++) {
			map[axis].px[i] = (float)(900 + 0.9 * (double)(i % SIZE) +
			    0.1 * (double)(i / SIZE) + 0.03 * normal(&seed));
			map[axis].sigma[i] = 0.03f;
		}
}

static struct projector_point
point_at(const struct coordinate_map map[2], double x, double y, struct projector_ripple *ripple)
{
	const double corner[1][2] = { { x, y } };
	struct projector_point point;

	projector_points(map, corner, 1, &point, ripple);
	return point;
}

/* What is wrong with a corner is known, and never a number that is wrong. */
static void
faults(void **state)
{
	struct coordinate_map map[2] = { new_map(), new_map() };
	struct projector_point point;

	(void)state;
	make_plane(map, 1);
	point = point_at(map, 20.25, 19.5, NULL);
	assert_int_equal(point.fault, PROJECTOR_POINT_GOOD);
	assert_true(fabs(point.uv[0] - (900 + 0.9 * 20.25 + 1.95)) < 3 * point.sigma[0]);
	assert_int_equal(point_at(map, NAN, 20, NULL).fault, PROJECTOR_POINT_OUTSIDE);
	assert_int_equal(point_at(map, 20, INFINITY, NULL).fault, PROJECTOR_POINT_OUTSIDE);
	assert_int_equal(point_at(map, -1, 20, NULL).fault, PROJECTOR_POINT_OUTSIDE);
	assert_int_equal(point_at(map, 20, SIZE, NULL).fault, PROJECTOR_POINT_OUTSIDE);
	assert_int_equal(point_at(map, 1e300, 0, NULL).fault, PROJECTOR_POINT_OUTSIDE);
	/* near the border the window is cut: too few pixels in its corner, enough at its side */
	assert_int_equal(point_at(map, 1, 1, NULL).fault, PROJECTOR_POINT_INVALID);
	assert_int_equal(point_at(map, 20, 6, NULL).fault, PROJECTOR_POINT_GOOD);

	/* a tenth of the pixels a turn off, and some without a value */
	for (size_t i = 0; i < SIZE * SIZE; i += 10) {
		map[0].px[i] += (float)PERIOD;
		map[1].px[i + 1 < SIZE * SIZE ? i + 1 : i] = NAN;
	}
	point = point_at(map, 20.25, 19.5, NULL);
	assert_int_equal(point.fault, PROJECTOR_POINT_GOOD);
	assert_true(fabs(point.uv[0] - (900 + 0.9 * 20.25 + 1.95)) < 3 * point.sigma[0]);
	for (size_t i = 0; i < SIZE * SIZE; i += 2)
		map[1].px[i] = NAN;
	point = point_at(map, 20, 20, NULL);
	assert_int_equal(point.fault, PROJECTOR_POINT_INVALID);
	assert_true(isnan(point.uv[0]) && isnan(point.sigma[1]));

	make_plane(map, 2);		/* another surface begins within the window */
	for (size_t i = 0; i < SIZE * SIZE; i++)
		map[0].px[i] += i % SIZE > 25 ? 2.0f : 0.0f;
	assert_int_equal(point_at(map, 20, 20, NULL).fault, PROJECTOR_POINT_RESIDUAL);
	free_maps(map);
}

/* A window that reached over the neighbour at 6 pixels would see what lies behind it. */
static void
windows_end_at_neighbours(void **state)
{
	const double corner[3][2] = { { 20, 20 }, { 26.5, 20 }, { 20, 26.5 } };
	struct coordinate_map map[2] = { new_map(), new_map() };
	struct projector_point point[3];

	(void)state;
	make_plane(map, 3);
	for (size_t i = 0; i < SIZE * SIZE; i++)
		if (i % SIZE < 14 || i % SIZE > 26 || i / SIZE < 14 || i / SIZE > 26)
			map[0].px[i] += 4.0f * (float)normal(&(uint64_t){ i });
	projector_points(map, corner, 3, point, NULL);
	assert_int_equal(point[0].fault, PROJECTOR_POINT_GOOD);
	assert_int_equal(point[1].fault, PROJECTOR_POINT_RESIDUAL);
	free_maps(map);
}

/* Phase errors that repeat three times a fringe are seen as such. */
static void
ripple(void **state)
{
	struct coordinate_map map[2] = { new_map(), new_map() };
	struct projector_ripple sums[2] = { 0 };
	int harmonic;
	double rms;

	(void)state;
	make_plane(map, 4);
	for (size_t i = 0; i < SIZE * SIZE; i++)
		map[0].px[i] += (float)(0.05 * sin(3 * 2 * M_PI * (double)map[0].px[i] / PERIOD));
	assert_int_equal(point_at(map, 20, 20, sums).fault, PROJECTOR_POINT_GOOD);
	rms = projector_ripple_rms(&sums[0], &harmonic);
	assert_true(fabs(rms - 0.05 / sqrt(2)) < 0.004);
	assert_int_equal(harmonic, 3);
	assert_true(projector_ripple_rms(&sums[1], &harmonic) < 0.0055);
	free_maps(map);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(corners_within_the_bar),
		cmocka_unit_test(faults),
		cmocka_unit_test(windows_end_at_neighbours),
		cmocka_unit_test(ripple),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
