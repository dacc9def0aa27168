/* What formulas in px.h's words rest on, of two floats of any bits: the processor and a device
 * whose floats are exact get the same words. By vulkan.c. */
#ifndef FLOAT_RESULTS_PX_H
#define FLOAT_RESULTS_PX_H

#include "base/px.h"

struct float_results {
	uint sum, difference, product, quotient, root, floored, negative;	/* bits */
	uint of_unsigned, of_signed;	/* the bits as a whole number, as a float */
	uint to_unsigned, to_signed;	/* a number in the type's range, as a whole one */
	uint compared;			/* a bit for each way */
};

/* NaN is one, whatever its bits: no formula depends on them. */
PX_FN uint
float_results_bits(float x)
{
	return px_select(px_isnan(x), 0x7fc00000u, px_bits(x));
}

/* The digits of a and its last five bits of exponent: 2^least <= x < 2^(least + 32). */
PX_FN float
float_results_within(uint a, int least)
{
	return px_from_bits((a & 0x7fffffu) | ((px_uint(127 + least) + (a >> 23 & 31u)) << 23));
}

PX_FN uint
float_results_compare(float a, float b)
{
	uint less = px_select(a < b, 1u, 0u), least = px_select(a <= b, 2u, 0u);
	uint more = px_select(a > b, 4u, 0u), most = px_select(a >= b, 8u, 0u);
	uint same = px_select(a == b, 16u, 0u), other = px_select(a != b, 32u, 0u);
	uint negative = px_select(a < 0.0f, 64u, 0u), zero = px_select(a == 0.0f, 128u, 0u);

	return less | least | more | most | same | other | negative | zero;
}

PX_FN PX_STRUCT float_results
float_results_of(float a, float b)
{
	PX_STRUCT float_results r;
	PX_F sum = a + b, difference = a - b, product = a * b, negative = -a;
	PX_F unsigned_a = float_results_within(px_bits(a), -1);
	PX_F signed_a = float_results_within(px_bits(a), -2);

	r.sum = float_results_bits(sum);
	r.difference = float_results_bits(difference);
	r.product = float_results_bits(product);
	r.quotient = float_results_bits(px_divide(a, b));
	r.root = float_results_bits(px_sqrt(a));
	r.floored = float_results_bits(px_floor(a));
	r.negative = float_results_bits(negative);
	r.of_unsigned = px_bits(px_float(px_bits(a)));
	r.of_signed = px_bits(px_float(px_int(px_bits(a))));
	r.to_unsigned = px_uint(unsigned_a);
	r.to_signed = px_uint(px_int(px_select(px_bits(b) < 0x80000000u, signed_a, -signed_a)));
	r.compared = float_results_compare(a, b);
	return r;
}

#endif
