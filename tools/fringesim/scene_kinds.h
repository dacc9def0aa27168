/* What scene.c asks of the kinds of scene that have a file of their own. */
#ifndef FRINGESIM_SCENE_KINDS_H
#define FRINGESIM_SCENE_KINDS_H

#include "scene.h"

/* The points from + t along of t0 < t < t1. */
struct ray {
	const double *from, *along;
	double t0, t1;
};

/* ---- SCENE_RELIEF ---- */

/* Sets slope, low and high. */
void scene_relief_survey(struct scene *scene);
double scene_relief_height(const struct scene *, double x, double y);
/* How far along the ray the surface is; INFINITY where it does not meet it. */
double scene_relief_hit(const struct scene *scene, const struct ray *ray);

/* ---- SCENE_CYLINDER ---- */

/* Sets slope, low and high. */
void scene_cylinder_survey(struct scene *scene);
double scene_cylinder_hit(const struct scene *scene, const struct ray *ray);

/* ---- SCENE_FILE ---- */

/* Sets spacing, length, low and high. */
void scene_file_survey(struct scene *scene);
/* Bilinear between samples; on a line of samples only that line counts. */
double scene_file_height(const struct scene *scene, double x, double y);
double scene_file_hit(const struct scene *scene, const struct ray *ray);

#endif
