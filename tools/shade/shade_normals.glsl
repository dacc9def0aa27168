/* Normals of a surface by the triangles around its points, for shade.comp and shade_normals.comp. */

struct surface {
	uint w, h;
	uint x, y, z;			/* channels; x ~0: a depth map */
	float sign;			/* of z, so that it points away from the camera */
	float right, down;		/* distances of a depth map's pixels */
	float jump;
};

/* Columns x - 1 to x + 4 of a row; z is NaN where a point is missing, as outside of the image. */
struct line {
	shade_vector at[6];
};

/* Of a depth map only z: its x and y count by their steps. Outside of the image the nearest row is
 * read instead: the device may have no other. */
shade_vector
point(surface s, uint x, uint y)
{
	shade_vector p;
	bool there = x < s.w && y < s.h;
	uint u = min(x, s.w - 1), v = y == ~0u ? 0 : min(y, s.h - 1);
	precise float z = gpu_in(s.z, u, v), away = s.sign * z;

	there = there && shade_there(z);
	p.x = p.y = 0.0f;
	if (s.x != 0xffffffffu) {
		p.x = gpu_in(s.x, u, v);
		p.y = gpu_in(s.y, u, v);
		there = there && shade_there(p.x) && shade_there(p.y);
	}
	p.z = px_select(there, away, PX_NAN);
	return p;
}

/* x - 1 and y may be left of the image and above it: large. */
line
load_line(surface s, uint x, uint y)
{
	line l;

	for (uint i = 0; i < 6; i++)
		l.at[i] = point(s, x + i - 1, y);
	return l;
}

/* The squares right of columns x - 1 to x + 3 between two lines. */
void
find_squares(surface s, line upper, line lower, out shade_square square[5])
{
	for (uint i = 0; i < 5; i++) {
		shade_vector a = upper.at[i], b = upper.at[i + 1];
		shade_vector c = lower.at[i], d = lower.at[i + 1];

		if (s.x == 0xffffffffu) {
			b.x = d.x = s.right;
			c.y = d.y = s.down;
		}
		square[i] = shade_square_of(a, b, c, d, s.jump);
	}
}

/* By the triangles around each of four pixels. */
void
find_normals(surface s, uint x, uint y, out shade_vector normal[4])
{
	line here = load_line(s, x, y);
	shade_square above[5], below[5];

	find_squares(s, load_line(s, x, y - 1), here, above);
	find_squares(s, here, load_line(s, x, y + 1), below);
	for (uint i = 0; i < 4; i++)
		normal[i] = shade_add(shade_add(shade_add(above[i].d, above[i + 1].c), below[i].b),
		    below[i + 1].a);
}
