/*
 * Harmonics that change over the picture, as a blur does that differs from place to place: each of
 * their cosines and sines a plane over x and y.
 *
 * Part i alone would have harmonics that differ from those of all by d_i, where N_i d_i = r_i are
 * its own normal equations. With d_i = m + p x_i + q y_i least squares want sum_i N_i z_i z_i'
 * (m p q)' = sum_i r_i z_i, z_i = (1, x_i, y_i).
 */
#include "fitting.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "normal_equations.h"

static void
add_part(const struct fitting *f, size_t i, double scale, double *normal, double *right)
{
	const struct part *part = &f->part[i];
	size_t columns = 2 * f->n, p = f->unknowns, all = 3 * columns;
	double z[3] = { 1, f->pixels->place[i][0] / scale, f->pixels->place[i][1] / scale };

	for (size_t a = 0; a < all; a++) {
		right[a] += z[a / columns] * part->right[a % columns];
		for (size_t b = 0; b < all; b++)
			normal[a * all + b] += z[a / columns] * z[b / columns] *
			    part->normal[a % columns * p + b % columns];
	}
}

int
fitting_slopes(struct fitting *f)
{
	size_t columns = 2 * f->n, all = 3 * columns;
	double *normal = calloc(all * all, sizeof(*normal));
	double *right = calloc(2 * all, sizeof(*right)), *found = right + all, scale = 1;
	int status = normal && right ? 0 : fail_memory();

	for (size_t i = 0; i < PIXELS_PARTS && status == 0; i++)
		if (f->part[i].pixels)
			scale = fmax(scale, hypot(f->pixels->place[i][0], f->pixels->place[i][1]));
	for (size_t i = 0; i < PIXELS_PARTS && status == 0; i++)
		if (f->part[i].pixels)
			add_part(f, i, scale, normal, right);
	if (status == 0 && !normal_equations_invert(normal, all))
		status = fail("--vary", "the lit parts of the picture are too few, or on one line: "
		    "they show no change over the picture");
	for (size_t a = 0; a < all && status == 0; a++)
		for (size_t b = 0; b < all; b++)
			found[a] += normal[a * all + b] * right[b];
	for (size_t a = 0; a < columns && status == 0; a++) {
		long k = f->k[a / 2];
		double *slope[2] = { a % 2 ? f->fit->sine_slope[0] : f->fit->cosine_slope[0],
			a % 2 ? f->fit->sine_slope[1] : f->fit->cosine_slope[1] };

		*(a % 2 ? &f->fit->sine[k] : &f->fit->cosine[k]) += found[a];
		slope[0][k] = found[columns + a] / scale;
		slope[1][k] = found[2 * columns + a] / scale;
	}
	free(normal);
	free(right);
	return status;
}
