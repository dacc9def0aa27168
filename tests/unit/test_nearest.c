/* The nearest point of a mesh against all of its triangles one by one, and signs that are known. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/px.h"
#include <cmocka.h>

#include "mesh/nearest.h"

static double
uniform(uint seed, uint i)
{
	return (double)px_uniform(px_hash(px_hash(px_hash(seed) ^ i) ^ 99u));
}

static void
point(struct triangles *mesh, double x, double y, double z)
{
	assert_int_equal(triangles_add_point(mesh, "test", (double[3]){ x, y, z }), 0);
}

static void
face(struct triangles *mesh, uint64_t a, uint64_t b, uint64_t c)
{
	assert_int_equal(triangles_add(mesh, "test", (uint64_t[3]){ a, b, c }), 0);
}

/* The nearest point by its definition: the foot on the plane if it lies inside, else that of an
 * edge. */
static double
brute_triangle(const struct triangles *mesh, size_t t, const double x[3])
{
	double least = INFINITY, n[3], e[3][3], q[3], height = 0, square = 0;
	const double *p[3];
	bool inside = true;

	for (int k = 0; k < 3; k++)
		p[k] = mesh->point[mesh->corner[t][k]];
	for (int k = 0; k < 3; k++)
		for (int i = 0; i < 3; i++)
			e[k][i] = p[(k + 1) % 3][i] - p[k][i];
	for (int i = 0; i < 3; i++)
		n[i] = e[0][(i + 1) % 3] * e[1][(i + 2) % 3] -
		    e[0][(i + 2) % 3] * e[1][(i + 1) % 3];
	for (int i = 0; i < 3; i++) {
		height += n[i] * (x[i] - p[0][i]);
		square += n[i] * n[i];
	}
	for (int k = 0; k < 3; k++) {
		double side = 0, ee = 0, along = 0, d = 0;

		for (int i = 0; i < 3; i++)
			q[i] = x[i] - p[k][i];
		for (int i = 0; i < 3; i++) {
			side += n[i] * (e[k][(i + 1) % 3] * q[(i + 2) % 3] -
			    e[k][(i + 2) % 3] * q[(i + 1) % 3]);
			ee += e[k][i] * e[k][i];
			along += e[k][i] * q[i];
		}
		inside = inside && side >= 0;
		along = ee > 0 ? fmin(fmax(along / ee, 0), 1) : 0;
		for (int i = 0; i < 3; i++)
			d += (q[i] - along * e[k][i]) * (q[i] - along * e[k][i]);
		least = fmin(least, sqrt(d));
	}
	return inside && square > 0 ? fmin(least, fabs(height) / sqrt(square)) : least;
}

static double
brute(const struct triangles *mesh, const double x[3])
{
	double least = INFINITY;

	for (size_t t = 0; t < mesh->n; t++)
		least = fmin(least, brute_triangle(mesh, t, x));
	return least;
}

static struct nearest *
tree_of(const struct triangles *mesh)
{
	struct nearest *tree;

	if (nearest_new("test", mesh, &tree) < 0)
		fail_print();
	assert_non_null(tree);
	return tree;
}

/* A soup of triangles of all sizes, thin ones among them, seen from near, far and on it. */
static void
as_all_triangles(void **state)
{
	struct triangles mesh = { 0 };
	struct nearest *tree;
	size_t from = 0;

	(void)state;
	for (uint t = 0; t < 700; t++) {
		double size = t % 7 == 0 ? 30 : 2, thin = t % 11 == 0 ? 1e-4 : 1;

		for (uint k = 0; k < 3; k++)
			point(&mesh, 1000 + 60 * uniform(1, t) + size * uniform(4, 3 * t + k),
			    60 * uniform(2, t) + thin * size * uniform(5, 3 * t + k),
			    60 * uniform(3, t) + thin * size * uniform(6, 3 * t + k));
		face(&mesh, 3 * t, 3 * t + 1, 3 * t + 2);
	}
	tree = tree_of(&mesh);
	for (uint i = 0; i < 1500; i++) {
		double scale = i % 3 == 0 ? 1000 : 70, want, d = 0;
		double x[3] = { 1000 + scale * (uniform(7, i) - 0.1), scale * (uniform(8, i) - 0.1),
			scale * (uniform(9, i) - 0.1) };
		struct nearest_point found, none;

		if (i % 5 == 0)
			memcpy(x, mesh.point[i % mesh.points], sizeof(x));
		nearest_find(tree, x, INFINITY, NEAREST_NONE, &found);
		want = brute(&mesh, x);
		assert_true(fabs(fabs(found.distance) - want) < 1.5e-13);
		for (int k = 0; k < 3; k++)
			d += pow(found.point[k] - x[k], 2);
		assert_true(fabs(sqrt(d) - want) < 1.5e-13);
		assert_true(brute_triangle(&mesh, found.triangle, x) == want);
		nearest_find(tree, x, want * 0.999, NEAREST_NONE, &none);
		assert_true(want == 0 || none.triangle == NEAREST_NONE);
		nearest_find(tree, x, want * 1.001 + 1e-9, NEAREST_NONE, &none);
		assert_int_equal(none.triangle, found.triangle);
		/* wherever the search begins, here far away as a rule */
		nearest_find(tree, x, INFINITY, from, &none);
		assert_int_equal(none.triangle, found.triangle);
		assert_true(none.distance == found.distance);
		nearest_find(tree, x, want * 0.999, from, &none);
		assert_true(want == 0 || none.triangle == NEAREST_NONE);
		from = found.place;
	}
	nearest_free(tree);
	triangles_free(&mesh);
}

/* A box of unequal sides whose 36 corners are points of their own, as in STL. */
static void
box(struct triangles *mesh, const double size[3])
{
	static const int quad[6][4] = { { 0, 2, 3, 1 }, { 4, 5, 7, 6 }, { 0, 1, 5, 4 },
		{ 2, 6, 7, 3 }, { 0, 4, 6, 2 }, { 1, 3, 7, 5 } };
	uint64_t n = 0;

	for (int q = 0; q < 6; q++)
		for (int t = 0; t < 2; t++) {
			const int corner[3] = { quad[q][0], quad[q][1 + t], quad[q][2 + t] };

			for (int k = 0; k < 3; k++, n++)
				point(mesh, corner[k] & 1 ? size[0] : 0,
				    corner[k] & 2 ? size[1] : 0,
				    corner[k] & 4 ? size[2] : 0);
			face(mesh, n - 3, n - 2, n - 1);
		}
}

static void
signs(void **state)
{
	static const double size[3] = { 3, 5, 0.2 };
	struct triangles mesh = { 0 };
	struct nearest_counts counts;
	struct nearest *tree;

	(void)state;
	box(&mesh, size);
	tree = tree_of(&mesh);
	nearest_count(tree, &counts);
	assert_int_equal(counts.edges, 18);
	assert_int_equal(counts.border, 0);
	assert_int_equal(counts.against, 0);
	for (uint i = 0; i < 20000; i++) {
		double x[3], outside = 0, inside = INFINITY;
		struct nearest_point found;

		for (uint k = 0; k < 3; k++) {
			double off;

			x[k] = size[k] * (3 * uniform(k, i) - 1);
			off = fmax(-x[k], x[k] - size[k]);
			outside += off > 0 ? off * off : 0;
			inside = fmin(inside, -off);
		}
		nearest_find(tree, x, INFINITY, NEAREST_NONE, &found);
		assert_true(fabs(found.distance - (outside > 0 ? sqrt(outside) : -inside)) < 1e-12);
		assert_false(found.border);
	}
	nearest_free(tree);
	triangles_free(&mesh);
}

/* Of triangles that are equally near the first one of the mesh, wherever the search begins. */
static void
equally_near(void **state)
{
	static const double size[3] = { 3, 5, 0.2 };
	struct triangles mesh = { 0 };
	struct nearest *tree;

	(void)state;
	box(&mesh, size);
	tree = tree_of(&mesh);
	for (size_t i = 0; i < mesh.points; i++) {
		const double *x = mesh.point[i];
		struct nearest_point found;
		size_t first = 0;

		while (brute_triangle(&mesh, first, x) > 0)
			first++;
		for (size_t from = 0; from <= mesh.n; from++) {
			nearest_find(tree, x, INFINITY, from < mesh.n ? from : NEAREST_NONE,
			    &found);
			assert_int_equal(found.triangle, first);
		}
	}
	nearest_free(tree);
	triangles_free(&mesh);
}

static void
borders(void **state)
{
	struct triangles mesh = { 0 };
	struct nearest_point found;
	struct nearest_counts counts;
	struct nearest *tree;

	(void)state;
	for (int i = 0; i < 4; i++)
		point(&mesh, i & 1, i >> 1, 0);
	point(&mesh, 0.5, 0, 0);
	face(&mesh, 0, 1, 2);
	face(&mesh, 1, 3, 2);
	face(&mesh, 0, 4, 1);	/* no area */
	tree = tree_of(&mesh);
	nearest_count(tree, &counts);
	assert_int_equal(counts.triangles, 2);
	assert_int_equal(counts.empty, 1);
	nearest_find(tree, (double[3]){ 0.4, 0.4, 0.5 }, INFINITY, NEAREST_NONE, &found);
	assert_true(!found.border && fabs(found.distance - 0.5) < 1e-15 && found.triangle == 0);
	nearest_find(tree, (double[3]){ 0.6, 0.6, -0.5 }, INFINITY, NEAREST_NONE, &found);
	assert_true(!found.border && fabs(found.distance + 0.5) < 1e-15 && found.triangle == 1);
	/* on the diagonal */
	nearest_find(tree, (double[3]){ 0.5, 0.5, 1 }, INFINITY, NEAREST_NONE, &found);
	assert_true(!found.border && found.distance == 1);
	nearest_find(tree, (double[3]){ 1.3, 0.5, 0.4 }, INFINITY, NEAREST_NONE, &found);
	assert_true(found.border && fabs(found.distance - 0.5) < 1e-15);
	nearest_find(tree, (double[3]){ 1.3, 1.4, 0 }, INFINITY, NEAREST_NONE, &found);
	assert_true(found.border && fabs(fabs(found.distance) - 0.5) < 1e-15);
	nearest_free(tree);
	mesh.n = 0;
	assert_int_equal(nearest_new("mesh", &mesh, &tree), -1);
	assert_string_equal(fail_message(),
	    "mesh: has no triangles: a cloud of points has no surface");
	fail_clear();
	triangles_free(&mesh);
}

/* Six times the volume of a tetrahedron. */
static double
volume(const double a[3], const double b[3], const double c[3], const double d[3])
{
	double e[3][3];

	for (int i = 0; i < 3; i++) {
		e[0][i] = b[i] - a[i];
		e[1][i] = c[i] - a[i];
		e[2][i] = d[i] - a[i];
	}
	return e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) +
	    e[0][1] * (e[1][2] * e[2][0] - e[1][0] * e[2][2]) +
	    e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
}

/* A line crosses a triangle if its ends lie on both sides of it, and each edge passes it on one
 * and the same side. */
static bool
brute_crosses(const double (*corner)[3], const double p[3], const double q[3])
{
	double u = volume(p, q, corner[0], corner[1]), v = volume(p, q, corner[1], corner[2]);
	double w = volume(p, q, corner[2], corner[0]);

	return (volume(p, corner[0], corner[1], corner[2]) > 0) !=
	    (volume(q, corner[0], corner[1], corner[2]) > 0) &&
	    ((u > 0 && v > 0 && w > 0) || (u < 0 && v < 0 && w < 0));
}

/* Lines from places on the triangles, every fourth of them along an axis. */
static void
lines_of_sight(void **state)
{
	struct triangles mesh = { 0 };
	struct nearest *tree;
	size_t hidden = 0;

	(void)state;
	for (uint i = 0; i < 900; i += 3) {
		for (uint k = 0; k < 3; k++)
			point(&mesh, uniform(1, i) + 0.2 * uniform(2, i + k),
			    uniform(3, i) + 0.2 * uniform(4, i + k),
			    uniform(5, i) + 0.2 * uniform(6, i + k));
		face(&mesh, i, i + 1, i + 2);
	}
	tree = tree_of(&mesh);
	for (uint i = 0; i < 3000; i++) {
		size_t place = i % 300;
		const double (*corner)[3] = nearest_corners(tree, place);
		double from[3], to[3];
		bool crossed = false;

		for (uint k = 0; k < 3; k++) {
			from[k] = (corner[0][k] + corner[1][k] + corner[2][k]) / 3;
			to[k] = i % 4 ? 3 * uniform(7 + k, i) - 1 : from[k];
		}
		to[i / 4 % 3] += i % 4 ? 0 : i % 8 ? 1 : -1;
		for (size_t t = 0; t < mesh.n; t++)
			crossed |= t != place && brute_crosses(nearest_corners(tree, t), from, to);
		assert_int_equal(nearest_hides(tree, place, from, to, 0), crossed);
		hidden += crossed;
	}
	assert_in_range(hidden, 500, 2500);
	/* what is as near as that does not hide */
	assert_false(nearest_hides(tree, 0, mesh.point[0], (double[3]){ 3, 3, 3 }, 9));
	nearest_free(tree);
	triangles_free(&mesh);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_all_triangles),
		cmocka_unit_test(signs),
		cmocka_unit_test(equally_near),
		cmocka_unit_test(borders),
		cmocka_unit_test(lines_of_sight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
