/*
 * The words in which per-pixel formulas are written, the same for C11 and for GLSL 4.50.
 *
 * tools/NAME/NAME.px.h includes this and is included by NAME.c and NAME.comp, and both give the
 * same bits by construction. -ffp-contract=off in C and `precise` in GLSL (NoContraction in
 * SPIR-V, which scripts/check-spirv looks for) keep the order of operations and forbid a fused a
 * b + c. Of what is left Vulkan guarantees + - * and comparisons of floats to be correctly
 * rounded, and whole numbers, bits and floor to be exact. A division may be off by 2.5 units
 * there and a root by more, so formulas use px_divide and px_sqrt, which on a device take its
 * result as an estimate and mend it by operations that are exact. Doubles are guaranteed no
 * better than floats: what uses them declares a tolerance (stage.h).
 *
 * Functions are PX_FN, locals are PX_F (or PX_D, which not every device has), literals carry f,
 * conditions are px_select (never a call under a condition). Sizes: uint. Angles: radians.
 */
#ifndef PX_H
#define PX_H

#ifdef GL_core_profile
#define PX_FN precise
#define PX_F precise float
#define PX_D precise double
#define PX_STRUCT
#define px_bits(x) floatBitsToUint(x)
#define px_from_bits(u) uintBitsToFloat(u)
#define px_floor(x) floor(x)
#define px_select(condition, a, b) ((condition) ? (a) : (b))
#define px_both(a, b) ((a) && (b))
#define px_float(x) float(x)
#define px_double(x) double(x)
#define px_int(x) int(x)
#define px_uint(x) uint(x)
#else
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#define PX_FN static inline
#define PX_F float
#define PX_D double
#define PX_STRUCT struct
typedef uint32_t uint;
static inline uint
px_bits(float x)
{
	uint u;

	memcpy(&u, &x, sizeof(u));
	return u;
}
static inline float
px_from_bits(uint u)
{
	float x;

	memcpy(&x, &u, sizeof(x));
	return x;
}
#define px_divide(a, b) ((a) / (b))
#define px_sqrt(x) __builtin_sqrtf(x)
#define px_floor(x) __builtin_floorf(x)
#define px_select(condition, a, b) ((condition) ? (a) : (b))
#define px_both(a, b) ((a) & (b)) /* of two bools; without a branch */
#define px_float(x) ((float)(x))
#define px_double(x) ((double)(x))
#define px_int(x) ((int32_t)(x))
#define px_uint(x) ((uint)(x))
#endif

#define PX_NAN px_from_bits(0x7fc00000u)
#define PX_LEAST 1.17549435e-38f	/* the least normal number */
#define PX_PI 3.14159265358979323846f
#define PX_TWO_PI 6.28318530717958647692f
#define PX_HALF_PI 1.57079632679489661923f

/* The only test for an invalid pixel. Devices may take NaN for granted not to be there. */
PX_FN bool
px_isnan(float x)
{
#ifdef GL_core_profile
	return (px_bits(x) & 0x7fffffffu) > 0x7f800000u;
#else
	return x != x;
#endif
}

PX_FN float
px_abs(float x)
{
	return px_from_bits(px_bits(x) & 0x7fffffffu);
}

PX_FN float
px_min(float a, float b)
{
	return px_select(b < a, b, a);
}

PX_FN float
px_max(float a, float b)
{
	return px_select(b > a, b, a);
}

/* Of two numbers that are not negative: by their bits, which keep their order. */
PX_FN float
px_larger(float a, float b)
{
	uint x = px_bits(a), y = px_bits(b);

	return px_from_bits(px_select(y > x, y, x));
}

PX_FN float
px_smaller(float a, float b)
{
	uint x = px_bits(a), y = px_bits(b);

	return px_from_bits(px_select(y < x, y, x));
}

#ifdef GL_core_profile
/* The device's own, which may be off by some units; PX_ROUGH makes them so, for a test. */
#ifdef PX_ROUGH
uint
px_off(uint u)
{
	return (u & 0x7fffffffu) - 1u < 0x7f7ffffdu ? u + (u * 0x9e3779b9u >> 16) % 5u - 2u : u;
}
#define px_device_divide(a, b) px_from_bits(px_off(px_bits((a) / (b))))
#define px_device_sqrt(x) px_from_bits(px_off(px_bits(sqrt(x))))
#elif !defined px_device_divide
#define px_device_divide(a, b) ((a) / (b))
#define px_device_sqrt(x) sqrt(x)
#endif

/* a - x y without an error, where x y is a within some units: the product's rounding error comes
 * from halves of the factors (Dekker 1971). */
PX_FN float
px_rest(float a, float x, float y)
{
	PX_F big_x = 4097.0f * x, big_y = 4097.0f * y, product = x * y;
	PX_F x1 = big_x - (big_x - x), x0 = x - x1;
	PX_F y1 = big_y - (big_y - y), y0 = y - y1;
	PX_F error = ((x1 * y1 - product) + x1 * y0 + x0 * y1) + x0 * y0;

	return (a - product) - error;
}

/* The unit in the last place. */
PX_FN float
px_unit(float x)
{
	return px_from_bits(px_bits(x) & 0x7f800000u) * 1.1920928955078125e-7f;
}

/* Between 2^-40 and 2^40, where no step of px_divide overflows or loses digits? */
PX_FN bool
px_moderate(float x)
{
	return (px_bits(x) & 0x7fffffffu) - 0x2b800000u < 0x28000000u;
}

/* |x| of these bits, not 0, is significand 2^exponent, with the significand in [2^23, 2^24). */
uint
px_significand(uint x)
{
	uint fraction = x & 0x7fffffu;

	return (x & 0x7f800000u) != 0u ? fraction | 0x800000u :
	    fraction << (23 - findMSB(fraction));
}

int
px_exponent(uint x)
{
	uint exponent = x >> 23 & 0xffu;

	return exponent != 0u ? px_int(exponent) - 150 : findMSB(x & 0x7fffffu) - 172;
}

/* a / b of any bits by whole numbers alone, which are the same on every device: to nearest, ties to
 * even, subnormal numbers as well. 0/0 and inf/inf are the NaN that the processor gives. */
uint
px_divide_bits(uint a, uint b)
{
	uint sign = (a ^ b) & 0x80000000u, x = a & 0x7fffffffu, y = b & 0x7fffffffu, q = 0u;
	uint lost, rest, kept;
	int e, drop;

	if (x > 0x7f800000u || y > 0x7f800000u)
		return (x > 0x7f800000u ? a : b) | 0x400000u;
	if (x == y && (x == 0u || x == 0x7f800000u))
		return 0xffc00000u;
	if (x == 0x7f800000u || y == 0u)
		return sign | 0x7f800000u;
	if (x == 0u || y == 0x7f800000u)
		return sign;
	e = px_exponent(x) - px_exponent(y) + 127;
	x = px_significand(x);
	y = px_significand(y);
	if (x < y) {
		x = x + x;
		e = e - 1;
	}
	for (int i = 0; i < 25; i++) {		/* 24 digits and one to round by */
		q = q + q;
		if (x >= y) {
			q = q + 1u;
			x = x - y;
		}
		x = x + x;
	}
	if (e > 254)
		return sign | 0x7f800000u;
	drop = e > 0 ? 1 : e > -25 ? 2 - e : 26;	/* digits */
	kept = q >> drop;
	lost = q - (kept << drop);
	rest = 1u << (drop - 1);			/* half a unit */
	if (lost > rest || (lost == rest && (x != 0u || (kept & 1u) != 0u)))
		kept = kept + 1u;
	return sign | (e > 0 ? (px_uint(e - 1) << 23) + kept : kept);
}

/* a / b, rounded as the processor does. */
PX_FN float
px_divide(float a, float b)
{
	PX_F q = px_device_divide(a, b);
	PX_F nearer = q + px_device_divide(px_rest(a, q, b), b);
	PX_F rest = px_rest(a, nearer, b), unit = px_unit(nearer);
	PX_F step = px_select((rest < 0.0f) == (b < 0.0f), unit, -unit);
	bool off = px_abs(rest) > 0.5f * unit * px_abs(b);
	PX_F nearest = px_select(off, nearer + step, nearer);

	if (!(px_moderate(a) && px_moderate(b)))
		nearest = px_from_bits(px_divide_bits(px_bits(a), px_bits(b)));
	return nearest;
}

/*
 * The root of x, likewise: that of a number in [1, 4), and half the exponent. Of 1 and just below
 * it the unit changes: 1 - 2^-24 has a root of its own.
 */
PX_FN float
px_sqrt(float x)
{
	uint u = px_bits(x);
	int exponent = px_exponent(u) + 23;

	if (u - 1u >= 0x7f7fffffu)	/* 0, less, infinite or NaN */
		return (u & 0x7fffffffu) == 0u || u == 0x7f800000u ? x :
		    px_from_bits((u & 0x7fffffffu) > 0x7f800000u ? u | 0x400000u : 0xffc00000u);
	PX_F of = px_from_bits((px_significand(u) & 0x7fffffu) |
	    ((exponent & 1) != 0 ? 0x40000000u : 0x3f800000u));
	PX_F root = px_device_sqrt(of);
	PX_F nearer = root + px_device_divide(px_rest(of, root, root), root + root);
	PX_F rest = px_rest(of, nearer, nearer), unit = px_unit(nearer);
	PX_F less = px_from_bits(px_bits(nearer) - 1u), under = nearer - less;
	PX_F nearest = px_select(rest > nearer * unit, nearer + unit, nearer);

	nearest = px_select(rest <= -nearer * under, less, nearest);
	return px_from_bits(px_bits(nearest) + (px_uint(exponent >> 1) << 23));
}
#endif

/* To the nearest whole number, halves upward. |x| < 2^22. */
PX_FN float
px_round(float x)
{
	return px_floor(x + 0.5f);
}

/* Is the angle of sides a and b, not negative, to the nearer axis more than pi/8? */
PX_FN bool
px_atan2_steep(float a, float b)
{
	return px_smaller(a, b) > 0.41421356f * px_larger(a, b);
}

/* The tangent of the angle of (c, s) to the nearest multiple of pi/4, up to its sign. */
PX_FN float
px_atan2_tangent(float s, float c)
{
	PX_F as = px_abs(s), ac = px_abs(c);
	PX_F mx = px_larger(as, ac), mn = px_smaller(as, ac);
	bool steep = px_atan2_steep(as, ac);
	PX_F num = px_select(steep, mn - mx, mn);
	PX_F den = px_select(steep, mn + mx, mx);

	return px_divide(num, px_larger(den, PX_LEAST));
}

/* The angle of (c, s), of which t is the tangent above. Loops over both at once take longer than
 * one loop over each: the polynomial waits for the division. */
PX_FN float
px_atan2_angle(float t, float s, float c)
{
	PX_F as = px_abs(s), ac = px_abs(c);
	PX_F z = t * t;
	PX_F p = 8.05374449538e-2f * z - 1.38776856032e-1f;
	PX_F a;

	p = p * z + 1.99777106478e-1f;
	p = p * z - 3.33329491539e-1f;
	a = p * z * t + t;
	a = px_select(px_atan2_steep(as, ac), a + 0.785398163397448f, a);
	a = px_select(as > ac, 1.57079632679489662f - a, a);
	a = px_select(c < 0.0f, 3.14159265358979324f - a, a);
	return px_from_bits(px_bits(a) | (px_bits(s) & 0x80000000u));
}

/*
 * The angle of (c, s) in [-pi, pi], within 3 ulp of the true one where the larger of them is no
 * subnormal number; 0 for (0, 0).
 * atan on [-tan(pi/8), tan(pi/8)] by an odd polynomial (minimax, S. Moshier's Cephes atanf).
 */
PX_FN float
px_atan2(float s, float c)
{
	return px_atan2_angle(px_atan2_tangent(s, c), s, c);
}

/* x mod 2 pi in [-pi, pi]; |x| < 2e5. */
PX_FN float
px_wrap(float x)
{
	PX_F n = px_floor(x * 0.159154943091895336f + 0.5f);
	PX_F r = x - n * 6.28125f;

	r = r - n * 1.93500518798828125e-3f;
	r = r - n * 3.01991598195676498e-7f;
	r = px_select(r > PX_PI, r - PX_TWO_PI, r);
	return px_select(r < -PX_PI, r + PX_TWO_PI, r);
}

/*
 * sin and cos of x, |x| < 1e4, within 2 ulp of 1: quadrant reduction, Cephes sinf and cosf
 * polynomials. The quadrant's number stands in the last bits of itself plus 1.5 * 2^23, whose unit
 * is 1. shift: of the quadrants.
 */
PX_FN float
px_sin_quadrant(float x, uint shift)
{
	PX_F n = px_floor(x * 0.636619772367581343f + 0.5f);
	PX_F r = x - n * 1.5703125f;
	PX_F number = n + 12582912.0f;
	uint quadrant = px_bits(number) + shift;
	PX_F z, s, c;

	r = r - n * 4.83751296997070312e-4f;
	r = r - n * 7.54978995489188216e-8f;
	z = r * r;
	s = -1.9515295891e-4f * z + 8.3321608736e-3f;
	s = s * z - 1.6666654611e-1f;
	s = s * z * r + r;
	c = 2.443315711809948e-5f * z - 1.388731625493765e-3f;
	c = c * z + 4.166664568298827e-2f;
	c = c * z * z - 0.5f * z + 1.0f;
	return px_from_bits(px_bits(px_select((quadrant & 1u) != 0u, c, s)) ^
	    (quadrant & 2u) << 30);
}

PX_FN float
px_sin(float x)
{
	return px_sin_quadrant(x, 0u);
}

PX_FN float
px_cos(float x)
{
	return px_sin_quadrant(x, 1u);
}

/* e^x within 2 ulp; 0 below -87, inf never: x is clamped to 88. */
PX_FN float
px_exp(float x)
{
	PX_F v = px_min(px_max(x, -87.0f), 88.0f);
	PX_F n = px_floor(v * 1.44269504088896341f + 0.5f);
	PX_F r = v - n * 0.693359375f;
	PX_F p;

	r = r + n * 2.12194440e-4f;
	p = 1.9875691500e-4f * r + 1.3981999507e-3f;
	p = p * r + 8.3334519073e-3f;
	p = p * r + 4.1665795894e-2f;
	p = p * r + 1.6666665459e-1f;
	p = p * r + 5.0000001201e-1f;
	p = p * (r * r) + r + 1.0f;
	p = p * px_from_bits(px_uint(px_int(n) + 127) << 23);
	return px_select(x < -87.0f, 0.0f, p);
}

/* Natural logarithm of a normal x > 0, within 2 ulp. */
PX_FN float
px_log(float x)
{
	uint u = px_bits(x);
	PX_F e = px_float(px_int((u >> 23) & 0xffu) - 126);
	PX_F m = px_from_bits((u & 0x007fffffu) | 0x3f000000u);
	bool low = m < 0.707106781186547524f;
	PX_F f, z, p;

	e = px_select(low, e - 1.0f, e);
	f = px_select(low, m + m - 1.0f, m - 1.0f);
	z = f * f;
	p = 7.0376836292e-2f * f - 1.1514610310e-1f;
	p = p * f + 1.1676998740e-1f;
	p = p * f - 1.2420140846e-1f;
	p = p * f + 1.4249322787e-1f;
	p = p * f - 1.6668057665e-1f;
	p = p * f + 2.0000714765e-1f;
	p = p * f - 2.4999993993e-1f;
	p = p * f + 3.3333331174e-1f;
	p = p * f * z;
	p = p - 2.12194440e-4f * e;
	p = p - 0.5f * z;
	return f + p + 0.693359375f * e;
}

/* 32 well-mixed bits (a full-avalanche integer hash); chain it: px_hash(px_hash(px_hash(seed) ^ x)
 * ^ y). */
PX_FN uint
px_hash(uint v)
{
	v = (v ^ (v >> 16)) * 0x7feb352du;
	v = (v ^ (v >> 15)) * 0x846ca68bu;
	return v ^ (v >> 16);
}

/* A hash as a number in (0, 1), never 0 or 1. */
PX_FN float
px_uniform(uint hash)
{
	return (px_float(hash >> 9) + 0.5f) * 1.1920928955078125e-7f;
}

#endif
