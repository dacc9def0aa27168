/* The splat's core: what a grid and its strips make of points, without a stage. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include <cmocka.h>

#include "../../tools/splatxyz/splatxyz.h"

static const struct pinhole projector = { .K = { 100, 0, 31.5, 0, 100, 23.5, 0, 0, 1 },
	.R = { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, .w = 64, .h = 48 };

/* A frame of w x h points 1 mm apart about the axis, on the plane z + sx x + sy y. */
static struct frame *
plane(size_t w, size_t h, double z, double sx, double sy)
{
	struct frame_head head;
	struct frame *frame;

	assert_int_equal(head_init(&head, w, h, 3, SAMPLE_FLOAT), 0);
	assert_int_equal(head_set_channels(&head, "x y z"), 0);
	assert_int_equal(frame_new(&head, &frame), 0);
	head_free(&head);
	for (size_t r = 0; r < h; r++)
		for (size_t c = 0; c < w; c++) {
			double x = (double)c - (double)(w - 1) / 2;
			double y = (double)r - (double)(h - 1) / 2;

			frame_floats(frame, 0, r)[c] = (float)x;
			frame_floats(frame, 1, r)[c] = (float)y;
			frame_floats(frame, 2, r)[c] = (float)(z + sx * x + sy * y);
		}
	return frame;
}

static struct splat_source
source_of(const struct frame *frame)
{
	return (struct splat_source){ .frame = frame, .w = frame->head.w, .h = frame->head.h,
		.xyz = { 0, 1, 2 }, .weight = NO_CHANNEL, .sigma = NO_CHANNEL,
		.normal = NO_CHANNEL, .pose = pose_identity, .eye = { NAN, NAN, NAN } };
}

/* The middle of the grid lies a third of a cell off the points: no cell has a point at its centre,
 * and a plane's depth is that of the centre all the same. */
static void
a_plane_stays_one(void **state)
{
	const double slope[][2] = { { 0, 0 }, { 0.5, -0.25 }, { -1.5, 1 } };

	(void)state;
	for (size_t k = 0; k < sizeof(slope) / sizeof(*slope); k++) {
		struct frame *in = plane(33, 21, 500, slope[k][0], slope[k][1]);
		struct frame *out = plane(20, 12, 0, 0, 0);
		struct splat_source source = source_of(in);
		struct splat_counts counts;
		struct splat splat = { .jump = 10 };

		splat_open(&splat, 1);
		splat_grid_ortho(&splat.grid, &projector, 20, 12);
		splat.grid.pixel_mm = 1;
		splat.grid.corner_mm[0] = -9.5 + 0.33;
		splat.grid.corner_mm[1] = -5.5 - 0.21;
		assert_int_equal(splat_merge(&splat, NULL, &source, out, &counts), 0);
		assert_int_equal(counts.points, 33 * 21);
		for (size_t r = 0; r < 12; r++)
			for (size_t c = 0; c < 20; c++) {
				double x = splat.grid.corner_mm[0] + (double)c;
				double y = splat.grid.corner_mm[1] + (double)r;
				double z = 500 + slope[k][0] * x + slope[k][1] * y;

				assert_true(fabs((double)frame_floats(out, 0, r)[c] - x) < 9.2e-8);
				assert_true(fabs((double)frame_floats(out, 2, r)[c] - z) < 2.1e-5);
			}
		splat_close(&splat);
		frame_free(in);
		frame_free(out);
	}
}

/* Cells of the picture are on the rays of the projector's pixels, and project back there. */
static void
a_picture_projects_back(void **state)
{
	struct pinhole lens = projector;
	struct splat_grid grid;
	float u, v, d, x, y, z = 400;

	(void)state;
	lens.distortion[0] = -0.2;
	lens.distortion[1] = 0.1;
	lens.distortion[2] = 0.003;
	lens.distorted = true;
	pinhole_complete(&lens);
	assert_int_equal(splat_grid_picture(&grid, &lens, (double[2]){ 64, 48 }, 32, 16), 0);
	for (size_t r = 0; r < 16; r++)
		for (size_t c = 0; c < 32; c++) {
			splatxyz_rows()->grid_point(&grid, c, r, z, &x, &y);
			splatxyz_rows()->grid_project(&grid, &pose_identity, &x, &y, &z, 1, &u, &v,
			    &d);
			assert_true(fabsf(u - (float)c) < 2.3e-6f && fabsf(v - (float)r) < 5.8e-7f);
			assert_true(d == z);
		}
	z = -400;
	splatxyz_rows()->grid_project(&grid, &pose_identity, &x, &y, &z, 1, &u, &v, &d);
	assert_true(isnan(u) && isnan(v) && isnan(d));
	splat_grid_free(&grid);
}

static void
add(struct splat_sets *sets, size_t view, double time_s, int expected)
{
	struct frame *frame = plane(2, 2, time_s, 0, 0);

	meta_set_number(&frame->head.meta, "time_s", time_s);
	assert_int_equal(splat_sets_add(sets, view, frame, &pose_identity), expected);
}

/* Times that not all streams have are dropped, and the others meet again. */
static void
sets_meet_again(void **state)
{
	static const double a[] = { 0, 1, 2, 3, 4, 5 }, b[] = { 0, 2, 3, 5, 6, 7 };
	static const double wanted[] = { 0, 2, 3, 5 };
	struct splat_sets sets = { 0 };
	struct frame *set[2];
	struct pose pose[2];
	size_t n = 0;

	(void)state;
	splat_sets_open(&sets, 2, 0.1);
	for (size_t i = 0; i < 6; i++) {
		add(&sets, 0, a[i], 0);
		add(&sets, 1, b[i] + 0.05, 0);
		while (splat_sets_take(&sets, set, pose)) {
			assert_true(n < 4 && frame_floats(set[0], 2, 0)[0] == (float)wanted[n++]);
			frame_free(set[0]);
			frame_free(set[1]);
		}
	}
	splat_sets_end(&sets);
	assert_int_equal(n, 4);
	assert_int_equal(sets.sets, 4);
	assert_int_equal(sets.dropped, 4);	/* 1, 4, 6, 7 */
	add(&sets, 0, 4.5, -1);			/* falls */
	fail_clear();
	splat_sets_close(&sets);
}

/* A stream that runs ahead for good is an error, and nothing is lost or freed twice. */
static void
a_stream_that_waits_too_long(void **state)
{
	struct splat_sets sets = { 0 };

	(void)state;
	splat_sets_open(&sets, 2, 0.1);
	for (size_t i = 0; i < SPLAT_SETS_WAIT; i++)
		add(&sets, 0, (double)i, 0);
	add(&sets, 0, 1000, -1);
	fail_clear();
	splat_sets_close(&sets);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plane_stays_one),
		cmocka_unit_test(a_picture_projects_back),
		cmocka_unit_test(sets_meet_again),
		cmocka_unit_test(a_stream_that_waits_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
