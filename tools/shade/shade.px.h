/*
 * Phong's reflection (methods §9; Karpinsky 2014 §3.7) of the lamp and of a weaker one beside the
 * viewer, which lights what the first leaves dark. View coordinates: x right, y down, z away; the
 * viewer looks along z. n and light are unit vectors, light points to the lamp.
 */
#ifndef SHADE_PX_H
#define SHADE_PX_H

#include "base/px.h"

#define SHADE_LAMP 0.6f		/* parts of the diffuse light: the lamp's, the viewer's */
#define SHADE_FILL 0.4f

/* Ambient + diffuse share of the colour, from the cosines of the normal to the lamp and, from 0 to
 * 1, to the viewer. */
PX_FN float
shade_diffuse(float cosine, float facing, float ambient, float diffuse)
{
	return ambient + diffuse * (SHADE_LAMP * px_max(cosine, 0.0f) + SHADE_FILL * facing);
}

/* Highlight: the mirrored light against the direction to the viewer (0, 0, -1), to a power. */
PX_FN float
shade_specular(float nx, float ny, float nz, float lx, float ly, float lz, float specular,
    float shininess)
{
	PX_F side = px_select(nz > 0.0f, -1.0f, 1.0f);
	PX_F cosine = side * (nx * lx + ny * ly + nz * lz);
	PX_F towards = lz - 2.0f * cosine * side * nz;		/* = mirrored light . (0, 0, -1) */
	PX_F highlight = px_exp(shininess * px_log(px_max(towards, 1e-6f)));

	return px_select(cosine > 0.0f && towards > 0.0f, specular * highlight, 0.0f);
}

struct shade_vector {
	float x, y, z;
};

struct shade_light {
	float x, y, z;			/* to the lamp */
	float ambient, diffuse, specular, shininess;
};

/* Levels r g b of 255 of a pixel of this colour under a normal of any length; those of `background`
 * where there is none, or one beyond floats. */
PX_FN PX_STRUCT shade_vector
shade_levels(PX_STRUCT shade_light light, PX_STRUCT shade_vector normal,
    PX_STRUCT shade_vector colour, PX_STRUCT shade_vector background)
{
	PX_F length = px_sqrt(normal.x * normal.x + normal.y * normal.y + normal.z * normal.z);
	bool there = px_both(length > 0.0f, length <= 3.402823466e38f);
	PX_F scale = px_divide(1.0f, px_select(there, length, 1.0f));
	PX_F nx = normal.x * scale, ny = normal.y * scale, nz = normal.z * scale;
	PX_F side = px_select(nz > 0.0f, -1.0f, 1.0f);	/* lit is the side that the viewer sees */
	PX_F part = shade_diffuse(side * (nx * light.x + ny * light.y + nz * light.z), px_abs(nz),
	    light.ambient, light.diffuse);
	PX_F shine = shade_specular(
	    nx, ny, nz, light.x, light.y, light.z, light.specular, light.shininess);
	PX_F r = 255.0f * px_min(colour.x * part + shine, 1.0f);
	PX_F g = 255.0f * px_min(colour.y * part + shine, 1.0f);
	PX_F b = 255.0f * px_min(colour.z * part + shine, 1.0f);
	PX_STRUCT shade_vector level = { px_select(there, r, background.x),
		px_select(there, g, background.y), px_select(there, b, background.z) };

	return level;
}

/* The normal of a pixel that is to have its colour whether it has a normal or not: one that faces
 * the viewer where there is a point and no normal, or one beyond floats. */
PX_FN PX_STRUCT shade_vector
shade_facing(PX_STRUCT shade_vector normal, bool point)
{
	PX_F length = normal.x * normal.x + normal.y * normal.y + normal.z * normal.z;
	bool lacks = px_both(point, !px_both(length > 0.0f, length <= 3.402823466e38f));
	PX_STRUCT shade_vector facing = { px_select(lacks, 0.0f, normal.x),
		px_select(lacks, 0.0f, normal.y), px_select(lacks, -1.0f, normal.z) };

	return facing;
}

/* ---- normals of a surface on a grid: sums over the triangles around a pixel, by area ---- */

/* Is a sample a coordinate? */
PX_FN bool
shade_there(float v)
{
	return (px_bits(v) & 0x7fffffffu) < 0x7f800000u;
}

PX_FN PX_STRUCT shade_vector
shade_add(PX_STRUCT shade_vector a, PX_STRUCT shade_vector b)
{
	PX_F x = a.x + b.x, y = a.y + b.y, z = a.z + b.z;
	PX_STRUCT shade_vector sum = { x, y, z };

	return sum;
}

/* Across an edge to the right, from a to b, and one down, from p to q; 0 without a triangle. */
PX_FN PX_STRUCT shade_vector
shade_across(PX_STRUCT shade_vector a, PX_STRUCT shade_vector b, PX_STRUCT shade_vector p,
    PX_STRUCT shade_vector q, bool there)
{
	PX_F hx = b.x - a.x, hy = b.y - a.y, hz = b.z - a.z;
	PX_F vx = q.x - p.x, vy = q.y - p.y, vz = q.z - p.z;
	PX_F x = hy * vz - hz * vy, y = hz * vx - hx * vz, z = hx * vy - hy * vx;
	PX_STRUCT shade_vector n = { px_select(there, x, 0.0f), px_select(there, y, 0.0f),
		px_select(there, z, 0.0f) };

	return n;
}

/* What the triangles between four pixels give to each of them. */
struct shade_square {
	PX_STRUCT shade_vector a, b, c, d;
};

/*
 * Pixels a b above c d; the z of a missing one is NaN. Two triangles, split along the diagonal with
 * the smaller step in z, or one if a pixel is missing; none across more than jump (mesh.h).
 */
PX_FN PX_STRUCT shade_square
shade_square_of(PX_STRUCT shade_vector a, PX_STRUCT shade_vector b, PX_STRUCT shade_vector c,
    PX_STRUCT shade_vector d, float jump)
{
	PX_STRUCT shade_square square;
	PX_STRUCT shade_vector abd, acd, abc, bcd;
	bool has_a = !px_isnan(a.z), has_b = !px_isnan(b.z);
	bool has_c = !px_isnan(c.z), has_d = !px_isnan(d.z);
	PX_F ad = px_abs(a.z - d.z), bc = px_abs(b.z - c.z);
	bool top = px_both(px_both(has_a, has_b), px_abs(a.z - b.z) <= jump);
	bool bottom = px_both(px_both(has_c, has_d), px_abs(c.z - d.z) <= jump);
	bool left = px_both(px_both(has_a, has_c), px_abs(a.z - c.z) <= jump);
	bool right = px_both(px_both(has_b, has_d), px_abs(b.z - d.z) <= jump);
	bool whole = px_both(px_both(has_a, has_b), px_both(has_c, has_d));
	bool falls = px_both(whole, ad < bc), rises = px_both(whole, !(ad < bc));
	bool falling = px_both(ad <= jump, px_both(has_a, has_d));
	bool rising = px_both(bc <= jump, px_both(has_b, has_c));

	abd = shade_across(a, b, b, d, px_both(px_both(top, right), px_both(falling, !rises)));
	acd = shade_across(c, d, a, c, px_both(px_both(left, bottom), px_both(falling, !rises)));
	abc = shade_across(a, b, a, c, px_both(px_both(top, left), px_both(rising, !falls)));
	bcd = shade_across(c, d, b, d, px_both(px_both(right, bottom), px_both(rising, !falls)));
	square.a = shade_add(shade_add(abd, acd), abc);
	square.b = shade_add(shade_add(abd, abc), bcd);
	square.c = shade_add(shade_add(acd, abc), bcd);
	square.d = shade_add(shade_add(abd, acd), bcd);
	return square;
}

/* ---- where a turned surface lies in the picture ---- */

#define SHADE_MARGIN 0.04f	/* part of the picture that stays free on each side */

/* Are there points far beyond the percentiles low and high of a coordinate? */
PX_FN bool
shade_outlies(float least, float most, float low, float high)
{
	PX_F margin = 0.2f * (high - low), below = low - margin, above = high + margin;

	return !px_both(least >= below, most <= above);
}

/* The ends of a coordinate that has such points. */
PX_FN float
shade_first_shown(float least, float low, float high)
{
	return px_max(least, low - 0.25f * (high - low));
}

PX_FN float
shade_last_shown(float most, float low, float high)
{
	return px_min(most, high + 0.25f * (high - low));
}

/* Samples of a unit of length; the spans are those shown along x and y. */
PX_FN float
shade_scale(float span_x, float span_y, float columns, float rows)
{
	PX_F across = px_divide(columns - 1.0f, px_max(span_x, 1e-30f));
	PX_F down = px_divide(rows - 1.0f, px_max(span_y, 1e-30f));

	return (1.0f - 2.0f * SHADE_MARGIN) * px_min(across, down);
}

/* Where 0 of a coordinate lies, of which low to high are shown in so many samples. */
PX_FN float
shade_zero(float scale, float low, float high, float samples)
{
	return 0.5f * (samples - 1.0f) - scale * (0.5f * low + 0.5f * high);
}

#endif
