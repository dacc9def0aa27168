/* Calibration files in every habit of writing them; the pinhole model against known points. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#undef fail	/* cmocka's macro would hide ours */

#include "base/fail.h"
#include "optics/calib.h"
#include "optics/camera_model.h"

#define PATH "test_calib.tmp"

static int
load(const char *text, struct calib *calib)
{
	FILE *file = fopen(PATH, "wb");
	int status;

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	fail_clear();
	status = calib_load(PATH, calib);
	remove(PATH);
	return status;
}

static void
expect_near(double a, double b, double within)
{
	if (!(fabs(a - b) <= within))
		fprintf(stderr, "%.17g, wanted %.17g\n", a, b);
	assert_true(fabs(a - b) <= within);
}

/* The same rig in every dialect. */
static void
expect_rig(const struct calib *calib)
{
	static const double Kc[9] = { 1000, 0, 400, 0, 1010, 300, 0, 0, 1 };
	static const double Kp[9] = { 1500, 0, 480, 0, 1510, 310, 0, 0, 1 };
	static const double R[9] = { 0.8, 0, 0.6, 0, 1, 0, -0.6, 0, 0.8 };
	static const double T[3] = { -100.5, 2, 1e1 };
	static const double identity[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };

	assert_memory_equal(calib->camera.K, Kc, sizeof(Kc));
	assert_memory_equal(calib->projector.K, Kp, sizeof(Kp));
	assert_memory_equal(calib->camera.R, identity, sizeof(R));
	assert_memory_equal(calib->projector.R, R, sizeof(R));
	assert_memory_equal(calib->projector.T, T, sizeof(T));
	expect_near(calib->camera.distortion[0], -0.1, 0);
	expect_near(calib->camera.distortion[3], 1e-4, 0);
	assert_true(calib->camera.distorted);
	expect_near(calib->projector.P[0], 1500 * 0.8 + 480 * -0.6, 0);
}

#define KC "[1000, 0., 400, 0, 1010., 300, 0, 0, 1.]"
#define KP "[1500, 0, 480, 0, 1.51e+03, 310, 0, 0, 1]"
#define RR "[0.8, 0, 0.6, 0, 1, 0, -0.6, 0, 0.8]"
#define TT "[-100.5, 2, 10]"
#define DC "[-0.1, 0.01, 0, 1e-4, 0]"
#define MATRIX(name, rows, cols, data) \
	name ": !!opencv-matrix\n   rows: " #rows "\n   cols: " #cols "\n   dt: d\n   data: " \
	data "\n"
#define XML(name, rows, cols, data) \
	"<" name " type_id=\"opencv-matrix\"><rows>" #rows "</rows>" \
	"<cols>" #cols "</cols><dt>d</dt><data>\n" data "</data></" name ">\n"

static const char *const dialects[] = {
	"%YAML:1.0\n---\n" MATRIX("M1", 3, 3, KC) MATRIX("D1", 1, 5, DC)
	    MATRIX("M4", 3, 3, KP) MATRIX("Rlp", 3, 3, RR) MATRIX("Tlp", 3, 1, TT),
	"%YAML:1.0\n---\n" MATRIX("M1", 3, 3, "[1000, 0., 400,\n      0, 1010., 300,\n  0, 0, 1.]")
	    MATRIX("D1", 1, 5, DC) MATRIX("M2", 3, 3, KP) MATRIX("R", 3, 3, RR)
	    MATRIX("T", 3, 1, TT),
	"{\"camera_K\": [[1000,0,400],[0,1010,300],[0,0,1]], \"note\": \"a: b, [c]\",\n"
	" \"nested\": {\"list\": [{\"camera_K\": [5]}, true, null, \"x\"]},\n"
	"\"camera_dist\": " DC ", \"projector_K\": " KP ", \"R_cam_to_proj\": " RR
	", \"T_cam_to_proj_mm\": " TT "}",
	"{\"K1\":" KC ",\"d1\":" DC ",\"K2\":{\"type_id\":\"opencv-matrix\",\"rows\":3,\"cols\":3,"
	"\"dt\":\"d\",\"data\":" KP "},\"R\":" RR ",\"T\":" TT "}",
	"cameraMatrix: " KC "\ndistCoeffs: " DC
	" # five\nprojectorMatrix: {rows: 3, cols: 3, data: " KP "}\n"
	"R:\n  - [0.8, 0, 0.6]\n  - [0, 1, 0]\n  - [-0.6, 0, 0.8]\nT:\n- -100.5\n- 2\n- 10\n",
	"cam_K:\n- - 1000\n  - 0\n  - 400\n- - 0\n  - 1010\n  - 300\n- [0, 0, 1]\ncam_kc: " DC
	"\nproj_K: " KP "\nR: " RR "\nT: " TT "\n",
	"<?xml version=\"1.0\"?>\n<!-- <x> -->\n<opencv_storage>\n"
	    XML("cameraMatrix1", 3, 3, "1000. 0. 400. 0. 1010. 300. 0. 0. 1.")
	    XML("distCoeffs1", 1, 5, "-0.1 .01 0 1e-4 0")
	    XML("cameraMatrix2", 3, 3, "1500 0 480\n0 1510 310 0 0 1")
	    XML("R", 3, 3, "0.8 0 0.6 0 1 0 -0.6 0 0.8")
	    XML("T", 3, 1, "-100.5 2 10") "<empty/>\n</opencv_storage>\n",
	"camera_matrix: " KC "\ncamera_distortion: " DC "\r\nprojector_matrix: " KP "\r\nR: " RR
	"\nT: " TT,
};

static void
test_dialects(void **state)
{
	struct calib calib;

	(void)state;
	for (size_t i = 0; i < sizeof(dialects) / sizeof(dialects[0]); i++) {
		if (load(dialects[i], &calib) < 0)
			fprintf(stderr, "dialect %zu: %s\n", i, fail_message());
		assert_null(fail_message());
		expect_rig(&calib);
		assert_string_equal(calib.unit, "mm");
	}
}

static void
test_frame(void **state)
{
	struct calib calib;

	(void)state;
	assert_int_equal(
	    load(
		"{\"K1\":" KC ",\"K2\":" KP ",\"R\":" RR ",\"T\":" TT ",\"unit\": \"m\","
		"\"crop_x0_y0\": [350, 300], \"full_size\": [1280, 1024],"
		"\"image_size\": [630, 560],"
		"\"projector_size\": [1920, 1080], \"S\": null}",
		&calib),
	    0);
	expect_near(calib.camera.K[2], 750, 0);
	expect_near(calib.camera.K[5], 600, 0);
	expect_near(calib.origin_px[0], 350, 0);
	expect_near(calib.camera.w, 1280, 0);
	expect_near(calib.projector.h, 1080, 0);
	assert_string_equal(calib.unit, "m");
}

/* A key may come in each object of a list, and is none of the file's own. */
static void
test_lists_of_objects(void **state)
{
	static const char *const lists[] = {
		"views:\n  - name: a\n    M1: 1\n\n# no end\n  - name: b\n    M1: 2\n",
		"views:\r\n  -\r\n    M1: 1\r\n\r\n  -\r\n    M1: 2\r\n",
		"views:\n- !!opencv-matrix\n   rows: 1\n   data: [ 1 ]\n"
		    "- !!opencv-matrix\n   rows: 1\n",
		"views: [ { M1: 1 }, { M1: 1,\n  M1: 2 } ]\n",
	};
	struct calib calib;
	char text[2048];

	(void)state;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		snprintf(text, sizeof(text), "%s%s", lists[i], dialects[7]);
		if (load(text, &calib) < 0)
			fprintf(stderr, "list %zu: %s\n", i, fail_message());
		assert_null(fail_message());
		expect_rig(&calib);
	}
	snprintf(text, sizeof(text), "<a><views><_><M1>1</M1></_><_><M1>2</M1></_></views>%s",
	    strstr(dialects[6], "<cameraMatrix1"));
	*strstr(text, "</opencv_storage>") = '\0';
	strcat(text, "</a>");
	assert_int_equal(load(text, &calib), 0);
	expect_rig(&calib);
}

/* P = s K [R|T] comes apart again, whatever s. */
static void
test_plain(void **state)
{
	static const double scale[] = { 1, -3, 1e-4 };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct calib calib, again;
		char text[2048] = "# camera, projector\n";

		assert_int_equal(load(dialects[0], &calib), 0);
		calib.projector.K[1] = 2.5;
		pinhole_complete(&calib.projector);
		for (size_t k = 0; k < 24; k++)
			snprintf(text + strlen(text), 64, "%.17g%s",
			    scale[i] * (k < 12 ? calib.camera.P[k] : calib.projector.P[k - 12]),
			    k % 4 == 3 ? "\n" : " ");
		assert_int_equal(load(text, &again), 0);
		for (size_t k = 0; k < 9; k++) {
			expect_near(again.camera.K[k], calib.camera.K[k], 0);
			expect_near(again.projector.K[k], calib.projector.K[k], 5e-13);
			expect_near(again.projector.R[k], calib.projector.R[k], 3e-16);
		}
		for (size_t k = 0; k < 3; k++)
			expect_near(again.projector.T[k], calib.projector.T[k], 6e-16);
		assert_false(again.camera.distorted);
	}
}

static void
test_errors(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{ "", "expected matrices camera_K, projector_K" },
		{ "1 2 3", "expected 24 numbers (camera 3x4, then projector 3x4), found 3" },
		{ "1 0 0 0 0 1 0 0 0 0 0 1 1 0 0 0 0 1 0 0 0 0 1 0",
		    "camera: expected a perspective matrix" },
		{ "1 0 0 0 0 0 0 0 0 0 1 0 1 0 0 0 0 1 0 0 0 0 1 0", "left 3x3 is singular" },
		{ "a: 1\n", "found 1 other entries, the first one a" },
		{ "M1: " KC "\nM4: " KP "\nTlp: " TT,
		    "expected a 3x3 rotation called Rlp, found none among its 3 entries" },
		{ "M1: " KC "\nM4: " KP "\nRlp: " RR,
		    "expected a translation of 3 numbers called Tlp or Tlp_mm, found none" },
		{ "K1: " KC "\nR: " RR "\nT: " TT,
		    "expected the projector's 3x3 matrix called K2 or M2, found none" },
		{ "M1: " KC "\nM4: " KP "\nRlp: [0.1, 0, 0]\nTlp: " TT,
		    "Rlp: expected a 3x3 rotation, found 3 numbers (of a rotation vector? Write" },
		{ "M1: " KC "\nM4: [1500, 0, 0, 0, 1510, 0, 480, 310, 1]\nRlp: " RR "\nTlp: " TT,
		    "M4: is transposed: expected fx s cx" },
		{ "M1: " KC "\nM4: " KP "\nRlp: [1, 0, 0, 0, 1, 0, 0, 0, -1]\nTlp: " TT,
		    "Rlp: expected a rotation, found one that also mirrors (determinant -1)" },
		{ "M1: " KC "\nM4: " KP "\nRlp: " RR "\nTlp: " TT
		  "\nfringe_period_projector_px: -3\n",
		    "fringe_period_projector_px: expected a period in pixels, found -3" },
		{ "M1: [1, 2]\nM4: " KP "\nRlp: " RR "\nTlp: " TT,
		    "M1: expected the camera's 3x3 matrix, found 2 numbers" },
		{ "M1: [1, 2, 3, 4, 5, 6, 7, 8, 9]\nM4: " KP "\nRlp: " RR "\nTlp: " TT,
		    "M1: expected fx s cx" },
		{ "M1: " KC "\nM4: " KP "\nRlp: [1,1,1,1,1,1,1,1,1]\nTlp: " TT,
		    "Rlp: expected a rotation" },
		{ "M1: " KC "\nD1: [1, 2, 3]\nM4: " KP "\nRlp: " RR "\nTlp: " TT,
		    "D1: expected 4, 5, 8, 12 or 14 coefficients, found 3" },
		{ "M1: " KC "\nD1: [0,0,0,0,0,0,0,0,0,0,0,0,0.1,0]\nM4: " KP "\nRlp: " RR
		  "\nTlp: " TT,
		    "D1: expected an untilted sensor" },
		{ "M1: " KC "\nM4: " KP "\nRlp: " RR "\nTlp: [1, 2]\n",
		    "expected a translation of 3 numbers" },
		{ "{\"K1\": [1, 2", "line 1: expected ] or a number" },
		{ "M1: [1, 2\nM2: 3\n", "line 2: expected ] or a number" },
		{ "<a><b>1 2</b>", "expected a closing tag" },
		{ "no colon here\n", "line 1: expected key: value, found 'no colon here'" },
		{ "{\"K1\": " KC ",\n\"K2\": " KP ",\n\"K1\": " KC "}",
		    "line 3: key K1 comes a second time: keep one of the two" },
		{ "{\"cam\": {\"K\": 1}, \"cam\": {\"D\": 2}}", "key cam comes a second time" },
		{ "{\"cam\": {\"K\": null, \"K\": 2}}", "key cam.K comes a second time" },
		{ "M1: " KC "\nT: 1\nM1: " KC "\n", "line 3: key M1 comes a second time" },
		{ "R:\n- 1\nT: 2\n- 3\n", "line 4: expected all values of a key in one place" },
		{ "<a><T>1 2<x/>\n3</T></a>", "line 2: expected all values of a key in one place" },
		{ "M1:\n  rows: 3\n  rows: 2\n", "line 3: key M1.rows comes a second time" },
		{ "M1: { rows: 3, rows: 2 }\n", "line 1: key M1.rows comes a second time" },
		{ "%YAML:1.0\n---\nR: 1\n---\nR: 2\n", "line 5: key R comes a second time" },
		{ "<a>\n<b>1 2</b>\n<b>1 2</b>\n</a>", "line 3: key b comes a second time" },
		{ "<a><b><c>1</c></b>\n<b><d>1</d></b></a>",
		    "line 2: key b comes a second time" },
	};
	struct calib calib;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(load(cases[i].text, &calib), -1);
		if (!strstr(fail_message(), cases[i].message))
			fprintf(stderr, "said: %s\nwanted: %s\n", fail_message(), cases[i].message);
		assert_non_null(strstr(fail_message(), cases[i].message));
	}
	fail_clear();
	assert_int_equal(calib_load("there is no such file", &calib), -1);
	assert_non_null(strstr(fail_message(), "cannot open"));
	fail_clear();
}

/* Undistorting what was distorted gives the point back, with all terms. */
static void
test_undistort(void **state)
{
	static const double lenses[][14] = {
		{ 0 },
		{ -0.3, 0.12, 1e-3, -8e-4, -0.02 },
		{ 0.08, -0.15, 1.2e-3, -7e-4, 0.05 },
		{ -0.28, 0.12, -8e-4, 1e-3, -0.02, 0.05, 0.01, 2e-3, 6e-4, -3e-4, -4e-4, 2e-4 },
	};
	struct calib calib;

	(void)state;
	assert_int_equal(load(dialects[0], &calib), 0);
	for (size_t i = 0; i < 4; i++)
		for (double x = -0.5; x <= 0.5; x += 0.05)
			for (double y = -0.4; y <= 0.4; y += 0.05) {
				struct pinhole *p = &calib.projector;
				double X[3],
				    q[3] = { 700 * x - p->T[0], 700 * y - p->T[1], 700 - p->T[2] };
				double uv[2], xy[2];

				memcpy(p->distortion, lenses[i], sizeof(lenses[i]));
				p->K[1] = 1.5;
				pinhole_complete(p);
				for (size_t k = 0; k < 3; k++)
					X[k] = p->R[k] * q[0] + p->R[3 + k] * q[1] +
					    p->R[6 + k] * q[2];
				assert_true(pinhole_project(p, X, uv));
				assert_true(pinhole_undistort(p, uv, xy));
				expect_near(xy[0], x, 1.3e-14);
				expect_near(xy[1], y, 1.3e-14);
				for (size_t k = 0; k < 4; k++) {	/* wherever it begins */
					static const double off[] = { 0, 1e-4, 0.3, NAN };

					xy[0] = x + off[k];
					xy[1] = y - off[k];
					assert_true(pinhole_undistort_near(p, uv, xy));
					expect_near(xy[0], x, 1.3e-14);
					expect_near(xy[1], y, 1.3e-14);
				}
			}
}

/* Derivatives against differences: by the point, by the intrinsics of a full lens. */
static void
test_derivatives(void **state)
{
	static const double lens[14] = { -0.28, 0.12, -8e-4, 1e-3, -0.02, 0.05, 0.01, 2e-3, 6e-4,
		-3e-4, -4e-4, 2e-4 };
	const double x[3] = { 130, -90, 700 };
	double by_point[6], by_intrinsics[2 * PINHOLE_INTRINSICS], plus[2], minus[2];
	struct pinhole p = { .K = { 1500, 1.5, 480, 0, 1510, 300, 0, 0, 1 },
		.R = { 1, 0, 0, 0, 1, 0, 0, 0, 1 } };

	(void)state;
	memcpy(p.distortion, lens, sizeof(lens));
	pinhole_complete(&p);
	pinhole_derivatives(&p, x, by_point, by_intrinsics);
	for (size_t k = 0; k < 3; k++) {
		double at[2][3];

		for (size_t i = 0; i < 3; i++) {
			at[0][i] = x[i] + (i == k) * 1e-3;
			at[1][i] = x[i] - (i == k) * 1e-3;
		}
		assert_true(pinhole_project(&p, at[0], plus) && pinhole_project(&p, at[1], minus));
		for (size_t i = 0; i < 2; i++)
			expect_near(by_point[3 * i + k], (plus[i] - minus[i]) / 2e-3, 1.3e-10);
	}
	for (size_t k = 0; k < PINHOLE_INTRINSICS; k++) {
		static const size_t core[4] = { 0, 4, 2, 5 };
		double *number = k < 4 ? &p.K[core[k]] : &p.distortion[k - 4], own = *number;
		double step = k < 4 ? 1e-2 : 1e-5;

		*number = own + step;
		assert_true(pinhole_project(&p, x, plus));
		*number = own - step;
		assert_true(pinhole_project(&p, x, minus));
		*number = own;
		for (size_t i = 0; i < 2; i++)
			expect_near(by_intrinsics[PINHOLE_INTRINSICS * i + k],
			    (plus[i] - minus[i]) / (2 * step), 6.1e-9);
	}
}

/* Rodrigues' formula. */
static void
turn(const double r[3], double R[9])
{
	double angle = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
	double a = angle > 0 ? sin(angle) / angle : 1;
	double b = angle > 0 ? (1 - cos(angle)) / (angle * angle) : 0.5;

	for (size_t i = 0; i < 3; i++)
		for (size_t j = 0; j < 3; j++)
			R[3 * i + j] = (i == j) * cos(angle) + b * r[i] * r[j] + (i == j ? 0 :
			    (j == (i + 1) % 3 ? -1 : 1) * a * r[3 - i - j]);
}

static void
test_rotation(void **state)
{
	static const double vectors[][3] = { { 0, 0, 0 }, { 1e-5, -2e-5, 1e-5 },
		{ 0.02, -0.3, 0.01 }, { 1.5, 2, -1 } };
	const double X[3] = { 130, -90, 700 };

	(void)state;
	for (size_t n = 0; n < 4; n++) {
		double R[9], D[9], aside[2][9];

		turn(vectors[n], R);
		rotation_derivative(R, X, D);
		for (size_t k = 0; k < 3; k++) {
			for (size_t s = 0; s < 2; s++) {
				double r[3];

				memcpy(r, vectors[n], sizeof(r));
				r[k] += s ? -1e-5 : 1e-5;
				turn(r, aside[s]);
			}
			for (size_t i = 0; i < 3; i++) {
				double d = 0;

				for (size_t j = 0; j < 3; j++)
					d += (aside[0][3 * i + j] - aside[1][3 * i + j]) * X[j];
				expect_near(D[3 * i + k], d / 2e-5, 1.8e-8);
			}
		}
	}
}

/* The grid of a volume: seen where it was asked for, in order; none beyond a lens's fold. */
static void
test_volume(void **state)
{
	static const double uvz[3][2] = { { 100, 900 }, { 50, 550 }, { 500, 700 } };
	double X[CALIB_VOLUME_POINTS][3], uv[2];
	struct pinhole p = { .K = { 1500, 0, 480, 0, 1510, 300, 0, 0, 1 },
		.R = { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, .distortion = { 0.08, -0.15 } };

	(void)state;
	pinhole_complete(&p);
	assert_int_equal(calib_volume_points(&p, uvz, X), CALIB_VOLUME_POINTS);
	for (size_t i = 0; i < CALIB_VOLUME_POINTS; i++) {
		assert_true(pinhole_project(&p, X[i], uv));
		expect_near(uv[0], 100 + 200 * (double)(i % 5), 9e-13);
		expect_near(uv[1], 50 + 125 * (double)(i / 5 % 5), 9e-13);
		expect_near(X[i][2], 500 + 100 * (double)(i / 25), 0);
	}
	p.distortion[0] = -30;		/* x (1 - 30 x^2) is at most 0.07: u from 375 to 585 */
	assert_int_equal(calib_volume_points(&p, uvz, X), 3);
}

/* Beyond the fold of a barrel lens there is no ray, and behind the device no picture. */
static void
test_nothing(void **state)
{
	struct calib calib;
	struct pinhole *camera = &calib.camera;
	double xy[2], uv[2], X[3], back[3] = { 0, 0, -1 };

	(void)state;
	assert_int_equal(load(dialects[0], &calib), 0);
	memset(camera->distortion, 0, sizeof(camera->distortion));
	camera->distortion[0] = -0.5;		/* x (1 - x^2/2) is at most 0.544 */
	pinhole_complete(camera);
	assert_false(pinhole_undistort(camera, (double[2]){ 400 + 600, 300 }, xy));
	xy[0] = 1;
	xy[1] = 0;
	assert_false(pinhole_undistort_near(camera, (double[2]){ 400 + 600, 300 }, xy));
	xy[0] = 1.4;			/* beyond the fold, where the picture is the same again */
	xy[1] = 0;
	assert_true(pinhole_undistort_near(camera, (double[2]){ 400 + 340, 300 }, xy));
	assert_true(xy[0] < 1);
	assert_true(pinhole_undistort(camera, (double[2]){ 400 + 540, 300 }, xy));
	assert_false(pinhole_project(camera, back, uv));
	pinhole_center(&calib.projector, X);
	expect_near(X[0], -(0.8 * -100.5 - 0.6 * 10), 0);
	expect_near(X[1], -2, 0);
	expect_near(X[2], -(0.6 * -100.5 + 0.8 * 10), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dialects),
		cmocka_unit_test(test_lists_of_objects),
		cmocka_unit_test(test_frame),
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_undistort),
		cmocka_unit_test(test_derivatives),
		cmocka_unit_test(test_rotation),
		cmocka_unit_test(test_volume),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
