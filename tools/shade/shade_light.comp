#include "shade_view.glsl"

/* Lights what is drawn of each pixel: 2 x 2 samples once where all lie in the surface, their
 * normals agree and their values nearly so; else each sample by itself. */

struct drawn {
	bool is;
	float value, nx, ny, nz, square;
};

PX_FN float
square_of(float nx, float ny, float nz)
{
	return nx * nx + ny * ny + nz * nz;
}

drawn
drawn_at(uint at)
{
	uint key = view_plane(0u).at[at];
	PX_F own = VIEW.facing * view_value(key);
	drawn s;

	s.is = key != VIEW_UNSET;
	s.nx = view_value(view_plane(1u).at[at]);
	s.ny = view_value(view_plane(2u).at[at]);
	s.nz = view_value(view_plane(3u).at[at]);
	s.square = square_of(s.nx, s.ny, s.nz);
	s.value = own;
	if (VIEW.channel[4] != VIEW_NONE)
		s.value = view_value(view_plane(4u).at[at]);
	return s;
}

PX_FN float
power(float base, float exponent)
{
	PX_F product = 1.0f, x = base;

	if (exponent != px_floor(exponent))
		return px_exp(exponent * px_log(px_max(1e-6f, base)));
	for (uint n = px_uint(exponent); n != 0u; n >>= 1) {
		if ((n & 1u) != 0u)
			product = product * x;
		x = x * x;
	}
	return product;
}

/* light_of() of turned_rows.c. */
uint
light_of(float nx, float ny, float nz, float square)
{
	PX_F inverse = px_divide(1.0f, px_sqrt(square));
	PX_F of_lamp = (nx * VIEW.lamp[0] + ny * VIEW.lamp[1] + nz * VIEW.lamp[2]) * inverse;
	PX_F of_view = (nx * VIEW.away[0] + ny * VIEW.away[1] + nz * VIEW.away[2]) * inverse;
	PX_F cosine = px_select(0.0f < of_view, 0.0f - of_lamp, of_lamp);
	PX_F facing = 0.0f - px_abs(of_view);
	PX_F part = shade_diffuse(cosine, -facing, VIEW.light.ambient, VIEW.light.diffuse);
	PX_F mirrored = VIEW.light.z - 2.0f * cosine * facing;
	PX_F shine = VIEW.light.specular * power(px_max(0.0f, mirrored), VIEW.light.shininess);

	shine = px_select(0.0f < cosine, shine, 0.0f);
	part = part * VIEW_LIGHT + 0.5f;
	shine = px_min(1.0f, shine) * VIEW_LIGHT + 0.5f;
	return px_uint(part) | px_uint(shine) << 16;
}

void
put(uint at, float value, uint light)
{
	view_plane(VIEW_VALUES).at[at] = px_bits(value);
	view_plane(VIEW_LIGHTS).at[at] = light;
}

/* The sum of four as the processor adds them: columns first, or rows. */
PX_FN float
by_columns(float a, float b, float c, float d)
{
	return (a + c) + (b + d);
}

PX_FN float
by_rows(float a, float b, float c, float d)
{
	return (a + b) + (c + d);
}

/* Of the workgroup's pixels: whether there is something to see; VIEW_ONCE, VIEW_MIXED. */
shared uint seen, once, mixed;

/* True: the pixel is lit once, or empty. */
bool
light_once(uint x, uint y)
{
	uint first = view_sample(x, y, 0u), second = view_sample(x, y, 1u);
	drawn a = drawn_at(first), b = drawn_at(second);
	drawn c = drawn_at(view_sample(x, y, 2u)), d = drawn_at(view_sample(x, y, 3u));
	PX_F low = px_min(px_min(a.value, b.value), px_min(c.value, d.value));
	PX_F high = px_max(px_max(a.value, b.value), px_max(c.value, d.value));
	PX_F sum = px_select(VIEW.channel[4] != VIEW_NONE,
	    by_rows(a.value, b.value, c.value, d.value),
	    by_columns(a.value, b.value, c.value, d.value));
	PX_F nx = by_columns(a.nx, b.nx, c.nx, d.nx), ny = by_columns(a.ny, b.ny, c.ny, d.ny);
	PX_F nz = by_columns(a.nz, b.nz, c.nz, d.nz), square = square_of(nx, ny, nz);
	PX_F squares = by_columns(a.square, b.square, c.square, d.square);
	PX_F range = high - low, all = px_abs(sum) + squares, limit = squares * VIEW.same;
	bool has_normal = shade_there(square) && 0.0f < square;

	if (!(a.is || b.is || c.is || d.is)) {
		put(first, 0.0f, VIEW_EMPTY);
		put(second, 0.0f, VIEW_LIT_ONCE);
		return true;
	}
	if (!(a.is && b.is && c.is && d.is && shade_there(all) && range <= view_float(VIEW_TOLERATED) &&
	    shade_there(limit) && limit <= square))
		return false;
	sum = sum * 0.25f;
	put(first, sum, has_normal ? light_of(nx, ny, nz, square) : VIEW_EMPTY);
	put(second, 0.0f, VIEW_LIT_ONCE);
	if (has_normal) {
		seen = 1u;
		if (shade_there(sum))
			atomicAdd(once, 1u);
	}
	return true;
}

void
light_pixel(uint x, uint y)
{
	if (y >= view_height() || (VIEW.samples == 2u && light_once(x, y)))
		return;
	for (uint i = 0u; i < VIEW.samples * VIEW.samples; i++) {
		uint at = view_sample(x, y, i);
		drawn s = drawn_at(at);
		bool has_normal = s.is && shade_there(s.square) && 0.0f < s.square;

		put(at, s.value, has_normal ? light_of(s.nx, s.ny, s.nz, s.square) : VIEW_EMPTY);
		if (has_normal || VIEW.samples == 2u)
			seen = 1u;
	}
	if (VIEW.samples == 2u)
		atomicAdd(mixed, 1u);
}

void
main()
{
	uint pixel = view_invocation(), id = gl_LocalInvocationID.x;

	if (id == 0u)
		seen = once = mixed = 0u;
	barrier();
	light_pixel(pixel % gpu.w, pixel / gpu.w);
	barrier();
	if (id > 0u || seen == 0u)
		return;
	view_words().at[VIEW_SEEN] = 1u;
	atomicAdd(view_words().at[VIEW_ONCE], once);
	atomicAdd(view_words().at[VIEW_MIXED], mixed);
}
